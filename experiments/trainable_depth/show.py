"""The pictures and tables of the room trainable_depth, from JSON alone."""

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, headline, panels, shades
from highways.lab.showing.tables import markdown_table
from highways.records import select, with_settings


def rows_of(record: dict, row: str, **wanted) -> list[dict]:
    """The rows of the summary whose "row" is this and that have these settings."""
    return with_settings(record["summary"], row=row, **wanted)


# ---- trainable_depth ---------------------------------------------------------------------------

KIND = "highway"
START = "orthogonal"
FAINTEST_S = -16.0  # a smaller S is drawn here


@picture("trainable_depth")
def trainable_depth(record):
    """Left, highway nets: S against b_T as the law has it, a line for each depth; marks at measured
    gradients of untrained nets, full where they train.  Right: the largest rate of the grid's cells that
    train against 1 + M, and the law's line."""
    [constants] = rows_of(record, "constants")
    cells = rows_of(record, "cell", slice="grid")
    depths = sorted({cell["depth"] for cell in cells})
    fig, (left, right) = panels(1, 2, 4)
    for depth, color in zip(depths, shades(COLOR["highway"], len(depths)), strict=True):
        draw_valley(left, [cell for cell in cells if cell["depth"] == depth], depth, color)
        draw_rates(right, [cell for cell in cells if cell["depth"] == depth and cell["trains"]], color)
    left.axhline(constants["line"], color=GREY, ls="--")
    left.set(xlabel="b_T", ylabel="log10 of gradient, first block over last", ylim=(FAINTEST_S - 1, 1))
    left.legend(fontsize="small", title="blocks")
    reached = np.array([1.0, max([1 + cell["M"] for cell in cells], default=2.0)])
    right.plot(reached, 10 ** constants["top"] / reached, color=GREY)
    right.set(xscale="log", yscale="log", xlabel="1 + M", ylabel="largest rate that trains")
    [law] = rows_of(record, "predictor", slice="grid", predictor="law", loss=constants["loss"])
    finding = f"Half-open gates are the worst; two lines foretell {100 * law['right']:.0f} % of {law['cells']} nets"
    headline(fig, finding, f"left: {KIND} nets, {START} weights, full marks train; right: all nets that train")
    return fig


def draw_valley(ax, cells: list[dict], depth: int, color) -> None:
    found = [cell for cell in cells if (cell["kind"], cell["start"]) == (KIND, START)]
    found.sort(key=lambda cell: cell["gate_bias"])
    biases = [cell["gate_bias"] for cell in found]
    ax.plot(biases, np.maximum([cell["S"] for cell in found], FAINTEST_S), color=color, label=depth)
    for cell in found:
        if cell["measured"] is not None:
            y = max(cell["measured"], FAINTEST_S)
            ax.plot(cell["gate_bias"], y, "o", mec=color, mfc=color if cell["trains"] else "white")


def draw_rates(ax, cells: list[dict], color) -> None:
    """Marks lie a little beside their rates, so that each can be seen."""
    beside = np.random.default_rng(0).uniform(-0.1, 0.1, len(cells))
    rates = [cell["largest_rate"] for cell in cells]
    ax.plot([1 + cell["M"] for cell in cells], np.array(rates) * 10**beside, "o", ms=3, color=color, alpha=0.6)


@table("law-predictors")
def law_and_its_baselines(read) -> str:
    """Of how many cells of the grid each predictor is right, at each loss, and how far off its largest rate is."""
    rows = rows_of(read("experiments/results/trainable_depth.json"), "predictor", slice="grid")
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    lines = []
    for name in dict.fromkeys(row["predictor"] for row in rows):
        first, *others = (select(rows, predictor=name, loss=loss) for loss in losses)
        low, high = first["interval"]
        cells = [name, f"{first['right']:.3f} ({low:.3f} to {high:.3f})"]
        cells += [str(first["trains_unforeseen"]), str(first["fails_unforeseen"])]
        cells.append(f"{first['factor']:.2f}" if first.get("factor") else "")
        cells += [f"{row['right']:.3f}" for row in others]
        lines.append(f"| {' | '.join(cells)} |")
    columns = "right (95 %) | trains, not foreseen | fails, not foreseen | largest rate off by a factor of"
    for loss in losses[1:]:
        columns += f" | right at a loss of {loss:g}"
    return markdown_table(f"| predictor | {columns} |", lines)


SHOWN_FOR_SLICES = ("law", "measured gradient", "depth and b_T", "all train")


