"""Trains Table 1's convolutional net without its blocks."""

from __future__ import annotations

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highways.conv.images import fingerprint, select_images
from highways.conv.protocols import ConvSettings, layers_of, net_of
from highways.conv.training import Training, train_conv
from highways.conv.trials import settings_in

NO_BLOCKS = "a net without blocks"


@hn.one_blas_thread()
def trial(setting: dict) -> dict:
    """Trains the net of a trial from its seed."""
    settings = settings_in(setting)
    images = select_images(fully_connected.data_set(), settings)
    training = training_without_blocks(settings, fingerprint(images))
    train_conv(training, images)
    diverged = training.diverged is not None
    history = {name: training.history[name] for name in ("train_loss", "test_accuracy")}
    return {
        "n_parameters": len(training.parameters),
        "diverged": diverged,
        "history": history,
        "loss": None if diverged else history["train_loss"][-1],
        "test_accuracy": None if diverged else history["test_accuracy"][-1],
    }


def training_without_blocks(settings: ConvSettings, images: dict) -> Training:
    """A training of the net that is left when its blocks hand their input on."""
    layers = [layer for layer in layers_of(settings, images) if layer[0] != settings.block]
    return Training(settings, images, net=net_of(settings, images, layers))
