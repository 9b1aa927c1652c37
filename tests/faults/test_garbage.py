"""Garbage thrown at every flag, at every data file and at every JSON reader: a right answer, or a
refusal in one line."""

import contextlib
import copy
import json
import os
import random

import matplotlib
import numpy as np
import pytest
from conftest import ROOT, SMALL, in_process, one_line_error, write_data_set
from hypothesis import strategies as st
from small_records import ours, published
from strikes import (
    FEW_EXAMPLES,
    FLAG_EXAMPLES,
    JSON_EXAMPLES,
    TEXT_EXAMPLES,
    few_or,
    throw,
)

import conv_highway_networks as cn
import highway_networks as hn
import make_highway_networks_gif as gif
import visualize_highway_networks as viz
from highways.files import InputError, read_arrays, read_json
from highways.records import load_results


def outcome(main, words) -> tuple[int, str]:
    """Runs a command in this process; returns its exit status and its stderr.

    Fails if the status is 2 and stderr has no error, or more than one line of it."""
    process = in_process(main, *words)
    if process.returncode == 2:
        one_line_error(process)
        assert process.stderr.endswith("\n")
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
        assert settings.depth >= 1
        assert 1 <= settings.batch_size <= settings.n_train
        assert settings.n_test >= 1
        assert 0 < settings.lr < np.inf
    raise Accepted


@few_or(FLAG_EXAMPLES, few=FEW_EXAMPLES)
def test_garbage_in_the_flags(tmp_path, data_set, monkeypatch, n):
    monkeypatch.setattr(hn, "run_pairs", accepted)
    monkeypatch.setattr(hn, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)

    def check(words):
        flags = [flag if value is None else f"{flag}={value}" for flag, value in words]
        with contextlib.suppress(Accepted):
            status, text = outcome(hn.main, (*SMALL, "--data-dir", "shapes", *flags))
            assert status == 2 or "--help" in flags, text
        assert os.listdir(tmp_path) == ["shapes"]

    throw(n, check, WORDS)


@pytest.mark.parametrize(
    "numbers", [{"lr": 1e-12}, {"lr": 1e300}, {"gate_bias": 1e3}, {"gate_bias": -1e3}, {"seed": hn.MOST_SEED}]
)
def test_the_extremes_of_the_flags_train_or_diverge_by_name(data_set, numbers):
    data = hn.load_mnist(data_set)
    settings = hn.Settings(depth=3, hidden=5, epochs=2, batch_size=32, n_train=200, n_test=60, **numbers)
    images = hn.subset(data, settings.seed, settings.n_train, settings.n_test)
    for block in hn.PAIR:
        run = hn.run_one(block, settings, images)
        if run["diverged"]:
            assert run["final_train_loss"] is run["final_test_acc"] is None
        else:
            assert np.isfinite(run["history"]["train_loss"]).all()
            assert len(run["history"]["epoch"]) == 2


# ---- data files


@pytest.mark.parametrize("compress", [True, False])
def test_a_data_file_truncated_at_any_byte(tmp_path, compress):
    folder = write_data_set(tmp_path / "tiny", n_train=6, n_test=3, side=2, compress=compress)
    for path in folder.iterdir():
        whole = path.read_bytes()
        for length in range(len(whole)):
            path.write_bytes(whole[:length])
            with pytest.raises(InputError) as error:
                hn.load_mnist(folder)
            assert "\n" not in str(error.value)
        path.write_bytes(whole)
    assert hn.load_mnist(folder).n_classes == 3


# ---- JSON

NUMBERS = st.sampled_from([0, -1, 1, 0.5, 1e308, -1e308, 1e-308, 10**400, float("nan"), float("inf"), 2**63, True])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | NUMBERS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def spoil(record, value, seed):
    """A copy of the record with `value` in the place of a random part of it, at any depth; or without that part."""
    rng = random.Random(seed)
    spoilt = copy.deepcopy(record)
    part = spoilt
    while True:
        keys = list(part) if isinstance(part, dict) else range(len(part))
        key = rng.choice(keys)
        if not isinstance(part[key], (dict, list)) or not part[key] or rng.random() < 0.2:
            break
        part = part[key]
    if rng.random() < 0.2:
        del part[key]
    else:
        part[key] = value
    return spoilt


