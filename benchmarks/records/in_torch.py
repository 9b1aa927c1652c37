"""What the records' nets in PyTorch share: a net and an optimiser that take the places of ours in a record's Training.

So the rest is the same: images, batches, rates, loss, and what the clock sees.  Nets are as fast as PyTorch makes them
on a processor: images channels_last, eager or compiled, in float32 or, by autocast, in bfloat16.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from benchmarks.records.muon import LEAST_NORM, MOMENTUM, NEWTON_SCHULZ, STEPS
from benchmarks.report import Rival
from benchmarks.rivals.torch_rivals import check_compiler

PREDICTED = 500  # images at a time
MOST_COMPILATIONS = 64  # of one function: PyTorch would give up at the eighth


class RecordRival(Rival):
    """A program that trains on a record's images.  `training`, a trainer.Training, has its net and its optimiser."""

    def __init__(self, data, seed: int):
        raise NotImplementedError


class SameNet(RecordRival):
    """A program that trains the record's own net, from the same start."""

    def loss_and_gradient(self, x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
        """Of training images (n, pixels) uint8 with their labels: the loss, and the gradient in our flat layout.

        Images are moved at random: programs of the same seed see the same in their first call."""
        loss, d_logits = self.training.loss(self.training.forward(x), y)
        return float(loss), self.training.net.backward(d_logits).copy()


class TorchNet:
    """A net in PyTorch with the interface of ConvNet that a trainer.Training uses.

    `logits(arrays, statistics, x, training)` is the net: a function of its parameters, of its running statistics, which
    it updates if `training`, and of images x, (n, maps, side, side).  It returns (n, classes).

    The parameters lie in one vector, `parameters`, and are cut into arrays of these `shapes`."""

    def __init__(self, logits, image_shape, parameters: np.ndarray, shapes, statistics, compiled=False, bfloat16=False):
        import torch

        self.torch = torch
        self.image_shape = tuple(image_shape)
        self.vector = torch.tensor(parameters).requires_grad_()
        self.parameters = self.vector.detach().numpy()
        self.shapes = list(shapes)
        self.sizes = [math.prod(shape) for shape in self.shapes]
        self.statistics = [torch.tensor(array) for array in statistics]
        self.bfloat16 = bfloat16
        self.resting = 0  # so many arrays, the first ones, do not learn
        self._eager = logits
        self._logits = compiled_function(logits) if compiled else logits

    def forward(self, x: np.ndarray) -> np.ndarray:
        arrays = [part.view(shape) for part, shape in zip(self.vector.split(self.sizes), self.shapes, strict=True)]
        for i in range(self.resting):
            arrays[i] = arrays[i].detach()
        self._output = self._computed(self._logits, arrays, x, training=True)
        return self._output.detach().numpy().copy()

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        """The gradient; it is 0 for arrays that do not learn."""
        (gradient,) = self.torch.autograd.grad(self._output, self.vector, self.torch.from_numpy(d_logits))
        return gradient.numpy()

    def predict(self, x: np.ndarray) -> np.ndarray:
        with self.torch.no_grad():
            arrays = [part.view(shape) for part, shape in zip(self.vector.split(self.sizes), self.shapes, strict=True)]
            parts = []
            for first in range(0, len(x), PREDICTED):
                parts.append(self._computed(self._eager, arrays, x[first : first + PREDICTED], training=False))
            return self.torch.cat(parts).numpy()

    def let_first_layer_rest(self) -> None:
        self.resting = 2  # its weights and its biases

    def _computed(self, logits, arrays, x, training):
        torch = self.torch
        images = torch.from_numpy(x).view(-1, *self.image_shape).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bfloat16):
            return logits(arrays, self.statistics, images, training).float()


def torch_net_like(net, logits, compiled: bool, bfloat16: bool) -> TorchNet:
    """A net in PyTorch with the parameters and the statistics of `net`, a ConvNet."""
    shapes = [shape for layer in net.layers for shape in layer.shapes.values()]
    statistics = [getattr(layer, name) for layer in net.layers for name in layer.statistics]
    return TorchNet(logits, net.shape, net.parameters, shapes, statistics, compiled, bfloat16)


@functools.cache
def compiled_function(function):
    """torch.compile of a function, once for all nets.  Raises ImportError where that does not work."""
    import torch

    check_compiler()
    torch._dynamo.config.recompile_limit = MOST_COMPILATIONS
    return torch.compile(function, fullgraph=True, dynamic=False)


class TorchOptimizer:
    """Muon for some matrices, in PyTorch, and an optimiser of PyTorch for all other parameters.

    `matrices` are pairs (slice, shape), as step_of_matrices() takes them, and learn at the rate_of_matrices times lr.
    `others` are pairs (slice, rate) of the rest, whose rate is lr times this number, and groups for `make_optimizer`,
    which makes an optimiser of torch.optim from them."""

    def __init__(self, net: TorchNet, lr: float, matrices, rate_of_matrices: float, others: list[dict], make_optimizer):
        self.torch = net.torch
        self.parameters = net.parameters
        self.vector = net.vector.detach()
        self.lr = lr
        self.rate_of_matrices = rate_of_matrices
        self.places = {}  # of the matrices of a shape
        for place, shape in matrices:
            self.places.setdefault(shape, []).append(place)
        self.momenta = {shape: self.torch.zeros(len(places), *shape) for shape, places in self.places.items()}
        groups = [{**group, "params": [self.vector[place] for place in group["places"]]} for group in others]
        self.others = make_optimizer(groups)

    def step(self, gradient: np.ndarray) -> float:
        g = self.torch.from_numpy(gradient)
        for shape in self.places:
            self._step_of_matrices(shape, g)
        for group in self.others.param_groups:
            group["lr"] = self.lr * group["rate"]
            for parameter, place in zip(group["params"], group["places"], strict=True):
                parameter.grad = g[place]
        self.others.step()
        return float(self.torch.linalg.vector_norm(g))

    def _step_of_matrices(self, shape, g):
        """As benchmarks.records.muon.step_of_matrices(), for all matrices of this shape at once."""
        torch = self.torch
        places = self.places[shape]
        G = torch.stack([g[place].view(shape) for place in places])
        if not G.any():
            return
        v = self.momenta[shape]
        v.mul_(MOMENTUM).add_(G)
        W = torch.stack([self.vector[place].view(shape) for place in places])
        W.mul_(math.sqrt(shape[0]) / torch.linalg.matrix_norm(W, keepdim=True))
        W.sub_(orthogonalised(G.add_(v, alpha=MOMENTUM)), alpha=self.rate_of_matrices * self.lr)
        for place, matrix in zip(places, W, strict=True):
            self.vector[place] = matrix.view(-1)


def orthogonalised(matrices):
    """As benchmarks.records.muon.orthogonalised(), for matrices (n, rows, columns)."""
    a, b, c = NEWTON_SCHULZ
    _, rows, columns = matrices.shape
    X = matrices.mT if rows > columns else matrices
    X = X / (X.norm(dim=(-2, -1), keepdim=True) + LEAST_NORM)
    for _ in range(STEPS):
        products = X @ X.mT  # (n, rows, columns) (n, columns, rows)
        X = a * X + (b * products + c * (products @ products)) @ X
    return X.mT if rows > columns else X
