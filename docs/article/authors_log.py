"""The authors' log of 19 layers beside our runs."""

from __future__ import annotations

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, OTHERS, headline, note, panels
from highways.records import with_settings

OVER = 7  # epochs that a point of the picture is a mean of
OF_THE_LOG = {
    "paper": ("ours, normalised contrast", COLOR["highway"]),
    "whitened": ("ours, whitened images", OTHERS[1]),
    "earlier log": ("the authors' earlier log", "0.6"),
}
COMPARED_FROM = 10  # the epoch from which on the text compares
STOPPED_EARLY = ("paper", "whitened")  # before the 400 epochs of the log


def less_the_log(row: dict) -> tuple[np.ndarray, np.ndarray]:
    """(epochs, points of accuracy above the authors' log), means over some epochs, each at the middle one."""
    points = 100 * np.convolve(row["differences"], np.full(OVER, 1 / OVER), "valid")
    return np.arange(len(points)) + 1 + OVER // 2, points


@table("article-largest-differences")
def largest_differences(read) -> str:
    """The largest differences from the authors' log, in points, from an epoch on."""
    said = []
    for row in with_settings(read("experiments/results/cifar.json")["summary"], row="less the log"):
        words, _ = OF_THE_LOG[row["training"]]
        epochs, points = less_the_log(row)
        said.append(f"{np.abs(points[epochs >= COMPARED_FROM]).max():.1f} points ({words})")
    return ", ".join(said)


@table("article-behind-at-the-end")
def behind_at_the_end(read) -> str:
    """How far our run on normalised contrast is below the log where it ends, in points."""
    [row] = with_settings(read("experiments/results/cifar.json")["summary"], row="less the log", training="paper")
    epochs, points = less_the_log(row)
    return f"{-points[-1]:.1f} points at epoch {epochs[-1]}"


@picture("cifar")
def article_log(record):
    """The test accuracy of the 19 layers less that of the authors' log, epoch by epoch."""
    fig, ax = panels(1, 1, 2.9)
    for row in with_settings(record["summary"], row="less the log"):
        words, color = OF_THE_LOG[row["training"]]
        epochs, points = less_the_log(row)
        ax.plot(epochs, points, color=color, lw=1.6, label=words)
        if row["training"] in STOPPED_EARLY:
            ax.plot(epochs[-1], points[-1], "o", color=color, ms=5)
            note(ax, "stopped", (epochs[-1], points[-1]), (6, 4), color, ha="left")
    ax.axhline(0, color="black", lw=1)
    ax.set(xlabel="epoch", ylabel="points of test accuracy\nabove the authors' log")
    ax.legend(loc="lower right")
    headline(
        fig,
        "On whitened images our run stays near the authors' log until it stops, on normalised contrast below it",
        f"19 layers, CIFAR-10, one run each; means over {OVER} epochs",
    )
    return fig
