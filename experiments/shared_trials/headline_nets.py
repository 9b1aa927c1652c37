"""Trains, or only makes, a net of the headline that lacks what its claims are about.

The question `controls` names them.  All have the headline's images, batches, epochs and Adam.
"""

from __future__ import annotations

import functools

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highways.nets import initial

SHUT = -20.0  # the b_T of gates that stay shut
NO_BLOCKS = "a net without blocks"
GATES_SHUT = "a net whose gates stay shut"
RANDOM_GATES = "a net of random gates"
UNTRAINED = "an untrained net"
BEST_PLAIN = "a plain net with its best start"
HIGHWAY = "a highway net"  # the headline's own
CONTROLS = (NO_BLOCKS, GATES_SHUT, RANDOM_GATES, UNTRAINED, BEST_PLAIN)
STARTS = ("program", "glorot", "orthogonal")


@functools.lru_cache(maxsize=3)
def images(seed: int, n_train: int, n_test: int, held_out: bool = False) -> hn.Dataset:
    """The images of a trial: those of the headline's run with this seed, and `n_test` to measure by.

    These are test images, or with `held_out` training images that the trial does not train on."""
    data = fully_connected.data_set()
    if not held_out:
        return hn.subset(data, seed, n_train, n_test)
    drawn = hn.subset(data, seed, n_train + n_test, 1)
    return drawn._replace(
        x_train=drawn.x_train[:n_train],
        y_train=drawn.y_train[:n_train],
        x_test=drawn.x_train[n_train:],
        y_test=drawn.y_train[n_train:],
    )


def make(setting: dict) -> hn.DeepNet:
    """The net of a trial, as its seed draws it."""
    control = setting["control"]
    data = fully_connected.data_of(setting)
    settings = hn.Settings(seed=setting["seed"], depth=setting["depth"])
    start = setting.get("start", "program")
    if control not in (HIGHWAY, *CONTROLS) or start not in STARTS:
        raise ValueError(f"there is no control {control!r} with the start {start!r}")
    net = hn.DeepNet(
        data.x_train.shape[1],
        data.n_classes,
        settings.hidden,
        0 if control == NO_BLOCKS else settings.depth,
        "plain" if control in (NO_BLOCKS, BEST_PLAIN) else "highway",
        settings.seed,
        init="uniform" if start == "program" else "glorot",
        gate_bias=SHUT if control == GATES_SHUT else settings.gate_bias,
    )
    if start == "orthogonal":
        initial.redraw(net, "orthogonal", 1.0, np.random.default_rng([settings.seed, 2]))
    return net


class WithoutGates:
    """An optimiser that leaves the transform gates as they were drawn."""

    def __init__(self, net: hn.DeepNet, optimizer):
        self.parameters = net.parameters
        self.learned = fully_connected.all_but_gates(net)
        self.optimizer = optimizer

    def step(self, gradient: np.ndarray) -> float:
        np.multiply(gradient, self.learned, gradient)
        return self.optimizer.step(gradient)


@hn.one_blas_thread()
def trial(setting: dict) -> dict:
    """Trains the net of a trial."""
    drawn = images(setting["seed"], setting["n_train"], setting["n_test"])
    x_train = hn.scale_pixels(drawn.x_train, np.float32)
    x_test = hn.scale_pixels(drawn.x_test, np.float32)
    net = make(setting)
    settings = hn.Settings(seed=setting["seed"], lr=setting["lr"])
    optimizer = hn.Adam(net.parameters, settings.lr, settings.clip)
    if setting["control"] == RANDOM_GATES:
        optimizer = WithoutGates(net, optimizer)

    def measure(row):
        row["test_acc"] = hn.accuracy(net, x_test, drawn.y_test)

    shuffle = np.random.default_rng([settings.seed, 1])
    epochs = 0 if setting["control"] == UNTRAINED else setting["epochs"]
    orders = (shuffle.permutation(len(x_train)) for _ in range(epochs))
    rows, diverged_at = hn.train_epochs(
        net, optimizer, x_train, drawn.y_train, orders, settings.batch_size, report=measure
    )
    if setting["control"] == UNTRAINED:
        loss, _ = hn.softmax_cross_entropy(net.predict(x_train), drawn.y_train)
        rows = [{"train_loss": loss, "test_acc": hn.accuracy(net, x_test, drawn.y_test)}]
    diverged = diverged_at is not None
    result = {"diverged": diverged, "history": {"train_loss": [float(f"{row['train_loss']:.5g}") for row in rows]}}
    result["loss"] = None if diverged else result["history"]["train_loss"][-1]
    result["test_accuracy"] = None if diverged else rows[-1]["test_acc"]
    if net.block.gates and not diverged:
        result["mean_T"] = [float(f"{T:.4g}") for T in hn.mean_gates(net, x_test[:1000])]
    return result
