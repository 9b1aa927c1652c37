"""Why do plain nets of depth 30 fail?  The published program's reasons are judged.

    python -m experiments why_plain_fails            -> results/why_plain_fails.json

The README of the published program gives reasons for its headline.  They are judged by the
headline's protocol: Adam with a rate of 5e-3, 12 epochs, 6000 images of MNIST, width 50, weights
uniform in +-1/sqrt(fan_in), b_T = -2.  Where a line below names another setting, that one is used.
There are ten seeds, and five for the trainings on all 60 000 images.

- "Gradients vanish through 30 saturating tanh layers."  They vanish if the norm of the gradient at
  the first layer is less than a thousandth of that at the last.  This ratio is measured twice: as
  it is, and with every slope 1 - H^2 replaced by 1, so that only the weights act.  The slopes'
  part in the fading is 1 - log(ratio without slopes) / log(ratio).  It is over 1 if the gradient
  would grow without them.  Saturation is the reason if this part is above a half, at the start and
  after training.  The share of units beyond 0.9 and
  the norm of the state in each block are shown, too.
- If not saturation, is it that the start shrinks the signal?  This is our question.  The same
  plain tanh nets are trained from Glorot's normal start, whose variance is three times as large,
  and from the program's start; at the program's rate and at a fifth of it.  The start is the
  reason if, at the lower rate, nets from Glorot's start train and nets from the program's do not.
  Added after the runs: it is the only reason if nets from Glorot's start train at the program's
  rate, too.
- "Initialising b_T negative makes a fresh highway block start close to the identity."  It does if
  the block changes its input by less than a quarter, |y - x| < 0.25 |x|, a mean over blocks and
  images.  "A randomly initialised stack behaves at init like an unrolled near-identity chain."  It
  does if all 30 blocks together change their input by less than a half.
- "ReLU plain nets train at modest depth even without skips."  Plain ReLU nets of depth 5, 10 and
  20 are trained from the program's start and from He's.
- "The contrast is depth-driven, not data-driven", said after trainings on 6000 images.  It is if,
  trained on all 60 000, plain nets of depth 30 stay at chance while highway nets of depth 30 and
  plain nets of depth 5 train.

A net trains if its test accuracy is above 0.8, since the program says of 0.857 that plain
"holds", and of 0.292 that it "partially trains".  A net stays at chance if its accuracy is below
0.15, as in `headline`.  Both bounds are ours, and so are the quarter and the half.  A claim of
several comparisons is judged with Holm's correction for their number.  Known before these rules:
at the start no unit lies beyond 0.9, the norm of the state falls from 1.6 to 9e-8, and
(1 - sigmoid(-2))^30 is 0.022.  Expected: the slopes' part is near 0 at the start; a block is near
the identity and the stack is not; ReLU trains from He's start only; with 60 000 images the
contrast stays.
"""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from highways.lab.judging.claim import Claim, effect_as_text, sample_as_text, values_of
from highways.lab.judging.rules import Comparison, below, corrected, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected, layer_by_layer
from highways.nets.fully_connected import ALL
from highways.statistics import mean_sd_n

FEW = {"n_train": 256, "n_test": 100}  # images
HEADLINE = {"n_train": 6000, "n_test": 2000}
BUDGETS = {
    "quick": {
        "depth": 6,
        "modest": (2, 3),
        "epochs": 1,
        "seeds": 2,
        "seeds_of_all": 2,
        **FEW,
        "of_all": FEW,
    },
    "default": {
        "depth": 30,
        "modest": (5, 10, 20),
        "epochs": 12,
        "seeds": 10,
        "seeds_of_all": 5,
        **HEADLINE,
        "of_all": ALL,
    },
}
RATE = 5e-3
LOW_RATE = 1e-3
SHALLOW = 5  # the depth of plain nets that the program saw train
LOOKED_AT = 256  # the number of test images that look() sees
SATURATED = 0.9  # a tanh unit is saturated if |H| is above
TRAINS = 0.8  # a net trains if its test accuracy is above
CHANCE = 0.15  # a net is at chance if its test accuracy is below
ARRIVES = 0.001  # the gradient vanishes if a smaller share of it arrives at the first layer
MOST = 0.5  # most of the fading is a larger share of it
NEAR = 0.25  # a block is near the identity if it changes its input by a smaller share
NEAR_OF_STACK = 0.5  # the stack of all blocks is near the identity if it changes its input by a smaller share
WHEN = ("at_start", "trained")


