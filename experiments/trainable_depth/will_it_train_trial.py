"""Looks at an untrained net, then tries rates with one optimiser until one trains it."""

from __future__ import annotations

import numpy as np

from experiments.shared_trials.nine_carries import images_of
from experiments.shared_trials.trained_cells import has_trained
from experiments.trainable_depth.hopeful_training import logits_and_loss, train_while_hopeful
from experiments.trainable_depth.will_it_train_nets import make, norms_of
from highways.nets.subnormals import flushed_subnormals


def train(setting: dict, rate: float) -> float | None:
    """The loss on all training images after training at one rate; None for a net that diverged, or was
    stopped half-way as hopeless."""
    drawn = images_of(setting)
    net = make(setting)
    losses, diverged = train_while_hopeful(net, setting, rate, setting["seed"], drawn, setting["batch"])
    if diverged or len(losses) < setting["epochs"]:
        return None
    try:
        return logits_and_loss(net, drawn)[1]
    except FloatingPointError:
        return None


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
