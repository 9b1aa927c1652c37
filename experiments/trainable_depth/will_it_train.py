"""Does the gradient of an untrained net say whether it trains, for nets of families that it was not set on?

    python -m experiments will_it_train            -> experiments/results/will_it_train.json

The measure is log10 of |dL/dy| of the first block over that of the last, as in `what_trains`.  A net trains above an
edge, does not below another, and between them nothing is said.  The edges for SGD are set on the nets of `what_trains`
with tanh, those for Adam on some of the same nets, trained here, and both on those of `will_it_train_edges`.  They are
tried on families that none of them had: ReLU, GELU, other widths, layer normalisation, convolutions, and a small
transformer, which needs PyTorch.  RULES.md says what was fixed before the runs, and what was corrected.
"""

from __future__ import annotations

import math

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import NO_BETTER_THAN_GUESSING
from experiments.shared_trials.trained_cells import has_trained, trains
from experiments.trainable_depth.trainable_depth import compared
from experiments.trainable_depth.will_it_train_trial import trial
from highways.files import ROOT
from highways.lab.judging.claim import NotMeasured, claim
from highways.lab.judging.counts import decided, share_with_interval, sign_test
from highways.lab.judging.rules import holm
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import load_results, path_of
from highways.will_it_train import first_over_last

RECORD_OF_SGD = ROOT / path_of("what_trains")
RECORD_OF_EDGES = ROOT / path_of("will_it_train_edges")
RATES = {"sgd": [0.75, 0.15, 3.75, 0.03], "adam": [1e-3, 3e-3, 3e-4]}  # in the order in which they are tried
CLIP = {"sgd": 1.0, "adam": 5.0}
COMMON = {"momentum": 0.9, "trains_below": round(NO_BETTER_THAN_GUESSING, 6), "hopeless_above": 2.296, "seed": 1}
BUDGETS = {
    "quick": {
        "calibration_depths": [2, 4],
        "depths": {"relu": [2], "gelu": [2], "width": [2], "normalisation": [2], "convolution": [1]},
        "widths": [60],
        "rates": 1,
        "epochs": 1,
        "hopeless_after": 1,
        "batch": 50,
        "looked_at": 32,
        "n_train": 100,
        "n_test": 100,
    },
    "default": {
        "calibration_depths": [10, 30, 100],
        "depths": {
            "relu": [10, 30],
            "gelu": [10, 30],
            "normalisation": [10, 30, 60],
            "width": [10, 30],
            "convolution": [6, 16],
            "transformer": [2, 6],
        },
        "widths": [128, 256, 512],
        "rates": 4,
        "epochs": 5,
        "hopeless_after": 3,
        "batch": 50,
        "looked_at": 256,
        "n_train": 2000,
        "n_test": 100,
    },
}
SHALLOW_ALONE = (256, 512)  # nets of these widths have the first depth alone: they cost most

CELL = ("family", "kind", "gate_bias", "start", "activation", "depth", "width", "gain")
OPTIMIZERS = ("sgd", "adam")
GRADIENT = "gradient"
ALL_TRAIN = "all train"
NORM = "norm between 0.1 and 10"  # of the gradient by all parameters
PREDICTORS = (GRADIENT, ALL_TRAIN, NORM)
ALL = "all"
ENOUGH = 0.9
MOST = 0.9  # of the nets train above the higher edge
FEW = 0.1  # and at most so many below the lower one


# ---- Trials -------------------------------------------------------------------------------------


def cell(
    family: str, kind: str, gate_bias: float | None, start: str, activation: str, depth: int, width: int, gain=1.0
):
    return dict(zip(CELL, (family, kind, gate_bias, start, activation, depth, width, gain), strict=True))


def calibration(settings: dict) -> list[dict]:
    """The nets of `what_trains` on which Adam's bounds are set, the shallow ones first."""
    kinds = [("none", None), ("skip", None), ("sees x", 0.0), ("sees x", -2.0), ("sees x", -4.0), ("uncoupled", 0.0)]
    found = []
    for depth in settings["calibration_depths"]:
        for start in ("program", "glorot", "orthogonal"):
            found += [cell("what_trains", kind, bias, start, "tanh", depth, 50) for kind, bias in kinds]
    return found


def held_out(settings: dict) -> list[dict]:
    """The nets of the families that no bound was set on."""
    found = []
    for family, depths in settings["depths"].items():
        for depth in depths:
            found += FAMILIES[family](settings, depth)
    return found


ORDINARY = (("plain", None), ("residual", None), ("highway", 0.0), ("highway", -2.0))


def with_activation(activation: str):
    def nets(settings: dict, depth: int) -> list[dict]:
        found = []
        for start in ("program", "he"):
            found += [cell(activation, kind, bias, start, activation, depth, 50) for kind, bias in ORDINARY]
        return found

    return nets


