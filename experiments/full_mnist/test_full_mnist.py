"""The blog's twenty layers are trained as the blog trains them."""

import numpy as np
import pytest
from conftest import setting

from experiments.full_mnist import trial as full_mnist
from highways.nets import fully_connected


def test_the_blogs_descent_is_on_the_summed_loss(monkeypatch):
    made = []
    original = fully_connected.SGD

    def remember(*words, **more):
        made.append(original(*words, **more))
        return made[-1]

    monkeypatch.setattr(fully_connected, "SGD", remember)
    full_mnist.blog(setting(depth=19, activation="relu", steps=3))
    rate = 0.01 * 50  # of a loss that is a sum over 50 images; our loss is their mean
    assert [(optimizer.lr, optimizer.momentum, optimizer.clip) for optimizer in made] == [(rate, 0.0, np.inf)]


def test_the_blogs_weights_are_truncated():
    values = full_mnist.truncated_normal(np.random.default_rng(0), (300, 200))
    assert np.abs(values).max() <= 0.2
    assert values.std() == pytest.approx(0.088, abs=0.001)
