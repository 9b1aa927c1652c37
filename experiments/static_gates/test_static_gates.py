"""The room static_gates: its trials, its rows and its claims."""

import contextlib
import math
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, verdict_on

import highway_networks as hn
from experiments import find_question
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import LONGER
from experiments.static_gates import rates_swapped, show, static_gates, static_gates_trial
from highways.lab.judging.claim import NotMeasured, judge
from highways.nets import equal_size
from highways.nets.equal_size import size_of_net, width_of_equal_size
from highways.nets.static_gates import with_static_gates
from highways.records import load_results, select

DATA_SETTING = {"data": "MNIST", "data_dir": None, "n_train": 1280, "n_test": 300}
SETTING = {
    **DATA_SETTING,
    "variant": "full",
    "block": "highway",
    "width": 12,
    "depth": 4,
    "activation": "tanh",
    "effective_lr": 2.0,
    "momentum": 0.9,
    "decay": 0.9,
    "gate_bias": -2.0,
    "clip": 1.0,
    "seed": 1,
    "epochs": 4,
    "measured_every": 2,
}


def small_net(block, **settings):
    return hn.DeepNet(6, 3, 5, 4, block, 0, **{"dtype": np.float64, **settings})


# ---- The blocks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", ["static-unit", "static-scalar"])
def test_a_static_gate_is_a_highway_gate_that_does_not_see_x(block):
    """With W_T = 0 a highway net computes the same.  Its gradient is the same, too; that of b_T is
    summed over the units that share a b_T."""
    rng = np.random.default_rng(1)
    static = small_net(block)
    static.b_T[:] = rng.normal(-1, 1, static.b_T.shape)
    highway = small_net("highway")
    for name in ("W_in", "b_in", "W_H", "b_H", "W_out", "b_out"):
        getattr(highway, name)[:] = getattr(static, name)
    highway.W_T[:] = 0
    highway.b_T[:] = static.b_T[:, :, 0]
    x = rng.normal(size=(7, 6))
    y = rng.integers(0, 3, 7)
    for net in (static, highway):
        net.backward(hn.softmax_cross_entropy(net.forward(x), y)[1])
    np.testing.assert_allclose(static.predict(x), highway.predict(x), rtol=1e-12)
    np.testing.assert_allclose(static.grad.W_H, highway.grad.W_H, rtol=1e-9, atol=1e-15)
    expected = highway.grad.b_T[:, :, None]
    if block == "static-scalar":
        expected = expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(static.grad.b_T, expected, rtol=1e-9, atol=1e-15)


def test_the_parameters_of_static_gates_are_counted():
    """A block of width w: w^2 + w for H, and w, or one, for T."""
    for block, gate_parameters in (("static-unit", 7), ("static-scalar", 1)):
        added = size_of_net(4, 3, 7, 3, block) - size_of_net(4, 3, 7, 2, block)
        assert added == 7 * 7 + 7 + gate_parameters
        assert size_of_net(4, 3, 7, 2, block) == hn.DeepNet(4, 3, 7, 2, block, 0).parameters.size


@pytest.mark.parametrize(("sizes", "width"), [((784, 10), 68), ((3072, 100), 64)])
def test_a_wide_net_has_as_many_parameters_as_the_full_one(sizes, width):
    """785 w + 49 (w^2 + 2 w) + 10 (w + 1) on MNIST: no other width is nearer to 289 660."""
    full = size_of_net(*sizes, 50, 49, "highway")
    assert width_of_equal_size(full, *sizes, 49, "static-unit") == width
    distances = [abs(size_of_net(*sizes, w, 49, "static-unit") - full) for w in range(40, 90)]
    assert np.argmin(distances) + 40 == width
    assert min(distances) < 0.01 * full


@pytest.mark.parametrize("width", [1, 2, equal_size.WIDEST - 1, equal_size.WIDEST])
def test_the_width_of_a_net_is_found_from_its_size(width):
    size = size_of_net(2, 2, width, 3, "plain")
    with pytest.raises(ValueError) if width == equal_size.WIDEST else contextlib.nullcontext():
        assert width_of_equal_size(size, 2, 2, 3, "plain") == width


# ---- Gates that do not learn -----------------------------------------------------------------------------------------


