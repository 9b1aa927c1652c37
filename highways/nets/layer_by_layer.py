"""Runs a net layer by layer, for its states, its gates, and the gradient between blocks.

The arithmetic is the net's own code.  All arrays are batch first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import highway_networks as hn

SLICE = 500  # rows at a time: the arrays of a layer stay in the cache


def first_state(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """x (N, d_in) -> the output of the plain first layer (N, hidden), the first block's input."""
    z = x.astype(net.dtype) @ net.W_in.T + net.b_in
    H = np.empty_like(z)
    net.activation.value(z, H)
    return H


def block_forward(
    net: hn.DeepNet,
    layer: int,
    x: np.ndarray,
) -> tuple[np.ndarray | None, np.ndarray]:
    """T and y of one block for its input x, all (N, hidden).  T is None if it has no gate."""
    arrays = _forward(net, layer, x)
    T = net.block.transform_gate(arrays).T if net.block.has_gate else None
    return T, arrays.y.T.copy()


def _forward(net, layer, x):
    """The arrays of one layer after its forward pass; a backward pass may follow."""
    arrays = net.workspace(len(x), "layer").layers[layer]
    arrays.x[:] = x.T
    with np.errstate(over="ignore"):  # as in DeepNet
        net.block_forward(arrays)
    return arrays


def block_backward(net: hn.DeepNet, layer: int, x: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """dL/dx of one block, from its input x and dL/dy; all (N, hidden)."""
    arrays = _forward(net, layer, x)
    arrays.dy[:] = dy.T
    return net.block_backward(arrays, arrays.dy).T.copy()


def carry(net: hn.DeepNet, layer: int, x: np.ndarray) -> np.ndarray:
    """C (N, hidden) of one block for its input x: the factor by which dL/dy is carried to dL/dx.

    dL/dx is C dL/dy plus what comes back through the weights.  C is 1 - T for a highway block, 1
    for a residual and 0 for a plain one."""
    arrays = _forward(net, layer, x)
    arrays.dy[:] = 1
    carried = net.block.backward(arrays, arrays.dy)
    return np.zeros_like(x) if carried is None else carried.T.copy()


def walk(net: hn.DeepNet, state: np.ndarray, layers=None) -> Iterator[tuple]:
    """Yields (layer, T, x, y), block by block; the y of one is the x of the next.

    `layers` are the blocks to pass through, all by default; the others are left out."""
    if layers is None:
        layers = range(net.depth)
    for layer in layers:
        T, y = block_forward(net, layer, state)
        yield layer, T, state, y
        state = y


def logits(net: hn.DeepNet, state: np.ndarray) -> np.ndarray:
    """The output of the last block (N, hidden) -> (N, d_out)."""
    return state @ net.W_out.T + net.b_out


def slices(n: int) -> Iterator[slice]:
    """Slices of n rows, in order."""
    return (slice(start, min(start + SLICE, n)) for start in range(0, n, SLICE))


def in_dtype(net: hn.DeepNet, dtype) -> hn.DeepNet:
    """A copy of the net that computes in another dtype."""
    rng = np.random.default_rng(0)  # its draws are overwritten
    twin = hn.DeepNet(
        net.d_in,
        net.d_out,
        net.hidden,
        net.depth,
        net.block,
        rng,
        activation=net.activation,
        dtype=dtype,
    )
    twin.parameters[:] = net.parameters
    return twin


def gradient_flow(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> tuple[list[float], float]:
    """How the gradient of the loss comes back through the layers: (norms, identity).

    norms     |dL/dx_l| for the output x_l of each layer, the plain one first; L is the loss of one
              image, and the norm a mean over images, with four digits
    identity  the product of carry() over all blocks, a mean over units and images

    Takes images x (N, d_in) and labels y (N,); computes in float64."""
    net = in_dtype(net, np.float64)
    states = [first_state(net, x)]
    states += [y_l for *_, y_l in walk(net, states[0])]
    _, d_logits = hn.softmax_cross_entropy(logits(net, states[-1]), y)
    dy = len(y) * d_logits @ net.W_out  # the gradient of one image's loss, not of the mean
    norms = [np.linalg.norm(dy, axis=1).mean()]
    identity = 1.0
    for layer in reversed(range(net.depth)):
        identity = identity * carry(net, layer, states[layer])
        dy = block_backward(net, layer, states[layer], dy)
        norms.append(np.linalg.norm(dy, axis=1).mean())
    norms.reverse()
    return [float(f"{norm:.4g}") for norm in norms], float(np.mean(identity))


def rounded(array: np.ndarray, digits: int = 3) -> list:
    """The array as lists of numbers, rounded to `digits` decimals."""
    return np.round(np.asarray(array, np.float64), digits).tolist()
