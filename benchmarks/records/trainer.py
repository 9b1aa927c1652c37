"""Trains a net for a record.  Both records share this; each has its own layers, start, optimiser and images."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.conv.net import ConvNet
from highways.files import put_arrays, read_arrays, write_arrays


@dataclass(frozen=True)
class Recipe:
    """What a log says of a record's recipe; the rest stands in the record's folder."""

    data: str
    n_train: int  # the first training images
    epochs: int
    batch_size: int
    lr: float  # at the start: it falls along a straight line to 0
    label_smoothing: float


def smoothed_cross_entropy(logits: np.ndarray, y: np.ndarray, smoothing: float) -> tuple[np.number, np.ndarray]:
    """logits (N, classes), labels y (N,) -> the mean cross-entropy with smoothed labels, and its
    gradient (N, classes).

    Label smoothing (Szegedy et al. 2016, section 7) aims at the probability 1 - smoothing +
    smoothing / classes for the right class, and at smoothing / classes for each other.  Compared
    with the plain labels this adds smoothing (logit_y - mean logit) to the loss of an example."""
    loss, gradient = hn.softmax_cross_entropy(logits, y)
    n, n_classes = logits.shape
    rows = np.arange(n)
    smoothing = logits.real.dtype.type(smoothing)  # float32 stays float32
    loss = loss + smoothing * (logits[rows, y] - logits.mean(axis=1)).mean()
    gradient -= smoothing / (n * n_classes)
    gradient[rows, y] += smoothing / n
    return loss, gradient


class Training:
    """A net in training.  hn.train_epoch() uses it as its net and as its optimiser.

    A subclass says what the net is given: training_inputs() and predict()."""

    def __init__(self, recipe: Recipe, seed: int, net: ConvNet, optimizer: hn.Optimizer):
        self.recipe = recipe
        self.net = net
        self.optimizer = optimizer
        self.loss = partial(smoothed_cross_entropy, smoothing=recipe.label_smoothing)
        self.rng = np.random.default_rng([seed, 1])  # shuffles and moves images
        self.epochs = 0  # that are finished
        self.steps_of_epoch = recipe.n_train // recipe.batch_size
        self.all_steps = recipe.epochs * self.steps_of_epoch
        self.steps = 0

    @property
    def parameters(self) -> np.ndarray:
        return self.net.parameters

    def training_inputs(self, x: np.ndarray) -> np.ndarray:
        """Images (n, pixels) uint8 -> what the net is given for them in training."""
        raise NotImplementedError

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Test images (n, pixels) uint8 -> logits (n, classes)."""
        raise NotImplementedError

    def forward(self, x: np.ndarray) -> np.ndarray:
        return self.net.forward(self.training_inputs(x))

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        return self.net.backward(d_logits)

    def step(self, gradient: np.ndarray) -> float:
        progress = (self.steps + 0.5) / self.all_steps
        self.optimizer.lr = self.recipe.lr * (1 - progress)
        self.steps += 1
        return self.optimizer.step(gradient)

    @np.errstate(all="ignore")  # hn.train_epoch() raises FloatingPointError for what is not finite
    def train_epoch(self, data: hn.Dataset) -> float:
        """Trains for an epoch; returns the mean loss."""
        order = self.rng.permutation(self.recipe.n_train)
        row = hn.train_epoch(self, self, data.x_train, data.y_train, order, self.recipe.batch_size, self.loss)
        self.epochs += 1
        return row["train_loss"]

    def accuracy(self, data: hn.Dataset) -> float:
        """The share of the test images whose label is right."""
        logits = hn.finite_logits(self, data.x_test)
        return float((logits.argmax(axis=1) == data.y_test).mean())

    def save(self, path: Path, seconds: dict) -> None:
        """Writes all that changes from epoch to epoch, and the seconds so far, whole or not at all."""
        head = {"epochs": self.epochs, "seconds": seconds, "rng": self.rng.bit_generator.state}
        write_arrays(path, head, **self._arrays())

    def load(self, path: Path) -> dict:
        """Goes on from what save() wrote; returns the seconds."""
        head, arrays = read_arrays(path)
        put_arrays(arrays, self._arrays())
        self.epochs = head["epochs"]
        self.steps = self.epochs * self.steps_of_epoch
        self.rng.bit_generator.state = head["rng"]
        return head["seconds"]

    def _arrays(self) -> dict[str, np.ndarray]:
        return {
            "parameters": self.net.parameters,
            "statistics": self.net.statistics,
            **{name: getattr(self.optimizer, name) for name in self.optimizer.states},
        }
