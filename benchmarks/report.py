"""What the benchmarks share: their arguments, the summary of a list of times, and the file that they write."""

from __future__ import annotations

import argparse
import importlib
import re
from importlib.metadata import distributions
from pathlib import Path

import numpy as np

from highways.commands import Parser, first_line, path_name, run_command, run_program
from highways.files import ROOT, InputError, full_environment, printable, write_all
from highways.records import MEASURED, check_results_replaceable, record_bytes


class Rival:
    """A program that computes what ours computes, and is timed beside it."""

    name: str
    framework = ""  # the package that computes the gradient; programs in NumPy have none
    at_its_best = False  # whether it is written as an expert would for this processor, or as usual
    gradient = "automatic"  # or "by hand"
    arithmetic = "float32"  # or "bfloat16", which is less exact


PROGRAM = "python -m benchmarks."
# how far a rival's loss and gradient may lie from ours, the gradient relative to its largest entry
LOSS_MAY_DIFFER = {"float32": 1e-5, "bfloat16": 0.02}
BFLOAT16_GRADIENT_MAY_DIFFER = 0.2


def ratios(seconds: dict, rival: str) -> np.ndarray:
    """Our time over a rival's, in each round.  `seconds` is {name: [seconds in each round]}, with
    ours first."""
    ours = next(iter(seconds))
    return np.array(seconds[ours]) / seconds[rival]


def row_of(kind: type[Rival], seconds: dict) -> dict:
    """A rival's row in the results: its times, and the quartiles of our time over its time.

    Only programs of a framework compete for "best"."""
    return {
        **summarise(seconds[kind.name]),
        "ours_over_theirs": list(np.percentile(ratios(seconds, kind.name), (25, 50, 75))),
        "competes": bool(kind.framework),
        "at_its_best": kind.at_its_best,
        "gradient": kind.gradient,
        "arithmetic": kind.arithmetic,
    }


def ratio_to_best(rows: dict[str, dict], kinds, may_compete) -> float | None:
    """Our time over that of the fastest rival, a median.

    Only a rival of a framework is compared, and only if may_compete(kind) is true of it."""
    found = []
    for kind in kinds:
        if kind.framework and kind.name in rows and may_compete(kind):
            found.append(rows[kind.name]["ours_over_theirs"][1])
    return max(found, default=None)  # of the fastest: the less its time, the larger the ratio


def summarise(seconds: list[float]) -> dict:
    """Median and quartiles in milliseconds."""
    low, median, high = np.percentile(seconds, (25, 50, 75))
    return {"median_ms": 1e3 * median, "quartiles_ms": [1e3 * low, 1e3 * high], "n": len(seconds)}


def checked(kinds, make_rival, tolerance: float, *images) -> tuple[dict, dict]:
    """Makes a rival of each kind with make_rival(kind).  Returns {name: rival} of those that are
    installed, ours first, and {name: why} of those that are missing.

    Raises AssertionError if the loss or the gradient of a rival differs from ours by more than it
    may.  In float32 the gradient may differ by `tolerance` times its largest entry.  `images` are
    the arguments of each rival's loss_and_gradient()."""
    made = {}
    missing = {}
    for kind in kinds:
        try:
            made[kind.name] = make_rival(kind)
        except ImportError as error:
            missing[kind.name] = str(error)
    ours, *others = made
    our_loss, our_gradient = made[ours].loss_and_gradient(*images)
    for name in others:
        rival = made[name]
        if not hasattr(rival, "loss_and_gradient"):  # the matrix products alone
            continue
        loss, gradient = rival.loss_and_gradient(*images)
        error = np.abs(gradient - our_gradient).max() / np.abs(our_gradient).max()
        allowed = tolerance if rival.arithmetic == "float32" else BFLOAT16_GRADIENT_MAY_DIFFER
        if abs(loss - our_loss) > LOSS_MAY_DIFFER[rival.arithmetic] or error > allowed:
            found = f"loss {loss}, ours {our_loss}; gradient {error:.1e}"
            raise AssertionError(f"{name} computes another net: {found}")
    return made, missing


def end(main) -> None:
    """Runs a benchmark and ends the process, as run_program() does."""
    run_program(lambda: run_command("benchmark", lambda save: main()))


def arguments(name: str, doc: str) -> Parser:
    """A parser with the arguments that all benchmarks have; each adds its own."""
    parser = Parser(prog=PROGRAM + name, description=first_line(doc))
    out = f"the JSON's name, instead of experiments/results/benchmark_{name.replace('.', '_')}.json"
    parser.add_argument("--out", type=path_name, metavar="FILE", help=out)
    return parser


class Report:
    """The file that a benchmark writes.

    Only a measurement with the default settings and all rivals may replace the committed file, and one that measures
    more by an option among `more`.  Any other needs --out.  Raises InputError without it, before anything is measured.
    """

    def __init__(
        self, parser: Parser, args: argparse.Namespace, rivals: tuple[str, ...] = (), more: tuple[str, ...] = ()
    ):
        options = {}
        for name, value in vars(args).items():
            if name not in ("out", "data_dir") and value != parser.get_default(name):  # where files lie is no setting
                options[name] = f"--{name}" if value is True else f"--{name} {value}"
        self.command = " ".join([parser.prog, *options.values()])
        other = [option for name, option in options.items() if name not in more]
        self.missing = [name for name in rivals if not _importable(name)]
        self.name = f"benchmark_{parser.prog.removeprefix(PROGRAM).replace('.', '_')}"
        committed = ROOT / "experiments" / "results" / f"{self.name}.json"
        if other and not args.out:
            raise InputError(f"{committed} is not measured with {' '.join(other)}: --out FILE writes to another file")
        self.path = Path(args.out or committed).resolve()
        if self.missing and not args.out:
            install = "python -m pip install -r requirements-bench.txt"
            raise InputError(f"no {' and no '.join(self.missing)} here: --out FILE measures without, or {install}")
        if self.path == committed and (other or self.missing):
            raise InputError(f"{committed} is for the default settings and all rivals: choose another --out")
        if self.path.suffix != ".json":
            raise InputError(f"{self.path} does not end in .json")
        check_results_replaceable(self.path, self.name)

    def save(self, settings: dict, summary: dict, trials) -> int:
        installed = {re.sub("[-_.]+", "-", package.name.lower()): package.version for package in distributions()}
        versions = {package: installed.get(package) for package in ("torch", "jax", "tensorflow-cpu")}
        record = {
            "experiment": self.name,
            "source": "this project's own question",
            "command": self.command,
            "settings": settings,
            "env": full_environment() | versions,
            "summary": summary,
            "trials": trials,
        }
        check_results_replaceable(self.path, self.name)  # again: the measurement took long
        write_all({self.path: record_bytes(record, MEASURED)})
        print(f"saved to {printable(self.path)}")
        return 0


def _importable(name: str) -> bool:
    """Whether a package can be imported; checked() leaves out the rivals whose package cannot."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
