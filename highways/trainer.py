"""train_net(): trains a net of one's own with an optimiser of one's own, and goes on where it stopped.

    net = DeepNet(784, 10, hidden=50, depth=10, block="highway", rng=0)
    optimizer = Adam(net.parameters, lr=5e-3)
    history = train_net(net, optimizer, x, y, epochs=5)
    history = train_net(net, optimizer, x, y, epochs=10, history=history)   # five more

After the second call net and history hold the same numbers as after one call with epochs=10.  To go on in
another process keep all three: pickle.dump((net, optimizer, history), file).
"""

from __future__ import annotations

import contextlib
import itertools
import numbers
import zlib

import numpy as np

from highway_networks import accuracy, finite_logits, softmax_cross_entropy, train_epoch

# of an optimiser: the rate, which a schedule or a user sets, and memory to compute in
NO_STATE = ("lr", "_scratch", "_ahead")


@np.errstate(all="ignore")  # numbers that are not finite end the training with a row
def train_net(
    net,
    optimizer,
    x: np.ndarray,
    y: np.ndarray,
    epochs: int,
    *,
    batch_size: int = 128,
    seed: int = 0,
    loss=softmax_cross_entropy,
    validation: tuple[np.ndarray, np.ndarray] | None = None,
    schedule=None,
    stop=None,
    history: list[dict] = (),
) -> list[dict]:
    """Trains the net in place until it has seen x (N, d_in), y (N,) `epochs` times; returns its history, a
    row for each epoch: "epoch", the means over its batches "train_loss", "train_acc" and "grad_norm",
    "lr", the rate of its last step, and "state", by which a call that goes on knows its net, optimiser and examples.

    net          a DeepNet, or anything with forward(x), backward(d_logits), predict(x) and parameters
    x            floats, the net's inputs as they are
    y            labels; or targets, a row for each example, with a loss of their own
    seed         draws the order of the examples, anew in each epoch; a last batch that is not full is left out
    loss         loss(outputs, y) gives the loss of a batch and its gradient by the outputs
    validation   (x, y) by which every epoch is measured: "validation_acc", or "validation_loss" of targets
    schedule     schedule(step) is the rate of that step; steps count from 0, through all epochs
    stop         stop(history), asked after every epoch and of the history given, ends the training where it is true
    history      what an earlier call returned, with which this one goes on

    A training that diverges ends: the last row then has "diverged", where it did, and nothing else but
    "epoch"; such a history cannot be gone on with (ValueError).  Raises ValueError, too, for another seed or
    batch_size and for other x or y than the history's, for a net that was trained since, as by a call that was
    interrupted, for another optimiser, as a new one, and for floats in y without a loss of their own."""
    history = list(history)
    x = np.asanyarray(x)  # a mask stays, and is refused
    y = np.asanyarray(y)
    same = checksum_of_same(net, x, y, seed, batch_size)
    if history:
        check_goes_on(history[-1], state_of(net, optimizer, same))
    if validation is not None:
        validation = tuple(map(np.asanyarray, validation))
        with contextlib.suppress(FloatingPointError):  # wrong examples are refused before the net is trained
            measured_on(net, *validation, loss)
    if loss is softmax_cross_entropy and y.dtype.kind == "f":
        raise ValueError("y holds floats, not labels: give a loss, loss(outputs, y) -> (value, gradient by outputs)")
    steps = itertools.count(len(history) * (len(x) // batch_size))

    rate = optimizer.lr  # of the last step: a step may change optimizer.lr

    def set_rate():
        nonlocal rate
        if schedule is not None:
            optimizer.lr = schedule(next(steps))
        rate = optimizer.lr

    if history and stop is not None and stop(history):
        return history
    while len(history) < epochs:
        epoch = len(history) + 1
        order = np.random.default_rng([seed, epoch]).permutation(len(x))
        try:
            row = {"epoch": epoch, **train_epoch(net, optimizer, x, y, order, batch_size, loss, set_rate)}
            row["lr"] = rate
            row["state"] = state_of(net, optimizer, same)
            if not np.isfinite(net.parameters).all():
                raise FloatingPointError("after its last step: parameters are not finite")
            if validation is not None:
                row |= measured_on(net, *validation, loss)
        except FloatingPointError as error:
            history.append({"epoch": epoch, "diverged": str(error)})
            break
        history.append(row)
        if stop is not None and stop(history):
            break
    return history


def check_goes_on(last: dict, state: int) -> None:
    """Raises ValueError unless a training whose last row this is goes on from this state."""
    if "diverged" in last:
        raise ValueError(f"the training diverged in epoch {last['epoch']}: it cannot be gone on with")
    if last.get("state") != state:
        raise ValueError("net, optimizer, x, y, seed or batch_size are not those of this history's end: keep them")


def checksum_of_same(net, x: np.ndarray, y: np.ndarray, seed: int, batch_size: int) -> int:
    """A checksum of what stays the same in all epochs: the examples in the net's dtype, seed and batch size."""
    same = zlib.crc32(f"{seed} {batch_size}".encode())
    for array in (x, y):
        same = zlib.crc32(np.ascontiguousarray(array, net.parameters.dtype), same)
    return same


def state_of(net, optimizer, same: int) -> int:
    """The checksum `same`, gone on with over the net's parameters and the arrays and numbers of the optimiser, also
    those in its dicts, lists and tuples."""
    state = zlib.crc32(np.ascontiguousarray(net.parameters), same)
    for name, value in sorted(getattr(optimizer, "__dict__", {}).items()):
        if name not in NO_STATE:
            state = with_value(state, name, value)
    return state


def with_value(state: int, name, value) -> int:
    """The checksum `state`, gone on with over the numbers and arrays of a value."""
    if isinstance(value, numbers.Number):
        return zlib.crc32(f"{name} {value}".encode(), state)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return zlib.crc32(value.tobytes(), state)
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, part in value.items():
            state = with_value(state, key, part)
    return state


def measured_on(net, x: np.ndarray, y: np.ndarray, loss) -> dict:
    """The accuracy on other examples or, where y holds targets, their loss."""
    if y.ndim == 1 and y.dtype.kind in "iu":
        return {"validation_acc": accuracy(net, x, y)}
    value = float(loss(finite_logits(net, x), y)[0])
    if not np.isfinite(value):
        raise FloatingPointError(f"the loss of the other examples is {value}")
    return {"validation_loss": value}
