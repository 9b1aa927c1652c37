"""The nets of the paper's section 3.1: L layers, the first of them plain, trained by SGD with momentum.

Highway layers have 50 blocks, plain ones 71 units: 5100 and 5112 parameters a layer; a trial may name another width,
and the scale of residual blocks.  MNIST, or the data set of the trial's `data_dir`.
"""

from __future__ import annotations

import functools
import math
import os

import numpy as np

import highway_networks as hn
from conv.cifar import load_cifar
from experiments import extra_blocks
from experiments.trials import Experiment
from plumbing.files import InputError

WIDTH = {"highway": 50, "plain": 71}
BATCH, CIFAR = 128, "CIFAR-100"
ALL = {"n_train": 60000, "n_test": 10000}  # images


@functools.lru_cache(maxsize=3)  # MNIST and two harder sets
def data_set(data_dir: str | None = None) -> hn.Dataset:
    """MNIST, that of a folder in its layout, or "CIFAR-100" from $CIFAR_DIR, the cache or the web: read once, for the
    processes that are forked afterwards, too.  Raises InputError where it cannot be had."""
    data = load_cifar(CIFAR, os.environ.get("CIFAR_DIR")) if data_dir == CIFAR else hn.load_mnist(data_dir)
    about = {None: "MNIST", CIFAR: CIFAR}.get(data_dir, data.name)
    if data.name != about:  # $MNIST_DIR and $CIFAR_DIR do not make results about a set those of another
        which = f"${about[:5]}_DIR names {data.source}"
        raise InputError(f"{which}, which is not {about} but {data.name}; this experiment is about {about}")
    return data


def data_of(t: dict) -> hn.Dataset:
    """That of a trial."""
    return data_set(t.get("data_dir"))


def pixels_of(data_dir: str | None) -> str:
    """Between which numbers the pixels of a set are scaled: from background to ink, and colours around 0."""
    return "[-1, 1]" if data_dir == CIFAR else "[0, 1]"


@functools.lru_cache(maxsize=3)
def images(n_train: int, n_test: int, data_dir: str | None = None):
    """x_train (n_train, d_in) float32, scaled, y_train, x_test, y_test: the first images of MNIST or of another set."""
    data, scale = data_set(data_dir), functools.partial(hn.scale_pixels, dtype=np.float32, pixels=pixels_of(data_dir))
    x_train, x_test = scale(data.x_train[:n_train]), scale(data.x_test[:n_test])
    return x_train, data.y_train[:n_train], x_test, data.y_test[:n_test]


def images_of(t: dict):
    """Those of a trial."""
    return images(t["n_train"], t["n_test"], t.get("data_dir"))


def make(t: dict) -> hn.DeepNet:
    """The net of a trial; initialised normalised: He for ReLU, Glorot for tanh."""
    init = "he" if t["activation"] == "relu" else "glorot"
    rng = np.random.default_rng(t["seed"])
    activation = hn.activation_of(t["activation"], **t.get("activation_settings", {}))
    own = {"activation": activation, "init": init, "gate_bias": t.get("gate_bias", 0.0)}
    width = t["width"] if "width" in t else WIDTH[t["block"]]
    block = hn.block_of(t["block"], **t.get("block_settings", {}))
    if "scale" in t:
        block = extra_blocks.Residual(t["scale"])
    data = data_of(t)
    net = hn.DeepNet(data.x_train.shape[1], data.n_classes, width, t["layers"] - 1, block, rng, **own)
    net.about["pixels"] = pixels_of(t.get("data_dir"))
    return net


class SGD(hn.Optimizer):
    """Gradient descent with momentum: v = momentum v + lr g, parameters -= v."""

    v: np.ndarray

    def __init__(self, parameters, lr=0.1, momentum=0.9, decay=1.0, clip=math.inf):
        super().__init__(parameters, lr, clip, decay, states=("v",))
        self.momentum = momentum

    def _update(self, gradient, scale):
        momentum, lr = self._scalars(self.momentum, self.lr * (scale or 1))
        for p, g, s, v in self._parts(gradient):
            np.multiply(v, momentum, v)
            np.multiply(g, lr, s)
            np.add(v, s, v)
            np.subtract(p, v, p)


