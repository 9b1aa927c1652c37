"""What a gate that sees x is for: the numbers of claim 10."""

from __future__ import annotations

import math

from docs.article.ledger_rows import row_of
from experiments.primary.primary import as_factor
from highways.lab.showing.registry import table
from highways.records import select, with_settings


@table("article-static-over-full-on-cifar")
def static_over_full_on_cifar(read) -> str:
    """The loss of static gates over that of highway nets, in claim 10 on CIFAR-100."""
    tests = row_of(read, "primary-gates-see-x")["tests"]
    return as_factor(select(tests, names=["log10 of loss static ÷ highway, CIFAR-100"])["values"])


@table("article-closest-p")
def closest_p(read) -> str:
    """The largest p, corrected by Holm, of what claim 10 decides."""
    tests = row_of(read, "primary-gates-see-x")["tests"]
    return f"{max(test['p'] for test in tests if test['holds'] is not None):.4f}"


FITS = 1.0  # a training loss below this is less than half of what static gates reach


@table("article-highway-that-fit-on-cifar", kind="full", most=FITS)
@table("article-static-on-cifar", kind="static")
def levels_on_cifar(read, kind: str, most: float = math.inf) -> str:
    """The lowest and the highest test accuracy of claim 10, after all epochs, of nets with less than some loss."""
    nets = with_settings(read("experiments/results/primary.json")["trials"]["kinds"], data="CIFAR-100", kind=kind)
    accuracies = [net["test_accuracy"] for net in nets if net["loss"] < most]
    return f"{min(accuracies):.4f} to {max(accuracies):.4f}"
