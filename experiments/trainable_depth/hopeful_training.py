"""Training of a net that is stopped when it is hopeless, and the loss at which it ended."""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.shared_trials.fully_connected import Images
from highways.nets.optimizers import SGD


def optimizer_of(net, setting: dict, rate: float):
    """The optimiser of a training.  SGD's rate is lr / (1 - momentum), Adam's is lr."""
    if setting["optimizer"] == "adam":
        return hn.Adam(net.parameters, lr=rate, clip=setting["clip"])
    momentum = setting["momentum"]
    return SGD(net.parameters, lr=rate * (1 - momentum), momentum=momentum, clip=setting["clip"])


def train_while_hopeful(
    net, setting: dict, rate: float, seed: int, images: Images, batch: int, kept=float
) -> tuple[list, bool]:
    """The training losses of the epochs, and whether the net diverged.

    The training ends early if after `hopeless_after` epochs the loss, as kept() gives it, is above
    `hopeless_above`."""
    losses = []

    def orders():
        shuffle = np.random.default_rng([seed, 1])
        for epoch in range(setting["epochs"]):
            if epoch == setting["hopeless_after"] and losses[-1] > setting["hopeless_above"]:
                return
            yield shuffle.permutation(len(images.x_train))

    def keep(row):
        losses.append(kept(row["train_loss"]))

    optimizer = optimizer_of(net, setting, rate)
    _, diverged_at = hn.train_epochs(net, optimizer, images.x_train, images.y_train, orders(), batch, report=keep)
    return losses, diverged_at is not None


@np.errstate(all="ignore")  # a net that diverged is not finite
def logits_and_loss(net, images: Images) -> tuple[np.ndarray, float]:
    """The logits of all training images, and the loss on them.

    Raises FloatingPointError for a net whose numbers are not finite."""
    logits = hn.finite_logits(net, images.x_train)
    loss, _ = hn.softmax_cross_entropy(logits.astype(np.float64), images.y_train)
    return logits, digits(loss)


def digits(value: float) -> float | None:
    """Five digits; None for what is not finite."""
    return float(f"{value:.5g}") if math.isfinite(value) else None
