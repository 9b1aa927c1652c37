"""What makes a picture or a page stale.  test_your_own_question.py runs `python -m docs.publish`, and .ci/run asks it
whether anything differs."""

import hashlib
import re
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, forget_what_was_read

from docs import publish
from highways import trial_code
from highways.commands import run_command
from highways.files import Lock, read_json
from highways.trial_code import code_of
from pages import make_index
from pages.show import BrowserPage


@pytest.mark.parametrize("page", ["make_index", "make_explorer"])
def test_a_page_that_computes_T_is_made_from_the_core(page):
    assert any(line.startswith("highway_networks.py ") for line in code_of(ROOT / "pages" / f"{page}.py"))


@pytest.fixture
def nothing_but_pictures(tmp_path, monkeypatch):
    """make(*names): publishes these pictures in an empty folder, where no text differs.

    The picture "interrupted" is never finished: Ctrl-C ends the command."""
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setattr(publish, "current_records", dict)
    monkeypatch.setattr(publish, "COMMANDS", {})
    monkeypatch.setattr(publish, "changed_pages", lambda read: {})
    (tmp_path / "viz").mkdir()

    def make(*names):
        drawn = []

        def draw(name):
            if name == "interrupted":
                raise KeyboardInterrupt
            drawn.append(name)
            return name.encode()

        lacks = {"photograph": "browser"}
        found = []
        for name in names:
            found.append(publish.Product(f"viz/{name}.png", "made from", partial(draw, name), lacks.get(name, "")))
        monkeypatch.setattr(publish, "products", lambda read: found)
        return run_command("publish", partial(publish.make_anew, False)), drawn

    return make


def test_each_picture_is_written_as_soon_as_it_is_drawn(nothing_but_pictures, tmp_path):
    """So that a repeated command goes on with the one that was interrupted."""
    assert nothing_but_pictures("first", "second", "interrupted", "third") == (130, ["first", "second"])
    assert (tmp_path / "viz" / "first.png").read_bytes() == b"first"
    assert nothing_but_pictures("first", "second", "third") == (0, ["third"])
    assert nothing_but_pictures("first", "second", "third") == (0, [])


def test_without_a_browser_its_pictures_stay_and_are_named(nothing_but_pictures, tmp_path, capsys):
    (tmp_path / "viz" / "photograph.png").write_bytes(b"old")
    assert nothing_but_pictures("first", "photograph", "second") == (0, ["first", "second"])
    assert (tmp_path / "viz" / "photograph.png").read_bytes() == b"old"
    capsys.readouterr()
    assert publish.make_anew(True, None) == 1
    assert "viz/photograph.png" in capsys.readouterr().out


def test_one_command_publishes_at_a_time(tmp_path, monkeypatch):
    results = tmp_path / "experiments" / "results"
    results.mkdir(parents=True)
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setattr(publish, "make_anew", lambda check, save: 0)
    with Lock(results):
        assert publish.main([]) == 2
        assert publish.main(["--check"]) == 0
    assert publish.main([]) == 0


@pytest.mark.parametrize(("what", "is_stale"), [("its pictures", False), ("its words", True)])
def test_a_page_s_pictures_are_stale_if_anything_else_in_it_changes(tmp_path, monkeypatch, what, is_stale):
    page = tmp_path / "page.html"
    text = '<p>one</p><img src="data:image/webp;base64,AAAA">'
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    made_from = []
    for old, new in [("", ""), ("AAAA", "BBBB") if what == "its pictures" else ("one", "two")]:
        page.write_text(text.replace(old, new))
        made_from.append(publish.photograph(tmp_path / "shot.webp", page, bytes).made_from)
    assert (made_from[0] != made_from[1]) == is_stale


@pytest.mark.parametrize("changed", ["page.html", "part.js", "net.npz", "shot.webp", "program.py"])
def test_a_page_is_made_from_its_parts(tmp_path, monkeypatch, changed):
    monkeypatch.setattr(trial_code, "ROOT", tmp_path)
    for name in ("page.html", "part.js", "net.npz", "shot.webp", "program.py"):
        (tmp_path / name).write_text("1")
    program = SimpleNamespace(PARTS=tmp_path, PAGE_PARTS=["part.js"], __file__=tmp_path / "program.py")
    page = BrowserPage(program, (), (tmp_path / "net.npz",), (tmp_path / "shot.webp",))

    def made_from() -> str:
        forget_what_was_read()
        return publish.product_of_page(page, None).made_from

    before = made_from()
    (tmp_path / changed).write_text("2")
    assert made_from() != before


def test_the_pictures_of_all_scenes_are_products():
    products = publish.read_digests()
    assert {f"pages/index/pictures/{scene}.webp" for scene in make_index.SHOTS} <= set(products)


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
        ("the processor", True),
        ("a number", True),
        ("the formula", True),
        ("the file", True),
    ],
)
def test_a_picture_is_stale_if_its_data_code_or_file_change(tmp_path, monkeypatch, what, is_stale):
    program = tmp_path / "draws.py"
    program.write_text(DRAWS)
    (tmp_path / "viz").mkdir()
    (tmp_path / "viz" / "drawn.png").write_bytes(b"drawn")
    record = {"loss": 0.5, "seconds": 3.0, "env": {"processor": "Zen 4"}}
    picture = SimpleNamespace(draw=SimpleNamespace(__module__="draws"), files=["loss.json"])
    for module in (publish, trial_code):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setitem(sys.modules, "draws", SimpleNamespace(__file__=str(program)))

    def product() -> publish.Product:
        forget_what_was_read()
        return publish.product_of_picture("drawn", picture, lambda source: record)

    digests = {"viz/drawn.png": {"made_from": product().made_from, "file": hashlib.sha256(b"drawn").hexdigest()}}
    match what:
        case "a comment":
            program.write_text(DRAWS + "# twice\n")
        case "a time":
            record["seconds"] = 4.0
        case "the processor":
            record["env"]["processor"] = "Xeon"
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
    assert publish.as_bytes(publish.repeatable(record)) == publish.as_bytes(publish.repeatable(again))
    assert publish.as_bytes(publish.repeatable(record)) != publish.as_bytes(publish.repeatable(other))


def test_the_numbers_of_the_example_with_pandas():
    page = (ROOT / "experiments" / "results" / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"(highway|plain) +([\d.]+) +([\d.]+) +(\d+)", page)
    losses = {}
    for trial in read_json(ROOT / "experiments" / "results" / "optimization.json")["trials"]["final"]:
        losses.setdefault((trial["depth"], trial["block"]), []).append(trial["loss"])
    expected = []
    for (_, block), values in sorted(losses.items()):
        expected.append((block, f"{np.mean(values):.6f}", f"{np.std(values, ddof=1):.6f}", str(len(values))))
    assert found == expected
