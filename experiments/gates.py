"""Figures 2 and 3 of the paper: what the gates of a trained 50-layer net do.

    python -m experiments gates            -> results/gates.json
    python -m experiments gates --data-dir CIFAR-100 /usr/share/datasets/fashion-mnist         beside MNIST

Section 4: most gate biases decreased during training.  For CIFAR-100 they increase with depth,
inversely to the mean activity of the gates.  The activity for a single example is very sparse,
while on average most gates are active.  Outputs stay constant over many layers; most of the change
happens in the first 15 or so (MNIST) or 40 (CIFAR-100).  The mean activity of digits 0 and 7
differs from the overall mean within the first 15 layers.  The differences of classes 0 and 1 of
CIFAR-100 are sparser and spread out over all layers.

The nets are those of the question `fifty_layers`.  Defined before looking: sparsity is Hoyer's
measure, from 0 (all gates alike) to 1 (one gate open), of the gates of one image, a mean over 1000
training images, and of the mean gates.  A gate is open where T > 0.5.  Blocks are counted from 1,
the one nearest to the image.  Block l changes an image's state by |y_l - x_l|, a mean over the
training images; a net has settled at the block by which 90 % of the sum of these changes has
happened.  Classes differ in a block by (mean T of a class - mean T)^2, summed over units and
classes.  "Most" is more than a half.  What the paper says of CIFAR-100 is asked of CIFAR-100, the
rest of MNIST.

Defined before looking, too: on CIFAR-100 the change takes the first 40 blocks if these make 90 %
of it, and the first 15 a smaller share than on MNIST.  Class differences are spread out if the
first 15 blocks have a smaller share of them than on MNIST, and sparser if Hoyer's measure of |mean
T of a class - mean T|, a mean over classes, is higher.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import highway_networks as hn
from claims.claim import Claim, of
from claims.rules import above, below
from experiments.question import Question
from plumbing.statistics import mean_sd_n
from training import fully_connected, kept_nets, layer_by_layer
from training.fully_connected import CIFAR
from training.layer_by_layer import rounded
from training.measures import correlation, hoyer
from training.trials import Runner

# images whose single patterns are measured
BUDGETS = {"quick": {"of_each": 1000}, "default": {"of_each": 1000}, "full": {"of_each": 1000}}
OPEN = 0.5  # a gate is open above
SETTLED = 0.9  # the share of the change after which a net has settled
FIRST = 15  # blocks, which the paper names
FIRST_OF_CIFAR = 40
MAPPED = 1  # the seed whose heat maps are kept
CLASSES = {"MNIST": 10, CIFAR: 2}  # the sets whose maps are kept, the paper's two: so many classes
STATISTICS = (
    "share_of_biases_decreased",
    "bias_activity_correlation",
    "bias_activity_correlation_units",
    "bias_depth_correlation",
    "sparsity_single",
    "sparsity_mean",
    "share_open_single",
    "share_open_in_1_of_100",
    "mean_T",
    "settled_layer",
    "change_share_first_15",
    "change_share_first_40",
    "class_difference_share_first_15",
    "class_difference_sparsity",
)


def trial(setting: dict, folder: str) -> dict:
    net = kept_nets.net_of(setting, folder)
    images = fully_connected.images_of(setting)
    x = images.x_train
    sums = sum_over_images(net, x, images.y_train)
    mean = sums.T.sum(axis=0) / len(x)
    classes = sums.T / sums.images_of_class[:, None, None]
    differences = classes - mean
    difference_of_block = (differences**2).sum(axis=(0, 2))
    change = sums.change
    settled = np.argmax(np.cumsum(change) >= SETTLED * change.sum())
    some = net.gates(x[: setting["of_each"]])  # (depth, N, hidden)
    some = some.transpose(1, 0, 2).reshape(-1, mean.size)  # (N, depth * hidden)
    bias_of_block = net.b_T.mean(axis=1)
    statistics = {
        "share_of_biases_decreased": (net.b_T < setting["gate_bias"]).mean(),
        "bias_activity_correlation": correlation(bias_of_block, mean.mean(axis=1)),
        "bias_activity_correlation_units": correlation(net.b_T, mean),
        "bias_depth_correlation": correlation(bias_of_block, np.arange(net.depth)),
        "sparsity_single": hoyer(some).mean(),
        "sparsity_mean": hoyer(mean.reshape(1, -1))[0],
        "share_open_single": (some > OPEN).mean(),
        "share_open_in_1_of_100": (sums.open >= len(x) / 100).mean(),
        "mean_T": mean.mean(),
        "settled_layer": settled + 1,
        "change_share_first_15": change[:FIRST].sum() / change.sum(),
        "change_share_first_40": change[:FIRST_OF_CIFAR].sum() / change.sum(),
        "class_difference_share_first_15": difference_of_block[:FIRST].sum() / difference_of_block.sum(),
        "class_difference_sparsity": hoyer(np.abs(differences).reshape(len(differences), -1)).mean(),
    }
    result = {name: float(f"{value:.6g}") for name, value in statistics.items()}
    result["change"] = rounded(change / len(x))
    result["class_difference"] = rounded(np.sqrt(difference_of_block / classes[:, 0].size))
    result["bias_of_layer"] = rounded(bias_of_block)
    result["mean_T_of_layer"] = rounded(mean.mean(axis=1))
    if setting["seed"] == MAPPED and setting["data"] in CLASSES:
        result["maps"] = {
            "bias": rounded(net.b_T),
            "mean_T": rounded(mean),
            "one": one_image(net, x, setting["seed"]),
            "class_minus_mean": rounded(differences[: CLASSES[setting["data"]]], 2),
        }
    return result


class Sums(NamedTuple):
    """Sums over images."""

    images_of_class: np.ndarray  # (classes,)
    T: np.ndarray  # of the images of a class: (classes, depth, hidden)
    open: np.ndarray  # images for which a gate is open: (depth, hidden)
    change: np.ndarray  # |y_l - x_l| of every block: (depth,)


def sum_over_images(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> Sums:
    one_hot = np.eye(y.max() + 1, dtype=x.dtype)[y]
    depth, hidden = net.b_T.shape
    n_classes = one_hot.shape[1]
    sums = Sums(
        images_of_class=one_hot.sum(axis=0),
        T=np.zeros((n_classes, depth, hidden)),
        open=np.zeros((depth, hidden)),
        change=np.zeros(depth),
    )
    for rows in layer_by_layer.slices(len(x)):
        for layer, T, x_l, y_l in layer_by_layer.walk(net, layer_by_layer.first(net, x[rows])):
            sums.T[:, layer] += one_hot[rows].T @ T  # (classes, N) (N, hidden)
            sums.open[layer] += np.count_nonzero(T > OPEN, axis=0)
            sums.change[layer] += np.linalg.norm(y_l - x_l, axis=1).sum()
    return sums


def one_image(net: hn.DeepNet, x: np.ndarray, seed: int) -> dict:
    """What Figure 2 shows of an image drawn at random: T and outputs of every block, (depth, hidden)."""
    chosen = int(np.random.default_rng(seed).integers(len(x)))
    state = layer_by_layer.first(net, x[chosen : chosen + 1])
    gates = []
    outputs = []
    for _, T, _, y_l in layer_by_layer.walk(net, state):
        gates.append(T[0])
        outputs.append(y_l[0])
    return {"image": chosen, "T": rounded(gates), "outputs": rounded(outputs)}


def run(runner: Runner) -> list[dict]:
    return kept_nets.look_into(runner, trial)


# ---- What they say ---------------------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, and a row for each data set."""
    definitions = {"open_above": OPEN, "settled_at": SETTLED, "first_blocks": FIRST}
    result = [{"row": "definitions", **definitions}]
    for data, trials in kept_nets.by_data_set(record["trials"]).items():
        row = {"data": data}
        for name in STATISTICS:
            row[name] = mean_sd_n([trial[name] for trial in trials])
        row["mean_bias"] = mean_sd_n([float(np.mean(trial["bias_of_layer"])) for trial in trials])
        thirds = [thirds_of(trial["mean_T_of_layer"]) for trial in trials]
        for third in ("first", "middle", "last"):
            row[f"mean_T_{third}_third"] = mean_sd_n([means[third] for means in thirds])
        result.append(row)
    return result


