"""Controls of the lesions: which blocks matter in nets without gates that learned?

    python -m experiments lesion_controls --data-dir CIFAR-100            -> results/lesion_controls.json

The rows on Figure 4 say which blocks of a trained highway net of 50 layers can be closed.  They say
something of highway nets if other nets do not pass the same rules.  The controls have 49 blocks of
50 tanh units, as the nets of `fifty_layers` have, the same images, epochs and seeds, and are
measured as in `lesion`: a block is closed alone, its input passes on, and it is idle if that adds
less than 0.1 points to the error on all training images.

    an untrained net        as the net of `fifty_layers` is drawn
    a residual net          y = x + H, W_H drawn with a factor of 1/49; on each data set the best of three
                            rates, by the loss of a few epochs with a seed of its own
    a net whose gates stay shut
                            not trained: all its blocks are idle by construction, since a closed block
                            does what a shut one does

Each takes the place of the highway nets in the rules of `lesion`.  Nets of random gates are no control
here: they fit 37 % of CIFAR-100's training images (`static_gates`), so that what their blocks cost is
not comparable.  At first they were planned, and a fourth rate; both were cut when no result was known.

Expected, before these runs: shut gates pass what holds of the row on MNIST's early layers, that those
of 15 to 45 are idle, and fail both rows on CIFAR-100.  Untrained nets pass none: closing a block moves
the answers of a net that guesses, up and down.  Residual nets pass both rows on CIFAR-100.

What each outcome would mean: if residual nets pass the rows on CIFAR-100, that a harder problem uses
more blocks is true of nets with a way past their blocks, and says nothing of gates.  If they do not,
lesions tell apart what a gate and a fixed skip make of depth.

Known before this was written: what `lesion` and `paths` found, among it that the worst block of a
residual net of 30 blocks costs 0.007 of its accuracy.
"""

from __future__ import annotations

import math

from experiments.fifty_layers.trial import settings_of_kept_nets
from experiments.lesion.question import EARLY, FIRST_40, MIDDLE, idle_share_among
from experiments.lesion_controls.trial import CONTROLS, RESIDUAL, UNTRAINED, trial
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected
from highways.records import by_data_set, with_settings
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"rates": [0.5], "search_epochs": 1},
    "default": {"rates": [0.25, 0.5, 1.0], "search_epochs": 3},
}
SEED_OF_SEARCH = 4


def run(runner: Runner) -> dict:
    """The search for the residual nets' rate on each data set; then all controls."""
    nets = settings_of_kept_nets(runner)
    residual = [as_residual(net) for net in nets]
    search = []
    for data_setting in by_data_set(residual).values():
        for rate in runner.settings["rates"]:
            tried = {"effective_lr": rate, "seed": SEED_OF_SEARCH, "epochs": runner.settings["search_epochs"]}
            search.append({**data_setting[0], **tried})
    search = fully_connected.run(runner, search)
    best_rates = {}
    for data, tried in by_data_set(search).items():
        best_rates[data] = min(tried, key=loss_of)["effective_lr"]

    wanted = [{"control": UNTRAINED, **net} for net in nets]
    for net in residual:
        wanted.append({"control": RESIDUAL, **net, "effective_lr": best_rates[net["data"]]})
    return {"search": search, "lesions": fully_connected.run(runner, wanted, trial)}


def as_residual(net: dict) -> dict:
    """The setting of a residual net with as many blocks and units as a highway net."""
    without_gates = {name: value for name, value in net.items() if name != "gate_bias"}
    return {**without_gates, "block": "residual", "width": fully_connected.WIDTH["highway"]}


def loss_of(net: dict) -> float:
    return math.inf if net["loss"] is None else net["loss"]


def rows(record: dict) -> list[dict]:
    """A row for each data set and control."""
    result = []
    for data, nets_on_set in by_data_set(record["trials"]["lesions"]).items():
        for control in CONTROLS:
            nets = with_settings(nets_on_set, control=control)
            row = {"data": data, "control": control}
            for name in ("error", "idle_share", "error_all_idle", "test_accuracy"):
                row[name] = mean_sd_n([net[name] for net in nets])
            for name, blocks in (("1_to_14", EARLY), ("15_to_45", MIDDLE), ("first_40", FIRST_40)):
                row[f"idle_share_{name}"] = mean_sd_n([idle_share_among(blocks, net) for net in nets])
            result.append(row)
    return result


QUESTION = Question(
    name="lesion_controls",
    source="a question of our own",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
    awaits=True,
)
