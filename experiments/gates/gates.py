"""Figures 2 and 3 of the paper: what the gates of a trained 50-layer net do.

    python -m experiments gates            -> experiments/results/gates.json
    python -m experiments gates --data-dir CIFAR-100 /usr/share/datasets/fashion-mnist   # besides MNIST

The paper says in section 4: Most gate biases decreased during training.  For CIFAR-100 they
increase with depth, inversely to the mean activity of the gates.  The activity for a single
example is very sparse, while on average most gates are active.  Outputs stay constant over
many layers; most of the change happens in the first 15 or so (MNIST) or 40 (CIFAR-100).
The mean activity of digits 0 and 7 differs from the overall mean within the first 15 layers.
The differences of classes 0 and 1 of CIFAR-100 are sparser, and spread out over all layers.

The nets are those of the question `fifty_layers`.  The same is measured in the nets as they are
drawn, before training: a row says if its rule is passed by the untrained nets, too.  RULES.md
defines the words.

- Sparsity is Hoyer's measure, from 0 (all gates alike) to 1 (one gate open).  It is measured on
  the gates of one image, averaged over 1000 training images, and on the mean gates.
- A gate is open if its T exceeds 0.5.  Blocks are counted from 1, starting at the image.
- Block l changes the state of an image by |y_l - x_l|, averaged over the training images.  A net
  has settled at the first block by which 90 % of the change is made.
- Classes differ in a block by (mean T of a class - mean T)^2, summed over units and classes.

What is said of CIFAR-100, alone or beside MNIST, and depends on the length of training, is judged by
`gates_over_training`, from these nets and from nets of 200 epochs.  The share of gates that are
active at some point is the exception: it was not measured there.
"""

from __future__ import annotations

import numpy as np

from experiments.gates.gates_trial import AT_START, thirds_of, trial
from experiments.gates.untrained import NETS, OF_BIASES
from experiments.shared_trials.fifty_layer_nets import ON_ALL_SETS, ON_CIFAR_100, ON_MNIST, look_into
from experiments.shared_trials.fully_connected import CIFAR
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.controls import Control
from highways.lab.judging.rules import above, corrected, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets.gate_statistics import FIRST, HALF, MEANS_CHANGE, OPEN, SETTLED, falls_of_biases, settled_at
from highways.records import by_data_set
from highways.statistics import mean_sd_n

# of_each: on how many images gates are measured one image at a time
BUDGETS = {"quick": {"of_each": 1000}, "default": {"of_each": 1000}}
SPARSE = 0.5  # gates are sparse if Hoyer's measure, 0 for all alike and 1 for one open, exceeds this
HANDFUL = 0.05  # the transcript's "small, sparse handful" is a smaller share of the early gates
ALMOST_ALL = 0.9  # the transcript's "almost all" is a larger share of the gates
UNALTERED = 0.01  # data coast on unaltered if a smaller share of the change is left
STRIPE = 10  # blocks: over so many an output stays constant in a stripe
BAND = 0.2  # and it stays within this
INVERSE = 0.3  # biases are inverse to what correlates with them below minus this
ONE_GATE = 1 / (49 * 50)  # the resolution of a share of the gates
STATISTICS = (
    "share_of_biases_decreased",
    "bias_activity_correlation",
    "bias_activity_correlation_units",
    "bias_depth_correlation",
    "sparsity_single",
    "sparsity_single_at_start",
    "sparsity_mean",
    "share_open_single",
    "share_open_single_early",
    "share_open_in_1_of_100",
    "share_open_for_any",
    "share_active_on_average",
    "mean_T",
    "mean_T_at_start",
    "settled_layer",
    "change_share_first_15",
    "change_share_first_40",
    "class_difference_share_first_15",
    "class_difference_sparsity",
)


