"""The paper's Tables 2 and 3, the nets for CIFAR: results/cifar.json."""

import matplotlib.pyplot as plt
import numpy as np

from report.registry import picture, table
from report.style import of_trials
from report.tables import markdown_table, percent, spaced

CLASSES = "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"  # of CIFAR-10
COLORS = {"highway-a": "#0072B2", "highway-b": "#E69F00", "highway-c": "#009E73", "nineteen-layers": "#CC79A7"}
COLORS["eight-layers"] = "#56B4E9"
OTHERS = {"nineteen-layers": "19 layers", "eight-layers": "eight layers with highway-bn"}


def named(t) -> str:
    """Highway A, plain A, 19 layers, eight layers with highway-bn."""
    letter = t["net"].removeprefix("highway-").upper()
    name = OTHERS.get(t["net"]) or f"{t['block'].replace('highway', 'Highway')} {letter}"
    return f"{name} as the authors train" if t["protocol"] == "paper" else name


@picture("cifar", "published")
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


@picture("cifar")
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
            ax.imshow(0.5 + 0.5 * np.array(weights) / np.abs(weights).max(), origin="upper")
    return fig


@picture("cifar")
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
            image = ax.imshow(T, cmap="viridis", vmin=values.min(), vmax=values.max(), origin="upper")
            ax.set_title(f"{i + 1}", fontsize=9)
            ax.set_axis_off()
        part.colorbar(image, ax=axes, pad=0.01)
    return fig


