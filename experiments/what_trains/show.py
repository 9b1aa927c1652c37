"""The pictures and tables of the room what_trains, from JSON alone."""

import math
from statistics import geometric_mean

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    KINDS,
    LOSSES,
    MARKER,
    OTHERS,
    headline,
    note,
    panels,
    plain_log_ticks,
    shades,
    trials_with,
)
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select, with_settings
from highways.statistics import spaced

# ---- what_trains ----------------------------------------------------------------------------------

FAINTEST = -10.0  # smaller gradients are drawn here
LARGEST = 7.0  # larger ones here, beyond the high bound
MEASURED = "gradient"  # the primary predictor
SPREAD = 0.32  # how far the starts of a kind lie apart


def rows_of(record: dict, row: str, **wanted) -> list[dict]:
    """The rows whose "row" is this and that have these settings."""
    return [found for found in record["summary"] if found["row"] == row and wanted.items() <= found.items()]


@picture("what_trains")
def what_trains(record):
    """A panel for each depth: a mark for each cell, at its gradient before training, in the line of its
    kind; full where the cell trains.  Between the bounds, in grey, it is predicted to."""
    depths = record["settings"]["depths"]
    kinds = list(dict.fromkeys(cell["kind"] for cell in rows_of(record, "cell")))
    lines = math.ceil(len(depths) / 2)
    fig, axes = panels(lines, 2, 2.75 * lines, sharex=True, sharey=True, squeeze=False)
    for ax, depth in zip(axes.flat, depths, strict=False):
        draw_depth(ax, record, kinds, depth)
    axes[-1, 0].set_xticks([-10, -5, 0])
    fig.supxlabel("log10 of the gradient before training, first block over last", fontsize="small")
    for line in axes:
        line[0].set_yticks(range(len(kinds)), kinds)
    axes[0, 0].invert_yaxis()
    headline(fig, finding(record), "full marks train, hollow ones do not; grey: predicted to train; orange: wrongly")
    return fig


def draw_depth(ax, record: dict, kinds: list[str], depth: int) -> None:
    [predictor] = rows_of(record, "predictor", predictor=MEASURED)
    low = FAINTEST if predictor["low"] is None else predictor["low"]
    high = LARGEST if predictor["high"] is None else predictor["high"]
    ax.axvspan(low, high, color="0.9", zorder=0)
    cells = rows_of(record, "cell", depth=depth)
    starts = list(dict.fromkeys(cell["start"] for cell in rows_of(record, "cell")))
    places = np.linspace(-SPREAD, SPREAD, len(starts))
    for cell in cells:
        x = min(max(cell["gradient"], FAINTEST), LARGEST)
        y = kinds.index(cell["kind"]) + places[starts.index(cell["start"])]
        is_right = cell["predicted"] == cell["trains"]
        color = COLOR["highway"] if is_right else COLOR["plain"]
        size = {"ms": 3.6, "zorder": 2} if is_right else {"ms": 6, "mew": 1.5, "zorder": 3}
        ax.plot(x, y, "o", mec=color, mfc=color if cell["trains"] else "white", **size)
    right = np.mean([cell["predicted"] == cell["trains"] for cell in cells])
    ax.axvline(0, color=GREY, lw=1, ls=":")
    ax.set_xlim(FAINTEST - 0.5, LARGEST + 0.5)
    ax.set_title(f"depth {depth}: {100 * right:.0f} % right")


def finding(record: dict) -> str:
    """The share of test cells that the gradient has right."""
    [predictor] = rows_of(record, "predictor", predictor=MEASURED)
    share = 100 * predictor["right_where_tested"]
    return f"The untrained net's gradient predicts correctly, for {share:.0f} % of the deeper nets, whether they train"


@table("what-predicts")
def what_predicts(read) -> str:
    """A line for each predictor: the share of the cells that it has right."""
    lines = []
    for row in rows_of(read("results/what_trains.json"), "predictor"):
        low, high = row["interval"]
        tested = f"{row['right_where_tested']:.3f} ({low:.3f} to {high:.3f})"
        wrong = f"{row['trains_unforeseen']} | {row['fails_unforeseen']}"
        lines.append(f"| {row['predictor']} | {row['right_where_set']:.3f} | {tested} | {wrong} |")
    right = "right where its bounds were set | where they were tested (95 %)"
    return markdown_table(f"| predictor | {right} | trains, not foreseen | fails, not foreseen |", lines)


