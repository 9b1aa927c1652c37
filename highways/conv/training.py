"""Trains convolutional nets.  A run is saved after every epoch.  If it was stopped and is resumed,
it ends with the same bits as without the stop."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways import files
from highways.conv.images import fingerprint
from highways.conv.net import ConvNet
from highways.conv.normalised import Normalised
from highways.conv.pipeline import inputs_of
from highways.conv.protocols import BATCH, ConvSettings, net_of
from highways.conv.together import ALONE, Ranks
from highways.files import InputError
from highways.nets.optimizers import Nesterov
from highways.nets.schedules import SCHEDULES


class Training:
    """A net in training, and everything that changes from epoch to epoch.  save() writes all of
    it, so that load() goes on as if there had been no interruption, to the last bit.

    The net, and what makes its inputs from images, are those that are given, and otherwise those that the settings
    name.

    hn.train_epoch() uses it as its net and as its optimiser.  forward() takes images in bytes; it
    moves and scales them, and drops units.  step() sets the rate.

    If several processes train the net together, `ranks` are these: see join().

    Raises ValueError for images that the net cannot take, and for fewer than a batch."""

    COLUMNS = ("epoch", "train_loss", "train_accuracy", "test_loss", "test_accuracy", "grad_norm")

    def __init__(self, settings: ConvSettings, images: dict, *, net: ConvNet | None = None, inputs=None):
        if settings.n_train < BATCH:
            raise ValueError(f"a batch has {BATCH} images, and there are {settings.n_train}")
        self.settings = settings
        self.images = images  # fingerprint() of the images
        self.net = net or net_of(settings, images)
        # train_conv() fits it to the training images
        self.inputs = inputs or inputs_of(settings.images, settings.shift)
        self.optimizer = Nesterov(
            self.net.parameters,
            settings.lr,
            weight_decay=self.net.per_parameter(settings.weight_decay, last=settings.decay_of_last),
            rates=self.net.per_parameter(1.0, biases=2.0),
        )
        self.schedule = SCHEDULES[settings.schedule]
        self.optimizer_of_all = self.optimizer  # differs from the optimizer if there are several ranks
        # shuffles; if no other process trains the net, also moves images and drops units
        self.rng = np.random.default_rng([settings.seed, 1])
        self.ranks = ALONE
        # moves images, drops units; if there are several ranks, begin_epoch() replaces it
        self.rng_of_rank = self.rng
        self.history = {name: [] for name in self.COLUMNS}  # one entry an epoch
        self.diverged: str | None = None  # where the run diverged
        self.seconds = 0.0
        self.commits = [files.commit()]  # commits of the programs that trained it
        self.steps = 0
        self.steps_of_epoch = settings.n_train // BATCH
        self.all_steps = settings.epochs * self.steps_of_epoch
        self.within_epoch = False
        self.after_step = lambda: None  # called after each update

    def join(self, ranks: Ranks) -> None:
        """Makes this process one of the ranks that train the net together.

        All begin with the state of the first: parameters, statistics, momentum, the order of the
        images, history.  A rank moves its images and drops its units by its own random numbers.
        Their generator is seeded anew in every epoch: a checkpoint need not hold its state.

        The ranks must have equal settings, images and code: together.check_equal() compares them."""
        self.ranks = ranks
        state = (self._head(), self._arrays()) if ranks.index == 0 else None
        head, arrays = ranks.exchange(state)[0]
        if ranks.index > 0:
            self._restore(head, arrays)
        self.optimizer = self.optimizer_of_all.of_part(ranks.part_of(self.net.parameters))
        for layer in self.net.layers:
            if isinstance(layer, Normalised):
                layer.exchange = ranks.exchange

    def collect_states(self) -> None:
        """Gets the other ranks' parts of the optimiser's state, which save() writes."""
        if self.ranks.count > 1:
            self.optimizer_of_all.v[:] = self.ranks.gather(self.optimizer.v)

    def begin_epoch(self) -> np.ndarray:
        """The order of the training images in the next epoch."""
        if self.ranks.count > 1:
            seed = self.settings.seed
            self.rng_of_rank = np.random.default_rng([seed, 2, self.epochs, self.ranks.index])
        return self.rng.permutation(self.settings.n_train)

    @property
    def parameters(self) -> np.ndarray:
        return self.net.parameters

    @property
    def epochs(self) -> int:
        """The number of finished epochs."""
        return len(self.history["epoch"])

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Images (N, pixels) uint8 -> logits (N, classes), moved and with dropout."""
        hn.check_bytes(x)
        x = x[self.ranks.rows(len(x))]
        x = self.inputs.train_batch(x, self.rng_of_rank)
        return self.ranks.gather(self.net.forward(x, dropout=self.rng_of_rank))

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        return self.net.backward(d_logits[self.ranks.rows(len(d_logits))])

    def step(self, gradient: np.ndarray) -> float:
        """Updates the parameters at the scheduled rate; returns the gradient's norm, that of all
        ranks' gradients together."""
        progress = (self.steps + 0.5) / self.all_steps
        self.optimizer.lr = self.settings.lr * self.schedule(progress)
        norm = self.ranks.step(self.optimizer, gradient, self.net.parameters)
        self.steps += 1
        self.after_step()
        return norm

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Images (N, pixels) uint8 -> logits (N, classes).

        CIFAR's images need train_conv(), or inputs.fit(), before."""
        hn.check_bytes(x)
        x = x[self.ranks.rows(len(x))]
        return self.ranks.gather(self.net.predict(self.inputs.test(x)))

    def differences(self, settings: ConvSettings, images: dict) -> dict[str, tuple]:
        """{name: (what this run has, what that has)} where it differs from a run of these settings and images.

        All that the numbers depend on is in these, except the program."""
        ours = {**self.images, **self.settings.for_json()}
        theirs = {**images, **settings.for_json()}
        return {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}

    def check_whole(self) -> None:
        """Raises ValueError if the run ended within an epoch, whose steps the history does not show."""
        if self.within_epoch:
            raise ValueError(f"the run ended within epoch {self.epochs + 1}: load() what was saved before")

    def save(self, path: str | Path) -> None:
        """Writes everything to one .npz file, whole or not at all.

        Raises InputError where the file cannot be written, and ValueError within an epoch."""
        self.check_whole()
        files.write_arrays(path, self._head(), **self._arrays())

    def _head(self) -> dict:
        """What save() writes beside the arrays."""
        return {
            "settings": self.settings.for_json(),
            "images": self.images,
            "history": self.history,
            "seconds": self.seconds,
            "commits": self.commits,
            "rng": self.rng.bit_generator.state,
        }

    def _arrays(self) -> dict[str, np.ndarray]:
        return {
            "parameters": self.net.parameters,
            "statistics": self.net.statistics,
            "v": self.optimizer_of_all.v,
        }

    @classmethod
    def load(cls, path: str | Path) -> Training:
        """Reads what save() wrote, running no code from it; raises InputError for any other file."""
        try:
            head, arrays = files.read_arrays(path)
            training = cls(ConvSettings(**head["settings"]), head["images"])
            training._restore(head, arrays)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
        except Exception as error:  # zipfile, zlib, NumPy and json each have their own
            raise InputError(f"{path} is not a checkpoint of a convolutional net: {error!r}") from error
        return training

    def _restore(self, head: dict, arrays: dict[str, np.ndarray]) -> None:
        """Restores what save() wrote; raises various exceptions for anything else."""
        files.put_arrays(arrays, self._arrays())
        self.history = head["history"]
        self.seconds = head["seconds"]
        self.commits = head["commits"]
        self.steps = self.epochs * self.steps_of_epoch
        self.rng.bit_generator.state = head["rng"]


