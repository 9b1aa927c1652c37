"""Draws the pictures of highway nets beside plain ones, in viz/, from the JSON that highway_networks.py (or the
published program) writes, and from nothing else.

    python visualize_highway_networks.py                           all pictures whose JSON is here
    python visualize_highway_networks.py --only depth_sweep,seeds  these pictures
    python visualize_highway_networks.py --format svg --scale 1.5  for slides: larger text
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import re
import sys
import textwrap
from pathlib import Path
from typing import NoReturn

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import MaxNLocator

ROOT = Path(__file__).parent
RUNS = {"run": "--run", "run_sweep": "--sweep", "run_seeds": "--seeds"}  # {JSON without its ending: its flag}
COLOR = {"highway": "#0072B2", "plain": "#D55E00"}  # Okabe & Ito: distinct for the colour-blind, too
MARKER = {"highway": "o", "plain": "s"}
GREY = "0.35"  # for reference lines and notes
# a net's accuracy, as a multiple of that of guessing:
AT_CHANCE = 1.5  # below it a net stays at chance
TIMES_CHANCE = 2  # from here on it has learned; in between it has learned a little
BLOCK = "block (1 is nearest to the image)"
FIRST_STEPS = 100
SHOWN_STEPS = (0, 5, 10, 20, 50, FIRST_STEPS)
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# ---- Style -----------------------------------------------------------------------------------------------------------

WIDTH = 6.5  # inches; on a phone, 400 pixels wide, the smallest letters are 8 pixels high
DOTS_AN_INCH = 200
STYLE = {
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
    "svg.hashsalt": "highway networks",  # so that the same JSON gives the same bytes
}
LETTERS = 62  # of a title, in a line as wide as the figure
SMALL_LETTERS = 84
METADATA = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}  # what is left out of a file


def set_style(scale: float = 1) -> None:
    """Sets the style of the pictures, whatever a matplotlibrc says.

    Text, lines and markers become `scale` times as large; the number of pixels stays the same."""
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(STYLE)
    matplotlib.rcParams["figure.figsize"] = (WIDTH / scale, WIDTH / scale)
    matplotlib.rcParams["savefig.dpi"] = DOTS_AN_INCH * scale


def sheet(height: float) -> Figure:
    """An empty figure; `height`, in inches, is meant for the width WIDTH and scaled with it."""
    width, _ = matplotlib.rcParams["figure.figsize"]
    return Figure((width, height * width / WIDTH), layout="constrained")


def headline(fig: Figure, finding: str, below: str) -> None:
    """Gives the picture its title: the finding, a sentence; and below it, smaller, what the picture is about."""
    scale = WIDTH / fig.get_figwidth()
    title_lines = in_even_lines(finding[0].upper() + finding[1:], int(LETTERS / scale))
    lines_below = in_even_lines(below, int(SMALL_LETTERS / scale))
    room = "\n" * len(lines_below.splitlines())
    title = fig.suptitle(title_lines + room, x=0.012, ha="left", weight="bold")
    fig.add_artist(Annotation(lines_below, (0, 0), xycoords=title, va="bottom", fontsize="small", color=GREY))


def in_even_lines(text: str, letters: int) -> str:
    """The text in as few lines of at most so many letters as it needs, all about equally long.

    No line begins with a number, which belongs to the word before it."""
    text = re.sub(r" (?=[\d%±])", "\N{NO-BREAK SPACE}", text)

    def lines(width):
        return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)

    fewest = len(lines(letters))
    narrowest = next(width for width in range(1, letters + 1) if len(lines(width)) == fewest)
    return "\n".join(lines(narrowest))


def shades(color: str, n: int) -> list:
    """n colours from a light one to this one, for things ordered in time."""
    to_color = LinearSegmentedColormap.from_list("shades", ["0.85", color])
    return [to_color((k + 1) / n) for k in range(n)]


def note(ax, text: str, at, offset, color, **style) -> None:
    """Text to the right of the place `at` of the axes; `offset`, (right, up), is in typographic points."""
    ax.annotate(text, at, offset, textcoords="offset points", color=color, ha="left", fontsize="small", **style)


def level(ax, y: float, text: str, up: float) -> None:
    """A dotted line across the axes, named at its left end; the name stands `up` points above it."""
    ax.axhline(y, color=GREY, lw=1.2, ls=":")
    note(ax, text, (0, y), (4, up), GREY, xycoords=("axes fraction", "data"))


def chance_line(ax, record: dict) -> None:
    chance = 1 / n_classes(record)
    level(ax, chance, f"chance {chance:.2g}", up=-12)


def uniform_loss_line(ax, record: dict) -> None:
    loss = math.log(n_classes(record))
    level(ax, loss, f"log {n_classes(record)} = {loss:.3f}", up=6)


def whole_numbers(axis) -> None:
    axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def picture_bytes(fig: Figure, kind: str = "png", dpi: float | None = None) -> bytes:
    """The figure as a file of this kind.  The same JSON gives the same bytes."""
    buffer = io.BytesIO()
    fig.savefig(buffer, format=kind, dpi=dpi, metadata=METADATA[kind])
    return buffer.getvalue()


# ---- What a record says ----------------------------------------------------------------------------------------------


def n_classes(record: dict) -> int:
    return record.get("n_classes", 10)  # the published program does not record it: it has MNIST only


def data_set(record: dict) -> str:
    name = record.get("data_set", "MNIST")
    if name == "fashion-mnist":
        name = "Fashion-MNIST"
    return name.replace("$", r"\$")  # $ would begin a formula


def seed_of(pair: dict, record: dict) -> int:
    return pair.get("seed", record.get("seed"))  # the published program's pairs have no seed


def run_as_text(record: dict) -> str:
    """ "MNIST, depth 30, width 50, seed 0": the first pair of a record, a highway net and a plain one trained alike."""
    pair = record["runs"][0]
    text = f"{data_set(record)}, depth {pair['depth']}, width {record['hidden']}, seed {seed_of(pair, record)}"
    pairs = len(record["runs"])
    return text if pairs == 1 else f"{text} (first of {pairs} pairs)"


def label(run: dict, block: str) -> str:
    return f"{block} (diverged)" if run.get("diverged") else block


def has_learned(run: dict, record: dict) -> bool:
    accuracy = run["final_test_acc"]
    return accuracy is not None and accuracy >= TIMES_CHANCE / n_classes(record)


def at_chance(run: dict, record: dict) -> bool:
    accuracy = run["final_test_acc"]
    return accuracy is not None and accuracy < AT_CHANCE / n_classes(record)


def fates(pair: dict, record: dict) -> str:
    """What became of both nets: highway learns (0.917), plain stays at chance (0.102)."""
    texts = []
    for block in COLOR:
        run = pair[block]
        if run["final_test_acc"] is None:
            texts.append(f"{block} diverges")
            continue
        words = "learns a little"
        if has_learned(run, record):
            words = "learns"
        elif at_chance(run, record):
            words = "stays at chance"
        texts.append(f"{block} {words} ({run['final_test_acc']:.3f})")
    return ", ".join(texts)


def has_layers(record: dict) -> bool:
    """Whether the record has, for both nets of the first pair, the gradient of every block over the steps."""
    pair = record["runs"][0]
    return all(pair[block].get("layer_history", {}).get("step") for block in COLOR)


def positive(norms: list[float]) -> list[float]:
    """The norms, with gaps where one is 0, which a logarithmic axis cannot show."""
    return [norm if norm > 0 else math.nan for norm in norms]


# ---- One pair of nets ------------------------------------------------------------------------------------------------


def draw_histories(ax, pair: dict, name: str, decimals: int = 3) -> None:
    """The curves of both nets over epochs, with the numbers at their ends.

    The higher number stands above the end of its curve and the lower one below, so that they never touch."""
    ends = {}
    for block, color in COLOR.items():
        run = pair[block]
        epochs = run["history"]["epoch"]
        values = run["history"][name]
        ax.plot(epochs, values, color=color, marker=MARKER[block], ms=4, lw=2, label=label(run, block))
        if values:
            ends[block] = (epochs[-1], values[-1])
    highest = max(ends, key=lambda block: ends[block][1], default=None)
    for block, end in ends.items():
        side = "bottom" if block == highest else "top"
        note(ax, f"{end[1]:.{decimals}f}", end, (6, 0), COLOR[block], weight="bold", va=side)
    whole_numbers(ax.xaxis)
    ax.set_xlabel("epoch")


def learning_curves(record: dict) -> Figure:
    """Test accuracy and training loss of one pair, epoch by epoch."""
    pair = record["runs"][0]
    fig = sheet(3.3)
    left, right = fig.subplots(1, 2)
    draw_histories(left, pair, "test_acc")
    draw_histories(right, pair, "train_loss")
    chance_line(left, record)
    left.set(ylabel="test accuracy", ylim=(0, 1.08))
    left.legend(loc="center right")
    right.set(ylabel="training loss", ylim=(0, None))
    headline(fig, fates(pair, record), f"{run_as_text(record)}; only the gates differ")
    return fig


def plain_loss_collapse(record: dict) -> Figure:
    """Left, the training loss of one pair beside the loss of guessing; right, the gradient at every block."""
    pair = record["runs"][0]
    fig = sheet(3.4)
    left, right = fig.subplots(1, 2)
    draw_histories(left, pair, "train_loss")
    uniform_loss_line(left, record)
    left.set(ylabel="training loss", ylim=(0, math.log(n_classes(record)) * 1.25))
    left.legend(loc="center right")
    if has_layers(record):
        for block in COLOR:
            draw_first_and_last_gradients(right, pair[block], block)
        for line, when in (("--", "before training"), ("-", "after")):
            right.plot([], [], line, color=GREY, label=when)
        right.legend(loc="lower right")
        headline(fig, finding_of_gradients(pair), run_as_text(record))
    else:  # as the published program writes it
        draw_histories(right, pair, "grad_norm", decimals=2)
        right.set(ylabel="gradient norm before clipping, mean", yscale="log")
        headline(fig, f"Training loss and gradient: {fates(pair, record)}", run_as_text(record))
    return fig


def draw_first_and_last_gradients(ax, run: dict, block: str) -> None:
    """|dL/dy| of every block, before training and after it."""
    gradients = run["layer_history"]["gradient"]
    for norms, line in ((gradients[0], "--"), (gradients[-1], "-")):
        ax.plot(range(1, len(norms) + 1), positive(norms), line, color=COLOR[block], lw=2)
    ax.set(xlabel=BLOCK, ylabel="gradient |dL/dy|", yscale="log")
    whole_numbers(ax.xaxis)


def finding_of_gradients(pair: dict) -> str:
    """How much of the last block's gradient reaches the first one, before training."""
    plain = pair["plain"]["layer_history"]["gradient"][0]
    highway = pair["highway"]["layer_history"]["gradient"][0]
    arrives = f"{first_over_last(highway)} of block {len(plain)}'s gradient reaches block 1"
    return f"Before training {arrives} in the highway net, {first_over_last(plain)} in the plain net"


