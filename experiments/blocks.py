"""What does a gate buy?  Plain, residual, highway, and highway blocks with a carry gate of their own, side by side.

    python -m experiments.blocks            -> results/blocks.json

An encyclopedia article: residual blocks, y = x + H, are as effective with half the parameters; highway nets struggle
beyond about 100 layers, because the factors 1 - T of the gradient's identity part compound; early layers' gates tend to
open, later ones close.  The paper (eq. 2) has a carry gate C = 1 - T to save the parameters of one of its own.

Every pair of block and depth gets the same budget: a random search as in the experiment `optimization`, each in ranges
where pilot runs had found it to learn, its two best trained as long as the final runs, the lower training loss taken,
then seeds that selected nothing.  Searched at matched parameters, about 5100 a layer: widths 50 (highway), 71 (plain,
residual), 41 (highway-carry).  The same setting then also at matched width, 50.  A residual block has no gate that is
shut at the start; what takes its place is a scale on W_H at the start between 1/L and 1/sqrt(L).  The trials "unscaled"
are without, at a low and a high rate.

The rules of the verdicts were set before the final runs: "as effective" is a mean test accuracy of at most 0.002 less;
a kind struggles where its training loss is over three times its own at 20 layers; early and late are the first and the
last third of the blocks.
"""

from __future__ import annotations

import sys

import numpy as np

import highway_networks as hn
from experiments import deep, inside
from experiments.trials import Experiment, end, show, spread, text

BUDGETS = {
    "quick": {
        "layers": (10, 20), "trials": 2, "search_epochs": 1, "epochs": 1, "seeds": 2, "n_train": 640, "n_test": 200,
    },
    "default": {
        "layers": (10, 20, 50, 100, 200), "trials": 10, "search_epochs": 3, "epochs": 10, "seeds": 3,
        "n_train": 60000, "n_test": 10000,
    },
    "full": {
        "layers": (10, 20, 50, 100, 200), "trials": 100, "search_epochs": 20, "epochs": 100, "seeds": 5,
        "n_train": 60000, "n_test": 10000,
    },
}  # fmt: skip
WIDTH = {"plain": 71, "residual": 71, "highway": 50, "highway-carry": 41}
MATCHED_WIDTH = 50
RATES = {  # lr / (1 - momentum), log-uniform
    "plain": {
        10: {"tanh": (0.3, 1), "relu": (0.1, 0.4)},
        20: {"tanh": (0.1, 0.4), "relu": (0.03, 0.2)},
        50: {"tanh": (0.03, 0.2), "relu": (0.01, 0.1)},
        100: {"tanh": (0.01, 0.08), "relu": (0.003, 0.05)},
        200: {"tanh": (0.005, 0.04), "relu": (0.0015, 0.025)},
    },
    "residual": {n: {"tanh": (0.05, 0.7), "relu": (0.5, 4)} for n in (10, 20, 50, 100, 200)},
    "highway": {n: {"tanh": (2, 6), "relu": (1, 3)} for n in (10, 20, 50, 100, 200)},
}
RATES["highway-carry"] = RATES["highway"]
GATE_BIASES = {10: (-3, -1.5), 20: (-4, -2), 50: (-5, -3.5), 100: (-5.5, -4), 200: (-6.5, -4.5)}
DECAY = {"quick": 0.85, "default": 0.85, "full": 0.97}  # an epoch; of all kinds alike
MARGIN, STRUGGLES = 0.002, 3
LOOKED_AT = 256  # test images, for the gates and for the gradient


def sample(block: str, layers: int, k: int, e: Experiment) -> dict:
    """The k-th trial of a search; every other one is a tanh net."""
    rng, s = np.random.default_rng([k, layers, hn.BLOCKS.index(block), 6]), e.settings
    t = {"block": block, "width": WIDTH[block], "layers": layers, "activation": ("tanh", "relu")[k % 2]}
    t["rate"] = log_uniform(rng, *RATES[block][layers][t["activation"]])
    t |= {"momentum": 0.9, "decay": DECAY[e.budget]}
    if block == "residual":
        t["scale"] = log_uniform(rng, 1 / layers, layers**-0.5)
    elif hn.GATES[block]:
        t["gate_bias"] = round(rng.uniform(*GATE_BIASES[layers]), 2)
    return t | {"clip": 1.0, "seed": 0, "epochs": s["search_epochs"], "n_train": s["n_train"], "n_test": s["n_test"]}


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.4g}")


