"""Which images the authors may have trained on: results/authors_images.json."""

from report.registry import table
from report.tables import markdown_table


@table("authors-images")
def authors_images(read) -> str:
    """A line for each data set and kind of images."""
    lines = []
    for row in read("results/authors_images.json")["summary"]:
        cells = [
            row["data"].upper(),
            {"contrast": "normalised contrast", "whitened": "whitened, too"}[row["images"]],
            f"{row['loss_median']:.2f} ({row['loss_low']:.2f} to {row['loss_high']:.2f})",
            f"{row['log']:.2f}",
            f"{row['bytes_of_image'] / 1000:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    columns = "loss before training: median (middle 95 %) | the authors' log | kilobytes of a packed image"
    return markdown_table(f"| data | images | {columns} |", lines)


@table("authors-images-draws")
def draws(read) -> str:
    return str(read("results/authors_images.json")["settings"]["draws"])
