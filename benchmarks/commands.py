"""How long do the headline and the sweep take, as a user starts them, and where does the start-up go?

    python -m benchmarks.commands        -> results/benchmark_commands.json

Whole processes from start to exit with all cores, this project and the straightforward program in turn, several rounds;
medians, and the ratio within each round.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np

from benchmarks.report import Report, arguments, end
from plumbing.commands import number
from plumbing.files import ROOT

OURS, SWEEP = ("highway_networks.py", "--quiet"), "5,10,20,30,50"
THEIR_SWEEP = f"import straightforward as s; [s.train(block, n) for n in ({SWEEP}) for block in ('highway', 'plain')]"
COMMANDS = {
    "headline": ((*OURS, "--seed", "0"), ("straightforward.py",)),
    "sweep": ((*OURS, "--depths", SWEEP), ("-c", THEIR_SWEEP)),
}
START_UP = {  # each in a fresh interpreter, which is then subtracted
    "import numpy": "import numpy",
    "import highway_networks": "import highway_networks",
    "and load MNIST": "import highway_networks as hn; hn.load_mnist()",
    "and start workers": "import highway_networks as hn; hn.load_mnist(); list(hn.in_processes(id, [(1,), (2,)], 2))",
}


def seconds(*words) -> float:
    own = {name: value for name, value in os.environ.items() if name != "MNIST_DIR"}  # the user's data set is another
    own |= {"OPENBLAS_NUM_THREADS": "1"}  # a second slows both, and the more the busier the machine
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=ROOT, env=own, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main(argv=None) -> int:
    parser = arguments("commands", __doc__)
    parser.add_argument("--rounds", type=number(int, 1), default=5, help="(%(default)s)")
    args = parser.parse_args(argv)
    report, trials, summary = Report(parser, args), {}, {}
    with tempfile.TemporaryDirectory() as folder:
        out = ("--out", str(Path(folder) / "out.json"))
        for name, (ours, theirs) in COMMANDS.items():
            rounds = [(seconds(*ours, *out), seconds(*theirs)) for _ in range(args.rounds)]
            trials[name] = {"this project": [a for a, _ in rounds], "straightforward NumPy": [b for _, b in rounds]}
            summary[f"{name}_over_straightforward"] = float(np.median([a / b for a, b in rounds]))
            summary[f"{name}_seconds"] = float(np.median(trials[name]["this project"]))
    starts = {name: [seconds("-c", code) for _ in range(4 * args.rounds)] for name, code in START_UP.items()}
    bare = float(np.median([seconds("-c", "pass") for _ in range(4 * args.rounds)]))
    trials["start-up"] = {"python": bare} | {name: float(np.median(values)) - bare for name, values in starts.items()}
    for name, (ours, theirs) in {name: list(trials[name].values()) for name in COMMANDS}.items():
        print(f"{name}: {np.median(ours):.2f} s, straightforward {np.median(theirs):.2f} s, "
              f"ratio {summary[f'{name}_over_straightforward']:.3f}")  # fmt: skip
    for name, value in trials["start-up"].items():
        print(f"start-up, {name}: {1e3 * value:.0f} ms")
    settings = {"rounds": args.rounds, "cores": os.cpu_count()}
    return report.save(settings, summary, trials)


if __name__ == "__main__":
    end(main)
