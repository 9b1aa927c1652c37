"""sweep(): every combination once, resumed, run again where the code has changed; draw_sweep()."""

import functools
import json
import linecache
import math
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn
from highways import draw_sweep, sweep
from highways.files import InputError
from highways.lab import contents, sweeps
from highways.nets.extra_blocks import Residual

FACTOR = 3


def scaled(a):
    return a * FACTOR


def product(a, b=1):
    return {"product": scaled(a) * b, "half": np.float64(a / 2), "list": np.arange(2)}


def halves(a):
    return {"a": "the result", "half": a / 2}


@functools.cache
def halved(a):
    return a // 2


def total(a):
    return sum(a.values()) if isinstance(a, dict) else sum(a)


def name_of(a):
    return getattr(a, "__name__", "a partial")


def block_name(block):
    return getattr(block, "name", block)


def scale_of(block):
    return getattr(block, "scale", None)


def scaled_sum(a, b, c):
    return a + 10 * b - 8 * c


def mean_of_test(data):
    return float(np.round(data.x_test.mean(), 6))


def set_of(a):
    return {a}


def interrupted_at_2(a):
    if a == 2:
        raise KeyboardInterrupt
    return a


def diverges(a):
    return float("nan") if a else 1.0


@pytest.fixture
def log(tmp_path):
    return tmp_path / "sweep.jsonl"


@pytest.mark.parametrize("in_notebook", [True, False])
def test_an_interrupt_says_how_many_runs_are_kept(log, capsys, monkeypatch, in_notebook):
    monkeypatch.setattr(sweeps, "is_in_notebook", lambda: in_notebook)
    with pytest.raises(KeyboardInterrupt if in_notebook else SystemExit) as end:
        sweep(interrupted_at_2, a=range(4), log=log, jobs=1)
    assert in_notebook or end.value.code == 130
    expected = f"interrupted: 2 of 4 runs are in {log}; the same sweep goes on there\n"
    assert capsys.readouterr().err == expected
    assert len(log.read_text().splitlines()) == 2


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


def test_a_result_does_not_replace_a_setting(log):
    rows = sweep(halves, a=[2, 4], log=log, jobs=1)
    assert rows == [{"a": 2, "half": 1}, {"a": 4, "half": 2}]


# A program of a user's in a folder of its own: PARTS are the texts of its files
PARTS = {
    "runs.py": """
        import functools
        import sys

        import numpy as np

        import helper
        import highway_networks as hn
        import own
        from highways import sweep
        from parts.inner import OFFSET

        SIZES = [1, 2, 1]

        class Slow:
            rate = 1

        def plus(a):
            return a + 1

        def run(a=1, block="own", optimizer=Slow):
            print("ran", a)
            return a * helper.FACTOR + len({"a", "b", "c"} & {"a"}) + OFFSET

        if __name__ == "__main__":
            print([row["result"] for row in sweep(run, jobs=1, VALUES)])
        """,
    "helper.py": "FACTOR = 3\n",
    "unused.py": "FACTOR = 3\n",
    "parts/__init__.py": "",
    "parts/inner.py": "from .base import OFFSET\n",
    "parts/base.py": "OFFSET = 0\n",
    "own.py": """
        import highway_networks as hn

        class Own(hn.Plain):
            name = "own"
        """,
}


@pytest.fixture
def program(tmp_path):
    """program(values, {file: (old, new)}) runs the program with these values of settings, and with the
    texts replaced; returns how often it ran the function."""
    folder = tmp_path / "program"
    for name, text in PARTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
    template = (folder / "runs.py").read_text()
    (folder / "template").write_text(template)

    def run(values, replaced=(), hash_seed="0"):
        (folder / "runs.py").write_text((folder / "template").read_text().replace("VALUES", values))
        for name, (old, new) in dict(replaced).items():
            file = folder / ("template" if name == "runs.py" else name)
            assert old in file.read_text()
            file.write_text(file.read_text().replace(old, new))
        (folder / "runs.py").write_text((folder / "template").read_text().replace("VALUES", values))
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed}
        words = [sys.executable, "runs.py"]
        process = subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False
        )
        assert process.returncode == 0, process.stderr
        return process.stdout.count("ran ")

    return run


