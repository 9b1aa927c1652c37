"""The room few_layers: its blocks, its search and its claims."""

import numpy as np
import pytest
from conftest import verdict_on

from experiments.few_layers import few_layers, on_text, on_text_trial
from highway_networks import DeepNet
from highways import brown
from highways.check_block import check_block
from highways.files import InputError
from highways.nets import layer_by_layer
from highways.nets.layer_norm import TINY

BLOCKS = ("softmax-highway", "affine-carry", "plain-keeping-H", "normalised-highway", "normalised-residual",
          "normalised-plain")  # fmt: skip


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_has_the_gradient_of_what_it_computes(block, activation):
    check_block(block, activation=activation)


def states(block: str, x: np.ndarray) -> tuple[DeepNet, np.ndarray]:
    """A net of one block, and the block's output for the states x (N, hidden)."""
    net = DeepNet(4, 3, x.shape[1], 1, block, rng=0, activation="relu", gate_bias=-1.0, dtype=np.float64)
    return net, layer_by_layer.block_forward(net, 0, x)[1]


def test_the_copies_follow_their_equations():
    x = np.random.default_rng(1).normal(size=(5, 6))
    net, y = states("softmax-highway", x)
    H = np.maximum(x @ net.W_H[0].T, 0)
    powers = np.exp(x @ net.W_T[0].T)
    T = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(y, H * T + x * (1 - T))
    net, y = states("affine-carry", x)
    H = np.maximum(x @ net.W_H[0].T, 0)
    T = 1 / (1 + np.exp(-(x @ net.W_T[0].T - 1)))
    np.testing.assert_allclose(y, H * T + (x @ net.W_C[0].T) * (1 - T))


@pytest.mark.parametrize("block", ["highway", "residual", "plain"])
def test_a_normalised_block_has_mean_0_and_variance_1(block):
    x = np.random.default_rng(1).normal(size=(5, 6))
    _, plain_y = states(block, x)
    _, y = states(f"normalised-{block}", x)
    centred = plain_y - plain_y.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    np.testing.assert_allclose(y, centred / np.sqrt(variance + TINY))


BUDGET = few_layers.BUDGETS["default"] | {"depths": [1, 4]}


def record_of(accuracy) -> dict:
    """A record in which accuracy(kind, depth) is the mean over seeds, and the best rate is the fourth."""
    search = []
    final = []
    rates = BUDGET["rates"]
    for kind, depth in few_layers.cells(BUDGET, few_layers.NETS):
        net = {"kind": kind, "depth": depth, "width": 50, "epochs": 12, "n_train": 6000, "diverged": False, "loss": 0.3}
        for rate in rates:
            search.append({**net, "lr": rate, "n_test": 4000, "accuracy": 0.8 + (rate == rates[3]) / 10})
        for seed in range(10):
            noise = 1e-3 * np.sin(seed + depth + len(kind))
            final.append({**net, "seed": seed, "n_test": 10000, "accuracy": accuracy(kind, depth) + noise})
    return {"settings": BUDGET, "trials": {"search": search, "final": final}}


@pytest.mark.parametrize(
    ("claim", "plain_at_4", "verdict"),
    [
        ("few-layers-plain", 0.92, "reproduced"),
        ("few-layers-plain", 0.90, "in part"),
        ("few-layers-bias", 0.90, "reproduced"),
        ("few-layers-over-nothing", 0.90, "not reproduced"),
    ],
)
def test_verdicts(claim, plain_at_4, verdict):
    record = record_of(lambda kind, depth: plain_at_4 if (kind, depth) == ("plain", 4) else 0.92)
    if claim == "few-layers-over-nothing":
        record = record_of(lambda kind, depth: 0.93 if kind == few_layers.NOTHING else 0.92)
    assert verdict_on("few_layers", claim, record) == verdict


def test_a_rate_at_an_end_leaves_a_part_open():
    record = record_of(lambda kind, depth: 0.92)
    for trial in record["trials"]["search"]:
        if trial["kind"] == "plain":
            trial["accuracy"] = 0.8 + trial["lr"]
    assert verdict_on("few_layers", "few-layers-plain", record) == "not clear"


def test_rows_have_the_difference_from_the_papers_net():
    record = record_of(lambda kind, depth: 0.90 if kind == "plain" else 0.92)
    [row] = [row for row in few_layers.rows(record) if (row.get("kind"), row.get("depth")) == ("plain", 4)]
    assert row["paper_less_kind"]["mean"] == pytest.approx(0.02, abs=2e-3)
    assert row["lr"] == BUDGET["rates"][3]


# ---- On text ---------------------------------------------------------------------------------------------------------


TEXT_BLOCKS = sorted({net["block"] for net in on_text.NETS.values()})


@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("block", TEXT_BLOCKS)
def test_a_tagger_has_the_gradient_of_its_loss(block, depth):
    corpus = brown.made_up()
    sizes = (corpus.n_codes, len(corpus.tag_names), 5, depth)
    net = on_text_trial.CharacterNet(corpus.codes, *sizes, block, 1, -1.0, dtype=np.float64)
    x = corpus.x[:3]
    y = corpus.y[:3]
    gradient = net.backward(on_text_trial.cross_entropy(net.forward(x), y)[1]).copy()
    for place in np.random.default_rng(0).permutation(len(gradient))[:60]:
        parameter = net.parameters[place]
        losses = []
        for moved in (parameter + 1e-6, parameter - 1e-6):
            net.parameters[place] = moved
            losses.append(on_text_trial.cross_entropy(net.forward(x), y)[0])
        net.parameters[place] = parameter
        assert gradient[place] == pytest.approx((losses[0] - losses[1]) / 2e-6, abs=1e-8)


