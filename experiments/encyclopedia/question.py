"""What else does the encyclopedia article say of highway and residual nets?

    python -m experiments encyclopedia            -> results/encyclopedia.json

The encyclopedia article "Highway Networks" compares highway nets with residual ones (ResNet).
Four of its sentences can be judged by the trainings of `blocks` and `jacobian`, or without any:

- Highway layers have "3x (H, T, C) or 2x (H, T)" parameters, residual layers "1x (just H)".  The
  parameters are counted, at one width for all.
- "ResNet can be viewed as a special case of Highway Networks where the gate is fixed at T = 1."
  The output of a highway block whose T is exactly 1 is compared with H and with H + x, for the
  same weights and inputs.  So is that of the general form, eq. 2, y = H T + x C, with T = C = 1.
- Residual nets need "no gate initialization tuning".  They have no gate, but W_H must be
  initialised.  In `blocks` the first four settings of each search were trained twice: with the
  scale of W_H that the search drew, and without.  The running training losses of the last epoch are
  compared in pairs, for tanh and ReLU apart.  The sentence holds for an activation if the loss
  without the scale is lower, and fails if it is higher; it stays open if neither is shown.
- "Stronger gradient flow: fixed identity provides a guaranteed, unattenuated gradient path."  The
  flow is stronger if the norm of the gradient at the first layer, itself and over that at the last,
  is higher for residual than for highway nets of the same size, at each depth of `blocks`, at the
  start and after training.  (At first only the ratio judged.)  The path is unattenuated if half of
  the directions keep half of their length through all blocks of `jacobian`'s residual nets, the rule
  for highway nets, too.  This claim stands in experiments/jacobian/question.py.

The results of `blocks` and `jacobian` were known when these rules were written.  Holm's correction
is applied within a claim.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from highways.lab.judging.claim import CHOSEN_AFTER, Claim, ratio_as_text, values_of
from highways.lab.judging.rules import all_ratios_below, corrected, interval, is_below, mean
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import (
    layer_by_layer,
)
from highways.nets.matched_blocks import LAYERS, WIDTH, parameters_per_layer
from highways.statistics import mean_sd_n

BUDGETS = {"quick": {"seeds": 2}, "default": {"seeds": 5}}
ONE_WIDTH = 50  # the width at which parameters are counted
UNITS = 50  # the width of the blocks with T = 1
INPUTS = 20  # the number of inputs to the blocks with T = 1
OPEN = 1000.0  # a gate bias at which the sigmoid is exactly 1
ACTIVATIONS = ("tanh", "relu")
WHEN = {"at_start": "at the start", "trained": "after training"}


def count(setting: dict) -> dict:
    return {"parameters": parameters_per_layer(setting["block"], setting["width"])}


def compare_at_one(setting: dict) -> dict:
    """How far a block with T = 1 is from H and from H + x: by eq. 3, and by eq. 2 with C = 1.

    A difference is the largest over all units and inputs, divided by the largest |H + x|."""
    rng = np.random.default_rng(setting["seed"])
    x = rng.normal(size=(INPUTS, UNITS))
    result = {}
    for block, name in (("highway", "eq_3"), ("highway-carry", "eq_2")):
        net = hn.DeepNet(1, 2, UNITS, 1, block, setting["seed"], dtype=np.float64)
        net.b_T[:] = OPEN
        if block == "highway-carry":
            net.b_C[:] = OPEN
        H = np.tanh(x @ net.W_H[0].T + net.b_H[0])
        T, y = layer_by_layer.block_forward(net, 0, x)
        largest = np.abs(H + x).max()
        result[f"{name}_T_is_1"] = bool((T == 1).all())
        result[f"{name}_from_H"] = float(np.abs(y - H).max() / largest)
        result[f"{name}_from_residual"] = float(np.abs(y - (H + x)).max() / largest)
    return result


def run(runner: Runner) -> dict:
    counted = [{"block": block, "width": ONE_WIDTH} for block in WIDTH]
    seeds = [{"seed": seed} for seed in range(runner.settings["seeds"])]
    return {"parameters": runner.run(count, counted), "T_is_1": runner.run(compare_at_one, seeds)}


# ---- Summary -----------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for the parameters of each kind, and one for T = 1."""
    result = []
    for trial in record["trials"]["parameters"]:
        result.append({"row": "block", "block": trial["block"], "parameters": trial["parameters"]})
    row = {"row": "T = 1"}
    for name in ("eq_3_from_H", "eq_3_from_residual", "eq_2_from_H", "eq_2_from_residual"):
        row[name] = mean_sd_n(values_of(record["trials"]["T_is_1"], name))
    result.append(row)
    return result


