"""Which blocks matter in a residual net of 50 layers?  A control of the lesions.

    python -m experiments lesion_residual --data-dir CIFAR-100            -> experiments/results/lesion_residual.json

Here residual nets, y = x + H, take the highway nets' place in the rules of `lesion`.  They have 49
blocks of 50 tanh units, as the nets of `fifty_layers` have, W_H drawn with a factor of 1/49, the same
images, epochs and seeds, and on each data set the best of three rates, by the loss of a few epochs
with a seed of its own.  They are measured as in `lesion`.
"""

from __future__ import annotations

import math

from experiments.lesion.groups import rows_of
from experiments.lesion.lesion_controls_trial import RESIDUAL, trial
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import settings_of_kept_nets
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import by_data_set

BUDGETS = {
    "quick": {"rates": [0.5], "search_epochs": 1},
    "default": {"rates": [0.25, 0.5, 1.0], "search_epochs": 3},
}
SEED_OF_SEARCH = 4


def run(runner: Runner) -> dict:
    """The search for the rate on each data set; then the nets."""
    nets = [as_residual(net) for net in settings_of_kept_nets(runner)]
    tried = []
    for nets_on_set in by_data_set(nets).values():
        for rate in runner.settings["rates"]:
            changed = {"effective_lr": rate, "seed": SEED_OF_SEARCH, "epochs": runner.settings["search_epochs"]}
            tried.append({**nets_on_set[0], **changed})
    search = fully_connected.run(runner, tried)
    best_rates = {}
    for data, tried_on_set in by_data_set(search).items():
        best_rates[data] = min(tried_on_set, key=loss_of)["effective_lr"]
    wanted = []
    for net in nets:
        wanted.append({"control": RESIDUAL, **net, "effective_lr": best_rates[net["data"]]})
    return {"search": search, "lesions": fully_connected.run(runner, wanted, trial)}


def as_residual(net: dict) -> dict:
    """The setting of a residual net with as many blocks and units as a highway net."""
    without_gates = {name: value for name, value in net.items() if name != "gate_bias"}
    return {**without_gates, "block": "residual", "width": fully_connected.WIDTH["highway"]}


def loss_of(net: dict) -> float:
    return math.inf if net["loss"] is None else net["loss"]


def rows(record: dict) -> list[dict]:
    """A row for each data set."""
    return rows_of(record["trials"]["lesions"])


QUESTION = Question(
    name="lesion_residual",
    source="a question of our own",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
