"""The training of a convolutional net: a run that is saved after every epoch and goes on from there to the last bit."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

import highway_networks as hn
from conv.net import ConvNet
from conv.nets import find_net
from plumbing import files
from plumbing.arrays import memory_for
from plumbing.files import InputError, read_arrays, write_arrays
from training.images import fingerprint, inputs_of, shape_of
from training.optimizers import Nesterov
from training.protocols import BATCH, Protocol, Settings
from training.schedules import SCHEDULES


class Training:
    """A net in training, and all that changes from epoch to epoch: restored from what save() wrote, it goes on as if
    it had never been interrupted, to the last bit.

    For hn.train_epoch() it is a net, of images in bytes, and an optimiser: it moves, scales, drops, sets the rate.
    `net`, `history` (a list for each column, an entry an epoch), `diverged` (where, or None) and `commits` (of the
    programs that trained it) are what one reads.  `images` is their fingerprint(), `inputs` makes of them what the net
    is given: train() fits it to them; before that predict() can have MNIST's images alone.  `after_step`, a function of
    nothing, is called after each update.  `parent` is None, or says of which run this one is a branch: see branch().

    Raises ValueError for images that the net cannot take, and for settings and protocols that train nothing."""

    COLUMNS = ("epoch", "train_loss", "train_acc", "test_loss", "test_acc", "grad_norm")

    def __init__(self, settings: Settings, protocol: Protocol, images: dict):
        protocol = protocol.in_python_numbers()
        self.settings, self.protocol, self.images, self.commits = settings, protocol, images, [files.commit()]
        if settings.epochs < 1 or settings.n_train < BATCH or protocol.schedule not in SCHEDULES:
            needed = f"an epoch, {BATCH} training images and a schedule, {', '.join(SCHEDULES)}, are needed"
            given = f"{settings.epochs} epochs, {settings.n_train} images, {protocol.schedule!r}"
            raise ValueError(f"{needed}, not {given}")
        how = {name: getattr(protocol, name) for name in ("init", "first", "last")}
        shape, layers = self._net_of(settings, protocol, images)
        rng = np.random.default_rng(settings.seed)
        with memory_for(f"nets of this size: {settings.net} for images of {images['pixels']} pixels"):
            self.net = ConvNet(shape, layers, rng, gate_bias=settings.gate_bias, **how)
        self.inputs = inputs_of(protocol)
        decay = self.net.per_parameter(protocol.weight_decay, protocol.decay_of_last)
        rates = self.net.per_parameter(1.0, biases=2.0)
        self.optimizer = Nesterov(self.net.parameters, protocol.lr, weight_decay=decay, rates=rates)
        self.rng = np.random.default_rng([settings.seed, 1])  # shuffles, moves, drops
        self.history, self.seconds, self.diverged = {name: [] for name in self.COLUMNS}, 0.0, None
        self.steps, self.steps_of_epoch, self.after_step = 0, settings.n_train // BATCH, lambda: None
        self.within_epoch = False
        self.parent: dict | None = None

    @staticmethod
    def _net_of(settings: Settings, protocol: Protocol, images: dict) -> tuple[tuple, list[tuple]]:
        """The shape of the images, and the layers of the net."""
        net = find_net(settings.net)
        layers = net.layers_of(block=settings.block, dropout=protocol.dropout, classes=images["classes"])
        return shape_of(net.shape[0], images["pixels"]), layers

    parameters = property(lambda self: self.net.parameters)
    epochs = property(lambda self: len(self.history["epoch"]), doc="that are finished")

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Images (N, pixels) uint8 -> logits (N, classes), moved and with dropout."""
        hn.check_bytes(x)
        return self.net.forward(self.inputs.train_batch(x, self.rng), dropout=self.rng)

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        return self.net.backward(d_logits)

    def step(self, gradient: np.ndarray) -> float:
        """An update at the rate that the schedule has for it; returns the gradient's norm.

        Raises ValueError behind the last epoch, for which the schedule has no rate."""
        steps = self.settings.epochs * self.steps_of_epoch
        if self.steps >= steps:
            raise ValueError(f"the {self.settings.epochs} epochs of the settings, {steps} steps, are over")
        progress = (self.steps + 0.5) / steps
        self.optimizer.lr = self.protocol.lr * SCHEDULES[self.protocol.schedule](progress)
        norm = self.optimizer.step(gradient)
        self.steps += 1
        self.after_step()
        return norm

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Images (N, pixels) uint8 -> logits (N, classes)."""
        hn.check_bytes(x)
        return self.net.predict(self.inputs.test(x))

    def task(self) -> dict:
        """All that its numbers depend on but the program, as JSON has it."""
        protocol = self.protocol._asdict() | {"dropout": [*self.protocol.dropout]}
        return {**protocol, **self.images, **asdict(self.settings)}

    def check_whole(self) -> None:
        """Raises ValueError within an epoch, where it was interrupted, or diverged: what is left is of no epoch.  So it
        is where steps were made that the history has no epoch for."""
        if self.within_epoch:
            raise ValueError(f"the run ended within epoch {self.epochs + 1}: load() what was saved before")
        steps = self.epochs * self.steps_of_epoch
        if self.steps != steps:
            raise ValueError(
                f"{self.epochs} epochs in the history are {steps} steps, not {self.steps}: let train() train"
            )

    def _check_history(self) -> None:
        """Raises ValueError where it is not that of whole epochs."""
        if [*self.history] != [*self.COLUMNS] or self.history["epoch"] != [*range(1, self.epochs + 1)]:
            raise ValueError("the history is not that of whole epochs")
        if {len(column) for column in self.history.values()} != {self.epochs} or self.epochs > self.settings.epochs:
            raise ValueError("the history is not as long as it says")
        if not all(type(value) in (int, float) for column in self.history.values() for value in column):
            raise ValueError("the history does not hold numbers alone")
        accuracies = self.history["train_acc"] + self.history["test_acc"]
        if not all(0 <= accuracy <= 1 for accuracy in accuracies) or self.seconds < 0:
            raise ValueError("an accuracy in the history is not from 0 to 1, or the seconds are negative")

    def save(self, path: str | Path) -> None:
        """Writes all of it to one .npz file, whole or not at all; raises InputError when that cannot be, and ValueError
        within an epoch and for what load() would refuse."""
        self._check_history()
        self.check_whole()
        for name, array in self._arrays().items():
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite")
        head = {"settings": asdict(self.settings), "protocol": self.protocol, "images": self.images}
        head |= {name: vars(self)[name] for name in ("history", "seconds", "commits", "parent")}
        head["rng"] = self.rng.bit_generator.state
        write_arrays(path, head, **self._arrays())

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"parameters": self.net.parameters, "statistics": self.net.statistics, "v": self.optimizer.v}

    @classmethod
    def load(cls, path: str | Path) -> Training:
        """What save() wrote; raises InputError for anything else.  Executes nothing of it."""

        def settings_of(head):
            return Settings(**head["settings"]), Protocol(*head["protocol"]), dict(head["images"])

        def shapes_of(head):
            sizes = ConvNet.sizes_of(*cls._net_of(*settings_of(head)))
            sizes["v"] = sizes["parameters"]
            return {name: (size,) for name, size in sizes.items()}

        try:
            head, arrays = read_arrays(path, shapes_of)
            run = cls(*settings_of(head))
            for name, target in run._arrays().items():
                array = arrays[name]
                if array.dtype != target.dtype or not np.isfinite(array).all():
                    raise ValueError(f"{name} must be finite and {target.dtype}")
                target[:] = array
            run.history, run.seconds, run.commits = head["history"], float(head["seconds"]), list(head["commits"])
            run.parent = head["parent"]
            run._check_history()
            run.steps, run.rng.bit_generator.state = run.epochs * run.steps_of_epoch, head["rng"]
        except Exception as error:  # zipfile, zlib, NumPy and json each have their own
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            advice = "" if isinstance(error, OSError) else ": remove it, or name another file"
            raise InputError(f"{path} is not a checkpoint of a convolutional net ({reason}){advice}") from error
        return run


def evaluate(net, x: np.ndarray, y: np.ndarray) -> dict:
    """{test_loss, test_acc}: mean cross-entropy and the share told right of x (N, pixels), y (N,).  Raises
    FloatingPointError for a net that is not finite."""
    logits = hn.finite_logits(net, x)
    loss, _ = hn.softmax_cross_entropy(logits, y)
    return {"test_loss": float(loss), "test_acc": float((logits.argmax(axis=1) == y).mean())}


def check_images(run: Training, data: hn.Dataset) -> None:
    """Raises ValueError for other images than those that the run was made for."""
    if fingerprint(data) != run.images:
        raise ValueError(f"a run on the images {run.images} cannot go on with {fingerprint(data)}")
    settings = run.settings
    for what, n, x in (("training", settings.n_train, data.x_train), ("test", settings.n_test, data.x_test)):
        if len(x) != n:
            raise ValueError(f"the run is of {n} {what} images, not {len(x)}")


@np.errstate(all="ignore")  # what is not finite ends the run with a line of its own, not with NumPy's warnings
def train(
    run: Training, data: hn.Dataset, checkpoint: Path | None = None, report=lambda row: None,
    stop_after: int | None = None,
) -> None:  # fmt: skip
    """Trains until the last epoch of its settings; writes the checkpoint after each, calls report with its row.

    With `stop_after` it ends after that epoch, if it is an earlier one.  The schedule is that of all epochs: what
    load() restores goes on as if it had not been stopped.
    A run that diverges stops there: its history ends with the last whole epoch and `diverged` says where.
    Raises ValueError for other images than those that the run was made for, for a run that ended within an epoch, and
    where it should stop before the first."""
    run.check_whole()
    check_images(run, data)
    last = run.settings.epochs
    if stop_after is not None:
        if stop_after < 1:
            raise ValueError(f"a run can stop after its first epoch or a later one, not after {stop_after}")
        last = min(last, stop_after)
    run.inputs.fit(data.x_train, data.x_test)
    for epoch in range(run.epochs + 1, last + 1):
        start, run.within_epoch = time.perf_counter(), True
        try:
            order = run.rng.permutation(len(data.x_train))
            row = hn.train_epoch(run, run, data.x_train, data.y_train, order, BATCH)
            row |= {"epoch": epoch, **evaluate(run, data.x_test, data.y_test)}
        except FloatingPointError as error:
            run.diverged = f"epoch {epoch}, {error}"
            return
        for name, values in run.history.items():
            values.append(row[name] if name == "epoch" else float(row[name]))
        run.seconds += time.perf_counter() - start
        run.commits += [] if files.commit() in run.commits else [files.commit()]
        run.within_epoch = False
        if checkpoint:
            run.save(checkpoint)
        report(row)
