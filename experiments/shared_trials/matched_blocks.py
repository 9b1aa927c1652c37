"""Widths, search ranges, margins and measurements for questions that compare kinds of block.

The widths give all kinds about the same number of parameters a layer.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highways.nets import layer_by_layer

DEPTHS = (9, 19, 49, 99, 199)  # blocks; with the plain first layer 10, 20, ... layers
# about 5100 parameters a layer
WIDTH = {"plain": 71, "residual": 71, "highway": 50, "highway-carry": 41}
RATES = {  # lr / (1 - momentum), drawn log-uniformly
    "plain": {
        9: {"tanh": (0.3, 1), "relu": (0.1, 0.4)},
        19: {"tanh": (0.1, 0.4), "relu": (0.03, 0.2)},
        49: {"tanh": (0.05, 0.4), "relu": (0.02, 0.2)},
        99: {"tanh": (0.03, 0.2), "relu": (0.01, 0.1)},
        199: {"tanh": (0.01, 0.1), "relu": (0.005, 0.05)},
    },
    "residual": {depth: {"tanh": (0.05, 0.7), "relu": (0.2, 2.5)} for depth in DEPTHS},
    "highway": {depth: {"tanh": (2, 6), "relu": (1, 3)} for depth in DEPTHS},
}
RATES["highway-carry"] = RATES["highway"]
GATE_BIASES = {9: (-3, -1), 19: (-4, -2), 49: (-5.5, -3.5), 99: (-5.5, -4), 199: (-6.5, -4.5)}
DECAY = 0.85  # per epoch; the same for all kinds
LEARNED = 0.9  # a net has learned if its test accuracy is above this
MARGIN = 0.002  # a kind is as good as another if its test accuracy is at most this much lower
STRUGGLES = 3  # a kind struggles if its training loss is over this many times a shallower net's
LOOKED_AT = 256  # the number of test images on which gates and gradients are measured


def parameters_per_layer(block: str, width: int) -> int:
    """The parameters that one more block adds to a net."""
    one_block = hn.DeepNet(1, 2, width, 1, block, 0)
    two_blocks = hn.DeepNet(1, 2, width, 2, block, 0)
    return two_blocks.parameters.size - one_block.parameters.size


# ---- Looking into a trained net -----------------------------------------------------------------


def mean_T(net: hn.DeepNet, setting: dict) -> list[float]:
    """Mean T of every block on the first test images of a trial."""
    images = fully_connected.images_of(setting)
    return hn.mean_gates(net, images.x_test[:LOOKED_AT])


def gradient_by_layer(net: hn.DeepNet, setting: dict) -> dict:
    """The norm of the loss's gradient at every layer, and the identity part: gradient_flow().

    A number that overflows is not finite; JSON then has null."""
    images = fully_connected.images_of(setting)
    x = images.x_test[:LOOKED_AT]
    y = images.y_test[:LOOKED_AT]
    with np.errstate(all="ignore"):
        norms, identity = layer_by_layer.gradient_flow(net, x, y)
    return {"gradient": norms, "identity_part": identity}


def final_trial(setting: dict) -> dict:
    """Trains a net; if its width is that in WIDTH, measures gradients and gates, too."""
    net, result = fully_connected.train(setting)
    if setting["width"] == WIDTH[setting["block"]] and not result["diverged"]:
        result["at_start"] = gradient_by_layer(fully_connected.make(setting), setting)
        result["trained"] = gradient_by_layer(net, setting)
        if net.block.gates:
            result["mean_T"] = [round(T, 5) for T in mean_T(net, setting)]
    return result
