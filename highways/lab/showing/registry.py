"""What is shown of the results: pictures and tables, each registered where it is defined.

`experiments/ROOM/show.py` has the pictures and the tables of one room, from JSON alone.
`python -m docs.publish` draws the pictures and puts the tables on the pages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from highways.records import path_of

PUBLISHED = ("published", "authors_logs_cifar")  # records that lie in data/


class Picture(NamedTuple):
    """A picture in viz/, of those that visualize_highway_networks.py does not draw."""

    sources: tuple[str, ...]  # the names of the records it is drawn from
    draw: Callable  # makes the figure from these records

    @property
    def files(self) -> list[str]:
        """The files of its sources."""
        return [f"data/{source}.json" if source in PUBLISHED else path_of(source) for source in self.sources]


PICTURES: dict[str, Picture] = {}
TABLES: dict[str, Callable] = {}


def picture(*sources: str):
    """Registers a function under its own name.  It gets these records and returns a figure."""

    def register(draw):
        if draw.__name__ in PICTURES:
            raise ValueError(f"there is a picture {draw.__name__} already")
        PICTURES[draw.__name__] = Picture(sources, draw)
        return draw

    return register


def table(name: str, /, **settings):
    """Registers a function that returns Markdown.  A page shows it with <!-- name -->.

    It is called with a function `read`: read("experiments/results/lesion.json") is the record in that file.
    It also gets `settings`, so that one function can make several tables."""

    def register(make):
        if name in TABLES:
            raise ValueError(f"there is a table {name} already")
        TABLES[name] = partial(make, **settings)
        return make

    return register
