"""Tables 2 and 3: CIFAR-10 and CIFAR-100 test accuracy of the paper's nets, and of plain nets of the same shape.

    python -m experiments cifar [--data-dir DIR]            -> experiments/results/cifar.json

The authors trained for 400 epochs, the protocol "paper"; "whitened" differs from it only in its images.  Here the
protocol is our "short": few epochs, no dropout, and a rate that rises and then falls.  Its settings are searched on
the last 5 000 training images of CIFAR-10.  `python -m experiments add cifar` adds runs of the authors' protocols that
were trained one by one.  RULES.md says which runs judge what.

The net of Table 3 is called "the 19 layers".  Plain maxout nets have the shape of Highway A and B.  A net of our own
shows what can be reached in an evening, five hours of training on one core.  --quick trains on random images.
"""

from __future__ import annotations

import functools
import math

from experiments.cifar.authors_log import (
    EARLIER_LOG,
    EARLY_POINTS,
    LATE_POINTS,
    beside_the_log,
    compared_epochs,
    epochs_needed,
    less_the_log,
    run_beside_the_log,
)
from experiments.cifar.cifar_trial import (
    EVENING,
    HIGHWAY_A,
    HIGHWAY_B,
    HIGHWAY_C,
    HUNDRED,
    MAXOUT_A,
    MAXOUT_B,
    NINETEEN,
    PLAIN_A,
    PLAIN_B,
    TEN,
    for_pictures,
    setting,
    trial,
)
from experiments.published import PUBLISHED
from experiments.shared_trials import conv_runs
from highways.conv import protocols
from highways.conv.net import KINDS, ConvNet
from highways.conv.nets import FIRST_OF_TABLE_2, find_net
from highways.conv.official_cifar import as_read, made_up, official_images
from highways.lab.judging.accuracies import ERRORS, Accuracies, expected, is_at_least, reaches, side_by_side
from highways.lab.judging.claim import NotMeasured, Sample, claim
from highways.lab.judging.controls import Control, with_group
from highways.lab.judging.rules import above, below, prediction_interval
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n, spaced
from highways.verdict import Verdict

ALL_IMAGES = {"n_train": 50000, "n_test": 10000}
CHANCE = 10.0  # percent; the accuracy of guessing on CIFAR-10
TRAINS = 50  # percent on CIFAR-10: a net trains above
FAILS = 15  # and does not train below

# "runs": net, block, data, protocol, epochs, seeds.  The longest comes first, so that it does not run
# alone at the end.  "search": net, block, epochs of a trial.
BUDGETS = {
    "quick": {
        "runs": [
            [*HIGHWAY_A, TEN, "short", 1, 2],
            [*NINETEEN, HUNDRED, "short", 1, 1],
            [*EVENING, TEN, "short", 1, 1],
            [*PLAIN_A, TEN, "short", 1, 1],
            [*MAXOUT_A, TEN, "short", 1, 1],
            [*HIGHWAY_A, TEN, "paper", 1, 1],
        ],
        "search": [[*PLAIN_A, 1]],
        "first_layer_seeds": 1,
        "n_train": 100,
        "n_test": 50,
    },
    "default": {
        "runs": [
            [*NINETEEN, TEN, "short", 40, 1],
            [*NINETEEN, HUNDRED, "short", 40, 1],
            [*HIGHWAY_C, TEN, "short", 30, 1],
            [*HIGHWAY_B, TEN, "short", 30, 1],
            [*EVENING, TEN, "short", 40, 1],
            [*MAXOUT_B, TEN, "short", 20, 1],
            [*HIGHWAY_A, TEN, "short", 60, 3],
            [*PLAIN_B, TEN, "short", 20, 1],
            [*MAXOUT_A, TEN, "short", 20, 1],
            [*PLAIN_A, TEN, "short", 20, 1],
        ],
        "search": [
            [*HIGHWAY_A, 5],
            [*PLAIN_A, 5],
            [*NINETEEN, 3],
            [*EVENING, 3],
            [*PLAIN_B, 5],
            [*MAXOUT_A, 5],
        ],
        "first_layer_seeds": 5,
        **ALL_IMAGES,
    },
}
SEARCHED = {  # changes of "short"; the first is the starting point, from which the others differ
    HIGHWAY_A: [
        {"lr": 0.1},
        {"lr": 0.05},
        {"lr": 0.1, "gate_bias": -2.0},
        {"lr": 0.1, "dropout": [0.1] * 4},
    ],
    NINETEEN: [{"lr": 0.05}, {"lr": 0.1}],
    PLAIN_A: [{"lr": 0.1}, {"lr": 0.03}, {"lr": 0.01}],
    EVENING: [{"lr": 0.1}, {"lr": 0.05}],
    PLAIN_B: [{"lr": 0.1}, {"lr": 0.03}, {"lr": 0.01}],
    MAXOUT_A: [{"lr": 0.1}, {"lr": 0.03}, {"lr": 0.01}],
}
TAKES_RATE_OF = {  # {net without a search: the searched net whose rate it takes}
    HIGHWAY_B: NINETEEN,
    HIGHWAY_C: NINETEEN,
    MAXOUT_B: MAXOUT_A,
}
# two deviations of the first layer's weights: the released program draws with the first, although
# the file of its 19 layers asks for the second
FIRST_LAYERS = (1.0, FIRST_OF_TABLE_2)

