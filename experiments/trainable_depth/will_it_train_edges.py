"""Where do fading nets stop training?  Nets in the gap that will_it_train's bounds were set across.

    python -m experiments will_it_train_edges      -> experiments/results/will_it_train_edges.json

A user found that Adam's bound of `will_it_train` lay in the middle of a gap of eight decades, and contradicted his
plain nets of 30 to 45 layers.  These nets lie in the gap, and in SGD's.  RULES.md says when this was fixed, and what
was known.
"""

from __future__ import annotations

from experiments.shared_trials import fully_connected
from experiments.trainable_depth.will_it_train import (
    BUDGETS as HELD_OUT,
)
from experiments.trainable_depth.will_it_train import (
    CLIP,
    COMMON,
    OURS,
    RATES,
    cell,
    entry_of,
    trained,
)
from experiments.trainable_depth.will_it_train_trial import trial
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.will_it_train import first_over_last

FADES = (  # kind, b_T, start, and by how many decades a block of it shrinks the gradient, in untrained nets
    ("none", None, "program", 0.24),
    ("sees x", 0.0, "program", 0.235),
    ("sees x", 0.0, "orthogonal", 0.152),
    ("sees x", -1.0, "program", 0.125),
    ("sees x", -1.0, "orthogonal", 0.108),
)
SHARED = ("epochs", "hopeless_after", "batch", "looked_at", "n_train", "n_test")
BUDGETS = {
    "quick": {
        "decades": {"sgd": [0.5], "adam": [0.5]},
        "seeds": [2],
        "deepest": 130,
        "rates": 1,
        **{name: HELD_OUT["quick"][name] for name in SHARED},
    },
    "default": {
        "decades": {"sgd": [2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5], "adam": [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]},
        "seeds": [2, 3, 4],
        "deepest": 130,
        "rates": 4,
        **{name: HELD_OUT["default"][name] for name in SHARED},
    },
}


def nets(settings: dict, optimizer: str) -> list[dict]:
    """The nets that lose about so many decades as the settings say."""
    found = []
    for decades in settings["decades"][optimizer]:
        for kind, gate_bias, start, by_block in FADES:
            depth = round(decades / by_block)
            if depth <= settings["deepest"]:
                found.append(cell("what_trains", kind, gate_bias, start, "tanh", depth, 50))
    return found


def run(runner: Runner) -> list[dict]:
    settings = runner.settings
    fully_connected.data_set()  # forked processes share it
    trials = []
    for optimizer in settings["decades"]:
        shared = {
            "optimizer": optimizer,
            "rates": RATES[optimizer][: settings["rates"]],
            "clip": CLIP[optimizer],
            **COMMON,
            **{name: settings[name] for name in SHARED},
        }
        for net in nets(settings, optimizer):
            trials += [{**net, **shared, "seed": seed} for seed in settings["seeds"]]
    found = runner.run(trial, trials, fully_connected.data_of)
    return [{**entry_of(single), "seed": single["seed"]} for single in found]


def rows(record: dict) -> list[dict]:
    """A row for each net: of how many seeds one of the rates trained it, and where its gradient lay."""
    groups: dict[tuple, list[dict]] = {}
    for entry in record["trials"]:
        place = (entry["optimizer"], entry["kind"], entry["gate_bias"], entry["start"], entry["depth"])
        groups.setdefault(place, []).append(entry)
    result = []
    for (optimizer, kind, gate_bias, start, depth), entries in groups.items():
        values = [first_over_last(entry["norms"]) for entry in entries]
        result.append({
            "optimizer": optimizer,
            "kind": kind,
            "gate_bias": gate_bias,
            "start": start,
            "depth": depth,
            "measure": sum(values) / len(values),
            "train": sum(map(trained, entries)),
            "seeds": len(entries),
        })  # fmt: skip
    return result


QUESTION = Question(
    name="will_it_train_edges",
    source=OURS,
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