@table("what-kinds-train")
def what_kinds_train(read) -> str:
    """A line for each kind: in how many of its cells it trains, and was predicted to, at each depth."""
    record = read("results/what_trains.json")
    depths = record["settings"]["depths"]
    kinds = list(dict.fromkeys(row["kind"] for row in rows_of(record, "kind")))
    lines = []
    for kind in kinds:
        counts = []
        for row in rows_of(record, "kind", kind=kind):
            counts.append(f"{row['train']} of {row['cells']} ({row['predicted']})")
        lines.append(f"| {kind} | {' | '.join(counts)} |")
    columns = " | ".join(f"depth {depth}" for depth in depths)
    return markdown_table(f"| kind | {columns} |", lines)


# ---- which_carry ----------------------------------------------------------------------------------

SEES_X = "sees x"
KEEP_X = ("skip", "skip / sqrt L", "rezero", "uncoupled")  # these add to x, and take nothing from it
# others are grey
COLORS = {SEES_X: COLOR["highway"], "none": COLOR["plain"], **dict.fromkeys(KEEP_X, KINDS["residual"])}
NAMES = {  # as pictures and pages name the kinds
    "none": "plain",
    "skip": "x + H",
    "skip / sqrt L": "x + H / √L",
    "convex": "fixed gate",
    "rezero": "x + a H",
    "static scalar": "one gate a block",
    "static unit": "one gate a unit",
    SEES_X: "highway",
    "uncoupled": "x + T H",
}


@picture("which_carry")
def which_carry(record):
    """A panel for each depth, a line for each kind, a mark for each seed: the training loss."""
    settings = record["settings"]
    depths = settings["depths"]
    fig, axes = panels(1, len(depths), 3.8, sharex=True, sharey=True, squeeze=False)
    for ax, depth in zip(axes.flat, depths, strict=True):
        for line, kind in enumerate(NAMES):
            losses, n_lost = losses_of(record, kind, depth)
            color = COLORS.get(kind, GREY)
            ax.plot(losses, [line] * len(losses), "o", ms=4, color=color, alpha=0.7)
            if losses:
                ax.plot(geometric_mean(losses), line, "|", ms=16, mew=2, color=color)
            if n_lost:
                note(ax, f"{n_lost} lost", (max(losses, default=1), line), (6, -3), color, ha="left")
        ax.set(xscale="log", xlabel="training loss")
        ax.set_ylim(len(NAMES) - 0.4, -0.6)  # the first line above
        ax.set_title(f"{depth} blocks")
    axes[0, 0].set_yticks(range(len(NAMES)), NAMES.values())
    trained = f"{settings['epochs']} epochs on {spaced(settings['n_train'])} images, equal parameters"
    headline(
        fig,
        finding_of_which_carry(record),
        f"green: these keep x; a mark is a seed, a bar the geometric mean; {trained}",
    )
    return fig


def losses_of(record: dict, kind: str, depth: int) -> tuple[list[float], int]:
    """The training losses of the seeds that did not diverge, and how many did."""
    trials = with_settings(record["trials"]["final"], kind=kind, depth=depth)
    losses = [trial["loss"] for trial in trials if not trial["diverged"]]
    return losses, len(trials) - len(losses)


def finding_of_which_carry(record: dict) -> str:
    """How many of the first places nets take that keep the whole x, at every depth."""
    first = min(places_first(record, depth) for depth in record["settings"]["depths"])
    return f"Nets that keep the whole x take the first {first} of {len(NAMES)} places, by their training loss"


