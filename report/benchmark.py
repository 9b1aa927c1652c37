"""The benchmarks: results/benchmark_step.json and results/benchmark_scaling.json."""

import matplotlib.pyplot as plt

from report.style import COLOR, note


def benchmark(steps, scaling):
    """Who is faster: milliseconds a training step; and how the cost grows against JAX's."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), width_ratios=(1.2, 1))
    times = {
        block: {name: row["median_ms"] for name, row in steps["trials"][f"step, {block}"].items()} for block in COLOR
    }
    names = sorted(times["highway"], key=times["highway"].get, reverse=True)
    for block, offset in (("highway", 0.2), ("plain", -0.2)):
        left.barh([i + offset for i in range(len(names))], [times[block][n] for n in names], 0.38, color=COLOR[block])
        left.plot([], [], color=COLOR[block], lw=8, label=block)
        for i, name in enumerate(names):
            length = times[block][name]
            note(left, f"{length:.2f}", (length, i + offset), (3, -4), COLOR[block], ha="left")
    left.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1.15 * max(times["highway"].values())))
    left.set(xlabel="ms a training step, one core")
    left.grid(axis="y", visible=False)
    left.legend(loc="upper right")
    left.set_title("depth {depth}, width {width}, batch {batch}".format_map(steps["settings"]), fontsize=11)
    styles = {"depth": ("#0072B2", "o-"), "width": ("#D55E00", "s--"), "batch": ("#009E73", "^:")}
    for axis, (color, style) in styles.items():
        rows = [row for row in scaling["trials"] if row["axis"] == axis]
        ratios = [row["ours_over_jax"] for row in rows]
        right.plot([row[axis] for row in rows], ratios, style, color=color, lw=2, label=axis)
    right.axhline(1, color="0.35", lw=1.2)
    right.set(xscale="log", xlabel="depth, width or batch", ylim=(0, None))
    right.set(ylabel="time of a step, this project / JAX")
    right.legend()
    right.set_title("below 1 NumPy is faster", fontsize=11)
    return fig
