"""The paper's Figure 1: results/optimization.json."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from figures.style import COLOR, MARKER, note, of_trials

SHADES = {
    "highway": ("#9ecae1", "#4292c6", "#0072B2", "#08306b"),
    "plain": ("#fdbe85", "#fd8d3c", "#D55E00", "#7f2704"),
}


def optimization(record):
    """Figure 1: left, the loss curves of the best setting of each depth; right, the best trials of the searches."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), width_ratios=(1.5, 1))
    final = record["trials"]["final"]
    depths = sorted({t["layers"] for t in final})
    for block, style in (("highway", "-"), ("plain", "--")):
        for depth, color in zip(depths, SHADES[block][-len(depths) :], strict=True):
            for i, t in enumerate(of_trials(record, "final", block=block, layers=depth)):
                text = None if i else f"{block} {depth}"
                left.plot(range(1, len(t["losses"]) + 1), t["losses"], style, color=color, lw=1.4, label=text)
        rows = [(depth, record["summary"][f"top_search_loss_{block}_{depth}"]["mean"]) for depth in depths]
        rows = [(depth, loss) for depth, loss in rows if loss is not None]
        right.plot(*zip(*rows, strict=True), color=COLOR[block], marker=MARKER[block], ms=8, lw=2, label=block)
        for depth, loss in rows:
            note(right, f"{loss:.2g}", (depth, loss), (0, 9 if block == "plain" else -17), COLOR[block])
    left.set(yscale="log", xlabel="epoch", ylabel="training loss, mean over the epoch")
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.legend(ncols=2, fontsize=9, loc="lower left")
    ratio = record["summary"]["plain_over_highway_loss_at_100"]
    if ratio is not None:
        left.set_title(f"best settings; at 100 layers the plain loss is {ratio:.0f} times higher", fontsize=11)
    settings = record["settings"]
    right.set_title(f"best {settings['top']} of {settings['trials']}, {settings['search_epochs']} epochs", fontsize=11)
    right.set(yscale="log", xscale="log", xlabel="layers", xticks=depths, xticklabels=depths)
    right.set(ylabel="training loss", xlim=(0.8 * depths[0], 1.25 * depths[-1]))
    right.minorticks_off()
    right.margins(y=0.2)
    right.legend(loc="upper left")
    return fig
