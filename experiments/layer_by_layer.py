"""A net layer by layer, batch first: gates, block states, and the gradient between them, by the net's own blocks."""

from __future__ import annotations

import numpy as np

import highway_networks as hn


def first(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """x (N, d_in) -> the first, plain layer's output (N, hidden): the state that the first block sees."""
    z = x.astype(net.dtype) @ net.W_in.T + net.b_in
    H = np.empty_like(z)
    net.activation.value(z, H)
    return H


def block(net: hn.DeepNet, layer: int, x: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """T, None without a gate, and y of one block for its input x, (N, hidden) each."""
    arrays = _forward(net, layer, x)
    T = net.block.transform_gate(arrays).T if net.block.gates else None
    return T, arrays.y.T.copy()


def _forward(net, layer, x):
    """The arrays of a layer, in which a way back may follow."""
    arrays = net.workspace(len(x), "layer").layers[layer]
    arrays.x[:] = x.T
    with np.errstate(over="ignore"):  # as in DeepNet
        net.block_forward(arrays)
    return arrays


def block_back(net: hn.DeepNet, layer: int, x: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """dL/dy (N, hidden) of one block for its input x -> dL/dx (N, hidden)."""
    arrays = _forward(net, layer, x)
    arrays.dy[:] = dy.T
    return net.block_backward(arrays, arrays.dy).T.copy()


def carry(net: hn.DeepNet, layer: int, x: np.ndarray) -> np.ndarray:
    """C (N, hidden), the share of x in y: what of dL/dy is carried past the products."""
    arrays = _forward(net, layer, x)
    arrays.dy[:] = 1
    carried = net.block.backward(arrays, arrays.dy)
    return np.zeros_like(x) if carried is None else carried.T.copy()


def walk(net: hn.DeepNet, state: np.ndarray, layers=None):
    """Yields (layer, T, x, y) of one block after another, all of them or these, each fed with what the last gave."""
    for layer in range(net.depth) if layers is None else layers:
        T, y = block(net, layer, state)
        yield layer, T, state, y
        state = y


def logits(net: hn.DeepNet, state: np.ndarray) -> np.ndarray:
    """The last block's output (N, hidden) -> (N, d_out)."""
    return state @ net.W_out.T + net.b_out


def slices(n: int, size: int = 500):
    """Slices of n rows, a few hundred at a time: a layer's arrays stay in the cache."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def in_dtype(net: hn.DeepNet, dtype) -> hn.DeepNet:
    """The same net in another arithmetic."""
    sizes, rng = (net.d_in, net.d_out, net.hidden, net.depth), np.random.default_rng(0)
    twin = hn.DeepNet(*sizes, net.block, rng, activation=net.activation, dtype=dtype)
    twin.parameters[:] = net.parameters
    return twin


def gradient_flow(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> tuple[list[float], float]:
    """How the gradient of the loss comes back: the mean over examples of |dL/dx_l| for the output x_l of every layer,
    the first layer's first; and the identity part: the mean over units of the product of all blocks' C."""
    net = in_dtype(net, np.float64)
    states = [first(net, x)]
    states += [y_l for *_, y_l in walk(net, states[0])]
    _, d_logits = hn.softmax_cross_entropy(logits(net, states[-1]), y)
    dy, identity = len(y) * d_logits @ net.W_out, 1.0  # of each example's own loss
    norms = [np.linalg.norm(dy, axis=1).mean()]
    for layer in reversed(range(net.depth)):
        identity = identity * carry(net, layer, states[layer])
        dy = block_back(net, layer, states[layer], dy)
        norms.append(np.linalg.norm(dy, axis=1).mean())
    return [float(f"{norm:.4g}") for norm in reversed(norms)], float(np.mean(identity))


def rounded(array: np.ndarray, digits: int = 3) -> list:
    return np.round(np.asarray(array, np.float64), digits).tolist()
