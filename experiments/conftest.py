"""What the tests of several questions need: a small net that was kept, and images in place of CIFAR-100's."""

from typing import NamedTuple

import pytest

import highway_networks as hn
from experiments.shared_trials import fifty_layer_nets, fully_connected
from highways.conv.official_cifar import made_up


class KeptNet(NamedTuple):
    """A net that was trained and kept in a folder."""

    net: hn.DeepNet
    setting: dict
    folder: str
    images: fully_connected.Images


@pytest.fixture(scope="session")
def kept(tmp_path_factory) -> KeptNet:
    folder = str(tmp_path_factory.mktemp("nets"))
    setting = {
        "data": "MNIST",
        "data_dir": None,
        "block": "highway",
        "depth": 6,
        "activation": "tanh",
        "effective_lr": 4.0,
        "momentum": 0.9,
        "decay": 0.9,
        "gate_bias": -1.0,
        "clip": 1.0,
        "seed": 1,
        "epochs": 3,
        "n_train": 1500,
        "n_test": 400,
    }
    fifty_layer_nets.trial(setting, folder)
    net = fifty_layer_nets.net_of(setting, folder)
    return KeptNet(net, setting, folder, fully_connected.images_of(setting))


@pytest.fixture
def made_up_cifar(monkeypatch):
    """A few random images in place of CIFAR-100's."""

    def load(name, data_dir):
        return made_up("cifar-100")._replace(name=name)

    monkeypatch.setattr(fully_connected, "load_cifar", load)
    fully_connected.data_set.cache_clear()
    fully_connected.images.cache_clear()
    yield
    fully_connected.data_set.cache_clear()
    fully_connected.images.cache_clear()