def thirds_of(values: list[float]) -> dict[str, float]:
    """The means of the first, the middle and the last third."""
    first, middle, last = np.array_split(values, 3)
    return {
        "first": float(np.mean(first)),
        "middle": float(np.mean(middle)),
        "last": float(np.mean(last)),
    }


def measure_change_on_cifar(record: dict) -> dict:
    return {
        "forty": of(record["trials"], "change_share_first_40", data=CIFAR),
        "fifteen": of(record["trials"], "change_share_first_15", data=CIFAR),
        "fifteen_of_mnist": of(record["trials"], "change_share_first_15", data="MNIST"),
    }


def measure_class_differences(record: dict) -> dict:
    share = "class_difference_share_first_15"
    sparsity = "class_difference_sparsity"
    return {
        "share": of(record["trials"], share, data=CIFAR),
        "share_of_mnist": of(record["trials"], share, data="MNIST"),
        "sparsity": of(record["trials"], sparsity, data=CIFAR),
        "sparsity_of_mnist": of(record["trials"], sparsity, data="MNIST"),
    }


FITTED = "of nets that fit their training images; after a fourth of the epochs they said otherwise"
CLAIMS = (
    Claim(
        id="most-biases-decreased",
        source="paper, Figure 2",
        says="most gate biases decreased in training",
        about=kept_nets.ON_MNIST,
        measure=lambda r: {"share": of(r["trials"], "share_of_biases_decreased")},
        show="a share of {share}",
        holds=lambda m: [above(m["share"], 0.5)],
    ),
    Claim(
        id="biases-rise-with-depth-on-cifar",
        source="paper, Figure 2",
        says="on CIFAR-100 biases rise with depth, inversely to the mean gate",
        about=kept_nets.ON_CIFAR_100,
        measure=lambda r: {
            "with_depth": of(r["trials"], "bias_depth_correlation"),
            "with_T": of(r["trials"], "bias_activity_correlation"),
        },
        show="r = {with_depth:2} with depth, {with_T:2} with mean T",
        holds=lambda m: [above(m["with_depth"], 0.3), below(m["with_T"], -0.3)],
        note=FITTED,
    ),
    Claim(
        id="gates-of-one-image-sparse",
        source="paper, Figure 2",
        says="one image's gates are sparse, yet most gates are active on average",
        about=kept_nets.ON_MNIST,
        measure=lambda r: {
            "single": of(r["trials"], "sparsity_single"),
            "mean": of(r["trials"], "sparsity_mean"),
            "open": of(r["trials"], "share_open_in_1_of_100"),
        },
        show="sparsity {single:2}, of the mean {mean:2}; open for one image in 100: {open:2}",
        holds=lambda m: [above(m["single"], 0, less=m["mean"]), above(m["open"], 0.5)],
    ),
    Claim(
        id="most-change-in-first-15",
        source="paper, Figure 2",
        says="most change happens in the first 15 layers or so",
        about=kept_nets.ON_MNIST,
        measure=lambda r: {
            "share": of(r["trials"], "change_share_first_15"),
            "of_blocks": 15 / len(r["trials"][0]["change"]),
        },
        show="a share of {share} in a share of {of_blocks:.2f} of the blocks",
        holds=lambda m: [above(m["share"], 0.5)],
    ),
    Claim(
        id="change-takes-first-40-on-cifar",
        source="paper, Figure 2",
        says="on CIFAR-100 the change takes the first 40 layers or so (90 % of it), not the first 15 as on MNIST",
        about=kept_nets.ON_ALL_SETS,
        measure=measure_change_on_cifar,
        show="a share of {forty} in the first 40 blocks; in the first 15 {fifteen}, on MNIST {fifteen_of_mnist}",
        holds=lambda m: [above(m["forty"], 0.9), below(m["fifteen"], 0, less=m["fifteen_of_mnist"])],
        note=FITTED,
    ),
    Claim(
        id="classes-differ-in-first-15",
        source="paper, Figure 3",
        says="classes differ in their gates within the first 15 layers",
        about=kept_nets.ON_MNIST,
        measure=lambda r: {"share": of(r["trials"], "class_difference_share_first_15")},
        show="a share of {share} of the differences",
        holds=lambda m: [above(m["share"], 0.5)],
    ),
    Claim(
        id="class-differences-on-cifar",
        source="paper, Figure 3",
        says="on CIFAR-100 the differences of classes are sparser, and spread out over all layers",
        about=kept_nets.ON_ALL_SETS,
        measure=measure_class_differences,
        show="a share of {share:2} in the first 15 blocks, on MNIST {share_of_mnist:2}; "
        "sparsity {sparsity:2}, on MNIST {sparsity_of_mnist:2}",
        holds=lambda m: [
            below(m["share"], 0, less=m["share_of_mnist"]),
            above(m["sparsity"], 0, less=m["sparsity_of_mnist"]),
        ],
        note=FITTED,
    ),
)

QUESTION = Question(
    name="gates",
    source="Training Very Deep Networks, section 4, Figures 2 and 3",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
    needs=("fifty_layers",),
    takes_sets_beside=True,
)
