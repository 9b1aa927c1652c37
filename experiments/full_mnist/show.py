"""All of MNIST: results/full_mnist.json."""

import math

from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, headline, level, panels, trials_with
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select

OPTIMIZERS = {"sgd": ("SGD", "-"), "adam": ("Adam", "--")}  # name and line
LEARNED = 0.5  # the test accuracy of a net that has learned


@picture("full_mnist")
def full_mnist(record):
    """Left, the 100-layer net under SGD and under Adam; right, nets of 20 layers.

    The nets of 20 layers are those of a blog post whose claims the question tests."""
    fig, axes = panels(1, 2, 4)
    left, right = axes
    draw_hundred_layers(left, record)
    draw_blog(right, record)
    texts = []
    for optimizer, (name, _) in OPTIMIZERS.items():
        trials = trials_with(record, "hundred_layers", optimizer=optimizer)
        learned = sum((trial["test_accuracy"] or 0) > LEARNED for trial in trials)
        texts.append(f"{name} in {learned} of {len(trials)} seeds")
    headline(fig, f"On all of MNIST {trials[0]['depth'] + 1} highway layers train with {', with '.join(texts)}")
    return fig


def draw_hundred_layers(ax, record: dict) -> None:
    for optimizer, (name, line) in OPTIMIZERS.items():
        trials = trials_with(record, "hundred_layers", optimizer=optimizer)
        label = f"{name}: {accuracies(trials, 3)}"
        for trial in trials:
            epochs = range(1, len(trial["losses"]) + 1)
            ax.plot(epochs, trial["losses"], line, color=COLOR["highway"], lw=1.5, label=label)
            label = None  # once for all seeds
    ax.set(yscale="log", xlabel="epoch", ylabel="training loss, mean over the epoch")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_title(f"{trials[0]['depth'] + 1} highway layers, {trials[0]['n_train']} images")
    ax.set_ylim(top=1000 * ax.get_ylim()[1])  # room for the numbers
    ax.legend(title="test accuracy of each seed", loc="upper center")


def draw_blog(ax, record: dict) -> None:
    for block, color in COLOR.items():
        accuracy = select(record["summary"], row="blog", block=block)["test_accuracy"]["mean"]
        label = None if accuracy is None else f"{block}: test {accuracy:.3f}"
        for trial in trials_with(record, "blog", block=block):
            losses = trial["losses"]
            steps = [trial["steps"] * (k + 1) / len(losses) for k in range(len(losses))]
            ax.plot(steps, losses, color=color, lw=1.5, label=label)
            label = None  # once for all seeds
    guessing = math.log(10)
    level(ax, guessing, f"log 10 = {guessing:.3f}", up=6)
    ax.set(xlabel="step", ylabel="training loss", ylim=(0, 1.2 * math.log(10)))
    ax.set_title("the blog's 20 layers")
    ax.legend()


def accuracies(trials: list[dict], decimals: int) -> str:
    """The test accuracy of each seed."""
    texts = []
    for trial in trials:
        accuracy = trial["test_accuracy"]
        texts.append("diverged" if accuracy is None else f"{accuracy:.{decimals}f}")
    return ", ".join(texts)


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("exploded")
def exploded(read) -> str:
    """Test accuracy of the seeds of each optimiser, one by one."""
    record = read("results/full_mnist.json")
    lines = []
    for optimizer, name in (("sgd", "SGD with momentum"), ("adam", "Adam")):
        trials = trials_with(record, "hundred_layers", optimizer=optimizer)
        row = select(record["summary"], row="hundred layers", optimizer=optimizer)
        mean = entry_text(row["test_accuracy"], "test_accuracy", 0)
        lines.append(f"| {name} | {accuracies(trials, 4)} | {mean} |")
    return markdown_table("| 100 layers, all of MNIST | test accuracy of each seed | mean ± sd |", lines)
