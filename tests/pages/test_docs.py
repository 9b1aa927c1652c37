"""The pages: their commands and their Python run as written, and the files that they quote hold what they quote.
`python -m docs.publish --check` compares their numbers, pages/test_site.py follows their links."""

import importlib
import json
import re

import numpy as np
import pytest
from conftest import ROOT, in_process

import conv_highway_networks as cn
import highway_networks as hn
from experiments import __main__ as command_line
from experiments import find_question, question_names, register_pictures_and_tables
from experiments.cifar import cifar
from highways.conv import trials as conv_trials
from highways.files import InputError, read_json
from highways.lab.showing import pages as fill
from highways.lab.showing.tables import entry_text

register_pictures_and_tables()
PAGES = {str(page.relative_to(ROOT).as_posix()): page.read_text(encoding="utf-8") for page in fill.pages()}
# pages whose commands and Python other tests follow
FOLLOWED_ELSEWHERE = (
    "docs/make_it_yours.md",
    "docs/your_own_block.md",
    "docs/your_own_question.md",
    "highways/trained/README.md",
    "benchmarks/records/README.md",
    "experiments/results/README.md",  # needs pandas; test_publish.py has its numbers
)
TAUGHT = {name: text for name, text in PAGES.items() if name not in FOLLOWED_ELSEWHERE}


def read(name: str) -> dict:
    """A JSON of the repository."""
    return read_json(ROOT / name)


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
        fill.fill(text, read)


def test_numbers_as_the_pages_show_them():
    several = {"mean": 0.98765, "sd": 0.0123, "n": 3}
    assert entry_text(several, "accuracy", 0) == "0.9877 ± 0.012 (n = 3)"
    assert entry_text(several | {"sd": None, "n": 1}, "accuracy", 0) == "0.9877"
    assert entry_text(several, "accuracy", 2) == "0.99"
    diverged = entry_text({"mean": None, "sd": None, "n": 1}, "accuracy", 0)
    never_reached = entry_text(None, "epochs_to_loss", 0)
    assert diverged != never_reached
    assert not re.search(r"\d", diverged + never_reached)
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
    rows = {t["label"]: t for t in read("experiments/results/cifar.json")["trials"]["final"]}
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
    assert QUESTIONS
    for command in QUESTIONS:
        words = command.split()[3:]
        if words and words[0] in question_names():
            command_line.parse_arguments(find_question(words[0]), words[1:])
        else:
            assert not words or words == ["NAME"] or words[0] == "add", command
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
    assert BENCHMARKS
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
    assert SCRIPTS
    for command in SCRIPTS:
        _, script, *words = command[command.index("python ") :].split()
        if script in modules:
            modules[script].parse_arguments(words)
            continue
        if script == "-m":
            module = words.pop(0).replace(".", "/")
            script = f"{module}/__main__.py" if (ROOT / module).is_dir() else f"{module}.py"
        assert (ROOT / script).exists(), command


def test_the_command_of_fashion_mnist():
    """It has the settings of the committed run_fashion.json, which the pages show."""
    section = PAGES["docs/data.md"].split("## Fashion-MNIST")[1].split("\n## ")[0]
    _, _, *words = commands_of(section)[0].split()
    args = hn.parse_arguments(words)
    record = read("experiments/results/run_fashion.json")
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
    assert QUOTATIONS
    for file, lines in QUOTATIONS:
        assert lines in (ROOT / file).read_text(encoding="utf-8"), file


def test_files_that_pages_name_are_there():
    for page, text in TAUGHT.items():
        named = re.findall(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|md|txt|yml|cff))`", text)
        named += re.findall(r"python -m pip install -r (\S+)", "\n".join(commands_of(text)))
        assert [name for name in named if "NAME" not in name and not (ROOT / name).exists()] == [], page
