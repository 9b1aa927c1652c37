"""The room table1: its trials, its rows and its claims."""

import numpy as np
import pytest
from asking import committed
from conftest import ROOT, judgement_on, verdict_on

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.table1 import table1
from experiments.table1.table1 import accuracies_by_protocol, without_blocks
from experiments.table1.table1_controls_trial import NO_BLOCKS
from experiments.table1.table1_trial import setting, trial
from highway_networks import softmax_cross_entropy
from highways import files
from highways.conv import protocols
from highways.conv.net import ConvNet
from highways.conv.nets import mnist_net
from highways.lab.trials import Runner

FEW = {"n_train": 100, "n_test": 50}


def recipe_runs(*accuracies):
    return [{"test_accuracy": accuracy} for accuracy in accuracies]


def test_the_short_protocol_is_the_recipe_that_was_chosen():
    recipes = files.read_json(ROOT / "experiments" / "results" / "table1.json")["trials"]["recipes"]
    assert protocols.PROTOCOLS["mnist"]["short"] == table1.RECIPES[table1.best(recipes)]


def test_the_recipe_with_the_highest_accuracy_is_chosen():
    assert table1.best(recipe_runs(0.98, 0.97, 0.99, 0.985, 0.1, 0.99)) == list(table1.RECIPES)[2]
    assert table1.best(recipe_runs(0.98, None, None, None, None, None)) == "pilot"


@pytest.mark.parametrize("changed", ["nothing", "the commit"])
def test_a_trial_of_table_1_goes_on_from_its_checkpoint(tmp_path, monkeypatch, changed):
    """Any commit of the program may have written it.  If it was another commit, the results name both."""
    t = setting(3, "highway", "short", 2, 0, table1.PILOT, FEW)
    monkeypatch.setattr(files, "commit", lambda: "abc")
    whole = trial(t)
    started = []
    train_epoch = hn.train_epoch

    class Stopped(Exception):
        pass

    def stops(*args):
        started.append(args)
        if len(started) == 2:
            raise Stopped
        return train_epoch(*args)

    monkeypatch.setattr(hn, "train_epoch", stops)
    with Runner("table1", "default", {}, folder=tmp_path, jobs=1) as runner, pytest.raises(Stopped):
        runner.run(trial, [t], fully_connected.data_of)
    if changed == "the commit":
        monkeypatch.setattr(files, "commit", lambda: "def")
    with Runner("table1", "default", {}, folder=tmp_path, jobs=1) as runner:
        [again] = runner.run(trial, [t], fully_connected.data_of)
    assert len(started) == 2 + 1
    assert again["history"] == whole["history"]
    assert again["commits"] == (["abc", "def"] if changed == "the commit" else ["abc"])
    assert not [*tmp_path.glob("*.npz")]  # the log has the result


# ---- Claims ----------------------------------------------------------------------------------------------------------

NOISE = (-0.0001, 0, 0.0001)  # of three seeds


def runs_near(accuracy: float | None, **settings) -> list[dict]:
    """Three runs about this accuracy; None: all of them diverged."""
    common = {"width": 16, "block": "highway", "protocol": "short", "epochs": 12, "n_test": 10000, **settings}
    accuracies = [None if accuracy is None else accuracy + noise for noise in NOISE]
    return [{**common, "test_accuracy": value, "history": {"test_accuracy": [0.98, 0.99]}} for value in accuracies]


@pytest.mark.parametrize(
    ("width", "epochs", "paper", "short", "expected"),
    [
        (16, 15, 0.9940, 0.9940, "not tested"),
        (16, 15, 0.9940, None, "not tested"),
        # three runs of the paper: 99.34 to 99.46, if its 99.4 is 99.40; it may be 99.36 to 99.42
        # ours: 0.025 to either side
        (16, 300, 0.9939, 0.9, "reproduced"),
        (16, 300, 0.9925, 0.9, "not reproduced"),
        (16, 300, 0.9928, 0.9, "not clear"),  # a part of our interval lies inside
        (16, 300, 0.9933, 0.9, "not clear"),
        (16, 300, 0.9947, 0.9, "not clear"),
        (16, 300, 0.9953, 0.9, "not reproduced"),  # above is outside, too
        (16, 300, None, 0.9999, "not reproduced"),  # no run of theirs diverged
        (32, 300, 0.9953, 0.9, "reproduced"),
    ],
)
def test_the_verdicts_on_accuracies(width, epochs, paper, short, expected):
    final = [*runs_near(paper, width=width, protocol="paper", epochs=epochs), *runs_near(short, width=width)]
    assert judgement_on("table1", f"{width}-maps-reach", {"trials": {"final": final}}).verdict.word == expected