TABLE_2 = PUBLISHED["table_2"]
TABLE_3 = PUBLISHED["table_3"]
PAPERS_EPOCHS = TABLE_3[TEN]["epochs"]  # Table 2's are not published
LIKE_THE_AUTHORS = ("paper", "whitened")  # the protocols with the authors' settings


# ---- Images -------------------------------------------------------------------------------------


def all_images(budget: dict) -> dict:
    return {"n_train": budget["n_train"], "n_test": budget["n_test"], "validation": False}


def held_out(budget: dict) -> dict:
    """Selects the last training images to test on."""
    return {
        "n_train": min(budget["n_train"], 50000 - protocols.HELD_OUT),
        "n_test": min(budget["n_test"], protocols.HELD_OUT),
        "validation": True,
    }


# ---- Training -----------------------------------------------------------------------------------


def first_layer_setting(deviation: float, seed: int, budget: dict) -> dict:
    """Sixty steps of Highway A by the paper's protocol, with the first layer's weights from N(0, deviation)."""
    few = {"n_train": min(budget["n_train"], 6000), "n_test": min(budget["n_test"], 1000)}
    return setting(HIGHWAY_A, TEN, "paper", 1, seed, held_out(few), {"first": deviation})


def best(searched: list[dict], kind, protocol: str) -> dict:
    """The changes that the search chose for this kind of net.

    They are those with the highest validation accuracy, the first among equals.  Returns {} if
    there was no search, and for protocols that keep the authors' settings."""
    if protocol != "short":
        return {}
    net, block = TAKES_RATE_OF.get(kind, kind)
    trials = [trial for trial in searched if (trial["net"], trial["block"]) == (net, block)]
    if not trials:
        return {}
    tried = zip(SEARCHED[net, block], trials, strict=True)  # search_settings() has the same order
    changes, _ = max(tried, key=lambda pair: pair[1]["test_accuracy"] or 0)
    return changes


def search_settings(budget: dict) -> list[dict]:
    result = []
    for net, block, epochs in budget["search"]:
        for changes in SEARCHED[net, block]:
            result.append(setting((net, block), TEN, "short", epochs, 0, held_out(budget), changes))
    return result


def final_settings(budget: dict, searched: list[dict]) -> list[dict]:
    result = []
    for net, block, data, protocol, epochs, seeds in budget["runs"]:
        kind = (net, block)
        changes = best(searched, kind, protocol)
        for seed in range(seeds):
            result.append(setting(kind, data, protocol, epochs, seed, all_images(budget), changes))
    return result


def run(runner: Runner) -> dict:
    budget = runner.settings
    load = functools.partial(official_images, data_dir=runner.data_dir)
    if runner.budget == "quick":
        load = made_up
    for _, _, data, *_ in budget["runs"]:
        runner.data_sets[load(data).name] = load(data).sha256
    run_trial = functools.partial(trial, load=load)
    data_as_read = functools.partial(as_read, load=load)

    def train(settings_of_trials: list[dict]) -> list[dict]:
        return runner.run(run_trial, settings_of_trials, data_as_read)

    searched = train(search_settings(budget))
    final = train(final_settings(budget, searched))
    first_layer = train([
        first_layer_setting(deviation, seed, budget)
        for deviation in FIRST_LAYERS
        for seed in range(budget["first_layer_seeds"])
    ])  # fmt: skip
    return {"search": searched, "final": final, "first_layer": first_layer}


