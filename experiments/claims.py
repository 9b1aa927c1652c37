"""The ledger: what the paper and those who wrote about it claim, and what the committed results say.

    python -m experiments.claims            -> results/claims.json, and the README's table on the screen

A row names where a claim is made, the results that bear on it, and the rule that judges it; no verdict is written by
hand.  Rules compare 95 % intervals of means over seeds (Student's t; Welch's for differences), not single runs: a
claim that an interval leaves open is "not clear", one that rests on one run is called so, and "as good as" holds only
within a margin that the row names.  A claim of several parts is reproduced "in part" when some of them hold.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from experiments.blocks import MARGIN
from experiments.data_movement import POLICIES, choice
from experiments.factor_model import differences
from experiments.intervals import above, below, within
from experiments.lesion import middle_share
from experiments.trials import end
from plumbing.files import ROOT, InputError, check_writable, environment, write_json

RESULTS = {  # name: where it lies, and what wrote it where it does not say so itself
    "run_seeds": ("run_seeds.json", "python highway_networks.py --seeds 0,1,2,3,4,5,6,7,8,9"),
    "run_sweep": ("run_sweep.json", "python highway_networks.py --depths 5,10,20,30,50"),
}
LAYERS, DEPTHS = (10, 20, 50, 100), (10, 20, 50, 100, 200)  # of optimization.json, of blocks.json

# ---- Reading the results ---------------------------------------------------------------------------------------------


def read(folder: Path) -> dict[str, dict]:
    """The committed results by name; raises InputError for one that is missing or no results file."""
    files = {name for claim in CLAIMS for name in claim.files}
    names = sorted(files | {name for file in files for name in NEEDS.get(file, ())})
    records = {}
    for name in names:
        path = folder / RESULTS.get(name, (f"results/{name}.json",))[0]
        try:
            records[name] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read ({error}): the ledger needs it") from error
    return records


def of(trials: list[dict], name: str, **wanted) -> list[float]:
    """One number of each trial with these settings; raises LookupError where there is none."""
    found = [t[name] for t in trials if all(t.get(key) == value for key, value in wanted.items())]
    if not found:
        raise LookupError(f"no trial has {wanted}")
    return found


def shown(values, digits: int = 3) -> str:
    """Their mean ± standard deviation (n), or the one there is; None among them is said."""
    there = [value for value in values if value is not None]
    lost = f", {len(values) - len(there)} of {len(values)} lost" if len(there) < len(values) else ""
    if not there:
        return f"none of {len(values)}"
    text = f"{np.mean(there):.{digits}g}"
    if len(there) > 1:
        text += f" ± {np.std(there, ddof=1):.1g} (n = {len(there)})"
    return text + lost


def runs(r: dict, block: str, name: str) -> list[float]:
    return [pair[block][name] for pair in r["run_seeds"]["runs"]]


def best(r: dict, name: str, block: str, layers: int) -> list[float]:
    return of(r["optimization"]["trials"]["final"], name, block=block, layers=layers)


def logs(r: dict, block: str, layers: int) -> np.ndarray:
    return np.log10(best(r, "loss", block, layers))


def kind(r: dict, name: str, block: str, layers: int, width: int) -> list[float]:
    return of(r["blocks"]["trials"]["final"], name, block=block, layers=layers, width=width)


def inside(r: dict, file: str, name: str, data: str = "MNIST") -> list[float]:
    return of(r[file]["trials"], name, data=data)


def said(r: dict, file: str, name: str, digits: int = 3, data: str = "MNIST") -> str:
    return shown(inside(r, file, name, data), digits)


HARD = "fashion-mnist"


def lesions(r: dict) -> list[dict]:
    return [t for t in r["lesion"]["trials"] if t["data"] == "MNIST"]


def table_1(r: dict, width: int, protocol: str, name: str = "final_test_acc", block: str = "highway") -> list[float]:
    return of(r["table1"]["trials"]["final"], name, width=width, protocol=protocol, block=block)


def factor(r: dict, name: str, world: str) -> list[float]:
    return of(r["factor_model"]["trials"], name, world=world)


# ---- The claims ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    source: str  # who, and where
    says: str
    files: tuple[str, ...]  # the results it is judged by, the first first
    ours: Callable[[dict], str]
    rule: Callable[[dict], list[bool | None] | str]  # whether its parts hold; or why it is not tested
    note: str = ""
    one_run: bool = False
    against: str = ""  # the `says` of a claim of another source that cannot hold together with this one


def faster(r: dict) -> list[bool | None]:
    parts = []
    for layers in LAYERS:
        highway, plain = (epochs(r, block, layers) for block in ("highway", "plain"))
        lost = None in highway, None in plain
        parts.append(
            above(plain, 0, less=highway)
            if lost == (False, False)
            else {(False, True): True, (True, False): False}.get(lost)
        )
    return parts


def epochs(r: dict, block: str, layers: int) -> list[int | None]:
    """To a training loss of 0.1, of each seed."""
    losses = best(r, "losses", block, layers)
    return [next((i + 1 for i, loss in enumerate(each) if loss < 0.1), None) for each in losses]


def thirds(pair: dict) -> tuple[float, float]:
    T = pair["highway"]["final_T_per_layer"]
    n = len(T) // 3
    return float(np.mean(T[:n])), float(np.mean(T[-n:]))


def sweep(r: dict, block: str, depth: int) -> float:
    [pair] = [pair for pair in r["run_sweep"]["runs"] if pair["depth"] == depth]
    return pair[block]["final_test_acc"]


def top(r: dict, block: str, layers: int) -> dict:
    return r["optimization"]["summary"][f"top_search_loss_{block}_{layers}"]


def of_activation(r: dict, activation: str) -> list[float]:
    """Test accuracy of the final highway nets of up to 100 layers with this activation."""
    finals = r["optimization"]["trials"]["final"] + r["blocks"]["trials"]["final"]
    return [
        t["test_accuracy"]
        for t in finals
        if (t["block"], t["activation"]) == ("highway", activation) and t["layers"] <= 100
    ]


def in_table_1(r: dict, width: int, published: float) -> list[bool | None] | str:
    """The paper's number is reproduced by the paper's training alone, which is 300 epochs."""
    if table_1(r, width, "paper", "epochs")[0] == 300:
        return [above(table_1(r, width, "paper"), published - 0.0005)]
    reached = {True: "reached", False: "missed", None: "not clear"}[
        above(table_1(r, width, "short"), published - 0.0005)
    ]
    return f"not tested in 300 epochs; with shifts {reached}"


def choices(r: dict, policy: str) -> list[tuple[float, float]]:
    return [choice(t, policy, 0.01) for t in r["data_movement"]["trials"]["trained"]]


def hard(r: dict, low: float, high: float) -> list[float]:
    """1 for each setting that failed hard."""
    return [float(fate == "hard") for fate in fates(r, low, high)]


def fates(r: dict, low: float, high: float) -> list[str]:
    return [t["fate"] for t in r["gate_bias"]["trials"] if low <= t["gate_bias"] <= high]


def accuracies(r: dict, block: str, width: int) -> str:
    return ", ".join(f"{np.mean([a or 0 for a in kind(r, 'test_accuracy', block, n, width)]):.4f}" for n in DEPTHS)


def as_good(r: dict, block: str, width: int, against: str, other: int, margin: float) -> list[bool | None]:
    """At each depth: no worse than the other by more than the margin; whoever loses a seed alone is worse."""
    parts = []
    for n in DEPTHS:
        ours, theirs = (kind(r, "test_accuracy", b, n, w) for b, w in ((block, width), (against, other)))
        lost = None in ours, None in theirs
        parts.append(
            above(ours, -margin, less=theirs)
            if lost == (False, False)
            else {(True, False): False, (False, True): True}.get(lost)
        )
    return parts


def third(r: dict, n: int, which: slice) -> list[float]:
    """Mean T of a third of the blocks of the highway nets of n layers, seed by seed."""
    gates = kind(r, "mean_T", "highway", n, 50)
    return [float(np.mean(np.split(np.array(T), [len(T) // 3, len(T) - len(T) // 3])[which])) for T in gates]


EARLY, LATE = 0, 2


def fading(r: dict, n: int) -> list[float]:
    """The gradient at the first layer over that at the last, of trained highway nets of n layers."""
    flows = [t["gradient"] for t in kind(r, "trained", "highway", n, 50)]
    return [flow[0] / flow[-1] for flow in flows]


def matter(r: dict) -> list[float]:
    """The share of the first five blocks that are not idle, seed by seed."""
    return [np.mean([block not in t["idle"] for block in range(1, 6)]) for t in lesions(r)]


def paired(r: dict, name: str) -> list[float]:
    return differences(r["factor_model"]["trials"])[name]


PAPER, PROGRAM, BLOG, ARTICLE = "paper", "published program", "blog", "encyclopedia article"
STALL = "highway nets struggle beyond about 100 layers (a loss over three times that of 20, or none at 1000)"
TRAINS = "SGD does not stall at 1000 layers (test accuracy above 0.9)"
UNDER_15 = "20 plain fully connected layers stay under 15 % on MNIST, with its settings"
PLAIN_20 = "plain nets of 10 and 20 layers train (a loss below 0.1), with settings searched for them"
OWN_C = "the general form y = H T + x C with a carry gate of its own (eq. 2), trains"

CLAIMS = (
    Claim(
        PROGRAM,
        "at depth 30 highway learns (0.926), plain stays at chance (0.124)",
        ("run_seeds",),
        lambda r: (
            f"highway {shown(runs(r, 'highway', 'final_test_acc'))}, plain {shown(runs(r, 'plain', 'final_test_acc'))}"
        ),
        lambda r: [above(runs(r, "highway", "final_test_acc"), 0.85), below(runs(r, "plain", "final_test_acc"), 0.15)],
    ),
    Claim(
        PROGRAM,
        "... highway over three seeds 0.926, 0.904, 0.893; ours the same within 0.02",
        ("run_seeds",),
        lambda r: shown(runs(r, "highway", "final_test_acc")),
        lambda r: [within([0.926, 0.904, 0.893], -0.02, 0.02, less=runs(r, "highway", "final_test_acc"))],
    ),
    Claim(
        PROGRAM,
        "plain's loss stays at log 10, within 0.01",
        ("run_seeds",),
        lambda r: shown(runs(r, "plain", "final_train_loss"), 4),
        lambda r: [within(runs(r, "plain", "final_train_loss"), math.log(10) - 0.01, math.log(10) + 0.01)],
    ),
    Claim(
        PROGRAM,
        "highway is flat from depth 5 to 50 (within 0.04), plain is at chance from 20 on",
        ("run_sweep",),
        lambda r: "highway {}; plain {}".format(
            *(", ".join(f"{p[b]['final_test_acc']:.3f}" for p in r["run_sweep"]["runs"]) for b in ("highway", "plain"))
        ),
        lambda r: [
            np.ptp([p["highway"]["final_test_acc"] for p in r["run_sweep"]["runs"]]) <= 0.04,
            all(p["plain"]["final_test_acc"] < 0.15 for p in r["run_sweep"]["runs"] if p["depth"] >= 20),
        ],
        one_run=True,
    ),
    Claim(
        PROGRAM,
        "plain learns at depth 5 (0.857) and much less at 10 (0.292); ours the same within 0.05",
        ("run_sweep",),
        lambda r: ", ".join(f"{sweep(r, 'plain', depth):.3f}" for depth in (5, 10)),
        lambda r: [abs(sweep(r, "plain", depth) - theirs) <= 0.05 for depth, theirs in ((5, 0.857), (10, 0.292))],
        one_run=True,
    ),
    Claim(
        PROGRAM,
        "lower layers develop higher T, upper layers keep it low",
        ("run_seeds",),
        lambda r: "mean T of the lower third {}, of the upper {}".format(
            *(shown(each) for each in zip(*map(thirds, r["run_seeds"]["runs"]), strict=True))
        ),
        lambda r: [above([low - high for low, high in map(thirds, r["run_seeds"]["runs"])], 0)],
    ),
    Claim(
        f"{PAPER}, 3.1",
        "about 5 000 parameters a layer for both kinds",
        ("optimization",),
        lambda r: ", ".join(
            f"{b} {r['optimization']['summary'][f'parameters_per_layer_{b}']}" for b in ("highway", "plain")
        ),
        lambda r: [
            abs(r["optimization"]["summary"][f"parameters_per_layer_{b}"] / 5000 - 1) < 0.03
            for b in ("highway", "plain")
        ],
    ),
    Claim(
        f"{PAPER}, Figure 1",
        "plain nets of 10 and 20 layers reach a loss below 1e-4",
        ("optimization",),
        lambda r: ", ".join(shown(best(r, "loss", "plain", n), 2) for n in (10, 20)),
        lambda r: [below(best(r, "loss", "plain", n), 1e-4) for n in (10, 20)],
        note="in 20 epochs; the paper trains for up to 400",
    ),
    Claim(
        f"{PAPER}, Figure 1",
        "plain nets degrade beyond 20 layers (by more than a factor of 3)",
        ("optimization",),
        lambda r: "loss at 20, 50, 100: " + ", ".join(shown(best(r, "loss", "plain", n), 2) for n in (20, 50, 100)),
        lambda r: [above(logs(r, "plain", n), math.log10(3), less=logs(r, "plain", 20)) for n in (50, 100)],
    ),
    Claim(
        f"{PAPER}, Figure 1",
        PLAIN_20,
        ("optimization",),
        lambda r: ", ".join(shown(best(r, "loss", "plain", n), 2) for n in (10, 20)),
        lambda r: [below(best(r, "loss", "plain", n), 0.1) for n in (10, 20)],
        against=UNDER_15,
    ),
    Claim(
        f"{PAPER}, Figure 1",
        "highway nets of 50 and 100 layers do as well as of 10 and 20 (within a factor of 3)",
        ("optimization",),
        lambda r: "loss at 10, 20, 50, 100: " + ", ".join(shown(best(r, "loss", "highway", n), 2) for n in LAYERS),
        lambda r: [
            below(logs(r, "highway", deep), math.log10(3), less=logs(r, "highway", shallow))
            for deep in (50, 100)
            for shallow in (10, 20)
        ],
    ),
    Claim(
        f"{PAPER}, Figure 1",
        "100 layers: highway better than plain by more than two orders of magnitude",
        ("optimization",),
        lambda r: f"a factor of {r['optimization']['summary']['plain_over_highway_loss_at_100']:.0f}",
        lambda r: [above(logs(r, "plain", 100), 2, less=logs(r, "highway", 100))],
    ),
    Claim(
        f"{PAPER}, Figure 1",
        "the best trials of a search: highway's are better at every depth, and plain's worse the deeper",
        ("optimization",),
        lambda r: (
            "mean of the best, highway/plain: "
            + ", ".join("/".join(f"{top(r, b, n)['mean']:.2g}" for b in ("highway", "plain")) for n in LAYERS)
        ),
        lambda r: [
            *(above(top(r, "plain", n), 0, less=top(r, "highway", n)) for n in LAYERS),
            *(above(top(r, "plain", n), 0, less=top(r, "plain", m)) for m, n in pairwise(LAYERS)),
        ],
    ),
    Claim(
        f"{PAPER}, 3.1",
        "highway nets converge faster, at every depth",
        ("optimization",),
        lambda r: (
            "epochs to a loss of 0.1, highway/plain: "
            + ", ".join(
                "/".join(
                    "never" if None in e else f"{np.mean(e):.1f}"
                    for e in (epochs(r, b, n) for b in ("highway", "plain"))
                )
                for n in (10, 20, 50, 100)
            )
        ),
        faster,
    ),
    Claim(
        f"{PAPER}, 2.2",
        TRAINS,
        ("thousand_layers",),
        lambda r: "{}; all blocks skipped {}".format(
            *(shown(of(r["thousand_layers"]["trials"]["best"], n), 4) for n in ("test_accuracy", "skipped_accuracy"))
        ),
        lambda r: [above(of(r["thousand_layers"]["trials"]["best"], "test_accuracy"), 0.9)],
        against=STALL,
    ),
    Claim(
        f"{PAPER}, 2.2",
        "gate biases of -1, -2, -3 for 10, 20, 30 layers train (meant for convolutional nets; here fully connected)",
        ("gate_bias",),
        lambda r: "tanh {}, {}, {}; ReLU {}, {}, {}".format(
            *(r["gate_bias"]["summary"][f"guideline_fate_{a}_{n}"] for a in ("tanh", "relu") for n in (10, 20, 30))
        ),
        lambda r: [
            r["gate_bias"]["summary"][f"guideline_fate_{a}_{n}"] == "trained"
            for a in ("tanh", "relu")
            for n in (10, 20, 30)
        ],
        one_run=True,
    ),
    Claim(
        f"{PAPER}, 2.2",
        "works for various zero-mean initial distributions and activations",
        ("run_seeds", "optimization", "blocks"),
        lambda r: "uniform, tanh {}; normal (Glorot or He), {}".format(
            shown(runs(r, "highway", "final_test_acc")),
            ", ".join(f"{a} {shown(of_activation(r, a), 4)}" for a in ("tanh", "relu")),
        ),
        lambda r: [
            above(runs(r, "highway", "final_test_acc"), 0.85),
            *(above(of_activation(r, a), 0.95) for a in ("tanh", "relu")),
        ],
    ),
    Claim(
        f"{PAPER}, 2",
        f"a carry gate of its own is not needed: C = 1 - T loses at most {MARGIN} of accuracy",
        ("blocks",),
        lambda r: (
            f"at 10 to 200 layers: {accuracies(r, 'highway', 50)}; "
            f"with a C of its own {accuracies(r, 'highway-carry', 50)}"
        ),
        lambda r: as_good(r, "highway", 50, "highway-carry", 50, MARGIN),
    ),
    Claim(
        f"{PAPER}, Table 1",
        "39 K and 151 K parameters for 16 and 32 maps",
        ("table1",),
        lambda r: ", ".join(f"{r['table1']['summary'][f'parameters_width_{w}']:,}".replace(",", " ") for w in (16, 32)),
        lambda r: [
            abs(r["table1"]["summary"][f"parameters_width_{w}"] / n - 1) < 0.01 for w, n in ((16, 39e3), (32, 151e3))
        ],
    ),
    *(
        Claim(
            f"{PAPER}, Table 1",
            f"{w} maps reach {100 * a:.2f} ± {100 * sd:.2f} % (in 300 epochs; within 0.05)",
            ("table1",),
            lambda r, w=w: (
                f"{shown([100 * v for v in table_1(r, w, 'paper')], 4)} in {table_1(r, w, 'paper', 'epochs')[0]}; "
                f"with shifts {shown([100 * v for v in table_1(r, w, 'short')], 4)} "
                f"in {table_1(r, w, 'short', 'epochs')[0]} epochs"
            ),
            lambda r, w=w, a=a: in_table_1(r, w, a),
        )
        for w, a, sd in ((16, 0.9940, 0.0003), (32, 0.9954, 0.0002))
    ),
    Claim(
        f"{PAPER}, Tables 2, 3",
        "CIFAR-10 and CIFAR-100",
        ("table1",),
        lambda r: "-",
        lambda r: "not tested: the nets are described and counted, their data is not in the repository",
    ),
    Claim(
        f"{PAPER}, Figure 2",
        "most gate biases decreased in training",
        ("gates",),
        lambda r: f"a share of {said(r, 'gates', 'share_of_biases_decreased')}",
        lambda r: [above(inside(r, "gates", "share_of_biases_decreased"), 0.5)],
    ),
    Claim(
        f"{PAPER}, Figure 2",
        "on the harder task biases rise with depth, inversely to the mean gate (CIFAR-100)",
        ("gates",),
        lambda r: (
            f"Fashion-MNIST: r = {said(r, 'gates', 'bias_depth_correlation', 2, HARD)} with depth, "
            f"{said(r, 'gates', 'bias_activity_correlation', 2, HARD)} with mean T"
        ),
        lambda r: [
            above(inside(r, "gates", "bias_depth_correlation", HARD), 0.3),
            below(inside(r, "gates", "bias_activity_correlation", HARD), -0.3),
        ],
        note="Fashion-MNIST stands in for CIFAR-100",
    ),
    Claim(
        f"{PAPER}, Figure 2",
        "one image's gates are sparse, yet most gates are active on average",
        ("gates",),
        lambda r: (
            f"sparsity {said(r, 'gates', 'sparsity_single', 2)}, "
            f"of the mean {said(r, 'gates', 'sparsity_mean', 2)}; "
            f"open for one image in 100: {said(r, 'gates', 'share_open_in_1_of_100', 2)}"
        ),
        lambda r: [
            above(inside(r, "gates", "sparsity_single"), 0, less=inside(r, "gates", "sparsity_mean")),
            above(inside(r, "gates", "share_open_in_1_of_100"), 0.5),
        ],
    ),
    Claim(
        f"{PAPER}, Figure 2",
        "most change happens in the first 15 layers or so",
        ("gates",),
        lambda r: f"a share of {said(r, 'gates', 'change_share_first_15')} in a share of 0.31 of the blocks",
        lambda r: [above(inside(r, "gates", "change_share_first_15"), 0.5)],
    ),
    Claim(
        f"{PAPER}, Figure 3",
        "classes differ in their gates within the first 15 layers",
        ("gates",),
        lambda r: f"a share of {said(r, 'gates', 'class_difference_share_first_15')} of the differences",
        lambda r: [above(inside(r, "gates", "class_difference_share_first_15"), 0.5)],
    ),
    Claim(
        f"{PAPER}, Figure 4",
        "closing an early layer raises the error (most of the first five), closing one of 15 to 45 does not",
        ("lesion",),
        lambda r: (
            f"of the first five {shown(matter(r), 2)} matter; of 15 to 45 idle: "
            f"{shown([middle_share(t) for t in lesions(r)], 2)}; all idle ones closed together: error "
            f"{said(r, 'lesion', 'error_all_idle', 2)}"
        ),
        lambda r: [above(matter(r), 0.5), above([middle_share(t) for t in lesions(r)], 0.9)],
    ),
    Claim(
        f"{PAPER}, Figure 4",
        "about 60 % of the layers contribute nothing (45 to 75 %)",
        ("lesion",),
        lambda r: f"a share of {said(r, 'lesion', 'idle_share')}",
        lambda r: [within(inside(r, "lesion", "idle_share"), 0.45, 0.75)],
    ),
    Claim(
        f"{PAPER}, Figure 4",
        "on the harder task more layers matter",
        ("lesion",),
        lambda r: (
            f"idle: Fashion-MNIST {said(r, 'lesion', 'idle_share', 2, HARD)}, "
            f"MNIST {said(r, 'lesion', 'idle_share', 2)}"
        ),
        lambda r: [below(inside(r, "lesion", "idle_share", HARD), 0, less=inside(r, "lesion", "idle_share"))],
        note="Fashion-MNIST stands in for CIFAR-100",
    ),
    Claim(
        BLOG,
        UNDER_15,
        ("full_mnist",),
        lambda r: shown(of(r["full_mnist"]["trials"]["blog"], "test_accuracy", block="plain")),
        lambda r: [below(of(r["full_mnist"]["trials"]["blog"], "test_accuracy", block="plain"), 0.15)],
        against=PLAIN_20,
    ),
    Claim(
        BLOG,
        "1000 layers reach about 95 % at a gate bias of -20 (at least 94 %)",
        ("thousand_layers",),
        lambda r: (
            f"{shown(of(r['thousand_layers']['trials']['shut'], 'test_accuracy'), 4)}; all blocks skipped "
            f"{shown(of(r['thousand_layers']['trials']['shut'], 'skipped_accuracy'), 4)}"
        ),
        lambda r: [above(of(r["thousand_layers"]["trials"]["shut"], "test_accuracy"), 0.94)],
    ),
    Claim(
        BLOG,
        "very high gate biases (0 and above) fail to train in a reasonable time, most of them",
        ("gate_bias",),
        lambda r: f"{shown(hard(r, 0, 99), 2)} of the settings of bias and depth",
        lambda r: [above(hard(r, 0, 99), 0.5)],
        one_run=True,
    ),
    Claim(
        BLOG,
        "very low gate biases (-10 and below) fail to train in a reasonable time",
        ("gate_bias",),
        lambda r: (
            f"{shown(hard(r, -99, -10), 2)} of them, but {np.mean([f == 'soft' for f in fates(r, -99, -10)]):.0%} "
            "train with idle blocks"
        ),
        lambda r: [above(hard(r, -99, -10), 0.5)],
        one_run=True,
    ),
    Claim(
        BLOG,
        "when in doubt, start more negative: nothing fails at -4 and below, and nothing is lost at -10 and below",
        ("gate_bias",),
        lambda r: "at -4 and below {:.0%} fail hard; at -10 and below {:.0%} train without their blocks".format(
            np.mean([fate == "hard" for fate in fates(r, -99, -4)]),
            np.mean([fate == "soft" for fate in fates(r, -99, -10)]),
        ),
        lambda r: ["hard" not in fates(r, -99, -4), "soft" not in fates(r, -99, -10)],
        one_run=True,
    ),
    Claim(
        ARTICLE,
        OWN_C,
        ("blocks",),
        lambda r: (
            f"test accuracy of width 50: {accuracies(r, 'highway-carry', 50)}; "
            f"of width 41 at 200 layers: {shown(kind(r, 'test_accuracy', 'highway-carry', 200, 41))}"
        ),
        lambda r: [
            None not in kind(r, "test_accuracy", "highway-carry", n, w)
            and above(kind(r, "test_accuracy", "highway-carry", n, w), 0.9)
            for n in DEPTHS
            for w in (41, 50)
        ],
    ),
    Claim(
        ARTICLE,
        "early layers' gates are more open than later ones (first and last third), and above 0.5",
        ("blocks",),
        lambda r: (
            "mean T at 10 to 200 layers: "
            + ", ".join("/".join(f"{np.mean(third(r, n, w)):.2g}" for w in (EARLY, LATE)) for n in DEPTHS)
        ),
        lambda r: [
            *(above(third(r, n, EARLY), 0, less=third(r, n, LATE)) for n in DEPTHS),
            *(above(third(r, n, EARLY), 0.5) for n in DEPTHS),
        ],
    ),
    Claim(
        ARTICLE,
        STALL,
        ("blocks", "thousand_layers"),
        lambda r: (
            "loss at 20, 100, 200: "
            + ", ".join(shown(kind(r, "loss", "highway", n, 50), 2) for n in (20, 100, 200))
            + f"; accuracy at 1000: {shown(of(r['thousand_layers']['trials']['best'], 'test_accuracy'), 4)}"
        ),
        lambda r: [
            *(
                above(
                    np.log10(kind(r, "loss", "highway", n, 50)),
                    math.log10(3),
                    less=np.log10(kind(r, "loss", "highway", 20, 50)),
                )
                for n in (100, 200)
            ),
            below(of(r["thousand_layers"]["trials"]["best"], "test_accuracy"), 0.9),
        ],
        against=TRAINS,
    ),
    Claim(
        ARTICLE,
        "... because the factors 1 - T compound: the gradient fades (to less than half over 100 and 200 layers)",
        ("blocks",),
        lambda r: "first layer's over last's: " + ", ".join(shown(fading(r, n), 2) for n in (100, 200)),
        lambda r: [below(fading(r, n), 0.5) for n in (100, 200)],
    ),
    Claim(
        ARTICLE,
        "residual nets go on past 1000 layers",
        ("blocks",),
        lambda r: "-",
        lambda r: "not tested: residual nets were trained up to 200 layers",
    ),
    Claim(
        ARTICLE,
        "a layer's Jacobian is T dH/dx + (1 - T) I + dT/dx (H - x): plain has no I, residual all of it",
        ("blocks",),
        lambda r: "-",
        lambda r: "not tested here: it is algebra, and every gradient's test rests on it",
    ),
    Claim(
        ARTICLE,
        f"residual is as effective with half the parameters (within {MARGIN} of accuracy)",
        ("blocks",),
        lambda r: (
            f"width 50, 10 to 200 layers: {accuracies(r, 'residual', 50)}; highway {accuracies(r, 'highway', 50)}"
        ),
        lambda r: as_good(r, "residual", 50, "highway", 50, MARGIN),
    ),
    Claim(
        ARTICLE,
        "effective depth differs by input (the sum of an image's mean T over layers, by more than 10 %)",
        ("data_movement",),
        lambda r: "{} of them, sd over images {}".format(
            *(
                shown(of(r["data_movement"]["trials"]["trained"], n), 3)
                for n in ("effective_depth", "effective_depth_sd")
            )
        ),
        lambda r: [
            above(
                [t["effective_depth_sd"] / t["effective_depth"] for t in r["data_movement"]["trials"]["trained"]], 0.1
            )
        ],
    ),
    Claim(
        ARTICLE,
        "a convolutional variant with batch normalisation of H",
        ("table1",),
        lambda r: "-",
        lambda r: "not tested: neither the paper nor this project normalises batches",
    ),
    Claim(
        ARTICLE,
        "a factor model's mean gate says how complex the regime is: it is open in turbulent regimes",
        ("factor_model",),
        lambda r: "AUC {}; non-linear only {}".format(
            *(shown(factor(r, "auc_gate", world), 2) for world in ("both", "non-linear"))
        ),
        lambda r: [above(factor(r, "auc_gate", world), 0.5) for world in ("both", "non-linear")],
    ),
    Claim(
        ARTICLE,
        "... for their complexity: more than where they are volatile only, than before training, and than the norm",
        ("factor_model",),
        lambda r: "AUC more by {}, {}, {}".format(
            *(shown(paired(r, f"less_that_{than}"), 2) for than in ("of_volatile", "before_training", "of_the_norm"))
        ),
        lambda r: [
            above(paired(r, f"less_that_{than}"), 0) for than in ("of_volatile", "before_training", "of_the_norm")
        ],
    ),
    Claim(
        f"{PROGRAM}, open",
        "100 layers on all of MNIST under SGD with momentum train (above 0.95)",
        ("full_mnist",),
        lambda r: "SGD {}, Adam {}".format(
            *(
                shown(of(r["full_mnist"]["trials"]["hundred_layers"], "test_accuracy", optimizer=o), 4)
                for o in ("sgd", "adam")
            )
        ),
        lambda r: [above(of(r["full_mnist"]["trials"]["hundred_layers"], "test_accuracy", optimizer="sgd"), 0.95)],
    ),
    Claim(
        f"{PROGRAM}, open",
        "highway against residual at matched depth and parameters: residual is the better one",
        ("blocks",),
        lambda r: f"highway {accuracies(r, 'highway', 50)}; residual of width 71 {accuracies(r, 'residual', 71)}",
        lambda r: as_good(r, "residual", 71, "highway", 50, 0),
    ),
    Claim(
        f"{PROGRAM}, open",
        "T learns what class an image is of: it tells more than gates drawn at random (by 0.01)",
        ("routing",),
        lambda r: (
            f"{said(r, 'routing', 'class_accuracy_from_gates', 4)} by T, "
            f"{said(r, 'routing', 'class_accuracy_from_random_gates', 4)} by random gates"
        ),
        lambda r: [
            above(
                inside(r, "routing", "class_accuracy_from_gates"),
                0.01,
                less=inside(r, "routing", "class_accuracy_from_random_gates"),
            )
        ],
    ),
    Claim(
        f"{PROGRAM}, open",
        "the carry path saves data movement in training (by 5 % at every size, blocks of as many parameters)",
        ("data_movement",),
        lambda r: "cost over that of plain {:.2f} ({:.2f} to {:.2f}), of residual {:.2f} ({:.2f} to {:.2f})".format(
            *(
                r["data_movement"]["summary"][f"highway_over_{b}_{name}"]
                for b in ("plain", "residual")
                for name in ("as_many_parameters", "least", "most")
            )
        ),
        lambda r: [r["data_movement"]["summary"][f"highway_over_{b}_most"] < 0.95 for b in ("plain", "residual")],
    ),
    Claim(
        f"{PROGRAM}, open",
        "skipping what is shut saves a tenth of the movement for 0.01 of accuracy (below 0.02 on other images)",
        ("data_movement",),
        lambda r: "; ".join(
            f"{policy} {shown([saved for saved, _ in choices(r, policy)], 2)}, "
            f"lost {shown([lost for _, lost in choices(r, policy)], 1)}"
            for policy in POLICIES
        ),
        lambda r: [
            part
            for policy in POLICIES
            for part in (
                above([saved for saved, _ in choices(r, policy)], 0.1),
                below([lost for _, lost in choices(r, policy)], 0.02),
            )
        ],
    ),
)


# ---- The table -------------------------------------------------------------------------------------------------------


def verdict(claim: Claim, records: dict) -> str:
    outcome = claim.rule(records)
    if isinstance(outcome, str):
        return outcome
    return judged(outcome) + (", one run" if claim.one_run else "")


def judged(parts: list[bool | None]) -> str:
    """The verdict on a claim of several parts, which holds when all of them do."""
    if all(parts):
        return "reproduced"
    if any(parts):
        return "in part" if False in parts else "in part, the rest not clear"
    return "not reproduced" if False in parts else "not clear"


def contradiction(claim: Claim, verdicts: dict[str, str]) -> str:
    """Who is right where two sources say what cannot hold together."""
    other = next(each for each in CLAIMS if each.says == claim.against)
    held = tuple(verdicts[each.says].startswith("reproduced") for each in (claim, other))
    right = {(True, False): claim.source, (False, True): other.source}.get(held)
    said = f"; the {other.source.split(',')[0]} says otherwise, "
    return said + (f"the {right.split(',')[0]} is right" if right else "both hold" if all(held) else "undecided")


def rows(records: dict) -> list[dict]:
    """The ledger: of each claim what is claimed, measured and concluded, with the commands and their minutes."""
    try:
        verdicts, result = {claim.says: verdict(claim, records) for claim in CLAIMS}, []
        for claim in CLAIMS:
            own = verdicts[claim.says] + (contradiction(claim, verdicts) if claim.against else "")
            files = list(dict.fromkeys(name for file in claim.files for name in (*NEEDS.get(file, ()), file)))
            tested = not own.startswith("not tested:") and not own.startswith("not tested here")
            row = {"source": claim.source, "claim": claim.says, "ours": claim.ours(records), "verdict": own}
            row |= {"note": claim.note, "commands": [command(name, records[name]) for name in files] if tested else []}
            minutes = sum(core_seconds(records[name]) for name in files) / 120 if tested else 0
            result.append(row | {"results": files if tested else [], "minutes_on_two_cores": round(minutes, 1)})
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise InputError(f"the results lack what a claim is judged by: {error!r}") from error
    return result


def command(name: str, record: dict) -> str:
    return record.get("command") or RESULTS[name][1]


NEEDS = {name: ("fifty_layers",) for name in ("gates", "lesion", "routing", "data_movement")}  # what must run before


def core_seconds(record: dict) -> float:
    if "runs" in record:
        return sum(pair["wallclock_sec"] for pair in record["runs"])
    trials = record["trials"]
    groups = trials.values() if isinstance(trials, dict) else [trials]
    return sum(t["seconds"] for group in groups for t in group)


def markdown(ledger: list[dict]) -> str:
    """The README's table."""
    lines = ["| where | what it says | ours | verdict | by, minutes on two cores |", "| --- | --- | --- | --- | --- |"]
    for row in ledger:
        by = ", ".join(f"`{name}`" for name in row["results"])
        by += f": {max(row['minutes_on_two_cores'], 0.1):.1f}" if by else "-"
        note = f" ({row['note']})" if row["note"] else ""
        lines.append(f"| {row['source']} | {row['claim']}{note} | {row['ours']} | **{row['verdict']}** | {by} |")
    return "\n".join(lines)


def counts(ledger: list[dict]) -> dict:
    """How many rows have each verdict."""
    kinds = ("reproduced", "in part", "not reproduced", "not clear", "not tested")
    return {name.replace(" ", "_"): sum(row["verdict"].startswith(name) for row in ledger) for name in kinds}


def main(argv=None) -> None:
    p = argparse.ArgumentParser(prog="python -m experiments.claims", description=__doc__.split("\n")[0])
    p.parse_args(argv)
    path = ROOT / "results" / "claims.json"
    check_writable(path)
    ledger = rows(read(ROOT))
    head = {"experiment": "claims", "source": "all of them", "command": "python -m experiments.claims", "settings": {}}
    write_json(path, head | {"env": environment(), "summary": counts(ledger), "trials": ledger})
    print(markdown(ledger))
    print(f"saved to {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(end(main))
