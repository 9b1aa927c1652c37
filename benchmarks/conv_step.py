"""How long is a training step of the paper's convolutional nets?  This project against PyTorch and JAX.

    python -m benchmarks.conv_step            -> results/benchmark_conv_step.json
    OPENBLAS_CORETYPE=Haswell python -m benchmarks.conv_step --out results/benchmark_conv_step_avx2.json

The nets are Table 1's, Table 2's A and Table 3's 19 layers.  A step is forward, loss,
backward, Nesterov with weight decay, for a batch of 100, with dropout, on one core.  Measured
are this project by Winograd's method and with direct products alone, PyTorch's eager mode in
both of its memory formats, JAX's jit of the whole step.  torch.compile was measured once and
is slower than eager mode here.

Each rival starts from our weights.  It is first checked to compute our loss and gradient, without
dropout.  Rivals are interleaved, warm-up is discarded, and the numbers are medians, as in
benchmarks.step.  Memory is what making the net and training it for a few steps adds to a process
that has trained a tiny one.

The second command measures what a processor without AVX-512 runs.
"""

from __future__ import annotations

import multiprocessing
import sys
from functools import partial

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
STEPS = {1: 3, 3: 1}  # steps in each turn, by the maps of an image: one step of a net for CIFAR takes long enough
OF_THE_PAPER = {
    "mnist_16": PUBLISHED["mnist-16"],
    "mnist_32": PUBLISHED["mnist-32"],
    "highway_a": PUBLISHED["highway-a"],
    "cifar_19": PUBLISHED["nineteen-layers"],
}
NETS = {name: (net.shape, net.layers) for name, net in OF_THE_PAPER.items()}
TINY = [("conv", 3, 1), ("highway", 3), ("dense", 10)]
LR = 0.01
MOMENTUM = 0.9
WEIGHT_DECAY = 5e-4


class Ours:
    name = "this project"
    method = "winograd"

    def __init__(self, shape, layers, x, y):
        self.net = ConvNet(shape, layers, np.random.default_rng(0), method=self.method)
        self.x = x
        self.y = y
        self.optimizer = Nesterov(self.net.parameters, LR, MOMENTUM, WEIGHT_DECAY)
        self.rng = np.random.default_rng(1)

    def loss_and_gradient(self):
        loss, d_logits = hn.softmax_cross_entropy(self.net.forward(self.x), self.y)
        return float(loss), self.net.backward(d_logits).copy()

    def step(self):
        _, d_logits = hn.softmax_cross_entropy(self.net.forward(self.x, dropout=self.rng), self.y)
        self.optimizer.step(self.net.backward(d_logits))


class OursDirect(Ours):
    name = "this project, direct"
    method = "direct"


def layers_of(shape, layers):
    """[(layer, its kind and settings)] of our net, with the weights that it starts from."""
    net = ConvNet(shape, layers, np.random.default_rng(0))
    return [(layer, *entry) for layer, entry in zip(net.layers, layers, strict=True)]


# A rival's layout of W is (axes of ours in its order for a convolution, the same for a dense
# layer).  Dense weights are matrices there, (units, inputs) in that order of axes.


def in_theirs(layers, axes) -> list[np.ndarray]:
    """Our parameters in a rival's layout."""
    arrays = []
    for layer, *_ in layers:
        for name in layer.shapes:
            array = getattr(layer, name)
            if name == "W":
                is_dense = isinstance(layer, Dense)
                array = array.transpose(axes[is_dense])
                if is_dense:
                    array = array.reshape(len(array), -1)
            arrays.append(np.ascontiguousarray(array))
    return arrays


def in_ours(layers, axes, gradients) -> np.ndarray:
    """Gradients in a rival's layout -> one vector in ours."""
    parts = []
    gradients = iter(gradients)
    for layer, *_ in layers:
        for name, shape in layer.shapes.items():
            gradient = np.asarray(next(gradients))
            if name == "W":
                order = axes[isinstance(layer, Dense)]
                gradient = gradient.reshape([shape[axis] for axis in order])
                gradient = gradient.transpose(np.argsort(order))
            parts.append(np.ravel(gradient))
    return np.concatenate(parts)


