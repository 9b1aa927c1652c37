"""What depth does to the loss: the paper's Figure 1."""

from __future__ import annotations

import math
import re

from article.ledger_rows import row_of
from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, MARKER, headline, panels
from highways.records import with_settings
from highways.statistics import spaced


@table("article-plain-grows")
def plain_grows(read) -> str:
    """The loss of plain nets of 100 layers over that of 10."""
    return f"{growth(read('results/optimization.json'), 'plain'):.0f}"


@table("article-plain-grows-from-its-best-start")
def plain_grows_from_its_best_start(read) -> str:
    """The same where five searches choose the start, too."""
    return f"{growth(read('results/best_start.json'), 'plain'):.2g}"


def growth(record: dict, block: str) -> float:
    """The mean loss of 100 layers over that of 10."""
    loss = losses(record, block)
    return loss[100] / loss[10]


def losses(record: dict, block: str) -> dict[int, float]:
    """{layers: mean training loss}, the least depth first."""
    nets = with_settings(record["summary"], row="net", block=block)
    return {net["depth"] + 1: net["loss"]["mean"] for net in sorted(nets, key=lambda net: net["depth"])}


@table("article-searches-of-orthogonal-plain-nets")
def searches_of_orthogonal_plain_nets(read) -> str:
    """How many of the searches chose orthogonal weights for plain nets of 100 layers."""
    nets = with_settings(read("results/best_start.json")["trials"]["final"], block="plain", depth=99)
    orthogonal = with_settings(nets, start="orthogonal")
    n = len(nets)
    return f"all {n} searches" if len(orthogonal) == n else f"{len(orthogonal)} of {n} searches"


@table("article-factor-after-400-epochs")
def factor_after_400_epochs(read) -> str:
    """Plain's loss over highway's at 100 layers, after 400 epochs."""
    numbers = row_of(read, "two-orders-at-100-in-400-epochs-wide")["ours"]
    return spaced(int(float(re.search(r"over highway's (\S+)", numbers)[1])))


@table("article-draws")
def draws(read) -> str:
    """How many draws a search of Figure 1 has."""
    fewest, most = (read(f"results/{name}.json")["settings"]["trials"] for name in ("optimization", "wider_rates"))
    return f"{fewest} to {most}"


@picture("optimization", "best_start", "figure_1_finals", "one_hidden_layer")
def article_depth(optimization, best_start, finals, one_layer):
    """The training loss against depth: with the start that the activation implies, with a searched start, and after
    400 epochs, beside that of one hidden layer."""
    fig, axes = panels(1, 3, 3.2, sharey=True)
    short = optimization["settings"]["epochs"]
    long = finals["settings"]["epochs"]
    titles = (f"{short} epochs, one start", f"{short} epochs, searched start", f"{long} epochs, one start")
    for ax, record, title in zip(axes, (optimization, best_start, finals), titles, strict=True):
        for block in ("highway", "plain"):
            loss = losses(record, block)
            ax.plot(list(loss), list(loss.values()), MARKER[block], ls="-", color=COLOR[block], label=block)
        epochs = long if record is finals else short
        [alone] = with_settings(one_layer["summary"], row="Figure 1", epochs=epochs)
        ax.axhline(alone["loss"]["mean"], color=GREY, ls=":", label="one hidden layer")
        ax.set(xscale="log", yscale="log", xlabel="layers")
        ax.set_title(title)
        ax.set_xticks(list(loss), list(loss))
        ax.minorticks_off()
    axes[0].set_ylabel("training loss")
    axes[0].legend(loc="lower left")
    records = (optimization, best_start, finals)
    of_highway = math.ceil(max(growth(record, "highway") for record in records))
    of_plain = math.floor(min(growth(record, "plain") for record in records))
    finding = "Plain nets get worse with depth, highway nets hardly"
    headline(fig, finding, f"from 10 to 100 layers their losses grow over {of_plain}-fold and under {of_highway}-fold")
    return fig
