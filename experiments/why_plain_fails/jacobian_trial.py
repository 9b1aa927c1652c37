"""Trains a net and looks at the Jacobians of its blocks, measured and by formula, before and after.

The question gives the formula and defines what is measured.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highways.nets import jacobians, layer_by_layer

PASSES = 0.01  # a direction passes if its singular value is at least this
LOST = 1e-15  # singular values below this share of the largest are lost in rounding
STRETCHES = ("largest", "median", "smallest")


def trial(setting: dict) -> dict:
    """Trains a net; looks at it, on test images, before and after."""
    images = fully_connected.images_of(setting)
    x = images.x_test[: setting["looked_at"]]
    net, result = fully_connected.train(setting)
    at_start = look(fully_connected.make(setting), x)
    trained = None if result["diverged"] else look(net, x)
    return {**result, "at_start": at_start, "trained": trained}


def look(net: hn.DeepNet, x: np.ndarray) -> dict:
    """The Jacobian of every block, for images x (N, 784).  Lists have an entry for each block."""
    net = layer_by_layer.in_dtype(net, np.float64)
    twin = layer_by_layer.in_dtype(net, np.complex128)
    block_jacobians = []
    differences = []
    sizes = []
    for layer, _, state, _ in layer_by_layer.walk(net, layer_by_layer.first_state(net, x)):
        J = jacobians.by_complex_step(twin, layer, state)
        terms = jacobians.by_formula(net, layer, state).values()
        error = np.abs(J - sum(terms)).max(axis=(1, 2)) / np.abs(J).max(axis=(1, 2))
        differences.append(error.max())
        sizes.append([np.linalg.norm(term, axis=(1, 2)).mean() / net.hidden**0.5 for term in terms])
        block_jacobians.append(J)

    products = [block_jacobians[-1]]  # the product of blocks l to the last
    for J in reversed(block_jacobians[:-1]):
        products.insert(0, products[0] @ J)
    block_values = np.linalg.svd(np.array(block_jacobians), compute_uv=False)
    product_values = np.linalg.svd(np.array(products), compute_uv=False)
    passing = (product_values >= PASSES).sum(axis=2)  # (blocks, N)
    return {
        "difference": float(max(differences)),
        "sizes_of_terms": rounded(sizes),
        "block": rounded(stretches(block_values)),
        "to_the_end": rounded(stretches(product_values)),
        "directions_that_pass": rounded(passing.mean(axis=1)),
    }


def stretches(values: np.ndarray) -> np.ndarray:
    """Singular values (blocks, N, hidden), the largest first -> (blocks, 3), in STRETCHES' order.

    These are geometric means over the images."""
    lost = LOST * values[..., :1]
    logs = np.log(np.maximum(values, lost))
    largest_median_smallest = [logs[..., 0], np.median(logs, axis=2), logs[..., -1]]  # (blocks, N) each
    return np.exp(np.stack(largest_median_smallest, axis=2).mean(axis=1))


def rounded(array) -> list:
    """The numbers of an array, to four digits, in nested lists."""
    return [rounded(part) if np.ndim(part) else hn.four_digits(part) for part in array]
