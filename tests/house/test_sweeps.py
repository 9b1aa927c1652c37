"""sweep(): every combination once, resumed by its settings; draw_sweep()."""

import functools
import importlib
import itertools
import json
import sys
import types

import numpy as np
import pytest

import highway_networks as hn
from highways import draw_sweep, sweep
from highways.files import InputError
from highways.lab.sweeps import key_of_run, listed_values
from highways.nets.extra_blocks import Residual


def scaled(a):
    return 3 * a


def product(a, b=1):
    return {"product": scaled(a) * b, "half": np.float64(a / 2), "list": np.arange(2)}


def halves(a):
    return {"a": "the result", "half": a / 2}


def scale_of(block):
    return getattr(block, "scale", None)


def mean_of_test(data):
    return float(np.round(data.x_test.mean(), 6))


def interrupted_at_2(a):
    if a == 2:
        raise KeyboardInterrupt
    return a


def diverges(a):
    return float("nan") if a else 1.0


def last_row(seed, depth):
    return {"diverged": "epoch 1"} if seed < 3 - depth else {"acc": 0.5}


@pytest.fixture
def log(tmp_path):
    return tmp_path / "sweep.jsonl"


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_combination_has_its_row_in_order(log, jobs):
    rows = sweep(product, a=[1, np.int64(2)], b=range(3), log=log, jobs=jobs)
    assert [(row["a"], row["b"], row["product"]) for row in rows] == [
        (a, b, 3 * a * b) for a in (1, 2) for b in range(3)
    ]
    assert rows[0].keys() == {"a", "b", "product", "half", "list"}
    assert rows[0]["list"] == [0, 1]


def test_what_is_finished_does_not_run_again(log):
    sweep(product, a=[1, 2], log=log, jobs=1)
    before = log.read_text()
    rows = sweep(product, a=[2, 3], log=log, jobs=1)
    assert [row["product"] for row in rows] == [6, 9]
    assert log.read_text().startswith(before)
    assert len(log.read_text().splitlines()) == 3


def test_a_dict_is_one_value():
    assert listed_values({"a": 1}) == [{"a": 1}]


@pytest.mark.parametrize("jobs", [0, -1])
def test_fewer_jobs_than_one_are_refused(log, jobs):
    with pytest.raises(ValueError):
        sweep(scaled, a=1, log=log, jobs=jobs)


def test_a_result_does_not_replace_a_setting(log):
    rows = sweep(halves, a=[2, 4], log=log, jobs=1)
    assert rows == [{"a": 2, "half": 1}, {"a": 4, "half": 2}]


def test_a_block_with_settings_is_shown_with_them(log):
    rows = sweep(scale_of, block=[Residual(0.5), Residual(0.25), "residual"], log=log, jobs=1)
    assert [row["block"] for row in rows] == ["residual(scale=0.5)", "residual(scale=0.25)", "residual"]
    assert [row["result"] for row in rows] == [0.5, 0.25, None]


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def times(self, a):
        return self.factor * a


class Other(Scale):
    def times(self, a):
        return -self.factor * a


def within(factor):
    def scaled(a):
        return factor * a

    return scaled


def partials_of(function) -> list:
    bound = [1, "1", halves, "halves", np.zeros(2), np.ones(2), of_images(), hn.subset(of_images(), 0, 2, 4)]
    by_name = [functools.partial(function, b=value) for value in bound]
    return [*by_name, *(functools.partial(function, *pair) for pair in itertools.product(bound, bound))]


def test_no_two_runs_share_a_key(tmp_path, monkeypatch):
    """Neither by their functions nor by their settings, in whichever order these are; or they are refused."""
    monkeypatch.syspath_prepend(str(tmp_path))
    in_files = []
    for number in (1, 2):
        (tmp_path / f"scaled_by_{number}.py").write_text(f"def scaled(a):\n    return {number} * a")
        in_files.append(importlib.import_module(f"scaled_by_{number}").scaled)
    named = [scaled, *in_files, Scale.times, Other.times, *partials_of(scaled)]
    unnamed = [lambda a: a, within(1), functools.wraps(scaled)(within(1)), Scale(1).times]
    plain = [None, False, 0, 0.0, "0", "scaled", "own data", "residual", "residual(scale=0.5)", [], {}]
    others = [np.zeros(2), np.zeros((2, 1)), Residual(), Residual(0.5), Residual]
    data_sets = [of_images(), of_images(1), hn.subset(of_images(), 0, 2, 4), hn.subset(of_images(), 0, 3, 4)]
    values = [*plain, *others, *data_sets, *named[:8]]
    settings = [{"a": a, "b": b} for a, b in itertools.product(values, values)]
    keys = [key_of_run(function, settings[0]) for function in named]
    keys += [key_of_run(halves, setting) for setting in settings]
    assert len(keys) == len({*keys})
    for function in unnamed:
        for run in ((function, {"a": 1}), (scaled, {"a": function})):
            with pytest.raises(ValueError):
                key_of_run(*run)


