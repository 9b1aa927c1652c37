"""A net whose state is several streams, which its blocks mix, read and write."""

from __future__ import annotations

import numpy as np

import highway_networks as hn

STREAMS = 4
STIRRED = 0.5  # how far convex streams go towards their mean in a block


class StreamNet:
    """A plain layer d_in -> hidden, `depth` blocks on STREAMS streams, a linear map to d_out logits.

    The first layer's output is copied to all streams.  Block l reads their mean x and writes to one
    stream, that of number k = l mod STREAMS.  With s_k the stream k after mixing,

        convex      all streams move by STIRRED towards their mean;  s_k becomes T H + (1 - T) s_k
        identity    streams are not mixed;                           s_k becomes T H + s_k

    H and T are those of a highway block with the input x.  The output layer reads the mean of the
    streams.  All parameters are those of a highway net, and lie as there."""

    def __init__(self, d_in, d_out, hidden, depth, rng, mixing, **settings):
        self.inner = hn.DeepNet(d_in, d_out, hidden, depth, "highway", rng, **settings)
        self.mixing = mixing
        self.dtype = self.inner.dtype
        self.parameters = self.inner.parameters
        self.gradient = self.inner.gradient

    def mixed(self, X: np.ndarray) -> np.ndarray:
        """The streams X (STREAMS, N, hidden) after mixing, in new memory.  Mixing is its own transpose."""
        if self.mixing == "identity":
            return X.copy()
        return (1 - STIRRED) * X + STIRRED * X.mean(axis=0)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """x (N, d_in) -> the logits (N, d_out)."""
        net = self.inner
        activation = net.activation
        state = np.asarray(x, self.dtype) @ net.W_in.T + net.b_in
        H = np.empty_like(state)
        activation.value(state, H)
        self.x = x
        self.first = H
        self.blocks = []
        X = np.repeat(H[None], STREAMS, axis=0)
        for layer in range(net.depth):
            k = layer % STREAMS
            read = X.mean(axis=0)  # (N, hidden)
            z = read @ net.W_H[layer].T + net.b_H[layer]
            H = np.empty_like(z)
            activation.value(z, H)
            with np.errstate(over="ignore"):
                T = 1 / (1 + np.exp(-(read @ net.W_T[layer].T + net.b_T[layer])))
            X = self.mixed(X)
            written = X[k].copy()
            X[k] = T * H + self.carry(T) * written
            self.blocks.append((read, z, H, T, written))
        self.last = X.mean(axis=0)
        return self.last @ net.W_out.T + net.b_out

    predict = forward

    def carry(self, T: np.ndarray):
        return 1 if self.mixing == "identity" else 1 - T

    def backward(self, d_logits: np.ndarray, norms: np.ndarray | None = None) -> np.ndarray:
        """dL/dlogits (N, d_out) of the last forward() -> dL/dparameters.

        `norms` (depth,), if given, receives |dL/dX| after each block."""
        net = self.inner
        grad = net.grad
        slope = np.empty_like(self.first)
        grad.W_out[...] = d_logits.T @ self.last
        grad.b_out[...] = d_logits.sum(axis=0)
        dX = np.repeat((d_logits @ net.W_out / STREAMS)[None], STREAMS, axis=0)
        for layer in reversed(range(net.depth)):
            if norms is not None:
                norms[layer] = hn.norm_of(dX.ravel())
            k = layer % STREAMS
            read, z, H, T, written = self.blocks[layer]
            dy = dX[k].copy()
            dT = dy * (H if self.mixing == "identity" else H - written)
            dz_T = dT * T * (1 - T)
            net.activation.slope(z, H, slope)
            dz_H = dy * T * slope
            dX[k] = dy * self.carry(T)
            dX = self.mixed(dX)
            dX += (dz_H @ net.W_H[layer] + dz_T @ net.W_T[layer]) / STREAMS
            grad.W_H[layer] = dz_H.T @ read
            grad.b_H[layer] = dz_H.sum(axis=0)
            grad.W_T[layer] = dz_T.T @ read
            grad.b_T[layer] = dz_T.sum(axis=0)
        d_first = dX.sum(axis=0)
        net.activation.slope(self.first, self.first, slope)
        dz = d_first * slope
        grad.W_in[...] = dz.T @ self.x
        grad.b_in[...] = dz.sum(axis=0)
        return self.gradient
