"""Numbers over several runs: their mean and standard deviation, and how they are written."""

from __future__ import annotations

import numpy as np


def mean_sd_n(values) -> dict:
    """{mean, sd, n}; n counts the values that are there, and if one is missing there is no mean and no sd."""
    there = [value for value in values if value is not None]
    if not there or len(there) < len(values):
        return {"mean": None, "sd": None, "n": len(there)}
    sd = float(np.std(there, ddof=1)) if len(there) > 1 else None
    return {"mean": float(np.mean(there)), "sd": sd, "n": len(there)}


def format_stat(stat, digits: int = 3) -> str:
    """An entry of a summary as text: a number, {mean, sd, n}, None, or words."""
    if not isinstance(stat, dict):
        return "-" if stat is None else stat if isinstance(stat, str) else f"{stat:.{digits}g}"
    if stat["mean"] is None:
        return f"none, or not all (n = {stat['n']})"
    return f"{stat['mean']:.{digits}g}" + ("" if stat["sd"] is None else f" ± {stat['sd']:.2g} (n = {stat['n']})")


def spaced(n: int) -> str:
    """A count with spaces between thousands: 151 690."""
    return f"{n:,}".replace(",", " ")
