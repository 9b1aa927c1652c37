"""Sums up the trials of the factor model, for nets of width 32 and, in factor_model_wide, of 128."""

from __future__ import annotations

import numpy as np

from experiments.market.factor_model_trial import WINDOW, WORLDS
from highways.lab.judging.claim import Sample, values_of
from highways.statistics import mean_sd_n

USEFUL_AUC = 0.55  # the lowest AUC that is of use


def rows(record: dict) -> list[dict]:
    """The definitions; a row for each world; by how much the mean gate's AUC exceeds others."""
    trials = record["trials"]
    names = [name for name in trials[0] if name.startswith(("auc", "rank", "mean_gate", "error"))]
    result = [{"row": "definitions", "window": WINDOW}]
    for world in WORLDS:
        row = {"world": world}
        for name in names:
            row[name] = mean_sd_n(values_of(trials, name, world=world))
        result.append(row)
    for less, values in differences(trials).items():
        result.append({"row": "difference", "less": less, "difference": mean_sd_n(values)})
    return result


def differences(trials: list[dict]) -> dict[str, Sample]:
    """By how much the mean gate's AUC in the world "both" exceeds other AUCs, seed by seed.

    Returns {the name of the other AUC: the differences}.  If the mean gate measured complexity,
    all would be positive."""
    by_seed = sorted(trials, key=lambda trial: trial["seed"])

    def auc(score: str, world: str) -> np.ndarray:
        return np.array(values_of(by_seed, f"auc_{score}", world=world))

    gate = auc("gate", "both")
    subtracted = {
        "where volatile only": auc("gate", "volatile"),
        "before training": auc("gate_before_training", "both"),
        "norm": auc("norm", "both"),
    }
    return {
        name: Sample((gate - values).tolist(), f"AUC less the other: {name}") for name, values in subtracted.items()
    }
