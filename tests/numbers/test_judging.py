"""What claims are judged by: the rates that a search chose, the data they are about, and where their verdicts turn."""

from dataclasses import replace

import pytest

from highways.files import InputError
from highways.lab.judging.claim import Claim, record_for_claim
from highways.lab.judging.ledger import judge_all
from highways.lab.judging.rules import corrected, interval, is_above, kept
from highways.lab.judging.searched_rates import best_rate, less, near_an_end
from highways.lab.judging.turns import bounds_of, levels_of, turns_of


@pytest.mark.parametrize(
    ("rate", "is_near"),
    [(1.0, True), (1.2, True), (1.22, False), (3.0, False), (8.2, False), (8.3, True), (10.0, True)],
)
def test_an_end_is_a_twelfth_of_what_was_searched(rate, is_near):
    """10 ** (1 / 12) is 1.212, and 10 ** (11 / 12) is 8.254."""
    assert near_an_end(rate, 1.0, 10.0) == is_near


@pytest.mark.parametrize(
    ("accuracies", "best"),
    [
        ({0.1: [0.5], 0.2: [0.9], 0.4: [0.6]}, 0.2),
        ({0.4: [0.9], 0.2: [0.9], 0.1: [0.5]}, 0.2),  # the lowest of equal ones
        ({0.1: [0.9, None], 0.2: [0.52, 0.52]}, 0.2),  # one that diverged guesses: 0.5 on average
        ({0.1: [0.9, None], 0.2: [0.48, 0.48]}, 0.1),
    ],
)
def test_the_best_rate_of_a_search(accuracies, best):
    search = []
    for rate, values in accuracies.items():
        search += [{"lr": rate, "diverged": value is None, "accuracy": value} for value in values]
    assert best_rate(search) == best


def test_a_seed_that_one_net_lost_has_no_difference():
    final = []
    for kind, values in (("highway", [0.75, 0.5, None]), ("plain", [0.25, None, 0.5])):
        final += [{"kind": kind, "accuracy": value} for value in values]
    record = {"trials": {"final": final}}
    assert less(record, {"kind": "highway"}, {"kind": "plain"}, "the gain") == [0.5, None, None]


def undecided(record):
    return [None], ""


CLAIM = Claim("a", source="paper", says="it holds", rule=undecided, about={"data": "MNIST", "depth": 9})


def test_a_smoke_test_is_asked_for_the_data_alone():
    trials = [{"data": data, "depth": 2} for data in ("MNIST", "CIFAR-10")]
    record = {"settings": {"budget": "quick"}, "trials": trials}
    assert record_for_claim(record, CLAIM)["trials"] == trials[:1]
    with pytest.raises(InputError):
        record_for_claim({**record, "trials": trials[1:]}, CLAIM)


def test_two_claims_of_one_id_are_refused():
    absent = replace(CLAIM, over=("absent",))
    [row] = judge_all([absent], {}, {}, {})
    assert row["verdict"] == "not tested"
    with pytest.raises(ValueError):
        judge_all([absent, absent], {}, {}, {})


@pytest.mark.parametrize("looks", [1, 2])
def test_a_verdict_turns_where_all_its_looks_turn_it(looks):
    values = [1.0, 2.0, 4.0]
    with kept() as tests:
        corrected(is_above(values, 0), looks=looks)
    [bound] = bounds_of(tests)
    places = [turn.place for turn in turns_of(bound, tests)]
    assert sorted(places) == pytest.approx(interval(values, level=1 - 0.05 / looks))


def test_a_bound_turns_at_the_levels_of_all_ranks_of_a_correction():
    with kept() as tests:
        corrected(is_above([1.0, 2.0, 4.0], 0), is_above([3.0, 5.0, 6.0], 0))
    assert levels_of(tests[0], tests) == pytest.approx([0.95, 0.975])
