"""Table 1: MNIST test accuracy of convolutional highway nets of ten layers, beside plain and residual ones.

    python -m experiments table1            -> experiments/results/table1.json

The protocol "paper" is the authors': 300 epochs, a rate in three steps, He's normal start, images
that are not moved.  One highway net of each width is trained by it here.

The protocol "short" is ours: few epochs, less dropout, a rate that rises and then falls, a
uniform start.  (In both protocols the last layer starts normal.)  It is the best of six such
recipes on the last 5 000 training images (16 maps, one seed).  A net with batch normalisation of H, a
plain and a residual net are trained by it, too.

The accuracy of a run is that of its last epoch.  If its code is the same, a finished trial is taken
from the log, and one that was stopped goes on from its checkpoint beside the results.
"""

from __future__ import annotations

from experiments.published import PUBLISHED
from experiments.shared_trials import conv_runs, fully_connected
from experiments.table1.table1_controls_trial import NO_BLOCKS
from experiments.table1.table1_trial import is_pictured, setting, trial
from highways.conv import protocols
from highways.conv.nets import find_net
from highways.conv.trials import without_pictures
from highways.lab.judging.accuracies import Accuracies, is_at_least, reaches, side_by_side
from highways.lab.judging.claim import Sample, claim, values_of
from highways.lab.judging.controls import Control, with_group
from highways.lab.judging.rules import compared, corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n, spaced

PILOT = {**protocols.SHORT_ON_MNIST, "lr": 0.05}  # "short" came of it, and has twice its rate
RECIPES = {
    "pilot": PILOT,
    "more dropout": {**PILOT, "dropout": (0.2, 0.3, 0.4, 0.5)},
    "images not moved": {**PILOT, "shift": 0},
    "twice the rate": {**PILOT, "lr": 0.1},
    "twice the rate and images not moved": {**PILOT, "lr": 0.1, "shift": 0},
    "four times the rate": {**PILOT, "lr": 0.2},
}
# recipe_epochs: the epochs of a recipe; runs: maps, block, protocol, epochs, seeds
BUDGETS = {
    "quick": {
        "recipe_epochs": 1,
        "runs": [
            [4, "highway", "short", 2, 2],
            [4, "highway-bn", "short", 1, 1],
            [4, "plain", "short", 1, 1],
        ],
    },
    "default": {
        "recipe_epochs": 5,
        "runs": [
            [32, "highway", "paper", 300, 1],
            [16, "highway", "paper", 300, 1],
            [32, "highway", "short", 12, 3],
            [16, "highway", "short", 12, 5],
            [16, "highway-bn", "short", 12, 3],
            [16, "plain", "short", 12, 1],
            [16, "residual", "short", 12, 1],
        ],
    },
}
WIDTHS = (32, 16)
BLOCKS = ("highway", "highway-bn", "plain", "residual")
ALL_IMAGES = {"n_train": 60000, "n_test": 10000}
HELD_OUT = {"n_train": 60000 - protocols.HELD_OUT, "n_test": protocols.HELD_OUT}
FEW_IMAGES = {"n_train": 300, "n_test": 100}  # for a smoke test
CLOSE = 0.05  # batch normalisation is no worse if it loses at most this many percentage points
COMPETITIVE = 0.001  # a competitive net loses at most this much accuracy to the best of the others

# ---- Training -----------------------------------------------------------------------------------


def best(compared_runs: list[dict]) -> str:
    """The recipe with the highest validation accuracy, the first among equals."""
    tried = zip(RECIPES, compared_runs, strict=True)
    name, _ = max(tried, key=lambda pair: pair[1]["test_accuracy"] or 0)
    return name


def run(runner: Runner) -> dict:
    settings = runner.settings
    is_smoke_test = runner.budget == "quick"
    held_out = FEW_IMAGES if is_smoke_test else HELD_OUT
    images = FEW_IMAGES if is_smoke_test else ALL_IMAGES

    def train(settings_of_trials: list[dict]) -> list[dict]:
        return runner.run(trial, settings_of_trials, fully_connected.data_of)

    narrowest = min(width for width, *_ in settings["runs"])
    epochs = settings["recipe_epochs"]
    compared_runs = train([
        setting(narrowest, "highway", "short", epochs, 0, recipe, held_out, validation=True)
        for recipe in RECIPES.values()
    ])  # fmt: skip

    recipes = {
        "short": RECIPES[best(compared_runs)],
        "paper": protocols.PROTOCOLS["mnist"]["paper"],
    }
    final = train([
        setting(width, block, protocol, epochs, seed, recipes[protocol], images)
        for width, block, protocol, epochs, seeds in settings["runs"]
        for seed in range(seeds)
    ])  # fmt: skip
    return {"recipes": compared_runs, "final": final}


