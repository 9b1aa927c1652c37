"""An edited record is refused, and a summary and a verdict follow their trials."""

import copy
import json
import math

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments import find_question
from experiments.judging import with_summary
from highways.files import read_json
from highways.lab.judging.rules import above, below
from highways.records import agree, check_digest, load_results

RECORD = read_json(ROOT / "experiments" / "results" / "controls.json")


def leaves(value, path=()):
    """The path to every number, text and truth value in JSON."""
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from leaves(entry, (*path, name))
    elif isinstance(value, list):
        for i, entry in enumerate(value):
            yield from leaves(entry, (*path, i))
    else:
        yield path


PATHS = list(leaves(RECORD))


@settings(max_examples=30)
@given(
    path=st.sampled_from(PATHS), value=st.none() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=3)
)
def test_a_record_with_one_entry_changed_is_refused(path, value):
    edited = copy.deepcopy(RECORD)
    part = edited
    for step in path[:-1]:
        part = part[step]
    if json.dumps(part[path[-1]]) == json.dumps(value):
        return
    part[path[-1]] = value
    with pytest.raises(ValueError):
        check_digest(edited, "here")


def test_the_record_itself_is_read():
    assert load_results(ROOT / "experiments" / "results" / "controls.json") == RECORD


@given(noise=st.floats(-1, 1))
def test_a_summary_moves_with_its_trials_and_not_with_last_digits(noise):
    """The last digits stand for another processor."""
    record = copy.deepcopy(RECORD)
    for row in record["summary"]:
        for value in row.values():
            if isinstance(value, dict) and isinstance(value.get("mean"), float):
                value["mean"] *= 1 + 1e-13 * noise
    question = find_question("controls")
    assert with_summary(question, record)["summary"] == record["summary"]
    moved = copy.deepcopy(RECORD)
    for group in moved["trials"].values() if isinstance(moved["trials"], dict) else [moved["trials"]]:
        for trial in group:
            if isinstance(trial.get("test_accuracy"), float):
                trial["test_accuracy"] *= 0.99
    assert not agree(with_summary(question, moved)["summary"], RECORD["summary"])


def test_last_digits_and_what_cancels_agree_and_small_losses_differ():
    assert agree({"mean": 0.0}, {"mean": 1e-17})
    assert agree([-1e-16], [2e-16])
    assert agree(1.0, 1 + 1e-11)
    assert not agree(1.0, 1 + 1e-7)
    assert not agree(1e-6, 1.001e-6)
    assert not agree(0.0, 1e-11)


NUMBER = st.integers(-1000, 1000).map(lambda number: number / 64)
RANK = {False: 0, None: 1, True: 2}


@settings(max_examples=40)
@given(
    values=st.lists(NUMBER, min_size=2, max_size=6, unique=True),
    bound=NUMBER,
    more=st.integers(0, 1000).map(lambda n: n / 64),
)
def test_a_verdict_is_monotone_in_the_effect(values, bound, more):
    larger = [value + more for value in values]
    assert RANK[above(larger, bound)] >= RANK[above(values, bound)]
    assert RANK[below(larger, bound)] <= RANK[below(values, bound)]


@given(values=st.lists(NUMBER, min_size=2, max_size=6), bound=NUMBER, lost=st.sampled_from([None, math.nan]))
def test_a_lost_value_leaves_every_verdict_open(values, bound, lost):
    assert above([*values, lost], bound) is below([*values, lost], bound) is None
