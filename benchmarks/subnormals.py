"""How much faster are very deep nets if subnormal numbers are flushed to zero?

    python -m benchmarks.subnormals        -> experiments/results/benchmark_subnormals.json

The gradient of a very deep net vanishes into subnormal numbers.  Each net is made twice.  In every
round both take a step in turn, one with highways.nets.subnormals' flushing, one without.  Only
this project is timed, on one core.
"""

from __future__ import annotations

import benchmarks.one_thread  # noqa: F401  first: NumPy reads its environment when imported

# isort: split
import numpy as np

import highway_networks as hn
from benchmarks import rivals
from benchmarks.report import Report, arguments, end, ratios, summarise
from benchmarks.step import interleaved, mnist_like, pin
from highways.commands import number
from highways.files import InputError
from highways.nets.subnormals import flushed_subnormals

WIDTH = 50
BATCH = 128
DEPTHS = (30, 300, 600, 1000)


def time_steps(block: str, depth: int, rounds: int) -> dict:
    """{"flushed": [seconds of a step in each round], "not flushed": the same}."""
    x, y = mnist_like(2 * BATCH)
    steps = {}
    for name in ("flushed", "not flushed"):
        net = hn.DeepNet(784, 10, WIDTH, depth, block, np.random.default_rng(0))
        steps[name] = rivals.Ours(net, x, y).step
    batch = np.arange(BATCH)

    def flushed():
        with flushed_subnormals():
            steps["flushed"](batch)

    return interleaved({"flushed": flushed, "not flushed": lambda: steps["not flushed"](batch)}, rounds)


def main(argv=None) -> int:
    parser = arguments("subnormals", __doc__)
    parser.add_argument("--rounds", type=number(int, 1), default=20, help="steps of each net (%(default)s)")
    args = parser.parse_args(argv)
    with flushed_subnormals() as flushes:
        if not flushes:
            raise InputError("subnormal numbers are flushed on x86-64 with glibc only: this machine cannot measure it")
    pin()
    report = Report(parser, args)
    trials = {}
    summary = {}
    for block in hn.PAIR:
        for depth in DEPTHS:
            times = time_steps(block, depth, args.rounds)
            name = f"{block}, depth {depth}"
            trials[name] = {kind: summarise(seconds) for kind, seconds in times.items()}
            ratio = float(np.median(ratios(times, "not flushed")))
            summary[f"{block}_{depth}_flushed_over_not"] = ratio
            medians = "  ".join(f"{kind} {row['median_ms']:.1f} ms" for kind, row in trials[name].items())
            print(f"{name:20} {medians}  ratio {ratio:.3f}", flush=True)
    settings = {"width": WIDTH, "batch": BATCH, "depths": DEPTHS, "rounds": args.rounds}
    return report.save(settings, summary, trials)


if __name__ == "__main__":
    end(main)
