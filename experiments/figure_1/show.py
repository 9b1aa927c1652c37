"""The pictures and tables of the room figure_1, from JSON alone."""

import math

from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, MARKER, blank, headline, level, note, panels, shades, trials_with
from highways.lab.showing.tables import budget, cell, entry_text, markdown_table
from highways.records import select
from highways.statistics import mean_sd_n

# ---- optimization ---------------------------------------------------------------------------------


def depths_of(record: dict) -> list[int]:
    return [row["depth"] for row in record["summary"] if row["row"] == "depth"]


@picture("optimization")
def optimization(record):
    """Figure 1: above, the loss curves of the best setting of each depth; below, the best trials of
    the searches."""
    fig = blank(6.8)
    axes = fig.subplot_mosaic([["highway", "plain"], ["search", "search"]], height_ratios=(1.4, 1))
    highway = axes["highway"]
    plain = axes["plain"]
    plain.sharey(highway)
    depths = depths_of(record)
    draw_curves(highway, record, "highway", depths)
    draw_curves(plain, record, "plain", depths)
    highway.set_ylabel("training loss, mean over the epoch")
    plain.tick_params(labelleft=False)
    highway.set_title("highway")
    plain.set_title("plain")
    draw_search(axes["search"], record, depths)
    headline(fig, finding(record, depths))
    return fig


def finding(record: dict, depths: list[int]) -> str:
    """How many times as high the loss of the deepest nets is as that of the shallowest, for each kind."""
    texts = []
    for block in ("highway", "plain"):
        shallow, deep = [
            select(record["summary"], row="net", block=block, depth=depth)["loss"]["mean"]
            for depth in (depths[0], depths[-1])
        ]
        growth = "an unknown number of" if shallow is None or deep is None else f"{deep / shallow:.2g}"
        texts.append(f"{growth} times as high in {block} nets")
    return f"From {depths[0] + 1} to {depths[-1] + 1} layers the training loss becomes {' and '.join(texts)}"


def draw_curves(ax, record, block: str, depths: list[int]) -> None:
    """The loss curves of one kind: a color for each depth, a line for each seed."""
    for depth, color in zip(depths, shades(COLOR[block], len(depths)), strict=True):
        trials = trials_with(record, "final", block=block, depth=depth)
        for k, trial in enumerate(trials):
            epochs = range(1, len(trial["losses"]) + 1)
            label = None if k else f"{depth + 1} layers"
            ax.plot(epochs, trial["losses"], color=color, lw=1.6, label=label)
    ax.set(yscale="log", xlabel="epoch")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="lower left")


