"""`python -m experiments publish` makes what differs, and nothing else; --check names it and changes
nothing."""

import csv
import io
import json
import math
import re
import shutil
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT
from test_docs import READ, run_in

from experiments import publish, results_table
from highways.commands import run_command
from highways.records import agree, sealed

COMMAND = "python -m experiments publish"
CHECK = f"{COMMAND} --check"
pytestmark = pytest.mark.xdist_group("publish")  # the clone is made once


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of the repository, without git and logs of trials."""
    folder = tmp_path_factory.mktemp("clone") / "clone"
    unwanted = shutil.ignore_patterns(".*", "__pycache__", "tests", "*.jsonl", "quick")
    shutil.copytree(ROOT, folder, ignore=unwanted)
    for path in ROOT.glob("run*.json"):  # a user may have made one anew
        record = READ(path.name)
        (folder / path.name).write_bytes(publish.json_bytes(record))
    return folder


@pytest.fixture
def edit(clone):
    """edit(file, change) replaces a file by change(its bytes); the file is put back after the test."""
    before = {}

    def edit(name, change):
        path = clone / name
        before.setdefault(path, path.read_bytes())
        path.write_bytes(change(path.read_bytes()))

    yield edit
    for path, data in before.items():
        path.write_bytes(data)


def named(process) -> set[str]:
    """The files that --check names."""
    *lines, last = process.stdout.splitlines()
    assert last == f"{COMMAND} makes them anew", process.stderr
    assert process.returncode == 1
    return {line.split()[0] for line in lines}


def state(clone) -> dict:
    """When each file was changed; without caches and locks."""
    files = [path for path in clone.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path: path.stat().st_mtime_ns for path in files if path.suffix != ".lock"}


def in_json(change):
    """For edit(): changes what a JSON file holds."""

    def changed(data: bytes) -> bytes:
        record = json.loads(data)
        change(record)
        return publish.json_bytes(sealed(record))

    return changed


@pytest.mark.thorough  # .ci/run asks publish --check
def test_nothing_differs_in_the_repository(clone):
    before = state(clone)
    process = run_in(clone, COMMAND)
    assert process.returncode == 0, process.stdout + process.stderr
    assert process.stdout.startswith("nothing differs")
    assert state(clone) == before


def test_check_names_what_a_change_makes_stale(clone, edit):
    """A number in a trial, the code of some pictures, a part of a browser page, a picture itself."""

    def change(record):
        for trial in record["trials"]["final"]:
            trial["test_accuracy"] = 0.5

    edit("results/depth_for_width.json", in_json(change))
    edit("experiments/lesion/show.py", lambda data: data + b"# more\n")
    edit("pages/explorer/page.js", lambda data: data + b"// more\n")
    edit("viz/seeds.png", lambda data: data + b" ")
    before = state(clone)
    assert named(run_in(clone, CHECK)) == {
        "results/depth_for_width.json",
        "results/claims.json",
        "results/results.csv",
        "experiments/depth_on_demand/README.md",
        "docs/ledger.md",
        "viz/lesion.png",
        "viz/depth_needed.png",
        "pages/claims.html",
        "pages/explorer.html",
        "viz/explorer.png",
        "viz/seeds.png",
    }
    assert state(clone) == before


def test_what_was_edited_is_made_anew(clone, edit):
    edited = ("results/lesion.json", "results/claims.json", "README.md", "viz/seeds.png", "viz/depth_sweep.png")
    before = {name: (clone / name).read_bytes() for name in (*edited, publish.DIGESTS)}
    edit("results/lesion.json", in_json(lambda record: record["summary"].pop()))
    edit("results/claims.json", in_json(lambda record: record["trials"].pop()))
    edit("README.md", lambda data: data.replace(b"<!-- output -->", b"<!-- output -->old"))
    edit("viz/seeds.png", lambda data: data + b" ")
    edit("viz/depth_sweep.png", lambda data: data)
    edit(publish.DIGESTS, lambda data: data)
    (clone / "viz" / "depth_sweep.png").unlink()
    process = run_in(clone, COMMAND)
    assert process.returncode == 0, process.stderr
    assert {f"wrote {name}" for name in edited} <= set(process.stdout.splitlines())
    after = {name: (clone / name).read_bytes() for name in before}
    made_anew = ("README.md",)
    if json.loads(before[publish.DIGESTS])["viz/seeds.png"]["made_with"] == publish.versions():
        made_anew = (*made_anew, "viz/seeds.png", "viz/depth_sweep.png")
    assert {name: after[name] for name in made_anew} == {name: before[name] for name in made_anew}
    for name, part in (("results/lesion.json", "summary"), ("results/claims.json", "trials")):
        assert agree(json.loads(after[name])[part], json.loads(before[name])[part])


@pytest.mark.thorough
def test_a_summary_that_was_edited_rewrites_no_page(clone, edit):
    """The benchmarks' summaries are not made anew: they are as they were measured, or refused."""

    def spoil(data: bytes) -> bytes:
        record = json.loads(data)
        record["summary"] = dict.fromkeys(record["summary"], 7.0)
        return json.dumps(record).encode()

    edit("results/benchmark_step.json", spoil)
    before = state(clone)
    assert run_in(clone, COMMAND).returncode == 2
    assert state(clone) == before


