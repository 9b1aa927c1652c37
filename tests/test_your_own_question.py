"""docs/your_own_question.md does what it shows: with its one folder, its commands make results, a verdict, a picture,
numbers on a page, a row of the ledger and one of the list of questions."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

from highways.files import read_json
from highways.records import select

# the page, and what it shows: the five files of a question's folder, and two groups of commands
PAGE = (ROOT / "docs" / "your_own_question.md").read_text(encoding="utf-8")
TRIAL, QUESTION, SHOW, TRIED = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
[README] = re.findall(r"```markdown\n(.*?)```", PAGE, re.DOTALL)
FILES = {
    "trial.py": TRIAL,
    "question.py": QUESTION.replace("EPOCHS = 12", "EPOCHS = 1"),
    "show.py": SHOW,
    "README.md": README,
    "test_narrow.py": TRIED,
}
MEASURE, PUBLISH = re.findall(r"```sh\n(.*?)\n```", PAGE, re.DOTALL)
TEST = "python -m pytest "  # the page's commands that begin so are not run
pytestmark = [
    pytest.mark.xdist_group("your own question"),  # the clone is made once
    pytest.mark.thorough,  # its commands publish everything, twice
]
FOLDERS = ("article", "benchmarks", "data", "docs", "experiments", "highways", "pages", "results", "tests", "viz")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The project with the page's folder, after the page's commands; nets train one epoch instead of twelve."""
    folder = tmp_path_factory.mktemp("clone")
    for path in ROOT.iterdir():
        if path.is_file() and path.suffix in (".py", ".json", ".md", ".toml", ".txt", ".gif", ".cff"):
            shutil.copy(path, folder)
    unwanted = shutil.ignore_patterns("__pycache__", "*.jsonl", "quick", "narrow")  # narrow: the reader's own
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)

    narrow = folder / "experiments" / "narrow"
    narrow.mkdir()
    for name, text in FILES.items():
        (narrow / name).write_text(text, encoding="utf-8")
    for command in (*MEASURE.splitlines(), *PUBLISH.splitlines()):
        if not command.startswith(TEST):
            run(folder, command)
    return folder


def run(folder, command: str) -> None:
    """Runs a command that begins with "python" in the folder; it must succeed."""
    python, *words = shlex.split(command)
    assert python == "python"
    environment = os.environ | {"MPLBACKEND": "Agg"}
    process = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, f"{command}\n{process.stderr}"


def test_the_results_have_rows_and_a_verdict(clone):
    rows = read_json(clone / "results" / "narrow.json")["summary"]
    assert select(rows, width=10)["test_accuracy"]["n"] == 5
    claim = select(read_json(clone / "results" / "claims.json")["trials"], id="narrow-nets-learn")
    assert claim["verdict"] in ("yes", "no", "not clear")
    assert claim["results"] == ["narrow"]


def test_the_page_and_the_ledger_have_the_numbers(clone):
    row = select(read_json(clone / "results" / "narrow.json")["summary"], width=10)
    claim = select(read_json(clone / "results" / "claims.json")["trials"], id="narrow-nets-learn")
    page = (clone / "experiments" / "narrow" / "README.md").read_text(encoding="utf-8")
    assert f"<!-- narrow.test_accuracy[width=10]:2 -->{row['test_accuracy']['mean']:.2g}<!-- end -->" in page
    assert f"<!-- verdict: narrow-nets-learn -->{claim['verdict']}<!-- end -->" in page
    assert re.search(r"\| 10 \| \d+\.\d\d ± \d+\.\d\d, 5 seeds \|", page)
    ledger = (clone / "docs" / "ledger.md").read_text(encoding="utf-8")
    [row] = [line for line in ledger.splitlines() if "#claim=narrow-nets-learn" in line]
    assert f"**{claim['verdict']}**" in row
    questions = (clone / "experiments" / "README.md").read_text(encoding="utf-8")
    assert "| [narrow](narrow/README.md) | How narrow may a highway net of depth 30 be? | " in questions
    assert (clone / "viz" / "narrow.png").stat().st_size > 5000


def test_the_page_that_shows_the_marks_keeps_them(clone):
    assert (clone / "docs" / "your_own_question.md").read_text(encoding="utf-8") == PAGE


def test_its_own_test_and_those_of_the_claims_pass(clone):
    one_process = "-n 0 -p no:cacheprovider"
    run(clone, f"python -m pytest experiments/narrow {one_process}")
    run(clone, f"python -m pytest tests/test_claims.py {one_process} -k 'is_judged or what_is_committed'")
