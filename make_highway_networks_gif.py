"""Draws highway_networks.gif from run.json alone, a frame an epoch: above, the test accuracies grow; below, the mean
transform gate of every layer moves.

    python make_highway_networks_gif.py
"""

from __future__ import annotations

import argparse
import io
import os
import sys

import imageio.v3 as imageio
import matplotlib.pyplot as plt

from figures.headline import gate_axes, gates_by_epoch
from figures.style import COLOR, MARKER, chance_line, label, titled
from plumbing.records import RecordError, load_record
from visualize_highway_networks import HERE, file_name, run_program, write_whole

SECONDS_A_FRAME, SECONDS_LAST_FRAME = 0.6, 3.0


def draw_frame(record: dict, k: int):
    """The k-th epoch (from 0) as an image (rows, columns, 3) uint8; all frames share their axes."""
    pair, rows = record["runs"][0], gates_by_epoch(record)
    (epoch, gates), last, highest = rows[k], rows[-1][0], max(max(values) for _, values in rows)
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(8, 6.4), dpi=100)
    for block in COLOR:
        history = pair[block]["history"]
        x, y = history["epoch"][: k + 1], history["test_acc"][: k + 1]
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
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=100)
    plt.close(fig)
    return imageio.imread(buffer.getvalue(), extension=".png")[:, :, :3]


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description="Draw highway_networks.gif from the JSON of highway_networks.py.")
    parser.add_argument("--run", metavar="FILE", type=file_name, default=HERE / "run.json", help="instead of run.json")
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=file_name,
        default=HERE / "highway_networks.gif",
        help="instead of highway_networks.gif",
    )
    args = parser.parse_args(argv)
    try:
        if args.out.suffix != ".gif":
            raise RecordError(f"--out {args.out} does not end in .gif")
        record = load_record(args.run)
        n_frames = len(gates_by_epoch(record))
        if n_frames == 0:
            raise RecordError(f"{args.run} has no layer_T_history in its first highway run: nothing moves")
        try:
            frames = [draw_frame(record, k) for k in range(n_frames)]
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
            raise RecordError(f"{args.run} lacks what the frames are drawn from: {error!r}") from error
        finally:
            plt.close("all")
        *first, last = [1000 * SECONDS_A_FRAME] * (n_frames - 1) + [1000 * SECONDS_LAST_FRAME]
        duration = [*first, last] if first else last  # a single frame must not have a list
        write_whole({args.out: imageio.imwrite("<bytes>", frames, extension=".gif", duration=duration, loop=0)})
        print(f"drew {args.out}: {n_frames} frames", flush=True)
    except BrokenPipeError:  # whoever read our output stopped reading
        os._exit(1)
    except (OSError, RecordError) as error:
        parser.exit(2, f"{parser.prog}: error: {' '.join(str(error).split())}\n")
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    run_program(main)
