"""docs/your_own_question.md does what it shows: with its one folder, its commands make results, a verdict, a picture,
numbers on a page and a row of the list of questions."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

from highways.files import json_bytes, read_json
from highways.records import select, with_digest
from highways.verdict import VERDICTS, Verdict

# the page, and what it shows: the five files of a question's folder, and three groups of commands
PAGE = (ROOT / "docs" / "your_own_question.md").read_text(encoding="utf-8")
TRIAL, QUESTION, SHOW, TRIED = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
[README] = re.findall(r"```markdown\n(.*?)```", PAGE, re.DOTALL)
FEWER = {
    "EPOCHS = 12": "EPOCHS = 1",
    '"widths": (5, 10), "seeds": 2': '"widths": (5,), "seeds": 1',
    '"widths": (5, 10, 20, 50), "seeds": 5': '"widths": (5, 10), "seeds": 2',
}
for text, fewer in FEWER.items():
    assert QUESTION.count(text) == 1
    QUESTION = QUESTION.replace(text, fewer)
FILES = {
    "narrow_trial.py": TRIAL,
    "narrow.py": QUESTION,
    "show.py": SHOW,
    "README.md": README,
    "test_narrow.py": TRIED,
}
COMMANDS = [command for block in re.findall(r"```sh\n(.*?)\n```", PAGE, re.DOTALL) for command in block.splitlines()]
TEST = "python -m pytest "  # the page's command that begins so also runs tests of other questions
OWN_TEST = "python -m pytest experiments/narrow -n 0 -p no:cacheprovider"
PUBLISH = "python -m docs.publish"
pytestmark = pytest.mark.xdist_group("your own question")  # the clone is made once
SUFFIXES = (".py", ".json", ".md", ".toml", ".txt", ".gif", ".cff")
FOLDERS = ("benchmarks", "data", "docs", "experiments", "highways", "pages", "tests", "viz")
# Runs commands in one process, for which narrow is the only question; of pictures and browser pages it makes two.
ALONE = """
import runpy
import shlex
import sys

import experiments
from docs import publish
from pages import make_claims

experiments.room_of_every_question = lambda: {"narrow": "narrow"}


def products(read):
    picture = publish.registry.PICTURES["narrow"]

    def page():
        return make_claims.whole_page().encode()

    return [publish.product_of_picture("narrow", picture, read), publish.Product("pages/claims.html", "", page)]


