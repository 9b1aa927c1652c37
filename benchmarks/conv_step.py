"""How long is a training step of the paper's convolutional nets?  This project against PyTorch, JAX and TensorFlow.

    python -m benchmarks.conv_step            -> experiments/results/benchmark_conv_step.json
    OPENBLAS_CORETYPE=Haswell python -m benchmarks.conv_step --out experiments/results/benchmark_conv_step_avx2.json
    python -m benchmarks.conv_step --short --rounds 5 --out FILE           -> FILE, after each net

The nets are Table 1's, Table 2's A and Table 3's 19 layers.  A step is forward, loss, backward and
Nesterov with weight decay, for a batch of 100, with dropout, on one core.

This project runs twice, with Winograd's method and with direct products alone.  The rivals of
benchmarks/conv_rivals run as they are usually written, at their best, and in bfloat16, which is
less exact.  They start from our weights, and must first compute our loss and gradient, without
dropout.  Rivals are interleaved, warm-up is discarded, and the numbers are medians, as in
benchmarks.step.  "Best" is the fastest rival of this run.

Memory is measured in a process that has trained a tiny net.  What counts is how much is added when
one of the nets above is then made and trained for a few steps.

The second command measures with the instructions of a processor without AVX-512.  The third is for
a machine that one has for some minutes: without torch.compile, whose compilation takes longer than
the measurement, and without memory.
"""

from __future__ import annotations

import multiprocessing
import sys
from functools import partial

import benchmarks.one_thread  # noqa: F401  first: NumPy and the rivals read their environment when imported

# isort: split
import numpy as np

from benchmarks import conv_rivals
from benchmarks.report import Report, arguments, checked, end, ratio_to_best, row_of
from benchmarks.scaling import memory_mb
from benchmarks.step import interleaved, pin
from highways.commands import number
from highways.conv.nets import PUBLISHED

BATCH = 100
STEPS = {1: 3, 3: 1}  # {maps of an image: steps in a turn}; those of nets for CIFAR are slower
OF_THE_PAPER = {
    "mnist_16": PUBLISHED["mnist-16"],
    "mnist_32": PUBLISHED["mnist-32"],
    "highway_a": PUBLISHED["highway-a"],
    "cifar_19": PUBLISHED["nineteen-layers"],
}
NETS = {name: (net.shape, net.layers) for name, net in OF_THE_PAPER.items()}
TINY = [("conv", 3, 1), ("highway", 3), ("dense", 10)]


def images(shape):
    """A random batch (x, y).  Images of one map are mostly zeros, as digits are."""
    rng = np.random.default_rng(0)
    x = rng.random((BATCH, int(np.prod(shape))), dtype=np.float32)
    if shape[0] == 1:
        x *= rng.random(x.shape) < 0.2
    return x, rng.integers(0, 10, BATCH)


def made(shape, layers, kinds=conv_rivals.ALL) -> tuple[dict, dict]:
    """checked() with these rivals: {name: rival}, {name: why it is missing}.

    The tolerance is wide: in float32 another pixel of a pooling window may come out largest, which
    changes the gradient."""
    return checked(kinds, lambda kind: kind(shape, layers, *images(shape)), 1e-3)


def peak_mb(name: str, shape, layers) -> float | None:
    """How much memory training adds, at most, measured in a new process; None unless on Linux."""
    if not sys.platform.startswith("linux"):
        return None
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_mb, (name, shape, layers))


def _peak_mb(name: str, shape, layers) -> float:
    kind = next(kind for kind in conv_rivals.ALL if kind.name == name)
    kind(shape, TINY, *images(shape)).step()  # now the process has the memory that any net needs
    before = memory_mb("VmRSS")
    rival = kind(shape, layers, *images(shape))
    for _ in range(3):
        rival.step()
    return memory_mb("VmHWM") - before


