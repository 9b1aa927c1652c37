"""What depth does to the loss: the paper's Figure 1."""

from __future__ import annotations

import math

import numpy as np

from highways.lab.judging.claim import ratio_as_text
from highways.lab.judging.rules import ratio
from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, MARKER, headline, panels
from highways.records import select, with_settings
from highways.statistics import spaced

ACTIVATIONS = {"tanh": "tanh", "relu": "ReLU"}


@table("article-plain-grows", question="primary", group="figure_1", kind="plain")
@table("article-highway-grows", question="primary", group="figure_1", kind="highway")
@table("article-plain-grows-from-its-best-start", question="best_start", group="final", block="plain")
@table("article-highway-grows-from-its-best-start", question="best_start", group="final", block="highway")
def grows(read, question: str, group: str, **named) -> str:
    """The loss of 100 layers over that of 10, over searches, with its interval."""
    nets = with_settings(read(f"experiments/results/{question}.json")["trials"][group], **named)
    deep = [net["loss"] for net in with_settings(nets, depth=99)]
    shallow = [net["loss"] for net in with_settings(nets, depth=9)]
    return ratio_as_text(deep, shallow)


@table("article-searches-of-orthogonal-plain-nets")
def searches_of_orthogonal_plain_nets(read) -> str:
    """How many of the searches chose orthogonal weights for plain nets of 100 layers."""
    nets = with_settings(read("experiments/results/best_start.json")["trials"]["final"], block="plain", depth=99)
    orthogonal = with_settings(nets, start="orthogonal")
    n = len(nets)
    return f"all {n} searches" if len(orthogonal) == n else f"{len(orthogonal)} of {n} searches"


@table("article-gains-of-orthogonal-plain-nets")
def gains_of_orthogonal_plain_nets(read) -> str:
    """The gains that the searches chose for the orthogonal weights of plain nets of 100 layers."""
    nets = with_settings(read("experiments/results/best_start.json")["trials"]["final"], block="plain", depth=99)
    gains = [net["gain"] for net in with_settings(nets, start="orthogonal")]
    return f"{min(gains):.2f} to {max(gains):.2f}"


FINALS = "experiments/results/figure_1_finals.json"
ONE_LAYER = "experiments/results/one_hidden_layer.json"


@table("article-plain-over-highway-after-400-epochs", over=FINALS)
@table("article-plain-over-one-layer-after-400-epochs", over=ONE_LAYER)
def plain_after_400_epochs(read, over: str) -> str:
    """The loss of plain nets of 100 layers over that of highway nets, or of one hidden layer, after 400 epochs."""
    deep = with_settings(read(FINALS)["trials"]["final"], depth=99)
    others = with_settings(deep, block="highway") if over == FINALS else read(ONE_LAYER)["trials"]["longer"]
    plain = with_settings(deep, block="plain")
    factor, low, high = ratio([net["loss"] for net in plain], [net["loss"] for net in others])
    factor, low, high = (spaced(int(float(f"{value:.3g}"))) for value in (factor, low, high))
    return f"{factor} (95 %: {low} to {high})"


@picture("primary", "best_start", "figure_1_finals", "one_hidden_layer")
def article_depth(primary, best_start, finals, one_layer):
    """The training loss against depth: with the start that the activation implies, with a searched start, and after
    400 epochs, beside that of one hidden layer.  Lines are means, dots single nets."""
    short = primary["settings"]["figure_1"]["epochs"]
    long = finals["settings"]["epochs"]
    after_short = select(primary["summary"], row="figure_1", kind="one layer")
    after_long = select(one_layer["summary"], row="Figure 1", epochs=long)
    drawn = (  # (title, nets, what names their block, one hidden layer)
        (f"{short} epochs, one start", primary["trials"]["figure_1"], "kind", after_short),
        (f"{short} epochs, best start", best_start["trials"]["final"], "block", after_short),
        (f"{long} epochs, one start", finals["trials"]["final"], "block", after_long),
    )
    fig, axes = panels(1, len(drawn), 3.2, sharey=True)
    growth = {"highway": [], "plain": []}  # of the loss from 10 to 100 layers
    for ax, (title, nets, named_by, alone) in zip(axes, drawn, strict=True):
        for block in growth:
            losses = losses_by_layers([net for net in nets if net[named_by] == block])
            means = [np.mean(of_depth) for of_depth in losses.values()]
            factor, _, _ = ratio(losses[100], losses[10])
            growth[block].append(factor)
            for layers, of_depth in losses.items():
                ax.plot([layers] * len(of_depth), of_depth, ".", ms=3, color=COLOR[block], alpha=0.5)
            ax.plot(list(losses), means, MARKER[block], ls="-", color=COLOR[block], label=block)
        ax.axhline(alone["loss"]["mean"], color=GREY, ls=":", label="one hidden layer")
        ax.set(xscale="log", yscale="log", xlabel="layers")
        ax.set_title(title)
        ax.set_xticks(list(losses), list(losses))
        ax.minorticks_off()
    axes[0].set_ylabel("training loss")
    axes[0].legend(loc="lower left")
    of_highway = math.ceil(max(growth["highway"]))
    of_plain = math.floor(min(growth["plain"]))
    finding = "Plain nets get worse with depth, highway nets hardly"
    headline(fig, finding, f"from 10 to 100 layers losses grow over {of_plain}-fold, and under {of_highway}-fold")
    return fig


def losses_by_layers(nets: list[dict]) -> dict[int, list[float]]:
    """{layers: training losses}, the least depth first."""
    found = {}
    for net in sorted(nets, key=lambda net: net["depth"]):
        found.setdefault(net["depth"] + 1, []).append(net["loss"])
    return found
