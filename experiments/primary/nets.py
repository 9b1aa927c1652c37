"""What `primary` trains and measures: the nets of its ten claims, with seeds and searches of their own."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from experiments.gates.gates_trial import trial as look_at_gates
from experiments.lesion.lesion_trial import trial as close_blocks
from experiments.primary.primary_trial import trial
from experiments.shared_trials import fifty_layer_nets, fully_connected
from experiments.shared_trials.fifty_layer_nets import DECAY, longer
from experiments.shared_trials.fifty_layer_nets import trial as keep_net
from experiments.shared_trials.fully_connected import CIFAR, selection_loss
from experiments.shared_trials.headline_nets import BEST_PLAIN, CONTROLS
from experiments.shared_trials.headline_nets import trial as control_trial
from experiments.shared_trials.matched_blocks import GATE_BIASES
from experiments.shared_trials.search import FIGURE_1_RATES, log_uniform, search, two_best, two_best_and_slow
from experiments.static_gates.static_gates_trial import FULL
from experiments.static_gates.static_gates_trial import trial as train_kind
from experiments.thousand_layers.thousand_layers_trial import BEST, setting_of
from highways.lab.judging.searched_rates import near_an_end
from highways.lab.trials import Runner
from highways.nets.equal_size import size_of_net, width_of_equal_size

FIRST_SEED = 2001  # of nets that judge
FIRST_SEARCH = 2101  # of searches


def run(runner: Runner) -> dict:
    """All groups, the cheapest first.  A folder without data is refused before the first of them."""
    fully_connected.data_sets(runner)
    groups = {
        **headline(group_of(runner, "headline")),
        **past_a_thousand(group_of(runner, "deep")),
        **gate_biases(group_of(runner, "biases")),
        **fifty_layers(group_of(runner, "fifty")),
        **kinds_of_gates(group_of(runner, "kinds")),
        **figure_1(group_of(runner, "figure_1")),
    }
    return {name: [for_record(trial, name) for trial in trials] for name, trials in groups.items()}


# results of a search that judge nothing
OF_SEARCH = ("losses", "history", "diverged_at", "train_accuracy", "test_accuracy", "clip", "data_dir")
# those of `gates` that are judged, and beside them the means of every block
GATES_SETTINGS = ("data", "depth", "gate_bias", "effective_lr", "momentum", "seed", "n_train", "n_test")
OF_GATES = ("share_of_biases_decreased", "bias_depth_correlation", "bias_activity_correlation",
            "bias_of_layer", "mean_T_of_layer")  # fmt: skip


def for_record(trial: dict, group: str) -> dict:
    """A trial as the record keeps it.  Only the log has the rest, which is as large again.

    A trial of a search keeps what ranked it: the controls' their `loss`, others `ranked_by`, the
    running loss of the last epoch, which is None for a net that diverged."""
    if group.startswith(("search", "finalists")):
        found = {name: value for name, value in trial.items() if name not in OF_SEARCH}
        if "losses" in trial:
            loss = selection_loss(trial)
            found["ranked_by"] = loss if math.isfinite(loss) else None
        return found
    if group == "gates":
        names = (*GATES_SETTINGS, *OF_GATES)
        return {name: trial[name] for name in names}
    return trial


def group_of(runner: Runner, group: str) -> SimpleNamespace:
    """What a search asks of a runner, with the settings of one group."""
    return SimpleNamespace(
        settings=runner.settings[group],
        run=runner.run,
        more_data_sets=runner.more_data_sets,
    )


# claim 1

RATES_OF_CONTROLS = (5e-3, 2.5e-3, 1e-3, 5e-4)  # those of `controls`
STARTS = ("glorot", "orthogonal")


def headline(group: SimpleNamespace) -> dict:
    """Highway nets, plain nets and the controls; the best plain net has a search of its own for each seed."""
    budget = group.settings
    common = {name: budget[name] for name in ("depth", "epochs", "n_train", "n_test")}
    fully_connected.data_set()  # forked processes share it
    nets = []
    tried = []
    for place in range(budget["seeds"]):
        nets += [{"block": block, "seed": FIRST_SEED + place, **common} for block in ("highway", "plain")]
        best_plain = {"control": BEST_PLAIN, "seed": FIRST_SEARCH + place, **common}
        for start in STARTS:
            tried += [{**best_plain, "start": start, "lr": rate} for rate in RATES_OF_CONTROLS]
    found = {
        "headline": group.run(trial, nets, fully_connected.data_of),
        "search_of_controls": group.run(control_trial, tried, fully_connected.data_of),
    }
    wanted = []
    for place in range(budget["seeds"]):
        searched = [net for net in found["search_of_controls"] if net["seed"] == FIRST_SEARCH + place]
        best = min(searched, key=lambda net: math.inf if net["diverged"] else net["loss"])
        for control in CONTROLS:
            net = {"control": control, "lr": RATES_OF_CONTROLS[0], "seed": FIRST_SEED + place, **common}
            if control == BEST_PLAIN:
                net |= {"start": best["start"], "lr": best["lr"]}
            wanted.append(net)
    found["controls"] = group.run(control_trial, wanted, fully_connected.data_of)
    return found


# claim 4

RATES_OF_ONE_LAYER = (0.25, 64)  # lr / (1 - momentum), those of `depth_of_use`


def past_a_thousand(group: SimpleNamespace) -> dict:
    """Nets of 1500 layers with the settings of `past_a_thousand`; one hidden layer, with a search for each seed."""
    budget = group.settings
    gate_bias = round(BEST["gate_bias"] - math.log((budget["depth"] + 1) / 1000), 2)
    deep = {"effective_lr": BEST["effective_lr"], "gate_bias": gate_bias}
    nets = [setting_of(budget, **deep, seed=FIRST_SEED + place) for place in range(budget["seeds"])]
    low, high = RATES_OF_ONE_LAYER
    tried = []
    for place in range(budget["seeds"]):
        seed = FIRST_SEARCH + place
        for k in range(budget["trials"]):
            part = (k + np.random.default_rng([k, 1, seed]).random()) / budget["trials"]
            rate = float(f"{low * (high / low) ** part:.4g}")
            tried.append(setting_of(budget, effective_lr=rate, gate_bias=0.0, depth=0, seed=seed))
    found = {"search_of_one_layer": fully_connected.run(group, tried)}
    shallow = []
    for place in range(budget["seeds"]):
        best = best_of(found["search_of_one_layer"], tried, seed=FIRST_SEARCH + place)
        shallow.append({**best, "seed": FIRST_SEED + place})
    found["one_layer"] = fully_connected.run(group, shallow, fully_connected.trial_and_skip)
    found["deep"] = fully_connected.run(group, nets, fully_connected.trial_and_skip)
    return found


def best_of(trials: list[dict], settings: list[dict], **wanted) -> dict:
    """The setting of the lowest training loss among those wanted, whose trials are in the same order."""
    places = [place for place, setting in enumerate(settings) if wanted.items() <= setting.items()]
    return settings[min(places, key=lambda place: selection_loss(trials[place]))]


# claim 5

MODERATE = (-1.0, -2.0, -3.0, -4.0, -5.0, -7.0)
HIGH = (2.0, 0.0)
LOW = (-10.0, -20.0)
BIASES = HIGH + MODERATE + LOW
RATES_OF_BIASES = (0.03, 0.15, 0.75, 3.75)  # lr / (1 - momentum), those of `initialisations`


def gate_biases(group: SimpleNamespace) -> dict:
    """Nets of every b_T, at the best of four rates."""
    budget = group.settings
    tried = []
    for place in range(budget["seeds"]):
        for depth in budget["depths"]:
            for bias in BIASES:
                of_bias = {"gate_bias": bias, "seed": FIRST_SEARCH + place}
                at_depth = {**budget, "depth": depth}
                tried += [setting_of(at_depth, effective_lr=rate, **of_bias) for rate in RATES_OF_BIASES]
    found = {"search_of_biases": fully_connected.run(group, tried)}
    chosen = []
    for place in range(budget["seeds"]):
        for depth in budget["depths"]:
            for bias in BIASES:
                of_bias = {"depth": depth, "gate_bias": bias, "seed": FIRST_SEARCH + place}
                best = best_of(found["search_of_biases"], tried, **of_bias)
                chosen.append({**best, "seed": FIRST_SEED + place})
    found["biases"] = fully_connected.run(group, chosen, fully_connected.trial_and_skip)
    return found


# claims 8 and 9

BIAS_OF_SET = {"MNIST": -2.0, CIFAR: -4.0}  # the paper's


def draw_of_fifty(kind: tuple[dict, int], k: int, group: SimpleNamespace) -> dict:
    """The k-th setting of a search: ranges and b_T are those of `fifty_layers`."""
    data_setting, seed = kind
    rng = np.random.default_rng([k, 50, seed])
    return {
        **data_setting,
        "block": "highway",
        "depth": group.settings["depth"],
        "activation": "tanh",
        "effective_lr": round(log_uniform(rng, 1, 6), 3),
        "momentum": round(rng.uniform(0.8, 0.95), 3),
        "decay": DECAY,
        "gate_bias": BIAS_OF_SET.get(data_setting["data"], -2.0),
        "seed": seed,
    }


def fifty_layers(group: SimpleNamespace) -> dict:
    """Nets of 50 layers as `fifty_layers` trains them, each from a search; `lesion` and `gates` of them."""
    budget = group.settings
    sets = fully_connected.data_sets(group)
    kinds = []
    for place in range(budget["searches"]):
        kinds += [(data_setting, FIRST_SEARCH + place) for data_setting in sets.values()]
    searched, bests = search(group, kinds, draw_of_fifty, two_best)
    nets = [{**longer(best), "seed": seed_after(best)} for best in bests]
    of_lesion = [{**net, "draws": budget["draws"], "step": budget["step"]} for net in nets]
    of_gates = [{**net, "of_each": budget["of_each"]} for net in nets]
    return {
        "search_of_fifty": searched["search"],
        "finalists_of_fifty": searched["finalists"],
        "fifty": fully_connected.run(group, nets, keep_net),
        "lesion": fifty_layer_nets.run(group, of_lesion, close_blocks),
        "gates": fifty_layer_nets.run(group, of_gates, look_at_gates),
    }


def seed_after(best: dict) -> int:
    """The seed of the net that is trained with what a search found."""
    return best["seed"] - FIRST_SEARCH + FIRST_SEED


# claim 10

STATIC = "static"
RANDOM = "random"
KINDS = {
    FULL: {"block": "highway"},
    STATIC: {"block": "static-unit"},
    RANDOM: {"block": "highway", "frozen_gates": True},
}
# the ranges of the search
RATES_OF_KINDS = (0.5, 8)
MOMENTA_OF_KINDS = (0.7, 0.97)
BIASES_OF_KINDS = (-8, -1)


def draw_of_kind(kind: tuple[str, dict, int], k: int, group: SimpleNamespace) -> dict:
    """The k-th setting of a search: the same draws for all kinds, in the ranges of `static_gates`."""
    name, data_setting, seed = kind
    rng = np.random.default_rng([k, 42, seed])
    rate = round(log_uniform(rng, *RATES_OF_KINDS), 3)
    momentum = round(rng.uniform(*MOMENTA_OF_KINDS), 3)
    lowest, highest = BIASES_OF_KINDS
    place = (k + rng.random()) / group.settings["trials"]
    depth = group.settings["depth"]
    return {
        **data_setting,
        "kind": name,
        # a net of this variant is measured with T replaced by its mean, too
        "variant": STATIC if name == STATIC else FULL,
        **KINDS[name],
        "width": width_of(name, data_setting, depth),
        "depth": depth,
        "activation": "tanh",
        "effective_lr": rate,
        "momentum": momentum,
        "decay": DECAY,
        "gate_bias": round(lowest + (highest - lowest) * place, 2),
        "seed": seed,
    }


def width_of(kind: str, data_setting: dict, depth: int) -> int:
    """The width of a kind: static gates have that which brings the whole net nearest to full's parameters."""
    full = fully_connected.WIDTH["highway"]
    if kind != STATIC:
        return full
    data = fully_connected.data_of(data_setting)
    d_in = data.x_train.shape[1]
    size_of_full = size_of_net(d_in, data.n_classes, full, depth, KINDS[FULL]["block"])
    return width_of_equal_size(size_of_full, d_in, data.n_classes, depth, KINDS[STATIC]["block"])


