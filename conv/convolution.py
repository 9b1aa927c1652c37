"""Convolutional layers with their hand-written passes: plain, residual, highway.  * is convolution; equations are
numbered as in *Training Very Deep Networks*.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
from numpy import add, divide, exp2, greater, maximum, multiply, subtract  # called in loops

from conv.direct import Direct
from conv.layer import Layer, draw_weights, in_phases
from conv.winograd import FEWEST_MAPS, Winograd, tile

METHODS = ("winograd", "direct")
ELEMENTWISE = "x", "H", "q", "t", "u", "dz_T"  # the work arrays of a layer's element-wise part


class Convolution(Layer):
    """y = H = max(0, W * x + b), in windows of k x k pixels, k odd; by default as many maps as x has.

    Padding "same" is k // 2 zeros around the image; "valid" is none, and the side becomes side - k + 1.
    W is (outputs, rows, columns, maps of x), b (outputs,).  How W * x is computed is up to `method`: "direct", or
    "winograd" where it is possible and pays: in windows of 3 x 3 with padding "same", where tiles fill the image, and x
    and y have at least FEWEST_MAPS maps each.  Afterwards the layer's `method` tells which.
    Raises ValueError for an even k, another padding, and where what carries x would give y another shape.
    """

    carries = False  # True: x goes into y past the product, and what is left in dy into dx

    def __init__(self, in_shape, k, maps=None, padding="same", *, method="winograd"):
        if k < 1 or k % 2 == 0 or padding not in ("same", "valid"):
            raise ValueError(
                f"a convolution has an odd size of at least 1, padding same or valid, not {k}, {padding!r}"
            )
        (of_x, side), maps = in_shape, in_shape[0] if maps is None else maps
        self.k, self.pad, self.outputs = k, k // 2 if padding == "same" else 0, maps * (1 + self.gates)
        super().__init__(in_shape, (maps, side + 2 * self.pad - k + 1))
        if self.carries and self.out_shape != in_shape:
            raise ValueError(f"what carries x keeps its maps and side, {in_shape}, and does not give {self.out_shape}")
        self.shapes = {"W": (self.outputs, k, k, of_x), "b": (self.outputs,)}
        m = tile(side) if (method, k, self.pad) == ("winograd", 3, 1) and min(of_x, maps) >= FEWEST_MAPS else None
        self.product = Winograd(of_x, side, self.outputs, m) if m else Direct(in_shape, k, self.pad, self.outputs)
        self.method, self.phases, self.out_phases = self.product.name, self.product.phases, self.product.phases

    def draw(self, rng, init, gate_bias):
        draw_weights(rng, init, self.W)

    def make_arrays(self, work, n):
        a, (maps, side), p = SimpleNamespace(n=n), self.out_shape, self.phases
        self.product.make_arrays(work, a)
        a.t = work.scratch("t", (a.at_once, p, maps, side // p, n))
        self._make_kept(work, a, (side, p, maps, side // p, n))
        if work.keep and not self.carries:
            a.dx = work.new("dx", a.x.shape)
        return a

    def _make_kept(self, work, a, shape):
        """Arrays of this shape from _elementwise() to _elementwise_backward()."""

    def prepare_input(self, a, rows):
        self.product.prepare_input(a, rows)

    def forward(self, a, y, prepare_next):
        a.e = e = self._views(a, y)
        for rows, z in self.product.forward(a, *self._weights()):
            self._elementwise(e, rows, in_phases(z, e.phases), e.y[rows])
            prepare_next(rows)

    def _views(self, a, y):
        """What the element-wise work is done on, all with the same phases: this layer's or the next one's."""
        phases = max(self.phases, y.shape[1])
        arrays = {name: each for name, each in vars(a).items() if name in ELEMENTWISE} | {"y": y}
        if not self.carries:
            arrays.pop("x")  # may have another size
        e = SimpleNamespace(phases=phases, **{name: in_phases(each, phases) for name, each in arrays.items()})
        e.zeros = np.zeros(e.y.shape[2:], y.dtype)  # maximum(z, 0) takes three times as long in float32
        return e

    def _weights(self):
        return self.W, self.b

    def backward(self, a, dy, needs_dx):
        e, dy = a.e, in_phases(dy, a.e.phases)
        dx = None
        if needs_dx and self.carries:
            dx = dy if dy.shape == a.x.shape else np.empty_like(a.x)
        elif needs_dx:
            dx = a.dx
        for rows, dz in self.product.backward(a, self.W, self.grad, dx, self.carries):
            self._elementwise_backward(e, rows, dy[rows], in_phases(dz, e.phases))
            if self.carries and dx is not None and dx is not dy:
                in_phases(dx, e.phases)[rows] = dy[rows]
        return dx

    def _elementwise(self, e, rows, z, y):
        """z = W * x + b -> y, of these rows."""
        maximum(z, e.zeros, out=y)

    def _elementwise_backward(self, e, rows, dy, dz):
        """dL/dy -> dL/dz, of these rows; where it carries, dy becomes what is carried to dx."""
        greater(e.y[rows], 0, dz)  # y is H
        multiply(dz, dy, dz)  # dz = H' dy


class Residual(Convolution):
    """y = x + H, H = max(0, W * x + b)."""

    carries = True

    def _make_kept(self, work, a, shape):
        a.H = work.new("H", shape)

    def _elementwise(self, e, rows, z, y):
        maximum(z, e.zeros, out=e.H[rows])
        add(e.x[rows], e.H[rows], y)

    def _elementwise_backward(self, e, rows, dy, dz):
        greater(e.H[rows], 0, dz)
        multiply(dz, dy, dz)  # dz = H' dy


class Highway(Convolution):
    """y = H T + x (1 - T), H = max(0, W_H * x + b_H), T = sigmoid(W_T * x + b_T)      eq. 3

    It keeps the number of maps and the size of the image.  W and b hold W_H over W_T, b_H over b_T.
    """

    gates, carries = 1, True

    def draw(self, rng, init, gate_bias):
        super().draw(rng, init, gate_bias)
        self.b[self.out_shape[0] :] = gate_bias

    def _make_kept(self, work, a, shape):
        a.H, a.q = work.new("H", shape), work.new("q", shape)

    def _weights(self):
        """Those of T times -log2 e: its half of the product is the exponent of 2^-(z_T log2 e) = e^-z_T."""
        W, b = (each.copy() for each in super()._weights())
        for each in (W, b):
            each[self.out_shape[0] :] *= -1 / math.log(2)
        return W, b

    def _elementwise(self, e, rows, z, y):
        maps = self.out_shape[0]
        self._open(z[:, :, maps:], e.q[rows])
        self._combine(e, rows, z[:, :, :maps], y)

    def _open(self, z_T, q):
        exp2(z_T, q)
        add(q, 1, q)  # q = 1 + exp(-z_T) = 1 / T

    def _combine(self, e, rows, z_H, y):
        H, P, q, x = e.H[rows], e.t[: len(y)], e.q[rows], e.x[rows]
        maximum(z_H, e.zeros, out=H)
        subtract(H, x, P)
        divide(P, q, P)  # P = T (H - x)
        add(x, P, y)  # y = H T + x (1 - T)

    def _elementwise_backward(self, e, rows, dy, dz):
        maps = self.out_shape[0]
        self._gradients(e, rows, dy, dz[:, :, :maps], dz[:, :, maps:])

    def _gradients(self, e, rows, dy, dz_H, dz_T):
        """eq. 9: dH = T dy, dz_H = H' dH; dT = (H - x) dy, dz_T = T (1 - T) dT = P (1 - T) dy."""
        H, q, dH, x = e.H[rows], e.q[rows], e.t[: len(dy)], e.x[rows]
        divide(dy, q, dH)  # dH = T dy
        subtract(dy, dH, dy)  # dy becomes (1 - T) dy, what is carried
        subtract(H, x, dz_T)
        divide(dz_T, q, dz_T)  # P again: keeping it would cost more memory than this costs time
        multiply(dz_T, dy, dz_T)  # dz_T = P (1 - T) dy
        greater(H, 0, H)
        multiply(H, dH, dz_H)  # dz_H = H' dH
