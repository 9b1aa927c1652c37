"""Trains a highway net, or a net whose gates do not see the image, and measures it on the way.

The gates of a trained highway net are then replaced by their means.  Importing this module
registers two kinds of block, "static-unit" and "static-scalar".
"""

from __future__ import annotations

import numpy as np
from numpy import add, multiply, subtract

import highway_networks as hn
from highway_networks import Block, DeepNet
from highways.nets import fully_connected, layer_by_layer

FULL = "full"  # the variant whose gates see the image, and learn

# ---- Blocks -------------------------------------------------------------------------------------


class StaticGate(Block):
    """y = H T + x (1 - T), T = sigmoid(b_T)    eq. 3 with W_T = 0

    The base of two kinds of block.  They differ in the number of b_T in a block."""

    kept = ("H", "P")  # P = T (H - x)
    summed: int | tuple[int, int]  # the axes of a (hidden, n) array that share one b_T

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        subtract(layer.H, layer.x, layer.P)
        multiply(layer.P, sigmoid(layer.b_T), layer.P)  # P = T (H - x)
        add(layer.x, layer.P, layer.y)  # y = H T + x (1 - T)

    def backward(self, layer, dy):
        """dH = T dy,  dz_H = H' dH;  db_T = the sum of T (1 - T) (H - x) dy = P (1 - T) dy."""
        multiply(dy, sigmoid(layer.b_T), layer.dH)  # dH = T dy
        subtract(dy, layer.dH, dy)  # dy becomes (1 - T) dy
        multiply(layer.P, dy, layer.P)  # P becomes what each unit and image adds to db_T
        layer.P.sum(axis=self.summed, keepdims=True, out=layer.d_b_T)
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, layer.dH, layer.dz_H)  # dz_H = H' dH
        return dy  # carried to dx


class StaticUnit(StaticGate):
    """One learned gate a unit: b_T is (hidden, 1)."""

    name = "static-unit"
    summed = 1

    def parameters(self, hidden):
        return {"b_T": (hidden, 1)}


class StaticScalar(StaticGate):
    """One learned gate a block: b_T is (1, 1)."""

    name = "static-scalar"
    summed = (0, 1)

    def parameters(self, hidden):
        return {"b_T": (1, 1)}


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


# ---- Nets -------------------------------------------------------------------------------------


def mean_gates(net: DeepNet, x: np.ndarray) -> np.ndarray:
    """Mean T (depth, hidden) of a highway net over the images x (N, d_in), in float64."""
    total = np.zeros((net.depth, net.hidden))
    for rows in layer_by_layer.slices(len(x)):
        total += net.gates(x[rows]).sum(axis=1, dtype=np.float64)
    return total / len(x)


def with_static_gates(net: DeepNet, T: np.ndarray, block: str) -> DeepNet:
    """A highway net whose T is replaced by numbers that are the same for all images.

    T is (depth, hidden, 1) for the block "static-unit", (depth, 1, 1) for "static-scalar"."""
    static = DeepNet(
        net.d_in,
        net.d_out,
        net.hidden,
        net.depth,
        block,
        rng=0,  # the weights are overwritten
        activation=net.activation,
        dtype=net.dtype,
    )
    for name in ("W_in", "b_in", "W_H", "b_H", "W_out", "b_out"):
        getattr(static, name)[:] = getattr(net, name)
    static.b_T[:] = np.log(T / (1 - T))
    return static


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
