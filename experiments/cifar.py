"""Tables 2 and 3: CIFAR-10 and CIFAR-100 test accuracy of the paper's nets, and of plain nets of the same shape.

    python -m experiments.cifar [--data-dir DIR]            -> results/cifar.json

The authors trained for 400 epochs: --full does, with their protocol "paper", five seeds.  By default the protocol is
"short", ours: few epochs without dropout, the rate up and down again.  Runs of "paper" that were trained one by one are
added by experiments.add.  The settings of "short" are first compared by a small
search on the last 5 000 training images of CIFAR-10, one seed: for Highway A the rate, the gate bias and dropout, one
at a time; for the others the rate.

And a net of our own, meant for five hours of training on one core: what an evening can buy.

What has no search of its own takes the rate of the 19 layers: Highway C, these layers on CIFAR-100, and Highway B,
which differs in its end alone.

How runs are judged: a published mean ± standard deviation by whole runs of "paper" alone, which must lie in its
prediction interval; a run of "paper" that was stopped by the authors' log at equal epochs.  Runs of "short" follow
another recipe: they decide no row that names a number, but may show that at least so much can be reached.

An accuracy is that of the last epoch.  A trial that is stopped goes on from its last epoch, from a checkpoint beside
the results, if its code is the same.  --quick trains on made-up images.
"""

from __future__ import annotations

import functools
import hashlib
import math
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np

import highway_networks as hn
from conv.cifar import PIXELS, sha256_as_read
from conv.net import ConvNet
from conv.nets import find_net
from experiments import conv_training
from experiments.conv_training import expected, in_epochs, judged_by_prediction, percents, seconds_per_epoch
from experiments.ledger import (
    PUBLISHED,
    Claim,
    NotMeasured,
    above,
    below,
    judged,
    mean,
    mean_sd_n,
    prediction_interval,
    print_results,
    shown_in,
    standard_error,
)
from experiments.trials import Experiment, run_and_exit
from plumbing.files import InputError
from training import images as conv_images
from training import protocols

# Of each kind of run (net, block, data): protocol, epochs and seeds, the longest first, lest it runs alone at the end.
# Of each kind that is searched: epochs of a trial.
A, PLAIN_A, NINETEEN = ("highway-a", "highway"), ("highway-a", "plain"), ("nineteen-layers", "highway")
B, PLAIN_B, C = ("highway-b", "highway"), ("highway-b", "plain"), ("highway-c", "highway")
EVENING = "eight-layers", "highway-bn"
TEN, HUNDRED = "cifar-10", "cifar-100"
BUDGETS = {
    "quick": {
        "runs": [
            [*A, TEN, "short", 1, 2], [*NINETEEN, HUNDRED, "short", 1, 1], [*EVENING, TEN, "short", 1, 1],
            [*PLAIN_A, TEN, "short", 1, 1], [*A, TEN, "paper", 1, 1],
        ],
        "search": [[*PLAIN_A, 1]],
        "first_layer_seeds": 1,
        "n_train": 100, "n_test": 50,
    },
    "default": {
        "runs": [
            [*NINETEEN, TEN, "short", 40, 1], [*NINETEEN, HUNDRED, "short", 40, 1], [*C, TEN, "short", 30, 1],
            [*B, TEN, "short", 30, 1], [*EVENING, TEN, "short", 40, 1], [*A, TEN, "short", 60, 3],
            [*PLAIN_B, TEN, "short", 20, 1], [*PLAIN_A, TEN, "short", 20, 1],
        ],
        "search": [[*A, 5], [*PLAIN_A, 5], [*NINETEEN, 3], [*EVENING, 3], [*PLAIN_B, 5]],
        "first_layer_seeds": 5,
        "n_train": 50000, "n_test": 10000,
    },
    "full": {
        "runs": [
            [*kind, "paper", 400, 5]
            for kind in (
                (*A, TEN), (*NINETEEN, TEN), (*NINETEEN, HUNDRED), (*B, TEN), (*C, TEN), (*PLAIN_A, TEN),
                (*PLAIN_B, TEN),
            )
        ],
        "search": [],
        "first_layer_seeds": 5,
        "n_train": 50000, "n_test": 10000,
    },
}  # fmt: skip
SEARCHED = {  # for "short"; the first is the start, of which the others differ
    A: [{"lr": 0.1}, {"lr": 0.05}, {"lr": 0.1, "gate_bias": -2.0}, {"lr": 0.1, "dropout": [0.1] * 4}],
    NINETEEN: [{"lr": 0.05}, {"lr": 0.1}],
    PLAIN_A: [{"lr": 0.1}, {"lr": 0.03}, {"lr": 0.01}],
    EVENING: [{"lr": 0.1}, {"lr": 0.05}],
    PLAIN_B: [{"lr": 0.1}, {"lr": 0.03}, {"lr": 0.01}],
}
AS_SEARCHED = {B: NINETEEN, C: NINETEEN}  # whose best rate they take
PICTURED = (*A, TEN, 0), (*NINETEEN, TEN, 0)  # pictures need filters, gates at each position and errors of these runs
MOST_WRONG = 30  # of the images that a net gets wrong
PAPERS_EPOCHS = PUBLISHED["table_3"][TEN]["epochs"]  # for Table 2 none are published
# The deviations of the first layer's weights: of the released program, and as its file asks for.
FIRST_LAYERS = (1.0, protocols.FIRST_OF_TABLE_2)
TABLE_2 = PUBLISHED["table_2"]
TABLE_3 = PUBLISHED["table_3"]
NEIGHBOURS = 3  # epochs on either side, whose mean is compared with a point of the authors' log
LOG_POINTS = (10, 25, 50, 100)  # those epochs of the log that are compared: before the rate falls


