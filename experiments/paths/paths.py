"""Do blocks refine the same features or make new ones, and which paths does the gradient take?

    python -m experiments paths            -> experiments/results/paths.json

Three papers explain why nets with a way past their blocks can be deep, and measure it on
convolutional nets.  Here the same is measured on this project's nets of 30 blocks, on MNIST.
RULES.md names the papers, and has all rules.

The nets have 30 blocks of 50 tanh units, the headline's images, batches, epochs and Adam, and ten
seeds from 6201 on, which no other question uses:

    highway   y = H T + x (1 - T), the headline's: b_T = -2, rate 0.005
    residual  y = x + H, W_H drawn with a factor of 1/30, rate 0.001
    rezero    y = x + alpha H, alpha learned, 0 at the start; rate 0.001; it judges nothing
    plain     y = H from an orthogonal W_H, rate 0.001, at which it trains
    shut      the headline's highway net with b_T = -20: its blocks do nothing

Each net is measured as it is drawn, and after training.

Measures
--------
Accuracies are those of the first 1000 of the run's test images.  *Kept* is what is left of the
accuracy above guessing: (accuracy - 0.1) / (accuracy of the whole net - 0.1).
- A block is deleted by leaving it out: its input passes on.  Each block alone; and n blocks at once,
  n from 0 to 30, along ten random orders.
- Blocks are reordered by n swaps of a random pair, n = 1, 2, 3, 5, 8, 12, 20, 30, ten draws each; by
  one random order of all, ten draws; and by each block changing places with the next.
- Each block is repeated, alone; and all at once.
- A curve is *smooth* if its largest fall from one n to the next is below a quarter of the whole net's
  accuracy above guessing.  (A straight fall over 30 blocks has steps of 0.033.)
- The net's own output layer reads the state after every block (*own reader*); so does a reader that
  least squares fit to the states of 3000 training images, one for every block (*fitted reader*).
- The cosine of a block's update, y - x, with -dL/dx, L being an image's loss; means over 200 images.
- The gradient dL/dx of the first block by the number k of transforms on the way.  A block's Jacobian is
  C + B, what is carried and what goes through H: C = diag(1 - T), B = diag(T H') W_H for a highway
  block; C = 1, B = diag(H') W_H for a residual one, times alpha for rezero.  Held fixed are all states,
  and so H' and T, at what the image gives them.  The product over all blocks is a polynomial: v_k, the
  sum over all paths that take B in k blocks and C in the others, is computed exactly, by carrying a
  vector for each k.  For residual nets the sum of all v_k is the gradient.  For highway nets gates are
  fixed numbers here: what comes back through dT/dx is left out; `missing` says how much that is.
  The share of paths of k transforms is <v_k, g> / <g, g>, where g is the sum of all v_k, a mean over
  200 images (by direction).  Veit and others follow single random paths, and multiply the mean length
  of what comes back by the number of paths; so here, too, with ten paths for each k and 50 images (by
  their count).  Short are paths of at most 9 transforms, 17/54 of 30.
"""

from __future__ import annotations

import numpy as np

from experiments.paths.paths_trial import SWAPS, trial
from experiments.shared_trials import fully_connected
from highways.lab.judging.claim import Sample, claim, effect_as_text
from highways.lab.judging.controls import Control
from highways.lab.judging.rules import corrected, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

KINDS = {
    "highway": {"block": "highway", "start": "program", "gate_bias": -2.0, "lr": 5e-3},
    "residual": {"block": "residual", "start": "program", "lr": 1e-3},
    "rezero": {"block": "re-zero", "start": "program", "lr": 1e-3},
    "plain": {"block": "plain", "start": "orthogonal", "lr": 1e-3},
    "shut": {"block": "highway", "start": "program", "gate_bias": -20.0, "lr": 5e-3},
}
FIRST_SEED = 6201
BUDGETS = {
    "quick": {"depth": 4, "epochs": 1, "seeds": 2, "n_train": 256, "n_test": 100,
              "looked_at": 60, "read": 256, "followed_back": 5, "draws": 2, "paths": 2},
    "default": {"depth": 30, "epochs": 12, "seeds": 10, "n_train": 6000, "n_test": 2000,
                "looked_at": 1000, "read": 3000, "followed_back": 200, "draws": 10, "paths": 10},
}  # fmt: skip
WHEN = ("at_start", "trained")
GUESSING = 0.1
RESOLUTION = 0.001  # of an accuracy: an image of 1000; and of a share or a cosine
FEW_POINTS = 0.02  # a block matters little if deleting it costs less accuracy
CHANCE = 0.15  # a net is at chance if its accuracy is below
STEP = 0.25  # a curve is smooth if no step costs more of the accuracy above guessing
HALF = 0.5
SHORT = 17 / 54  # paths are short if they take at most this share of the blocks' transforms
SAME = 0.1  # features stay the same if the own reader is less than this below the fitted one


