"""The card's own tests: gradients, a short training, saved nets, the command and the committed runs.  They need
NumPy and pytest, highway_networks.py, straightforward.py and run.json, and nothing else of the project."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import highway_networks as hn
import straightforward

ROOT = Path(hn.__file__).parent
SMALL = ("--depth", "3", "--hidden", "8", "--epochs", "2", "--batch", "32", "--n-train", "200", "--n-test", "60")


def images(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Made-up images (n, 6, 6) of three classes: two rows are brighter in each class."""
    labels = rng.integers(0, 3, n)
    pixels = rng.integers(0, 60, (n, 6, 6))
    for image, label in zip(pixels, labels, strict=True):
        image[2 * label : 2 * label + 2] += 150
    return pixels.astype(np.uint8), labels.astype(np.uint8)


@pytest.fixture
def folder(tmp_path):
    """A small data set in MNIST's layout."""
    rng = np.random.default_rng(5)
    for part, n in (("train", 300), ("t10k", 80)):
        for kind, array in zip(("images-idx3", "labels-idx1"), images(rng, n), strict=True):
            header = bytes((0, 0, 8, array.ndim)) + np.array(array.shape, ">u4").tobytes()
            (tmp_path / f"{part}-{kind}-ubyte").write_bytes(header + array.tobytes())
    return tmp_path


@pytest.mark.parametrize("block", ["highway", "plain"])
def test_every_parameter_has_its_gradient(block):
    """By complex step: the imaginary part of the loss at p + ih is h times the derivative."""
    rng = np.random.default_rng(0)
    net = hn.DeepNet(6, 3, hidden=5, depth=4, block=block, rng=1, gate_bias=-1.0, dtype=np.complex128)
    x = rng.normal(size=(7, 6))
    y = rng.integers(0, 3, 7)

    def loss():
        return hn.softmax_cross_entropy(net.forward(x), y)[0]

    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    gradient = net.backward(d_logits).real.copy()
    step = 1e-30
    for index in range(net.parameters.size):
        net.parameters[index] += 1j * step
        assert loss().imag / step == pytest.approx(gradient[index], rel=1e-9, abs=1e-14)
        net.parameters[index] -= 1j * step


@pytest.mark.parametrize("block", ["highway", "plain"])
def test_the_logits_are_those_of_the_straightforward_program(block):
    net = hn.DeepNet(7, 3, 6, 4, block, np.random.default_rng(5), dtype=np.float64)
    reference = straightforward.make_net(np.random.default_rng(5), 7, 3, 6, 4, block)
    x = np.random.default_rng(6).normal(size=(9, 7))
    logits, _ = straightforward.forward(reference, x)
    np.testing.assert_allclose(net.forward(x), logits, rtol=1e-12)


def test_a_deep_highway_net_learns_and_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    pixels, labels = images(rng, 600)
    data = hn.Dataset.of(pixels[:500], labels[:500], pixels[500:], labels[500:])
    run = hn.run_one("highway", data=data, hidden=20, depth=30, epochs=5, batch_size=50, save=tmp_path / "net.npz")
    assert run["final_test_acc"] > 0.9
    net = hn.DeepNet.load(tmp_path / "net.npz")
    assert hn.accuracy(net, hn.inputs_for(net, data.x_test), data.y_test) == run["final_test_acc"]


def test_the_command_writes_its_record_and_replaces_nothing_else(folder):
    command = [sys.executable, str(ROOT / "highway_networks.py"), *SMALL, "--data-dir", str(folder), "--out"]
    for jobs in ("1", "2"):  # the second time it replaces its own
        done = subprocess.run([*command, str(folder / "run.json"), "--jobs", jobs], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        [pair] = json.loads((folder / "run.json").read_text())["runs"]
        assert len(pair["highway"]["history"]["epoch"]) == 2
    (folder / "mine.json").write_text("[1]")
    done = subprocess.run([*command, str(folder / "mine.json")], capture_output=True, text=True)
    assert done.returncode == 2
    assert (folder / "mine.json").read_text() == "[1]"


def test_the_committed_run_shows_it():
    [pair] = json.loads((ROOT / "run.json").read_text())["runs"]
    assert pair["highway"]["final_test_acc"] > 0.85
    assert pair["plain"]["final_test_acc"] < 0.15
