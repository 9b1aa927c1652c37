"""Imports point one way, so that a folder of the project can be read without those above it:
NumPy <- highway_networks <- highways.nets <- experiments <- pages, docs.article <- docs.publish."""

import ast
import functools
import graphlib
from pathlib import Path

import pytest
from conftest import ROOT

from experiments import question_file, question_names, rooms
from highways.trial_code import code_of

DRAWING = ("visualize_highway_networks", "make_highway_networks_gif")
PROGRAMS = ("experiments.__main__", "experiments.add", "docs.publish")  # nothing imports them
ABOVE_THE_LIBRARY = ("experiments", "benchmarks", "docs", "pages", *DRAWING)
IN_FOLDERS = ("highways.nets", "highways.conv", "highways.lab", "highways.trained")
# what no module of a folder, or no file of a pattern, may import
FORBIDDEN = {
    "highway_networks.py": (*ABOVE_THE_LIBRARY, "highways", "straightforward"),
    "straightforward.py": (*ABOVE_THE_LIBRARY, "highways"),
    "conv_highway_networks.py": (*ABOVE_THE_LIBRARY, "highways.lab"),
    # __init__.py offers functions of highways.lab by name
    "highways/[!_]*.py": (*ABOVE_THE_LIBRARY, *IN_FOLDERS, "importlib"),  # which would import by a string
    "highways/nets/**/*.py": (*ABOVE_THE_LIBRARY, "highways.conv", "highways.lab"),
    "highways/conv/**/*.py": (*ABOVE_THE_LIBRARY, "highways.lab", "highways.records"),
    "highways/trained/**/*.py": (*ABOVE_THE_LIBRARY, "highways.lab"),
    "highways/trained/nets.py": ("highways.nets",),  # a net is read without what trained it
    "highways/lab/**/*.py": ABOVE_THE_LIBRARY,
    "highways/lab/judging/**/*.py": ("highway_networks", "highways.conv", "highways.nets", "highways.lab.showing"),
    "highways/lab/showing/**/*.py": ("highway_networks", "highways.conv", "highways.nets", "highways.lab.judging"),
    "experiments/*/*_trial.py": ("highways.lab", "benchmarks", "pages"),
    "experiments/shared_trials/*.py": ("highways.lab", "benchmarks", "pages"),
    "benchmarks/**/*.py": ("experiments", "docs", "pages"),
    # the card's programs that draw know JSON only, and nothing imports them
    "visualize_highway_networks.py": (*ABOVE_THE_LIBRARY, "highway_networks", "highways"),
    "make_highway_networks_gif.py": ("experiments", "benchmarks", "docs", "pages", "highway_networks", "highways"),
    "pages/**/*.py": (*DRAWING, *PROGRAMS, "docs"),
    "docs/article/*.py": (*DRAWING, *PROGRAMS, "pages"),
    "docs/publish.py": (*DRAWING, *PROGRAMS),
    "experiments/*/*.py": (*DRAWING, *PROGRAMS, "benchmarks", "docs", "pages"),
    "experiments/[!_]*.py": (*DRAWING, *PROGRAMS, "benchmarks", "docs", "pages"),
    # the command asks experiments.add, too
    "experiments/__main__.py": (*DRAWING, "benchmarks", "docs", "pages"),
}
# the only modules of this project that some files may import
OF_PICTURES = ("highways.lab.showing", "highways.records", "highways.statistics", "highways.files")
ALLOWED = {
    "experiments/*/show.py": (*OF_PICTURES, "highway_networks"),  # its table of runs
    "benchmarks/show.py": OF_PICTURES,
}
# what highways/conv may import of highways.nets
OF_NETS_IN_CONV = (
    "highways.nets.optimizers",
    "highways.nets.schedules",
)


