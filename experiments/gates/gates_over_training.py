"""From which epoch on do the gates do what the paper shows of them?

    python -m experiments gates_over_training --data-dir CIFAR-100       -> experiments/results/gates_over_training.json

The paper does not say how long its nets were trained.  So here one training of 200 epochs is
measured after 6, 12, 25, 50, 100 and 200, on MNIST and on CIFAR-100 alike.

The settings and seeds are those of the nets in `fifty_layers`, but the rate falls more slowly, to
the same last rate.  The measures are those of `gates`.  A claim on CIFAR-100 that depends on the
length of training is judged by the nets of `gates` and by these at the last checkpoint; it is
reproduced only if all its parts hold for both.  A question of our own is whether each claim holds at
all six checkpoints.
"""

from __future__ import annotations

from experiments.gates.gates_over_training_trial import trial
from experiments.gates.untrained import LONGER, NETS_AND_LONGER, OF_BIASES
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import ON_ALL_SETS, ON_CIFAR_100, settings_of_kept_nets
from experiments.shared_trials.fully_connected import CIFAR
from experiments.shared_trials.search import stretched
from highways.lab.judging.claim import NotMeasured, Sample, claim, effect_as_text, values_of
from highways.lab.judging.rules import all_below, corrected, interval, is_above, is_below, mean
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets.gate_statistics import (
    FIRST,
    FIRST_OF_CIFAR,
    HALF,
    MEANS_CHANGE,
    SETTLED,
    falls_of_biases,
    settled_at,
)
from highways.records import by_data_set
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"checkpoints": [1, 3], "of_each": 100},
    "default": {"checkpoints": [6, 12, 25, 50, 100, 200], "of_each": 1000},
}
BOUND = 0.3  # of correlations
BLOCK = 1  # the resolution of a number of blocks
SHARE_OF_CLASSES = "class_difference_share_first_15"
SPARSITY_OF_CLASSES = "class_difference_sparsity"
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
    "change_share_first_40",
    SHARE_OF_CLASSES,
    SPARSITY_OF_CLASSES,
)


def run(runner: Runner) -> list[dict]:
    checkpoints = runner.settings["checkpoints"]
    wanted = []
    for net in settings_of_kept_nets(runner):
        setting = stretched(net, checkpoints[-1])
        wanted.append({**setting, **runner.settings})
    return fully_connected.run(runner, wanted, trial)


# ---- Measures -----------------------------------------------------------------------------------


NAMES = {
    "bias_depth_correlation": "bias-depth correlation",
    "bias_activity_correlation": "bias-T correlation",
    f"change_share_first_{FIRST_OF_CIFAR}": f"share in blocks 1 to {FIRST_OF_CIFAR}",
    "settled_layer": "block of 90 % of change",
    SHARE_OF_CLASSES: "share in blocks 1 to 15",
    SPARSITY_OF_CLASSES: "sparsity",
}


def name_of(statistic: str, data: str) -> str:
    return f"{NAMES.get(statistic, statistic.replace('_', ' '))}, {data}"


def over_epochs(record: dict, data: str, name: str) -> dict[int, Sample]:
    """{epoch: the statistic `name` of every seed}, for every checkpoint.

    Raises NotMeasured if there is no training on the data set."""
    found = {}
    for training in record["trials"]:
        if training["data"] == data:
            for measured in training["measured"]:
                epoch = measured["epoch"]
                sample = found.setdefault(epoch, Sample(name=f"{name_of(name, data)}, epoch {epoch}"))
                sample.append(measured[name])
    if not found:
        raise NotMeasured(f"there are no trainings on {data}")
    return found


def rows(record: dict) -> list[dict]:
    """A row for each data set and checkpoint."""
    result = []
    for data in by_data_set(record["trials"]):
        by_name = {name: over_epochs(record, data, name) for name in SHOWN}
        for epoch in record["settings"]["checkpoints"]:
            row = {"data": data, "epoch": epoch}
            for name, by_epoch in by_name.items():
                row[name] = mean_sd_n(by_epoch.get(epoch, []))
            result.append(row)
    return result


