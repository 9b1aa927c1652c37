"""The paper's Tables 2 and 3, the nets for CIFAR: results/cifar.json."""

import math

import numpy as np

from highways.lab.showing.convolutional import accuracy_cell, error_curve
from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, MORE_KINDS, NORMALISED, OTHERS, headline, panels
from highways.lab.showing.tables import markdown_table
from highways.records import select
from highways.statistics import spaced

COLORS = COLOR | {"highway-bn": NORMALISED, "plain-maxout": MORE_KINDS["maxout"]}
SHORT_NAMES = {"paper": "released settings", "whitened": "whitened"}  # of protocols, in a legend
TRAININGS = {  # of the 19 layers on CIFAR-10
    "paper": "ours, on normalised contrast",
    "whitened": "ours, on whitened images",
    "log": "the authors' log",
    "earlier log": "the authors' earlier log",
}
FOR_WHAT = {"paper": "on normalised contrast", "whitened": "on whitened images", "earlier log": "in their earlier log"}
FALLS_AFTER = 200  # epochs of the authors' logs the rate falls for the first time
AROUND_THE_FALL = 20  # epochs
SMOOTHED_OVER = 7  # epochs
FIRST_JUDGED = 10  # the epoch from which on a headline compares trainings
LOGS = {"authors' log": "log", "earlier log": "earlier log"}  # {name in a legend: training}
LINES = {"paper": ":"}  # of protocols
STOPPED = {"lw": 1.2, "zorder": 2.5}  # the look of runs that were stopped
COLOR_OF_PROTOCOL = {"whitened": OTHERS[1]}
LOOKS_OF_TRAININGS = {
    "paper": {"color": COLOR["highway"], "lw": 1.5},
    "whitened": {"color": OTHERS[1], "lw": 1.5},
    "log": {"color": "black", "lw": 1},
    "earlier log": {"color": "0.6", "lw": 1.5},
}
PANELS_IN_A_ROW = 2
ORDER = ("highway-a", "highway-b", "highway-c", "nineteen-layers", "eight-layers")
SUFFIXES = {"paper": ", released settings", "whitened": ", released settings, whitened images"}
NAMES = {"nineteen-layers": "19 layers", "eight-layers": "eight layers with highway-bn"}
EPOCHS = (1, 2, 5, 10, 20, 50, 100, 400)
ERRORS = (2, 3, 4, 6, 8, 10, 15, 20, 30, 40, 60, 90)  # percent


def name_of(run: dict) -> str:
    """A run's net in words: "Highway A", "plain A", "19 layers", "eight layers with highway-bn"."""
    name = NAMES.get(run["net"])
    if name is None:
        letter = run["net"].removeprefix("highway-").upper()
        name = f"{run['block'].replace('highway', 'Highway')} {letter}"
    return name + SUFFIXES.get(run["protocol"], "")


@picture("cifar", "authors_logs_cifar")
def cifar_curves(record, authors_logs):
    """Tables 2 and 3: test error, epoch by epoch, a panel for each net; the authors' logs."""
    runs = [run for run in record["trials"]["final"] if not run["diverged"]]
    stopped = record["trials"].get("partial", [])

    def place(data_and_net):
        data, net = data_and_net
        return data, ORDER.index(net)

    nets = sorted({(run["data"], run["net"]) for run in runs}, key=place)
    n_rows = math.ceil(len(nets) / PANELS_IN_A_ROW)
    fig, axes = panels(n_rows, PANELS_IN_A_ROW, 3 * n_rows + 0.5, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(nets) :]:
        ax.set_axis_off()
    for ax, (data, net) in zip(axes.flat, nets, strict=False):
        logs = logs_of(authors_logs, data) if net == "nineteen-layers" else []
        draw_net(ax, of_net(runs, data, net), of_net(stopped, data, net), logs)
        ax.set_title(f"{data.upper()}: {title_of_net(net)}")
    axes[0, 0].set(xscale="log", xlim=(0.9, 450), yscale="log", ylim=(1.4, 100))
    axes[0, 0].set_xticks(EPOCHS, EPOCHS)
    axes[0, 0].set_yticks(ERRORS, ERRORS)
    axes[0, 0].minorticks_off()
    fig.supxlabel("epoch", fontsize="small")
    fig.supylabel("test error, %", fontsize="small")
    of_first_set = [run for run in runs if run["data"] == nets[0][0]]
    best = max(of_first_set, key=lambda run: run["test_accuracy"])
    reached = f"{100 * best['test_accuracy']:.2f} % in {best['epochs']} epochs"
    numbers = "numbers: test accuracy, %; by the short protocol where no other is named"
    headline(fig, f"Best on {best['data'].upper()}: {name_of(best)}, {reached}", numbers)
    return fig


