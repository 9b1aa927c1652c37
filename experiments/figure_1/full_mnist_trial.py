"""Trains the blog's 20 layers with the blog's settings."""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected

BLOG_BATCH = 50
BLOG_RATE = 0.01
TRUNCATED_AT = 0.2  # two standard deviations of the blog's weights


def blog(setting: dict) -> dict:
    """Trains plain or highway layers with the blog's settings.

    We guess that pixels are in [0, 1], and that every epoch has a new order.  Each of "losses" is
    the mean over a twentieth of the steps."""
    images = fully_connected.images_of(setting)
    x = images.x_train
    y = images.y_train
    net = fully_connected.make(setting)
    rng = np.random.default_rng(setting["seed"])
    start_as_the_blog(net, rng)
    rate = BLOG_RATE * BLOG_BATCH  # the blog's loss is a sum over the batch, ours a mean
    optimizer = fully_connected.SGD(net.parameters, rate, momentum=0.0)

    images_per_epoch = len(x) // BLOG_BATCH * BLOG_BATCH  # an incomplete batch is left out
    epochs = math.ceil(setting["steps"] * BLOG_BATCH / images_per_epoch)
    order = np.concatenate([rng.permutation(len(x))[:images_per_epoch] for _ in range(epochs)])
    batches = order.reshape(-1, BLOG_BATCH)[: setting["steps"]]
    # train_epochs() averages the loss over what it takes for an epoch: here a twentieth of the steps
    twentieths = [part.ravel() for part in np.array_split(batches, 20) if len(part)]
    rows, diverged_at = hn.train_epochs(net, optimizer, x, y, twentieths, BLOG_BATCH)
    return fully_connected.results_of(net, setting, fully_connected.losses_of(rows), diverged_at)


def start_as_the_blog(net: hn.DeepNet, rng: np.random.Generator) -> None:
    weights = [net.W_in, net.W_H, net.W_out]
    if net.block.gates:
        weights.append(net.W_T)
    for W in weights:
        W[:] = truncated_normal(rng, W.shape)
    for b in (net.b_in, net.b_H, net.b_out):
        b[:] = 0.1


def truncated_normal(rng: np.random.Generator, shape: tuple) -> np.ndarray:
    """Normal of deviation 0.1; values beyond two deviations are drawn again, as TensorFlow does."""
    values = rng.normal(0, 0.1, shape)
    far = np.abs(values) > TRUNCATED_AT
    while far.any():
        values[far] = rng.normal(0, 0.1, far.sum())
        far = np.abs(values) > TRUNCATED_AT
    return values
