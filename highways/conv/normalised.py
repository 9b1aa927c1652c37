"""A convolution and a highway layer with batch normalisation of H (Ioffe and Szegedy 2015).  The
highway layer is that of an encyclopedia article, "Highway Networks".  Both layers compute

    v = W_H * x
    u = (v - mean) / deviation
    H = max(0, gamma u + b_H)
    y = H, or in the highway layer y = H T + x (1 - T)

Mean and deviation are those of each map of v, over the batch and all pixels.  T is not
normalised.  Training uses the statistics of the batch.  Evaluation uses running statistics: every
forward() in training moves them a tenth of the way to those of its batch.

Backward.  Let s = dL/d(gamma u + b_H), and let <.> be the mean over the batch and all pixels:

    db_H = sum s,    dgamma = sum u s,    dv = gamma / deviation (s - <s> - u <u s>)

The two means are there because each v also changes the mean and the deviation of its map, and
with them every u.  So backward() first computes the sums over the whole batch, and then the
products that give the gradients of W and x.
"""

from __future__ import annotations

import numpy as np
from numpy import add, multiply, subtract

from highways.conv.convolution import (
    Convolution,
    HighwayConvolution,
    highway,
    highway_backward,
    inverse_gate,
    relu,
    relu_backward,
)
from highways.conv.layer import in_phases

EPSILON = 1e-5  # added to the variance
PACE = 0.1  # the share of the way that running statistics move to those of a batch


class RunningStatistics:
    """A mixin, to be named before a kind of layer among the base classes of one that has the statistics `mean` and
    `variance`."""

    def _next_statistics(self, arrays, mean, variance):
        """Computes the running statistics after this batch, which keep_statistics() will store.
        Raises FloatingPointError where they are not finite."""
        arrays.running_mean = self.mean + PACE * (mean - self.mean)
        arrays.running_variance = self.variance + PACE * (variance - self.variance)
        if not (np.isfinite(arrays.running_mean).all() and np.isfinite(arrays.running_variance).all()):
            raise FloatingPointError("the batch's mean or variance is not finite")

    def keep_statistics(self, arrays):
        self.mean[:] = arrays.running_mean
        self.variance[:] = arrays.running_variance


class Normalised(RunningStatistics):
    """A mixin, to be named before a kind of convolution among the base classes of a layer.  It
    normalises v = W_H * x to u before b_H is added.

    Adds the parameter gamma, (maps,), and the running statistics `mean` and `variance`, (maps,),
    which are not trained.

    A subclass computes y from H in _combine(), and s = dL/d(gamma u + b_H) from dy in _H_to_s().

    Several processes may train the net, each with some rows of a batch.  exchange(array) then
    returns the arrays of all processes, so that sums are over the whole batch.
    """

    exchange = staticmethod(lambda array: [array])

    def __init__(self, in_shape, k, *settings, **method):
        super().__init__(in_shape, k, *settings, **method)
        maps = self.out_shape[:1]
        self.shapes = {**self.shapes, "gamma": maps}
        self.statistics = {"mean": maps, "variance": maps}

    def draw(self, rng, init, gate_bias):
        super().draw(rng, init, gate_bias)
        self.gamma[:] = 1
        self.variance[:] = 1

    def _make_kept(self, work, arrays, shape):
        super()._make_kept(work, arrays, shape)
        arrays.u = work.new("u", shape)

    def _weights(self):
        W, b = super()._weights()
        b = b.copy()
        b[: self.out_shape[0]] = 0  # b_H is added after the normalisation
        return W, b

    def forward(self, arrays, y, prepare_next):
        """First v of the whole batch, then its mean and variance, then y."""
        views = self._views(arrays, y)
        arrays.views = views
        arrays.parts = []
        moments = []
        W, b = self._weights()
        for rows, z in self.product.forward(arrays, W, b):
            z = in_phases(z, views.phases)
            self._keep(views, rows, z)
            arrays.parts.append(rows)
            if arrays.training:
                v = z[:, :, : self.out_shape[0]]
                moments.append(moments_of(v, views.scratch[: len(v)]))
        mean = self.mean
        variance = self.variance
        if arrays.training:
            # the moments of this process's rows; exchange() then gets those of all processes
            sizes, means, squares = map(np.array, zip(*moments, strict=True))
            sizes = np.concatenate(self.exchange(sizes))
            means = np.concatenate(self.exchange(means))
            squares = np.concatenate(self.exchange(squares))
            views.size = int(sizes.sum())  # how many numbers a map of the whole batch has
            mean, variance = combined(sizes, means, squares)
            self._next_statistics(arrays, mean, variance)
        views.deviation = np.sqrt(variance + EPSILON)
        for rows in arrays.parts:
            self._normalise(views, rows, mean)
            self._combine(views, rows)
            prepare_next(rows)

    def _keep(self, views, rows, z):
        """Copies v from z, which the next rows overwrite, to u, where it waits for its mean and
        variance."""
        views.u[rows] = z[:, :, : self.out_shape[0]]

    def _normalise(self, views, rows, mean):
        """u = (v - mean) / deviation, H = max(0, gamma u + b_H)."""
        u = views.u[rows]
        H = views.H[rows]
        subtract(u, of_maps(mean), u)
        multiply(u, of_maps(1 / views.deviation), u)
        multiply(u, of_maps(self.gamma), H)
        add(H, of_maps(self.b[: self.out_shape[0]]), H)
        relu(H, views.zeros, H)

    def _combine(self, views, rows):
        """H -> y, of these rows."""

    def backward(self, arrays, dy, needs_dx):
        """First s and its sums over the whole batch, then dv and the gradients
        of the convolution."""
        views = arrays.views
        maps = self.out_shape[0]
        sum_s = np.zeros(maps, views.u.dtype)
        sum_us = np.zeros(maps, views.u.dtype)
        dy_in_phases = in_phases(dy, views.phases)
        for rows in arrays.parts:
            self._H_to_s(views, rows, dy_in_phases[rows])
            s = views.H[rows]
            sum_s += s.sum(axis=ALL_BUT_MAPS)
            sum_us += sum_of_products(views.u[rows], s)
        of_all = np.sum(self.exchange(np.array([sum_s, sum_us])), axis=0)
        views.mean_s, views.mean_us = of_all / views.size
        views.slope = self.gamma / views.deviation
        dx = super().backward(arrays, dy, needs_dx)
        self.grad.b[:maps] = sum_s  # b_H is added after normalising; the product has put the sum of dv here
        self.grad.gamma[:] = sum_us
        return dx

    def _H_to_s(self, views, rows, dy):
        """Computes s of these rows from dy, and overwrites H with it."""

    def _backward_rows(self, views, rows, dy, dz):
        """dv = gamma / deviation (s - <s> - u <u s>)."""
        s = views.H[rows]  # _H_to_s() has overwritten H
        u = views.u[rows]
        dv = dz[:, :, : self.out_shape[0]]
        multiply(u, of_maps(views.mean_us), u)
        subtract(s, u, dv)
        subtract(dv, of_maps(views.mean_s), dv)
        multiply(dv, of_maps(views.slope), dv)


