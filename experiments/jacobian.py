"""What is a way past every layer?  The Jacobian of every block of a net, by complex step and by the formula.

    python -m experiments.jacobian            -> results/jacobian.json

An encyclopedia article: a layer's Jacobian is T dH/dx + (1 - T) I + dT/dx (H - x); a plain layer has no I, a residual
one all of it.  For one image, with outputs as rows and inputs as columns, H' = 1 - H^2:

    highway     J = diag(T H') W_H + diag(1 - T) + diag((H - x) T (1 - T)) W_T
    residual    J = diag(H') W_H + I
    plain       J = diag(H') W_H

The three kinds of net differ in nothing but the block: 50 layers, all of width 50 and tanh, as many epochs, three seeds
that selected nothing, each with the setting that the search in results/blocks.json found best for tanh (plain: of width
71, as there).  They are looked at before and after training, on test images, which select nothing here:

- the difference: of a block and an image the largest entry of |J - formula| over the largest of |J|, where J is taken
  by complex step, a column for each unit; the worst of all blocks and images.
- the size of each of the formula's terms: its Frobenius norm over that of I.
- the singular values of J, and of the product of the J of block l to the last: by these factors the net stretches
  changes of what block l sees, and gradients on their way back to it.  The largest, the median, the smallest; geometric
  means over images.  What is below 1e-15 of the largest is lost in rounding and counted as that.
- how many directions pass from block l to the end: the product's singular values of 0.01 and more, a mean over images.

Written down before the runs.  The formula holds where the difference is at most 1e-12, to which gradients are tested.
Information flows unimpeded (the paper's abstract) where half of the directions keep half of their length from the first
block to the end: where the median singular value of the whole product is above 0.5.  Expected: before training all 50
directions pass a residual and a highway net, and fewer than half of them a plain one; after it the same.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np

import highway_networks as hn
from experiments import layer_by_layer, training
from experiments.ledger import Claim, above, mean_sd_n, print_results, shown_in
from experiments.search import over_seeds, ranked
from experiments.trials import Experiment, run_and_exit
from plumbing.files import ROOT, InputError
from plumbing.records import load_results

BUDGETS = {
    "quick": {"layers": 8, "epochs": 1, "seeds": 2, "looked_at": 3, "n_train": 256, "n_test": 100},
    "default": {"layers": 50, "epochs": 10, "seeds": 3, "looked_at": 20, **training.ALL},
    "full": {"layers": 50, "epochs": 100, "seeds": 5, "looked_at": 100, **training.ALL},
}
WIDTH, SEARCHED_WIDTH = 50, {"highway": 50, "plain": 71, "residual": 50}
SETTING = ("block", "activation", "rate", "momentum", "decay", "gate_bias", "scale", "clip")
STEP = 1e-30  # imaginary
EXACT, PASSES, HALF, LOST = 1e-12, 0.01, 0.5, 1e-15
WHEN = ("at_start", "trained")
STRETCHES = ("largest", "median", "smallest")


def settings(s: dict) -> list[dict]:
    """One of each kind, as the search of `blocks` found them; raises InputError where its results have none."""
    path = ROOT / "results" / "blocks.json"
    try:
        tried, common = load_results(path)["trials"]["search"], {"activation": "tanh", "layers": 50}
        bests = [ranked(tried, block=block, width=at, **common)[0] for block, at in SEARCHED_WIDTH.items()]
    except (LookupError, TypeError) as error:
        raise InputError(f"{path} has no search of tanh nets of 50 layers: python -m experiments.blocks") from error
    own = {"width": WIDTH, **{name: s[name] for name in ("layers", "epochs", "n_train", "n_test", "looked_at")}}
    return [{name: t[name] for name in SETTING if name in t} | own for t in bests]


def by_complex_step(net: hn.DeepNet, layer: int, x: np.ndarray) -> np.ndarray:
    """x (N, hidden) -> J (N, hidden, hidden) of one block of a complex128 net: J_ij = Im y_i(x + i STEP e_j) / STEP."""
    n, h = x.shape
    moved = (x[:, None] + 1j * STEP * np.eye(h)).reshape(n * h, h)  # of each image h copies, one unit moved in each
    _, y = layer_by_layer.block(net, layer, moved)
    return y.imag.reshape(n, h, h).transpose(0, 2, 1) / STEP


def by_formula(net: hn.DeepNet, layer: int, x: np.ndarray) -> list[np.ndarray]:
    """x (N, hidden) -> the terms of J (N, hidden, hidden) of one block, from its parameters alone."""
    z = x @ net.W_H[layer].T + net.b_H[layer]
    H = np.empty_like(z)
    dH_dz = np.empty_like(z)
    net.activation.value(z, H)
    net.activation.slope(z, H, dH_dz)
    dH_dx, eye = dH_dz[:, :, None] * net.W_H[layer], np.eye(net.hidden)
    if net.block.name == "plain":
        return [dH_dx]
    if net.block.name == "residual":
        return [dH_dx, np.broadcast_to(eye, dH_dx.shape)]
    T = 1 / (1 + np.exp(-(x @ net.W_T[layer].T + net.b_T[layer])))
    dT_dx = (T * (1 - T))[:, :, None] * net.W_T[layer]
    return [T[:, :, None] * dH_dx, (1 - T)[:, :, None] * eye, (H - x)[:, :, None] * dT_dx]


def look(net: hn.DeepNet, x: np.ndarray) -> dict:
    """What the docstring above defines, of images x (N, 784); lists have an entry a block."""
    net, twin = layer_by_layer.in_dtype(net, np.float64), layer_by_layer.in_dtype(net, np.complex128)
    jacobians, differences, sizes = [], [], []
    for layer, _, state, _ in layer_by_layer.walk(net, layer_by_layer.first(net, x)):
        J, terms = by_complex_step(twin, layer, state), by_formula(net, layer, state)
        error = np.abs(J - sum(terms)).max(axis=(1, 2)) / np.abs(J).max(axis=(1, 2))
        differences.append(error.max())
        sizes.append([np.linalg.norm(term, axis=(1, 2)).mean() / net.hidden**0.5 for term in terms])
        jacobians.append(J)
    products = [jacobians[-1]]
    for J in jacobians[-2::-1]:
        products.insert(0, products[0] @ J)
    of_blocks, of_products = (np.linalg.svd(np.array(each), compute_uv=False) for each in (jacobians, products))
    return {
        "difference": float(max(differences)),
        "sizes_of_terms": digits(sizes),
        "block": digits(stretches(of_blocks)),
        "to_the_end": digits(stretches(of_products)),
        "directions_that_pass": digits((of_products >= PASSES).sum(axis=2).mean(axis=1)),
    }


def stretches(values: np.ndarray) -> np.ndarray:
    """Singular values (blocks, N, hidden), the largest first -> their STRETCHES (blocks, 3)."""
    logs = np.log(np.maximum(values, LOST * values[..., :1]))
    return np.exp(np.stack([logs[..., 0], np.median(logs, axis=2), logs[..., -1]], axis=2).mean(axis=1))


def digits(array) -> list:
    """Four of each number."""
    return [digits(each) if np.ndim(each) else float(f"{each:.4g}") for each in array]


def trial(t: dict) -> dict:
    x = training.images_of(t)[2][: t["looked_at"]]
    net, result = training.train(t)
    return result | {
        "at_start": look(training.make(t), x),
        "trained": None if result["diverged"] else look(net, x),
    }


def main(argv=None) -> None:
    e = Experiment("jacobian", __doc__, BUDGETS, argv)
    trials = training.run(e, over_seeds(settings(e.settings), e.settings), trial)
    record = e.save("an encyclopedia article on highway networks; the paper, abstract", summarise(trials), trials)
    print_results(CLAIMS, record)


def seen(trials: list[dict], block: str, when: str, number) -> list:
    """number(look) of each net of this kind; None of one that diverged."""
    return [t[when] and number(t[when]) for t in trials if t["block"] == block]


def from_the_first(name: str):
    """Of a look: this stretch of the whole product."""
    return lambda look: look["to_the_end"][0][STRETCHES.index(name)]


def summarise(trials: list[dict]) -> dict:
    summary = {}
    for block in SEARCHED_WIDTH:
        own = [t for t in trials if t["block"] == block]
        for name in ("test_accuracy", "loss"):
            summary[f"{name}_{block}"] = mean_sd_n([t[name] for t in own])
        names = [name for name in ("rate", "gate_bias", "scale") if name in own[0]]
        summary[f"setting_{block}"] = ", ".join(f"{name} {own[0][name]}" for name in names)
        for when in WHEN:
            worst = [each for each in seen(trials, block, when, lambda look: look["difference"]) if each is not None]
            summary[f"difference_{block}_{when}"] = max(worst, default=None)
            passing = seen(trials, block, when, lambda look: look["directions_that_pass"][0])
            summary[f"directions_that_pass_{block}_{when}"] = mean_sd_n(passing)
            for name in STRETCHES:
                values = seen(trials, block, when, from_the_first(name))
                summary[f"{name}_to_the_end_{block}_{when}"] = mean_sd_n(values)
            for k in range(len(own[0][when]["sizes_of_terms"][0]) if own[0][when] else 0):
                values = seen(trials, block, when, lambda look, k=k: np.mean(look["sizes_of_terms"], axis=0)[k])
                summary[f"size_of_term_{k + 1}_{block}_{when}"] = mean_sd_n(values)
    return summary


def differences(r: dict) -> list[list]:
    """Of highway, plain, residual: over seeds, before and after training."""
    return [
        [each for when in WHEN for each in seen(r["trials"], block, when, lambda look: look["difference"])]
        for block in SEARCHED_WIDTH
    ]


CLAIMS = [
    Claim(
        "encyclopedia article",
        "a layer's Jacobian is T dH/dx + (1 - T) I + dT/dx (H - x): plain has no I, residual all of it (within 1e-12)",
        values=differences,
        ours=lambda *kinds: (
            "largest relative difference to the complex step: "
            + ", ".join(
                f"{block} {max(filter(None, values), default=0):.0e}"
                for block, values in zip(SEARCHED_WIDTH, kinds, strict=True)
            )
        ),
        holds=lambda *kinds: [None if None in values else max(values) <= EXACT for values in kinds],
    ),
    Claim(
        "paper, abstract",
        "information flows unimpeded across many layers (half of the directions keep half of their length through "
        "49 blocks, before and after training)",
        values=lambda r: [seen(r["trials"], "highway", when, from_the_first("median")) for when in WHEN],
        ours=shown_in("median singular value of the product of all Jacobians {} before training, {} after"),
        holds=lambda *medians: [above(each, HALF) for each in medians],
    ),
]


if __name__ == "__main__":
    run_and_exit("jacobian")
