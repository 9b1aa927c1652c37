"""The pictures of run.json, run_sweep.json and run_seeds.json: highway beside plain, and highway's gates."""

from __future__ import annotations

import math
from statistics import mean

from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    MARKER,
    chance_line,
    data_set,
    headline,
    initial_gate,
    label,
    n_classes,
    note,
    panels,
    run_as_text,
    seed_of,
    shades,
    uniform_loss_line,
)
from highways.lab.showing.tables import markdown_table
from highways.records import PAIR, table_of_runs
from highways.statistics import mean_and_sd, mean_sd_n

# a net's accuracy, as a multiple of that of guessing:
AT_CHANCE = 1.5  # below it a net stays at chance
TIMES_CHANCE = 2  # from here on it has learned; in between it has learned a little
BLOCK = "block (1 is nearest to the image)"
FIRST_STEPS = 100
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SHOWN_STEPS = (0, 5, 10, 20, 50, FIRST_STEPS)


def has_learned(run: dict, record: dict) -> bool:
    accuracy = run["final_test_acc"]
    return accuracy is not None and accuracy >= TIMES_CHANCE / n_classes(record)


def fate(run: dict, record: dict) -> str:
    """What became of a net, in words: learns (0.917)."""
    accuracy = run["final_test_acc"]
    if accuracy is None:
        return "diverges"
    words = "learns a little"
    if has_learned(run, record):
        words = "learns"
    elif at_chance(run, record):
        words = "stays at chance"
    return f"{words} ({accuracy:.3f})"


def at_chance(run: dict, record: dict) -> bool:
    accuracy = run["final_test_acc"]
    return accuracy is not None and accuracy < AT_CHANCE / n_classes(record)


# ---- One pair of nets ------------------------------------------------------------------------------------------------


def draw_histories(ax, pair: dict, name: str, decimals: int) -> None:
    """The curves of both nets over epochs, with the numbers at their ends.

    The higher number stands above the end of its curve and the lower one below, so that they never touch."""
    ends = {}
    for block, color in COLOR.items():
        run = pair[block]
        epochs = run["history"]["epoch"]
        values = run["history"][name]
        style = {"color": color, "marker": MARKER[block], "ms": 4, "lw": 2}
        ax.plot(epochs, values, **style, label=label(run, block))
        if values:
            ends[block] = (epochs[-1], values[-1])
    highest = max(ends, key=lambda block: ends[block][1], default=None)
    for block, end in ends.items():
        side = "bottom" if block == highest else "top"
        style = {"weight": "bold", "ha": "left", "va": side}
        note(ax, f"{end[1]:.{decimals}f}", end, (6, 0), COLOR[block], **style)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("epoch")


@picture("run")
def learning_curves(record):
    """Test accuracy and training loss of one pair, epoch by epoch."""
    pair = record["runs"][0]
    fig, axes = panels(1, 2, 3.3)
    left, right = axes
    draw_histories(left, pair, "test_acc", 3)
    draw_histories(right, pair, "train_loss", 3)
    chance_line(left, record)
    left.set(ylabel="test accuracy", ylim=(0, 1.08))
    left.legend(loc="center right")
    right.set(ylabel="training loss", ylim=(0, None))
    fates = ", ".join(f"{block} {fate(pair[block], record)}" for block in COLOR)
    headline(fig, fates, f"{run_as_text(record)}; only the gates differ")
    return fig


@picture("run")
def plain_loss_collapse(record):
    """Left, the training loss of one pair beside the loss of guessing; right, the gradient at every
    block."""
    pair = record["runs"][0]
    fig, axes = panels(1, 2, 3.4)
    left, right = axes
    draw_histories(left, pair, "train_loss", 3)
    uniform_loss_line(left, record)
    left.set(ylabel="training loss", ylim=(0, math.log(n_classes(record)) * 1.25))
    left.legend(loc="center right")
    if has_layers(record):
        for block in COLOR:
            draw_gradients(right, pair[block], block)
        for line, when in (("--", "before training"), ("-", "after")):
            right.plot([], [], line, color=GREY, label=when)
        right.legend(loc="lower right")
        headline(fig, finding_of_gradients(pair), run_as_text(record))
    else:  # as the published program writes it
        draw_histories(right, pair, "grad_norm", 2)
        right.set(ylabel="gradient norm before clipping, mean", yscale="log")
        fates = ", ".join(f"{block} {fate(pair[block], record)}" for block in COLOR)
        headline(fig, f"Training loss and gradient: {fates}", run_as_text(record))
    return fig


