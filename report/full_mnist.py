"""All of MNIST: results/full_mnist.json."""

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from report.registry import picture, table
from report.style import COLOR, of_trials, uniform_loss_line
from report.tables import markdown_table, of_summary


@picture("full_mnist")
def full_mnist(record):
    """Left, the 100-layer net under SGD and under Adam; right, the blog's twenty layers."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8))
    for optimizer, name, color, style in (("sgd", "SGD", "#0072B2", "-"), ("adam", "Adam", "#009E73", "--")):
        runs = of_trials(record, "hundred_layers", optimizer=optimizer)
        accuracies = ", ".join("diverged" if t["diverged"] else f"{t['test_accuracy']:.3f}" for t in runs)
        for i, t in enumerate(runs):
            text = None if i else f"{name}: {accuracies}"
            left.plot(range(1, len(t["losses"]) + 1), t["losses"], style, color=color, lw=1.5, label=text)
    left.set(yscale="log", xlabel="epoch", ylabel="training loss, mean over the epoch")
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.set_title(f"{runs[0]['layers']} highway layers, {runs[0]['n_train']} images", fontsize=11)
    left.set_ylim(top=1000 * left.get_ylim()[1])  # room for the numbers
    left.legend(title="test accuracy of each seed", loc="upper center")
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


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("exploded")
def exploded(read) -> str:
    """Test accuracy of the three seeds of each optimiser, one by one."""
    record, rows = read("results/full_mnist.json"), []
    for name, what in (("sgd", "SGD with momentum"), ("adam", "Adam")):
        runs = [t for t in record["trials"]["hundred_layers"] if t["optimizer"] == name]
        each = ", ".join("diverged" if t["test_accuracy"] is None else f"{t['test_accuracy']:.4f}" for t in runs)
        key = f"test_accuracy_highway_100_{name}"
        rows.append(f"| {what} | {each} | {of_summary(record['summary'][key], key, 0)} |")
    return markdown_table("| 100 layers, all of MNIST | test accuracy of each seed | mean ± sd |", rows)