def of_net(runs: list[dict], data: str, net: str) -> list[dict]:
    return [run for run in runs if run["data"] == data and run["net"] == net]


def title_of_net(net: str) -> str:
    if net in NAMES:
        return NAMES[net].partition(" with")[0]
    return f"net {net.removeprefix('highway-').upper()}"


def logs_of(authors_logs: dict, data: str) -> list[dict]:
    """The authors' logs on a data set, the current one first."""
    return [log for log in authors_logs.values() if isinstance(log, dict) and log["data"] == data]


def draw_net(ax, runs: list[dict], stopped: list[dict], logs: list[dict]) -> None:
    """All runs of one net on one data set; a label for every kind."""
    labelled = set()
    for run in runs:
        kind = (run["block"], run["protocol"])
        same = [other for other in runs if (other["block"], other["protocol"]) == kind]
        line = LINES.get(run["protocol"], "-")
        label = None if kind in labelled else label_of(same)
        color = COLOR_OF_PROTOCOL.get(run["protocol"], COLORS[run["block"]])
        error_curve(ax, run, ls=line, color=color, lw=1.5, label=label)
        labelled.add(kind)
    for run in stopped:
        draw_stopped_run(ax, run)
    for log, (name, training) in zip(logs, LOGS.items(), strict=False):
        draw_log(ax, log, name, LOOKS_OF_TRAININGS[training]["color"])
    # the smallest letters that can be read on a phone, so that the labels fit into the panel
    ax.legend(loc="lower left", fontsize=9.5, handlelength=1, borderpad=0)


def draw_log(ax, log: dict, name: str, color: str) -> None:
    errors = [100 * (1 - accuracy) for accuracy in log["test_accuracy"]]
    label = f"{name}: {100 * log['test_accuracy'][-1]:.2f}"
    ax.plot(range(1, len(errors) + 1), errors, color=color, lw=0.8, zorder=2.2, label=label)


def label_of(runs: list[dict]) -> str:
    """The text of a kind of runs in the legend.

    It names the block, except for runs of the authors' protocol: the colour shows their block."""
    accuracy = 100 * np.mean([run["test_accuracy"] for run in runs])
    name = SHORT_NAMES.get(runs[0]["protocol"], runs[0]["block"])
    if len(runs) > 1:
        name = f"{len(runs)} {name} nets"
    return f"{name}: {accuracy:.2f}, {runs[0]['epochs']} epochs"


def draw_stopped_run(ax, run: dict) -> None:
    """A run that was stopped early, or a branch: one that began at an epoch of another run, its
    parent, and went on at another rate."""
    color = COLOR_OF_PROTOCOL.get(run["protocol"], COLORS[run["block"]])
    look = {"color": color, "ls": LINES.get(run["protocol"], "-"), **STOPPED}
    if "parent" in run:
        epoch = run["parent"]["epoch"]
        text = f"... rate times {run['lr'] / run['parent']['lr']:.2g} after {epoch}"
        error_curve(ax, run, epoch, label=text, **look | {"ls": "--"})
    else:
        name = SHORT_NAMES.get(run["protocol"], run["block"])
        text = f"{name}, stopped after {run['stopped_after']}"
        error_curve(ax, run, label=text, **look)