def accept(record: dict, run: dict) -> tuple[str, dict]:
    """The group and the trial of a run that conv_highway_networks.py finished.

    The group is "final", or "partial" for a run that was stopped: rows about whole runs leave these
    out.  A run with the settings of a trial of the search belongs to "search".

    Raises ValueError for a run that Tables 2 and 3 are not about."""
    if record["data_set"] != run["data"].upper() or run["data"] not in (TEN, HUNDRED):
        raise ValueError("Tables 2 and 3 are about the official images of CIFAR-10 and CIFAR-100")
    trial = conv_runs.finished_trial(run)
    is_part = "stopped_after" in run
    if not is_part and is_searched(trial):
        return "search", for_pictures(trial, trial)
    if not all_images(ALL_IMAGES).items() <= trial.items():
        raise ValueError("Tables 2 and 3 are about all of these images")
    return "partial" if is_part else "final", for_pictures(trial, trial)


def is_searched(trial: dict) -> bool:
    """Whether the search of the default budget has a trial with these settings."""
    return any(searched.items() <= trial.items() for searched in search_settings(BUDGETS["default"]))


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """Rows for each kind of whole runs, for the first layer's deviations, for the prediction
    intervals, and for the points of the authors' log."""
    trials = record["trials"]
    result = []
    for runs in conv_runs.by_kind(trials["final"]):
        row = {**conv_runs.row_of(runs), "lr": runs[0]["lr"]}
        if KINDS[row["block"]].gates:
            row["gate_bias"] = runs[0]["gate_bias"]
        result.append(row)
    result += first_layer_rows(trials.get("first_layer", []))
    result += prediction_intervals()
    histories = {}
    for protocol in LIKE_THE_AUTHORS:
        run = run_beside_the_log(trials, protocol)
        if run:
            histories[protocol] = run["history"]
    # the two logs are compared with each other only where one of our runs is, too
    late_points = {epoch for history in histories.values() for epoch in compared_epochs(history, LATE_POINTS)}
    points = (*EARLY_POINTS, *sorted(late_points))
    histories["earlier log"] = EARLIER_LOG
    for training, history in histories.items():
        result += [row_of_log | {"training": training} for row_of_log in beside_the_log(history, points)]
        result.append(less_the_log(history) | {"training": training})
    return result


def first_layer_rows(trials: list[dict]) -> list[dict]:
    """What Highway A does in its first steps, by the deviation of the first layer's weights."""
    result = []
    for deviation in FIRST_LAYERS:
        runs = [trial for trial in trials if trial["first"] == deviation]
        losses = [run["history"]["test_loss"][-1] for run in runs if not run["diverged"]]
        result.append({
            "row": "first layer",
            "deviation": deviation,
            "n_diverged": len(runs) - len(losses),
            "validation_loss": mean_sd_n(losses),
        })  # fmt: skip
    return result


def prediction_intervals() -> list[dict]:
    """For each published mean with a deviation: the interval of one new run, and of the mean."""
    result = []
    for net, data, published in (
        ("highway-b", TEN, TABLE_2["highway-b"]),
        ("nineteen-layers", TEN, TABLE_3[TEN]),
        ("nineteen-layers", HUNDRED, TABLE_3[HUNDRED]),
    ):
        low, high = prediction_interval(published, 1)
        low_of_mean, high_of_mean = prediction_interval(published, math.inf)
        result.append({
            "row": "prediction interval",
            "net": net,
            "data": data,
            "low": low,
            "high": high,
            "low_of_mean": low_of_mean,
            "high_of_mean": high_of_mean,
        })  # fmt: skip
    return result


# ---- Claims on accuracies -----------------------------------------------------------------------

# Allows both data sets; each claim selects its own, and raises NotMeasured if no net is trained on
# it yet.
ABOUT = {"data": (TEN, HUNDRED), **ALL_IMAGES}
FITNETS = TABLE_2["others"]
ALL_CNN = TABLE_3["others"]["all-cnn"]
MAXOUT = TABLE_3["others"]["maxout"]
SIMILAR = 0.01  # of accuracy: "similar" and "match" allow for so much less


