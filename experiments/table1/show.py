"""The picture and the tables of the room table1, from JSON alone."""

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import GREY, KINDS, NORMALISED, PUBLISHED, headline, note, panels
from highways.lab.showing.tables import accuracy_cell, markdown_table
from highways.records import select, with_settings
from highways.statistics import mean_sd_n, spaced

COLORS = {block: KINDS[block] for block in ("highway", "plain", "residual")} | {"highway-bn": NORMALISED}
HOW = {"paper": ", released settings", "short": ""}  # protocols, in the names of rows
PAPER = {"marker": "D", "color": PUBLISHED, "mec": "black", "ms": 8, "ls": "", "zorder": 1.9}  # the paper's errors
SHOWN_TO = 1.3  # percent: larger errors are written at the edge


@picture("table1", "published")
def conv_errors(record, published):
    """Table 1: the test error of every convolutional net after its last epoch, beside the paper's."""
    runs = [run for run in record["trials"]["final"] if not run["diverged"]]
    fig, ax = panels(1, 1, 4)
    names = []
    for width in sorted({run["width"] for run in runs}):
        for protocol in HOW:
            for block in ("highway", "highway-bn", "residual", "plain"):
                of_row = with_settings(runs, width=width, block=block, protocol=protocol)
                if of_row:
                    draw_row(ax, len(names), of_row, published)
                    style = {"xycoords": ("axes fraction", "data"), "ha": "left", "va": "center"}
                    note(ax, f"{of_row[0]['epochs']} epochs", (0.02, len(names)), (0, 0), GREY, **style)
                    names.append(f"{block}, {width} maps{HOW[protocol]}")
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    ax.set(xlim=(0.1, SHOWN_TO), xlabel="test error, % (a dot: one seed)")
    ax.plot([], [], **PAPER, label="the paper")
    ax.plot([], [], "k*", ms=9, label="the authors' log")
    ax.legend(loc="lower right")
    headline(fig, finding(runs, published), "of MNIST's test images, with the released settings")
    return fig


def draw_row(ax, place: int, runs: list[dict], published: dict) -> None:
    """Every seed of one kind of run, and the paper's error if it is of this kind."""
    kind = runs[0]
    color = COLORS[kind["block"]]
    for error in map(error_of, runs):
        if error <= SHOWN_TO:
            ax.plot(error, place, "o", color=color, ms=8, alpha=0.7)
        else:
            style = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "center", "weight": "bold"}
            note(ax, f"{error:.0f} % →", (0.99, place), (0, 0), color, **style)
    paper = published["table_1"].get(str(kind["width"]))
    if kind["block"] == "highway" and paper:
        ax.plot(100 * (1 - paper["mean"]), place, **PAPER)
    log = published["authors_log"].get(str(kind["width"]))
    if kind["protocol"] == "paper" and log:
        ax.plot(100 * (1 - log["test_accuracy"]), place, "k*", ms=9)


def finding(runs: list[dict], published: dict) -> str:
    """The mean error of the highway nets of each width, beside the paper's."""
    texts = []
    for width in sorted({run["width"] for run in runs}):
        kind = with_settings(runs, width=width, block="highway", protocol="paper")
        paper = published["table_1"].get(str(width))
        if kind and paper:
            error = mean_sd_n([error_of(run) for run in kind])["mean"]
            texts.append(f"{error:.2f} % with {width} maps (the paper: {100 * (1 - paper['mean']):.2f} %)")
    if not texts:
        return "Convolutional nets learn MNIST"
    return f"Convolutional highway nets err on {', and on '.join(texts)}"


def error_of(run: dict) -> float:
    """The test error after the last epoch, in percent."""
    return 100 * (1 - run["test_accuracy"])


# ---- Tables ----------------------------------------------------------------------------------------------------------


NETS = ((16, "highway"), (32, "highway"), (16, "plain"), (16, "residual"))


@table("table-1")
def table_1(read) -> str:
    summary = read("experiments/results/table1.json")["summary"]
    published = read("data/published.json")["table_1"]
    lines = []
    for width, block in NETS:
        parameters = select(summary, width=width, block=block, protocol="short")["parameters"]
        theirs = published_cell(published[str(width)]) if block == "highway" else "-"
        cells = [f"{block}, {width} maps", spaced(parameters), theirs]
        for protocol in ("paper", "short"):
            cells.append(accuracy_cell(summary, width=width, block=block, protocol=protocol))
        lines.append(f"| {' | '.join(cells)} |")
    columns = "paper, % | here, released settings, % | here, short, %"
    return markdown_table(f"| net | parameters | {columns} |", lines)


def published_cell(paper: dict) -> str:
    accuracy = f"{100 * paper['mean']:.2f} ± {100 * paper['sd']:.2f}"
    return f"{accuracy}, {paper['runs']} runs, {paper['epochs']} epochs"


@table("authors-log")
def authors_log(read) -> str:
    log = read("data/published.json")["authors_log"]["32"]
    return f"{100 * log['test_accuracy']:.2f} %"
