"""The README is tested: its commands run as written, its Python runs, its numbers are those of the committed JSON."""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean

import pytest

from docs.fill import SUMMARY, TABLES, load, of_summary

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
LINES = re.findall(r"^(?:\| `)?(python [^`\n]+)", README, re.M)  # of ```sh blocks and of the table of commands
COMMANDS = [part.strip() for line in LINES for part in line.split("&&")]
MODULES = ("python -m benchmarks.", "python -m experiments.")
LONG = [command for command in COMMANDS if command.startswith(MODULES)]  # minutes each: --help only
SCRIPTS = list(dict.fromkeys(command for command in COMMANDS if not command.startswith("python -m ")))


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The programs, the data and the committed JSON, as in a clone."""
    folder = tmp_path_factory.mktemp("clone")
    for path in [*ROOT.glob("*.py"), *ROOT.glob("run*.json")]:
        shutil.copy(path, folder)
    for name in ("data", "plumbing"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def test_there_are_commands():
    assert len(SCRIPTS) >= 7
    assert "python highway_networks.py --seed 0" in SCRIPTS


@pytest.mark.parametrize("command", SCRIPTS)
def test_a_command(clone, command):
    """In the README's order, in one clone: each finds what those before it made."""
    words, start = command.split(), time.time()
    process = subprocess.run(
        [sys.executable, *words[1:]],
        cwd=clone,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert "Warning" not in process.stderr
    row = re.search(rf"^\| `{re.escape(command)}` \| `([^`]+)`", README, re.M)
    if row:
        assert any(path.stat().st_mtime > start - 0.05 for path in clone.glob(row[1]))
    if command == "python highway_networks.py --seed 0":
        pair = json.loads((clone / "run.json").read_text())["runs"][0]
        assert pair["highway"]["final_test_acc"] >= 0.85  # 0.87 to 0.93, by processor and seed
        assert pair["plain"]["final_test_acc"] <= 0.15


@pytest.mark.parametrize("command", LONG)
def test_a_command_of_minutes(command):
    words = [sys.executable, *command.split()[1:], "--help"]
    assert subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode == 0
    row = re.search(rf"^\| `{re.escape(command)}` \| `([^`]+)`", README, re.M)
    assert json.loads((ROOT / row[1]).read_text())["command"] == command


def test_commands_within_sentences_are_understood():
    """They train for long: their flags are parsed, no more."""
    import conv_highway_networks as cn
    import highway_networks as hn

    modules = {"conv_highway_networks": cn, "highway_networks": hn}
    found = re.findall(r"`python (conv_highway_networks|highway_networks)\.py ([^`]+)`", README)
    assert any("--seeds" in words for script, words in found if script == "conv_highway_networks")
    for script, words in found:
        if words != "--help":
            modules[script].parse_arguments(words.split())


def test_installing_and_testing_is_what_ci_does():
    assert [command for command in COMMANDS if command not in SCRIPTS + LONG] == [
        "python -m pip install -r requirements.txt",
        "python -m pip install -r requirements-dev.txt",
        "python -m pytest",
    ]
    assert "-r requirements-dev.txt\n" in CI
    assert CI.endswith("\npython -m pytest\n")
    assert (ROOT / "requirements-dev.txt").read_text().startswith("-r requirements.txt\n")


def test_the_python_runs(capsys):
    [block] = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(compile(block, "README.md", "exec"), {})
    assert "(30, 50, 50) (30, 50)" in capsys.readouterr().out


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://arxiv.org/") or (ROOT / target).exists(), target


def is_committed(name):
    """Whether a results file is as git has it; where there is no git, yes."""
    try:
        found = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", name, "README.md"], cwd=ROOT, check=False)
    except FileNotFoundError:
        return True
    return found.returncode != 1


@pytest.fixture
def committed_results():
    """The README speaks of the committed results: on another processor one's own differ in the last digits."""
    mine = [path.name for path in ROOT.glob("run_*.json")] + ["run.json"]
    if not all(map(is_committed, mine)):
        pytest.skip("run*.json or README.md differ from the commit")


@pytest.mark.parametrize(("name", "key", "digits", "text"), [match[1:] for match in re.findall(SUMMARY, README)])
def test_a_number_of_an_experiment(name, key, digits, text):
    assert text == of_summary(name, key, digits or None)


@pytest.mark.parametrize("name", TABLES)
def test_numbers_are_those_of_the_committed_json(name, committed_results):
    [text] = re.findall(rf"<!-- {name} -->(.*?)<!-- end -->", README, re.S)
    assert text == TABLES[name]()


def test_what_the_results_must_show(committed_results):
    runs = load("run_seeds.json")["runs"]
    highway, plain = ([pair[block]["final_test_acc"] for pair in runs] for block in ("highway", "plain"))
    assert len(runs) == 10
    assert min(highway) > max(plain)
    assert mean(highway) >= 0.89
    assert mean(plain) <= 0.13
    sweep = {pair["depth"]: pair for pair in load("run_sweep.json")["runs"]}
    accuracy = {depth: pair["highway"]["final_test_acc"] for depth, pair in sweep.items()}
    assert min(accuracy.values()) >= max(accuracy.values()) - 0.04
    assert sweep[5]["plain"]["final_test_acc"] >= 0.8
    assert all(pair["plain"]["final_test_acc"] <= 0.15 for depth, pair in sweep.items() if depth >= 20)
