"""check_block(): the wrong blocks and activations below are caught, and every right one passes."""

import contextlib

import numpy as np
import pytest
from small_nets import ACTIVATIONS, BLOCKS

import highway_networks as hn
from highways.check_block import check_block, check_gradient


class Own(hn.Block):
    """Residual with a gate and a parameter: y = x + alpha T H; the base of blocks that each lack something."""

    gates = 1
    kept = ("H", "T")

    def parameters(self, hidden):
        return {"alpha": ()}

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias
        net.alpha[:] = 1

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        layer.T[...] = 1 / (1 + np.exp(-layer.z_T))
        layer.y[...] = layer.x + layer.alpha * layer.T * layer.H

    def backward(self, layer, dy):
        layer.d_alpha[...] = (layer.T * layer.H * dy).sum()
        layer.dz_T[...] = layer.alpha * layer.H * layer.T * (1 - layer.T) * dy
        layer.activation.slope(layer.z_H, layer.H, layer.H)
        layer.dz_H[...] = layer.alpha * layer.T * layer.H * dy
        return dy


def forward_to_nowhere(self, layer):
    layer.activation.value(layer.z_H, layer.H)
    y = layer.x + layer.H  # noqa: F841  a mistake: layer.y[...] = was meant


def half_of_y(self, layer):
    layer.activation.value(layer.z_H, layer.H)
    layer.T[...] = 1
    layer.y[:4] = layer.x[:4]


def nothing_returned(self, layer, dy):
    Own.backward(self, layer, dy)


def no_gradient(*left_out, adds=False):
    """backward() that leaves these arrays as they were, or adds to them."""

    def backward(self, layer, dy):
        old = {name: getattr(layer, name).copy() for name in left_out}
        carried = Own.backward(self, layer, dy)
        for name, array in old.items():
            getattr(layer, name)[...] = array + adds * getattr(layer, name)
        return carried

    return backward


def x_is_changed(self, layer):
    Own.forward(self, layer)
    layer.x *= 2


def x_is_changed_backward(self, layer, dy):
    layer.x *= 2
    return Own.backward(self, layer, dy)


def half_of_alpha(self, layer, dy):
    carried = Own.backward(self, layer, dy)
    layer.d_alpha[...] /= 2
    return carried


def hard_gate(self, layer):
    layer.activation.value(layer.z_H, layer.H)
    layer.T[...] = np.clip(layer.z_T / 6 + 0.5, 0, 1)
    layer.y[...] = layer.x + layer.alpha * layer.T * layer.H


def hard_gate_backward(is_masked):
    """backward() of the hard gate, with the slope 0 where it is clipped, or without."""

    def backward(self, layer, dy):
        slope = np.where((layer.T > 0) & (layer.T < 1), 1 / 6, 0) if is_masked else 1 / 6
        layer.dz_T[...] = layer.alpha * layer.H * slope * dy
        layer.d_alpha[...] = (layer.T * layer.H * dy).sum()
        layer.activation.slope(layer.z_H, layer.H, layer.H)
        layer.dz_H[...] = layer.alpha * layer.T * layer.H * dy
        return dy

    return backward


WRONG_BLOCKS = {
    "y is not written": {"forward": forward_to_nowhere},
    "half of y is not written": {"forward": half_of_y},
    "an array is not kept": {"kept": ("H",)},
    "an array is shared that must be kept": {"kept": ("H",), "shared": ("T",)},
    "it has no gate": {"gates": 0, "start": hn.Block.start},
    "dz_H is not written": {"backward": no_gradient("dz_H")},
    "dz_T is not written": {"backward": no_gradient("dz_T")},
    "d_alpha is not written": {"backward": no_gradient("d_alpha")},
    "d_alpha is added to": {"backward": no_gradient("d_alpha", adds=True)},
    "nothing is carried": {"backward": nothing_returned},
    "a number is carried": {"backward": lambda self, layer, dy: Own.backward(self, layer, dy).sum()},
    "x is changed forward": {"forward": x_is_changed},
    "x is changed backward": {"backward": x_is_changed_backward},
    "a derivative is wrong": {"backward": half_of_alpha},
    "a gate is clipped, its slope is not": {"forward": hard_gate, "backward": hard_gate_backward(is_masked=False)},
}


