"""What both records take from Muon: momentum for matrices, with steps made orthogonal (Jordan et al. 2024, "Muon: an
optimizer for hidden layers in neural networks").

The step of a matrix is U V' instead of its momentum U S V': all directions are learned equally fast, those in which
the gradients are small, too.  U V' is found roughly, without a singular value decomposition, by some steps of the
iteration of Newton and Schulz.
"""

from __future__ import annotations

import math

import numpy as np

from highway_networks import Optimizer, one_blas_thread
from highways.conv.net import ConvNet, size_of

# X <- a X + b X X'X + c X (X'X)^2 maps each singular value s to a s + b s^3 + c s^5.  These numbers are Jordan's: the
# slope at 0 is steep, and from about 0.1 on all end between 0.7 and 1.2 after a few steps.
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
STEPS = 3
LEAST_NORM = 1e-7
MOMENTUM = 0.6  # of matrices


@one_blas_thread()
def orthogonalised(matrix: np.ndarray) -> np.ndarray:
    """(rows, columns) -> roughly U V' of the same shape, where U S V' is the matrix's singular value decomposition."""
    a, b, c = (matrix.dtype.type(number) for number in NEWTON_SCHULZ)
    rows, columns = matrix.shape
    X = matrix.T if rows > columns else matrix
    X = X / (np.linalg.norm(X) + matrix.dtype.type(LEAST_NORM))
    for _ in range(STEPS):
        products = X @ X.T  # (rows, columns) (columns, rows)
        X = a * X + (b * products + c * (products @ products)) @ X
    return X.T if rows > columns else X


def step_of_matrices(optimizer: Optimizer, matrices, gradient: np.ndarray, momenta: np.ndarray, lr: float) -> None:
    """Muon's step of some matrices among the optimiser's parameters.

    For each matrix W, with its gradient g and its v among the `momenta`:

        v = MOMENTUM v + g
        W = W sqrt(rows) / |W|                             so that a row has a norm of about 1
        W -= lr orthogonalised(g + MOMENTUM v)

    `matrices` are pairs (slice, shape): where a matrix lies in the vector of parameters, and its (rows, columns).  A
    matrix whose gradient is 0 does not learn, and stays."""
    momentum, lr = optimizer._scalars(MOMENTUM, lr)
    for place, shape in matrices:
        rows, _ = shape
        g = gradient[place]
        if not g.any():
            continue
        v = momenta[place]
        W = optimizer.parameters[place]
        v *= momentum
        v += g
        W *= W.dtype.type(math.sqrt(rows) / np.linalg.norm(W))
        step = orthogonalised((g + momentum * v).reshape(shape))
        W -= lr * step.reshape(-1)


def places(net: ConvNet, layer) -> list[tuple[str, slice, tuple[int, ...]]]:
    """(name, slice, shape) of each array of this layer: where it lies in the net's parameters."""
    start = 0
    for below in net.layers[: net.layers.index(layer)]:
        start += size_of(below.shapes)
    found = []
    for name, shape in layer.shapes.items():
        size = math.prod(shape)
        found.append((name, slice(start, start + size), shape))
        start += size
    return found


def gaps(places: list[slice], end: int) -> list[slice]:
    """The slices of range(end) between these, which do not overlap."""
    between = []
    first = 0
    for place in sorted(places, key=lambda place: place.start):
        between.append(slice(first, place.start))
        first = place.stop
    between.append(slice(first, end))
    return [gap for gap in between if gap.start < gap.stop]
