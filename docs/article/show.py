"""The article's tables and pictures: imports the modules that register them."""

from docs.article import (  # noqa: F401
    authors_log,
    cost,
    depth,
    gates,
    ledger_rows,
    status,
    studies,
    table_of_claims,
    tables_1_to_3,
    thirty_layers,
    who_and_when,
    why_deep_nets_train,
)
