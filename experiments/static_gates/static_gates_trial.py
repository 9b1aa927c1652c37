"""Trains a highway net, or a net whose gates do not see the image, and measures it on the way.

The gates of a trained highway net are then replaced by their means.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highway_networks import DeepNet
from highways.nets import layer_by_layer
from highways.nets.static_gates import with_static_gates

FULL = "full"  # the variant whose gates see the image, and learn

# ---- Nets -------------------------------------------------------------------------------------


def mean_gates(net: DeepNet, x: np.ndarray) -> np.ndarray:
    """Mean T (depth, hidden) of a highway net over the images x (N, d_in), in float64."""
    total = np.zeros((net.depth, net.hidden))
    for rows in layer_by_layer.slices(len(x)):
        total += net.gates(x[rows]).sum(axis=1, dtype=np.float64)
    return total / len(x)


# ---- The trial --------------------------------------------------------------------------------


def trial(setting: dict) -> dict:
    """Trains a net, and measures it every setting["measured_every"] epochs and at the end.

    A full net is measured with T replaced by its mean, too."""
    over_training = []

    def look(net, epoch):
        if epoch % setting["measured_every"] == 0:
            over_training.append({"epoch": epoch, **measure(net, setting)})

    net, result = fully_connected.train(setting, report=look)
    result |= measure(net, setting, result["diverged"])
    result["over_training"] = over_training
    result["learned_parameters"] = len(net.parameters)
    if setting.get("frozen_gates"):
        result["learned_parameters"] -= net.W_T.size + net.b_T.size
    if setting["variant"] == FULL and not result["diverged"]:
        result["replaced"] = replace_gates(net, setting)
    return result


def measure(net: DeepNet, setting: dict, diverged: bool = False) -> dict:
    """Loss and accuracy on all training and all test images; None for a net that diverged."""
    measured = fully_connected.measure(net, setting, diverged)
    measured["test_loss"] = None
    if measured["test_accuracy"] is not None:
        images = fully_connected.images_of(setting)
        logits = net.predict(images.x_test).astype(np.float64)
        measured["test_loss"] = float(hn.softmax_cross_entropy(logits, images.y_test)[0])
    return measured


def replace_gates(net: DeepNet, setting: dict) -> dict:
    """measure() with T replaced by its mean over the training images.

    The mean is that of each unit ("unit") or of each block ("scalar")."""
    images = fully_connected.images_of(setting)
    T_of_units = mean_gates(net, images.x_train)[:, :, None]  # (depth, hidden, 1)
    T_of_blocks = T_of_units.mean(axis=1, keepdims=True)  # (depth, 1, 1)
    per_unit = with_static_gates(net, T_of_units, "static-unit")
    per_block = with_static_gates(net, T_of_blocks, "static-scalar")
    return {"unit": measure(per_unit, setting), "scalar": measure(per_block, setting)}