def places_first(record: dict, depth: int) -> int:
    """How many kinds that keep x stand before all others; one that lost a seed stands behind those that lost none."""
    found = {kind: losses_of(record, kind, depth) for kind in NAMES}
    ranks = {kind: (n_lost, geometric_mean(losses) if losses else 0) for kind, (losses, n_lost) in found.items()}
    best_of_others = min(rank for kind, rank in ranks.items() if kind not in KEEP_X)
    return sum(ranks[kind] < best_of_others for kind in KEEP_X)


@table("which-carry-nets")
def nets_of_every_kind(read) -> str:
    """Training loss and test accuracy of every kind at every depth."""
    record = read("results/which_carry.json")
    depths = record["settings"]["depths"]
    rows = []
    for kind, name in NAMES.items():
        found = [select(record["summary"], kind=kind, depth=depth) for depth in depths]
        cells = [name]
        cells += [f"{1000 * row['loss']['mean']:.2g} ± {1000 * row['loss']['sd']:.1g}" for row in found]
        cells += [f"{row['test_accuracy']['mean']:.4f} ± {row['test_accuracy']['sd']:.4f}" for row in found]
        rows.append(f"| {' | '.join(cells)} |")
    columns = [f"{what}, {depth} blocks" for what in ("1000 × loss", "accuracy") for depth in depths]
    return markdown_table(f"| block | {' | '.join(columns)} |", rows)


# ---- initialisations ------------------------------------------------------------------------------

BLOCKS = ("highway", "plain")


def rows_of_initialisations(record: dict, row: str, **wanted) -> list[dict]:
    """The rows whose "row" is this and that have these settings."""
    return with_settings(record["summary"], row=row, **wanted)


def depths_of(record: dict) -> list[int]:
    return record["settings"]["depths"]


@picture("initialisations")
def initialisations(record):
    """The loss of every combination, each in a cell; a panel for each kind and depth.

    In a panel H changes from top to bottom, and the initial weights from left to right: first the
    gain, then the distribution."""
    depths = depths_of(record)
    fig, axes = panels(2, len(depths), 6.4, sharex=True, sharey=True, squeeze=False)
    for line, kind in zip(axes, BLOCKS, strict=True):
        for ax, depth in zip(line, depths, strict=True):
            image = draw_cells(ax, record, kind, depth)
            counts = rows_of_initialisations(record, "kind", kind=kind, depth=depth)[0]
            count = f"{counts['proceed']} of {counts['cells']}"
            ax.set_title(f"{kind}, {depth + 1} layers:\n{count} proceed", color=COLOR[kind])
    meaning = "log10 of the training loss; black: it does not train; cross: it diverged"
    fig.colorbar(image, ax=axes, location="bottom", aspect=40, label=meaning)
    headline(fig, finding_of_initialisations(record), "a column: size and distribution of the initial weights")
    return fig


def draw_cells(ax, record, kind: str, depth: int):
    cells = rows_of_initialisations(record, "cell", kind=kind, depth=depth)
    names = list(dict.fromkeys(cell["H"] for cell in cells))
    starts = sorted({(cell["gain"], cell["distribution"]) for cell in cells})
    guessing = math.log10(math.log(10))
    losses = np.full((len(names), len(starts)), guessing)
    for cell in cells:
        loss = cell["loss"]["mean"]
        row = names.index(cell["H"])
        column = starts.index((cell["gain"], cell["distribution"]))
        if loss is None:
            ax.plot(column, row, "x", color="white", ms=8)
        else:
            losses[row, column] = math.log10(loss)
    ax.grid(visible=False)
    image = ax.imshow(losses, cmap=LOSSES, aspect="auto", origin="upper", vmin=-2, vmax=guessing)
    ax.set_yticks(range(len(names)), [{"relu": "ReLU"}.get(name, name) for name in names])
    labels = [f"{gain:g}, {distribution.replace('laplace', 'Laplace')}" for gain, distribution in starts]
    ax.set_xticks(range(len(starts)), labels, rotation=90)
    return image


def finding_of_initialisations(record: dict) -> str:
    """In how many cells training proceeds."""
    highway, plain = [how_many_proceed(record, kind) for kind in BLOCKS]
    return f"Highway nets train in {highway} combinations of H, depth and start, plain nets in {plain}"