@pytest.mark.parametrize(("accuracy", "expected"), [(0.9954, "reproduced"), (0.9950, "not reproduced")])
def test_a_competitive_net_is_within_a_tenth_of_a_point(accuracy, expected):
    """99.61 % less 0.1 points; the paper's own 99.54 % is enough."""
    final = [*runs_near(accuracy, width=32, protocol="paper", epochs=300), *runs_near(0.9, width=32)]
    assert verdict_on("table1", "competitive-on-mnist", {"trials": {"final": final}}) == expected


@pytest.mark.parametrize(
    ("normalised", "expected"),
    [(0.9942, "reproduced"), (0.9935, "not clear"), (0.9928, "not reproduced"), (None, "not clear")],
)
def test_the_verdict_on_batch_normalisation(normalised, expected):
    """It is as good if it is within 0.0005 of highway's 0.9940.  None: it lost a seed, and highway
    did not."""
    with_it = runs_near(normalised or 0.9942, block="highway-bn")
    if normalised is None:
        with_it[1]["test_accuracy"] = None
    final = [*runs_near(0.9940), *with_it]
    assert verdict_on("table1", "conv-batch-normalisation", {"trials": {"final": final}}) == expected


def test_nothing_was_chosen_on_test_images():
    trials = committed("table1")["trials"]
    assert all(trial["validation"] for trial in trials["recipes"])
    assert all(trial["test_accuracy"] == trial["history"]["test_accuracy"][-1] for trial in trials["final"])
    assert {trial["n_train"] for trial in trials["final"]} == {60000}


# ---- table1_controls ------------------------------------------------------------------------------

SHUT = -20.0


def test_a_net_whose_gates_stay_shut_is_the_net_without_blocks():
    """To the precision of float32, and so are its gradients; those of its blocks are nearly 0."""
    layers = mnist_net(3, dropout=(0.0,) * 4)
    shut = ConvNet((1, 28, 28), layers, 0, gate_bias=SHUT)
    bare = ConvNet((1, 28, 28), [layer for layer in layers if layer[0] != "highway"], 0)
    weighted = [layer for layer in shut.layers if layer.shapes]
    blocks = [layer for layer in weighted if getattr(layer, "gates", 0)]
    others = [layer for layer in weighted if layer not in blocks]
    bare_layers = [layer for layer in bare.layers if layer.shapes]
    for mine, other in zip(bare_layers, others, strict=True):
        mine.W[:] = other.W
        mine.b[:] = other.b
    x = np.random.default_rng(1).random((20, 784), np.float32)
    y = np.arange(20) % 10
    logits = {}
    for name, net in (("shut", shut), ("bare", bare)):
        logits[name] = net.forward(x)
        _, d_logits = softmax_cross_entropy(logits[name], y)
        net.backward(d_logits)
    np.testing.assert_allclose(logits["shut"], logits["bare"], atol=1e-6)
    for mine, other in zip(bare_layers, others, strict=True):
        np.testing.assert_allclose(mine.grad.W, other.grad.W, atol=1e-6)
    assert max(np.abs(block.grad.W).max() for block in blocks) < 1e-7


def test_the_control_stands_in_the_place_of_both_protocols():
    highway = {"width": 32, "block": "highway", "n_test": 10000}
    record = {"trials": {"final": [{**highway, "protocol": "paper", "epochs": 300, "test_accuracy": 0.995}]}}
    control = {**highway, "control": NO_BLOCKS, "protocol": "short", "epochs": 12, "test_accuracy": 0.98}
    [stand_in] = without_blocks(record, {"trials": [control]})
    paper, short = accuracies_by_protocol(stand_in, 32)
    assert str(paper) == str(short) == "98 in 12 epochs"