def runs_of(record: dict, net: str, block: str, data: str, protocol: str) -> list[dict]:
    """Whole runs of one kind; with the authors' settings only runs with as many epochs as the paper's."""
    runs = with_settings(record["trials"]["final"], net=net, block=block, data=data, protocol=protocol)
    if protocol in LIKE_THE_AUTHORS:
        runs = [run for run in runs if run["epochs"] == PAPERS_EPOCHS]
    return runs


def not_trained(net: str, block: str, data: str) -> NotMeasured:
    return NotMeasured(f"{net}, {block}, is not trained on {data.upper()} yet")


def accuracies_by_protocol(record: dict, net: str, data: str) -> tuple[Accuracies | None, Accuracies | None]:
    """The accuracies of a highway net by the paper's protocol, and by ours.

    Raises NotMeasured if there are neither."""
    paper = runs_of(record, net, "highway", data, "paper")
    short = runs_of(record, net, "highway", data, "short")
    if not paper and not short:
        raise not_trained(net, "highway", data)
    return Accuracies.of(paper) if paper else None, Accuracies.of(short) if short else None


def has_guessed_settings(net: str) -> bool:
    """Whether some settings of our runs by the paper's protocol are guesses, as the first layer's start is."""
    return find_net(net).first is not None


def by_settings(net: str, verdict: Verdict) -> Verdict:
    """The verdict on a net's accuracy.  With guessed settings a miss is one with these settings."""
    if has_guessed_settings(net) and verdict.word == "not reproduced":
        return Verdict(verdict.word, (" with these settings", *verdict.additions))
    return verdict


def claim_of_accuracy(id: str, source: str, who: str, published: dict, net: str, data: str = TEN) -> None:
    """The claim that a net reaches the paper's accuracy."""
    sd = ""
    margin = f"the paper's number lies within {ERRORS} standard errors of our accuracy"
    if published["sd"]:
        sd = f" ± {100 * published['sd']:.2f}"
        margin = "our 95 % interval, or our one run, lies in the 95 % prediction interval of the paper's runs"
    mean = 100 * published["mean"]

    @claim(
        id,
        source=source,
        says=f"{who} reaches {mean:.2f}{sd} % (in {PAPERS_EPOCHS} epochs; {margin})",
        about=ABOUT,
        seen=has_guessed_settings(net),
    )
    def net_reaches(r):
        paper, short = accuracies_by_protocol(r, net, data)
        verdict = by_settings(net, reaches(published, PAPERS_EPOCHS, paper, short))
        return verdict, side_by_side(published, paper, short, "another recipe")


def claim_of_bound(id: str, source: str, who: str, bound: float, net: str, data: str = TEN, similar=False) -> None:
    """The claim that a net is more accurate than the bound.

    With similar=True the claim is that it is at most SIMILAR less accurate."""
    least = bound
    margin = ""
    if similar:
        least = bound - SIMILAR
        margin = f"; at most {100 * SIMILAR:g} point below"

    @claim(
        id,
        source=source,
        says=f"{who} ({100 * bound:.2f} %{margin})",
        about=ABOUT,
        seen=similar or has_guessed_settings(net),
    )
    def is_at_least_as_accurate(r):
        paper, short = accuracies_by_protocol(r, net, data)
        verdict = by_settings(net, is_at_least(least, PAPERS_EPOCHS, paper, short))
        return verdict, side_by_side({}, paper, short, "another recipe")