def of_widths(settings: dict, depth: int) -> list[dict]:
    found = []
    for width in settings["widths"]:
        if width not in SHALLOW_ALONE or depth == settings["depths"]["width"][0]:
            found += [cell("width", kind, bias, "program", "tanh", depth, width) for kind, bias in ORDINARY]
    return found


def normalised(settings: dict, depth: int) -> list[dict]:
    found = []
    for activation, start in (("tanh", "program"), ("relu", "he")):
        for kind, bias in (("plain", None), ("residual", None), ("highway", -2.0)):
            found.append(cell("normalisation", f"normalised {kind}", bias, start, activation, depth, 50))
    return found


def convolutional(settings: dict, depth: int) -> list[dict]:
    found = []
    for start in ("lecun", "he"):
        for kind, bias in (("plain", None), ("residual", None), ("highway", -2.0)):
            found.append(cell("convolution", kind, bias, start, "relu", depth, 8))
    return found


def transformers(settings: dict, depth: int) -> list[dict]:
    found = []
    for gain in (1.0, 0.3):
        for kind in ("pre-norm", "post-norm", "no norm"):
            found.append(cell("transformer", kind, None, "PyTorch's", "relu", depth, 32, gain))
    return found


FAMILIES = {
    "relu": with_activation("relu"),
    "gelu": with_activation("gelu"),
    "width": of_widths,
    "normalisation": normalised,
    "convolution": convolutional,
    "transformer": transformers,
}


def run(runner: Runner) -> dict:
    """Adam on the nets of `what_trains`, and both optimisers on the nets of other families."""
    settings = runner.settings
    shared = {name: settings[name] for name in ("epochs", "hopeless_after", "batch", "looked_at", "n_train", "n_test")}
    fully_connected.data_set()  # forked processes share it

    def with_optimizer(single: dict, optimizer: str) -> dict:
        rates = RATES[optimizer][: settings["rates"]]
        return {**single, "optimizer": optimizer, "rates": rates, "clip": CLIP[optimizer], **COMMON, **shared}

    first = [with_optimizer(single, "adam") for single in calibration(settings)]
    others = [with_optimizer(single, optimizer) for single in held_out(settings) for optimizer in OPTIMIZERS]
    return {
        "calibration": [entry_of(found) for found in runner.run(trial, first, fully_connected.data_of)],
        "held_out": [entry_of(found) for found in runner.run(trial, others, fully_connected.data_of)],
    }


def entry_of(single: dict) -> dict:
    """A trial as it is written: without the settings that all nets share."""
    names = (*CELL, "optimizer", "n_train", "rates", "norms", "gradient_norm", "losses", "flushed", "seconds")
    return {name: single[name] for name in names}


# ---- What trained, and what is said of it -------------------------------------------------------


def trained(entry: dict) -> bool:
    return any(has_trained(loss, COMMON["trains_below"]) for loss in entry["losses"])


def edges(values: np.ndarray, outcomes: np.ndarray) -> tuple[float, float]:
    """Below the first edge few nets train, above the second most do.

    The share that trains is fitted as a function of the measure that does not fall.  An edge lies in the middle
    between two values."""
    from scipy.optimize import isotonic_regression  # imported here: it takes half a second

    different, places = np.unique(values, return_inverse=True)
    nets = np.bincount(places)
    share = isotonic_regression(np.bincount(places, outcomes) / nets, weights=nets).x
    middles = (different[1:] + different[:-1]) / 2
    ends = np.array([-math.inf, *middles, math.inf])
    return float(ends[np.sum(share <= FEW)]), float(ends[np.sum(share < MOST)])


def known_nets(record: dict, optimizer: str) -> tuple[np.ndarray, np.ndarray]:
    """The measures of the nets on which an optimiser's edges are set, and which of them train."""
    values = []
    outcomes = []
    if optimizer == "sgd":
        trials = load_results(RECORD_OF_SGD)["trials"]
        for start, training in zip(trials["starts"], trials["trained"], strict=True):
            if start["activation"] == "tanh":
                values.append(float(np.mean(start["gradient"])))
                outcomes.append(trains(training))
    for entry in (*record["trials"]["calibration"], *load_results(RECORD_OF_EDGES)["trials"]):
        if entry["optimizer"] == optimizer:
            values.append(first_over_last(entry["norms"]))
            outcomes.append(trained(entry))
    return np.array(values), np.array(outcomes)


def edges_by_optimizer(record: dict) -> dict[str, tuple[float, float]]:
    return {optimizer: edges(*known_nets(record, optimizer)) for optimizer in OPTIMIZERS}