def run(runner: Runner) -> list[dict]:
    return look_into(runner, trial)


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, and for each data set a row of its trained nets and one of its untrained."""
    definitions = {"open_above": OPEN, "settled_at": SETTLED, "first_blocks": FIRST}
    result = [{"row": "definitions", **definitions}]
    sets = by_data_set(record["trials"])
    for data, trials in sets.items():
        row = {"data": data}
        for name in STATISTICS:
            row[name] = mean_sd_n([trial[name] for trial in trials])
        row["half_settled_layer"] = mean_sd_n([settled_at(trial["change"], HALF) for trial in trials])
        row["mean_bias"] = mean_sd_n([float(np.mean(trial["bias_of_layer"])) for trial in trials])
        result.append({**row, **mean_T_of_thirds(trials)})
    for data, trials in sets.items():
        nets = [trial["untrained"] for trial in trials]
        row = {"untrained": data}
        for name in AT_START:
            row[name] = mean_sd_n([net[name] for net in nets])
        row["half_settled_layer"] = mean_sd_n([settled_at(net["change"], HALF) for net in nets])
        result.append({**row, **mean_T_of_thirds(nets)})
    return result


def mean_T_of_thirds(nets: list[dict]) -> dict:
    """{"mean_T_first_third" and so on: over seeds}."""
    thirds = [thirds_of(net["mean_T_of_layer"]) for net in nets]
    found = {}
    for name in ("first", "middle", "last"):
        found[f"mean_T_{name}_third"] = mean_sd_n([means[name] for means in thirds])
    return found


# ---- Claims -------------------------------------------------------------------------------------

ACTIVE = f"a mean T above {OPEN}; or a T above {OPEN} for at least one image in 100"
SETTLED_PERCENT = f"{100 * SETTLED:g}"
MOST_OF_IT = f"more than half of it, and more than an even share; {SETTLED_PERCENT} % of it; {MEANS_CHANGE}"
HANDFUL_PERCENT = f"{100 * HANDFUL:g}"
ALMOST_ALL_PERCENT = f"{100 * ALMOST_ALL:g}"
UNALTERED_PERCENT = f"{100 * UNALTERED:g}"


NAMES = {
    "share_of_biases_decreased": "share of biases that fell",
    "sparsity_single": "sparsity",
    "share_active_on_average": "share of gates with mean T over 0.5",
    "share_open_in_1_of_100": "share open for 1 image in 100",
    "share_open_single_early": "share of early gates open",
    "share_open_for_any": "share of gates open for any image",
}


def mnist_and_cifar(record: dict, name: str) -> tuple[Sample, Sample]:
    """One statistic on each of the paper's data sets."""
    mnist = values_of(record["trials"], name, data="MNIST")
    cifar = values_of(record["trials"], name, data=CIFAR)
    words = NAMES.get(name, name.replace("_", " "))
    return Sample(mnist, f"{words}, MNIST"), Sample(cifar, f"{words}, {CIFAR}")


@claim(
    "gates-of-one-image-sparse-on-cifar",
    source="paper, Figure 2",
    about=ON_CIFAR_100,
    seen=True,
    controls=(NETS,),
)
def gates_of_one_image_sparse_on_cifar(r):
    """CIFAR-100: one image's gates are very sparse (above {SPARSE} by Hoyer's measure)"""
    single = Sample(values_of(r["trials"], "sparsity_single"), "sparsity of one image's gates")
    at_start = values_of(r["trials"], "sparsity_single_at_start")
    mean_gates = values_of(r["trials"], "sparsity_mean")
    text = f"sparsity {single:interval}, before training {at_start:2}; of the mean gates {mean_gates:2}"
    return [above(single, SPARSE)], text


@claim(
    "gates-of-one-image-sparse",
    source="paper, Figure 2",
    about=ON_ALL_SETS,
    seen=True,
    note="nearly any training raises the measure, and before it, too, it is lower than on CIFAR-100",
    controls=(NETS,),
)
def gates_of_one_image_sparse(r):
    """MNIST: one image's gates are sparse, too, to a lesser extent (more than before training by
    Hoyer's measure, and less than on CIFAR-100)"""
    mnist, cifar = mnist_and_cifar(r, "sparsity_single")
    at_start = values_of(r["trials"], "sparsity_single_at_start", data="MNIST")
    at_start = Sample(at_start, "sparsity before training, MNIST")
    parts = corrected(is_above(mnist, 0, baseline=at_start), is_below(mnist, 0, baseline=cifar))
    return parts, (
        f"sparsity {mnist:interval}, before training {at_start:2}; less CIFAR-100's {effect_as_text(mnist, cifar)}"
    )


