"""How do time and memory grow with depth, width and batch, and where does JAX at its best win?

    python -m benchmarks.scaling        -> experiments/results/benchmark_scaling.json

Highway blocks, on one core.  Every measurement has its own process, since a process has only one
peak of memory.  The programs take turns: ours, and three of the JAX programs in
benchmarks/rivals.  The numbers are medians over the rounds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import benchmarks.one_thread  # noqa: F401  first: NumPy and the rivals read their environment when imported

# isort: split
import numpy as np

import highway_networks as hn
from benchmarks import rivals, step
from benchmarks.report import Report, arguments, end
from highways.commands import number
from highways.files import ROOT

BASE = {"depth": 30, "width": 50, "batch": 128}
GROWTH = {
    "depth": (10, 30, 100, 300, 1000),
    "width": (25, 50, 100, 200, 400, 800),
    "batch": (32, 128, 512, 2048),
}
RIVALS = {kind.name: kind for kind in (rivals.Jax, rivals.JaxScanned, rivals.JaxByHand)}
KINDS = {rivals.Ours.name: rivals.Ours, **RIVALS}
STEPS = 20  # steps in a turn; JAX may scan them in one call
SECONDS = 1.0  # how long turns are timed


def memory_mb(what: str) -> float:
    """This process's memory on Linux: "VmRSS" is the current one, "VmHWM" the largest so far."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(what)]
    return int(line.split()[1]) / 1024


def measure(name, depth, width, batch) -> dict:
    """Trains one net in this process: the milliseconds of a step, and how much memory was added."""
    step.pin()
    x, y = step.mnist_like(2 * batch)
    before = memory_mb("VmRSS")
    net = hn.DeepNet(784, 10, width, depth, "highway", np.random.default_rng(0))
    if name in RIVALS:  # the memory of our net, from which JAX copies the weights, does not count
        import jax

        jax.devices()
        before = memory_mb("VmRSS")
    rival = KINDS[name](net, x, y)
    rows = np.random.default_rng(1).permutation(2 * batch).reshape(2, batch)
    batches = [rows[i % 2] for i in range(STEPS)]
    rival.turn(batches)  # warm-up
    times = []
    while sum(times) < SECONDS or len(times) < 2:
        start = time.perf_counter()
        rival.turn(batches)
        times.append(time.perf_counter() - start)
    return {"ms": 1e3 * float(np.median(times)) / STEPS, "peak_mb": memory_mb("VmHWM") - before}


def measure_apart(name, sizes) -> dict:
    """measure() in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.scaling", "--one", name, *map(str, sizes.values())]
    return json.loads(subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def main(argv=None) -> int:
    parser = arguments("scaling", __doc__)
    parser.add_argument("--rounds", type=number(int, 1), default=3, help="how often each is measured (%(default)s)")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.one:
        print(json.dumps(measure(args.one[0], *map(int, args.one[1:]))))
        return 0
    report = Report(parser, args, ("jax",))
    names = [rivals.Ours.name] if report.missing else list(KINDS)
    trials = []
    for axis, values in GROWTH.items():
        for value in values:
            row = {"axis": axis, **compare(BASE | {axis: value}, names, args.rounds)}
            trials.append(row)
            show(row, names)
    settings = {"base": BASE, "growth": GROWTH, "rounds": args.rounds, "seconds_a_measurement": SECONDS}
    return report.save(settings, summarise(trials), trials)


def compare(sizes: dict, names: list[str], rounds: int) -> dict:
    """The sizes, each program's medians, and the ratios of our times to theirs, taken within each round."""
    measured = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            measured[name].append(measure_apart(name, sizes))
    row = dict(sizes)
    times = {}
    for name in names:
        times[name] = [measurement["ms"] for measurement in measured[name]]
        memories = [measurement["peak_mb"] for measurement in measured[name]]
        row[name] = {"ms": float(np.median(times[name])), "peak_mb": float(np.median(memories))}
    row["ours_over_theirs"] = {}
    for name in RIVALS:
        if name in names:
            row["ours_over_theirs"][name] = float(np.median(np.divide(times[rivals.Ours.name], times[name])))
    return row


def show(row: dict, names: list[str]) -> None:
    axis = row["axis"]
    line = f"{axis:6}{row[axis]:5}"
    for name in names:
        line += f"   {name} {row[name]['ms']:9.2f} ms {row[name]['peak_mb']:6.0f} MB"
    for name, ratio in row["ours_over_theirs"].items():
        line += f"   ours / {name} {ratio:.2f}"
    print(line, flush=True)


def summarise(trials: list[dict]) -> dict:
    of_depth = {row["depth"]: row[rivals.Ours.name]["ms"] for row in trials if row["axis"] == "depth"}
    deep_layer = (of_depth[1000] - of_depth[10]) / 990
    shallow_layer = (of_depth[30] - of_depth[10]) / 20
    summary = {
        "time_per_added_layer_depth_1000_over_30": deep_layer / shallow_layer,
        "time_over_depth_at_1000_over_30": (of_depth[1000] / 1000) / (of_depth[30] / 30),
    }
    for row in trials:
        axis = row["axis"]
        for name, ratio in row["ours_over_theirs"].items():
            summary[f"ours_over_{rivals.KEYS[RIVALS[name]]}_{axis}_{row[axis]}"] = ratio
    return summary


if __name__ == "__main__":
    end(main)
