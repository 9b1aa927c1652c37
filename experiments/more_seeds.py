"""Ten seeds where three left a claim open.

    python -m experiments.more_seeds            -> results/more_seeds.json

Three seeds of `optimization` and `blocks` left four rows of the ledger "not clear".  Seven more of every kind of net
that such a row compares, each with the setting that its search chose, make ten; that was fixed before these runs, and
the row is judged by all ten, whatever they say.  The results of both experiments must be there.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
from fully_connected.trials import Experiment, run_and_exit

from claims.rules import mean_sd_n, print_summary, with_more_seeds
from experiments import blocks, optimization
from plumbing.files import InputError
from plumbing.records import load_results
from training import fully_connected

BUDGETS = {"quick": {"seeds": 3}, "default": {"seeds": 10}, "full": {"seeds": 20}}  # in all
OPEN = {  # what the open rows compare: (block, width), None where the experiment knows one width alone
    "optimization": [("highway", None)],
    "blocks": [("highway", 50), ("highway-carry", 50), ("residual", 50)],
}
NAMES = ("block", "width", "layers", "activation", "rate", "momentum", "decay", "gate_bias", "scale")
NAMES += ("clip", "seed", "epochs", "n_train", "n_test")


def finals(e: Experiment, experiment) -> dict:
    """The results of another experiment under the same budget; the quick one is run if it was not."""
    name = experiment.__name__.removeprefix("experiments.")
    path = e.folder / f"{name}.json"
    if e.budget == "quick" and not path.exists():
        experiment.main([*shlex.split(e.flags), *e.processes])
    record = load_results(path)
    if record["settings"]["budget"] != e.budget:
        raise InputError(f"{path} is of the budget {record['settings']['budget']}, not {e.budget}")
    return record


def settings(record: dict, nets: list[tuple], seeds: int) -> list[dict]:
    """The chosen settings of these nets at every depth, with the seeds that are wanting."""
    final = [t for t in record["trials"]["final"] if (t["block"], t.get("width")) in nets]
    had = {t["seed"] for t in final}
    chosen = [setting_of(t) for t in final if t["seed"] == min(had)]
    return [t | {"seed": seed} for t in chosen for seed in range(1, seeds + 1) if seed not in had]


def setting_of(t: dict) -> dict:
    return {name: t[name] for name in NAMES if name in t}


def main(argv=None) -> None:
    e = Experiment("more_seeds", __doc__, BUDGETS, argv)
    records = {"optimization": finals(e, optimization), "blocks": finals(e, blocks)}
    todo = {name: settings(record, OPEN[name], e.settings["seeds"]) for name, record in records.items()}
    trials = {"optimization": fully_connected.run(e, todo["optimization"])}
    trials["blocks"] = fully_connected.run(e, todo["blocks"], blocks.final_trial)
    summary = summarise(records, trials)
    e.save("the paper, sections 2 and 3.1; an encyclopedia article", summary, trials)
    print_summary(summary)


def summarise(records: dict, trials: dict) -> dict:
    """Over all seeds: those of the experiment, and these."""
    summary = {}
    for name, record in records.items():
        whole = with_more_seeds(record, {"trials": trials})["trials"]["final"]
        for net in OPEN[name]:
            own = [t for t in whole if (t["block"], t.get("width")) == net]
            for layers in sorted({t["layers"] for t in own}):
                for what in ("loss", "test_accuracy"):
                    values = [t[what] for t in own if t["layers"] == layers]
                    summary[f"{what}_{name}_{net[0]}_{layers}"] = mean_sd_n(values)
    return summary


if __name__ == "__main__":
    run_and_exit("more_seeds")