def test_frozen_gates_stay_as_they_were_drawn_and_all_else_learns():
    setting = {**SETTING, "frozen_gates": True}
    before = fully_connected.make(setting)
    net, _ = fully_connected.train(setting)
    assert (net.W_T == before.W_T).all()
    assert (net.b_T == before.b_T).all()
    for name in ("W_in", "b_in", "W_H", "b_H", "W_out", "b_out"):
        assert (getattr(net, name) != getattr(before, name)).mean() > 0.5, name


def test_the_gradient_of_frozen_gates_does_not_count_for_the_clip():
    net = small_net("highway")
    setting = {**SETTING, "frozen_gates": True}
    optimizer = fully_connected.sgd(net, setting, steps=3)
    net.gradient[:] = 0
    net.grad.W_T[:] = 1e6
    net.grad.b_out[0] = 0.5
    assert optimizer.step(net.gradient) == 0.5
    assert fully_connected.sgd(net, SETTING, steps=3).learned is None


# ---- T replaced by its mean ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", ["static-unit", "static-scalar"])
def test_replaced_gates_are_those_numbers(block):
    net = small_net("highway", dtype=np.float32)
    x = np.random.default_rng(0).normal(size=(600, 6)).astype(np.float32)
    mean_T = static_gates_trial.mean_gates(net, x)
    np.testing.assert_allclose(mean_T, net.gates(x).mean(axis=1), rtol=1e-5)
    T = mean_T[:, :, None]
    if block == "static-scalar":
        T = T.mean(axis=1, keepdims=True)
    static = with_static_gates(net, T, block)
    state = np.tanh(x @ net.W_in.T + net.b_in)
    for layer in range(net.depth):
        H = np.tanh(state @ net.W_H[layer].T + net.b_H[layer])
        state = H * T[layer].T + state * (1 - T[layer].T)
    np.testing.assert_allclose(static.predict(x), state @ net.W_out.T + net.b_out, rtol=1e-4, atol=1e-5)


def test_nothing_changes_where_t_sees_nothing():
    """In a full net with W_T = 0, in which all b_T are equal, the mean of T is T itself."""
    net = fully_connected.make(SETTING)
    net.W_T[:] = 0
    whole = static_gates_trial.measure(net, SETTING)
    for replaced in static_gates_trial.replace_gates(net, SETTING).values():
        assert replaced == pytest.approx(whole, rel=1e-5)


# ---- The trials ------------------------------------------------------------------------------------------------------


def test_a_trial_measures_every_so_many_epochs_and_at_the_end():
    result = static_gates_trial.trial(SETTING)
    assert [point["epoch"] for point in result["over_training"]] == [2, 4]
    last = result["over_training"][-1]
    for name in ("loss", "train_accuracy", "test_loss", "test_accuracy"):
        assert result[name] == last[name]
    assert result["over_training"][0]["loss"] > last["loss"]
    assert result["replaced"].keys() == {"unit", "scalar"}
    plain = fully_connected.trial(SETTING)
    assert {name: result[name] for name in plain} == plain  # measuring does not change the training


def test_other_variants_are_not_replaced_and_count_what_they_learn():
    """With frozen gates the parameters of the gates are not learned: 12 * 13 in each of 4 blocks."""
    random = static_gates_trial.trial({**SETTING, "variant": "random", "frozen_gates": True})
    full = static_gates_trial.trial(SETTING)
    assert "replaced" not in random
    assert full["learned_parameters"] - random["learned_parameters"] == 4 * 12 * 13


def test_a_net_that_diverges_is_measured_as_far_as_it_came(monkeypatch):
    train_epoch = hn.train_epoch
    calls = []

    def diverging(*args, **settings):
        calls.append(args)
        if len(calls) == 4:
            raise FloatingPointError("loss nan")
        return train_epoch(*args, **settings)

    monkeypatch.setattr(hn, "train_epoch", diverging)
    result = static_gates_trial.trial(SETTING)
    assert result["diverged"]
    assert len(result["over_training"]) == 1
    assert (result["loss"], result["test_loss"]) == (None, None)
    assert "replaced" not in result


