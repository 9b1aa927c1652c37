"""Must T see x?  Highway nets beside nets whose gates do not see the image, or do not learn.

    python -m experiments static_gates --data-dir CIFAR-100            -> experiments/results/static_gates.json

The paper, section 4.1, asks whether trained nets route each input in its own way "or do they
just learn a static routing that applies to all inputs similarly".  It looks at gates, and
concludes: "The gating system acts not just as a mechanism to ease training, but also as an
important part of the computation in a trained network."  Gates that differ between images do not
show this yet: a net may do as well without such gates.  So five kinds of net with 50 layers are
trained like those of the question `fifty_layers`.  They differ only in T:

full    T = sigmoid(W_T x + b_T), the highway net
unit    T = sigmoid(b_T), one learned number a unit, the same for all images
scalar  T = sigmoid(b_T), one learned number a block
random  T = sigmoid(W_T x + b_T), where W_T and b_T stay as drawn: T sees x but does not learn
wide    as unit, at the width that gives the whole net nearly as many parameters as full

And in trained full nets T is replaced by its mean over the training images, of each unit or of
each block, in all blocks at once.

A variant's cost is how much worse it is than full, over pairs of nets with the same seed: the log of
a ratio of losses, or a difference of accuracies.  T need not see x, or need not learn, if the cost is
below a margin; it must if that is not shown and the variant is worse.  RULES.md has the rules, and
what was changed after a first run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import DECAY, longer
from experiments.shared_trials.fully_connected import CIFAR
from experiments.shared_trials.search import log_uniform, over_seeds, search
from experiments.static_gates.static_gates_trial import FULL, trial
from highways.lab.judging.claim import NotMeasured, Sample, claim
from highways.lab.judging.rules import ERROR, Paired, corrected, holm, is_above, p_value, paired
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets.equal_size import size_of_net, width_of_equal_size
from highways.records import by_data_set
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"depth": 7, "trials": 2, "search_epochs": 1, "epochs": 2, "seeds": 2, "n_train": 1280, "n_test": 300},
    "default": {"depth": 49, "trials": 16, "search_epochs": 8, "epochs": 25, "seeds": 5, **fully_connected.ALL},
}
WIDTH = fully_connected.WIDTH["highway"]  # wide alone has another
VARIANTS = {
    FULL: {"block": "highway"},
    "unit": {"block": "static-unit"},
    "scalar": {"block": "static-scalar"},
    "random": {"block": "highway", "frozen_gates": True},
    "wide": {"block": "static-unit"},
}
COMPARED = {  # {variant that is compared with full: what the ledger calls its nets}
    "unit": "nets with one learned static gate a unit (W_T = 0)",
    "scalar": "nets with one learned static gate a block",
    "random": "nets whose W_T and b_T stay as they were at the start",
    "wide": "wider nets with one learned static gate a unit and about as many parameters as full",
}
SETS = ("MNIST", CIFAR)
# ranges of the search
RATES = (0.5, 8)
MOMENTA = (0.7, 0.97)
GATE_BIASES = (-8, -1)

# ---- Training -----------------------------------------------------------------------------------


def sample(kind: tuple[str, dict], k: int, runner: Runner) -> dict:
    """The k-th setting that the search tries for a variant on a data set.

    The draws are the same for all."""
    variant, data_setting = kind
    rng = np.random.default_rng([k, 42])
    rate = round(log_uniform(rng, *RATES), 3)
    momentum = round(rng.uniform(*MOMENTA), 3)
    lowest, highest = GATE_BIASES
    place = (k + rng.random()) / runner.settings["trials"]
    gate_bias = round(lowest + (highest - lowest) * place, 2)
    return {
        **data_setting,
        "variant": variant,
        **VARIANTS[variant],
        "width": width_of(variant, data_setting, runner.settings["depth"]),
        "depth": runner.settings["depth"],
        "activation": "tanh",
        "effective_lr": rate,
        "momentum": momentum,
        "decay": DECAY,
        "gate_bias": gate_bias,
    }


def width_of(variant: str, data_setting: dict, depth: int) -> int:
    if variant != "wide":
        return WIDTH
    data = fully_connected.data_of(data_setting)
    d_in = data.x_train.shape[1]
    size_of_full = size_of_net(d_in, data.n_classes, WIDTH, depth, VARIANTS[FULL]["block"])
    return width_of_equal_size(size_of_full, d_in, data.n_classes, depth, VARIANTS[variant]["block"])


def run(runner: Runner) -> dict:
    """Trains data set by data set, and the final nets seed by seed.

    If the run is stopped, all variants have the finished seeds."""
    trials = {"search": [], "finalists": [], "final": []}
    for data_setting in fully_connected.data_sets(runner).values():
        kinds = [(variant, data_setting) for variant in VARIANTS]
        searched, bests = search(runner, kinds, sample)
        for group, found in searched.items():
            trials[group] += found
        measured_every = {"measured_every": runner.settings["epochs"]}
        settings = [{**longer(best), **measured_every} for best in bests]
        final = over_seeds(settings, runner.settings["seeds"])
        final.sort(key=lambda setting: setting["seed"])
        trials["final"] += fully_connected.run(runner, final, trial)
    return trials


# ---- Comparing ----------------------------------------------------------------------------------

POINT = 0.01  # of the training error
MARGIN_OF_ACCURACY = {"MNIST": 0.005, CIFAR: 0.01}
OTHER_MARGIN = 0.01  # of accuracy, on sets that no claim is about


class Measure(NamedTuple):
    """A measure by which variants are compared with full.

    name    its name in a trial
    early   True if it is taken after as many epochs as the finalists have, False if at the end
    factor  the margin for a loss; None for an accuracy"""

    name: str
    early: bool
    factor: float | None


MEASURES = {
    "training loss": Measure("loss", early=False, factor=1.5),
    "training accuracy": Measure("train_accuracy", early=False, factor=None),
    "test loss": Measure("test_loss", early=True, factor=1.1),
    "test accuracy": Measure("test_accuracy", early=True, factor=None),
    "test loss at the end": Measure("test_loss", early=False, factor=1.1),
    "test accuracy at the end": Measure("test_accuracy", early=False, factor=None),
}


class Cost(NamedTuple):
    """How much worse a variant is than full, over the seeds, by one measure.

    excess       the mean over the pairs, its interval and p-value; for a loss, of log(variant / full)
    p            the p-value against no excess, with Holm's correction
    p_of_margin  the p-value against the margin, with Holm's correction
    margin       the two count as equal if the mean excess is below
    lost         who lost a seed: "variant", "full", "both" or None"""

    excess: Paired
    p: float
    p_of_margin: float
    margin: float
    lost: str | None


def values(trials: list[dict], variant: str, measure: Measure) -> list[float | None]:
    """The measure of every seed, in the order of seeds; None where a seed is lost."""
    nets = [trial for trial in trials if trial["variant"] == variant]
    nets.sort(key=lambda net: net["seed"])
    found = []
    for net in nets:
        if net["diverged"]:
            found.append(None)
        elif measure.early:
            found.append(net["over_training"][0][measure.name])
        else:
            found.append(net[measure.name])
    return found


def costs(final: list[dict], measure: Measure) -> dict[tuple[str, str], Cost]:
    """{(data set, variant): Cost} of one measure; Holm's correction is for all of them."""
    found = {}
    for data, trials in by_data_set(final).items():
        full_values = values(trials, FULL, measure)
        for variant in COMPARED:
            variant_values = values(trials, variant, measure)
            lost = who_lost(full_values, variant_values)
            if lost:
                differences = [None]  # makes all numbers NaN
            else:
                pairs = zip(full_values, variant_values, strict=True)
                differences = [cost_of_pair(full, other, measure) for full, other in pairs]
            excess = paired(differences)
            margin = margin_of(measure, data)
            p_of_margin = p_value(differences, bound=margin)
            found[data, variant] = Cost(excess, excess.p, p_of_margin, margin, lost)
    return with_holm(found)


