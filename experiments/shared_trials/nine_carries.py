"""Nets with one of nine ways to carry x past H, and the headline's images, which they see."""

from __future__ import annotations

import functools
import math

import numpy as np

import highway_networks as hn
import highways.nets.carries  # this and the next register blocks
import highways.nets.static_gates  # noqa: F401
from experiments.shared_trials import fully_connected
from highways.nets import initial

WIDTH = 50
INITS = {"program": "uniform", "glorot": "glorot", "orthogonal": "glorot", "he": "he"}


def share(gate_bias: float | None) -> float:
    """a, the share of H at the start: sigmoid(b_T)."""
    return 1.0 if gate_bias is None else 1 / (1 + math.exp(-gate_bias))


def block_of(kind: str, depth: int, gate_bias: float | None) -> hn.Block:
    """The block of a kind in a net of this depth."""
    a = share(gate_bias)
    fixed = {
        "skip": (1.0, 1.0),
        "skip / sqrt L": (1.0, 1 / math.sqrt(depth)),
        "convex": (1 - a, a),
    }
    if kind in fixed:
        carry, transform = fixed[kind]
        return hn.Block.find("fixed-mix", carry=carry, transform=transform)
    learned = {
        "none": "plain",
        "rezero": "re-zero",
        "static scalar": "static-scalar",
        "static unit": "static-unit",
        "sees x": "highway",
        "uncoupled": "uncoupled",
    }
    return hn.Block.find(learned[kind])


def make(setting: dict, dtype=np.float32) -> hn.DeepNet:
    """The net of a trial, as its seed draws it."""
    gate_bias = setting.get("gate_bias")
    start = setting["start"]
    data = fully_connected.data_of(setting)
    net = hn.DeepNet(
        data.x_train.shape[1],
        data.n_classes,
        WIDTH,
        setting["depth"],
        block_of(setting["kind"], setting["depth"], gate_bias),
        np.random.default_rng(setting["seed"]),
        activation=setting["activation"],
        init=INITS[start],
        gate_bias=0.0 if gate_bias is None else gate_bias,
        dtype=dtype,
    )
    if start == "orthogonal":
        initial.redraw(net, "orthogonal", 1.0, np.random.default_rng([setting["seed"], 2]))
    return net


@functools.lru_cache(maxsize=3)
def images(seed: int, n_train: int, n_test: int) -> fully_connected.Images:
    """The images of the headline's run with this seed, scaled as there."""
    drawn = hn.subset(fully_connected.data_set(), seed, n_train, n_test)
    x_train = hn.scale_pixels(drawn.x_train, np.float32)
    x_test = hn.scale_pixels(drawn.x_test, np.float32)
    return fully_connected.Images(x_train, drawn.y_train, x_test, drawn.y_test)


def images_of(setting: dict) -> fully_connected.Images:
    return images(setting["seed"], setting["n_train"], setting["n_test"])
