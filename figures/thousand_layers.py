"""Which net of a thousand layers is one: results/thousand_layers.json."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt

from figures.style import note


def thousand_layers(record):
    """Which net of a thousand layers is one: accuracy with and without its blocks, and how far its gates stand open."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), width_ratios=(1.4, 1))
    trials = sorted(record["trials"]["by_bias"], key=lambda t: t["gate_bias"])
    x, biases = range(len(trials)), [f"{t['gate_bias']:g}" for t in trials]
    for name, color, style, text in (
        ("test_accuracy", "#0072B2", "o-", "the net"),
        ("skipped_accuracy", "#D55E00", "s--", "the same net, all blocks skipped"),
    ):
        left.plot(x, [math.nan if t[name] is None else t[name] for t in trials], style, color=color, lw=2, label=text)
    summary, settings = record["summary"], record["settings"]
    hidden, bias = summary["test_accuracy_one_hidden_layer"], f"{summary['gate_bias_best']:g}"
    left.axhline(hidden, color="0.35", ls=":", lw=1.5, label=f"one hidden layer {hidden:.3f}")
    longer = ("test_accuracy_best", "#0072B2", "*"), ("skipped_accuracy_best", "#D55E00", "P")
    for name, color, marker in longer:
        text = f"{settings['longer']} epochs" + (", all blocks skipped" if name.startswith("skipped") else "")
        if bias in biases and summary[name]["mean"] is not None:
            left.plot(
                [biases.index(bias)], [summary[name]["mean"]], marker, ms=11, color=color,
                label=f"{text} {summary[name]['mean']:.3f}",
            )  # fmt: skip
    matched = summary["test_accuracy_one_hidden_layer_longer"]["mean"]
    if matched is not None:
        left.axhline(
            matched, color="0.35", ls="--", lw=1.5, label=f"{settings['longer']} epochs, one hidden layer {matched:.3f}"
        )
    seen = [t[name] for t in trials for name in ("test_accuracy", "skipped_accuracy") if (t[name] or 0) > 0.7]
    low, high = min(seen, default=0) - 0.02, max([*seen, summary["test_accuracy_best"]["mean"] or 0]) + 0.01
    for i, t in enumerate(trials):
        if (t["test_accuracy"] or 0) < low:
            note(left, f"fails\n{t['test_accuracy'] or 0:.2f}", (i, low), (0, 4), "#0072B2")
    left.set(xticks=x, xticklabels=biases, xlabel="initial gate bias", ylabel="test accuracy", ylim=(low, high))
    left.legend(fontsize=8.5, loc="lower left")
    left.set_title(f"{settings['layers']} layers, {settings['epochs']} epoch", fontsize=11)
    right.plot(x, [t["sum_of_mean_T"] for t in trials], "o-", color="#0072B2", lw=2)
    for i, t in enumerate(trials):
        note(right, f"{t['sum_of_mean_T']:.2g}", (i, t["sum_of_mean_T"]), (0, 8), "#0072B2")
    right.axhline(1, color="0.35", ls=":")
    right.set(yscale="log", xticks=x, xticklabels=biases, xlabel="initial gate bias")
    right.set(ylabel="sum over layers of mean T")
    right.set_title("layers' worth of transforming", fontsize=11)
    right.margins(y=0.15)
    return fig
