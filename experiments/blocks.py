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

The rules of the verdicts were set before the final runs.  A kind is as good as another where its mean test accuracy is
at most 0.002 less; depths at which the other does not reach 0.9 do not count.  It struggles where its training loss is
over three times its own at 20 layers.  Early and late are the first and the last third of the blocks.
"""

from __future__ import annotations

import sys

import numpy as np

import highway_networks as hn
from experiments import layer_by_layer, training
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
WIDTH = {"plain": 71, "residual": 71, "highway": 50, "highway-carry": 41}  # about as many parameters a layer
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
    "residual": {n: {"tanh": (0.05, 0.7), "relu": (0.2, 2.5)} for n in (10, 20, 50, 100, 200)},
    "highway": {n: {"tanh": (2, 6), "relu": (1, 3)} for n in (10, 20, 50, 100, 200)},
}
RATES["highway-carry"] = RATES["highway"]
GATE_BIASES = {10: (-3, -1), 20: (-4, -2), 50: (-5.5, -3.5), 100: (-5.5, -4), 200: (-6.5, -4.5)}
DECAY = {"quick": 0.85, "default": 0.85, "full": 0.97}  # an epoch; of all kinds alike
MARGIN, LEARNED, STRUGGLES, OPEN = 0.002, 0.9, 3, 0.5
LOOKED_AT = 256  # test images, for the gates and for the gradient


def sample(block: str, width: int, layers: int, k: int, e: Experiment) -> dict:
    """The k-th trial of a search; every other one is a tanh net."""
    rng, s = np.random.default_rng([k, layers, [*hn.BLOCKS].index(block), 6]), e.settings
    t = {"block": block, "width": width, "layers": layers, "activation": ("tanh", "relu")[k % 2]}
    t["rate"] = log_uniform(rng, *RATES[block][layers][t["activation"]])
    t |= {"momentum": 0.9, "decay": DECAY[e.budget]}
    if block == "residual":
        t["scale"] = log_uniform(rng, 1 / layers, layers**-0.5)
    elif hn.BLOCKS[block].gates:
        t["gate_bias"] = round(rng.uniform(*GATE_BIASES[layers]), 2)
    return t | {"clip": 1.0, "seed": 0, "epochs": s["search_epochs"], "n_train": s["n_train"], "n_test": s["n_test"]}


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.4g}")


def look(net: hn.DeepNet, t: dict) -> dict:
    """The gradient of the loss at every layer, and the identity part; no numbers where they overflow."""
    x, y = (each[:LOOKED_AT] for each in training.images_of(t)[2:])
    with np.errstate(all="ignore"):
        norms, identity = layer_by_layer.gradient_flow(net, x, y)
    return {"gradient": norms, "identity_part": identity}


def final_trial(t: dict) -> dict:
    net, result = training.train(t)
    if t["width"] == WIDTH[t["block"]] and not result["diverged"]:
        result |= {"at_start": look(training.make(t), t), "trained": look(net, t)}
        if net.block.gates:
            result["mean_T"] = [round(T, 5) for T in hn.mean_gates(net, training.images_of(t)[2][:LOOKED_AT])]
    return result


def main(argv=None) -> None:
    e = Experiment("blocks", __doc__, BUDGETS, argv)
    s = e.settings
    kinds = [(*net, layers) for layers in reversed(s["layers"]) for net in SEARCHED]
    searched = e.run(training.trial, [sample(*kind, k, e) for kind in kinds for k in range(s["trials"])])
    heats = e.run(training.trial, [again(t, s, seed=0) for kind in kinds for t in best(searched, *kind)[:2]])
    bests = [best(heats, *kind)[0] for kind in kinds]
    bests += [
        t | {"width": w} for (b, w), at in AS_SEARCHED.items() for t in bests if (t["block"], t["width"]) == (b, at)
    ]
    final = [again(t, s, seed) for t in bests for seed in range(1, s["seeds"] + 1)]
    unscaled = [
        sample("residual", 71, n, k, e) | {"scale": 1.0} for n in s["layers"] for k in range(min(s["trials"], 4))
    ]
    trials = {"search": searched, "finalists": heats, "final": e.run(final_trial, final)}
    trials["unscaled"] = e.run(training.trial, unscaled)
    summary = summarise(trials, s)
    e.save("an encyclopedia article on highway networks; the paper, section 2", summary, trials)
    show_tables(summary, s)
    show(claims(summary, s))


def best(trials: list[dict], block: str, width: int, layers: int) -> list[dict]:
    """Those of a net and depth, the best first."""
    return sorted(
        (t for t in trials if (t["block"], t["width"], t["layers"]) == (block, width, layers)), key=training.order
    )


def again(t: dict, s: dict, seed: int) -> dict:
    """The same setting for as long as the final runs."""
    names = ("block", "width", "layers", "activation", "rate", "momentum", "decay", "scale", "gate_bias", "clip")
    own = {"seed": seed, "epochs": s["epochs"], "n_train": s["n_train"], "n_test": s["n_test"]}
    return {name: t[name] for name in names if name in t} | own


def summarise(trials: dict, s: dict) -> dict:
    summary = {}
    for layers in s["layers"]:
        for block, width in WIDTH.items():
            for suffix, at in (("", width), ("_width_50", MATCHED_WIDTH)):
                runs = best(trials["final"], block, at, layers)
                summary[f"test_accuracy_{block}_{layers}{suffix}"] = spread([t["test_accuracy"] for t in runs])
                summary[f"final_loss_{block}_{layers}{suffix}"] = spread([t["loss"] for t in runs])
                names = [name for name in ("activation", "rate", "gate_bias", "scale") if name in runs[0]]
                summary[f"best_{block}_{layers}{suffix}"] = ", ".join(f"{name} {runs[0][name]}" for name in names)
            runs = best(trials["final"], block, width, layers)
            for when in ("at_start", "trained"):
                looks = [t.get(when, {"gradient": [None], "identity_part": None}) for t in runs]
                ratios = spread([ratio(look["gradient"]) for look in looks])
                summary[f"gradient_first_over_last_{when}_{block}_{layers}"] = ratios
                summary[f"identity_part_{when}_{block}_{layers}"] = spread([look["identity_part"] for look in looks])
            if hn.BLOCKS[block].gates:
                thirds = [early_and_late(t["mean_T"]) if "mean_T" in t else (None, None) for t in runs]
                for name, values in zip(("early", "late"), zip(*thirds, strict=True), strict=True):
                    summary[f"mean_T_{name}_{block}_{layers}"] = spread(values)
        bare = best(trials["unscaled"], "residual", 71, layers)
        scaled = [
            t for t in best(trials["search"], "residual", 71, layers) if t["rate"] in {each["rate"] for each in bare}
        ]
        for name, own in (("unscaled", bare), ("scaled", scaled)):  # the same settings, but for the scale
            summary[f"best_loss_residual_{name}_{layers}"] = own[0]["loss"]
            relu = next((t["loss"] for t in own if t["activation"] == "relu"), None)  # None: all of them diverged
            summary[f"best_loss_residual_{name}_relu_{layers}"] = relu
    for block, width in WIDTH.items():
        net = training.make({"block": block, "width": width, "layers": 2, "activation": "tanh", "seed": 0})
        summary[f"parameters_per_layer_{block}"] = net._blocks[0].size
    return summary


def ratio(norms: list[float]) -> float | None:
    """The gradient at the first layer over that at the last."""
    return norms[0] / norms[-1] if norms[-1] and None not in (norms[0], norms[-1]) else None


def early_and_late(mean_T: list[float]) -> tuple[float, float]:
    third = max(len(mean_T) // 3, 1)
    return float(np.mean(mean_T[:third])), float(np.mean(mean_T[-third:]))


def show_tables(summary: dict, s: dict) -> None:
    def mean(name):
        return summary[name]["mean"]

    for suffix, at in (("", "parameters"), ("_width_50", "width")):
        print(f"loss, test accuracy at matched {at}\nlayers", *(f"{block:>18}" for block in WIDTH))
        for n in s["layers"]:
            means = ((mean(f"{name}_{b}_{n}{suffix}") for name in ("final_loss", "test_accuracy")) for b in WIDTH)
            print(f"{n:6}", *(f"{text(loss, 2):>10}, {text(accuracy, 4):>6}" for loss, accuracy in means))


def claims(summary: dict, s: dict) -> list[tuple]:
    depths, lost = s["layers"], "test accuracy lost: "
    half = [as_good(summary, f"residual_{n}_width_50", f"highway_{n}") for n in depths]
    same = [as_good(summary, f"residual_{n}", f"highway_{n}") for n in depths]
    own = [as_good(summary, f"highway_{n}", f"highway-carry_{n}_width_50") for n in depths]
    hard = struggling(summary, "highway", depths)
    thirds = [[summary[f"mean_T_{name}_highway_{n}"]["mean"] for name in ("early", "late")] for n in depths]
    thirds = [pair for pair in thirds if None not in pair]
    opened = ", ".join(f"{early:.3f}/{late:.3f}" for early, late in thirds)
    return [
        ("residual is as good with half the parameters", "yes", lost + gaps(half), judged([good for _, good in half])),
        ("... with as many", "-", lost + gaps(same), judged([good for _, good in same])),
        ("highway needs no carry gate of its own", "yes", lost + gaps(own), judged([good for _, good in own])),
        (
            "highway struggles beyond 100 layers",
            "yes",
            f"depths where it does: {hard or 'none'}; residual: {struggling(summary, 'residual', depths) or 'none'}",
            "not reproduced" if not hard else "reproduced" if min(hard) > 100 else "it struggles before",
        ),
        ("early gates more open than late ones", "yes", opened, judged([early > late for early, late in thirds])),
        ("... near 1", "yes", opened, judged([early > OPEN for early, _ in thirds])),
    ]


def as_good(summary: dict, of: str, against: str) -> tuple[float | None, bool | None]:
    """How much less test accuracy, on average, and whether that is as good; None where the other does not learn."""
    mine, theirs = (summary[f"test_accuracy_{name}"]["mean"] for name in (of, against))
    if theirs is None or theirs < LEARNED:
        return None, None
    return (None, False) if mine is None else (theirs - mine, theirs - mine <= MARGIN)


def gaps(compared: list[tuple]) -> str:
    return ", ".join("-" if gap is None else f"{gap:+.4f}" for gap, _ in compared)


def struggling(summary: dict, block: str, depths: tuple) -> list[int]:
    """The depths at which a kind's loss is over three times its own at 20 layers, or not all seeds trained."""
    losses = {n: summary[f"final_loss_{block}_{n}"]["mean"] for n in depths}
    return [n for n in depths if n > 20 and (losses[n] is None or losses[n] > STRUGGLES * (losses[20] or 0))]


def judged(holds: list[bool | None]) -> str:
    """Of what holds or does not at each depth; None does not count."""
    holds = [each for each in holds if each is not None]
    if not holds:
        return "not measured"
    return "reproduced" if all(holds) else "in part" if any(holds) else "not reproduced"


if __name__ == "__main__":
    from experiments import blocks  # so that worker processes find its functions under this name

    sys.exit(end(blocks.main))
