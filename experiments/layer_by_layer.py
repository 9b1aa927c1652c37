"""A net layer by layer, batch first, as the paper writes it: gates, block states, and the gradient between them.

`highway_networks.DeepNet` trains; this looks inside.  Both compute the same, and a test compares them.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn


def sigmoid(z: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # exp(-z) of a gate that is shut may be infinite, and 1 / infinity is right
        return 1 / (1 + np.exp(-z))


def activate(net: hn.DeepNet, z: np.ndarray) -> np.ndarray:
    return np.tanh(z) if net.activation == "tanh" else np.maximum(z, 0)


def first(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """x (N, d_in) -> the first, plain layer's output (N, hidden): the state that the first block sees."""
    return activate(net, x @ net.W_in.T + net.b_in)


def block(net: hn.DeepNet, layer: int, x: np.ndarray) -> tuple:
    """H, T, C and y = H T + x C of one block for its input x (N, hidden); a block without gates has 0 or 1 for them."""
    H = activate(net, x @ net.W_H[layer].T + net.b_H[layer])
    if net.block in ("plain", "residual"):
        T, C = 1.0, float(net.block == "residual")
    else:
        T = sigmoid(x @ net.W_T[layer].T + net.b_T[layer])
        C = 1 - T if net.block == "highway" else sigmoid(x @ net.W_C[layer].T + net.b_C[layer])
    return H, T, C, H * T + x * C


def block_back(net: hn.DeepNet, layer: int, x: np.ndarray, H, T, C, dy: np.ndarray) -> np.ndarray:
    """dL/dx (N, hidden) of one block from dL/dy: the identity part C dy, and what comes through H and the gates."""
    dH_dz = 1 - H * H if net.activation == "tanh" else H > 0
    dx = C * dy + (T * dy * dH_dz) @ net.W_H[layer]
    if net.block == "highway":
        dx += (T * (1 - T) * (H - x) * dy) @ net.W_T[layer]
    elif net.block == "highway-carry":
        dx += (T * (1 - T) * H * dy) @ net.W_T[layer] + (C * (1 - C) * x * dy) @ net.W_C[layer]
    return dx


def walk(net: hn.DeepNet, state: np.ndarray, layers=None):
    """Yields (layer, T, x, y) of one block after another, all of them or these, each fed with what the last gave."""
    for layer in range(net.depth) if layers is None else layers:
        _, T, _, y = block(net, layer, state)
        yield layer, T, state, y
        state = y


def logits(net: hn.DeepNet, state: np.ndarray) -> np.ndarray:
    """The last block's output (N, hidden) -> (N, d_out)."""
    return state @ net.W_out.T + net.b_out


def slices(n: int, size: int = 500):
    """Slices of n rows, a few hundred at a time: a layer's arrays stay in the cache."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def gradient_flow(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> tuple[list[float], float]:
    """How the gradient of the loss comes back: the mean over examples of |dL/dx_l| for the output x_l of every layer,
    the first layer's first; and the identity part: the mean over units of the product of all blocks' C."""
    states, parts, identity = [first(net, x.astype(np.float64))], [], 1.0
    for layer in range(net.depth):
        *part, state = block(net, layer, states[-1])
        parts.append(part)
        states.append(state)
        identity = identity * part[2]
    _, d_logits = hn.softmax_cross_entropy(logits(net, states[-1]), y)
    dy = len(y) * d_logits @ net.W_out.astype(np.float64)  # of each example's own loss
    norms = [np.linalg.norm(dy, axis=1).mean()]
    for layer in reversed(range(net.depth)):
        dy = block_back(net, layer, states[layer], *parts[layer], dy)
        norms.append(np.linalg.norm(dy, axis=1).mean())
    return [float(f"{norm:.4g}") for norm in reversed(norms)], float(np.mean(identity))


def rounded(array: np.ndarray, digits: int = 3) -> list:
    return np.round(np.asarray(array, np.float64), digits).tolist()
