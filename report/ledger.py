"""The ledger: results/claims.json."""

from report.registry import table
from report.tables import cell, markdown_table


@table("claims")
def ledger(read) -> str:
    rows = []
    for row in read("results/claims.json")["trials"]:
        by = ", ".join(f"[{name}]({where_computed(name)})" for name in row["results"])
        by += f": {max(row['minutes_on_two_cores'], 0.1):.1f}" if by else "-"
        note = f" ({row['note']})" if row["note"] else ""
        cells = cell(row["source"]), cell(row["claim"] + note), cell(row["ours"]), f"**{cell(row['verdict'])}**", by
        rows.append(f"| {' | '.join(cells)} |")
    return markdown_table("| where | what it says | ours | verdict | by, minutes on two cores |", rows)


def where_computed(name: str) -> str:
    return f"../{name}.json" if name.startswith("run_") else f"../experiments/{name}.py"


@table("ledger-counts")
def ledger_counts(read) -> str:
    counts = read("results/claims.json")["summary"]
    return markdown_table(
        f"| {' | '.join(counts)} |".replace("_", " "), [f"| {' | '.join(map(str, counts.values()))} |"]
    )


@table("ledger-reproduced")
def ledger_reproduced(read) -> str:
    counts = read("results/claims.json")["summary"]
    return f"{counts['reproduced']} of {sum(counts.values())} claims"
