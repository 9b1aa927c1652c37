"""The training step in JAX: as it is usually written, and as an expert writes it.

An expert's program has states (features, batch), as ours has, so that no product needs a
transposed copy.  It scans many steps in one compiled call, which saves the calls from Python.

The fastest program also has our backward pass, as a `jax.custom_vjp`: it keeps only x, H and T,
while JAX's own derivative keeps more.  Its bias is a column of the weights, multiplied by a row of
ones under the state.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.rivals.rival import BETA1, BETA2, CLIP, ENDS, EPS, LR, StepRival, by_our_names, flat


class Jax(StepRival):
    """jit of the whole step, a scan over the layers, buffers donated; H and T in one product."""

    name = "JAX jit + scan"
    framework = "jax"

    def __init__(self, net, x, y):
        import jax
        import jax.numpy as jnp

        self.jax = jax
        self.net = net
        self.parameters = {name: jnp.array(getattr(net, name)) for name in ENDS}
        self.parameters |= self.parameters_of_blocks(net)
        zeros = jax.tree.map(jnp.zeros_like, self.parameters)
        self.state = (self.parameters, zeros, jax.tree.map(jnp.copy, zeros), jnp.zeros(()))
        self.x = jnp.array(x)
        self.y = jnp.array(y)
        self.value_and_grad = jax.jit(jax.value_and_grad(self.loss))
        self._step = jax.jit(self.updated, donate_argnums=0)

    def parameters_of_blocks(self, net) -> dict:
        jnp = self.jax.numpy
        return {"W": jnp.array(net._blocks[:, :, :-1]), "b": jnp.array(net._blocks[:, :, -1])}

    def forward(self, parameters, x):
        """x (batch, d_in) -> logits (batch, d_out)."""
        jax = self.jax
        jnp = jax.numpy
        hidden = self.net.hidden
        gated = self.net.block.gates > 0

        def block(x, W_and_b):
            W, b = W_and_b
            z = x @ W.T + b
            H = jnp.tanh(z[:, :hidden])
            if not gated:
                return H, None
            T = jax.nn.sigmoid(z[:, hidden:])
            return H * T + x * (1 - T), None

        first = jnp.tanh(x @ parameters["W_in"].T + parameters["b_in"])
        last, _ = jax.lax.scan(block, first, (parameters["W"], parameters["b"]))
        return last @ parameters["W_out"].T + parameters["b_out"]

    def loss(self, parameters, x, y):
        log_probabilities = self.jax.nn.log_softmax(self.forward(parameters, x))
        return -self.jax.numpy.take_along_axis(log_probabilities, y[:, None], axis=1).mean()

    def updated(self, state, x, y, batch):
        """The state, which is parameters, m, v and t, after a step of clipped Adam."""
        jax = self.jax
        jnp = jax.numpy
        parameters, m, v, t = state
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
        loss, gradient = self.value_and_grad(self.state[0], x, y)
        gradient = {name: np.asarray(value) for name, value in gradient.items()}
        ends = {name: gradient[name] for name in ENDS}
        W, b = self.gradient_of_blocks(gradient)
        return float(loss), flat(self.net, by_our_names(self.net, ends, W, b))

    def gradient_of_blocks(self, gradient: dict) -> tuple[np.ndarray, np.ndarray]:
        return gradient["W"], gradient["b"]

    def step(self, batch):
        self.state = self._step(self.state, self.x, self.y, batch)
        self.jax.block_until_ready(self.state)


class JaxFeaturesFirst(Jax):
    """States (features, batch); JAX's own derivative."""

    name = "JAX, features first"
    at_its_best = True

    def forward(self, parameters, x):
        jax = self.jax
        jnp = jax.numpy
        hidden = self.net.hidden
        gated = self.net.block.gates > 0

        def block(x, W_and_b):
            W, b = W_and_b
            z = W @ x + b[:, None]
            H = jnp.tanh(z[:hidden])
            if not gated:
                return H, None
            T = jax.nn.sigmoid(z[hidden:])
            return x + T * (H - x), None

        first = jnp.tanh(parameters["W_in"] @ x.T + parameters["b_in"][:, None])
        last, _ = jax.lax.scan(block, first, (parameters["W"], parameters["b"]))
        return (parameters["W_out"] @ last + parameters["b_out"][:, None]).T