def accept(record: dict, run: dict) -> tuple[str, dict]:
    """The group and the trial of a run that conv_highway_networks.py finished.

    Raises ValueError for a run that Table 1 is not about."""
    if record["data_set"] != "MNIST":
        raise ValueError("Table 1 is about nets on MNIST")
    if not {**ALL_IMAGES, "validation": False}.items() <= run.items():
        raise ValueError("Table 1 is about all images of MNIST")
    if "stopped_after" in run:
        raise ValueError("Table 1 is about whole runs")
    kind = (run["net"], run["block"], run["protocol"], run["epochs"])
    if kind not in kinds_of_runs():
        raise ValueError("Table 1 has no runs of {}, {}, {}, {} epochs".format(*kind))
    finished = conv_runs.finished_trial(run)
    finished.pop("width", None)  # the net's name decides, whatever the run says
    width = int(run["net"].removeprefix("mnist-"))
    accepted = {"width": width, **finished}
    return "final", accepted if is_pictured(accepted) else without_pictures(accepted)


def kinds_of_runs() -> set[tuple]:
    """The net, block, protocol and epochs of every run that Table 1 takes."""
    return {
        (f"mnist-{width}", block, name, protocol["epochs"])
        for width in WIDTHS
        for block in BLOCKS
        for name, protocol in protocols.PROTOCOLS["mnist"].items()
    }


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for every kind of run, one for every recipe, and one that names the chosen recipe."""
    result = []
    for runs in conv_runs.by_kind(record["trials"]["final"]):
        row = {"width": runs[0]["width"], **conv_runs.row_of(runs)}
        row["epochs_to_99"] = mean_sd_n([epochs_to_99(run) for run in runs])
        result.append(row)
    recipes = record["trials"]["recipes"]
    for name, recipe_run in zip(RECIPES, recipes, strict=True):
        result.append({"row": "recipe", "recipe": name, "validation_accuracy": recipe_run["test_accuracy"]})
    result.append({"chosen_recipe": best(recipes)})
    return result


def epochs_to_99(run: dict) -> int | None:
    """The first epoch after which the test accuracy is at least 99 %; None if there is none."""
    accuracies = run["history"]["test_accuracy"]
    return next((epoch for epoch, accuracy in enumerate(accuracies, 1) if accuracy >= 0.99), None)


def runs_of(record: dict, width: int, protocol: str, block: str = "highway") -> list[dict]:
    return with_settings(record["trials"]["final"], width=width, block=block, protocol=protocol)


# ---- Claims -------------------------------------------------------------------------------------

ABOUT = {"data": "mnist", **ALL_IMAGES}
OTHERS = PUBLISHED["table_1"]["others"]
FEWEST_OF_OTHERS = min(PUBLISHED["table_1"]["parameters_of_others"].values())
MAXOUT_PERCENT = f"{100 * OTHERS['maxout']:.2f}"
DSN_PERCENT = f"{100 * OTHERS['DSN']:.2f}"
COMPETITIVE_POINTS = f"{100 * COMPETITIVE:g}"


def accuracies_by_protocol(record: dict, width: int) -> tuple[Accuracies | None, Accuracies]:
    """The accuracies by the paper's protocol, and by ours.

    Of the runs by the paper's protocol only those with the paper's number of epochs count, and those of
    controls, which had fewer."""
    epochs = PUBLISHED["table_1"][str(width)]["epochs"]
    paper_runs = []
    for net in runs_of(record, width, "paper"):
        if net["epochs"] == epochs or "control" in net:
            paper_runs.append(net)
    paper = Accuracies.of(paper_runs) if paper_runs else None
    return paper, Accuracies.of(runs_of(record, width, "short"))


def parameters_of(record: dict, width: int) -> int:
    return values_of(record["trials"]["final"], "n_parameters", width=width, block="highway")[0]


def agrees_with_paper(parameters: int, net: str) -> bool:
    """Whether a net has as many parameters as the paper gives it, within 1 %."""
    return abs(parameters / find_net(net).parameters - 1) < 0.01


@claim("table-1-parameters", kind="count", source="paper, Table 1", about=ABOUT)
def table_1_parameters(r):
    """39 K and 151 K parameters for 16 and 32 maps"""
    narrow = parameters_of(r, 16)
    wide = parameters_of(r, 32)
    parts = [agrees_with_paper(narrow, "mnist-16"), agrees_with_paper(wide, "mnist-32")]
    return parts, f"{spaced(narrow)}, {spaced(wide)}"


def without_blocks(record: dict, of_controls: dict) -> tuple[dict]:
    """Nets without blocks in the place of all highway nets.

    They were trained by the short recipe, and stand in the place of the paper's protocol, too."""
    nets = [net for net in record["trials"]["final"] if net["block"] != "highway"]
    for net in of_controls["trials"]:
        nets += [net, {**net, "protocol": "paper"}]
    return (with_group(record, "final", nets),)


