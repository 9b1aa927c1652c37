"""Draws highway_networks.gif from run.json alone: above, the losses of both nets; below, the
gradient that reaches every block, and the mean transform gates.  There is a frame for some of the
first hundred steps and for every epoch.  The last of them comes first, since where nothing moves
only the first frame is seen.

    python make_highway_networks_gif.py
"""

from __future__ import annotations

import highways.lab.showing.installed  # noqa: F401  isort: skip  first: says what is not installed
import math
from functools import partial
from pathlib import Path

import matplotlib
import numpy as np

from experiments.headline.show import BLOCK, FIRST_STEPS, gate_axes, gates_by_epoch, has_layers, positive
from highways.commands import Parser, path_name, run_command, run_program
from highways.files import ROOT, InputError, check_kind, printable
from highways.lab.showing.style import (
    COLOR,
    MARKER,
    blank,
    chance_line,
    drawing,
    headline,
    house_style,
    label,
    n_classes,
    panels,
    picture_bytes,
    run_as_text,
    uniform_loss_line,
)
from highways.records import load_record

SECONDS_A_FRAME = 0.6
SECONDS_FIRST_FRAME = 3.0  # which shows the end of the training
DOTS_AN_INCH = 124  # a frame is 806 pixels wide


def frames_of(record: dict) -> list[np.ndarray]:
    """The frames, (rows, columns, 3) uint8, all with the same axes; the last one in time comes first.

    There is one for each step at which the highway net's layers were measured.  A record without
    these measurements gives one for each epoch whose gates it has."""
    if not has_layers(record):
        frames = [draw_epoch(record, k) for k in range(len(gates_by_epoch(record)))]
    else:
        highway = record["runs"][0]["highway"]
        frames = [draw_step(record, step) for step in highway["layer_history"]["step"]]
    return [frames[-1], *frames[:-1]]


def as_image(fig) -> np.ndarray:
    import imageio.v3 as imageio  # only here: run_command() says where it is not installed

    return imageio.imread(picture_bytes(fig, dpi=DOTS_AN_INCH), extension=".png")[:, :, :3]


def draw_step(record: dict, step: int) -> np.ndarray:
    """The frame after this number of steps: the losses up to here, and the gradient and mean T of
    every block."""
    highway = record["runs"][0]["highway"]["layer_history"]
    last = max(highway["step"])
    fig = blank(5.6)
    axes = fig.subplot_mosaic([["loss", "loss"], ["gradient", "T"]])
    draw_losses(axes["loss"], record, step, last)
    draw_gradients(axes["gradient"], record, step)
    draw_gates(axes["T"], record, highway["T"][highway["step"].index(step)], highway["T"])
    headline(fig, losses_as_text(record, step, last), run_as_text(record))
    return as_image(fig)


def losses_as_text(record: dict, step: int, last: int) -> str:
    """The losses of both nets after this step, in words."""
    texts = []
    for block in COLOR:
        history = record["runs"][0][block]["layer_history"]
        losses = history["loss"][: sum(at <= step for at in history["step"])]
        texts.append(f"{losses[-1]:.2f} in the {block} net")
    return f"After {step} of {last} steps the loss is {' and '.join(texts)}"


def draw_losses(ax, record: dict, step: int, last: int) -> None:
    """The losses of both nets up to this step; the axis reaches to the last one."""
    pair = record["runs"][0]
    for block in COLOR:
        history = pair[block]["layer_history"]
        until_now = [at for at in history["step"] if at <= step]
        losses = history["loss"][: len(until_now)]
        style = {"color": COLOR[block], "marker": MARKER[block], "ms": 4, "lw": 2}
        ax.plot(until_now, losses, **style, label=label(pair[block], block))
    uniform_loss_line(ax, record)
    ax.set(ylabel="loss of a batch", xlim=(-2, last * 1.02))
    ax.set_xlabel(f"steps (linear to {FIRST_STEPS}, logarithmic beyond)")
    ax.set_ylim(0, 1.25 * math.log(n_classes(record)))
    ax.set_xscale("symlog", linthresh=FIRST_STEPS, linscale=2)
    ticks = [*range(0, FIRST_STEPS + 1, 20), 2 * FIRST_STEPS]
    ticks = [tick for tick in ticks if tick < last] + [last]
    ax.set_xticks(ticks, ticks)
    ax.minorticks_off()
    ax.legend(loc="center right")