def first_over_last(norms: list[float]) -> str:
    if norms[-1] == 0:
        return "unknown"
    ratio = norms[0] / norms[-1]
    if ratio == 0 or ratio >= 0.001:
        return f"{ratio:.2g}"
    digit, _, power = f"{ratio:.0e}".partition("e")
    return f"{digit}·10{str(int(power)).translate(SUPERSCRIPTS)}"


# ---- Over depths -----------------------------------------------------------------------------------------------------


def depth_sweep(record: dict) -> Figure:
    """The final accuracy and loss of both nets against depth."""
    fig = sheet(3.5)
    left, right = fig.subplots(1, 2)
    draw_over_depths(left, record, "final_test_acc")
    draw_over_depths(right, record, "final_train_loss")
    chance_line(left, record)
    left.set(ylabel="final test accuracy", ylim=(0, 1))
    left.legend(loc="center right")
    uniform_loss_line(right, record)
    right.set(ylabel="final training loss", ylim=(0, math.log(n_classes(record)) * 1.2))
    seeds_as_text = ", ".join(map(str, record.get("seeds") or [record.get("seed")]))
    nets = f"{data_set(record)}, width {record['hidden']}, seed {seeds_as_text}"
    headline(fig, "; ".join(fate_over_depths(record, block) for block in COLOR), nets)
    return fig


