"""Ten seeds where three left a claim open.

    python -m experiments more_seeds            -> experiments/results/more_seeds.json

Every net that an open claim of `optimization` or `blocks` compares gets seven more seeds, with the setting
that its search chose.
"""

from __future__ import annotations

from experiments.shared_trials import fully_connected
from experiments.shared_trials.matched_blocks import final_trial
from experiments.shared_trials.search import chosen_settings
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

# seeds: the number including those that the questions have
BUDGETS = {"quick": {"seeds": 3}, "default": {"seeds": 10}}
# the nets that the open claims compare: (block, width); None where the question has one width alone
OPEN = {
    "optimization": [("highway", None)],
    "blocks": [("highway", 50), ("highway-carry", 50), ("residual", 50)],
}


def net_of(trial: dict) -> tuple[str, int | None]:
    return trial["block"], trial.get("width")


def missing(record: dict, nets: list[tuple], seeds: int) -> list[dict]:
    """The chosen settings of these nets at every depth, with the seeds that the record lacks."""
    final = [trial for trial in record["trials"]["final"] if net_of(trial) in nets]
    seeds_there = {trial["seed"] for trial in final}
    more_seeds = [seed for seed in range(1, seeds + 1) if seed not in seeds_there]
    chosen = chosen_settings(final)
    return [{**setting, "seed": seed} for setting in chosen for seed in more_seeds]


def run(runner: Runner) -> dict:
    seeds = runner.settings["seeds"]
    optimization_settings = missing(runner.needed["optimization"], OPEN["optimization"], seeds)
    blocks_settings = missing(runner.needed["blocks"], OPEN["blocks"], seeds)
    return {
        "optimization": fully_connected.run(runner, optimization_settings),
        "blocks": fully_connected.run(runner, blocks_settings, final_trial),
    }


def rows(record: dict) -> list[dict]:
    """A row for each net, over the seeds that were added."""
    result = []
    for question, trials in record["trials"].items():
        for net in OPEN[question]:
            block, _ = net
            same_net = [trial for trial in trials if net_of(trial) == net]
            for depth in sorted({trial["depth"] for trial in same_net}):
                same_depth = [trial for trial in same_net if trial["depth"] == depth]
                result.append({
                    "question": question,
                    "block": block,
                    "depth": depth,
                    "loss": mean_sd_n([trial["loss"] for trial in same_depth]),
                    "test_accuracy": mean_sd_n([trial["test_accuracy"] for trial in same_depth]),
                })  # fmt: skip
    return result


QUESTION = Question(
    name="more_seeds",
    source="the paper, sections 2 and 3.1; an encyclopedia article",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("optimization", "blocks"),
)