def test_a_function_without_a_file_is_known_by_its_name(log, monkeypatch):
    notebook = types.ModuleType("notebook")
    monkeypatch.setitem(sys.modules, "notebook", notebook)
    exec(compile("def trial(depth):\n    return depth", "<cell 1>", "exec"), vars(notebook))
    sweep(notebook.trial, depth=1, log=log, jobs=1)
    before = log.read_text()
    exec(compile("def trial(depth):\n    return depth", "<cell 2>", "exec"), vars(notebook))
    sweep(notebook.trial, depth=1, log=log, jobs=1)
    sweep(round, number=1.4, log=log, jobs=1)
    assert log.read_text().startswith(before)
    assert len(log.read_text().splitlines()) == 2


def of_images(x_test_value=0.0, name="own data"):
    x = np.linspace(-1, 1, 12).reshape(4, 3)
    return hn.Dataset.of(x, np.array([0, 1, 0, 1]), x + x_test_value, np.array([1, 0, 1, 0]), name=name)


def test_a_dataset_is_one_value_with_a_name(log):
    assert sweep(mean_of_test, data=of_images(), log=log, jobs=1) == [{"data": "own data", "result": 0.0}]
    assert sweep(mean_of_test, data=of_images(0.5), log=log, jobs=1) == [{"data": "own data", "result": 0.5}]
    rows = sweep(mean_of_test, data=[of_images(), of_images(0.5, "other")], log=log, jobs=2)
    assert [(row["data"], row["result"]) for row in rows] == [("own data", 0.0), ("other", 0.5)]
    assert len(log.read_text().splitlines()) == 3


def test_values_of_one_name_are_refused(log):
    with pytest.raises(ValueError):
        sweep(mean_of_test, data=[of_images(), of_images(1.0)], log=log)
    assert not log.exists()


def test_after_an_interrupt_the_same_call_goes_on(log):
    with pytest.raises(KeyboardInterrupt):
        sweep(interrupted_at_2, a=range(4), log=log, jobs=1)
    assert len(log.read_text().splitlines()) == 2


def test_a_file_that_is_no_log_stays(log):
    log.write_text("mine")
    with pytest.raises(InputError):
        sweep(product, a=1, log=log)
    assert log.read_text() == "mine"


def test_runs_that_diverged_are_told_and_counted(tmp_path, log, capsys):
    rows = sweep(last_row, seed=range(3), depth=[1, 2], log=log, jobs=1)
    assert capsys.readouterr().out.count("DIVERGED") == 3
    draw_sweep(rows, x="depth", y="acc", path=tmp_path / "picture.png")
    assert capsys.readouterr().out.splitlines() == [
        "depth 1: acc 0.500  (n = 1, 2 of 3 lost)",
        "depth 2: acc 0.500 ± 0.000  (n = 2, 1 of 3 lost)",
    ]
    with pytest.raises(ValueError):
        draw_sweep(rows, x="depth", y="another", path=tmp_path / "picture.png")


def test_the_picture_replaces_nothing_else(tmp_path, log):
    rows = sweep(diverges, a=[0, 1], log=log, jobs=1)
    assert rows[1]["result"] is None
    assert json.loads(log.read_text().splitlines()[1])["result"] == {"result": None}
    picture = tmp_path / "picture.png"
    for _ in range(2):  # the second time it replaces what it drew
        draw_sweep(rows, x="a", y="result", path=picture)
    picture.write_bytes(b"mine")
    with pytest.raises(InputError):
        draw_sweep(rows, x="a", y="result", path=picture)
    assert picture.read_bytes() == b"mine"
