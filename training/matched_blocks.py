"""What the questions share that compare blocks with as many parameters, or of the same width."""

from __future__ import annotations

import numpy as np


def early_and_late(mean_T: list[float]) -> tuple[float, float]:
    third = max(len(mean_T) // 3, 1)
    return float(np.mean(mean_T[:third])), float(np.mean(mean_T[-third:]))
