"""Trains a convolutional net of Table 1 on MNIST, from its checkpoint or from its seed."""

from __future__ import annotations

from pathlib import Path

from experiments.shared_trials import fully_connected
from highways.conv import protocols
from highways.conv import trials as conv_trials


def setting(width, block, protocol, epochs, seed, recipe, images: dict, validation=False) -> dict:
    """The setting of a trial.  `width` is the number of maps in each layer, `recipe` says how it is trained."""
    settings = protocols.settings_of(
        net=f"mnist-{width}",
        block=block,
        protocol=protocol,
        seed=seed,
        validation=validation,
        **{**recipe, "epochs": epochs},
        **images,
    )
    return {"width": width, **conv_trials.setting(settings)}


def trial(setting: dict, checkpoint: Path | None = None) -> dict:
    result = conv_trials.train(setting, fully_connected.data_set(), checkpoint)
    return result if is_pictured(setting) else conv_trials.without_pictures(result)


def is_pictured(setting: dict) -> bool:
    """Whether results that only pictures need are kept of this net."""
    names = ("block", "protocol", "seed", "validation")
    return [setting[name] for name in names] == ["highway", "short", 0, False]