@functools.cache
def imported(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(modules_of(node))
    return found


def modules_of(node: ast.ImportFrom) -> set[str]:
    """The modules that a `from` names: MODULE.NAME where this is a module, too, otherwise MODULE."""
    folder = ROOT / node.module.replace(".", "/")
    found = set()
    for alias in node.names:
        is_module = (folder / f"{alias.name}.py").exists() or (folder / alias.name).is_dir()
        found.add(f"{node.module}.{alias.name}" if is_module else node.module)
    return found


def is_within(module: str, *folders: str) -> bool:
    return any(module == folder or module.startswith(f"{folder}.") for folder in folders)


def files_of(pattern: str) -> list[Path]:
    """The files of a pattern that are no tests; there is one at least."""
    paths = [path for path in sorted(ROOT.glob(pattern)) if not path.name.startswith("test_")]
    assert paths
    return paths


@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_nothing_imports_what_is_above_it(pattern):
    for path in files_of(pattern):
        for module in imported(path):
            assert not is_within(module, *FORBIDDEN[pattern]), f"{path.relative_to(ROOT)} imports {module}"


@pytest.mark.parametrize("pattern", ALLOWED)
def test_what_shows_a_question_imports_nothing_else(pattern):
    for path in files_of(pattern):
        for module in imported(path):
            is_ours = (ROOT / module.split(".")[0]).is_dir() or (ROOT / f"{module}.py").exists()
            assert not is_ours or is_within(module, *ALLOWED[pattern]), f"{path.relative_to(ROOT)} imports {module}"


def test_convolutional_nets_share_optimisers_and_schedules_with_others_and_nothing_else():
    for path in files_of("highways/conv/**/*.py"):
        for module in imported(path):
            if is_within(module, "highways.nets"):
                assert is_within(module, *OF_NETS_IN_CONV), f"{path.relative_to(ROOT)} imports {module}"


@pytest.mark.parametrize("house", ["highways", "experiments"])
def test_no_folders_import_each_other(house):
    imports = {}
    for path in files_of(f"{house}/**/*.py"):
        files = [(ROOT / module.replace(".", "/")).with_suffix(".py") for module in imported(path)]
        folders = {file.parent for file in files if file.exists()}
        imports.setdefault(path.parent, set()).update(folders - {path.parent})
    graphlib.TopologicalSorter(imports).prepare()  # raises CycleError


def declares_a_question(module: str) -> bool:
    return module.rpartition(".")[2] in question_names()


def test_no_room_imports_another():
    """What several rooms use stands above them.  `primary` alone repeats the studies of other rooms, with their
    trials."""
    for path in sorted(ROOT.glob("experiments/*/*.py")):
        room = path.parent.name
        others = [f"experiments.{other}" for other in rooms() if other != room]
        for module in imported(path):
            if is_within(module, *others):
                repeats = room == "primary" and not declares_a_question(module) and not module.endswith(".show")
                assert repeats, f"{path.relative_to(ROOT)} imports {module}"


@pytest.mark.parametrize("name", question_names())
def test_what_judges_draws_nothing(name):
    path = question_file(name)
    for module in imported(path):
        assert not is_within(module, "highways.lab.showing", "benchmarks", "pages"), f"{name} imports {module}"


def test_no_trial_imports_a_question():
    """A trial's key covers the code that computes it, and no question's file."""
    questions = {
        str(question_file(name).relative_to(ROOT).with_suffix("")).replace("/", ".") for name in question_names()
    }
    for path in [*files_of("experiments/*/*_trial.py"), *files_of("experiments/shared_trials/*.py")]:
        assert not imported(path) & questions, path.relative_to(ROOT)


def test_a_trial_imports_the_project_before_it_runs():
    """Its key has the code that was imported when its question began; a file may be edited afterwards."""
    for line in code_of(*files_of("experiments/*/*_trial.py")):
        path = ROOT / line.split()[0]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        late = {node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)}.difference(tree.body)
        words = " ".join(map(ast.unparse, late))
        assert "highways" not in words, path
        assert "experiments" not in words, path
