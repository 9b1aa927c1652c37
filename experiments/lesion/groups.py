"""Groups of blocks of a net of 50 layers, how many of them are idle, and rows of the controls that say so."""

from __future__ import annotations

import numpy as np

from highways.records import by_data_set
from highways.statistics import mean_sd_n

MIDDLE = range(15, 46)  # the paper's layers 15 to 45, taken as numbers of blocks
EARLY = range(1, MIDDLE.start)
FIRST_40 = range(1, 41)  # the blocks that matter on CIFAR-100, by the paper


def idle_share_among(blocks: range, trial: dict) -> float | None:
    """The share of idle blocks among those that the net has; None if it has none of these."""
    present = [block for block in blocks if block <= len(trial["errors"])]
    if not present:
        return None
    return float(np.mean([block in trial["idle"] for block in present]))


def rows_of(nets: list[dict]) -> list[dict]:
    """A row for each data set."""
    result = []
    for data, nets_on_set in by_data_set(nets).items():
        row = {"data": data, "control": nets_on_set[0]["control"]}
        for name in ("error", "idle_share", "error_all_idle", "test_accuracy"):
            row[name] = mean_sd_n([net[name] for net in nets_on_set])
        for name, blocks in (("1_to_14", EARLY), ("15_to_45", MIDDLE), ("first_40", FIRST_40)):
            row[f"idle_share_{name}"] = mean_sd_n([idle_share_among(blocks, net) for net in nets_on_set])
        result.append(row)
    return result
