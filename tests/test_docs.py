"""The pages: they show no record but those of the committed programs, their commands and their Python run as written,
and the files that they quote hold what they quote.  `python -m experiments publish --check` compares their numbers,
pages/test_site.py follows their links."""

import copy
import fnmatch
import importlib
import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, in_process

import conv_highway_networks as cn
import highway_networks as hn
from experiments import __main__ as command_line
from experiments import committed as committed_records
from experiments import find_question, judging, publish, question_names
from experiments.cifar import cifar
from experiments.committed import checked
from experiments.study import COMMANDS as COMMANDS_OF_RUNS
from highways.conv import trials as conv_trials
from highways.files import InputError, known_commits, read_json
from highways.lab.showing import pages as fill
from highways.lab.showing.tables import entry_text
from highways.records import RESULTS, RUN, check, path_of, record_bytes, sealed

publish.register_pictures_and_tables()
PAGES = {str(page.relative_to(ROOT).as_posix()): page.read_text(encoding="utf-8") for page in fill.pages()}
README = PAGES["README.md"]
# pages whose commands and Python other tests follow
FOLLOWED_ELSEWHERE = (
    "docs/make_it_yours.md",
    "docs/your_own_block.md",
    "docs/your_own_question.md",
    "highways/trained/README.md",
    "benchmarks/records/README.md",
    "experiments/results/README.md",  # needs pandas; tests/test_publish.py has its numbers
)
TAUGHT = {name: text for name, text in PAGES.items() if name not in FOLLOWED_ELSEWHERE}
# ---- The committed JSON ----------------------------------------------------------------------------------------------


def git(root: Path, *words):
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(("git", *words), cwd=root, env=own, capture_output=True, check=False)


def committed(root: Path):
    """Returns read(name), which reads the JSON that the pages speak of.

    Usually that is the file in the folder, so that a new result is checked before it is committed.
    But if some run*.json differs from git's HEAD while the pages do not, a user has run the
    headline: then it is HEAD's file."""

    def differ(*paths):
        return git(root, "diff", "--quiet", "HEAD", "--", *paths).returncode == 1

    try:
        own_run = (root / ".git").exists() and differ("run*.json") and not differ("*.md")
    except OSError:  # there is no git
        own_run = False

    @cache
    def read(name):
        if own_run and fnmatch.fnmatch(name, "run*.json"):
            return json.loads(git(root, "show", f"HEAD:{name}").stdout)
        return read_json(root / name)

    return read


READ = committed(ROOT)
ENV = {"python": "3.12", "numpy": "2.0"}


# ---- Numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "<!-- optimization.nothing -->1<!-- end -->",
        "<!-- verdict: no-such-id -->1<!-- end -->",
        "<!-- lesion.idle_share -->1<!-- end -->",  # of three rows
        "<!-- lesion.idle_share[data=EMNIST] -->1<!-- end -->",
        "<!-- controls -->1<!-- thirds -->2<!-- end -->",
    ],
)
def test_comments_that_cannot_be_filled_are_refused(text):
    with pytest.raises(InputError):
        fill.fill(text, READ)


def test_numbers_as_the_pages_show_them():
    several = {"mean": 0.98765, "sd": 0.0123, "n": 3}
    assert entry_text(several, "accuracy", 0) == "0.9877 ± 0.012 (n = 3)"
    assert entry_text(several | {"sd": None, "n": 1}, "accuracy", 0) == "0.9877"
    assert entry_text(several, "accuracy", 2) == "0.99"
    assert entry_text({"mean": None, "sd": None, "n": 1}, "accuracy", 0) == "diverged"
    assert entry_text(None, "epochs_to_loss", 0) == "never"
    assert entry_text("tanh", "best", 0) == "tanh"


# ---- Commands --------------------------------------------------------------------------------------------------------


def commands_of(text: str) -> list[str]:
    """The commands in a page's code blocks, tables and sentences, without comments, and as if
    .venv were active."""
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S))
    lines = [line.split("  #")[0] for line in blocks.splitlines()] + re.findall(r"`(python [^`\n]+)`", text)
    lines += re.findall(r"^\$ (.+)", text, re.M)
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [part.removeprefix(".venv/bin/") for part in parts if part]


