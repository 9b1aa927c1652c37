"""`python -m experiments publish` makes what differs, and nothing else; --check names it and changes
nothing."""

import json
import shutil

import pytest
from conftest import ROOT, one_line_error
from test_docs import READ, run_in

from experiments import publish
from highways.lab.showing import registry

COMMAND = "python -m experiments publish"
CHECK = f"{COMMAND} --check"
pytestmark = pytest.mark.xdist_group("publish")  # the clone is made once


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of the repository, without git and logs of trials."""
    folder = tmp_path_factory.mktemp("clone") / "clone"
    unwanted = shutil.ignore_patterns(".*", "__pycache__", "tests", "*.jsonl", "quick", "full")
    shutil.copytree(ROOT, folder, ignore=unwanted)
    for path in ROOT.glob("run*.json"):  # a user may have made one anew
        record = READ(path.name)
        (folder / path.name).write_text(json.dumps(record))
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
    files = [path for path in clone.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path: path.stat().st_mtime_ns for path in files}


def in_json(change):
    """For edit(): changes what a JSON file holds."""

    def changed(data: bytes) -> bytes:
        record = json.loads(data)
        change(record)
        return publish.json_bytes(record)

    return changed


def test_nothing_differs_in_the_repository(clone):
    for command in (CHECK, COMMAND):
        before = state(clone)
        process = run_in(clone, command)
        assert process.returncode == 0, process.stdout + process.stderr
        assert process.stdout.startswith("nothing differs")
        assert state(clone) == before


def test_a_changed_trial_makes_summary_verdicts_page_and_picture_stale(clone, edit):
    def change(record):
        for trial in record["trials"]["final"]:
            trial["test_accuracy"] = 0.5

    edit("results/depth_for_width.json", in_json(change))
    found = named(run_in(clone, CHECK))
    assert {"results/depth_for_width.json", "results/claims.json", "docs/depth.md", "docs/ledger.md"} <= found
    assert {name for name in found if name.startswith("viz/")} == {"viz/depth_for_width.png"}


def test_a_summary_an_edited_verdict_and_a_number_on_a_page_are_written_anew(clone, edit):
    before = {}
    for name in ("results/lesion.json", "results/claims.json", "README.md"):
        before[name] = (clone / name).read_bytes()
    edit("results/lesion.json", in_json(lambda record: record["summary"].pop()))
    edit("results/claims.json", in_json(lambda record: record["trials"].pop()))
    edit("README.md", lambda data: data.replace(b"<!-- headline -->", b"<!-- headline -->old"))
    assert named(run_in(clone, CHECK)) == set(before)
    process = run_in(clone, COMMAND)
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines() == [f"wrote {name}" for name in before]
    for name in ("results/lesion.json", "README.md"):
        assert (clone / name).read_bytes() == before[name]
    assert (
        json.loads((clone / "results/claims.json").read_text())["trials"]
        == json.loads(before["results/claims.json"])["trials"]
    )


def test_pictures_that_were_edited_or_removed_are_drawn_anew(clone, edit):
    edit("viz/seeds.png", lambda data: data + b" ")
    edit("viz/depth_sweep.png", lambda data: data)
    (clone / "viz" / "depth_sweep.png").unlink()
    assert named(run_in(clone, CHECK)) == {"viz/seeds.png", "viz/depth_sweep.png"}
    edit("viz/digests.json", lambda data: data)
    process = run_in(clone, COMMAND)
    assert process.returncode == 0, process.stderr
    assert {"wrote viz/seeds.png", "wrote viz/depth_sweep.png"} <= set(process.stdout.splitlines())
    assert run_in(clone, CHECK).returncode == 0
    made_with = json.loads((ROOT / publish.DIGESTS).read_text())["viz/seeds.png"]["made_with"]
    if made_with == publish.versions():
        assert (clone / "viz" / "seeds.png").read_bytes() == (ROOT / "viz" / "seeds.png").read_bytes()


def test_changed_drawing_code_makes_the_pictures_that_use_it_stale(clone, edit):
    edit("experiments/lesion/show.py", lambda data: data + b"# more\n")
    found = named(run_in(clone, CHECK))
    assert {"viz/lesion.png", "viz/lesion_kept.png", "viz/lesion_together.png"} <= found
    assert "viz/jacobian.png" not in found
    edit("highways/lab/showing/style.py", lambda data: data + b"# more\n")
    found = named(run_in(clone, CHECK))
    assert {f"viz/{name}.png" for name in registry.PICTURES} | {"highway_networks.gif"} <= found


def test_a_changed_part_of_a_browser_page_makes_it_and_its_pictures_stale(clone, edit):
    edit("pages/explorer/page.js", lambda data: data + b"// more\n")
    found = named(run_in(clone, CHECK))
    assert found == {"pages/explorer.html", "viz/explorer.png", "viz/explorer_phone.png"}


def test_digests_that_cannot_be_read_make_all_pictures_stale(clone, edit):
    edit("viz/digests.json", lambda data: b"<<<<<<< " + data)
    assert {f"viz/{name}.png" for name in registry.PICTURES} <= named(run_in(clone, CHECK))


def test_a_page_that_cannot_be_filled_in_is_named_and_nothing_is_written(clone, edit):
    edit("README.md", lambda data: data.replace(b"<!-- headline -->", b"<!-- headline -->old"))
    before = (clone / "README.md").read_bytes()
    for text in (b"<!-- no.such -->1<!-- end -->", b"\xff"):
        edit("docs/speed.md", lambda data, text=text: text)
        assert "docs/speed.md: " in one_line_error(run_in(clone, COMMAND))
        assert (clone / "README.md").read_bytes() == before


def test_results_that_are_missing_are_named(clone, edit):
    edit("results/gates.json", lambda data: data)
    (clone / "results" / "gates.json").unlink()
    assert "gates.json is missing" in one_line_error(run_in(clone, CHECK))


def test_a_repeated_measurement_with_the_same_numbers_changes_no_digest():
    record = {"env": {"git": "a"}, "trials": [{"seconds": 3.0, "loss": 0.5}]}
    again = {"env": {"git": "b"}, "trials": [{"loss": 0.5, "seconds": 4.0}]}
    other = {"env": {"git": "a"}, "trials": [{"seconds": 3.0, "loss": 0.6}]}
    assert publish.as_bytes(publish.numbers(record)) == publish.as_bytes(publish.numbers(again))
    assert publish.as_bytes(publish.numbers(record)) != publish.as_bytes(publish.numbers(other))
