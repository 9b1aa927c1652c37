"""Trains a net; of a highway net also measures the accuracy with all its blocks closed."""

from __future__ import annotations

from experiments.shared_trials import fully_connected


def trial(setting: dict) -> dict:
    if setting["kind"] == "plain":
        return fully_connected.trial(setting)
    _, result = fully_connected.train_and_skip(setting)
    return result
