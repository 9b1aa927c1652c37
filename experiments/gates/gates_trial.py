"""Measures what the gates of one kept net do, and what they did before training."""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import commits_of, net_of
from experiments.shared_trials.fully_connected import CIFAR
from highways.nets import gate_statistics, layer_by_layer
from highways.nets.gate_statistics import OPEN
from highways.nets.layer_by_layer import rounded

MAPPED = 1  # the seed whose heat maps are kept
CLASSES = {"MNIST": 10, CIFAR: 2}  # the paper's data sets, and the number of classes with maps
# what is measured before training, too
AT_START = (
    "sparsity_single",
    "sparsity_mean",
    "share_open_single",
    "share_open_single_early",
    "share_open_in_1_of_100",
    "share_open_for_any",
    "share_active_on_average",
    "mean_T",
    "settled_layer",
    "change_share_first_15",
    "change_share_first_40",
    "class_difference_share_first_15",
    "class_difference_sparsity",
)
BY_BLOCK_AT_START = ("change", "open_single_of_layer", "class_difference", "mean_T_of_layer")


def trial(setting: dict, folder: str) -> dict:
    """The statistics of one net's gates, by block where they depend on it, and its heat maps.

    "untrained" holds the statistics of the same net as its seed draws it."""
    net = net_of(setting, folder)
    untrained = fully_connected.make(setting)
    x = fully_connected.images_of(setting).x_train
    result, mean, differences = measured_in(net, setting)
    with np.errstate(invalid="ignore"):  # biases that do not vary have no correlation
        at_start, _, _ = measured_in(untrained, setting)
    gates_at_start = untrained.gates(x[: setting["of_each"]])
    result["commits"] = commits_of(net)
    result["mean_T_at_start"] = float(f"{gates_at_start.mean():.6g}")
    result["sparsity_single_at_start"] = at_start["sparsity_single"]
    kept_at_start = (*AT_START, *BY_BLOCK_AT_START)
    result["untrained"] = {name: at_start[name] for name in kept_at_start}
    if setting["seed"] == MAPPED and setting["data"] in CLASSES:
        result["maps"] = {
            "bias": rounded(net.b_T),
            "mean_T": rounded(mean),
            "one": one_image(net, x, setting["seed"]),
            "class_minus_mean": rounded(differences[: CLASSES[setting["data"]]], 2),
        }
    return result


def measured_in(net: hn.DeepNet, setting: dict) -> tuple[dict, np.ndarray, np.ndarray]:
    """The statistics of a net's gates; its mean T (depth, hidden); and the differences of classes,
    (classes, depth, hidden)."""
    images = fully_connected.images_of(setting)
    x = images.x_train
    sums = gate_statistics.sum_over_images(net, x, images.y_train)
    mean = sums.mean_T()
    differences = sums.class_differences()
    difference_of_block = (differences**2).sum(axis=(0, 2))
    gates_of_images = net.gates(x[: setting["of_each"]])
    open_of_block = (gates_of_images > OPEN).mean(axis=(1, 2))
    n_classes, _, hidden = differences.shape
    result = gate_statistics.statistics(net, sums, gates_of_images, setting["gate_bias"])
    result["change"] = rounded(sums.change / len(x))
    result["open_single_of_layer"] = rounded(open_of_block)
    result["share_open_single_early"] = float(f"{thirds_of(open_of_block)['first']:.6g}")
    result["share_active_on_average"] = float(f"{(mean > OPEN).mean():.6g}")
    result["share_open_for_any"] = float(f"{(sums.open > 0).mean():.6g}")
    result["class_difference"] = rounded(np.sqrt(difference_of_block / (n_classes * hidden)))
    result["bias_of_layer"] = rounded(net.b_T.mean(axis=1))
    result["mean_T_of_layer"] = rounded(mean.mean(axis=1))
    return result, mean, differences


def one_image(net: hn.DeepNet, x: np.ndarray, seed: int) -> dict:
    """T and the outputs of all blocks, (depth, hidden), for an image drawn at random, as in Figure 2."""
    chosen = int(np.random.default_rng(seed).integers(len(x)))
    state = layer_by_layer.first_state(net, x[chosen : chosen + 1])
    gates = []
    outputs = []
    for _, T, _, y_l in layer_by_layer.walk(net, state):
        gates.append(T[0])
        outputs.append(y_l[0])
    return {"image": chosen, "T": rounded(gates), "outputs": rounded(outputs)}


def thirds_of(values: list[float]) -> dict[str, float]:
    """The means of the first, the middle and the last third."""
    first, middle, last = np.array_split(values, 3)
    return {
        "first": float(np.mean(first)),
        "middle": float(np.mean(middle)),
        "last": float(np.mean(last)),
    }
