"""Puts a browser page together: one file that holds its style, its programs and its data."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from highways.commands import Parser, path_name, run_command
from highways.files import ROOT, InputError, printable, read_bytes
from highways.lab.showing.style import KINDS

# What several pages hold, in pages/shared/.  A page names it from its own folder.
SHARED = ("base.css", "menu.html", "net.js", "palette.js", "words.js")
STYLE, MENU, ENGINE, PALETTE, WORDS = [f"../shared/{name}" for name in SHARED]
# A road of 16 x 16 pixels, for the tabs of browsers
ICON = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAIUlEQVR42mP4DwMMRZvgCJcISHCANG"
    "AiamsY9fSop/8DAF5p+mSd362wAAAAAElFTkSuQmCC"
)
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
COLORED = "highway", "plain", "residual"  # kinds of nets that have a colour on the pages, as in the pictures


def page_of(folder: Path, names: tuple[str, ...], data: dict[str, str]) -> str:
    """The page.html of a folder, with the files of these names and the data put where it has their
    marks, /*{NAME}*/."""
    return file_of(folder / "page.html", names, data)


def file_of(template: Path, names: tuple[str, ...], data: dict[str, str]) -> str:
    """The same of any file, with names from its folder."""
    parts = {}
    for name in names:
        path = template.parent / name
        parts[path.name] = path.read_text(encoding="utf-8").strip()
    for kind in COLORED:
        parts[kind] = KINDS[kind]
    parts["icon"] = ICON
    parts |= data
    text = template.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"/*{{{name}}}*/", part)
    return text


def json_in_page(value) -> str:
    """A value as JSON for a script element of a page: no text in it ends the element, or begins a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def run_page_command(argv: list[str] | None, name: str, shows: str, whole_page: Callable[[], str]) -> int:
    """The command that writes pages/`name`, or another file; returns its exit status."""
    parser = Parser(description=f"Write pages/{name}, {shows}.")
    default = ROOT / "pages" / name
    parser.add_argument("--out", metavar="FILE", type=path_name, default=default, help=f"instead of pages/{name}")
    out = Path(parser.parse_args(argv).out)
    return run_command(parser.prog, partial(write_page, out, whole_page))


def write_page(out: Path, whole_page: Callable[[], str], save) -> None:
    if out.suffix != ".html":
        raise InputError(f"--out {out} does not end in .html")
    text = whole_page()
    beginning = text[: text.index("</title>")].encode()
    if out.exists() and not read_bytes(out).startswith(beginning):
        raise InputError(f"{out} is not what this program writes: choose another name")
    save({out: text.encode()})
    print(f"wrote {printable(out)}: {len(text.encode()) / 1e3:.0f} KB", flush=True)
