"""The browser pages that `python -m docs.publish` makes, with what each is made from."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from experiments import question_file, question_names
from highways.files import ROOT
from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table
from pages import make_claims, make_explorer, make_index, measure_pointers, screenshots
from pages.explorer_net import NET

IMAGES = tuple(sorted((ROOT / "data" / "mnist").glob("*.gz")))
OF_EXPLORER = tuple(f"experiments/results/{name}.json" for name in ("gates", "lesion", "explorer"))
OF_INDEX = tuple(f"experiments/results/{name}.json" for name in make_index.RECORDS)
SHOTS = tuple(screenshots.OF_SCENES / f"{scene}.webp" for scene in screenshots.SCENES)
RULES = tuple(question_file(name) for name in question_names())


class BrowserPage(NamedTuple):
    """A page that a program writes: it has PARTS, a folder, PAGE_PARTS, files of it, and whole_page()."""

    program: ModuleType
    sources: tuple[str, ...]  # the files of the records it is made from
    files: tuple[Path, ...]  # other files that it is made from
    shots: tuple[Path, ...] = ()  # pictures of itself that it holds, for browsers without scripts


BROWSER_PAGES = [
    BrowserPage(make_explorer, OF_EXPLORER, (ROOT / NET, *IMAGES)),
    BrowserPage(make_index, OF_INDEX, (measure_pointers.NET, *IMAGES), SHOTS),
    BrowserPage(make_claims, ("experiments/results/claims.json",), RULES),
]


@table("scenes")
def promises(read) -> str:
    """How many seeds keep each promise of the scenes."""
    lines = []
    for row in read("experiments/results/scenes.json")["summary"]:
        if "promise" in row:
            lines.append(f"| {row['scene']} | {row['promise']} | {row['kept']} of {row['seeds']} |")
    return markdown_table("| scene | what it promises | kept by |", lines)