# ---- Images ----------------------------------------------------------------------------------------------------------


@functools.lru_cache
def images(data: str, data_dir: str | None = None) -> hn.Dataset:
    """Read once, for the processes that are forked afterwards, too; raises InputError for another set of its layout."""
    found = conv_images.load_images(data, data_dir)
    if found.name != data.upper():
        raise InputError(f"{found.source} holds {found.name}; Tables 2 and 3 are about the official images")
    return found


@functools.lru_cache
def made_up(data: str) -> hn.Dataset:
    """Random images of this set's shape and classes, as many as a smoke test needs."""
    rng, classes = np.random.default_rng(0), int(data.removeprefix("cifar-"))
    parts = []
    for n in (protocols.HELD_OUT + 200, 100):
        parts += [rng.integers(0, 256, (n, PIXELS), np.uint8), rng.integers(0, classes, n)]
    sha256 = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
    name, shape = f"made up, as {data.upper()}", find_net("highway-a").shape
    return hn.Dataset(*parts, name, "this program", classes, sha256, shape)


# ---- Trials ----------------------------------------------------------------------------------------------------------


def setting(
    kind, data: str, protocol: str, epochs: int, seed: int, s: dict, own: dict, validation: bool = False
) -> dict:
    """A trial; `own` is what differs from the protocol and from the net's own gate bias."""
    net, block = kind
    sizes = {"n_train": s["n_train"], "n_test": s["n_test"]}
    if validation:
        sizes = {
            "n_train": min(s["n_train"], 50000 - protocols.HELD_OUT),
            "n_test": min(s["n_test"], protocols.HELD_OUT),
        }
    settings = protocols.ConvSettings(
        net=net, data=data, block=block, protocol=protocol, epochs=epochs, seed=seed,
        gate_bias=find_net(net).gate_bias, validation=validation, **sizes,
    )  # fmt: skip
    return conv_training.setting(settings, protocols.protocol_of(settings)) | own


def first_layer_setting(deviation: float, seed: int, s: dict) -> dict:
    """Sixty steps of Highway A by the paper's protocol, with the first layer's weights from N(0, deviation)."""
    sizes = {"n_train": min(s["n_train"], 6000), "n_test": min(s["n_test"], 1000)}
    return setting(A, TEN, "paper", 1, seed, sizes, {"first": deviation}, validation=True)


def data_of(t: dict, load) -> hn.Dataset:
    """That of a trial; load(name) is the data set of this name."""
    return load(t["data"])


