"""Nets that are kept: which are used, which are trained again, which are refused; and the committed one."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from asking import ask_here, draw, in_one_process
from conftest import ROOT, write_data_set

import highway_networks as hn
from experiments.fifty_layers import trial as fifty_layers
from highways.files import InputError
from highways.nets import fully_connected
from highways.records import load_results


def test_a_net_that_was_kept_is_used_and_one_that_is_not_there_is_trained_again(kept, tmp_path, monkeypatch):
    setting = kept.setting
    net = fifty_layers.net_of(setting, kept.folder)
    assert net.about["trial"] == setting
    again = fifty_layers.net_of(setting, str(tmp_path / "on another machine"))
    np.testing.assert_array_equal(again.parameters, net.parameters)
    assert not list(tmp_path.iterdir())
    about_net = net.about
    about_other_nets = [
        {},
        {**about_net, "trial": [1]},
        {**about_net, "trial": {**setting, "epochs": 1}},
        {**about_net, "data_sha256": "0"},
    ]
    for about in about_other_nets:  # another net under the file name of this one is not used
        net.about = about
        net.save(tmp_path / "fifty_layers_mnist_1.npz")
        assert fifty_layers.net_of(setting, str(tmp_path)).about["trial"] == setting
    # the net that was trained again replaced it
    assert hn.DeepNet.load(tmp_path / "fifty_layers_mnist_1.npz").about["trial"] == setting
    monkeypatch.setattr(fifty_layers, "trained", pytest.fail)
    elsewhere = {**setting, "another": 1, "data_dir": str(ROOT / "data" / "mnist")}
    same = fifty_layers.net_of(elsewhere, kept.folder)
    np.testing.assert_array_equal(same.parameters, net.parameters)


# ---- What is refused -----------------------------------------------------------------------------


def committed_finals() -> list[dict]:
    return load_results(ROOT / "results" / "fifty_layers.json")["trials"]["final"]


def runner_with(finals: list[dict], folder: Path, flags: str = "") -> SimpleNamespace:
    """A runner of a question that looks into these nets."""
    needed = {"fifty_layers": {"trials": {"final": finals}}}
    return SimpleNamespace(flags=flags, folder=folder, more_data_sets=(), settings={}, needed=needed)


def test_results_of_a_data_set_that_is_missing_name_the_command_that_makes_them(tmp_path):
    only_cifar = [trial for trial in committed_finals() if trial["data"] == "CIFAR-100"]
    runner = runner_with(only_cifar, tmp_path, " --data-dir CIFAR-100")
    with pytest.raises(InputError, match="no nets of MNIST: python -m experiments fifty_layers, with the flags"):
        fifty_layers.settings_of_kept_nets(runner)


@pytest.mark.parametrize(
    ("name", "value"), [("depth", "8"), ("block", "plain"), ("seed", []), ("diverged", True), ("n_train", 0)]
)
def test_nets_that_cannot_be_used_are_refused(tmp_path, name, value):
    finals = committed_finals()
    finals[1][name] = value
    with pytest.raises(InputError, match="cannot be used"):
        fifty_layers.settings_of_kept_nets(runner_with(finals, tmp_path))


@pytest.mark.parametrize("names", [("a b", "a-b"), ("a_b", "A.B")])
def test_data_sets_whose_results_would_have_one_name_are_refused(tmp_path, names):
    folders = [str(write_data_set(tmp_path / name)) for name in names]
    runner = SimpleNamespace(more_data_sets=folders, settings={})
    message = "but the names MNIST, .* are taken: .* differs in a letter or a digit"
    with pytest.raises(InputError, match=message):
        fully_connected.data_sets(runner)


# ---- The committed net ---------------------------------------------------------------------------

COMMITTED = ROOT / "results" / "fifty_layers_mnist_1.npz"


def trial_of_the_committed_net() -> dict:
    return next(trial for trial in committed_finals() if (trial["data"], trial["seed"]) == ("MNIST", 1))


def test_the_committed_net_is_used_as_it_is(tmp_path, monkeypatch):
    """Even though the program has changed since it was trained."""
    copy = Path(shutil.copy(COMMITTED, tmp_path))
    monkeypatch.setattr(fifty_layers, "trained", pytest.fail)
    net = fifty_layers.net_of(trial_of_the_committed_net(), str(tmp_path))
    np.testing.assert_array_equal(net.parameters, hn.DeepNet.load(COMMITTED).parameters)
    assert copy.read_bytes() == COMMITTED.read_bytes()


def test_the_committed_net_is_the_one_of_the_results():
    trial = trial_of_the_committed_net()
    net = hn.DeepNet.load(COMMITTED)
    assert (net.depth, net.hidden, net.activation.name, net.dtype) == (49, 50, "tanh", np.float32)
    assert net.about["trial"] == fifty_layers.setting_of(trial)
    assert "dirty" not in net.about["env"]["git"]
    again = fully_connected.measure(net, trial)
    assert again["loss"] == pytest.approx(trial["loss"], rel=1e-4)
    assert again["test_accuracy"] == pytest.approx(trial["test_accuracy"], abs=1.5e-4)


# ---- Runs --------------------------------------------------------------------------------------


@in_one_process("fifty_layers")
def test_data_sets_beside_mnist(tmp_path, finished, made_up_cifar):
    """--data-dir adds CIFAR-100, and a set in MNIST's layout with other sizes (Fashion-MNIST has
    this layout)."""
    harder = write_data_set(tmp_path / "harder", n_train=700, side=9, classes=4)
    few = write_data_set(tmp_path / "few", 127)
    results = tmp_path / "results"
    for folder, message in (
        (few, "must hold 128 images"),
        (ROOT / "data" / "mnist", "holds MNIST, but the names MNIST are taken: give another data set, in"),
        (tmp_path / "absent", "absent"),
    ):
        with pytest.raises(InputError, match=message):
            ask_here("fifty_layers", results, "--data-dir", folder)
    finished("fifty_layers", results)
    for name in ("lesion", "fifty_layers", "gates"):  # lesion trains the nets that are missing
        ask_here(name, results, "--data-dir", "CIFAR-100", harder)
        record = json.loads((results / f"{name}.json").read_text())
        assert record["command"] == f"python -m experiments {name} --data-dir CIFAR-100 {harder}"
        rows = [row for row in record["summary"] if "data" in row]
        assert {row["data"] for row in rows} == {"MNIST", "CIFAR-100", 'folder "harder"'}
        final = record["trials"]["final"] if name == "fifty_layers" else record["trials"]
        names = ("data", "data_dir", "n_train", "n_test", "gate_bias", "epochs", "seed")
        assert [tuple(trial[key] for key in names) for trial in final] == [
            (*of_set, seed)
            for of_set in (
                ("MNIST", None, 1280, 300, -2, 2),
                ("CIFAR-100", "CIFAR-100", 1280, 100, -4, 8),
                ('folder "harder"', str(harder), 700, 80, -2, 2),
            )
            for seed in (1, 2)
        ]
    assert draw("lesion", results)
    assert sorted(path.name for path in results.glob("*.npz")) == [
        f"fifty_layers_{name}_{seed}.npz" for name in ("cifar-100", "folder_harder", "mnist") for seed in (1, 2)
    ]
    for name, pixels in (("cifar-100", "[-1, 1]"), ("folder_harder", "[0, 1]")):
        assert hn.DeepNet.load(results / f"fifty_layers_{name}_1.npz").about["pixels"] == pixels
    of_cifar = fully_connected.images(1280, 80, "CIFAR-100").x_train
    of_harder = fully_connected.images(1280, 80, str(harder)).x_train
    assert (of_cifar.min(), of_cifar.max(), of_harder.min()) == pytest.approx((-1, 1, 0))


# ---- The committed results -----------------------------------------------------------------------
