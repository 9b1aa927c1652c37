"""How settings are chosen: by a random search and its finalists.  Final runs have other seeds.

The trials of a search are short, and all have the same seed.  The best, the finalists, are trained
as long as the final runs.  For each kind of net the finalist with the lowest training loss is
taken, as in the paper.  A question may do without finalists; then the best short trial is taken.
All kinds of net have the same budget, and are searched in one run.

A trial that diverged comes last.  Where all of a kind diverged, the first of them is taken.
"""

from __future__ import annotations

import numpy as np

from experiments.shared_trials import fully_connected

SLOW_DECAY = 0.95  # per epoch
# ranges in which Figure 1's nets had learned in pilots: lr / (1 - momentum), drawn log-uniformly
FIGURE_1_RATES = {
    ("highway", 9): {"tanh": (2, 7), "relu": (1, 3)},
    ("highway", 19): {"tanh": (2, 6), "relu": (1, 3)},
    ("highway", 49): {"tanh": (2, 5), "relu": (1, 2.5)},
    ("highway", 99): {"tanh": (2, 5), "relu": (1, 2.5)},
    ("plain", 9): {"tanh": (0.3, 1), "relu": (0.1, 0.4)},
    ("plain", 19): {"tanh": (0.1, 0.4), "relu": (0.03, 0.2)},
    ("plain", 49): {"tanh": (0.03, 0.2), "relu": (0.01, 0.1)},
    ("plain", 99): {"tanh": (0.01, 0.08), "relu": (0.003, 0.05)},
}
SETTING = (  # all that fully_connected.train() reads
    "data_dir", "block", "block_settings", "width", "depth", "activation", "activation_settings",
    "effective_lr", "momentum", "decay", "gate_bias", "frozen_gates", "scale", "distribution", "gain",
    "clip", "seed", "epochs", "n_train", "n_test",
)  # fmt: skip


def in_words(setting: dict, names: tuple[str, ...]) -> str:
    """Those of these settings that it has, as pages name them: there a rate is an effective_lr."""
    words = []
    for name in names:
        if name in setting:
            words.append(f"{'rate' if name == 'effective_lr' else name} {setting[name]}")
    return ", ".join(words)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def drawn(sample, kind, runner) -> list[dict]:
    """The settings of one kind's search.

    sample(kind, k, runner) returns the setting of the k-th trial, and depends on nothing but its
    arguments.  What it returns overrides the common settings."""
    settings = runner.settings
    common = {
        "clip": 1.0,
        "seed": 0,
        "epochs": settings["search_epochs"],
        "n_train": settings["n_train"],
        "n_test": settings["n_test"],
    }
    return [{**common, **sample(kind, k, runner)} for k in range(settings["trials"])]


def two_best(ranked_settings: list[dict], settings: dict) -> list[dict]:
    return ranked_settings[:2]


def two_best_and_slow(ranked_settings: list[dict], settings: dict) -> list[dict]:
    """The two best settings of a short search, and the best one again with a slow decay.

    A setting that is best after a few epochs need not be best later; this is true of its decay
    above all.  If the search was as long as the final runs, only the best setting is returned."""
    best = ranked_settings[0]
    if settings["search_epochs"] == settings["epochs"]:
        return [best]
    return [*ranked_settings[:2], {**best, "decay": SLOW_DECAY}]


def search(
    runner,
    kinds: list,
    sample,
    finalists=two_best,
) -> tuple[dict[str, list], list[dict]]:
    """Returns all trials, {"search": [...], "finalists": [...]}, and each kind's chosen setting.

    finalists(ranked_settings, settings) gets the settings of one kind, the best first, and those
    of the budget.  It returns the settings to train again for longer.  If `finalists` is None, the
    best short trial is taken."""
    epochs = runner.settings["epochs"]
    searched, ranked_by_kind = _compare(runner, [drawn(sample, kind, runner) for kind in kinds])
    if finalists is None:
        best = [{**ranked_settings[0], "epochs": epochs} for ranked_settings in ranked_by_kind]
        return {"search": searched}, best
    longer = []
    for ranked_settings in ranked_by_kind:
        chosen = finalists(ranked_settings, runner.settings)
        longer.append([{**setting, "epochs": epochs} for setting in chosen])
    trained, ranked_by_kind = _compare(runner, longer)
    best = [ranked_settings[0] for ranked_settings in ranked_by_kind]
    return {"search": searched, "finalists": trained}, best


def _compare(runner, groups: list[list[dict]]) -> tuple[list[dict], list[list[dict]]]:
    """Runs the trials of all groups; returns their results, and each group's settings, the best
    first."""
    results = fully_connected.run(runner, [setting for group in groups for setting in group])
    ranked_groups = []
    start = 0
    for group in groups:
        results_of_group = results[start : start + len(group)]
        start += len(group)
        losses = [fully_connected.selection_loss(result) for result in results_of_group]
        best_first = np.argsort(losses, kind="stable")
        ranked_groups.append([group[place] for place in best_first])
    return results, ranked_groups


def chosen_settings(final: list[dict]) -> list[dict]:
    """The settings that a search chose, one for each net, from the final trials over all seeds."""
    first_seed = min(trial["seed"] for trial in final)
    chosen = []
    for trial in final:
        if trial["seed"] == first_seed:
            chosen.append({name: trial[name] for name in SETTING if name in trial})
    return chosen


def stretched(setting: dict, epochs: int) -> dict:
    """The setting for another number of epochs; its decay leads to the same rate at the end."""
    decay = setting["decay"] ** (setting["epochs"] / epochs)
    return {**setting, "epochs": epochs, "decay": round(decay, 6)}


def over_seeds(settings: list[dict], seeds: int) -> list[dict]:
    """Each setting with the seeds 1, 2, ...

    These had no part in choosing it: the search has seed 0."""
    return [{**setting, "seed": seed} for setting in settings for seed in range(1, seeds + 1)]


def ranked(trials: list[dict], **wanted) -> list[dict]:
    """The trials with these settings, the best first."""
    found = [trial for trial in trials if wanted.items() <= trial.items()]
    return sorted(found, key=fully_connected.selection_loss)