# ---- Claims -------------------------------------------------------------------------------------
#
# In these claims `nets` are the results of `gates`: nets of 100 epochs on CIFAR-100, of 25 on MNIST.
# `longer` are the results of this question, after 200 epochs on either set.

SETTLED_PERCENT = f"{100 * SETTLED:g}"
LENGTHS = "in nets of 100 epochs and of 200"
LENGTHS_AND_CHANGE = f"{LENGTHS}; {MEANS_CHANGE}"
BOTH = ("gates", "gates_over_training")


def last_values(longer: dict, data: str, name: str) -> Sample:
    """The statistic at the last checkpoint, for every seed."""
    *_, last = over_epochs(longer, data, name).values()
    return Sample(last, f"{name_of(name, data)}, 200 epochs")


def at_both_lengths(nets: dict, longer: dict, data: str, name: str) -> tuple[Sample, Sample]:
    """The statistic of the nets of `gates`, and at the last checkpoint of `longer`."""
    found = values_of(nets["trials"], name, data=data)
    return Sample(found, name_of(name, data)), last_values(longer, data, name)


@claim(
    "biases-rise-with-depth-on-cifar",
    source="paper, Figure 2",
    about=ON_CIFAR_100,
    over=BOTH,
    seen=True,
    no_control=OF_BIASES,
)
def biases_rise_with_depth_on_cifar(nets, longer):
    """on CIFAR-100 biases rise with depth, inversely to the mean gates (correlation of mean bias with
    block number above {BOUND}, with mean T below -{BOUND}; {LENGTHS})"""
    with_depth, with_depth_longer = at_both_lengths(nets, longer, CIFAR, "bias_depth_correlation")
    with_T, with_T_longer = at_both_lengths(nets, longer, CIFAR, "bias_activity_correlation")
    parts = corrected(
        is_above(with_depth, BOUND),
        is_above(with_depth_longer, BOUND),
        is_below(with_T, -BOUND),
        is_below(with_T_longer, -BOUND),
    )
    return parts, (
        f"correlation with block number: {with_depth:interval}; after 200 epochs {with_depth_longer:interval}; "
        f"with mean T: {with_T:interval}; after 200 epochs {with_T_longer:interval}"
    )


@claim(
    "biases-fall-early-on-cifar",
    source="transcript, 4",
    about=ON_CIFAR_100,
    over=BOTH,
    seen=True,
    no_control=OF_BIASES,
)
def biases_fall_early_on_cifar(nets, longer):
    """CIFAR-100: biases became more negative especially in the early layers (the first third of the
    blocks against the rest; {LENGTHS})"""
    biases, biases_longer = at_both_lengths(nets, longer, CIFAR, "bias_of_layer")
    [start] = {*values_of(nets["trials"], "gate_bias", data=CIFAR)}  # `longer` has the same
    more = Sample([fall_more_early(start, bias) for bias in biases], "early biases' fall less the rest's")
    more_longer = [fall_more_early(start, bias) for bias in biases_longer]
    more_longer = Sample(more_longer, "early biases' fall less the rest's, 200 epochs")
    return corrected(is_above(more, 0), is_above(more_longer, 0)), (
        f"biases of the first third fell more than the others, by {more:interval}; after 200 epochs by "
        f"{more_longer:interval}"
    )


def fall_more_early(gate_bias: float, bias_of_block: list[float]) -> float:
    """How much further the biases of the first third of the blocks fell than those of the others."""
    early, others = falls_of_biases(gate_bias, bias_of_block)
    return early - others


