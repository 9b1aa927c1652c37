"""How long would the records take in PyTorch, on this core?  And airbench94_muon, the net that CIFAR's record follows?

    python -m benchmarks.records.rivals           -> experiments/results/benchmark_records_rivals.json
    python -m benchmarks.records.rivals --whole   -> the same, with whole trainings on MNIST

Everything runs on one core.  Programs make steps of their training in turn, with the records' images; those of a
record's own net must first compute our loss and gradient.  Where a layer ceases to learn, steps before and after are
timed, and weighed by their number.

Numbers are medians.  A whole training is computed: the start, all steps, and the test.  With --whole each program
trains MNIST's net in turn with three seeds, as a record is measured; what is compiled was compiled before.

Where a processor only emulates bfloat16, as one without
AVX-512, no net is timed in it: it is some seven times slower.
"""

from __future__ import annotations

import time
from functools import partial
from typing import NamedTuple

import benchmarks.one_thread  # noqa: F401  first: NumPy and PyTorch read their environment when imported

# isort: split
import numpy as np

import highway_networks as hn
from benchmarks.records.__main__ import RECORDS, Clock, training_images
from benchmarks.records.cifar_94 import airbench
from benchmarks.records.cifar_94 import in_torch as cifar_94
from benchmarks.records.in_torch import RecordRival, SameNet
from benchmarks.records.mnist_99 import in_torch as mnist_99
from benchmarks.records.mnist_99.training import FIRST_LEARNS
from benchmarks.report import Report, arguments, checked, end, ratios
from benchmarks.step import interleaved, pin
from highways.commands import number, path_name
from highways.conv.images import load_images

WHOLE_SEEDS = range(3)
EMULATED = 3  # times as long as in float32, or longer: bfloat16 is emulated


class Timed(NamedTuple):
    """What is timed of a record."""

    title: str
    rivals: tuple  # ours first
    shares: dict[float, float]  # {progress at which steps are timed: the share of the steps that are like these}
    steps: int  # in a turn
    rounds: int  # for each of --rounds
    tested: int  # test images whose prediction is timed
    tolerance: float  # of a gradient, relative to the largest entry


TIMED = {
    "mnist": Timed(
        title="99 % on MNIST",
        rivals=mnist_99.RIVALS,
        shares={0.1: FIRST_LEARNS, 0.7: 1 - FIRST_LEARNS},
        steps=5,
        rounds=5,
        tested=10000,
        tolerance=1e-3,
    ),
    "cifar": Timed(
        title="94 % on CIFAR-10",
        rivals=cifar_94.RIVALS + airbench.RIVALS,
        shares={0.1: airbench.FIRST_LEARNS, 0.7: 1 - airbench.FIRST_LEARNS},
        steps=1,
        rounds=1,
        tested=500,
        tolerance=1e-2,
    ),
}


def emulates_bfloat16() -> bool:
    """Whether a convolution in bfloat16 takes much longer than in float32."""
    import torch

    x = torch.rand(20, 64, 16, 16).contiguous(memory_format=torch.channels_last)
    W = torch.rand(64, 64, 3, 3).contiguous(memory_format=torch.channels_last)
    calls = {}
    for dtype in (torch.float32, torch.bfloat16):
        calls[dtype] = partial(torch.nn.functional.conv2d, x.to(dtype), W.to(dtype), padding=1)
    times = interleaved(calls, 5)
    return min(times[torch.bfloat16]) > EMULATED * min(times[torch.float32])


def make(name: str, data: hn.Dataset) -> tuple[dict, dict, dict]:
    """{rival: itself}, {rival: why it is missing}, {rival: seconds to make it}, of a record's rivals by their names."""
    timed = TIMED[name]
    seconds = {}

    def make_rival(kind):
        if kind.arithmetic == "bfloat16" and emulates_bfloat16():
            raise ImportError("this processor emulates bfloat16")
        kind(data, 0)  # imports what it needs, which does not count
        start = time.perf_counter()
        rival = kind(data, 0)
        seconds[kind.name] = time.perf_counter() - start
        return rival

    batch = RECORDS[name].recipe.batch_size
    rivals, missing = checked(timed.rivals, make_rival, timed.tolerance, data.x_train[:batch], data.y_train[:batch])
    return rivals, missing, seconds


@np.errstate(all="ignore")
def make_steps(rival: RecordRival, data: hn.Dataset, progress: float, steps: int, rng) -> None:
    """Makes some steps as after this share of the training."""
    training = rival.training
    batch = training.recipe.batch_size
    training.steps = int(progress * training.all_steps)
    order = rng.choice(len(data.x_train), steps * batch, replace=False)
    hn.train_epoch(training, training, data.x_train, data.y_train, order, batch, training.loss)


def seconds_of_steps(rivals: dict, data: hn.Dataset, timed: Timed, rounds: int) -> dict[str, np.ndarray]:
    """{rival: seconds of a step in each round}."""
    seconds = {name: np.zeros(rounds) for name in rivals}
    rng = np.random.default_rng(0)
    for progress, share in timed.shares.items():  # in this order: a layer that rests does not learn again
        turns = {}
        for name, rival in rivals.items():
            turns[name] = partial(make_steps, rival, data, progress, timed.steps, rng)
        for name, values in interleaved(turns, rounds, warm_up=1).items():
            seconds[name] += share * np.array(values) / timed.steps
    return seconds


