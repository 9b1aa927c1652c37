"""How much depth does a problem need?  Nets trained anew, beside lesions of 50 layers.

    python -m experiments depth_needed                          -> results/depth_needed.json
    python -m experiments depth_needed --data-dir CIFAR-100     beside MNIST

The paper (section 5): "for the first time, highway networks allow us to examine how much
computation depth is needed for a given problem", by closing layers of a trained net.  If so, what
lesions call needed must be what nets need that are trained anew.

Lesions say that a net of 50 layers needs its 49 blocks less those that the greedy search of
`lesion` closes together before the error on the training images rises by a point; a mean over the
seeds.  Trained anew are nets of 6, 15 and 45 blocks, with the settings, epochs and seeds of
`fifty_layers`: rate and momentum were searched for 50 layers, so that the shallower nets are, if
anything, at a disadvantage.

Fixed before these runs: a net with fewer blocks than the lesions say must have a training error
higher by more than a point than the net of 50 layers, one with as many or more must not.
Differences of means over seeds, Welch's t-test against a point, Holm's correction over all depths
and data sets.  A depth within one block of what the lesions leave judges nothing: by so much the
seeds of the lesions differ.

Known before: on MNIST lesions leave some 16 blocks, on CIFAR-100 some 44.  Expected: on MNIST
nets of 6 blocks fit as well as those of 49, so that lesions say what a net uses, not what the
problem needs; on CIFAR-100 nets of 6 blocks fit worse, nets of 45 as well.
"""

from __future__ import annotations

from claims.claim import Claim, of
from claims.rules import corrected, is_above, mean
from experiments.question import Question
from plumbing.files import InputError
from plumbing.records import select
from plumbing.statistics import mean_sd_n
from training import fully_connected, kept_nets
from training.fully_connected import CIFAR
from training.trials import Runner

BUDGETS = {
    "quick": {"blocks": (1, 2)},
    "default": {"blocks": (6, 15, 45)},
    "full": {"blocks": (3, 6, 10, 15, 20, 30, 45)},
}
POINT = 0.01  # of the training error
NEAR = 1  # blocks: a depth this near to what the lesions leave judges nothing
PAPERS_SETS = ("MNIST", CIFAR)
MEASURED = ("training_error", "loss", "test_accuracy")


def trial(setting: dict) -> dict:
    result = fully_connected.trial(setting)
    return {**result, "training_error": error_of(result)}


def error_of(result: dict) -> float | None:
    return None if result["diverged"] else 1 - result["train_accuracy"]


def run(runner: Runner) -> dict:
    """The nets, MNIST's first; and what `lesion` found in those of 50 layers."""
    nets = kept_nets.finals(runner)
    wanted = []
    for net in nets:
        for blocks in runner.settings["blocks"]:
            wanted.append({**net, "layers": blocks + 1})
    found = [lesions_of(net, runner.needed["lesion"]) for net in nets]
    return {"anew": fully_connected.run(runner, wanted, trial), "lesions": found}


def lesions_of(net: dict, lesion: dict) -> dict:
    """What lesions say of a net of 50 layers.

    Its training error, how many blocks they leave, and its errors with all blocks above the k-th
    closed.

    Raises InputError where the results of `lesion` have no such net."""
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


# ---- What they say -----------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each data set and depth."""
    result = []
    for data, trials in kept_nets.by_data_set(record["trials"]["anew"]).items():
        for blocks in record["settings"]["blocks"]:
            of_depth = [trial for trial in trials if trial["layers"] == blocks + 1]
            row = {"data": data, "blocks": blocks}
            for name in MEASURED:
                row[name] = mean_sd_n([trial[name] for trial in of_depth])
            result.append(row)
    return result


def measure_depths(record: dict) -> dict:
    """{data: the blocks that lesions leave, the errors by number of blocks, those of 50 layers}."""
    measured = {}
    for data in PAPERS_SETS:
        lesions = record["trials"]["lesions"]
        errors = {}
        for blocks in record["settings"]["blocks"]:
            errors[blocks] = of(record["trials"]["anew"], "training_error", data=data, layers=blocks + 1)
        measured[data] = {
            "lesions": mean(of(lesions, "blocks_left", data=data)),
            "errors": errors,
            "of_50_layers": of(lesions, "training_error", data=data),
        }
    return measured


def agree(measured: dict) -> list[bool | None]:
    """Whether each depth's error is as the lesions say; depths near to what they leave are left out.

    None where Holm's correction leaves it open.  A net that diverged leaves its depth open."""
    needed = []  # whether the lesions say that the error must be higher
    higher = []
    for of_set in measured.values():
        for blocks, errors in of_set["errors"].items():
            if abs(blocks - of_set["lesions"]) <= NEAR:
                continue
            needed.append(blocks < of_set["lesions"])
            higher.append(is_above(errors, POINT, less=of_set["of_50_layers"]))
    verdicts = []
    for must_be_higher, is_higher in zip(needed, corrected(*higher), strict=True):
        verdicts.append(None if is_higher is None else is_higher == must_be_higher)
    return verdicts


def depths_as_text(measured: dict) -> str:
    texts = []
    for data, of_set in measured.items():
        errors = [f"{blocks} blocks {mean(errors):.2g}" for blocks, errors in of_set["errors"].items()]
        errors.append(f"49 blocks {mean(of_set['of_50_layers']):.2g}")
        left = f"lesions leave {of_set['lesions']:.0f} blocks"
        texts.append(f"{data}: {left}; training error of {', '.join(errors)}")
    return "; ".join(texts)


CLAIMS = (
    Claim(
        id="lesions-tell-the-depth-needed",
        source="paper, 5",
        says="lesions tell how much depth a problem needs: trained anew with fewer blocks a net has a training error "
        "higher by over a point, with as many it has not",
        about={"data": PAPERS_SETS},
        measure=measure_depths,
        show=depths_as_text,
        holds=agree,
        note="a point is our bound; the settings are those of 50 layers",
    ),
)

QUESTION = Question(
    name="depth_needed",
    source="Training Very Deep Networks, section 5",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
    needs=("fifty_layers", "lesion"),
    takes_sets_beside=True,
    awaits=True,
)
