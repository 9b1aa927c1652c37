"""How long is a training step of the paper's convolutional nets?  This project against PyTorch and JAX.

    python -m benchmarks.conv_step            -> results/benchmark_conv_step.json
    OPENBLAS_CORETYPE=Haswell python -m benchmarks.conv_step --out results/benchmark_conv_step_avx2.json

Table 1's nets, Table 2's A, Table 3's 19 layers; batch 100, dropout on, one core: forward, loss, backward, Nesterov
with weight decay.  Ours by Winograd's method and with direct products alone, PyTorch's eager mode in both of its memory
formats, JAX's jit of the whole step.  torch.compile was measured once and is slower than eager mode here.  Each rival
starts from our weights and is first checked to compute our loss and gradient, without dropout.  Interleaved, warm-up
discarded, medians, as in benchmarks.step.  Memory is what making the net and training it for a few steps adds to a
process that has trained a tiny one.  The second command is what a processor without AVX-512 runs.
"""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import benchmarks.one_thread  # noqa: F401  first: NumPy and the rivals read their environment when imported

# isort: split
import numpy as np

import highway_networks as hn
from benchmarks.report import Report, arguments, checked, end, summarise
from benchmarks.scaling import memory_mb
from benchmarks.step import interleaved, pin
from conv.layer import Dense
from conv.net import ConvNet
from conv.nets import PUBLISHED
from plumbing.commands import number
from training.optimizers import Nesterov

BATCH = 100
STEPS = {1: 3, 3: 1}  # a turn, by the maps of an image: the nets for CIFAR take long enough
OF_THE_PAPER = {"mnist_16": "mnist-16", "mnist_32": "mnist-32", "highway_a": "highway-a", "cifar_19": "nineteen-layers"}
NETS = {name: (PUBLISHED[own].shape, PUBLISHED[own].layers) for name, own in OF_THE_PAPER.items()}
TINY = [("conv", 3, 1), ("highway", 3), ("dense", 10)]
LR, MOMENTUM, WEIGHT_DECAY = 0.01, 0.9, 5e-4


class Ours:
    name, method = "this project", "winograd"

    def __init__(self, shape, layers, x, y):
        self.net, self.x, self.y = ConvNet(shape, layers, np.random.default_rng(0), method=self.method), x, y
        self.optimizer = Nesterov(self.net.parameters, LR, MOMENTUM, WEIGHT_DECAY)
        self.rng = np.random.default_rng(1)

    def loss_and_gradient(self):
        loss, d_logits = hn.softmax_cross_entropy(self.net.forward(self.x), self.y)
        return float(loss), self.net.backward(d_logits).copy()

    def step(self):
        _, d_logits = hn.softmax_cross_entropy(self.net.forward(self.x, dropout=self.rng), self.y)
        self.optimizer.step(self.net.backward(d_logits))


class OursDirect(Ours):
    name, method = "this project, direct", "direct"


def layers_of(shape, layers):
    """[(layer, its kind and settings)] of our net, with the weights that it starts from."""
    net = ConvNet(shape, layers, np.random.default_rng(0))
    return [(layer, *entry) for layer, entry in zip(net.layers, layers, strict=True)]


def in_theirs(layers, axes) -> list[np.ndarray]:
    """Our parameters in a rival's layout: `axes` is the order of those of W, of a convolution and of a dense layer."""
    arrays = []
    for layer, *_ in layers:
        for name in layer.shapes:
            array, dense = getattr(layer, name), isinstance(layer, Dense)
            if name == "W":
                array = array.transpose(axes[dense])
            arrays.append(np.ascontiguousarray(array.reshape(len(array), -1) if name == "W" and dense else array))
    return arrays


def in_ours(layers, axes, gradients) -> np.ndarray:
    """Gradients in that layout -> one vector in ours."""
    parts, gradients = [], iter(gradients)
    for layer, *_ in layers:
        for name, shape in layer.shapes.items():
            g = np.asarray(next(gradients))
            if name == "W":
                order = axes[isinstance(layer, Dense)]
                g = g.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))
            parts.append(np.ravel(g))
    return np.concatenate(parts)