def test_all_variants_search_the_same_draws():
    runner = SimpleNamespace(budget="default", settings=static_gates.BUDGETS["default"])
    own = ("variant", "block", "frozen_gates", "width")
    for k in range(runner.settings["trials"]):
        sampled = [static_gates.sample((variant, DATA_SETTING), k, runner) for variant in static_gates.VARIANTS]
        common = [{name: value for name, value in setting.items() if name not in own} for setting in sampled]
        assert all(setting == common[0] for setting in common)
        assert static_gates.RATES[0] <= common[0]["effective_lr"] <= static_gates.RATES[1]
        lowest, highest = static_gates.GATE_BIASES
        place = (common[0]["gate_bias"] - lowest) / (highest - lowest)
        assert k <= place * runner.settings["trials"] + 0.02  # b_T is rounded
        assert place * runner.settings["trials"] <= k + 1.02
    assert [setting["width"] for setting in sampled] == [50, 50, 50, 50, 68]


def test_a_seed_gives_all_variants_the_same_weights_of_h():
    nets = []
    for variant in ("full", "unit", "scalar", "random"):
        nets.append(fully_connected.make({**SETTING, "variant": variant, **static_gates.VARIANTS[variant]}))
    for net in nets:
        assert (net.W_in == nets[0].W_in).all()
        assert (net.W_H == nets[0].W_H).all()


# ---- Comparing -------------------------------------------------------------------------------------------------------

NOISE = (0.0, 0.01, -0.01, 0.005, -0.005)  # for seeds 1 to 5


def made_up(**changed) -> dict:
    """Results in which all variants are equal, except for what `changed` names.

    That is {variant: {measure: (factor, added)}}: the measure is multiplied by the factor, then
    `added` is added."""
    final = []
    for data in static_gates.SETS:
        for variant in static_gates.VARIANTS:
            for seed, noise in enumerate(NOISE, 1):
                measured = {"loss": 0.01, "train_accuracy": 0.99, "test_loss": 0.2, "test_accuracy": 0.9}
                # no two nets are quite alike
                measured["loss"] *= 1 + 1e-6 * noise * [*static_gates.VARIANTS].index(variant)
                for name, (factor, added) in changed.get(variant, {}).items():
                    measured[name] = measured[name] * factor * (1 + noise) + added * (1 + noise)
                replaced = {"loss": 1.0, "train_accuracy": 0.7 + noise, "test_loss": 1.0, "test_accuracy": 0.6}
                final.append({
                    "data": data,
                    "variant": variant,
                    "seed": seed,
                    "depth": 49,
                    "epochs": 25,
                    "width": 50,
                    "effective_lr": 1.0,
                    "momentum": 0.9,
                    "gate_bias": -2.0,
                    "diverged": False,
                    "learned_parameters": 1000,
                    **measured,
                    "over_training": [{"epoch": 25, **measured}],
                    **({"replaced": {"unit": replaced, "scalar": replaced}} if variant == "full" else {}),
                })  # fmt: skip
    return {"settings": {"epochs": 25, "depth": 49}, "trials": {"final": final}}


@pytest.mark.parametrize(
    ("claim", "changes", "verdict"),
    [
        ("unit-gates-training-loss", {}, "not reproduced"),  # equal
        ("unit-gates-training-loss", {"unit": {"loss": (10, 0)}}, "reproduced"),
        ("unit-gates-training-loss", {"unit": {"loss": (0.1, 0)}}, "not reproduced"),  # better than full
        ("unit-gates-training-loss", {"unit": {"loss": (1.3, 0)}}, "not reproduced"),  # worse by less than the margin
        ("scalar-gates-training-loss", {"unit": {"loss": (10, 0)}}, "not reproduced"),
        ("random-gates-training-loss", {"random": {"loss": (10, 0)}}, "reproduced"),
        ("wide-gates-training-loss", {"wide": {"loss": (10, 0)}}, "reproduced"),
        ("unit-gates-test-accuracy", {"unit": {"test_accuracy": (0.9, 0)}}, "reproduced"),
        ("scalar-gates-test-accuracy", {"scalar": {"test_accuracy": (0.9, 0)}}, "reproduced"),
        ("trained-nets-need-their-gates", {}, "reproduced"),
    ],
)
def test_the_verdicts(claim, changes, verdict):
    assert verdict_on("static_gates", claim, made_up(**changes)) == verdict


