"""The style that all pictures share: colours, markers, fonts, titles, lines and notes.

Commands draw in house_style().  A colour defined here has the same meaning in all pictures."""

from __future__ import annotations

import contextlib
import io
import re
import textwrap
from itertools import cycle

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import LogLocator, NullFormatter

from highways.files import InputError
from highways.records import by_data_set, with_settings

COLOR = {"highway": "#0072B2", "plain": "#D55E00"}  # Okabe & Ito: distinct for the colour-blind, too
MARKER = {"highway": "o", "plain": "s"}
KINDS = COLOR | {"residual": "#009E73", "highway-carry": "#CC79A7"}
KIND_MARKER = MARKER | {"residual": "^", "highway-carry": "D"}
NORMALISED = "#56B4E9"  # highway blocks with batch normalisation
DATA_COLORS = ("#222222", "#882255", "#999933", "#44AA99")  # of data sets, MNIST's first
SPELLED = {"fashion-mnist": "Fashion-MNIST"}  # a data set's name in a record: as the pages spell it
PUBLISHED = "#F0E442"  # the paper's results
# colours without a fixed meaning: the legend of each picture gives it
OTHERS = ("#6A3D9A", "#E69F00", "#8C510A", "#332288", "#777777")
LINES = ("-", (0, (4, 1.5)), (0, (1, 1)), "-.", (0, (5, 1, 1, 1, 1, 1)))
NO_BREAK = "\N{NO-BREAK SPACE}"
GREY = "0.35"  # for reference lines and notes
SIGNED = "RdBu_r"  # the colour map of numbers with a sign: red is +
# the colour map of T, as on the browser pages: the more open a gate, the more of the colour of highway nets
OPEN = LinearSegmentedColormap.from_list("open", ["#ffffff", COLOR["highway"]])
LOSSES = "Greys"  # the colour map of losses: darker is higher

WIDTH = 6.5  # inches; on a phone, 400 pixels wide, the smallest letters are 8 pixels high
HOUSE = {
    "font.size": 12,
    "axes.labelsize": "small",
    "axes.titlesize": "small",
    "axes.titlelocation": "left",
    "xtick.labelsize": "small",
    "ytick.labelsize": "small",
    "legend.fontsize": "small",
    "legend.title_fontsize": "small",
    "figure.titlesize": "medium",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.labelspacing": 0.3,
    "figure.figsize": (WIDTH, WIDTH),
    "savefig.dpi": 200,
}
LETTER = 0.54  # the mean width of a letter, in em
BOLD_LETTER = 0.61


@contextlib.contextmanager
def house_style():
    """Draws in the style of the committed pictures, whatever a matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        plt.rcParams.update(HOUSE)
        yield


def blank(height: float):
    """A figure of this height, without axes."""
    return plt.figure(figsize=(WIDTH, height), layout="constrained")


def panels(rows: int, columns: int, height: float, **more):
    """A figure of this height and its axes, as plt.subplots() gives them."""
    return plt.subplots(rows, columns, figsize=(WIDTH, height), layout="constrained", **more)


def headline(fig, finding: str, below: str = "") -> None:
    """Gives the picture its title: the finding, a sentence; and below it, smaller, what the picture is about."""
    finding = finding[0].upper() + finding[1:]
    title_lines = in_even_lines(finding, letters_in_line(fig, plt.rcParams["figure.titlesize"], BOLD_LETTER))
    lines_below = in_even_lines(below, letters_in_line(fig, "small", LETTER)) if below else ""
    room = "\n" * len(lines_below.splitlines())
    title = fig.suptitle(title_lines + room, x=0.012, ha="left", weight="bold")
    style = {"xycoords": title, "va": "bottom", "fontsize": "small", "color": GREY}
    fig.add_artist(matplotlib.text.Annotation(lines_below, (0, 0), **style))


def letters_in_line(fig, size, letter: float) -> int:
    """How many letters of this font size fit into the width of the figure; `letter` is their mean width, in em."""
    font = matplotlib.font_manager.FontProperties(size=size)
    return int(0.975 * fig.get_size_inches()[0] * 72 / (letter * font.get_size_in_points()))


def in_even_lines(text: str, letters: int) -> str:
    """The text in as few lines of at most so many letters as it needs, all about equally long.

    No line begins with a number, which belongs to the word before it."""
    text = re.sub(r" (?=[\d%±])", NO_BREAK, text)

    def lines(width):
        return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)

    fewest = len(lines(letters))
    narrowest = next(width for width in range(1, letters + 1) if len(lines(width)) == fewest)
    return "\n".join(lines(narrowest))


def shades(color: str, n: int) -> list:
    """n colours from a light one to this one, for things ordered in time or in depth."""
    to_color = matplotlib.colors.LinearSegmentedColormap.from_list("shades", ["0.85", color])
    return [to_color((k + 1) / n) for k in range(n)]


def layers_of_blocks(values) -> range:
    """The numbers of the layers to which the values of a net's blocks belong.

    Layers are counted from 1, and layer 1 is no block: the blocks are layers 2, 3, ..."""
    return range(2, len(values) + 2)


def as_spelled(data: str) -> str:
    """A data set's name as the pages spell it."""
    return SPELLED.get(data, data)