def how_many_proceed(record: dict, kind: str) -> str:
    rows = rows_of_initialisations(record, "kind", kind=kind)
    proceed = sum(row["proceed"] for row in rows)
    return f"{proceed} of {sum(row['cells'] for row in rows)}"


@table("starts-of-highway", kind="highway")
@table("starts-of-plain", kind="plain")
def count(read, kind: str) -> str:
    return how_many_proceed(read("results/initialisations.json"), kind)


@table("end-of-rates-plain-30", kind="plain", depth=29, end=min)
@table("end-of-rates-plain-100", kind="plain", depth=99, end=min)
@table("end-of-rates-highway-30", kind="highway", depth=29, end=max)
@table("end-of-rates-highway-100", kind="highway", depth=99, end=max)
def at_end_of_rates(read, kind: str, depth: int, end) -> str:
    """In how many cells the search chose the lowest or the highest rate."""
    record = read("results/initialisations.json")
    rate = end(row["effective_lr"] for row in rows_of_initialisations(record, "cell"))
    rates = [row["effective_lr"] for row in rows_of_initialisations(record, "cell", kind=kind, depth=depth)]
    return f"{rates.count(rate)} of {len(rates)}"


@table("starts")
def starts(read) -> str:
    """In how many cells training proceeds, and how much the start matters."""
    record = read("results/initialisations.json")
    rows = []
    for depth in depths_of(record):
        cells = [f"{depth + 1}"]
        for kind in BLOCKS:
            row = rows_of_initialisations(record, "kind", kind=kind, depth=depth)[0]
            cells.append(f"{row['proceed']} of {row['cells']}")
        for kind in BLOCKS:
            row = rows_of_initialisations(record, "kind", kind=kind, depth=depth)[0]
            spread_of_kind = row["spread"]["mean"]
            cells.append("-" if spread_of_kind is None else f"{spread_of_kind:.2g}")
        spread = rows_of_initialisations(record, "spread", depth=depth)[0]
        wider_by = spread["highway_wider_by"]
        interval = f"{wider_by:.2g} ({spread['low']:.2g} to {spread['high']:.2g})" if wider_by is not None else "-"
        cells.append(interval)
        rows.append(f"| {' | '.join(cells)} |")
    proceeds = "highway: cells that proceed | plain"
    spreads = "highway: spread of log10 loss | plain | difference (95 % interval, not corrected)"
    return markdown_table(f"| layers | {proceeds} | {spreads} |", rows)


# ---- best_start -----------------------------------------------------------------------------------


def factors_of(record: dict) -> list[dict]:
    """The rows with plain's loss over highway's, a row for each depth."""
    return with_settings(record["summary"], row="factor")


def loss_of(net: dict) -> float:
    """The training loss; that of a guess for a net that diverged."""
    return math.log(10) if net["loss"] is None else net["loss"]


@picture("best_start")
def best_start(record):
    """On the left the loss of every search's net against depth; on the right plain's over highway's."""
    factors = factors_of(record)
    layers = [row["depth"] + 1 for row in factors]
    fig, (left, right) = panels(1, 2, 4)
    for block in ("highway", "plain"):
        means = []
        for row in factors:
            nets = trials_with(record, "final", block=block, depth=row["depth"])
            losses = [loss_of(net) for net in nets]
            left.plot([row["depth"] + 1] * len(losses), losses, ls="", marker=MARKER[block], color=COLOR[block], ms=5)
            means.append(geometric_mean(losses))
        left.plot(layers, means, color=COLOR[block], lw=2, label=block)
    left.set(xscale="log", yscale="log", xlabel="layers", ylabel="training loss, a net of each search")
    left.legend(loc="upper left")

    values = [row["plain_over_highway"] for row in factors]
    below = [row["plain_over_highway"] - row["low"] for row in factors]
    above = [row["high"] - row["plain_over_highway"] for row in factors]
    right.errorbar(layers, values, (below, above), color=OTHERS[0], marker="o", capsize=4)
    right.set(xscale="log", yscale="log", xlabel="layers", ylabel="plain's loss over highway's")
    plain_log_ticks(right.yaxis)
    for ax in (left, right):
        ax.set_xticks(layers, layers)
        ax.minorticks_off()
    headline(
        fig,
        finding_of_best_start(factors[-1]),
        "both kinds with their best start; intervals of 95 % over whole searches",
    )
    return fig


