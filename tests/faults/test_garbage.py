"""Garbage thrown at every flag, at every data file and at every JSON reader: a right answer, or a
refusal in one line."""

import contextlib
import copy
import gzip
import json
import os
import random
import shutil

import numpy as np
import pytest
from conftest import ROOT, SMALL, idx_bytes, in_process, one_line_error, write_data_set
from hypothesis import strategies as st
from strikes import (
    FEW_EXAMPLES,
    FLAG_EXAMPLES,
    IDX_EXAMPLES,
    JSON_EXAMPLES,
    TEXT_EXAMPLES,
    few_or,
    throw,
)
from test_drawing import ours, published

import conv_highway_networks as cn
import highway_networks as hn
import make_highway_networks_gif as gif
import visualize_highway_networks as viz
from highways.files import InputError, read_arrays, read_json
from highways.lab.showing import registry, style
from highways.records import load_record, load_results


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


@few_or(IDX_EXAMPLES, few=FEW_EXAMPLES)
def test_garbage_in_a_data_file(tmp_path, n):
    """The whole file is garbage, plain ("whole") or compressed ("gzip").  Or garbage replaces a
    part of a good file ("put"), or the end of a compressed one ("raw").  The file is refused in
    one line, or read as what it says."""
    folder = write_data_set(tmp_path / "shapes", n_train=6, n_test=3, side=2, compress=False)

    def check(garbage, which, at, how):
        path = folder / list(hn.SHA256)[which]
        zipped = folder / f"{path.name}.gz"
        good = path.read_bytes()
        spoilt = good[:at] + garbage + good[at + len(garbage) :]
        if how == "whole":
            path.write_bytes(garbage)
            expected = garbage
        elif how == "put":
            path.write_bytes(spoilt)
            expected = spoilt
        elif how == "gzip":
            zipped.write_bytes(gzip.compress(garbage, 1))
            expected = garbage
        else:
            zipped.write_bytes(gzip.compress(good, 1)[:at] + garbage)
            expected = good
        refusal = None
        try:
            data = hn.load_mnist(folder)
        except InputError as error:
            refusal = str(error)
        if refusal is not None:
            assert str(folder) in refusal
            assert "\n" not in refusal
        else:
            arrays = (data.x_train.reshape(-1, 2, 2), data.y_train, data.x_test.reshape(-1, 2, 2), data.y_test)
            assert idx_bytes(arrays[which]) == expected  # it was read as what it says it is
            assert data.n_classes == data.y_train.max() + 1 > data.y_test.max()
        path.write_bytes(good)
        zipped.unlink(missing_ok=True)

    hows = st.sampled_from(["whole", "put", "gzip", "raw"])
    throw(n, check, st.binary(max_size=60), st.integers(0, 3), st.integers(0, 200), hows)


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


@pytest.fixture(scope="module")
def canvas(tmp_path_factory):
    """A folder to draw in; small pictures, quickly drawn."""
    with pytest.MonkeyPatch.context() as patch:
        for program in (viz, gif):
            patch.setattr(program, "picture_bytes", lambda fig, *_, **__: style.picture_bytes(fig, dpi=20))
        yield tmp_path_factory.mktemp("canvas")


def draw(folder, name, source, text) -> None:
    """Draws one picture, or the GIF, from this text.

    It is drawn, or named as left out, or refused in one line with nothing written."""

    def contents():
        return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    path = folder / f"{source}.json"
    path.write_text(text, encoding="utf-8")
    before = contents()
    if name == "gif":
        out = folder / "out.gif"
        status, error = outcome(gif.main, ("--run", path, "--out", out))
    else:
        where = (viz.FLAGS[source], path) if source in viz.RUNS else ("--results", folder)
        out = folder / "viz" / f"{name}.png"
        status, error = outcome(viz.main, ("--only", name, *where, "--out", folder / "viz"))
    if status == 2:
        assert source in error
    else:
        assert (status, error) in ((0, ""), (1, ""))
    after = contents()
    if status == 0:
        after.pop(out)
        before.pop(out, None)
    assert after == before


SOURCE = {name: picture.sources[0] for name, picture in registry.PICTURES.items()}
SOURCE["gif"] = "run"
OF_RUNS = [name for name, source in SOURCE.items() if source in viz.RUNS]
THERE = {path.stem for path in (ROOT / "results").glob("*.json")}
OF_RESULTS = [name for name in SOURCE if SOURCE[name] in THERE]
EVERY_NAME = st.one_of(st.sampled_from(OF_RUNS), st.sampled_from(OF_RUNS), st.sampled_from(OF_RESULTS))