# ---- One net -----------------------------------------------------------------------------------


def make(setting: dict, data: hn.Dataset) -> hn.DeepNet:
    """The net as highway_networks.py makes it, but with the setting's activation and start."""
    return hn.DeepNet(
        data.x_train.shape[1],
        data.n_classes,
        hn.Settings.hidden,
        setting["depth"],
        setting["block"],
        setting["seed"],
        activation=setting["activation"],
        init=setting["init"],
        gate_bias=hn.Settings.gate_bias,
    )


def trial(setting: dict) -> dict:
    """Trains a net by the headline's protocol; if setting["look"], looks at it before and after."""
    data = hn.subset(fully_connected.data_set(), setting["seed"], setting["n_train"], setting["n_test"])
    settings = hn.Settings(
        seed=setting["seed"],
        depth=setting["depth"],
        epochs=setting["epochs"],
        lr=setting["rate"],
        n_train=setting["n_train"],
        n_test=setting["n_test"],
    )
    net = make(setting, data)
    run = hn.train(net, data, settings, np.random.default_rng([setting["seed"], 1]))
    result = {
        "test_accuracy": run["final_test_acc"],
        "loss": run["final_train_loss"],
        "diverged": run["diverged_at"],
    }
    if setting["look"]:
        images = hn.scale_pixels(data.x_test[:LOOKED_AT], np.float32)
        labels = data.y_test[:LOOKED_AT]
        result["at_start"] = look(make(setting, data), images, labels)
        result["trained"] = None if run["diverged"] else look(net, images, labels)
    return result


