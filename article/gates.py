"""What a gate that sees x is for: the numbers of claim 10."""

from __future__ import annotations

import re

from article.ledger_rows import row_of
from highways.lab.showing.registry import table


@table("article-static-over-full-on-cifar", after="static gates have")
@table("article-lost-by-static-on-cifar", after="and lose")
def of_claim_10_on_cifar(read, after: str) -> str:
    """A number of claim 10 on CIFAR-100, with its interval."""
    numbers = row_of(read, "primary-gates-see-x")["ours"]
    return re.search(rf"CIFAR-100: .*{after} (\S+ \([^)]*\))", numbers)[1]
