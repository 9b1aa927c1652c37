"""The records' nets in PyTorch compute and learn what ours do, and the command that times them."""

from dataclasses import replace

import numpy as np
import pytest

import highway_networks as hn
from benchmarks.records import rivals, show
from benchmarks.records.__main__ import RECORDS
from benchmarks.records.cifar_94 import airbench
from benchmarks.records.cifar_94 import in_torch as cifar_94
from benchmarks.records.mnist_99 import in_torch as mnist_99
from benchmarks.records.mnist_99.training import RECIPE, Training
from highways.files import read_json


def images(maps: int, side: int, n: int = 40) -> hn.Dataset:
    """Random images whose pixels have something to do with their neighbours, so that patches can be whitened."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (n, maps, side, side)).cumsum(axis=2) // (1 + np.arange(side)[:, None])
    x = x.reshape(n, -1).astype(np.uint8)
    y = rng.integers(0, 10, n)
    shape = (maps, side, side) if maps > 1 else (side, side)
    return hn.Dataset.of(x, y, x, y)._replace(shape=shape)


IMAGES = {mnist_99: images(1, 28), cifar_94: images(3, 32)}
HELD = {mnist_99: (-1, 784), cifar_94: (-1, 3, 32, 32)}  # the shape of what predict() gets


@pytest.mark.frameworks
@pytest.mark.parametrize("record", IMAGES)
def test_pytorch_computes_the_record_s_net(record):
    pytest.importorskip("torch")
    data = IMAGES[record]
    ours, theirs = (kind(data, 0) for kind in record.RIVALS[:2])
    our_loss, our_gradient = ours.loss_and_gradient(data.x_train[:8], data.y_train[:8])
    loss, gradient = theirs.loss_and_gradient(data.x_train[:8], data.y_train[:8])
    assert loss == pytest.approx(our_loss, abs=1e-5)
    np.testing.assert_allclose(gradient, our_gradient, atol=1e-3 * np.abs(our_gradient).max())
    x = np.random.default_rng(1).random(data.x_train[:4].shape, dtype=np.float32).reshape(HELD[record])
    expected = ours.training.net.predict(x)
    np.testing.assert_allclose(theirs.training.net.predict(x), expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.frameworks
@pytest.mark.parametrize("record", IMAGES)
def test_pytorch_s_optimiser_makes_our_steps(record):
    pytest.importorskip("torch")
    ours, theirs = (kind(IMAGES[record], 0).training for kind in record.RIVALS[:2])
    rng = np.random.default_rng(2)
    for t in range(3):
        gradient = rng.normal(size=len(ours.parameters)).astype(np.float32)
        for training in (ours, theirs):
            training.steps = t
            training.step(gradient.copy())
        np.testing.assert_allclose(theirs.parameters, ours.parameters, rtol=1e-5, atol=1e-5)


@pytest.mark.frameworks
def test_pytorch_s_first_layer_rests_as_ours_does():
    pytest.importorskip("torch")
    data = IMAGES[mnist_99]
    gradients = []
    for kind in mnist_99.RIVALS[:2]:
        rival = kind(data, 0)
        rival.training.net.let_first_layer_rest()
        gradients.append(rival.loss_and_gradient(data.x_train[:8], data.y_train[:8])[1])
    ours, theirs = gradients
    of_first = 32 * 37
    assert not ours[:of_first].any()
    assert not theirs[:of_first].any()
    np.testing.assert_allclose(theirs, ours, atol=1e-3 * np.abs(ours).max())


@pytest.mark.frameworks
def test_airbench_s_first_biases_alone_learn_for_three_epochs():
    pytest.importorskip("torch")
    data = IMAGES[cifar_94]
    training = airbench.Airbench(data, 0).training
    assert (training.all_steps, len(training.parameters)) == (200, 1971352)
    for steps, learns in ((74, True), (75, False)):
        training.steps = steps
        before = training.parameters.copy()
        hn.train_epoch(training, training, data.x_train, data.y_train, np.arange(4), 4, training.loss)
        moved = training.parameters != before
        assert moved[:24].all() == moved[:24].any() == learns
        assert moved[24:].mean() > 0.9


def test_airbench_s_filters_begin_as_copies_of_maps():
    arrays = airbench.start(np.random.default_rng(0))
    x = np.random.default_rng(1).random((64, 7, 7))
    W = arrays[3]  # 64 -> 64 maps
    middle = sum(np.einsum("oi,irc->orc", W[:, i, j], x[:, i : i + 5, j : j + 5]) for i in range(3) for j in range(3))
    np.testing.assert_allclose(middle, x[:, 1:-1, 1:-1], rtol=1e-6)
    assert arrays[-1].std(ddof=1) == pytest.approx(1, rel=1e-5)


class Few(mnist_99.Ours):
    """Ours, with a recipe of few images."""

    def __init__(self, data, seed):
        self.training = Training(data, seed, replace(RECIPE, n_train=250))


class FewAgain(Few):
    name = "another"


def test_the_command_writes_what_the_table_shows(tmp_path, monkeypatch):
    few = images(1, 28, 250)
    timed = rivals.TIMED["mnist"]._replace(rivals=(Few, FewAgain), steps=2, rounds=1, tested=50)
    monkeypatch.setattr(rivals, "TIMED", {"mnist": timed})
    monkeypatch.setattr(rivals, "load_images", lambda name, data_dir: few)
    monkeypatch.setattr(rivals, "pin", lambda: "core 0")
    monkeypatch.setattr(rivals, "WHOLE_SEEDS", range(2))
    monkeypatch.setitem(RECORDS, "mnist", RECORDS["mnist"]._replace(recipe=replace(RECIPE, n_train=250)))
    out = tmp_path / "out.json"
    assert rivals.main(["--whole", "--out", str(out)]) == 0
    found = read_json(out)
    rows = found["trials"]["mnist"]["steps"]
    row = rows["another"]
    assert row["steps"] == 2
    computed = row["seconds_of_start"] + 2 * row["seconds_of_step"] + row["seconds_of_test"]
    assert row["seconds_computed"] == pytest.approx(computed)
    assert found["summary"]["mnist_over_torch_float32"] == row["ours_over_theirs"][1]
    assert found["summary"]["mnist_over_airbench_float32"] is None
    ours, another = found["trials"]["mnist"]["whole"].values()
    assert [trial["seed"] for trial in another] == [0, 1]
    assert [trial["test_accuracy"] for trial in ours] == [trial["test_accuracy"] for trial in another]
    assert found["summary"]["mnist_seconds"] == pytest.approx(np.mean([trial["seconds"] for trial in ours]))
    cells = show.rows_in_torch("MNIST", found["trials"]["mnist"])[1].split(" | ")
    assert cells[0] == "| MNIST"
    assert cells[1] == "another"