def with_holm(found: dict[tuple[str, str], Cost]) -> dict[tuple[str, str], Cost]:
    """The same costs, with both p-values corrected for the number of comparisons.

    A comparison that a lost seed decides counts, too: the number was fixed before the runs."""
    p_values = holm([cost.p for cost in found.values()])
    p_values_of_margin = holm([cost.p_of_margin for cost in found.values()])
    adjusted = {}
    for key, p, p_of_margin in zip(found, p_values, p_values_of_margin, strict=True):
        adjusted[key] = found[key]._replace(p=p, p_of_margin=p_of_margin)
    return adjusted


def who_lost(full_values: list, variant_values: list) -> str | None:
    if None in full_values and None in variant_values:
        return "both"
    if None in full_values:
        return "full"
    return "variant" if None in variant_values else None


def cost_of_pair(full: float, other: float, measure: Measure) -> float:
    """How much worse the other net is than the full one of the same seed."""
    if measure.factor:
        return float(np.log(other) - np.log(full))
    return full - other


def margin_of(measure: Measure, data: str) -> float:
    if measure.factor:
        return float(np.log(measure.factor))
    return MARGIN_OF_ACCURACY.get(data, OTHER_MARGIN)


def is_needed(cost: Cost) -> bool | None:
    """Whether full is needed: False if the variant costs less than the margin; else True if it is
    worse; None if neither is shown."""
    if cost.lost:
        return {"variant": True, "full": False, "both": None}[cost.lost]
    if cost.p_of_margin < ERROR and cost.excess.mean < cost.margin:
        return False
    if cost.p < ERROR and cost.excess.mean > 0:
        return True
    return None


