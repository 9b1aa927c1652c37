"""The net into which pages/explorer.html looks, and its images."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from highway_networks import PIXELS, Dataset, DeepNet, load_mnist
from highways.files import ROOT, InputError

NET = "experiments/results/fifty_layers_mnist_1.npz"
KIND = {  # what that net must be
    "d_in": 784,
    "d_out": 10,
    "hidden": 50,
    "depth": 49,
    "block": "highway",
    "activation": "tanh",
}


def load_page_mnist() -> Dataset:
    """MNIST, from $MNIST_DIR where it is set; raises InputError for another set."""
    data = load_mnist()
    if data.name != "MNIST":
        raise InputError(f"$MNIST_DIR names {data.source}, which is not MNIST but {data.name}; the page is about MNIST")
    return data


def load_page_net(path: Path, mnist: Dataset) -> DeepNet:
    """The net that the page's text and programs are about; raises InputError for any other."""
    net = DeepNet.load(path)
    kind = {name: getattr(net, name) for name in KIND}
    kind["block"] = net.block.name
    kind["activation"] = net.activation.name
    faults = []
    for name, value in kind.items():
        if value != KIND[name]:
            faults.append(f"{name} {value}, not {KIND[name]}")
    if net.dtype != np.float32:
        faults.append(f"{net.dtype}, not float32")
    trial = net.about.get("trial")
    has_trial = isinstance(trial, dict)
    for name in ("seed", "gate_bias"):
        has_trial = has_trial and type(trial.get(name)) in (int, float)
    if net.about.get("pixels") not in PIXELS or not has_trial:
        faults.append("it does not say how it was trained")
    elif net.about.get("data_sha256") != mnist.sha256:
        faults.append("trained on other images than MNIST's")
    if faults:
        raise InputError(f"{path} is not the net of the page ({'; '.join(faults)}): git checkout {NET}")
    return net


def checksum_of_net() -> str:
    """The SHA-256 of the file of the page's net."""
    return hashlib.sha256((ROOT / NET).read_bytes()).hexdigest()
