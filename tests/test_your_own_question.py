"""docs/your_own_question.md does what it shows: with its one folder, its commands make results, a verdict, a picture,
numbers on a page and a row of the list of questions."""

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

# the page, and what it shows: the five files of a question's folder, and three groups of commands
PAGE = (ROOT / "docs" / "your_own_question.md").read_text(encoding="utf-8")
TRIAL, QUESTION, SHOW, TRIED = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
[README] = re.findall(r"```markdown\n(.*?)```", PAGE, re.DOTALL)
FEWER = {"EPOCHS = 12": "EPOCHS = 1", '"widths": (5, 10, 20, 50), "seeds": 5': '"widths": (5, 10), "seeds": 2'}
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
TESTS_OF_CLAIMS = "python -m pytest tests/test_claims.py -n 0 -p no:cacheprovider -k 'is_judged or what_is_committed'"
pytestmark = pytest.mark.xdist_group("your own question")  # each clone is made once
SUFFIXES = (".py", ".json", ".md", ".toml", ".txt", ".gif", ".cff")
FOLDERS = ("benchmarks", "data", "docs", "experiments", "highways", "pages", "tests", "viz")
# Runs commands in one process, for which narrow is the only question; of pictures and browser pages it makes two.
ALONE = """
import runpy
import shlex
import sys
from functools import partial

import experiments
from experiments import publish
from pages import make_claims

experiments.room_of_every_question = lambda: {"narrow": "narrow"}


def products(read):
    picture = publish.registry.PICTURES["narrow"]
    draw = partial(publish.draw, picture, ["experiments/results/narrow.json"], read)

    def page():
        return make_claims.whole_page().encode()

    return [publish.Product("viz/narrow.png", "", draw), publish.Product("pages/claims.html", "", page)]


publish.products = products
publish.photographs = lambda pages: []
for command in sys.argv[1:]:
    _, *words = shlex.split(command)
    is_module = words[0] == "-m"
    name, *words = words[is_module:]
    sys.argv = [name, *words]
    run = runpy.run_module if is_module else runpy.run_path
    try:
        run(name, run_name="__main__")
    except SystemExit as error:
        if error.code:
            raise SystemExit(f"{command} ended with {error.code}") from error
"""


@pytest.fixture(scope="module", params=["alone", pytest.param("whole", marks=pytest.mark.thorough)])
def clone(tmp_path_factory, request):
    """The project with the page's folder, after the page's commands.  Nets train one epoch instead of twelve.

    "whole": what publish would do with all questions, in tens of seconds.  "alone": with this question alone."""
    folder = tmp_path_factory.mktemp("clone")
    copy(folder, is_whole=request.param == "whole")
    narrow = folder / "experiments" / "narrow"
    narrow.mkdir()
    for name, text in FILES.items():
        (narrow / name).write_text(text, encoding="utf-8")
    commands = [OWN_TEST if command.startswith(TEST) else command for command in COMMANDS]
    if request.param == "alone":
        (folder / "alone.py").write_text(ALONE, encoding="utf-8")
        commands = [shlex.join(["python", "alone.py", *commands])]
    else:
        commands.append(TESTS_OF_CLAIMS)
    for command in commands:
        run(folder, command)
    return folder


def copy(folder, is_whole: bool) -> None:
    """Copies the project; if not whole, without results, pictures and all pages but those that publish needs."""
    unwanted = ["__pycache__", "*.jsonl", "quick", "narrow"]  # narrow: the reader's own
    if not is_whole:
        unwanted += ["*.md", "*.png", "*.csv", "results", "test_*.py"]
    ignore = shutil.ignore_patterns(*unwanted)
    files = [path.name for path in ROOT.iterdir() if path.is_file() and path.suffix in SUFFIXES]
    for name in {*files} - ignore(ROOT, files):
        shutil.copy(ROOT / name, folder)
    for name in {*FOLDERS} - ignore(ROOT, FOLDERS):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    (folder / "experiments" / "results").mkdir(exist_ok=True)
    shutil.copy(ROOT / "docs/your_own_question.md", folder / "docs")
    if not is_whole:  # the project's own list begins with claims of other questions
        (folder / "experiments" / "README.md").write_text("# Rooms\n\n<!-- rooms --><!-- end -->\n", encoding="utf-8")


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
    rows = read_json(clone / "experiments" / "results" / "narrow.json")["summary"]
    assert select(rows, width=10)["test_accuracy"]["n"] == 2
    claim = select(read_json(clone / "experiments" / "results" / "claims.json")["trials"], id="narrow-nets-learn")
    assert claim["verdict"] in ("yes", "no", "not clear")
    assert claim["results"] == ["narrow"]


def test_the_page_has_the_numbers(clone):
    row = select(read_json(clone / "experiments" / "results" / "narrow.json")["summary"], width=10)
    claim = select(read_json(clone / "experiments" / "results" / "claims.json")["trials"], id="narrow-nets-learn")
    page = (clone / "experiments" / "narrow" / "README.md").read_text(encoding="utf-8")
    assert f"<!-- narrow.test_accuracy[width=10]:2 -->{row['test_accuracy']['mean']:.2g}<!-- end -->" in page
    assert f"<!-- verdict: narrow-nets-learn -->{claim['verdict']}<!-- end -->" in page
    assert re.search(r"\| 10 \| \d+\.\d\d ± \d+\.\d\d, 2 seeds \|", page)
    questions = (clone / "experiments" / "README.md").read_text(encoding="utf-8")
    assert "| [narrow](narrow/README.md) | **How narrow may a highway net be?** " in questions
    assert (clone / "viz" / "narrow.png").stat().st_size > 5000


def test_the_page_that_shows_the_marks_keeps_them(clone):
    assert (clone / "docs" / "your_own_question.md").read_text(encoding="utf-8") == PAGE


def test_the_page_of_claims_has_the_claim_with_the_names_of_its_samples(clone):
    page = (clone / "pages" / "claims.html").read_text(encoding="utf-8")
    [row] = re.findall('<tbody id="claim=narrow-nets-learn".*?</tbody>', page, re.DOTALL)
    assert "test accuracy, width 10" in row


def test_a_trial_has_a_line_in_the_table_of_results(clone):
    lines = (clone / "experiments" / "results" / "results.csv").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("narrow,") for line in lines) == 4
