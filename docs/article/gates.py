"""What a gate that sees x is for: the numbers of claim 10."""

from __future__ import annotations

import math
import re

from docs.article.ledger_rows import row_of
from highways.lab.judging.claim import effect_as_text
from highways.lab.showing.registry import table
from highways.records import with_settings

KINDS = ("static", "full")  # full: highway nets


@table("article-static-over-full-on-cifar", after="static gates have")
@table("article-lost-by-static-on-cifar", after="and lose")
def of_claim_10_on_cifar(read, after: str) -> str:
    """A number of claim 10 on CIFAR-100, with its interval."""
    numbers = row_of(read, "primary-gates-see-x")["ours"]
    return re.search(rf"CIFAR-100: .*{after} (\S+ \([^)]*\))", numbers)[1]


@table("article-closest-p")
def closest_p(read) -> str:
    """The largest p, corrected by Holm, of what claim 10 decides."""
    tests = row_of(read, "primary-gates-see-x")["tests"]
    return f"{max(test['p'] for test in tests if test['holds'] is not None):.4f}"


def kinds_on_cifar(read) -> list[dict]:
    """The nets of claim 10 on CIFAR-100, after all epochs."""
    return with_settings(read("experiments/results/primary.json")["trials"]["kinds"], data="CIFAR-100")


FITS = 1.0  # a training loss below this is less than half of what static gates reach


@table("article-highway-that-fit-on-cifar", kind="full", most=FITS)
@table("article-highway-that-does-not-fit-on-cifar", kind="full", least=FITS)
@table("article-static-on-cifar", kind="static")
@table("article-rates-that-fit-on-cifar", kind="full", most=FITS, value="effective_lr", digits=".2g")
@table("article-rate-that-does-not-fit-on-cifar", kind="full", least=FITS, value="effective_lr", digits=".2g")
@table("article-rates-of-static-on-cifar", kind="static", value="effective_lr", digits=".2g")
def range_on_cifar(read, kind, least=0.0, most=math.inf, value="test_accuracy", digits=".4f") -> str:
    """The lowest and the highest value of nets whose training loss lies between two bounds."""
    nets = with_settings(kinds_on_cifar(read), kind=kind)
    values = [net[value] for net in nets if least <= net["loss"] < most]
    ends = dict.fromkeys(f"{end:{digits}}" for end in (min(values), max(values)))
    return " to ".join(ends)


@table("article-static-ahead-at-the-end")
def static_ahead_at_the_end(read) -> str:
    """The test accuracy of static gates on CIFAR-100 less that of highway nets, after all epochs, by search."""
    nets = kinds_on_cifar(read)
    static, full = ({net["seed"]: net["test_accuracy"] for net in with_settings(nets, kind=kind)} for kind in KINDS)
    return effect_as_text([static[seed] - full[seed] for seed in full])
