"""All of MNIST: results/full_mnist.json."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from figures.style import COLOR, of_trials, uniform_loss_line


def full_mnist(record):
    """Left, the 100-layer net under SGD and under Adam; right, the blog's twenty layers."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3))
    for optimizer, color, style in (("sgd", "#0072B2", "-"), ("adam", "#009E73", "--")):
        runs = of_trials(record, "hundred_layers", optimizer=optimizer)
        for i, t in enumerate(runs):
            accuracy = record["summary"][f"test_accuracy_highway_100_{optimizer}"]
            text = f"{optimizer}: test {accuracy['mean']:.4f}" if i == 0 and accuracy["mean"] is not None else None
            left.plot(range(1, len(t["losses"]) + 1), t["losses"], style, color=color, lw=1.5, label=text)
    left.set(yscale="log", xlabel="epoch", ylabel="training loss, mean over the epoch")
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.set_title(f"{runs[0]['layers']} highway layers, {runs[0]['n_train']} images", fontsize=11)
    left.legend()
    for block in COLOR:
        for i, t in enumerate(of_trials(record, "blog", block=block)):
            steps = [t["steps"] * (k + 1) / len(t["losses"]) for k in range(len(t["losses"]))]
            accuracy = record["summary"][f"test_accuracy_{block}_20_blog"]["mean"]
            text = f"{block}: test {accuracy:.3f}" if i == 0 and accuracy is not None else None
            right.plot(steps, t["losses"], color=COLOR[block], lw=1.5, label=text)
    uniform_loss_line(right, {"n_classes": 10})
    right.set(xlabel="step", ylabel="training loss", ylim=(0, None))
    right.set_title("the blog's 20 layers", fontsize=11)
    right.legend()
    return fig
