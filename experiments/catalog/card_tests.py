"""The gradients, a short training, the committed runs and the drawing programs."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import highway_networks as hn

ROOT = Path(hn.__file__).parent


def run(*words):
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


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


def test_a_deep_highway_net_learns():
    """Of made-up images, in which each class has two brighter rows."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 600)
    images = rng.integers(0, 60, (600, 6, 6))
    for image, label in zip(images, labels, strict=True):
        image[2 * label : 2 * label + 2] += 150
    x = hn.scale_pixels(images.reshape(600, 36).astype(np.uint8), np.float32)
    net = hn.DeepNet(36, 3, hidden=20, depth=30, block="highway", rng=0)
    adam = hn.Adam(net.parameters)
    for _ in range(5):
        row = hn.train_epoch(net, adam, x, labels, rng.permutation(600), 50)
    assert row["train_acc"] > 0.9


@pytest.mark.parametrize("name", ["run.json", "run_sweep.json"])
def test_the_committed_runs_show_it(name):
    for pair in json.loads((ROOT / name).read_text())["runs"]:
        assert pair["highway"]["final_test_acc"] > 0.85
        if pair["depth"] >= 20:
            assert pair["plain"]["final_test_acc"] < 0.15


def test_the_pictures_are_drawn_from_the_committed_runs(tmp_path):
    names = "learning_curves,plain_loss_collapse,depth_sweep,T_gate_evolution,T_gate_final"
    process = run("visualize_highway_networks.py", "--only", names, "--out", tmp_path)
    assert process.returncode == 0, process.stderr
    assert {path.stem for path in tmp_path.iterdir()} == set(names.split(","))
    process = run("make_highway_networks_gif.py", "--out", tmp_path / "training.gif")
    assert process.returncode == 0, process.stderr