def measure_parameters(record: dict) -> dict:
    return {trial["block"]: trial["parameters"] for trial in record["trials"]["parameters"]}


def measure_at_one(record: dict) -> dict:
    trials = record["trials"]["T_is_1"]
    names = ("eq_3_from_H", "eq_3_from_residual", "eq_2_from_residual")
    return {name: max(values_of(trials, name)) for name in names}


def pairs_of_starts(record: dict) -> dict[str, dict[int, list[tuple]]]:
    """{activation: {layers: [(loss without the scale, with it)]}} of residual nets.

    None stands for a loss that diverged."""
    trials = record["trials"]
    pairs = {activation: {} for activation in ACTIVATIONS}
    for without in trials["unscaled"]:
        same = {name: without[name] for name in ("block", "width", "layers", "activation", "rate")}
        [scaled] = [trial for trial in trials["search"] if same.items() <= trial.items()]
        of_depths = pairs[without["activation"]]
        of_depths.setdefault(without["layers"], []).append((last_loss(without), last_loss(scaled)))
    return pairs


def last_loss(trial: dict) -> float | None:
    return None if trial["diverged"] else trial["losses"][-1]


def logs_of_ratios(pairs: list[tuple]) -> list[float]:
    """log10 of (loss without the scale / loss with it), for the pairs in which neither diverged."""
    return [float(np.log10(without / scaled)) for without, scaled in pairs if None not in (without, scaled)]


def measure_starts(record: dict) -> dict:
    measured = {}
    for activation, of_depths in pairs_of_starts(record).items():
        pairs = [pair for of_depth in of_depths.values() for pair in of_depth]
        measured[activation] = logs_of_ratios(pairs)
        measured[f"{activation}_lost"] = sum(pair[0] is None and pair[1] is not None for pair in pairs)
    return measured


def lower_without_scale(measured: dict) -> list[bool | None]:
    """Whether the loss without the scale is lower, for each activation.

    None if Holm's correction over both activations leaves it open.  False if a training diverges
    only without the scale."""
    verdicts = corrected(*(is_below(measured[activation], 0) for activation in ACTIVATIONS))
    for place, activation in enumerate(ACTIVATIONS):
        if measured[f"{activation}_lost"]:
            verdicts[place] = False
    return verdicts


def starts_as_text(measured: dict) -> str:
    texts = []
    for activation in ACTIVATIONS:
        logs = measured[activation]
        low, high = (10**end for end in interval(logs))
        text = f"{activation} {10 ** mean(logs):.2g} (95 % interval {low:.2g} to {high:.2g}, n = {len(logs)})"
        if measured[f"{activation}_lost"]:
            text += f" and {measured[f'{activation}_lost']} more diverge"
        texts.append(text)
    return f"loss without the scale over that with it: {', '.join(texts)}"


GRADIENTS = {  # measures of the gradient's norms, a list over the layers
    "first layer's gradient over the last's": lambda norms: norms[0] / norms[-1],
    "first layer's gradient": lambda norms: norms[0],
}