def test_a_picture_is_made_by_its_module_and_the_drawing_modules_that_this_imports():
    code = publish.code_of(ROOT / "experiments" / "figure_1" / "show.py")
    assert (ROOT / "highways" / "lab" / "showing" / "style.py").read_bytes() in code
    assert (ROOT / "highways" / "statistics.py").read_bytes() in code  # tables.py imports it
    assert (ROOT / "experiments" / "why_plain_fails" / "show.py").read_bytes() not in code


def test_a_browser_page_is_made_by_every_module_that_decides_what_it_holds():
    deciding = {
        "claims": ("pages/make_claims.py", "highways/lab/judging/controls.py", "highways/lab/judging/ledger.py"),
        "index": (
            "pages/make_explorer.py",
            "pages/explorer_net.py",
            "pages/measure_pointers.py",
            "experiments/depth_on_demand/depth_on_demand_trial.py",
        ),
        "explorer": (),
    }
    for page, modules in deciding.items():
        code = publish.code_of(ROOT / "pages" / f"make_{page}.py")
        for module in (*modules, "pages/parts.py", "highways/lab/showing/style.py"):  # style.py has the colours
            assert (ROOT / module).read_bytes() in code, (page, module)


@pytest.fixture
def nothing_but_pictures(tmp_path, monkeypatch):
    """make(*names): publishes these pictures in an empty folder, where no text differs.

    The picture "interrupted" is never finished: Ctrl-C ends the command."""
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setattr(publish, "current_records", dict)
    monkeypatch.setattr(publish, "COMMANDS", {})
    monkeypatch.setattr(publish, "changed_pages", lambda read: {})
    monkeypatch.setattr(publish, "photographs", lambda pages: [])
    (tmp_path / "results").mkdir()
    (tmp_path / results_table.FILE).write_bytes(results_table.table({}))
    (tmp_path / "viz").mkdir()

    def make(*names):
        drawn = []

        def draw(name):
            if name == "interrupted":
                raise KeyboardInterrupt
            drawn.append(name)
            return name.encode()

        found = [publish.Product(f"viz/{name}.png", "made from", partial(draw, name)) for name in names]
        monkeypatch.setattr(publish, "products", lambda read: found)
        return run_command("publish", partial(publish.make_anew, False)), drawn

    return make


def test_each_picture_is_written_as_soon_as_it_is_drawn(nothing_but_pictures, tmp_path):
    """So that a repeated command goes on with the one that was interrupted."""
    assert nothing_but_pictures("first", "second", "interrupted", "third") == (130, ["first", "second"])
    assert (tmp_path / "viz" / "first.png").read_bytes() == b"first"
    assert nothing_but_pictures("first", "second", "third") == (0, ["third"])
    assert nothing_but_pictures("first", "second", "third") == (0, [])


def test_a_repeated_measurement_with_the_same_numbers_changes_no_digest():
    record = {"env": {"git": "a"}, "trials": [{"seconds": 3.0, "loss": 0.5}]}
    again = {"env": {"git": "b"}, "trials": [{"loss": 0.5, "seconds": 4.0}]}
    other = {"env": {"git": "a"}, "trials": [{"seconds": 3.0, "loss": 0.6}]}
    assert publish.as_bytes(publish.numbers(record)) == publish.as_bytes(publish.numbers(again))
    assert publish.as_bytes(publish.numbers(record)) != publish.as_bytes(publish.numbers(other))


def test_the_numbers_of_the_example_with_pandas():
    page = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"(highway|plain) +([\d.]+) +([\d.]+) +(\d+)", page)
    losses = {}
    for row in csv.DictReader(io.StringIO((ROOT / results_table.FILE).read_text())):
        if (row["question"], row["group"]) == ("optimization", "final"):
            losses.setdefault((int(row["depth"]), row["block"]), []).append(float(row["loss"]))
    expected = []
    for (_, block), values in sorted(losses.items()):
        expected.append((block, f"{np.mean(values):.6f}", f"{np.std(values, ddof=1):.6f}", str(len(values))))
    assert found == expected


def test_the_table_of_results_has_a_row_for_each_trial():
    rows = list(csv.DictReader(io.StringIO((ROOT / results_table.FILE).read_text())))
    record = READ("results/optimization.json")
    for group, trials in record["trials"].items():
        found = [row for row in rows if (row["question"], row["group"]) == ("optimization", group)]
        assert [(int(row["depth"]), float(row["loss"] or "nan")) for row in found] == pytest.approx(
            [(trial["depth"], math.nan if trial["loss"] is None else trial["loss"]) for trial in trials], nan_ok=True
        )


def test_a_new_question_changes_no_line_of_the_others(monkeypatch):
    """Though it stands among them, and measures what two others measure, too."""
    questions = [SimpleNamespace(name=name) for name in ("clip", "dawn", "gates")]
    records = {}
    for question in questions:
        trials = [{"seed": seed, "loss": seed / 3, "new": 1.0, "history": [1, 2]} for seed in range(2)]
        records[f"results/{question.name}.json"] = {"trials": trials}
    before = results_table.table(records).decode().splitlines()
    monkeypatch.setattr(results_table, "all_questions", lambda: questions)
    after = results_table.table(records).decode().splitlines()
    assert len(before) == 1 + 4
    assert [line for line in after if not line.startswith("dawn,")] == before
    [first, _] = [line for line in after if line.startswith("dawn,")]
    cells = dict(zip(before[0].split(","), first.split(","), strict=True))
    assert {name for name, cell in cells.items() if cell} == {"question", "seed", "loss"}
