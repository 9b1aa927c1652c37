"""Table 1: MNIST test accuracy of convolutional highway nets of ten layers, beside plain and residual ones.

    python -m experiments.table1            -> results/table1.json

The authors trained for 300 epochs of a rate in three steps, from He's normal start, without moving the images: here
the protocol "paper".  The default budget trains one net of each width so; --full trains every block of both widths,
five seeds each.

"short" is ours: few epochs, less dropout, the rate up and down again, a uniform start.  (In both the last layer starts
normal.)  Of six such recipes it is the best on the last 5 000 training images (16 maps, one seed); the first of them
comes from pilot runs that were compared on test images.  In this way a net with batch normalisation of H is trained,
too, and a plain and a residual one.

An accuracy is that of the last epoch.  A trial that is stopped goes on from its last epoch, from a checkpoint beside
the results, if its code is the same.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
from conv.nets import find_net
from experiments import conv_training, training
from experiments.conv_training import expected, in_epochs, judged_by_prediction, percents, seconds_per_epoch
from experiments.ledger import PUBLISHED, Claim, above, compared, mean_sd_n, print_results, shown
from experiments.trials import Experiment, run_and_exit
from training import protocols

PILOT = protocols.Protocol(12, (0.0, 0.1, 0.2, 0.3), 1, 0.05, "warm cosine", 5e-4, 5e-4, "uniform")
RECIPES = {
    "pilot": PILOT,
    "more dropout": PILOT._replace(dropout=(0.2, 0.3, 0.4, 0.5)),
    "images not moved": PILOT._replace(shift=0),
    "twice the rate": PILOT._replace(lr=0.1),
    "twice the rate and images not moved": PILOT._replace(lr=0.1, shift=0),
    "four times the rate": PILOT._replace(lr=0.2),
}
# epochs of the recipes; of each kind of run (width, block, protocol): epochs and seeds
BUDGETS = {
    "quick": {
        "recipe_epochs": 1,
        "runs": [[4, "highway", "short", 2, 2], [4, "highway-bn", "short", 1, 1], [4, "plain", "short", 1, 1]],
    },
    "default": {
        "recipe_epochs": 5,
        "runs": [
            [32, "highway", "paper", 300, 1], [16, "highway", "paper", 300, 1],
            [32, "highway", "short", 12, 3], [16, "highway", "short", 12, 5], [16, "highway-bn", "short", 12, 3],
            [16, "plain", "short", 12, 1], [16, "residual", "short", 12, 1],
        ],
    },
    "full": {
        "recipe_epochs": 12,
        "runs": [
            [width, block, protocol, protocols.PROTOCOLS["mnist"][protocol].epochs, 5]
            for protocol in ("paper", "short") for width in (32, 16)
            for block in ("highway", "highway-bn", "plain", "residual")
        ],
    },
}  # fmt: skip
IMAGES = {"quick": {"n_train": 300, "n_test": 100}}
CLOSE = 0.0005  # of accuracy: what batch normalisation may lose and still count as no worse


def setting(width, block, protocol, epochs, seed, recipe, of_images, validation=False) -> dict:
    """A trial, by the maps of its layers."""
    own = {"block": block, "protocol": protocol, "epochs": epochs, "seed": seed, "validation": validation}
    settings = protocols.ConvSettings(net=f"mnist-{width}", **own, **of_images)
    return {"width": width} | conv_training.setting(settings, recipe)


def trial(t: dict, folder: str) -> dict:
    return without_pictures(t, conv_training.train(t, training.data_set(), folder, "table1"))


def without_pictures(t: dict, result: dict) -> dict:
    """The result of a trial less what pictures alone need, where they do not look into its net."""
    same = [t[name] for name in ("block", "protocol", "seed", "validation")]
    if same != ["highway", "short", 0, False]:
        for name in ("filters", "final_T_per_position", "wrong"):
            result.pop(name, None)
    return result


def added(record: dict, run: dict) -> tuple[str, dict]:
    """The group and the trial of a run that conv_highway_networks.py finished, for experiments.add; ValueError where it
    is none of this table's."""
    if record["data_set"] != "MNIST" or not run["net"].startswith("mnist-"):
        raise ValueError("Table 1 is about nets mnist-N on MNIST")
    if (run["n_train"], run["n_test"], run["validation"]) != (60000, 10000, False):
        raise ValueError("Table 1 is about all images of MNIST")
    if "stopped_after" in run or "parent" in run:
        raise ValueError("Table 1 is about whole runs")
    t = conv_training.finished_trial(record, run)
    t = {"width": int(run["net"].removeprefix("mnist-"))} | {name: t[name] for name in t if name != "width"}
    return "final", without_pictures(t, t)


def main(argv=None) -> None:
    e = Experiment("table1", __doc__, BUDGETS, argv, full="the paper's budget: 300 epochs, five seeds")
    s, of_trial = e.settings, functools.partial(trial, folder=str(e.folder))
    run = functools.partial(conv_training.run, e, of_trial, data_of=training.data_of)
    images, width = IMAGES.get(e.budget, {}), min(width for width, *_ in s["runs"])
    held_out = {"n_train": 60000 - protocols.HELD_OUT, "n_test": protocols.HELD_OUT} | images
    compared = [
        setting(width, "highway", "short", s["recipe_epochs"], 0, recipe, held_out, validation=True)
        for recipe in RECIPES.values()
    ]
    trials = {"recipes": run(compared)}
    recipe = {"short": RECIPES[best(trials["recipes"])], "paper": protocols.PROTOCOLS["mnist"]["paper"]}
    images = {"n_train": 60000, "n_test": 10000} | images
    final = [
        setting(width, block, protocol, epochs, seed, recipe[protocol], images)
        for width, block, protocol, epochs, seeds in s["runs"]
        for seed in range(seeds)
    ]
    trials["final"] = run(final)
    record = e.save("Training Very Deep Networks, Table 1", summarise(trials), trials)
    print_results(CLAIMS, record)


