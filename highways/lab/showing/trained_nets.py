"""The trained nets that one can take away: the table of highways/trained/README.md, from highways/trained/nets.json."""

from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table


@table("nets")
def table_of_nets(read) -> str:
    """A row for each net: what it is, its record, how many test images it gets right, and its files."""
    rows = []
    for name, card in read("highways/trained/nets.json").items():
        n = card["test_images"]["n"]
        files = [card[kind] for kind in ("safetensors", "onnx")]
        cells = [
            f"`{name}`",
            card["title"],
            f"{card['data']}, [record](../../{card['recorded_in']})",
            str(card["settings"]["seed"]),
            f"{card['right']} of {n}, {100 * card['right'] / n:.2f} %",
            f"{card['n_parameters']}, {card['precision']}",
            " + ".join(str(file["bytes"]) for file in files),
            ", ".join(f"`{file['sha256'][:16]}`" for file in files),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    header = "| net | what | trained on | seed | test images right | numbers | bytes | SHA-256, both files |"
    return markdown_table(header, rows)
