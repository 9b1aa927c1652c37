"""How long is a training step?  This project against JAX and PyTorch at their best, and the limit.

    python -m benchmarks.step        both blocks at the headline's sizes  -> experiments/results/benchmark_step.json

Everything runs on one core.  The rivals of benchmarks/rivals are interleaved: in each round each
makes a few steps.  Warm-up is discarded; the numbers are medians over the rounds, with quartiles
beside them.  Only ratios within one run are meaningful.  "Best" is the rival that happened to be
fastest in this run, which favours the rivals a little.  The limit is the time of the step's matrix
products alone.
"""

from __future__ import annotations

import os
import time
from functools import partial
from itertools import cycle, islice

import benchmarks.one_thread  # noqa: F401  first: NumPy and the rivals read their environment when imported

# isort: split
import numpy as np

import highway_networks as hn
from benchmarks import rivals
from benchmarks.report import Report, arguments, end, ratio_to_best, ratios, row_of, summarise
from highways.commands import number

STEPS = 20  # steps in each turn
WARM_UP = 2  # rounds discarded


def pin() -> str:
    """Pins this process, and those that it starts, to one core, if the system can; returns which."""
    try:
        import torch

        torch.set_num_threads(1)
    except ImportError:
        pass
    if not hasattr(os, "sched_setaffinity"):
        return "not pinned"
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return f"core {core}"


def interleaved(calls: dict, rounds: int, warm_up: int = WARM_UP) -> dict:
    """{name: [seconds of its call in each round]}; in a round every call is made once."""
    times = {name: [] for name in calls}
    for _ in range(rounds + warm_up):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: values[warm_up:] for name, values in times.items()}


def mnist_like(n: int):
    """Random images x (n, 784), float32 in [-1, 1), and labels y (n,)."""
    rng = np.random.default_rng(0)
    x = rng.random((n, 784), dtype=np.float32) * 2 - 1
    y = rng.integers(0, 10, n)
    return x, y


