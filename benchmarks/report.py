"""What the benchmarks share: their arguments, the summary of a list of times, and the file that they write."""

from __future__ import annotations

import argparse
import importlib
import math
from importlib.metadata import distributions
from pathlib import Path

import numpy as np

from plumbing.commands import first_line, path_name, run_command, run_program
from plumbing.files import ROOT, InputError, check_writable, environment, write_json
from plumbing.installed import how_to_install

TARGETS = {  # at most, for the numbers of the summaries
    "highway_over_jax": 0.60,
    "plain_over_jax": 0.80,
    "highway_over_torch_compile": 0.45,
    "highway_over_torch_eager": 0.22,
    "highway_over_matrix_products": 1.60,
    "evaluation_over_torch_eager": 1.0,
    "headline_over_straightforward": 0.22,
    "sweep_over_straightforward": 0.12,
    "time_per_added_layer_depth_1000_over_30": 1.3,
    "mnist_16_over_torch": 0.55,
    "mnist_32_over_torch": 0.50,
    "highway_a_over_torch": 0.52,
    "cifar_19_over_torch": 0.50,
    "mnist_16_over_jax": 0.42,
    "mnist_32_over_jax": 0.38,
    "mnist_16_memory_over_torch": 1.15,
    "mnist_32_memory_over_torch": 1.15,
    "highway_a_memory_over_torch": 1.15,
    "cifar_19_memory_over_torch": 1.15,
}


def summarise(seconds: list[float]) -> dict:
    low, median, high = np.percentile(seconds, (25, 50, 75))
    return {"median_ms": 1e3 * median, "quartiles_ms": [1e3 * low, 1e3 * high], "n": len(seconds)}


def checked(kinds, of_kind, tolerance: float, *images) -> tuple[dict, dict]:
    """{name: rival} of every kind that is installed, the first one ours; {name: why} of those that are missing.

    Raises AssertionError where one computes another loss, or another gradient: by `tolerance` of its largest entry.
    """
    made, missing = {}, {}
    for kind in kinds:
        try:
            made[kind.name] = of_kind(kind)
        except ImportError as error:
            missing[kind.name] = str(error)
    loss, gradient = made[kinds[0].name].loss_and_gradient(*images)
    for name, rival in made.items():
        if hasattr(rival, "loss_and_gradient"):  # not the products alone
            theirs, other = rival.loss_and_gradient(*images)
            error = np.abs(other - gradient).max() / np.abs(gradient).max()
            if abs(theirs - loss) > 1e-5 or error > tolerance:
                raise AssertionError(f"{name} computes another net: loss {theirs}, ours {loss}; gradient {error:.1e}")
    return made, missing


def end(main) -> None:
    """Runs a benchmark and ends the process as every command here does."""
    run_program(lambda: run_command("benchmark", lambda save: main()))


def arguments(name: str, doc: str) -> argparse.ArgumentParser:
    """What every benchmark understands; each adds its own settings."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=first_line(doc))
    parser.add_argument("--out", type=path_name, metavar="FILE", help=f"instead of results/benchmark_{name}.json")
    return parser


class Report:
    """The file that a benchmark writes.  Only the default settings, with every rival, are judged by the targets, and
    only they may replace the committed file: raises InputError for others without --out, before anybody measures."""

    def __init__(self, parser: argparse.ArgumentParser, args: argparse.Namespace, rivals: tuple[str, ...] = ()):
        given = {name: value for name, value in vars(args).items() if name != "out"}
        other = [f"--{name} {value}" for name, value in given.items() if value != parser.get_default(name)]
        self.command, self.missing = " ".join([parser.prog, *other]), [name for name in rivals if not _importable(name)]
        self.name, self.judged = f"benchmark_{parser.prog.rpartition('.')[2]}", not other and not self.missing
        committed = ROOT / "results" / f"{self.name}.json"
        if other and not args.out:
            raise InputError(f"{committed} is not measured with {' '.join(other)}: --out FILE writes to another file")
        self.path = Path(args.out or committed).resolve()
        if self.missing and not args.out:
            install = how_to_install(ROOT / "requirements-bench.txt")
            raise InputError(f"no {' and no '.join(self.missing)} here: --out FILE measures without, or {install}")
        if self.path == committed and not self.judged:
            raise InputError(f"{committed} holds the default settings and all rivals: choose another --out")
        check_writable(self.path)

    def save(self, settings: dict, summary: dict, trials) -> int:
        installed = {package.name.lower(): package.version for package in distributions()}
        versions = {package: installed.get(package) for package in ("torch", "jax")}
        targets = {key: TARGETS[key] for key in summary if key in TARGETS} if self.judged else {}
        for key, target in targets.items():
            verdict = "not measured" if summary[key] is None else "reached" if summary[key] <= target else "missed"
            print(f"{key} {summary[key] or math.nan:.3f}, aimed at {target:.2f}: {verdict}")
        record = {"experiment": self.name, "source": "this project's own question", "command": self.command}
        record |= {"settings": settings | {"targets": targets}, "env": environment() | versions}
        write_json(self.path, record | {"summary": summary, "trials": trials})
        print(f"saved to {self.path}")
        return 0


def _importable(name: str) -> bool:
    """Found, and not broken: what checked() would leave out is missing here, too."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
