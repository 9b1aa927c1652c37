"""Numbers over several runs: their mean and standard deviation, and how they are written."""

from __future__ import annotations

import numpy as np


def mean_sd_n(values) -> dict:
    """{mean, sd, n} of the values; n counts those that are not None.

    If a value is None, mean and sd are None.  sd is also None for a single value."""
    present = [value for value in values if value is not None]
    stat = {"mean": None, "sd": None, "n": len(present)}
    if present and len(present) == len(values):
        stat["mean"] = float(np.mean(present))
        if len(present) > 1:
            stat["sd"] = float(np.std(present, ddof=1))
    return stat


def mean_and_sd(values) -> str:
    """ "0.965 ± 0.003": the mean and standard deviation of at least two values, none of them
    missing."""
    stat = mean_sd_n(values)
    return f"{stat['mean']:.3f} ± {stat['sd']:.3f}"


def format_stat(stat, digits: int = 3) -> str:
    """An entry of a summary as text: a number, {mean, sd, n}, None, yes or no, words, or how long a list is."""
    if stat is None:
        return "-"
    if isinstance(stat, bool):
        return "yes" if stat else "no"
    if isinstance(stat, str):
        return stat
    if isinstance(stat, list):
        return f"{len(stat)} numbers"
    if not isinstance(stat, dict):
        return f"{stat:.{digits}g}"
    if stat["mean"] is None:
        return f"not all seeds have it (n = {stat['n']})" if stat["n"] else "no seed has it"
    text = f"{stat['mean']:.{digits}g}"
    if stat["sd"] is not None:
        text += f" ± {stat['sd']:.2g} (n = {stat['n']})"
    return text


def spaced(n: int) -> str:
    """A count with spaces between thousands: 151 690."""
    return f"{n:,}".replace(",", " ")


def first_and_last_third(values: list[float]) -> tuple[float, float]:
    """The mean over the first third of the values, as of the blocks of a net, and over the last third."""
    third = max(len(values) // 3, 1)
    return float(np.mean(values[:third])), float(np.mean(values[-third:]))
