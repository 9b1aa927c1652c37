"""Controls of the lesions: which blocks matter in nets that have not learned?

    python -m experiments lesion_controls --data-dir CIFAR-100            -> results/lesion_controls.json

The rows on Figure 4 say which blocks of a trained highway net of 50 layers can be closed.  They say
something of highway nets that have learned if other nets do not pass the same rules.  The controls
have 49 blocks of 50 tanh units, as the nets of `fifty_layers` have, the same images and seeds, and are
measured as in `lesion`: a block is closed alone, its input passes on, and it is idle if that adds
less than 0.1 points to the error on all training images.

    an untrained net        as the net of `fifty_layers` is drawn
    a net whose gates stay shut
                            not trained: all its blocks are idle by construction, since a closed block
                            does what a shut one does

`lesion_residual` has a third control, residual nets.  Each takes the place of the highway nets in the
rules of `lesion`.  Nets of random gates are no control here: they fit 37 % of CIFAR-100's training
images (`static_gates`), so that what their blocks cost is not comparable.  At first they were planned;
they were cut for time when no result was known (commit 69da5d2, which has residual nets here, too).

Expected, before these runs: shut gates pass what holds of the row on MNIST's early layers, that those
of 15 to 45 are idle, and fail both rows on CIFAR-100.  Untrained nets pass none: closing a block moves
the answers of a net that guesses, up and down.

What each outcome would mean: what an untrained net passes, or one whose gates stay shut, says nothing
of what is learned.

Known before this was written: what `lesion` and `paths` found.
"""

from __future__ import annotations

from experiments.gates.fifty_layers_trial import settings_of_kept_nets
from experiments.lesion.lesion_controls_trial import UNTRAINED, trial
from experiments.lesion.lesion_summary import rows_of
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected

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
