"""Which carry fits best: its search, equal parameters, and the rules on made-up results."""

from types import SimpleNamespace

import pytest
from conftest import verdict_on

from experiments.which_carry import question, show
from highways.nets import fully_connected

RUNNER = SimpleNamespace(settings=question.BUDGETS["default"])
KINDS = (question.SEES_X, *question.OTHERS)


def test_all_kinds_try_the_same_draws():
    for depth in question.DEPTHS:
        tried = {}
        for kind in KINDS:
            draws = [question.sample((kind, depth), k, RUNNER) for k in range(16)]
            tried[kind] = [(draw["effective_lr"], draw.get("distribution")) for draw in draws]
        assert len({tuple(draws) for draws in tried.values()}) == 1
        biases = sorted(question.sample((question.SEES_X, depth), k, RUNNER)["gate_bias"] for k in range(16))
        assert all(-8 + part / 2 <= bias <= -7.5 + part / 2 for part, bias in enumerate(biases))


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_have_about_as_many_parameters(kind):
    """The search of a kind makes nets that exist, all with about 5100 parameters a block."""
    setting = {**question.sample((kind, 30), 3, RUNNER), "seed": 0}
    nets = [fully_connected.make({**setting, "depth": depth}) for depth in (2, 3)]
    size = len(nets[1].parameters) - len(nets[0].parameters)
    assert size == pytest.approx(5110, abs=80)


def record_of(loss_of, accuracy_of) -> dict:
    final = []
    for depth in question.DEPTHS:
        for kind in KINDS:
            for seed in range(5):
                noise = 1 + 0.01 * seed
                loss = loss_of(kind)
                net = {"kind": kind, "depth": depth, "seed": seed, "n_train": 60000, "n_test": 10000}
                net["loss"] = None if loss is None else loss * noise
                net["test_accuracy"] = None if loss is None else accuracy_of(kind) + 0.0001 * seed
                final.append(net)
    return {"settings": question.BUDGETS["default"], "trials": {"final": final}}


def verdicts(loss_of, accuracy_of) -> tuple[str, str]:
    record = record_of(loss_of, accuracy_of)
    return tuple(verdict_on("which_carry", id, record) for id in ("sees-x-fits-better", "sees-x-generalises-better"))


def test_a_gate_that_sees_x_is_better():
    def better(kind):
        return kind == question.SEES_X

    assert verdicts(lambda kind: 0.001 if better(kind) else 0.01, lambda kind: 0.97 if better(kind) else 0.96) == (
        "reproduced",
        "reproduced",
    )


def all_alike(kind: str) -> float:
    """The accuracy of every kind."""
    return 0.97


def losses_but_for(kind: str, value: float | None):
    """A function of a kind: its loss, which is 0.01 but for this one."""

    def loss_of(other):
        return value if other == kind else 0.01

    return loss_of


def test_others_are_as_good():
    as_good = losses_but_for(question.SEES_X, 0.01)
    assert verdicts(as_good, all_alike) == ("not clear", "not reproduced")
    worse = losses_but_for(question.SEES_X, 0.02)
    assert verdicts(worse, all_alike) == ("not reproduced", "not reproduced")


def test_three_seeds_that_diverge_decide_nothing():
    fits, generalises = verdicts(losses_but_for("skip", None), all_alike)
    assert fits == "not clear"
    assert generalises == "not reproduced, the rest not clear"


def test_a_kind_that_loses_a_seed_stands_behind_the_others():
    trials = []
    for depth in (30, 100):
        for kind in show.NAMES:
            loss = 0.001 if kind in show.KEEP_X else 0.1
            for seed in range(2):
                trials.append({"kind": kind, "depth": depth, "seed": seed, "loss": loss, "diverged": False})
    record = {"settings": {"depths": [30, 100], "epochs": 20, "n_train": 60000}, "trials": {"final": trials}}
    assert show.finding(record).startswith("Nets that keep the whole x take the first 4 of 9 places")
    for trial in trials:
        if (trial["kind"], trial["depth"], trial["seed"]) == (show.KEEP_X[0], 100, 0):
            trial |= {"loss": None, "diverged": True}
    assert show.finding(record).startswith("Nets that keep the whole x take the first 3 of 9 places")
    assert show.which_carry(record)
