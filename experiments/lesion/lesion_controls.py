"""Controls of the lesions: which blocks matter in nets that have not learned?

    python -m experiments lesion_controls --data-dir CIFAR-100            -> experiments/results/lesion_controls.json

The rows on Figure 4 say something of highway nets that have learned if other nets do not pass the
same rules.  Here untrained nets take the highway nets' place in the rules of `lesion`: those of
`fifty_layers` as they are drawn.  They are measured as in `lesion`.  A net whose gates stay shut
needs no run: all its blocks are idle by construction, since a closed block does what a shut one does.
`lesion_residual` has a third control, residual nets.
"""

from __future__ import annotations

from experiments.lesion.groups import rows_of
from experiments.lesion.lesion_controls_trial import UNTRAINED, trial
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import settings_of_kept_nets
from highways.lab.question import Question
from highways.lab.trials import Runner

BUDGETS = {"quick": {}, "default": {}}


def run(runner: Runner) -> list[dict]:
    nets = settings_of_kept_nets(runner)
    return fully_connected.run(runner, [{"control": UNTRAINED, **net} for net in nets], trial)


def rows(record: dict) -> list[dict]:
    """A row for each data set."""
    return rows_of(record["trials"])


QUESTION = Question(
    name="lesion_controls",
    source="a question of our own",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