def draw_gradients(ax, record: dict, step: int) -> None:
    """The gradient at every block of both nets after this step; all frames have the same limits."""
    pair = record["runs"][0]
    norms = []  # of all steps
    for block in COLOR:
        history = pair[block]["layer_history"]
        norms += [norm for row in history["gradient"] for norm in row if norm > 0]
        if step in history["step"]:  # a net that diverged has no later steps
            row = history["gradient"][history["step"].index(step)]
            style = {"color": COLOR[block], "marker": MARKER[block], "ms": 3}
            ax.plot(range(1, len(row) + 1), positive(row), **style)
    ax.set(xlabel=BLOCK, ylabel="gradient |dL/dy|", yscale="log")
    if norms:
        ax.set_ylim(min(norms) / 2, max(norms) * 2)


def draw_gates(ax, record: dict, gates: list[float], of_all_frames: list[list[float]]) -> None:
    """Mean T of every block as bars."""
    highest = max(max(values) for values in of_all_frames)
    ax.bar(range(1, len(gates) + 1), gates, color=COLOR["highway"], width=0.8)
    ax.set_ylim(0, highest * 1.1 or 1)  # 1 where every T is 0
    gate_axes(ax, record, len(gates))
    ax.grid(axis="x", visible=False)


def draw_epoch(record: dict, k: int) -> np.ndarray:
    """The frame of the k-th epoch (from 0) among those whose gates the record has: the test
    accuracies up to here, and mean T of every block."""
    pair = record["runs"][0]
    rows = gates_by_epoch(record)
    epoch, gates = rows[k]
    last, _ = rows[-1]
    fig, axes = panels(2, 1, 5.2)
    top, bottom = axes
    for block in COLOR:
        history = pair[block]["history"]
        points = zip(history["epoch"], history["test_acc"], strict=True)
        until_now = [(at, accuracy) for at, accuracy in points if at <= epoch]
        x = [at for at, _ in until_now]
        y = [accuracy for _, accuracy in until_now]
        text = f"{label(pair[block], block)} {y[-1]:.3f}" if y else label(pair[block], block)
        top.plot(x, y, color=COLOR[block], marker=MARKER[block], lw=2, label=text)
    chance_line(top, record)
    top.set(xlim=(0.5, last + 0.5), ylim=(0, 1), xlabel="epoch", ylabel="test accuracy")
    top.legend(loc="center right")
    draw_gates(bottom, record, gates, [values for _, values in rows])
    headline(fig, f"After epoch {epoch}", run_as_text(record))
    return as_image(fig)


def load_frames(run: Path) -> list[np.ndarray]:
    """The frames of the record in this file."""
    record = load_record(run)
    if not gates_by_epoch(record):
        raise InputError(f"{run} has no layer_T_history in its first highway run: nothing moves")
    with drawing(run, "the GIF"), house_style():
        return frames_of(record)


def gif_bytes(frames: list[np.ndarray]) -> bytes:
    import imageio.v3 as imageio  # only here: run_command() says where it is not installed

    n_frames = len(frames)
    duration = [1000 * SECONDS_FIRST_FRAME] + [1000 * SECONDS_A_FRAME] * (n_frames - 1)
    if n_frames == 1:
        duration = duration[0]  # imageio takes no list for a single frame
    return imageio.imwrite("<bytes>", frames, extension=".gif", duration=duration, loop=0)


def draw_gif(run: Path, out: Path, save) -> None:
    if out.suffix != ".gif":
        raise InputError(f"--out {out} does not end in .gif")
    frames = load_frames(run)
    data = gif_bytes(frames)
    check_kind(out, b"GIF8")
    save({out: data})
    print(f"drew {printable(out)}: {len(frames)} frames", flush=True)


def main(argv=None) -> int:
    parser = Parser(description="Draw highway_networks.gif from the JSON of highway_networks.py.")
    for name, file in (("--run", "run.json"), ("--out", "highway_networks.gif")):
        default = str(ROOT / file)
        parser.add_argument(name, metavar="FILE", type=path_name, default=default, help=f"instead of {file}")
    args = parser.parse_args(argv)
    matplotlib.use("agg")  # needs no screen, whatever MPLBACKEND names
    return run_command(parser.prog, partial(draw_gif, Path(args.run), Path(args.out)))


if __name__ == "__main__":
    run_program(main)