def draw_search(ax, record, depths: list[int]) -> None:
    """The mean loss of the best trials of each search, against depth."""
    settings = record["settings"]
    for block, text_offset in (("highway", -15), ("plain", 7)):
        points = []
        for depth in depths:
            row = select(record["summary"], row="net", block=block, depth=depth)
            loss = row["top_search_loss"]["mean"]
            if loss is not None:
                points.append((depth + 1, loss))
        style = {"color": COLOR[block], "marker": MARKER[block], "ms": 8, "lw": 2}
        ax.plot(*zip(*points, strict=True), label=block, **style)
        for layers, loss in points:
            note(ax, f"{loss:.2g}", (layers, loss), (0, text_offset), COLOR[block])
    text = f"search: best {settings['top']} of {settings['trials']}, {settings['search_epochs']} epochs"
    ax.set_title(text)
    layers = [depth + 1 for depth in depths]
    ax.set(yscale="log", xscale="log", xlabel="layers", xticks=layers, xticklabels=layers)
    ax.set(ylabel="training loss", xlim=(0.8 * layers[0], 1.25 * layers[-1]))
    ax.minorticks_off()
    ax.margins(y=0.2)
    ax.legend(loc="upper left")


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("depths")
def depths(read) -> str:
    """Loss and accuracy of both kinds at each depth."""
    record = read("results/optimization.json")
    rows = []
    for depth in depths_of(record):
        highway = select(record["summary"], row="net", block="highway", depth=depth)
        plain = select(record["summary"], row="net", block="plain", depth=depth)
        cells = [
            f"{depth + 1}",
            f"{highway['loss']['mean']:.2g}",
            f"{plain['loss']['mean']:.2g}",
            f"{highway['test_accuracy']['mean']:.4f}",
            f"{plain['test_accuracy']['mean']:.4f}",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    header = "| layers | highway: loss | plain: loss | highway: accuracy | plain: accuracy |"
    return markdown_table(header, rows)


@table("trials-optimization")
def trials_of_the_search(read) -> str:
    return budget(read, "optimization", "{trials} trials of {search_epochs} epochs")


# ---- wider_rates ----------------------------------------------------------------------------------


@table("wider-rates")
def wider_rates(read) -> str:
    """The best setting of each kind, where its rate lies in the range, and its loss."""
    rows = []
    for row in read("results/wider_rates.json")["summary"]:
        if row["row"] == "net":
            place = f"part {row['part']} of {row['parts']}"
            loss = entry_text(row["loss"], "loss", 0)
            accuracy = entry_text(row["test_accuracy"], "test_accuracy", 0)
            rows.append(f"| {row['block']} | {cell(row['best'])} | {place} | {loss} | {accuracy} |")
    columns = "best setting (rate: lr / (1 - momentum)) | its rate in the range | training loss | test accuracy"
    return markdown_table(f"| 100 layers | {columns} |", rows)


# ---- figure_1_finals ------------------------------------------------------------------------------


def thresholds_of(record: dict) -> list[str]:
    """The thresholds, as in the names of the rows' entries: "0.1", ..., "1e-05"."""
    return select(record["summary"], row="definitions")["thresholds"].split(", ")


@picture("figure_1_finals")
def figure_1_finals(record):
    """The loss curves of all nets, a panel for each depth, highway beside plain."""
    depths = depths_of(record)
    n_rows = math.ceil(len(depths) / 2)
    fig, axes = panels(n_rows, 2, 3 * n_rows + 0.8, sharex=True, sharey=True)
    for ax, depth in zip(axes.flat, depths, strict=True):
        for block in ("highway", "plain"):
            draw_curves_of_figure_1_finals(ax, record, block, depth)
        ax.set(yscale="log", xscale="log", title=f"{depth + 1} layers")
    axes.flat[0].legend(loc="lower left")
    fig.supxlabel("epoch", fontsize="small")
    fig.supylabel("training loss, mean over the epoch", fontsize="small")
    headline(fig, finding_of_figure_1_finals(record), "compared: the epochs to each marked loss, at each depth")
    return fig


def draw_curves_of_figure_1_finals(ax, record, block: str, depth: int) -> None:
    """A line for each seed, with a marker at the first epoch whose mean loss reaches a threshold."""
    trials = trials_with(record, "final", block=block, depth=depth)
    thresholds = [float(threshold) for threshold in thresholds_of(record)]
    for k, trial in enumerate(trials):
        losses = trial["losses"]
        epochs = range(1, len(losses) + 1)
        label = None if k else block  # one entry of the legend for all seeds
        ax.plot(epochs, losses, color=COLOR[block], lw=1.3, label=label)
        for threshold in thresholds:
            arrived = [epoch for epoch, loss in zip(epochs, losses, strict=True) if loss <= threshold]
            if arrived:
                style = {"color": COLOR[block], "marker": MARKER[block], "ms": 4}
                ax.plot(arrived[0], threshold, **style)


def finding_of_figure_1_finals(record: dict) -> str:
    """In how many of the comparisons each kind reaches the threshold first."""
    rows = [row for row in record["summary"] if row["row"] == "threshold"]
    first = [row["first"] for row in rows]
    if not first:
        return "No net reaches a threshold"
    highway = f"Highway nets reach a loss first in {first.count('highway')} of {len(first)} comparisons"
    return f"{highway}, plain nets in {first.count('plain')}; {first.count('open')} are not clear"


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("figure-1-losses")
def last_losses(read) -> str:
    """The last losses of both kinds at each depth."""
    record = read("results/figure_1_finals.json")
    rows = []
    for depth in depths_of(record):
        cells = [f"{depth + 1}"]
        for block in ("highway", "plain"):
            row = select(record["summary"], row="net", block=block, depth=depth)
            cells.append(entry_text(row["loss"], "loss", 0))
        rows.append(f"| {' | '.join(cells)} |")
    return markdown_table("| layers | highway: loss | plain: loss |", rows)


# ---- long_training --------------------------------------------------------------------------------

LINES = {("highway", 9): "-", ("plain", 9): "-", ("plain", 19): (0, (4, 1.5))}


def low_loss_of(record: dict) -> tuple[float, str]:
    """The loss that the nets are to reach, and its text, "1e-4"."""
    loss = select(record["summary"], row="definitions")["low_loss"]
    return loss, f"{loss:.0e}".replace("e-0", "e-")


@picture("long_training")
def long_training(record):
    """Loss curves of the long budget, every seed of each net, against the paper's 1e-4."""
    ends = {}
    fig, ax = panels(1, 1, 4)
    for (block, depth), style in LINES.items():
        trials = trials_with(record, "final", block=block, depth=depth)
        last_losses = [trial["loss"] for trial in trials if not trial["diverged"]]
        net = f"{block} net of {depth + 1} layers"
        if last_losses:
            ends[net] = mean_sd_n(last_losses)["mean"]
        for k, trial in enumerate(trials):
            epochs = range(1, len(trial["losses"]) + 1)
            label = None if k else net  # one entry of the legend for all seeds
            ax.plot(epochs, trial["losses"], color=COLOR[block], ls=style, lw=1.6, label=label)
    low_loss, text = low_loss_of(record)
    ax.axhline(low_loss, color=GREY, lw=1.2, ls=":", label=f"the paper's {text}")
    ax.set(yscale="log", xlabel="epoch", ylabel="training loss, mean over the epoch")
    ax.legend(title=f"{record['settings']['seeds']} seeds of each")
    headline(
        fig,
        finding_of_long_training(ends, len(trials[0]["losses"]), low_loss, text),
        "each kind of net with its best setting",
    )
    return fig


def finding_of_long_training(ends: dict[str, float], epochs: int, low_loss: float, text: str) -> str:
    """Which nets end below the paper's loss, and which ends lowest."""
    low = sum(loss < low_loss for loss in ends.values())
    lowest = min(ends, key=ends.get)
    many = "all nets" if low == len(ends) else f"{low} of {len(ends)} nets"
    return f"After {epochs} epochs {many} are below {text}; the {lowest} ends lowest"


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("long-training")
def long_training_table(read) -> str:
    record = read("results/long_training.json")
    rows = []
    for block, depth in (("plain", 9), ("plain", 19), ("highway", 9)):
        row = select(record["summary"], row="net", block=block, depth=depth)
        names = ("best", "loss", "epochs_to_low_loss", "test_accuracy")
        cells = [entry_text(row[name], name, 0) for name in names]
        rows.append(f"| {block}, {depth + 1} layers | {' | '.join(cells)} |")
    _, text = low_loss_of(record)
    columns = (
        "net",
        "best setting (rate: lr / (1 - momentum))",
        "training loss",
        f"first epoch of a mean loss of {text}",
        "test accuracy",
    )
    return markdown_table(f"| {' | '.join(columns)} |", rows)


@table("finals-long_training")
def final_runs(read) -> str:
    return budget(read, "long_training", "{epochs} epochs, {seeds} seeds")


# ---- full_mnist -----------------------------------------------------------------------------------

OPTIMIZERS = {"sgd": ("SGD", "-"), "adam": ("Adam", "--")}  # name and line
LEARNED = 0.5  # the test accuracy of a net that has learned


@picture("full_mnist")
def full_mnist(record):
    """Left, the 100-layer net under SGD and under Adam; right, nets of 20 layers.

    The nets of 20 layers are those of a blog post whose claims the question tests."""
    fig, axes = panels(1, 2, 4)
    left, right = axes
    draw_hundred_layers(left, record)
    draw_blog(right, record)
    texts = []
    for optimizer, (name, _) in OPTIMIZERS.items():
        trials = trials_with(record, "hundred_layers", optimizer=optimizer)
        learned = sum((trial["test_accuracy"] or 0) > LEARNED for trial in trials)
        texts.append(f"{name} in {learned} of {len(trials)} seeds")
    headline(fig, f"On all of MNIST {trials[0]['depth'] + 1} highway layers train with {', with '.join(texts)}")
    return fig


def draw_hundred_layers(ax, record: dict) -> None:
    for optimizer, (name, line) in OPTIMIZERS.items():
        trials = trials_with(record, "hundred_layers", optimizer=optimizer)
        label = f"{name}: {accuracies(trials, 3)}"
        for trial in trials:
            epochs = range(1, len(trial["losses"]) + 1)
            ax.plot(epochs, trial["losses"], line, color=COLOR["highway"], lw=1.5, label=label)
            label = None  # once for all seeds
    ax.set(yscale="log", xlabel="epoch", ylabel="training loss, mean over the epoch")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_title(f"{trials[0]['depth'] + 1} highway layers, {trials[0]['n_train']} images")
    ax.set_ylim(top=1000 * ax.get_ylim()[1])  # room for the numbers
    ax.legend(title="test accuracy of each seed", loc="upper center")


def draw_blog(ax, record: dict) -> None:
    for block, color in COLOR.items():
        accuracy = select(record["summary"], row="blog", block=block)["test_accuracy"]["mean"]
        label = None if accuracy is None else f"{block}: test {accuracy:.3f}"
        for trial in trials_with(record, "blog", block=block):
            losses = trial["losses"]
            steps = [trial["steps"] * (k + 1) / len(losses) for k in range(len(losses))]
            ax.plot(steps, losses, color=color, lw=1.5, label=label)
            label = None  # once for all seeds
    guessing = math.log(10)
    level(ax, guessing, f"log 10 = {guessing:.3f}", up=6)
    ax.set(xlabel="step", ylabel="training loss", ylim=(0, 1.2 * math.log(10)))
    ax.set_title("the blog's 20 layers")
    ax.legend()


def accuracies(trials: list[dict], decimals: int) -> str:
    """The test accuracy of each seed."""
    texts = []
    for trial in trials:
        accuracy = trial["test_accuracy"]
        texts.append("diverged" if accuracy is None else f"{accuracy:.{decimals}f}")
    return ", ".join(texts)


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("exploded")
def exploded(read) -> str:
    """Test accuracy of the seeds of each optimiser, one by one."""
    record = read("results/full_mnist.json")
    lines = []
    for optimizer, name in (("sgd", "SGD with momentum"), ("adam", "Adam")):
        trials = trials_with(record, "hundred_layers", optimizer=optimizer)
        row = select(record["summary"], row="hundred layers", optimizer=optimizer)
        mean = entry_text(row["test_accuracy"], "test_accuracy", 0)
        lines.append(f"| {name} | {accuracies(trials, 4)} | {mean} |")
    return markdown_table("| 100 layers, all of MNIST | test accuracy of each seed | mean ± sd |", lines)