def is_shown_needed(cost: Cost, at_the_end: bool) -> bool | None:
    """is_needed(); but None where the variant is worse, and its gate bias near an end of its range."""
    needed = is_needed(cost)
    return None if needed and at_the_end else needed


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions; rows for data sets, nets, comparisons, and the ways to replace T."""
    final = record["trials"]["final"]
    early_epochs = record["settings"]["epochs"]
    definitions = {"row": "definitions", "point": POINT, "early_epochs": early_epochs}
    for name in ("training loss", "test loss"):
        definitions[f"margin of {name}"] = MEASURES[name].factor
    result = [definitions]
    for data, trials in by_data_set(final).items():
        margin = margin_of(MEASURES["test accuracy"], data)
        epochs = trials[0]["epochs"]
        result.append({"row": "data set", "data": data, "margin": margin, "epochs": epochs})
        result += [row_of_net(data, variant, trials) for variant in VARIANTS]
    for name, measure in MEASURES.items():
        for (data, variant), cost in costs(final, measure).items():
            row = {"row": "compared", "measure": name, "data": data, "variant": variant}
            at_the_end = name == "training loss" and bias_at_the_end(record, variant, data)
            result.append({**row, **row_of_cost(cost, measure, at_the_end)})
    for data, trials in by_data_set(final).items():
        result += [row_of_replaced(data, by, trials) for by in ("unit", "scalar")]
    return result


def row_of_net(data: str, variant: str, trials: list[dict]) -> dict:
    first = next(trial for trial in trials if trial["variant"] == variant)
    row = {
        "row": "net",
        "data": data,
        "variant": variant,
        "width": first["width"],
        "learned_parameters": first["learned_parameters"],
    }
    for name, measure in MEASURES.items():
        row[name.replace(" ", "_")] = mean_sd_n(values(trials, variant, measure))
    row["best"] = "rate {effective_lr}, momentum {momentum}, b_T {gate_bias}".format_map(first)
    return row


def row_of_cost(cost: Cost, measure: Measure, at_the_end: bool) -> dict:
    """The cost (for losses a ratio), its interval, the corrected p-value and the verdict.

    `at_the_end` says that the search chose a gate bias near an end of its range, so that a higher
    cost decides nothing."""
    numbers = dict(zip(("cost", "low", "high"), in_units(cost, measure), strict=True))
    numbers["p"] = cost.p
    for name, value in numbers.items():
        numbers[name] = float(f"{value:.4g}") if np.isfinite(value) else None
    words = {True: "needed", False: "not needed", None: "open"}
    return {**numbers, "full_is": words[is_shown_needed(cost, at_the_end)]}


def in_units(cost: Cost, measure: Measure) -> tuple[float, float, float]:
    """The mean cost and its interval, as ratios of losses or differences of accuracies."""
    numbers = (cost.excess.mean, cost.excess.low, cost.excess.high)
    return tuple(float(np.exp(number)) for number in numbers) if measure.factor else numbers


def row_of_replaced(data: str, by: str, trials: list[dict]) -> dict:
    full_nets = [trial for trial in trials if trial["variant"] == FULL]
    row = {"row": "replaced", "data": data, "by": by}
    errors = [errors_of(net, by) for net in full_nets]
    row["error"] = mean_sd_n([before for before, _ in errors])
    row["error_replaced"] = mean_sd_n([after for _, after in errors])
    for name in ("loss", "test_loss", "test_accuracy"):
        row[f"{name}_replaced"] = mean_sd_n(
            [net["replaced"][by][name] if was_replaced(net) else None for net in full_nets]
        )
    return row


def was_replaced(trial: dict) -> bool:
    """Whether a full net was measured with T replaced; it was not if it diverged."""
    return "replaced" in trial


def errors_of(trial: dict, by: str) -> tuple[float | None, float | None]:
    """The training error of a full net, before and after T is replaced; None where it diverged."""
    if not was_replaced(trial):
        return None, None
    return 1 - trial["train_accuracy"], 1 - trial["replaced"][by]["train_accuracy"]


# ---- Claims -------------------------------------------------------------------------------------


def finals_of_both_sets(record: dict) -> list[dict]:
    final = record["trials"]["final"]
    trained_sets = by_data_set(final)
    for data in SETS:
        if data not in trained_sets:
            raise NotMeasured(f"the nets are not trained on {data} yet")
    return [trial for trial in final if trial["data"] in SETS]


@claim(
    "trained-nets-need-their-gates",
    source="paper, 4.1",
    about={"depth": 49},
    no_control="where T does not depend on the image, as where gates stay shut, its mean is T",
    seen=True,
)
def trained_nets_need_their_gates(r):
    """gates are a part of what a trained net computes: T replaced by its mean over the images, of
    every unit or of every block, raises the training error by more than a point"""
    full_nets = [trial for trial in finals_of_both_sets(r) if trial["variant"] == FULL]
    texts = []
    comparisons = []
    for data, nets in by_data_set(full_nets).items():
        for by, part in (("unit", "unit"), ("scalar", "block")):
            rises = [rise(*errors_of(net, by)) for net in nets]
            excess = [None if risen is None else risen - POINT for risen in rises]
            excess = Sample(excess, f"error's rise − {POINT}, mean T of {part}, {data}")
            comparisons.append(is_above(excess, 0))
            mean, low, high, _ = paired(rises)
            texts.append(f"{data}, mean of every {part} {mean:.3g} (95 %: {low:.3g} to {high:.3g})")
    return corrected(*comparisons), f"training error rises by: {'; '.join(texts)}"


def rise(before: float | None, after: float | None) -> float | None:
    return None if before is None else after - before


# of the claims that compare a variant with full
COMMON = {"kind": "open question", "source": "paper, 4.1, open", "about": {"depth": 49}}
IS_FULL = "full: the ordinary highway net"
LOSS_MARGIN = f"as good as full: less than {MEASURES['training loss'].factor} times the loss"
MARGINS = [f"{margin} on {data}" for data, margin in MARGIN_OF_ACCURACY.items()]
ACCURACY_MARGIN = f"as good as full: lower by less than {' and '.join(MARGINS)}"
WITHIN = "their best b_T is not in the lowest or the highest tenth of its range"
HIGHER_LOSS = f"end at a higher training loss than full nets ({IS_FULL}; {LOSS_MARGIN}; {WITHIN})"
LOWER_ACCURACY = f"are less accurate on test images than full nets, after 25 epochs ({IS_FULL}; {ACCURACY_MARGIN})"


def claim_of_loss(variant: str, who: str) -> None:
    """The claim that full nets have a lower training loss than a variant."""

    @claim(
        f"{variant}-gates-training-loss",
        says=f"{who} {HIGHER_LOSS}",
        seen=True,
        **COMMON,
    )
    def has_a_higher_loss(r):
        found = costs_on_both_sets(r, variant, "training loss")
        at_the_end = [data for data in SETS if bias_at_the_end(r, variant, data)]
        parts = [is_shown_needed(cost, data in at_the_end) for data, cost in found.items()]
        text = costs_as_text(found, "training loss")
        if at_the_end:
            text += f"; b_T at the end of its range on {' and '.join(at_the_end)}"
        return parts, text


def claim_of_accuracy(variant: str, who: str) -> None:
    """The claim that full nets are more accurate on test images than a variant."""

    @claim(f"{variant}-gates-test-accuracy", says=f"{who} {LOWER_ACCURACY}", **COMMON)
    def has_a_lower_accuracy(r):
        found = costs_on_both_sets(r, variant, "test accuracy")
        parts = [is_needed(cost) for cost in found.values()]
        return parts, costs_as_text(found, "test accuracy")


def costs_on_both_sets(record: dict, variant: str, name: str) -> dict[str, Cost]:
    """{data set: the Cost of a variant by a measure}, with Holm's correction for all variants."""
    found = costs(finals_of_both_sets(record), MEASURES[name])
    return {data: found[data, variant] for data in SETS}


