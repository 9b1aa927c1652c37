"""The pictures and tables of the room headline, from JSON alone."""

from __future__ import annotations

from statistics import mean

import numpy as np

from highway_networks import outcome
from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, MARKER, headline, note, panels, shades, trials_with
from highways.lab.showing.tables import cell, markdown_table
from highways.records import PAIR, path_of
from highways.statistics import first_and_last_third, format_stat, mean_and_sd, mean_sd_n

# the records of the same ten seeds on AMD Zen 4 (AVX-512), and on AMD Zen 3 (AVX2)
ON_PROCESSORS = ("run_seeds", "run_seeds_avx2")


def over_seeds(read, block: str, name: str = "final_test_acc", record: str = "run_seeds") -> list:
    """A number of every seed's net; the test accuracy, unless `name` says otherwise."""
    return [pair[block][name] for pair in read(path_of(record))["runs"]]


# ---- The published program and ours ---------------------------------------------------------------


@table("output")
def output(read) -> str:
    [pair] = read("run.json")["runs"]
    lines = "\n".join(outcome(pair[block]) for block in PAIR)
    return f"\n\n```text\n{lines}\n```\n\n"


@table("largest-move")
def largest_move(read) -> str:
    """By how much the accuracy of one highway net differs, at most, between the processors."""
    accuracies = [over_seeds(read, "highway", record=record) for record in ON_PROCESSORS]
    return f"{max(abs(first - second) for first, second in zip(*accuracies, strict=True)):.2f}"


@table("sweep", columns={"test_acc": "test accuracy", "train_loss": "training loss"})
def sweep(read, columns: dict) -> str:
    """The pair at each depth: in each column the published number beside ours."""
    published = read("data/published.json")["program"]["depths"]
    header = ["depth"]
    for text in columns.values():
        header += [f"{block} {text}".strip() + ", published | here" for block in PAIR]
    lines = []
    for pair in read("run_sweep.json")["runs"]:
        theirs = published[str(pair["depth"])]
        cells = [str(pair["depth"])]
        for name in columns:
            cells += [f"{theirs[block][name]:.3f} | {pair[block][f'final_{name}']:.3f}" for block in PAIR]
        lines.append(f"| {' | '.join(cells)} |")
    return markdown_table(f"| {' | '.join(header)} |", lines)


@table("fashion")
def fashion(read) -> str:
    pairs = read("experiments/results/run_fashion.json")["runs"]
    lines = []
    for block in PAIR:
        accuracies = [pair[block]["final_test_acc"] for pair in pairs]
        by_seed = " | ".join(f"{accuracy:.3f}" for accuracy in accuracies)
        lines.append(f"| {block} | {mean_and_sd(accuracies)} | {by_seed} |")
    columns = " | ".join(f"seed {pair['seed']}" for pair in pairs)
    header = f"| test accuracy on Fashion-MNIST, depth {pairs[0]['depth']} | mean ± sd | {columns} |"
    return markdown_table(header, lines)


@table("thirds")
def thirds(read) -> str:
    """Mean T of the lower and the upper third of the blocks, in the headline nets of all seeds."""
    pairs = [first_and_last_third(mean_T) for mean_T in over_seeds(read, "highway", "final_T_per_layer")]
    lower, upper = zip(*pairs, strict=True)
    higher = sum(last > first for first, last in pairs)
    in_seeds = f"the higher one in {higher} of {len(pairs)} seeds"
    return f"{mean_and_sd(lower)} over the first third of the blocks and {mean_and_sd(upper)} over the last, {in_seeds}"


# ---- Nets that lack a part ------------------------------------------------------------------------


@table("controls")
def controls(read) -> str:
    """The headline's nets at depth 30, and the controls."""
    lines = []
    for block in PAIR:
        losses = over_seeds(read, block, "final_train_loss")
        lines.append(line_of(f"{block} net", mean_sd_n(over_seeds(read, block)), mean_sd_n(losses)))
    for row in read("experiments/results/controls.json")["summary"]:
        if row["row"] == "control" and row["depth"] == 30:
            lines.append(line_of(row["control"], row["test_accuracy"], row["loss"]))
    return markdown_table("| at depth 30 | test accuracy | training loss |", lines)


@table("a-rate-each")
def a_rate_for_each(read) -> str:
    """Every kind of net at the rate searched for it, with pixels in [-1, 1] and in [0, 1]."""
    by_kind = {}
    for row in read("experiments/results/pixels.json")["summary"]:
        if row["row"] == "net":
            by_kind.setdefault(row["kind"], []).append(row)
    lines = []
    for kind, nets in by_kind.items():
        cells = [f"{format_stat(net['test_accuracy'], 4)} | {net['lr']:.3g}" for net in nets]
        lines.append(f"| {cell(kind)} | {' | '.join(cells)} |")
    return markdown_table("| net | accuracy, pixels in [-1, 1] | rate | accuracy, pixels in [0, 1] | rate |", lines)


