"""Convolutional layers with their hand-written passes: plain, residual, highway.  * is
convolution; equations are numbered as in *Training Very Deep Networks*.

The element-wise parts come first, each forward above its backward.  They take some rows of the
maps, in arrays of one shape (rows, phases, maps, tiles, n), and write the results to their last
arguments.
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

# ---- Element-wise ----------------------------------------------------------------------------------------------------


def relu(z, zeros, H) -> None:
    """H = max(0, z).  `zeros` is an array: maximum(z, 0) takes three times as long in float32."""
    maximum(z, zeros, out=H)


def relu_backward(dH, H, dz) -> None:
    """dz = H' dH, where H' is 1 for H > 0, else 0."""
    greater(H, 0, dz)
    multiply(dz, dH, dz)


def open_gate(minus_z_T_log2_e, q) -> None:
    """q = 1 / T = 1 + e^-z_T, from -z_T log2 e, since 2^(-z_T log2 e) = e^-z_T."""
    exp2(minus_z_T_log2_e, q)
    add(q, 1, q)


def highway(H, x, q, P, y) -> None:
    """eq. 3: y = H T + x (1 - T) = x + P, with P = T (H - x)."""
    subtract(H, x, P)
    divide(P, q, P)
    add(x, P, y)


def highway_backward(dy, x, H, q, dH, dz_H, dz_T) -> None:
    """The gradient of eq. 3:

    dH = T dy,  dz_H = H' dH;  dT = (H - x) dy,  dz_T = T (1 - T) dT = P (1 - T) dy.

    dy becomes (1 - T) dy, which is carried to dx; H becomes H'."""
    divide(dy, q, dH)  # dH = T dy
    subtract(dy, dH, dy)  # dy becomes (1 - T) dy
    subtract(H, x, dz_T)
    divide(dz_T, q, dz_T)  # P again: keeping it would cost more memory than this costs time
    multiply(dz_T, dy, dz_T)  # dz_T = P (1 - T) dy
    greater(H, 0, H)  # H becomes H'
    multiply(H, dH, dz_H)  # dz_H = H' dH


# ---- Layers ----------------------------------------------------------------------------------------------------------


