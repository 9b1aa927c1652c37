"""Checks a block or an activation of your own: that it writes all that it must, reads nothing that other layers have
written over, and has the right gradient.

    from highways.check_block import check_block

    check_block("rezero")                       # or an object, ReZero()
    check_block("highway", activation="silu")

Whatever the block may not rely on holds NaN, which then stands in the logits or in the gradient.  The gradient is
compared with differences of the loss, parameter by parameter: once with W as at the start of a training, and once
with W five times as large, so that z reaches where gates are shut or open and clipped functions are clipped.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn

STEP = 1e-6
FACTORS = (1, 5)  # of all W but W_out


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
        if not np.array_equal(layer.x, x, equal_nan=True):
            raise ValueError(f"{self.block} changes layer.x")

    def write_over(self, layer, spared: np.ndarray) -> None:
        """What the other layers do to the arrays that all layers use."""
        z = layer.z[len(layer.x) :] if layer.activation.keeps_z else layer.z
        for array in (z, layer.dH, layer.dx_1, *(getattr(layer, name) for name in self.shared)):
            if not np.shares_memory(array, spared):
                array[...] = np.nan


def check_block(block: str | hn.Block, activation: str | hn.Activation = "tanh") -> None:
    """Raises an error that says what is wrong, and in which block, nearest to the loss first."""
    for factor in FACTORS:
        rng = np.random.default_rng(0)
        net = hn.DeepNet(5, 3, hidden=8, depth=2, block=block, rng=0, activation=activation, dtype=np.float64)
        net.parameters[:] += rng.normal(0, 0.2, net.parameters.shape)
        net.W_in[:] *= factor
        net._blocks[..., :-1] *= factor
        vars(net)["block"] = Poisoned(net.block)
        x = rng.normal(size=(4, 5))
        try:
            check_gradient(net, x, np.array([0, 1, 2, 1]))
        except ValueError as error:
            raise ValueError(f"with W times {factor}: {error}") from error


def check_gradient(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> None:
    """Raises ValueError where the gradient of a parameter does not lie between the differences to both sides, which
    are two numbers where the loss has a kink."""

    def loss():
        return hn.softmax_cross_entropy(net.forward(x), y)

    value, d_logits = loss()
    if not np.isfinite(value):
        raise ValueError(
            f"the loss is {value}: forward() or value() does not write all it must, reads more than that, or overflows"
        )
    found = net.backward(d_logits).copy()
    levels = levels_of(net)
    for level, places in levels.items():
        for name, part in places.items():
            if not np.isfinite(found[part]).all():
                raise ValueError(
                    f"{level}: the gradient of {name} is NaN.  backward() reads what is not in `kept` (layer.z_T?), "
                    "slope() reads z without keeps_z, or one of them does not write all it must"
                )
    sides = np.empty((2, len(found)))
    for index, kept in enumerate(net.parameters.copy()):
        for side, step in zip(sides, (STEP, -STEP), strict=True):
            net.parameters[index] = kept + step
            side[index] = (loss()[0] - value) / step
        net.parameters[index] = kept
    tolerance = 1e-6 * max(1, abs(value)) + 1e-5 * abs(sides).max(axis=0)
    is_right = (sides.min(axis=0) - tolerance <= found) & (found <= sides.max(axis=0) + tolerance)
    hint = ""
    for level, places in levels.items():
        wrong = [name for name, part in places.items() if not is_right[part].all()]
        if wrong:
            words = ", ".join(f"{name} {'wrong' if name in wrong else 'right'}" for name in places)
            part = places[wrong[0]]
            place = part[~is_right[part]][0]
            numbers = f"a gradient of {wrong[0]} is {found[place]:.6g}, the loss says {sides[:, place].mean():.6g}"
            raise ValueError(f"{level}: {words}{hint}; {numbers}")
        hint = f"; {level}: right, but perhaps not what its backward() returns"


def levels_of(net: hn.DeepNet) -> dict[str, dict[str, np.ndarray]]:
    """Where the parameters of the blocks and of the first layer stand in the flat vector, from the last block down."""
    views = hn.FixedNames()
    net._add_views(views, np.arange(len(net.parameters)))
    first = {"W_in": views.W_in, "b_in": views.b_in}
    skipped = (*first, "W_out", "b_out")
    levels = {}
    for index in reversed(range(net.depth)):
        level = f"block {index} (the last)" if not levels else f"block {index}"
        levels[level] = {}
        for name, view in vars(views).items():
            if name not in skipped and not name.startswith("_"):
                levels[level][name] = view[index, ...]
    return levels | {"the first layer": first}