@claim(
    "most-gates-active-on-average",
    source="paper, 4.1",
    about=ON_ALL_SETS,
    seen=True,
    controls=(NETS,),
)
def most_gates_active_on_average(r):
    """most gates are active on average, on MNIST and on CIFAR-100 (over half of them; active: {ACTIVE})"""
    mnist, cifar = mnist_and_cifar(r, "share_active_on_average")
    opened_mnist, opened_cifar = mnist_and_cifar(r, "share_open_in_1_of_100")
    samples = (mnist, cifar, opened_mnist, opened_cifar)
    parts = corrected(*(is_above(shares, HALF, resolution=ONE_GATE) for shares in samples))
    return parts, (
        f"share of the gates with a mean T above 0.5: MNIST {mnist:interval}, CIFAR-100 {cifar:interval}; "
        f"open for one image in 100: MNIST {opened_mnist:interval}, CIFAR-100 {opened_cifar:interval}"
    )


@claim(
    "sparser-on-cifar",
    source="paper, 4.1",
    about=ON_ALL_SETS,
    seen=True,
    note="b_T is -4 on CIFAR-100 and -2 on MNIST, so that its mean T can hardly be higher",
    controls=(NETS,),
)
def sparser_on_cifar(r):
    """one image's gates are sparser on CIFAR-100 than on MNIST, and more gates are active on average
    (a higher mean T; more gates with a T above {OPEN} for at least one image in 100)"""
    sparsity_mnist, sparsity_cifar = mnist_and_cifar(r, "sparsity_single")
    mean_T_mnist, mean_T_cifar = mnist_and_cifar(r, "mean_T")
    start_mnist, start_cifar = mnist_and_cifar(r, "mean_T_at_start")
    opened_mnist, opened_cifar = mnist_and_cifar(r, "share_open_in_1_of_100")
    parts = corrected(
        is_above(sparsity_cifar, 0, baseline=sparsity_mnist),
        is_above(mean_T_cifar, 0, baseline=mean_T_mnist),
        is_above(opened_cifar, 0, baseline=opened_mnist),
    )
    return parts, (
        f"CIFAR-100 less MNIST: sparsity {effect_as_text(sparsity_cifar, sparsity_mnist)}, "
        f"mean T {effect_as_text(mean_T_cifar, mean_T_mnist)}, "
        f"before training {effect_as_text(start_cifar, start_mnist)}, "
        f"gates that open for one image in 100 {effect_as_text(opened_cifar, opened_mnist)}"
    )


@claim(
    "most-change-in-first-15",
    source="paper, Figure 2",
    about=ON_MNIST,
    seen=True,
    controls=(NETS,),
)
def most_change_in_first_15(r):
    """MNIST: most of the change happens in the first {FIRST} layers or so ({MOST_OF_IT})"""
    share = values_of(r["trials"], f"change_share_first_{FIRST}")
    share = Sample(share, f"share of the change in blocks 1 to {FIRST}")
    changes = values_of(r["trials"], "change")
    half = Sample([settled_at(change, HALF) for change in changes])
    most = Sample([settled_at(change, SETTLED) for change in changes])
    blocks = len(changes[0])
    even = FIRST / blocks
    return [above(share, max(HALF, even)), above(share, SETTLED)], (
        f"a share of {share:interval}, an even one {even:.2f}; half of it by block {half:3}, 90 % by block "
        f"{most:3}, of {blocks}"
    )


@claim(
    "classes-differ-in-first-15",
    source="paper, Figure 3",
    about=ON_MNIST,
    seen=True,
    controls=(NETS,),
)
def classes_differ_in_first_15(r):
    """MNIST: classes differ in their gates within the first {FIRST} layers (more than half of the
    differences; undecided if squared differences and others disagree)"""
    squared = values_of(r["trials"], "class_difference_share_first_15")
    squared = Sample(squared, "share of squared differences in blocks 1 to 15")
    of_blocks = values_of(r["trials"], "class_difference")
    not_squared = [sum(of_block[:FIRST]) / sum(of_block) for of_block in of_blocks]
    not_squared = Sample(not_squared, "share of the differences in blocks 1 to 15")
    most_of_squared, most_of_others = corrected(is_above(squared, HALF), is_above(not_squared, HALF))
    verdict = most_of_squared if most_of_squared == most_of_others else None
    return [verdict], f"a share of {squared:interval} of the squared differences, {not_squared:interval} of the others"


