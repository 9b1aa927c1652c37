"""Draws what sweep() has returned: highways/lab/sweeps.py."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from highways.files import check_replaceable, write_all
from highways.lab.showing.style import house_style
from highways.statistics import mean_and_sd

MARK = b"highways.draw_sweep"  # in the file: such a picture may be replaced by another


def draw_sweep(rows: list[dict], x: str, y: str, line: str | None = None, path="sweep.png") -> None:
    """Draws y against x into the file `path`: the mean over all rows, with a band of a standard
    deviation to each side, and a line for each value of the setting `line`.

    Rows without a y, whose run diverged, are left out.  Prints the means that are drawn.  Raises
    ValueError if there are no rows, if they lack one of the names, or if all runs diverged, and
    InputError if the file is there and is no picture of this function."""
    check_replaceable(Path(path), lambda found: MARK in found.read_bytes())
    if not rows:
        raise ValueError("there are no rows to draw")
    for name in filter(None, (x, y, line)):
        if name not in rows[0]:
            raise ValueError(f"the rows have no {name!r}; they have {', '.join(rows[0])}")
    drawn = [row for row in rows if row[y] is not None]
    if not drawn:
        raise ValueError(f"no row has a {y}: all runs diverged")
    with house_style():
        figure = Figure(figsize=(6, 4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for value in dict.fromkeys(row[line] for row in drawn) if line else [None]:
            of_line = [row for row in drawn if not line or row[line] == value]
            at = sorted({row[x] for row in of_line})
            groups = [[row[y] for row in of_line if row[x] == place] for place in at]
            means = np.array([np.mean(group) for group in groups])
            spread = np.array([np.std(group, ddof=1) if len(group) > 1 else 0 for group in groups])
            label = f"{line} {value}" if line else y
            axes.plot(at, means, "o-", label=label)
            axes.fill_between(at, means - spread, means + spread, alpha=0.2)
            for place, group in zip(at, groups, strict=True):
                named = f"{label}  " if line else ""
                shown = mean_and_sd(group) if len(group) > 1 else f"{group[0]:.3f}"
                print(f"{named}{x} {place}: {y} {shown}  (n = {len(group)})")
        axes.set_xlabel(x)
        axes.set_ylabel(f"{y}: mean ± standard deviation")
        if line:
            axes.legend()
        picture = io.BytesIO()
        figure.savefig(picture, format="png", metadata={"Software": MARK.decode()})
        write_all({Path(path): picture.getvalue()})
