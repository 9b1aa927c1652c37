"""Figures 2 and 3 of the paper: what the gates of a trained 50-layer net do.

    python -m experiments.gates            -> results/gates.json
    python -m experiments.gates --data-dir CIFAR-100 /usr/share/datasets/fashion-mnist         beside MNIST

Section 4: most gate biases decreased during training; for CIFAR-100 they increase with depth, inversely to the mean
activity of the gates; the activity for a single example is very sparse, while on average most gates are active; outputs
stay constant over many layers, most of the change happens in the first 15 or so (MNIST) or 40 (CIFAR-100); the mean
activity of digits 0 and 7 differs from the overall mean within the first 15 layers, while the differences of classes 0
and 1 of CIFAR-100 are sparser and spread out over all layers.

The nets are those of the experiment `fifty_layers`.  Defined before looking: sparsity is Hoyer's measure, from 0 (all
gates alike) to 1 (one gate open), of the gates of one image, a mean over 1000 training images, and of the mean gates.
A gate is open where T > 0.5.  Blocks are counted from 1, the one nearest to the image.  Block l changes an image's
state by |y_l - x_l|, a mean over the training images; a net has settled at the block by which 90 % of the sum of these
changes has happened.  Classes differ in a block by (mean T of a class - mean T)^2, summed over units and classes.
"Most" is more than a half.  What the paper says of CIFAR-100 is asked of CIFAR-100, the rest of MNIST.

Defined before looking, too: on CIFAR-100 the change takes the first 40 blocks if these make 90 % of it, and the first
15 a smaller share than on MNIST.  Class differences are spread out if the first 15 blocks have a smaller share of them
than on MNIST, and sparser if Hoyer's measure of |mean T of a class - mean T|, a mean over classes, is higher.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np
from fully_connected.layer_by_layer import rounded
from fully_connected.trials import Experiment, run_and_exit

from claims.rules import Claim, above, below, mean_sd_n, of, print_results, shown_in
from experiments import fifty_layers
from training import fully_connected, layer_by_layer
from training.measures import correlation, hoyer

BUDGETS = {name: {"of_each": 1000} for name in ("quick", "default", "full")}  # images whose single pattern is measured
OPEN, SETTLED, FIRST, FIRST_OF_CIFAR = 0.5, 0.9, 15, 40
MAPPED = 1  # the seed whose heat maps are kept
CLASSES = {"MNIST": 10, fully_connected.CIFAR: 2}  # of the paper's two sets, whose maps are kept: so many classes
STATISTICS = (
    "share_of_biases_decreased", "bias_activity_correlation", "bias_activity_correlation_units",
    "bias_depth_correlation", "sparsity_single", "sparsity_mean", "share_open_single", "share_open_in_1_of_100",
    "mean_T", "settled_layer", "change_share_first_15", "change_share_first_40", "class_difference_share_first_15",
    "class_difference_sparsity",
)  # fmt: skip


def trial(t: dict, folder: str) -> dict:
    net, (x, y, *_) = fifty_layers.net_of(t, folder), fully_connected.images_of(t)
    one_hot, shape = np.eye(y.max() + 1, dtype=x.dtype)[y], net.b_T.shape
    sums, opened, change = np.zeros((one_hot.shape[1], *shape)), np.zeros(shape), np.zeros(shape[0])
    for rows in layer_by_layer.slices(len(x)):
        for layer, T, x_l, y_l in layer_by_layer.walk(net, layer_by_layer.first(net, x[rows])):
            sums[:, layer] += one_hot[rows].T @ T  # (classes, N) (N, hidden)
            opened[layer] += np.count_nonzero(T > OPEN, axis=0)
            change[layer] += np.linalg.norm(y_l - x_l, axis=1).sum()
    classes, mean = sums / one_hot.sum(axis=0)[:, None, None], sums.sum(axis=0) / len(x)
    differences = classes - mean
    per_layer = (differences**2).sum(axis=(0, 2))
    some = net.gates(x[: t["of_each"]]).transpose(1, 0, 2).reshape(-1, mean.size)
    result = {
        "share_of_biases_decreased": (net.b_T < t["gate_bias"]).mean(),
        "bias_activity_correlation": correlation(net.b_T.mean(axis=1), mean.mean(axis=1)),
        "bias_activity_correlation_units": correlation(net.b_T, mean),
        "bias_depth_correlation": correlation(net.b_T.mean(axis=1), np.arange(net.depth)),
        "sparsity_single": hoyer(some).mean(),
        "sparsity_mean": hoyer(mean.reshape(1, -1))[0],
        "share_open_single": (some > OPEN).mean(),
        "share_open_in_1_of_100": (opened >= len(x) / 100).mean(),
        "mean_T": mean.mean(),
        "settled_layer": int(np.argmax(np.cumsum(change) >= SETTLED * change.sum())) + 1,
        "change_share_first_15": change[:FIRST].sum() / change.sum(),
        "change_share_first_40": change[:FIRST_OF_CIFAR].sum() / change.sum(),
        "class_difference_share_first_15": per_layer[:FIRST].sum() / per_layer.sum(),
        "class_difference_sparsity": hoyer(np.abs(differences).reshape(len(differences), -1)).mean(),
    }
    result = {name: float(f"{value:.6g}") for name, value in result.items()}
    result |= {"change": rounded(change / len(x)), "class_difference": rounded(np.sqrt(per_layer / classes[:, 0].size))}
    result |= {"bias_of_layer": rounded(net.b_T.mean(axis=1)), "mean_T_of_layer": rounded(mean.mean(axis=1))}
    if t["seed"] == MAPPED and t["data"] in CLASSES:
        result["maps"] = {"bias": rounded(net.b_T), "mean_T": rounded(mean), "one": one_image(net, x, t)}
        result["maps"]["class_minus_mean"] = rounded(differences[: CLASSES[t["data"]]], 2)
    return result


def one_image(net, x, t: dict) -> dict:
    """What Figure 2 shows of one image, chosen at random: T and the outputs of every block, (depth, hidden)."""
    chosen = int(np.random.default_rng(t["seed"]).integers(len(x)))
    blocks = layer_by_layer.walk(net, layer_by_layer.first(net, x[chosen : chosen + 1]))
    T, outputs = zip(*((T[0], y_l[0]) for _, T, _, y_l in blocks), strict=True)
    return {"image": chosen, "T": rounded(T), "outputs": rounded(outputs)}


def main(argv=None) -> None:
    e = Experiment("gates", __doc__, BUDGETS, argv, harder=True)
    trials = fifty_layers.look_into(e, trial)
    record = e.save("Training Very Deep Networks, section 4, Figures 2 and 3", summarise(trials), trials)
    print_results(CLAIMS, record)


def summarise(trials: list[dict]) -> dict:
    summary = {}
    for suffix, own in fifty_layers.by_data_set(trials).items():
        summary |= {f"{name}{suffix}": mean_sd_n([t[name] for t in own]) for name in STATISTICS}
        summary[f"mean_bias{suffix}"] = mean_sd_n([float(np.mean(t["bias_of_layer"])) for t in own])
        for i, third in enumerate(("first", "middle", "last")):
            means = [float(np.mean(np.array_split(t["mean_T_of_layer"], 3)[i])) for t in own]
            summary[f"mean_T_{third}_third{suffix}"] = mean_sd_n(means)
    return summary


def of_set(data: str, *names: str):
    """These numbers of the nets of one data set, each over seeds."""
    return lambda r: [of(r["trials"], name, data=data) for name in names]


FITTED = "of nets that fit their training images; after a fourth of the epochs they said otherwise"


def beside_mnist(name: str, before=lambda r: []):
    """What `before` gives, and this number of the nets of CIFAR-100 and of MNIST, each over seeds."""
    return lambda r: [*before(r), *(of(r["trials"], name, data=data) for data in (fully_connected.CIFAR, "MNIST"))]


def most(figure: str, says: str, name: str, ours: str = "a share of {}") -> Claim:
    """That a share is more than a half."""
    values, holds = of_set("MNIST", name), lambda share: [above(share, 0.5)]
    return Claim(f"paper, {figure}", says, values=values, ours=shown_in(ours), holds=holds)


CLAIMS = [
    most("Figure 2", "most gate biases decreased in training", "share_of_biases_decreased"),
    Claim(
        "paper, Figure 2",
        "on CIFAR-100 biases rise with depth, inversely to the mean gate",
        values=of_set(fully_connected.CIFAR, "bias_depth_correlation", "bias_activity_correlation"),
        ours=shown_in("r = {} with depth, {} with mean T", 2),
        holds=lambda with_depth, with_T: [above(with_depth, 0.3), below(with_T, -0.3)],
        note=FITTED,
    ),
    Claim(
        "paper, Figure 2",
        "one image's gates are sparse, yet most gates are active on average",
        values=of_set("MNIST", "sparsity_single", "sparsity_mean", "share_open_in_1_of_100"),
        ours=shown_in("sparsity {}, of the mean {}; open for one image in 100: {}", 2),
        holds=lambda single, mean, opened: [above(single, 0, less=mean), above(opened, 0.5)],
    ),
    most(
        "Figure 2",
        "most change happens in the first 15 layers or so",
        "change_share_first_15",
        "a share of {} in a share of 0.31 of the blocks",
    ),
    Claim(
        "paper, Figure 2",
        "on CIFAR-100 the change takes the first 40 layers or so (90 % of it), not the first 15 as on MNIST",
        values=beside_mnist("change_share_first_15", of_set(fully_connected.CIFAR, "change_share_first_40")),
        ours=shown_in("a share of {} in the first 40 blocks; in the first 15 {}, on MNIST {}"),
        holds=lambda forty, fifteen, mnist: [above(forty, 0.9), below(fifteen, 0, less=mnist)],
        note=FITTED,
    ),
    most(
        "Figure 3",
        "classes differ in their gates within the first 15 layers",
        "class_difference_share_first_15",
        "a share of {} of the differences",
    ),
    Claim(
        "paper, Figure 3",
        "on CIFAR-100 the differences of classes are sparser, and spread out over all layers",
        values=beside_mnist("class_difference_sparsity", beside_mnist("class_difference_share_first_15")),
        ours=shown_in("a share of {} in the first 15 blocks, on MNIST {}; sparsity {}, on MNIST {}", 2),
        holds=lambda share, share_mnist, sparsity, sparsity_mnist: [
            below(share, 0, less=share_mnist),
            above(sparsity, 0, less=sparsity_mnist),
        ],
        note=FITTED,
    ),
]


if __name__ == "__main__":
    run_and_exit("gates")