class Torch:
    name, channels_last = "PyTorch eager", False
    axes = (0, 3, 1, 2), (0, 2, 1, 3)  # maps before pixels

    def __init__(self, shape, layers, x, y):
        import torch

        self.torch, self.layers = torch, layers_of(shape, layers)
        layout = {"memory_format": torch.channels_last if self.channels_last else torch.contiguous_format}
        p = [torch.tensor(array) for array in in_theirs(self.layers, self.axes)]
        self.p = [(each.to(**layout) if each.ndim == 4 else each).requires_grad_() for each in p]
        rule = {"lr": LR, "momentum": MOMENTUM, "weight_decay": WEIGHT_DECAY, "nesterov": True}
        self.optimizer = torch.optim.SGD(self.p, **rule)
        self.x, self.y = torch.tensor(x.reshape(-1, *shape)).to(**layout), torch.tensor(y)

    def forward(self, training):
        F, h, p = self.torch.nn.functional, self.x, iter(self.p)
        for layer, kind, *settings in self.layers:
            if kind == "dropout":
                h = F.dropout(h, settings[0], training)
            elif kind == "pool":
                h = F.max_pool2d(h, *settings, ceil_mode=True)
            elif kind == "average":
                h = F.avg_pool2d(h, settings[0])
            elif kind in ("hidden", "dense"):
                h = F.linear(h.flatten(1), next(p), next(p))
                h = F.relu(h) if kind == "hidden" else h
            else:
                z, maps = F.conv2d(h, next(p), next(p), padding=layer.pad), layer.out_shape[0]
                H = F.relu(z[:, :maps])
                h = h + self.torch.sigmoid(z[:, maps:]) * (H - h) if kind == "highway" else H
        return F.cross_entropy(h, self.y)

    def loss_and_gradient(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.forward(training=False)
        loss.backward()
        return loss.item(), in_ours(self.layers, self.axes, [p.grad.numpy() for p in self.p])

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.forward(training=True).backward()
        self.optimizer.step()


class TorchChannelsLast(Torch):
    name, channels_last = "PyTorch eager, channels_last", True


class Jax:
    """jit of the whole step, images NHWC, the layout that is faster for it here."""

    name, axes = "JAX jit", ((1, 2, 3, 0), (0, 1, 3, 2))

    def __init__(self, shape, layers, x, y):
        import jax
        import jax.numpy as jnp

        self.jax, self.layers = jax, layers_of(shape, layers)
        self.p = [jnp.array(array) for array in in_theirs(self.layers, self.axes)]
        self.v = [jnp.zeros_like(p) for p in self.p]
        self.x = jnp.array(x.reshape(-1, *shape).transpose(0, 2, 3, 1))
        self.y, self.key = jnp.array(y), jax.random.key(0)

        def loss(p, key):
            h, p = self.x, iter(p)
            for i, (layer, kind, *settings) in enumerate(self.layers):
                if kind == "dropout":
                    if key is not None:
                        keep = jax.random.bernoulli(jax.random.fold_in(key, i), 1 - settings[0], h.shape)
                        h = jnp.where(keep, h / (1 - settings[0]), 0)
                elif kind == "pool":
                    k, stride = settings
                    (_, side), (_, out) = layer.in_shape, layer.out_shape
                    over = ((0, 0), (0, (out - 1) * stride + k - side), (0, (out - 1) * stride + k - side), (0, 0))
                    h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, k, k, 1), (1, stride, stride, 1), over)
                elif kind == "average":
                    maps, side = layer.out_shape
                    h = h.reshape(len(h), side, settings[0], side, settings[0], maps).mean(axis=(2, 4))
                elif kind in ("hidden", "dense"):
                    W, b = next(p), next(p)
                    h = h.reshape(len(h), -1) @ W.T + b
                    h = jax.nn.relu(h) if kind == "hidden" else h
                else:
                    W, b = next(p), next(p)
                    pad, maps = ((layer.pad, layer.pad),) * 2, layer.out_shape[0]
                    z = jax.lax.conv_general_dilated(h, W, (1, 1), pad, dimension_numbers=("NHWC", "HWIO", "NHWC")) + b
                    H = jax.nn.relu(z[..., :maps])
                    h = h + jax.nn.sigmoid(z[..., maps:]) * (H - h) if kind == "highway" else H
            return -jnp.take_along_axis(jax.nn.log_softmax(h), self.y[:, None], axis=1).mean()

        def step(p, v, key):
            key, own = jax.random.split(key)
            g = [g + WEIGHT_DECAY * p for g, p in zip(jax.grad(loss)(p, own), p, strict=True)]
            v = [MOMENTUM * v + g for v, g in zip(v, g, strict=True)]
            p = [p - LR * (g + MOMENTUM * v) for p, g, v in zip(p, g, v, strict=True)]
            return p, v, key

        self.value_and_grad = jax.jit(lambda p: jax.value_and_grad(loss)(p, None))
        self._step = jax.jit(step, donate_argnums=(0, 1))

    def loss_and_gradient(self):
        loss, gradients = self.value_and_grad(self.p)
        return float(loss), in_ours(self.layers, self.axes, gradients)

    def step(self):
        self.p, self.v, self.key = self._step(self.p, self.v, self.key)
        self.jax.block_until_ready(self.p)


