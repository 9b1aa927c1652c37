"""The net and the recipe of airbench94_muon, by Keller Jordan, in PyTorch.

They are read from airbench94_muon.py of https://github.com/KellerJordan/cifar10-airbench (2024, MIT licence) and
written anew: its file is for a GPU, in half precision.  It names a mean test accuracy of 94.01 % over 200 trainings, of
eight epochs in batches of 2000.  Here only its seconds are measured.

    2 x 2 convolution that whitens patches, 24 maps, whose biases alone learn, for three epochs; GELU
    three groups, of 64, 256 and 256 maps:
        3 x 3 convolution, maximum of 2 x 2, batch normalisation, GELU
        3 x 3 convolution, batch normalisation, GELU
    maximum of 3 x 3, fully connected

Convolutions have no biases.  Their filters begin as copies of a map each, as far as there are maps.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from benchmarks.records import trainer
from benchmarks.records.cifar_94 import training as of_record
from benchmarks.records.cifar_94.muon_and_nesterov import BIAS_RATE, LAST_RATE, MOMENTUM_OF_OTHERS
from benchmarks.records.in_torch import RecordRival, TorchNet, TorchOptimizer

RECIPE = trainer.Recipe("cifar-10", n_train=50000, epochs=8, batch_size=2000, lr=0.24, label_smoothing=0.2)
WHITENED = 24  # maps of the first layer
GROUPS = (64, 256, 256)  # their maps
FIRST_LEARNS = 3 / 8  # the share of the steps in which the first layer's biases learn
WEIGHT_DECAY = 2e-6  # of a loss that is summed over the batch, for each image
EPSILON = 1e-12  # added to the variance
PACE = 0.4  # the share of the way that running statistics move to those of a batch


class Training(of_record.Training):
    """Its images are the record's: mirrored in turns, moved by up to two pixels, and seen from six views in the
    test."""

    def __init__(self, data, seed: int, recipe: trainer.Recipe = RECIPE, compiled=False, bfloat16=False):
        import torch

        super().__init__(data, seed, recipe)  # the record's net, of which the filters stay
        filters = self.net.layers[0].W[:, 1:, 1:]
        arrays = start(np.random.default_rng(seed))
        statistics = [filters]
        for maps in np.repeat(GROUPS, 2):
            statistics += [np.zeros(maps, np.float32), np.ones(maps, np.float32)]
        parameters = np.concatenate([array.ravel() for array in arrays])
        shapes = [array.shape for array in arrays]
        self.net = TorchNet(net_logits, of_record.SHAPE, parameters, shapes, statistics, compiled, bfloat16)
        decay = WEIGHT_DECAY * recipe.batch_size
        matrices = []
        biases = []
        first, *hidden, last = places_of(shapes)
        for place, shape in zip(hidden, shapes[1:-1], strict=True):
            if len(shape) == 4:
                matrices.append((place, (shape[0], math.prod(shape[1:]))))
            else:
                biases.append(place)
        others = []
        for places, rate in (([first], BIAS_RATE), (biases, BIAS_RATE), ([last], LAST_RATE)):
            others.append({"places": places, "rate": rate / recipe.lr, "weight_decay": decay / rate})
        make_optimizer = partial(torch.optim.SGD, lr=recipe.lr, momentum=MOMENTUM_OF_OTHERS, nesterov=True, fused=True)
        self.optimizer = TorchOptimizer(self.net, recipe.lr, matrices, 1.0, others, make_optimizer)

    def backward(self, d_logits):
        if self.steps >= FIRST_LEARNS * self.all_steps:
            self.net.resting = 1
        return super().backward(d_logits * np.float32(self.recipe.batch_size))  # of the sum over the batch

    def step(self, gradient):
        progress = self.steps / self.all_steps
        self.optimizer.lr = self.recipe.lr * (1 - progress)
        of_first = self.optimizer.others.param_groups[0]
        of_first["rate"] = BIAS_RATE / self.optimizer.lr * max(0, 1 - progress / FIRST_LEARNS)
        self.steps += 1
        return self.optimizer.step(gradient)


def start(rng) -> list[np.ndarray]:
    """The parameters at the start: the first layer's biases; the weights of each convolution, (maps, 3, 3, maps of x),
    and its biases; the last layer's weights."""
    arrays = [uniform(rng, 12, WHITENED)]
    in_maps = WHITENED
    for group in GROUPS:
        for maps in (group, group):
            W = uniform(rng, 9 * in_maps, maps, 3, 3, in_maps)
            W[:in_maps] = 0
            W[np.arange(in_maps), 1, 1, np.arange(in_maps)] = 1
            arrays += [W, np.zeros(maps, np.float32)]
            in_maps = maps
    last = uniform(rng, in_maps, 10, in_maps)
    return [*arrays, last / last.std(ddof=1)]


def uniform(rng, fan_in: int, *shape: int) -> np.ndarray:
    """What PyTorch draws for a layer with so many inputs."""
    bound = 1 / math.sqrt(fan_in)
    return rng.uniform(-bound, bound, shape).astype(np.float32)


def places_of(shapes) -> list[slice]:
    """Where arrays of these shapes lie in one vector."""
    ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
    return [slice(end - math.prod(shape), end) for end, shape in zip(ends, shapes, strict=True)]


def net_logits(arrays, statistics, x, training):
    import torch.nn.functional as F

    filters, *statistics = statistics
    first_b, *hidden, last_W = arrays
    x = F.gelu(F.conv2d(x, filters.permute(0, 3, 1, 2), first_b))
    for i in range(2 * len(GROUPS)):
        W, b = hidden[2 * i : 2 * i + 2]
        mean, variance = statistics[2 * i : 2 * i + 2]
        x = F.conv2d(x, W.permute(0, 3, 1, 2), padding=1)
        if i % 2 == 0:
            x = F.max_pool2d(x, 2)
        x = F.gelu(F.batch_norm(x, mean, variance, None, b, training, PACE, EPSILON))
    x = F.max_pool2d(x, 3).flatten(1)
    return F.linear(x, last_W) / x.shape[1]


class Airbench(RecordRival):
    name = "airbench94_muon, eager"
    framework = "torch"
    at_its_best = True
    compiled = False

    def __init__(self, data, seed):
        self.training = Training(data, seed, compiled=self.compiled, bfloat16=self.arithmetic == "bfloat16")


class AirbenchCompiled(Airbench):
    name = "airbench94_muon, torch.compile"
    compiled = True


class AirbenchBfloat16(Airbench):
    name = "airbench94_muon, eager, bfloat16"
    arithmetic = "bfloat16"


class AirbenchCompiledBfloat16(AirbenchCompiled):
    name = "airbench94_muon, torch.compile, bfloat16"
    arithmetic = "bfloat16"


RIVALS = (Airbench, AirbenchCompiled, AirbenchBfloat16, AirbenchCompiledBfloat16)
