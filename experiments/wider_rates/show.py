"""A wider search of rates at 100 layers: results/wider_rates.json."""

from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell, entry_text, markdown_table


@table("wider-rates")
def wider_rates(read) -> str:
    """The best setting of each kind, where its rate lies in the range, and its loss."""
    rows = []
    for row in read("results/wider_rates.json")["summary"]:
        if row["row"] == "net":
            place = f"part {row['part']} of {row['parts']}"
            loss = entry_text(row["loss"], "loss", 0)
            accuracy = entry_text(row["test_accuracy"], "test_accuracy", 0)
            rows.append(f"| {row['block']} | {cell(row['best'])} | {place} | {loss} | {accuracy} |")
    columns = "best setting (rate: lr / (1 - momentum)) | its rate in the range | training loss | test accuracy"
    return markdown_table(f"| 100 layers | {columns} |", rows)
