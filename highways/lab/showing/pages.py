"""Fills the numbers of all pages from the committed JSON; it measures nothing.

A number stands between two comments, <!-- NAME -->0.917<!-- end -->.  NAME is one of

    FILE.KEY[block=highway, depth=99]      the entry KEY of the row with these settings in the
                                             summary of experiments/results/FILE.json, as mean ± sd (n);
                                             without [...] if only one row has this entry
    FILE.KEY[...]:2                          only its mean, with two significant digits
    verdict: ID                              the ledger's verdict on the claim of this id
    judged: ID                               our numbers, and the verdict, for the table of experiments/README.md
    verdicts-ROOM                            a table of the ledger's verdicts on this room's claims
    takes-FILE                               how long the measurement of this record took
    the name of a table or a sentence that a show.py registers

`python -m docs.publish` writes the pages.
"""

from __future__ import annotations

import re
from pathlib import Path

from highways.files import ROOT, InputError
from highways.lab.showing import registry
from highways.lab.showing.tables import cell, entry_text, takes
from highways.records import select
from highways.verdict import Verdict

# the name of a number: FILE.KEY[block=highway, depth=99]:2, where [...] and :2 may be absent
NUMBER = r"(?P<file>\w+)\.(?P<key>[\w.+-]+)(?:\[(?P<settings>[^<>\[\]]+)\])?(?::(?P<digits>\d))?"
# the comment with which a mark begins: the name of a number or of a table, or "verdict: ID", or "judged: ID"
BEGIN = r"<!-- ((?!end )[\w.-]+(?:\[[^<>\[\]]+\])?(?::\d)?|(?:verdict|judged): [^<>]+) -->"
# a whole mark: its beginning, the text to be replaced, in which no other comment begins, and its end
MARK = re.compile(BEGIN + r"(?:(?!<!--).)*<!-- end -->", re.S)
SHOWN = re.compile(r"(^```markdown\n.*?^```$)", re.M | re.S)  # Markdown that a page shows to its reader


def pages() -> list[Path]:
    """The pages of the first folder, the article, the documents, the list of rooms, the page of every
    room, the pages about the browser pages, the trained nets and the records of speed, and those for teachers and
    students."""
    patterns = (
        "*.md",
        "docs/article/article.md",
        "docs/*.md",
        "experiments/README.md",
        "experiments/*/README.md",
        "pages/README.md",
        "highways/trained/README.md",
        "benchmarks/records/README.md",
        "learn/README.md",
        "learn/*/README.md",
    )
    return [page for pattern in patterns for page in sorted(ROOT.glob(pattern))]


def fill(text: str, read) -> str:
    """The text of a page, with everything between its marks filled in again.  read(name) gives the
    JSON of that name.

    Marks in a ```markdown block are an example for the reader, and stay as they are.  Raises
    InputError for an unknown mark, one without an end, and one whose results lack what it needs.
    """
    parts = []
    for part in SHOWN.split(text):
        is_shown = SHOWN.fullmatch(part)
        parts.append(part if is_shown else _filled(part, read))
    return "".join(parts)


def _filled(text: str, read) -> str:
    stray = re.search(f"{BEGIN}|<!-- end -->", MARK.sub("", text))
    if stray:
        raise InputError(f"{stray[0]} stands alone: a number stands between <!-- NAME --> and <!-- end -->")

    def filled(match):
        try:
            # so that a JSON can bring neither a comment nor a tag into the page
            value = value_of(match[1], read).replace("<", "&lt;")
            return f"<!-- {match[1]} -->{value}<!-- end -->"
        except InputError as error:
            raise InputError(f"<!-- {match[1]} --> cannot be filled in: {error}") from error
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
            raise InputError(f"<!-- {match[1]} --> cannot be filled in: {error!r}") from error

    return MARK.sub(filled, text)


def verdict_of(row: dict, link: str = "") -> str:
    """The verdict of a row of the ledger, and which controls pass, too."""
    verdict = f"**{cell(Verdict.of(row).as_text(row['kind']))}**"
    if link:
        verdict = f"[{verdict}]({link})"
    if row["passed_by"] and row["verdict"] == "in part":
        return f"{verdict}; what holds also holds for {cell(row['passed_by'])}"
    if row["passed_by"]:
        return f"{verdict}; passed, too, by {cell(row['passed_by'])}"
    return verdict


def value_of(name: str, read) -> str:
    """The text for the mark of this name."""
    if ": " in name:
        shown, claim_id = name.split(": ", 1)
        claims = read("experiments/results/claims.json")["trials"]
        if claim_id not in [claim["id"] for claim in claims]:
            raise InputError(f"claims.json has no claim {claim_id}: python -m docs.publish judges all claims")
        claim = select(claims, id=claim_id)
        if shown == "verdict":
            return cell(Verdict.of(claim).as_text(claim["kind"]))
        return f"{cell(claim['ours'])} | {verdict_of(claim, link=f'../pages/claims.html#claim={claim_id}')}"
    if name.startswith("takes-"):
        return takes(read, name.removeprefix("takes-"))
    if name in registry.TABLES:
        return registry.TABLES[name](read)
    mark = re.fullmatch(NUMBER, name)
    if not mark:
        raise LookupError(f"{name} is neither FILE.KEY nor a registered table")
    summary = read(f"experiments/results/{mark['file']}.json")["summary"]
    value = number_in(summary, mark["key"], mark["settings"] or "")
    return entry_text(value, mark["key"], int(mark["digits"] or 0))


def number_in(summary: list[dict] | dict, key: str, settings: str):
    """The entry `key` of the one row that has this key and these settings, for example
    "block=highway, depth=99"."""
    if isinstance(summary, dict):  # a benchmark's summary has no rows
        return summary[key]
    wanted = dict(part.strip().split("=") for part in settings.split(",")) if settings else {}
    names = {name: None for row in summary for name in row}
    for name in (key, *wanted):
        if name not in names:
            raise LookupError(f"no row has the entry {name}; they have {', '.join(names)}")
    rows = [row for row in summary if key in row]
    rows_as_text = []
    for row in rows:
        rows_as_text.append({name: setting_as_text(row[name]) for name in wanted if name in row})
    place = rows_as_text.index(select(rows_as_text, **wanted))
    return rows[place][key]


def setting_as_text(value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def changed_pages(read) -> dict[Path, bytes]:
    """{page: new text} of the pages that filling changes; read(name) gives the JSON of that
    name."""
    changed = {}
    for page in pages():
        try:
            before = page.read_text(encoding="utf-8")  # with "\n" at the ends of lines, whatever the system
            text = fill(before, read)
        except ValueError as error:  # InputError is one, and so is a page that is not text
            raise InputError(f"{page.relative_to(ROOT)}: {error}") from error
        if text != before:
            changed[page] = text.encode()
    return changed