@picture("cifar", "authors_logs_cifar")
def authors_log(record, authors_logs):
    """The 19 layers beside the authors' log: how far our runs and their earlier log are from it, epoch by epoch,
    until our longest run ends or the rate falls; and what the first fall of the rate gains."""
    fig, axes = panels(2, 1, 6)
    beside = axes[0]
    fall = axes[1]
    beside.axhline(0, **LOOKS_OF_TRAININGS["log"], label="the authors' log")
    rows = rows_less_the_log(record["summary"])
    last = last_drawn(rows)
    for row in rows:
        epochs, differences = smoothed(row["differences"][:last])
        training = row["training"]
        text = TRAININGS[training]
        if len(row["differences"]) < last:
            text += f": {len(row['differences'])} epochs"
        beside.plot(epochs, differences, **LOOKS_OF_TRAININGS[training], label=text)
    beside.set(xlabel="epoch", ylabel=f"test accuracy less the log's,\npoints, over {SMOOTHED_OVER} epochs")
    beside.legend()
    drawn = set()
    for training, history, epoch in first_falls(record, authors_logs):
        line = "--" if training in drawn else "-"  # a second fall of the same training
        drawn.add(training)
        around = slice(epoch - AROUND_THE_FALL, epoch + AROUND_THE_FALL)
        percent = 100 * np.array(history["test_accuracy"][around])
        epochs = np.arange(len(percent)) + 1 - AROUND_THE_FALL
        text = f"{TRAININGS[training]}: {epoch}"
        fall.plot(epochs, percent, ls=line, **LOOKS_OF_TRAININGS[training], label=text)
    fall.set(xlabel="epochs since the rate first fell to a tenth", ylabel="test accuracy, %")
    fall.legend(title="the rate falls after epoch", loc="lower right")
    of_what = f"test accuracy, means over {SMOOTHED_OVER} epochs, from epoch {FIRST_JUDGED} on"
    headline(fig, f"Furthest from the authors' log: {furthest(rows)}", of_what)
    return fig


def rows_less_the_log(summary: list[dict]) -> list[dict]:
    return [row for row in summary if row.get("row") == "less the log"]


def last_drawn(rows: list[dict]) -> int:
    """The last epoch that is drawn: where our longest run ends, but at least where the log's rate falls."""
    ours = [len(row["differences"]) for row in rows if row["training"] != "earlier log"]
    return max([FALLS_AFTER, *ours])


def furthest(rows: list[dict]) -> str:
    """How far each training is from the authors' log at most, from FIRST_JUDGED on."""
    texts = []
    last = last_drawn(rows)
    for row in rows:
        epochs, differences = smoothed(row["differences"][:last])
        points = np.abs(differences[epochs >= FIRST_JUDGED]).max()
        texts.append(f"{points:.1f} points {FOR_WHAT[row['training']]}")
    return ", ".join(texts)


@table("paper-19-layers")
def paper_19_layers(read) -> str:
    """The paper's mean accuracies on CIFAR-10 and on CIFAR-100, for the catalog's folder."""
    paper = read("data/published.json")["table_3"]
    return f"{paper['cifar-10']['mean']:.4f} and {paper['cifar-100']['mean']:.4f}"


@table("furthest-from-the-log")
def furthest_from_the_log(read) -> str:
    return furthest(rows_less_the_log(read("results/cifar.json")["summary"]))