class Convolution(Layer):
    """y = H = max(0, W * x + b), in windows of k x k pixels, k odd;
    by default as many maps as x has.

    Padding "same" is k // 2 zeros around the image; "valid" is none, and the side becomes
    side - k + 1.  W is (outputs, rows, columns, maps of x), b (outputs,).

    `method` says how to compute W * x: "direct", or "winograd" where that is possible and pays.
    Winograd needs 3 x 3 windows, padding "same", tiles that fill the image, and at least
    FEWEST_MAPS maps in x and in y.  The layer's attribute `method` is the choice.

    Raises ValueError for an even k and for another padding; where x is carried to y, also for a y
    whose shape differs from x's.
    """

    pieces = 1  # linear pieces of H
    carries = False  # True where x is carried to y: backward() leaves in dy what is carried to dx
    viewed = ("scratch",)  # work arrays of the element-wise part; it sees all with the same number of phases

    def __init__(self, in_shape, k, maps=None, padding="same", *, method="winograd"):
        if k < 1 or k % 2 == 0 or padding not in ("same", "valid"):
            raise ValueError(
                f"a convolution has an odd size of at least 1, padding same or valid, not {k}, {padding!r}"
            )
        in_maps, side = in_shape
        if maps is None:
            maps = in_maps
        self.k = k
        self.pad = k // 2 if padding == "same" else 0
        self.outputs = maps * (self.pieces + self.gates)
        super().__init__(in_shape, (maps, side + 2 * self.pad - k + 1))
        if self.carries and self.out_shape != in_shape:
            needed = f"a layer that carries x keeps its maps and side, {in_shape}"
            raise ValueError(f"{needed}, and cannot give {self.out_shape}")
        self.shapes = {"W": (self.outputs, k, k, in_maps), "b": (self.outputs,)}
        m = None
        if method == "winograd" and k == 3 and padding == "same" and min(in_maps, maps) >= FEWEST_MAPS:
            m = tile(side)
        if m:
            self.product = Winograd(in_maps, side, self.outputs, m)
        else:
            self.product = Direct(in_shape, k, self.pad, self.outputs)
        self.method = self.product.name
        self.phases = self.product.phases
        self.out_phases = self.product.phases

    def draw(self, rng, init, gate_bias):
        draw_weights(rng, init, self.W, self.gain)

    def make_arrays(self, work, n):
        arrays = SimpleNamespace(n=n)
        maps, side = self.out_shape
        phases = self.phases
        self.product.make_arrays(work, arrays)
        arrays.scratch = work.scratch("t", (arrays.at_once, phases, maps, side // phases, n))
        self._make_kept(work, arrays, (side, phases, maps, side // phases, n))
        if work.keep and not self.carries:
            arrays.dx = work.new("dx", arrays.x.shape)
        return arrays

    def _make_kept(self, work, arrays, shape):
        """Makes arrays of y's shape that last from forward() to backward()."""

    def prepare_input(self, arrays, rows):
        self.product.prepare_input(arrays, rows)

    def forward(self, arrays, y, prepare_next):
        views = arrays.views = self._views(arrays, y)
        for rows, z in self.product.forward(arrays, *self._weights()):
            self._forward_rows(views, rows, in_phases(z, views.phases))
            prepare_next(rows)

    def _views(self, arrays, y):
        """Views for the element-wise part, with the phases of this layer or of the next,
        whichever has more."""
        phases = max(self.phases, y.shape[1])
        views = SimpleNamespace(phases=phases, y=in_phases(y, phases))
        for name in self.viewed:
            vars(views)[name] = in_phases(vars(arrays)[name], phases)
        views.zeros = np.zeros(views.y.shape[2:], y.dtype)
        return views

    def _weights(self):
        """W and b as the product needs them."""
        return self.W, self.b

    def _halves(self, z):
        """z or dz, of twice as many maps as y -> the first half of the maps, the second; views."""
        maps = self.out_shape[0]
        return z[:, :, :maps], z[:, :, maps:]

    def backward(self, arrays, dy, needs_dx):
        views = arrays.views
        dy = in_phases(dy, views.phases)
        dx = self._array_of_dx(arrays, dy) if needs_dx else None
        carries_to_another = self.carries and needs_dx and dx is not dy
        for rows, dz in self.product.backward(arrays, self.W, self.grad, dx, self.carries):
            self._backward_rows(views, rows, dy[rows], in_phases(dz, views.phases))
            if carries_to_another:
                in_phases(dx, views.phases)[rows] = dy[rows]
        return dx

    def _array_of_dx(self, arrays, dy):
        """dy itself if the layer carries it to dx and it has x's shape, else another array."""
        if not self.carries:
            return arrays.dx
        if dy.shape == arrays.x.shape:
            return dy
        return np.empty_like(arrays.x)

    def _forward_rows(self, views, rows, z):
        """z = W * x + b -> views.y, of these rows."""
        relu(z, views.zeros, views.y[rows])

    def _backward_rows(self, views, rows, dy, dz):
        """dL/dy -> dL/dz, of these rows;
        where the layer carries, dy becomes what is carried to dx."""
        H = views.y[rows]
        relu_backward(dy, H, dz)


class ResidualConvolution(Convolution):
    """y = x + H, H = max(0, W * x + b)."""

    carries = True
    viewed = ("x", "H")

    def _make_kept(self, work, arrays, shape):
        arrays.H = work.new("H", shape)

    def _forward_rows(self, views, rows, z):
        H = views.H[rows]
        relu(z, views.zeros, H)
        add(views.x[rows], H, views.y[rows])

    def _backward_rows(self, views, rows, dy, dz):
        relu_backward(dy, views.H[rows], dz)


class HighwayConvolution(Convolution):
    """y = H T + x (1 - T), H = max(0, W_H * x + b_H), T = sigmoid(W_T * x + b_T)      eq. 3

    It keeps the number of maps and the size of the image.
    W and b hold W_H over W_T, b_H over b_T.
    """

    gates = 1
    carries = True
    viewed = ("x", "H", "q", "scratch")

    def draw(self, rng, init, gate_bias):
        super().draw(rng, init, gate_bias)
        self.b[self.out_shape[0] :] = gate_bias

    def _make_kept(self, work, arrays, shape):
        arrays.H = work.new("H", shape)
        arrays.q = work.new("q", shape)

    def _weights(self):
        """W and b with the rows of the gates scaled by -log2 e, as open_gate() needs them."""
        W, b = super()._weights()
        W = W.copy()
        b = b.copy()
        gate_rows = slice(self.out_shape[0], None)
        W[gate_rows] *= -1 / math.log(2)
        b[gate_rows] *= -1 / math.log(2)
        return W, b

    def _forward_rows(self, views, rows, z):
        z_H, z_T = self._halves(z)
        H = views.H[rows]
        q = views.q[rows]
        open_gate(z_T, q)
        relu(z_H, views.zeros, H)
        highway(H, views.x[rows], q, views.scratch[: len(H)], views.y[rows])

    def _backward_rows(self, views, rows, dy, dz):
        dz_H, dz_T = self._halves(dz)
        dH = views.scratch[: len(dy)]
        highway_backward(dy, views.x[rows], views.H[rows], views.q[rows], dH, dz_H, dz_T)
