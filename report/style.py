"""The style that all pictures share: colours, markers, fonts, lines and notes."""

from __future__ import annotations

import contextlib
import io
import math
from itertools import cycle

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from plumbing.files import InputError
from plumbing.statistics import mean_sd_n

COLOR = {"highway": "#0072B2", "plain": "#D55E00"}  # Okabe & Ito: apart for every kind of colour vision
MARKER = {"highway": "o", "plain": "s"}
KINDS = COLOR | {"residual": "#009E73", "highway-carry": "#CC79A7"}
KIND_MARKER = MARKER | {"residual": "^", "highway-carry": "D"}

matplotlib.rcdefaults()  # whatever a matplotlibrc says
plt.rcParams.update(
    {
        "font.size": 12,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    }
)


def n_classes(record: dict) -> int:
    n = record.get("n_classes") or 10  # the published program, which does not say, trains on MNIST only
    if n < 2:
        raise ValueError(f"n_classes is {n}")
    return n


def initial_gate(record: dict) -> float | None:
    """sigmoid(b_T) at the start, when the record says what b_T was."""
    bias = record.get("gate_bias")
    return None if bias is None else (1 + math.tanh(bias / 2)) / 2


def label(run: dict, block: str) -> str:
    return f"{block} (diverged)" if run.get("diverged") else block


def data_set(record: dict) -> str:
    """The data set's name, cut to fit a title; $ is escaped, since it would begin a formula."""
    name = "".join(letter if letter.isprintable() else "?" for letter in record.get("data_set", "MNIST"))
    return (name if len(name) <= 40 else f"{name[:39]}…").replace("$", r"\$")


def titled(record: dict) -> str:
    pair = record["runs"][0]
    return f"{data_set(record)}, depth {pair['depth']:d}, width {record['hidden']:d}, seed {seed_of(pair, record):d}"


def seed_of(pair: dict, record: dict) -> int:
    return pair.get("seed", record.get("seed"))  # in a pair of the published program there is none


def epochs_as_text(epochs: int) -> str:
    return f"{epochs} epochs" if epochs > 1 else f"{epochs} epoch"


def note(ax, text, at, offset, color, **style):
    """Text beside the point `at`, `offset` points away."""
    style = {"ha": "center", "fontsize": 10} | style
    ax.annotate(text, at, offset, textcoords="offset points", color=color, **style)


def level(ax, y, text):
    """A dotted line across the axes, named at its left end."""
    ax.axhline(y, color="0.35", lw=1.2, ls=":")
    note(ax, text, (0, y), (4, -15), "0.35", xycoords=("axes fraction", "data"), ha="left")


def chance_line(ax, record):
    level(ax, 1 / n_classes(record), f"chance {1 / n_classes(record):.2g}")


def uniform_loss_line(ax, record):
    loss = math.log(n_classes(record))
    level(ax, loss, f"log {n_classes(record)} = {loss:.3f}")


def mean_sd(values) -> tuple[float, float]:
    """Mean and standard deviation; of a single value the deviation is 0."""
    stat = mean_sd_n(values)
    return stat["mean"], stat["sd"] or 0.0


def of_trials(record, group, **wanted):
    """The trials of a group (None: all) that have these settings."""
    trials = record["trials"] if group is None else record["trials"][group]
    return [trial for trial in trials if all(trial.get(name) == value for name, value in wanted.items())]


def by_data(record):
    """[(name, style of its lines, its trials)] of MNIST and of what was measured beside it."""
    names = list(dict.fromkeys(trial["data"] for trial in record["trials"]))
    colors = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
    dashes = ("-", (0, (4, 1.5)), (0, (1, 1)), "-.")
    styles = cycle({"color": color, "lw": 1.4, "ls": dash} for color, dash in zip(colors, dashes, strict=True))
    return [(name, style, of_trials(record, None, data=name)) for name, style in zip(names, styles, strict=False)]


def heat_map(ax, rows, colors, limits):
    """Blocks from top to bottom, the units of a block from left to right."""
    extent = (0.5, len(rows[0]) + 0.5, len(rows) + 0.5, 0.5)  # both counted from 1
    ax.grid(visible=False)
    style = {"aspect": "auto", "interpolation": "nearest", "origin": "upper", "extent": extent}
    return ax.imshow(rows, cmap=colors, vmin=limits[0], vmax=limits[1], **style)


@contextlib.contextmanager
def drawing(where, what):
    """Says in one line what the JSON lacks; leaves no figure open."""
    try:
        yield
    except InputError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise InputError(f"{where} lacks what {what} drawn from: {error!r}") from error
    finally:
        plt.close("all")


def png(fig, dpi: int = 130) -> bytes:
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})  # the same JSON, the same bytes
    plt.close(fig)
    return buffer.getvalue()