@table("law-slices")
def law_in_slices(read) -> str:
    """A line for each slice: how many nets train, and of which share some predictors are right."""
    rows = rows_of(read("experiments/results/trainable_depth.json"), "predictor")
    lines = []
    for name in dict.fromkeys(row["slice"] for row in rows if row["slice"] != "grid"):
        found = [select(rows, slice=name, predictor=predictor) for predictor in SHOWN_FOR_SLICES]
        cells = [name, f"{found[0]['train']} of {found[0]['cells']}"]
        cells += [f"{row['right']:.2f}" for row in found]
        cells.append(f"{found[0]['factor']:.2f}" if found[0].get("factor") else "")
        lines.append(f"| {' | '.join(cells)} |")
    columns = " | ".join(SHOWN_FOR_SLICES)
    return markdown_table(f"| slice | train | {columns} | law's largest rate off by a factor of |", lines)


@table("law-in-slices", predictor="law")
@table("start-in-slices", predictor="start alone")
@table("slices-that-train", predictor="all train")
def right_in_slices(read, predictor: str) -> str:
    """Of how many nets of the other slices a predictor is right."""
    rows = rows_of(read("experiments/results/trainable_depth.json"), "predictor", predictor=predictor)
    rows = [row for row in rows if row["slice"] != "grid"]
    right = sum(round(row["right"] * row["cells"]) for row in rows)
    return f"{right} of {sum(row['cells'] for row in rows)}"


@table("rate-by-side")
def rate_by_side(read) -> str:
    """How far off the largest rate is, as a factor, for who knows only the side of b_T = 0; set after looking."""
    rows = rows_of(read("experiments/results/trainable_depth.json"), "cell", slice="grid", trains=True)
    steps = [np.log10((5 if row["gate_bias"] < 0 else 0.5) / row["largest_rate"]) for row in rows]
    return f"{10 ** np.sqrt(np.mean(np.square(steps))):.2f}"


@table("law-pairs")
def papers_gate_beside_mp(read) -> str:
    """By how much the paper's gate is worse than the mp-gate where both train."""
    [row] = rows_of(read("experiments/results/trainable_depth.json"), "pairs")
    low, high = row["loss_interval"]
    loss = f"{row['loss_over_mp']:.2f} times its loss (95 %: {low:.2f} to {high:.2f})"
    low, high = row["lost_interval"]
    lost = f"{row['accuracy_lost']:.3f} ({low:.3f} to {high:.3f})"
    return f"{loss}, and is less accurate by {lost}; over {row['pairs']} pairs"


# ---- will_it_train -----------------------------------------------------------------------------

ALL_FAMILIES = "all"
MEASURED = "gradient"  # the primary predictor


@table("will-it-train")
def will_it_train(read) -> str:
    """Of how many held-out nets of every family each predictor is right, with each optimiser."""
    rows = rows_of(read("experiments/results/will_it_train.json"), "predictor")
    families = list(dict.fromkeys(row["family"] for row in rows))
    predictors = list(dict.fromkeys(row["predictor"] for row in rows))
    lines = []
    for optimizer in dict.fromkeys(row["optimizer"] for row in rows):
        for family in families:
            found = with_settings(rows, optimizer=optimizer, family=family)
            measured = select(found, predictor=MEASURED)
            cells = [optimizer, family, f"{measured['train']} of {measured['nets']}", str(measured["not_clear"])]
            cells += [f"{select(found, predictor=predictor)['right']:.2f}" for predictor in predictors]
            lines.append(f"| {' | '.join(cells)} |")
    return markdown_table(f"| optimiser | family | train | not clear | {' | '.join(predictors)} |", lines)


@table("trained-below-with-adam", optimizer="adam")
def trained_below(read, optimizer: str) -> str:
    """Of how many nets in the gaps, below the lower edge, how many trained."""
    edge = select(rows_of(read("experiments/results/will_it_train.json"), "edges"), optimizer=optimizer)["fails_below"]
    nets = with_settings(read("experiments/results/will_it_train_edges.json")["summary"], optimizer=optimizer)
    below = [net for net in nets if net["measure"] < edge]
    return f"{sum(net['train'] for net in below)} of {sum(net['seeds'] for net in below)}"


@table("will-it-train-with-adam", optimizer="adam")
@table("will-it-train-with-sgd", optimizer="sgd")
def right_of_held_out(read, optimizer: str) -> str:
    """The share of the held-out nets of which the gradient is right, with its interval."""
    rows = rows_of(
        read("experiments/results/will_it_train.json"), "predictor", optimizer=optimizer, family=ALL_FAMILIES
    )
    row = select(rows, predictor=MEASURED)
    low, high = row["interval"]
    return f"{row['right']:.3f} (95 %: {low:.3f} to {high:.3f}, {row['nets']} nets)"