@pytest.mark.parametrize(
    "values",
    [
        'block=["own"]',
        *(
            pytest.param(values, marks=pytest.mark.thorough)
            for values in ("a=[1]", "block=[own.Own()]", "optimizer=Slow", "optimizer=functools.partial(Slow, 1)")
        ),
    ],
)
def test_a_run_is_made_again_where_the_text_of_a_file_has_changed(program, values):
    assert program(values) == 1
    assert program(values, hash_seed="1") == 0
    assert program(values, {"unused.py": ("3", "4")}) == 0
    assert program(values, {"helper.py": ("3", "4")}) == 1
    assert program(values, {"parts/base.py": ("0", "1")}) == 1
    assert program(values, {"own.py": ("Plain", "Highway")}) == 1
    assert program(values, {"runs.py": ("[1, 2, 1]", "[1, 2, 2]")}) == 1
    assert program(values, {"runs.py": ("rate = 1", "rate = 2")}) == 1
    assert program(values) == 0


def test_more_values_under_main_run_only_what_is_missing(program):
    assert program("a=[1, 2]") == 2
    assert program("a=[1, 2, 3]") == 1


def test_what_is_assigned_under_main_counts_where_a_function_uses_it(program):
    assert program("a=[1]", {"runs.py": ("    print([row", "    SIZES = [3]\n    print([row")}) == 1
    assert program("a=[1]", {"runs.py": ("[3]", "[4]")}) == 0
    assert program("a=[1]", {"runs.py": ("+ OFFSET", "+ OFFSET + SIZES[0]")}) == 1
    assert program("a=[1]", {"runs.py": ("[4]", "[5]")}) == 1


def test_the_file_of_a_block_counts_where_the_function_does_not_import_it(tmp_path, log, monkeypatch):
    """run_one finds a block by its name alone."""
    monkeypatch.syspath_prepend(tmp_path)
    keys = []
    for number in (1, 2):
        name = f"block_of_sweep_{number}"
        text = f'import highway_networks as hn\n\nclass Own(hn.Plain):\n    name = "{name}"\n    number = {number}\n'
        (tmp_path / f"{name}.py").write_text(text)
        kind = __import__(name).Own
        for given in (name, kind()):
            sweep(block_name, block=[given], log=log, jobs=1)
        keys += [line["code"] for line in map(json.loads, log.read_text().splitlines())]
    assert len(log.read_text().splitlines()) == 2  # a name and its object are the same run
    assert len(set(keys)) == 2


def test_a_block_with_settings_is_shown_with_them(log):
    rows = sweep(scale_of, block=[Residual(0.5), Residual(0.25), "residual"], log=log, jobs=1)
    assert [row["block"] for row in rows] == ["residual(scale=0.5)", "residual(scale=0.25)", "residual"]
    assert [row["result"] for row in rows] == [0.5, 0.25, None]


def test_lists_and_dicts_are_values_within_a_list(log):
    rows = sweep(total, a=[[1, 12], [11, 2], {"x": 1}], log=log, jobs=1)
    assert [row["result"] for row in rows] == [13, 13, 1]
    assert len(log.read_text().splitlines()) == 3
    assert sweep(total, a={"x": 1}, log=log, jobs=1) == rows[2:]


def test_classes_and_functions_are_shown_by_name(log):
    rows = sweep(name_of, a=[hn.Adam, scaled, functools.partial(product, a=2, b=1)], log=log, jobs=1)
    assert [row["a"] for row in rows] == ["Adam", "scaled", "product(a=2, b=1)"]
    assert [row["result"] for row in rows] == ["Adam", "scaled", "a partial"]
    sweep(name_of, a=["Adam"], log=log, jobs=1)
    assert len(log.read_text().splitlines()) == 4


def test_what_a_partial_binds_counts(log):
    for bound in ({"a": 1, "b": 2}, {"a": 2, "b": 1}):
        sweep(functools.partial(scaled_sum, **bound), c=1, log=log, jobs=1)
    sweep(functools.partial(scaled_sum, 1, 2), c=1, log=log, jobs=1)
    assert [json.loads(line)["result"]["result"] for line in log.read_text().splitlines()] == [13, 4, 13]


def of_images(x_test_value=0.0, name="own data"):
    x = np.linspace(-1, 1, 12).reshape(4, 3)
    return hn.Dataset.of(x, np.array([0, 1, 0, 1]), x + x_test_value, np.array([1, 0, 1, 0]), name=name)


def test_a_dataset_is_one_value_with_a_name(log):
    assert sweep(mean_of_test, data=of_images(), log=log, jobs=1) == [{"data": "own data", "result": 0.0}]
    assert sweep(mean_of_test, data=of_images(0.5), log=log, jobs=1) == [{"data": "own data", "result": 0.5}]
    rows = sweep(mean_of_test, data=[of_images(), of_images(0.5, "other")], log=log, jobs=2)
    assert [(row["data"], row["result"]) for row in rows] == [("own data", 0.0), ("other", 0.5)]
    assert len(log.read_text().splitlines()) == 3


