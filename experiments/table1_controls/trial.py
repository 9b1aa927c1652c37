"""Trains Table 1's convolutional net without its blocks."""

from __future__ import annotations

import highway_networks as hn
from highways.conv.images import fingerprint, select_images
from highways.conv.training import Training, train_conv
from highways.conv.trials import settings_in
from highways.nets import fully_connected

NO_BLOCKS = "a net without blocks"


class WithoutBlocks(Training):
    """A training of the net that is left when its blocks hand their input on."""

    @staticmethod
    def shape_and_layers(settings, images: dict) -> tuple[tuple, list[tuple]]:
        shape, layers = Training.shape_and_layers(settings, images)
        return shape, [layer for layer in layers if layer[0] != settings.block]


@hn.one_blas_thread()
def trial(setting: dict) -> dict:
    """Trains the net of a trial from its seed."""
    settings = settings_in(setting)
    images = select_images(fully_connected.data_set(), settings)
    training = WithoutBlocks(settings, fingerprint(images))
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