def has_layers(record: dict) -> bool:
    """Whether the record has, for both nets of the first pair, the gradient of every block over the steps."""
    pair = record["runs"][0]
    return all(pair[block].get("layer_history", {}).get("step") for block in COLOR)


def draw_gradients(ax, run: dict, block: str) -> None:
    """|dL/dy| of every block, before training and after it."""
    gradients = run["layer_history"]["gradient"]
    for norms, line in ((gradients[0], "--"), (gradients[-1], "-")):
        ax.plot(range(1, len(norms) + 1), positive(norms), line, color=COLOR[block], lw=2)
    ax.set(xlabel=BLOCK, ylabel="gradient |dL/dy|", yscale="log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def positive(norms: list[float]) -> list[float]:
    """The norms, with gaps where one is 0, which a logarithmic axis cannot show."""
    return [norm if norm > 0 else math.nan for norm in norms]


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


@picture("run_sweep")
def depth_sweep(record):
    """The final accuracy and loss of both nets against depth."""
    fig, axes = panels(1, 2, 3.5)
    left, right = axes
    draw_over_depths(left, record, "final_test_acc")
    draw_over_depths(right, record, "final_train_loss")
    chance_line(left, record)
    left.set(ylabel="final test accuracy", ylim=(0, 1))
    left.legend(loc="center right")
    uniform_loss_line(right, record)
    right.set(ylabel="final training loss", ylim=(0, math.log(n_classes(record)) * 1.2))
    seeds_of_record = record.get("seeds") or [record.get("seed")]
    seeds_as_text = ", ".join(f"{seed:d}" for seed in seeds_of_record)
    nets = f"{data_set(record)}, width {record['hidden']:d}, seed {seeds_as_text}"
    fates = [fate_over_depths(record, block) for block in COLOR]
    headline(fig, "; ".join(fates), nets)
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
    """A final number of both nets at every depth."""
    for block, color in COLOR.items():
        depths, means, deviations = by_depth(record, block, name)
        bars = deviations if any(deviations) else None
        style = {"color": color, "marker": MARKER[block], "ms": 6, "lw": 2}
        ax.errorbar(depths, means, bars, label=block, capsize=3, clip_on=False, **style)
    depths = sorted({pair["depth"] for pair in record["runs"]})
    ax.set(xscale="log", xlabel="depth (hidden blocks)", xticks=depths, xticklabels=depths)
    ax.set_xlim(depths[0] / 1.2, depths[-1] * 1.2)
    ax.minorticks_off()


def by_depth(record: dict, block: str, name: str) -> tuple[list, list, list]:
    """Depths, means and standard deviations (0 for one run); runs that diverged are left out."""
    values = {}
    for pair in record["runs"]:
        if pair[block][name] is not None:
            values.setdefault(pair["depth"], []).append(pair[block][name])
    depths = sorted(values)
    stats = [mean_sd_n(values[depth]) for depth in depths]
    means = [stat["mean"] for stat in stats]
    deviations = [stat["sd"] or 0.0 for stat in stats]
    return depths, means, deviations


# ---- Gates -----------------------------------------------------------------------------------------------------------


def gates_by_epoch(record: dict) -> list[list]:
    """[[epoch, mean T of each block]] of the first pair's highway net."""
    return record["runs"][0]["highway"].get("layer_T_history") or []


def gate_axes(ax, record, n_blocks):
    """Sets the axes of mean T against the block, with a line at T's initial value if the record has
    it."""
    start = initial_gate(record)
    if start is not None:
        text = f"start: sigmoid({record['gate_bias']:g}) = {start:.3f}"
        ax.axhline(start, color="k", lw=1.4, ls="--", label=text)
        ax.legend(loc="upper left")
    ax.set(xlabel=BLOCK, ylabel="mean transform gate T", xlim=(0.3, n_blocks + 0.7))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set_ylim(0, ax.get_ylim()[1] * 1.15 or 1)  # 1 where every T is 0


@picture("run", shown_if="layer_T_history")
def T_gate_evolution(record):
    """How the gates move, and the gradient at every block, in the first steps of a training."""
    if not has_layers(record):
        return gates_epoch_by_epoch(record)
    layers = record["runs"][0]["highway"]["layer_history"]
    shown = shown_steps(layers["step"])
    colors = shades(COLOR["highway"], len(shown))
    fig, axes = panels(2, 1, 5.6, sharex=True)
    gates, gradients = axes
    for step, color in zip(shown, colors, strict=True):
        k = layers["step"].index(step)
        width = 2.6 if step == shown[-1] else 1.3
        blocks = range(1, len(layers["T"][k]) + 1)
        gates.plot(blocks, layers["T"][k], color=color, lw=width, marker=".", label=str(step))
        gradients.plot(blocks, positive(layers["gradient"][k]), color=color, lw=width, marker=".")
    gates.set(ylabel="mean T over one batch", ylim=(0, None))
    gradients.set(xlabel=BLOCK, ylabel="gradient |dL/dy|", yscale="log")
    gradients.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    fig.legend(*gates.get_legend_handles_labels(), loc="outside right center", title="steps")
    headline(fig, finding_of_first_steps(layers, shown), f"highway, {run_as_text(record)}")
    return fig


def shown_steps(steps: list[int]) -> list[int]:
    """Some of the first steps, and the last one."""
    first = [step for step in steps if step in SHOWN_STEPS]
    return sorted({*first, steps[-1]})


def finding_of_first_steps(layers: dict, shown: list[int]) -> str:
    """Mean T of the lower third of the blocks: at the start, after the first steps, and at the end."""
    early = max(step for step in shown if step <= FIRST_STEPS)
    n = third(layers["T"][0])
    means = {}
    for step in dict.fromkeys((shown[0], early, shown[-1])):
        gates = layers["T"][layers["step"].index(step)]
        means[step] = mean(gates[:n])
    start, *later = means.items()
    goes = "falls" if means[early] < means[shown[0]] else "goes"
    texts = [f"to {T:.2g} in {step} steps" for step, T in later]
    return f"Mean T of blocks 1 to {n} {goes} from {start[1]:.2g} {', then '.join(texts)}"


def gates_epoch_by_epoch(record: dict):
    """Mean T after every epoch, for records of the published program, which have nothing finer."""
    history = gates_by_epoch(record)
    fig, ax = panels(1, 1, 3.6)
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
    lower = mean(gates[:n])
    upper = mean(gates[-n:])
    means = f"mean T is {upper:.2g} in the last {n} blocks, {lower:.2g} in the first {n}"
    if upper > lower:
        return f"The upper blocks open their gates more: {means}"
    return f"The upper blocks open their gates no more: {means}"


@picture("run", shown_if="final_T_per_layer")
def T_gate_final(record):
    """The trained net's mean T of each block, and T at the start."""
    fig, ax = panels(1, 1, 3.6)
    gates = record["runs"][0]["highway"]["final_T_per_layer"]
    ax.bar(range(1, len(gates) + 1), gates, color=COLOR["highway"], width=0.8)
    gate_axes(ax, record, len(gates))
    ax.grid(axis="x", visible=False)
    headline(fig, finding_of_thirds(gates), f"highway, {run_as_text(record)}; 1 - T is carried")
    return fig


# ---- Over seeds ------------------------------------------------------------------------------------------------------


@picture("run_seeds")
def seeds(record):
    """Every seed: highway learns, plain does not; the means with their standard deviations."""
    pairs = record["runs"]
    depths = sorted({pair["depth"] for pair in pairs})
    if len(depths) > 1:
        raise ValueError(f"its runs must have one depth, not {', '.join(map(str, depths))}")
    if len({seed_of(pair, record) for pair in pairs}) < len(pairs):
        raise ValueError("it has a seed twice")
    fig, axes = panels(1, 2, 3.5, sharey=True, width_ratios=(1.2, 1))
    left, right = axes
    for block, offset in (("highway", -0.13), ("plain", 0.07)):
        accuracies = {}
        for pair in pairs:
            run = pair[block]
            history = run["history"]
            left.plot(history["epoch"], history["test_acc"], color=COLOR[block], lw=1.2, alpha=0.55)
            if run["final_test_acc"] is not None:
                accuracies[f"{seed_of(pair, record):d}"] = run["final_test_acc"]
        diverged = len(pairs) - len(accuracies)
        text = f"{block} ({diverged} of {len(pairs)} diverged)" if diverged else block
        left.plot([], [], color=COLOR[block], lw=2.2, label=text)
        draw_seeds(right, accuracies, block, offset)
    chance_line(left, record)
    left.set(xlabel="epoch", ylabel="test accuracy", ylim=(0, 1))
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.legend(loc="center right")
    right.set(xlabel="seed", title="after the last epoch")
    fates = []
    for block in COLOR:
        learned = sum(has_learned(pair[block], record) for pair in pairs)
        fates.append(f"{block} learns in {learned} of {len(pairs)} seeds")
    headline(fig, ", ".join(fates), f"{data_set(record)}, depth {depths[0]:d}, width {record['hidden']:d}")
    return fig


def draw_seeds(ax, accuracies: dict[str, float], block: str, offset: float) -> None:
    """The accuracy of each seed; the mean as text, at the height of the mean plus `offset`."""
    color = COLOR[block]
    ax.scatter(list(accuracies), list(accuracies.values()), color=color, marker=MARKER[block], s=30)
    if accuracies:
        stat = mean_sd_n(accuracies.values())
        text = f"{block} {stat['mean']:.3f}"
        if len(accuracies) > 1:
            text += f" ± {stat['sd']:.3f}"
        place = ax.get_yaxis_transform()  # x in shares of the axes
        style = {"color": color, "weight": "bold", "ha": "center", "transform": place, "fontsize": "small"}
        ax.text(0.5, stat["mean"] + offset, text, **style)


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("output")
def output(read) -> str:
    return f"\n\n```text\n{table_of_runs(read('run.json')['runs'])}\n```\n\n"


@table("headline")
def headline_table(read) -> str:
    """The test accuracy of seed 0, and the mean of several seeds."""
    published = read("data/published.json")["program"]
    pair = read("run.json")["runs"][0]
    lines = []
    for block in PAIR:
        ours = of_seeds(read, block)
        cells = (
            f"{published['headline'][block]['test_acc']:.3f}",
            f"{pair[block]['final_test_acc']:.3f}",
            f"{mean_and_sd(published['seeds'][block])} (n = {len(published['seeds'][block])})",
            f"{mean_and_sd(ours)} (n = {len(ours)})",
        )
        lines.append(f"| {block} | {' | '.join(cells)} |")
    columns = "seed 0, published | seed 0, ours | mean over n seeds, published | mean over n seeds, ours"
    return markdown_table(f"| test accuracy | {columns} |", lines)


def of_seeds(read, block: str) -> list[float]:
    """The test accuracy of every seed."""
    return [pair[block]["final_test_acc"] for pair in read("run_seeds.json")["runs"]]


@table("seeds")
def seeds_table(read) -> str:
    published = read("data/published.json")["program"]["seeds"]
    lines = []
    for block in PAIR:
        ours = of_seeds(read, block)
        means = f"{mean_and_sd(published[block])} | {mean_and_sd(ours)}"
        lines.append(f"| {block} | {means} | {len(ours)} | {min(ours):.3f} | {max(ours):.3f} |")
    their_seeds = len(published["plain"])
    return markdown_table(f"| net | published ({their_seeds} seeds) | here | seeds | lowest | highest |", lines)


@table("fashion")
def fashion(read) -> str:
    pairs = read("run_fashion.json")["runs"]
    lines = []
    for block in PAIR:
        accuracies = [pair[block]["final_test_acc"] for pair in pairs]
        of_each_seed = " | ".join(f"{accuracy:.3f}" for accuracy in accuracies)
        lines.append(f"| {block} | {mean_and_sd(accuracies)} | {of_each_seed} |")
    columns = " | ".join(f"seed {pair['seed']}" for pair in pairs)
    header = f"| test accuracy on Fashion-MNIST, depth {pairs[0]['depth']} | mean ± sd | {columns} |"
    return markdown_table(header, lines)


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


@table("thirds")
def thirds(read) -> str:
    """Mean T of the lower and the upper third of the blocks, in the headline nets of all seeds."""
    gates = [pair["highway"]["final_T_per_layer"] for pair in read("run_seeds.json")["runs"]]
    n = len(gates[0]) // 3
    lower = [mean(mean_T[:n]) for mean_T in gates]
    upper = [mean(mean_T[-n:]) for mean_T in gates]
    higher = sum(of_upper > of_lower for of_lower, of_upper in zip(lower, upper, strict=True))
    header = f"| mean T of blocks 1 to {n} | of the last {n} | seeds in which the last are higher |"
    line = f"| {mean_and_sd(lower)} | {mean_and_sd(upper)} | {higher} of {len(gates)} |"
    return markdown_table(header, [line])
