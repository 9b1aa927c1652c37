"""Fills the numbers of README.md and docs/*.md from the committed JSON; it measures nothing.

    python docs/fill.py

A number stands between two comments, <!-- NAME -->0.917<!-- end -->.  NAME is one of

    FILE.KEY[block=highway, layers=100]      the entry KEY of the row with these settings in the
                                             summary of results/FILE.json, as mean ± sd (n);
                                             without [...] if only one row has this entry
    FILE.KEY[...]:2                          only its mean, with two significant digits
    verdict: ID                              the ledger's verdict on the claim of this id
    judged: ID                               our numbers, and the verdict
    takes-FILE                               how long the measurement of this record took
    the name of a table or a sentence that an experiments/NAME/show.py registers
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import highways.installed  # noqa: F401  isort: skip  first: it says what is not installed
from functools import cache

from experiments import register_pictures_and_tables
from highways.commands import Parser, first_line, run_command, run_program
from highways.lab.committed import read_committed
from highways.lab.showing.pages import changed_pages, pages


def main(argv=None) -> int:
    Parser(prog="docs/fill.py", description=first_line(__doc__)).parse_args(argv)

    def work(save):
        register_pictures_and_tables()
        changed = changed_pages(cache(read_committed))
        if changed:
            save(changed)
        print(f"{len(changed)} of {len(pages())} pages changed")

    return run_command("docs/fill.py", work)


if __name__ == "__main__":
    run_program(main)