claim_of_accuracy("highway-a-reaches", "paper, Table 2", "Highway A of 11 layers", TABLE_2["highway-a"], "highway-a")
claim_of_accuracy("highway-b-reaches", "paper, Table 2", "Highway B of 19 layers", TABLE_2["highway-b"], "highway-b")
claim_of_accuracy("highway-c-reaches", "paper, Table 2", "Highway C of 32 layers", TABLE_2["highway-c"], "highway-c")
claim_of_accuracy(
    "19-layers-reach-on-cifar-10",
    "paper, Table 3",
    "CIFAR-10: the net of 19 layers",
    TABLE_3[TEN],
    "nineteen-layers",
)
claim_of_accuracy(
    "19-layers-reach-on-cifar-100",
    "paper, Table 3",
    "CIFAR-100: the net of 19 layers",
    TABLE_3[HUNDRED],
    "nineteen-layers",
    data=HUNDRED,
)
claim_of_bound(
    "as-good-as-fitnet-a",
    "paper, Table 2",
    "Highway A is similar to Fitnet A in accuracy or better",
    FITNETS["fitnet-a"],
    "highway-a",
    similar=True,
)
claim_of_bound(
    "as-good-as-fitnet-b",
    "paper, Table 2",
    "Highway B is similar to Fitnet B in accuracy or better",
    FITNETS["fitnet-b"],
    "highway-b",
    similar=True,
)
claim_of_bound(
    "better-than-teacher",
    "paper, Table 2",
    "Highway C is more accurate than Fitnets' teacher",
    FITNETS["teacher"],
    "highway-c",
)
claim_of_bound(
    "better-than-all-cnn",
    "paper, Table 3",
    "on CIFAR-100 the 19 layers are more accurate than All-CNN",
    ALL_CNN[HUNDRED],
    "nineteen-layers",
    data=HUNDRED,
)
claim_of_bound(
    "matches-maxout-on-cifar-10",
    "paper, 5",
    "CIFAR-10: the deep and narrow 19 layers match or exceed wide and shallow Maxout",
    MAXOUT[TEN],
    "nineteen-layers",
    similar=True,
)
claim_of_bound(
    "matches-maxout-on-cifar-100",
    "paper, 5",
    "CIFAR-100: the deep and narrow 19 layers match or exceed wide and shallow Maxout",
    MAXOUT[HUNDRED],
    "nineteen-layers",
    data=HUNDRED,
    similar=True,
)


LATER = PUBLISHED["first_author_2025"]
HIGHWAY_110 = f"{100 * LATER['highway']:.2f}"
RESIDUAL_110 = f"{100 * LATER['residual']:.2f}"


@claim("highway-as-good-as-residual-at-110-layers", source="first author, 2025")
def highway_as_good_as_residual_at_110_layers(r):
    """on CIFAR-10 a highway net of 110 layers with batch normalisation is as accurate as a residual one
    ({HIGHWAY_110} and {RESIDUAL_110} %, one run each)"""
    raise NotMeasured(
        "highway and residual nets with batch normalisation and as many parameters are not trained on CIFAR-10 yet"
    )


# ---- Claims on a run of 400 epochs on whitened images --------------------------------------------

NOT_NAMED = "on whitened images, which the paper does not name"
ERRORS_OF_ONE_RUN = 2  # the binomial standard errors that a difference from Maxout must have
MAXOUT_PERCENT = f"{100 * MAXOUT[TEN]:.2f}"
PAPERS_PERCENT = f"{100 * TABLE_3[TEN]['mean']:.2f} ± {100 * TABLE_3[TEN]['sd']:.2f}"


def whitened_accuracies(record: dict) -> Accuracies:
    """The accuracies of the 19 layers on whitened images of CIFAR-10, after as many epochs as the paper's.

    Raises NotMeasured if there are none."""
    runs = runs_of(record, *NINETEEN, TEN, "whitened")
    if not runs:
        raise NotMeasured(f"the 19 layers are not trained for {PAPERS_EPOCHS} epochs on whitened images yet")
    return Accuracies.of(runs)


NO_OTHER_SO_LONG = "no net of other blocks is trained on whitened images for as many epochs"


@claim(
    "19-layers-reach-on-whitened-images",
    source="paper, Table 3",
    about=ABOUT,
    seen=True,
    no_control=NO_OTHER_SO_LONG,
)
def reaches_on_whitened_images(r):
    """CIFAR-10, whitened images: the net of 19 layers reaches {PAPERS_PERCENT} % (in {PAPERS_EPOCHS} epochs; our
    accuracy lies in the 95 % prediction interval of the paper's runs, for one run 91.95 to 92.67)"""
    whitened = whitened_accuracies(r)
    verdict = reaches(TABLE_3[TEN], PAPERS_EPOCHS, whitened, None)
    return verdict.plus(f", {NOT_NAMED}"), side_by_side(TABLE_3[TEN], whitened, None, "")