@claim(
    "change-takes-first-40-on-cifar",
    source="paper, Figure 2",
    about=ON_CIFAR_100,
    over=BOTH,
    seen=True,
    controls=(NETS_AND_LONGER,),
)
def change_takes_first_40_on_cifar(nets, longer):
    """CIFAR-100: most of the change happens in the first {FIRST_OF_CIFAR} layers or so (more than half
    of it, and more than an even share; {SETTLED_PERCENT} % of it; {LENGTHS_AND_CHANGE})"""
    share, share_longer = at_both_lengths(nets, longer, CIFAR, f"change_share_first_{FIRST_OF_CIFAR}")
    blocks = len(values_of(nets["trials"], "change", data=CIFAR)[0])
    even = FIRST_OF_CIFAR / blocks
    least = max(HALF, even)
    parts = corrected(
        is_above(share, least),
        is_above(share_longer, least),
        is_above(share, SETTLED),
        is_above(share_longer, SETTLED),
    )
    return parts, (f"a share of {share:interval}; after 200 epochs {share_longer:interval}; an even one {even:.2f}")


@claim(
    "change-takes-longer-on-cifar",
    source="paper, Figure 2",
    about=ON_ALL_SETS,
    over=BOTH,
    seen=True,
    note="that 90 % comes ten blocks earlier on CIFAR-100 belongs to the nets of 100 epochs",
    controls=(NETS_AND_LONGER,),
)
def change_takes_longer_on_cifar(nets, longer):
    """the change takes more layers on CIFAR-100 than on MNIST (half of it, and 90 % of it, is reached
    at a later block; {MEANS_CHANGE}; in nets of 100 epochs, on MNIST of 25; 90 % of it also in nets
    of 200)"""
    half_cifar = blocks_to_half(nets, CIFAR)
    half_mnist = blocks_to_half(nets, "MNIST")
    most_cifar, most_cifar_longer = at_both_lengths(nets, longer, CIFAR, "settled_layer")
    most_mnist, most_mnist_longer = at_both_lengths(nets, longer, "MNIST", "settled_layer")
    parts = corrected(
        is_above(half_cifar, 0, half_mnist, resolution=BLOCK),
        is_above(most_cifar, 0, most_mnist, resolution=BLOCK),
        is_above(most_cifar_longer, 0, most_mnist_longer, resolution=BLOCK),
    )
    return parts, (
        f"block of CIFAR-100 less that of MNIST, for 50 %: "
        f"{effect_as_text(half_cifar, half_mnist, resolution=BLOCK)}, "
        f"for 90 %: {effect_as_text(most_cifar, most_mnist, resolution=BLOCK)}, "
        f"for 90 % after 200 epochs on both: "
        f"{effect_as_text(most_cifar_longer, most_mnist_longer, resolution=BLOCK)}"
    )


def blocks_to_half(nets: dict, data: str) -> Sample:
    """The block by which half of the change is made, for every seed."""
    blocks = [settled_at(change, HALF) for change in values_of(nets["trials"], "change", data=data)]
    return Sample(blocks, f"block of half the change, {data}")


@claim(
    "class-differences-on-cifar",
    source="paper, Figure 3",
    about=ON_ALL_SETS,
    over=BOTH,
    seen=True,
    controls=(NETS_AND_LONGER,),
)
def class_differences_on_cifar(nets, longer):
    """on CIFAR-100 the differences of classes are sparser, and spread out over all layers (a smaller
    share in the first 15 blocks than on MNIST, but more than an even one; {LENGTHS})"""
    share, share_longer = at_both_lengths(nets, longer, CIFAR, SHARE_OF_CLASSES)
    share_mnist, share_mnist_longer = at_both_lengths(nets, longer, "MNIST", SHARE_OF_CLASSES)
    sparsity, sparsity_longer = at_both_lengths(nets, longer, CIFAR, SPARSITY_OF_CLASSES)
    sparsity_mnist, sparsity_mnist_longer = at_both_lengths(nets, longer, "MNIST", SPARSITY_OF_CLASSES)
    even = FIRST / len(values_of(nets["trials"], "class_difference", data=CIFAR)[0])
    parts = corrected(
        is_below(share, 0, baseline=share_mnist),
        is_above(share, even),
        is_below(share_longer, 0, baseline=share_mnist_longer),
        is_above(share_longer, even),
        is_above(sparsity, 0, baseline=sparsity_mnist),
        is_above(sparsity_longer, 0, baseline=sparsity_mnist_longer),
    )
    sparsity_by_epoch = over_epochs(longer, CIFAR, SPARSITY_OF_CLASSES)
    sparsity_mnist_by_epoch = over_epochs(longer, "MNIST", SPARSITY_OF_CLASSES)
    return parts, (
        f"share in the first 15 blocks (even: {even:.2f}): {share:interval}, "
        f"less MNIST's {effect_as_text(share, share_mnist)}; "
        f"after 200 epochs {share_longer:interval}, less MNIST's {effect_as_text(share_longer, share_mnist_longer)}; "
        f"sparsity less MNIST's: {effect_as_text(sparsity, sparsity_mnist)}; "
        f"after 200 epochs {effect_as_text(sparsity_longer, sparsity_mnist_longer)}; sparsity in the longer training, "
        f"CIFAR-100/MNIST, {pairs_by_epoch(sparsity_by_epoch, sparsity_mnist_by_epoch)}"
    )


