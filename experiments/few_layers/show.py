"""The tables of the room few_layers, from JSON alone."""

from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table

NOTHING = "nothing"


@table("few-layers")
def few_layers(read) -> str:
    """On MNIST: every kind's accuracy at each depth, and whether it differs from that of the paper's layers."""
    record = read("experiments/results/few_layers.json")
    depths = record["settings"]["depths"]
    lines = []
    for kind, rows in by_kind(record["summary"], depths).items():
        cells = [", ".join(filter(None, (accuracy(row, 4), word(row)))) for row in rows]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    titles = [f"{depth} blocks" if depth > 1 else "1 block" for depth in depths]
    return markdown_table(f"| does it matter? | {' | '.join(titles)} |", lines)


@table("text-does-it-matter")
def text_does_it_matter(read) -> str:
    """On text: every kind's accuracy at each depth, and whether it differs from that of the paper's layers."""
    record = read("experiments/results/on_text.json")
    settings = record["settings"]
    rows = [row for row in record["summary"] if row.get("epochs", settings["epochs"]) == settings["epochs"]]
    return in_full(by_kind(rows, settings["depths"]), settings["depths"])


@table("text-longer")
def text_longer(read) -> str:
    """The same after more passes."""
    record = read("experiments/results/on_text.json")
    longer = record["settings"]["longer"]
    rows = [row for row in record["summary"] if row.get("epochs") == longer["epochs"]]
    return in_full({row["kind"]: [row] for row in rows}, [longer["depth"]])


def by_kind(summary: list[dict], depths: list[int]) -> dict[str, list[dict]]:
    """The rows of each kind, one for each depth; those of no layers come last."""
    found = {}
    for row in summary:
        if row.get("depth") in depths:
            found.setdefault(row["kind"], []).append(row)
    [nothing] = [row for row in summary if row.get("kind") == NOTHING]
    found[NOTHING] = [nothing | row for row in summary if row.get("row") == NOTHING]
    return found


def in_full(rows_of_kind: dict[str, list[dict]], depths: list[int]) -> str:
    """Three columns a depth: the accuracy, its difference from the paper's, and whether that matters."""
    header = "| kind |"
    for depth in depths:
        header += f" {depth} layers | less the paper's (95 %) | does it matter? |"
    lines = []
    for kind, rows in rows_of_kind.items():
        cells = []
        for row in rows:
            cells += [accuracy(row, 3), difference(row), word(row) or "-"]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return markdown_table(header, lines)


def accuracy(row: dict, digits: int) -> str:
    mean = row["test_accuracy"]["mean"]
    return "diverged" if mean is None else f"{mean:.{digits}f}"


def difference(row: dict) -> str:
    if row.get("difference") is None:
        return "-"
    return f"{row['difference']:.4f} ({row['low']:.4f} to {row['high']:.4f})"


def word(row: dict) -> str:
    """Whether the difference matters; nothing for the paper's layers themselves."""
    found = row.get("matters", "")
    return "**yes**" if found == "yes" else found
