"""What the project's programs share, and what experiments of one's own use:

from highways import TrainedNet, check_layer, draw_sweep, like_mnist, load, read_grey, sweep, train_net
"""

from importlib import import_module

HOMES = {
    "TrainedNet": "highways.trained.nets",
    "check_layer": "highways.layer_check",
    "draw_sweep": "highways.lab.showing.sweeps",
    "like_mnist": "highways.digits",
    "load": "highways.trained.nets",
    "read_grey": "highways.digits",
    "sweep": "highways.lab.sweeps",
    "train_net": "highways.trainer",
}


def __getattr__(name: str):
    """A function of HOMES, imported only where it is used."""
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module 'highways' has no {name!r}")
