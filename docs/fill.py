"""Fills the numbers of README.md and docs/*.md from the committed JSON; it measures nothing.

    python docs/fill.py

A number stands between two comments, <!-- NAME -->0.917<!-- end -->.  NAME is one of

    FILE.KEY          an entry of `summary` in results/FILE.json, as mean ± standard deviation (n)
    FILE.KEY:2        its mean alone, with so many significant digits
    verdict: WORDS    the ledger's verdict on the one claim with these words; judged: WORDS, with our numbers before it
    takes-FILE        how long that took
    a table, or a sentence, which a module of report/ registers under this name
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
from functools import cache

from claims import ledger
from plumbing.commands import first_line, run_command, run_program
from plumbing.files import ROOT, InputError, read_json
from report import registry
from report.ledger import the_claim
from report.tables import cell, of_summary, takes
from training.committed import checked

NAME = r"<!-- ((?!end )[\w.-]+(?::\d)?|(?:verdict|judged): [^<>]+) -->"
MARK = re.compile(NAME + r"(?:(?!<!--).)*<!-- end -->", re.S)
registry.import_all()


def pages(root: Path = ROOT) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def fill(text: str, read) -> str:
    """The text with what stands between its comments filled in anew; read(name) gives the JSON of that name.

    Raises InputError for a comment that nothing is known of, for one without its end, and for results that lack what
    it needs.
    """
    stray = re.search(f"{NAME}|<!-- end -->", MARK.sub("", text))
    if stray:
        raise InputError(f"{stray[0]} stands alone: a number stands between <!-- NAME --> and <!-- end -->")

    def filled(match):
        try:
            value = value_of(match[1], read).replace("<", "&lt;")  # no comment, and no tag, comes from a JSON
            return f"<!-- {match[1]} -->{value}<!-- end -->"
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
            raise InputError(f"<!-- {match[1]} --> cannot be filled in: {error!r}") from error

    return MARK.sub(filled, text)


def value_of(name: str, read) -> str:
    column, is_claim, words = name.partition(": ")
    if is_claim:
        claim = the_claim(read, words)
        verdict = cell(claim["verdict"])
        return {"verdict": verdict, "judged": f"{cell(claim['ours'])} | {verdict}"}[column]
    if name.startswith("takes-"):
        return takes(read, name.removeprefix("takes-"))
    if name in registry.TABLES:
        return registry.TABLES[name](read)
    file, _, key = name.partition(".")
    key, _, digits = key.rpartition(":") if re.search(r":\d$", key) else (key, "", "")
    return of_summary(read(f"results/{file}.json")["summary"][key], key, int(digits or 0))


def committed(name: str):
    """The JSON of this name, from the repository's root; raises InputError for one that the pages are not about, and
    for a ledger that is not what the rules say of the results."""
    record = checked(Path(name).stem, read_json(ROOT / name))
    if name == "results/claims.json":
        judged = ledger.judged_record(ledger.read(ROOT))
        if any(record[part] != judged[part] for part in ("summary", "trials")):
            raise InputError(f"{name} is not what the rules say of the results: python -m experiments.claims")
    return record


def changed_pages(read) -> dict[Path, bytes]:
    """The pages that are others once they are filled in, with their text; read(name) gives the JSON of that name."""
    changed = {}
    for page in pages():
        try:
            before = page.read_bytes()
            text = fill(before.decode(), read).encode()
        except ValueError as error:  # InputError is one, and so is a page that is not text
            raise InputError(f"{page.relative_to(ROOT)}: {error}") from error
        if text != before:
            changed[page] = text
    return changed


def main(argv=None) -> int:
    argparse.ArgumentParser(prog="docs/fill.py", description=first_line(__doc__)).parse_args(argv)

    def work(save):
        changed = changed_pages(cache(committed))
        if changed:
            save(changed)
        print(f"{len(changed)} of {len(pages())} pages changed")

    return run_command("docs/fill.py", work)


if __name__ == "__main__":
    run_program(main)
