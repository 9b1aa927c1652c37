"""The benchmarks compare like with like: every rival computes our loss and gradient, or the benchmark refuses."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn
import straightforward
from benchmarks import (
    conv_rivals,
    conv_step,
    report,
    rivals,
    step,
)
from benchmarks.rivals import c_rival

SIZES = (784, 10, 12, 4)


FRAMEWORKS = [kind for kind in rivals.ALL if kind.framework]


@pytest.mark.frameworks
@pytest.mark.parametrize("kind", FRAMEWORKS)
@pytest.mark.parametrize("block", hn.PAIR)
def test_the_frameworks_agree(kind, block):
    pytest.importorskip(kind.framework)
    x, y = step.mnist_like(64)
    made, _ = rivals.make((*SIZES, block), x, y, (rivals.Ours, kind))
    assert set(made) == {rivals.Ours.name, kind.name}


@pytest.mark.frameworks
@pytest.mark.parametrize("kind", FRAMEWORKS)
def test_the_frameworks_train_as_we_do(kind):
    """Twenty steps of clipped Adam, made as they are timed, lead to our gradient."""
    pytest.importorskip(kind.framework)
    check_training(kind, "highway")


@pytest.mark.parametrize("block", hn.PAIR)
def test_the_straightforward_program_trains_as_we_do(block):
    """test_net.py compares its gradients and its Adam to the last digits."""
    check_training(rivals.Straightforward, block)


@pytest.mark.parametrize("block", hn.PAIR)
def test_the_straightforward_program_prints_the_accuracies_of_our_run(monkeypatch, capsys, block):
    """Of the same net, with the images that it reads and in its own order."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (8200, 5, 5)).astype(np.uint8)
    y = np.arange(8200) % 10
    data = hn.Dataset.of(x[:6100], y[:6100], x[6100:], y[6100:])
    run = hn.run_one(block, data=hn.subset(data, 0, 6000, 2000), depth=3, epochs=2, dtype="float64")
    losses = []

    def make_net(rng, d_in, d_out, hidden, depth, block):
        net = hn.DeepNet(d_in, d_out, hidden, depth, block, rng, dtype=np.float64)
        return rivals.as_straightforward(net, net)

    def keep_loss(logits, y):
        loss, d_logits = loss_of(logits, y)
        losses.append(loss)
        return loss, d_logits

    loss_of = straightforward.softmax_cross_entropy
    monkeypatch.setattr(straightforward, "load_mnist", lambda: data)
    monkeypatch.setattr(straightforward, "make_net", make_net)
    monkeypatch.setattr(straightforward, "softmax_cross_entropy", keep_loss)
    straightforward.train(block, depth=3, epochs=2)
    accuracies = [line.split()[-1] for line in capsys.readouterr().out.splitlines()]
    assert accuracies == [f"{accuracy:.3f}" for accuracy in run["history"]["test_acc"]]
    np.testing.assert_allclose(np.reshape(losses, (2, 46)).mean(axis=1), run["history"]["train_loss"], rtol=1e-9)


@pytest.mark.parametrize("block", hn.PAIR)
def test_the_program_in_c_trains_as_we_do(block):
    try:
        c_rival.compiled()
        c_rival.sgemm_of_numpy()
    except ImportError as error:
        pytest.skip(str(error))
    check_training(rivals.WithC, block)


def check_training(kind, block):
    x, y = step.mnist_like(64)
    made, _ = rivals.make((*SIZES, block), x, y, (rivals.Ours, kind))
    gradients = []
    for rival in made.values():
        rival.turn([np.arange(64)] * 20)
        gradients.append(rival.loss_and_gradient(x, y)[1])
    ours, theirs = gradients
    np.testing.assert_allclose(theirs, ours, atol=1e-3 * np.abs(ours).max())


