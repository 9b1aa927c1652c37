"""How many rows of the ledger, experiments/results/claims.json, have which verdict."""

from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table

NAME_OF_KIND = {
    "claim": "claims that somebody made",
    "count": "counts and algebra",
    "open question": "questions without a claim",
}


@table("ledger-counts")
def ledger_counts(read) -> str:
    rows = []
    counts = read("experiments/results/claims.json")["summary"]
    for kind, of_kind in counts.items():
        numbers = " | ".join(map(str, of_kind.values()))
        rows.append(f"| {NAME_OF_KIND[kind]} | {sum(of_kind.values())} | {numbers} |")
    return markdown_table(
        "| rows | all | reproduced, or yes | in part | not reproduced, or no | not clear | not tested |", rows
    )


@table("ledger-passed-by-others")
def ledger_passed_by_others(read) -> str:
    """How many reproduced rows have a rule that a net without the claim's subject passes, too."""
    rows = read("experiments/results/claims.json")["trials"]
    reproduced = [row for row in rows if row["kind"] == "claim" and row["verdict"] == "reproduced"]
    return str(sum(row["passed_by"] != "" for row in reproduced))
