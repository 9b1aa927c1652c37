"""What does a gate buy?  Plain, residual, highway, and highway blocks with a carry gate of their own, side by side.

    python -m experiments.blocks            -> results/blocks.json

An encyclopedia article: residual blocks, y = x + H, are as effective with half the parameters; highway nets struggle
beyond about 100 layers, because the factors 1 - T of the gradient's identity part compound; early layers' gates tend to
open, later ones close.  The paper (eq. 2) has a carry gate C = 1 - T to save the parameters of one of its own.

Matched parameters, about 5100 a layer: widths 50 (highway), 71 (plain, residual), 41 (highway-carry); and matched
width, 50.  For each of these nets and each depth the same budget: a random search of as many trials, in ranges where
pilot runs had found the kind to learn, its two best trained as long as the final runs, the lower training loss taken,
then seeds that selected nothing.  Only the plain and the highway-carry net of width 50 take the setting of their other
width.  The ranges were moved once, after the first search: down for the rates of residual ReLU nets, up for those of
plain nets from 50 layers on, wider for the gate biases at 10 and 50 layers, where the best lay at an end.

A residual block has no gate that is shut at the start; what takes its place is a scale on W_H at the start between 1/L
and 1/sqrt(L).  The trials "unscaled" are the first four of each search without it.

Margins were set before the final runs.  A kind is as good as another where its mean test accuracy is at most 0.002
less.  It struggles where its training loss is over three times its own at 20 layers.  Early and late are the first and
the last third of the blocks.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np
from fully_connected.search import drawn, log_uniform, over_seeds, ranked, search
from fully_connected.trials import Experiment, run_and_exit

import highway_networks as hn
from claims.rules import (
    Claim,
    above,
    below,
    compared,
    in_ratio,
    mean_sd_n,
    of,
    print_claims,
    shown,
    shown_in,
    with_more_seeds,
)  # fmt: skip
from training import fully_connected, layer_by_layer

FEW = {"n_train": 256, "n_test": 100}  # images
LAYERS = (10, 20, 50, 100, 200)
BUDGETS = {
    "quick": {"layers": (10, 20), "trials": 2, "search_epochs": 1, "epochs": 1, "seeds": 2, **FEW},
    "default": {"layers": LAYERS, "trials": 10, "search_epochs": 3, "epochs": 10, "seeds": 3, **fully_connected.ALL},
    "full": {"layers": LAYERS, "trials": 100, "search_epochs": 20, "epochs": 100, "seeds": 5, **fully_connected.ALL},
}
WIDTH = {"plain": 71, "residual": 71, "highway": 50, "highway-carry": 41}  # about as many parameters a layer
SEEDED = ("highway", "plain", "residual", "highway-carry")  # a search is seeded by a kind's place here
MATCHED_WIDTH = 50
SEARCHED = [*WIDTH.items(), ("residual", MATCHED_WIDTH)]
AS_SEARCHED = {("plain", MATCHED_WIDTH): 71, ("highway-carry", MATCHED_WIDTH): 41}  # whose setting they take
RATES = {  # lr / (1 - momentum), log-uniform
    "plain": {
        10: {"tanh": (0.3, 1), "relu": (0.1, 0.4)},
        20: {"tanh": (0.1, 0.4), "relu": (0.03, 0.2)},
        50: {"tanh": (0.05, 0.4), "relu": (0.02, 0.2)},
        100: {"tanh": (0.03, 0.2), "relu": (0.01, 0.1)},
        200: {"tanh": (0.01, 0.1), "relu": (0.005, 0.05)},
    },
    "residual": {n: {"tanh": (0.05, 0.7), "relu": (0.2, 2.5)} for n in LAYERS},
    "highway": {n: {"tanh": (2, 6), "relu": (1, 3)} for n in LAYERS},
}
RATES["highway-carry"] = RATES["highway"]
GATE_BIASES = {10: (-3, -1), 20: (-4, -2), 50: (-5.5, -3.5), 100: (-5.5, -4), 200: (-6.5, -4.5)}
DECAY = {"quick": 0.85, "default": 0.85, "full": 0.97}  # an epoch; of all kinds alike
MARGIN, LEARNED, STRUGGLES, OPEN = 0.002, 0.9, 3, 0.5
LOOKED_AT = 256  # test images, for the gates and for the gradient


def sample(kind: tuple, k: int, e: Experiment) -> dict:
    """Every other one is a tanh net."""
    block, width, layers = kind
    rng = np.random.default_rng([k, layers, SEEDED.index(block), 6])
    t = {"block": block, "width": width, "layers": layers, "activation": ("tanh", "relu")[k % 2]}
    t["rate"] = four_digits(log_uniform(rng, *RATES[block][layers][t["activation"]]))
    t |= {"momentum": 0.9, "decay": DECAY[e.budget]}
    if block == "residual":
        t["scale"] = four_digits(log_uniform(rng, 1 / layers, layers**-0.5))
    elif hn.BLOCKS[block].gates:
        t["gate_bias"] = round(rng.uniform(*GATE_BIASES[layers]), 2)
    return t


def four_digits(value: float) -> float:
    return float(f"{value:.4g}")


def gradient_by_layer(net: hn.DeepNet, t: dict) -> dict:
    """The gradient of the loss at every layer, and the identity part; no numbers where they overflow."""
    x, y = (each[:LOOKED_AT] for each in fully_connected.images_of(t)[2:])
    with np.errstate(all="ignore"):
        norms, identity = layer_by_layer.gradient_flow(net, x, y)
    return {"gradient": norms, "identity_part": identity}


def final_trial(t: dict) -> dict:
    net, result = fully_connected.train(t)
    if t["width"] == WIDTH[t["block"]] and not result["diverged"]:
        result |= {"at_start": gradient_by_layer(fully_connected.make(t), t), "trained": gradient_by_layer(net, t)}
        if net.block.gates:
            result["mean_T"] = [round(T, 5) for T in hn.mean_gates(net, fully_connected.images_of(t)[2][:LOOKED_AT])]
    return result


def main(argv=None) -> None:
    e = Experiment("blocks", __doc__, BUDGETS, argv)
    s = e.settings
    kinds = [(*net, layers) for layers in reversed(s["layers"]) for net in SEARCHED]
    trials, bests = search(e, kinds, sample)
    bests += [
        t | {"width": w} for (b, w), at in AS_SEARCHED.items() for t in bests if (t["block"], t["width"]) == (b, at)
    ]
    trials["final"] = fully_connected.run(e, over_seeds(bests, s), final_trial)
    unscaled = [t | {"scale": 1.0} for n in s["layers"] for t in drawn(sample, ("residual", 71, n), e)[:4]]
    trials["unscaled"] = fully_connected.run(e, unscaled)
    record = e.save("an encyclopedia article on highway networks; the paper, section 2", summarise(trials, s), trials)
    print_claims(CLAIMS, record)


def summarise(trials: dict, s: dict) -> dict:
    summary = {}
    for layers in s["layers"]:
        for block, width in WIDTH.items():
            for suffix, at in (("", width), ("_width_50", MATCHED_WIDTH)):
                runs = ranked(trials["final"], block=block, width=at, layers=layers)
                summary[f"test_accuracy_{block}_{layers}{suffix}"] = mean_sd_n([t["test_accuracy"] for t in runs])
                summary[f"final_loss_{block}_{layers}{suffix}"] = mean_sd_n([t["loss"] for t in runs])
                names = [name for name in ("activation", "rate", "gate_bias", "scale") if name in runs[0]]
                summary[f"best_{block}_{layers}{suffix}"] = ", ".join(f"{name} {runs[0][name]}" for name in names)
            runs = ranked(trials["final"], block=block, width=width, layers=layers)
            for when in ("at_start", "trained"):
                looks = [t.get(when, {"gradient": [None], "identity_part": None}) for t in runs]
                ratios = mean_sd_n([ratio(look["gradient"]) for look in looks])
                summary[f"gradient_first_over_last_{when}_{block}_{layers}"] = ratios
                summary[f"identity_part_{when}_{block}_{layers}"] = mean_sd_n([look["identity_part"] for look in looks])
            if hn.BLOCKS[block].gates:
                thirds = [early_and_late(t["mean_T"]) if "mean_T" in t else (None, None) for t in runs]
                for name, values in zip(("early", "late"), zip(*thirds, strict=True), strict=True):
                    summary[f"mean_T_{name}_{block}_{layers}"] = mean_sd_n(values)
        bare = ranked(trials["unscaled"], block="residual", width=71, layers=layers)
        searched, rates = ranked(trials["search"], block="residual", width=71, layers=layers), {t["rate"] for t in bare}
        scaled = [t for t in searched if t["rate"] in rates]
        for name, own in (("unscaled", bare), ("scaled", scaled)):  # the same settings, but for the scale
            summary[f"best_loss_residual_{name}_{layers}"] = own[0]["loss"]
            relu = next((t["loss"] for t in own if t["activation"] == "relu"), None)  # None: all of them diverged
            summary[f"best_loss_residual_{name}_relu_{layers}"] = relu
    for block, width in WIDTH.items():
        net = fully_connected.make({"block": block, "width": width, "layers": 2, "activation": "tanh", "seed": 0})
        summary[f"parameters_per_layer_{block}"] = net._blocks[0].size
    return summary


def ratio(norms: list[float]) -> float | None:
    """The gradient at the first layer over that at the last."""
    return norms[0] / norms[-1] if norms[-1] and None not in (norms[0], norms[-1]) else None


def early_and_late(mean_T: list[float]) -> tuple[float, float]:
    third = max(len(mean_T) // 3, 1)
    return float(np.mean(mean_T[:third])), float(np.mean(mean_T[-third:]))


def by_depth(r: dict, name: str, block: str, width: int) -> dict[int, list]:
    wanted = {"block": block, "width": width}
    return {n: of(r["trials"]["final"], name, layers=n, **wanted) for n in r["settings"]["layers"]}


def accuracies(*nets: tuple[str, int]):
    """Test accuracies of nets of this block and width, of a record alone or with more seeds."""
    return lambda *records: [by_depth(with_more_seeds(*records), "test_accuracy", *net) for net in nets]


def losses(r: dict, *depths: int) -> list[list]:
    return [of(r["trials"]["final"], "loss", block="highway", width=MATCHED_WIDTH, layers=n) for n in depths]


def fading(r: dict, layers: int) -> list[float | None]:
    """The gradient at the first layer over that at the last, of trained highway nets."""
    return [ratio(look["gradient"]) for look in of(r["trials"]["final"], "trained", block="highway", layers=layers)]


def thirds(r: dict) -> list[dict]:
    """Of each depth mean T of the first and of the last third of highway blocks, over seeds."""
    gates = by_depth(r, "mean_T", "highway", MATCHED_WIDTH)
    return [{n: tuple(zip(*map(early_and_late, seeds), strict=True)) for n, seeds in gates.items()}]


def ends(of_depths: dict) -> str:
    return f"{min(of_depths)} to {max(of_depths)} layers"


def means(accuracies: dict[int, list]) -> str:
    """Depth by depth; a seed that is lost counts as 0."""
    return ", ".join(f"{np.mean([each or 0 for each in seeds]):.4f}" for seeds in accuracies.values())


def as_good(margin: float, ours: dict[int, list], theirs: dict[int, list]) -> list[bool | None]:
    """At each depth: no worse than the other by more than the margin."""
    return [compared(above, ours[n], theirs[n], -margin) for n in ours]


CLAIMS = [
    Claim(
        "paper, 2",
        f"a carry gate of its own is not needed: C = 1 - T loses at most {MARGIN} of accuracy",
        over=("blocks", "more_seeds"),
        values=accuracies(("highway", 50), ("highway-carry", 50)),
        ours=lambda highway, own: f"at {ends(own)}: {means(highway)}; with a C of its own {means(own)}",
        holds=partial(as_good, MARGIN),
    ),
    Claim(
        "encyclopedia article",
        "the general form y = H T + x C with a carry gate of its own (eq. 2), trains",
        values=accuracies(("highway-carry", 41), ("highway-carry", 50)),
        ours=lambda narrow, wide: (
            f"test accuracy of width 50: {means(wide)}; "
            f"of width 41 at {max(narrow)} layers: {shown(narrow[max(narrow)])}"
        ),
        holds=lambda narrow, wide: [
            None not in seeds and above(seeds, LEARNED) for seeds in (*narrow.values(), *wide.values())
        ],
    ),
    Claim(
        "encyclopedia article",
        "early layers' gates are more open than later ones (first and last third), and above 0.5",
        values=thirds,
        ours=lambda thirds: (
            f"mean T at {ends(thirds)}: "
            + ", ".join("/".join(f"{np.mean(T):.2g}" for T in pair) for pair in thirds.values())
        ),
        holds=lambda thirds: [
            *(above(early, 0, less=late) for early, late in thirds.values()),
            *(above(early, OPEN) for early, _ in thirds.values()),
        ],
    ),
    Claim(
        "encyclopedia article",
        "highway nets struggle beyond about 100 layers (a loss over three times that of 20, or none at 1000)",
        over=("blocks", "thousand_layers"),
        values=lambda r, deepest: [*losses(r, 20, 100, 200), of(deepest["trials"]["best"], "test_accuracy")],
        ours=lambda *losses: (
            f"loss at 20, 100, 200: {shown(*losses[:-1], digits=2)}; accuracy at 1000: {shown(losses[-1], digits=4)}"
        ),
        holds=lambda at_20, at_100, at_200, at_1000: [
            *(in_ratio(above, loss, STRUGGLES, less=at_20) for loss in (at_100, at_200)),
            below(at_1000, LEARNED),
        ],
    ),
    Claim(
        "encyclopedia article",
        "... because the factors 1 - T compound: the gradient fades (to less than half over 100 and 200 layers)",
        over=("blocks", "more_seeds"),
        values=lambda *records: [fading(with_more_seeds(*records), layers) for layers in (100, 200)],
        ours=shown_in("first layer's over last's: {}, {}", 2),
        holds=lambda *ratios: [below(each, 0.5) for each in ratios],
    ),
    Claim(
        "encyclopedia article",
        f"residual is as effective with half the parameters (within {MARGIN} of accuracy)",
        over=("blocks", "more_seeds"),
        values=accuracies(("residual", 50), ("highway", 50)),
        ours=lambda residual, highway: f"width 50, {ends(highway)}: {means(residual)}; highway {means(highway)}",
        holds=partial(as_good, MARGIN),
    ),
    Claim(
        "published program, open",
        "highway against residual at matched depth and parameters: residual is the better one",
        values=accuracies(("residual", 71), ("highway", 50)),
        ours=lambda residual, highway: f"highway {means(highway)}; residual of width 71 {means(residual)}",
        holds=partial(as_good, 0),
    ),
]


if __name__ == "__main__":
    run_and_exit("blocks")
