"""The training of a convolutional net: a run that is saved after every epoch and goes on from there to the last bit."""

from __future__ import annotations

import hashlib
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

import highway_networks as hn
from conv.net import ConvNet
from conv.nets import find_net
from plumbing.arrays import memory_for
from plumbing.files import InputError, commit, read_arrays, write_arrays
from plumbing.processes import one_blas_thread
from training.images import fingerprint, inputs_of, shape_of
from training.optimizers import Nesterov
from training.protocols import BATCH, Protocol, Settings
from training.schedules import SCHEDULES

PICTURED = 60  # at most so many of the test images that a net gets wrong are kept for a picture


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
        self.settings, self.protocol, self.images, self.commits = settings, protocol, images, [commit()]
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
        run.commits += [] if commit() in run.commits else [commit()]
        run.within_epoch = False
        if checkpoint:
            run.save(checkpoint)
        report(row)


def result(run: Training, data: hn.Dataset) -> dict:
    """The RUN of the JSON, with the filters, gates and errors that the pictures show.

    A run that was stopped has `stopped_after`, the number of its epochs, and no final numbers; a branch has `parent`.
    Raises ValueError for other images than those that the run was made for."""
    check_images(run, data)
    settings = run.settings
    summary = {"label": settings.label, **asdict(settings)}
    summary |= {"n_parameters": len(run.parameters), "commits": run.commits}
    summary |= {"diverged": run.diverged is not None, "diverged_at": run.diverged, "history": run.history}
    if run.parent:
        summary["parent"] = run.parent
    if run.epochs < settings.epochs and not run.diverged:
        summary["stopped_after"] = run.epochs
    else:
        for name in ("train_acc", "test_acc", "train_loss"):
            summary[f"final_{name}"] = None if run.diverged else run.history[name][-1]
    return summary | ({} if run.diverged else inspect_net(run, data)) | {"wallclock_sec": run.seconds}


def inspect_net(run: Training, data: hn.Dataset, n: int = 1000) -> dict:
    """The first layer's filters, (maps, rows, columns), or with an image's maps last where it has several; mean T (over
    n test images and all maps) of each layer and position; and the images that the net gets wrong: of the first ones
    the pixels, too, map by map, row by row, two hexadecimal digits each."""
    first = next(layer for layer in run.net.layers if layer.shapes)
    filters = first.W[..., 0] if first.in_shape[0] == 1 else first.W
    T = run.net.mean_gates(run.inputs.test(data.x_test[:n]))
    answers = run.predict(data.x_test).argmax(axis=1)
    where = np.flatnonzero(answers != data.y_test)
    wrong = [{"image": int(i), "label": int(data.y_test[i]), "answer": int(answers[i])} for i in where]
    for each in wrong[:PICTURED]:
        each["pixels"] = data.x_test[each["image"]].tobytes().hex()
    return {
        "filters": np.round(filters.astype(float), 4).tolist(),
        "final_T_per_layer": [round(float(each.mean()), 6) for each in T],
        "final_T_per_position": [np.round(each, 4).tolist() for each in T],
        "wrong": wrong,
    }


def branch(path: Path, settings: Settings, protocol: Protocol, images: dict) -> Training:
    """The run whose checkpoint lies in `path`, to be continued at another rate: that of `protocol`.

    Its `parent` records the epoch, the rate and the SHA-256 of the checkpoint that it started from.
    Raises InputError for the checkpoint of a run with other settings or images, of a finished run, and of a branch."""
    run = Training.load(path)
    asked = Training(settings, protocol, images)
    other = differences(run, asked).keys() - {"lr", "commits"}
    if other:
        raise InputError(f"{path} cannot be branched from: only the rate may differ, not {', '.join(sorted(other))}")
    if run.parent:
        raise InputError(f"{path} cannot be branched from: it is a branch itself")
    if run.epochs == settings.epochs:
        raise InputError(f"{path} cannot be branched from: its {run.epochs} epochs are finished")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    run.parent = {"epoch": run.epochs, "lr": run.protocol.lr, "sha256": sha256}
    run.protocol = asked.protocol
    return run


def differences(saved: Training, run: Training) -> dict:
    """What makes a checkpoint one of another run, by name: settings, protocol and images that are not the run's, and
    `commits` unless this very program wrote it.  Without a clean commit, programs count as different."""
    now, program_is_known = run.task(), not str(commit()).endswith(("dirty", "None"))
    other = {name: value for name, value in saved.task().items() if value != now[name]}
    same_program = program_is_known and saved.commits == [commit()]
    return other if same_program else other | {"commits": saved.commits}


def say_of_other_program(path: Path, saved: Training) -> None:
    """Says that a checkpoint was written by a program that may be another than this one."""
    print(f"{path}: trained by {saved.commits}, from now on by {commit()}: compare with care", file=sys.stderr)


@one_blas_thread()
def train_one(
    settings: Settings, protocol: Protocol, data: hn.Dataset, checkpoint: Path | None = None,
    *, resume: bool = True, branch_of: Path | None = None, stop_after: int | None = None, tell=lambda message: None,
) -> dict:  # fmt: skip
    """One net to its RUN: from its checkpoint, if there is one, whatever program wrote it, else from its seed, or from
    the checkpoint `branch_of` of a run at another rate.

    Without `resume` the checkpoint is replaced.  `stop_after` is train()'s.  Calls tell((seed, row)) after each step,
    with {"step": n}, and after each epoch, with the "seconds" so far in its row.
    Raises InputError for a file that is no checkpoint, or one of another run, and where none can be written.
    """
    run = Training(settings, protocol, fingerprint(data))
    if resume and checkpoint and checkpoint.exists():
        saved = Training.load(checkpoint)
        other = differences(saved, run).keys() - {"commits"}
        if other:
            advice = "remove it, or name another file"
            raise InputError(f"{checkpoint} is of another run, with another {', '.join(sorted(other))}: {advice}")
        run = saved
    elif branch_of:
        run = branch(branch_of, settings, protocol, run.images)
    run.after_step = lambda: tell((settings.seed, {"step": run.steps}))
    train(run, data, checkpoint, lambda row: tell((settings.seed, row | {"seconds": run.seconds})), stop_after)
    return result(run, data)
