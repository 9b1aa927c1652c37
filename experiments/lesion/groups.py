"""Groups of blocks of a net of 50 layers, and how many of them are idle."""

from __future__ import annotations

import numpy as np

MIDDLE = range(15, 46)  # the paper's layers 15 to 45, taken as numbers of blocks
EARLY = range(1, MIDDLE.start)
FIRST_40 = range(1, 41)  # the blocks that matter on CIFAR-100, by the paper


def idle_share_among(blocks: range, trial: dict) -> float | None:
    """The share of idle blocks among those that the net has; None if it has none of these."""
    present = [block for block in blocks if block <= len(trial["errors"])]
    if not present:
        return None
    return float(np.mean([block in trial["idle"] for block in present]))
