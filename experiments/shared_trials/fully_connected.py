"""The nets of the paper's section 3.1: L layers, the first of them plain, trained by SGD with
momentum.

Highway layers have 50 units and plain ones 71, which makes 5100 and 5112 parameters a layer.  A
trial may set another width, and the scale of residual blocks.  The data are MNIST, or the set in
the trial's `data_dir`.
"""

from __future__ import annotations

import functools
import math
import os
import re
from typing import NamedTuple

import numpy as np

import highway_networks as hn
import highways.nets.activations
import highways.nets.extra_blocks  # noqa: F401  both register their kinds, wherever a trial runs
from highways.cifar import load_cifar
from highways.files import InputError
from highways.nets import initial
from highways.nets.optimizers import SGD

WIDTH = {"highway": 50, "plain": 71}
BATCH = 128
CIFAR = "CIFAR-100"
ALL = {"n_train": 60000, "n_test": 10000}  # all images of MNIST
# with ten classes, a training loss of this or more is hardly better than guessing, log 10;
# "above_guessing" in hn.train() asks whether a net is worse than guessing
NO_BETTER_THAN_GUESSING = 0.9 * math.log(10)


# the environment variable that names the folder of a data set
ENVIRONMENT_VARIABLE = {"MNIST": "MNIST_DIR", CIFAR: "CIFAR_DIR"}


@functools.lru_cache(maxsize=3)  # MNIST and two harder sets
def data_set(data_dir: str | None = None) -> hn.Dataset:
    """MNIST, the set in a folder of MNIST's layout, or "CIFAR-100".

    CIFAR-100 comes from $CIFAR_DIR, the cache or the web.  A set is read once, and processes that
    are forked afterwards share it.  Raises InputError if it cannot be read."""
    if data_dir == CIFAR:
        data = load_cifar(CIFAR, os.environ.get("CIFAR_DIR"))
        wanted = CIFAR
    else:
        data = hn.load_mnist(data_dir)
        wanted = "MNIST" if data_dir is None else data.name
    # $MNIST_DIR and $CIFAR_DIR must not turn results about one set into those of another
    if data.name != wanted:
        raise InputError(
            f"${ENVIRONMENT_VARIABLE[wanted]} names {data.source}, which is not {wanted} but {data.name}; "
            f"this experiment is about {wanted}"
        )
    return data


def slug(data: str) -> str:
    """A name by which two data sets count as the same: cifar_100, fashion_mnist."""
    return re.sub(r"\W+", "_", data.lower()).strip("_")


def data_sets(runner) -> dict[str, dict]:
    """{name: {data, data_dir, n_train, n_test}} for MNIST and the sets beside it.

    The budget says how many images are used.  Raises InputError for two sets whose names would
    make the same file names, and for a set smaller than a batch."""
    found = {}
    for data_dir in (None, *runner.more_data_sets):
        data = data_set(data_dir)
        if slug(data.name) in map(slug, found):
            raise InputError(
                f"{data_dir} holds {data.name}, but the names {', '.join(found)} are taken: give another "
                "data set, in a folder whose name differs in a letter or a digit"
            )
        if len(data.x_train) < BATCH:
            raise InputError(f"{data_dir} must hold {BATCH} images for training or more")
        found[data.name] = {
            "data": data.name,
            "data_dir": data_dir,
            "n_train": min(runner.settings.get("n_train", 0), len(data.x_train)),
            "n_test": min(runner.settings.get("n_test", 0), len(data.x_test)),
        }
    return found


def data_of(setting: dict) -> hn.Dataset:
    """The data set of a trial."""
    return data_set(setting.get("data_dir"))


def pixels_of(data_dir: str | None) -> str:
    """The interval to which pixels are scaled, which the paper does not say.  That of colours is
    centred on 0: so they trained better."""
    return "[-1, 1]" if data_dir == CIFAR else "[0, 1]"