def test_what_a_tagger_computes():
    """Word by word and filter by filter, for a net of one highway layer."""
    corpus = brown.made_up()
    n_tags = len(corpus.tag_names)
    net = on_text_trial.CharacterNet(corpus.codes, corpus.n_codes, n_tags, 4, 1, "highway", 1, dtype=np.float64)
    x = corpus.x[:2]
    np.testing.assert_allclose(net.predict(x), net.forward(x))
    arrays = net.net

    def output(word) -> np.ndarray:
        one_hot = np.eye(corpus.n_codes)[corpus.codes[word]]
        values = [arrays.W_in @ one_hot[place : place + 3].ravel() for place in range(brown.LONGEST)]
        state = np.maximum(np.max(values, axis=0) + arrays.b_in, 0)
        H = np.maximum(arrays.W_H[0] @ state, 0)
        T = 1 / (1 + np.exp(-(arrays.W_T[0] @ state - 2)))
        return arrays.W_out @ (H * T + state * (1 - T))

    arrays.b_T[:] = -2
    before, at, after = (output(word) for word in x[1, 4:7])
    expected = before[:n_tags] + at[n_tags : 2 * n_tags] + after[2 * n_tags :]
    np.testing.assert_allclose(net.predict(x)[brown.PIECE + 4], expected)


def test_a_corpus_in_pieces():
    text = "The/at dog's/nn$ I'm/ppss+bem --/-- Grand/jj-tl " + "so/ql " * 30
    corpus = brown.corpus_of([text, "much/ap " * 20], "a corpus", "")
    assert corpus.tag_names == ["at", "nn$", "ppss", "--", "jj", "ql", "ap"]
    assert corpus.x.shape == (3, brown.PIECE + 2)
    assert corpus.texts.tolist() == [0, 0, 1]
    assert corpus.x[0].tolist() == [0, 1, 2, 3, 4, *[5] * 13]
    assert corpus.y[0].tolist() == [1, 2, 3, 4, *[5] * 12]
    assert corpus.x[1, 0] == corpus.x[0, brown.PIECE]
    codes = corpus.codes[0]
    assert codes[0] == 0
    assert (codes[1:4] > 0).all()
    assert (codes[4:] == 0).all()


def test_a_trial_learns_from_other_texts_than_it_is_measured_by():
    corpus = brown.made_up()
    setting = {"seed": 3, "n_train": 10**6, "n_test": 10**6}
    texts = []
    for held_out in (True, False):
        learned, measured = on_text_trial.parts_of(
            corpus._replace(x=corpus.texts[:, None]), setting | {"held_out": held_out}
        )
        assert set(learned.x.ravel() % 10) == set(range(8))
        texts.append(set(measured.x.ravel()))
    assert texts == [{8, 18}, {9, 19}]


@pytest.mark.parametrize("data", [None, b"", b"another archive"])
def test_another_archive_is_no_brown_corpus(tmp_path, data):
    if data is not None:
        (tmp_path / brown.ARCHIVE).write_bytes(data)
    with pytest.raises(InputError):
        brown.load_brown(str(tmp_path))


def test_a_trial_on_text_learns():
    setting = {"block": "highway", "gate_bias": -1.0, "depth": 2, "width": 16, "lr": 0.02, "seed": 1, "epochs": 20}
    setting |= {"n_train": 600, "n_test": 96, "held_out": True}
    result = on_text_trial.trial(setting, brown.made_up)
    assert not result["diverged"]
    assert result["accuracy"] > 0.6


TEXT_BUDGET = on_text.BUDGETS["default"]


def text_record(accuracy, best=2) -> dict:
    """A record in which accuracy(kind, depth) is the mean over seeds, and the best rate is that of this place."""
    search = []
    final = []
    rates = TEXT_BUDGET["rates"]
    for kind, depth in few_layers.cells(TEXT_BUDGET, on_text.NETS):
        for rate in rates:
            trial = few_layers.setting(TEXT_BUDGET, on_text.NETS, kind, depth, rate, 400)
            trial |= {"n_test": 20000, "diverged": False}
            search.append(trial | {"accuracy": 0.8 + (rate == rates[best]) / 10})
        for seed in range(TEXT_BUDGET["seeds"]):
            noise = 1e-3 * np.sin(seed + depth + len(kind))
            trial = few_layers.setting(TEXT_BUDGET, on_text.NETS, kind, depth, rates[best], seed)
            trial |= {"n_test": 40000, "diverged": False}
            final.append(trial | {"accuracy": accuracy(kind, depth) + noise, "loss": 0.3})
    trials = {"search": search, "final": final, "longer": [trial | {"epochs": 6} for trial in final]}
    return {"settings": TEXT_BUDGET, "trials": trials}


@pytest.mark.parametrize(
    ("claim", "plain_at_4", "best", "verdict"),
    [
        ("text-plain", 0.92, 2, "reproduced"),
        ("text-plain", 0.90, 2, "in part"),
        ("text-plain", 0.90, 4, "not clear"),
        ("text-affine", 0.90, 2, "reproduced"),
        ("text-over-nothing", 0.90, 2, "not reproduced"),
        ("text-longer", 0.92, 2, "in part"),
    ],
)
def test_verdicts_on_text(claim, plain_at_4, best, verdict):
    levels = {("plain", 4): plain_at_4, (on_text.NOTHING, 0): 0.93}
    record = text_record(lambda kind, depth: levels.get((kind, depth), 0.92), best)
    assert verdict_on("on_text", claim, record) == verdict
