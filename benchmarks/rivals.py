"""The training step in several ways: ours, JAX, PyTorch compiled and eager, and a straightforward NumPy program; and
the step's matrix products alone, which no program can go below.

Each rival is made from one of our nets, so that all start from the same weights, and has

    loss_and_gradient(x, y)      the loss, and the gradient in our flat layout: for the check that all compute the same
    step(batch)                  gather the batch's rows, forward, loss, backward, clip, Adam
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
import straightforward
from benchmarks.report import checked

CLIP, LR, BETA1, BETA2, EPS = 5.0, 5e-3, 0.9, 0.999, 1e-8


def flat(net, named):
    """Arrays by our names -> one vector in the layout of net.parameters."""
    copy = hn.DeepNet(net.d_in, net.d_out, net.hidden, net.depth, net.block, np.random.default_rng(0), dtype=np.float64)
    for name, value in named.items():
        getattr(copy, name)[...] = value
    return copy.parameters


class Ours:
    name = "this project"

    def __init__(self, net, x, y):
        self.net, self.x, self.y = net, x, y
        self.optimizer = hn.Adam(net.parameters, LR, CLIP)

    def loss_and_gradient(self, x, y):
        loss, d_logits = hn.softmax_cross_entropy(self.net.forward(x), y)
        return float(loss), self.net.backward(d_logits)

    def step(self, batch):
        _, d_logits = hn.softmax_cross_entropy(self.net.forward(self.x.take(batch, axis=0)), self.y[batch])
        self.optimizer.step(self.net.backward(d_logits))

    def predict(self, x):
        return self.net.predict(x)


def as_straightforward(net, owner) -> straightforward.Net:
    """A DeepNet's parameters (owner=net), or their gradient (owner=net.grad), as straightforward.py has them: copies,
    in float64."""
    names = ["W_H", "b_H"]
    if net.block.gates:
        names += ["W_T", "b_T"]

    def layer(**arrays):
        return straightforward.Layer(**{name: np.array(array, np.float64) for name, array in arrays.items()})

    first = layer(W_H=owner.W_in, b_H=owner.b_in)
    blocks = [layer(**{name: getattr(owner, name)[i] for name in names}) for i in range(net.depth)]
    last = layer(W=owner.W_out, b=owner.b_out)
    return straightforward.Net(net.block.name, first, blocks, last)


class Straightforward:
    name = "straightforward NumPy"

    def __init__(self, net, x, y):
        self.net = net
        self.x = x.astype(np.float64)
        self.y = y
        self.its_net = as_straightforward(net, net)
        self.optimizer = straightforward.Adam(self.its_net, LR, CLIP, BETA1, BETA2, EPS)

    def _loss_and_gradient(self, x, y):
        logits, kept = straightforward.forward(self.its_net, x)
        loss, d_logits = straightforward.softmax_cross_entropy(logits, y)
        return loss, straightforward.backward(self.its_net, kept, d_logits)

    def loss_and_gradient(self, x, y):
        loss, gradient = self._loss_and_gradient(x.astype(np.float64), y)
        named = {"W_in": gradient.first.W_H, "b_in": gradient.first.b_H}
        named |= {"W_out": gradient.last.W, "b_out": gradient.last.b}
        for name in vars(gradient.blocks[0]):
            named[name] = np.array([getattr(layer, name) for layer in gradient.blocks])
        return loss, flat(self.net, named)

    def step(self, batch):
        _, gradient = self._loss_and_gradient(self.x[batch], self.y[batch])
        self.optimizer.step(gradient)


class Jax:
    """jit of the whole step, a scan over the layers, buffers donated; H and T in one product."""

    name = "JAX jit + scan"

    def __init__(self, net, x, y):
        import jax
        import jax.numpy as jnp

        self.net, gated, h = net, net.block.gates > 0, net.hidden
        self.p = {name: jnp.array(getattr(net, name)) for name in ("W_in", "b_in", "W_out", "b_out")}
        self.p |= {"W": jnp.array(net._blocks[:, :, :-1]), "b": jnp.array(net._blocks[:, :, -1])}
        self.m, self.v = (jax.tree.map(jnp.zeros_like, self.p) for _ in range(2))
        self.t, self.x, self.y = jnp.zeros(()), jnp.array(x), jnp.array(y)

        def forward(p, x):
            def block(x, Wb):
                z = x @ Wb[0].T + Wb[1]
                H = jnp.tanh(z[:, :h])
                T = jax.nn.sigmoid(z[:, h:]) if gated else None
                return (H * T + x * (1 - T) if gated else H), None

            x, _ = jax.lax.scan(block, jnp.tanh(x @ p["W_in"].T + p["b_in"]), (p["W"], p["b"]))
            return x @ p["W_out"].T + p["b_out"]

        def loss(p, x, y):
            return -jnp.take_along_axis(jax.nn.log_softmax(forward(p, x)), y[:, None], axis=1).mean()

        def step(p, m, v, t, x, y, batch):
            g = jax.grad(loss)(p, x[batch], y[batch])
            norm = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)))
            g = jax.tree.map(lambda a: a * jnp.minimum(1, CLIP / norm), g)
            t = t + 1
            m = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, m, g)
            v = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, v, g)
            rate, root = LR / (1 - BETA1**t), 1 / jnp.sqrt(1 - BETA2**t)
            return jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) * root + EPS), p, m, v), m, v, t

        self.value_and_grad, self._step = jax.jit(jax.value_and_grad(loss)), jax.jit(step, donate_argnums=(0, 1, 2))
        self.block_until_ready = jax.block_until_ready

    def loss_and_gradient(self, x, y):
        loss, g = self.value_and_grad(self.p, x, y)
        g = {name: np.asarray(value) for name, value in g.items()}
        h, W, b = self.net.hidden, g.pop("W"), g.pop("b")
        g |= {"W_H": W[:, :h], "b_H": b[:, :h]} | ({"W_T": W[:, h:], "b_T": b[:, h:]} if W.shape[1] > h else {})
        return float(loss), flat(self.net, g)

    def step(self, batch):
        self.p, self.m, self.v, self.t = self._step(self.p, self.m, self.v, self.t, self.x, self.y, batch)
        self.block_until_ready(self.t)


class Torch:
    """PyTorch as it comes: H and T in one product, clip_grad_norm_, torch.optim.Adam."""

    name, compiled, fused = "PyTorch eager", False, None

    def __init__(self, net, x, y):
        import torch

        self.torch, self.net, self.h = torch, net, net.hidden
        self.p = {name: torch.tensor(getattr(net, name).copy()) for name in ("W_in", "b_in", "W_out", "b_out")}
        for i in range(net.depth):
            self.p |= {f"W{i}": torch.tensor(net._blocks[i, :, :-1].copy())}
            self.p |= {f"b{i}": torch.tensor(net._blocks[i, :, -1].copy())}
        for p in self.p.values():
            p.requires_grad_()
        self.optimizer = torch.optim.Adam(self.p.values(), lr=LR, eps=EPS, fused=self.fused)
        self.x, self.y = torch.tensor(x), torch.tensor(y)
        self.loss = torch.compile(self._loss) if self.compiled else self._loss

    def forward(self, x):
        F, p = self.torch.nn.functional, self.p
        x = self.torch.tanh(F.linear(x, p["W_in"], p["b_in"]))
        for i in range(self.net.depth):
            z = F.linear(x, p[f"W{i}"], p[f"b{i}"])
            if self.net.block.gates:
                H, T = self.torch.tanh(z[:, : self.h]), self.torch.sigmoid(z[:, self.h :])
                x = H * T + x * (1 - T)
            else:
                x = self.torch.tanh(z)
        return F.linear(x, p["W_out"], p["b_out"])

    def _loss(self, x, y):
        return self.torch.nn.functional.cross_entropy(self.forward(x), y)

    def loss_and_gradient(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss(self.torch.tensor(x), self.torch.tensor(y))
        loss.backward()
        g, h = {name: p.grad.numpy().copy() for name, p in self.p.items()}, self.h
        named = {name: g[name] for name in ("W_in", "b_in", "W_out", "b_out")}
        W, b = (np.array([g[f"{k}{i}"] for i in range(self.net.depth)]) for k in "Wb")
        named |= {"W_H": W[:, :h], "b_H": b[:, :h]} | ({"W_T": W[:, h:], "b_T": b[:, h:]} if W.shape[1] > h else {})
        return loss.item(), flat(self.net, named)

    def step(self, batch):
        batch = self.torch.from_numpy(batch)
        self.optimizer.zero_grad()
        self.loss(self.x[batch], self.y[batch]).backward()
        self.torch.nn.utils.clip_grad_norm_(self.p.values(), CLIP)
        self.optimizer.step()

    def predict(self, x):
        with self.torch.inference_mode():
            return self.forward(self.torch.from_numpy(x)).numpy()


class TorchFused(Torch):
    name, fused = "PyTorch eager, fused Adam", True


class TorchCompiled(TorchFused):
    name, compiled = "torch.compile, fused Adam", True


class MatrixProducts:
    """Nothing but the step's products, each layer's on arrays of its own, in the operand order that is fastest here."""

    name = "matrix products alone"

    def __init__(self, net, x, y):
        self.net, self.made_for = net, None

    def make(self, n):
        rng, net = np.random.default_rng(0), self.net
        h, rows = net.hidden, net._blocks.shape[1]

        def array(*shape):
            return rng.standard_normal(shape, dtype=np.float32)

        self.x, self.W_in, self.z_in, self.dz_in = array(n, net.d_in), array(net.d_in, h), array(n, h), array(h, n)
        self.dW_in, self.W_out, self.d_logits = array(h, net.d_in), array(net.d_out, h + 1), array(net.d_out, n)
        sizes = (rows, h + 1), (h + 1, n), (rows, n), (h, rows), (h, n), (n, h + 1), (rows, h + 1)
        self.layers = [[array(*size) for size in sizes] for _ in range(net.depth)]
        self.made_for = n

    def step(self, batch):
        if self.made_for != len(batch):
            self.make(len(batch))
        np.dot(self.x, self.W_in, self.z_in)
        for W, x_1, z, *_ in self.layers:
            np.dot(W, x_1, z)
        np.dot(self.W_out, x_1)
        x_T = self.layers[-1][5]
        np.dot(self.d_logits, x_T)
        np.dot(self.W_out.T, self.d_logits)
        for _, _, dz, W_T, dx, x_T, dW in reversed(self.layers):
            np.dot(W_T, dz, dx)
            np.dot(dz, x_T, dW)
        np.dot(self.dz_in, self.x, self.dW_in)


ALL = (Ours, Jax, TorchCompiled, TorchFused, Torch, Straightforward, MatrixProducts)


def make(net_arguments, x, y, kinds=ALL):
    def of_kind(kind):
        return kind(hn.DeepNet(*net_arguments, np.random.default_rng(0)), x, y)

    return checked(kinds, of_kind, 1e-4, x[:64], y[:64])