def load_same_run(path: Path, settings: ConvSettings, images: dict) -> Training:
    """Loads the run in a checkpoint, and checks that it is the run that is asked for.

    This is the only rule for resuming: settings and images must be equal; the commit may differ.
    Raises InputError otherwise."""
    saved = Training.load(path)
    other = saved.differences(settings, images)
    if not other:
        return saved
    if other.keys() <= images.keys():
        raise InputError(f"{path} is of other images, or of the same in another order: give the images of its training")
    raise InputError(f"{path} is of another run, with (what it has, what is asked): {other}; give that run's settings")


def evaluate(net, x: np.ndarray, y: np.ndarray) -> dict:
    """{test_loss, test_accuracy}: mean cross-entropy, and share of right answers.

    x is (N, pixels) uint8, y (N,).

    Raises FloatingPointError for a net that is not finite."""
    logits = hn.finite_logits(net, x)
    loss, _ = hn.softmax_cross_entropy(logits, y)
    return {"test_loss": float(loss), "test_accuracy": float((logits.argmax(axis=1) == y).mean())}


def check_images(training: Training, data: hn.Dataset) -> None:
    """Raises ValueError unless these are the images that the run was made for."""
    found = fingerprint(data)
    if found != training.images:
        raise ValueError(f"the run is of the images {training.images}, not of {found}")
    settings = training.settings
    if (len(data.x_train), len(data.x_test)) != (settings.n_train, settings.n_test):
        raise ValueError(f"the run is of {settings.n_train} training and {settings.n_test} test images")


@np.errstate(all="ignore")  # train_epoch() ends a run that is not finite: no warnings
def train_conv(
    training: Training,
    data: hn.Dataset,
    checkpoint: Path | None = None,
    report=lambda row: None,
    stop_after: int | None = None,
) -> None:
    """Trains up to the last epoch of the settings.

    Writes the checkpoint and calls report(row) after each epoch.  With `stop_after` training ends
    after that epoch at the latest; its schedule remains that of all epochs, so that load() can go
    on as if the run had not been stopped.

    A run that diverges ends at once: its history holds the whole epochs before, and `diverged`
    says where it ended.  It can be neither saved nor continued.

    Raises ValueError for other images than the run was made for, for another number of ranks, and for
    a run that ended within an epoch."""
    training.check_whole()
    check_images(training, data)
    if training.ranks.count != training.settings.ranks:
        ranks = training.settings.ranks
        raise ValueError(f"{ranks} ranks train this net together, not {training.ranks.count}")
    last = training.settings.epochs
    if stop_after is not None:
        last = min(last, stop_after)
    training.inputs.fit(data.x_train)
    for epoch in range(training.epochs + 1, last + 1):
        start = time.perf_counter()
        training.within_epoch = True
        order = training.begin_epoch()
        try:
            row = hn.train_epoch(training, training, data.x_train, data.y_train, order, BATCH)
            row["train_accuracy"] = row.pop("train_acc")  # the published program's name
            row |= {"epoch": epoch, **evaluate(training, data.x_test, data.y_test)}
        except FloatingPointError as error:
            training.diverged = f"epoch {epoch}, {error}"
            return
        for name, column in training.history.items():
            value = row[name]
            column.append(value if name == "epoch" else float(value))
        training.seconds += time.perf_counter() - start
        if files.commit() not in training.commits:
            training.commits.append(files.commit())
        training.within_epoch = False
        training.collect_states()
        if checkpoint and training.ranks.index == 0:
            training.save(checkpoint)
        report(row)