def kinds_of_gates(group: SimpleNamespace) -> dict:
    """Nets with gates that see x, with static ones, and with random ones, each from a search."""
    budget = group.settings
    wanted = []
    for place in range(budget["searches"]):
        for data_setting in fully_connected.data_sets(group).values():
            wanted += [(name, data_setting, FIRST_SEARCH + place) for name in KINDS]
    searched, bests = search(group, wanted, draw_of_kind, two_best)
    nets = []
    for best in bests:
        nets.append({**longer(best), "measured_every": budget["epochs"], "seed": seed_after(best)})
    return {
        "search_of_kinds": searched["search"],
        "finalists_of_kinds": searched["finalists"],
        "kinds": fully_connected.run(group, nets, train_kind),
    }


# claims 2 and 3

HIGHWAY = "highway"
PLAIN = "plain"
ORTHOGONAL = "orthogonal plain"
ONE_LAYER = "one layer"
ACTIVATIONS = ("tanh", "relu")
DEEPEST = 99
WIDER = 4  # the factor by which the ranges of Figure 1 grow at either end


def range_of_rates(kind: str, depth: int, activation: str) -> tuple[float, float]:
    """Figure 1's range, four times wider at either end; for orthogonal weights sixteen times at the upper one."""
    if kind == ONE_LAYER:
        return 0.5 / WIDER, 8 * WIDER
    block = HIGHWAY if kind == HIGHWAY else PLAIN
    low, high = FIGURE_1_RATES[block, depth][activation]
    wider_above = WIDER**2 if kind == ORTHOGONAL else WIDER
    return low / WIDER, high * wider_above