def test_a_rival_that_computes_something_else_is_refused(monkeypatch):
    real = straightforward.backward

    def wrong(net, kept, d_logits):
        gradient = real(net, kept, d_logits)
        gradient.blocks[0].W_H *= 1.01
        return gradient

    monkeypatch.setattr(straightforward, "backward", wrong)
    with pytest.raises(AssertionError):
        rivals.make((*SIZES, "highway"), *step.mnist_like(64), (rivals.Ours, rivals.Straightforward))


def test_a_step_is_taken_apart_completely():
    parts = step.where_time_goes("highway", 3, 8, 16, 1)
    named = ("gather", "forward", "loss", "backward", "clip and Adam")
    assert parts["step"] == pytest.approx(sum(parts[name] for name in named))
    assert parts["step"] == pytest.approx(
        sum(parts[name] for name in ("matrix products", "clip and Adam", "calls", "element-wise and memory"))
    )


EVERY_KIND = [
    ("dropout", 0.2), ("conv", 3, 16), ("highway", 3), ("pool", 3, 2), ("highway", 3), ("conv", 1, 5), ("average", 2),
    ("hidden", 7), ("dense", 10),
]  # fmt: skip


def test_if_our_products_are_restricted_to_avx2_the_rivals_are_too():
    """Four libraries of theirs are, each by a variable of its own."""
    code = "import benchmarks.one_thread, os; print(*sorted(os.environ.items()))"

    def environment(coretype: str) -> str:
        own = os.environ | {"OPENBLAS_CORETYPE": coretype}
        return subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, env=own, text=True).upper()

    assert environment("Haswell").count("AVX2") == environment("").count("AVX2") + 4  # MKL, oneDNN, PyTorch, XLA


@pytest.mark.frameworks
@pytest.mark.parametrize("kind", [kind for kind in conv_rivals.ALL if kind.framework])
def test_the_convolutional_rivals_agree(kind):
    """made() refuses a rival that computes another loss or gradient."""
    pytest.importorskip(kind.framework)
    there, _ = conv_step.made((3, 16, 16), EVERY_KIND, (conv_rivals.Ours, kind))
    there[kind.name].step()
    assert set(there) == {conv_rivals.Ours.name, kind.name}


def test_a_convolutional_rival_that_computes_something_else_is_refused():
    ours = conv_rivals.Ours
    real = ours.loss_and_gradient
    other = type("Other", (ours,), {"name": "another"})
    other.loss_and_gradient = lambda self: (real(self)[0], real(self)[1] * 1.01)
    with pytest.raises(AssertionError):
        conv_step.made((3, 16, 16), EVERY_KIND, (ours, other))


def test_bfloat16_may_be_less_exact_but_not_wrong():
    ours = conv_rivals.Ours
    real = ours.loss_and_gradient
    lower = type("Lower", (ours,), {"name": "lower", "arithmetic": "bfloat16"})
    lower.loss_and_gradient = lambda self: (real(self)[0] + 0.01, real(self)[1] * 1.1)
    there, _ = conv_step.made((3, 16, 16), EVERY_KIND, (ours, lower))
    assert "lower" in there
    lower.loss_and_gradient = lambda self: (real(self)[0], -real(self)[1])
    with pytest.raises(AssertionError):
        conv_step.made((3, 16, 16), EVERY_KIND, (ours, lower))


def test_the_best_is_the_fastest_that_may_compete():
    kinds = {}
    rows = {}
    for name, framework, arithmetic, ratio in (
        ("ours", "", "float32", 1.0),
        ("slow", "a", "float32", 0.3),
        ("fast", "b", "float32", 0.7),
        ("lower", "b", "bfloat16", 0.9),
    ):
        kinds[name] = type(name, (report.Rival,), {"name": name, "framework": framework, "arithmetic": arithmetic})
        rows[name] = {"ours_over_theirs": [ratio - 0.1, ratio, ratio + 0.1]}
    exact = report.ratio_to_best(rows, kinds.values(), lambda kind: kind.arithmetic == "float32")
    assert exact == 0.7
    assert report.ratio_to_best({"ours": rows["ours"]}, kinds.values(), lambda kind: True) is None