def smoothed(differences: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """(epochs, means over SMOOTHED_OVER of them in percentage points).  Each mean stands at its middle epoch."""
    means = 100 * np.convolve(differences, np.full(SMOOTHED_OVER, 1 / SMOOTHED_OVER), "valid")
    return np.arange(len(means)) + 1 + SMOOTHED_OVER // 2, means


# ---- Tables ----------------------------------------------------------------------------------------------------------


# the rows of the table: (text, net, block, data set, where the paper's number stands in data/published.json)
ROWS_OF_TABLES = (
    ("highway A, 11 layers", "highway-a", "highway", "cifar-10", ("table_2", "highway-a")),
    ("plain A, 11 layers", "highway-a", "plain", "cifar-10", None),
    ("plain maxout A, 11 layers", "highway-a", "plain-maxout", "cifar-10", None),
    ("highway B, 19 layers", "highway-b", "highway", "cifar-10", ("table_2", "highway-b")),
    ("plain B, 19 layers", "highway-b", "plain", "cifar-10", None),
    ("plain maxout B, 19 layers", "highway-b", "plain-maxout", "cifar-10", None),
    ("highway C, 32 layers", "highway-c", "highway", "cifar-10", ("table_2", "highway-c")),
    ("Table 3's highway net of 19 layers", "nineteen-layers", "highway", "cifar-10", ("table_3", "cifar-10")),
    ("Table 3's highway net of 19 layers", "nineteen-layers", "highway", "cifar-100", ("table_3", "cifar-100")),
    ("our own highway net of eight layers", "eight-layers", "highway-bn", "cifar-10", None),
)


@table("tables-2-and-3")
def tables_2_and_3(read) -> str:
    summary = read("results/cifar.json")["summary"]
    published = read("data/published.json")
    lines = []
    for words, net, block, data, published_at in ROWS_OF_TABLES:
        kind = {"net": net, "block": block, "data": data}
        short = accuracy_cell(summary, **kind, protocol="short")
        if short == "-":
            continue
        row = select(summary, **kind, protocol="short")
        theirs = "-"
        if published_at:
            published_table, name = published_at
            theirs = published_cell(published[published_table][name])
        by_paper = accuracy_cell(summary, **kind, protocol="paper")
        seconds = row["seconds_per_epoch"]
        minutes = f"{seconds / 60:.1f}" if seconds else "-"
        cells = (words, data.upper(), spaced(row["parameters"]), theirs, by_paper, short, minutes)
        lines.append(f"| {' | '.join(cells)} |")
    columns = "paper, % | here, released settings, % | here, short, % | minutes an epoch"
    return markdown_table(f"| net | data | parameters | {columns} |", lines)


def published_cell(paper: dict) -> str:
    sd = f" ± {100 * paper['sd']:.2f}" if paper["sd"] else ""
    epochs = f", {paper['epochs']} epochs" if "epochs" in paper else ""
    return f"{100 * paper['mean']:.2f}{sd}{epochs}"


def first_falls(results: dict, authors_logs: dict) -> list[tuple[str, dict, int]]:
    """For our runs of the 19 layers whose rate fell, and for the authors' logs: the training, its history, and the
    epoch after which its rate falls to a tenth."""
    falls = []
    wanted = {"net": "nineteen-layers", "block": "highway", "data": "cifar-10"}
    for run in [*results["trials"].get("partial", []), *results["trials"]["final"]]:
        if not wanted.items() <= run.items() or run["protocol"] not in TRAININGS:
            continue
        if is_first_fall(run):
            falls.append((run["protocol"], run["history"], run["parent"]["epoch"]))
        elif "parent" not in run and len(run["history"]["epoch"]) >= FALLS_AFTER + AROUND_THE_FALL:
            falls.append((run["protocol"], run["history"], FALLS_AFTER))
    falls.append(("log", authors_logs["CIFAR-10"], FALLS_AFTER))
    falls.append(("earlier log", authors_logs["CIFAR-10, earlier"], FALLS_AFTER))
    return falls


def is_first_fall(run: dict) -> bool:
    """Whether a run is a branch at a tenth of the rate, begun before that rate falls by itself, with enough
    epochs before and after it for a mean."""
    if "parent" not in run or not AROUND_THE_FALL <= run["parent"]["epoch"] <= FALLS_AFTER:
        return False
    n_after = len(run["history"]["epoch"]) - run["parent"]["epoch"]
    return n_after >= AROUND_THE_FALL and math.isclose(10 * run["lr"], run["parent"]["lr"])


@table("archive-size")
def archive_size(read) -> str:
    return f"{read('data/authors_logs_cifar.json')['archive_bytes'] / 1e9:.2f} GB"


@table("evening")
def our_net(read) -> str:
    """The accuracy of our own net, which trains in an evening, and the hours of its training."""
    row = select(read("results/cifar.json")["summary"], net="eight-layers", protocol="short")
    if row["test_accuracy"]["n"] != 1:
        raise ValueError("the sentence on our own net is about one run")
    hours = row["epochs"] * row["seconds_per_epoch"] / 3600
    accuracy = 100 * row["test_accuracy"]["mean"]
    return f"{accuracy:.2f} % on CIFAR-10 in one run of {hours:.1f} hours on one core"
