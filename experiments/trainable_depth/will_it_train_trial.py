"""Looks at an untrained net, then tries rates with one optimiser until one trains it."""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.shared_trials.nine_carries import images_of
from experiments.trainable_depth.will_it_train_nets import make, norms_of
from highways.nets.optimizers import SGD
from highways.nets.subnormals import flushed_subnormals

MOMENTUM = 0.9


def optimizer_of(net, setting: dict, rate: float):
    """SGD's rate is lr / (1 - momentum), Adam's is lr."""
    if setting["optimizer"] == "adam":
        return hn.Adam(net.parameters, lr=rate, clip=setting["clip"])
    return SGD(net.parameters, lr=rate * (1 - MOMENTUM), momentum=MOMENTUM, clip=setting["clip"])


def train(setting: dict, rate: float) -> float | None:
    """The loss on all training images after training at one rate; None for a net that diverged, or was
    stopped half-way as hopeless."""
    drawn = images_of(setting)
    n_train = len(drawn.x_train)
    net = make(setting)
    losses = []

    def orders():
        shuffle = np.random.default_rng([setting["seed"], 1])
        for epoch in range(setting["epochs"]):
            if epoch == setting["hopeless_after"] and losses[-1] > setting["hopeless_above"]:
                return
            yield shuffle.permutation(n_train)

    def keep(row):
        losses.append(row["train_loss"])

    optimizer = optimizer_of(net, setting, rate)
    batch = setting["batch"]
    _, diverged_at = hn.train_epochs(net, optimizer, drawn.x_train, drawn.y_train, orders(), batch, report=keep)
    if diverged_at is not None or len(losses) < setting["epochs"]:
        return None
    try:
        return loss_of(net, drawn)
    except FloatingPointError:
        return None


@np.errstate(all="ignore")  # a net that diverged is not finite
def loss_of(net, drawn) -> float:
    """Raises FloatingPointError for a net whose numbers are not finite."""
    logits = hn.finite_logits(net, drawn.x_train)
    loss, _ = hn.softmax_cross_entropy(logits.astype(np.float64), drawn.y_train)
    return float(f"{loss:.5g}")


def trial(setting: dict) -> dict:
    """What a net is like before training, and the loss at each rate that was tried, in the order of the
    setting's rates.  The first that trains it ends the search."""
    drawn = images_of(setting)
    looked_at = setting["looked_at"]
    x = drawn.x_train[:looked_at].astype(np.float64)
    norms, gradient_norm = norms_of(make(setting, np.float64), x, drawn.y_train[:looked_at])
    losses = []
    with flushed_subnormals() as flushed:
        for rate in setting["rates"]:
            losses.append(train(setting, rate))
            if has_trained(losses[-1], setting["trains_below"]):
                break
    return {"norms": norms, "gradient_norm": gradient_norm, "losses": losses, "flushed": flushed}


def has_trained(loss: float | None, trains_below: float) -> bool:
    return loss is not None and math.isfinite(loss) and loss < trains_below
