"""Looks at an untrained net, then searches the largest rate at which it trains, from the top down.

A trial is a cell of the design: a kind of block with its b_T, start, depth, width, activation, optimiser and
data.  The question says what is measured and when a search ends.
"""

from __future__ import annotations

import functools
import math

import numpy as np

import highway_networks as hn
import highways.nets.layer_norm  # noqa: F401  registers a block
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import BATCH
from experiments.trainable_depth import mixing_blocks as blocks  # noqa: F401  registers them
from experiments.trainable_depth.hopeful_training import digits, logits_and_loss, train_while_hopeful
from experiments.trainable_depth.streams import StreamNet
from highways.nets import initial
from highways.nets.subnormals import flushed_subnormals

LOOKED_AT = 256  # images on which an untrained net is measured
BLOCKS = {
    "none": "plain",
    "highway": "highway",
    "mp": "mp-gate",
    "p-norm": "p-norm-gate",
    "layer-norm": "normalised-highway",
}
INITS = {"program": "uniform", "glorot": "glorot", "orthogonal": "glorot", "he": "he"}


# ---- Nets ---------------------------------------------------------------------------------------


def make(setting: dict, seed: int, dtype=np.float32):
    """The net of a cell, as this seed draws it."""
    data = fully_connected.data_of(setting)
    rng = np.random.default_rng(seed)
    sizes = (data.x_train.shape[1], data.n_classes, setting["width"], setting["depth"])
    drawn = {
        "activation": setting["activation"],
        "init": INITS[setting["start"]],
        "gate_bias": setting["gate_bias"],
        "dtype": dtype,
    }
    kind, _, mixing = setting["kind"].partition(", ")
    if kind == "streams":
        net = StreamNet(*sizes, rng, mixing, **drawn)
        drawn_by_core = net.inner
    else:
        net = hn.DeepNet(*sizes, hn.Block.find(BLOCKS[kind]), rng, **drawn)
        drawn_by_core = net
    if setting["start"] == "orthogonal":
        initial.redraw(drawn_by_core, "orthogonal", 1.0, np.random.default_rng([seed, 2]))
    return net


@functools.lru_cache(maxsize=4)
def images(seed: int, n_train: int, n_test: int, pixels: str, data_dir: str | None) -> fully_connected.Images:
    """The images that the headline's run with this seed draws."""
    drawn = hn.subset(fully_connected.data_set(data_dir), seed, n_train, n_test)
    x_train = hn.scale_pixels(drawn.x_train, np.float32, pixels)
    x_test = hn.scale_pixels(drawn.x_test, np.float32, pixels)
    return fully_connected.Images(x_train, drawn.y_train, x_test, drawn.y_test)


def images_of(setting: dict, seed: int) -> fully_connected.Images:
    return images(seed, setting["n_train"], setting["n_test"], setting["pixels"], setting.get("data_dir"))


# ---- The start ----------------------------------------------------------------------------------


@np.errstate(all="ignore")
def look_at_start(setting: dict, seed: int) -> dict:
    """Measures the untrained net on some training images, in float64."""
    net = make(setting, seed, np.float64)
    drawn = images_of(setting, seed)
    x = drawn.x_train[:LOOKED_AT].astype(np.float64)
    norms = np.zeros(setting["depth"])
    logits = net.forward(x)
    _, d_logits = hn.softmax_cross_entropy(logits, drawn.y_train[:LOOKED_AT])
    gradient = net.backward(d_logits, norms)
    centred = logits - logits.mean(axis=0)
    return {
        "first_norm": digits(norms[0]),  # |dL/dy| of the first block, and of the last
        "last_norm": digits(norms[-1]),
        "gradient_norm": digits(np.linalg.norm(gradient)),
        "spread_of_logits": digits(np.sqrt((centred**2).mean())),  # what tells images apart
    }


# ---- Training -----------------------------------------------------------------------------------


def train(setting: dict, rate: float, seed: int) -> dict:
    """Trains one net at one rate.  `loss` is that on all training images at the end; None for a net
    that diverged or was stopped."""
    drawn = images_of(setting, seed)
    net = make(setting, seed)
    losses, diverged = train_while_hopeful(net, setting, rate, seed, drawn, BATCH, kept=digits)
    result = {"losses": losses, "loss": None, "train_accuracy": None, "test_accuracy": None}
    result["diverged"] = diverged
    result["stopped"] = not diverged and len(losses) < setting["epochs"]
    if result["diverged"] or result["stopped"]:
        return result
    try:
        return {**result, **measure(net, drawn)}
    except FloatingPointError:
        return {**result, "diverged": True}


@np.errstate(all="ignore")  # a net that diverged is not finite
def measure(net, drawn: fully_connected.Images) -> dict:
    """Raises FloatingPointError for a net whose numbers are not finite."""
    logits, loss = logits_and_loss(net, drawn)
    return {
        "loss": loss,
        "train_accuracy": digits((logits.argmax(axis=1) == drawn.y_train).mean()),
        "test_accuracy": digits(hn.accuracy(net, drawn.x_test, drawn.y_test)),
    }


def trial(setting: dict) -> dict:
    """A cell: what its untrained nets are like, and what became of its trainings.

    The rates are tried from the largest down, and the seeds of a rate in turn.  A seed that does not
    train ends its rate: `trains_below` is the loss below which it trains.  Once all seeds have trained at
    a rate, the search ends at the first lower rate whose worst loss is not lower."""
    seeds = range(1, setting["seeds"] + 1)
    starts = [look_at_start(setting, seed) for seed in seeds]
    trainings = []
    best = math.inf
    with flushed_subnormals() as flushed:
        for rate in sorted(setting["rates"], reverse=True):
            worst = -math.inf
            for seed in seeds:
                result = train(setting, rate, seed)
                trainings.append({"rate": rate, "seed": seed, **result})
                worst = max(worst, math.inf if result["loss"] is None else result["loss"])
                if worst >= setting["trains_below"]:
                    worst = math.inf
                    break
            if worst >= best and best < math.inf:
                break
            best = worst
    return {"starts": starts, "trainings": trainings, "flushed": flushed}
