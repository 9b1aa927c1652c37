"""How long do the headline and the sweep take, as a user starts them, and where does the start-up time go?

    python -m benchmarks.commands        -> results/benchmark_commands.json

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
START_UP = {  # each runs in a new interpreter; the time of an empty program is subtracted
    "import numpy": "import numpy",
    "import highway_networks": "import highway_networks",
    "and load MNIST": "import highway_networks as hn; hn.load_mnist()",
    "and start workers": """
import highway_networks as hn
from highways.processes import in_processes
hn.load_mnist()
list(in_processes(id, [(1,), (2,)], 2))
""",
}


def seconds(*words) -> float:
    """How long a Python process with these arguments takes."""
    variables = dict(os.environ)
    variables.pop("MNIST_DIR", None)  # it may name another data set
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
    python = seconds_to_start("pass", args.rounds)
    trials["start-up"] = {"python": python}
    for name, code in START_UP.items():
        trials["start-up"][name] = seconds_to_start(code, args.rounds) - python
    for name, value in trials["start-up"].items():
        print(f"start-up, {name}: {1e3 * value:.0f} ms")
    settings = {"rounds": args.rounds, "cores": os.cpu_count()}
    return report.save(settings, summary, trials)


def seconds_to_start(code: str, rounds: int) -> float:
    """The median time of a Python process that runs this code.

    Since that time is short, it is measured four times as often as that of a command."""
    return float(np.median([seconds("-c", code) for _ in range(4 * rounds)]))


if __name__ == "__main__":
    end(main)
