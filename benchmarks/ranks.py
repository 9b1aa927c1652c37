"""How much faster do several ranks of MPI train one convolutional net?

    python -m benchmarks.ranks        -> experiments/results/benchmark_ranks.json

Compares a step under `mpiexec -n 2` to a step of a single process, for the paper's nets and a
batch of 100.  In each round both are measured in turn, each in new processes, whose first steps
are not timed.  The numbers are medians over the rounds.  Processes are not pinned: the system chooses
the core of each.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import benchmarks.one_thread  # noqa: F401  first: NumPy reads its environment when it is imported

# isort: split
import numpy as np

import highway_networks as hn
from benchmarks.report import Report, arguments, end, summarise
from highways.commands import number
from highways.conv.images import fingerprint
from highways.conv.protocols import BATCH, ConvSettings, settings_of
from highways.conv.together import find_mpiexec, joined_ranks
from highways.conv.training import Training
from highways.files import ROOT, InputError
from highways.processes import all_cores

NETS = {
    "mnist_16": settings_of(net="mnist-16"),
    "mnist_32": settings_of(net="mnist-32"),
    "highway_a": settings_of(net="highway-a", data="cifar-10", n_train=50000),
    "cifar_19": settings_of(net="nineteen-layers", data="cifar-10", n_train=50000),
}
SHAPES = {"mnist": (1, 28), "cifar-10": (3, 32)}  # maps, side
SECONDS = 2.0  # how long steps are timed in a turn
WARM_UP = 3  # steps before that


def dataset(name: str) -> hn.Dataset:
    """Random images of a data set's shape, four batches of them."""
    maps, side = SHAPES[name]
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (4 * BATCH, maps * side * side), dtype=np.uint8)
    y = rng.integers(0, 10, len(x))
    shape = (maps, side, side) if maps > 1 else (side, side)
    return hn.Dataset(
        x_train=x,
        y_train=y,
        x_test=x,
        y_test=y,
        name=name,
        source="random images",
        n_classes=10,
        sha256="",
        shape=shape,
    )


@hn.one_blas_thread()
def seconds_of_step(settings: ConvSettings, ranks) -> float:
    """The median time of a step in this process, one of the ranks."""
    data = dataset(settings.data)
    training = Training(settings, fingerprint(data))
    training.inputs.fit(data.x_train)
    if ranks.count > 1:
        training.join(ranks)
    training.begin_epoch()
    x = data.x_train
    rows = np.random.default_rng(1).permutation(len(x)).reshape(-1, BATCH)
    times = []
    enough = False
    while not enough:
        start = time.perf_counter()
        hn.train_epoch(training, training, x, data.y_train, rows[len(times) % len(rows)], BATCH)
        times.append(time.perf_counter() - start)
        timed = times[WARM_UP:]
        is_enough = len(timed) >= 3 and sum(timed) > SECONDS
        # all ranks must end together: when the first has enough
        enough = ranks.exchange(is_enough)[0]
    return float(np.median(timed))


def turn(name: str, ranks: int) -> float:
    """The seconds of a step of this net, trained by this number of ranks."""
    words = [sys.executable, "-m", "benchmarks.ranks", "--one", name]
    if ranks > 1:
        mpiexec = find_mpiexec()
        if mpiexec is None:
            raise InputError("there is no mpiexec of mpich: python -m pip install -r requirements-cluster.txt")
        words = [str(mpiexec), "-n", str(ranks), *words]
    process = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return float(process.stdout)


def main(argv=None) -> int:
    parser = arguments("ranks", __doc__)
    add = parser.add_argument
    add("--ranks", type=number(int, 2), default=2, help="compared with one (%(default)s)")
    add("--rounds", type=number(int, 1), default=9, help="turns of each (%(default)s)")
    add("--one", choices=NETS, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.one:
        with joined_ranks() as ranks:
            seconds = seconds_of_step(NETS[args.one], ranks)
            if ranks.index == 0:
                print(seconds)
        return 0
    report = Report(parser, args)
    trials = {}
    summary = {}
    for name in NETS:
        seconds = {1: [], args.ranks: []}
        for _ in range(args.rounds):
            for ranks, of_ranks in seconds.items():
                of_ranks.append(turn(name, ranks))
        low, median, high = np.percentile(np.divide(seconds[1], seconds[args.ranks]), (25, 50, 75))
        trials[name] = {
            "1 rank": summarise(seconds[1]),
            f"{args.ranks} ranks": summarise(seconds[args.ranks]),
            "speed_up": [low, median, high],
        }
        summary[f"{name}_speed_up"] = median
        times = f"{median:.2f} ({low:.2f} to {high:.2f}) times as fast"
        print(f"{name:10} {args.ranks} ranks are {times}", flush=True)
    settings = {"ranks": args.ranks, "rounds": args.rounds, "cores_of_the_machine": all_cores()}
    return report.save(settings, summary, trials)


if __name__ == "__main__":
    end(main)
