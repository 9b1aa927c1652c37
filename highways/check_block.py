"""Checks a block or an activation of your own: that it writes all that it must, reads nothing that other layers have
written over, and has the right gradient.

    from highways.check_block import check_block

    check_block("rezero")                       # or an object, ReZero()
    check_block("highway", activation="silu")

Whatever the block may not rely on holds NaN, which then stands in the logits or in the gradient.  The gradient is
compared with central differences of the loss, parameter by parameter.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn

STEP = 1e-6


class Poisoned(hn.Block):
    """A block in whose arrays NaN stands, wherever it must write, and wherever other layers write before its
    backward()."""

    def __init__(self, block: hn.Block):
        self.block = block
        self.name = block.name
        self.gates = block.gates
        self.kept = block.kept
        self.shared = block.shared

    def parameters(self, hidden):
        return self.block.parameters(hidden)

    def forward(self, layer):
        x = layer.x.copy()
        for name in ("y", *self.kept, *self.shared):
            getattr(layer, name)[...] = np.nan
        self.block.forward(layer)
        self.check_x(layer, x)
        self.write_over(layer, layer.x)

    def backward(self, layer, dy):
        x = layer.x.copy()
        self.write_over(layer, dy)
        for name in self.parameters(len(x)):
            getattr(layer, f"d_{name}")[...] = np.nan
        carried = self.block.backward(layer, dy)
        self.check_x(layer, x)
        return carried

    def check_x(self, layer, x: np.ndarray) -> None:
        if not np.array_equal(layer.x, x):
            raise ValueError(f"{self.block} changes layer.x, or does not write all of layer.y in the block below")

    def write_over(self, layer, spared: np.ndarray) -> None:
        """What the other layers do to the arrays that all layers use."""
        z = layer.z[len(layer.x) :] if layer.activation.keeps_z else layer.z
        for array in (z, layer.dH, layer.dx_1, *(getattr(layer, name) for name in self.shared)):
            if not np.shares_memory(array, spared):
                array[...] = np.nan


def check_block(block: str | hn.Block, activation: str | hn.Activation = "tanh") -> None:
    """Raises an error that names what is wrong, such as the first parameter whose gradient is not the derivative of
    the loss."""
    rng = np.random.default_rng(0)
    net = hn.DeepNet(5, 3, hidden=8, depth=2, block=block, rng=0, activation=activation, dtype=np.float64)
    net.parameters[:] += rng.normal(0, 0.2, net.parameters.shape)
    vars(net)["block"] = Poisoned(net.block)
    x = rng.normal(size=(4, 5))
    y = np.array([0, 1, 2, 1])

    def loss():
        return hn.softmax_cross_entropy(net.forward(x), y)

    value, d_logits = loss()
    if not np.isfinite(value):
        raise ValueError(f"{net.block} does not write all that its forward() must, or reads what it has not written")
    gradient = net.backward(d_logits).copy()
    for index, found in enumerate(gradient):
        kept = net.parameters[index]
        net.parameters[index] = kept + STEP
        above, _ = loss()
        net.parameters[index] = kept - STEP
        below, _ = loss()
        net.parameters[index] = kept
        expected = (above - below) / (2 * STEP)
        if not abs(found - expected) <= 1e-6 + 1e-5 * abs(expected):
            raise ValueError(f"the gradient of {parameter_at(net, index)} is {found}; the loss says {expected}")


def parameter_at(net: hn.DeepNet, index: int) -> str:
    """The name of the parameter at this place of the flat vector."""
    at = net.gradient[index : index + 1]
    names = [name for name in vars(net.grad) if not name.startswith("_")]
    return next(name for name in names if np.shares_memory(vars(net.grad)[name], at))