class Torch:
    name = "PyTorch eager"
    channels_last = False
    axes = (0, 3, 1, 2), (0, 2, 1, 3)  # maps before pixels

    def __init__(self, shape, layers, x, y):
        import torch

        self.torch = torch
        self.layers = layers_of(shape, layers)
        layout = torch.channels_last if self.channels_last else torch.contiguous_format
        self.parameters = []
        for array in in_theirs(self.layers, self.axes):
            parameter = torch.tensor(array)
            if parameter.ndim == 4:
                parameter = parameter.to(memory_format=layout)
            self.parameters.append(parameter.requires_grad_())
        self.optimizer = torch.optim.SGD(
            self.parameters, lr=LR, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY, nesterov=True
        )
        self.x = torch.tensor(x.reshape(-1, *shape)).to(memory_format=layout)
        self.y = torch.tensor(y)

    def forward(self, training):
        """The loss."""
        F = self.torch.nn.functional
        parameters = iter(self.parameters)
        x = self.x
        for layer, kind, *settings in self.layers:
            if kind == "dropout":
                x = F.dropout(x, settings[0], training)
            elif kind == "pool":
                x = F.max_pool2d(x, *settings, ceil_mode=True)
            elif kind == "average":
                x = F.avg_pool2d(x, settings[0])
            elif kind == "dense":
                x = F.linear(x.flatten(1), next(parameters), next(parameters))
            elif kind == "hidden":
                x = F.relu(F.linear(x.flatten(1), next(parameters), next(parameters)))
            else:
                z = F.conv2d(x, next(parameters), next(parameters), padding=layer.pad)
                maps = layer.out_shape[0]
                H = F.relu(z[:, :maps])
                x = x + self.torch.sigmoid(z[:, maps:]) * (H - x) if kind == "highway" else H
        return F.cross_entropy(x, self.y)

    def loss_and_gradient(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.forward(training=False)
        loss.backward()
        gradients = [parameter.grad.numpy() for parameter in self.parameters]
        return loss.item(), in_ours(self.layers, self.axes, gradients)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.forward(training=True).backward()
        self.optimizer.step()


class TorchChannelsLast(Torch):
    name = "PyTorch eager, channels_last"
    channels_last = True


class Jax:
    """jit of the whole step, images NHWC, the layout that is faster for it here."""

    name = "JAX jit"
    axes = (1, 2, 3, 0), (0, 1, 3, 2)

    def __init__(self, shape, layers, x, y):
        import jax
        import jax.numpy as jnp

        self.jax = jax
        self.layers = layers_of(shape, layers)
        self.parameters = [jnp.array(array) for array in in_theirs(self.layers, self.axes)]
        self.v = [jnp.zeros_like(parameter) for parameter in self.parameters]
        self.x = jnp.array(x.reshape(-1, *shape).transpose(0, 2, 3, 1))
        self.y = jnp.array(y)
        self.key = jax.random.key(0)
        self.value_and_grad = jax.jit(lambda parameters: jax.value_and_grad(self.loss)(parameters, None))
        self._step = jax.jit(self.updated, donate_argnums=(0, 1))

    def loss(self, parameters, key):
        """Dropout only with a key."""
        jax = self.jax
        jnp = jax.numpy
        x = self.x
        parameters = iter(parameters)
        for i, (layer, kind, *settings) in enumerate(self.layers):
            if kind == "dropout":
                if key is not None:
                    rate = settings[0]
                    keep = jax.random.bernoulli(jax.random.fold_in(key, i), 1 - rate, x.shape)
                    x = jnp.where(keep, x / (1 - rate), 0)
            elif kind == "pool":
                x = self.pool(layer, x)
            elif kind == "average":
                maps, side = layer.out_shape
                x = x.reshape(len(x), side, settings[0], side, settings[0], maps).mean(axis=(2, 4))
            elif kind == "dense":
                x = self.dense(x, next(parameters), next(parameters))
            elif kind == "hidden":
                x = jax.nn.relu(self.dense(x, next(parameters), next(parameters)))
            else:
                z = self.convolution(layer, x, next(parameters), next(parameters))
                maps = layer.out_shape[0]
                H = jax.nn.relu(z[..., :maps])
                x = x + jax.nn.sigmoid(z[..., maps:]) * (H - x) if kind == "highway" else H
        log_probabilities = jax.nn.log_softmax(x)
        return -jnp.take_along_axis(log_probabilities, self.y[:, None], axis=1).mean()

    def pool(self, layer, x):
        k = layer.k
        stride = layer.stride
        overhang = (layer.out_shape[1] - 1) * stride + k - layer.in_shape[1]
        padding = ((0, 0), (0, overhang), (0, overhang), (0, 0))
        lax = self.jax.lax
        return lax.reduce_window(x, -self.jax.numpy.inf, lax.max, (1, k, k, 1), (1, stride, stride, 1), padding)

    def dense(self, x, W, b):
        return x.reshape(len(x), -1) @ W.T + b

    def convolution(self, layer, x, W, b):
        padding = ((layer.pad, layer.pad), (layer.pad, layer.pad))
        layout = ("NHWC", "HWIO", "NHWC")
        return self.jax.lax.conv_general_dilated(x, W, (1, 1), padding, dimension_numbers=layout) + b

    def updated(self, parameters, v, key):
        """Parameters and v after a step, and the next key."""
        key, dropout_key = self.jax.random.split(key)
        gradients = self.jax.grad(self.loss)(parameters, dropout_key)
        new_parameters = []
        new_v = []
        for parameter, of_parameter, gradient in zip(parameters, v, gradients, strict=True):
            gradient = gradient + WEIGHT_DECAY * parameter
            of_parameter = MOMENTUM * of_parameter + gradient
            new_v.append(of_parameter)
            new_parameters.append(parameter - LR * (gradient + MOMENTUM * of_parameter))
        return new_parameters, new_v, key

    def loss_and_gradient(self):
        loss, gradients = self.value_and_grad(self.parameters)
        return float(loss), in_ours(self.layers, self.axes, gradients)

    def step(self):
        self.parameters, self.v, self.key = self._step(self.parameters, self.v, self.key)
        self.jax.block_until_ready(self.parameters)


RIVALS = (Ours, OursDirect, Torch, TorchChannelsLast, Jax)


def images(shape):
    """A batch, mostly zeros, as digits are, where there is one map."""
    rng = np.random.default_rng(0)
    x = rng.random((BATCH, int(np.prod(shape))), dtype=np.float32)
    if shape[0] == 1:
        x *= rng.random(x.shape) < 0.2
    return x, rng.integers(0, 10, BATCH)


def made(shape, layers) -> tuple[dict, dict]:
    """{name: rival}, {name: why it is missing}.

    The tolerance is wide because float32 may find another maximum of a pooling window,
    which changes the gradient."""
    return checked(RIVALS, lambda kind: kind(shape, layers, *images(shape)), 1e-3)


def peak_mb(name: str, shape, layers) -> float | None:
    """The most memory that training adds to a process of its own; None off Linux."""
    if not sys.platform.startswith("linux"):
        return None
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_mb, (name, shape, layers))


