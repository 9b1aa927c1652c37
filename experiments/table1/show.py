"""The paper's Table 1, the convolutional nets: results/table1.json."""

from highways.lab.showing.convolutional import accuracy_cell, error_curve, log_curve
from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import KINDS, NORMALISED, PUBLISHED, headline, panels
from highways.lab.showing.tables import markdown_table, percent
from highways.records import select, with_settings
from highways.statistics import format_stat, mean_sd_n, spaced

COLORS = {block: KINDS[block] for block in ("highway", "plain", "residual")} | {"highway-bn": NORMALISED}
HOW = {"short": "short", "paper": "released settings"}  # protocols in words
LINE_WIDTHS = {"short": 1.8, "paper": 0.8}  # by protocol
EPOCHS = (1, 2, 5, 10, 20, 50, 100, 300)
ERRORS = (0.4, 0.5, 0.6, 0.8, 1, 2, 5, 10, 20, 50, 90)  # percent
UNNAMED = (0.5, 0.8)  # ticks without a number, which would touch the next one's


@picture("table1", "published")
def conv_curves(record, published):
    """Table 1: test error of the convolutional nets, epoch by epoch, against the paper's band."""
    runs = [run for run in record["trials"]["final"] if not run["diverged"]]
    widths = sorted({run["width"] for run in runs})
    fig, axes = panels(len(widths), 1, 3.4 * len(widths) + 0.5, sharex=True, squeeze=False)
    for ax, width in zip(axes[:, 0], widths, strict=True):
        draw_published(ax, published, str(width))
        for protocol in LINE_WIDTHS:
            for block in COLORS:
                draw_kind(ax, with_settings(runs, width=width, block=block, protocol=protocol))
        ax.set(title=f"{width} maps a layer", xscale="log", xlim=(0.9, 330))
        ax.set(yscale="log", ylim=(0.38, 130), ylabel="test error, %")
        ax.set_xticks(EPOCHS, EPOCHS)
        ax.set_yticks(ERRORS, [f"{error:g}" if error not in UNNAMED else "" for error in ERRORS])
        ax.minorticks_off()
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), title="test error, %,\nof the last epoch")
    axes[-1, 0].set_xlabel("epoch")
    headline(fig, finding(runs, widths, published), "MNIST; the title's nets have the released settings")
    return fig


def finding(runs: list[dict], widths: list[int], published: dict) -> str:
    """The mean error of the highway nets of each width, beside the paper's."""
    texts = []
    for width in widths:
        kind = with_settings(runs, width=width, block="highway", protocol="paper")
        paper = published["table_1"].get(str(width))
        if kind and paper:
            error = mean_sd_n([error_of(run) for run in kind])["mean"]
            texts.append(f"{error:.2f} % with {width} maps (the paper's on {100 * (1 - paper['mean']):.2f} %)")
    if not texts:
        return "The test error of convolutional nets falls in training"
    return f"Highway nets err on {', on '.join(texts)}"


def error_of(run: dict) -> float:
    """The test error after the last epoch, in percent."""
    return 100 * (1 - run["test_accuracy"])


def draw_published(ax, published: dict, width: str) -> None:
    """The band of the paper's mean ± sd, and points of the authors' log, for widths that have them."""
    paper = published["table_1"].get(width)
    if paper:
        mean = 100 * (1 - paper["mean"])
        sd = 100 * paper["sd"]
        text = f"the paper's {mean:.2f} ± {sd:.2f},\n{paper['epochs']} epochs"
        ax.axhspan(mean - sd, mean + sd, color=PUBLISHED, alpha=0.8, label=text)
    log = published["authors_log"].get(width)
    if log:
        epochs, accuracies = zip(*log["points"], strict=True)
        text = f"the authors' log, which\nends at {100 * (1 - log['test_accuracy']):.2f}"
        log_curve(ax, epochs, accuracies, text)


def draw_kind(ax, runs: list[dict]) -> None:
    """A line for every seed of one kind of run."""
    for i, run in enumerate(runs):
        look = {"color": COLORS[run["block"]], "lw": LINE_WIDTHS[run["protocol"]]}
        label = None if i else label_of(runs).replace(": ", ":\n")
        error_curve(ax, run, **look, label=label)


def label_of(runs: list[dict]) -> str:
    error = mean_sd_n([error_of(run) for run in runs])
    how = HOW[runs[0]["protocol"]]
    seeds = f" ± {error['sd']:.2f}, {len(runs)} seeds" if len(runs) > 1 else ", 1 seed"
    return f"{runs[0]['block']}, {how}: {error['mean']:.2f}{seeds}"


# ---- Tables ----------------------------------------------------------------------------------------------------------


NETS = ((16, "highway"), (32, "highway"), (16, "plain"), (16, "residual"))


@table("table-1")
def table_1(read) -> str:
    summary = read("results/table1.json")["summary"]
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


@table("paper-16-maps")
def paper_16_maps(read) -> str:
    """The paper's mean accuracy."""
    return f"{read('data/published.json')['table_1']['16']['mean']:.4f}"


@table("authors-log")
def authors_log(read) -> str:
    log = read("data/published.json")["authors_log"]["32"]
    return f"{100 * log['test_accuracy']:.2f} %"


@table("normalised")
def normalised(read) -> str:
    """The highway net of 16 maps without and with batch normalisation of H."""
    summary = read("results/table1.json")["summary"]
    steps = read("results/benchmark_conv_step.json")["summary"]
    costs = {"highway": 1, "highway-bn": steps["mnist_16_normalised_over_not"]}
    lines = []
    for block, cost in costs.items():
        row = select(summary, width=16, block=block, protocol="short")
        accuracy = f"{percent(row['test_accuracy'])}, {row['epochs']} epochs"
        first_epoch = format_stat(row["epochs_to_99"], 2)
        lines.append(f"| {block} | {accuracy} | {first_epoch} | {cost:.2f} |")
    return markdown_table("| block, 16 maps | test accuracy, % | epochs to 99 % | time of a step |", lines)