def look(net: hn.DeepNet, t: dict) -> dict:
    """The gradient of the loss at every layer, and the identity part; no numbers where they overflow."""
    x, y = (each[:LOOKED_AT] for each in deep.images(t["n_train"], t["n_test"])[2:])
    with np.errstate(all="ignore"):
        norms, identity = inside.gradient_flow(net, x, y)
    return {"gradient": norms, "identity_part": identity}


def final_trial(t: dict) -> dict:
    before = look(deep.make(t), t)
    net, result = deep.train(t)
    if t["width"] == WIDTH[t["block"]] and not result["diverged"]:
        result |= {"at_start": before, "trained": look(net, t)}
        if hn.GATES[net.block]:
            gates = hn.mean_gates(net, deep.images(t["n_train"], t["n_test"])[2][:LOOKED_AT])
            result["mean_T"] = [round(T, 5) for T in gates]
    return result


def main(argv=None) -> None:
    e = Experiment("blocks", __doc__, BUDGETS, argv)
    s = e.settings
    kinds = [(block, layers) for layers in reversed(s["layers"]) for block in WIDTH]
    searched = e.run(deep.trial, [sample(*kind, k, e) for kind in kinds for k in range(s["trials"])])
    heats = e.run(deep.trial, [t for kind in kinds for t in again(best(searched, *kind)[:2], s, seed=0)])
    bests = [best(heats, *kind)[0] for kind in kinds]
    seeds, final = range(1, s["seeds"] + 1), []
    for width in (None, MATCHED_WIDTH):
        final += [again([t | {"width": width or t["width"]}], s, seed)[0] for t in bests for seed in seeds]
    final = [t for i, t in enumerate(final) if t not in final[:i]]  # a highway net's two widths are one
    unscaled = [
        sample("residual", n, 0, e) | {"activation": activation, "rate": rate, "scale": 1.0}
        for n in s["layers"] for activation in hn.ACTIVATIONS for rate in (0.1, 1.0)
    ]  # fmt: skip
    trials = {"search": searched, "finalists": heats, "final": e.run(final_trial, final)}
    trials["unscaled"] = e.run(deep.trial, unscaled)
    summary = summarise(trials, s)
    e.save("an encyclopedia article on highway networks; the paper, section 2", summary, trials)
    show(claims(summary, s))


def best(trials: list[dict], block: str, layers: int) -> list[dict]:
    return sorted((t for t in trials if (t["block"], t["layers"]) == (block, layers)), key=deep.order)


def again(trials: list[dict], s: dict, seed: int) -> list[dict]:
    """The same settings for as long as the final runs."""
    names = ("block", "width", "layers", "activation", "rate", "momentum", "decay", "scale", "gate_bias", "clip")
    own = {"seed": seed, "epochs": s["epochs"], "n_train": s["n_train"], "n_test": s["n_test"]}
    return [{name: t[name] for name in names if name in t} | own for t in trials]


def summarise(trials: dict, s: dict) -> dict:
    summary = {}
    for layers in s["layers"]:
        for block, width in WIDTH.items():
            runs = best(trials["final"], block, layers)
            for suffix, size in ((f"{block}_{layers}", width), (f"{block}_{layers}_width_50", MATCHED_WIDTH)):
                own = [t for t in runs if t["width"] == size]
                summary[f"test_accuracy_{suffix}"] = spread([t["test_accuracy"] for t in own])
                summary[f"final_loss_{suffix}"] = spread([t["loss"] for t in own])
            looks = [t for t in runs if "trained" in t]
            for when in ("at_start", "trained"):
                ratios = [ratio(t[when]["gradient"]) for t in looks]
                summary[f"gradient_first_over_last_{when}_{block}_{layers}"] = spread(ratios)
                identity = spread([t[when]["identity_part"] for t in looks])
                summary[f"identity_part_{when}_{block}_{layers}"] = identity
            if hn.GATES[block]:
                thirds = [early_and_late(t["mean_T"]) for t in looks]
                for name, i in (("early", 0), ("late", 1)):
                    summary[f"mean_T_{name}_{block}_{layers}"] = spread([third[i] for third in thirds])
            names = [name for name in ("activation", "rate", "gate_bias", "scale") if name in runs[0]]
            summary[f"best_{block}_{layers}"] = ", ".join(f"{name} {runs[0][name]}" for name in names)
        unscaled = best(trials["unscaled"], "residual", layers)[0]
        summary[f"best_loss_residual_unscaled_{layers}"] = unscaled["loss"]
        scaled = best(trials["search"], "residual", layers)[0]
        summary[f"best_loss_residual_search_{layers}"] = scaled["loss"]  # as many epochs
    for block, width in WIDTH.items():
        net = deep.make({"block": block, "width": width, "layers": 2, "activation": "tanh", "seed": 0})
        summary[f"parameters_per_layer_{block}"] = net._blocks[0].size
    return summary


