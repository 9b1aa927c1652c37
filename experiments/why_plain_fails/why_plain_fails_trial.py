"""Trains a net by the headline's protocol, and looks at states and gradients before and after."""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highways.nets import layer_by_layer

LOOKED_AT = 256  # the number of test images that look() sees
SATURATED = 0.9  # a tanh unit is saturated if |H| is above


def trial(setting: dict) -> dict:
    """Trains a net by the headline's protocol; if setting["look"], looks at it before and after."""
    data = hn.subset(fully_connected.data_set(), setting["seed"], setting["n_train"], setting["n_test"])
    settings = hn.Settings(
        seed=setting["seed"],
        depth=setting["depth"],
        epochs=setting["epochs"],
        lr=setting["lr"],
        n_train=setting["n_train"],
        n_test=setting["n_test"],
    )
    net = make(setting, data)
    run = hn.train(net, data, settings)
    result = {
        "test_accuracy": run["final_test_acc"],
        "loss": run["final_train_loss"],
        "diverged": run["diverged"],
        "diverged_at": run["diverged_at"],
    }
    if setting["look"]:
        images = hn.scale_pixels(data.x_test[:LOOKED_AT], np.float32)
        labels = data.y_test[:LOOKED_AT]
        result["at_start"] = look(make(setting, data), images, labels)
        result["trained"] = None if run["diverged"] else look(net, images, labels)
    return result


def make(setting: dict, data: hn.Dataset) -> hn.DeepNet:
    """The net as highway_networks.py makes it, but with the setting's activation and start."""
    return hn.DeepNet(
        data.x_train.shape[1],
        data.n_classes,
        hn.Settings.hidden,
        setting["depth"],
        setting["block"],
        setting["seed"],
        activation=setting["activation"],
        init=setting["init"],
        gate_bias=hn.Settings.gate_bias,
    )


def look(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> dict:
    """How a net changes states and gradients, for images x (N, 784) and labels y (N,), in float64."""
    net = layer_by_layer.in_dtype(net, np.float64)
    states = [layer_by_layer.first_state(net, x)]
    changes = []
    for _, _, x_l, y_l in layer_by_layer.walk(net, states[0]):
        states.append(y_l)
        changes.append(change(x_l, y_l))
    gradient, identity = layer_by_layer.gradient_flow(net, x, y)
    result = {
        "norms": rounded([np.linalg.norm(state, axis=1).mean() for state in states]),
        "saturated": float(np.mean([np.abs(state) > SATURATED for state in states])),
        "change_of_block": float(np.mean(changes)),
        "change_of_stack": change(states[0], states[-1]),
        "identity_part": identity,
        "gradient": gradient,
    }
    if not net.block.gates:
        result["gradient_without_slopes"] = rounded(gradient_without_slopes(net, states[-1], y))
    return result


def change(x: np.ndarray, y: np.ndarray) -> float:
    """|y - x| / |x| of states (N, hidden), a mean over images."""
    return float(np.mean(np.linalg.norm(y - x, axis=1) / np.linalg.norm(x, axis=1)))


def gradient_without_slopes(net: hn.DeepNet, last: np.ndarray, y: np.ndarray) -> list[float]:
    """The norms of layer_by_layer.gradient_flow() for a plain net, with all slopes dH/dz set to 1.

    `last` (N, hidden) is the output of its last block."""
    _, d_logits = hn.softmax_cross_entropy(layer_by_layer.logits(net, last), y)
    dy = len(y) * d_logits @ net.W_out
    norms = [np.linalg.norm(dy, axis=1).mean()]
    for W in net.W_H[::-1]:
        dy = dy @ W  # (N, hidden) (hidden, hidden)
        norms.append(np.linalg.norm(dy, axis=1).mean())
    norms.reverse()
    return norms


def rounded(values) -> list[float]:
    """The numbers, to four digits."""
    return [hn.four_digits(value) for value in values]