def _peak_mb(name: str, shape, layers) -> float:
    kind = next(kind for kind in RIVALS if kind.name == name)
    kind(shape, TINY, *images(shape)).step()  # takes what a program takes for any net
    before = memory_mb("VmRSS")
    rival = kind(shape, layers, *images(shape))
    for _ in range(3):
        rival.step()
    return memory_mb("VmHWM") - before


def measure(name: str, rounds: int) -> tuple[dict, dict]:
    """{rival: its row}, {rival: why it is missing}."""
    shape, layers = NETS[name]
    rivals, missing = made(shape, layers)
    steps = STEPS[shape[0]]

    def turn(rival):
        for _ in range(steps):
            rival.step()

    seconds = interleaved({name: partial(turn, rival) for name, rival in rivals.items()}, rounds)
    rows = {}
    for rival, of_turns in seconds.items():
        row = summarise([of_turn / steps for of_turn in of_turns])
        row["ours_over_theirs"] = float(np.median(np.divide(seconds[Ours.name], of_turns)))
        row["peak_mb"] = peak_mb(rival, shape, layers)
        rows[rival] = row
    return rows, missing


def ratios(rows: dict) -> dict:
    """Ours over the faster of PyTorch's formats, over JAX, over our direct products; our memory
    over the smaller of PyTorch's."""
    eager = [rows[kind.name] for kind in (Torch, TorchChannelsLast) if kind.name in rows]
    memory = None
    least = min((row["peak_mb"] for row in eager if row["peak_mb"]), default=None)
    if least:
        memory = rows[Ours.name]["peak_mb"] / least
    return {
        "over_torch": max((row["ours_over_theirs"] for row in eager), default=None),
        "over_jax": rows[Jax.name]["ours_over_theirs"] if Jax.name in rows else None,
        "over_direct": rows[OursDirect.name]["ours_over_theirs"],
        "memory_over_torch": memory,
    }


def cost_of_normalising(rounds: int) -> float:
    """How many times as long a step takes with batch normalisation of H, for the smallest net."""
    shape, layers = NETS["mnist_16"]
    normalised = []
    for kind, *settings in layers:
        if kind == "highway":
            kind = "highway-bn"
        normalised.append((kind, *settings))
    with_it = Ours(shape, normalised, *images(shape))
    without = Ours(shape, layers, *images(shape))
    times = interleaved({"with": with_it.step, "without": without.step}, rounds)
    return float(np.median(np.divide(times["with"], times["without"])))


def show(title: str, rows: dict, missing: dict) -> None:
    print(f"\n{title}")
    for name, row in rows.items():
        memory = "-" if row["peak_mb"] is None else f"{row['peak_mb']:.0f} MB"
        print(f"{name:30}{row['median_ms']:8.1f} ms {row['ours_over_theirs']:7.3f} {memory:>9}")
    for name, why in missing.items():
        print(f"{name:30}left out: {why}")


def main(argv=None) -> int:
    parser = arguments("conv_step", __doc__)
    parser.add_argument("--rounds", type=number(int, 1), default=20, help="turns for each rival (%(default)s)")
    args = parser.parse_args(argv)
    where = pin()
    report = Report(parser, args, ("torch", "jax"))
    trials = {}
    summary = {}
    for net in NETS:
        trials[net], missing = measure(net, args.rounds)
        show(f"training step, {net}, batch {BATCH}, {where}", trials[net], missing)
        for what, value in ratios(trials[net]).items():
            summary[f"{net}_{what}"] = value
    cost = cost_of_normalising(args.rounds)
    summary["mnist_16_normalised_over_not"] = cost
    print(f"\nbatch normalisation of H makes a step of mnist_16 {cost:.2f} times as long")
    return report.save({"batch": BATCH, "rounds": args.rounds}, summary, trials)


if __name__ == "__main__":
    from benchmarks import conv_step  # under its own name, by which workers find its functions

    sys.exit(end(conv_step.main))
