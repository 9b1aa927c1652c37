"""From which epoch on do the gates do what the paper shows of them?

    python -m experiments gates_over_training --data-dir CIFAR-100            -> results/gates_over_training.json

On CIFAR-100, `gates` judges nets of 100 epochs.  That length was chosen after looking: after 25
epochs the biases fell with depth, after 100 they rose.  The paper does not say how long its nets
were trained.  So here one training of 200 epochs is measured after 6, 12, 25, 50, 100 and 200, on
MNIST and on CIFAR-100 alike.

The settings and seeds are those of the nets in `fifty_layers`, but the rate falls more slowly, to
the same last rate.  The measures are those of `gates`.

Fixed before these runs: each claim is judged at the last checkpoint, by the bounds of `gates`: a
correlation of biases and depth over 0.3; one of biases and mean gates below -0.3; the class
differences' share in the first 15 blocks below that of MNIST.  The paper speaks of trained nets,
the best by their training error, so what nets do after 6 epochs cannot refute it.  We chose to judge
at the last checkpoint before anybody had seen its results.  A question of our own is whether each
claim holds at all six checkpoints; it is judged with Holm's correction.

Seen before, in trainings with other rates: on CIFAR-100, after 25 epochs biases fell with depth,
and after 100 they rose, with a correlation of 0.79.  Expected: they fall up to 25 epochs, and rise
from 100 on; and so the share of the class differences in the first 15 blocks is below MNIST's only
from 50 epochs on.
"""

from __future__ import annotations

from claims.claim import Claim, NotMeasured
from claims.rules import all_below, interval, mean
from experiments.question import Question
from plumbing.statistics import mean_sd_n
from training import fully_connected, kept_nets, over_training
from training.fully_connected import CIFAR
from training.search import stretched
from training.trials import Runner

BUDGETS = {
    "quick": {"checkpoints": [1, 3], "of_each": 100},
    "default": {"checkpoints": [6, 12, 25, 50, 100, 200], "of_each": 1000},
    "full": {"checkpoints": [6, 12, 25, 50, 100, 200, 400, 800], "of_each": 1000},
}
BOUND = 0.3  # of correlations, as in `gates`
SHOWN = (
    "loss",
    "train_accuracy",
    "test_accuracy",
    "share_of_biases_decreased",
    "bias_depth_correlation",
    "bias_activity_correlation",
    "sparsity_single",
    "settled_layer",
    "change_share_first_15",
    "class_difference_share_first_15",
    "class_difference_sparsity",
)


def run(runner: Runner) -> list[dict]:
    checkpoints = runner.settings["checkpoints"]
    wanted = []
    for net in kept_nets.settings_of_kept_nets(runner):
        setting = stretched(net, checkpoints[-1])
        wanted.append({**setting, **runner.settings})
    return fully_connected.run(runner, wanted, over_training.trial)


# ---- Measures --------------------------------------------------------------------------------------------------------


def over_epochs(record: dict, data: str, name: str) -> dict[int, list[float]]:
    """{epoch: the statistic `name` of every seed}, for every checkpoint.

    Raises NotMeasured if there is no training on the data set."""
    found = {}
    for trial in record["trials"]:
        if trial["data"] == data:
            for measured in trial["measured"]:
                found.setdefault(measured["epoch"], []).append(measured[name])
    if not found:
        raise NotMeasured(f"there are no trainings on {data}")
    return found


def rows(record: dict) -> list[dict]:
    """A row for each data set and checkpoint."""
    result = []
    for data in kept_nets.by_data_set(record["trials"]):
        by_name = {name: over_epochs(record, data, name) for name in SHOWN}
        for epoch in record["settings"]["checkpoints"]:
            row = {"data": data, "epoch": epoch}
            for name, by_epoch in by_name.items():
                row[name] = mean_sd_n(by_epoch.get(epoch, []))
            result.append(row)
    return result


# ---- Claims ----------------------------------------------------------------------------------------------------------


