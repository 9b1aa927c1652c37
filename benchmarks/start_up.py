"""Where does the start-up time of a command go?

    python -m benchmarks.start_up        -> experiments/results/benchmark_start_up.json

Times whole Python processes from start to exit.  In each round each of them runs once.  The numbers
are medians over the rounds.  MNIST's unpacked copies are in the cache, as in any run but the first.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from benchmarks.commands import seconds
from benchmarks.report import Report, arguments, end
from highways.commands import number

WORKERS = """
import highway_networks as hn
from highways.processes import in_processes
hn.load_mnist()
list(in_processes(id, [(1,), (2,)], 2))
"""
START_UP = {  # each program does what those above it do, and one thing more
    "Python": "pass",
    "importing NumPy": "import numpy",
    "the other imports": "import highway_networks",
    "reading and checking MNIST": "import highway_networks as hn; hn.load_mnist()",
    "starting workers": WORKERS,
}


def main(argv=None) -> int:
    parser = arguments("start_up", __doc__)
    parser.add_argument("--rounds", type=number(int, 1), default=20, help="how often each is timed (%(default)s)")
    args = parser.parse_args(argv)
    report = Report(parser, args)
    hn.load_mnist()  # which keeps the copies
    times = {name: [] for name in START_UP}
    for _ in range(args.rounds):
        for name, code in START_UP.items():
            times[name].append(seconds("-c", code))
    summary = {}
    before = 0.0
    for name, values in times.items():
        median = float(np.median(values))
        summary[name] = median - before
        before = median
        print(f"{name}: {1e3 * summary[name]:.0f} ms")
    return report.save({"rounds": args.rounds}, summary, times)


if __name__ == "__main__":
    end(main)