def run(runner: Runner) -> list[dict]:
    budget = dict(runner.settings)
    n_seeds = budget.pop("seeds")
    settings = []
    for kind, net in KINDS.items():
        for seed in range(FIRST_SEED, FIRST_SEED + n_seeds):
            settings.append({"kind": kind, **net, **budget, "seed": seed})
    fully_connected.data_set()  # read once, before processes are forked
    return runner.run(trial, settings, fully_connected.data_of)


# ---- What a look says ---------------------------------------------------------------------------


def kept(look: dict, accuracy: float) -> float | None:
    """The share of the whole net's accuracy above guessing that this accuracy keeps.

    None for a net that is no better than guessing."""
    if look["accuracy"] <= GUESSING:
        return None
    return (accuracy - GUESSING) / (look["accuracy"] - GUESSING)


def cost_of_worst_block(look: dict) -> float:
    return look["accuracy"] - min(look["one_deleted"])


def with_one_deleted(look: dict) -> float:
    return float(np.mean(look["one_deleted"]))


def largest_step(look: dict, curve: str) -> float | None:
    """The largest fall of a curve from one point to the next, in kept accuracy."""
    if look["accuracy"] <= GUESSING:
        return None
    falls = -np.diff(look[curve]["accuracy"])
    return float(falls.max()) / (look["accuracy"] - GUESSING)


def step_of_deleting(look: dict) -> float | None:
    return largest_step(look, "deleted")


def step_of_swapping(look: dict) -> float | None:
    return largest_step(look, "swapped")


def kept_shuffled(look: dict) -> float | None:
    return kept(look, look["shuffled"]["accuracy"])


def kept_without_blocks(look: dict) -> float | None:
    return kept(look, look["deleted"]["accuracy"][-1])


