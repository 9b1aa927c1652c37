"""Small convolutional nets for tests, and the convolution as it is defined."""

from dataclasses import replace

import numpy as np

import highway_networks as hn
from highways.conv import images, protocols
from highways.conv.net import ConvNet
from highways.conv.training import Training

# a training of a few seconds
SMALL = protocols.settings_of(net="mnist-3", epochs=4, n_train=300, n_test=80)
DIVERGES = replace(SMALL, lr=1e30)


def nets(*layers, shape=(2, 12, 12), dtype=np.float64, seed=0):
    """A net with biases that are not zero, and a batch of three images and labels for it."""
    rng = np.random.default_rng(seed)
    net = ConvNet(shape, [*layers], rng, dtype=dtype)
    net.parameters[:] += rng.normal(0, 0.1, net.parameters.shape)
    x = rng.normal(size=(3, *shape))
    return net, x, rng.integers(0, net.layers[-1].out_shape[0], 3)


def gradient_of(net, x, y):
    """The gradient of the mean cross-entropy: one forward() and one backward()."""
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    return net.backward(d_logits)


def convolved(x, W, b, pad):
    """x (N, maps, side, side) convolved with W (outputs, k, k, maps), plus b (outputs,); `pad` zeros at each edge."""
    k = W.shape[1]
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    side = x.shape[2] - k + 1
    parts = []
    for i in range(k):
        for j in range(k):
            window = x[:, :, i : i + side, j : j + side]
            parts.append(np.einsum("ncij,oc->noij", window, W[:, i, j]))
    return sum(parts) + b[:, None, None]


def training(settings=SMALL, data=None) -> Training:
    """A Training for these images; without them, for some with 14 x 14 pixels and three classes."""
    about = images.fingerprint(data) if data else {"pixels": 196, "classes": 3, "crc32": ""}
    return Training(settings, about)