def best(compared: list[dict]) -> str:
    """The recipe of the highest validation accuracy; of equal ones the first."""
    accuracies = [run["final_test_acc"] or 0 for run in compared]
    return list(RECIPES)[accuracies.index(max(accuracies))]


def name_of(run: dict) -> str:
    block = "" if run["block"] == "highway" else f"_{run['block'].replace('-', '_')}"
    return f"width_{run['width']}{block}"


def summarise(trials: dict) -> dict:
    summary = {f"parameters_{name_of(run)}": run["n_parameters"] for run in trials["final"]}
    for name in dict.fromkeys(f"{name_of(run)}_{run['protocol']}" for run in trials["final"]):
        same = [run for run in trials["final"] if f"{name_of(run)}_{run['protocol']}" == name]
        summary[f"test_accuracy_{name}"] = mean_sd_n([run["final_test_acc"] for run in same])
        summary[f"epochs_{name}"] = same[0]["epochs"]
        summary[f"epochs_to_99_{name}"] = mean_sd_n([epochs_to_99(run) for run in same])
        summary[f"seconds_per_epoch_{name}"] = seconds_per_epoch(same)
    for name, run in zip(RECIPES, trials["recipes"], strict=True):
        summary[f"validation_accuracy_{name.replace(' ', '_')}"] = run["final_test_acc"]
    return summary | {"recipe": best(trials["recipes"])}


def epochs_to_99(run: dict) -> int | None:
    """The first epoch after which 99 % of the test images are told right."""
    return next((i for i, accuracy in enumerate(run["history"]["test_acc"], 1) if accuracy >= 0.99), None)


def runs_of(r: dict, width: int, protocol: str, block: str = "highway") -> list[dict]:
    wanted = width, protocol, block
    return [t for t in r["trials"]["final"] if (t["width"], t["protocol"], t["block"]) == wanted]


def as_published(published: dict, paper: list[dict]) -> list[dict]:
    """The runs of the paper's protocol that are as long as the paper's."""
    return [t for t in paper if t["epochs"] == published["epochs"]]


def reaches(published: dict, paper: list[dict], short: list[dict]) -> str:
    """The paper's number is reproduced by the paper's training alone."""
    whole = as_published(published, paper)
    if whole:
        return judged_by_prediction(published, whole)
    return f"not tested in {published['epochs']} epochs; {in_epochs(short)} of another recipe"


def numbers(published: dict, paper: list[dict], short: list[dict]) -> str:
    """Ours beside the paper's number: of the paper's protocol with what is expected of it, and of the short one."""
    parts = []
    whole = as_published(published, paper)
    if whole:
        parts.append(f"{in_epochs(whole)} ({expected(published, whole)})")
    parts.append(f"short protocol: {in_epochs(short)}")
    return "; ".join(parts)


def table_1(width: int) -> Claim:
    published = PUBLISHED["table_1"][str(width)]
    mean = 100 * published["mean"]
    sd = 100 * published["sd"]
    return Claim(
        "paper, Table 1",
        f"{width} maps reach {mean:.2f} ± {sd:.2f} % (in {published['epochs']} epochs)",
        values=lambda r: [runs_of(r, width, protocol) for protocol in ("paper", "short")],
        ours=functools.partial(numbers, published),
        holds=functools.partial(reaches, published),
        note="rule chosen after the first run",
    )


def accuracy_and_speed(runs: list[dict]) -> str:
    epochs = [epochs_to_99(run) for run in runs]
    return f"{runs[0]['block']} {shown(percents(runs), digits=4)}, 99 % after {shown(epochs, digits=2)} epochs"


def as_accurate(normalised: list[dict], highway: list[dict]) -> list[bool | None]:
    return [compared(above, percents(normalised), percents(highway), -100 * CLOSE)]


CLAIMS = [
    Claim(
        "paper, Table 1",
        "39 K and 151 K parameters for 16 and 32 maps",
        values=lambda r: [r["summary"][f"parameters_width_{width}"] for width in (16, 32)],
        ours=lambda *sizes: ", ".join(f"{n:,}".replace(",", " ") for n in sizes),
        holds=lambda *sizes: [
            abs(n / find_net(f"mnist-{width}").parameters - 1) < 0.01 for width, n in zip((16, 32), sizes, strict=True)
        ],
    ),
    table_1(16),
    table_1(32),
    Claim(
        "paper, Table 1",
        "far fewer parameters than maxout (420 K) and DSN (350 K): less than half of either",
        values=lambda r: [r["summary"][f"parameters_width_{width}"] for width in (16, 32)],
        ours=lambda *sizes: ", ".join(f"{n:,}".replace(",", " ") for n in sizes),
        holds=lambda *sizes: [max(sizes) < min(PUBLISHED["table_1"]["parameters_of_others"].values()) / 2],
        note="what 'far fewer' means was chosen after counting",
    ),
    Claim(
        "encyclopedia article",
        "a convolutional variant with batch normalisation of H (as accurate as without, within 0.05)",
        values=lambda r: [runs_of(r, 16, "short", block) for block in ("highway-bn", "highway")],
        ours=lambda *both: "; ".join(map(accuracy_and_speed, both)),
        holds=as_accurate,
    ),
]


if __name__ == "__main__":
    run_and_exit("table1")
