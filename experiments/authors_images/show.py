"""Which images the authors may have trained on: results/authors_images.json."""

from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table

IMAGES = {"contrast": "normalised contrast", "whitened": "whitened", "smaller": "scaled"}


def rows_of_losses(record: dict) -> list[dict]:
    return [row for row in record["summary"] if row["row"] == "losses"]


@table("authors-images-others")
def other_measurements(read) -> str:
    """A line for each kind of images."""
    record = read("results/authors_images.json")
    lines = []
    for kind in IMAGES:
        of_images = next(row for row in rows_of_losses(record) if (row["images"], row["log"]) == (kind, "CIFAR-10"))
        training = next(row for row in record["summary"] if (row["row"], row["images"]) == ("training", kind))
        cells = [
            IMAGES[kind],
            f"{of_images['bytes_of_image'] / 1000:.1f}",
            f"{of_images['largest_of_mean_image']:.2g}",
            f"{training['n_diverged']} of {training['starts']}",
            "diverged" if training["accuracy"] is None else f"{100 * training['accuracy']:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    of_images = "kilobytes of a packed image | largest pixel of the mean image"
    accuracy = f"mean accuracy of the 19 layers over epochs 1 to {record['settings']['epochs']}, %"
    return markdown_table(f"| images | {of_images} | starts of Highway A that diverge | {accuracy} |", lines)


@table("authors-images-draws")
def draws(read) -> str:
    return str(read("results/authors_images.json")["settings"]["draws"])
