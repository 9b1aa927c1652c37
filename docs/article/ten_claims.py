"""The ten primary claims: which rows of the ledger judge each of them."""

from __future__ import annotations

from typing import NamedTuple

from docs.article.ledger_rows import is_tested, row_of
from highways.records import with_settings


class Primary(NamedTuple):
    """One of the ten claims."""

    claim: str
    holds_if: str  # the numbers are those of the row
    paper: str  # what its source has
    # of experiments/results/primary.json, whose seeds or searches are counted; none where it has no runs
    groups: tuple[str, ...]


TEN_CLAIMS = {  # {the row of the ledger that judges it: the claim}
    "primary-thirty-layers": Primary(
        "thirty plain layers fail, thirty highway layers train",
        "accuracy of highway nets above 0.85, of plain ones below 0.15",
        "HEADLINE",
        ("headline",),
    ),
    "primary-two-orders": Primary(
        "at 100 layers highway nets are far better optimised",
        "ratio of losses over two orders of magnitude",
        "“more than 2 orders of magnitude”",
        ("figure_1",),
    ),
    "primary-no-degradation": Primary(
        "highway nets “do not suffer” from depth, plain nets do",
        "50 and 100 layers: highway, less than 3 times the loss of 10 and 20; plain, over 3 times that of 20",
        "50 and 100 layers “similar” to 10 and 20",
        ("figure_1",),
    ),
    "primary-past-1000": Primary(
        "more than 1000 layers train, and are of use",
        "at 1500 layers the loss falls from the first epoch to the last; accuracy above 0.9, and above that of "
        "one hidden layer; blocks are worth over 0.002",
        "“SGD did not stall”",
        ("deep",),
    ),
    "primary-gate-bias": Primary(
        "$b_T$ must be negative, need not be exact, fails at extremes",
        "0 and 2 do not train, nor -10 and -20; over half of the six from -1 to -7 are within 0.01 of the best",
        "a negative one “was sufficient”; the blog: it need not be exact, but both ends fail",
        ("biases",),
    ),
    "16-maps-reach": Primary(
        "Table 1, 16 maps",
        "our interval within 99.36 to 99.42, which lies in the prediction interval of every mean that rounds to 99.4",
        "TABLE 1, 16",
        (),
    ),
    "32-maps-reach": Primary(
        "Table 1, 32 maps", "one run within the prediction interval, 99.48 to 99.60", "TABLE 1, 32", ()
    ),
    "19-layers-reach-on-whitened-images": Primary(
        "Table 3, nineteen layers on CIFAR-10", "one run from 91.95 to 92.67, in 400 epochs", "TABLE 3", ()
    ),
    "primary-idle-layers": Primary(
        "many layers are idle on MNIST, few on CIFAR-100",
        "0.45 to 0.75 of the blocks; fewer than 0.1 of the first 40",
        "“about 60%” on MNIST; the first 40 matter on CIFAR-100",
        ("fifty",),
    ),
    "primary-biases": Primary(
        "biases fall in training, and $T$ follows depth",
        "over half fall; on CIFAR-100 they correlate positively with depth, negatively with mean $T$; mean $T$ "
        "of the first third above that of the last",
        "“most biases decreased”; on CIFAR-100 they rise with depth; the program: lower layers more open",
        ("fifty", "headline"),
    ),
    "primary-gates-see-x": Primary(
        "gates that see $x$ matter",
        "error rises by over 0.01; static gates have over 1.5 times the loss, and lose over 0.005 of accuracy "
        "on MNIST, 0.01 on CIFAR-100",
        "“an important part of the computation”",
        ("kinds",),
    ),
}
# {row that judges: the row that is shown until its net is trained}
UNTIL_THEN = {"19-layers-reach-on-whitened-images": "19-layers-reach-on-cifar-10"}


def shown_rows(read) -> list[tuple[str, Primary, str]]:
    """(number, claim, row of the ledger) of every line of the table; Table 1 has two lines, one number."""
    rows = []
    for claim in with_settings(read("experiments/results/primary.json")["summary"], row="claim"):
        number = str(claim["number"])
        for name in claim["judged_by"]:
            shown = name if is_tested(row_of(read, name)) else UNTIL_THEN[name]
            rows.append((number, TEN_CLAIMS[name], shown))
            number = ""
    return rows
