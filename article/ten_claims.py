"""The ten primary claims: which rows of the ledger judge each of them, before and after its own runs."""

from __future__ import annotations

from typing import NamedTuple

from article.ledger_rows import is_tested, row_of
from highways.records import with_settings


class Primary(NamedTuple):
    """One of the ten claims."""

    claim: str
    paper: str  # what its source has
    group: str  # of results/primary.json, whose seeds or searches are counted
    earlier: dict[str, tuple[str, int]]  # {row until then: (what its numbers are of, how many clauses are shown)}


PRIMARY = (
    Primary(
        "thirty plain layers fail, thirty highway layers train",
        "HEADLINE",
        "headline",
        {"highway-learns-plain-does-not": ("", 1)},
    ),
    Primary(
        "at 100 layers highway nets are far better optimised",
        "“more than 2 orders of magnitude”",
        "figure_1",
        {"two-orders-at-100-wide": ("20 epochs: ", 1), "two-orders-at-100-in-400-epochs-wide": ("400 epochs: ", 1)},
    ),
    Primary(
        "highway nets “do not suffer” from depth, plain nets do",
        "50 and 100 layers “similar” to 10 and 20",
        "figure_1",
        {"highway-does-not-degrade": ("highway, 20 epochs: ", 1), "plain-degrades": ("plain, 20 epochs: ", 1)},
    ),
    Primary(
        "more than 1000 layers train, and are of use",
        "“SGD did not stall”",
        "deep",
        {
            "sgd-does-not-stall-past-1000": ("1500 layers: ", 2),
            "depth-of-use-past-1000": ("1500 layers, accuracy: ", 1),
        },
    ),
    Primary(
        "$b_T$ must be negative, need not be exact, fails at extremes",
        "a negative one “was sufficient”; the blog: it need not be exact, but both ends fail",
        "biases",
        {
            "high-gate-biases-fail": ("$b_T$ of 0 and 2: ", 2),
            "low-gate-biases-fail": ("$b_T$ of -10 and -20: ", 2),
            "biases-need-not-be-exact": ("", 2),
        },
    ),
    Primary("Table 1, 16 maps", "TABLE 1, 16", "", {"16-maps-reach": ("", 1)}),
    Primary("Table 1, 32 maps", "TABLE 1, 32", "", {"32-maps-reach": ("", 1)}),
    Primary(
        "Table 3, nineteen layers on CIFAR-10",
        "TABLE 3",
        "",
        {"19-layers-reach-on-cifar-10": ("", 1)},
    ),
    Primary(
        "many layers are idle on MNIST, few on CIFAR-100",
        "“about 60%” on MNIST; the first 40 matter on CIFAR-100",
        "fifty",
        {"idle-share": ("MNIST, ", 1), "first-40-matter-on-cifar": ("the first 40 on CIFAR-100, ", 1)},
    ),
    Primary(
        "biases fall in training, and $T$ follows depth",
        "“most biases decreased”; on CIFAR-100 they rise with depth; the program: lower layers more open",
        "fifty",
        {
            "most-biases-decreased": ("fell, ", 1),
            "biases-rise-with-depth-on-cifar": ("CIFAR-100, 100 epochs, bias: ", 4),
            "lower-layers-more-open": ("depth 30: ", 1),
        },
    ),
    Primary(
        "gates that see $x$ matter",
        "“an important part of the computation”",
        "kinds",
        {
            "trained-nets-need-their-gates": ("$T$ replaced by its mean: ", 3),
            "wide-gates-training-loss": ("static gates, as many parameters: ", 2),
            "wide-gates-test-accuracy": ("the same nets; below zero they gain: ", 2),
        },
    ),
)
EARLIER = "†"  # marks verdicts on runs that are older than the rules of the ten claims


def rows_that_judge(read) -> list[tuple[str, str]]:
    """(number of the claim, row of the ledger that judges it) of every line of PRIMARY; Table 1 has two lines."""
    found = []
    for claim in with_settings(read("results/primary.json")["summary"], row="claim"):
        number = str(claim["number"])
        for row in claim["judged_by"]:
            found.append((number, row))
            number = ""
    return found


def shown_rows(read) -> list[tuple[str, Primary, str, bool]]:
    """(number, claim, row of the ledger, whether it confirms) of every line of the table."""
    found = []
    for (number, row), primary in zip(rows_that_judge(read), PRIMARY, strict=True):
        confirmed = is_tested(row_of(read, row))
        names = (row,) if confirmed else tuple(primary.earlier)
        for place, name in enumerate(names):
            found.append((number if place == 0 else "", primary, name, confirmed))
    return found


def are_confirmed(read) -> list[bool]:
    """Of each claim that has runs of its own, whether it is judged by them."""
    own = [row for (_, row), primary in zip(rows_that_judge(read), PRIMARY, strict=True) if primary.group]
    return [is_tested(row_of(read, row)) for row in own]
