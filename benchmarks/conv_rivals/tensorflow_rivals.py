"""The step of a convolutional net in TensorFlow's graph mode: in float32 the fastest rival, or close to it."""

from __future__ import annotations

from benchmarks.conv_rivals.rival import LR, MOMENTUM, WEIGHT_DECAY, ConvRival, is_held_to_avx2


class TensorFlow(ConvRival):
    """tf.function of the whole step, without XLA, images NHWC."""

    name = "TensorFlow graph"
    framework = "tensorflow"
    at_its_best = True
    axes = (1, 2, 3, 0), (0, 1, 3, 2)

    def __init__(self, shape, layers, x, y):
        import tensorflow as tf

        self.tf = tf
        self.parameters = [tf.Variable(array) for array in self.start_from(shape, layers)]
        self.v = [tf.Variable(tf.zeros_like(parameter)) for parameter in self.parameters]
        self.x = tf.constant(x.reshape(-1, *shape).transpose(0, 2, 3, 1))
        self.y = tf.constant(y)
        self._gradient = tf.function(self.gradient_of)
        self._step = tf.function(self.update)

    def convolution(self, layer, x, W, b):
        padding = "SAME" if layer.pad else "VALID"
        return self.tf.nn.bias_add(self.tf.nn.conv2d(x, W, 1, padding), b)

    def dense(self, x, W, b):
        flat = self.tf.reshape(x, [x.shape[0], -1])
        return self.tf.matmul(flat, W, transpose_b=True) + b

    def pool(self, layer, x):
        overhang = (layer.out_shape[1] - 1) * layer.stride + layer.k - layer.in_shape[1]
        if overhang > 0:
            lowest = x.dtype.min
            x = self.tf.pad(x, [[0, 0], [0, overhang], [0, overhang], [0, 0]], constant_values=lowest)
        return self.tf.nn.max_pool2d(x, layer.k, layer.stride, "VALID")

    def loss(self, training: bool):
        tf = self.tf
        x = self.x
        parameters = iter(self.parameters)
        for layer, kind, *settings in self.layers:
            if kind == "dropout":
                x = tf.nn.dropout(x, settings[0]) if training else x
            elif kind == "pool":
                x = self.pool(layer, x)
            elif kind == "average":
                x = tf.nn.avg_pool2d(x, settings[0], settings[0], "VALID")
            elif kind == "dense":
                x = self.dense(x, next(parameters), next(parameters))
            elif kind == "hidden":
                x = tf.nn.relu(self.dense(x, next(parameters), next(parameters)))
            else:
                z = self.convolution(layer, x, next(parameters), next(parameters))
                x = self.gate(x, z) if kind == "highway" else tf.nn.relu(z)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.y, logits=tf.cast(x, tf.float32))
        return tf.reduce_mean(losses)

    def gate(self, x, z):
        """y = x + T (H - x), which is eq. 3; z has the maps of H before those of T."""
        tf = self.tf
        z_H, z_T = tf.split(z, 2, axis=-1)
        return x + tf.sigmoid(z_T) * (tf.nn.relu(z_H) - x)

    def gradient_of(self, training=False):
        with self.tf.GradientTape() as tape:
            loss = self.loss(training)
        return loss, tape.gradient(loss, self.parameters)

    def update(self):
        loss, gradients = self.gradient_of(training=True)
        for parameter, v, gradient in zip(self.parameters, self.v, gradients, strict=True):
            gradient = gradient + WEIGHT_DECAY * parameter
            v.assign(MOMENTUM * v + gradient)
            parameter.assign_sub(LR * (gradient + MOMENTUM * v))
        return loss

    def loss_and_gradient(self):
        loss, gradients = self._gradient()
        return float(loss), self.in_ours([gradient.numpy() for gradient in gradients])

    def step(self):
        self._step().numpy()


class TensorFlowBfloat16(TensorFlow):
    """Activations in bfloat16, parameters in float32: mixed precision."""

    name = "TensorFlow graph, bfloat16"
    arithmetic = "bfloat16"

    def __init__(self, shape, layers, x, y):
        if is_held_to_avx2():
            raise ImportError("oneDNN of TensorFlow 2.21, held to AVX2, has no convolution in bfloat16 on a Zen 4")
        super().__init__(shape, layers, x, y)
        self.x = self.tf.cast(self.x, self.tf.bfloat16)

    def convolution(self, layer, x, W, b):
        return super().convolution(layer, x, self.as_bfloat16(W), self.as_bfloat16(b))

    def dense(self, x, W, b):
        return super().dense(x, self.as_bfloat16(W), self.as_bfloat16(b))

    def as_bfloat16(self, parameter):
        return self.tf.cast(parameter, self.tf.bfloat16)
