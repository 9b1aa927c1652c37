"""Highway layers that make more maps, and may halve the image, with gates of few products.

    v = W_H * x, or in PooledHighway the maximum of 2 x 2 neighbours in W_H * x
    u = (v - mean) / deviation
    a = u + b_H,             H = a sigmoid(1.702 a)
    T = sigmoid(W_T x^ + b_T)
    y = H T + x^ (1 - T)                                               eq. 3

x^ is x with further maps of zeros, and in PooledHighway it is the mean of 2 x 2 pixels: "one can replace x with x^
obtained by suitably sub-sampling or zero-padding x" (Srivastava et al. 2015, section 2.1).  So a net needs no other
layers where its maps or its pixels change their number.

W_H has windows of 3 x 3 pixels, W_T of a single one: where gates have 3 x 3, too, they take as many products as H.

H is GELU in its approximation by a sigmoid (Hendrycks and Gimpel 2016).  Mean and deviation are those of each map of v,
as in highways/conv/normalised.py, but without its factor gamma: the next layer's weights can scale as well.

Backward.  Let s = dL/da, and let <.> be the mean over the batch and all pixels:

    dH = T dy,  s = H' dH,  dv = (s - <s> - u <u s>) / deviation
    dT = (H - x^) dy,  dz_T = T (1 - T) dT,  dW_T = dz_T x^',  dx^ = (1 - T) dy + W_T' dz_T
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from numpy import add, divide, exp, greater_equal, matmul, maximum, multiply, subtract  # called in loops

from highways.conv.layer import Layer, draw_weights, in_phases
from highways.conv.normalised import (
    ALL_BUT_MAPS,
    EPSILON,
    RunningStatistics,
    combined,
    moments_of,
    of_maps,
    sum_of_products,
)
from highways.conv.winograd import Winograd, tile

GELU = 1.702


class WideHighway(RunningStatistics, Layer):
    """y of `maps` maps, at least as many as x has, on images of x's side.

    The parameters are W, that is W_H, (maps, 3, 3, maps of x); W_T (maps, maps of x); and b, b_H over b_T,
    (2 maps,).  The convolution is Winograd's.

    Raises ValueError for fewer maps than x has, and for images that no tiles fill."""

    gates = 1
    pooled = False
    method = property(lambda self: self.product.name)  # as highways.conv.convolution.Convolution names it

    def __init__(self, in_shape, maps):
        in_maps, side = in_shape
        m = tile(side)
        if maps < in_maps:
            raise ValueError(f"a wide highway layer has at least the {in_maps} maps that it is given, not {maps}")
        if m is None or (self.pooled and m % 2):
            raise ValueError(f"the tiles of this highway layer do not fill an image of {side} x {side}")
        super().__init__(in_shape, (maps, side // 2 if self.pooled else side))
        self.product = Winograd(in_maps, side, maps, m)
        if self.pooled:
            self.product.fewest_rows = 2
        self.phases = m
        self.out_phases = 1 if self.pooled else m
        self.shapes = {"W": (maps, 3, 3, in_maps), "W_T": (maps, in_maps), "b": (2 * maps,)}
        self.statistics = {"mean": (maps,), "variance": (maps,)}

    def draw(self, rng, init, gate_bias):
        draw_weights(rng, init, self.W, self.gain)
        draw_weights(rng, init, self.W_T, self.gain)
        self.b[self.out_shape[0] :] = gate_bias
        self.variance[:] = 1

    def make_arrays(self, work, n):
        arrays = SimpleNamespace(n=n)
        self.product.make_arrays(work, arrays)
        maps, side = self.out_shape
        phases = self.out_phases
        shape = (side, phases, maps, side // phases, n)
        arrays.u = work.new("u", shape)
        arrays.H = work.new("H", shape)
        arrays.q = work.new("q", shape)  # 1 / T
        arrays.e = work.new("e", shape)  # 1 / sigmoid(1.702 a)
        for name in ("first", "second", "third"):
            setattr(arrays, name, work.scratch(name, (1, *shape[1:])))
        arrays.z_T = work.scratch("z_T", (phases, maps, side // phases * n))
        self._make_carried(work, arrays)
        if work.keep:
            arrays.dx = work.new("dx", arrays.x.shape)
            arrays.dx_T = work.scratch("dx_T", (phases, self.in_shape[0], side // phases * n))
            arrays.dW_T = np.zeros((phases, *self.W_T.shape), arrays.x.dtype)
        return arrays

    def _make_carried(self, work, arrays):
        """Makes arrays.carried, x^ without its maps of zeros, and its gradient."""
        arrays.carried = arrays.x
        if work.keep:
            arrays.d_carried = work.new("d_carried", arrays.x.shape)

    def prepare_input(self, arrays, rows):
        self.product.prepare_input(arrays, rows)

    # ---- Forward ----

    def forward(self, arrays, y, prepare_next):
        """First v of the whole batch, then its mean and variance, then y."""
        maps, side = self.out_shape
        self._carry(arrays)
        moments = []
        no_bias = np.zeros(maps, y.dtype)
        for rows, z in self.product.forward(arrays, self.W, no_bias):
            for row, v in self._kept_rows(arrays, rows, z):
                if arrays.training:
                    moments.append(moments_of(v, arrays.first))
                arrays.u[row : row + 1] = v
        mean = self.mean
        variance = self.variance
        if arrays.training:
            sizes, means, squares = map(np.array, zip(*moments, strict=True))
            arrays.size = int(sizes.sum())  # how many numbers a map of the batch has
            mean, variance = combined(sizes, means, squares)
            self._next_statistics(arrays, mean, variance)
        arrays.inverse_deviation = 1 / np.sqrt(variance + EPSILON)
        minus_W_T = -self.W_T  # the product below is then -z_T
        minus_b_T = -self.b[maps:, None]
        arrays.viewed = self._views(arrays, y)
        for row in range(side):
            carried = arrays.carried[row].reshape(self.out_phases, self.in_shape[0], -1)
            matmul(minus_W_T, carried, arrays.z_T)  # (maps, maps of x) (maps of x, columns x n)
            add(arrays.z_T, minus_b_T, arrays.z_T)
            q = arrays.q[row].reshape(arrays.z_T.shape)
            exp(arrays.z_T, q)
            add(q, 1, q)
            self._activate(arrays, row, mean)
            self._combine(arrays.viewed, row)
            prepare_next(slice(row, row + 1))

    def _carry(self, arrays):
        """Computes arrays.carried."""

    def _kept_rows(self, arrays, rows, z):
        """Yields (row of v, v of this row), from some rows of W_H * x."""
        for i, row in enumerate(range(rows.start, rows.stop)):
            yield row, z[i : i + 1]

    def _activate(self, arrays, row, mean):
        """u = (v - mean) / deviation, H = a sigmoid(1.702 a) with a = u + b_H."""
        u = arrays.u[row]
        a = arrays.first[0]
        e = arrays.e[row]
        subtract(u, of_maps(mean), u)
        multiply(u, of_maps(arrays.inverse_deviation), u)
        add(u, of_maps(self.b[: self.out_shape[0]]), a)
        multiply(a, a.dtype.type(-GELU), e)
        exp(e, e)
        add(e, 1, e)
        divide(a, e, arrays.H[row])

    def _views(self, arrays, y):
        """The arrays of y's shape, and those of x^, all with as many phases as this layer or the next one has."""
        phases = max(self.out_phases, y.shape[1])
        views = SimpleNamespace(y=in_phases(y, phases), phases=phases)
        for name in ("H", "q", "carried", "first", "second", "third"):
            setattr(views, name, in_phases(getattr(arrays, name), phases))
        return views

    def _combine(self, views, row):
        """y = x^ + T (H - x^)."""
        in_maps = self.in_shape[0]
        H = views.H[row]
        y = views.y[row]
        x = views.carried[row]
        P = views.second[0]
        subtract(H[:, :in_maps], x, P[:, :in_maps])
        P[:, in_maps:] = H[:, in_maps:]
        divide(P, views.q[row], y)
        add(y[:, :in_maps], x, y[:, :in_maps])

    # ---- Backward ----

    def backward(self, arrays, dy, needs_dx):
        """First s and dz_T and their sums over the whole batch, then dv and the gradient of the convolution."""
        maps, side = self.out_shape
        grad = self.grad
        sum_s = np.zeros(maps, dy.dtype)
        sum_us = np.zeros(maps, dy.dtype)
        grad.b[:] = 0
        arrays.dW_T[...] = 0
        dy = in_phases(dy, arrays.viewed.phases)
        for row in range(side):
            self._separate(arrays, row, dy[row], needs_dx)
            s = arrays.H[row : row + 1]
            sum_s += s.sum(axis=ALL_BUT_MAPS)
            sum_us += sum_of_products(arrays.u[row : row + 1], s)
            grad.b[maps:] += arrays.q[row].sum(axis=(0, 2, 3))
            self._gate_gradient(arrays, row, needs_dx)
        grad.b[:maps] = sum_s
        grad.W_T[:] = arrays.dW_T.sum(axis=0)
        arrays.mean_s = sum_s / arrays.size
        arrays.mean_us = sum_us / arrays.size
        dx = self._carried_gradient(arrays) if needs_dx else None
        of_product = SimpleNamespace(W=grad.W, b=np.zeros(maps, dy.dtype))
        for rows, dz in self.product.backward(arrays, self.W, of_product, dx, carried=True):
            self._backward_rows(arrays, rows, dz)
        return dx

    def _separate(self, arrays, row, dy, needs_dx):
        """The gradients of H, x^ and z_T.  Overwrites H with s, and q with dz_T."""
        views = arrays.viewed
        in_maps = self.in_shape[0]
        dH = views.first[0]
        past = views.second[0]
        P = views.third[0]
        H = views.H[row]
        q = views.q[row]
        divide(dy, q, dH)
        subtract(dy, dH, past)  # (1 - T) dy
        if needs_dx:
            in_phases(arrays.d_carried, views.phases)[row] = past[:, :in_maps]
        subtract(H[:, :in_maps], views.carried[row], P[:, :in_maps])
        P[:, in_maps:] = H[:, in_maps:]
        divide(P, q, P)
        multiply(P, past, q)  # dz_T = T (1 - T) (H - x^) dy
        # H' = sigmoid + 1.702 H (1 - sigmoid) = (1 - 1.702 H) / e + 1.702 H
        H = arrays.H[row]
        slope = arrays.second[0]
        multiply(H, H.dtype.type(GELU), H)
        subtract(1, H, slope)
        divide(slope, arrays.e[row], slope)
        add(slope, H, slope)
        multiply(slope, arrays.first[0], H)

    def _gate_gradient(self, arrays, row, needs_dx):
        """Adds this row's part to dW_T, and to the gradient of x^."""
        dz_T = arrays.q[row].reshape(arrays.z_T.shape)
        carried = arrays.carried[row].reshape(self.out_phases, self.in_shape[0], -1)
        arrays.dW_T += matmul(dz_T, carried.swapaxes(1, 2))  # (maps, columns x n) (columns x n, maps of x)
        if needs_dx:
            matmul(self.W_T.T, dz_T, arrays.dx_T)  # (maps of x, maps) (maps, columns x n)
            d_carried = arrays.d_carried[row].reshape(arrays.dx_T.shape)
            add(d_carried, arrays.dx_T, d_carried)

    def _carried_gradient(self, arrays):
        """The part of dx that comes from x^."""
        return arrays.d_carried

    def _dv(self, arrays, row, dv):
        """dv = (s - <s> - u <u s>) / deviation, of one row, (phases, maps, tiles, n).  Overwrites u."""
        s = arrays.H[row]
        u = arrays.u[row]
        multiply(u, of_maps(arrays.mean_us), u)
        subtract(s, u, dv)
        subtract(dv, of_maps(arrays.mean_s), dv)
        multiply(dv, of_maps(arrays.inverse_deviation), dv)

    def _backward_rows(self, arrays, rows, dz):
        for i, row in enumerate(range(rows.start, rows.stop)):
            self._dv(arrays, row, dz[i])


