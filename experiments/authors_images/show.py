"""Which images the authors may have trained on: results/authors_images.json."""

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, headline, panels, trials_with
from highways.lab.showing.tables import markdown_table

IMAGES = {"contrast": "normalised\ncontrast", "whitened": "whitened", "smaller": "scaled"}


@picture("authors_images")
def authors_images(record):
    """The loss before training of every draw, for each kind of images, and that of the authors' logs."""
    logs = record["settings"]["logs"]
    fig, axes = panels(1, len(logs), 3.2, sharey=True, squeeze=False)
    for ax, log in zip(axes[0], logs, strict=True):
        for place, kind in enumerate(IMAGES):
            [trial] = trials_with(record, "before_training", log=log, images=kind)
            losses = trial["losses"]
            ax.plot(losses, [place] * len(losses), "o", color=COLOR["highway"], ms=5, alpha=0.4)
        loss = next(row["loss_of_log"] for row in rows_of_losses(record) if row["log"] == log)
        ax.axvline(loss, color=GREY, lw=1.5, ls="--", label="the authors' log")
        ax.set(yticks=range(len(IMAGES)), yticklabels=IMAGES.values(), title=log)
        ax.margins(y=0.3)
    axes[0, len(logs) // 2].set_xlabel("test loss before training")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center")
    headline(fig, finding(rows_of_losses(record)), f"dots: {len(losses)} draws of the weights")
    return fig


def rows_of_losses(record: dict) -> list[dict]:
    return [row for row in record["summary"] if row["row"] == "losses"]


def finding(rows: list[dict]) -> str:
    """For each kind of images, how many logs begin in the middle of our losses."""
    texts = []
    for kind in IMAGES:
        within = [row["log_within"] for row in rows if row["images"] == kind]
        texts.append(f"{in_words(kind)}, {sum(within)} of {len(within)}")
    return f"Logs that begin within the range of our losses: {'; '.join(texts)}"


def in_words(kind: str) -> str:
    return " ".join(IMAGES[kind].split())


@table("authors-images")
def losses(read) -> str:
    """A line for each log and kind of images."""
    lines = []
    for row in rows_of_losses(read("results/authors_images.json")):
        cells = [
            row["log"],
            in_words(row["images"]),
            f"{row['loss_median']:.2f} ({row['loss_low']:.2f} to {row['loss_high']:.2f})",
            f"{row['loss_of_log']:.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return markdown_table(
        "| log | our images | our test loss before training: median (least to greatest) | first loss of the log |",
        lines,
    )


@table("authors-images-others")
def other_measurements(read) -> str:
    """A line for each kind of images."""
    record = read("results/authors_images.json")
    lines = []
    for kind in IMAGES:
        of_images = next(row for row in rows_of_losses(record) if (row["images"], row["log"]) == (kind, "CIFAR-10"))
        training = next(row for row in record["summary"] if (row["row"], row["images"]) == ("training", kind))
        cells = [
            in_words(kind),
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