def measure(name: str, rounds: int, short: bool = False) -> tuple[dict, dict]:
    """{rival: its row}, {rival: why it is missing}; if short, without torch.compile and memory."""
    shape, layers = NETS[name]
    kinds = [kind for kind in conv_rivals.ALL if not (short and issubclass(kind, conv_rivals.TorchCompiled))]
    rivals, missing = made(shape, layers, kinds)
    steps = STEPS[shape[0]]

    def turn(rival):
        for _ in range(steps):
            rival.step()

    seconds_of_turns = interleaved({name: partial(turn, rival) for name, rival in rivals.items()}, rounds)
    seconds_of_step = {name: [seconds / steps for seconds in turns] for name, turns in seconds_of_turns.items()}
    rows = {}
    for kind in kinds:
        if kind.name in rivals:
            memory = None if short else peak_mb(kind.name, shape, layers)
            rows[kind.name] = row_of(kind, seconds_of_step) | {"peak_mb": memory}
    return rows, missing


def ratios(rows: dict) -> dict:
    """Our time over that of the best rival of each kind, and over that of our direct products.  Our
    memory over PyTorch's, in the memory format that needs less."""

    def over(may_compete) -> float | None:
        return ratio_to_best(rows, conv_rivals.ALL, may_compete)

    usual = (conv_rivals.Torch, conv_rivals.TorchChannelsLast)
    memories = [rows[kind.name]["peak_mb"] for kind in usual if kind.name in rows]
    measured = [megabytes for megabytes in memories if megabytes is not None]
    memory = None
    if measured:
        memory = rows[conv_rivals.Ours.name]["peak_mb"] / min(measured)
    return {
        "over_torch": over(lambda kind: kind in usual),
        "over_jax": over(lambda kind: kind is conv_rivals.Jax),
        "over_best": over(lambda kind: kind.arithmetic == "float32"),
        "over_best_bfloat16": over(lambda kind: kind.arithmetic == "bfloat16"),
        "over_direct": rows[conv_rivals.OursDirect.name]["ours_over_theirs"][1],
        "memory_over_torch": memory,
    }


def cost_of_normalising(rounds: int) -> float:
    """The time of a step of the smallest net with batch normalisation of H over that without."""
    shape, layers = NETS["mnist_16"]
    normalised = []
    for kind, *settings in layers:
        if kind == "highway":
            kind = "highway-bn"
        normalised.append((kind, *settings))
    with_it = conv_rivals.Ours(shape, normalised, *images(shape))
    without = conv_rivals.Ours(shape, layers, *images(shape))
    times = interleaved({"with": with_it.step, "without": without.step}, rounds)
    return float(np.median(np.divide(times["with"], times["without"])))


def show(title: str, rows: dict, missing: dict) -> None:
    print(f"\n{title}")
    for name, row in rows.items():
        memory = "-" if row["peak_mb"] is None else f"{row['peak_mb']:.0f} MB"
        print(f"{name:50}{row['median_ms']:8.1f} ms {row['ours_over_theirs'][1]:7.3f} {memory:>9}")
    for name, why in missing.items():
        print(f"{name:50}left out: {why}")


def main(argv=None) -> int:
    parser = arguments("conv_step", __doc__)
    parser.add_argument("--rounds", type=number(int, 1), default=20, help="turns for each rival (%(default)s)")
    parser.add_argument("--short", action="store_true", help="without torch.compile and without memory")
    args = parser.parse_args(argv)
    where = pin()
    report = Report(parser, args, ("torch", "jax", "tensorflow"))
    settings = {"batch": BATCH, "rounds": args.rounds}
    trials = {}
    summary = {}
    for net in NETS:
        trials[net], missing = measure(net, args.rounds, args.short)
        show(f"training step, {net}, batch {BATCH}, {where}", trials[net], missing)
        for what, value in ratios(trials[net]).items():
            summary[f"{net}_{what}"] = value
        if args.short:
            report.save(settings, summary, trials)
    cost = cost_of_normalising(args.rounds)
    summary["mnist_16_normalised_over_not"] = cost
    print(f"\nbatch normalisation of H makes a step of mnist_16 {cost:.2f} times as long")
    return report.save(settings, summary, trials)


if __name__ == "__main__":
    from benchmarks import conv_step  # under its own name, by which workers find its functions

    end(conv_step.main)