def as_read(t: dict, load) -> hn.Dataset:
    """The same under a checksum that tells orders apart: in another order the images give other numbers."""
    data = data_of(t, load)
    return data._replace(name=f"{data.name}, as read", sha256=sha256_as_read(data))


def trial(t: dict, folder: str, load) -> dict:
    return without_pictures(t, conv_training.train(t, data_of(t, load), folder, "cifar"))


def without_pictures(t: dict, result: dict) -> dict:
    """The result of a trial less what pictures alone need, where they do not look into its net."""
    if "wrong" in result:
        result["wrong"] = result["wrong"][:MOST_WRONG]
    pictured = (t["net"], t["block"], t["data"], t["seed"]) in PICTURED
    if not pictured or t["protocol"] != "short" or t["validation"]:
        for name in ("filters", "final_T_per_position", "wrong"):
            result.pop(name, None)
    return result


def added(record: dict, run: dict) -> tuple[str, dict]:
    """The group and the trial of a run that conv_highway_networks.py finished, for experiments.add; ValueError where it
    is none of these tables'.

    A run that was stopped, and a branch, are "partial": they enter no row about whole runs."""
    if record["data_set"] != run["data"].upper() or run["data"] not in (TEN, HUNDRED):
        raise ValueError("Tables 2 and 3 are about the official images of CIFAR-10 and CIFAR-100")
    if (run["n_train"], run["n_test"], run["validation"]) != (50000, 10000, False):
        raise ValueError("Tables 2 and 3 are about all of these images")
    t = conv_training.finished_trial(record, run)
    group = "partial" if "stopped_after" in run or "parent" in run else "final"
    return group, without_pictures(t, t)


def best(trials: list[dict], kind, protocol: str) -> dict:
    """What the search chose for this kind of net: of its trials the one of the highest validation accuracy, of equal
    ones the first; nothing where there was none, and for the paper's protocol, whose rate is the authors'."""
    if protocol == "paper":
        return {}
    net, block = AS_SEARCHED.get(kind, kind)
    accuracies = [t["final_test_acc"] or 0 for t in trials if (t["net"], t["block"]) == (net, block)]
    return SEARCHED[net, block][accuracies.index(max(accuracies))] if accuracies else {}


def main(argv=None) -> None:
    where = "with cifar-10-batches-bin and cifar-100-binary, or their archives; without it they are downloaded"
    e = Experiment("cifar", __doc__, BUDGETS, argv, full="the paper's budget: 400 epochs, five seeds", data_dir=where)
    s = e.settings
    load = made_up if e.budget == "quick" else functools.partial(images, data_dir=e.data_dir)
    for data in dict.fromkeys(data for _, _, data, *_ in s["runs"]):
        e.data_sets[load(data).name] = load(data).sha256
    of_trial, of_data = functools.partial(trial, folder=str(e.folder), load=load), functools.partial(as_read, load=load)
    run = functools.partial(conv_training.run, e, of_trial, data_of=of_data)
    compared = [
        setting(kind, TEN, "short", epochs, 0, s, own, validation=True)
        for *kind, epochs in s["search"]
        for own in SEARCHED[tuple(kind)]
    ]
    trials = {"search": run(compared)}
    final = [
        setting(kind, data, protocol, epochs, seed, s, best(trials["search"], tuple(kind), protocol))
        for *kind, data, protocol, epochs, seeds in s["runs"]
        for seed in range(seeds)
    ]
    trials["final"] = run(final)
    first_layers = [
        first_layer_setting(deviation, seed, s) for deviation in FIRST_LAYERS for seed in range(s["first_layer_seeds"])
    ]
    trials["first_layer"] = run(first_layers)
    record = e.save("Training Very Deep Networks, Tables 2 and 3", summarise(trials), trials)
    print_results(CLAIMS, record)


# ---- What they say ---------------------------------------------------------------------------------------------------


def name_of(t: dict) -> str:
    """highway_a, plain_a, nineteen_layers, nineteen_layers_cifar_100, highway_a_paper, best_evening, ..."""
    if (t["net"], t["block"], t["protocol"]) == (*EVENING, "short"):
        return "best_evening"
    name = t["net"]
    if t["block"] != "highway":
        name = name.replace("highway", t["block"])
    if t["data"] != TEN:
        name += f"-{t['data']}"
    if t["protocol"] != "short":
        name += f"-{t['protocol']}"
    return name.replace("-", "_")


