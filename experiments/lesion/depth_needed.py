"""How much depth does a problem need?  Lesions of 50 layers, and shallower nets trained anew.

    python -m experiments depth_needed                          -> experiments/results/depth_needed.json
    python -m experiments depth_needed --data-dir CIFAR-100   # besides MNIST

If closing layers shows how much depth a problem needs, a net that is trained anew must need the
depth that lesions find.  The greedy search of `lesion` closes as many of the 49 blocks of a net as it
can before the error on the training images rises by a point.  Lesions find that the net needs the
blocks that are left; their number is a mean over seeds.  Shallower nets are trained anew, with the
settings, epochs and seeds of `fifty_layers`.  A depth within one block of what the lesions leave
judges nothing.
"""

from __future__ import annotations

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import settings_of_kept_nets
from experiments.shared_trials.fully_connected import CIFAR
from highways.files import InputError
from highways.lab.judging.claim import Sample, claim, values_of
from highways.lab.judging.rules import corrected, is_above, mean
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import by_data_set, select
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"blocks": (1, 2)},
    "default": {"blocks": (6, 15, 45)},
}
POINT = 0.01  # of the training error
ONE_IMAGE = 1 / 50_000  # the resolution of a training error; on MNIST it is a little finer
# trainings whose outcome nearly any theory of depth predicts: they count neither for nor against it
BY_NEARLY_ANY_THEORY = (("MNIST", 45), (CIFAR, 45), (CIFAR, 6))
NEAR = 1  # blocks: a depth this near to what the lesions leave judges nothing
PAPERS_SETS = ("MNIST", CIFAR)
MEASURED = ("training_error", "loss", "test_accuracy")


def run(runner: Runner) -> dict:
    """Trains the nets, on MNIST first; adds what `lesion` found in the nets of 50 layers."""
    nets = settings_of_kept_nets(runner)
    wanted = []
    for net in nets:
        for blocks in runner.settings["blocks"]:
            wanted.append({**net, "depth": blocks})
    trials = fully_connected.run(runner, wanted)
    anew = [{**trial, "training_error": training_error(trial)} for trial in trials]
    return {"anew": anew, "lesions": [lesions_of(net, runner.needed["lesion"]) for net in nets]}


def training_error(trial: dict) -> float | None:
    return None if trial["diverged"] else 1 - trial["train_accuracy"]


def lesions_of(net: dict, lesion: dict) -> dict:
    """What `lesion` found in a net of 50 layers.

    Its training error, the number of blocks that lesions leave, and its errors with all blocks
    above the k-th closed.  Raises InputError if the results of `lesion` have no such net."""
    place = {"data": net["data"], "seed": net["seed"]}
    try:
        found = select(lesion["trials"], **place)
    except LookupError:
        how = "python -m experiments lesion with the same --data-dir makes it"
        which = f"{net['data']}, seed {net['seed']}"
        raise InputError(f"the results of lesion have no net of {which}: {how}") from None
    return {
        **place,
        "training_error": found["error"],
        "blocks": len(found["errors"]),
        "blocks_left": len(found["errors"]) - found["closed_together"],
        "errors_of_first": found["errors_above"],
    }


# ---- Summary -----------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, and a row for each data set and depth."""
    result = [{"row": "definitions", "point": POINT}]
    for data, trials in by_data_set(record["trials"]["anew"]).items():
        for blocks in record["settings"]["blocks"]:
            row = {"data": data, "blocks": blocks}
            for name in MEASURED:
                row[name] = mean_sd_n(values_of(trials, name, depth=blocks))
            result.append(row)
    return result


# ---- Claims ------------------------------------------------------------------------------------


@claim(
    "lesions-tell-the-depth-needed",
    source="paper, 5",
    about={"data": PAPERS_SETS},
    no_control="lesions leave no block of a net that is untrained or whose gates stay shut, and no shallower net "
    "could be trained to be compared with it",
    seen=True,
)
def lesions_tell_the_depth_needed(r):
    """lesions tell how much depth a problem needs (trained anew, a net with fewer blocks than the
    greedy lesions leave has a training error over a point higher than the net of 50 layers; one with
    more blocks has not)"""
    lesions = r["trials"]["lesions"]
    predicted = []  # whether the error should be higher than that of 50 layers
    comparisons = []  # whether it is
    texts = []
    for data in PAPERS_SETS:
        blocks_left = mean(values_of(lesions, "blocks_left", data=data))
        errors_of_50_layers = values_of(lesions, "training_error", data=data)
        errors_of_50_layers = Sample(errors_of_50_layers, f"training error of 50 layers, {data}")
        texts_of_errors = []
        for blocks in r["settings"]["blocks"]:
            errors = values_of(r["trials"]["anew"], "training_error", data=data, depth=blocks)
            errors = Sample(errors, f"training error of {blocks} blocks, {data}")
            texts_of_errors.append(f"{blocks} blocks {mean(errors):.2g}")
            if abs(blocks - blocks_left) > NEAR and (data, blocks) not in BY_NEARLY_ANY_THEORY:
                predicted.append(blocks < blocks_left)
                comparisons.append(is_above(errors, POINT, errors_of_50_layers, resolution=ONE_IMAGE))
        texts_of_errors.append(f"49 blocks {mean(errors_of_50_layers):.2g}")
        left = f"lesions leave {blocks_left:.0f} blocks"
        texts.append(f"{data}: {left}; training error of {', '.join(texts_of_errors)}")
    parts = []
    for should_be_higher, is_higher in zip(predicted, corrected(*comparisons), strict=True):
        parts.append(None if is_higher is None else is_higher == should_be_higher)
    return parts, "; ".join(texts)


QUESTION = Question(
    name="depth_needed",
    source="Training Very Deep Networks, section 5",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("fifty_layers", "lesion"),
    takes_more_data_sets=True,
)
