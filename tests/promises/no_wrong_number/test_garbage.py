"""Garbage in a flag and infinite numbers in JSON are refused."""

import contextlib
import json
import os

import numpy as np
import pytest
from conftest import SMALL, in_process
from hypothesis import strategies as st
from strikes import FEW_EXAMPLES, FLAG_EXAMPLES, few_or, throw

import highway_networks as hn
from highways.files import InputError, json_bytes, read_arrays, read_json


def outcome(main, words) -> tuple[int, str]:
    """Runs a command in this process; returns its exit status and its stderr.

    Fails if the status is 2 and stderr has no error."""
    process = in_process(main, *words)
    assert process.returncode != 2 or "error: " in process.stderr
    return process.returncode, process.stderr


# ---- flags


class Accepted(Exception):
    """Raised in place of a training: the flags passed all checks."""


FLAGS = ["--seed", "--seeds", "--depth", "--depths", "--hidden", "--epochs", "--batch", "--lr", "--gate-bias", "--clip"]
FLAGS += ["--n-train", "--n-test", "--dtype", "--data-dir", "--jobs", "--quick", "--out", "--no-save", "--quiet"]
FLAGS += ["--save", "--help", "--nonsense"]
VALUES = (
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)
    | st.integers(-(10**25), 10**25).map(str)
    | st.integers(-3, 400).map(str)
    | st.floats().map(str)
    | st.lists(st.integers(-2, 9), max_size=4).map(lambda numbers: ",".join(map(str, numbers)))
    | st.sampled_from(["", " ", ",", "0", "-0", "1e-400", "1_000", "٣", "0x10", ".", "/", "~", "-", "NaN", "1e9999"])
).filter(lambda text: text != "--")  # argparse itself mishandles --flag=-- up to Python 3.12
WORDS = st.lists(st.tuples(st.sampled_from(FLAGS), VALUES | st.none()), min_size=1, max_size=3)


def accepted(pairs, data, jobs, quiet, save):
    """Replaces run_pairs(): settings that passed the checks must make sense."""
    for settings in pairs:
        assert settings.epochs >= 1
        assert settings.depth >= 0
        assert settings.batch_size >= 1
        assert settings.n_train >= 1
        assert settings.n_test >= 1
        assert 0 < settings.lr < np.inf
        assert 0 < settings.clip < np.inf
        assert abs(settings.gate_bias) < np.inf
        assert 0 <= settings.seed <= hn.MOST_SEED
    raise Accepted


@few_or(FLAG_EXAMPLES, few=FEW_EXAMPLES)
def test_garbage_in_the_flags(tmp_path, data_set, monkeypatch, n):
    monkeypatch.setattr(hn, "run_pairs", accepted)
    monkeypatch.chdir(tmp_path)

    def check(words):
        flags = [flag if value is None else f"{flag}={value}" for flag, value in words]
        with contextlib.suppress(Accepted):
            status, text = outcome(hn.main, (*SMALL, "--data-dir", "shapes", *flags))
            assert status == 2 or "--help" in flags, text
        assert os.listdir(tmp_path) == ["shapes"]

    throw(n, check, WORDS)


# ---- JSON


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_json_with_a_number_that_is_not_finite_is_refused(tmp_path, number):
    """Otherwise it could stand on a page as a number that was measured."""
    path = tmp_path / "run.json"
    text = f'{{"runs": [{{"test_accuracy": {number}}}]}}'
    path.write_text(text)
    with pytest.raises(InputError):
        read_json(path)
    np.savez(tmp_path / "net.npz", head=np.array(text), parameters=np.zeros(1))
    with pytest.raises(ValueError):
        read_arrays(tmp_path / "net.npz")
    path.write_text('{"a": [1e300, -1.5, 0, 10000000000]}')
    assert read_json(path) == {"a": [1e300, -1.5, 0, 10**10]}


def test_what_is_not_finite_is_written_as_null():
    written = json_bytes({"a": [1.5, float("nan"), -float("inf")]})
    assert json.loads(written, parse_constant=pytest.fail) == {"a": [1.5, None, None]}