COMMANDS = list(dict.fromkeys(command for text in TAUGHT.values() for command in commands_of(text)))
MODULES = [command for command in COMMANDS if re.match(r"python -m (experiments|benchmarks)", command)]
INSTALLING = [
    command for command in COMMANDS if command.startswith(("python3 -m venv", "python -m pip", "python -m pytest"))
]
CLUSTER = [command for command in COMMANDS if not command.startswith(("python ", "python3 ", "mpiexec "))]
SCRIPTS = [command for command in COMMANDS if command not in MODULES + INSTALLING + CLUSTER]
QUICK = "python conv_highway_networks.py --quick"
SMALLER = ("--net", "mnist-3", "--epochs", "1", "--n-train", "200", "--n-test", "100")


def row_of(command: str) -> re.Match | None:
    """The row of this command in a table of commands; its group 1 is what the command writes."""
    rows = (re.search(rf"^\| `{re.escape(command)}` \| `([^`]+)`", text, re.M) for text in TAUGHT.values())
    return next(filter(None, rows), None)


def test_each_net_of_cifar_has_a_command_that_trains_its_row():
    """The command has all settings of the committed runs; and no command trains one of these runs
    with others."""
    rows = {t["label"]: t for t in READ("experiments/results/cifar.json")["trials"]["final"]}
    images = {"x_train": np.empty((50000, 3072), np.uint8), "x_test": np.empty((10000, 3072), np.uint8)}
    asked = []
    for command in COMMANDS:
        if "conv_highway_networks.py" not in command:
            continue
        _, _, flags = command.partition("conv_highway_networks.py")
        _, args = cn.parse_arguments(flags.split())
        if args.data == "mnist":
            continue
        for settings in cn.plan(args, cifar.made_up(args.data)._replace(**images)):
            asked.append((settings.label, conv_trials.setting(settings)))
    assert rows.keys() <= {label for label, _ in asked}
    for label, settings in asked:
        if label in rows:
            assert {name: rows[label][name] for name in settings} == settings


def test_the_quick_command_writes_what_its_row_names(monkeypatch, tmp_path):
    """On fewer images than the page's."""
    monkeypatch.setattr(cn, "ROOT", tmp_path)
    process = in_process(cn.main, *QUICK.split()[2:], *SMALLER)
    assert process.returncode == 0, process.stderr
    assert [path.name for path in tmp_path.glob(row_of(QUICK)[1])]


QUESTIONS = [command for command in MODULES if command.split()[2] == "experiments"]


def test_every_question_s_command_is_understood():
    """The results in a command's row, if it has one, say that this command wrote them."""
    for command in QUESTIONS:
        words = command.split()[3:]
        if words and words[0] in question_names():
            command_line.parse_arguments(find_question(words[0]), words[1:])
        else:
            assert not words or words == ["NAME"] or words[0] in command_line.OTHER_COMMANDS, command
        row = row_of(command)
        if row:
            assert json.loads((ROOT / row[1]).read_text())["command"] == command


def main_of(module: str):
    """The main() of a module, or of a package's __main__.py, that `python -m` runs."""
    if (ROOT / module.replace(".", "/")).is_dir():
        module = f"{module}.__main__"
    return importlib.import_module(module).main


BENCHMARKS = [command for command in MODULES if command not in QUESTIONS]
# imported with the tests: benchmarks set the environment, and pytest_collection_finish() undoes that
MAINS = {command: main_of(command.split()[2]) for command in BENCHMARKS}


def test_every_benchmark_s_command_is_understood():
    """--help lists its flags.  The results in its row, if it has one, say that this command wrote
    them."""
    for command in BENCHMARKS:
        words = command.split()[3:]
        process = in_process(MAINS[command], "--help")
        assert process.returncode == 0, command
        for flag in (word for word in words if word.startswith("--")):
            assert re.search(rf"{flag}\b", process.stdout), command
        row = row_of(command)
        if row:
            assert json.loads((ROOT / row[1]).read_text())["command"] == command