def parameters_of(net: str) -> int:
    """Counted, not trained: of one of the paper's nets for CIFAR-10."""
    named = find_net(net)
    return len(ConvNet(named.shape, named.layers, 0).parameters)


def summarise(trials: dict) -> dict:
    summary = {f"parameters_{net.replace('-', '_')}": parameters_of(net) for net, _ in (A, B, C, NINETEEN)}
    for name in dict.fromkeys(map(name_of, trials["final"])):
        same = [t for t in trials["final"] if name_of(t) == name]
        summary[f"test_accuracy_{name}"] = mean_sd_n([t["final_test_acc"] for t in same])
        summary[f"epochs_{name}"] = same[0]["epochs"]
        summary[f"parameters_{name}"] = same[0]["n_parameters"]
        summary[f"lr_{name}"] = same[0]["lr"]
        if same[0]["block"] != "plain":
            summary[f"gate_bias_{name}"] = same[0]["gate_bias"]
        summary[f"seconds_per_epoch_{name}"] = seconds_per_epoch(same)
    for deviation in FIRST_LAYERS:
        same = [t for t in trials.get("first_layer", []) if t["first"] == deviation]
        losses = [t["history"]["test_loss"][-1] for t in same if not t["diverged"]]
        summary[f"first_layer_{deviation:g}_diverged"] = len(same) - len(losses)
        summary[f"first_layer_{deviation:g}_loss"] = mean_sd_n(losses)
    try:
        summary["beside_the_log"] = beside_the_log(stopped_run(trials))
    except NotMeasured:
        summary["beside_the_log"] = []
    summary["prediction_intervals"] = prediction_intervals()
    if "test_accuracy_best_evening" in summary:
        summary["best_evening"] = " ".join(EVENING)
    return summary


def runs_of(r: dict, net: str, block: str, data: str, protocol: str) -> list[dict]:
    """Whole runs of one kind; of the paper's protocol those of the paper's epochs alone."""
    wanted = (net, block, data, protocol)
    runs = [t for t in r["trials"]["final"] if (t["net"], t["block"], t["data"], t["protocol"]) == wanted]
    if protocol == "paper":
        runs = [t for t in runs if t["epochs"] == PAPERS_EPOCHS]
    return runs


def short_runs_of(r: dict, net: str, block: str) -> list[dict]:
    """Those on CIFAR-10 by our protocol; raises NotMeasured where there is none."""
    runs = runs_of(r, net, block, TEN, "short")
    if not runs:
        raise NotMeasured(f"{net}, {block}, is not trained on CIFAR-10 yet")
    return runs


def by_protocol(r: dict, net: str, data: str = TEN) -> tuple[list[dict], list[dict]]:
    """The runs of a highway net by the paper's protocol, and by ours; raises NotMeasured where there is neither."""
    paper = runs_of(r, net, "highway", data, "paper")
    short = runs_of(r, net, "highway", data, "short")
    if not paper and not short:
        raise NotMeasured(f"{net}, highway, is not trained on {data.upper()} yet")
    return paper, short


def numbers(published: dict, paper: list[dict], short: list[dict]) -> str:
    """Ours in words: by the paper's protocol with what is expected of it, and by ours."""
    parts = []
    if paper and published.get("sd"):
        parts.append(f"{in_epochs(paper)} ({expected(published, paper)})")
    elif paper:
        error = 100 * binomial_error(paper)
        parts.append(f"{in_epochs(paper)} (± {error:.2f}, standard error on {paper[0]['n_test']} images)")
    if short:
        parts.append(f"another recipe: {in_epochs(short)}")
    return "; ".join(parts)


def prediction_intervals() -> list[dict]:
    """Of the paper's means on CIFAR: the interval of one more run, and that of the mean."""
    rows = []
    for net, data, published in (
        ("Highway B", TEN, TABLE_2["highway-b"]),
        ("19 layers", TEN, TABLE_3[TEN]),
        ("19 layers", HUNDRED, TABLE_3[HUNDRED]),
    ):
        of_one_run = prediction_interval(published, 1)
        of_the_mean = prediction_interval(published, math.inf)
        rows.append({"net": net, "data": data, "one_run": [*of_one_run], "mean": [*of_the_mean]})
    return rows