def kept_half_way(look: dict) -> float | None:
    """With the own reader after half of the blocks."""
    return kept(look, look["after"][len(look["one_deleted"]) // 2])


def lag_of_own_reader(look: dict) -> float:
    """How far the own reader is below the fitted one after half of the blocks."""
    half = len(look["one_deleted"]) // 2
    return look["fitted"][half] - look["after"][half]


def by_short_paths(look: dict, shares: str) -> float:
    """The share that comes by short paths.  Trials have each share rounded, so that their sum is not quite 1."""
    longest = int(SHORT * len(look["one_deleted"]))
    return sum(look[shares][: longest + 1]) / sum(look[shares])


def short_by_direction(look: dict) -> float:
    return by_short_paths(look, "along")


def short_by_count(look: dict) -> float:
    return by_short_paths(look, "all_paths")


def mean_length(look: dict) -> float:
    """The mean number of transforms on the way, weighted by direction."""
    return float(np.dot(look["along"], range(len(look["along"]))))


def mean_length_with_gates(look: dict) -> float:
    """The same if a way through a gate counts as a transform, too; judges nothing."""
    return float(np.dot(look["along_with_gates"], range(len(look["along_with_gates"]))))


def mean_cosine(look: dict) -> float:
    return float(np.mean(look["cosine"]))


def cosine_of_first_third(look: dict) -> float:
    return float(np.mean(look["cosine"][: len(look["cosine"]) // 3]))


def cosine_of_last_third(look: dict) -> float:
    return float(np.mean(look["cosine"][-(len(look["cosine"]) // 3) :]))


def mean_change(look: dict) -> float:
    return float(np.mean(look["change"]))


def answers_kept_shuffled(look: dict) -> float:
    """The share of the whole net's answers, right or wrong, that a shuffle leaves as they are."""
    return look["shuffled"]["kept"]


def missing_with_fixed_gates(look: dict) -> float:
    return look["missing"]


def with_all_repeated(look: dict) -> float | None:
    return kept(look, look["all_repeated"])


def with_neighbours_swapped(look: dict) -> float | None:
    return kept(look, float(np.mean(look["neighbours"])))


def with_one_repeated(look: dict) -> float | None:
    return kept(look, float(np.mean(look["repeated"])))


OF_ANY_NET = (
    mean_change,
    answers_kept_shuffled,
    mean_cosine,
    cosine_of_first_third,
    cosine_of_last_third,
    short_by_direction,
    short_by_count,
    mean_length,
    mean_length_with_gates,
    missing_with_fixed_gates,
)
OF_TRAINED_NETS = (  # those that accuracy above guessing is the measure of
    cost_of_worst_block,
    with_one_deleted,
    step_of_deleting,
    step_of_swapping,
    kept_shuffled,
    kept_without_blocks,
    kept_half_way,
    lag_of_own_reader,
    with_all_repeated,
    with_neighbours_swapped,
    with_one_repeated,
)


NAMES = {
    cost_of_worst_block: "accuracy that the worst block costs",
    with_one_deleted: "accuracy left without a block",
    step_of_deleting: "cost of the largest step in deleting",
    step_of_swapping: "cost of the largest step in swapping",
    short_by_direction: "share by short paths, by direction",
    short_by_count: "share by short paths, by count",
    kept_shuffled: "accuracy kept with blocks shuffled",
    kept_half_way: "accuracy kept half-way",
    kept_without_blocks: "accuracy kept without blocks",
    lag_of_own_reader: "lag of the own reader, half-way",
    mean_cosine: "mean cosine with −dL/dx",
    cosine_of_last_third: "cosine in the last third",
    cosine_of_first_third: "cosine in the first third",
}


def values(record: dict, kind: str, measure, when: str = "trained") -> Sample:
    """A measure of every net of a kind; None for one that diverged."""
    looks = [net[when] for net in with_settings(record["trials"], kind=kind)]
    name = f"{NAMES.get(measure, measure.__name__.replace('_', ' '))}, {kind}"
    if when == "at_start":
        name += ", untrained"
    return Sample([None if look is None else measure(look) for look in looks], name)


def rows(record: dict) -> list[dict]:
    """The definitions, and a row for each kind, untrained and trained."""
    result = [{"row": "definitions", "swaps": list(SWAPS), "guessing": GUESSING}]
    for kind in KINDS:
        for when in WHEN:
            row = {"row": "look", "kind": kind, "when": when}
            measures = OF_ANY_NET
            if when == "trained":
                measures = (*OF_ANY_NET, *OF_TRAINED_NETS)
                nets = with_settings(record["trials"], kind=kind)
                row["test_accuracy"] = mean_sd_n([net["test_accuracy"] for net in nets])
                row["loss"] = mean_sd_n([net["loss"] for net in nets])
            for measure in measures:
                row[measure.__name__] = mean_sd_n(values(record, kind, measure, when))
            result.append(row)
    return result


# ---- Claims -------------------------------------------------------------------------------------

ABOUT = {"depth": 30, "epochs": 12}
GREFF = "Greff and others 2017"
VEIT = "Veit and others 2016"
JASTRZEBSKI = "Jastrzebski and others 2018"


def in_place_of(kind: str, control: str):
    """Takes the record, and puts the nets of a control in the place of a kind."""

    def stand_in(record: dict) -> tuple[dict]:
        others = [net for net in record["trials"] if net["kind"] != kind]
        controls = [{**net, "kind": kind} for net in with_settings(record["trials"], kind=control)]
        return ({**record, "trials": others + controls},)

    return stand_in


def untrained(record: dict) -> tuple[dict]:
    """The record with the untrained nets in the place of the trained ones."""
    return ({**record, "trials": [{**net, "trained": net["at_start"]} for net in record["trials"]]},)


def controls_for(kind: str) -> tuple[Control, ...]:
    return (
        Control("a net whose gates stay shut", in_place_of(kind, "shut")),
        Control("a plain net from an orthogonal start", in_place_of(kind, "plain")),
    )


def in_both_places(control: str):
    """Puts the nets of a control in the place of highway and of residual ones."""

    def stand_in(record: dict) -> tuple[dict]:
        [changed] = in_place_of("highway", control)(record)
        return in_place_of("residual", control)(changed)

    return stand_in


UNTRAINED = Control("an untrained net", untrained)


@claim("one-block-deleted", source=f"{VEIT}, 4.1", about=ABOUT, controls=controls_for("residual"))
def one_block_deleted(r):
    """deleting any one block of a residual net has hardly any effect, of a plain net it brings chance
    (30 blocks: the worst block costs a residual net less than {FEW_POINTS} of accuracy; a plain net has on
    average less than {CHANCE} left)"""
    cost = values(r, "residual", cost_of_worst_block)
    left = values(r, "plain", with_one_deleted)
    parts = corrected(is_below(cost, FEW_POINTS, resolution=RESOLUTION), is_below(left, CHANCE, resolution=RESOLUTION))
    return parts, f"the worst block costs residual nets {cost:interval}; plain nets have {left:interval} left"


@claim("deleting-many-is-smooth", source=f"{VEIT}, 4.2", about=ABOUT, controls=controls_for("residual"))
def deleting_many_is_smooth(r):
    """a residual net's error increases smoothly with the number of blocks deleted at random (no step of
    one block costs {STEP} of the accuracy above guessing)"""
    step = values(r, "residual", step_of_deleting)
    return corrected(is_below(step, STEP, resolution=RESOLUTION)), f"the largest step costs a share of {step:interval}"


@claim("reordering-is-smooth", source=f"{VEIT}, 4.3", about=ABOUT, controls=controls_for("residual"))
def reordering_is_smooth(r):
    """a residual net's error increases smoothly with the number of blocks that changed places (0, 1, 2, 3,
    5, 8, 12, 20, 30 random swaps: no step costs {STEP} of the accuracy above guessing)"""
    step = values(r, "residual", step_of_swapping)
    return corrected(is_below(step, STEP, resolution=RESOLUTION)), f"the largest step costs a share of {step:interval}"


@claim(
    "gradient-from-short-paths",
    source=f"{VEIT}, abstract",
    about=ABOUT,
    controls=(*controls_for("residual"), UNTRAINED),
)
def gradient_from_short_paths(r):
    """most of a residual net's gradient comes from short paths (of 30 blocks at most 9 on the way, over half
    of the gradient; by direction and by the paths' count)"""
    direction = values(r, "residual", short_by_direction)
    count = values(r, "residual", short_by_count)
    parts = corrected(
        is_above(direction, HALF, resolution=RESOLUTION),
        is_above(count, HALF, resolution=RESOLUTION),
    )
    return parts, f"a share of {direction:interval} by direction, {count:interval} by count"


@claim(
    "blocks-refine-the-same-features",
    source=f"{GREFF}, abstract",
    about=ABOUT,
    note="blocks that do nothing meet the rule, too: that blocks refine it does not show",
    controls=(
        Control("a net whose gates stay shut", in_both_places("shut")),
        Control("a plain net from an orthogonal start", in_both_places("plain")),
    ),
)
def blocks_refine_the_same_features(r):
    """successive highway and residual layers 'iteratively refine their estimates of the same features
    instead of computing an entirely new representation' (read as: their order matters little and the output
    layer can read earlier states; each keeps over {HALF} of the accuracy above guessing with all blocks
    shuffled, and each with the state after half of the blocks read out)"""
    comparisons = []
    texts = []
    for measure, name in ((kept_shuffled, "shuffled"), (kept_half_way, "half-way")):
        for kind in ("highway", "residual"):
            share = values(r, kind, measure)
            comparisons.append(is_above(share, HALF, resolution=RESOLUTION))
            texts.append(f"{kind} {name} {share:interval}")
    return corrected(*comparisons), f"kept: {', '.join(texts)}"


@claim(
    "residual-blocks-follow-the-gradient",
    source=f"{JASTRZEBSKI}, abstract",
    about=ABOUT,
    controls=controls_for("residual"),
)
def residual_blocks_follow_the_gradient(r):
    """residual connections encourage features 'to move along the negative gradient of loss' from block to
    block (the mean cosine of y - x with -dL/dx is above 0, and above that of untrained nets)"""
    return along_the_gradient(r, "residual")


def along_the_gradient(record: dict, kind: str) -> tuple[list[bool | None], str]:
    trained = values(record, kind, mean_cosine)
    before = values(record, kind, mean_cosine, "at_start")
    parts = corrected(
        is_above(trained, 0, resolution=RESOLUTION),
        is_above(trained, 0, baseline=before, resolution=RESOLUTION),
    )
    return parts, f"mean cosine {trained:interval}; less that of untrained nets {effect_as_text(trained, before)}"


@claim(
    "higher-residual-blocks-refine",
    source=f"{JASTRZEBSKI}, abstract",
    about=ABOUT,
    controls=controls_for("residual"),
)
def higher_residual_blocks_refine(r):
    """residual nets 'concentrate representation learning behavior in the first few layers while higher
    layers perform iterative refinement' (the cosine of y - x with -dL/dx is larger in the last third of
    the blocks than in the first)"""
    last = values(r, "residual", cosine_of_last_third)
    first = values(r, "residual", cosine_of_first_third)
    parts = corrected(is_above(last, 0, baseline=first, resolution=RESOLUTION))
    return parts, f"cosine of the last third {last:interval}, of the first {first:interval}"


@claim(
    "highway-nets-behave-like-ensembles",
    kind="open question",
    source=f"a question of our own, after {VEIT}",
    about=ABOUT,
    controls=controls_for("highway"),
)
def highway_nets_behave_like_ensembles(r):
    """do highway nets behave as Veit and others say of residual ones? (the worst block deleted costs less
    than {FEW_POINTS} of accuracy; smooth with the number of deleted and of swapped blocks; over half of the
    gradient by short paths, by direction and by count)"""
    cost = values(r, "highway", cost_of_worst_block)
    deleting = values(r, "highway", step_of_deleting)
    swapping = values(r, "highway", step_of_swapping)
    direction = values(r, "highway", short_by_direction)
    count = values(r, "highway", short_by_count)
    parts = corrected(
        is_below(cost, FEW_POINTS, resolution=RESOLUTION),
        is_below(deleting, STEP, resolution=RESOLUTION),
        is_below(swapping, STEP, resolution=RESOLUTION),
        is_above(direction, HALF, resolution=RESOLUTION),
        is_above(count, HALF, resolution=RESOLUTION),
    )
    return parts, (
        f"the worst block costs {cost:interval}; largest step {deleting:interval} deleting, {swapping:interval} "
        f"swapping; by short paths {direction:interval} by direction, {count:interval} by count"
    )


@claim(
    "highway-nets-refine",
    kind="open question",
    source=f"a question of our own, after {GREFF}",
    about=ABOUT,
    controls=controls_for("highway"),
)
def highway_nets_refine(r):
    """do the headline's highway nets refine? (without any block they keep less than {HALF} of the accuracy
    above guessing, with all blocks shuffled more than {HALF}, and half-way the own reader is less than {SAME}
    below a fitted one)"""
    without = values(r, "highway", kept_without_blocks)
    shuffled = values(r, "highway", kept_shuffled)
    lag = values(r, "highway", lag_of_own_reader)
    parts = corrected(
        is_below(without, HALF, resolution=RESOLUTION),
        is_above(shuffled, HALF, resolution=RESOLUTION),
        is_below(lag, SAME, resolution=RESOLUTION),
    )
    return parts, (
        f"kept without blocks {without:interval}, shuffled {shuffled:interval}; "
        f"half-way the own reader is below the fitted one by {lag:interval}"
    )


@claim(
    "highway-blocks-follow-the-gradient",
    kind="open question",
    source=f"a question of our own, after {JASTRZEBSKI}",
    about=ABOUT,
    controls=controls_for("highway"),
)
def highway_blocks_follow_the_gradient(r):
    """do highway blocks move the state along the negative gradient of the loss? (the mean cosine of y - x
    with -dL/dx is above 0, and above that of untrained nets)"""
    return along_the_gradient(r, "highway")


QUESTION = Question(
    name="paths",
    source="Greff, Srivastava and Schmidhuber 2017; Veit, Wilber and Belongie 2016; Jastrzebski and others 2018",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