def test_every_command_of_a_program_is_understood():
    modules = {"conv_highway_networks.py": cn, "highway_networks.py": hn}
    for command in SCRIPTS:
        _, script, *words = command[command.index("python ") :].split()
        if script in modules:
            modules[script].parse_arguments(words)
            continue
        if script == "-m":
            module = words.pop(0).replace(".", "/")
            script = f"{module}/__main__.py" if (ROOT / module).is_dir() else f"{module}.py"
        assert (ROOT / script).exists(), command


@pytest.mark.parametrize(
    "change",
    [{"n_train": 3}, {"data_sha256": "0" * 64}, {"env": ENV | {"git": "58f54ed355e2-dirty"}}],
)
def test_runs_of_other_settings_or_data_fill_nothing(tmp_path, monkeypatch, change):
    """Pages would say of them what is true of the headline's runs."""
    record = READ("run_sweep.json")
    assert checked("run_sweep", record) == record
    (tmp_path / "run_sweep.json").write_text(json.dumps(changed(record, change)))
    monkeypatch.setattr(committed_records, "ROOT", tmp_path)
    with pytest.raises(InputError):
        committed_records.read_committed("run_sweep.json")


def changed(record: dict, change: dict) -> dict:
    """The record with other settings, in all of its nets, too, and with the digest of that."""
    record = copy.deepcopy(record)
    record |= change
    for pair in record["runs"]:
        for block in ("highway", "plain"):
            pair[block] |= {name: value for name, value in change.items() if name in pair[block]}
    return sealed(record)


def test_runs_of_other_depths_or_seeds_are_refused():
    for name, change in (("run_seeds", {"depth": 5}), ("run_seeds", {"seed": 11}), ("run_sweep", {"depth": 6})):
        record = READ(path_of(name))
        record = record | {"runs": [record["runs"][0] | change, *record["runs"][1:]]}
        with pytest.raises(InputError):
            checked(name, record)


@pytest.mark.parametrize(
    "change",
    [
        {"final_test_acc": 0.9},
        {"diverged": True, "diverged_at": "epoch 3"},
    ],
)
def test_a_run_that_is_not_what_its_record_says_gets_no_digest(change):
    record = copy.deepcopy(READ("run.json"))
    record["runs"][0]["plain"] |= change
    with pytest.raises(InputError):
        record_bytes(record, RUN)


def test_a_summary_that_was_edited_fills_nothing(tmp_path, monkeypatch):
    results = results_in(tmp_path, monkeypatch)
    record = READ("experiments/results/benchmark_step.json")
    edited = record | {"summary": dict.fromkeys(record["summary"], 7.0)}
    unsigned = {name: value for name, value in edited.items() if name != "digest"}
    for summary in (edited, unsigned):
        (results / "benchmark_step.json").write_text(json.dumps(summary))
        with pytest.raises(InputError):
            committed_records.read_committed("experiments/results/benchmark_step.json")


@pytest.mark.skipif(known_commits() is None, reason="the history of this clone is not there")
def test_a_record_of_a_commit_that_git_does_not_have_is_refused(tmp_path, monkeypatch):
    name = "run.json"
    results_in(tmp_path, monkeypatch)
    record = READ(name)
    edited = record | {"env": record["env"] | {"git": "deadbeefdead"}}
    (tmp_path / name).write_text(json.dumps(sealed(edited)))
    with pytest.raises(InputError):
        committed_records.read_committed(name)


def test_results_of_another_experiment_or_budget_are_not_judged(tmp_path, monkeypatch):
    results = results_in(tmp_path, monkeypatch)
    shutil.copy(results / "factor_model_wide.json", results / "factor_model.json")
    with pytest.raises(InputError):
        judging.read_results(tmp_path)
    record = READ("experiments/results/factor_model.json")
    record = record | {"settings": record["settings"] | {"budget": "Quick"}}
    (results / "factor_model.json").write_text(json.dumps(sealed(record)))
    with pytest.raises(InputError):
        judging.read_results(tmp_path)