def binomial_error(runs: list[dict]) -> float:
    """The standard error that the finite number of test images gives to the mean accuracy of these runs; NaN where one
    diverged.  More runs do not lessen it: they are tested on the same images."""
    return standard_error(mean([t["final_test_acc"] for t in runs]), runs[0]["n_test"])


def untested(short: list[dict]) -> str:
    return f"not tested in {PAPERS_EPOCHS} epochs; {in_epochs(short)} of another recipe"


def reaches(published: dict, paper: list[dict], short: list[dict]) -> str:
    """The paper's number is reproduced by the paper's training alone: inside its prediction interval or, where it has
    no standard deviation, where it lies in the binomial interval of our own mean."""
    if not paper:
        return untested(short)
    if published["sd"]:
        return judged_by_prediction(published, paper)
    difference = mean([t["final_test_acc"] for t in paper]) - published["mean"]
    one_run = ", one run" if len(paper) == 1 else ""
    return judged([abs(difference) <= 1.96 * binomial_error(paper)]) + one_run


def exceeds(bound: float, paper: list[dict], short: list[dict]) -> str:
    """The verdict on "at least so much", by two standard errors: a run of any recipe can show it, but only one of the
    paper's protocol can refute it."""
    runs = paper or short
    margin = 2 * binomial_error(runs)
    excess = mean([t["final_test_acc"] for t in runs]) - bound
    one_run = ", one run" if len(runs) == 1 else ""
    if excess > margin:
        return ("reproduced" if paper else "reproduced in another recipe") + one_run
    if not paper:
        return untested(short)
    return ("not reproduced" if excess < -margin else "not clear") + one_run


def accuracy_claim(table: str, says: str, published: dict, net: str, data: str = TEN) -> Claim:
    sd = f" ± {100 * published['sd']:.2f}" if published["sd"] else ""
    epochs = f"{PAPERS_EPOCHS} epochs" + ("" if "epochs" in published else ", those of the 19 layers")
    no_sd = "" if published["sd"] else "the paper gives no deviation: judged by the binomial interval of ours"
    return Claim(
        f"paper, {table}",
        f"{says} reaches {100 * published['mean']:.2f}{sd} % (in {epochs})",
        values=lambda r: by_protocol(r, net, data),
        ours=functools.partial(numbers, published),
        holds=functools.partial(reaches, published),
        note=no_sd,
    )


def at_least_claim(table: str, says: str, bound: float, net: str, data: str = TEN) -> Claim:
    return Claim(
        f"paper, {table}",
        f"{says} ({100 * bound:.2f} %)",
        values=lambda r: by_protocol(r, net, data),
        ours=functools.partial(numbers, {}),
        holds=functools.partial(exceeds, bound),
    )


# ---- The authors' log, at equal epochs -------------------------------------------------------------------------------


def stopped_run(trials: dict) -> dict:
    """The 19 layers on CIFAR-10 by the paper's protocol, trained at least as far as the last point that is compared."""
    needed = LOG_POINTS[-1] + NEIGHBOURS
    for t in [*trials.get("partial", []), *trials["final"]]:
        kind = (t["net"], t["block"], t["data"], t["protocol"])
        if kind == (*NINETEEN, TEN, "paper") and "parent" not in t and len(t["history"]["epoch"]) >= needed:
            return t
    raise NotMeasured(f"the 19 layers are not trained by the paper's protocol for {needed} epochs yet")


