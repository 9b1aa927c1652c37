"""What does a gate buy?  Plain, residual and highway blocks, and highway blocks with a separate carry gate.

    python -m experiments blocks            -> experiments/results/blocks.json

An encyclopedia article says that residual blocks, y = x + H, are as effective with half the
parameters; that highway nets struggle beyond about 100 layers, because the factors 1 - T of the
gradient's identity part compound; and that early layers' gates tend to open, later ones to close.
The paper (eq. 2) sets the carry gate C = 1 - T, which saves the parameters of a separate one.

Nets are compared with the same number of parameters, about 5100 a layer, at widths 50 (highway),
71 (plain, residual) and 41 (highway-carry); and with the same width, 50.  In all, the wider nets
have up to a fifth more, because their first and last layers are larger.  Every net at every
depth has the same budget: a random search with the same number of trials, in ranges in which
pilot runs with this kind of block had learned.  The two best settings are trained as long as the
final runs.  The one with the lower training loss is then trained over seeds that the search did not
use.  Only the plain and the highway-carry net of width 50 are not searched: they take the setting
that was found at their other width.

A residual block has no gate that is shut at the start.  Instead its W_H is scaled at the start, by
a number between 1/L and 1/sqrt(L) for L layers.  The trials "unscaled" repeat the first four of
each search without that scale.

A kind is as good as another if its mean test accuracy is
at most 0.002 lower.  It struggles if its training loss is over three times its loss at 20 layers.
Early and late are the first and the last third of the blocks.
"""

from __future__ import annotations

import functools

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import ALL
from experiments.shared_trials.joined import LEVEL, LOOKS, with_more_seeds
from experiments.shared_trials.matched_blocks import (
    DECAY,
    DEPTHS,
    GATE_BIASES,
    LEARNED,
    MARGIN,
    RATES,
    STRUGGLES,
    WIDTH,
    final_trial,
    parameters_per_layer,
)
from experiments.shared_trials.search import drawn, in_words, log_uniform, over_seeds, ranked, search
from highway_networks import four_digits
from highways.lab.judging.claim import NotMeasured, Sample, claim, effect_as_text, ratio_as_text, values_of
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control, named, with_group
from highways.lab.judging.rules import all_hold, all_ratios_below, compared, corrected, in_ratio, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import first_and_last_third, mean_sd_n

FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"depths": (9, 19), "trials": 2, "search_epochs": 1, "epochs": 1, "seeds": 2, **FEW},
    "default": {"depths": DEPTHS, "trials": 10, "search_epochs": 3, "epochs": 10, "seeds": 3, **ALL},
}
SEEDED = ("highway", "plain", "residual", "highway-carry")  # the index here seeds a kind's search
# WIDTH has the widths at which all kinds have as many parameters
SAME_WIDTH = 50  # the width at which all kinds are compared, too
SEARCHED = [*WIDTH.items(), ("residual", SAME_WIDTH)]  # nets: (block, width)
NOT_SEARCHED = ("plain", "highway-carry")  # at SAME_WIDTH they take the setting found at their WIDTH
GUESSING = 0.1  # the accuracy of a net that diverged
UNSCALED = 4  # the number of trials of each search that are repeated without the scale
WHEN = ("at_start", "trained")
FADED = 0.5  # the gradient fades if the ratio of the first layer's to the last's is below this


def sample(kind: tuple[str, int, int], k: int, runner: Runner) -> dict:
    """The k-th setting that the search tries for a net, (block, width, depth): tanh and ReLU in turn."""
    block, width, depth = kind
    rng = np.random.default_rng([k, depth + 1, SEEDED.index(block), 6])
    activation = ("tanh", "relu")[k % 2]
    setting = {
        "block": block,
        "width": width,
        "depth": depth,
        "activation": activation,
        "effective_lr": four_digits(log_uniform(rng, *RATES[block][depth][activation])),
        "momentum": 0.9,
        "decay": DECAY,
    }
    if block == "residual":
        setting["scale"] = four_digits(log_uniform(rng, 1 / (depth + 1), (depth + 1) ** -0.5))
    elif hn.BLOCKS[block].gates:
        setting["gate_bias"] = round(rng.uniform(*GATE_BIASES[depth]), 2)
    return setting


