"""The recipe of the record on MNIST: README.md explains it."""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from benchmarks.records import trainer
from benchmarks.records.mnist_99.muon_and_adam import MuonAndAdam
from benchmarks.records.mnist_99.whitened_start import IMAGES, start_whitened
from benchmarks.records.muon import places
from highways.conv.net import ConvNet, size_of
from highways.conv.pipeline import Pixels

# 37 500 images are the fewest tried with which held-out images reached 99 % with a margin
RECIPE = trainer.Recipe("mnist", n_train=37500, epochs=1, batch_size=125, lr=0.011, label_smoothing=0.1)
SHAPE = (1, 28, 28)
LAYERS = [
    ("conv-pool", 6, 32, 2),
    ("highway", 3),
    ("highway", 3),
    ("pool", 2, 2),
    ("highway", 3),
    ("dense", 10),
]
FIRST_LEARNS = 0.4  # the share of the steps in which the first layer learns


class Training(trainer.Training):
    def __init__(self, data: hn.Dataset, seed: int, recipe: trainer.Recipe = RECIPE):
        self.inputs = Pixels(shift=0)
        net = Net(SHAPE, LAYERS, np.random.default_rng(seed), init="lecun", last=0.1, gate_bias=0.0)
        start_whitened(net.layers[0], self.inputs.test(data.x_train[:IMAGES]).reshape(-1, *SHAPE))
        optimizer = MuonAndAdam(net.parameters, recipe.lr, matrices_of(net))
        super().__init__(recipe, seed, net, optimizer)

    def training_inputs(self, x):
        return self.inputs.test(x)

    def predict(self, x):
        return self.net.predict(self.inputs.test(x))

    def backward(self, d_logits):
        if self.steps >= FIRST_LEARNS * self.all_steps:
            self.net.let_first_layer_rest()
        return super().backward(d_logits)

    def step(self, gradient):
        self.optimizer.t = self.steps  # a checkpoint does not hold it
        return super().step(gradient)


class Net(ConvNet):
    """A net whose first layer can stop learning."""

    def let_first_layer_rest(self) -> None:
        """From now on backward() does not compute the gradient of the first layer with parameters: it is 0."""
        first, second, *_ = (i for i, layer in enumerate(self.layers) if layer.shapes)
        self._first = second
        self.gradient[: size_of(self.layers[first].shapes)] = 0


def matrices_of(net: ConvNet) -> list[tuple[slice, tuple[int, int]]]:
    """Where the weights of all layers but the last lie in the parameters, and their shapes as matrices.

    W_H and W_T of a highway layer are matrices of their own."""
    matrices = []
    for layer in net.layers[:-1]:
        for name, place, shape in places(net, layer):
            if name == "W":
                rows = shape[0] // 2 if layer.gates else shape[0]
                size = rows * math.prod(shape[1:])
                for start in range(place.start, place.stop, size):
                    matrices.append((slice(start, start + size), (rows, size // rows)))
    return matrices
