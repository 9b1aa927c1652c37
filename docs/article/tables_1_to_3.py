"""The paper's Tables 1 to 3: its convolutional nets, and ours."""

from __future__ import annotations

from docs.article.ledger_rows import table_of
from highways.lab.showing.registry import table
from highways.lab.showing.tables import accuracy_cell
from highways.records import select
from highways.statistics import spaced


def accuracy_in_paper(paper: dict) -> str:
    """In per cent, with as many decimals as the paper prints."""
    decimals = 1 if "mean_between" in paper else 2
    sd = f" ± {100 * paper['sd']:.2f}" if paper["sd"] else ""
    return f"{100 * paper['mean']:.{decimals}f}{sd}"


# (table, text, record, settings of its rows, where the paper's number is)
NETS = (
    ("1", "16 maps", "table1", {"width": 16, "block": "highway"}, ("table_1", "16")),
    ("", "32 maps", "table1", {"width": 32, "block": "highway"}, ("table_1", "32")),
    ("", "plain, 16 maps", "table1", {"width": 16, "block": "plain"}, None),
    ("", "residual, 16 maps", "table1", {"width": 16, "block": "residual"}, None),
    ("", "16 maps, batch normalisation", "table1", {"width": 16, "block": "highway-bn"}, None),
    ("2", "A, 11 layers", "cifar", {"net": "highway-a", "block": "highway"}, ("table_2", "highway-a")),
    ("", "plain A", "cifar", {"net": "highway-a", "block": "plain"}, None),
    ("", "plain maxout A", "cifar", {"net": "highway-a", "block": "plain-maxout"}, None),
    ("", "B, 19 layers", "cifar", {"net": "highway-b", "block": "highway"}, ("table_2", "highway-b")),
    ("", "plain B", "cifar", {"net": "highway-b", "block": "plain"}, None),
    ("", "plain maxout B", "cifar", {"net": "highway-b", "block": "plain-maxout"}, None),
    ("", "C, 32 layers", "cifar", {"net": "highway-c", "block": "highway"}, ("table_2", "highway-c")),
    ("3", "19 layers", "cifar", {"net": "nineteen-layers", "data": "cifar-10"}, ("table_3", "cifar-10")),
    ("", "19 layers, CIFAR-100", "cifar", {"net": "nineteen-layers", "data": "cifar-100"}, ("table_3", "cifar-100")),
)


@table("article-tables-1-to-3")
def tables_1_to_3(read) -> str:
    published = read("data/published.json")
    lines = []
    for number, words, record, kind, place in NETS:
        summary = [row for row in read(f"experiments/results/{record}.json")["summary"] if "test_accuracy" in row]
        short = select(summary, **kind, protocol="short")
        theirs = accuracy_in_paper(published[place[0]][place[1]]) if place else "-"
        released = [accuracy_cell(summary, **kind, protocol=protocol) for protocol in ("whitened", "paper")]
        cells = [
            number,
            words,
            spaced(short["parameters"]),
            theirs,
            next((text for text in released if text != "-"), "-").strip("*"),
            accuracy_cell(summary, **kind, protocol="short").strip("*"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    header = "| | net | parameters | paper, % | here, released settings, % | here, short recipe, % |"
    return table_of(header, lines, (2, 20, 11, 13, 30, 30))


@table("article-short-of-table-3")
def short_of_table_3(read) -> str:
    """How far our short runs of the 19 layers are below the paper's means."""
    paper = read("data/published.json")["table_3"]
    summary = [row for row in read("experiments/results/cifar.json")["summary"] if row.get("protocol") == "short"]
    points = {}
    for data in ("cifar-10", "cifar-100"):
        ours = select(summary, net="nineteen-layers", data=data)["test_accuracy"]["mean"]
        points[data] = 100 * (paper[data]["mean"] - ours)
    return f"{points['cifar-10']:.1f} points below the paper on CIFAR-10, and {points['cifar-100']:.1f} on CIFAR-100"


@table("article-first-author")
def first_author(read) -> str:
    paper = read("data/published.json")["first_author_2025"]
    return f"{100 * paper['highway']:.2f} % on CIFAR-10, and the residual net {100 * paper['residual']:.2f} %"


@table("article-short-of-table-2")
def short_of_table_2(read) -> str:
    """How far Highway A, trained for 400 epochs, is below the paper's number."""
    paper = read("data/published.json")["table_2"]["highway-a"]["mean"]
    summary = [row for row in read("experiments/results/cifar.json")["summary"] if row.get("protocol") == "paper"]
    return f"{100 * (paper - select(summary, net='highway-a')['test_accuracy']['mean']):.1f}"
