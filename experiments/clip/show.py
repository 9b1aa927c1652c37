"""The clip of the gradient: results/clip.json."""

from highways.lab.showing.registry import table
from highways.lab.showing.tables import entry_text, markdown_table, verdict_cell


@table("clip")
def clip(read) -> str:
    """For every net the share of the steps in which the clip acts, and the loss with and without
    it."""
    summary = read("results/clip.json")["summary"]
    rows = []
    for net in summary:
        if net["row"] != "net":
            continue
        ways = {}
        for row in summary:
            if row["row"] == "way" and (row["block"], row["depth"]) == (net["block"], net["depth"]):
                ways[row["way"]] = row
        clipped = ways["clipped"]
        cells = [
            f"{net['block']}, {net['depth'] + 1} layers",
            share(clipped["share_of_first_epoch"]),
            share(clipped["share_of_steps"]),
        ]
        cells += [entry_text(row["loss"], "loss", 2) for row in ways.values()]
        cells.append(verdict_cell(net["free"]))
        rows.append(f"| {' | '.join(cells)} |")
    shares = "share of steps clipped: first epoch | all epochs"
    losses = "loss with the clip | without it | without it, at half the rate"
    return markdown_table(f"| net | {shares} | {losses} | without it the net |", rows)


def share(stat: dict) -> str:
    if stat["mean"] is None:
        return "diverged"
    return f"{stat['mean']:.2g}" if stat["mean"] < 0.01 else f"{stat['mean']:.3f}"