WITHOUT_BLOCKS = (Control(NO_BLOCKS, without_blocks, over=("table1_controls",)),)


def claim_of_accuracy(width: int) -> None:
    """The claim that nets of this width reach the paper's accuracy."""
    published = PUBLISHED["table_1"][str(width)]
    mean = 100 * published["mean"]
    sd = 100 * published["sd"]
    epochs = published["epochs"]

    @claim(
        f"{width}-maps-reach",
        source="paper, Table 1",
        says=f"{width} maps reach {mean:.2f} ± {sd:.2f} % (in {epochs} epochs; our 95 % interval, or our one run, lies "
        "in the 95 % prediction interval of the paper's runs)",
        about=ABOUT,
        seen=True,
        controls=WITHOUT_BLOCKS,
    )
    def maps_reach(r):
        paper, short = accuracies_by_protocol(r, width)
        verdict = reaches(published, epochs, paper, short)
        return verdict, side_by_side(published, paper, short, "short protocol")


claim_of_accuracy(16)
claim_of_accuracy(32)


@claim(
    "competitive-on-mnist",
    source="paper, 3.2",
    about=ABOUT,
    seen=True,
    controls=WITHOUT_BLOCKS,
)
def competitive_on_mnist(r):
    """32 maps are competitive with maxout ({MAXOUT_PERCENT} %) and DSN ({DSN_PERCENT} %): at most
    {COMPETITIVE_POINTS} points below the better, on the same test images"""
    paper, short = accuracies_by_protocol(r, 32)
    least = max(OTHERS.values()) - COMPETITIVE
    epochs = PUBLISHED["table_1"]["32"]["epochs"]
    verdict = is_at_least(least, epochs, paper, short, errors=0)
    text = f"short protocol: {short}"
    return verdict, f"{paper}; {text}" if paper else text


@claim(
    "far-fewer-parameters",
    kind="count",
    source="paper, Table 1",
    about=ABOUT,
    seen=True,
)
def far_fewer_parameters(r):
    """far fewer parameters than maxout (420 K) and DSN (350 K): less than half of either"""
    narrow = parameters_of(r, 16)
    wide = parameters_of(r, 32)
    parts = [max(narrow, wide) < FEWEST_OF_OTHERS / 2]
    return parts, f"{spaced(narrow)}, {spaced(wide)}"


@claim(
    "conv-batch-normalisation",
    kind="open question",
    source="encyclopedia article, open",
    about=ABOUT,
    no_control="it compares highway nets with highway nets",
)
def as_good_with_batch_normalisation(r):
    """with batch normalisation of H a convolutional highway net is as accurate as without (at most
    {CLOSE} points lower)"""
    normalised_runs = runs_of(r, 16, "short", "highway-bn")
    highway_runs = runs_of(r, 16, "short")
    normalised = Sample(Accuracies.of(normalised_runs).percents, "accuracy with batch normalisation")
    highway = Sample(Accuracies.of(highway_runs).percents, "accuracy without it")
    epochs_of_normalised = Sample([epochs_to_99(run) for run in normalised_runs])
    epochs_of_highway = Sample([epochs_to_99(run) for run in highway_runs])
    return corrected(compared(is_above, normalised, highway, -CLOSE)), (
        f"with it {normalised:4}, 99 % after {epochs_of_normalised:2} epochs; "
        f"without {highway:4}, 99 % after {epochs_of_highway:2} epochs"
    )


QUESTION = Question(
    name="table1",
    source="Training Very Deep Networks, Table 1",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    accept=accept,
)
