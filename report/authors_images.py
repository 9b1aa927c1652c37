"""Which images the authors may have trained on: results/authors_images.json."""

from report.registry import picture, table
from report.style import COLOR, GREY, headline, panels, trials_with
from report.tables import markdown_table

IMAGES = {"contrast": "normalised\ncontrast", "whitened": "whitened"}


@picture("authors_images")
def authors_images(record):
    """The loss before training of every draw, for both kinds of images, and that of the authors' log."""
    sets = record["settings"]["sets"]
    fig, axes = panels(1, len(sets), 3.2, squeeze=False)
    for ax, data in zip(axes[0], sets, strict=True):
        for place, kind in enumerate(IMAGES):
            [trial] = trials_with(record, "before_training", data=data, images=kind)
            losses = trial["losses"]
            ax.plot(losses, [place] * len(losses), "o", color=COLOR["highway"], ms=5, alpha=0.4)
        log = next(row["log"] for row in record["summary"] if row["data"] == data)
        ax.axvline(log, color=GREY, lw=1.5, ls="--", label="the authors' log")
        ax.set(yticks=range(len(IMAGES)), yticklabels=IMAGES.values())
        ax.set(xlabel="test loss before training", title=data.upper())
        ax.margins(y=0.4)
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center")
    headline(fig, finding(record["summary"]), f"dots: {len(losses)} draws of the weights")
    return fig


def finding(rows: list[dict]) -> str:
    """On how many of the data sets the log begins in the middle of our losses, for both kinds of images."""
    texts = []
    for kind, name in IMAGES.items():
        within = [row["log_within"] for row in rows if row["images"] == kind]
        texts.append(f"{' '.join(name.split())}, {sum(within)} of {len(within)}")
    return f"Sets on which the log begins in the middle 95 % of our losses: {'; '.join(texts)}"


@table("authors-images")
def losses_and_sizes(read) -> str:
    """A line for each data set and kind of images."""
    lines = []
    for row in read("results/authors_images.json")["summary"]:
        cells = [
            row["data"].upper(),
            " ".join(IMAGES[row["images"]].split()),
            f"{row['loss_median']:.2f} ({row['loss_low']:.2f} to {row['loss_high']:.2f})",
            f"{row['log']:.2f}",
            f"{row['bytes_of_image'] / 1000:.1f}",
            f"{row['diverged']} of {row['starts']}" if "starts" in row else "-",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    loss = "loss before training: median (middle 95 %) | the authors' log"
    columns = f"{loss} | kilobytes of a packed image | starts of Highway A that diverge"
    return markdown_table(f"| data | images | {columns} |", lines)


@table("authors-images-draws")
def draws(read) -> str:
    return str(read("results/authors_images.json")["settings"]["draws"])
