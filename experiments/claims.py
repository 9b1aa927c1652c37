"""The ledger: every checkable claim of the paper, of those who wrote about it, and what the committed results say.

    python -m experiments.claims            -> results/claims.json, and the README's table on the screen

A row names where a claim is made, the results that bear on it, and the rule that judges it; no verdict is written by
hand.  Rules compare 95 % intervals of means over seeds (Student's t; Welch's for differences), not single runs: a
claim that an interval leaves open is "not clear", one that rests on one run is called so, and "as good as" holds only
within a margin that the row names.  A claim of several parts is reproduced in part when some of them hold.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import highway_networks as hn
from experiments.data_movement import choice
from experiments.lesion import last_that_matters, middle_share
from experiments.trials import end

RESULTS = {  # name: where it lies, and what wrote it where it does not say so itself
    "run_seeds": ("run_seeds.json", "python highway_networks.py --seeds 0,1,2,3,4,5,6,7,8,9"),
    "run_sweep": ("run_sweep.json", "python highway_networks.py --depths 5,10,20,30,50"),
}
DEPTHS = (10, 20, 50, 100, 200)  # of blocks.json

# ---- Intervals -------------------------------------------------------------------------------------------------------

# Student's 97.5 % quantile for 1, 2, ... degrees of freedom; beyond them the last, which is a little too wide
T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


def interval(values, less=None) -> tuple[float, float]:
    """The 95 % interval of the mean of values, or of its difference to that of `less`; of one value alone a point."""
    parts = [np.asarray(each, float) for each in ((values,) if less is None else (values, less))]
    mean = parts[0].mean() - (parts[1].mean() if less is not None else 0)
    errors = [each.var(ddof=1) / len(each) for each in parts if len(each) > 1]
    if not sum(errors):
        return mean, mean
    freedom = sum(errors) ** 2 / sum(
        e**2 / (len(each) - 1) for e, each in zip(errors, (p for p in parts if len(p) > 1), strict=True)
    )
    half = T_975[min(max(int(freedom), 1), len(T_975)) - 1] * math.sqrt(sum(errors))
    return mean - half, mean + half


def above(values, bound: float, less=None) -> bool | None:
    """Whether the mean, or the difference of means, lies above; None where the interval holds the bound."""
    low, high = interval(values, less)
    return True if low > bound else False if high < bound else None


def below(values, bound: float, less=None) -> bool | None:
    return negated(above(values, bound, less))


def within(values, low: float, high: float, less=None) -> bool | None:
    """Whether all of the interval lies between; None where only a part does."""
    its_low, its_high = interval(values, less)
    return True if low <= its_low and its_high <= high else False if its_high < low or its_low > high else None


def negated(holds: bool | None) -> bool | None:
    return None if holds is None else not holds


def judged(parts: list[bool | None]) -> str:
    """The verdict on a claim of several parts."""
    if all(parts):
        return "reproduced"
    if any(parts):
        return "in part"
    return "not clear" if None in parts else "not reproduced"


# ---- Reading the results ---------------------------------------------------------------------------------------------


def read(folder: Path) -> dict[str, dict]:
    """The committed results by name; raises InputError for one that is missing or no results file."""
    names = sorted({name for claim in CLAIMS for name in claim.files})
    records = {}
    for name in names:
        path = folder / RESULTS.get(name, (f"results/{name}.json",))[0]
        try:
            records[name] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise hn.InputError(f"{path} cannot be read ({error}): the ledger needs it") from error
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
    for layers in (10, 20, 50, 100):
        highway, plain = (epochs(r, block, layers) for block in ("highway", "plain"))
        parts.append(True if None in plain and None not in highway else above(plain, 0, less=highway))
    return parts


def epochs(r: dict, block: str, layers: int) -> list[int | None]:
    """To a training loss of 0.1, of each seed."""
    losses = best(r, "losses", block, layers)
    return [next((i + 1 for i, loss in enumerate(each) if loss < 0.1), None) for each in losses]


def thirds(pair: dict) -> tuple[float, float]:
    T = pair["highway"]["final_T_per_layer"]
    n = len(T) // 3
    return float(np.mean(T[:n])), float(np.mean(T[-n:]))


def fates(r: dict, low: float, high: float) -> list[str]:
    return [t["fate"] for t in r["gate_bias"]["trials"] if low <= t["gate_bias"] <= high]


def accuracies(r: dict, block: str, width: int) -> str:
    return ", ".join(f"{np.mean([a or 0 for a in kind(r, 'test_accuracy', block, n, width)]):.4f}" for n in DEPTHS)


def as_good(r: dict, block: str, width: int, against: str, other: int, margin: float) -> list[bool | None]:
    """At each depth: no worse than the other by more than the margin; a lost seed is worse."""
    parts = []
    for n in DEPTHS:
        ours, theirs = (kind(r, "test_accuracy", b, n, w) for b, w in ((block, width), (against, other)))
        parts.append(False if None in ours else above(ours, -margin, less=theirs))
    return parts


PAPER, PROGRAM, BLOG, ARTICLE = "paper", "published program", "blog", "encyclopedia article"
STALL = "highway nets struggle beyond about 100 layers, as the factors 1 - T compound; residual nets go on past 1000"
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
        "... highway: 0.926, 0.904, 0.893 over three seeds; ours the same within 0.02",
        ("run_seeds",),
        lambda r: shown(runs(r, "highway", "final_test_acc")),
        lambda r: [within([0.926, 0.904, 0.893], -0.02, 0.02, less=runs(r, "highway", "final_test_acc"))],
        note="three seeds against ten: their spread leaves it open",
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
        "lower layers develop higher T, upper layers keep it low",
        ("run_seeds",),
        lambda r: "mean T of the lower third {}, of the upper {}".format(
            *(shown(each) for each in zip(*map(thirds, r["run_seeds"]["runs"]), strict=True))
        ),
        lambda r: [above([low - high for low, high in map(thirds, r["run_seeds"]["runs"])], 0)],
        note="the opposite",
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
        "highway nets of 50 and 100 layers do as well as of 20 (within a factor of 3)",
        ("optimization",),
        lambda r: "loss at 20, 50, 100: " + ", ".join(shown(best(r, "loss", "highway", n), 2) for n in (20, 50, 100)),
        lambda r: [below(logs(r, "highway", n), math.log10(3), less=logs(r, "highway", 20)) for n in (50, 100)],
    ),
    Claim(
        f"{PAPER}, Figure 1",
        "100 layers: highway better than plain by more than two orders of magnitude",
        ("optimization",),
        lambda r: f"a factor of {10 ** (logs(r, 'plain', 100).mean() - logs(r, 'highway', 100).mean()):.0f}",
        lambda r: [above(logs(r, "plain", 100), 2, less=logs(r, "highway", 100))],
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
        "SGD does not stall at 1000 layers",
        ("thousand_layers",),
        lambda r: "test accuracy " + shown(of(r["thousand_layers"]["trials"]["best"], "test_accuracy"), 4),
        lambda r: [above(of(r["thousand_layers"]["trials"]["best"], "test_accuracy"), 0.9)],
        note="its blocks are in use, though all of them together transform an image about once",
        against=STALL,
    ),
    Claim(
        f"{PAPER}, 2.2",
        "gate biases of -1, -2, -3 suit 10, 20, 30 layers (convolutional)",
        ("gate_bias",),
        lambda r: ", ".join(
            r["gate_bias"]["summary"][f"guideline_fate_{a}_{n}"] for n in (10, 20, 30) for a in ("tanh", "relu")
        ),
        lambda r: [
            r["gate_bias"]["summary"][f"guideline_fate_{a}_{n}"] == "trained"
            for n in (10, 20, 30)
            for a in ("tanh", "relu")
        ],
        note="fully connected nets; and -1 is what the convolutional nets of Table 1 have",
        one_run=True,
    ),
    Claim(
        f"{PAPER}, 2.2",
        "works for various initial distributions and activations",
        ("run_seeds", "optimization"),
        lambda r: "uniform, tanh {}; Glorot, tanh {}; He, ReLU {}".format(
            shown(runs(r, "highway", "final_test_acc")),
            *(shown(best(r, "test_accuracy", "highway", n), 4) for n in (100, 50)),
        ),
        lambda r: [
            above(runs(r, "highway", "final_test_acc"), 0.85),
            *(above(best(r, "test_accuracy", "highway", n), 0.95) for n in (100, 50)),
        ],
        note="three of each, at depths of 30, 100 and 50",
    ),
    Claim(
        f"{PAPER}, 2",
        "a carry gate of its own is not needed: C = 1 - T loses at most 0.003 of accuracy",
        ("blocks",),
        lambda r: (
            f"at 10 to 200 layers: {accuracies(r, 'highway', 50)}; "
            f"with a C of its own {accuracies(r, 'highway-carry', 50)}"
        ),
        lambda r: as_good(r, "highway", 50, "highway-carry", 50, 0.003),
        note="a C of its own takes half as many parameters again",
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
            f"{w} maps reach {100 * a:.2f} ± {100 * sd:.2f} % (our protocol: within 0.05)",
            ("table1",),
            lambda r, w=w: (
                f"{shown([100 * v for v in table_1(r, w, 'short')], 4)} with shifts; "
                f"{shown([100 * v for v in table_1(r, w, 'paper')], 4)} without, "
                f"in {table_1(r, w, 'paper', 'epochs')[0]} epochs"
            ),
            lambda r, w=w, a=a: [above(table_1(r, w, "short"), a - 0.0005)],
            note="the authors' 300 epochs without shifts are not tested: they take hours a seed",
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
        note="on a stand-in: Fashion-MNIST",
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
        note="the first half holds",
    ),
    Claim(
        f"{PAPER}, Figure 2",
        "most change happens in the first 15 layers or so",
        ("gates",),
        lambda r: f"a share of {said(r, 'gates', 'change_share_first_15')} in a share of 0.31 of the blocks",
        lambda r: [above(inside(r, "gates", "change_share_first_15"), 0.5)],
        note="a long tail follows",
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
        "closing an early layer raises the error, closing one of 15 to 45 does not",
        ("lesion",),
        lambda r: (
            f"last block that matters: {shown([last_that_matters(t) for t in lesions(r)], 2)}; "
            f"idle of 15 to 45: {shown([middle_share(t) for t in lesions(r)], 2)}"
        ),
        lambda r: [
            below([last_that_matters(t) for t in lesions(r)], 15),
            above([middle_share(t) for t in lesions(r)], 0.9),
        ],
        note="one at a time: with all idle ones closed together the net fails",
    ),
    Claim(
        f"{PAPER}, Figure 4",
        "about 60 % of the layers contribute nothing (45 to 75 %)",
        ("lesion",),
        lambda r: f"a share of {said(r, 'lesion', 'idle_share')}",
        lambda r: [within(inside(r, "lesion", "idle_share"), 0.45, 0.75)],
        note="more",
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
        note="not all of the first 40, as on CIFAR-100",
    ),
    Claim(
        BLOG,
        "20 plain fully connected layers stay under 15 % on MNIST",
        ("full_mnist",),
        lambda r: shown(of(r["full_mnist"]["trials"]["blog"], "test_accuracy", block="plain")),
        lambda r: [below(of(r["full_mnist"]["trials"]["blog"], "test_accuracy", block="plain"), 0.15)],
        note="with its settings; with settings searched for them plain nets of 20 layers train",
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
        note="a shallow net in disguise: no image sees its blocks",
    ),
    Claim(
        BLOG,
        "very high and very low gate biases fail to train in a reasonable time",
        ("gate_bias",),
        lambda r: "of the settings at 0 and above {:.0%} fail; at -10 and below {:.0%} leave their blocks idle".format(
            np.mean([fate != "trained" for fate in fates(r, 0, 99)]),
            np.mean([fate == "soft" for fate in fates(r, -99, -10)]),
        ),
        lambda r: [
            np.mean([fate != "trained" for fate in fates(r, 0, 99)]) > 0.5,
            np.mean([fate == "soft" for fate in fates(r, -99, -10)]) > 0.5,
        ],
        one_run=True,
    ),
    Claim(
        BLOG,
        "when in doubt, start more negative",
        ("gate_bias",),
        lambda r: "at -4 and below {:.0%} fail hard; at -10 and below {:.0%} train without their blocks".format(
            np.mean([fate == "hard" for fate in fates(r, -99, -4)]),
            np.mean([fate == "soft" for fate in fates(r, -99, -10)]),
        ),
        lambda r: ["hard" not in fates(r, -99, -4), "soft" not in fates(r, -99, -10)],
        note="safe, but at -10 the depth is for nothing",
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
        note="some seeds explode at 100 and 200 layers",
    ),
    Claim(
        ARTICLE,
        "early layers' gates open (T above 0.5), later ones close",
        ("blocks",),
        lambda r: (
            "mean T of the first/last third: "
            + ", ".join(
                f"{r['blocks']['summary'][f'mean_T_early_highway_{n}']['mean']:.2g}/{r['blocks']['summary'][f'mean_T_late_highway_{n}']['mean']:.2g}"
                for n in DEPTHS
            )
        ),
        lambda r: [
            all(
                r["blocks"]["summary"][f"mean_T_early_highway_{n}"]["mean"]
                > r["blocks"]["summary"][f"mean_T_late_highway_{n}"]["mean"]
                for n in DEPTHS
            ),
            any(r["blocks"]["summary"][f"mean_T_early_highway_{n}"]["mean"] > 0.5 for n in DEPTHS),
        ],
        note="the trend is there, nowhere near 1; the headline nets have the opposite trend",
    ),
    Claim(
        ARTICLE,
        STALL,
        ("blocks", "thousand_layers"),
        lambda r: (
            "highway loss at 20, 100, 200: "
            + ", ".join(shown(kind(r, "loss", "highway", n, 50), 2) for n in (20, 100, 200))
            + f"; 1000 layers: {shown(of(r['thousand_layers']['trials']['best'], 'test_accuracy'), 4)}"
        ),
        lambda r: (
            [
                above(
                    np.log10(kind(r, "loss", "highway", n, 50)),
                    math.log10(3),
                    less=np.log10(kind(r, "loss", "highway", 20, 50)),
                )
                for n in (100, 200)
            ]
            + [below(of(r["thousand_layers"]["trials"]["best"], "test_accuracy"), 0.9)]
        ),
        note="the factors compound at a given bias, but deeper nets take more closed gates; residual was tried to 200",
        against="SGD does not stall at 1000 layers",
    ),
    Claim(
        ARTICLE,
        "the identity part of a layer's Jacobian: none in plain, 1 in residual, 1 - T in highway",
        ("blocks",),
        lambda r: (
            "mean over 100 layers at the start: "
            + ", ".join(
                f"{b} {r['blocks']['summary'][f'identity_part_at_start_{b}_100']['mean']:.2g}"
                for b in ("plain", "residual", "highway")
            )
        ),
        lambda r: [
            r["blocks"]["summary"]["identity_part_at_start_plain_100"]["mean"] == 0,
            r["blocks"]["summary"]["identity_part_at_start_residual_100"]["mean"] == 1,
            0 < r["blocks"]["summary"]["identity_part_at_start_highway_100"]["mean"] < 1,
        ],
        note="algebra: the gradient tests check it to 1e-12",
    ),
    Claim(
        ARTICLE,
        "residual is as effective with half the parameters (within 0.003 of accuracy)",
        ("blocks",),
        lambda r: (
            f"width 50, 10 to 200 layers: {accuracies(r, 'residual', 50)}; highway {accuracies(r, 'highway', 50)}"
        ),
        lambda r: as_good(r, "residual", 50, "highway", 50, 0.003),
    ),
    Claim(
        ARTICLE,
        "effective depth differs by input (less than half of T's variance is the same for all)",
        ("routing",),
        lambda r: f"a share of {said(r, 'routing', 'static_variance_share', 2)} is",
        lambda r: [below(inside(r, "routing", "static_variance_share"), 0.5)],
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
        "a factor model's mean gate says how complex the regime is",
        ("factor_model",),
        lambda r: (
            f"AUC {shown(factor(r, 'auc_gate', 'both'), 2)}, at equal norm "
            f"{shown(factor(r, 'auc_gate_at_equal_norm', 'both'), 2)}; volatile but linear: "
            f"{shown(factor(r, 'auc_gate', 'volatile'), 2)}; "
            f"non-linear only: {shown(factor(r, 'auc_gate', 'non-linear'), 2)}"
        ),
        lambda r: [
            above(factor(r, "auc_gate", "both"), 0.5),
            within(factor(r, "auc_gate", "volatile"), 0.45, 0.55),
            above(factor(r, "auc_gate", "non-linear"), 0.55),
            above(factor(r, "auc_gate_at_equal_norm", "both"), 0.55),
        ],
        note="four parts: regimes; not volatility alone; non-linearity alone; more than the norm does",
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
        note="Adam, at the rate that a short run selects, loses a seed",
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
        note="what T tells is in the states it is computed from",
    ),
    Claim(
        f"{PROGRAM}, open",
        "the carry path saves data movement in training (by 5 % at least, as many parameters)",
        ("data_movement",),
        lambda r: "cost over that of plain {:.2f}, of residual {:.2f}".format(
            *(r["data_movement"]["summary"][f"highway_over_{b}_as_many_parameters"] for b in ("plain", "residual"))
        ),
        lambda r: [
            r["data_movement"]["summary"][f"highway_over_{b}_as_many_parameters"] < 0.95 for b in ("plain", "residual")
        ],
        note="the price is exact: no seeds",
    ),
    Claim(
        f"{PROGRAM}, open",
        "skipping shut blocks saves a tenth of the movement at most 0.01 of accuracy",
        ("data_movement",),
        lambda r: "; ".join(
            f"{policy}: {value['mean']:.2f} ± {value['sd']:.2f}"
            for policy in ("known", "computed", "unit")
            for value in [r["data_movement"]["summary"][f"saved_{policy}_at_a_point"]]
        ),
        lambda r: [
            above([choice(t, policy, 0.01)[0] for t in r["data_movement"]["trials"]["trained"]], 0.1)
            for policy in ("known", "computed", "unit")
        ],
        note="in the nets of 50 layers; shares of the cost of the blocks",
    ),
)


# ---- The table -------------------------------------------------------------------------------------------------------


def verdict(claim: Claim, records: dict) -> str:
    outcome = claim.rule(records)
    if isinstance(outcome, str):
        return outcome
    return judged([None if part is None else bool(part) for part in outcome]) + (", one run" if claim.one_run else "")


def rows(records: dict) -> list[dict]:
    """The ledger: of each claim what is claimed, measured and concluded, with the command and its minutes."""
    verdicts = {claim.says: verdict(claim, records) for claim in CLAIMS}
    result = []
    for claim in CLAIMS:
        own = verdicts[claim.says]
        if claim.against:
            right = [own.startswith("reproduced"), verdicts[claim.against].startswith("reproduced")]
            other = next(each.source for each in CLAIMS if each.says == claim.against)
            who = {(True, False): claim.source, (False, True): other}.get(tuple(right), "neither")
            own += f"; against the {other if who == claim.source else claim.source}, the {who} is right"
        commands = [command(name, records[name]) for name in claim.files]
        minutes = sum(core_seconds(records[name]) for name in claim.files) / 120
        result.append(
            {
                "source": claim.source,
                "claim": claim.says,
                "ours": claim.ours(records),
                "verdict": own,
                "note": claim.note,
            }
            | {"files": list(claim.files), "commands": commands, "minutes_on_two_cores": round(minutes, 1)}
        )
    return result


def command(name: str, record: dict) -> str:
    return record.get("command") or RESULTS[name][1]


def core_seconds(record: dict) -> float:
    if "runs" in record:
        return sum(pair["wallclock_sec"] for pair in record["runs"])
    trials = record["trials"]
    groups = trials.values() if isinstance(trials, dict) else [trials]
    return sum(t["seconds"] for group in groups for t in group)


def markdown(ledger: list[dict]) -> str:
    """The README's table."""
    lines = ["| where | what it says | ours | verdict | by |", "| --- | --- | --- | --- | --- |"]
    for row in ledger:
        by = ", ".join(f"`{name}`" for name in row["files"]) if not row["verdict"].startswith("not tested") else "-"
        note = f": {row['note']}" if row["note"] else ""
        lines.append(f"| {row['source']} | {row['claim']} | {row['ours']} | **{row['verdict']}**{note} | {by} |")
    return "\n".join(lines)


def counts(ledger: list[dict]) -> dict:
    """How many rows have each verdict."""
    kinds = ("reproduced", "in part", "not reproduced", "not clear", "not tested")
    return {name.replace(" ", "_"): sum(row["verdict"].startswith(name) for row in ledger) for name in kinds}


def main(argv=None) -> None:
    p = argparse.ArgumentParser(prog="python -m experiments.claims", description=__doc__.split("\n")[0])
    p.parse_args(argv)
    path = hn.HERE / "results" / "claims.json"
    hn.check_writable(path)
    ledger = rows(read(hn.HERE))
    head = {"experiment": "claims", "source": "all of them", "command": "python -m experiments.claims", "settings": {}}
    hn.write_json(path, head | {"env": hn.environment(), "summary": counts(ledger), "trials": ledger})
    print(markdown(ledger))
    print(f"saved to {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(end(main))
