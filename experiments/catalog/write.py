"""Writes a folder as the catalog that the published program lives in asks for it: programs, JSON,
pictures, tests, and a README with the catalog's sections, its numbers filled in from the JSON.

    python -m experiments catalog DIR
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from experiments import register_pictures_and_tables
from highways.commands import Parser, first_line, path_name, run_command
from highways.files import ROOT, InputError, printable
from highways.lab import committed
from highways.lab.question import PROGRAM
from highways.lab.showing.pages import fill

HERE = Path(__file__).parent
CARD = HERE / "card.md"  # the README, with marks for its numbers
TESTS = HERE / "card_tests.py"  # test_highway_networks.py there
PICTURES = ("learning_curves", "plain_loss_collapse", "depth_sweep", "T_gate_evolution", "T_gate_final")
COPIED = (
    "highway_networks.py",
    "visualize_highway_networks.py",
    "make_highway_networks_gif.py",
    "run.json",
    "run_sweep.json",
    "highway_networks.gif",
    "requirements.txt",
    "LICENSE",
    *(f"viz/{name}.png" for name in PICTURES),
)
SHARED = (  # what highway_networks.py imports
    "highways/__init__.py",
    "highways/commands.py",
    "highways/files.py",
    "highways/processes.py",
    "highways/records.py",
    "highways/statistics.py",
    "highways/schemas/run.json",
)


def files_of_catalog() -> dict[str, bytes]:
    """{name: content} of all files of the folder.

    Raises InputError for a JSON of other settings than the README speaks of."""
    register_pictures_and_tables()
    filled = fill(CARD.read_text(encoding="utf-8"), committed.read_committed)
    readme = re.sub("<!-- .*? -->", "", filled)
    readme = re.sub("\n{3,}", "\n\n", readme)  # around tables, where marks stood
    files = {
        "README.md": readme.encode(),
        "test_highway_networks.py": TESTS.read_bytes(),
    }
    for name in (*COPIED, *SHARED):
        files[name] = (ROOT / name).read_bytes()
    return files


def write_catalog(folder: Path, save) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; the catalog needs a new folder, or an empty one")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty; the catalog needs a new folder, or an empty one")
    files = {folder / name: content for name, content in files_of_catalog().items()}
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
    save(files)
    print(f"wrote {len(files)} files to {printable(folder)}")


def main(argv: list[str]) -> int:
    parser = Parser(prog=f"{PROGRAM} catalog", description=first_line(__doc__))
    parser.add_argument("folder", type=path_name, metavar="DIR", help="a folder that is not there yet, or is empty")
    args = parser.parse_args(argv)
    return run_command(parser.prog, partial(write_catalog, Path(args.folder)))