def fate_over_depths(record: dict, block: str) -> str:
    """At which depths a kind of net learns, in words."""
    depths = sorted({pair["depth"] for pair in record["runs"]})
    failed = [pair for pair in record["runs"] if not has_learned(pair[block], record)]
    if not failed:
        if len(depths) == 1:
            return f"{block} learns at depth {depths[0]}"
        return f"{block} learns at every depth from {depths[0]} to {depths[-1]}"
    fails = "is at chance" if all(at_chance(pair[block], record) for pair in failed) else "fails"
    failed_depths = sorted({pair["depth"] for pair in failed})
    if len(depths) > 1 and failed_depths == depths[-len(failed_depths) :]:  # the deepest ones
        return f"{block} {fails} from {failed_depths[0]} on"
    return f"{block} {fails} at depth {', '.join(map(str, failed_depths))}"


def draw_over_depths(ax, record: dict, name: str) -> None:
    """The mean of a final number of both nets at every depth; runs that diverged are left out.

    A bar is a standard deviation over seeds to each side."""
    for block, color in COLOR.items():
        values = {}
        for pair in sorted(record["runs"], key=lambda pair: pair["depth"]):
            if pair[block][name] is not None:
                values.setdefault(pair["depth"], []).append(pair[block][name])
        means = [np.mean(at_depth) for at_depth in values.values()]
        deviations = [np.std(at_depth, ddof=1) if len(at_depth) > 1 else 0 for at_depth in values.values()]
        style = {"color": color, "marker": MARKER[block], "ms": 6, "lw": 2, "capsize": 3, "clip_on": False}
        ax.errorbar(list(values), means, deviations if any(deviations) else None, label=block, **style)
    depths = sorted({pair["depth"] for pair in record["runs"]})
    ax.set(xscale="log", xlabel="depth (hidden blocks)", xticks=depths, xticklabels=depths)
    ax.set_xlim(depths[0] / 1.2, depths[-1] * 1.2)
    ax.minorticks_off()