# ---- Whether what the paper says is true at every checkpoint: questions of ours -------------------

CHECKPOINTS = "after each of 6, 12, 25, 50, 100 and 200 epochs"


@claim(
    "biases-rise-with-depth-over-training-throughout",
    kind="open question",
    source="paper, Figure 2, open",
    about=ON_ALL_SETS,
    no_control=OF_BIASES,
)
def biases_rise_with_depth_throughout(r):
    """on CIFAR-100 biases rise with depth (a correlation above {BOUND}), {CHECKPOINTS}"""
    correlations = over_epochs(r, CIFAR, "bias_depth_correlation")
    parts = all_below([(BOUND, values) for values in correlations.values()], resolution=0)
    return parts, by_checkpoint(correlations)


@claim(
    "biases-against-gates-over-training-throughout",
    kind="open question",
    source="paper, Figure 2, open",
    about=ON_ALL_SETS,
    no_control=OF_BIASES,
)
def biases_against_gates_throughout(r):
    """on CIFAR-100 biases are inversely correlated with the mean gates (a correlation below
    -{BOUND}), {CHECKPOINTS}"""
    correlations = over_epochs(r, CIFAR, "bias_activity_correlation")
    parts = all_below([(values, -BOUND) for values in correlations.values()], resolution=0)
    return parts, by_checkpoint(correlations)


@claim(
    "class-differences-over-training-throughout",
    kind="open question",
    source="paper, Figure 3, open",
    about=ON_ALL_SETS,
    controls=(LONGER,),
)
def class_differences_throughout(r):
    """on CIFAR-100 a smaller share of the differences of classes lies in the first 15 blocks than on
    MNIST, {CHECKPOINTS}"""
    cifar = over_epochs(r, CIFAR, SHARE_OF_CLASSES)
    mnist = over_epochs(r, "MNIST", SHARE_OF_CLASSES)
    parts = all_below([(cifar[epoch], mnist[epoch]) for epoch in cifar])
    return parts, f"share in the first 15 blocks, CIFAR-100/MNIST, {pairs_by_epoch(cifar, mnist)}"


def pairs_by_epoch(cifar: dict[int, list], mnist: dict[int, list]) -> str:
    """The text "by epoch: 6: 0.53/0.35, ..."."""
    parts = [f"{epoch}: {mean(cifar[epoch]):.2g}/{mean(mnist[epoch]):.2g}" for epoch in cifar]
    return f"by epoch: {', '.join(parts)}"


def by_checkpoint(found: dict[int, list[float]]) -> str:
    """The text "by epoch: 6: -0.41 (-0.52 to -0.3), ..."."""
    parts = []
    for epoch, values in found.items():
        low, high = interval(values, resolution=0)  # that of biases that are all equal is 0, exactly
        parts.append(f"{epoch}: {mean(values):.2g} ({low:.2g} to {high:.2g})")
    return f"by epoch: {', '.join(parts)}"


QUESTION = Question(
    name="gates_over_training",
    source="Training Very Deep Networks, section 4, Figures 2 and 3",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
