"""Thirty layers: the headline and its controls."""

from __future__ import annotations

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, MARKER, headline, note, panels
from highways.records import with_settings
from highways.statistics import mean_and_sd, mean_sd_n


@table("article-program-over-seeds")
def program_over_seeds(read) -> str:
    """The published program's accuracy of thirty highway layers over its seeds."""
    accuracies = read("data/published.json")["program"]["seeds"]["highway"]
    return f"{mean_and_sd(accuracies)} over {len(accuracies)}"


# {net of the headline or control: (as the picture names it, colour, marker)}
NETS_OF_DEPTH_30 = {
    "plain": ("plain", COLOR["plain"], MARKER["plain"]),
    "highway": ("highway", COLOR["highway"], MARKER["highway"]),
    "a net whose gates stay shut": ("highway, gates held shut", COLOR["highway"], "x"),
    "a net of random gates": ("highway, gates do not learn", COLOR["highway"], "+"),
    "a net without blocks": ("no blocks", GREY, "D"),
    "a plain net with its best start": ("plain, another start and rate", COLOR["plain"], "s"),
}
CHANCE = 0.1


def reached(by_net: dict[str, list[float]]) -> str:
    """The lowest and the highest mean accuracy but for the plain net's."""
    means = [mean_sd_n(values)["mean"] for net, values in by_net.items() if net != "plain"]
    return f"{min(means):.2f} to {max(means):.2f}"


@picture("run_seeds", "controls")
def article_who_trains(headline_record, controls):
    """The test accuracy of every seed at depth 30: plain, highway, and nets that lack a part."""
    by_net = {}
    for block in ("plain", "highway"):
        by_net[block] = [pair[block]["final_test_acc"] for pair in headline_record["runs"]]
    for control in list(NETS_OF_DEPTH_30)[2:]:
        trials = with_settings(controls["trials"]["final"], control=control, depth=30)
        by_net[control] = [trial["test_accuracy"] for trial in trials]
    fig, ax = panels(1, 1, 3.1)
    for place, (net, values) in enumerate(by_net.items()):
        _, color, marker = NETS_OF_DEPTH_30[net]
        ax.plot(values, [place] * len(values), marker, color=color, ms=7, alpha=0.7)
        mean = mean_sd_n(values)["mean"]
        note(ax, f"{mean:.2f}", (1, place), (6, 0), color, ha="left", va="center", annotation_clip=False)
    ax.axvline(CHANCE, color=GREY, ls=":")
    note(ax, "chance", (CHANCE, len(by_net) - 1), (4, 0), GREY, ha="left", va="center")
    names = [NETS_OF_DEPTH_30[net][0] for net in by_net]
    ax.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1))
    ax.set_xlabel("test accuracy; a mark: one seed; at the right edge: their mean")
    ax.invert_yaxis()
    ax.margins(y=0.12)
    headline(
        fig,
        f"Thirty plain layers stay at chance; five nets that pass the input on, or start well, reach {reached(by_net)}",
    )
    return fig
