"""The paper's Tables 2 and 3, the nets for CIFAR: results/cifar.json."""

import matplotlib.pyplot as plt
import numpy as np

from report.style import of_trials

CLASSES = "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"  # of CIFAR-10
COLORS = {"highway-a": "#0072B2", "highway-b": "#E69F00", "highway-c": "#009E73", "nineteen-layers": "#CC79A7"}
COLORS["eight-layers"] = "#56B4E9"
OTHERS = {"nineteen-layers": "19 layers", "eight-layers": "eight layers with highway-bn"}


def named(t) -> str:
    """Highway A, plain A, 19 layers, eight layers with highway-bn."""
    letter = t["net"].removeprefix("highway-").upper()
    name = OTHERS.get(t["net"]) or f"{t['block'].replace('highway', 'Highway')} {letter}"
    return f"{name} as the authors train" if t["protocol"] == "paper" else name


def cifar_curves(record, published):
    """Tables 2 and 3: test error, epoch by epoch, beside the points of the authors' logs of 19 layers."""
    runs = [t for t in record["trials"]["final"] if not t["diverged"]]
    sets = sorted({t["data"] for t in runs})
    fig, axes = plt.subplots(1, len(sets), figsize=(10, 6.5), squeeze=False)
    for ax, data in zip(axes[0], sets, strict=True):
        log, named_already = published["authors_log_cifar"][data], set()
        epochs, accuracies, _ = zip(*log["points"], strict=True)
        text = f"the authors' log of 19 layers, which ends at {100 * log['test_accuracy']:.2f}"
        ax.plot(epochs, [100 * (1 - value) for value in accuracies], "k*", ms=9, zorder=3, clip_on=False, label=text)
        for t in of_trials({"trials": runs}, None, data=data):
            finals = [each["final_test_acc"] for each in runs if (each["data"], named(each)) == (data, named(t))]
            n = f", mean of {len(finals)} seeds" if len(finals) > 1 else ""
            text = f"{named(t)}: {100 * np.mean(finals):.2f} after {t['epochs']} epochs{n}"
            style = "--" if t["block"] == "plain" else ":" if t["protocol"] == "paper" else "-"
            first = None if named(t) in named_already else text
            error_curve(ax, t, style, color=COLORS[t["net"]], lw=1.5, label=first)
            named_already.add(named(t))
        for t in record["trials"].get("partial", []):
            if t["data"] == data:
                stopped_curve(ax, t)
        epochs, errors = (1, 2, 5, 10, 20, 50, 100, 200, 400), (6, 7, 8, 10, 15, 20, 30, 40, 60, 90)
        ax.set(title=data.upper(), xlabel="epoch", xscale="log", xlim=(0.9, 450))
        ax.set(ylabel="test error, %", yscale="log", ylim=(6, 100))
        ax.set_xticks(epochs, epochs)
        ax.set_yticks(errors, errors)
        ax.minorticks_off()
        below = {"loc": "upper left", "bbox_to_anchor": (0, -0.12)}
        ax.legend(fontsize=9, title="test accuracy, %, of the last epoch", title_fontsize=9, **below)
    return fig


def error_curve(ax, t, style, first_epoch=1, **look):
    """The test error of a run from one of its epochs on, in percent."""
    errors = [100 * (1 - value) for value in t["history"]["test_acc"]]
    ax.plot(t["history"]["epoch"][first_epoch - 1 :], errors[first_epoch - 1 :], style, **look)


def stopped_curve(ax, t):
    """A run by the authors' settings that was stopped, or a branch of it at another rate from where it begins."""
    if "parent" in t:
        first_epoch = t["parent"]["epoch"]
        text = f"... and its rate times {t['lr'] / t['parent']['lr']:.2g} after epoch {first_epoch}"
        error_curve(ax, t, "--", first_epoch, color="0.3", lw=1.2, zorder=2.5, label=text)
    else:
        text = f"{named(t)}, stopped after {t['stopped_after']} of {t['epochs']} epochs"
        error_curve(ax, t, "-", color="0.3", lw=1.2, zorder=2.5, label=text)