def by_checkpoint(measured: dict[int, list[float]]) -> str:
    """The text "by epoch: 6: -0.41 (-0.52 to -0.3), ..."."""
    parts = []
    for epoch, values in measured.items():
        low, high = interval(values)
        parts.append(f"{epoch}: {mean(values):.2g} ({low:.2g} to {high:.2g})")
    return f"by epoch: {', '.join(parts)}"


def shares(record: dict) -> dict:
    """{epoch: the share of the class differences in the first 15 blocks, on both data sets}."""
    name = "class_difference_share_first_15"
    cifar = over_epochs(record, CIFAR, name)
    mnist = over_epochs(record, "MNIST", name)
    return {epoch: {"cifar": cifar[epoch], "mnist": mnist[epoch]} for epoch in cifar}


def shares_as_text(measured: dict) -> str:
    parts = []
    for epoch, pair in measured.items():
        parts.append(f"{epoch}: {mean(pair['cifar']):.2g}/{mean(pair['mnist']):.2g}")
    return f"share in the first 15 blocks, CIFAR-100/MNIST, by epoch: {', '.join(parts)}"


def biases_rise(measured: dict[int, list[float]]) -> list[tuple]:
    """Pairs for all_below(), one for each checkpoint."""
    return [((BOUND,), values) for values in measured.values()]


def biases_oppose_gates(measured: dict[int, list[float]]) -> list[tuple]:
    """Pairs for all_below(), one for each checkpoint."""
    return [(values, (-BOUND,)) for values in measured.values()]


def classes_differ_later(measured: dict) -> list[tuple]:
    """Pairs for all_below(), one for each checkpoint."""
    return [(pair["cifar"], pair["mnist"]) for pair in measured.values()]


def at_the_end_and_throughout(id: str, figure: str, says: str, measure, show, pairs_of, note) -> tuple[Claim, Claim]:
    """Two claims: what the paper says, judged at the last checkpoint; and a question of ours, whether
    the same is true at every checkpoint."""
    common = {"about": ABOUT, "measure": measure, "show": show, "note": note}
    at_the_end = Claim(
        id=id,
        source=f"paper, {figure}",
        says=f"{says}, after 200 epochs",
        holds=lambda measured: all_below(pairs_of(measured)[-1:]),
        **common,
    )
    throughout = Claim(
        id=f"{id}-throughout",
        kind="open question",
        source=f"paper, {figure}, open",
        says=f"{says}, after each of 6, 12, 25, 50, 100 and 200 epochs",
        holds=lambda measured: all_below(pairs_of(measured)),
        **common,
    )
    return at_the_end, throughout


ABOUT = {"layers": 50}
CLAIMS = (
    *at_the_end_and_throughout(
        id="biases-rise-with-depth-over-training",
        figure="Figure 2",
        says="on CIFAR-100 biases rise with depth (a correlation above 0.3)",
        measure=lambda record: over_epochs(record, CIFAR, "bias_depth_correlation"),
        show=by_checkpoint,
        pairs_of=biases_rise,
        note="nets trained for 100 epochs have a row of their own",
    ),
    *at_the_end_and_throughout(
        id="biases-against-gates-over-training",
        figure="Figure 2",
        says="on CIFAR-100 biases are inversely correlated with the mean gates (a correlation below -0.3)",
        measure=lambda record: over_epochs(record, CIFAR, "bias_activity_correlation"),
        show=by_checkpoint,
        pairs_of=biases_oppose_gates,
        note="nets trained for 100 epochs have a row of their own",
    ),
    *at_the_end_and_throughout(
        id="class-differences-over-training",
        figure="Figure 3",
        says="on CIFAR-100 the differences of classes are spread out over more layers than on MNIST (a smaller share "
        "lies in the first 15 blocks)",
        measure=shares,
        show=shares_as_text,
        pairs_of=classes_differ_later,
        note="a net whose differences lie mostly in late blocks passes this, too",
    ),
)

QUESTION = Question(
    name="gates_over_training",
    source="Training Very Deep Networks, section 4, Figures 2 and 3",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
