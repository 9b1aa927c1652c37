"""docs/your_own_block.md does what it shows: a block in a file of the user's own, checked by one command, trained."""

import contextlib
import re
import sys

import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn
from highways.files import InputError
from highways.nets.extra_blocks import Residual

PAGE = (ROOT / "docs" / "your_own_block.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
BLOCK, CHECK, TRAINING, LEAKY_GATE, ACTIVATION = EXAMPLES
[CHECK_ACTIVATION] = re.findall(r"`(check_block\(\"plain\"[^`]+\))`", PAGE)


@contextlib.contextmanager
def module_of(text: str, name: str, folder, monkeypatch):
    """The module of the user's own that defines the block or the activation of this name, forgotten afterwards."""
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    try:
        yield
    finally:
        sys.modules.pop(name, None)
        hn.BLOCKS.pop(name, None)
        hn.ACTIVATIONS.pop(name, None)


def refused_if(is_wrong: bool):
    return pytest.raises(ValueError) if is_wrong else contextlib.nullcontext()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("", ""),
        ("(layer.H * dy).sum()", "(layer.x * dy).sum()"),
    ],
)
def test_the_page_s_block_is_checked(tmp_path, monkeypatch, right, wrong):
    """The check passes the page's block as it is, and fails where a part of it, `right`, is replaced by `wrong`."""
    text = BLOCK.replace(right, wrong)
    with module_of(text, "rezero", tmp_path, monkeypatch), refused_if(right != wrong):
        exec(CHECK, {})


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("", ""), ("s + H * (1 - s)", "s + z * (1 - s)")],
)
def test_the_page_s_activation_is_checked(tmp_path, monkeypatch, right, wrong):
    text = ACTIVATION.replace(right, wrong)
    check = CHECK_ACTIVATION.replace("\n", " ")
    with module_of(text, "silu", tmp_path, monkeypatch), refused_if(right != wrong):
        exec(f"import silu\nfrom highways.check_block import check_block\n{check}", {})


def test_the_page_s_block_trains_at_depth_30(tmp_path, monkeypatch, capsys):
    """For two epochs."""
    assert "depth=30, seed=0)" in TRAINING
    shorter = TRAINING.replace("seed=0)", "seed=0, epochs=2)")
    with module_of(BLOCK, "rezero", tmp_path, monkeypatch):
        exec(shorter, {})
    accuracies = dict(re.findall(r"(\w+): test accuracy (\S+),", capsys.readouterr().out))
    assert accuracies.keys() == {"highway", "rezero"}
    assert min(map(float, accuracies.values())) > 0.5


def test_the_leaky_gate_that_does_not_leak_is_a_highway_block():
    exec(LEAKY_GATE.replace("0.1 + ", "").replace("0.9 * ", ""), {"__name__": __name__})
    x = np.random.default_rng(1).normal(size=(5, 4))
    try:
        gated = hn.DeepNet(4, 3, 6, 3, "leaky", 0, dtype=np.float64)
        highway = hn.DeepNet(4, 3, 6, 3, "highway", 0, dtype=np.float64)
    finally:
        del hn.BLOCKS["leaky"]
    np.testing.assert_allclose(gated.forward(x), highway.forward(x), rtol=1e-12)
    d_logits = np.eye(5, 3)
    np.testing.assert_allclose(gated.backward(d_logits), highway.backward(d_logits), rtol=0, atol=1e-12)
    np.testing.assert_allclose(gated.gates(x), highway.gates(x), rtol=1e-12)


def test_the_settings_of_a_block_are_saved(tmp_path):
    net = hn.DeepNet(4, 3, 6, 2, Residual(scale=0.1), np.random.default_rng(0))
    net.save(tmp_path / "net.npz")
    again = hn.DeepNet.load(tmp_path / "net.npz")
    assert (again.block.name, again.block.scale) == ("residual", 0.1)
    np.testing.assert_array_equal(again.parameters, net.parameters)


def test_a_parameter_of_the_block_is_named_and_counted():
    class Scaled(hn.Block):
        name = "scaled, of a test"

        def parameters(self, hidden):
            return {"gain": (hidden, 1)}

        def start(self, net, gate_bias):
            net.gain[:] = 1

        def forward(self, layer):
            np.multiply(layer.gain, layer.z, layer.y)

        def backward(self, layer, dy):
            layer.d_gain[:] = (layer.z * dy).sum(axis=1, keepdims=True)
            np.multiply(layer.gain, dy, layer.dz)

    try:
        net = hn.DeepNet(4, 3, 6, 2, "scaled, of a test", np.random.default_rng(0), dtype=np.float64)
    finally:
        del hn.BLOCKS[Scaled.name]
    assert net.gain.shape == net.grad.gain.shape == (2, 6, 1)
    # W_in and b_in; W_H and b_H of two blocks; their gains; W_out and b_out
    assert len(net.parameters) == 4 * 6 + 6 + 2 * 6 * 7 + 2 * 6 + 3 * 7
    x = np.random.default_rng(1).normal(size=(5, 4))
    expected = net.forward(x)
    net.gain[:] *= 2
    np.testing.assert_allclose(net.forward(x) - net.b_out, 4 * (expected - net.b_out))


