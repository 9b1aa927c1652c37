"""What the pictures and tables of the convolutional nets share."""

from __future__ import annotations

import numpy as np

from highways.lab.showing.style import OPEN, WIDTH, blank
from highways.lab.showing.tables import percent
from highways.records import with_settings
from highways.statistics import spaced

SMALL_IMAGE = WIDTH / 16  # the side, in inches, of an image of which 16 stand in a row


def runs_with_filters(record: dict) -> list[dict]:
    """The runs whose nets can be pictured, with their filters and gates: highway nets of seed 0."""
    runs = [trial for trial in record["trials"]["final"] if "filters" in trial]
    if not runs:
        raise ValueError("no highway net of seed 0 has filters: it diverged, or was not trained")
    return runs


def error_curve(ax, run: dict, first_epoch: int = 1, **look) -> None:
    """The test error of a run from one of its epochs on, in percent."""
    epochs = run["history"]["epoch"]
    errors = [100 * (1 - accuracy) for accuracy in run["history"]["test_accuracy"]]
    ax.plot(epochs[first_epoch - 1 :], errors[first_epoch - 1 :], **look)


def log_curve(ax, epochs: list, accuracies: list, label: str, **look) -> None:
    """Points of a log that the authors released, as test errors in percent."""
    errors = [100 * (1 - accuracy) for accuracy in accuracies]
    ax.plot(epochs, errors, "k*", ms=7, zorder=3, label=label, **look)


def rows_needed(things: list, columns: int) -> int:
    """How many rows a grid of these things has, with this number of columns; at least one."""
    return max(-(-len(things) // columns), 1)


def in_grid(figure, things: list, columns: int):
    """Yields (axes, thing) for each of the things: a grid of axes without frames, row by row."""
    axes = figure.subplots(rows_needed(things, columns), columns, squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    return zip(axes.flat, things, strict=False)


def figure_of_gates(nets: list[dict], height: float):
    """A figure, its axes on top, and below them a subfigure of this height for each net."""
    fig = blank(3.2 + height * len(nets))
    top, *parts = fig.subfigures(len(nets) + 1, 1, height_ratios=[3.2] + [height] * len(nets))
    return fig, top.subplots(), parts


def gate_maps(figure, maps: list, titles: list[str], all_maps: list) -> None:
    """Mean T at every position of every highway layer of a net; the colours range over `all_maps`."""
    values = np.concatenate([np.ravel(T) for T in all_maps])
    axes = figure.subplots(1, len(maps), squeeze=False)[0]
    for ax, T, title in zip(axes, maps, titles, strict=True):
        image = ax.imshow(T, cmap=OPEN, vmin=values.min(), vmax=values.max(), origin="upper")
        ax.set_title(title)
        ax.set_axis_off()
    figure.colorbar(image, ax=axes, pad=0.01)


def title_of_errors(name: str, how_many: str, run: dict) -> str:
    images = spaced(run["n_test"])
    return f"{name}, seed 0: {how_many} errors on {images} test images (the label, read as the answer)"


# ---- Tables ----------------------------------------------------------------------------------------------------------


def accuracy_cell(rows: list[dict], **wanted) -> str:
    """The accuracy of these runs, their seeds and epochs; a dash where there are none."""
    found = with_settings(rows, **wanted)
    if not found:
        return "-"
    return f"**{percent(found[0]['test_accuracy'])}, {found[0]['epochs']} epochs**"
