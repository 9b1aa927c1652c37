"""Statistics of a trained net's gates: sparsity, biases, changes by block, differences of classes.

Sparsity is Hoyer's measure, from 0 (all gates alike) to 1 (one gate open).  A gate is open if its
T exceeds 0.5.  Blocks are counted from 1, starting at the image.  A net has settled at the first
block at which the changes |y_l - x_l|, added up from block 1, reach 90 % of their sum over all
blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import highway_networks as hn
from highways.nets import layer_by_layer
from highways.nets.measures import correlation, hoyer

OPEN = 0.5  # a gate is open if its T is above this
HALF = 0.5  # "most" is more than this share
SETTLED = 0.9  # the share of the change after which a net has settled
FIRST = 15  # the number of first blocks that the paper names for MNIST
FIRST_OF_CIFAR = 40  # and for CIFAR-100
MEANS_CHANGE = "change: how far a block moves an image's state"


class Sums(NamedTuple):
    """Sums over images."""

    images_of_class: np.ndarray  # (classes,)
    T: np.ndarray  # (classes, depth, hidden): T over the images of each class
    open: np.ndarray  # (depth, hidden): the number of images for which a gate is open
    change: np.ndarray  # (depth,): |y_l - x_l| of every block

    def mean_T(self) -> np.ndarray:
        """The mean gates over all images, (depth, hidden)."""
        return self.T.sum(axis=0) / self.images_of_class.sum()

    def class_differences(self) -> np.ndarray:
        """The mean gates of every class less those of all images, (classes, depth, hidden)."""
        return self.T / self.images_of_class[:, None, None] - self.mean_T()


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
        first = layer_by_layer.first_state(net, x[rows])
        for layer, T, x_l, y_l in layer_by_layer.walk(net, first):
            sums.T[:, layer] += one_hot[rows].T @ T  # (classes, N) (N, hidden)
            sums.open[layer] += np.count_nonzero(T > OPEN, axis=0)
            sums.change[layer] += np.linalg.norm(y_l - x_l, axis=1).sum()
    return sums


def statistics(
    net: hn.DeepNet,
    sums: Sums,
    gates_of_some: np.ndarray,
    gate_bias: float,
) -> dict[str, float]:
    """The statistics by name, to six digits.

    `gates_of_some` are the gates for some of the images, (depth, N, hidden).  `gate_bias` is b_T
    at the start."""
    mean = sums.mean_T()
    differences = sums.class_differences()
    difference_of_block = (differences**2).sum(axis=(0, 2))
    change = sums.change
    patterns = gates_of_some.transpose(1, 0, 2).reshape(-1, mean.size)  # (N, depth * hidden)
    bias_of_block = net.b_T.mean(axis=1)
    n_images = sums.images_of_class.sum()
    patterns_of_classes = np.abs(differences).reshape(len(differences), -1)
    of_first_15 = difference_of_block[:FIRST].sum() / difference_of_block.sum()
    found = {
        "share_of_biases_decreased": (net.b_T < gate_bias).mean(),
        "bias_activity_correlation": correlation(bias_of_block, mean.mean(axis=1)),
        "bias_activity_correlation_units": correlation(net.b_T, mean),
        "bias_depth_correlation": correlation(bias_of_block, np.arange(net.depth)),
        "sparsity_single": hoyer(patterns).mean(),
        "sparsity_mean": hoyer(mean.reshape(1, -1))[0],
        "share_open_single": (patterns > OPEN).mean(),
        "share_open_in_1_of_100": (sums.open >= n_images / 100).mean(),
        "mean_T": mean.mean(),
        "settled_layer": settled_at(change, SETTLED),
        "change_share_first_15": change[:FIRST].sum() / change.sum(),
        "change_share_first_40": change[:FIRST_OF_CIFAR].sum() / change.sum(),
        "class_difference_share_first_15": of_first_15,
        "class_difference_sparsity": hoyer(patterns_of_classes).mean(),
    }
    return {name: float(f"{value:.6g}") for name, value in found.items()}


def settled_at(change, share: float) -> int:
    """The first block, counted from 1, up to which the changes make this share of their sum.

    `change` has one number for each block."""
    change = np.asarray(change)
    return int(np.argmax(np.cumsum(change) >= share * change.sum())) + 1


def falls_of_biases(gate_bias: float, bias_of_block) -> tuple[float, float]:
    """How far the mean biases of blocks fell from `gate_bias`: in the first third of the blocks, and
    in the others."""
    first, middle, last = np.array_split(gate_bias - np.asarray(bias_of_block), 3)
    return float(first.mean()), float(np.concatenate([middle, last]).mean())