def seconds_of_tests(rivals: dict, data: hn.Dataset, tested: int) -> dict[str, float]:
    """{rival: seconds to predict all test images}, from those of some of them."""
    x = data.x_test[:tested]
    calls = {name: partial(rival.training.predict, x) for name, rival in rivals.items()}
    times = interleaved(calls, 1, warm_up=0)
    return {name: values[0] * len(data.x_test) / len(x) for name, values in times.items()}


def measure(name: str, data: hn.Dataset, rounds: int) -> tuple[dict, dict]:
    """{rival: its row}, {rival: why it is missing}."""
    timed = TIMED[name]
    rivals, missing, starts = make(name, data)
    steps = seconds_of_steps(rivals, data, timed, rounds * timed.rounds)
    tests = seconds_of_tests(rivals, data, timed.tested)
    computed = {}
    for rival, made in rivals.items():
        computed[rival] = starts[rival] + made.training.all_steps * steps[rival] + tests[rival]
    rows = {}
    for kind in timed.rivals:
        if kind.name in rivals:
            training = rivals[kind.name].training
            low, median, high = np.percentile(steps[kind.name], (25, 50, 75))
            rows[kind.name] = {
                "seconds_of_step": median,
                "quartiles": [low, high],
                "images_of_step": training.recipe.batch_size,
                "steps": training.all_steps,
                "seconds_of_start": starts[kind.name],
                "seconds_of_test": tests[kind.name],
                "seconds_computed": float(np.median(computed[kind.name])),
                "ours_over_theirs": list(np.percentile(ratios(computed, kind.name), (25, 50, 75))),
                "same_net": issubclass(kind, SameNet),
                "gradient": kind.gradient,
                "arithmetic": kind.arithmetic,
            }
    return rows, missing


def train_whole(kinds, data: hn.Dataset) -> dict[str, list[dict]]:
    """{rival: [a training of each seed]}; each seed is trained by all in turn."""
    trials = {kind.name: [] for kind in kinds}
    for seed in WHOLE_SEEDS:
        for kind in kinds:
            clock = Clock()
            training = kind(data, seed).training
            while training.epochs < training.recipe.epochs:
                training.train_epoch(data)
            trial = {"seed": seed, "test_accuracy": training.accuracy(data), **clock.seconds()}
            trials[kind.name].append(trial)
            print(
                f"{kind.name:40} seed {seed}: {100 * trial['test_accuracy']:.2f} % in {trial['seconds']:.2f} s",
                flush=True,
            )
    return trials


def summary_of(rows: dict, whole: dict) -> dict:
    """Our seconds, and our time over that of the fastest of each kind; None where there is none."""
    ours = next(iter(rows))
    summary = {"seconds_computed": rows[ours]["seconds_computed"]}
    for net, same_net in (("torch", True), ("airbench", False)):
        for arithmetic in ("float32", "bfloat16"):
            found = []
            for name, row in rows.items():
                if name != ours and row["same_net"] == same_net and row["arithmetic"] == arithmetic:
                    found.append(row["ours_over_theirs"][1])
            summary[f"over_{net}_{arithmetic}"] = max(found, default=None)
    if whole:
        seconds = {name: float(np.mean([trial["seconds"] for trial in trials])) for name, trials in whole.items()}
        summary["seconds"] = seconds.pop(ours)
        summary["seconds_of_fastest"] = min(seconds.values(), default=None)
    return summary


def show(title: str, rows: dict, missing: dict) -> None:
    width = 2 + max(map(len, [*rows, *missing]))
    columns = f"{'s a step':>10} {'quartiles':>17} {'images':>7} {'steps':>6} {'start':>7} {'test':>8}"
    print(f"\n{title}\n{'':{width}}{columns} {'whole, computed':>16} {'ours / theirs':>14}")
    for name, row in rows.items():
        low, high = row["quartiles"]
        step = f"{row['seconds_of_step']:10.4f} {low:8.4f} {high:8.4f} {row['images_of_step']:7} {row['steps']:6}"
        rest = f"{row['seconds_of_start']:7.2f} {row['seconds_of_test']:8.2f} {row['seconds_computed']:14.1f} s"
        print(f"{name:{width}}{step} {rest} {row['ours_over_theirs'][1]:14.3f}")
    for name, why in missing.items():
        print(f"{name:{width}}left out: {why}")


def main(argv=None) -> int:
    parser = arguments("records.rivals", __doc__)
    parser.add_argument("--rounds", type=number(int, 1), default=2, help="turns for each program (%(default)s)")
    parser.add_argument("--whole", action="store_true", help="train MNIST's net whole, too")
    parser.add_argument("--data-dir", type=path_name, metavar="DIR", help="CIFAR-10 (by default the cache, or the web)")
    args = parser.parse_args(argv)
    where = pin()
    report = Report(parser, args, ("torch",), more=("whole",))
    trials = {}
    summary = {}
    for name, timed in TIMED.items():
        record = RECORDS[name]
        data_dir = args.data_dir if name == "cifar" else None
        data = training_images(load_images(record.recipe.data, data_dir), record)
        rows, missing = measure(name, data, args.rounds)
        show(f"{timed.title}, {where}", rows, missing)
        whole = {}
        if args.whole and name == "mnist":
            whole = train_whole([kind for kind in timed.rivals if kind.name in rows], data)
        trials[name] = {"steps": rows, "whole": whole}
        for key, value in summary_of(rows, whole).items():
            summary[f"{name}_{key}"] = value
    return report.save({"rounds": args.rounds, "whole": args.whole}, summary, trials)


if __name__ == "__main__":
    end(main)