def stripes(outputs: list[list[float]]) -> float:
    """The share of the outputs of all blocks that lie in a stripe: STRIPE blocks or more, one after the
    other, over which an output stays within BAND."""
    states = np.array(outputs)
    is_in_stripe = np.zeros(states.shape, bool)
    for first in range(len(states) - STRIPE + 1):
        blocks = slice(first, first + STRIPE)
        is_constant = np.ptp(states[blocks], axis=0) <= BAND
        is_in_stripe[blocks, is_constant] = True
    return float(is_in_stripe.mean())


def in_another_order(record: dict) -> tuple[dict]:
    """The outputs of the blocks in an order drawn at random."""
    nets = []
    for net in record["trials"]:
        if "maps" not in net:
            continue
        one = net["maps"]["one"]
        order = np.random.default_rng(0).permutation(len(one["outputs"]))
        shuffled = {**one, "outputs": [one["outputs"][block] for block in order]}
        nets.append({**net, "maps": {**net["maps"], "one": shuffled}})
    return ({**record, "trials": nets},)


@claim(
    "outputs-form-stripes",
    source="paper, Figure 2",
    about=ON_ALL_SETS,
    seen=True,
    note="the outputs of one image in one net of each set, as in the paper",
    one_run=True,
    controls=(Control("the same blocks in another order", in_another_order),),
)
def outputs_form_stripes(r):
    """most of the outputs stay constant over many layers, forming a pattern of stripes, on MNIST and on
    CIFAR-100 (over half of them lie in stripes of {STRIPE} blocks or more, over which they stay within
    {BAND}, a tenth of tanh's range)"""
    mapped = {trial["data"]: trial["maps"]["one"] for trial in r["trials"] if "maps" in trial}
    shares = {data: stripes(mapped[data]["outputs"]) for data in mapped}
    texts = [f"{data} {share:.2f}" for data, share in shares.items()]
    return [share > HALF for share in shares.values()], f"share of the outputs in stripes: {', '.join(texts)}"


@claim(
    "negative-biases-make-gates-selective",
    source="paper, Figure 2",
    about=ON_CIFAR_100,
    over=("gates", "routing"),
    seen=True,
    note="in nets of 100 epochs",
    no_control=OF_BIASES,
)
def negative_biases_make_gates_selective(nets, routing):
    """CIFAR-100: strong negative biases are not used to shut down the gates, but to make them more
    selective (over the blocks, the mean bias correlates below -{INVERSE} with mean T, and with the share
    of T's variance that lies between images)"""
    with_T = values_of(nets["trials"], "bias_activity_correlation")
    with_T = Sample(with_T, "correlation of bias with mean T")
    with_selectivity = Sample(name="correlation of bias with share between images")
    for net in nets["trials"]:
        [static] = values_of(routing["trials"], "static_by_block", data=net["data"], seed=net["seed"])
        between_images = 1 - np.array(static)
        with_selectivity.append(float(np.corrcoef(net["bias_of_layer"], between_images)[0, 1]))
    parts = corrected(is_below(with_T, -INVERSE), is_below(with_selectivity, -INVERSE))
    return parts, (
        f"correlation with mean T {with_T:interval}, with the share between images {with_selectivity:interval}"
    )


@claim("biases-fall-early", source="transcript, 4", about=ON_MNIST, seen=True, no_control=OF_BIASES)
def biases_fall_early(r):
    """MNIST: biases became more negative especially in the early layers (the first third of the
    blocks against the rest)"""
    early, later = falls(r["trials"])
    more = Sample(np.subtract(early, later).tolist(), "early biases' fall less the rest's")
    return [above(more, 0)], (
        f"biases of the first third fell by {early:2}, those of the rest by {later:2}: difference {more:interval}"
    )


