"""Trainings, clipped or not, that count the steps in which the gradient's norm exceeds 1."""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highways.nets.optimizers import SGD

LIMIT = 1.0  # the norm at which the trainings of the question `optimization` clip


class CountingSGD(SGD):
    """SGD that remembers for every step whether the norm of its gradient exceeded LIMIT."""

    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        self.exceeded = []

    def step(self, gradient: np.ndarray) -> float:
        norm = super().step(gradient)
        self.exceeded.append(norm > LIMIT)
        return norm


def trial(setting: dict) -> dict:
    """fully_connected.trial(), for a setting whose clip may be None.

    Adds "steps_over": for every whole epoch, the share of its steps in which the norm of the
    gradient exceeded LIMIT."""
    optimizers = []
    steps = setting["n_train"] // fully_connected.BATCH

    def optimizer_of(net: hn.DeepNet, setting: dict, steps: int) -> CountingSGD:
        clip = setting["clip"] or math.inf
        usual = fully_connected.sgd(net, {**setting, "clip": clip}, steps)
        optimizer = CountingSGD(net.parameters, usual.lr, usual.momentum, usual.decay, usual.clip)
        optimizers.append(optimizer)
        return optimizer

    _, result = fully_connected.train(setting, optimizer_of)
    [optimizer] = optimizers
    exceeded = optimizer.exceeded
    shares = []
    for start in range(0, len(result["losses"]) * steps, steps):
        shares.append(float(np.mean(exceeded[start : start + steps])))
    return {**result, "steps_over": shares}