def finding_of_best_start(row: dict) -> str:
    """The factor at the largest depth, with its interval."""
    layers = row["depth"] + 1
    factor = f"{row['plain_over_highway']:.3g} times the loss of highway nets"
    return f"At {layers} layers plain nets end at {factor} ({row['low']:.3g} to {row['high']:.3g})"


@table("best-start-factors")
def table_of_factors(read) -> str:
    """Losses, the starts that searches chose, and the factor with its interval, for each depth."""
    record = read("results/best_start.json")
    rows = []
    for row in factors_of(record):
        cells = [f"{row['depth'] + 1}"]
        for block in ("highway", "plain"):
            net = select(record["summary"], row="net", block=block, depth=row["depth"])
            cells += [entry_text(net["loss"], "loss", 0), net["starts"]]
        cells.append(f"{row['plain_over_highway']:.3g} ({row['low']:.3g} to {row['high']:.3g})")
        rows.append(f"| {' | '.join(cells)} |")
    header = "| layers | highway: loss | its starts | plain: loss | its starts | plain over highway (95 % interval) |"
    return markdown_table(header, rows)


# ---- gate_bias ------------------------------------------------------------------------------------

FATES = {"hard": "fails", "soft": "idle", "trained": ""}  # {a trial's fate: its word in the picture}
IDLE = "#CFE2F3"  # the colour of nets whose blocks are idle
SCALE = matplotlib.colors.LogNorm(0.05, math.log(10))  # of the colours; log 10 is the loss of guessing


@picture("gate_bias")
def gate_bias(record):
    """Whether training fails, for each depth and initial gate bias.

    It fails hard if the loss stays at that of guessing, and softly if the net is as good without its
    blocks."""
    threshold = select(record["summary"], row="definitions")["rule_threshold"]
    activations = sorted({trial["activation"] for trial in record["trials"]}, reverse=True)
    biases = sorted({trial["gate_bias"] for trial in record["trials"]}, reverse=True)
    depths = sorted({trial["depth"] for trial in record["trials"]})
    fig, axes = panels(len(activations), 1, 2.6 * len(activations) + 0.8, squeeze=False)
    for ax, activation in zip(axes[:, 0], activations, strict=True):
        for trial in trials_with(record, None, activation=activation):
            row = depths.index(trial["depth"])
            column = biases.index(trial["gate_bias"])
            fails_by_rule = trial["transforms"] >= threshold  # layers times sigmoid(gate bias)
            draw_net(ax, row, column, trial, underlined=fails_by_rule)
        ax.set(xlim=(-0.5, len(biases) - 0.5), xticks=range(len(biases)))
        ax.set(ylim=(-0.5, len(depths) - 0.5), yticks=range(len(depths)), yticklabels=[depth + 1 for depth in depths])
        ax.set(xticklabels=[f"{bias:g}" for bias in biases], ylabel=f"layers, {activation}")
        ax.grid(visible=False)
    axes[-1, 0].set_xlabel("initial gate bias")
    numbers = f"numbers: loss after {record['settings']['epochs']} epochs"
    headline(
        fig, finding_of_gate_bias(record["trials"], threshold), f"{numbers}; idle, blue: as good without its blocks"
    )
    return fig


def finding_of_gate_bias(trials: list[dict], threshold: float) -> str:
    """How many nets fail below the rule's threshold, and how many from there on."""
    below = [trial["fate"] for trial in trials if trial["transforms"] < threshold]
    others = [trial["fate"] for trial in trials if trial["transforms"] >= threshold]
    return (
        f"Where layers × sigmoid(bias) < {threshold:g}, {below.count('hard')} of {len(below)} nets fail; "
        f"elsewhere (underlined) {others.count('hard')} of {len(others)} do"
    )


