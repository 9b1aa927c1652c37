"""Table 1's net without its blocks: results/table1_controls.json, beside results/table1.json."""

from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table, percent
from highways.records import select
from highways.statistics import spaced


@table("table1-controls")
def table1_controls(read) -> str:
    """Highway nets and nets without blocks of each width, by the short recipe."""
    lines = []
    for row in read("results/table1_controls.json")["summary"]:
        highway = select(read("results/table1.json")["summary"], width=row["width"], block="highway", protocol="short")
        for name, net in (("highway", highway), (row["control"], row)):
            cells = [f"{name}, {row['width']} maps", spaced(net["parameters"]), percent(net["test_accuracy"])]
            lines.append(f"| {' | '.join(cells)} |")
    return markdown_table("| net | parameters | test accuracy, short recipe, % |", lines)