def beside_the_log(run: dict) -> list[dict]:
    """Of each compared epoch and of accuracy and loss: the mean of our epochs around it less the log's number.

    `s` is the standard deviation of our single epochs there about a straight line.  It is consistent with the log
    where 0 lies within the difference ± 1.96 s sqrt(1 + 1 / our epochs): one epoch of theirs against our mean."""
    rows = []
    for epoch, accuracy, loss in PUBLISHED["authors_log_cifar"][TEN]["points"]:
        if epoch not in LOG_POINTS:
            continue
        for name, theirs in (("test_acc", accuracy), ("test_loss", loss)):
            epochs = np.arange(epoch - NEIGHBOURS, epoch + NEIGHBOURS + 1)
            ours = np.array(run["history"][name])[epochs - 1]
            slope, at_the_point = np.polyfit(epochs - epoch, ours, 1)
            residuals = ours - (at_the_point + slope * (epochs - epoch))
            s = float(np.sqrt((residuals**2).sum() / (len(ours) - 2)))
            difference = float(ours.mean()) - theirs
            allowed = 1.96 * s * (1 + 1 / len(ours)) ** 0.5
            row = {"epoch": epoch, "name": name, "log": theirs, "difference": difference, "s": s}
            rows.append(row | {"consistent": abs(difference) <= allowed})
    return rows


def in_points(run: dict) -> str:
    """Ours less the log, in percentage points of accuracy and in loss, at each compared epoch."""
    rows = beside_the_log(run)
    accuracies = [f"{100 * row['difference']:+.2f}" for row in rows if row["name"] == "test_acc"]
    losses = [f"{row['difference']:+.3f}" for row in rows if row["name"] == "test_loss"]
    epochs = ", ".join(map(str, LOG_POINTS))
    return f"ours less theirs at epochs {epochs}: {', '.join(accuracies)} points; loss {', '.join(losses)}"


OTHERS = TABLE_2["others"] | TABLE_3["others"]
CLAIMS = [
    accuracy_claim("Table 2", "Highway A of 11 layers", TABLE_2["highway-a"], "highway-a"),
    accuracy_claim("Table 2", "Highway B of 19 layers", TABLE_2["highway-b"], "highway-b"),
    accuracy_claim("Table 2", "Highway C of 32 layers", TABLE_2["highway-c"], "highway-c"),
    accuracy_claim("Table 3", "CIFAR-10: the net of 19 layers", TABLE_3[TEN], "nineteen-layers"),
    accuracy_claim("Table 3", "CIFAR-100: the net of 19 layers", TABLE_3[HUNDRED], "nineteen-layers", HUNDRED),
    at_least_claim("Table 2", "Highway A is at least as accurate as Fitnet A", OTHERS["fitnet-a"], "highway-a"),
    at_least_claim("Table 2", "Highway B is at least as accurate as Fitnet B", OTHERS["fitnet-b"], "highway-b"),
    at_least_claim("Table 2", "Highway C is more accurate than Fitnets' teacher", OTHERS["teacher"], "highway-c"),
    at_least_claim(
        "Table 3",
        "on CIFAR-100 the 19 layers are more accurate than All-CNN",
        OTHERS["all-cnn"][HUNDRED],
        "nineteen-layers",
        HUNDRED,
    ),
    Claim(
        "the authors' log",
        "CIFAR-10: the 19 layers by the same protocol are as accurate, and have the same loss, after 10 to 100 epochs",
        values=lambda r: [stopped_run(r["trials"])],
        ours=in_points,
        holds=lambda run: [row["consistent"] for row in beside_the_log(run)],
        note="were both of one law, each of the eight numbers would be called different in 11 of 100 cases",
        one_run=True,
    ),
    Claim(
        "paper, Table 3",
        "2.3 M parameters for the 19 layers on CIFAR-10",
        values=lambda r: [r["summary"]["parameters_nineteen_layers"]],
        ours=lambda n: f"{n:,}".replace(",", " "),
        holds=lambda n: [abs(n / find_net("nineteen-layers").parameters - 1) < 0.025],
    ),
    *(
        Claim(
            "paper, 3.3",
            f"a convolutional highway net of {layers} layers trains (CIFAR-10: above 50 %), a plain one does not "
            "(below 15 %; the paper quotes it of maxout nets, ours are rectifiers)",
            values=lambda r, net=net: [percents(short_runs_of(r, net, block)) for block in ("highway", "plain")],
            ours=shown_in("highway {}, plain {}", 4),
            holds=lambda highway, plain: [above(highway, 50), below(plain, 15)],
            one_run=True,
        )
        for net, layers in (("highway-a", 11), ("highway-b", 19))
    ),
]


if __name__ == "__main__":
    run_and_exit("cifar")
