"""Convolutional layers with their hand-written passes: plain, residual, highway.

In docstrings * is convolution, and equations are numbered as in *Training Very Deep Networks*.

The element-wise functions come first, each forward above its backward.  Their arguments are
arrays of one shape, (rows, phases, maps, tiles, n), with some rows of the maps.  They write their
results into the last arguments.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from numpy import add, divide, exp, greater, maximum, multiply, subtract  # called in loops

from highways.conv.direct import Direct
from highways.conv.layer import Layer, draw_weights, in_phases
from highways.conv.winograd import FEWEST_MAPS, Winograd, tile

METHODS = ("winograd", "direct")

# ---- Element-wise -------------------------------------------------------------------------------


def relu(z, zeros, H) -> None:
    """H = max(0, z).  `zeros` is an array of zeros that broadcasts to z's shape: maximum(z, 0) takes three
    times as long in float32."""
    maximum(z, zeros, out=H)


def relu_backward(dH, H, dz) -> None:
    """dz = H' dH, where H' is 1 for H > 0, else 0."""
    greater(H, 0, dz)
    multiply(dz, dH, dz)


def inverse_gate(minus_z_T, q) -> None:
    """q = 1 / T = 1 + e^-z_T."""
    exp(minus_z_T, q)  # exp2 is as fast with AVX-512 alone; without it NumPy has no SIMD exp2
    add(q, 1, q)


def highway(H, x, q, P, y) -> None:
    """eq. 3: y = H T + x (1 - T) = x + P, with P = T (H - x)."""
    subtract(H, x, P)
    divide(P, q, P)
    add(x, P, y)


def highway_backward(dy, x, H, q, dH, dz_H, dz_T) -> None:
    """The gradient of eq. 3:

    dH = T dy,  dz_H = H' dH;  dT = (H - x) dy,  dz_T = T (1 - T) dT = P (1 - T) dy,

    with P = T (H - x), as in highway().

    It overwrites two arguments: dy with (1 - T) dy, which is carried to dx, and H with H'."""
    divide(dy, q, dH)  # dH = T dy
    subtract(dy, dH, dy)  # dy becomes (1 - T) dy
    subtract(H, x, dz_T)
    divide(dz_T, q, dz_T)  # P, computed again to save the memory that keeping it would take
    multiply(dz_T, dy, dz_T)  # dz_T = P (1 - T) dy
    greater(H, 0, H)  # H becomes H'
    multiply(H, dH, dz_H)  # dz_H = H' dH


# ---- Layers -------------------------------------------------------------------------------------