def draw_of_figure_1(net: tuple[str, int, int], k: int, group: SimpleNamespace) -> dict:
    """The k-th setting of a search: tanh and ReLU in turn, a rate from each equal part of the range."""
    kind, depth, seed = net
    rng = np.random.default_rng([k, depth + 1, len(kind), seed])
    activation = ACTIVATIONS[k % 2]
    low, high = range_of_rates(kind, depth, activation)
    parts = group.settings["trials"] // 2
    place = (k // 2 + rng.random()) / parts
    setting = {
        "kind": kind,
        "block": PLAIN if kind in (PLAIN, ORTHOGONAL) else HIGHWAY,
        "depth": depth,
        "activation": activation,
        "effective_lr": round(low * (high / low) ** place, 6),
        "momentum": round(rng.uniform(0.8, 0.95), 3),
        "decay": round(rng.uniform(0.85, 0.95), 3),
        "seed": seed,
    }
    if kind == HIGHWAY:
        setting["gate_bias"] = round(rng.uniform(*GATE_BIASES[depth]), 2)
    if kind == ORTHOGONAL:
        setting |= {"distribution": "orthogonal", "gain": 1.0}
    return setting


def figure_1(group: SimpleNamespace) -> dict:
    """Both kinds at every depth, and the controls, each from a search."""
    wanted = []
    for place in range(group.settings["searches"]):
        seed = FIRST_SEARCH + place
        depths = group.settings["depths"]
        for depth in depths:
            wanted += [(kind, depth, seed) for kind in (HIGHWAY, PLAIN)]
        wanted += [(ORTHOGONAL, depths[-1], seed), (ONE_LAYER, 0, seed)]
    searched, bests = search(group, wanted, draw_of_figure_1, two_best_and_slow)
    nets = [{**best, "seed": seed_after(best)} for best in bests]
    return {
        "search_of_figure_1": searched["search"],
        "finalists_of_figure_1": searched["finalists"],
        "figure_1": fully_connected.run(group, nets),
    }


def is_at_an_end(net: dict) -> bool:
    """Whether the rate that a search chose lies in the first or the last twelfth of its range."""
    return near_an_end(net["effective_lr"], *range_of_rates(net["kind"], net["depth"], net["activation"]))
