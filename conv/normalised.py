"""Layers with batch normalisation of H (Ioffe and Szegedy 2015), a convolution and, as the encyclopedia article has it,
a highway layer:

    H = max(0, gamma u + b_H),    u = (v - mean) / deviation,    v = W_H * x;    y = H,  or  y = H T + x (1 - T)

Each map of v has its mean and deviation, over the batch and all pixels; T is as ever.  In training they are the batch's
own; for evaluation they are running ones, to which every forward() moves on by a tenth of the way.

The way back.  Let s = dL/d(gamma u + b_H), <.> the mean over the batch and all pixels:

    db_H = sum s,    dgamma = sum u s,    dv = gamma / deviation (s - <s> - u <u s>)

because one v moves the mean and the deviation, and through them every u of its map.  So the sums come first, over the
whole batch, and only then the products that the gradients of W and x are made of.
"""

from __future__ import annotations

import numpy as np
from numpy import add, greater, multiply, subtract

from conv.convolution import Convolution, Highway
from conv.layer import in_phases

EPSILON, PACE = 1e-5, 0.1


class Normalised:
    """Mixed into a kind of convolution, named before it: adds the parameter gamma, (maps,), and the running `mean` and
    `variance`, (maps,), not trained.  A subclass says with _to_s() how H, in e.H, becomes s on the way back."""

    def __init__(self, in_shape, k, *settings, **how):
        super().__init__(in_shape, k, *settings, **how)
        maps = self.out_shape[:1]
        self.shapes = {**self.shapes, "gamma": maps}
        self.statistics = {"mean": maps, "variance": maps}

    def draw(self, rng, init, gate_bias):
        super().draw(rng, init, gate_bias)
        self.gamma[:] = self.variance[:] = 1

    def _make_kept(self, work, a, shape):
        super()._make_kept(work, a, shape)
        a.u = work.new("u", shape)

    def _weights(self):
        W, b = super()._weights()
        b = b.copy()
        b[: self.out_shape[0]] = 0  # b_H comes after the normalisation
        return W, b

    def forward(self, a, y, prepare_next):
        a.e = e = self._views(a, y)
        maps, a.parts, moments = self.out_shape[0], [], []
        for rows, z in self.product.forward(a, *self._weights()):
            z = in_phases(z, e.phases)
            self._keep(e, rows, z)
            a.parts.append(rows)
            if a.training:
                moments.append(moments_of(z[:, :, :maps], e.t[: len(z)]))
        mean, variance = self.mean, self.variance
        if a.training:
            mean, variance = together(moments)
            a.running_mean = self.mean + PACE * (mean - self.mean)
            a.running_variance = self.variance + PACE * (variance - self.variance)
            if not (np.isfinite(a.running_mean).all() and np.isfinite(a.running_variance).all()):
                raise FloatingPointError("the batch's mean or variance is not finite")
        e.deviation = np.sqrt(variance + EPSILON)
        for rows in a.parts:
            u, H = e.u[rows], e.H[rows]
            subtract(u, of_maps(mean), u)
            multiply(u, of_maps(1 / e.deviation), u)
            multiply(u, of_maps(self.gamma), H)
            add(H, of_maps(self.b[:maps]), H)
            self._elementwise(e, rows, H, e.y[rows])
            prepare_next(rows)

    def keep_statistics(self, a):
        self.mean[:] = a.running_mean
        self.variance[:] = a.running_variance

    def _keep(self, e, rows, z):
        e.u[rows] = z[:, :, : self.out_shape[0]]  # v

    def backward(self, a, dy, needs_dx):
        e, maps = a.e, self.out_shape[0]
        dy_of_e, n = in_phases(dy, e.phases), e.u.size // maps
        sums = np.zeros((2, maps), e.u.dtype)
        for rows in a.parts:
            s = e.H[rows]
            self._to_s(e, rows, dy_of_e[rows], s)
            sums += s.sum(axis=ALL_BUT_MAPS), sum_of_products(e.u[rows], s)
        e.mean_s, e.mean_us, e.slope = *(sums / n), self.gamma / e.deviation
        dx = super().backward(a, dy, needs_dx)
        self.grad.b[:maps], self.grad.gamma[:] = sums
        return dx

    def _elementwise_backward(self, e, rows, dy, dz):
        """From s, which backward() has left in H."""
        u, dv = e.u[rows], dz[:, :, : self.out_shape[0]]
        multiply(u, of_maps(e.mean_us), u)
        subtract(e.H[rows], u, dv)
        subtract(dv, of_maps(e.mean_s), dv)
        multiply(dv, of_maps(e.slope), dv)


class NormalisedConvolution(Normalised, Convolution):
    """y = H."""

    def _views(self, a, y):
        e = super()._views(a, y)
        e.H = e.y
        return e

    def _to_s(self, e, rows, dy, s):
        greater(s, 0, s)
        multiply(s, dy, s)


class NormalisedHighway(Normalised, Highway):
    """W holds W_H over W_T, b holds b_H over b_T."""

    def _make_kept(self, work, a, shape):
        super()._make_kept(work, a, shape)
        a.dz_T = work.scratch("dz_T", a.t.shape)

    def _keep(self, e, rows, z):
        super()._keep(e, rows, z)
        self._open(z[:, :, self.out_shape[0] :], e.q[rows])

    def _elementwise(self, e, rows, z_H, y):
        self._combine(e, rows, z_H, y)

    def _to_s(self, e, rows, dy, s):
        """Also writes dz_T to q."""
        dz_T = e.dz_T[: len(dy)]
        self._gradients(e, rows, dy, s, dz_T)
        e.q[rows] = dz_T

    def _elementwise_backward(self, e, rows, dy, dz):
        super()._elementwise_backward(e, rows, dy, dz)
        dz[:, :, self.out_shape[0] :] = e.q[rows]


ALL_BUT_MAPS = (0, 1, 3, 4)  # of (rows, phases, maps, tiles, n)


def of_maps(numbers: np.ndarray) -> np.ndarray:
    return numbers[:, None, None]


def sum_of_products(x, y):
    """Of each map, without an array of the products."""
    return np.einsum("rpmtn,rpmtn->m", x, y)


def moments_of(v, centred) -> tuple:
    """How many numbers each map of v has, their mean, and the sum of squares around it, (maps,); `centred` is scratch
    of v's shape."""
    n = v.size // v.shape[2]
    mean = v.sum(axis=ALL_BUT_MAPS) / n
    subtract(v, of_maps(mean), centred)
    return n, mean, sum_of_products(centred, centred)


def together(moments: list[tuple]) -> tuple:
    """Mean and variance of each map over all parts (Chan, Golub and LeVeque 1979)."""
    numbers, means, squares = map(np.array, zip(*moments, strict=True))
    shares = (numbers / numbers.sum()).astype(means.dtype)[:, None]
    mean = (shares * means).sum(axis=0)
    return mean, (shares * (means - mean) ** 2).sum(axis=0) + squares.sum(axis=0) / means.dtype.type(numbers.sum())