def looked_into(record):
    """Seed 0 of the highway nets that the pictures look into."""
    nets = [t for t in record["trials"]["final"] if "filters" in t]
    if not nets:
        raise ValueError("no highway net of seed 0 has filters: it diverged, or was not trained")
    return nets


def cifar_filters(record):
    """The first layer's filters in colour: grey is a weight of 0, a bright colour adds, a dark one takes away."""
    nets, columns = looked_into(record), 16
    rows = [-(-len(t["filters"]) // columns) for t in nets]
    fig = plt.figure(figsize=(10, sum(0.75 * n + 0.4 for n in rows)))
    parts = np.ravel(fig.subfigures(len(nets), 1, height_ratios=[0.75 * n + 0.4 for n in rows]))
    for part, t, n in zip(parts, nets, rows, strict=True):
        text = f"{named(t)}: the 3 x 3 filters of the first layer, seed 0, each over its largest weight"
        part.suptitle(text, fontsize=11)
        for ax in (axes := part.subplots(n, columns, squeeze=False)).flat:
            ax.set_axis_off()
        for ax, weights in zip(axes.flat, t["filters"], strict=False):
            ax.imshow(0.5 + 0.5 * np.array(weights) / np.abs(weights).max())
    return fig


def cifar_gates(record):
    """Where the gates of the trained nets stand open: layer by layer, and position by position."""
    nets = looked_into(record)
    fig = plt.figure(figsize=(10, 3.2 + 1.4 * len(nets)))
    top, *parts = fig.subfigures(len(nets) + 1, 1, height_ratios=[3.2] + [1.4] * len(nets))
    ax = top.subplots()
    for t in of_trials(record, "final", block="highway", data="cifar-10", seed=0, diverged=False):
        T = t["final_T_per_layer"]
        text = f"{named(t)}, b_T = {t['gate_bias']:.0f} at the start"
        ax.plot(range(1, len(T) + 1), T, "o-", color=COLORS[t["net"]], lw=1.3, ms=4, label=text)
    ax.set(xlabel="highway layer", ylabel="mean T", ylim=(0, None))
    ax.legend(fontsize=10)
    for part, t in zip(parts, nets, strict=True):
        part.suptitle(f"{named(t)}, seed 0: mean T at each position of each highway layer", fontsize=11)
        maps = t["final_T_per_position"]
        values = np.concatenate([np.ravel(T) for T in maps])
        axes = part.subplots(1, len(maps), squeeze=False)[0]
        for i, (ax, T) in enumerate(zip(axes, maps, strict=True)):
            image = ax.imshow(T, cmap="viridis", vmin=values.min(), vmax=values.max())
            ax.set_title(f"{i + 1}", fontsize=9)
            ax.set_axis_off()
        part.colorbar(image, ax=axes, pad=0.01)
    return fig


def cifar_wrong(record):
    """The first test images of CIFAR-10 that a net gets wrong."""
    t, columns = looked_into(record)[0], 10
    rows = max(-(-len(t["wrong"]) // columns), 1)
    fig, axes = plt.subplots(rows, columns, figsize=(10, 1.35 * rows + 0.6), squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, each in zip(axes.flat, t["wrong"], strict=False):
        pixels = np.frombuffer(bytes.fromhex(each["pixels"]), np.uint8).reshape(3, 32, 32)
        ax.imshow(pixels.transpose(1, 2, 0))
        ax.set_title(f"{CLASSES[each['label']]},\nnot {CLASSES[each['answer']]}", fontsize=8, pad=2)
    errors = round((1 - t["final_test_acc"]) * t["n_test"])
    images = f"{t['n_test']:,}".replace(",", " ")
    text = f"{named(t)}, seed 0: the first of {errors} errors on {images} test images (the label, and the answer)"
    fig.suptitle(text, fontsize=12)
    return fig