# ---- Gates -----------------------------------------------------------------------------------------------------------


def gate_axes(ax, record: dict, n_blocks: int) -> None:
    """Sets the axes of mean T against the block, with a line at T's initial value if the record has it."""
    bias = record.get("gate_bias")
    if bias is not None:
        start = (1 + math.tanh(bias / 2)) / 2
        ax.axhline(start, color="k", lw=1.4, ls="--", label=f"start: sigmoid({bias:g}) = {start:.3f}")
        ax.legend(loc="upper left")
    ax.set(xlabel=BLOCK, ylabel="mean transform gate T", xlim=(0.3, n_blocks + 0.7))
    whole_numbers(ax.xaxis)
    ax.set_ylim(0, ax.get_ylim()[1] * 1.15 or 1)  # 1 where every T is 0


def T_gate_evolution(record: dict) -> Figure:
    """How the gates move, and the gradient at every block, in the first steps of a training."""
    if not has_layers(record):
        return gates_epoch_by_epoch(record)
    layers = record["runs"][0]["highway"]["layer_history"]
    first = [step for step in layers["step"] if step in SHOWN_STEPS]
    shown = sorted({*first, layers["step"][-1]})
    fig = sheet(5.6)
    gates, gradients = fig.subplots(2, 1, sharex=True)
    for step, color in zip(shown, shades(COLOR["highway"], len(shown)), strict=True):
        k = layers["step"].index(step)
        width = 2.6 if step == shown[-1] else 1.3
        blocks = range(1, len(layers["T"][k]) + 1)
        gates.plot(blocks, layers["T"][k], color=color, lw=width, marker=".", label=str(step))
        gradients.plot(blocks, positive(layers["gradient"][k]), color=color, lw=width, marker=".")
    gates.set(ylabel="mean T over one batch", ylim=(0, None))
    gradients.set(xlabel=BLOCK, ylabel="gradient |dL/dy|", yscale="log")
    whole_numbers(gradients.xaxis)
    fig.legend(*gates.get_legend_handles_labels(), loc="outside right center", title="steps")
    headline(fig, finding_of_first_steps(layers, shown), f"highway, {run_as_text(record)}")
    return fig


