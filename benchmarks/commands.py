"""How long do the headline and the sweep take, as a user starts them?

    python -m benchmarks.commands        -> experiments/results/benchmark_commands.json

Times whole processes from start to exit, on all cores.  In each round this project and the
straightforward program run in turn, and their ratio is taken.  The numbers are medians over the
rounds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.report import Report, arguments, end
from highways.commands import number
from highways.files import ROOT

OURS = ("highway_networks.py", "--quiet")
SWEEP = "5,10,20,30,50"
THEIR_SWEEP = f"import straightforward as s; [s.train(block, n) for n in ({SWEEP}) for block in ('highway', 'plain')]"
COMMANDS = {
    "headline": ((*OURS, "--seed", "0"), ("straightforward.py",)),
    "sweep": ((*OURS, "--depths", SWEEP), ("-c", THEIR_SWEEP)),
}


def seconds(*words) -> float:
    """How long a Python process with these arguments takes."""
    variables = dict(os.environ)
    variables.pop("MNIST_DIR", None)  # it may name another data set
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # users' second run finds what the first one compiled
    variables["OPENBLAS_NUM_THREADS"] = "1"  # a second thread slows both programs, more so on a busy machine
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=ROOT, env=variables, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main(argv=None) -> int:
    parser = arguments("commands", __doc__)
    parser.add_argument("--rounds", type=number(int, 1), default=5, help="how often each is timed (%(default)s)")
    args = parser.parse_args(argv)
    report = Report(parser, args)
    trials = {}
    summary = {}
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "out.json")
        for name, (our_command, their_command) in COMMANDS.items():
            ours = []
            theirs = []
            for _ in range(args.rounds):
                ours.append(seconds(*our_command, "--out", out))
                theirs.append(seconds(*their_command))
            trials[name] = {"this project": ours, "straightforward NumPy": theirs}
            ratio = float(np.median(np.divide(ours, theirs)))
            summary[f"{name}_over_straightforward"] = ratio
            summary[f"{name}_seconds"] = float(np.median(ours))
            medians = f"{np.median(ours):.2f} s, straightforward {np.median(theirs):.2f} s"
            print(f"{name}: {medians}, ratio {ratio:.3f}")
    settings = {"rounds": args.rounds, "cores": os.cpu_count()}
    return report.save(settings, summary, trials)


if __name__ == "__main__":
    end(main)