class Scanned:
    """A mixin, named before a JAX rival: makes all steps of a turn in one compiled call."""

    def __init__(self, net, x, y):
        super().__init__(net, x, y)

        def many(state, x, y, batches):
            def one(state, batch):
                return self.updated(state, x, y, batch), None

            return self.jax.lax.scan(one, state, batches)[0]

        self._turn = self.jax.jit(many, donate_argnums=0)

    def turn(self, batches: Iterable[np.ndarray]) -> None:
        self.state = self._turn(self.state, self.x, self.y, np.array(list(batches)))
        self.jax.block_until_ready(self.state)


class JaxScanned(Scanned, JaxFeaturesFirst):
    """States (features, batch), JAX's own derivative, all steps of a turn in one call."""

    name = "JAX, features first, steps scanned"


class JaxByHand(Scanned, JaxFeaturesFirst):
    """Our backward pass in JAX, our row of ones, all steps of a turn in one call.

    x_1 and y_1 stand for a state x or y, (hidden, batch), over a row of ones."""

    name = "JAX, our backward, steps scanned"
    gradient = "by hand"

    def parameters_of_blocks(self, net) -> dict:
        return {"W_and_b": self.jax.numpy.array(net._blocks)}  # (depth, rows, hidden + 1)

    def gradient_of_blocks(self, gradient):
        W_and_b = gradient["W_and_b"]
        return W_and_b[:, :, :-1], W_and_b[:, :, -1]

    def forward(self, parameters, x):
        jnp = self.jax.numpy
        block = self.highway() if self.net.block.gates else self.plain()
        first = jnp.tanh(parameters["W_in"] @ x.T + parameters["b_in"][:, None])
        first_1 = jnp.concatenate([first, jnp.ones((1, len(x)), first.dtype)])  # (hidden + 1, batch)

        def layer(x_1, W_and_b):
            return block(x_1, W_and_b), None

        last_1, _ = self.jax.lax.scan(layer, first_1, parameters["W_and_b"])
        return (parameters["W_out"] @ last_1[:-1] + parameters["b_out"][:, None]).T

    def plain(self):
        """block(x_1, W_and_b) -> y_1 with y = H."""
        jax = self.jax
        jnp = jax.numpy

        @jax.custom_vjp
        def block(x_1, W_and_b):
            return forward(x_1, W_and_b)[0]

        def forward(x_1, W_and_b):
            H = jnp.tanh(W_and_b @ x_1)
            return jnp.concatenate([H, x_1[-1:]]), (x_1, H, W_and_b)

        def backward(kept, dy_1):
            x_1, H, W_and_b = kept
            dz = (1 - H * H) * dy_1[:-1]
            return W_and_b.T @ dz, dz @ x_1.T

        block.defvjp(forward, backward)
        return block

    def highway(self):
        """block(x_1, W_and_b) -> y_1 with y = H T + x (1 - T), eq. 3."""
        jax = self.jax
        jnp = jax.numpy
        hidden = self.net.hidden

        @jax.custom_vjp
        def block(x_1, W_and_b):
            return forward(x_1, W_and_b)[0]

        def forward(x_1, W_and_b):
            z = W_and_b @ x_1
            x = x_1[:hidden]
            H = jnp.tanh(z[:hidden])
            T = jax.nn.sigmoid(z[hidden:])
            return jnp.concatenate([x + T * (H - x), x_1[hidden:]]), (x_1, H, T, W_and_b)

        def backward(kept, dy_1):
            x_1, H, T, W_and_b = kept
            x = x_1[:hidden]
            dy = dy_1[:hidden]
            dH = T * dy
            carried = dy - dH
            dz_H = (1 - H * H) * dH
            dz_T = T * (H - x) * carried  # T (1 - T) (H - x) dy
            dz = jnp.concatenate([dz_H, dz_T])
            dx_1 = W_and_b.T @ dz + jnp.pad(carried, ((0, 1), (0, 0)))
            return dx_1, dz @ x_1.T

        block.defvjp(forward, backward)
        return block