@pytest.mark.parametrize("what", WRONG_BLOCKS)
def test_a_wrong_block_is_caught(what):
    block = type("OfATest", (Own,), WRONG_BLOCKS[what])()
    with pytest.raises((AttributeError, ValueError)), np.errstate(all="ignore"):
        check_block(block)


class Softplus(hn.Activation):
    """H = log(1 + e^z), H' = 1 / (1 + e^-z); the base of activations that each lack something."""

    keeps_z = True

    def value(self, z, H):
        H[...] = np.log1p(np.exp(z))

    def slope(self, z, H, slope):
        slope[...] = 1 / (1 + np.exp(-z))


def positive_alone(self, z, H):
    H[z > 0] = z[z > 0]


def slope_is_added(self, z, H, slope):
    slope += 1 / (1 + np.exp(-z))


def slope_is_written_first(self, z, H, slope):
    slope[...] = 1
    slope /= 1 + np.exp(-z)


def z_is_changed(self, z, H):
    np.exp(z, z)
    H[...] = np.log1p(z)


def clipped(self, z, H):
    np.clip(z, -3, 3, H)


def slope_of_clipped(self, z, H, slope):
    slope[...] = abs(H) < 3


WRONG_ACTIVATIONS = {
    "z is not kept": {"keeps_z": False},
    "H is returned": {"value": lambda self, z, H: np.log1p(np.exp(z))},
    "half of H is not written": {"value": positive_alone},
    "z is changed": {"value": z_is_changed},
    "the slope is returned": {"slope": lambda self, z, H, slope: 1 / (1 + np.exp(-z))},
    "the slope is added to": {"slope": slope_is_added},
    "the slope is written before z is read": {"slope": slope_is_written_first},
    "the slope is wrong": {"slope": lambda self, z, H, slope: slope.fill(1)},
    "H is clipped, the slope is not": {"value": clipped, "slope": lambda self, z, H, slope: slope.fill(1)},
}


@pytest.mark.parametrize("what", WRONG_ACTIVATIONS)
def test_a_wrong_activation_is_caught(what):
    """In a plain net, where slope and z are one array."""
    activation = type("OfATest", (Softplus,), WRONG_ACTIVATIONS[what])()
    with pytest.raises(ValueError), np.errstate(all="ignore"):
        check_block("plain", activation)


def test_what_lacks_nothing_passes():
    check_block(Own())
    check_block(type("OfATest", (Own,), {"forward": hard_gate, "backward": hard_gate_backward(is_masked=True)})())
    for block in ("plain", "highway"):
        check_block(block, Softplus())
        check_block(block, type("OfATest", (Softplus,), {"value": clipped, "slope": slope_of_clipped})())


@pytest.mark.parametrize(("slope_at_0", "is_right"), [(0, True), (0.5, True), (1, True), (-0.1, False), (1.1, False)])
def test_at_a_kink_each_slope_between_those_beside_it_is_right(slope_at_0, is_right):
    class Kinked(hn.Relu):
        name = ""
        keeps_z = True

        def slope(self, z, H, slope):
            slope[...] = np.where(z == 0, slope_at_0, z > 0)

    net = hn.DeepNet(5, 3, 8, 1, "highway", 0, activation=Kinked(), dtype=np.float64)
    net.W_H[:] = 0  # so is b_H, and so z_H
    x = np.random.default_rng(0).normal(size=(4, 5))
    with contextlib.nullcontext() if is_right else pytest.raises(ValueError):
        check_gradient(net, x, np.array([0, 1, 2, 1]))


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_of_ours_passes(block):
    check_block(block)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_of_ours_passes(activation):
    check_block("highway", activation)
