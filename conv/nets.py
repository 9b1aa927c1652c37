"""The paper's convolutional nets as data: lists of layers, what is published of each, and how sure we are of it;
and one of our own."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import cycle
from typing import NamedTuple

# ("conv", k, maps), ("conv-bn", k, maps)            k x k convolution to this many maps, ReLU; "valid": no padding
# ("highway", k), ("plain", k), ("residual", k), ("highway-bn", k)      as many maps and pixels as it is given
# ("pool", k, stride), ("average", k)                the maximum of windows, which may overhang; the mean, side by side
# ("dropout", rate)
# ("hidden", units), ("dense", classes)              fully connected: with ReLU; the last layer, without


def mnist_net(width: int, block: str = "highway", dropout=(0.2, 0.3, 0.4, 0.5), classes: int = 10) -> list[tuple]:
    """The paper's net of ten layers for Table 1 (section 3.2), as its authors released it; 28 x 28 pixels, one map.

    `dropout` is of the input, and after each pooling."""
    of_input, *rates = dropout
    layers = [("dropout", of_input), ("conv", 5, width, "valid")]
    for blocks, window, rate in zip((2, 3, 3), (3, 3, 2), rates, strict=True):
        layers += [*[(block, 3)] * blocks, ("pool", window, 2), ("dropout", rate)]
    return [*layers, ("dense", classes)]


def cifar_net(
    stages, kernels=(3,), hidden: int | None = None, *,
    block: str = "highway", dropout=(0.2, 0.2, 0.2, 0.2), classes: int = 10,
) -> list[tuple]:  # fmt: skip
    """Nets for 32 x 32 pixels of three maps: three stages (maps, highway layers) of a convolution and highway layers,
    the sizes of their kernels in turn.

    The end is a fully connected layer of `hidden` units (Table 2); without it, a 1 x 1 convolution to 100 maps and the
    mean of each map (Table 3).  `dropout` is of the input, after each stage but the last, and before the last layer.
    """
    of_input, *of_stages, of_end = dropout
    layers, size = [("dropout", of_input)], cycle(kernels)
    for (maps, blocks), rate in zip(stages, (*of_stages, None), strict=True):
        layers += [("conv", next(size), maps), *((block, next(size)) for _ in range(blocks))]
        layers += [] if rate is None else [("pool", 2, 2), ("dropout", rate)]
    end = [("pool", 8, 8), ("hidden", hidden)] if hidden else [("conv", 1, 100), ("average", 8)]
    return [*layers, *end, ("dropout", of_end), ("dense", classes)]


def eight_layers(*, block: str = "highway-bn", dropout=(0.2, 0.2, 0.2, 0.2), classes: int = 10) -> list[tuple]:
    """Our own for 32 x 32 pixels: few layers, many maps, batch normalisation.  Where the maps are doubled the image is
    halved, so that each highway layer costs the same.  `dropout` is as for cifar_net()."""
    of_input, *of_stages, of_end = dropout
    layers = [("dropout", of_input), ("conv-bn", 3, 32)]
    for maps, rate in zip((64, 128, 256), (*of_stages, of_end), strict=True):
        layers += [("conv-bn", 3, maps), ("pool", 2, 2), (block, 3), ("dropout", rate)]
    return [*layers[:-1], ("pool", 4, 4), layers[-1], ("dense", classes)]


class NamedNet(NamedTuple):
    """A net: where it stands, the images that it takes, its layers as a function of `block`, `dropout` and `classes`,
    how sure we are of them, the parameters that the paper gives it, b_T at the start, and the `block` it is for."""

    title: str
    shape: tuple[int, int, int]
    layers_of: Callable[..., list[tuple]]
    source: str
    parameters: float | None
    gate_bias: float
    block: str = "highway"

    layers = property(lambda self: self.layers_of())


MNIST, CIFAR = (1, 28, 28), (3, 32, 32)

# Of Table 2's nets the paper gives depth and parameters, and that they are based on FitNets (arXiv:1412.6550).  Gate
# biases are section 2.2's for about 10, 20 and 30 layers; those of nets that were released are so there, too.
PUBLISHED = {
    "mnist-16": NamedNet("Table 1", MNIST, partial(mnist_net, 16), "released, for width 32", 39e3, -1.0),
    "mnist-32": NamedNet("Table 1", MNIST, partial(mnist_net, 32), "released", 151e3, -1.0),
    "highway-a": NamedNet(
        "Table 2", CIFAR, partial(cifar_net, [(16, 2), (32, 2), (64, 2)], hidden=250),
        "near certain; 250 is a fit", 236e3, -1.0,
    ),
    "highway-b": NamedNet(
        "Table 2", CIFAR, partial(cifar_net, [(32, 4), (80, 5), (128, 5)], hidden=100),
        "near certain; 100 is a fit", 2.3e6, -2.0,
    ),
    "highway-c": NamedNet(
        "Table 2", CIFAR, partial(cifar_net, [(32, 9), (64, 9), (96, 9)], (3, 1), hidden=100),
        "depth and kernels; maps a guess", 1.25e6, -3.0,
    ),
    "nineteen-layers": NamedNet(
        "Table 3", CIFAR, partial(cifar_net, [(32, 4), (80, 5), (128, 5)]), "released", 2.3e6, -2.0
    ),
}  # fmt: skip
NETS = PUBLISHED | {
    "eight-layers": NamedNet("", CIFAR, eight_layers, "our own", None, -1.0, block="highway-bn"),
}


def find_net(name: str) -> NamedNet:
    """The net of this name, or mnist-N: Table 1's with N maps a layer.  Raises ValueError for another name."""
    kind, _, width = name.partition("-")
    if name in NETS:
        return NETS[name]
    if kind != "mnist" or not re.fullmatch("[1-9][0-9]{0,8}", width):
        raise ValueError(f"{name!r} is not one of {', '.join(NETS)}, nor mnist-N with N maps a layer")
    return PUBLISHED["mnist-16"]._replace(layers_of=partial(mnist_net, int(width)), parameters=None)