@picture("cifar")
def cifar_wrong(record):
    """The first test images of CIFAR-10 that a net gets wrong."""
    t, columns = looked_into(record)[0], 10
    rows = max(-(-len(t["wrong"]) // columns), 1)
    fig, axes = plt.subplots(rows, columns, figsize=(10, 1.35 * rows + 0.6), squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, each in zip(axes.flat, t["wrong"], strict=False):
        pixels = np.frombuffer(bytes.fromhex(each["pixels"]), np.uint8).reshape(3, 32, 32)
        ax.imshow(pixels.transpose(1, 2, 0), origin="upper")
        ax.set_title(f"{CLASSES[each['label']]},\nnot {CLASSES[each['answer']]}", fontsize=8, pad=2)
    errors = round((1 - t["final_test_acc"]) * t["n_test"])
    images = f"{t['n_test']:,}".replace(",", " ")
    text = f"{named(t)}, seed 0: the first of {errors} errors on {images} test images (the label, and the answer)"
    fig.suptitle(text, fontsize=12)
    return fig


# ---- Tables ----------------------------------------------------------------------------------------------------------


CIFAR_NETS = {  # of results/cifar.json: in words, and where the paper's number is
    "highway_a": ("highway A, 11 layers", "CIFAR-10", "table_2", "highway-a"),
    "plain_a": ("plain A, 11 layers", "CIFAR-10", None, None),
    "highway_b": ("highway B, 19 layers", "CIFAR-10", "table_2", "highway-b"),
    "plain_b": ("plain B, 19 layers", "CIFAR-10", None, None),
    "highway_c": ("highway C, 32 layers", "CIFAR-10", "table_2", "highway-c"),
    "nineteen_layers": ("Table 3's highway net of 19 layers", "CIFAR-10", "table_3", "cifar-10"),
    "nineteen_layers_cifar_100": ("Table 3's highway net of 19 layers", "CIFAR-100", "table_3", "cifar-100"),
    "best_evening": ("our own highway net of eight layers", "CIFAR-10", None, None),
}


@table("tables-2-and-3")
def tables_2_and_3(read) -> str:
    summary, published, rows = read("results/cifar.json")["summary"], read("data/published.json"), []
    for name, (net, data, where, key) in CIFAR_NETS.items():
        if f"test_accuracy_{name}" not in summary:
            continue
        paper = published[where][key] if where else None
        sd = f" ± {100 * paper['sd']:.2f}" if paper and paper["sd"] else ""
        epochs = f", {paper['epochs']} epochs" if paper and "epochs" in paper else ""
        theirs = f"{100 * paper['mean']:.2f}{sd}{epochs}" if paper else "-"
        as_authors = cifar_accuracy(summary, f"{name}_paper")
        short = cifar_accuracy(summary, name)
        seconds = summary[f"seconds_per_epoch_{name}"]
        minutes = f"{seconds / 60:.1f}" if seconds else "-"
        cells = net, data, spaced(summary[f"parameters_{name}"]), theirs, as_authors, short, minutes
        rows.append(f"| {' | '.join(cells)} |")
    columns = "paper, % | here, as the authors train, % | here, short, % | minutes an epoch"
    return markdown_table(f"| net | data | parameters | {columns} |", rows)


def cifar_accuracy(summary: dict, name: str) -> str:
    """The accuracy of these runs, their seeds and epochs; a dash where there is none."""
    if f"test_accuracy_{name}" not in summary:
        return "-"
    return f"**{percent(summary[f'test_accuracy_{name}'])}, {summary[f'epochs_{name}']} epochs**"


@table("beside-the-log")
def beside_the_log(read) -> str:
    """The stopped run of 19 layers less the authors' log at equal epochs."""
    compared = read("results/cifar.json")["summary"]["beside_the_log"]
    if not compared:
        return "Not measured yet."
    rows = []
    for row in compared:
        accuracy = row["name"] == "test_acc"
        scale = 100 if accuracy else 1
        name = "test accuracy, %" if accuracy else "test loss"
        numbers = f"{scale * row['log']:.4g} | {scale * row['difference']:+.3f} | {scale * row['s']:.3f}"
        verdict = "consistent" if row["consistent"] else "different"
        rows.append(f"| {row['epoch']} | {name} | {numbers} | {verdict} |")
    return markdown_table("| epoch | number | the authors' log | ours less theirs | s | verdict |", rows)


@table("first-layer")
def first_layer(read) -> str:
    """What Highway A does in its first steps, by the deviation of the first layer's weights."""
    trials, rows = read("results/cifar.json")["trials"]["first_layer"], []
    for deviation in dict.fromkeys(t["first"] for t in trials):
        same = [t for t in trials if t["first"] == deviation]
        losses = [t["history"]["test_loss"][-1] for t in same if not t["diverged"]]
        shown = ", ".join(f"{loss:.3f}" for loss in losses)
        rows.append(f"| {deviation:g} | {len(same) - len(losses)} of {len(same)} | {shown} |")
    return markdown_table("| deviation | diverged within 60 steps | validation loss of the others after them |", rows)


@table("prediction-intervals")
def prediction_intervals(read) -> str:
    """Of the paper's means on CIFAR: the interval of one more run, of the mean, and where the authors' log ends."""
    logs = read("data/published.json")["authors_log_cifar"]
    rows = []
    for row in read("results/cifar.json")["summary"]["prediction_intervals"]:
        log = f"{100 * logs[row['data']]['test_accuracy']:.2f}" if row["net"] == "19 layers" else "-"
        intervals = (f"{100 * low:.2f} to {100 * high:.2f}" for low, high in (row["one_run"], row["mean"]))
        rows.append(f"| {row['net']} | {row['data'].upper()} | {' | '.join(intervals)} | {log} |")
    return markdown_table("| net | data | one more run, % | the mean, % | the authors' log ends at |", rows)


@table("evening")
def evening(read) -> str:
    """What our own net reaches, and the hours that it took."""
    summary = read("results/cifar.json")["summary"]
    if summary["test_accuracy_best_evening"]["n"] != 1:
        raise ValueError("the sentence on our own net is about one run")
    hours = summary["epochs_best_evening"] * summary["seconds_per_epoch_best_evening"] / 3600
    right = 100 * summary["test_accuracy_best_evening"]["mean"]
    return f"{right:.2f} % on CIFAR-10 in one run of {hours:.1f} hours on one core"


@table("evening-search")
def evening_search(read) -> str:
    """The hours of the search before it."""
    trials = read("results/cifar.json")["trials"]["search"]
    return f"{sum(t['wallclock_sec'] for t in trials if t['net'] == 'eight-layers') / 3600:.1f} hours"


@table("cifar-search")
def cifar_search(read) -> str:
    rows = []
    for t in read("results/cifar.json")["trials"]["search"]:
        gates = "-" if t["block"] == "plain" else f"{t['gate_bias']:g}"
        dropout = f"{t['dropout'][0]:g}" if any(t["dropout"]) else "none"
        right = "diverged" if t["final_test_acc"] is None else f"{100 * t['final_test_acc']:.2f}"
        cells = f"{t['net']}, {t['block']}", f"{t['lr']:g}", gates, dropout, str(t["epochs"]), right
        rows.append(f"| {' | '.join(cells)} |")
    return markdown_table("| net and block | rate | b_T at the start | dropout | epochs | validation, % |", rows)
