"""The recipe of the record on CIFAR-10: README.md explains it."""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from benchmarks.records import trainer
from benchmarks.records.cifar_94.frozen import IMAGES, FrozenConvolution
from benchmarks.records.cifar_94.images import has_odd_sum, moved_and_mirrored, predict_from_six_views
from benchmarks.records.cifar_94.muon_and_nesterov import optimizer_of
from benchmarks.records.cifar_94.wide_highway import PooledHighway, WideHighway
from highways.conv.net import ConvNet
from highways.conv.pipeline import Pipeline

RECIPE = trainer.Recipe("cifar-10", n_train=50000, epochs=8, batch_size=500, lr=0.12, label_smoothing=0.2)
SHAPE = (3, 32, 32)
STAGES = (64, 256, 256)  # their maps: the first of the two layers of a stage halves the image


def layers_of(stages: tuple[int, ...] = STAGES) -> list[tuple]:
    layers = [(FrozenConvolution, 24)]
    for maps in stages:
        layers += [(PooledHighway, maps), (WideHighway, maps)]
    return [*layers, ("pool", 4, 4), ("dense", 10)]


class Training(trainer.Training):
    def __init__(self, data: hn.Dataset, seed: int, recipe: trainer.Recipe = RECIPE):
        rng = np.random.default_rng(seed)
        net = ConvNet(SHAPE, layers_of(), rng, init="lecun", last=1 / 256, gate_bias=0.0)
        self.pipeline = Pipeline("standardised", pad=0).fit(data.x_train)
        net.layers[0].whiten(self.pipeline.test(data.x_train[:IMAGES]))
        super().__init__(recipe, seed, net, optimizer_of(net, recipe.lr, recipe.batch_size))

    def training_inputs(self, x):
        return moved_and_mirrored(self.pipeline.test(x), self.epochs, has_odd_sum(x), self.rng)

    def predict(self, x):
        return predict_from_six_views(self.net, self.pipeline.test(x))
