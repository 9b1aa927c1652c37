"""The base of the rivals of a fully connected net's step: its interface, Adam's constants, and the
conversion of gradients to our layout."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import highway_networks as hn
from benchmarks.report import Rival

CLIP = 5.0
LR = 5e-3
BETA1 = 0.9
BETA2 = 0.999
EPS = 1e-8
ENDS = ("W_in", "b_in", "W_out", "b_out")  # the parameters of the first and the last layer


class StepRival(Rival):
    """A program that makes the training step of one net.

    `__init__(net, x, y)` gets one of our nets, from whose weights all rivals start, x (N, d_in)
    float32, and y (N,) integers.  A rival has these methods:

        loss_and_gradient(x, y)    the loss, and the gradient in our flat layout, to check that
                                   all compute the same
        step(batch)                gather these rows of x and y, forward, loss, backward, clip, Adam
        turn(batches)              a step for each of these batches
    """

    def step(self, batch: np.ndarray) -> None:
        raise NotImplementedError

    def turn(self, batches: Iterable[np.ndarray]) -> None:
        for batch in batches:
            self.step(batch)


def flat(net: hn.DeepNet, named: dict[str, np.ndarray]) -> np.ndarray:
    """Arrays by the names of the parameters -> one vector in the layout of net.parameters."""
    copy = hn.DeepNet(net.d_in, net.d_out, net.hidden, net.depth, net.block, np.random.default_rng(0), dtype=np.float64)
    for name, value in named.items():
        getattr(copy, name)[...] = value
    return copy.parameters


def by_our_names(net: hn.DeepNet, ends: dict, W: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    """The gradients of all parameters by name.

    `ends` has those of the first and the last layer by name; W (depth, rows, hidden) and
    b (depth, rows) are those of the blocks, the rows of H over those of T."""
    h = net.hidden
    named = ends | {"W_H": W[:, :h], "b_H": b[:, :h]}
    if net.block.gates:
        named["W_T"] = W[:, h:]
        named["b_T"] = b[:, h:]
    return named
