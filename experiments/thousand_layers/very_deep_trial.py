"""Trains a net and measures its accuracy with all blocks closed; of a highway net also the sum of T."""

from __future__ import annotations

from experiments.shared_trials import fully_connected
from experiments.shared_trials.matched_blocks import mean_T


def trial(setting: dict) -> dict:
    net, result = fully_connected.train_and_skip(setting)
    if net.block.gates and not result["diverged"]:
        result["sum_of_mean_T"] = sum(mean_T(net, setting))
    return result