@pytest.mark.parametrize(("gate_bias", "is_at_the_end"), [(-7.5, True), (-1.6, True), (-7.2, False), (-1.8, False)])
def test_a_loss_that_a_wider_search_might_lower_does_not_count(gate_bias, is_at_the_end):
    record = made_up(unit={"loss": (10, 0)})
    for trial in record["trials"]["final"]:
        if static_gates.is_of(trial, "unit", "MNIST"):
            trial["gate_bias"] = gate_bias
    expected = "in part, the rest not clear" if is_at_the_end else "reproduced"
    assert verdict_on("static_gates", "unit-gates-training-loss", record) == expected
    row = select(static_gates.rows(record), row="compared", measure="training loss", data="MNIST", variant="unit")
    assert row["full_is"] == ("open" if is_at_the_end else "needed")


def test_one_margin_for_each_data_set():
    """0.008 of accuracy is more than MNIST's margin and less than CIFAR-100's."""
    record = made_up(wide={"test_accuracy": (0, 0.892)})
    for trial in record["trials"]["final"]:
        if trial["variant"] == "wide":
            trial["over_training"][0]["test_accuracy"] = 0.892 + 0.001 * NOISE[trial["seed"] - 1]
    found = static_gates.costs(record["trials"]["final"], static_gates.MEASURES["test accuracy"])
    assert static_gates.is_needed(found["MNIST", "wide"]) is True
    assert static_gates.is_needed(found["CIFAR-100", "wide"]) is False
    assert verdict_on("static_gates", "wide-gates-test-accuracy", record) == "in part"


def test_p_values_are_corrected_for_all_variants_and_sets():
    """Two of the eight comparisons have a p below 0.05.  Corrected, neither is decided."""
    differences = [0.02, 0.05, 0.01, 0.06, 0.03]
    record = made_up()
    for trial in record["trials"]["final"]:
        if trial["variant"] == "unit":
            trial["over_training"][0]["test_accuracy"] = 0.9 - differences[trial["seed"] - 1]
    found = static_gates.costs(record["trials"]["final"], static_gates.MEASURES["test accuracy"])
    for data in static_gates.SETS:
        one = found[data, "unit"]
        assert one.excess.p < 0.05 < one.p
        assert one.p == pytest.approx(8 * one.excess.p)
        assert static_gates.is_needed(one) is None


def test_as_good_as_full_is_corrected_for_all_variants_and_sets():
    """The interval of a comparison lies below the margin.  As one of eight, it is not decided by
    that."""
    costs = [0.0, 0.001, -0.001, 0.005, 0.003]
    record = made_up()
    for trial in record["trials"]["final"]:
        if trial["variant"] != "full":
            trial["over_training"][0]["test_accuracy"] = 0.9 - costs[trial["seed"] - 1]
    found = static_gates.costs(record["trials"]["final"], static_gates.MEASURES["test accuracy"])
    one = found["MNIST", "unit"]
    assert one.excess.high < one.margin
    assert one.p_of_margin > 0.05
    assert static_gates.is_needed(one) is None


def test_seeds_are_paired():
    """Seeds differ by factors of ten, the variant "random" by a factor of two at every seed: in
    pairs, that is clear."""
    record = made_up()
    for trial in record["trials"]["final"]:
        trial["loss"] = 10.0 ** trial["seed"]
        if trial["variant"] == "random":
            trial["loss"] *= 2 + 0.01 * trial["seed"]
    record["trials"]["final"].reverse()
    found = static_gates.costs(record["trials"]["final"], static_gates.MEASURES["training loss"])
    assert static_gates.is_needed(found["MNIST", "random"]) is True
    cost, low, high = static_gates.in_units(found["MNIST", "random"], static_gates.MEASURES["training loss"])
    assert 2 < low < cost < high < 2.1


@pytest.mark.parametrize(("who", "needed"), [(["unit"], True), (["full"], False), (["unit", "full"], None)])
def test_who_alone_loses_a_seed_is_the_worse_one(who, needed):
    record = made_up()
    for trial in record["trials"]["final"]:
        if trial["variant"] in who and trial["seed"] == 3:
            trial |= {"diverged": True, "loss": None, "over_training": []}
            trial.pop("replaced", None)
    for name in ("training loss", "test accuracy"):
        found = static_gates.costs(record["trials"]["final"], static_gates.MEASURES[name])
        assert static_gates.is_needed(found["MNIST", "unit"]) is needed
    assert static_gates.rows(record)  # with what is there