@claim(
    "exceeds-maxout-on-whitened-images",
    source="paper, 5",
    about=ABOUT,
    seen=True,
    no_control=NO_OTHER_SO_LONG,
)
def exceeds_maxout_on_whitened_images(r):
    """CIFAR-10, whitened images: the deep and narrow 19 layers reach at least what wide and shallow Maxout does,
    {MAXOUT_PERCENT} % (by more than {ERRORS_OF_ONE_RUN} binomial standard errors of our accuracy)"""
    whitened = whitened_accuracies(r)
    verdict = is_at_least(MAXOUT[TEN], PAPERS_EPOCHS, whitened, None, errors=ERRORS_OF_ONE_RUN)
    return verdict.plus(f", {NOT_NAMED}"), f"{whitened} ({expected({}, whitened, errors=ERRORS_OF_ONE_RUN)})"


# ---- Claims on the authors' log, at equal epochs -------------------------------------------------


ALIKE_IF = (
    "0 lies in the interval of the difference, and the interval within 3.1 points of accuracy or 0.1 of loss, as "
    "it does for the log and itself"
)


def claim_of_log(id: str, images: str, protocol: str) -> None:
    """The question whether our 19 layers, trained as the authors did on such images, follow their log."""

    @claim(
        id,
        kind="open question",
        source="the authors' log, open",
        says=f"CIFAR-10: do the 19 layers on {images} follow the authors' log? (after 10, 25, 50 and 100 epochs: "
        f"{ALIKE_IF})",
        about=ABOUT,
        seen=True,
        one_run=True,
    )
    def follows_the_log(r):
        return verdict_beside_the_log(r, protocol, EARLY_POINTS)


def verdict_beside_the_log(record: dict, protocol: str, points: tuple[int, ...]) -> tuple[list[bool | None], str]:
    """For each of these epochs: whether our accuracy, and our loss, is that of the log; and the
    differences as text.

    Raises NotMeasured if none of the epochs is reached."""
    run = run_beside_the_log(record["trials"], protocol)
    reached = compared_epochs(run["history"], points) if run else []
    if not reached:
        needed = f"for {epochs_needed(points[0])} epochs"
        raise NotMeasured(f"the 19 layers are not trained by the protocol {protocol!r} {needed} yet")
    compared = beside_the_log(run["history"], points)
    not_reached = [epoch for epoch in points if epoch not in reached]
    parts = [row["alike"] for row in compared]
    parts += [None, None] * len(not_reached)  # accuracy and loss
    return parts, differences_as_text(compared, not_reached)


def differences_as_text(compared: list[dict], not_reached: list[int]) -> str:
    """Here less the authors' log, in percentage points of accuracy and in loss, at every compared epoch."""
    accuracies = [row for row in compared if row["name"] == "test_accuracy"]
    losses = [row for row in compared if row["name"] == "test_loss"]
    epochs = ", ".join(str(row["epoch"]) for row in accuracies)
    points = ", ".join(f"{100 * row['difference']:+.2f}" for row in accuracies)
    of_loss = ", ".join(f"{row['difference']:+.3f}" for row in losses)
    text = f"here less the authors' log at epochs {epochs}: {points} points; loss {of_loss}"
    if not_reached:
        text += f"; epochs not reached: {', '.join(map(str, not_reached))}"
    return text


claim_of_log("authors-log-of-19-layers", images="images of normalised contrast", protocol="paper")
claim_of_log("authors-log-on-whitened-images", images="whitened images", protocol="whitened")


@claim(
    "authors-log-to-the-end",
    kind="open question",
    source="the authors' log, open",
    about=ABOUT,
    seen=True,
    one_run=True,
)
def follows_the_log_to_the_end(r):
    """CIFAR-10: do the 19 layers on whitened images follow the authors' log to the end? (after 150, 200, 250,
    300 and 400 epochs: {ALIKE_IF})"""
    return verdict_beside_the_log(r, "whitened", LATE_POINTS)


# ---- Claims on what trains, and on parameters ----------------------------------------------------


def plain_for_highway(record: dict) -> tuple[dict]:
    """Plain nets in the place of highway nets of their shape."""
    runs = [run for run in record["trials"]["final"] if run["block"] != "highway"]
    runs += [{**run, "block": "highway"} for run in runs if run["block"] == "plain"]
    return (with_group(record, "final", runs),)