def draw_net(ax, row: int, column: int, trial: dict, underlined: bool) -> None:
    """The cell of one net: its loss, as grey and number, and how it fails."""
    loss = trial["losses"][-1] if trial["losses"] and not trial["diverged"] else math.inf
    color = IDLE if trial["fate"] == "soft" else plt.get_cmap(LOSSES)(0.85 * SCALE(min(loss, math.log(10))))
    ax.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 1, 1, color=color, lw=0))
    text = f"{loss:.2f}" if loss < 100 else f"{loss:.0e}"
    fate = FATES[trial["fate"]]
    if fate:
        text += f"\n{fate}"
    ink = "w" if loss > 0.35 else "k"
    ax.text(column, row, text, ha="center", va="center", fontsize="small", color=ink)
    if underlined:
        ax.plot([column - 0.4, column + 0.4], [row - 0.42, row - 0.42], color=ink, lw=2)


# ---- trainable_depth ------------------------------------------------------------------------------

KIND = "highway"
START = "orthogonal"
FAINTEST_TRAINABLE_DEPTH = -16.0  # smaller gradients are drawn here
LOSS = 0.9 * math.log(10)  # below it a net trains
LINE = -3.35  # of S: below it a net does not train by the line alone
TOP = 1.0  # log10 of k, in the largest rate k / (1 + M)


@picture("trainable_depth")
def trainable_depth(record):
    """Left, highway nets: S against b_T as the law has it, a line for each depth; marks at measured
    gradients of untrained nets, full where they train.  Right: the largest rate of the grid's cells that
    train against 1 + M, and the law's line."""
    cells = [row for row in record["summary"] if row["row"] == "cell" and row["slice"] == "grid"]
    depths = sorted({cell["depth"] for cell in cells})
    fig, (left, right) = panels(1, 2, 4)
    for depth, color in zip(depths, shades(COLOR["highway"], len(depths)), strict=True):
        draw_valley(left, [cell for cell in cells if cell["depth"] == depth], depth, color)
        draw_rates(right, [cell for cell in cells if cell["depth"] == depth and cell["trains"]], color)
    left.axhline(LINE, color=GREY, ls="--")
    left.set(
        xlabel="b_T", ylabel="log10 of the gradient, first block over last", ylim=(FAINTEST_TRAINABLE_DEPTH - 1, 1)
    )
    left.legend(fontsize="small", title="blocks")
    reached = np.array([1.0, max([1 + cell["M"] for cell in cells], default=2.0)])
    right.plot(reached, 10**TOP / reached, color=GREY)
    right.set(xscale="log", yscale="log", xlabel="1 + M", ylabel="largest rate that trains")
    judged = [row for row in record["summary"] if row["row"] == "predictor" and row["slice"] == "grid"]
    [law] = [row for row in judged if row["predictor"] == "law" and row["loss"] == round(LOSS, 4)]
    finding = f"Two lines say of {100 * law['right']:.0f} % of {law['cells']} new nets whether they train"
    headline(fig, finding, f"left: {KIND} nets, {START} weights, full marks train; right: all that train")
    return fig


def draw_valley(ax, cells: list[dict], depth: int, color) -> None:
    found = [cell for cell in cells if (cell["kind"], cell["start"]) == (KIND, START)]
    found.sort(key=lambda cell: cell["gate_bias"])
    biases = [cell["gate_bias"] for cell in found]
    ax.plot(biases, np.maximum([cell["S"] for cell in found], FAINTEST_TRAINABLE_DEPTH), color=color, label=depth)
    for cell in found:
        if cell["measured"] is not None:
            y = max(cell["measured"], FAINTEST_TRAINABLE_DEPTH)
            ax.plot(cell["gate_bias"], y, "o", mec=color, mfc=color if cell["trains"] else "white")


def draw_rates(ax, cells: list[dict], color) -> None:
    """Marks lie a little beside their rates, so that each can be seen."""
    beside = np.random.default_rng(0).uniform(-0.1, 0.1, len(cells))
    rates = [cell["largest_rate"] for cell in cells]
    ax.plot([1 + cell["M"] for cell in cells], np.array(rates) * 10**beside, "o", ms=3, color=color, alpha=0.6)