def results_in(folder: Path, monkeypatch) -> Path:
    """A copy of the committed results, which committed_records reads in place of the repository's."""
    results = folder / "experiments" / "results"
    shutil.copytree(ROOT / "experiments" / "results", results, ignore=shutil.ignore_patterns("*.npz", "*.jsonl"))
    for name in COMMANDS_OF_RUNS:
        shutil.copy(ROOT / path_of(name), folder / path_of(name))
    monkeypatch.setattr(committed_records, "ROOT", folder)
    return results


@pytest.mark.parametrize("where", ["verdict", "results"])
def test_a_ledger_that_is_not_what_the_rules_say_fills_nothing(tmp_path, monkeypatch, where):
    """Edited by hand, or older than the results."""
    results = results_in(tmp_path, monkeypatch)
    ledger = "experiments/results/claims.json"
    assert committed_records.read_committed(ledger) == READ(ledger)
    name = "factor_model" if where == "results" else "claims"
    record = copy.deepcopy(READ(f"experiments/results/{name}.json"))
    if where == "verdict":
        record["trials"][1]["verdict"] = "edited by hand"
    else:
        record["trials"] = record["trials"][:300]
    if where == "results":
        record = sealed(record)  # the verdicts are still those on other results
    (results / f"{name}.json").write_text(json.dumps(record))
    with pytest.raises(InputError):
        committed_records.read_committed("experiments/results/claims.json")


def test_a_trial_that_is_there_twice_is_not_counted_twice():
    record = READ("experiments/results/routing.json")
    twice = record | {"trials": [*record["trials"], record["trials"][0]]}
    with pytest.raises(InputError):
        check(sealed(twice), RESULTS, "routing.json")


def test_the_command_of_fashion_mnist():
    """It has the settings of the committed run_fashion.json, which the pages show."""
    section = PAGES["docs/data.md"].split("## Fashion-MNIST")[1].split("\n## ")[0]
    _, _, *words = commands_of(section)[0].split()
    args = hn.parse_arguments(words)
    record = READ("experiments/results/run_fashion.json")
    assert args.data_dir in section.split("```")[0]
    assert (record["data_set"], args.out) == ("fashion-mnist", "experiments/results/run_fashion.json")
    assert record["seeds"] == args.seeds == [pair["seed"] for pair in record["runs"]]
    assert {name: record[name] for name in ("depth", "hidden", "epochs", "n_train", "n_test", "lr")} == {
        name: getattr(args, name) for name in ("depth", "hidden", "epochs", "n_train", "n_test", "lr")
    }


# ---- Python, quotations ----------------------------------------------------------------------------------------------

QUOTED = r"<!-- from (\S+) -->\n\n```python\n(.*?)```"
EXAMPLES = [
    pytest.param(block, id=f"{page}-{i}")
    for page, text in TAUGHT.items()
    for i, block in enumerate(re.findall(r"^```python\n(.*?)^```", re.sub(QUOTED, "", text, flags=re.S), re.M | re.S))
]


@pytest.mark.parametrize("block", EXAMPLES)
def test_an_example_runs(block, capsys, monkeypatch):
    """A net is trained for one epoch, on fewer images."""
    monkeypatch.chdir(ROOT)
    shorter = block.replace("depth=30", "depth=30, epochs=1, n_train=1000, n_test=500")
    exec(compile(shorter, "example", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out


QUOTATIONS = [found for text in PAGES.values() for found in re.findall(QUOTED, text, re.S)]


def test_what_is_quoted_stands_there():
    for file, lines in QUOTATIONS:
        assert lines in (ROOT / file).read_text(encoding="utf-8"), file


def test_files_that_pages_name_are_there():
    for page, text in TAUGHT.items():
        named = re.findall(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|md|txt|yml|cff))`", text)
        named += re.findall(r"python -m pip install -r (\S+)", "\n".join(commands_of(text)))
        assert [name for name in named if "NAME" not in name and not (ROOT / name).exists()] == [], page