PLAIN_OF_RECTIFIERS = Control("a plain net of rectifiers", plain_for_highway)


@claim("19-layers-parameters", kind="count", source="paper, Table 2")
def parameters_of_19_layers(r):
    """2.3 M parameters for the 19 layers on CIFAR-10 (Highway B; counted in the released net of Table 3)"""
    published = find_net("nineteen-layers")
    parameters = ConvNet.sizes_of(published.shape, published.layers)["parameters"]
    return [abs(parameters / published.parameters - 1) < 0.025], spaced(parameters)


def short_runs(record: dict, net: str, block: str) -> list[dict]:
    """The runs on CIFAR-10 by our protocol; raises NotMeasured if there are none."""
    runs = runs_of(record, net, block, TEN, "short")
    if not runs:
        raise not_trained(net, block, TEN)
    return runs


def percents_at_the_end(accuracies: Accuracies) -> Sample:
    """The accuracies on CIFAR-10 in percent, where a run that diverged counts as chance."""
    percents = [CHANCE if percent is None else percent for percent in accuracies.percents]
    return Sample(percents, "test accuracy in percent")


def trains(accuracies: Accuracies) -> Verdict:
    percents = percents_at_the_end(accuracies)
    holds = percents[0] > TRAINS if len(percents) == 1 else above(percents, TRAINS)
    return accuracies.verdict(holds)


def does_not_train(accuracies: Accuracies) -> Verdict:
    percents = percents_at_the_end(accuracies)
    holds = percents[0] < FAILS if len(percents) == 1 else below(percents, FAILS)
    return accuracies.verdict(holds)


def claim_of_highway(
    layers: int,
    net: str,
    controls: tuple[Control, ...] = (),
    no_control: str = "",
) -> None:
    """The claim that a convolutional highway net trains."""

    @claim(
        f"conv-{layers}-layers-train",
        source="paper, 2.2 and 3.3",
        says=f"a convolutional highway net of {layers} layers trains in a single stage, at the gate bias "
        f"{find_net(net).gate_bias:g} that section 2.2 suggests (CIFAR-10: above {TRAINS} %)",
        about=ABOUT,
        seen=True,
        controls=controls,
        no_control=no_control,
    )
    def highway_net_trains(r):
        accuracies = Accuracies.of(short_runs(r, net, "highway"))
        return trains(accuracies), str(accuracies)


def claim_of_maxout(layers: int, net: str) -> None:
    """The claim that a plain maxout net does not train."""

    @claim(
        f"conv-{layers}-plain-maxout",
        source="paper, 3.3",
        says=f"a plain maxout net of {layers} layers does not train (CIFAR-10: below {FAILS} %)",
        about=ABOUT,
    )
    def maxout_net_does_not_train(r):
        runs = short_runs(r, net, "plain-maxout")
        accuracies = Accuracies.of(runs)
        parameters = spaced(runs[0]["n_parameters"])
        return does_not_train(accuracies), f"{accuracies}, with {parameters} parameters"


def claim_of_plain(layers: int, net: str) -> None:
    """The question whether a plain net of rectifiers trains, too."""

    @claim(
        f"conv-{layers}-plain-rectifiers",
        kind="open question",
        source="paper, 3.3, open",
        says=f"a plain net of {layers} layers of rectifiers, of the highway net's shape, trains, too (CIFAR-10: "
        f"above {TRAINS} %)",
        about=ABOUT,
    )
    def plain_net_trains(r):
        accuracies = Accuracies.of(short_runs(r, net, "plain"))
        return trains(accuracies), str(accuracies)


claim_of_highway(11, "highway-a", controls=(PLAIN_OF_RECTIFIERS,))
claim_of_highway(19, "highway-b", controls=(PLAIN_OF_RECTIFIERS,))
claim_of_highway(
    32,
    "highway-c",
    no_control="plain nets of rectifiers were trained with 11 and with 19 layers alone",
)
claim_of_maxout(11, "highway-a")
claim_of_maxout(19, "highway-b")
claim_of_plain(11, "highway-a")
claim_of_plain(19, "highway-b")


QUESTION = Question(
    name="cifar",
    source="Training Very Deep Networks, Tables 2 and 3",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    data_dir="with cifar-10-batches-bin and cifar-100-binary, or their archives; without it they are downloaded",
    accept=accept,
)