def epochs_as_text(epochs: int) -> str:
    return f"{epochs} epochs" if epochs > 1 else f"{epochs} epoch"


def note(ax, text, at, offset, color, **style):
    """Text beside the place `at` of the axes; `offset`, (right, up), is in typographic points."""
    style = {"ha": "center", "fontsize": "small"} | style
    ax.annotate(text, at, offset, textcoords="offset points", color=color, **style)


def level(ax, y, text, up=-12):
    """A dotted line across the axes, named at its left end; the name stands `up` points above it."""
    ax.axhline(y, color=GREY, lw=1.2, ls=":")
    note(ax, text, (0, y), (4, up), GREY, xycoords=("axes fraction", "data"), ha="left")


def plain_log_ticks(axis, times=(1, 2, 5)) -> None:
    """Ticks of a logarithmic axis at so many times the powers of 10, in plain digits."""
    axis.set_major_locator(LogLocator(subs=times))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def trials_with(record, group, **wanted):
    """The trials of a group (None: all) that have these settings."""
    return with_settings(record["trials"] if group is None else record["trials"][group], **wanted)


def by_data(record):
    """[(name, style of its lines, its trials)] for each data set of the record."""
    looks = zip(DATA_COLORS, LINES, strict=False)
    styles = cycle({"color": color, "lw": 1.4, "ls": line} for color, line in looks)
    by_name = by_data_set(record["trials"])
    return [(name, style, trials) for (name, trials), style in zip(by_name.items(), styles, strict=False)]


def heat_map(ax, rows, colors, limits):
    """Blocks from bottom to top, as on the browser pages, the units of a block from left to right."""
    extent = (0.5, len(rows[0]) + 0.5, 0.5, len(rows) + 0.5)  # both counted from 1
    ax.grid(visible=False)
    style = {"aspect": "auto", "interpolation": "nearest", "origin": "lower", "extent": extent}
    return ax.imshow(rows, cmap=colors, vmin=limits[0], vmax=limits[1], **style)


@contextlib.contextmanager
def drawing(where, what):
    """For a with statement that draws `what` from the JSON in `where`.

    Turns an exception into an InputError of one line, which names what the JSON lacks, and closes
    all figures."""
    try:
        yield
    except InputError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise InputError(f"{where} lacks what {what} needs: {error!r}") from error
    finally:
        plt.close("all")


def picture_bytes(fig) -> bytes:
    """The figure as a PNG; closes it.  The same JSON gives the same bytes."""
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", metadata={"Software": None})
    plt.close(fig)
    return buffer.getvalue()