def test_gates_without_which_a_net_errs_no_more_are_unneeded():
    record = made_up()
    for trial in record["trials"]["final"]:
        if "replaced" in trial and trial["data"] == "MNIST":
            trial["replaced"] = {**trial["replaced"], "scalar": {**trial["replaced"]["scalar"], "train_accuracy": 0.99}}
    assert verdict_on("static_gates", "trained-nets-need-their-gates", record) == "in part"


def test_both_data_sets_are_needed():
    record = made_up()
    final = record["trials"]["final"]
    record["trials"]["final"] = [trial for trial in final if trial["data"] == "MNIST"]
    for claim in find_question("static_gates").claims:
        with pytest.raises(NotMeasured):
            judge(claim, record)


def test_margins_are_those_that_the_question_names():
    loss = static_gates.MEASURES["training loss"]
    assert math.exp(static_gates.margin_of(loss, "MNIST")) == pytest.approx(1.5)
    summary = load_results(ROOT / "experiments" / "results" / "fifty_layers.json")["summary"]
    for data, margin in static_gates.MARGIN_OF_ACCURACY.items():
        sd = select(summary, data=data)["test_accuracy"]["sd"]
        assert margin == pytest.approx(2 * sd, abs=0.001)
    assert LONGER == {"CIFAR-100": 4}


# ---- What is shown ---------------------------------------------------------------------------------------------------


def test_a_lost_seed_leaves_a_gap_in_the_picture():
    record = made_up()
    for trial in record["trials"]["final"]:
        if trial["seed"] == 3 and trial["variant"] in ("full", "wide"):
            trial |= {"diverged": True, "loss": None, "over_training": []}
            trial.pop("replaced", None)
    record["summary"] = static_gates.rows(record)
    assert show.static_gates(record).axes
    assert show.nets(lambda name: record)


# ---- Rates swapped -----------------------------------------------------------------------------------------------


def test_swapped_rates_are_those_of_the_other_kind():
    nets = []
    for seed, (full, static) in enumerate([(2.4, 0.8), (0.6, 0.5), (3.0, 0.9)]):
        for kind, rate in (("full", full), ("static", static)):
            nets.append({**SETTING, "kind": kind, "seed": seed, "effective_lr": rate})
    asked = []
    runner = SimpleNamespace(
        settings={**rates_swapped.BUDGETS["quick"], "apart": 2},
        needed={"primary": {"trials": {"kinds": nets}}},
        run=lambda function, settings, data_of: asked.extend(settings) or settings,
    )
    assert [net["effective_lr"] for net in rates_swapped.run(runner)["own"]] == [2.4, 0.8, 3.0, 0.9]
    assert [(net["kind"], net["seed"], net["effective_lr"]) for net in asked] == [
        ("full", 0, 0.8), ("static", 0, 2.4), ("full", 2, 0.9), ("static", 2, 3.0)
    ]  # fmt: skip


def swapped(loss_of_static: float, loss_of_highway: float, accuracy_of_static: float = 0.18) -> dict:
    """Nets that end with a loss of 1 and an accuracy of .18, but for those at the other kind's rates."""
    trials = {"own": [], "swapped": []}
    for seed in range(4):
        for kind, loss, accuracy in (("static", loss_of_static, accuracy_of_static), ("full", loss_of_highway, 0.18)):
            net = {"data": "CIFAR-100", "depth": 49, "n_train": 50000, "kind": kind, "seed": seed}
            noise = 1 + 0.001 * np.sin(seed)
            trials["own"].append({**net, "loss": noise, "test_accuracy": 0.18 * noise})
            trials["swapped"].append({**net, "loss": loss * noise**2, "test_accuracy": accuracy / noise})
    return {"settings": {}, "trials": trials}


@pytest.mark.parametrize(
    ("claim", "record", "verdict"),
    [
        ("static-gates-at-high-rates", swapped(2, 1), "reproduced"),
        ("static-gates-at-high-rates", swapped(1, 1), "not reproduced"),
        ("highway-nets-at-low-rates", swapped(1, 0.5), "reproduced"),
        ("highway-nets-at-low-rates", swapped(1, 1), "not reproduced"),
        ("accuracy-at-equal-rates", swapped(1, 1), "reproduced"),
        ("accuracy-at-equal-rates", swapped(1, 1, accuracy_of_static=0.15), "in part"),
    ],
)
def test_verdicts_on_swapped_rates(claim, record, verdict):
    assert verdict_on("rates_swapped", claim, record) == verdict
