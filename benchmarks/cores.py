"""How much faster do several cores train one net?

    python -m benchmarks.cores        -> results/benchmark_cores.json

Compares a step with `--cores 2` to a step on one core, for the paper's convolutional nets, batch
100, and the headline's fully connected nets, batch 128.  In each round both are measured in turn,
each in new processes, whose first steps are not timed.  The numbers are medians over the rounds.
Processes are not pinned: the system chooses the core of each.
"""

from __future__ import annotations

import time
from contextlib import closing, nullcontext
from dataclasses import replace

import highways.installed  # noqa: F401  isort: skip  first: it says what is not installed
import benchmarks.one_thread  # noqa: F401  first: NumPy reads its environment when it is imported

# isort: split
import numpy as np

import highway_networks as hn
from benchmarks.report import Report, arguments, end, summarise
from benchmarks.step import mnist_like
from highways.commands import number
from highways.conv import runs
from highways.conv.images import fingerprint
from highways.conv.protocols import BATCH, ConvSettings, protocol_of
from highways.conv.training import Training
from highways.processes import MOST_JOBS, all_cores, in_processes
from highways.ranks import ALONE, Rank, Together

CONVOLUTIONAL = {
    "mnist_16": ConvSettings(net="mnist-16"),
    "mnist_32": ConvSettings(net="mnist-32"),
    "highway_a": ConvSettings(net="highway-a", data="cifar-10", n_train=50000),
    "cifar_19": ConvSettings(net="nineteen-layers", data="cifar-10", n_train=50000),
}
CONNECTED = {block: hn.Settings() for block in hn.PAIR}  # the headline's
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


def convolutional(settings: ConvSettings, rank) -> tuple:
    """(net, optimizer, x, y, batch size) as train_epoch() takes them.  A Training is both net and
    optimizer."""
    data = dataset(settings.data)
    training = Training(settings, protocol_of(settings), fingerprint(data))
    training.inputs.fit(data.x_train)
    if rank is not ALONE:
        training.join(rank)
    training.begin_epoch()
    return training, training, data.x_train, data.y_train, BATCH


def connected(block: str, settings: hn.Settings, rank) -> tuple:
    """(net, optimizer, x, y, batch size) as train_epoch() takes them."""
    x, y = mnist_like(4 * settings.batch_size)
    net = hn.DeepNet(784, 10, settings.hidden, settings.depth, block, settings.seed)
    optimizer = hn.Adam(net.parameters, settings.lr, settings.clip)
    if rank is ALONE:
        return net, optimizer, x, y, settings.batch_size
    together = Together(net, optimizer, rank)  # both net and optimizer
    return together, together, x, y, settings.batch_size


@hn.one_blas_thread()
def seconds_of_step(name: str, team, index: int) -> float | None:
    """The median time of a step in this process; None unless this is the first rank."""
    rank = Rank(team, index) if team else ALONE
    if name in CONNECTED:
        net, optimizer, x, y, batch = connected(name, CONNECTED[name], rank)
    else:
        net, optimizer, x, y, batch = convolutional(CONVOLUTIONAL[name], rank)
    rows = np.random.default_rng(1).permutation(len(x)).reshape(-1, batch)
    times = []
    enough = np.zeros(1)
    while not enough:
        start = time.perf_counter()
        hn.train_epoch(net, optimizer, x, y, rows[len(times) % len(rows)], batch)
        times.append(time.perf_counter() - start)
        timed = times[WARM_UP:]
        is_enough = len(timed) >= 3 and sum(timed) > SECONDS
        # all ranks must end together: when the first has enough
        enough = rank.exchange(np.array([is_enough]))[0]
    return float(np.median(timed)) if index == 0 else None


def team_of(name: str, cores: int):
    if name in CONNECTED:
        return hn.team_of(name, replace(CONNECTED[name], cores=cores), dataset("mnist"))
    settings = replace(CONVOLUTIONAL[name], cores=cores)
    return runs.team_of(settings, protocol_of(settings), fingerprint(dataset(settings.data)))


def turn(name: str, cores: int) -> float:
    """The seconds of a step on this number of cores."""
    with team_of(name, cores) if cores > 1 else nullcontext() as team:
        tasks = [(name, team, index) for index in range(cores)]
        jobs = max(cores, 2)  # with one job the task would run in this process
        with closing(in_processes(seconds_of_step, tasks, jobs)) as finished:
            return next(seconds for seconds in finished if seconds is not None)


def main(argv=None) -> int:
    parser = arguments("cores", __doc__)
    most = number(int, 2, MOST_JOBS)
    parser.add_argument("--cores", type=most, default=2, help="compared with one (%(default)s)")
    parser.add_argument("--rounds", type=number(int, 1), default=9, help="turns of each (%(default)s)")
    args = parser.parse_args(argv)
    report = Report(parser, args)
    trials = {}
    summary = {}
    for name in (*CONVOLUTIONAL, *CONNECTED):
        seconds = {1: [], args.cores: []}
        for _ in range(args.rounds):
            for cores, of_cores in seconds.items():
                of_cores.append(turn(name, cores))
        speed_up = np.divide(seconds[1], seconds[args.cores])
        row = {f"{cores} cores": summarise(of_cores) for cores, of_cores in seconds.items()}
        row["speed_up"] = list(np.percentile(speed_up, (25, 50, 75)))
        trials[name] = row
        summary[f"{name}_speed_up"] = row["speed_up"][1]
        low, median, high = row["speed_up"]
        print(f"{name:10} {args.cores} cores are {median:.2f} ({low:.2f} to {high:.2f}) times as fast", flush=True)
    settings = {"cores": args.cores, "rounds": args.rounds, "cores_of_the_machine": all_cores()}
    return report.save(settings, summary, trials)


if __name__ == "__main__":
    from benchmarks import cores  # under its own name, by which workers find its functions

    end(cores.main)
