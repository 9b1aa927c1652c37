"""What the pictures and tables of the convolutional nets share."""

from __future__ import annotations

from highways.lab.showing.tables import percent
from highways.records import with_settings


def error_curve(ax, run: dict, first_epoch: int = 1, **look) -> None:
    """The test error of a run from one of its epochs on, in percent."""
    epochs = run["history"]["epoch"]
    errors = [100 * (1 - accuracy) for accuracy in run["history"]["test_accuracy"]]
    ax.plot(epochs[first_epoch - 1 :], errors[first_epoch - 1 :], **look)


def log_curve(ax, epochs: list, accuracies: list, label: str, **look) -> None:
    """Points of a log that the authors released, as test errors in percent."""
    errors = [100 * (1 - accuracy) for accuracy in accuracies]
    ax.plot(epochs, errors, "k*", ms=7, zorder=3, label=label, **look)


# ---- Tables ----------------------------------------------------------------------------------------------------------


def accuracy_cell(rows: list[dict], **wanted) -> str:
    """The accuracy of these runs, their seeds and epochs; a dash where there are none."""
    found = with_settings(rows, **wanted)
    if not found:
        return "-"
    return f"**{percent(found[0]['test_accuracy'])}, {found[0]['epochs']} epochs**"
