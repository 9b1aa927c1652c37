"""Looks at an untrained net, or trains one, with one of nine ways to carry x past H.

The nets see the headline's images.  The question defines what is measured.
"""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import BATCH
from experiments.shared_trials.nine_carries import images_of, make, share
from highways.nets import mean_field
from highways.nets.mean_field import Mix
from highways.nets.subnormals import flushed_subnormals

LOST = 1e-15  # singular values below this share of the largest are lost in rounding
TINY = 1e-300  # what has no logarithm counts as this
# the variances of W_H and W_T times the width, by start
VARIANCES = {"program": (1 / 3, 1 / 3), "glorot": (1.0, 1.0), "orthogonal": (1.0, 1.0), "he": (2.0, 1.0)}


# ---- Nets ---------------------------------------------------------------------------------------


def mix_of(kind: str, depth: int, gate_bias: float | None) -> Mix:
    """The same, for the mean field."""
    a = share(gate_bias)
    return {
        "none": Mix(),
        "skip": Mix(carry=1),
        "skip / sqrt L": Mix(carry=1, transform=1 / math.sqrt(depth)),
        "convex": Mix(carry=1 - a, transform=a),
        "rezero": Mix(carry=1, transform=0),
        "static scalar": Mix(carry=1 - a, transform=a),
        "static unit": Mix(carry=1 - a, transform=a),
        "sees x": Mix(gate_bias=gate_bias, coupled=True),
        "uncoupled": Mix(carry=1, gate_bias=gate_bias),
    }[kind]


# ---- The start ----------------------------------------------------------------------------------


@np.errstate(over="ignore")
def look_at_start(setting: dict) -> dict:
    """Measures the untrained net on the first training images, in float64.

    All results but two are log10 of a ratio: see the question."""
    net = make(setting, np.float64)
    drawn = images_of(setting)
    x = drawn.x_train[: setting["looked_at"]].astype(np.float64)
    y = drawn.y_train[: setting["looked_at"]]
    norms = np.zeros(net.depth)
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    net.backward(d_logits, norms)

    layers = net.workspace(len(x), "train").layers
    first = layers[0].x.copy()
    last = layers[-1].y.copy()
    q = float((first**2).mean())
    e = distance(first) ** 2 / (2 * net.hidden)
    kind = setting["kind"]
    mix = mix_of(kind, net.depth, setting.get("gate_bias"))
    v_H, v_T = VARIANCES[setting["start"]]
    gradient, between = mean_field.recursion(mix, net.depth, setting["activation"], v_H, v_T, q, e)
    values = singular_values(net, x[: setting["with_jacobian"]])
    result = {
        "gradient": log10(norms[0] / norms[-1]),
        "median_singular_value": np.median(log10(values), axis=1).mean(),
        "largest_singular_value": log10(values[:, 0]).mean(),
        "distance": log10(distance(last) / distance(first)),
        "size": log10(np.linalg.norm(last) / np.linalg.norm(first)),
        "gradient_by_mean_field": gradient,
        "distance_by_mean_field": between,
    }
    return {name: float(f"{value:.5g}") for name, value in result.items()}


def log10(values):
    return np.log10(np.maximum(values, TINY))


def distance(state: np.ndarray) -> float:
    """The root mean square distance between the states of two images; state is (hidden, N).

    The pairs are one image of the first half and one of the second."""
    half = state.shape[1] // 2
    between = state[:, :half] - state[:, half : 2 * half]
    return float(np.sqrt((between**2).sum(axis=0).mean()))


def singular_values(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """The singular values (N, hidden) of dy/dx of all blocks together, for images x (N, d_in)."""
    n = len(x)
    net.forward(np.repeat(x, net.hidden, axis=0))  # hidden copies of an image, one for each output
    layers = net.workspace(n * net.hidden, "train").layers
    dy = layers[-1].dy
    dy[...] = np.tile(np.eye(net.hidden), n)
    for layer in reversed(layers):
        dy = net.block_backward(layer, dy)
    J = dy.T.reshape(n, net.hidden, net.hidden)  # dy_k/dx_j of image i is J[i, k, j]
    values = np.linalg.svd(J, compute_uv=False)
    return np.maximum(values, LOST * values[:, :1])


# ---- Training -----------------------------------------------------------------------------------


def trial(setting: dict) -> dict:
    """Trains a net.  Its loss is that on all training images at the end."""
    with flushed_subnormals() as flushed:
        result = train(setting)
    return {**result, "flushed": flushed}


def train(setting: dict) -> dict:
    drawn = images_of(setting)
    n_train = len(drawn.x_train)
    net = make(setting)
    shuffle = np.random.default_rng([setting["seed"], 1])
    orders = (shuffle.permutation(n_train) for _ in range(setting["epochs"]))
    optimizer = fully_connected.sgd(net, setting, n_train // BATCH)
    _, diverged_at = hn.train_epochs(net, optimizer, drawn.x_train, drawn.y_train, orders, BATCH)
    if diverged_at is None:
        try:
            return measure(net, drawn)
        except FloatingPointError as error:
            diverged_at = str(error)
    return {"loss": None, "test_accuracy": None, "diverged_at": diverged_at}


@np.errstate(all="ignore")  # a net that diverged is not finite
def measure(net: hn.DeepNet, drawn: fully_connected.Images) -> dict:
    """Raises FloatingPointError for a net whose numbers are not finite."""
    logits = hn.finite_logits(net, drawn.x_train)
    loss, _ = hn.softmax_cross_entropy(logits.astype(np.float64), drawn.y_train)
    return {
        "loss": float(f"{loss:.5g}"),
        "test_accuracy": hn.accuracy(net, drawn.x_test, drawn.y_test),
        "diverged_at": None,
    }
