"""Tables 2 and 3: CIFAR-10 and CIFAR-100 test accuracy of the paper's nets, and of plain nets of the same shape.

    python -m experiments.cifar [--data-dir DIR]            -> results/cifar.json

The authors trained for 400 epochs: --full does, with their protocol "paper", five seeds.  By default the protocol is
"short", ours: few epochs without dropout, the rate up and down again.  Its settings are first compared by a small
search on the last 5 000 training images of CIFAR-10, one seed: for Highway A the rate, the gate bias and dropout, one
at a time; for the others the rate.

And a net of our own, meant for five hours of training on one core: what an evening can buy.

What has no search of its own takes the rate of the 19 layers: Highway C, these layers on CIFAR-100, and Highway B,
which differs in its end alone.

An accuracy is that of the last epoch.  A trial that is stopped goes on from its last epoch, from a checkpoint beside
the results, if its code is the same.  --quick trains on made-up images.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np

import conv_highway_networks as cn
import highway_networks as hn
from conv.cifar import PIXELS, sha256_as_read
from experiments import conv_training
from experiments.conv_training import in_epochs, percents, seconds_per_epoch
from experiments.ledger import (
    PUBLISHED,
    Claim,
    NotMeasured,
    above,
    below,
    judged,
    mean_sd_n,
    print_results,
    shown_in,
)
from experiments.trials import Experiment, run_and_exit
from plumbing.files import InputError

# Of each kind of run (net, block, data): epochs and seeds, the longest first, lest it runs alone at the end.  Of each
# kind that is searched: epochs of a trial.
A, PLAIN_A, NINETEEN = ("highway-a", "highway"), ("highway-a", "plain"), ("nineteen-layers", "highway")
B, PLAIN_B, C = ("highway-b", "highway"), ("highway-b", "plain"), ("highway-c", "highway")
EVENING = "eight-layers", "highway-bn"
TEN, HUNDRED = "cifar-10", "cifar-100"
BUDGETS = {
    "quick": {
        "protocol": "short",
        "runs": [[*A, TEN, 1, 2], [*NINETEEN, HUNDRED, 1, 1], [*EVENING, TEN, 1, 1], [*PLAIN_A, TEN, 1, 1]],
        "search": [[*PLAIN_A, 1]],
        "n_train": 100, "n_test": 50,
    },
    "default": {
        "protocol": "short",
        "runs": [
            [*NINETEEN, TEN, 40, 1], [*NINETEEN, HUNDRED, 40, 1], [*C, TEN, 30, 1], [*B, TEN, 30, 1],
            [*EVENING, TEN, 40, 1], [*A, TEN, 60, 3], [*PLAIN_B, TEN, 20, 1], [*PLAIN_A, TEN, 20, 1],
        ],
        "search": [[*A, 5], [*PLAIN_A, 5], [*NINETEEN, 3], [*EVENING, 3], [*PLAIN_B, 5]],
        "n_train": 50000, "n_test": 10000,
    },
    "full": {
        "protocol": "paper",
        "runs": [
            [*kind, 400, 5]
            for kind in (
                (*A, TEN), (*NINETEEN, TEN), (*NINETEEN, HUNDRED), (*B, TEN), (*C, TEN), (*PLAIN_A, TEN),
                (*PLAIN_B, TEN),
            )
        ],
        "search": [],
        "n_train": 50000, "n_test": 10000,
    },
}  # fmt: skip
SEARCHED = {  # the first is the start, of which the others differ
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
CLOSE = 0.0025  # of accuracy, about twice the paper's deviations: what is less below its mean reaches it


# ---- Images ----------------------------------------------------------------------------------------------------------


@functools.lru_cache
def images(data: str, data_dir: str | None = None) -> hn.Dataset:
    """Read once, for the processes that are forked afterwards, too; raises InputError for another set of its layout."""
    found = cn.load_images(data, data_dir)
    if found.name != data.upper():
        raise InputError(f"{found.source} holds {found.name}; Tables 2 and 3 are about the official images")
    return found


@functools.lru_cache
def made_up(data: str) -> hn.Dataset:
    """Random images of this set's shape and classes, as many as a smoke test needs."""
    rng, classes = np.random.default_rng(0), int(data.removeprefix("cifar-"))
    parts = []
    for n in (cn.HELD_OUT + 200, 100):
        parts += [rng.integers(0, 256, (n, PIXELS), np.uint8), rng.integers(0, classes, n)]
    sha256 = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
    name, shape = f"made up, as {data.upper()}", cn.find_net("highway-a").shape
    return hn.Dataset(*parts, name, "this program", classes, sha256, shape)


# ---- Trials ----------------------------------------------------------------------------------------------------------


def setting(kind, data: str, epochs: int, seed: int, s: dict, own: dict, validation: bool = False) -> dict:
    """A trial; `own` is what differs from the protocol and from the net's own gate bias."""
    net, block = kind
    sizes = {"n_train": s["n_train"], "n_test": s["n_test"]}
    if validation:
        sizes = {"n_train": min(s["n_train"], 50000 - cn.HELD_OUT), "n_test": min(s["n_test"], cn.HELD_OUT)}
    settings = cn.Settings(
        net=net, data=data, block=block, protocol=s["protocol"], epochs=epochs, seed=seed,
        gate_bias=cn.find_net(net).gate_bias, validation=validation, **sizes,
    )  # fmt: skip
    return conv_training.setting(settings, cn.protocol_of(settings)) | own


def data_of(t: dict, load) -> hn.Dataset:
    """That of a trial; load(name) is the data set of this name."""
    return load(t["data"])