def sgd(net: hn.DeepNet, t: dict, steps: int) -> SGD:
    """`rate` = lr / (1 - momentum), the effective step; `decay` is that of an epoch."""
    lr = t["rate"] * (1 - t["momentum"])
    return SGD(net.parameters, lr, t["momentum"], decay=t["decay"] ** (1 / steps), clip=t["clip"])


def train(t: dict, optimizer_of=sgd) -> tuple[hn.DeepNet, dict]:
    """Trains the net of a trial; its running mean loss of every epoch, then loss and accuracy on all images."""
    x, y, *_ = images_of(t)
    net, shuffle = make(t), np.random.default_rng([t["seed"], 1])
    orders = (shuffle.permutation(len(x)) for _ in range(t["epochs"]))
    rows, diverged = hn.train_epochs(net, optimizer_of(net, t, len(x) // BATCH), x, y, orders, BATCH)
    return net, {"losses": losses_of(rows), "diverged": diverged, **measure(net, t, diverged)}


def losses_of(rows: list[dict]) -> list[float]:
    """The running mean loss of every epoch, six digits of it."""
    return [float(f"{row['train_loss']:.6g}") for row in rows]


@np.errstate(all="ignore")  # a net that diverged is not finite
def measure(net: hn.DeepNet, t: dict, diverged: str | None = None) -> dict:
    """Loss on all training images, accuracy on both sets; nothing of a net that diverged."""
    x_train, y_train, x_test, y_test = images_of(t)
    logits, test_logits = net.predict(x_train), net.predict(x_test)
    if diverged or not (np.isfinite(logits).all() and np.isfinite(test_logits).all()):
        return {"loss": None, "train_accuracy": None, "test_accuracy": None}
    loss, _ = hn.softmax_cross_entropy(logits.astype(np.float64), y_train)
    accuracies = ((logits, y_train), (test_logits, y_test))
    train_accuracy, test_accuracy = (float((each.argmax(axis=1) == y).mean()) for each, y in accuracies)
    return {"loss": float(loss), "train_accuracy": train_accuracy, "test_accuracy": test_accuracy}


def skipped(net: hn.DeepNet) -> hn.DeepNet:
    """The same net with all its blocks skipped: T = 0, so that they carry their input unchanged."""
    rng, own = np.random.default_rng(0), {"activation": net.activation}
    shallow = hn.DeepNet(net.d_in, net.d_out, net.hidden, 0, net.block, rng, **own, dtype=net.dtype)
    for name in ("W_in", "b_in", "W_out", "b_out"):
        getattr(shallow, name)[:] = getattr(net, name)
    return shallow


def train_and_skip(t: dict) -> tuple[hn.DeepNet, dict]:
    """As train(); and the test accuracy of the trained net with all its blocks skipped."""
    net, result = train(t)
    return net, result | {"skipped_accuracy": measure(skipped(net), t)["test_accuracy"]}


def trial(t: dict) -> dict:
    return train(t)[1]


def run(e: Experiment, trials: list[dict], function=trial) -> list[dict]:
    """e.run(function, trials), with the images read here, once, and not in every process that is forked."""
    for t in trials:
        images_of(t)
    return e.run(function, trials, data_of)


def epochs_to(loss: float, losses: list[float]) -> int | None:
    """The first epoch whose running mean loss is at most this."""
    return next((epoch for epoch, each in enumerate(losses, 1) if each <= loss), None)


def selection_loss(result: dict) -> float:
    """By which trials are compared: the running training loss of the last epoch; diverged ones come last."""
    return math.inf if result["diverged"] or not result["losses"] else result["losses"][-1]
