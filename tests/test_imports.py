"""Imports point one way, so that a room (a folder of the project) can be read without those above
it."""

import ast
from pathlib import Path

import pytest
from conftest import ROOT

# what no module of a room may import
FORBIDDEN = {
    "highways": ("experiments", "benchmarks"),
    "highways/lab/judging": ("highway_networks", "highways.conv", "highways.nets", "highways.lab.showing"),
    "highways/lab/showing": ("highways.conv", "highways.nets", "highways.lab.judging"),
    "benchmarks": ("experiments",),
}


def imported(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def is_within(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


@pytest.mark.parametrize("room", FORBIDDEN)
def test_a_room_imports_none_above_it(room):
    for path in sorted((ROOT / room).rglob("*.py")):
        for module in imported(path):
            above = [other for other in FORBIDDEN[room] if is_within(module, other)]
            assert not above, f"{path.relative_to(ROOT)} imports {module}"


def test_only_trials_are_imported_from_another_question():
    """Other questions' claims, rows and pictures are not."""
    for path in sorted((ROOT / "experiments").glob("*/*.py")):
        if path.stem.startswith("test_"):
            continue
        for module in imported(path):
            if is_within(module, "experiments") and not is_within(module, f"experiments.{path.parent.name}"):
                assert not module.endswith((".question", ".show")), f"{path.relative_to(ROOT)} imports {module}"


def test_an_import_of_a_room_above_is_seen(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def late():\n    from experiments import lesion\n")
    assert {"experiments", "experiments.lesion"} <= imported(path)
