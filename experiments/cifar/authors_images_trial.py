"""Measures nets for CIFAR on three kinds of images: before training, in the first steps and in the first epochs.

authors_images.py explains the kinds and the measurements.
"""

from __future__ import annotations

import bz2
from dataclasses import replace

import numpy as np

import highway_networks as hn
from highways.conv import protocols
from highways.conv.images import fingerprint, select_images
from highways.conv.nets import find_net
from highways.conv.pipeline import Pipeline, inputs_of
from highways.conv.training import Training, train_conv

TEN = "cifar-10"
# of the authors' logs; here, so that the code key of a trial has them
DATA_SETS = {"CIFAR-10": TEN, "CIFAR-10, earlier": TEN, "CIFAR-100": "cifar-100"}
OUTPUTS = {"CIFAR-10": 10, "CIFAR-10, earlier": 100, "CIFAR-100": 100}
EPOCHS = 400
KINDS = {"contrast": "paper", "whitened": "whitened", "smaller": "paper"}  # {kind of images: protocol that has them}
SCALES = {"contrast": 1.0, "whitened": 1.0, "smaller": 0.54}  # factors for the pixels
FIRST = 1.0  # the deviation of the first layer's weights in the released program

# ---- Trials -------------------------------------------------------------------------------------


@hn.one_blas_thread()
def before_training(setting: dict, load) -> dict:
    """Losses of untrained nets, and the size of the images."""
    name = DATA_SETS[setting["log"]]
    data = load(name)
    n_test = setting["n_test"]
    settings = settings_of_net("nineteen-layers", setting, data=name, n_train=len(data.x_train), n_test=n_test)
    inputs = images_of(setting["images"], settings).fit(data.x_train)
    x = inputs.test(data.x_test[:n_test])
    y = data.y_test[:n_test]
    images = {**fingerprint(data), "classes": OUTPUTS[setting["log"]]}
    losses = []
    for seed in range(setting["draws"]):
        net = protocols.net_of(replace(settings, seed=seed), images)
        loss, _ = hn.softmax_cross_entropy(net.predict(x).astype(np.float64), y)
        losses.append(float(f"{loss:.5g}"))
    packed = inputs.before_mean_image(data.x_test[: setting["packed"]])
    return {
        "largest_of_mean_image": largest_of_mean_image(inputs, data.x_train),
        "losses": losses,
        "root_mean_square": float(np.sqrt(np.square(x, dtype=np.float64).mean())),
        "bytes_of_image": len(bz2.compress(packed.tobytes())) / len(packed),
    }


def largest_of_mean_image(inputs: Scaled, x: np.ndarray) -> float:
    """The largest magnitude of a pixel in the mean of these images."""
    total = 0.0
    for i in range(0, len(x), 1000):
        total = total + inputs.before_mean_image(x[i : i + 1000]).sum(axis=0, dtype=np.float64)
    return float(np.abs(total).max() / len(x))


def start(setting: dict, load) -> dict:
    """The first steps of Highway A with the first layer of the released program."""
    settings = settings_of_net(
        "highway-a",
        setting,
        data=TEN,
        epochs=1,
        seed=setting["seed"],
        n_train=setting["n_start"],
        n_test=min(protocols.HELD_OUT, setting["n_start"]),
        validation=True,
        first=FIRST,
    )
    data = select_images(load(TEN), settings)
    training = Training(settings, fingerprint(data), inputs=images_of(setting["images"], settings))
    train_conv(training, data)
    return where_it_diverged(training)


@hn.one_blas_thread()
def first_epochs(setting: dict, load) -> dict:
    """The first epochs of the 19 layers, at the rates of all 400."""
    settings = settings_of_net(
        "nineteen-layers",
        setting,
        data=TEN,
        epochs=EPOCHS,
        seed=setting["seed"],
        n_train=setting["n_epoch"],
        n_test=min(len(load(TEN).x_test), setting["n_epoch"]),
    )
    data = select_images(load(TEN), settings)
    training = Training(settings, fingerprint(data), inputs=images_of(setting["images"], settings))
    train_conv(training, data, stop_after=setting["epochs"])
    columns = {name: training.history[name] for name in ("test_accuracy", "test_loss")}
    return columns | where_it_diverged(training)


def where_it_diverged(training: Training) -> dict:
    return {"diverged": training.diverged is not None, "diverged_at": training.diverged}


# ---- Images -------------------------------------------------------------------------------------


class Scaled:
    """What a Pipeline makes of images, times a factor."""

    def __init__(self, pipeline: Pipeline, factor: float):
        self.pipeline = pipeline
        self.factor = np.float32(factor)

    def fit(self, x_train: np.ndarray) -> Scaled:
        self.pipeline.fit(x_train)
        return self

    def train_batch(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.pipeline.train_batch(x, rng) * self.factor

    def test(self, x: np.ndarray) -> np.ndarray:
        return self.pipeline.test(x) * self.factor

    def before_mean_image(self, x: np.ndarray) -> np.ndarray:
        return self.pipeline.before_mean_image(x) * self.factor


def images_of(kind: str, settings: protocols.ConvSettings) -> Scaled:
    """Makes the net's input of this kind."""
    return Scaled(inputs_of(settings.images, settings.shift), SCALES[kind])


def settings_of_net(net: str, setting: dict, **others) -> protocols.ConvSettings:
    """The settings of a net on the images of a trial."""
    return protocols.settings_of(
        net=net,
        protocol=KINDS[setting["images"]],
        gate_bias=find_net(net).gate_bias,
        **others,
    )
