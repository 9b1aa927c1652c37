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

    Rows without a y, whose run diverged, are counted as lost, in the legend and in print.  Prints the
    means that are drawn.  Raises ValueError if there are no rows, if one lacks x or line, or if none has
    a y, and InputError if the file is there and is no picture of this function."""
    check_replaceable(Path(path), lambda found: MARK in found.read_bytes())
    if not rows:
        raise ValueError("there are no rows to draw")
    for name in filter(None, (x, line)):
        for row in rows:
            if name not in row:
                raise ValueError(f"a row has no {name!r}; it has {', '.join(row)}")
    if all(row.get(y) is None for row in rows):
        raise ValueError(f"no row has a {y!r}: all runs diverged, or it is none of {', '.join(rows[0])}")
    with house_style():
        figure = Figure(figsize=(6, 4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for value in dict.fromkeys(row[line] for row in rows) if line else [None]:
            of_line = [row for row in rows if not line or row[line] == value]
            at = sorted({row[x] for row in of_line})
            means = []
            spread = []
            for place in at:
                group = [row.get(y) for row in of_line if row[x] == place]
                found = [number for number in group if number is not None]
                means.append(np.mean(found) if found else np.nan)
                spread.append(np.std(found, ddof=1) if len(found) > 1 else 0)
                named = f"{line} {value}  " if line else ""
                shown = mean_and_sd(found) if len(found) > 1 else f"{means[-1]:.3f}"
                print(f"{named}{x} {place}: {y} {shown}  (n = {len(found)}{lost_of(group)})")
            label = f"{line} {value}" if line else y
            axes.plot(at, means, "o-", label=label + lost_of([row.get(y) for row in of_line]))
            axes.fill_between(at, np.subtract(means, spread), np.add(means, spread), alpha=0.2)
        axes.set_xlabel(x)
        axes.set_ylabel(f"{y}: mean ± standard deviation")
        axes.legend()
        picture = io.BytesIO()
        figure.savefig(picture, format="png", metadata={"Software": MARK.decode()})
        write_all({Path(path): picture.getvalue()})


def lost_of(values: list) -> str:
    """How many of the values are missing; nothing if none is."""
    n_lost = values.count(None)
    return f", {n_lost} of {len(values)} lost" if n_lost else ""
