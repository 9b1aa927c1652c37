"""Trains a net whose blocks' weights are Glorot's, He's or orthogonal, with a gain."""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import BATCH
from highways.nets import initial
from highways.nets.subnormals import flushed_subnormals

GAINS = {"glorot": 1.0, "he": 1.4142}  # times the standard deviation 1 / sqrt(width)
ORTHOGONAL = "orthogonal"


def make(setting: dict) -> hn.DeepNet:
    """The net of a trial, with W_H drawn anew; the gates, the first layer and the output stay as
    fully_connected.make() draws them."""
    net = fully_connected.make(setting)
    rng = np.random.default_rng([setting["seed"], 3])
    gain = setting["gain"]
    if setting["start"] == ORTHOGONAL:
        initial.redraw(net, "orthogonal", gain, rng)
    else:
        for W in net.W_H:
            W[:] = rng.normal(scale=gain / math.sqrt(net.hidden), size=W.shape)
    return net


def trial(setting: dict) -> dict:
    """Trains the net as fully_connected.trial() does, with subnormal numbers flushed to zero."""
    images = fully_connected.images_of(setting)
    n_train = len(images.x_train)
    net = make(setting)
    shuffle = np.random.default_rng([setting["seed"], 1])
    orders = (shuffle.permutation(n_train) for _ in range(setting["epochs"]))
    optimizer = fully_connected.sgd(net, setting, n_train // BATCH)
    with flushed_subnormals() as flushed:
        rows, diverged_at = hn.train_epochs(net, optimizer, images.x_train, images.y_train, orders, BATCH)
        result = fully_connected.results_of(net, setting, fully_connected.losses_of(rows), diverged_at)
    return {**result, "flushed": flushed}
