"""`python -m experiments publish`: what makes a picture or a page stale, and the table of all trials.
tests/test_your_own_question.py runs the command, and .ci/run asks it whether anything differs."""

import csv
import hashlib
import io
import math
import re
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT

from experiments import publish, results_table
from highways.commands import run_command
from highways.files import read_json
from highways.trial_code import checksum_of_text, code_of


@pytest.mark.parametrize("page", ["make_index", "make_explorer"])
def test_a_page_that_computes_T_is_made_from_the_core(page):
    core = (ROOT / "highway_networks.py").read_bytes()
    assert checksum_of_text(core) in code_of((ROOT / "pages" / f"{page}.py").read_bytes())


@pytest.fixture
def nothing_but_pictures(tmp_path, monkeypatch):
    """make(*names): publishes these pictures in an empty folder, where no text differs.

    The picture "interrupted" is never finished: Ctrl-C ends the command."""
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setattr(publish, "current_records", dict)
    monkeypatch.setattr(publish, "COMMANDS", {})
    monkeypatch.setattr(publish, "changed_pages", lambda read: {})
    monkeypatch.setattr(publish, "photographs", lambda pages: [])
    (tmp_path / "experiments" / "results").mkdir(parents=True)
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


DRAWS = """from highways.lab.showing.registry import Picture


def draw(record):
    return 2 * record["loss"]
"""


@pytest.mark.parametrize(
    ("what", "is_stale"),
    [
        ("nothing", False),
        ("a comment", False),
        ("a time", False),
        ("a number", True),
        ("the formula", True),
        ("the file", True),
    ],
)
def test_a_picture_is_stale_if_its_data_its_code_or_its_file_change(tmp_path, monkeypatch, what, is_stale):
    program = tmp_path / "draws.py"
    program.write_text(DRAWS)
    (tmp_path / "loss.json").touch()
    (tmp_path / "viz").mkdir()
    (tmp_path / "viz" / "drawn.png").write_bytes(b"drawn")
    record = {"loss": 0.5, "seconds": 3.0}
    picture = SimpleNamespace(draw=SimpleNamespace(__module__="draws"), files=["loss.json"])
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setitem(sys.modules, "draws", SimpleNamespace(__file__=str(program)))
    monkeypatch.setattr(publish.registry, "PICTURES", {"drawn": picture})
    monkeypatch.setattr(publish, "CARD", {})
    monkeypatch.setattr(publish, "BROWSER_PAGES", [])
    monkeypatch.setattr(publish, "GIF", program.name)

    def product() -> publish.Product:
        return publish.products(lambda source: record)[0]

    digests = {"viz/drawn.png": {"made_from": product().made_from, "file": hashlib.sha256(b"drawn").hexdigest()}}
    match what:
        case "a comment":
            program.write_text(DRAWS + "# twice\n")
        case "a time":
            record["seconds"] = 4.0
        case "a number":
            record["loss"] = 0.6
        case "the formula":
            program.write_text(DRAWS.replace("2 *", "3 *"))
        case "the file":
            (tmp_path / "viz" / "drawn.png").write_bytes(b"edited")
    assert bool(publish.why_stale(product(), digests)) == is_stale


def test_a_repeated_measurement_with_the_same_numbers_changes_no_digest():
    record = {"env": {"git": "a"}, "trials": [{"seconds": 3.0, "loss": 0.5}]}
    again = {"env": {"git": "b"}, "trials": [{"loss": 0.5, "seconds": 4.0}]}
    other = {"env": {"git": "a"}, "trials": [{"seconds": 3.0, "loss": 0.6}]}
    assert publish.as_bytes(publish.numbers(record)) == publish.as_bytes(publish.numbers(again))
    assert publish.as_bytes(publish.numbers(record)) != publish.as_bytes(publish.numbers(other))


def test_the_numbers_of_the_example_with_pandas():
    page = (ROOT / "experiments" / "results" / "README.md").read_text(encoding="utf-8")
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
    record = read_json(ROOT / "experiments/results/optimization.json")
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
        records[f"experiments/results/{question.name}.json"] = {"trials": trials}
    before = results_table.table(records).decode().splitlines()
    monkeypatch.setattr(results_table, "all_questions", lambda: questions)
    after = results_table.table(records).decode().splitlines()
    assert len(before) == 1 + 4
    assert [line for line in after if not line.startswith("dawn,")] == before
    [first, _] = [line for line in after if line.startswith("dawn,")]
    cells = dict(zip(before[0].split(","), first.split(","), strict=True))
    assert {name for name, cell in cells.items() if cell} == {"question", "seed", "loss"}
