"""The plain net with its best start: the draws, the rungs of a search, and the rules on made-up results."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import verdict_on

from experiments.best_start import question, show
from experiments.best_start.trial import make
from highways.lab.judging.claim import measured
from highways.nets.fully_connected import ALL
from highways.records import select

SETTINGS = question.BUDGETS["default"]


def draws_of(block: str, depth: int, seed: int) -> list[dict]:
    return [question.draw(block, depth, seed, k, SETTINGS) for k in range(32)]


def test_draws_of_a_search_cover_starts_and_rates():
    for block, depth in (("highway", 9), ("plain", 99)):
        draws = draws_of(block, depth, 3101)
        for activation in question.ACTIVATIONS:
            low, high = question.range_of_rates(block, depth, activation)
            for start, count in (("glorot", 4), ("he", 4), ("orthogonal", 8)):
                same = [draw for draw in draws if (draw["activation"], draw["start"]) == (activation, start)]
                places = [np.log(draw["effective_lr"] / low) / np.log(high / low) for draw in same]
                parts = sorted(int(4 * place) for place in places)
                assert parts == sorted([0, 1, 2, 3] * (count // 4))
        rates = {draw["effective_lr"] for draw in draws}
        assert rates.isdisjoint(draw["effective_lr"] for draw in draws_of(block, depth, 3102))


@pytest.mark.parametrize(("start", "gain"), [("glorot", 1.0), ("he", 1.4142), ("orthogonal", 1.1)])
def test_blocks_begin_with_the_start_of_the_setting(start, gain):
    net = make({**question.draw("plain", 9, 3001, 0, SETTINGS), "start": start, "gain": gain})
    for W in net.W_H:
        if start == "orthogonal":
            np.testing.assert_allclose(W @ W.T, gain**2 * np.eye(71), atol=1e-5)
        else:
            assert W.std() * 71**0.5 == pytest.approx(gain, rel=0.05)


def test_a_search_goes_on_with_its_best_draws(monkeypatch):
    def trained(runner, settings, function):
        assert function is question.trial
        return [
            {**setting, "diverged": False, "losses": [abs(np.log(setting["effective_lr"]))]} for setting in settings
        ]

    monkeypatch.setattr(question.fully_connected, "run", trained)
    trials, bests = question.search(SimpleNamespace(settings=SETTINGS), [("highway", 9), ("plain", 99)], 3101)
    assert len(trials) == 2 * (32 + 8 + 3)
    assert sum(trial["epochs"] for trial in trials) == 2 * (184 - 20)
    for block, depth, best in (("highway", 9, bests[0]), ("plain", 99, bests[1])):
        assert best == min(draws_of(block, depth, 3101), key=lambda draw: abs(np.log(draw["effective_lr"])))
        assert best["epochs"] == 20
    # a training of 2 epochs ends at the rate of 20
    first = draws_of("highway", 9, 3101)[0]
    assert trials[0]["decay"] ** 2 == pytest.approx(first["decay"] ** 20, rel=1e-4)


def made_up(factor_at_100: float = 200.0) -> dict:
    """Results by which all rows hold."""
    final = []
    for place in range(5):
        noise = 1.05 ** (place - 2)
        for depth, factor in ((9, 2.0), (19, 5.0), (49, 50.0), (99, factor_at_100)):
            common = {**ALL, "depth": depth, "seed": 3001 + place, "activation": "tanh", "start": "orthogonal"}
            common |= {"test_accuracy": 0.97, "diverged": False}
            rates = {}
            for block in question.BLOCKS:
                rates[block] = np.sqrt(np.prod(question.range_of_rates(block, depth, "tanh")))
            final += [
                {**common, "block": "highway", "loss": 0.001 * noise, "effective_lr": rates["highway"]},
                {**common, "block": "plain", "loss": 0.001 * factor / noise, "effective_lr": rates["plain"]},
            ]
    return {"settings": SETTINGS, "trials": {"search": [], "final": final}}


def changed(change: dict, **wanted) -> dict:
    record = copy.deepcopy(made_up())
    for net in record["trials"]["final"]:
        if wanted.items() <= net.items():
            net.update(change)
    return record


def verdicts(record: dict) -> tuple[str, ...]:
    ids = ("two-orders", "plain-is-worse", "no-degradation")
    return tuple(verdict_on("best_start", f"best-start-{id}", record) for id in ids)


def test_rows_hold_and_fail():
    assert verdicts(made_up()) == ("reproduced", "reproduced", "reproduced")
    assert verdicts(made_up(40)) == ("not reproduced", "reproduced", "reproduced")
    assert verdicts(made_up(100)) == ("not clear", "reproduced", "reproduced")
    # the loss of plain at 100 layers is that of 20
    assert verdicts(made_up(5)) == ("not reproduced", "reproduced", "in part")


def test_rates_at_an_end_of_their_range_decide_nothing():
    _, high = question.range_of_rates("plain", 99, "tanh")
    at_an_end = changed({"effective_lr": 0.99 * high}, block="plain", depth=99)
    assert verdicts(at_an_end) == ("not clear", "in part, the rest not clear", "reproduced")


def test_a_net_that_diverged_guesses():
    record = changed({"loss": None, "diverged": True}, block="plain", depth=99, seed=3001)
    assert max(question.losses(record, "plain", 99)) == pytest.approx(np.log(10))


def without_clip(losses: dict[str, tuple[float | None, float | None]]) -> dict:
    """made_up() with nets without the clip: {kind: times the loss with it, at the rate and at half of it}; None is a
    net that diverged."""
    record = made_up()
    free = []
    for net in [net for net in record["trials"]["final"] if net["depth"] == 99]:
        for way, factor in zip(question.FREE, losses[net["block"]], strict=True):
            noise = 1.03 ** (net["seed"] % 3 - 1)
            loss = None if factor is None else net["loss"] * factor * noise
            free.append({**net, "way": way, "loss": loss, "diverged": loss is None})
    record["trials"]["free"] = free
    return record


def test_nets_without_the_clip_are_judged_at_their_better_rate():
    def verdict(**losses):
        return verdict_on("best_start", "best-start-without-clip", without_clip(losses))

    assert verdict(highway=(1, 2), plain=(100, 1)) == "reproduced"
    assert verdict(highway=(1, 2), plain=(100, 4)) == "in part"
    assert verdict(highway=(4, 5), plain=(None, None)) == "not reproduced"
    # three times is the bound
    assert verdict(highway=(1, 2), plain=(3, 3)) == "in part, the rest not clear"


def test_the_deepest_nets_are_trained_without_the_clip():
    nets = [net for net in made_up()["trials"]["final"] if net["seed"] == 3001]
    found = question.without_clip(nets)
    assert {(net["block"], net["depth"], net["clip"]) for net in found} == {("highway", 99, None), ("plain", 99, None)}
    for block in question.BLOCKS:
        [whole, half] = [net["effective_lr"] for net in found if net["block"] == block]
        assert whole == 2 * half


def test_the_factor_has_an_interval_and_starts_are_counted():
    rows = question.rows(without_clip({"highway": (1, 2), "plain": (2, 3)}))
    factor = select(rows, row="factor", depth=99)
    assert factor["low"] < factor["plain_over_highway"] < factor["high"]
    assert select(rows, row="net", block="plain", depth=99)["starts"] == "orthogonal with tanh 5"


def test_one_hidden_layer_is_put_through_the_rules():
    layer = {"seed": 1, "loss": 0.001, "test_accuracy": 0.97, **ALL}
    nets = [{**layer, "loss": 0.001 * noise} for noise in (1, 1.1, 1.2)]
    for claim in (question.two_orders, question.no_degradation):
        [control] = claim.controls
        parts, _ = measured(claim, *control.stand_in(made_up(), {"trials": {"final": nets}}))
        assert all(parts)


def test_the_picture_and_the_table_say_the_factor():
    record = without_clip({"highway": (1, 2), "plain": (2, 3)})
    record["summary"] = question.rows(record)
    assert "At 100 layers plain nets end at 200 times the loss" in show.finding(show.factors_of(record)[-1])
    assert "| 200 (" in show.table_of_factors(lambda path: record)
    left, right = show.best_start(record).axes
    assert left.get_ylabel().startswith("training loss")
    assert right.containers
