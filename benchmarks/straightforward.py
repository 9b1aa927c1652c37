"""The program that one writes first: float64, a dict of parameters a layer, lists of caches, one process.

    python -m benchmarks.straightforward --depths 30        the work of the headline command
    python -m benchmarks.straightforward --depths 5,10,20,30,50       the sweep's

Only NumPy and the standard library: what `benchmarks.commands` and `benchmarks.step` compare this project with.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data" / "mnist"
CLIP, LR, BETA1, BETA2, EPS = 5.0, 5e-3, 0.9, 0.999, 1e-8


def uniform(rng, *shape):
    bound = 1 / np.sqrt(shape[-1])
    return rng.uniform(-bound, bound, shape)


def make_layers(rng, d_in, d_out, hidden, depth, block):
    layers = [{"W": uniform(rng, hidden, d_in), "b": np.zeros(hidden)}]
    layers += [{"W": uniform(rng, hidden, hidden), "b": np.zeros(hidden)} for _ in range(depth)]
    if block == "highway":
        for layer in layers[1:]:
            layer |= {"W_T": uniform(rng, hidden, hidden), "b_T": np.full(hidden, -2.0)}
    return [*layers, {"W": uniform(rng, d_out, hidden), "b": np.zeros(d_out)}]


class Net:
    def __init__(self, layers):
        self.layers = layers
        self.m, self.v = ([{k: np.zeros_like(p) for k, p in layer.items()} for layer in layers] for _ in range(2))
        self.t = 0

    def forward(self, x):
        """Logits, and for each layer what its backward pass needs: (x, H, T)."""
        first, *hidden, last = self.layers
        caches = [x]
        x = np.tanh(x @ first["W"].T + first["b"])
        for layer in hidden:
            H, T = np.tanh(x @ layer["W"].T + layer["b"]), None
            if "W_T" in layer:
                T = 1 / (1 + np.exp(-(x @ layer["W_T"].T + layer["b_T"])))
            caches.append((x, H, T))
            x = H if T is None else H * T + x * (1 - T)
        return x @ last["W"].T + last["b"], [*caches, x]

    def gradients(self, x, y):
        logits, (x_0, *caches, x) = self.forward(x)
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        rows, right = np.arange(len(y)), (logits.argmax(axis=1) == y).mean()
        loss = -np.mean(np.log(p[rows, y] + 1e-12))
        p[rows, y] -= 1
        d = p / len(y)
        grads = [{"W": d.T @ x, "b": d.sum(axis=0)}]
        d = d @ self.layers[-1]["W"]
        for layer, (x, H, T) in zip(self.layers[-2:0:-1], reversed(caches), strict=True):
            if T is None:
                dz = d * (1 - H**2)
                grads.append({"W": dz.T @ x, "b": dz.sum(axis=0)})
                d = dz @ layer["W"]
            else:
                dz, dz_T = d * T * (1 - H**2), d * (H - x) * T * (1 - T)
                grads.append({"W": dz.T @ x, "b": dz.sum(axis=0), "W_T": dz_T.T @ x, "b_T": dz_T.sum(axis=0)})
                d = d * (1 - T) + dz @ layer["W"] + dz_T @ layer["W_T"]
        d = d * (1 - x**2)  # x is now what the first layer gave
        grads.append({"W": d.T @ x_0, "b": d.sum(axis=0)})
        return loss, right, grads[::-1]

    def step(self, x, y):
        loss, right, grads = self.gradients(x, y)
        norm = np.sqrt(sum((g**2).sum() for layer in grads for g in layer.values()))
        scale, self.t = min(1.0, CLIP / norm), self.t + 1
        for layer, grad, m, v in zip(self.layers, grads, self.m, self.v, strict=True):
            for k in layer:
                g = grad[k] * scale
                m[k] = BETA1 * m[k] + (1 - BETA1) * g
                v[k] = BETA2 * v[k] + (1 - BETA2) * g**2
                m_hat, v_hat = m[k] / (1 - BETA1**self.t), v[k] / (1 - BETA2**self.t)
                layer[k] = layer[k] - LR * m_hat / (np.sqrt(v_hat) + EPS)
        return loss, right, norm


def load(name, header):
    return np.frombuffer(gzip.decompress((DATA / f"{name}-ubyte.gz").read_bytes()), np.uint8, offset=header)


def mean_gates(net, x):
    return [T.mean() for _, _, T in net.forward(x)[1][1:-1] if T is not None]


def train(block, depth, data, seed=0, epochs=12, batch=128):
    x_train, y_train, x_test, y_test = data
    net = Net(make_layers(np.random.default_rng(seed), 784, 10, 50, depth, block))
    shuffle, history, gates = np.random.default_rng([seed, 1]), [], []
    for epoch in range(1, epochs + 1):
        order = shuffle.permutation(len(x_train))
        rows = [order[i : i + batch] for i in range(0, len(order) - batch + 1, batch)]
        steps = [net.step(x_train[row], y_train[row]) for row in rows]
        test = (net.forward(x_test)[0].argmax(axis=1) == y_test).mean()
        history.append([epoch, *np.mean(steps, axis=0), test])
        gates.append(mean_gates(net, x_test[:256]))
        print(block, depth, history[-1], flush=True)
    return {"history": history, "gates": gates, "final_gates": mean_gates(net, x_test[:1000])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--depths", default="30")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    x_train, x_test = (load(f"{name}-images-idx3", 16).reshape(-1, 784) for name in ("train", "t10k"))
    y_train, y_test = (load(f"{name}-labels-idx1", 8) for name in ("train", "t10k"))
    rng = np.random.default_rng(0)
    train_rows, test_rows = rng.permutation(60000)[:6000], rng.permutation(10000)[:2000]
    x_train, x_test = x_train[train_rows] / 255 * 2 - 1, x_test[test_rows] / 255 * 2 - 1
    data = x_train, y_train[train_rows], x_test, y_test[test_rows]
    runs = {
        f"{block} {depth}": train(block, int(depth), data)
        for depth in args.depths.split(",")
        for block in ("highway", "plain")
    }
    Path(args.out).write_text(json.dumps(runs, indent=2))


if __name__ == "__main__":
    main()
