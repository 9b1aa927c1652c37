"""What one hidden layer reaches with the searches of deep nets: results/one_hidden_layer.json."""

from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table
from highways.statistics import format_stat


@table("one-hidden-layer")
def one_hidden_layer(read) -> str:
    rows = []
    for row in read("results/one_hidden_layer.json")["summary"]:
        numbers = f"{format_stat(row['loss'], 3)} | {format_stat(row['test_accuracy'], 4)}"
        trained_as = "Figure 1" if row["row"] == "Figure 1" else f"the starts, H {row['row']}"
        rows.append(f"| {trained_as} | {row['epochs']} | {numbers} | {row['best']} |")
    return markdown_table("| trained as | epochs | training loss | test accuracy | chosen |", rows)