publish.products = products
for command in sys.argv[1:]:
    must_fail = command.startswith("! ")
    _, *words = shlex.split(command.removeprefix("! "))
    is_module = words[0] == "-m"
    name, *words = words[is_module:]
    sys.argv = [name, *words]
    run = runpy.run_module if is_module else runpy.run_path
    try:
        if name == "docs.publish":  # the module that was changed above, not a new one
            sys.exit(publish.main(words))
        run(name, run_name="__main__")
    except SystemExit as error:
        if bool(error.code) != must_fail:
            raise SystemExit(f"{command} ended with {error.code}") from error
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The project with the page's question alone, after the page's commands.  Nets train one epoch, not twelve."""
    folder = tmp_path_factory.mktemp("clone")
    copy(folder)
    narrow = folder / "experiments" / "narrow"
    narrow.mkdir()
    for name, text in FILES.items():
        (narrow / name).write_text(text, encoding="utf-8")
    (folder / "alone.py").write_text(ALONE, encoding="utf-8")
    process = run(folder, *(OWN_TEST if command.startswith(TEST) else command for command in COMMANDS))
    assert process.returncode == 0, process.stderr
    return folder


def copy(folder) -> None:
    """Copies the project without results, pictures and all pages but those that publish needs."""
    # narrow: the reader's own
    unwanted = ["__pycache__", "*.jsonl", "quick", "narrow", "*.md", "*.png", "*.csv", "results", "test_*.py"]
    ignore = shutil.ignore_patterns(*unwanted)
    files = [path.name for path in ROOT.iterdir() if path.is_file() and path.suffix in SUFFIXES]
    for name in {*files} - ignore(ROOT, files):
        shutil.copy(ROOT / name, folder)
    for name in {*FOLDERS} - ignore(ROOT, FOLDERS):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    (folder / "experiments" / "results").mkdir(exist_ok=True)
    shutil.copy(ROOT / "docs/your_own_question.md", folder / "docs")
    # the project's own list begins with claims of other questions
    (folder / "experiments" / "README.md").write_text("# Rooms\n\n<!-- rooms --><!-- end -->\n", encoding="utf-8")


def run(folder, *commands: str) -> subprocess.CompletedProcess:
    """Runs commands that begin with "python" in the folder, all in one process, until one fails; "! " stands before one
    that must fail."""
    return subprocess.run(
        [sys.executable, "alone.py", *commands],
        cwd=folder,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )


def test_the_results_have_rows_and_a_verdict(clone):
    rows = read_json(clone / "experiments" / "results" / "narrow.json")["summary"]
    assert select(rows, width=10)["test_accuracy"]["n"] == 2
    claim = select(read_json(clone / "experiments" / "results" / "claims.json")["trials"], id="narrow-nets-learn")
    assert claim["verdict"] in VERDICTS
    assert claim["results"] == ["narrow"]


def test_the_page_has_the_numbers(clone):
    row = select(read_json(clone / "experiments" / "results" / "narrow.json")["summary"], width=10)
    claim = select(read_json(clone / "experiments" / "results" / "claims.json")["trials"], id="narrow-nets-learn")
    page = (clone / "experiments" / "narrow" / "README.md").read_text(encoding="utf-8")
    assert f"<!-- narrow.test_accuracy[width=10]:2 -->{row['test_accuracy']['mean']:.2g}<!-- end -->" in page
    verdict = Verdict.of(claim).as_text(claim["kind"])
    assert f"<!-- verdict: narrow-nets-learn -->{verdict}<!-- end -->" in page
    assert re.search(r"\| 10 \| \d+\.\d\d ± \d+\.\d\d, 2 seeds \|", page)
    questions = (clone / "experiments" / "README.md").read_text(encoding="utf-8")
    assert "| [narrow](narrow/README.md) | **How narrow may a highway net be?** " in questions
    assert (clone / "viz" / "narrow.png").stat().st_size > 5000


def test_the_page_that_shows_the_marks_keeps_them(clone):
    assert (clone / "docs" / "your_own_question.md").read_text(encoding="utf-8") == PAGE


def test_the_page_of_claims_names_the_claim_and_its_samples(clone):
    page = (clone / "pages" / "claims.html").read_text(encoding="utf-8")
    [row] = re.findall('<tbody id="claim=narrow-nets-learn".*?</tbody>', page, re.DOTALL)
    assert "test accuracy, width 10" in row


def test_what_was_edited_is_noticed_and_made_anew(clone):
    """The results' summary, a number on the page, and the picture."""
    results = clone / "experiments" / "results" / "narrow.json"
    page = clone / "experiments" / "narrow" / "README.md"
    picture = clone / "viz" / "narrow.png"
    files = (results, page, picture)
    before = [file.read_bytes() for file in files]
    record = read_json(results)
    record["summary"].pop()
    results.write_bytes(json_bytes(with_digest(record)))
    page.write_bytes(re.sub(rb"(<!-- narrow\.test_accuracy\[width=10\]:2 -->)[^<]*", rb"\g<1>0.123", before[1]))
    picture.write_bytes(before[2] + b" ")
    edited = [file.read_bytes() for file in files]
    assert all(one != other for one, other in zip(edited, before, strict=True))
    process = run(clone, f"! {PUBLISH} --check", PUBLISH)
    assert process.returncode == 0, process.stderr
    assert [file.read_bytes() for file in files] == before