@pytest.fixture
def small_pictures(monkeypatch):
    """Pictures of few dots, quickly drawn; rcParams are put back."""
    picture_bytes = viz.picture_bytes
    for program in (viz, gif):
        monkeypatch.setattr(program, "picture_bytes", lambda fig, *_, **__: picture_bytes(fig, dpi=20))
    with matplotlib.rc_context():
        yield


FLAG_OF = {name: viz.RUNS[source] for name, (source, _) in viz.PICTURES.items()}


@pytest.mark.filterwarnings("ignore")  # of matplotlib, on axes that numbers like these make
@few_or(JSON_EXAMPLES, few=5)
def test_garbage_in_a_json_file(tmp_path, small_pictures, n):
    """The picture, or the GIF, is drawn, or refused in one line with nothing written."""
    path = tmp_path / "garbage.json"

    def check(name, value, seed):
        record = published((3, 4)) if seed % 2 else ours([(0, 4), (1, 4)], seeds=[0, 1])
        path.write_text(json.dumps(spoil(record, value, seed)), encoding="utf-8")
        if name == "gif":
            out = tmp_path / "out.gif"
            status, error = outcome(gif.main, ("--run", path, "--out", out))
        else:
            out = tmp_path / f"{name}.png"
            status, error = outcome(viz.main, ("--only", name, FLAG_OF[name], path, "--out", tmp_path))
        if status == 2:
            assert "garbage.json" in error
            assert os.listdir(tmp_path) == ["garbage.json"]
        else:
            assert status is None
            out.unlink()

    throw(n, check, st.sampled_from([*viz.PICTURES, "gif"]), JSON, st.integers(0, 10**6))


@few_or(TEXT_EXAMPLES, few=FEW_EXAMPLES)
def test_garbage_instead_of_a_json_file(tmp_path, n):
    path = tmp_path / "garbage.json"

    def check(text):
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        with pytest.raises(InputError) as error:
            load_results(path)
        assert "\n" not in str(error.value)

    throw(n, check, st.text(max_size=40) | JSON.map(json.dumps))


@few_or(3000, few=40)
@pytest.mark.parametrize("name", ["a small record", "run.json", "run_sweep.json", "run_seeds.json"])
def test_a_json_file_cut_anywhere(tmp_path, name, n):
    """The thorough test cuts the small record at every byte."""
    whole = json.dumps(ours([(0, 4)])) if name == "a small record" else (ROOT / name).read_text().rstrip()
    for length in np.unique(np.linspace(0, len(whole) - 1, n, dtype=int)).tolist():
        (tmp_path / "torn.json").write_text(whole[:length])
        with pytest.raises(InputError):
            read_json(tmp_path / "torn.json")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"runs": ' + "9" * 5000 + "}", "\ufeff{}", '{"runs": [1e999]}', "null", '""', "NaN"]
)
def test_json_that_is_hard_to_read(tmp_path, text):
    path = tmp_path / "hard.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        load_results(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError):
        load_results(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_json_with_a_number_that_is_not_finite_is_refused(tmp_path, number):
    """Otherwise it could stand on a page as a number that was measured."""
    path = tmp_path / "run.json"
    text = f'{{"runs": [{{"test_accuracy": {number}}}]}}'
    path.write_text(text)
    with pytest.raises(InputError):
        read_json(path)
    np.savez(tmp_path / "net.npz", head=np.array(text), parameters=np.zeros(1))
    with pytest.raises(ValueError):
        read_arrays(tmp_path / "net.npz", lambda head: {"parameters": (1,)})
    path.write_text('{"a": [1e300, -1.5, 0, 10000000000]}')
    assert read_json(path) == {"a": [1e300, -1.5, 0, 10**10]}


def test_every_parser_refuses_an_unknown_flag():
    for main in (hn.main, cn.main):
        assert outcome(main, ["--nonsense"])[0] == 2
