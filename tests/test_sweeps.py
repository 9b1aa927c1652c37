"""sweep(): every combination once, resumed, run again where the code has changed; draw_sweep()."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

from highways import draw_sweep, sweep
from highways.files import InputError
from highways.lab import sweeps

FACTOR = 3


def scaled(a):
    return a * FACTOR


def product(a, b=1):
    return {"product": scaled(a) * b, "half": np.float64(a / 2), "list": np.arange(2)}


def diverges(a):
    return float("nan") if a else 1.0


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


def test_what_is_finished_does_not_run_again(log, capsys):
    sweep(product, a=[1, 2], log=log, jobs=1)
    before = log.read_text()
    rows = sweep(product, a=[2, 3], log=log, jobs=1)
    assert [row["product"] for row in rows] == [6, 9]
    assert "1 of 2 runs were in" in capsys.readouterr().out
    assert log.read_text().startswith(before)
    assert len(log.read_text().splitlines()) == 3


def test_an_incomplete_last_line_is_run_again(log):
    sweep(product, a=[1, 2], log=log, jobs=1)
    log.write_bytes(log.read_bytes()[:-30])
    assert [row["product"] for row in sweep(product, a=[1, 2], log=log, jobs=1)] == [3, 6]
    assert len(log.read_text().splitlines()) == 2


def test_a_run_is_made_again_where_a_constant_or_a_function_that_it_names_has_changed(log, monkeypatch):
    assert sweep(product, a=1, log=log, jobs=1)[0]["product"] == 3
    monkeypatch.setitem(globals(), "FACTOR", 5)
    assert sweep(product, a=1, log=log, jobs=1)[0]["product"] == 5
    monkeypatch.setitem(globals(), "scaled", lambda a: -a)
    assert sweep(product, a=1, log=log, jobs=1)[0]["product"] == -1
    monkeypatch.undo()
    assert sweep(product, a=1, log=log, jobs=1)[0]["product"] == 3
    assert len(log.read_text().splitlines()) == 3


def test_arrays_in_a_closure_count(log):
    def over(array):
        return lambda a: a + array.sum()

    assert sweep(over(np.ones(3)), a=1, log=log, jobs=1)[0]["result"] == 4
    assert sweep(over(np.zeros(3)), a=1, log=log, jobs=1)[0]["result"] == 1


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"c": 1}, TypeError, "missing a required argument: 'a'"),
        ({"a": []}, ValueError, "a has no value: give it one, or a list of them"),
        ({"a": [{1}]}, ValueError, "JSON must be able to hold the values of a"),
    ],
)
def test_bad_settings_are_refused_before_anything_runs(log, settings, error, message):
    with pytest.raises(error, match=message):
        sweep(product, log=log, **settings)
    assert not log.exists()


def test_a_result_that_json_cannot_hold_is_named(log):
    with pytest.raises(TypeError, match=r"the function returned for {'a': 1} what JSON cannot hold: a set"):
        sweep(lambda a: {1}, a=1, log=log, jobs=1)


def test_a_file_that_is_no_log_stays(log):
    log.write_text("mine")
    with pytest.raises(InputError, match="is not a log of trials"):
        sweep(product, a=1, log=log)
    assert log.read_text() == "mine"


SCRIPT = """
import sys
from highways import sweep
sys.platform = "darwin"  # where processes begin with an import of this file

def double(a):
    return 2 * a

{guard}print([row["result"] for row in sweep(double, a=range(4), jobs=2)])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a platform that is another")
@pytest.mark.parametrize("guard", ["", 'if __name__ == "__main__": '])
def test_where_processes_import_the_script_it_works_or_says_what_is_missing(tmp_path, guard):
    (tmp_path / "script.py").write_text(SCRIPT.format(guard=guard))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    words = [sys.executable, "script.py"]
    process = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    if guard:
        assert process.stdout.splitlines()[-1] == "[0, 2, 4, 6]", process.stderr
    else:
        assert process.returncode == 1
        assert "must call sweep() under `if __name__ == " in process.stderr.splitlines()[-1]


def test_a_function_of_a_notebook_runs_where_other_processes_could_not_find_it(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delattr(sys.modules["__main__"], "__file__")
    monkeypatch.setattr(scaled, "__module__", "__main__")
    assert sweeps.usable_jobs(scaled, 2) == 1
    assert "one after another" in capsys.readouterr().out
    assert sweeps.usable_jobs(product, 2) == 2


def test_the_picture_shows_the_means(tmp_path, log, capsys):
    rows = sweep(product, a=[1, 2], b=[1, 3], log=log, jobs=1)
    path = tmp_path / "picture.png"
    draw_sweep(rows, x="a", y="product", path=path)
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "a 1: product 6.000 ± 4.243  (n = 2)",
        "a 2: product 12.000 ± 8.485  (n = 2)",
    ]
    assert path.read_bytes().startswith(b"\x89PNG")
    draw_sweep(rows, x="a", y="product", line="b", path=path)
    assert "b 3  a 2: product 18.000  (n = 1)" in capsys.readouterr().out


def test_diverged_runs_are_left_out_of_the_picture(tmp_path, log, capsys):
    rows = sweep(diverges, a=[0, 1], log=log, jobs=1)
    assert rows[1]["result"] is None
    assert json.loads(log.read_text().splitlines()[1])["result"] == {"result": None}
    draw_sweep(rows, x="a", y="result", path=tmp_path / "picture.png")
    assert "a 0: result 1.000  (n = 1)" in capsys.readouterr().out
    with pytest.raises(ValueError, match="no row has a result: all runs diverged"):
        draw_sweep(rows[1:], x="a", y="result", path=tmp_path / "picture.png")
    with pytest.raises(ValueError, match="the rows have no 'depth'; they have a, result"):
        draw_sweep(rows, x="depth", y="result", path=tmp_path / "picture.png")


def test_on_a_cluster_the_rows_are_the_same(tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        rows = sweep(product, a=[1, 2], log=tmp_path / "cluster.jsonl", scheduler=cluster.scheduler_address)
    assert rows == sweep(product, a=[1, 2], log=tmp_path / "here.jsonl", jobs=1)
