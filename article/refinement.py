"""Refinement and paths: what is left when blocks are shuffled or deleted."""

from __future__ import annotations

from article.table_of_verdicts import table_of_verdicts
from highways.lab.showing.registry import table

CLAIM_OF_PATHS = {  # {row of paths: the claim, in short}; the others stand on the question's page
    "one-block-deleted": "one block deleted hardly matters in a residual net; a plain net falls to chance",
    "deleting-many-is-smooth": "a residual net's error rises smoothly with the blocks deleted",
    "gradient-from-short-paths": "most of a residual net's gradient comes from short paths",
    "blocks-refine-the-same-features": "highway and residual blocks “iteratively refine”; so order matters little, "
    "and the state can be read half-way",
    "residual-blocks-follow-the-gradient": "residual blocks move the state against the gradient of the loss",
    "highway-nets-behave-like-ensembles": "do highway nets behave as residual ones do, by Veit's measures?",
    "highway-nets-refine": "do the headline's highway nets refine?",
    "highway-blocks-follow-the-gradient": "do highway blocks move the state against the gradient?",
}


@table("article-paths")
def paths(read) -> str:
    """The verdicts on refinement and paths, with the controls that pass."""
    return table_of_verdicts(read, "paths", CLAIM_OF_PATHS)
