"""The ten primary claims: which rows of the ledger judge each of them."""

from __future__ import annotations

from typing import NamedTuple

from article.ledger_rows import is_tested, row_of
from highways.records import with_settings


class Primary(NamedTuple):
    """One of the ten claims."""

    claim: str
    paper: str  # what its source has
    group: str  # of results/primary.json, whose seeds or searches are counted; "" where that has no runs of it


PRIMARY = {  # {the row of the ledger that judges it: the claim}
    "primary-thirty-layers": Primary(
        "thirty plain layers fail, thirty highway layers train",
        "HEADLINE",
        "headline",
    ),
    "primary-two-orders": Primary(
        "at 100 layers highway nets are far better optimised",
        "“more than 2 orders of magnitude”",
        "figure_1",
    ),
    "primary-no-degradation": Primary(
        "highway nets “do not suffer” from depth, plain nets do",
        "50 and 100 layers “similar” to 10 and 20",
        "figure_1",
    ),
    "primary-past-1000": Primary(
        "more than 1000 layers train, and are of use",
        "“SGD did not stall”",
        "deep",
    ),
    "primary-gate-bias": Primary(
        "$b_T$ must be negative, need not be exact, fails at extremes",
        "a negative one “was sufficient”; the blog: it need not be exact, but both ends fail",
        "biases",
    ),
    "16-maps-reach": Primary("Table 1, 16 maps", "TABLE 1, 16", ""),
    "32-maps-reach": Primary("Table 1, 32 maps", "TABLE 1, 32", ""),
    "19-layers-reach-on-whitened-images": Primary("Table 3, nineteen layers on CIFAR-10", "TABLE 3", ""),
    "primary-idle-layers": Primary(
        "many layers are idle on MNIST, few on CIFAR-100",
        "“about 60%” on MNIST; the first 40 matter on CIFAR-100",
        "fifty",
    ),
    "primary-biases": Primary(
        "biases fall in training, and $T$ follows depth",
        "“most biases decreased”; on CIFAR-100 they rise with depth; the program: lower layers more open",
        "fifty",
    ),
    "primary-gates-see-x": Primary(
        "gates that see $x$ matter",
        "“an important part of the computation”",
        "kinds",
    ),
}
# {row that judges: the row that is shown until its net is trained}
UNTIL_THEN = {"19-layers-reach-on-whitened-images": "19-layers-reach-on-cifar-10"}


def shown_rows(read) -> list[tuple[str, Primary, str]]:
    """(number, claim, row of the ledger) of every line of the table; Table 1 has two lines, one number."""
    rows = []
    for claim in with_settings(read("results/primary.json")["summary"], row="claim"):
        number = str(claim["number"])
        for name in claim["judged_by"]:
            shown = name if is_tested(row_of(read, name)) else UNTIL_THEN[name]
            rows.append((number, PRIMARY[name], shown))
            number = ""
    return rows
