"""Do the ten main claims about highway nets stand, with seeds and searches that nothing has used?

    python -m experiments primary --data-dir CIFAR-100            -> experiments/results/primary.json

The studies are those of other rooms, repeated under one stricter search: their trials come from `gates`, `lesion`,
`static_gates` and `thousand_layers`.

PRIMARY has the ten claims.  Claim 6 is judged by rows of `table1`, claim 7 by a row of `cifar`; the
other eight are judged here, by new runs alone.  RULES.md has each rule in words.

The seeds of nets are 2001, 2002, ...; those of searches are 2101, 2102, ...  Where a search chooses
the settings, the whole search is repeated: it has its own draws, finalists and one net of another
seed, and counts as one value.  So the intervals contain the spread of the search.

All comparisons of a claim share Holm's correction (in claim 5 those with the best b_T of a depth
have one of their own).  A net that diverged counts as one that guesses: loss log 10, accuracy 0.1,
on CIFAR-100 log 100 and 0.01.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from experiments.gates.untrained import OF_BIASES
from experiments.lesion.groups import FIRST_40, idle_share_among
from experiments.primary.nets import (
    BIASES_OF_KINDS,
    DEEPEST,
    HIGH,
    HIGHWAY,
    LOW,
    MODERATE,
    ONE_LAYER,
    ORTHOGONAL,
    PLAIN,
    RANDOM,
    STATIC,
    is_at_an_end,
    run,
)
from experiments.shared_trials.fully_connected import ALL, CIFAR, NO_BETTER_THAN_GUESSING
from experiments.shared_trials.headline_nets import CONTROLS, RANDOM_GATES
from experiments.shared_trials.matched_blocks import LEARNED, MARGIN
from experiments.static_gates.static_gates_trial import FULL
from highways.lab.judging.claim import NotMeasured, Sample, claim, effect_as_text, ratio_as_text, values_of
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control, named, with_group
from highways.lab.judging.rules import above, all_hold, corrected, in_ratio, interval, is_above, is_below, logs, mean
from highways.lab.question import Question
from highways.statistics import first_and_last_third, mean_sd_n

PRIMARY = {  # {what it is about: the rows of the ledger that judge it}
    "thirty plain layers fail, highway layers train": ("primary-thirty-layers",),
    "two orders of magnitude at 100 layers": ("primary-two-orders",),
    "no degradation with depth": ("primary-no-degradation",),
    "more than 1000 layers train, and are of use": ("primary-past-1000",),
    "b_T must be negative, need not be exact, fails at extremes": ("primary-gate-bias",),
    "Table 1": ("16-maps-reach", "32-maps-reach"),
    "Table 3": ("19-layers-reach-on-whitened-images",),
    "60 % of the layers idle on MNIST, few on CIFAR-100": ("primary-idle-layers",),
    "biases fall, and T runs over depth": ("primary-biases",),
    "gates that see x matter": ("primary-gates-see-x",),
}
FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {
        "headline": {"depth": 3, "seeds": 2, "epochs": 1, **FEW},
        "deep": {"depth": 6, "seeds": 2, "epochs": 1, "trials": 2, **FEW},
        "biases": {"depths": [2], "seeds": 2, "epochs": 1, **FEW},
        "fifty": {
            "depth": 7, "searches": 2, "trials": 1, "search_epochs": 1, "epochs": 1,
            "draws": 1, "step": 5, "of_each": 100, "n_train": 256, "n_test": 100,
        },
        "kinds": {"depth": 3, "searches": 2, "trials": 2, "search_epochs": 1, "epochs": 1, **FEW},
        "figure_1": {"depths": [9], "searches": 2, "trials": 2, "search_epochs": 1, "epochs": 1, **FEW},
    },
    "default": {
        "headline": {"depth": 30, "seeds": 10, "epochs": 12, "n_train": 6000, "n_test": 2000},
        "deep": {"depth": 1499, "seeds": 10, "epochs": 4, "trials": 16, **ALL},
        "biases": {"depths": [29, 99], "seeds": 5, "epochs": 3, **ALL},
        "fifty": {
            "depth": 49, "searches": 5, "trials": 8, "search_epochs": 8, "epochs": 25,
            "draws": 5, "step": 5, "of_each": 1000, **ALL,
        },
        "kinds": {"depth": 49, "searches": 5, "trials": 16, "search_epochs": 8, "epochs": 25, **ALL},
        "figure_1": {"depths": [9, 19, 49, 99], "searches": 5, "trials": 24, "search_epochs": 5, "epochs": 20, **ALL},
    },
}  # fmt: skip

# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """Which rows of the ledger judge the ten claims; then a row for each kind of net that judges."""
    result = []
    for number, (about, ids) in enumerate(PRIMARY.items(), 1):
        result.append({"row": "claim", "number": number, "about": about, "judged_by": list(ids)})
    groups = {
        "headline": ("block",),
        "controls": ("control",),
        "deep": ("depth",),
        "one_layer": ("depth",),
        "biases": ("depth", "gate_bias"),
        "fifty": ("data",),
        "kinds": ("data", "kind"),
        "figure_1": ("kind", "depth"),
    }
    for group, names in groups.items():
        nets = record["trials"][group]
        for key in dict.fromkeys(tuple(net[name] for name in names) for net in nets):
            named = dict(zip(names, key, strict=True))
            same = [net for net in nets if named.items() <= net.items()]
            result.append({
                "row": group,
                **named,
                "loss": mean_sd_n([net["loss"] for net in same]),
                "test_accuracy": mean_sd_n([net["test_accuracy"] for net in same]),
            })  # fmt: skip
    return result


# ---- Values of nets -----------------------------------------------------------------------------

CLASSES = {CIFAR: 100}  # 10 on other sets


def losses(nets: list[dict], **wanted) -> Sample:
    """The training loss of every net; a net that diverged guesses."""
    return Sample([loss_of(net) for net in selected(nets, **wanted)])


def loss_of(net: dict) -> float:
    return math.log(CLASSES.get(net.get("data"), 10)) if net["loss"] is None else net["loss"]


def accuracies(nets: list[dict], **wanted) -> Sample:
    """The test accuracy of every net; a net that diverged guesses."""
    return Sample([or_guess(net, net["test_accuracy"]) for net in selected(nets, **wanted)])


def or_guess(net: dict, accuracy: float | None) -> float:
    return 1 / CLASSES.get(net.get("data"), 10) if accuracy is None else accuracy


def selected(nets: list[dict], **wanted) -> list[dict]:
    """The nets with these settings, in the order of their seeds; raises LookupError if there are none."""
    found = [net for net in nets if wanted.items() <= net.items()]
    if not found:
        raise LookupError(f"no net has {wanted}")
    return sorted(found, key=lambda net: net["seed"])


def check_sets(nets: list[dict]) -> None:
    """Raises NotMeasured where there are no nets of CIFAR-100."""
    if CIFAR not in {net["data"] for net in nets}:
        raise NotMeasured("the nets are not trained on CIFAR-100 yet")


# ---- Claim 1 ------------------------------------------------------------------------------------

LEARNS = 0.85
CHANCE = 0.15


def with_control(record: dict, control: str) -> tuple[dict]:
    """The nets of a control in the place of highway nets."""
    nets = [net for net in record["trials"]["headline"] if net["block"] == PLAIN]
    nets += [{**net, "block": HIGHWAY} for net in record["trials"]["controls"] if net["control"] == control]
    return (with_group(record, "headline", nets),)


OF_HEADLINE = tuple(Control(name, functools.partial(with_control, control=name)) for name in CONTROLS)


@claim(
    "primary-thirty-layers",
    source="published program, and the paper, 3.1",
    controls=OF_HEADLINE,
)
def thirty_layers(r):
    """thirty plain layers fail (accuracy below {CHANCE}), thirty highway layers train (above {LEARNS})"""
    nets = r["trials"]["headline"]
    highway = Sample(accuracies(nets, block=HIGHWAY), "highway accuracy")
    plain = Sample(accuracies(nets, block=PLAIN), "plain accuracy")
    parts = corrected(is_above(highway, LEARNS), is_below(plain, CHANCE))
    return parts, f"{named(r, HIGHWAY)} {highway:interval}, plain {plain:interval}"


# ---- Claims 2 and 3 -----------------------------------------------------------------------------

TWO_ORDERS = 100
DEGRADED = 3


def of_kind(record: dict, kind: str, depth: int) -> list[dict]:
    """The nets of a kind at a depth."""
    return selected(record["trials"]["figure_1"], kind=kind, depth=depth)


def losses_of(record: dict, kind: str, depth: int) -> Sample:
    return Sample(losses(of_kind(record, kind, depth)), f"{kind} loss, {depth + 1} layers")


def in_place_of(record: dict, kind: str, control: str) -> tuple[dict]:
    """The nets of a control in the place of a kind, at every depth; their rates judge nothing."""
    nets = [net for net in record["trials"]["figure_1"] if net["kind"] != kind]
    others = [net for net in record["trials"]["figure_1"] if net["kind"] == control]
    for depth in {net["depth"] for net in record["trials"]["figure_1"] if net["kind"] == kind}:
        nets += [{**net, "kind": kind, "depth": depth, "stands_in": True} for net in others]
    return (with_group(record, "figure_1", nets),)


def stand_in(name: str, kind: str, control: str) -> Control:
    return Control(name, functools.partial(in_place_of, kind=kind, control=control))


LAYER_AS_HIGHWAY = stand_in(ONE_HIDDEN_LAYER, HIGHWAY, ONE_LAYER)
ORTHOGONAL_AS_HIGHWAY = stand_in("plain nets from orthogonal weights in highway's place", HIGHWAY, ORTHOGONAL)
ORTHOGONAL_AS_PLAIN = stand_in("plain nets from orthogonal weights in plain's place", PLAIN, ORTHOGONAL)


@claim(
    "primary-two-orders",
    source="paper, 3.1, Figure 1",
    about=ALL,
    note="the control in plain's place makes the claim harder: there a failure weakens it",
    controls=(LAYER_AS_HIGHWAY, ORTHOGONAL_AS_HIGHWAY, ORTHOGONAL_AS_PLAIN),
)
def two_orders(r):
    """at 100 layers highway nets are better than plain nets by more than two orders of magnitude (of
    training loss, over repeated searches)"""
    plain_nets = of_kind(r, PLAIN, DEEPEST)
    highway_nets = of_kind(r, HIGHWAY, DEEPEST)
    plain = Sample(losses(plain_nets), "plain loss")
    highway = Sample(losses(highway_nets), "highway loss")
    verdict = in_ratio(above, plain, TWO_ORDERS, baseline=highway)
    plain_ends = number_at_an_end(plain_nets)
    highway_ends = number_at_an_end(highway_nets)
    if verdict is not None:
        decisive = plain_ends if verdict else highway_ends
        if 2 * decisive > len(plain_nets):
            verdict = None  # the range is too narrow
    return [verdict], (
        f"plain's loss over highway's {ratio_as_text(plain, highway)}; best rates at an end of their range: "
        f"plain {plain_ends}, highway {highway_ends} of {len(plain_nets)}"
    )


def number_at_an_end(nets: list[dict]) -> int:
    """How many of the rates lie at an end of their range; those of controls are not asked."""
    return sum("stands_in" not in net and is_at_an_end(net) for net in nets)


@claim(
    "primary-no-degradation",
    source="paper, 3.1, Figure 1",
    about=ALL,
    controls=(LAYER_AS_HIGHWAY,),
)
def no_degradation(r):
    """highway nets do not suffer from depth (50 and 100 layers have less than {DEGRADED} times the
    training loss of 10 and 20), plain nets do (50 and 100 have over {DEGRADED} times that of 20)"""
    highway = {depth: losses_of(r, HIGHWAY, depth) for depth in (9, 19, 49, 99)}
    plain = {depth: losses_of(r, PLAIN, depth) for depth in (19, 49, 99)}
    comparisons = []
    for deep in (49, 99):
        for shallow in (9, 19):
            comparisons.append(in_ratio(is_below, highway[deep], DEGRADED, baseline=highway[shallow]))
        comparisons.append(in_ratio(is_above, plain[deep], DEGRADED, baseline=plain[19]))
    texts = []
    for name, by_depth in ((HIGHWAY, highway), (PLAIN, plain)):
        found = ", ".join(f"{depth + 1} layers {loss:2}" for depth, loss in by_depth.items())
        texts.append(f"{name}: {found}")
    return corrected(*comparisons), f"loss of {'; '.join(texts)}"


# ---- Claim 4 ------------------------------------------------------------------------------------


def layer_as_deep(record: dict) -> tuple[dict]:
    return (with_group(record, "deep", record["trials"]["one_layer"]),)


@claim(
    "primary-past-1000",
    source="paper, 2.2 and 5",
    about=ALL,
    controls=(Control(ONE_HIDDEN_LAYER, layer_as_deep),),
)
def past_1000(r):
    """more than 1000 layers train (at 1500 a falling loss, accuracy above {LEARNED}), and are of use
    (closing all blocks costs more than {MARGIN}; more accurate than one hidden layer)"""
    nets = selected(r["trials"]["deep"])
    differences = [0.0 if net["diverged"] else net["losses"][0] - net["losses"][-1] for net in nets]
    falls = Sample(differences, "fall of the loss from first to last epoch")
    accuracy = Sample(accuracies(nets), "test accuracy")
    closed = Sample([or_guess(net, net["skipped_accuracy"]) for net in nets])
    lost = [whole - without for whole, without in zip(accuracy, closed, strict=True)]
    lost = Sample(lost, "accuracy that closing all blocks costs")
    one_layer = Sample(accuracies(r["trials"]["one_layer"]), "accuracy of one hidden layer")
    parts = corrected(
        is_above(falls, 0),
        is_above(accuracy, LEARNED),
        is_above(lost, MARGIN),
        is_above(accuracy, 0, baseline=one_layer),
    )
    return parts, (
        f"loss falls by {falls:interval}; accuracy {accuracy:interval}; closing all blocks costs {lost:interval}; "
        f"gain over one hidden layer {effect_as_text(accuracy, one_layer)}"
    )


# ---- Claim 5 ------------------------------------------------------------------------------------

NEAR = 0.01
N_TEST = ALL["n_test"]


@claim(
    "primary-gate-bias",
    source="paper, 2.2; blog",
    about=ALL,
    no_control="its rule compares nets of one b_T with nets of others, and nets without gates have none",
)
def gate_bias(r):
    """b_T must be negative (0 and 2 do not train in three epochs, at 30 and 100 layers), need not be
    exact (over half of -1 to -7 within {NEAR} of the best), and fails at extremes (-10, -20)"""
    nets = r["trials"]["biases"]
    depths = sorted({net["depth"] for net in nets})
    fails = []
    for depth in depths:
        for bias in (*HIGH, *LOW):
            loss = Sample(losses(nets, depth=depth, gate_bias=bias), f"loss, b_T = {bias:g}, {depth + 1} layers")
            fails.append(is_above(loss, NO_BETTER_THAN_GUESSING))
    failed = iter(corrected(*fails))
    parts = []
    texts = []
    for depth in depths:
        for extremes in (HIGH, LOW):
            parts.append(all_hold([next(failed) for _ in extremes]))
        near = near_the_best(nets, depth)
        parts.append(more_than_half(near))
        found = []
        for bias in (*HIGH, *LOW):
            loss = mean(losses(nets, depth=depth, gate_bias=bias))
            found.append(f"{loss:.2g} at {bias:g}")
        near_best = f"{near.count(True)} of {len(near)} from {MODERATE[0]:g} to {MODERATE[-1]:g} are near the best"
        others = f"{near.count(None)} not clear, {near.count(False)} not"
        texts.append(f"{depth + 1} layers: mean loss {', '.join(found)}; {near_best}, {others}")
    return parts, "; ".join(texts)


def near_the_best(nets: list[dict], depth: int) -> list[bool | None]:
    """For every moderate b_T: whether it is at most NEAR less accurate than the best of them, in pairs of seeds."""
    by_bias = {bias: accuracies(nets, depth=depth, gate_bias=bias) for bias in MODERATE}
    best = max(MODERATE, key=lambda bias: mean(by_bias[bias]))
    comparisons = []
    for bias in MODERATE:
        if bias != best:
            lost = np.subtract(by_bias[best], by_bias[bias]).tolist()
            lost = Sample(lost, f"accuracy less than at the best b_T, {depth + 1} layers")
            comparisons.append(is_below(lost, NEAR, resolution=1 / N_TEST))
    return [True, *corrected(*comparisons)]


def more_than_half(verdicts: list[bool | None]) -> bool | None:
    if 2 * verdicts.count(True) > len(verdicts):
        return True
    return False if 2 * verdicts.count(False) >= len(verdicts) else None


# ---- Claims 8 and 9 -----------------------------------------------------------------------------

HALF = 0.5
IDLE_FROM = 0.45
IDLE_TO = 0.75
BLOCKS = 49
MATTERS_BELOW = 0.1


@claim(
    "primary-idle-layers",
    source="paper, 4.2, Figure 4",
    note="idle: closing the block alone adds less than 0.1 points of training error",
    no_control="its parts compare a set of which few blocks are needed with one of which many are; untrained, residual "
    "and shut nets stand in the rows on Figure 4",
)
def idle_layers(r):
    """about 60 % of the layers are idle on MNIST ({IDLE_FROM} to {IDLE_TO} of the blocks), and few on
    CIFAR-100 (fewer than {MATTERS_BELOW} of the first 40)"""
    nets = r["trials"]["lesion"]
    check_sets(nets)
    mnist = Sample(values_of(nets, "idle_share", data="MNIST"), "share of idle blocks, MNIST")
    shares = [idle_share_among(FIRST_40, net) for net in selected(nets, data=CIFAR)]
    cifar = Sample(shares, "share idle of the first 40, CIFAR-100")
    from_below, from_above, few = corrected(
        is_above(mnist, IDLE_FROM, resolution=1 / BLOCKS),
        is_below(mnist, IDLE_TO, resolution=1 / BLOCKS),
        is_below(cifar, MATTERS_BELOW, resolution=1 / len(FIRST_40)),
    )
    return [all_hold([from_below, from_above]), few], (
        f"share of idle blocks on MNIST {mnist:interval}; of the first 40 on CIFAR-100 {cifar:interval}"
    )


@claim(
    "primary-biases",
    source="paper, 4, Figure 2; published program",
    no_control=f"{OF_BIASES}; mean T of untrained nets was not measured",
)
def biases(r):
    """most biases fall (over half, on MNIST and CIFAR-100); on CIFAR-100 they rise with depth, inversely
    to mean T; at depth 30 mean T is higher in the first third of the blocks than in the last"""
    nets = r["trials"]["gates"]
    check_sets(nets)
    fell = "share_of_biases_decreased"
    fell_on_mnist = Sample(values_of(nets, fell, data="MNIST"), "share of biases that fall, MNIST")
    fell_on_cifar = Sample(values_of(nets, fell, data=CIFAR), "share of biases that fall, CIFAR-100")
    with_depth = values_of(nets, "bias_depth_correlation", data=CIFAR)
    with_depth = Sample(with_depth, "correlation of b_T with depth, CIFAR-100")
    with_T = values_of(nets, "bias_activity_correlation", data=CIFAR)
    with_T = Sample(with_T, "correlation of b_T with mean T, CIFAR-100")
    thirds = [first_and_last_third(net["mean_T"]) for net in selected(r["trials"]["headline"], block=HIGHWAY)]
    more_open = Sample([early - late for early, late in thirds], "mean T, first third less last")
    parts = corrected(
        is_above(fell_on_mnist, HALF),
        is_above(fell_on_cifar, HALF),
        is_above(with_depth, 0),
        is_below(with_T, 0),
        is_above(more_open, 0),
    )
    return parts, (
        f"share that fell: MNIST {fell_on_mnist:interval}, CIFAR-100 {fell_on_cifar:interval}; on CIFAR-100 "
        f"correlation with depth {with_depth:interval}, with mean T {with_T:interval}; at depth 30 mean T of the first "
        f"third minus that of the last {more_open:interval}"
    )


# ---- Claim 10 -----------------------------------------------------------------------------------

# those of `static_gates`
POINT = 0.01
FACTOR = 1.5
MARGINS = {"MNIST": 0.005, CIFAR: 0.01}


def random_as_full(record: dict) -> tuple[dict]:
    """Nets of random gates in the place of those whose gates learn."""
    nets = [net for net in record["trials"]["kinds"] if net["kind"] == STATIC]
    nets += [{**net, "kind": FULL} for net in record["trials"]["kinds"] if net["kind"] == RANDOM]
    return (with_group(record, "kinds", nets),)


@claim(
    "primary-gates-see-x",
    source="paper, 4.1",
    controls=(Control(RANDOM_GATES, random_as_full),),
)
def gates_see_x(r):
    """gates that see x matter, on MNIST and CIFAR-100: T replaced by its mean costs over {POINT} of training
    error; nets with static gates have over {FACTOR} times the loss, and lose over 0.005 (0.01) of accuracy"""
    nets = r["trials"]["kinds"]
    check_sets(nets)
    comparisons = []
    texts = []
    for data in ("MNIST", CIFAR):
        full = selected(nets, kind=FULL, data=data)
        static = selected(nets, kind=STATIC, data=data)
        rises = Sample([rise_of(net) for net in full], f"rise of the error, {data}")
        excess = logs(losses(static)) - logs(losses(full))
        excess = Sample(excess.tolist(), f"log10 of loss static ÷ highway, {data}")
        lost = np.subtract([early_accuracy(net) for net in full], [early_accuracy(net) for net in static])
        lost = Sample(lost.tolist(), f"accuracy lost, {data}")
        comparisons += [is_above(rises, POINT), is_above(excess, math.log10(FACTOR)), is_above(lost, MARGINS[data])]
        texts.append(
            f"{data}: error rises by {rises:interval}, static gates have {as_factor(excess)} times the loss, "
            f"and lose {lost:interval}"
        )
    parts = corrected(*comparisons)
    for place, data in ((1, "MNIST"), (4, CIFAR)):
        if parts[place] and has_biases_at_an_end(selected(nets, kind=STATIC, data=data)):
            parts[place] = None  # the range is too narrow
            texts.append(f"b_T of static gates lies at an end of its range on {data}")
    return parts, "; ".join(texts)


def as_factor(logarithms: Sample) -> str:
    """The factor of which these are decimal logarithms, with its 95 % interval, as text."""
    low, high = interval(logarithms)
    return f"{10 ** mean(logarithms):.3g} (95 %: {10**low:.3g} to {10**high:.3g}, n = {len(logarithms)})"


def rise_of(net: dict) -> float:
    """How far the training error rises if T is replaced by its mean of each unit; 0 for a net that diverged."""
    if net["diverged"]:
        return 0.0
    return net["train_accuracy"] - net["replaced"]["unit"]["train_accuracy"]


def early_accuracy(net: dict) -> float:
    """The test accuracy after as many epochs as finalists have."""
    return or_guess(net, None if net["diverged"] else net["over_training"][0]["test_accuracy"])


def has_biases_at_an_end(nets: list[dict]) -> bool:
    """Whether in most searches b_T lies in the first or the last tenth of its range."""
    low, high = BIASES_OF_KINDS
    tenth = (high - low) / 10
    at_an_end = [not low + tenth <= net["gate_bias"] <= high - tenth for net in nets]
    return 2 * sum(at_an_end) > len(nets)


QUESTION = Question(
    name="primary",
    source="Training Very Deep Networks; the published program; Highway Networks with TensorFlow (a blog)",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    takes_more_data_sets=True,
)
