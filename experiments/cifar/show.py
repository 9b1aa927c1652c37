"""The pictures and tables of the room cifar, from JSON alone."""

import math

import numpy as np
from matplotlib.ticker import MultipleLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, OTHERS, PUBLISHED, headline, note, panels
from highways.lab.showing.tables import accuracy_cell, markdown_table
from highways.records import select, with_settings
from highways.statistics import spaced

PAPER = {"marker": "D", "color": PUBLISHED, "mec": "black", "ms": 8, "ls": "", "zorder": 1.9}  # the paper's accuracies
SHORT = {  # names of nets, where the picture has no room for those of the table
    "nineteen-layers": "highway, 19 layers",
    "eight-layers": "our own eight layers",
}
CHANCE = 0.1  # of CIFAR-10
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
LOOKS_OF_TRAININGS = {
    "paper": {"color": COLOR["highway"], "lw": 1.5},
    "whitened": {"color": OTHERS[1], "lw": 1.5},
    "log": {"color": "black", "lw": 1},
    "earlier log": {"color": "0.6", "lw": 1.5},
}
LEARNED = 5  # a net has learned if it is right this many times as often as by guessing


@picture("cifar", "published")
def cifar_accuracies(record, published):
    """Tables 2 and 3: the test accuracy of every net after its last epoch, beside the paper's."""
    runs = [run for run in record["trials"]["final"] if not run["diverged"]]
    fig, ax = panels(1, 1, 4.9)
    names = []
    for words, net, block, data, published_at in ROWS_OF_TABLES:
        for protocol in ("short", "paper"):
            of_row = with_settings(runs, net=net, block=block, data=data, protocol=protocol)
            if of_row:
                draw_accuracies(ax, len(names), of_row)
                if published_at:
                    published_table, name = published_at
                    ax.plot(100 * published[published_table][name]["mean"], len(names), **PAPER)
                style = {"xycoords": ("axes fraction", "data"), "ha": "left", "va": "center"}
                note(ax, f"{of_row[0]['epochs']} epochs", (0.09, len(names)), (0, 0), GREY, **style)
                names.append(name_of_row(words, of_row[0]))
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    ax.set_xlabel("test accuracy, %")
    ax.xaxis.set_major_locator(MultipleLocator(5))
    for kind, color in COLOR.items():
        ax.plot([], [], "o", color=color, ms=8, label=f"{kind}, here")
    ax.plot([], [], **PAPER, label="the paper")
    fig.legend(loc="outside lower center", ncols=3)
    headline(fig, finding(runs), "CIFAR-10 if no other is named; a dot: one run")
    return fig


def name_of_row(words: str, run: dict) -> str:
    name = SHORT.get(run["net"], words.partition(",")[0])
    if run["data"] == "cifar-100":
        name += ", CIFAR-100"
    if run["protocol"] == "paper":
        name += ", released settings"
    return name


def draw_accuracies(ax, place: int, runs: list[dict]) -> None:
    accuracies = [100 * run["test_accuracy"] for run in runs]
    color = COLOR["plain"] if runs[0]["block"].startswith("plain") else COLOR["highway"]
    ax.plot(accuracies, [place] * len(accuracies), "o", color=color, ms=8, alpha=0.8)


def finding(runs: list[dict]) -> str:
    """Whether all plain nets learn."""
    accuracies = [run["test_accuracy"] for run in runs if run["block"].startswith("plain")]
    if accuracies and min(accuracies) > LEARNED * CHANCE:
        return "Convolutional highway nets train on CIFAR in a single stage, but plain nets do, too"
    return "Convolutional highway nets train on CIFAR in a single stage; plain nets do not all"


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
    headline(fig, f"Accuracies differ from the authors' log by up to {furthest(rows)}", of_what)
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


def smoothed(differences: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """(epochs, means over SMOOTHED_OVER of them in percentage points).  Each mean stands at its middle epoch."""
    means = 100 * np.convolve(differences, np.full(SMOOTHED_OVER, 1 / SMOOTHED_OVER), "valid")
    return np.arange(len(means)) + 1 + SMOOTHED_OVER // 2, means


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
    summary = read("experiments/results/cifar.json")["summary"]
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


@table("archive-size")
def archive_size(read) -> str:
    return f"{read('data/authors_logs_cifar.json')['archive_bytes'] / 1e9:.2f} GB"


@table("evening")
def our_net(read) -> str:
    """The accuracy of our own net, which trains in an evening, and the hours of its training."""
    row = select(read("experiments/results/cifar.json")["summary"], net="eight-layers", protocol="short")
    if row["test_accuracy"]["n"] != 1:
        raise ValueError("the sentence on our own net is about one run")
    hours = row["epochs"] * row["seconds_per_epoch"] / 3600
    accuracy = 100 * row["test_accuracy"]["mean"]
    return f"{accuracy:.2f} % on CIFAR-10 in one run of {hours:.1f} hours on one core"


IMAGES = {"contrast": "normalised contrast", "whitened": "whitened", "smaller": "scaled"}


def rows_of_losses(record: dict) -> list[dict]:
    return [row for row in record["summary"] if row["row"] == "losses"]


@table("authors-images-others")
def other_measurements(read) -> str:
    """A line for each kind of images."""
    record = read("experiments/results/authors_images.json")
    lines = []
    for kind in IMAGES:
        of_images = next(row for row in rows_of_losses(record) if (row["images"], row["log"]) == (kind, "CIFAR-10"))
        training = next(row for row in record["summary"] if (row["row"], row["images"]) == ("training", kind))
        cells = [
            IMAGES[kind],
            f"{of_images['bytes_of_image'] / 1000:.1f}",
            f"{of_images['largest_of_mean_image']:.2g}",
            f"{training['n_diverged']} of {training['starts']}",
            "diverged" if training["accuracy"] is None else f"{100 * training['accuracy']:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    of_images = "kilobytes of a packed image | largest pixel of the mean image"
    accuracy = f"mean accuracy of the 19 layers over epochs 1 to {record['settings']['epochs']}, %"
    return markdown_table(f"| images | {of_images} | starts of Highway A that diverge | {accuracy} |", lines)


@table("authors-images-draws")
def draws(read) -> str:
    return str(read("experiments/results/authors_images.json")["settings"]["draws"])
