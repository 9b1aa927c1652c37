"""The headline's nets, written to be read: batch first, an equation a line; docs/how_it_works.md walks through it."""

import os
import sys

if __name__ == "__main__":  # with python -I, or PYTHONSAFEPATH, this folder is not searched
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np

from highway_networks import load_mnist


def make_layers(rng, d_in, d_out, hidden, depth, block):
    """One dict of parameters a layer: a plain one, `depth` blocks, the affine map to the logits."""
    shapes = [(hidden, d_in), *[(hidden, hidden)] * depth * (2 if block == "highway" else 1), (d_out, hidden)]
    *W, W_out = (rng.uniform(-1 / np.sqrt(n), 1 / np.sqrt(n), (m, n)) for m, n in shapes)
    gates = [{"W_T": W_T, "b_T": np.full(hidden, -2.0)} for W_T in W[depth + 1 :]] or [{}] * depth  # T is about 0.12
    layers = [{"W_H": W_H, "b_H": np.zeros(hidden)} | gate for W_H, gate in zip(W, [{}, *gates], strict=False)]
    return [*layers, {"W": W_out, "b": np.zeros(d_out)}]


def forward(layers, x):
    """x (N, d_in) -> logits (N, d_out), and what backward() needs: each hidden layer's (x, H, T), the last one's x."""
    (*hidden, last), kept = layers, []
    for p in hidden:
        H = np.tanh(x @ p["W_H"].T + p["b_H"])  # block transform
        T = 1 / (1 + np.exp(-(x @ p["W_T"].T + p["b_T"]))) if "W_T" in p else None  # transform gate
        kept.append((x, H, T))
        x = H if T is None else H * T + x * (1 - T)  # eq. 1, eq. 3
    return x @ last["W"].T + last["b"], (kept, x)


def backward(layers, kept, d_logits):
    """dL/dlogits (N, d_out) -> dL/dparameters, as `layers`: the chain rule, from the last layer to the first."""
    (first, *_, last), (kept, x) = layers, kept
    gradient, dy = [{"W": d_logits.T @ x, "b": d_logits.sum(axis=0)}], d_logits @ last["W"]
    for p, (x, H, T) in zip(layers[-2::-1], kept[::-1], strict=True):
        dz_H = (dy if T is None else T * dy) * (1 - H**2)  # dH = T dy, tanh' = 1 - tanh^2
        gradient.insert(0, {"W_H": dz_H.T @ x, "b_H": dz_H.sum(axis=0)})
        dx = dz_H @ p["W_H"] if p is not first else None  # nobody asks for the gradient of an image
        if T is not None:
            dz_T = (H - x) * dy * T * (1 - T)  # dT = (H - x) dy, sigmoid' = T (1 - T)
            gradient[0] |= {"W_T": dz_T.T @ x, "b_T": dz_T.sum(axis=0)}
            dx += (1 - T) * dy + dz_T @ p["W_T"]  # eq. 9: what is carried, what comes back through H, through T
        dy = dx
    return gradient


def softmax_cross_entropy(logits, y):
    """logits (N, classes), labels y (N,) -> the mean of -log softmax(logits)[y], and dL/dlogits."""
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p, one_hot = p / p.sum(axis=1, keepdims=True), np.eye(p.shape[1])[y]
    return -np.log((p * one_hot).sum(axis=1)).mean(), (p - one_hot) / len(y)


def adam_step(layers, gradient, moments, t, lr=5e-3, clip=5.0, beta1=0.9, beta2=0.999, eps=1e-8):
    """Step t = 1, 2, ...: clips the gradient to a global L2 norm, then updates moments and parameters in place."""
    scale = min(1, clip / np.sqrt(sum((g**2).sum() for layer in gradient for g in layer.values())))
    for layer, grad, m, v in zip(layers, gradient, *moments, strict=True):
        for k, g in grad.items():
            m[k] = beta1 * m[k] + (1 - beta1) * scale * g
            v[k] = beta2 * v[k] + (1 - beta2) * (scale * g) ** 2
            layer[k] -= lr * m[k] / (1 - beta1**t) / (np.sqrt(v[k] / (1 - beta2**t)) + eps)


def train(block, depth=30, epochs=12, batch=128):
    """The headline's training of one net, seed 0: 6000 images of MNIST, tested on 2000 after each epoch."""
    rng, (x, y, x_test, y_test, *_) = np.random.default_rng(0), load_mnist()
    rows, test_rows, t = rng.permutation(60000)[:6000], rng.permutation(10000)[:2000], 0
    x, y, x_test, y_test = x[rows] / 127.5 - 1, y[rows], x_test[test_rows] / 127.5 - 1, y_test[test_rows]
    layers, shuffle = make_layers(np.random.default_rng(0), 784, 10, 50, depth, block), np.random.default_rng([0, 1])
    moments = [[{name: np.zeros_like(p) for name, p in layer.items()} for layer in layers] for _ in range(2)]
    for epoch in range(1, epochs + 1):
        for rows in shuffle.permutation(6000)[: 6000 // batch * batch].reshape(-1, batch):
            logits, kept = forward(layers, x[rows])
            loss, d_logits = softmax_cross_entropy(logits, y[rows])
            t += 1
            adam_step(layers, backward(layers, kept, d_logits), moments, t)
        right = forward(layers, x_test)[0].argmax(axis=1) == y_test
        print(f"{block}, depth {depth}, epoch {epoch}: loss {loss:.3f} at last, test accuracy {right.mean():.3f}")


if __name__ == "__main__":
    for block in ("highway", "plain"):
        train(block)
