"""Trains a net, and measures its gates at several epochs."""

from __future__ import annotations

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highways.nets import gate_statistics


def trial(setting: dict) -> dict:
    """fully_connected.trial(), with "measured": a dict for each epoch in setting["checkpoints"].

    It holds "epoch", the loss and the accuracies, and the statistics of the gates."""
    images = fully_connected.images_of(setting)
    found = []

    def report(net: hn.DeepNet, epoch: int) -> None:
        if epoch not in setting["checkpoints"]:
            return
        sums = gate_statistics.sum_over_images(net, images.x_train, images.y_train)
        gates_of_some = net.gates(images.x_train[: setting["of_each"]])
        statistics = gate_statistics.statistics(net, sums, gates_of_some, setting["gate_bias"])
        bias_of_layer = [float(f"{bias:.6g}") for bias in net.b_T.mean(axis=1)]
        measured = fully_connected.measure(net, setting)
        checkpoint = {"epoch": epoch, **measured, **statistics, "bias_of_layer": bias_of_layer}
        found.append(checkpoint)

    _, result = fully_connected.train(setting, report=report)
    return {**result, "measured": found}