RIVALS = (Ours, OursDirect, Torch, TorchChannelsLast, Jax)


def images(shape):
    """A batch, mostly zeros, as digits are, where there is one map."""
    rng = np.random.default_rng(0)
    x = rng.random((BATCH, int(np.prod(shape))), dtype=np.float32)
    if shape[0] == 1:
        x *= rng.random(x.shape) < 0.2
    return x, rng.integers(0, 10, BATCH)


def made(shape, layers) -> tuple[dict, dict]:
    """The rivals; in float32 the largest of a pooling window may be another, which changes the gradient."""
    return checked(RIVALS, lambda kind: kind(shape, layers, *images(shape)), 1e-3)


def peak_mb(name: str, shape, layers) -> float | None:
    """The memory that training adds to a process of its own, at the most; None off Linux."""
    if not sys.platform.startswith("linux"):
        return None
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_mb, (name, shape, layers))


def _peak_mb(name: str, shape, layers) -> float:
    kind = next(kind for kind in RIVALS if kind.name == name)
    kind(shape, TINY, *images(shape)).step()  # what a program takes whatever the net
    before = memory_mb("VmRSS")
    rival = kind(shape, layers, *images(shape))
    for _ in range(3):
        rival.step()
    return memory_mb("VmHWM") - before


def measure(name: str, rounds: int) -> tuple[dict, dict]:
    """{rival: its row}, {rival: why it is missing}."""
    shape, layers = NETS[name]
    there, missing = made(shape, layers)
    steps = STEPS[shape[0]]
    turns = {rival: lambda r=r: [r.step() for _ in range(steps)] for rival, r in there.items()}
    times = {rival: [t / steps for t in values] for rival, values in interleaved(turns, rounds).items()}
    rows = {rival: summarise(values) for rival, values in times.items()}
    for rival, row in rows.items():
        row["ours_over_theirs"] = float(np.median(np.divide(times[Ours.name], times[rival])))
        row["peak_mb"] = peak_mb(rival, shape, layers)
    return rows, missing


def ratios(rows: dict) -> dict:
    """Ours over the faster of PyTorch's formats, over the smaller of them, over JAX, over our direct products."""
    eager = [rows[kind.name] for kind in (Torch, TorchChannelsLast) if kind.name in rows]
    least = min((row["peak_mb"] for row in eager if row["peak_mb"]), default=None)
    return {
        "over_torch": max((row["ours_over_theirs"] for row in eager), default=None),
        "over_jax": rows[Jax.name]["ours_over_theirs"] if Jax.name in rows else None,
        "over_direct": rows[OursDirect.name]["ours_over_theirs"],
        "memory_over_torch": least and rows[Ours.name]["peak_mb"] / least,
    }


def cost_of_normalising(rounds: int) -> float:
    """The time of a step with batch normalisation of H over that without, for the smallest net."""
    shape, layers = NETS["mnist_16"]
    normalised = [("highway-bn" if kind == "highway" else kind, *settings) for kind, *settings in layers]
    nets = {name: Ours(shape, each, *images(shape)) for name, each in (("with", normalised), ("without", layers))}
    times = interleaved({name: net.step for name, net in nets.items()}, rounds)
    return float(np.median(np.divide(times["with"], times["without"])))


def main(argv=None) -> int:
    parser = arguments("conv_step", __doc__)
    parser.add_argument("--rounds", type=number(int, 1), default=20, help="turns for each rival (%(default)s)")
    args = parser.parse_args(argv)
    where = pin()
    report, trials, summary = Report(parser, args, ("torch", "jax")), {}, {}
    for net in NETS:
        trials[net], missing = measure(net, args.rounds)
        print(f"\ntraining step, {net}, batch {BATCH}, {where}")
        for name, row in trials[net].items():
            memory = "-" if row["peak_mb"] is None else f"{row['peak_mb']:.0f} MB"
            print(f"{name:30}{row['median_ms']:8.1f} ms {row['ours_over_theirs']:7.3f} {memory:>9}")
        for name, why in missing.items():
            print(f"{name:30}left out: {why}")
        summary |= {f"{net}_{what}": value for what, value in ratios(trials[net]).items()}
    summary["mnist_16_normalised_over_not"] = cost = cost_of_normalising(args.rounds)
    print(f"\nbatch normalisation of H makes a step of mnist_16 {cost:.2f} times as long")
    return report.save({"batch": BATCH, "rounds": args.rounds}, summary, trials)


if __name__ == "__main__":
    from benchmarks import conv_step  # so that worker processes find its functions under this name

    sys.exit(end(conv_step.main))