def finding_of_first_steps(layers: dict, shown: list[int]) -> str:
    """Mean T of the lower third of the blocks: at the start, after the first steps, and at the end."""
    early = max(step for step in shown if step <= FIRST_STEPS)
    n = third(layers["T"][0])
    means = {}
    for step in dict.fromkeys((shown[0], early, shown[-1])):
        means[step] = np.mean(layers["T"][layers["step"].index(step)][:n])
    start, *later = means.items()
    goes = "falls" if means[early] < means[shown[0]] else "goes"
    texts = [f"to {T:.2g} in {step} steps" for step, T in later]
    return f"Mean T of blocks 1 to {n} {goes} from {start[1]:.2g} {', then '.join(texts)}"


def gates_epoch_by_epoch(record: dict) -> Figure:
    """Mean T after every epoch, for records of the published program, which have nothing finer."""
    history = record["runs"][0]["highway"]["layer_T_history"]
    fig = sheet(3.6)
    ax = fig.subplots()
    for (epoch, gates), color in zip(history, shades(COLOR["highway"], len(history)), strict=True):
        text = f"after epoch {epoch}" if epoch in (history[0][0], history[-1][0]) else None
        ax.plot(range(1, len(gates) + 1), gates, color=color, marker=".", label=text)
    _, last_gates = history[-1]
    gate_axes(ax, record, len(last_gates))
    ax.legend(loc="upper left")
    headline(fig, finding_of_thirds(last_gates), f"highway, {run_as_text(record)}")
    return fig


