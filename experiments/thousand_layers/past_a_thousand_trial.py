"""Trains a deep highway net; measures it with its first blocks alone, and with these closed."""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.shared_trials.matched_blocks import mean_T
from highways.nets import layer_by_layer

IN_USE = 15  # the number of layers in use, as the blog says
FIRST = (0, 5, 15, 30, 60, 125, 250, 500)  # numbers of first blocks that stay open


def trial(setting: dict) -> dict:
    """Trains a net; measures it with its first blocks alone, and with its first 15 closed."""
    net, result = fully_connected.train_and_skip(setting)
    if result["diverged"]:
        return result
    images = fully_connected.images_of(setting)
    numbers = [number for number in FIRST if number < net.depth]
    accuracies = accuracies_of_first(net, images, [*numbers, net.depth])
    result["first_blocks"] = list(accuracies)
    result["accuracy_of_first"] = list(accuracies.values())
    result["accuracy_without_first"] = accuracy_without_first(net, images, IN_USE)
    result["sum_of_mean_T"] = sum(mean_T(net, setting))
    return result


def accuracies_of_first(net: hn.DeepNet, images: fully_connected.Images, numbers: list[int]) -> dict[int, float]:
    """{k: test accuracy with all blocks after the k-th closed}, for every k in `numbers`."""
    right = dict.fromkeys(numbers, 0)
    for rows in layer_by_layer.slices(len(images.x_test)):
        y = images.y_test[rows]
        state = layer_by_layer.first_state(net, images.x_test[rows])
        for k in range(net.depth + 1):
            if k in right:
                right[k] += count_right(net, state, y)
            if k < net.depth:
                _, state = layer_by_layer.block_forward(net, k, state)
    return {k: n / len(images.y_test) for k, n in right.items()}


def accuracy_without_first(net: hn.DeepNet, images: fully_connected.Images, closed: int) -> float:
    """The test accuracy with the first `closed` blocks closed."""
    right = 0
    for rows in layer_by_layer.slices(len(images.x_test)):
        state = layer_by_layer.first_state(net, images.x_test[rows])
        for *_, y_l in layer_by_layer.walk(net, state, range(closed, net.depth)):
            state = y_l
        right += count_right(net, state, images.y_test[rows])
    return right / len(images.y_test)


def count_right(net: hn.DeepNet, state: np.ndarray, y: np.ndarray) -> int:
    return int(np.count_nonzero(layer_by_layer.logits(net, state).argmax(axis=1) == y))