def measure_gradients(record: dict) -> dict:
    """{(measure, when): {layers: {block: the measure of every seed}}}, for both measures of GRADIENTS."""
    final = record["trials"]["final"]
    measured = {}
    for name, measure in GRADIENTS.items():
        for when in WHEN:
            by_depth = {}
            for layers in LAYERS:
                by_depth[layers] = {}
                for block in ("highway", "residual"):
                    looks = values_of(final, when, block=block, width=WIDTH[block], layers=layers)
                    by_depth[layers][block] = [measure(look["gradient"]) for look in looks]
            measured[name, when] = by_depth
    return measured


def stronger_through_residual(measured: dict) -> list[bool | None]:
    pairs = []
    for by_depth in measured.values():
        pairs += [(of_blocks["highway"], of_blocks["residual"]) for of_blocks in by_depth.values()]
    return all_ratios_below(pairs, 1)


def gradients_as_text(measured: dict) -> str:
    texts = []
    for (name, when), by_depth in measured.items():
        ratios = []
        for of_blocks in by_depth.values():
            ratios.append(ratio_as_text(of_blocks["residual"], of_blocks["highway"]))
        texts.append(f"{name}, {WHEN[when]}, {', '.join(ratios)}")
    return f"residual's over highway's at {min(LAYERS)} to {max(LAYERS)} layers: {'; '.join(texts)}"


CLAIMS = (
    Claim(
        id="two-to-three-times-the-parameters",
        source="encyclopedia article",
        kind="count",
        says="a highway layer has two or three times the parameters of a residual one",
        about={"width": ONE_WIDTH},
        measure=measure_parameters,
        show=lambda m: ", ".join(f"{block} {parameters}" for block, parameters in m.items()),
        holds=lambda m: [
            m["residual"] == m["plain"],
            m["highway"] == 2 * m["residual"],
            m["highway-carry"] == 3 * m["residual"],
        ],
    ),
    Claim(
        id="residual-is-highway-at-one",
        source="encyclopedia article",
        kind="count",
        says="a residual net is a highway net whose gate is fixed at T = 1",
        measure=measure_at_one,
        show="at T = 1 eq. 3 gives H (largest relative difference {eq_3_from_H:.0e}), not H + x "
        "({eq_3_from_residual:.2f}); eq. 2 with T = C = 1 gives H + x ({eq_2_from_residual:.0e})",
        holds=lambda m: [m["eq_3_from_residual"] < 1e-12],
        note="its equation for this adds an extra x, 'H(x) + x = 1 H(x) + (1 - 1) x + x', and "
        "it goes on: 'More precisely, ResNet learns y = F(x) + x'; so the article corrects "
        "itself, and only the first sentence is judged",
    ),
    Claim(
        id="residual-needs-no-tuned-start",
        source="encyclopedia article, open",
        kind="open question",
        says="do residual nets need no tuning of their start? (unscaled, the loss is lower)",
        over=("blocks",),
        measure=measure_starts,
        show=starts_as_text,
        holds=lower_without_scale,
        note=f"{CHOSEN_AFTER}; the article says only that they have no gates to tune; n counts "
        "settings over depths, not seeds; up to 50 layers tanh nets do better unscaled, ReLU "
        "nets never",
    ),
    Claim(
        id="gradient-stronger-through-residual",
        source="encyclopedia article",
        says="the gradient comes back stronger through residual nets (at 10 to 200 layers, at "
        "the start and after training, two are larger than in highway nets: the first layer's "
        "gradient over the last's, and the first layer's itself)",
        over=("blocks",),
        about={"n_train": 60000},
        measure=measure_gradients,
        show=gradients_as_text,
        holds=stronger_through_residual,
        note=f"{CHOSEN_AFTER}: at first the ratio alone judged, and the row was 'reproduced'; "
        "the first layer's gradient was added later; in trained plain nets of 10 to 100 layers "
        "the ratio is larger still; residual blocks start with W_H times a factor below one, "
        "which was searched",
    ),
)

QUESTION = Question(
    name="encyclopedia",
    source="an encyclopedia article on highway networks",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
)