def run(runner: Runner) -> dict:
    depths = runner.settings["depths"]
    kinds = [(block, width, depth) for depth in reversed(depths) for block, width in SEARCHED]
    trials, bests = search(runner, kinds, sample)
    for block in NOT_SEARCHED:
        bests += [{**best, "width": SAME_WIDTH} for best in bests if best["block"] == block]
    final = over_seeds(bests, runner.settings["seeds"])
    trials["final"] = fully_connected.run(runner, final, final_trial)

    unscaled = []
    for depth in depths:
        first = drawn(sample, ("residual", WIDTH["residual"], depth), runner)[:UNSCALED]
        unscaled += [{**setting, "scale": 1.0} for setting in first]
    trials["unscaled"] = fully_connected.run(runner, unscaled)
    return trials


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions; a row for each kind of block; rows for each net: its numbers, its gradients
    and its gates; and for each depth two rows on the start of residual blocks."""
    result = [{"row": "definitions", "matched_width": SAME_WIDTH}]
    for block, width in WIDTH.items():
        result.append({
            "row": "block",
            "block": block,
            "width": width,
            "parameters_per_layer": parameters_per_layer(block, width),
        })  # fmt: skip
    trials = record["trials"]
    for depth in record["settings"]["depths"]:
        for block, width in WIDTH.items():
            net = {"block": block, "depth": depth}
            final = ranked(trials["final"], **net, width=width)
            result.append(row_of_net(final))
            if width != SAME_WIDTH:
                result.append(row_of_net(ranked(trials["final"], **net, width=SAME_WIDTH)))
            result += [row_of_gradient(final, when) for when in WHEN]
            if hn.BLOCKS[block].gates:
                result.append(row_of_gates(final))
        result += rows_of_residual_start(trials, depth)
    return result


def row_of_net(final: list[dict]) -> dict:
    """Sums up the runs of one net over seeds; the best run comes first."""
    best = final[0]
    return {
        "row": "net",
        **net_of(best),
        "test_accuracy": mean_sd_n([trial["test_accuracy"] for trial in final]),
        "loss": mean_sd_n([trial["loss"] for trial in final]),
        "best": in_words(best, ("activation", "effective_lr", "gate_bias", "scale")),
    }


def net_of(trial: dict) -> dict:
    return {name: trial[name] for name in ("block", "width", "depth")}


def row_of_gradient(final: list[dict], when: str) -> dict:
    not_measured = {"gradient": [None], "identity_part": None}  # of a net that diverged
    measured = [trial.get(when, not_measured) for trial in final]  # a dict for every seed
    ratios = [first_over_last(look["gradient"]) for look in measured]
    return {
        "row": "gradient",
        **net_of(final[0]),
        "when": when,
        "gradient_first_over_last": mean_sd_n(ratios),
        "identity_part": mean_sd_n([look["identity_part"] for look in measured]),
    }


def row_of_gates(final: list[dict]) -> dict:
    thirds = []
    for trial in final:
        diverged = "mean_T" not in trial
        thirds.append((None, None) if diverged else first_and_last_third(trial["mean_T"]))
    return {
        "row": "gates",
        **net_of(final[0]),
        "mean_T_early": mean_sd_n([early for early, _ in thirds]),
        "mean_T_late": mean_sd_n([late for _, late in thirds]),
    }


def rows_of_residual_start(trials: dict, depth: int) -> list[dict]:
    """The best losses without the scale of W_H, and with it in the same trials of the search."""
    net = {"block": "residual", "width": WIDTH["residual"], "depth": depth}
    unscaled = ranked(trials["unscaled"], **net)
    rates = {trial["effective_lr"] for trial in unscaled}
    scaled = [trial for trial in ranked(trials["search"], **net) if trial["effective_lr"] in rates]
    result = []
    for start, tried in (("unscaled", unscaled), ("scaled", scaled)):
        relu_losses = [trial["loss"] for trial in tried if trial["activation"] == "relu"]
        result.append({
            "row": "residual start",
            "depth": depth,
            "start": start,
            "best_loss": tried[0]["loss"],
            # None if no ReLU net was tried; relu_losses[0] is None, too, if all of them diverged
            "best_relu_loss": relu_losses[0] if relu_losses else None,
        })  # fmt: skip
    return result


def first_over_last(norms: list[float | None]) -> float | None:
    """The gradient at the first layer over that at the last; None if one overflowed or the last is 0."""
    first = norms[0]
    last = norms[-1]
    if first is None or not last:
        return None
    return first / last


# ---- Claims -------------------------------------------------------------------------------------


def accuracies(record: dict, net: tuple[str, int]) -> dict[int, Sample]:
    """{depth: the test accuracy of every seed} of one net, (block, width)."""
    block, width = net
    name = NAMES.get(net, f"{block} accuracy")
    found = {}
    for depth in record["settings"]["depths"]:
        values = values_of(record["trials"]["final"], "test_accuracy", block=block, width=width, depth=depth)
        found[depth] = Sample(values, f"{name}, {depth + 1} layers")
    return found


def highway_losses(record: dict, depth: int) -> Sample:
    return losses(record, "highway", depth)


def losses(record: dict, block: str, depth: int) -> Sample:
    found = values_of(record["trials"]["final"], "loss", block=block, width=SAME_WIDTH, depth=depth)
    return Sample(found, f"{block} loss, {depth + 1} layers")


def identity_parts(record: dict, when: str, depth: int) -> Sample:
    """The product of all factors 1 - T of highway nets, a mean over units and images, of every seed."""
    nets = values_of(record["trials"]["final"], when, block="highway", depth=depth)
    return Sample([net["identity_part"] for net in nets], f"product of all 1 − T, {depth + 1} layers")


def gradient_ratios(record: dict, when: str, depth: int) -> Sample:
    """first_over_last() of highway nets, of every seed."""
    nets = values_of(record["trials"]["final"], when, block="highway", depth=depth)
    name = f"first gradient ÷ last, {depth + 1} layers, {WHEN[when]}"
    return Sample([first_over_last(net["gradient"]) for net in nets], name)


def as_good(ours: dict[int, list], theirs: dict[int, list], margin: float, looks: int = 1) -> list[bool | None]:
    """At each depth: whether our accuracies are at most this margin lower than theirs.

    At a depth where seeds are lost, their numbers are compared.  All depths are tested, with Holm's
    correction for their number and one for the looks."""
    comparisons = [compared(is_above, ours[depth], theirs[depth], -margin) for depth in ours]
    return corrected(*comparisons, looks=looks)


def have_learned(samples: list[Sample]) -> list[bool | None]:
    """Whether each net has learned: its mean accuracy is above LEARNED; a lost seed counts as
    guessing."""
    comparisons = []
    for sample in samples:
        counted = [GUESSING if accuracy is None else accuracy for accuracy in sample]
        comparisons.append(is_above(Sample(counted, sample.name), LEARNED))
    return corrected(*comparisons)


def range_of(values_by_depth: dict) -> str:
    return f"{min(values_by_depth) + 1} to {max(values_by_depth) + 1} layers"


def means(accuracies_by_depth: dict[int, list]) -> str:
    """The mean at every depth, as text; a lost seed counts as 0."""
    texts = []
    for seeds in accuracies_by_depth.values():
        counted = [0 if accuracy is None else accuracy for accuracy in seeds]
        texts.append(f"{np.mean(counted):.4f}")
    return ", ".join(texts)


def least_difference(ours: dict[int, list], theirs: dict[int, list], level: float = 0.95) -> str:
    """The least difference of our mean and theirs over the depths, with its interval, as text.

    Leaves out depths at which a seed is lost."""
    means_less_theirs = {}
    for depth in ours:
        if None not in ours[depth] and None not in theirs[depth]:
            means_less_theirs[depth] = np.mean(ours[depth]) - np.mean(theirs[depth])
    if not means_less_theirs:
        return "no difference is known: seeds are lost at every depth"
    depth = min(means_less_theirs, key=means_less_theirs.get)
    return f"least difference, at {depth + 1} layers: {effect_as_text(ours[depth], theirs[depth], level)}"


def not_learned(narrow: dict[int, list]) -> list[str]:
    """The accuracies of width 41 at the depths at which a seed has not learned, as text."""
    texts = []
    for depth, seeds in narrow.items():
        if all(accuracy is not None and accuracy > LEARNED for accuracy in seeds):
            continue  # all seeds have learned
        seed_by_seed = ["diverged" if accuracy is None else f"{accuracy:.4f}" for accuracy in seeds]
        texts.append(f"of width 41 at {depth + 1} layers, seed by seed: {', '.join(seed_by_seed)}")
    return texts


HIGHWAY = ("highway", SAME_WIDTH)  # nets: (block, width)
RESIDUAL = ("residual", SAME_WIDTH)
WIDER_RESIDUAL = ("residual", WIDTH["residual"])
CARRY = ("highway-carry", SAME_WIDTH)
NARROWER_CARRY = ("highway-carry", WIDTH["highway-carry"])
NAMES = {CARRY: "accuracy with a carry gate", NARROWER_CARRY: "accuracy with a carry gate, width 41"}
WHEN = {"at_start": "untrained", "trained": "trained"}


def shallow(record: dict, thousand_layers: dict) -> tuple[dict]:
    """Nets of one hidden layer, seed by seed, in the place of nets with a carry gate."""
    accuracies_of_seeds = values_of(thousand_layers["trials"]["one_hidden_layer_longer"], "test_accuracy")
    trials = []
    for trial in record["trials"]["final"]:
        if trial["block"] == "highway-carry":
            accuracy = accuracies_of_seeds[trial["seed"] % len(accuracies_of_seeds)]
            trial = {**trial, "test_accuracy": accuracy}
        trials.append(trial)
    return (with_group(record, "final", trials),)


def shallow_in_place_of(block: str):
    """The stand-in of nets of one hidden layer, seed by seed, in the place of nets of width 50 with this block."""
    return functools.partial(_shallow, block=block)


def _shallow(record: dict, more_seeds: dict, thousand_layers: dict, block: str) -> tuple[dict, dict]:
    accuracies_of_seeds = values_of(thousand_layers["trials"]["one_hidden_layer_longer"], "test_accuracy")
    nets = [trial for trial in record["trials"]["final"] if trial["block"] != block]
    for depth in DEPTHS:
        for accuracy in accuracies_of_seeds:
            net = {"block": block, "width": SAME_WIDTH, "depth": depth, "test_accuracy": accuracy}
            nets.append(net)
    others = [trial for trial in more_seeds["trials"]["blocks"] if trial["block"] != block]
    return with_group(record, "final", nets), with_group(more_seeds, "blocks", others)


@claim(
    "carry-gate-not-needed",
    kind="open question",
    source="paper, 2, open",
    about=ALL,
    over=("blocks", "more_seeds"),
    seen=True,
    controls=(Control(ONE_HIDDEN_LAYER, shallow_in_place_of("highway"), over=("thousand_layers",)),),
)
def carry_gate_not_needed(r, more_seeds):
    """a carry gate of its own is not needed: C = 1 - T loses at most {MARGIN} of accuracy"""
    record = with_more_seeds(r, more_seeds)
    highway = accuracies(record, HIGHWAY)
    carry = accuracies(record, CARRY)
    return as_good(highway, carry, MARGIN, LOOKS), (
        f"test accuracy at {range_of(carry)}: with C = 1 - T {means(highway)}; "
        f"with a C of its own {means(carry)}; "
        f"{least_difference(highway, carry, LEVEL)}"
    )


@claim(
    "carry-gate-trains",
    kind="open question",
    source="encyclopedia article, open",
    about=ALL,
    seen=True,
    controls=(Control(ONE_HIDDEN_LAYER, shallow, over=("thousand_layers",)),),
)
def carry_gate_trains(r):
    """the general form y = H T + x C with a carry gate of its own (eq. 2) trains (an accuracy above
    {LEARNED})"""
    narrow = accuracies(r, NARROWER_CARRY)
    wide = accuracies(r, CARRY)
    learned = have_learned([*narrow.values(), *wide.values()])
    texts = [f"test accuracy at {range_of(wide)}, of width 50: {means(wide)}", *not_learned(narrow)]
    return learned, "; ".join(texts)


@claim(
    "struggles-beyond-100",
    source="encyclopedia article",
    seen=True,
)
def struggles_beyond_100(r):
    """highway nets 'in practice struggle beyond ~100 layers', their 'maximum practical depth'"""
    raise NotMeasured(
        "the sentence is about practice, and needs convolutional nets of more and of fewer than 100 layers on images "
        "such as CIFAR-10 or ImageNet"
    )


@claim(
    "struggles-beyond-100-on-mnist",
    kind="open question",
    source="encyclopedia article, open",
    about={"depth": (0, 19, 99, 199, 999), **ALL},
    over=("blocks", "depth_of_use", "thousand_layers"),
    seen=True,
)
def struggles_beyond_100_on_mnist(r, depth_of_use, thousand_layers):
    """do highway nets struggle beyond about 100 layers on MNIST? (at 100 and at 200 layers over three times the
    loss of 20; at 1000 layers less accurate than one hidden layer, both at the same rate and at a
    rate of its own)"""
    at_20 = highway_losses(r, 19)
    at_100 = highway_losses(r, 99)
    at_200 = highway_losses(r, 199)
    first_seeds = thousand_layers["trials"]
    more_seeds = depth_of_use["trials"]
    deep = values_of([*first_seeds["best"], *more_seeds["deep"]], "test_accuracy")
    deep = Sample(deep, "accuracy of 1000 layers")
    one_layer = values_of([*first_seeds["one_hidden_layer_longer"], *more_seeds["one layer"]], "test_accuracy")
    one_layer = Sample(one_layer, "accuracy of one hidden layer")
    own_rate = values_of(more_seeds["one layer, own rate"], "test_accuracy")
    own_rate = Sample(own_rate, "one hidden layer at its own rate")
    struggles_at_100, struggles_at_200, *is_less_accurate = corrected(
        in_ratio(is_above, at_100, STRUGGLES, baseline=at_20),
        in_ratio(is_above, at_200, STRUGGLES, baseline=at_20),
        is_below(deep, 0, baseline=one_layer),
        is_below(deep, 0, baseline=own_rate),
        looks=LOOKS,
    )
    return [struggles_at_100, struggles_at_200, all_hold(is_less_accurate)], (
        f"loss over that of 20 layers: at 100 {ratio_as_text(at_100, at_20)}, at "
        f"200 {ratio_as_text(at_200, at_20)}; accuracy at 1000 less that of one "
        f"hidden layer: at the same rate {effect_as_text(deep, one_layer)}, at its "
        f"own rate {effect_as_text(deep, own_rate)}"
    )


@claim(
    "worse-beyond-100",
    kind="open question",
    source="encyclopedia article, open",
    about={"depth": (19, 99, 199), **ALL},
    seen=True,
)
def worse_beyond_100(r):
    """do highway nets of 100 and 200 layers have a higher loss than those of 20?"""
    at_20 = highway_losses(r, 19)
    at_100 = highway_losses(r, 99)
    at_200 = highway_losses(r, 199)
    parts = corrected(
        in_ratio(is_above, at_100, 1, baseline=at_20),
        in_ratio(is_above, at_200, 1, baseline=at_20),
    )
    return parts, (
        f"loss over that of 20 layers: at 100 {ratio_as_text(at_100, at_20)}, at 200 "
        f"{ratio_as_text(at_200, at_20)}; at 200 over that of 100 {ratio_as_text(at_200, at_100)}"
    )


def untrained(*records: dict) -> tuple[dict, ...]:
    """Every net as it was at its start."""
    found = []
    for record in records:
        groups = {}
        for group, trials in record["trials"].items():
            groups[group] = [{**trial, "trained": trial["at_start"]} for trial in trials if "at_start" in trial]
        found.append({**record, "trials": groups})
    return tuple(found)


UNTRAINED = Control("an untrained net", untrained)


@claim(
    "factors-compound",
    source="encyclopedia article",
    about={"depth": (99, 199), **ALL},
    over=("blocks", "more_seeds"),
    seen=True,
    controls=(UNTRAINED,),
)
def factors_compound(r, more_seeds):
    """the factors 1 - T compound (in highway nets of 100 and 200 layers the product of all of them is
    below half after training)"""
    record = with_more_seeds(r, more_seeds)
    start_100 = identity_parts(record, "at_start", 99)
    start_200 = identity_parts(record, "at_start", 199)
    trained_100 = identity_parts(record, "trained", 99)
    trained_200 = identity_parts(record, "trained", 199)
    parts = corrected(is_below(trained_100, FADED), is_below(trained_200, FADED), looks=LOOKS)
    return parts, (
        f"product at 100 and 200 layers: trained {trained_100:interval}, {trained_200:interval}; "
        f"at the start {start_100:2}, {start_200:2}"
    )


@claim(
    "gradient-fades",
    source="encyclopedia article",
    about={"depth": (99, 199), **ALL},
    over=("blocks", "more_seeds"),
    seen=True,
    controls=(UNTRAINED,),
)
def gradient_fades(r, more_seeds):
    """the factors 1 - T 'can compound across layers', so that the gradient fades, in our reading (in highway nets of
    100 and 200 layers, before and after training, that at the first layer is less than half of that
    at the last)"""
    record = with_more_seeds(r, more_seeds)
    start_100 = gradient_ratios(record, "at_start", 99)
    start_200 = gradient_ratios(record, "at_start", 199)
    trained_100 = gradient_ratios(record, "trained", 99)
    trained_200 = gradient_ratios(record, "trained", 199)
    parts = corrected(
        is_below(start_100, FADED),
        is_below(trained_100, FADED),
        is_below(start_200, FADED),
        is_below(trained_200, FADED),
        looks=LOOKS,
    )
    return parts, (
        f"first layer's over last's: at the start, at 100 layers {start_100:interval}, "
        f"at 200 {start_200:interval}; after training {trained_100:interval}, {trained_200:interval}"
    )


def plain_as_residual(record: dict, more_seeds: dict) -> tuple[dict, dict]:
    """Plain nets in the place of residual ones of their width."""
    nets = [trial for trial in record["trials"]["final"] if trial["block"] != "residual"]
    for trial in with_settings(nets, block="plain"):
        nets.append({**trial, "block": "residual"})
    others = [trial for trial in more_seeds["trials"]["blocks"] if trial["block"] != "residual"]
    return with_group(record, "final", nets), with_group(more_seeds, "blocks", others)


@claim(
    "residual-half-parameters",
    source="encyclopedia article",
    about=ALL,
    over=("blocks", "more_seeds"),
    seen=True,
    note="in all, residual nets have 0.73 (10 layers) to 0.52 (200) times as many parameters",
    controls=(
        Control(ONE_HIDDEN_LAYER, shallow_in_place_of("residual"), over=("thousand_layers",)),
        Control("a plain net", plain_as_residual),
    ),
)
def residual_half_parameters(r, more_seeds):
    """residual nets are as accurate as highway nets with twice the parameters a layer (at most
    {MARGIN} lower)"""
    record = with_more_seeds(r, more_seeds)
    residual = accuracies(record, RESIDUAL)
    highway = accuracies(record, HIGHWAY)
    return as_good(residual, highway, MARGIN, LOOKS), (
        f"test accuracy at {range_of(highway)}, all of width 50: {named(r, 'residual')} "
        f"{means(residual)}; highway {means(highway)}; "
        f"{least_difference(residual, highway, LEVEL)}"
    )


@claim(
    "generalises-at-every-depth",
    source="paper, 3.3.2",
    about=ALL,
    over=("blocks", "more_seeds"),
    seen=True,
    note="the paper says it of convolutional nets; these are fully connected",
    controls=(Control(ONE_HIDDEN_LAYER, shallow_in_place_of("highway"), over=("thousand_layers",)),),
)
def generalises_at_every_depth(r, more_seeds):
    """deeper highway nets are trained without sacrificing generalization (the test accuracy of 50, 100 and
    200 layers is at most {MARGIN} below that of 10 and of 20)"""
    highway = accuracies(with_more_seeds(r, more_seeds), HIGHWAY)
    comparisons = []
    texts = []
    for deep in (49, 99, 199):
        for few in (9, 19):
            comparisons.append(compared(is_above, highway[deep], highway[few], -MARGIN))
            difference = effect_as_text(highway[deep], highway[few], LEVEL)
            texts.append(f"{deep + 1} less {few + 1} layers {difference}")
    text = f"test accuracy at {range_of(highway)}: {means(highway)}"
    return corrected(*comparisons, looks=LOOKS), f"{text}; {', '.join(texts)}"


@claim(
    "gates-help-beyond-fixed-skips",
    source="paper, 5",
    about=ALL,
    seen=True,
    note="with as many parameters residual nets have the lower loss at each depth",
)
def gates_help_beyond_fixed_skips(r):
    """the additional parameters of the gates help in routing information, unlike fixed skip connections
    (read as: of the same width, 50, highway nets end at a lower training loss than residual nets, at
    10 to 200 layers)"""
    pairs = []
    texts = []
    for depth in DEPTHS:
        highway = highway_losses(r, depth)
        residual = losses(r, "residual", depth)
        pairs.append((highway, residual))
        texts.append(ratio_as_text(highway, residual))
    return all_ratios_below(pairs, 1), f"highway's loss over residual's at 10 to 200 layers: {', '.join(texts)}"


@claim(
    "residual-better",
    kind="open question",
    source="published program, open",
    about=ALL,
)
def residual_better(r):
    """at equal depth, and with as many parameters a layer (up to a fifth more in all), residual nets
    are more accurate than highway nets"""
    residual = accuracies(r, WIDER_RESIDUAL)
    highway = accuracies(r, HIGHWAY)
    return as_good(residual, highway, 0), (
        f"test accuracy at {range_of(highway)}: residual of width 71 {means(residual)}; "
        f"highway of width 50 {means(highway)}; {least_difference(residual, highway)}"
    )


QUESTION = Question(
    name="blocks",
    source="an encyclopedia article on highway networks; the paper, section 2",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
