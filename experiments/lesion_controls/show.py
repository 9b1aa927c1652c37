"""The share of idle blocks of the controls of the lesions, beside results/lesion.json."""

from highways.lab.showing.registry import table
from highways.lab.showing.style import as_spelled
from highways.lab.showing.tables import markdown_table
from highways.statistics import format_stat

SHARES = ("idle_share", "idle_share_15_to_45", "idle_share_first_40", "error")


@table("lesion-controls", name="lesion_controls")
@table("lesion-residual", name="lesion_residual")
def lesion_controls(read, name: str) -> str:
    """A row for each data set and kind of net."""
    of_controls = read(f"results/{name}.json")["summary"]
    sets = {row["data"] for row in of_controls}
    nets = [{**row, "control": "highway"} for row in read("results/lesion.json")["summary"] if row.get("data") in sets]
    lines = []
    for data in sorted(sets, reverse=True):
        for row in [*nets, *of_controls]:
            if row["data"] == data:
                numbers = " | ".join(format_stat(row[name], 2) for name in SHARES)
                lines.append(f"| {as_spelled(data)} | {row['control']} | {numbers} |")
    columns = "idle blocks | of 15 to 45 | of 1 to 40 | training error"
    return markdown_table(f"| data | net | {columns} |", lines)