def falls(trials: list[dict]) -> tuple[Sample, Sample]:
    """How far the mean bias of blocks fell in training: of the first third, and of the others."""
    pairs = [falls_of_biases(trial["gate_bias"], trial["bias_of_layer"]) for trial in trials]
    return Sample([early for early, _ in pairs]), Sample([later for _, later in pairs])


@claim(
    "a-handful-of-gates-opens",
    source="transcript, 4",
    about=ON_ALL_SETS,
    seen=True,
    controls=(NETS,),
)
def a_handful_of_gates_opens(r):
    """for one image only a small, sparse handful of the early gates opens, on MNIST and CIFAR-100
    (under {HANDFUL_PERCENT} % of the gates in the first third of the blocks)"""
    mnist, cifar = mnist_and_cifar(r, "share_open_single_early")
    blocks_mnist, blocks_cifar = mnist_and_cifar(r, "open_single_of_layer")
    first_block_mnist = Sample([shares[0] for shares in blocks_mnist])
    first_block_cifar = Sample([shares[0] for shares in blocks_cifar])
    parts = corrected(
        is_below(mnist, HANDFUL, resolution=ONE_GATE),
        is_below(cifar, HANDFUL, resolution=ONE_GATE),
    )
    return parts, (
        f"share of the gates: MNIST {mnist:interval}, CIFAR-100 {cifar:interval}; in the first block alone "
        f"MNIST {first_block_mnist:2}, CIFAR-100 {first_block_cifar:2}"
    )


@claim(
    "almost-all-gates-active",
    source="transcript, 4.1",
    about=ON_ALL_SETS,
    seen=True,
    controls=(NETS,),
)
def almost_all_gates_active(r):
    """over all images almost all gates are active at some point, on MNIST and CIFAR-100 (over
    {ALMOST_ALL_PERCENT} % open for at least one training image)"""
    mnist, cifar = mnist_and_cifar(r, "share_open_for_any")
    parts = corrected(is_above(mnist, ALMOST_ALL), is_above(cifar, ALMOST_ALL))
    return parts, f"share of the gates: MNIST {mnist:interval}, CIFAR-100 {cifar:interval}"


@claim(
    "early-gates-more-open",
    source="encyclopedia article",
    about=ON_ALL_SETS,
    seen=True,
    controls=(NETS,),
)
def early_gates_more_open(r):
    """early layers: gates tend to be open, T about 1 (read as: mean T of the first third of the blocks
    is above {OPEN}, on MNIST and on CIFAR-100)"""
    comparisons = []
    texts = []
    for data in ("MNIST", CIFAR):
        thirds = [thirds_of(mean_T) for mean_T in values_of(r["trials"], "mean_T_of_layer", data=data)]
        first = Sample([means["first"] for means in thirds], f"mean T of the first third, {data}")
        last = [means["last"] for means in thirds]
        comparisons.append(is_above(first, OPEN))
        texts.append(f"{data} {effect_as_text(first)}, of the last third {np.mean(last):.2g}")
    return corrected(*comparisons), f"mean T of the first third of the blocks: {'; '.join(texts)}"


@claim("coasts-unaltered", source="transcript, 4", about=ON_ALL_SETS, seen=True, controls=(NETS,))
def coasts_unaltered(r):
    """after the first 15 layers (MNIST) and 40 (CIFAR-100) data coast on completely unaltered (under
    {UNALTERED_PERCENT} % of the change is left)"""
    first_15 = values_of(r["trials"], "change_share_first_15", data="MNIST")
    first_40 = values_of(r["trials"], "change_share_first_40", data=CIFAR)
    left_mnist = Sample([1 - share for share in first_15], "change left after block 15, MNIST")
    left_cifar = Sample([1 - share for share in first_40], "change left after block 40, CIFAR-100")
    parts = corrected(is_below(left_mnist, UNALTERED), is_below(left_cifar, UNALTERED))
    return parts, f"share of the change that is left: MNIST {left_mnist:interval}, CIFAR-100 {left_cifar:interval}"


QUESTION = Question(
    name="gates",
    source="Training Very Deep Networks, section 4, Figures 2 and 3",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