class NormalisedConvolution(Normalised, Convolution):
    """y = H."""

    element_wise = ("u", "scratch")

    def _views(self, arrays, y):
        views = super()._views(arrays, y)
        views.H = views.y  # the x of the layer above, which has gone backward when H is overwritten
        return views

    def _H_to_s(self, views, rows, dy):
        H = views.H[rows]
        relu_backward(dy, H, H)


class NormalisedHighway(Normalised, HighwayConvolution):
    """y = H T + x (1 - T).  W holds W_H over W_T, b holds b_H over b_T."""

    element_wise = ("x", "H", "q", "u", "scratch", "dz_T")

    def _make_kept(self, work, arrays, shape):
        super()._make_kept(work, arrays, shape)
        arrays.dz_T = work.scratch("dz_T", arrays.scratch.shape)

    def _keep(self, views, rows, z):
        super()._keep(views, rows, z)
        _, z_T = self._halves(z)
        inverse_gate(z_T, views.q[rows])

    def _combine(self, views, rows):
        H = views.H[rows]
        highway(H, views.x[rows], views.q[rows], views.scratch[: len(H)], views.y[rows])

    def _H_to_s(self, views, rows, dy):
        """Here s is dz_H.  Overwrites q with dz_T, which _backward_rows() reads."""
        H = views.H[rows]
        q = views.q[rows]
        dz_H = H
        dz_T = views.dz_T[: len(dy)]
        dH = views.scratch[: len(dy)]
        highway_backward(dy, views.x[rows], H, q, dH, dz_H, dz_T)
        q[...] = dz_T

    def _backward_rows(self, views, rows, dy, dz):
        super()._backward_rows(views, rows, dy, dz)
        _, dz_T = self._halves(dz)
        dz_T[...] = views.q[rows]


ALL_BUT_MAPS = (0, 1, 3, 4)  # axes of (rows, phases, maps, tiles, n)


def of_maps(numbers: np.ndarray) -> np.ndarray:
    """(maps,) -> (maps, 1, 1), which broadcasts over (rows, phases, maps, tiles, n)."""
    return numbers[:, None, None]


def sum_of_products(x, y) -> np.ndarray:
    """The sum of x y in each map, (maps,); makes no array of the products."""
    return np.einsum("rpmtn,rpmtn->m", x, y)


def moments_of(v, centred) -> tuple:
    """(size, mean, squares) of the maps of v: how many numbers each of them has, their mean, (maps,),
    and the sum of the squares of their deviations from the mean, (maps,).

    `centred` is scratch of v's shape."""
    size = v.size // v.shape[2]
    mean = v.sum(axis=ALL_BUT_MAPS) / size
    subtract(v, of_maps(mean), centred)
    return size, mean, sum_of_products(centred, centred)


def combined(sizes, means, squares) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each map over all parts (Chan, Golub and LeVeque 1979).

    The arguments are the results of moments_of() for the parts, (parts,), (parts, maps) and
    (parts, maps)."""
    size = sizes.sum()
    shares = (sizes / size).astype(means.dtype)[:, None]
    mean = (shares * means).sum(axis=0)
    between = (shares * (means - mean) ** 2).sum(axis=0)
    within = squares.sum(axis=0) / means.dtype.type(size)
    return mean, between + within
