"""The accuracy of every control of the headline: results/controls.json."""

from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table
from highways.statistics import format_stat


@table("controls")
def controls(read) -> str:
    rows = []
    for row in read("results/controls.json")["summary"]:
        if row["row"] == "control" and row["depth"] == 30:
            accuracy = format_stat(row["test_accuracy"], 3)
            rows.append(f"| {row['control']} | {accuracy} | {format_stat(row['loss'], 3)} |")
    return markdown_table("| at depth 30 | test accuracy | training loss |", rows)
