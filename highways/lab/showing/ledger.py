"""The ledger: results/claims.json."""

from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell, markdown_table


@table("claims", kind="claim")
@table("counted", kind="count")
@table("open-questions", kind="open question")
def ledger(read, kind: str) -> str:
    rows = []
    for row in read("results/claims.json")["trials"]:
        if row["kind"] != kind:
            continue
        measured_by = "-"  # links to the programs that measured it, and their minutes
        if row["results"]:
            links = ", ".join(f"[{name}]({where_computed(name)})" for name in row["results"])
            measured_by = f"{links}: {max(row['minutes_on_two_cores'], 0.1):.1f}"
        note = f"; {row['note']}" if row["note"] else ""
        cells = [
            cell(row["source"]),
            cell(row["claim"] + note),
            cell(row["ours"]),
            f"**{cell(row['verdict'])}**",
            measured_by,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return markdown_table("| where | what it says | measured here | verdict | by, minutes on two cores |", rows)


def where_computed(name: str) -> str:
    return f"../{name}.json" if name.startswith("run_") else f"../experiments/{name}/question.py"


NAME_OF_KIND = {
    "claim": "claims that somebody made",
    "count": "counts and algebra",
    "open question": "questions without a claim",
}


@table("ledger-counts")
def ledger_counts(read) -> str:
    rows = []
    counts = read("results/claims.json")["summary"]
    for kind, of_kind in counts.items():
        numbers = " | ".join(map(str, of_kind.values()))
        rows.append(f"| {NAME_OF_KIND[kind]} | {sum(of_kind.values())} | {numbers} |")
    return markdown_table(
        "| rows | all | reproduced, or yes | in part | not reproduced, or no | not clear | not tested |", rows
    )


@table("ledger-passed-by-others")
def ledger_passed_by_others(read) -> str:
    """How many reproduced rows have a rule that a net without the claim's subject passes, too."""
    rows = read("results/claims.json")["trials"]
    reproduced = [row for row in rows if row["kind"] == "claim" and row["verdict"].startswith("reproduced")]
    return str(sum(row["passed_by"] != "" for row in reproduced))