@pytest.mark.filterwarnings("ignore:Glyph")  # a name in letters that the font lacks
@few_or(JSON_EXAMPLES, few=5)
def test_garbage_in_a_json_file(canvas, n):
    def check(name, value, seed):
        source = SOURCE[name]
        if source in viz.RUNS:
            record = published((3, 4)) if seed % 2 else ours([(0, 4), (1, 4)], seeds=[0, 1])
        else:
            record = json.loads((ROOT / "results" / f"{source}.json").read_text())
            for other in registry.PICTURES[name].sources[1:]:
                if other not in viz.PUBLISHED:
                    folder = ROOT if other in viz.RUNS else ROOT / "results"
                    shutil.copy(folder / f"{other}.json", canvas)
        draw(canvas, name, source, json.dumps(spoil(record, value, seed)))

    throw(n, check, EVERY_NAME, JSON, st.integers(0, 10**6))


@few_or(TEXT_EXAMPLES, few=FEW_EXAMPLES)
def test_garbage_instead_of_a_json_file(canvas, n):
    path = canvas / "garbage.json"

    def check(load, text):
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        with pytest.raises(InputError, match=r"garbage\.json") as error:
            load(path)
        assert "\n" not in str(error.value)

    throw(n, check, st.sampled_from([load_record, load_results]), st.text(max_size=40) | JSON.map(json.dumps))


@few_or(3000, few=40)
@pytest.mark.parametrize("name", ["a small record", "run.json", "run_sweep.json", "run_seeds.json"])
def test_a_json_file_cut_anywhere(canvas, name, n):
    """The thorough test cuts the small record at every byte."""
    whole = json.dumps(ours([(0, 4)])) if name == "a small record" else (ROOT / name).read_text().rstrip()
    for length in np.unique(np.linspace(0, len(whole) - 1, n, dtype=int)).tolist():
        (canvas / "torn.json").write_text(whole[:length])
        with pytest.raises(InputError, match=r"torn\.json cannot be read as JSON"):
            load_record(canvas / "torn.json")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"runs": ' + "9" * 5000 + "}", "\ufeff{}", '{"runs": [1e999]}', "null", '""', "NaN"]
)
def test_json_that_is_hard_to_read(canvas, text):
    path = canvas / "hard.json"
    path.write_text(text, encoding="utf-8")
    for load in (load_record, load_results):
        with pytest.raises(InputError, match=r"hard\.json"):
            load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"hard\.json cannot be read as JSON"):
        load_record(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_json_with_a_number_that_is_not_finite_is_refused(tmp_path, number):
    """Otherwise it could stand on a page as a number that was measured."""
    path = tmp_path / "run.json"
    text = f'{{"runs": [{{"test_accuracy": {number}}}]}}'
    path.write_text(text)
    with pytest.raises(InputError, match=f"run.json cannot be read as JSON: {number} is not a finite number$"):
        read_json(path)
    np.savez(tmp_path / "net.npz", head=np.array(text), parameters=np.zeros(1))
    with pytest.raises(ValueError):
        read_arrays(tmp_path / "net.npz", lambda head: {"parameters": (1,)})
    path.write_text('{"a": [1e300, -1.5, 0, 10000000000]}')
    assert read_json(path) == {"a": [1e300, -1.5, 0, 10**10]}


@pytest.mark.parametrize("main", [viz.main, gif.main])
def test_garbage_in_the_flags_of_the_drawing_programs(tmp_path, main):
    (tmp_path / "file").write_text("kept")
    record = tmp_path / "record.json"
    record.write_text(json.dumps(ours([(0, 4)])))
    flags = ["--run", "--out"]
    if main is viz.main:
        flags += ["--sweep", "--seeds", "--results", "--only"]
    file = str(tmp_path / "file")
    below_a_file = str(tmp_path / "file" / "x.gif")
    for flag in flags:
        for value in ("", "\n", "nowhere", below_a_file, file, str(tmp_path), "é" * 300):
            if flag == "--out" and main is viz.main and value in ("\n", "nowhere", str(tmp_path)):
                continue  # a folder that can be made
            if flag == "--results":
                others = ("--only", "benchmark")
            elif flag == "--out" and main is viz.main:
                others = ("--only", "depth_sweep", "--sweep", record)
            elif flag == "--out":
                others = ("--run", record)
            else:
                others = ()
            status, _ = outcome(main, (*others, flag, value))
            assert status == 2, (flag, value)
    assert sorted(os.listdir(tmp_path)) == ["file", "record.json"]
    assert (tmp_path / "file").read_text() == "kept"


def test_every_parser_refuses_an_unknown_flag():
    for main in (hn.main, cn.main, viz.main, gif.main):
        assert outcome(main, ["--nonsense"])[0] == 2
