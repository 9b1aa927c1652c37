"""How a setting is chosen that is then reported: a random search, its finalists, and seeds that selected nothing.

All trials of a search have one seed and are short; the finalists are trained as long as the final runs, and of each
kind of net the one with the lowest training loss is taken, as in the paper.  With a small budget there are no
finalists: the best of the short trials is taken.  Kinds are searched alike, side by side.
"""

from __future__ import annotations

import numpy as np
from fully_connected.trials import Experiment

from training import fully_connected


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def drawn(sample, kind: tuple, e: Experiment) -> list[dict]:
    """The trials of one kind's search; `sample(kind, k, e)`, what the k-th tries, depends on nothing but these.  Of
    what all trials have in common, what it names itself stays."""
    s = e.settings
    same = {"clip": 1.0, "seed": 0, "epochs": s["search_epochs"], "n_train": s["n_train"], "n_test": s["n_test"]}
    return [(t := sample(kind, k, e)) | same | t for k in range(s["trials"])]


def two_best(ranked: list[dict], s: dict) -> list[dict]:
    return ranked[:2]


def search(e: Experiment, kinds: list[tuple], sample, finalists=two_best) -> tuple[dict[str, list], list[dict]]:
    """The trials that choose, {"search": ..., "finalists": ...}, and the setting that they choose for each kind.

    `finalists(settings of one kind, the best first; the budget)` names those that are trained again, for longer; None:
    the best of the short trials is taken.
    """
    searched, ranked = _compare(e, [drawn(sample, kind, e) for kind in kinds])
    if finalists is None:
        return {"search": searched}, [settings[0] | {"epochs": e.settings["epochs"]} for settings in ranked]
    longer = [[t | {"epochs": e.settings["epochs"]} for t in finalists(each, e.settings)] for each in ranked]
    trained, ranked = _compare(e, longer)
    return {"search": searched, "finalists": trained}, [settings[0] for settings in ranked]


def _compare(e: Experiment, groups: list[list[dict]]) -> tuple[list[dict], list[list[dict]]]:
    """Runs the trials of all groups; their results, and the settings of each group, the best first."""
    results = fully_connected.run(e, [t for group in groups for t in group])
    rows, ranked = iter(results), []
    for group in groups:
        pairs = [(t, fully_connected.selection_loss(next(rows))) for t in group]
        ranked.append([t for t, _ in sorted(pairs, key=lambda pair: pair[1])])
    return results, ranked


def over_seeds(settings: list[dict], s: dict) -> list[dict]:
    """These settings with seeds that selected nothing."""
    return [t | {"seed": seed} for t in settings for seed in range(1, s["seeds"] + 1)]


def ranked(results: list[dict], **kind) -> list[dict]:
    """Those with these settings, the best first."""
    return sorted((t for t in results if kind.items() <= t.items()), key=fully_connected.selection_loss)