def as_read(t: dict, load) -> hn.Dataset:
    """The same under a checksum that tells orders apart: in another order the images give other numbers."""
    data = data_of(t, load)
    return data._replace(name=f"{data.name}, as read", sha256=sha256_as_read(data))


def trial(t: dict, folder: str, load) -> dict:
    result = conv_training.train(t, data_of(t, load), folder, "cifar")
    if "wrong" in result:
        result["wrong"] = result["wrong"][:MOST_WRONG]
    if (t["net"], t["block"], t["data"], t["seed"]) not in PICTURED or t["validation"]:
        for name in ("filters", "final_T_per_position", "wrong"):
            result.pop(name, None)
    return result


def best(trials: list[dict], kind) -> dict:
    """What the search chose for this kind of net: of its trials the one of the highest validation accuracy, of equal
    ones the first; nothing where there was none."""
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
        setting(kind, TEN, epochs, 0, s, own, validation=True)
        for *kind, epochs in s["search"]
        for own in SEARCHED[tuple(kind)]
    ]
    trials = {"search": run(compared)}
    final = [
        setting(kind, data, epochs, seed, s, best(trials["search"], tuple(kind)))
        for *kind, data, epochs, seeds in s["runs"]
        for seed in range(seeds)
    ]
    trials["final"] = run(final)
    record = e.save("Training Very Deep Networks, Tables 2 and 3", summarise(trials), trials)
    print_results(CLAIMS, record)


# ---- What they say ---------------------------------------------------------------------------------------------------


def name_of(t: dict) -> str:
    """highway_a, plain_a, nineteen_layers, nineteen_layers_cifar_100, best_evening, ..."""
    if (t["net"], t["block"]) == EVENING:
        return "best_evening"
    net = t["net"] if t["block"] == "highway" else t["net"].replace("highway", t["block"])
    return (net if t["data"] == TEN else f"{net}-{t['data']}").replace("-", "_")


def parameters_of(net: str) -> int:
    """Counted, not trained: of one of the paper's nets for CIFAR-10."""
    named = cn.find_net(net)
    return len(cn.ConvNet(named.shape, named.layers, 0).parameters)


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
    return summary | ({"best_evening": " ".join(EVENING)} if "test_accuracy_best_evening" in summary else {})


def runs_of(r: dict, net: str, block: str = "highway", data: str = TEN) -> list[dict]:
    runs = [t for t in r["trials"]["final"] if (t["net"], t["block"], t["data"]) == (net, block, data)]
    if not runs:
        raise NotMeasured(f"{net}, {block}, is not trained on {data.upper()} yet")
    return runs


def reaches(published: dict, protocol: str, runs: list[dict]) -> str:
    """The paper's number is reproduced by the paper's training alone."""
    ours, epochs, bound = percents(runs), runs[0]["epochs"], 100 * (published["mean"] - CLOSE)
    one_run = ", one run" * (len(ours) == 1)
    if (protocol, epochs) == ("paper", PAPERS_EPOCHS):
        return judged([above(ours, bound)]) + one_run
    reached = {True: "reached", False: "missed", None: "not clear"}[above(ours, bound)]
    return f"not tested in {PAPERS_EPOCHS} epochs; in {epochs} {reached}{one_run}"


def accuracy_claim(table: str, says: str, published: dict, net: str, data: str = TEN) -> Claim:
    sd = f" ± {100 * published['sd']:.2f}" if published["sd"] else ""
    epochs = f"{PAPERS_EPOCHS} epochs" + ("" if "epochs" in published else ", those of the 19 layers")
    return Claim(
        f"paper, {table}",
        f"{says} reaches {100 * published['mean']:.2f}{sd} % (in {epochs}; within {100 * CLOSE:.2f})",
        values=lambda r: [r["settings"]["protocol"], runs_of(r, net, data=data)],
        ours=lambda _, runs: in_epochs(runs),
        holds=functools.partial(reaches, published),
    )


TABLE_2, TABLE_3 = PUBLISHED["table_2"], PUBLISHED["table_3"]
CLAIMS = [
    accuracy_claim("Table 2", "Highway A of 11 layers", TABLE_2["highway-a"], "highway-a"),
    accuracy_claim("Table 2", "Highway B of 19 layers", TABLE_2["highway-b"], "highway-b"),
    accuracy_claim("Table 2", "Highway C of 32 layers", TABLE_2["highway-c"], "highway-c"),
    accuracy_claim("Table 3", "CIFAR-10: the net of 19 layers", TABLE_3[TEN], "nineteen-layers"),
    accuracy_claim("Table 3", "CIFAR-100: the net of 19 layers", TABLE_3[HUNDRED], "nineteen-layers", HUNDRED),
    Claim(
        "paper, Table 3",
        "2.3 M parameters for the 19 layers on CIFAR-10",
        values=lambda r: [r["summary"]["parameters_nineteen_layers"]],
        ours=lambda n: f"{n:,}".replace(",", " "),
        holds=lambda n: [abs(n / cn.find_net("nineteen-layers").parameters - 1) < 0.025],
    ),
    *(
        Claim(
            "paper, 3.3",
            f"a convolutional highway net of {layers} layers trains (CIFAR-10: above 50 %), a plain one does not "
            "(below 15 %; the paper quotes it of maxout nets, ours are rectifiers)",
            values=lambda r, net=net: [percents(runs_of(r, net, block)) for block in ("highway", "plain")],
            ours=shown_in("highway {}, plain {}", 4),
            holds=lambda highway, plain: [above(highway, 50), below(plain, 15)],
            one_run=True,
        )
        for net, layers in (("highway-a", 11), ("highway-b", 19))
    ),
]


if __name__ == "__main__":
    run_and_exit("cifar")