class PooledHighway(WideHighway):
    """The same on images of half the side: v is the largest of 2 x 2 neighbours in W_H * x, and x^ is the mean of
    2 x 2 neighbours in x.

    The gradient of a maximum goes to the first row that holds it, and there to the first column."""

    pooled = True

    def make_arrays(self, work, n):
        arrays = super().make_arrays(work, n)
        maps, side = self.out_shape
        m = self.phases
        tiles = self.in_shape[1] // m
        arrays.pair = work.scratch("the larger of two rows", (m, maps, tiles, n))
        arrays.v = work.scratch("the largest of four", (1, 1, maps, side, n))
        if work.training:
            # where the first row of two holds the larger number, and then the first column of two
            arrays.is_first_row = np.zeros((side, m, maps, tiles, n), bool)
            arrays.is_first_column = np.zeros((side, m // 2, maps, tiles, n), bool)
        return arrays

    def _make_carried(self, work, arrays):
        _, side = self.out_shape
        shape = (side, 1, self.in_shape[0], side, arrays.n)
        m = self.phases
        arrays.carried = work.new("carried", shape)
        arrays.two_rows = work.scratch("two rows of x", (m, self.in_shape[0], self.in_shape[1] // m, arrays.n))
        if work.keep:
            arrays.d_carried = work.new("d_carried", shape)

    def _columns(self, row):
        """Of a row (1, maps, side, n) the columns that come from each pair of phases of x: views (maps, tiles, n)."""
        pairs = self.phases // 2
        return [row[0, :, j::pairs] for j in range(pairs)]

    def _carry(self, arrays):
        total = arrays.two_rows
        quarter = total.dtype.type(0.25)
        for row in range(self.out_shape[1]):
            add(arrays.x[2 * row], arrays.x[2 * row + 1], total)
            for j, mean in enumerate(self._columns(arrays.carried[row])):
                add(total[2 * j], total[2 * j + 1], mean)
            multiply(arrays.carried[row], quarter, arrays.carried[row])

    def _carried_gradient(self, arrays):
        quarter = arrays.dx.dtype.type(0.25)
        for row in range(self.out_shape[1]):
            d_mean = arrays.d_carried[row]
            multiply(d_mean, quarter, d_mean)
            for j, part in enumerate(self._columns(d_mean)):
                for i in (2 * row, 2 * row + 1):
                    arrays.dx[i, 2 * j] = part
                    arrays.dx[i, 2 * j + 1] = part
        return arrays.dx

    def _kept_rows(self, arrays, rows, z):
        pair = arrays.pair
        for i in range(0, len(z), 2):
            row = (rows.start + i) // 2
            maximum(z[i], z[i + 1], out=pair)
            if arrays.training:
                greater_equal(z[i], z[i + 1], arrays.is_first_row[row])
            for j, top in enumerate(self._columns(arrays.v[0])):
                maximum(pair[2 * j], pair[2 * j + 1], out=top)
                if arrays.training:
                    greater_equal(pair[2 * j], pair[2 * j + 1], arrays.is_first_column[row, j])
            yield row, arrays.v

    def _backward_rows(self, arrays, rows, dz):
        d_pair = arrays.pair
        for i in range(0, len(dz), 2):
            row = (rows.start + i) // 2
            self._dv(arrays, row, arrays.v[0])
            for j, d_top in enumerate(self._columns(arrays.v[0])):
                multiply(d_top, arrays.is_first_column[row, j], d_pair[2 * j])
                subtract(d_top, d_pair[2 * j], d_pair[2 * j + 1])
            multiply(d_pair, arrays.is_first_row[row], dz[i])
            subtract(d_pair, dz[i], dz[i + 1])
