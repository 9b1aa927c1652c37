"""What the benchmarks share: the summary of a list of times, and the envelope of a results file."""

from __future__ import annotations

import math
from importlib.metadata import distributions
from pathlib import Path

import numpy as np

from plumbing.commands import run_command, run_program
from plumbing.files import ROOT, check_writable, environment, write_json

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


def results_path(name: str, out: str | None = None) -> Path:
    """Where the results of `name` go, or `out`; raises InputError when they cannot go there, before anybody waits for
    them."""
    path = Path(out).resolve() if out else ROOT / "results" / f"{name}.json"
    check_writable(path)
    return path


def save(path: Path, settings: dict, summary: dict, trials, name: str | None = None) -> int:
    """Writes the results of `name`, by default those that the file is named after; to a file of another name under
    settings of the user's own, which are held to no targets."""
    name = name or path.stem
    installed = {package.name.lower(): package.version for package in distributions()}
    versions = {package: installed.get(package) for package in ("torch", "jax")}
    targets = {key: TARGETS[key] for key in summary if key in TARGETS and path.stem == name}
    for key, target in targets.items():
        verdict = "not measured" if summary[key] is None else "reached" if summary[key] <= target else "missed"
        print(f"{key} {summary[key] or math.nan:.3f}, aimed at {target:.2f}: {verdict}")
    settings = settings | {"targets": targets}
    command = f"python -m benchmarks.{name.removeprefix('benchmark_')}" + f" --out {path.name}" * (path.stem != name)
    record = {"experiment": name, "source": "this project's own question", "command": command, "settings": settings}
    write_json(path, record | {"env": environment() | versions, "summary": summary, "trials": trials})
    print(f"saved to {path}")
    return 0
