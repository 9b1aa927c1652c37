"""A highway layer with batch normalisation of H (Ioffe and Szegedy 2015), as the encyclopedia article has it:

    y = H T + x (1 - T),    H = max(0, gamma u + b_H),    u = (v - mean) / deviation,    v = W_H * x

Each map of v has its mean and deviation, over the batch and all pixels; T is as ever.  In training they are the batch's
own; for evaluation they are running ones, to which every forward() moves on by a tenth of the way.

The way back.  Let s = dL/d(gamma u + b_H), <.> the mean over the batch and all pixels:

    db_H = sum s,    dgamma = sum u s,    dv = gamma / deviation (s - <s> - u <u s>)

because one v moves the mean and the deviation, and through them every u of its map.  So the sums come first, over the
whole batch, and only then the products that the gradients of W and x are made of.
"""

from __future__ import annotations

import numpy as np
from numpy import add, multiply, subtract

from conv.layers import KINDS, Highway, in_phases

EPSILON, PACE = 1e-5, 0.1


class NormalisedHighway(Highway):
    """W holds W_H over W_T, b holds b_H over b_T; gamma (maps,).  The running `mean` and `variance`, (maps,), are no
    parameters."""

    def __init__(self, in_shape, k, **how):
        super().__init__(in_shape, k, **how)
        maps = self.out_shape[:1]
        self.shapes = {**self.shapes, "gamma": maps}
        self.statistics = {"mean": maps, "variance": maps}

    def draw(self, rng, init, gate_bias):
        super().draw(rng, init, gate_bias)
        self.gamma[:] = self.variance[:] = 1

    def _make_kept(self, work, a, shape):
        super()._make_kept(work, a, shape)
        a.u, a.dz_T = work.new("u", shape), work.scratch("dz_T", a.t.shape)

    def _weights(self):
        W, b = super()._weights()
        b[: self.out_shape[0]] = 0  # b_H comes after the normalisation
        return W, b

    def forward(self, a, y, prepare_next):
        a.e = e = self._views(a, y)
        maps, a.parts = self.out_shape[0], []
        for rows, z in self.product.forward(a, *self._weights()):
            z = in_phases(z, e.phases)
            e.u[rows] = z[:, :, :maps]  # v
            self._open(z[:, :, maps:], e.q[rows])
            a.parts.append(rows)
        mean, e.deviation = self._moments(e.u, a.training)
        for rows in a.parts:
            u, H = e.u[rows], e.H[rows]
            subtract(u, of_maps(mean), u)
            multiply(u, of_maps(1 / e.deviation), u)
            multiply(u, of_maps(self.gamma), H)
            add(H, of_maps(self.b[:maps]), H)
            self._combine(e, rows, H, e.y[rows])
            prepare_next(rows)

    def _moments(self, v, training: bool):
        """Mean and deviation of each map: the batch's own, with which the running ones move on, or those."""
        mean, variance = self.mean, self.variance
        if training:
            mean = v.mean(axis=ALL_BUT_MAPS)
            variance = np.square(v - of_maps(mean)).mean(axis=ALL_BUT_MAPS)
            self.mean += PACE * (mean - self.mean)
            self.variance += PACE * (variance - self.variance)
        return mean, np.sqrt(variance + EPSILON)

    def backward(self, a, dy, needs_dx):
        e, maps = a.e, self.out_shape[0]
        dy_of_e, n = in_phases(dy, e.phases), e.u.size // maps
        sums = np.zeros((2, maps), e.u.dtype)
        for rows in a.parts:
            s, dz_T = e.H[rows], e.dz_T[: rows.stop - rows.start]
            self._gradients(e, rows, dy_of_e[rows], s, dz_T)
            e.q[rows] = dz_T
            sums += s.sum(axis=ALL_BUT_MAPS), (e.u[rows] * s).sum(axis=ALL_BUT_MAPS)
        e.mean_s, e.mean_us, e.slope = *(sums / n), self.gamma / e.deviation
        dx = super().backward(a, dy, needs_dx)
        self.grad.b[:maps], self.grad.gamma[:] = sums
        return dx

    def _elementwise_backward(self, e, rows, dy, dz):
        """From s and dz_T, which backward() has left in H and q."""
        maps, u, dv = self.out_shape[0], e.u[rows], dz[:, :, : self.out_shape[0]]
        multiply(u, of_maps(e.mean_us), u)
        subtract(e.H[rows], u, dv)
        subtract(dv, of_maps(e.mean_s), dv)
        multiply(dv, of_maps(e.slope), dv)
        dz[:, :, maps:] = e.q[rows]


ALL_BUT_MAPS = (0, 1, 3, 4)  # of (rows, phases, maps, tiles, n)


def of_maps(numbers: np.ndarray) -> np.ndarray:
    return numbers[:, None, None]


KINDS["highway-bn"] = NormalisedHighway
