"""The step of a convolutional net in JAX."""

from __future__ import annotations

from benchmarks.conv_rivals.rival import LR, MOMENTUM, WEIGHT_DECAY, ConvRival


class Jax(ConvRival):
    """jit of the whole step.  Images are NHWC, the faster of JAX's layouts on this processor."""

    name = "JAX jit"
    framework = "jax"
    axes = (1, 2, 3, 0), (0, 1, 3, 2)

    def __init__(self, shape, layers, x, y):
        import jax
        import jax.numpy as jnp

        self.jax = jax
        self.parameters = [jnp.array(array) for array in self.start_from(shape, layers)]
        self.v = [jnp.zeros_like(parameter) for parameter in self.parameters]
        self.x = jnp.array(x.reshape(-1, *shape).transpose(0, 2, 3, 1))
        self.y = jnp.array(y)
        self.key = jax.random.key(0)
        self.value_and_grad = jax.jit(lambda parameters: jax.value_and_grad(self.loss)(parameters, None))
        self._step = jax.jit(self.updated, donate_argnums=(0, 1))

    def loss(self, parameters, key):
        """The loss; with a `key` units are dropped, with None they are not."""
        jax = self.jax
        jnp = jax.numpy
        x = self.x
        parameters = iter(parameters)
        for i, (layer, kind, *settings) in enumerate(self.layers):
            if kind == "dropout":
                if key is not None:
                    rate = settings[0]
                    keep = jax.random.bernoulli(jax.random.fold_in(key, i), 1 - rate, x.shape)
                    x = jnp.where(keep, x / (1 - rate), 0)
            elif kind == "pool":
                x = self.pool(layer, x)
            elif kind == "average":
                maps, side = layer.out_shape
                x = x.reshape(len(x), side, settings[0], side, settings[0], maps).mean(axis=(2, 4))
            elif kind == "dense":
                x = self.dense(x, next(parameters), next(parameters))
            elif kind == "hidden":
                x = jax.nn.relu(self.dense(x, next(parameters), next(parameters)))
            else:
                z = self.convolution(layer, x, next(parameters), next(parameters))
                maps = layer.out_shape[0]
                H = jax.nn.relu(z[..., :maps])
                if kind == "highway":
                    T = jax.nn.sigmoid(z[..., maps:])
                    x = x + T * (H - x)
                else:
                    x = H
        log_probabilities = jax.nn.log_softmax(x)
        return -jnp.take_along_axis(log_probabilities, self.y[:, None], axis=1).mean()

    def pool(self, layer, x):
        k = layer.k
        stride = layer.stride
        overhang = (layer.out_shape[1] - 1) * stride + k - layer.in_shape[1]
        padding = ((0, 0), (0, overhang), (0, overhang), (0, 0))
        lax = self.jax.lax
        return lax.reduce_window(x, -self.jax.numpy.inf, lax.max, (1, k, k, 1), (1, stride, stride, 1), padding)

    def dense(self, x, W, b):
        return x.reshape(len(x), -1) @ W.T + b

    def convolution(self, layer, x, W, b):
        padding = ((layer.pad, layer.pad), (layer.pad, layer.pad))
        layout = ("NHWC", "HWIO", "NHWC")
        return self.jax.lax.conv_general_dilated(x, W, (1, 1), padding, dimension_numbers=layout) + b

    def updated(self, parameters, v, key):
        """Parameters and v after a step, and the next key."""
        key, dropout_key = self.jax.random.split(key)
        gradients = self.jax.grad(self.loss)(parameters, dropout_key)
        new_parameters = []
        new_v = []
        for parameter, velocity, gradient in zip(parameters, v, gradients, strict=True):
            gradient = gradient + WEIGHT_DECAY * parameter
            velocity = MOMENTUM * velocity + gradient
            new_v.append(velocity)
            new_parameters.append(parameter - LR * (gradient + MOMENTUM * velocity))
        return new_parameters, new_v, key

    def loss_and_gradient(self):
        loss, gradients = self.value_and_grad(self.parameters)
        return float(loss), self.in_ours(gradients)

    def step(self):
        self.parameters, self.v, self.key = self._step(self.parameters, self.v, self.key)
        self.jax.block_until_ready(self.parameters)
