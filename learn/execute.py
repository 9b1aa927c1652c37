"""Executes the notebooks from their sources, and writes them with their outputs.

    python -m learn.execute                     all notebooks, some minutes
    python -m learn.execute why_it_fails        one of them

A source is a Python file in learn/ with "# %%" before every cell.  Needs requirements-learn.txt.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the kernels: more slow small matrices down
FOLDER = Path(__file__).resolve().parent
NAMES = ("plain_to_highway", "why_it_fails", "your_own_gate", "later_answers")
PATIENCE = 600  # seconds that a cell may take on a busy machine


def notebook_of(source: str) -> nbformat.NotebookNode:
    """The notebook without outputs.  Its cells are numbered, so that the same source gives the same file."""
    notebook = jupytext.reads(source, fmt="py:percent")
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return notebook


def execute(name: str) -> None:
    """Runs a source in learn/, and writes the notebook beside it."""
    start = time.perf_counter()
    notebook = notebook_of((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    resources = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(notebook, timeout=PATIENCE, resources=resources, record_timing=False).execute()
    notebook.metadata.pop("language_info", None)  # the version of Python
    nbformat.write(notebook, FOLDER / f"{name}.ipynb")
    print(f"wrote learn/{name}.ipynb after {time.perf_counter() - start:.0f} s", flush=True)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m learn.execute", description="Executes the notebooks of learn/.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}; all by default")
    args = parser.parse_args(argv)
    for name in args.names:
        if name not in NAMES:
            parser.error(f"there is no notebook {name!r}: choose from {', '.join(NAMES)}")
    for name in args.names or NAMES:
        execute(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