def third(gates: list[float]) -> int:
    """How many blocks are a third of them; at least one."""
    return max(len(gates) // 3, 1)


def finding_of_thirds(gates: list[float]) -> str:
    n = third(gates)
    lower = np.mean(gates[:n])
    upper = np.mean(gates[-n:])
    more = "more" if upper > lower else "no more"
    means = f"mean T is {upper:.2g} in the last {n} blocks, {lower:.2g} in the first {n}"
    return f"The upper blocks open their gates {more}: {means}"


def T_gate_final(record: dict) -> Figure:
    """The trained net's mean T of each block, and T at the start."""
    run = record["runs"][0]["highway"]
    gates = run["final_T_per_layer"] or []  # a net that diverged has none
    fig = sheet(3.6)
    ax = fig.subplots()
    ax.bar(range(1, len(gates) + 1), gates, color=COLOR["highway"], width=0.8)
    gate_axes(ax, record, run["depth"])
    ax.grid(axis="x", visible=False)
    finding = finding_of_thirds(gates) if gates else "highway diverges: it has no gates to show"
    headline(fig, finding, f"highway, {run_as_text(record)}; 1 - T is carried")
    return fig


# ---- Over seeds ------------------------------------------------------------------------------------------------------


def seeds(record: dict) -> Figure:
    """The accuracies of all seeds, over epochs and at the end; the means with their standard deviations."""
    pairs = record["runs"]
    depths = sorted({pair["depth"] for pair in pairs})
    if len(depths) > 1:
        raise ValueError(f"the runs must have one depth, not {', '.join(map(str, depths))}")
    fig = sheet(3.5)
    left, right = fig.subplots(1, 2, sharey=True, width_ratios=(1.2, 1))
    for block, offset in (("highway", -0.13), ("plain", 0.07)):
        for pair in pairs:
            history = pair[block]["history"]
            left.plot(history["epoch"], history["test_acc"], color=COLOR[block], lw=1.2, alpha=0.55)
        finished = [pair for pair in pairs if pair[block]["final_test_acc"] is not None]
        diverged = len(pairs) - len(finished)
        text = f"{block} ({diverged} of {len(pairs)} diverged)" if diverged else block
        left.plot([], [], color=COLOR[block], lw=2.2, label=text)
        if finished:
            names = [str(seed_of(pair, record)) for pair in finished]
            draw_seeds(right, names, [pair[block]["final_test_acc"] for pair in finished], block, offset)
    chance_line(left, record)
    left.set(xlabel="epoch", ylabel="test accuracy", ylim=(0, 1))
    whole_numbers(left.xaxis)
    left.legend(loc="center right")
    right.set(xlabel="seed", title="after the last epoch")
    texts = []
    for block in COLOR:
        learned = sum(has_learned(pair[block], record) for pair in pairs)
        texts.append(f"{block} learns in {learned} of {len(pairs)} seeds")
    headline(fig, ", ".join(texts), f"{data_set(record)}, depth {depths[0]}, width {record['hidden']}")
    return fig


def draw_seeds(ax, names: list[str], accuracies: list[float], block: str, offset: float) -> None:
    """The accuracy of each seed; the mean as text, at the height of the mean plus `offset`."""
    color = COLOR[block]
    ax.scatter(names, accuracies, color=color, marker=MARKER[block], s=30)
    mean = np.mean(accuracies)
    text = f"{block} {mean:.3f}"
    if len(accuracies) > 1:
        text += f" ± {np.std(accuracies, ddof=1):.3f}"
    place = ax.get_yaxis_transform()  # x in shares of the axes
    style = {"color": color, "weight": "bold", "ha": "center", "transform": place, "fontsize": "small"}
    ax.text(0.5, mean + offset, text, **style)


# ---- The command -----------------------------------------------------------------------------------------------------

PICTURES = {  # {name: (JSON without its ending, function)}
    "learning_curves": ("run", learning_curves),
    "plain_loss_collapse": ("run", plain_loss_collapse),
    "depth_sweep": ("run_sweep", depth_sweep),
    "T_gate_evolution": ("run", T_gate_evolution),
    "T_gate_final": ("run", T_gate_final),
    "seeds": ("run_seeds", seeds),
}


def picture_names(text: str) -> list[str]:
    """An argparse type: names of pictures, separated by commas."""
    names = text.split(",")
    for name in names:
        if name not in PICTURES:
            raise argparse.ArgumentTypeError(f"no picture is called {name!r}")
    return names


def refuse(why) -> NoReturn:
    """Ends the program with one line."""
    print(f"error: {why}", file=sys.stderr)
    sys.exit(2)


@contextlib.contextmanager
def record_of(path: Path, name: str):
    """The record in this file, for a with statement that draws `name` from it; ends the program where it cannot."""
    try:
        yield json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        refuse(error)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        refuse(f"{path} lacks what {name} needs: {error!r}")


def save(path: Path, data: bytes) -> None:
    """Writes a picture whole or not at all, and over nothing but a file of its kind."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if path.exists() and not path.read_bytes().startswith(data[:4]):
            refuse(f"{path} is not such a picture: it is not replaced")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(data)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        refuse(error)
    print(f"drew {path}")


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description="Draw the pictures in viz/ from the JSON of highway_networks.py.")
    for run, flag in RUNS.items():
        parser.add_argument(flag, dest=run, metavar="FILE", type=Path, help=f"instead of {run}.json")
    only = f"draw only these, separated by commas: {', '.join(PICTURES)}"
    parser.add_argument("--only", type=picture_names, metavar="NAMES", help=only)
    parser.add_argument("--format", choices=METADATA, default="png", help="the files' format (%(default)s)")
    parser.add_argument("--scale", type=float, default=1, help="the size of text, lines and markers (%(default)s)")
    parser.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "viz", help="instead of viz/")
    args = parser.parse_args(argv)
    if not 0.1 <= args.scale <= 10:
        parser.error("--scale lies between 0.1 and 10")

    set_style(args.scale)
    files = {}
    for name in args.only or PICTURES:
        run, draw = PICTURES[name]
        path = getattr(args, run) or ROOT / f"{run}.json"
        if args.only or getattr(args, run) or path.exists():  # what was not asked for by name may be absent
            with record_of(path, name) as record:
                files[args.out / f"{name}.{args.format}"] = picture_bytes(draw(record), args.format)
    if not files:
        refuse(f"there is no {' and no '.join(f'{run}.json' for run in RUNS)}")
    for path, data in files.items():
        save(path, data)


if __name__ == "__main__":
    main()
