"""What the benchmarks share: their arguments, the summary of a list of times, and the file that they write."""

from __future__ import annotations

import argparse
import importlib
from importlib.metadata import distributions
from pathlib import Path

import numpy as np

from plumbing.commands import first_line, path_name, run_command, run_program
from plumbing.files import ROOT, InputError, check_writable, environment, write_json
from plumbing.installed import how_to_install

TARGETS = {  # upper bounds for the numbers of the summaries
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
    """Median and quartiles in milliseconds."""
    low, median, high = np.percentile(seconds, (25, 50, 75))
    return {"median_ms": 1e3 * median, "quartiles_ms": [1e3 * low, 1e3 * high], "n": len(seconds)}


def checked(kinds, of_kind, tolerance: float, *images) -> tuple[dict, dict]:
    """{name: rival} of every kind that is installed,
    and {name: why} of those that are missing.  The first is ours.

    Raises AssertionError where the loss or the gradient of a rival differs from ours: the gradient
    by more than `tolerance` times its largest entry."""
    made = {}
    missing = {}
    for kind in kinds:
        try:
            made[kind.name] = of_kind(kind)
        except ImportError as error:
            missing[kind.name] = str(error)
    our_loss, our_gradient = made[kinds[0].name].loss_and_gradient(*images)
    for name, rival in made.items():
        if not hasattr(rival, "loss_and_gradient"):  # the matrix products alone
            continue
        loss, gradient = rival.loss_and_gradient(*images)
        error = np.abs(gradient - our_gradient).max() / np.abs(our_gradient).max()
        if abs(loss - our_loss) > 1e-5 or error > tolerance:
            found = f"loss {loss}, ours {our_loss}; gradient {error:.1e}"
            raise AssertionError(f"{name} computes another net: {found}")
    return made, missing


def end(main) -> None:
    """Runs a benchmark and ends the process, as run_program() does."""
    run_program(lambda: run_command("benchmark", lambda save: main()))


def arguments(name: str, doc: str) -> argparse.ArgumentParser:
    """The parser of a benchmark with the arguments that all have;
    the benchmark adds its settings."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=first_line(doc))
    out = f"the JSON's name, instead of results/benchmark_{name}.json"
    parser.add_argument("--out", type=path_name, metavar="FILE", help=out)
    return parser


class Report:
    """The file that a benchmark writes.

    Only measurements with the default settings and all rivals are judged by the targets, and
    may replace the committed file.  Raises InputError for others without --out, before
    anything is measured."""

    def __init__(self, parser: argparse.ArgumentParser, args: argparse.Namespace, rivals: tuple[str, ...] = ()):
        other = []
        for name, value in vars(args).items():
            if name != "out" and value != parser.get_default(name):
                other.append(f"--{name} {value}")
        self.command = " ".join([parser.prog, *other])
        self.missing = [name for name in rivals if not _importable(name)]
        self.name = f"benchmark_{parser.prog.rpartition('.')[2]}"
        self.judged = not other and not self.missing
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
        targets = {}
        if self.judged:
            targets = {key: TARGETS[key] for key in summary if key in TARGETS}
        for key, target in targets.items():
            print(f"{key} {judge(summary[key], target)}")
        record = {
            "experiment": self.name,
            "source": "this project's own question",
            "command": self.command,
            "settings": settings | {"targets": targets},
            "env": environment() | versions,
            "summary": summary,
            "trials": trials,
        }
        write_json(self.path, record)
        print(f"saved to {self.path}")
        return 0


def judge(value: float | None, target: float) -> str:
    if value is None:
        return f"not measured, aimed at {target:.2f}"
    verdict = "reached" if value <= target else "missed"
    return f"{value:.3f}, aimed at {target:.2f}: {verdict}"


def _importable(name: str) -> bool:
    """Whether a rival is installed and not broken: checked() leaves out the same rivals."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