class Images(NamedTuple):
    """The first images of a set: float32, scaled, (n, d_in), and their labels (n,)."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


@functools.lru_cache(maxsize=3)
def images(n_train: int, n_test: int, data_dir: str | None = None) -> Images:
    """The first images of a set, or all of them if it has fewer."""
    data = data_set(data_dir)
    pixels = pixels_of(data_dir)
    x_train = hn.scale_pixels(data.x_train[:n_train], np.float32, pixels)
    x_test = hn.scale_pixels(data.x_test[:n_test], np.float32, pixels)
    return Images(x_train, data.y_train[:n_train], x_test, data.y_test[:n_test])


def images_of(setting: dict) -> Images:
    """The images of a trial."""
    return images(setting["n_train"], setting["n_test"], setting.get("data_dir"))


def make(setting: dict) -> hn.DeepNet:
    """The net of a trial, as its seed draws it.

    Weights are drawn from normal distributions: He's for ReLU, Glorot's for other activations.  A
    trial that names a distribution and a gain has the weights of its blocks drawn from those.

    Raises ValueError for a block without a width, except those in WIDTH."""
    data = data_of(setting)
    block_settings = dict(setting.get("block_settings", {}))
    if "scale" in setting:
        block_settings["scale"] = setting["scale"]
    block = hn.Block.find(setting["block"], **block_settings)
    width = setting.get("width", WIDTH.get(block.name))
    if width is None:
        raise ValueError(f"a setting with the block {block.name!r} needs a width")
    activation = hn.Activation.find(setting["activation"], **setting.get("activation_settings", {}))
    net = hn.DeepNet(
        data.x_train.shape[1],
        data.n_classes,
        width,
        setting["depth"],
        block,
        np.random.default_rng(setting["seed"]),
        activation=activation,
        init="he" if activation.name == "relu" else "glorot",
        gate_bias=setting.get("gate_bias", hn.Settings.gate_bias),
    )
    if "distribution" in setting:
        rng = np.random.default_rng([setting["seed"], 2])
        initial.redraw(net, setting["distribution"], setting["gain"], rng)
    net.about["pixels"] = pixels_of(setting.get("data_dir"))
    return net


def sgd(net: hn.DeepNet, setting: dict, steps: int) -> SGD:
    """The optimiser of a trial; `steps` is the number of steps in an epoch.

    The setting's `effective_lr` is lr / (1 - momentum): along a constant gradient each step leads
    so many times the gradient far, in the end.  `decay` is the factor of both after an epoch.  With
    `frozen_gates` the transform gates stay as they were drawn."""
    lr = setting["effective_lr"] * (1 - setting["momentum"])
    decay = setting["decay"] ** (1 / steps)
    learned = all_but_gates(net) if setting.get("frozen_gates") else None
    return SGD(net.parameters, lr, setting["momentum"], decay, setting["clip"], learned)


def all_but_gates(net: hn.DeepNet) -> np.ndarray:
    """0 for the parameters of the transform gates, 1 for all others, laid out as net.parameters.

    Overwrites net.gradient."""
    net.gradient[:] = 1
    net.grad.W_T[:] = 0
    net.grad.b_T[:] = 0
    return net.gradient.copy()


def ignore(net: hn.DeepNet, epoch: int) -> None:
    """Ignores the end of an epoch."""


def train(setting: dict, optimizer_of=sgd, report=ignore) -> tuple[hn.DeepNet, dict]:
    """Trains the net of a trial; returns the net and its results.

    The results are "losses", the running mean loss of every epoch; "diverged", true or false;
    "diverged_at", which says where, or is None; and what measure() returns.  Calls
    report(net, epoch) after every epoch.  Raises ValueError for fewer images than a batch has."""
    images = images_of(setting)
    n_train = len(images.x_train)
    if n_train < BATCH:
        raise ValueError(f"n_train must be at least {BATCH}, one batch, not {n_train}")
    net = make(setting)
    shuffle = np.random.default_rng([setting["seed"], 1])
    orders = (shuffle.permutation(n_train) for _ in range(setting["epochs"]))
    optimizer = optimizer_of(net, setting, n_train // BATCH)
    rows, diverged_at = hn.train_epochs(
        net,
        optimizer,
        images.x_train,
        images.y_train,
        orders,
        BATCH,
        report=lambda row: report(net, row["epoch"]),
    )
    return net, results_of(net, setting, losses_of(rows), diverged_at)


def results_of(net: hn.DeepNet, setting: dict, losses: list[float], diverged_at: str | None) -> dict:
    """The results of a trial, as train() returns them."""
    measured = measure(net, setting, diverged=diverged_at is not None)
    if measured["loss"] is None and diverged_at is None:  # the loss of a step is taken before it
        diverged_at = "after its last step"
    return {"losses": losses, "diverged": diverged_at is not None, "diverged_at": diverged_at, **measured}


def losses_of(rows: list[dict]) -> list[float]:
    """The running mean loss of every epoch, to six digits."""
    return [float(f"{row['train_loss']:.6g}") for row in rows]


@np.errstate(all="ignore")  # a net that diverged is not finite
def measure(net: hn.DeepNet, setting: dict, diverged: bool = False) -> dict:
    """Loss on all training images, accuracy on both sets; None for a net that diverged."""
    nothing = {"loss": None, "train_accuracy": None, "test_accuracy": None}
    if diverged:
        return nothing
    images = images_of(setting)
    try:
        train_logits = hn.finite_logits(net, images.x_train)
        test_logits = hn.finite_logits(net, images.x_test)
    except FloatingPointError:
        return nothing
    loss, _ = hn.softmax_cross_entropy(train_logits.astype(np.float64), images.y_train)
    return {
        "loss": float(loss),
        "train_accuracy": float((train_logits.argmax(axis=1) == images.y_train).mean()),
        "test_accuracy": float((test_logits.argmax(axis=1) == images.y_test).mean()),
    }


def without_blocks(net: hn.DeepNet) -> hn.DeepNet:
    """The first layer and the output layer: the net whose blocks carry their input unchanged, as
    highway blocks with T = 0 do."""
    shallow = hn.DeepNet(
        net.d_in,
        net.d_out,
        net.hidden,
        depth=0,
        block=net.block,
        rng=0,  # the weights are overwritten
        activation=net.activation,
        dtype=net.dtype,
    )
    for name in ("W_in", "b_in", "W_out", "b_out"):
        getattr(shallow, name)[:] = getattr(net, name)
    return shallow


def train_and_skip(setting: dict) -> tuple[hn.DeepNet, dict]:
    """train(), with "skipped_accuracy", the test accuracy of the trained net without blocks."""
    net, result = train(setting)
    skipped = measure(without_blocks(net), setting)
    return net, {**result, "skipped_accuracy": skipped["test_accuracy"]}


def trial(setting: dict) -> dict:
    _, result = train(setting)
    return result


def trial_and_skip(setting: dict) -> dict:
    _, result = train_and_skip(setting)
    return result


def run(runner, settings: list[dict], function=trial) -> list[dict]:
    """runner.run(function, settings).  Reads the images first: forked processes share them."""
    for setting in settings:
        images_of(setting)
    return runner.run(function, settings, data_of)


def epochs_to(loss: float, losses: list[float]) -> int | None:
    """The first epoch whose running mean loss is at most `loss`; None if there is none."""
    for epoch, loss_of_epoch in enumerate(losses, 1):
        if loss_of_epoch <= loss:
            return epoch
    return None


def selection_loss(result: dict) -> float:
    """The loss by which trials are ranked: the running training loss of the last epoch.

    It is infinite for a trial that diverged."""
    if result["diverged"] or not result["losses"]:
        return math.inf
    return result["losses"][-1]