class Convolution(Layer):
    """y = H = max(0, W * x + b) with windows of k x k pixels, k odd.

    y has `maps` maps, by default as many as x.  W is (outputs, k, k, maps of x) and b (outputs,).
    Padding "same" puts k // 2 zeros around the image and keeps its side; padding "valid" puts
    none, and the side becomes side - k + 1.

    The argument `method` says how to compute W * x: "direct", or "winograd" where that is
    possible and pays.  Winograd's method needs 3 x 3 windows, padding "same", tiles that fill the
    image, and at least FEWEST_MAPS maps in x and in y.  The attribute `method` names the method
    that was chosen.

    Raises ValueError for an even k and for another padding.  A layer that carries x to y also
    raises it where y would have another shape than x.
    """

    pieces = 1  # linear pieces of H
    # whether y contains a part of x; if so, backward() turns dy into the part of dx that is carried
    carries = False
    element_wise = ("scratch",)  # work arrays of _forward_rows() and _backward_rows(), beside y

    def __init__(self, in_shape, k, maps=None, padding="same", *, method="winograd"):
        if k < 1 or k % 2 == 0 or padding not in ("same", "valid"):
            raise ValueError(f"the size must be odd and at least 1, padding 'same' or 'valid', not {k}, {padding!r}")
        in_maps, side = in_shape
        if maps is None:
            maps = in_maps
        self.k = k
        self.pad = k // 2 if padding == "same" else 0
        self.outputs = maps * (self.pieces + self.gates)
        super().__init__(in_shape, (maps, side + 2 * self.pad - k + 1))
        if self.carries and self.out_shape != in_shape:
            raise ValueError(f"a layer that carries x keeps its shape {in_shape}, and cannot give {self.out_shape}")
        self.shapes = {"W": (self.outputs, k, k, in_maps), "b": (self.outputs,)}
        tile_width = None
        if method == "winograd" and k == 3 and padding == "same" and min(in_maps, maps) >= FEWEST_MAPS:
            tile_width = tile(side)
        if tile_width:
            self.product = Winograd(in_maps, side, self.outputs, tile_width)
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
        scratch_shape = (arrays.rows_at_once, phases, maps, side // phases, n)
        arrays.scratch = work.scratch("element-wise", scratch_shape)
        self._make_kept(work, arrays, (side, phases, maps, side // phases, n))
        if work.keep and not self.carries:
            arrays.dx = work.new("dx", arrays.x.shape)
        return arrays

    def _make_kept(self, work, arrays, shape):
        """Makes the further arrays that a kind of layer needs.  They last from forward() to
        backward(); most have y's `shape`."""

    def prepare_input(self, arrays, rows):
        self.product.prepare_input(arrays, rows)

    def forward(self, arrays, y, prepare_next):
        views = self._views(arrays, y)
        arrays.views = views
        W, b = self._weights()
        for rows, z in self.product.forward(arrays, W, b):
            self._forward_rows(views, rows, in_phases(z, views.phases))
            prepare_next(rows)

    def _views(self, arrays, y):
        """Views of y and of the `element_wise` arrays, all with the same number of phases: this
        layer's or the next one's, whichever is larger."""
        phases = max(self.phases, y.shape[1])
        views = SimpleNamespace(phases=phases, y=in_phases(y, phases))
        for name in self.element_wise:
            setattr(views, name, in_phases(getattr(arrays, name), phases))
        views.zeros = np.zeros(views.y.shape[2:], y.dtype)  # for relu()
        return views

    def _weights(self):
        """W and b as they enter the product."""
        return self.W, self.b

    def _halves(self, z):
        """z or dz, of twice as many maps as y -> the first half of the maps, the second; views."""
        maps = self.out_shape[0]
        return z[:, :, :maps], z[:, :, maps:]

    def backward(self, arrays, dy, needs_dx):
        views = arrays.views
        dy = in_phases(dy, views.phases)
        dx = self._array_for_dx(arrays, dy) if needs_dx else None
        must_copy = self.carries and needs_dx and dx is not dy
        for rows, dz in self.product.backward(arrays, self.W, self.grad, dx, self.carries):
            self._backward_rows(views, rows, dy[rows], in_phases(dz, views.phases))
            if must_copy:  # the carried part, to which the product adds the rest of dx
                in_phases(dx, views.phases)[rows] = dy[rows]
        return dx

    def _array_for_dx(self, arrays, dy):
        """The array that dx is written to.  A layer that carries uses dy itself where it has the
        shape of x."""
        if not self.carries:
            return arrays.dx
        if dy.shape == arrays.x.shape:
            return dy
        return np.empty_like(arrays.x)

    def _forward_rows(self, views, rows, z):
        """From z = W * x + b of these rows, computes views.y[rows]."""
        relu(z, views.zeros, views.y[rows])

    def _backward_rows(self, views, rows, dy, dz):
        """From dy = dL/dy of these rows, computes dz = dL/dz.  In a layer that carries, overwrites
        dy with the part that is carried to dx."""
        H = views.y[rows]
        relu_backward(dy, H, dz)


class ResidualConvolution(Convolution):
    """y = x + H, H = max(0, W * x + b)."""

    carries = True
    element_wise = ("x", "H")

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

    y has the maps and the size of x.  W is W_H over W_T, and b is b_H over b_T.
    """

    gates = 1
    carries = True
    element_wise = ("x", "H", "q", "scratch")

    def draw(self, rng, init, gate_bias):
        super().draw(rng, init, gate_bias)
        self.b[self.out_shape[0] :] = gate_bias

    def _make_kept(self, work, arrays, shape):
        arrays.H = work.new("H", shape)
        arrays.q = work.new("q", shape)

    def _weights(self):
        """W and b, the gates' rows times -1: inverse_gate() takes -z_T."""
        W, b = super()._weights()
        W = W.copy()
        b = b.copy()
        gate_rows = slice(self.out_shape[0], None)
        W[gate_rows] *= -1
        b[gate_rows] *= -1
        return W, b

    def _forward_rows(self, views, rows, z):
        z_H, z_T = self._halves(z)
        H = views.H[rows]
        q = views.q[rows]
        inverse_gate(z_T, q)
        relu(z_H, views.zeros, H)
        highway(H, views.x[rows], q, views.scratch[: len(H)], views.y[rows])

    def _backward_rows(self, views, rows, dy, dz):
        dz_H, dz_T = self._halves(dz)
        dH = views.scratch[: len(dy)]
        highway_backward(dy, views.x[rows], views.H[rows], views.q[rows], dH, dz_H, dz_T)