def look(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> dict:
    """What the module's docstring defines, for images x (N, 784) and labels y (N,), in float64."""
    net = layer_by_layer.in_dtype(net, np.float64)
    states = [layer_by_layer.first_state(net, x)]
    changes = []
    for _, _, x_l, y_l in layer_by_layer.walk(net, states[0]):
        states.append(y_l)
        changes.append(change(x_l, y_l))
    gradient, identity = layer_by_layer.gradient_flow(net, x, y)
    result = {
        "norms": four_digits([np.linalg.norm(state, axis=1).mean() for state in states]),
        "saturated": float(np.mean([np.abs(state) > SATURATED for state in states])),
        "change_of_block": float(np.mean(changes)),
        "change_of_stack": change(states[0], states[-1]),
        "identity_part": identity,
        "gradient": gradient,
    }
    if not net.block.gates:
        result["gradient_without_slopes"] = four_digits(gradient_without_slopes(net, states[-1], y))
    return result


def change(x: np.ndarray, y: np.ndarray) -> float:
    """|y - x| / |x| of states (N, hidden), a mean over images."""
    return float(np.mean(np.linalg.norm(y - x, axis=1) / np.linalg.norm(x, axis=1)))


def gradient_without_slopes(net: hn.DeepNet, last: np.ndarray, y: np.ndarray) -> list[float]:
    """The norms of layer_by_layer.gradient_flow() for a plain net, with all slopes dH/dz set to 1.

    `last` (N, hidden) is the output of its last block."""
    _, d_logits = hn.softmax_cross_entropy(layer_by_layer.logits(net, last), y)
    dy = len(y) * d_logits @ net.W_out
    norms = [np.linalg.norm(dy, axis=1).mean()]
    for W in net.W_H[::-1]:
        dy = dy @ W  # (N, hidden) (hidden, hidden)
        norms.append(np.linalg.norm(dy, axis=1).mean())
    norms.reverse()
    return norms


def four_digits(values) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


# ---- All nets ----------------------------------------------------------------------------------


def run(runner: Runner) -> dict:
    """The nets of each question, in groups."""
    budget = runner.settings
    usual = {
        "activation": "tanh",
        "init": "uniform",
        "rate": RATE,
        "epochs": budget["epochs"],
        "n_train": budget["n_train"],
        "n_test": budget["n_test"],
        "look": False,
    }
    deep = {"depth": budget["depth"]}
    plain = {**usual, "block": "plain"}
    highway = {**usual, "block": "highway"}
    seeds = range(budget["seeds"])
    groups = {
        "headline": over(seeds, [{**net, **deep, "look": True} for net in (plain, highway)]),
        "starts": [],
        "relu": [],
        "all_images": over(
            range(budget["seeds_of_all"]),
            [
                {**plain, **deep, **budget["of_all"]},
                {**highway, **deep, **budget["of_all"]},
                {**plain, "depth": SHALLOW, **budget["of_all"]},
            ],
        ),
    }
    for init in ("uniform", "glorot"):
        for rate in (RATE, LOW_RATE):
            groups["starts"] += over(seeds, [{**plain, **deep, "init": init, "rate": rate}])
    for init in ("uniform", "he"):
        for depth in budget["modest"]:
            groups["relu"] += over(seeds, [{**plain, "depth": depth, "activation": "relu", "init": init}])
    all_settings = [setting for group in groups.values() for setting in group]
    fully_connected.data_set()  # read once, before processes are forked
    # all groups run together; the results come in the order of the settings
    finished = iter(runner.run(trial, all_settings, fully_connected.data_of))
    return {name: [next(finished) for _ in group] for name, group in groups.items()}


def over(seeds: range, settings: list[dict]) -> list[dict]:
    return [{**setting, "seed": seed} for setting in settings for seed in seeds]


# ---- Summary -----------------------------------------------------------------------------------

NET = ("block", "depth", "activation", "init", "rate", "n_train")


def rows(record: dict) -> list[dict]:
    """A row for each net; for the headline's nets also a row for each look."""
    result = []
    for group, trials in record["trials"].items():
        for net, of_net in nets_of(trials).items():
            row = {"row": group, **dict(zip(NET, net, strict=True))}
            for name in ("test_accuracy", "loss"):
                row[name] = mean_sd_n([trial[name] for trial in of_net])
            result.append(row)
    for block in ("plain", "highway"):
        for when in WHEN:
            looks = [trial[when] for trial in record["trials"]["headline"] if trial["block"] == block]
            row = {"row": "look", "block": block, "when": when}
            for name in ("saturated", "change_of_block", "change_of_stack", "identity_part"):
                row[name] = mean_sd_n([seen(look, name) for look in looks])
            row["norm_first"] = mean_sd_n([seen(look, "norms", 0) for look in looks])
            row["norm_last"] = mean_sd_n([seen(look, "norms", -1) for look in looks])
            if block == "plain":
                row["share_of_slopes"] = mean_sd_n([share_of_slopes(look) for look in looks])
            result.append(row)
    return result


def nets_of(trials: list[dict]) -> dict[tuple, list[dict]]:
    """{the settings of a net: its trials over seeds}."""
    nets = {}
    for trial in trials:
        nets.setdefault(tuple(trial[name] for name in NET), []).append(trial)
    return nets


def seen(look: dict | None, name: str, place: int | None = None) -> float | None:
    """A number of a look; None for a net that diverged."""
    if look is None:
        return None
    return look[name] if place is None else look[name][place]


def share_of_slopes(look: dict | None) -> float | None:
    """The slopes' share of the gradient's fading, in orders of magnitude.

    None if the gradient does not fade, or fades to 0."""
    if look is None:
        return None
    ratio = first_over_last(look["gradient"])
    without = first_over_last(look["gradient_without_slopes"])
    if not ratio or not without or ratio >= 1:
        return None
    return 1 - math.log(without) / math.log(ratio)


def first_over_last(norms: list[float]) -> float:
    return norms[0] / norms[-1] if norms[-1] else 0.0


def looks(record: dict, block: str) -> dict[str, list]:
    return {when: values_of(record["trials"]["headline"], when, block=block) for when in WHEN}


def measure_vanishing(record: dict) -> dict:
    """{when: the gradient at the first plain layer over that at the last, of every seed}."""
    measured = {}
    for when, of_seeds in looks(record, "plain").items():
        measured[when] = [None if look is None else first_over_last(look["gradient"]) for look in of_seeds]
    return measured


def vanishing_as_text(measured: dict) -> str:
    """The mean at the start; the median after training, where two seeds make the mean."""
    at_start = sample_as_text(measured["at_start"], 2)
    known = [share for share in measured["trained"] if share is not None]
    trained = f"{np.median(known):.1g} (median, n = {len(known)})" if known else "not known"
    return f"of the gradient arrives a share of {at_start} at the start, {trained} after training"


def measure_saturation(record: dict) -> dict:
    of_plain = looks(record, "plain")
    measured = {when: [share_of_slopes(look) for look in of_plain[when]] for when in WHEN}
    measured["saturated"] = [seen(look, "saturated") for look in of_plain["at_start"]]
    measured["first"] = [seen(look, "norms", 0) for look in of_plain["at_start"]]
    measured["last"] = [seen(look, "norms", -1) for look in of_plain["at_start"]]
    return measured


def accuracies(record: dict, group: str, **net) -> list:
    return values_of(record["trials"][group], "test_accuracy", **net)


def measure_starts(record: dict) -> dict:
    measured = {}
    for init in ("glorot", "uniform"):
        measured[init] = accuracies(record, "starts", init=init, rate=LOW_RATE)
        measured[f"{init}_fast"] = accuracies(record, "starts", init=init, rate=RATE)
    return measured


def measure_relu(record: dict) -> dict:
    """{(start, depth): test accuracies}."""
    measured = {}
    for init in ("uniform", "he"):
        for depth in record["settings"]["modest"]:
            measured[init, depth] = accuracies(record, "relu", init=init, depth=depth)
    return measured


def relu_as_text(measured: dict) -> str:
    starts = {"uniform": "the program's start", "he": "He's start"}
    texts = []
    for (init, depth), values in measured.items():
        texts.append(f"{starts[init]}, depth {depth}: {effect_as_text(values)}")
    return "; ".join(texts)


def measure_all_images(record: dict) -> dict:
    deep = {"depth": record["settings"]["depth"]}
    return {
        "plain": accuracies(record, "all_images", block="plain", **deep),
        "highway": accuracies(record, "all_images", block="highway", **deep),
        "shallow": accuracies(record, "all_images", block="plain", depth=SHALLOW),
    }


def trained(values: list[float | None]) -> Comparison | bool:
    """Whether the mean is above TRAINS; False if a seed diverged."""
    return False if None in values else is_above(values, TRAINS)


def at_chance(values: list[float | None]) -> Comparison:
    """Whether the mean is below CHANCE; it stays open if a seed diverged."""
    return is_below(values, CHANCE)


def measure_fresh(name: str):
    def measure(record: dict) -> dict:
        looks_at_start = looks(record, "highway")["at_start"]
        return {
            "change": [seen(look, name) for look in looks_at_start],
            "identity": [seen(look, "identity_part") for look in looks_at_start],
        }

    return measure


ABOUT = {"epochs": 12}
CLAIMS = (
    Claim(
        id="plain-gradient-vanishes",
        source="published program",
        says="the gradient vanishes through 30 plain layers (less than a thousandth of it "
        "arrives at the first, before and after training)",
        about=ABOUT,
        measure=measure_vanishing,
        show=vanishing_as_text,
        holds=lambda m: corrected(*(is_below(shares, ARRIVES) for shares in m.values())),
        note="one run was seen before the rule: a share of 1e-7, and less after training",
    ),
    Claim(
        id="plain-fails-by-saturation",
        source="published program",
        says="plain nets fail because tanh saturates (the slopes of tanh account for over half "
        "of the gradient's fading, in orders of magnitude, at the start and after training; "
        "over 1: without them it would grow)",
        about=ABOUT,
        measure=measure_saturation,
        show="the slopes' part of the gradient's fading, in orders of magnitude: "
        "{at_start:interval} at the start, {trained:interval} after training; at the start the "
        "share of units with H beyond ±0.9 is {saturated:2}, and the state's norm falls from "
        "{first:2} to {last:2}",
        holds=lambda m: corrected(is_above(m["at_start"], MOST), is_above(m["trained"], MOST)),
        note="that no unit is saturated at the start was seen before the rule; the part that "
        "holds is measured after a training that has failed, so it cannot show why it failed",
    ),
    Claim(
        id="plain-fails-by-its-start",
        source="published program",
        says="do plain nets fail because their start shrinks the signal? (at depth 30 and a "
        f"fifth of the program's rate: an accuracy above {TRAINS} from Glorot's start, below "
        f"{CHANCE} from the program's; at the program's rate, too: above {TRAINS} from Glorot's "
        "start)",
        kind="open question",
        about=ABOUT,
        measure=measure_starts,
        show="accuracy at a fifth of the rate from Glorot's start {glorot:interval}, from the "
        "program's {uniform:interval}; at the program's rate {glorot_fast:interval} and "
        "{uniform_fast}",
        holds=lambda m: corrected(trained(m["glorot"]), at_chance(m["uniform"]), trained(m["glorot_fast"])),
        note="the part on the program's rate was added after the runs; without it the answer "
        "was 'yes'; at that rate both starts fail, so start and rate fail together",
    ),
    Claim(
        id="fresh-block-near-identity",
        source="published program",
        says="at b_T = -2 a fresh highway block starts close to the identity (it changes its "
        "input by less than a quarter)",
        about=ABOUT,
        measure=measure_fresh("change_of_block"),
        show="the block changes its input by {change:interval} of the input's length",
        holds=lambda m: [below(m["change"], NEAR)],
        note="the bound of a quarter is ours",
    ),
    Claim(
        id="fresh-stack-near-identity",
        source="published program",
        says="a fresh stack of 30 highway blocks at b_T = -2 behaves like a near-identity chain "
        "(read as: the whole stack changes its input by less than half of its length)",
        about=ABOUT,
        measure=measure_fresh("change_of_stack"),
        show="the stack changes its input by {change:interval} of the input's length; the "
        "product of all 1 - T is {identity:2}",
        holds=lambda m: [below(m["change"], NEAR_OF_STACK)],
        note="that the product of all 30 factors 1 - T is 0.022 was known before; that each "
        "single block is close to the identity has a row of its own; the stack mainly shrinks "
        "its input, to some 2 % of its length, and this counts as a change",
    ),
    Claim(
        id="relu-plain-trains-at-modest-depth",
        source="published program",
        says="ReLU plain nets train at modest depth (an accuracy above 0.8 at depths 5, 10 and 20)",
        about=ABOUT,
        measure=measure_relu,
        show=relu_as_text,
        holds=lambda m: corrected(*map(trained, m.values())),
        note="the bound and the depths are ours, and so is He's start, tried beside the program's",
    ),
    Claim(
        id="contrast-is-depth-driven",
        source="published program",
        says="the contrast of highway and plain nets is driven by depth, not by data (with all "
        f"60 000 images plain nets of depth 30 stay below {CHANCE}, highway nets of depth 30 and "
        f"plain nets of depth 5 come above {TRAINS})",
        about=ABOUT,
        measure=measure_all_images,
        show="at depth 30 plain {plain:interval}, highway {highway:interval}; plain at depth 5 {shallow:interval}",
        holds=lambda m: corrected(at_chance(m["plain"]), trained(m["highway"]), trained(m["shallow"])),
    ),
)

QUESTION = Question(
    name="why_plain_fails",
    source="the README of the published program",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
)
