"""The training step in several ways: ours, JAX, PyTorch compiled and eager, and a straightforward NumPy program; and
the step's matrix products alone, the lower limit of any program.

A rival is made from one of our nets, so that all start from the same weights, and has

    loss_and_gradient(x, y)      the loss, and the gradient in our flat layout, to check that all compute the same
    step(batch)                  gather the batch's rows, forward, loss, backward, clip, Adam
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import highway_networks as hn
import straightforward
from benchmarks.report import checked

CLIP = 5.0
LR = 5e-3
BETA1 = 0.9
BETA2 = 0.999
EPS = 1e-8


def flat(net, named):
    """Arrays by the names of the parameters -> one vector in the layout of net.parameters."""
    copy = hn.DeepNet(net.d_in, net.d_out, net.hidden, net.depth, net.block, np.random.default_rng(0), dtype=np.float64)
    for name, value in named.items():
        getattr(copy, name)[...] = value
    return copy.parameters


def by_our_names(net, ends: dict, W: np.ndarray, b: np.ndarray) -> dict:
    """Gradients of the first and last layer by name, W (depth, rows, hidden) and b (depth, rows)
    of the blocks, their rows H over T -> all by the names of the parameters."""
    h = net.hidden
    named = ends | {"W_H": W[:, :h], "b_H": b[:, :h]}
    if net.block.gates:
        named["W_T"] = W[:, h:]
        named["b_T"] = b[:, h:]
    return named


ENDS = ("W_in", "b_in", "W_out", "b_out")


class Ours:
    name = "this project"

    def __init__(self, net, x, y):
        self.net = net
        self.x = x
        self.y = y
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
    """A DeepNet's parameters (owner=net), or their gradient (owner=net.grad), as
    straightforward.py has them: copies, in float64."""
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

        self.jax = jax
        self.net = net
        self.parameters = {name: jnp.array(getattr(net, name)) for name in ENDS}
        self.parameters["W"] = jnp.array(net._blocks[:, :, :-1])
        self.parameters["b"] = jnp.array(net._blocks[:, :, -1])
        self.m = jax.tree.map(jnp.zeros_like, self.parameters)
        self.v = jax.tree.map(jnp.zeros_like, self.parameters)
        self.t = jnp.zeros(())
        self.x = jnp.array(x)
        self.y = jnp.array(y)
        self.value_and_grad = jax.jit(jax.value_and_grad(self.loss))
        self._step = jax.jit(self.updated, donate_argnums=(0, 1, 2))

    def forward(self, parameters, x):
        jax = self.jax
        jnp = jax.numpy
        h = self.net.hidden
        gated = self.net.block.gates > 0

        def block(x, W_and_b):
            W, b = W_and_b
            z = x @ W.T + b
            H = jnp.tanh(z[:, :h])
            if not gated:
                return H, None
            T = jax.nn.sigmoid(z[:, h:])
            return H * T + x * (1 - T), None

        first = jnp.tanh(x @ parameters["W_in"].T + parameters["b_in"])
        last, _ = jax.lax.scan(block, first, (parameters["W"], parameters["b"]))
        return last @ parameters["W_out"].T + parameters["b_out"]

    def loss(self, parameters, x, y):
        log_probabilities = self.jax.nn.log_softmax(self.forward(parameters, x))
        return -self.jax.numpy.take_along_axis(log_probabilities, y[:, None], axis=1).mean()

    def updated(self, parameters, m, v, t, x, y, batch):
        """Parameters, m, v and t after a step of clipped Adam."""
        jax = self.jax
        jnp = jax.numpy
        gradient = jax.grad(self.loss)(parameters, x[batch], y[batch])
        norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(gradient)))
        gradient = jax.tree.map(lambda g: g * jnp.minimum(1, CLIP / norm), gradient)
        t = t + 1
        m = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, m, gradient)
        v = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, v, gradient)
        rate = LR / (1 - BETA1**t)
        root = 1 / jnp.sqrt(1 - BETA2**t)
        parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) * root + EPS), parameters, m, v)
        return parameters, m, v, t

    def loss_and_gradient(self, x, y):
        loss, gradient = self.value_and_grad(self.parameters, x, y)
        gradient = {name: np.asarray(value) for name, value in gradient.items()}
        ends = {name: gradient[name] for name in ENDS}
        return float(loss), flat(self.net, by_our_names(self.net, ends, gradient["W"], gradient["b"]))

    def step(self, batch):
        state = (self.parameters, self.m, self.v, self.t)
        self.parameters, self.m, self.v, self.t = self._step(*state, self.x, self.y, batch)
        self.jax.block_until_ready(self.t)


class Torch:
    """PyTorch as it comes: H and T in one product, clip_grad_norm_, torch.optim.Adam."""

    name = "PyTorch eager"
    compiled = False
    fused = None

    def __init__(self, net, x, y):
        import torch

        self.torch = torch
        self.net = net
        self.parameters = {name: torch.tensor(getattr(net, name).copy()) for name in ENDS}
        for i in range(net.depth):
            self.parameters[f"W{i}"] = torch.tensor(net._blocks[i, :, :-1].copy())
            self.parameters[f"b{i}"] = torch.tensor(net._blocks[i, :, -1].copy())
        for parameter in self.parameters.values():
            parameter.requires_grad_()
        self.optimizer = torch.optim.Adam(self.parameters.values(), lr=LR, eps=EPS, fused=self.fused)
        self.x = torch.tensor(x)
        self.y = torch.tensor(y)
        self.loss = torch.compile(self._loss) if self.compiled else self._loss

    def forward(self, x):
        torch = self.torch
        F = torch.nn.functional
        parameters = self.parameters
        h = self.net.hidden
        x = torch.tanh(F.linear(x, parameters["W_in"], parameters["b_in"]))
        for i in range(self.net.depth):
            z = F.linear(x, parameters[f"W{i}"], parameters[f"b{i}"])
            if self.net.block.gates:
                H = torch.tanh(z[:, :h])
                T = torch.sigmoid(z[:, h:])
                x = H * T + x * (1 - T)
            else:
                x = torch.tanh(z)
        return F.linear(x, parameters["W_out"], parameters["b_out"])

    def _loss(self, x, y):
        return self.torch.nn.functional.cross_entropy(self.forward(x), y)

    def loss_and_gradient(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss(self.torch.tensor(x), self.torch.tensor(y))
        loss.backward()
        gradient = {name: parameter.grad.numpy().copy() for name, parameter in self.parameters.items()}
        ends = {name: gradient[name] for name in ENDS}
        W = np.array([gradient[f"W{i}"] for i in range(self.net.depth)])
        b = np.array([gradient[f"b{i}"] for i in range(self.net.depth)])
        return loss.item(), flat(self.net, by_our_names(self.net, ends, W, b))

    def step(self, batch):
        batch = self.torch.from_numpy(batch)
        self.optimizer.zero_grad()
        self.loss(self.x[batch], self.y[batch]).backward()
        self.torch.nn.utils.clip_grad_norm_(self.parameters.values(), CLIP)
        self.optimizer.step()

    def predict(self, x):
        with self.torch.inference_mode():
            return self.forward(self.torch.from_numpy(x)).numpy()


class TorchFused(Torch):
    name = "PyTorch eager, fused Adam"
    fused = True


class TorchCompiled(TorchFused):
    name = "torch.compile, fused Adam"
    compiled = True


class MatrixProducts:
    """Nothing but the step's products.  Layers have separate arrays; the operands are in the order
    that is fastest here."""

    name = "matrix products alone"

    def __init__(self, net, x, y):
        self.net = net
        self.made_for = None

    def make(self, n):
        rng = np.random.default_rng(0)
        d_in = self.net.d_in
        d_out = self.net.d_out
        h = self.net.hidden
        rows = self.net._blocks.shape[1]

        def array(*shape):
            return rng.standard_normal(shape, dtype=np.float32)

        self.x = array(n, d_in)
        self.W_in = array(d_in, h)
        self.z_in = array(n, h)
        self.dz_in = array(h, n)
        self.dW_in = array(h, d_in)
        self.W_out = array(d_out, h + 1)
        self.d_logits = array(d_out, n)
        self.layers = []
        for _ in range(self.net.depth):
            layer = SimpleNamespace(
                W=array(rows, h + 1),
                x_1=array(h + 1, n),
                z=array(rows, n),
                W_T=array(h, rows),
                dx=array(h, n),
                x_T=array(n, h + 1),
                dW=array(rows, h + 1),
            )
            self.layers.append(layer)
        self.made_for = n

    def step(self, batch):
        if self.made_for != len(batch):
            self.make(len(batch))
        np.dot(self.x, self.W_in, self.z_in)
        for layer in self.layers:
            np.dot(layer.W, layer.x_1, layer.z)
        last = self.layers[-1]
        np.dot(self.W_out, last.x_1)
        np.dot(self.d_logits, last.x_T)
        np.dot(self.W_out.T, self.d_logits)
        for layer in reversed(self.layers):
            np.dot(layer.W_T, layer.z, layer.dx)
            np.dot(layer.z, layer.x_T, layer.dW)
        np.dot(self.dz_in, self.x, self.dW_in)


ALL = (Ours, Jax, TorchCompiled, TorchFused, Torch, Straightforward, MatrixProducts)


def make(net_arguments, x, y, kinds=ALL):
    def of_kind(kind):
        return kind(hn.DeepNet(*net_arguments, np.random.default_rng(0)), x, y)

    return checked(kinds, of_kind, 1e-4, x[:64], y[:64])
