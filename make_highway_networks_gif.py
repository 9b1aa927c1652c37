"""Draws highway_networks.gif from run.json alone, a frame an epoch: above, the test accuracies
grow; below, the mean transform gate of every layer moves.

    python make_highway_networks_gif.py
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":  # with python -I, or PYTHONSAFEPATH, this folder is not searched
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import report  # noqa: F401  isort: skip  before matplotlib, whose backend it sets
import argparse
from functools import partial
from pathlib import Path

import imageio.v3 as imageio
import matplotlib.pyplot as plt

from plumbing.commands import path_name, run_command, run_program
from plumbing.files import ROOT, InputError
from plumbing.records import load_record
from report.headline import gate_axes, gates_by_epoch
from report.style import COLOR, MARKER, chance_line, drawing, label, png, titled

SECONDS_A_FRAME = 0.6
SECONDS_LAST_FRAME = 3.0


def draw_frame(record: dict, k: int):
    """The k-th epoch (from 0) whose gates the record has, as an image (rows, columns, 3) uint8.

    All frames have the same axes."""
    pair = record["runs"][0]
    rows = gates_by_epoch(record)
    epoch, gates = rows[k]
    last, _ = rows[-1]
    highest = max(max(values) for _, values in rows)
    fig, axes = plt.subplots(2, 1, figsize=(8, 6.4))
    top, bottom = axes
    for block in COLOR:
        history = pair[block]["history"]
        points = zip(history["epoch"], history["test_acc"], strict=True)
        until_now = [(at, accuracy) for at, accuracy in points if at <= epoch]
        x = [at for at, _ in until_now]
        y = [accuracy for _, accuracy in until_now]
        text = f"{label(pair[block], block)} {y[-1]:.3f}" if y else label(pair[block], block)
        top.plot(x, y, color=COLOR[block], marker=MARKER[block], lw=2.2, label=text)
    chance_line(top, record)
    top.set(xlim=(0.5, last + 0.5), ylim=(0, 1), xlabel="epoch", ylabel="test accuracy")
    top.legend(loc="center right")
    bottom.bar(range(1, len(gates) + 1), gates, color=COLOR["highway"], width=0.8)
    bottom.set_ylim(0, highest * 1.1 or 1)
    gate_axes(bottom, record, len(gates))
    bottom.grid(axis="x", visible=False)
    fig.suptitle(f"{titled(record)}: epoch {epoch}")
    return imageio.imread(png(fig, dpi=100), extension=".png")[:, :, :3]


def draw_gif(run: Path, out: Path, save) -> None:
    if out.suffix != ".gif":
        raise InputError(f"--out {out} does not end in .gif")
    record = load_record(run)
    n_frames = len(gates_by_epoch(record))
    if n_frames == 0:
        raise InputError(f"{run} has no layer_T_history in its first highway run: nothing moves")
    with drawing(run, "the frames are"):
        frames = [draw_frame(record, k) for k in range(n_frames)]
    duration = [1000 * SECONDS_A_FRAME] * (n_frames - 1) + [1000 * SECONDS_LAST_FRAME]
    if n_frames == 1:
        duration = duration[0]  # imageio takes no list for a single frame
    save({out: imageio.imwrite("<bytes>", frames, extension=".gif", duration=duration, loop=0)})
    print(f"drew {out}: {n_frames} frames", flush=True)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description="Draw highway_networks.gif from the JSON of highway_networks.py.")
    for name, file in (("--run", "run.json"), ("--out", "highway_networks.gif")):
        default = str(ROOT / file)
        parser.add_argument(name, metavar="FILE", type=path_name, default=default, help=f"instead of {file}")
    args = parser.parse_args(argv)
    return run_command(parser.prog, partial(draw_gif, Path(args.run), Path(args.out)))


if __name__ == "__main__":
    run_program(main)
