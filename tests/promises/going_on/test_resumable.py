"""A question's long trial that was stopped ends with the same numbers."""

import re

import pytest

import highway_networks as hn
from experiments.shared_trials import fully_connected, resumable

SETTING = {
    "block": "highway",
    "depth": 3,
    "activation": "tanh",
    "effective_lr": 2.0,
    "momentum": 0.9,
    "decay": 0.9,
    "gate_bias": -2.0,
    "clip": 1.0,
    "seed": 1,
    "epochs": 5,
    "n_train": 512,
    "n_test": 100,
}


class Stopped(Exception):
    pass


def stop_after(monkeypatch, epochs: int) -> list[int]:
    """Makes the training raise Stopped after `epochs` more epochs.

    Returns a list with one number, the epochs that are left."""
    left = [epochs]
    train_epochs = hn.train_epochs

    def stopping(*args, **settings):
        if left[0] == 0:
            raise Stopped
        left[0] -= 1
        return train_epochs(*args, **settings)

    monkeypatch.setattr(hn, "train_epochs", stopping)
    return left


@pytest.fixture
def every_second_epoch(monkeypatch):
    """A checkpoint is written after every second epoch."""
    monkeypatch.setattr(resumable, "EPOCHS_BETWEEN", 2)


@pytest.mark.parametrize("block", ["highway", "plain"])
def test_a_stopped_training_ends_with_the_same_numbers(tmp_path, monkeypatch, every_second_epoch, block):
    setting = {**SETTING, "block": block}
    checkpoint = tmp_path / "net.npz"
    whole = fully_connected.trial(setting)
    with monkeypatch.context() as patches:
        stop_after(patches, 3)
        with pytest.raises(Stopped):
            resumable.trial(setting, checkpoint)
    assert checkpoint.exists()
    with monkeypatch.context() as patches:
        stop_after(patches, 3)  # no more than epochs 3, 4 and 5; the third was lost with the stop
        assert resumable.trial(setting, checkpoint) == whole


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04"])
def test_a_file_that_is_no_checkpoint_is_not_used(tmp_path, content):
    checkpoint = tmp_path / "net.npz"
    checkpoint.write_bytes(content)
    assert resumable.trial(SETTING, checkpoint) == fully_connected.trial(SETTING)


def test_a_net_that_diverges_says_in_which_epoch(monkeypatch):
    train_epoch = hn.train_epoch
    calls = []

    def diverging(*args, **settings):
        calls.append(args)
        if len(calls) == 3:
            raise FloatingPointError("step 1: loss nan")
        return train_epoch(*args, **settings)

    monkeypatch.setattr(hn, "train_epoch", diverging)
    result = resumable.trial(SETTING)
    assert re.findall(r"\d+", result["diverged_at"]) == ["3", "1"]  # the epoch, and the step
    assert len(result["losses"]) == 2
    assert result["loss"] is None