@contextlib.contextmanager
def defined(**members):
    """A kind of block for a test, forgotten afterwards."""
    block = type("OfATest", (hn.Block,), {"name": "of a test", **members})
    try:
        yield block
    finally:
        del hn.BLOCKS[block.name]


# Methods of blocks for tests: forward() of a plain one; __init__(), forward() and backward() of a leaky ReLU, whose
# setting is `floor`.


def plain(self, layer):
    layer.activation.value(layer.z_H, layer.y)


def leaky(self, layer):
    np.maximum(layer.z, self.floor * layer.z, out=layer.y)


def leaky_backward(self, layer, dy):
    np.multiply(np.where(layer.y > 0, 1, self.floor), dy, out=layer.dz)


def with_floor(self, floor=0.1):
    self.floor = floor


LEAKY = {"__init__": with_floor, "forward": leaky, "backward": leaky_backward}


def test_the_settings_of_a_block_are_in_the_record_of_a_run(data_set):
    data = hn.load_mnist(data_set)
    s = hn.Settings(depth=2, hidden=4, epochs=1, batch_size=32, n_train=300, n_test=80)
    with defined(**LEAKY) as block:
        runs = [hn.run_one(block(floor), s, data) for floor in (0.1, 0.02)]
        by_name = hn.run_one("of a test", s, data)
    assert [run["block"] for run in runs] == ["of a test"] * 2
    assert [run["block_settings"] for run in [*runs, by_name]] == [{"floor": 0.1}, {"floor": 0.02}, {"floor": 0.1}]
    for kind in ("highway", "plain"):
        run = hn.run_one(kind, s, data)
        assert run["block"] == kind
        assert "block_settings" not in run


def test_a_block_may_change_arrays_and_keep_values_of_its_own():
    def forward(self, layer):
        layer.mine = np.tanh(layer.z)
        layer.mine = layer.mine + 1
        layer.y[...] = layer.x
        layer.y += layer.mine
        layer.d_alpha += 0

    with defined(forward=forward, parameters=lambda self, hidden: {"alpha": ()}):
        net = hn.DeepNet(4, 4, 4, 1, "of a test", 0, dtype=np.float64)
    net.parameters[:] = 0  # so that x and z are 0, and y = x + tanh(z) + 1 is 1
    net.W_out[:] = np.eye(4)
    np.testing.assert_array_equal(net.predict(np.ones((5, 4))), np.ones((5, 4)))


def test_a_gate_may_be_read_from_what_the_layers_share():
    """Here the gate is z_T itself, read from layer.z_T or from a shared array."""

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.y)
        layer.scratch[:] = layer.z_T

    x = np.random.default_rng(1).normal(size=(hn.SLICE + 3, 4))
    gates = []
    for read in (lambda self, layer: layer.z_T, lambda self, layer: layer.scratch):
        with defined(gates=1, shared=("scratch",), forward=forward, transform_gate=read):
            net = hn.DeepNet(4, 3, 6, 3, "of a test", 0, dtype=np.float64)
            gates.append(net.gates(x))
    state = np.tanh(x @ net.W_in.T + net.b_in)
    for layer in range(3):
        z_T = state @ net.W_T[layer].T + net.b_T[layer]
        np.testing.assert_allclose(gates[0][layer], z_T, rtol=1e-12)
        np.testing.assert_allclose(gates[1][layer], z_T, rtol=1e-12)
        state = np.tanh(state @ net.W_H[layer].T + net.b_H[layer])


# ---- activations


@contextlib.contextmanager
def defined_activation(**members):
    """A leaky ReLU for a test, H = z where z > 0, else floor z; forgotten afterwards."""

    def value(self, z, H):
        np.maximum(z, self.floor * z, out=H)

    def slope(self, z, H, slope):
        slope[...] = np.where(z > 0, 1, self.floor)

    members = {"__init__": with_floor, "value": value, "slope": slope, "keeps_z": True} | members
    activation = type("LeakyOfATest", (hn.Activation,), {"name": "leaky, of a test", **members})
    try:
        yield activation
    finally:
        del hn.ACTIVATIONS[activation.name]


def gradient_of(net):
    x = np.random.default_rng(1).normal(size=(5, 4))
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), np.array([0, 1, 2, 0, 1]))
    return net.backward(d_logits).copy()


@pytest.mark.parametrize("block", hn.BLOCKS)
def test_an_activation_that_needs_z_gets_that_of_its_layer(block):
    """With a floor of 0 it is ReLU, whose slope needs H alone."""
    with defined_activation() as activation:
        nets = [hn.DeepNet(4, 3, 6, 5, block, 0, activation=choice) for choice in ("relu", activation(0.0))]
    np.testing.assert_array_equal(*map(gradient_of, nets))


def test_the_settings_of_an_activation_are_saved(tmp_path):
    path = tmp_path / "net.npz"
    with defined_activation() as activation:
        net = hn.DeepNet(4, 3, 6, 2, "highway", 0, activation=activation(0.25))
        net.save(path)
        loaded = hn.DeepNet.load(path)
        assert (type(loaded.activation), loaded.activation.floor) == (activation, 0.25)
        np.testing.assert_array_equal(gradient_of(loaded), gradient_of(net))
        assert hn.record_of(net.activation) == {
            "activation": "leaky, of a test",
            "activation_settings": {"floor": 0.25},
        }
    with pytest.raises(InputError):
        hn.DeepNet.load(path)
