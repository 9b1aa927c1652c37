"""Executes the notebooks from their sources, and writes them with their outputs.

    python -m learn                        all notebooks, some minutes
    python -m learn why_it_fails           one of them
    python -m learn --check                runs nothing; names each notebook that is not as its source

A source is a Python file in learn/ with "# %%" before every cell.  Needs requirements-learn.txt.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent
NAMES = ("plain_to_highway", "why_it_fails", "your_own_gate", "how_deep_to_go")
PATIENCE = 600  # seconds that a cell may take on a busy machine


def notebook_of(source: str) -> nbformat.NotebookNode:
    """The notebook without outputs.  Its cells are numbered, so that the same source gives the same file."""
    notebook = jupytext.reads(source, fmt="py:percent")
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return notebook


def cells_of(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def execute(name: str) -> None:
    """Runs a source in learn/, and writes the notebook beside it."""
    start = time.perf_counter()
    notebook = notebook_of((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    resources = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(notebook, timeout=PATIENCE, resources=resources, record_timing=False).execute()
    notebook.metadata.pop("language_info", None)  # the version of Python
    nbformat.write(notebook, FOLDER / f"{name}.ipynb")
    print(f"wrote learn/{name}.ipynb after {time.perf_counter() - start:.0f} s", flush=True)


def is_as_source(name: str) -> bool:
    """Whether the committed notebook has the source's cells, each with what it printed or drew."""
    path = FOLDER / f"{name}.ipynb"
    if not path.exists():
        return False
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    notebook = nbformat.read(path, as_version=4)
    was_run = all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    return was_run and cells_of(notebook) == cells_of(notebook_of(source))


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m learn", description="Executes the notebooks of learn/.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}; all by default")
    parser.add_argument("--check", action="store_true", help="run nothing; name notebooks that are not as their source")
    args = parser.parse_args(argv)
    for name in args.names:
        if name not in NAMES:
            parser.error(f"there is no notebook {name!r}: choose from {', '.join(NAMES)}")
    names = args.names or NAMES
    if args.check:
        other = [name for name in names if not is_as_source(name)]
        for name in other:
            print(f"learn/{name}.ipynb is not as its source: python -m learn {name}")
        return 1 if other else 0
    for name in names:
        execute(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