def costs_as_text(found: dict[str, Cost], name: str) -> str:
    texts = []
    for data, cost in found.items():
        if cost.lost:
            texts.append(f"{data}: {cost.lost} lost a seed")
        else:
            mean, low, high = in_units(cost, MEASURES[name])
            texts.append(f"{data} {mean:.3g} (95 %: {low:.3g} to {high:.3g}, p = {cost.p:.2g})")
    how = "over full's" if MEASURES[name].factor else "lost"
    return f"{name} {how}: {'; '.join(texts)}"


def bias_at_the_end(record: dict, variant: str, data: str) -> bool:
    """Whether the gate bias that the search chose lies in the lowest or the highest tenth of its range."""
    biases = {trial["gate_bias"] for trial in record["trials"]["final"] if is_of(trial, variant, data)}
    low, high = GATE_BIASES
    tenth = (high - low) / 10
    return any(bias < low + tenth or bias > high - tenth for bias in biases)


def is_of(trial: dict, variant: str, data: str) -> bool:
    return trial["variant"] == variant and trial["data"] == data


for variant, who in COMPARED.items():
    claim_of_loss(variant, who)
for variant, who in COMPARED.items():
    claim_of_accuracy(variant, who)


QUESTION = Question(
    name="static_gates",
    source="Training Very Deep Networks, section 4.1",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    takes_more_data_sets=True,
)