@table("lost-to-no-blocks")
def lost_to_no_blocks(read) -> str:
    """By how much highway nets are less accurate than nets without blocks, each at its own rate."""
    found = []
    for row in read("experiments/results/pixels.json")["summary"]:
        if row["row"] == "gain" and row["over"] == "no blocks":
            lost = {**row["gain"], "mean": -row["gain"]["mean"]}
            found.append(f"{format_stat(lost, 2)} with pixels in {cell(row['pixels'])}")
    return " and ".join(found)


def line_of(name: str, accuracy: dict, loss: dict) -> str:
    return f"| {name} | {format_stat(accuracy, 3)} | {format_stat(loss, 3)} |"


# ---- Thirty layers as a stream ----------------------------------------------------------------------


def shares_of_origin(mean_T: list[float]) -> np.ndarray:
    """Of what leaves each block, the share that each block put in: entry [k, l] is that of block k in what leaves
    block l.  Index 0 is what enters the first block.  Every T is taken as its block's mean."""
    shares = np.eye(len(mean_T) + 1)
    for block, T in enumerate(mean_T, start=1):
        shares[:block, block] = (1 - T) * shares[:block, block - 1]
        shares[block, block] = T
    return shares


@picture("run_seeds")
def stream(record):
    """What is carried, and what each block adds, in highway nets and in plain nets of thirty blocks."""
    gates = np.array([pair["highway"]["final_T_per_layer"] for pair in record["runs"]])
    mean_T = gates.mean(axis=0).tolist()
    depth = len(mean_T)
    fig, axes = panels(2, 1, 6.2, sharex=True)
    by_kind = {"highway": shares_of_origin(mean_T), "plain": shares_of_origin([1.0] * depth)}
    for ax, (kind, shares) in zip(axes, by_kind.items(), strict=True):
        colors = ["0.6", *shades(COLOR[kind], depth)]
        ax.stackplot(range(depth + 1), shares, colors=colors, edgecolor="white", lw=0.4)
        ax.set(ylim=(0, 1), xlim=(0, depth), ylabel="share of what leaves it")
        ax.grid(visible=False)
    carried = by_kind["highway"][0]
    axes[0].set_title("highway: each block carries the stream on, and adds a little")
    axes[0].text(1, 0.4 * carried[1], "carried from\nbelow the blocks", color="white", va="center")
    note(
        axes[0],
        f"{carried[-1]:.2f}",
        (depth, carried[-1] / 2),
        (4, 0),
        GREY,
        ha="left",
        va="center",
        annotation_clip=False,
    )
    axes[1].set_title("plain: each block replaces all")
    axes[1].set_xlabel("block")
    last_ten = by_kind["highway"][-10:, -1].sum()
    words = f"Of what leaves a trained highway net, the last ten blocks put in {100 * last_ten:.0f} %"
    headline(fig, words, f"bands: where it comes from, by each block's mean T; {len(gates)} seeds")
    return fig


LOOKS = {
    "plain, 30 blocks": (COLOR["plain"], MARKER["plain"]),
    "highway, gates open": (COLOR["highway"], MARKER["highway"]),
    "highway, gates shut": (COLOR["highway"], "x"),
    "no blocks": (GREY, "D"),
}


def accuracies(record: dict, headline_record: dict) -> dict[str, list[float]]:
    """The test accuracies over seeds of each kind of net in LOOKS."""
    found = []
    for block in ("plain", "highway"):
        found.append([pair[block]["final_test_acc"] for pair in headline_record["runs"]])
    for kind in ("shut gates", "no blocks"):
        found.append([trial["test_accuracy"] for trial in trials_with(record, None, kind=kind)])
    return dict(zip(LOOKS, found, strict=True))


@picture("shut_gates", "run_seeds")
def shut_gates(record, headline_record):
    """The test accuracy of every seed of four kinds of net."""
    fig, ax = panels(1, 1, 3)
    by_kind = accuracies(record, headline_record)
    for place, (kind, values) in enumerate(by_kind.items()):
        color, marker = LOOKS[kind]
        ax.plot(values, [place] * len(values), marker, color=color, ms=7, alpha=0.7)
    ax.axvline(0.1, color=GREY, ls=":")
    ax.text(0.12, len(LOOKS) - 1, "chance 0.1", color=GREY, va="center")
    ax.set(yticks=range(len(LOOKS)), yticklabels=LOOKS, xlabel="test accuracy (a mark: one seed)", xlim=(0, 1))
    ax.invert_yaxis()
    ax.margins(y=0.15)
    _, gates_open, gates_shut, without = (mean(values) for values in by_kind.values())
    with_blocks = f"Highway nets reach {gates_open:.3f} with open gates and {gates_shut:.3f} with shut ones"
    headline(fig, f"{with_blocks}; nets without blocks reach {without:.3f}")
    return fig