def time_steps(block, depth, width, batch, rounds, kinds=rivals.ALL) -> tuple[dict, dict]:
    """{rival: [seconds of a step in each round]}, {rival: why it is missing}."""
    x, y = mnist_like(max(6000, 2 * batch))
    made, missing = rivals.make((784, 10, width, depth, block), x, y, kinds)
    order = np.random.default_rng(1).permutation(len(x))
    batches = order[: len(x) // batch * batch].reshape(-1, batch)

    def turn(rival, endless_batches):
        rival.turn(list(islice(endless_batches, STEPS)))

    times = interleaved({name: partial(turn, rival, cycle(batches)) for name, rival in made.items()}, rounds)
    return {name: [seconds / STEPS for seconds in values] for name, values in times.items()}, missing


def median_ratio(rows: dict, kind: type[rivals.StepRival]) -> float | None:
    """Our time over this rival's, a median; None for a rival that is missing."""
    return rows[kind.name]["ours_over_theirs"][1] if kind.name in rows else None


def is_automatic(kind: type[rivals.StepRival]) -> bool:
    """Whether the framework derives the gradient itself."""
    return kind.gradient == "automatic"


def show(title: str, times: dict, missing: dict) -> None:
    names = [*times, *missing]
    width = 2 + max(map(len, names))
    print(f"\n{title}\n{'':{width}}{'ms a step':>10}  {'quartiles':>13}  {'ours / theirs':>13}")
    for name, values in times.items():
        row = summarise(values)
        low, high = row["quartiles_ms"]
        print(f"{name:{width}}{row['median_ms']:10.3f}  {low:6.3f} {high:6.3f}  {np.median(ratios(times, name)):13.3f}")
    for name, why in missing.items():
        print(f"{name:{width}}left out: {why}")


def time_prediction(rounds: int) -> tuple[dict, dict]:
    """{rival: [seconds]} for predicting 10 000 images with a highway net of depth 30, and
    {rival: why it is missing}."""
    x, y = mnist_like(10000)
    made, missing = rivals.make((784, 10, 50, 30, "highway"), x, y, (rivals.Ours, rivals.Torch))
    calls = {name: partial(rival.predict, x) for name, rival in made.items()}
    return interleaved(calls, rounds), missing


PARTS = ("gather", "forward", "loss", "backward", "clip and Adam")  # the parts of a step


def timed_step(ours: rivals.Ours, batch: np.ndarray) -> dict:
    """One step of ours: {part: seconds}."""
    marks = [time.perf_counter()]
    x = ours.x.take(batch, axis=0)
    y = ours.y[batch]
    marks.append(time.perf_counter())
    logits = ours.net.forward(x)
    marks.append(time.perf_counter())
    _, d_logits = hn.softmax_cross_entropy(logits, y)
    marks.append(time.perf_counter())
    gradient = ours.net.backward(d_logits)
    marks.append(time.perf_counter())
    ours.optimizer.step(gradient)
    marks.append(time.perf_counter())
    return dict(zip(PARTS, np.diff(marks), strict=True))


def where_time_goes(block: str, depth: int, width: int, batch: int, rounds: int) -> dict:
    """The milliseconds of each part of a step, of its matrix products, and of its calls to NumPy.
    The calls are measured as a whole step of a net of width 1, where little else takes time."""
    x, y = mnist_like(6000)
    net = hn.DeepNet(784, 10, width, depth, block, np.random.default_rng(0))
    tiny = hn.DeepNet(1, 2, 1, depth, block, np.random.default_rng(0))
    ours = rivals.Ours(net, x, y)
    products = rivals.MatrixProducts(net, x, y)
    tiny_ours = rivals.Ours(tiny, x[:, :1].copy(), y % 2)
    rng = np.random.default_rng(1)
    seconds = {name: [] for name in (*PARTS, "matrix products", "calls")}  # one mean a round
    for _ in range(rounds):
        batches = [rng.integers(0, len(x), batch) for _ in range(STEPS)]
        steps = [timed_step(ours, rows) for rows in batches]
        for name in PARTS:
            seconds[name].append(np.mean([step[name] for step in steps]))
        seconds["matrix products"].append(mean_step(products, batches))
        seconds["calls"].append(mean_step(tiny_ours, [rows[:1] for rows in batches]))
    parts = {name: 1e3 * float(np.median(values)) for name, values in seconds.items()}
    step = sum(parts[name] for name in PARTS)
    rest = step - parts["matrix products"] - parts["clip and Adam"] - parts["calls"]
    return parts | {"element-wise and memory": rest, "step": step}


def mean_step(rival, batches) -> float:
    """The mean time of a step, in seconds."""
    start = time.perf_counter()
    for rows in batches:
        rival.step(rows)
    return (time.perf_counter() - start) / len(batches)


def time_holding(rounds: int) -> float:
    """Microseconds to restrict BLAS to one thread and to release it again, which each call of
    predict(), gates() and train_epoch() does."""

    def hold_a_thousand_times():
        for _ in range(1000):
            with hn.one_blas_thread():
                pass

    seconds = interleaved({"hold": hold_a_thousand_times}, rounds)["hold"]
    microseconds = 1e6 * float(np.median(seconds))  # to hold it a thousand times
    return microseconds / 1000


def main(argv=None) -> int:
    parser = arguments("step", __doc__)
    for flag, default, text in (
        ("--depth", 30, "hidden blocks"),
        ("--width", 50, "units of a block"),
        ("--batch", 128, "images a step"),
        ("--rounds", 40, f"turns of {STEPS} steps for each rival"),
    ):
        parser.add_argument(flag, type=number(int, 1), default=default, help=f"{text} (%(default)s)")
    args = parser.parse_args(argv)
    where = pin()
    report = Report(parser, args, ("torch", "jax"))
    sizes = {"depth": args.depth, "width": args.width, "batch": args.batch}
    trials = {}
    summary = {}
    for block in hn.PAIR:
        times, missing = time_steps(block, **sizes, rounds=args.rounds)
        show(f"training step, {block}, {sizes}, {where}", times, missing)
        rows = {kind.name: row_of(kind, times) for kind in rivals.ALL if kind.name in times}
        trials[f"step, {block}"] = rows
        for kind, key in rivals.KEYS.items():
            summary[f"{block}_over_{key}"] = median_ratio(rows, kind)
        summary[f"{block}_over_best_automatic"] = ratio_to_best(rows, rivals.ALL, is_automatic)
        summary[f"{block}_over_best"] = ratio_to_best(rows, rivals.ALL, lambda kind: True)
        parts = where_time_goes(block, **sizes, rounds=args.rounds)
        trials[f"where the time goes, {block}"] = parts
        print("  ".join(f"{name} {value:.3f}" for name, value in parts.items()))
        for name in ("matrix products", "clip and Adam", "calls", "element-wise and memory"):
            key = name.replace(" ", "_").replace("-", "_")
            summary[f"{block}_share_of_{key}"] = parts[name] / parts["step"]
    times, missing = time_prediction(args.rounds)
    show("evaluation of 10 000 images, highway, depth 30", times, missing)
    rows = {kind.name: row_of(kind, times) for kind in (rivals.Ours, rivals.Torch) if kind.name in times}
    trials["evaluation"] = rows
    summary["evaluation_over_torch_eager"] = median_ratio(rows, rivals.Torch)
    summary["microseconds_to_hold_one_thread"] = time_holding(args.rounds)
    return report.save(sizes | {"rounds": args.rounds}, summary, trials)


if __name__ == "__main__":
    end(main)