@pytest.mark.parametrize("part", ["x_train", "y_train", "x_test", "y_test"])
def test_every_array_of_a_dataset_counts(log, part):
    data = of_images()
    other = data._replace(**{part: getattr(data, part)[::-1]})
    for given in (data, other):
        sweep(mean_of_test, data=given, log=log, jobs=1)
        sweep(functools.partial(mean_of_test, data=given), log=log, jobs=1)
    assert len(log.read_text().splitlines()) == 4


def test_a_decorated_function_counts_as_any_other(log):
    assert sweep(halved, a=[2, 4], log=log, jobs=1) == [{"a": 2, "result": 1}, {"a": 4, "result": 2}]


def test_what_cannot_be_told_apart_is_refused(log):
    def inside_another(a):
        return a

    class InsideAnother:
        pass

    no_name = "has no name at the top of a file; define it there"
    for function, message in (
        (lambda a: a, f"the function: .*lambda.* {no_name}"),
        (inside_another, f"the function: .*inside_another.* {no_name}"),
        (functools.cache(product), f"the function: .* {no_name}"),
        (of_images().x_test.mean, f"the function: .* {no_name}"),
        (functools.partial(name_of, a=InsideAnother), f"the function: .*InsideAnother.* {no_name}"),
        (math.sqrt, "the source of sqrt cannot be read"),
    ):
        with pytest.raises(ValueError, match=message):
            sweep(function, a=1, log=log, jobs=1)
    with pytest.raises(
        ValueError, match=r"the values of a: two of them are called own data; give them different names"
    ):
        sweep(total, a=[of_images(), of_images(1.0)], log=log)
    names = {}
    exec("def typed(a): return a", names)
    with pytest.raises(ValueError, match=no_name):
        sweep(names["typed"], a=1, log=log)
    assert not log.exists()


def test_a_file_that_changes_while_the_program_runs_is_refused(tmp_path, log, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "changing_file_of_a_sweep.py"
    file.write_text("def run(a):\n    return a\n")
    import changing_file_of_a_sweep as changing

    assert sweep(changing.run, a=1, log=log, jobs=1) == [{"a": 1, "result": 1}]
    file.write_text("def run(a):\n    return -a\n")
    with pytest.raises(InputError, match="changed since this program read it"):
        sweep(changing.run, a=1, log=log, jobs=1)


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
        sweep(set_of, a=1, log=log, jobs=1)


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
        said = [line for line in process.stderr.splitlines() if "must call sweep() under `if __name__ == " in line]
        assert said


def test_a_function_of_a_notebook_runs_where_other_processes_could_not_find_it(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)  # a worker of pytest-xdist has none
    monkeypatch.setattr(scaled, "__module__", "__main__")
    assert sweeps.usable_jobs(scaled, 2) == 1
    assert sweeps.usable_jobs(functools.partial(scaled, a=1), 2) == 1
    assert "one after another" in capsys.readouterr().out
    assert sweeps.usable_jobs(product, 2) == 2


def test_in_a_notebook_the_text_of_a_function_and_the_cell_of_a_class_count(monkeypatch):
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    checksums = set()
    for number, factor in enumerate((1, 2, 2)):
        cell = f"class Rate:\n    def of(self):\n        return {factor}\n\ndef run(a):\n    return {factor} * a\n"
        file = f"<cell {number}>"
        monkeypatch.setitem(linecache.cache, file, (len(cell), None, cell.splitlines(True), file))
        names = {"__name__": "__main__"}
        exec(compile(cell, file, "exec"), names)
        checksums.add(tuple(contents.checksum_of_definition(names[name]) for name in ("Rate", "run")))
    assert len(checksums) == 2


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
    with pytest.raises(ValueError, match="there are no rows to draw"):
        draw_sweep([], x="a", y="result", path=tmp_path / "picture.png")
    with pytest.raises(ValueError, match="the rows have no 'depth'; they have a, result"):
        draw_sweep(rows, x="depth", y="result", path=tmp_path / "picture.png")


def test_on_a_cluster_the_rows_are_the_same(tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        rows = sweep(product, a=[1, 2], log=tmp_path / "cluster.jsonl", scheduler=cluster.scheduler_address)
    assert rows == sweep(product, a=[1, 2], log=tmp_path / "here.jsonl", jobs=1)