def ratio(norms: list[float]) -> float | None:
    """The gradient at the first layer over that at the last."""
    return norms[0] / norms[-1] if norms[-1] and None not in (norms[0], norms[-1]) else None


def early_and_late(mean_T: list[float]) -> tuple[float, float]:
    third = max(len(mean_T) // 3, 1)
    return float(np.mean(mean_T[:third])), float(np.mean(mean_T[-third:]))


def claims(summary: dict, s: dict) -> list[tuple]:
    def mean(name):
        return summary[name]["mean"]

    for suffix, at in (("", "parameters"), ("_width_50", "width")):
        print(f"loss, test accuracy at matched {at}\nlayers", *(f"{block:>18}" for block in WIDTH))
        for n in s["layers"]:
            means = ((mean(f"{name}_{b}_{n}{suffix}") for name in ("final_loss", "test_accuracy")) for b in WIDTH)
            print(f"{n:6}", *(f"{text(loss, 2):>10}, {text(accuracy, 4):>6}" for loss, accuracy in means))
    half = [shortfall(summary, f"residual_{n}_width_50", f"highway_{n}") for n in s["layers"]]
    same = [shortfall(summary, f"residual_{n}", f"highway_{n}") for n in s["layers"]]
    own = [shortfall(summary, f"highway_{n}", f"highway-carry_{n}") for n in s["layers"]]
    opens = [summary[f"mean_T_early_highway_{n}"] for n in s["layers"]]
    closes = [summary[f"mean_T_late_highway_{n}"] for n in s["layers"]]
    pairs = [(a["mean"], b["mean"]) for a, b in zip(opens, closes, strict=True) if None not in (a["mean"], b["mean"])]
    early = [a > b for a, b in pairs]
    struggles = {block: struggling(summary, block, s["layers"]) for block in WIDTH}
    return [
        (
            "residual is as effective with half the parameters",
            "yes",
            "accuracy lost: " + ", ".join(map(points, half)),
            judged([gap is not None and gap <= MARGIN for gap in half]),
        ),
        ("... with the same number", "-", "accuracy lost: " + ", ".join(map(points, same)), "measured"),
        (
            "a carry gate of its own can be saved",
            "yes",
            "accuracy lost: " + ", ".join(map(points, own)),
            judged([gap is not None and gap <= MARGIN for gap in own]),
        ),
        (
            "highway struggles beyond 100 layers",
            "yes",
            "depths where a kind does: " + "; ".join(f"{b} {n or 'none'}" for b, n in struggles.items()),
            "reproduced" if any(n > 100 for n in struggles["highway"]) else "not reproduced",
        ),
        (
            "early gates open, later ones close",
            "yes",
            ", ".join(f"{a:.3f}/{b:.3f}" for a, b in pairs),
            judged(early),
        ),
    ]


def shortfall(summary: dict, of: str, against: str) -> float | None:
    """How much less test accuracy, on average."""
    mine, theirs = (summary[f"test_accuracy_{name}"]["mean"] for name in (of, against))
    return None if None in (mine, theirs) else theirs - mine


def struggling(summary: dict, block: str, depths: tuple) -> list[int]:
    """The depths at which a kind's loss is over three times its own at 20 layers, or not all seeds trained."""
    losses = {n: summary[f"final_loss_{block}_{n}"]["mean"] for n in depths}
    own = losses[20]
    return [n for n in depths if n > 20 and (losses[n] is None or own is None or losses[n] > STRUGGLES * own)]


def points(gap: float | None) -> str:
    return "-" if gap is None else f"{gap:+.4f}"


def judged(holds: list[bool]) -> str:
    return "reproduced" if all(holds) else "in part" if any(holds) else "not reproduced"


if __name__ == "__main__":
    from experiments import blocks  # so that worker processes find its functions under this name

    sys.exit(end(blocks.main))
