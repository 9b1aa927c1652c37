"""What depth does to the loss: the paper's Figure 1."""

from __future__ import annotations

from article.ledger_rows import rows_measured, verdicts
from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, MARKER, headline, panels, with_settings


@table("article-best-start")
def best_start(read) -> str:
    """The verdicts where both kinds have their best start; nothing before it is measured."""
    if not rows_measured(read, "best_start"):
        return ""
    sentence = "With five whole searches of each kind, which also search the start (`best_start`):"
    return f"\n\n{sentence}{verdicts(read, 'best_start')}"


@table("article-plain-grows")
def plain_grows(read) -> str:
    """The loss of plain nets of 100 layers over that of 10."""
    nets = with_settings(read("results/optimization.json")["summary"], row="net", block="plain")
    loss = {net["depth"] + 1: net["loss"]["mean"] for net in nets}
    return f"{loss[100] / loss[10]:.0f}"


@table("article-draws")
def draws(read) -> str:
    """How many draws a search of Figure 1 has."""
    fewest, most = (read(f"results/{name}.json")["settings"]["trials"] for name in ("optimization", "wider_rates"))
    return f"{fewest} to {most}"


@picture("optimization", "figure_1_finals", "one_hidden_layer")
def article_depth(optimization, finals, one_layer):
    """The training loss against depth after 20 and 400 epochs, beside that of one hidden layer."""
    fig, axes = panels(1, 2, 3.2, sharey=True)
    growth = {}
    for ax, record in zip(axes, (optimization, finals), strict=True):
        epochs = record["settings"]["epochs"]
        nets = with_settings(record["summary"], row="net")
        for block in ("highway", "plain"):
            found = sorted(with_settings(nets, block=block), key=lambda net: net["depth"])
            layers = [net["depth"] + 1 for net in found]
            losses = [net["loss"]["mean"] for net in found]
            ax.plot(layers, losses, MARKER[block], ls="-", color=COLOR[block], label=block)
            growth.setdefault(block, losses[-1] / losses[0])  # after 20 epochs
        [alone] = with_settings(one_layer["summary"], row="Figure 1", epochs=epochs)
        ax.axhline(alone["loss"]["mean"], color=GREY, ls=":", label="one hidden layer")
        ax.set(xscale="log", yscale="log", xlabel="layers")
        ax.set_title(f"after {epochs} epochs")
        ax.set_xticks(layers, layers)
        ax.minorticks_off()
    axes[0].set_ylabel("training loss")
    axes[1].legend(loc="upper left")
    of_plain = f"plain nets' loss grows {growth['plain']:.0f}-fold"
    of_highway = f"highway nets' {growth['highway']:.1f}-fold"
    headline(fig, f"With depth, from 10 to 100 layers, {of_plain}, {of_highway} (after 20 epochs)")
    return fig