def says(predictor: str, entry: dict, found: dict[str, tuple[float, float]]) -> bool | None:
    """Whether the net trains, as a predictor has it; None if it does not say."""
    if predictor == ALL_TRAIN:
        return True
    if predictor == NORM:
        return 0.1 <= entry["gradient_norm"] <= 10
    fails_below, trains_above = found[entry["optimizer"]]
    value = first_over_last(entry["norms"])
    if value >= trains_above:
        return True
    return False if value < fails_below else None


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for the edges of each optimiser, each predictor and family, and each net."""
    found = edges_by_optimizer(record)
    result = []
    for optimizer, (low, high) in found.items():
        ends = [edge if math.isfinite(edge) else None for edge in (low, high)]
        result.append({"row": "edges", "optimizer": optimizer, "fails_below": ends[0], "trains_above": ends[1]})
    held = record["trials"]["held_out"]
    for optimizer in OPTIMIZERS:
        for family in (ALL, *record["settings"]["depths"]):
            entries = [entry for entry in held if entry["optimizer"] == optimizer and family in (ALL, entry["family"])]
            result += [row_of_predictor(optimizer, family, name, entries, found) for name in PREDICTORS]
    for group, entries in record["trials"].items():
        result += [row_of_net(group, entry, found) for entry in entries]
    return result


def row_of_predictor(optimizer: str, family: str, predictor: str, entries: list[dict], found: dict) -> dict:
    outcomes = [trained(entry) for entry in entries]
    answers = [says(predictor, entry, found) for entry in entries]
    pairs = list(zip(answers, outcomes, strict=True))
    right, low, high = share_with_interval(pairs.count((True, True)) + pairs.count((False, False)), len(entries))
    return {
        "row": "predictor",
        "optimizer": optimizer,
        "family": family,
        "predictor": predictor,
        "nets": len(entries),
        "train": outcomes.count(True),
        "right": right,
        "interval": [low, high],
        "not_clear": answers.count(None),
        "trains_unforeseen": pairs.count((False, True)),
        "fails_unforeseen": pairs.count((True, False)),
    }


def row_of_net(group: str, entry: dict, found: dict) -> dict:
    losses = [math.inf if loss is None else loss for loss in entry["losses"]]
    best = int(np.argmin(losses))
    return {
        "row": "net",
        "group": group,
        **{name: entry[name] for name in (*CELL, "optimizer")},
        "measure": first_over_last(entry["norms"]),
        "gradient_norm": entry["gradient_norm"],
        "predicted": says(GRADIENT, entry, found),
        "trains": trained(entry),
        "rate": entry["rates"][best],
        "loss": entry["losses"][best],
    }


# ---- Claims -------------------------------------------------------------------------------------

OURS = "a question of our own"
OPEN = {"kind": "open question", "source": OURS, "about": {"n_train": 2000}, "seen": True}


def right_of_held_out(record: dict, optimizer: str) -> dict[str, np.ndarray]:
    """Of which held-out nets with an optimiser each predictor is right: {predictor: an entry a net}.

    Raises NotMeasured for results without all families."""
    if set(record["settings"]["depths"]) != set(FAMILIES):
        raise NotMeasured("the rules are about six families")
    found = edges_by_optimizer(record)
    entries = [entry for entry in record["trials"]["held_out"] if entry["optimizer"] == optimizer]
    right = {}
    for name in PREDICTORS:
        right[name] = np.array([says(name, entry, found) is trained(entry) for entry in entries])
    return right


@claim("gradient-says-of-other-nets", **OPEN)
def gradient_says_of_other_nets(r):
    """the gradient of an untrained net says whether it trains with SGD, and with Adam, for six families of nets
    on which its edges were not set (right in more than {ENOUGH} of them; "not clear" is not right)"""
    parts = []
    texts = []
    for optimizer in OPTIMIZERS:
        is_right = right_of_held_out(r, optimizer)[GRADIENT]
        right, low, high = share_with_interval(int(is_right.sum()), len(is_right))
        parts.append(compared(low, high, ENOUGH))
        texts.append(f"{optimizer} {right:.3f} (95 %: {low:.3f} to {high:.3f}, {len(is_right)} nets)")
    return parts, f"share right {'; '.join(texts)}"


@claim("gradient-says-more-than-rules-of-thumb", **OPEN)
def gradient_says_more_than_rules_of_thumb(r):
    """it says more than to say that all train, and than the rule that the norm of the whole gradient lies between
    0.1 and 10"""
    counts = []
    texts = []
    for optimizer in OPTIMIZERS:
        is_right = right_of_held_out(r, optimizer)
        ours = is_right[GRADIENT]
        for rival in (ALL_TRAIN, NORM):
            theirs = is_right[rival]
            counts.append((int((ours & ~theirs).sum()), int((theirs & ~ours).sum())))
            texts.append(f"{optimizer}: it alone is right of {counts[-1][0]}, '{rival}' alone of {counts[-1][1]}")
    adjusted = holm([sign_test(*pair) for pair in counts])
    parts = [decided(*pair, p) for pair, p in zip(counts, adjusted, strict=True)]
    return parts, "; ".join(texts)


QUESTION = Question(
    name="will_it_train",
    source=OURS,
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
