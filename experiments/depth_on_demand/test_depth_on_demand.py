"""The room depth_on_demand: its trials, its rows and its claims."""

import numpy as np
import pytest
from conftest import verdict_on

import highway_networks as hn
from experiments.depth_on_demand import (
    depth_for_width,
    depth_on_demand,
    depth_on_demand_trial,
    needed_or_told,
    needed_or_told_trial,
    untold_need,
    untold_need_trial,
)
from experiments.shared_trials import problems_of_known_depth
from experiments.shared_trials.fully_connected import ALL
from highways.nets import equal_size

# ---- depth_on_demand ------------------------------------------------------------------------------

POINTER = {"task": "pointer", "size": 5, "deepest": 3, "n_test": 40}
AUTOMATON = {"task": "automaton", "size": 7, "deepest": 3, "n_test": 40}


def test_a_pointer_is_followed_k_times():
    rng = np.random.default_rng(1)
    depths = np.array([1, 2, 3] * 20)
    x, y = depth_on_demand_trial.problems(POINTER, depths, rng)
    for problem, depth, answer in zip(x, depths, y, strict=True):
        table = problem[:25].reshape(5, 5).argmax(axis=1)
        place = problem[25:30].argmax()
        for _ in range(depth):
            place = table[place]
        assert place == answer
        assert problem[30:].tolist() == [1.0] * depth + [0.0] * (3 - depth)


def test_the_rate_warms_up_and_falls_as_a_half_cosine():
    rates = [problems_of_known_depth.rate_at(step, {"steps": 1200, "lr": 0.1}) for step in (0, 99, 400, 600, 1200)]
    at_99 = 0.05 * np.cos(np.pi * 99 / 2400) ** 2
    assert rates == pytest.approx([0.0005, at_99, 0.075, 0.05, 0], abs=1e-9)


def test_rule_30_makes_the_middle_cell():
    rng = np.random.default_rng(1)
    depths = np.array([1, 2, 3] * 20)
    x, y = depth_on_demand_trial.problems(AUTOMATON, depths, rng)
    for problem, depth, answer in zip(x, depths, y, strict=True):
        cells = [int(cell > 0) for cell in problem[:7]]
        for _ in range(depth):  # rule 30: left XOR (cell OR right)
            cells = [cells[i - 1] ^ (cells[i] | cells[(i + 1) % 7]) for i in range(7)]
        assert cells[3] == answer


def test_training_choosing_and_testing_have_different_problems():
    choosing, _ = depth_on_demand_trial.drawn(POINTER, 2, depth_on_demand_trial.CHOOSING)
    testing, _ = depth_on_demand_trial.drawn(POINTER, 2, depth_on_demand_trial.TESTING)
    again, _ = depth_on_demand_trial.drawn(POINTER, 2, depth_on_demand_trial.TESTING)
    assert np.array_equal(testing, again)
    assert not np.array_equal(choosing, testing)


def test_an_answer_is_decided_when_it_no_longer_changes():
    answers = np.array([[1, 2, 3, 3], [1, 1, 3, 4], [1, 1, 5, 4], [1, 1, 5, 3]])  # (blocks + 1, problems)
    assert depth_on_demand_trial.decided_after(answers).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", depth_on_demand.KINDS)
def test_all_kinds_have_as_many_parameters(kind):
    settings = depth_on_demand.BUDGETS["default"]
    for name in depth_on_demand.FIRST_LEVEL.values():
        level = depth_on_demand.level_of(name, settings)
        full, net = (
            depth_on_demand_trial.make(depth_on_demand.draws(name, level, settings)[0]) for name in ("full", kind)
        )
        assert abs(net.parameters.size / full.parameters.size - 1) < 0.01
        shape = (net.hidden, net.depth, depth_on_demand.KINDS[kind])
        assert equal_size.size_of_net(*depth_on_demand.inputs_and_outputs(level), *shape) == net.parameters.size


def test_all_kinds_search_the_same_rates_and_starts():
    settings = depth_on_demand.BUDGETS["default"]
    level = depth_on_demand.level_of("pointer-1", settings)
    tried = set()
    for kind in depth_on_demand.KINDS:
        found = depth_on_demand.draws(kind, level, settings)
        tried.add(tuple((setting["lr"], setting["start"]) for setting in found))
    assert len(tried) == 1


def test_a_trained_net_is_measured_as_the_net_itself_answers():
    settings = {**depth_on_demand.BUDGETS["quick"], "draws": 3}
    level = depth_on_demand.level_of("pointer-1", settings)
    setting = depth_on_demand.draws("full", level, settings)[0]
    result = depth_on_demand_trial.final_trial(setting)
    last = [of_k[-1] for of_k in result["inside"]["right_after"]]
    assert last == result["accuracy"]
    assert len(result["inside"]["right_after"][0]) == setting["depth"] + 1


def test_freezing_a_gate_that_sees_nothing_changes_nothing():
    settings = depth_on_demand.BUDGETS["quick"]
    setting = depth_on_demand.draws("full", depth_on_demand.level_of("pointer-1", settings), settings)[0]
    net = depth_on_demand_trial.make(setting)
    net.W_T[:] = 0
    found = depth_on_demand_trial.frozen(net, setting)
    assert (
        found["by_k"]
        == found["overall"]
        == depth_on_demand_trial.accuracies(net, setting, depth_on_demand_trial.TESTING)
    )


def test_the_record_keeps_in_four_digits_what_is_summed_up_or_drawn():
    by_block = {"right_after": [[0.123456, 1.0]], "change": [[0.1]], "T": None}
    by_k = {"decided": [2.00004], "decided_right": [None], "work": [1]}
    result = {"kind": "residual", "diverged": False, "inside": {**by_block, **by_k}, "untrained": by_k}
    kept = depth_on_demand.for_record(result, "final")
    assert kept["untrained"] == {"decided": [2.0]}
    assert kept["inside"] == {**by_k, "decided": [2.0], "right_after": [[0.1235, 1.0]], "T": None}
    assert depth_on_demand.for_record(result, "unseen")["inside"] == {**by_k, "decided": [2.0]}
    assert depth_on_demand.for_record({"diverged": True, "inside": None}, "final") == {"diverged": True, "inside": None}


# ---- Rules --------------------------------------------------------------------------------------


def net(kind, level, seed, accuracy, decided, untrained=(1.0, 1.0), frozen=0.9):
    """A made-up trial with two k and ten blocks."""
    blocks = [[0.5] * 10 + [share] for share in accuracy]
    inside = {"right_after": blocks, "decided": decided, "decided_right": decided, "work": decided,
              "T": [[0.1] * 10] * 2}  # fmt: skip
    return {
        **{"kind": kind, "level": level, "seed": seed, "diverged": False, "depth": 10, "n_test": 2000},
        "width": 128 if kind == "full" else 180,
        "accuracy": list(accuracy),
        "inside": inside,
        "untrained": {"decided": list(untrained)},
        "frozen": {"by_k": [frozen] * 2, "overall": [frozen] * 2},
    }


def record(full=(0.99, 0.98), others=(0.97, 0.7), rise=4.0, rise_of_residual=0.5, frozen=0.9):
    trials = []
    for level in ("pointer-1", "automaton-1"):
        for kind in depth_on_demand.KINDS:
            for seed in range(1, 6):
                wobble = 0.001 * seed
                accuracy = [share - wobble for share in (full if kind == "full" else others)]
                rising = rise if kind == "full" else rise_of_residual
                decided = [3.0, 3.0 + rising + 10 * wobble]
                trials.append(net(kind, level, seed, accuracy, decided, untrained=(1.0, 1.0 + wobble), frozen=frozen))
    settings = {"levels": ["pointer-1", "automaton-1"], "width": 128, "n_test": 2000}
    return {"settings": settings, "trials": {"final": trials, "unseen": [], "alone": []}}


def test_a_gate_that_sees_x_must_beat_every_other_kind():
    verdict = "seeing-x-helps-where-depth-is-needed"
    assert verdict_on("depth_on_demand", verdict, record()) == "reproduced"
    assert verdict_on("depth_on_demand", verdict, record(full=(0.97, 0.7))) == "not clear"
    assert verdict_on("depth_on_demand", verdict, record(full=(0.5, 0.5))) == "not reproduced"


@pytest.mark.parametrize("verdict", ["depth-in-use-follows-pointers", "depth-in-use-follows-rule-30"])
def test_the_depth_in_use_must_rise_more_than_in_residual_nets(verdict):
    solved = {"full": (0.99, 0.98), "others": (0.99, 0.98)}
    assert verdict_on("depth_on_demand", verdict, record(**solved)) == "reproduced"
    assert verdict_on("depth_on_demand", verdict, record(**solved, rise_of_residual=6.0)) == "in part"
    assert verdict_on("depth_on_demand", verdict, record(full=(0.99, 0.5))) == "not clear"
    static_gates = depth_on_demand.WITHOUT_SEEING[0]
    results = record(**solved)
    assert verdict_on("depth_on_demand", verdict, *static_gates.stand_in(results)) == "in part, the rest not clear"
    nets = results["trials"]["final"]
    of_full = {(net["level"], net["seed"]): net["inside"] for net in nets if net["kind"] == "full"}
    for net in nets:
        if net["kind"] == "unit":
            net["inside"] = of_full[net["level"], net["seed"]]
    assert verdict_on("depth_on_demand", verdict, *static_gates.stand_in(results)) == "reproduced"


@pytest.mark.parametrize(
    ("later", "earlier", "verdict"),
    [(1.0, 1.0, "reproduced"), (1.0, -1.0, "in part"), (-1.0, -1.0, "not reproduced")],
)
def test_an_unseen_k_must_be_decided_between_its_neighbours(later, earlier, verdict):
    """Its problems `later` blocks after those of k - 1, and `earlier` blocks before those of k + 1."""
    trials = []
    for level, k in depth_on_demand.UNSEEN.items():
        for seed in range(1, 6):
            wobble = 0.01 * seed
            decided = [0.0] * (k - 2) + [3.0, 3.0 + later + wobble, 3.0 + later + earlier + 3 * wobble]
            trials.append(net("full", level, seed, [0.9] * len(decided), decided))
    results = {"settings": {}, "trials": {"final": [], "unseen": trials, "alone": []}}
    assert verdict_on("depth_on_demand", "depth-in-use-follows-unseen-k", results) == verdict


def test_a_frozen_gate_must_cost_accuracy():
    verdict = "gates-see-more-than-k"
    assert verdict_on("depth_on_demand", verdict, record(frozen=0.5)) == "reproduced"
    assert verdict_on("depth_on_demand", verdict, record(full=(0.9, 0.9), frozen=0.9)) == "not reproduced"


# ---- depth_for_width ------------------------------------------------------------------------------


def record_of(accuracies: dict) -> dict:
    """A record of three seeds of these nets, {(block, width, depth): accuracy}."""
    final = []
    for net, accuracy in accuracies.items():
        for seed in range(3):
            final.append({**depth_for_width.settings_of(net), **ALL, "test_accuracy": accuracy + seed / 1e4})
    return {"settings": {}, "trials": {"final": final}}


def test_the_nets_have_as_many_parameters():
    shallow = depth_for_width.parameters(depth_for_width.SHALLOW)
    for net in (depth_for_width.DEEP, depth_for_width.WIDE):
        assert depth_for_width.parameters(net) == pytest.approx(shallow, rel=0.03)
    assert depth_for_width.parameters(depth_for_width.DEEP_AND_NARROWER) == pytest.approx(0.8 * shallow, rel=0.03)
    assert depth_for_width.parameters(depth_for_width.PLAIN) == pytest.approx(1.2 * shallow, rel=0.03)


@pytest.mark.parametrize(
    ("deep", "narrower", "expected"),
    [(0.97, 0.97, "reproduced"), (0.97, 0.96, "in part"), (0.96, 0.96, "not reproduced")],
)
def test_the_verdict_on_depth_for_width(deep, narrower, expected):
    record = record_of({depth_for_width.DEEP: deep, depth_for_width.DEEP_AND_NARROWER: narrower})
    blocks = {"experiment": "blocks", **record_of({depth_for_width.SHALLOW: 0.97, depth_for_width.PLAIN: 0.97})}
    more_seeds = {"settings": {}, "trials": {"blocks": []}}
    assert verdict_on("depth_for_width", "depth-makes-up-for-width", record, blocks, more_seeds) == expected


@pytest.mark.parametrize(("wide", "expected"), [(0.97, "reproduced"), (0.98, "not reproduced")])
def test_the_verdict_on_wide_maxout(wide, expected):
    record = record_of({depth_for_width.DEEP: 0.97, depth_for_width.WIDE: wide})
    assert verdict_on("depth_for_width", "deep-and-narrow-matches-wide-maxout", record) == expected


# ---- Needed or told ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "k", "needed"),
    [
        ([1, 2, 3, 3, 0, 0], 4, 3),  # 3 points to itself
        ([0, 2, 3, 3, 0, 0], 4, 0),
        ([1, 2, 3, 4, 5, 0], 4, 4),  # a way without repeats
        ([1, 0, 3, 4, 5, 0], 4, -1),  # in a circle of two
        ([1, 0, 3, 4, 5, 0], 1, 1),  # not yet back
    ],
)
def test_how_many_steps_a_problem_needs(table, k, needed):
    one_hot = np.eye(6)
    x = np.hstack([one_hot[table].ravel(), one_hot[0]])[None]
    assert needed_or_told_trial.steps_needed(x, 6, k) == [needed]


def test_slopes_tell_needed_and_told_steps_apart():
    rng = np.random.default_rng(0)
    told = rng.integers(1, 5, 4000)
    needed = rng.integers(0, told + 1)
    found = needed_or_told_trial.slopes(2 * needed + 0.5 * told + rng.normal(size=4000), needed, told, rng)
    assert found["needed"] == pytest.approx(2, abs=0.1)
    assert found["told"] == pytest.approx(0.5, abs=0.1)
    assert found["p_needed"] == found["p_told"] == 0
    by_chance = needed_or_told_trial.slopes(rng.normal(size=4000), needed, told, rng)
    assert by_chance["p_needed"] > 0.01


def measured_nets(needed: float, told: float) -> dict:
    """A record in which every net has these slopes, in blocks."""
    trials = []
    for kind in needed_or_told.KINDS:
        for seed in range(5):
            noise = 0.01 * np.sin(seed)
            slopes = {"needed": needed + noise, "told": told - noise}
            look = {"cells": [], "decided": slopes, "worked": slopes}
            trials.append({"level": "pointer-1", "kind": kind, "depth": 12, "n_test": 6000, "seed": seed,
                           "diverged": False, "trained": look, "untrained": look})  # fmt: skip
    return {"settings": {}, "trials": trials}


@pytest.mark.parametrize(
    ("claim", "needed", "told", "verdict"),
    [
        ("blocks-follow-the-need", 1, 0, "reproduced"),
        ("blocks-follow-the-need", -1, 0, "not reproduced"),
        ("told-steps-count-nothing", 1, 0, "reproduced"),
        ("told-steps-count-nothing", 1, 1, "not reproduced"),
        ("need-counts-more-than-told", 1, 0.5, "reproduced"),
        ("need-counts-more-than-told", 0.5, 1, "not reproduced"),
        ("need-without-seeing-x", 1, 0, "reproduced"),
    ],
)
def test_verdicts_on_needed_and_told_steps(claim, needed, told, verdict):
    assert verdict_on("needed_or_told", claim, measured_nets(needed, told)) == verdict


# ---- A need that nobody tells --------------------------------------------------------------------

CHAINS = {"chains": 3, "length": 4, "deepest": 3, "width": 5, "depth": 3, "seed": 1, "lr": 0.001, "gate_bias": -0.5,
          "gain": 1.0, "n_test": 200, "n_fit": 200}  # fmt: skip


def test_where_a_chain_ends():
    needs = np.arange(1, 4).repeat(20)
    x, y = untold_need_trial.problems(CHAINS, needs, np.random.default_rng(0))
    tables = x[:, : 12 * 15].reshape(-1, 12, 15).argmax(axis=2)
    places = x[:, 12 * 15 :].argmax(axis=1)
    for table, place, need, answer in zip(tables, places, needs, y, strict=True):
        assert place in table  # so that no start is the first of its chain
        assert len(set(table)) == 12  # nothing is pointed to twice
        for _ in range(need):
            assert place < 12
            place = table[place]
        assert place == 12 + answer


def test_kinds_of_equal_width_are_about_equally_large():
    sizes = []
    for block in untold_need.KINDS.values():
        sizes.append(untold_need_trial.make({**CHAINS, "width": 96, "block": block, "tied": False}).parameters.size)
    assert max(sizes) < 1.01 * min(sizes)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("block", untold_need.KINDS.values())
def test_gradients_of_tied_and_untied_blocks(block, tied):
    net = untold_need_trial.make({**CHAINS, "block": block, "tied": tied}, np.float64)
    places = untold_need_trial.shared_places(net, tied)
    rng = np.random.default_rng(3)
    start = net.parameters + 0.1 * rng.normal(size=places.max() + 1)[places]
    direction = rng.normal(size=places.max() + 1)
    x, y = untold_need_trial.problems(CHAINS, np.arange(1, 4), rng)
    net.parameters[:] = start
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    gradient = untold_need_trial.gradient_of_learned(net.backward(d_logits), places)
    losses = []
    for step in (1e-5, -1e-5):
        net.parameters[:] = start + step * direction[places]
        losses.append(hn.softmax_cross_entropy(net.forward(x), y)[0])
    assert (losses[0] - losses[1]) / 2e-5 == pytest.approx(gradient @ direction, rel=1e-6)
    n_of_a_block = (start.size - net.W_in.size - net.b_in.size - net.W_out.size - net.b_out.size) // net.depth
    assert gradient.size == start.size - tied * (net.depth - 1) * n_of_a_block


def test_an_answer_can_be_read_and_moved_once_computed(monkeypatch):
    """A net of four blocks whose third computes whether two of its inputs differ: no probe reads that before."""
    net = hn.DeepNet(3, 2, 3, 4, "two-matrices", 0)
    net.parameters[:] = 0
    net.W_in[:] = 3 * np.eye(3)
    net.W_H[2, :2] = [[9, 9, 0], [9, 9, 0]]
    net.b_H[2, :2] = [-9, 9]
    net.V[2, 2, :2] = [1, -1]  # 0 where both inputs have the same sign, -2 where they differ
    net.c[2, 2] = 1
    net.W_out[:, 2] = [9, -9]

    def signs(setting, n_each, stream):
        x = np.random.default_rng(stream).choice([-1.0, 1.0], (n_each, 3)).astype(np.float32)
        x[:, 2] = 0
        return x, (x[:, 0] != x[:, 1]).astype(int), np.ones(n_each, int)

    monkeypatch.setattr(untold_need_trial, "mixed", signs)
    found = untold_need_trial.look(net, {**CHAINS, "chains": 2, "deepest": 1, "n_test": 1000, "n_fit": 1000})
    for measure, before in (("probe", 0.5), ("patched", 0)):
        share = found[measure]["share"][0]
        assert share[:3] == pytest.approx([before] * 3, abs=0.1)
        assert share[3:] == [1, 1]
        assert found[measure]["half_way"] == [pytest.approx(2.5, abs=0.1)]


def test_the_slope_over_needs_and_that_of_permuted_ones():
    rng = np.random.default_rng(0)
    needs = rng.integers(1, 5, 2000)
    holds = np.arange(13)[:, None] >= 2 * needs
    found = untold_need_trial.by_block(holds, needs, [True] * 4, 0.5, rng)
    assert found["half_way"] == [1.75, 3.75, 5.75, 7.75]
    assert found["slope"] == 2
    assert found["permuted"] < 0.3
    assert found["p"] == 0
    assert untold_need_trial.by_block(holds, needs, [True, False, False, False], 0.5, rng)["slope"] is None


@pytest.mark.parametrize(
    ("share", "block"), [([1, 1], 0.0), ([0.5, 0.7, 1], 1.167), ([0.5, 1, 0.5, 1], 2.5), ([0.5, 0.6], None)]
)
def test_the_block_from_which_on_most_is_known(share, block):
    assert untold_need_trial.half_way(np.array(share), 0.75) == block


def chained(untied: float, tied: float = 0.0, seeing: float = 0.0, shallow: float = 0.6, n_lost: int = 0) -> dict:
    """A record of nets in which the answer can be read this much later, in blocks, for one more step."""
    groups = {"search": [], "final": [], "shallow": []}
    for is_tied in untold_need.TIED:
        for kind in untold_need.KINDS:
            for search in range(5):
                slope = (tied if is_tied else untied) + seeing * (kind == "highway") + 0.01 * np.sin(search)
                look = {"slope": None if search < n_lost else slope, "permuted": 0.05, "p": 0.0, "half_way": [1.0] * 3}
                net = {"kind": kind, "tied": is_tied, "search": search, "length": 4, "width": 96, "depth": 12,
                       "n_test": 1000, "diverged": False, "accuracy": [1.0, 1.0, 0.98 + 0.001 * search],
                       "trained": {"probe": look, "patched": look, "donor": look},
                       "untrained": {"probe": {"share": [[0.5, 0.51 + 0.001 * search]] * 3}}}  # fmt: skip
                groups["final"].append(net)
                if not is_tied:
                    for depth in untold_need.SHALLOW:
                        accuracy = [1.0, 1.0, shallow + 0.001 * search]
                        groups["shallow"].append({**net, "depth": depth, "accuracy": accuracy})
    return {"settings": {"chains": 2, "deepest": 3}, "trials": groups}


@pytest.mark.parametrize(
    ("claim", "record", "verdict"),
    [
        ("untold-need-is-read-later", chained(1), "reproduced"),
        ("untold-need-is-read-later", chained(1, n_lost=1), "reproduced"),
        ("untold-need-is-read-later", chained(1, n_lost=2), "not clear"),
        ("untold-need-is-read-later", chained(-1), "not reproduced"),
        ("untold-need-without-seeing-x", chained(1), "reproduced"),
        ("untold-need-with-tied-blocks", chained(1, tied=-1), "not reproduced"),
        ("work-goes-on-for-all-needs-alike", chained(0.1), "reproduced"),
        ("work-goes-on-for-all-needs-alike", chained(1), "not reproduced"),
        ("untold-need-gates-that-see-x", chained(1, seeing=0.5), "reproduced"),
        ("untold-need-gates-that-see-x", chained(1, seeing=-0.5), "not reproduced"),
        ("tied-blocks-spread-the-need", chained(1, tied=2), "reproduced"),
        ("untold-need-needs-blocks", chained(1), "reproduced"),
        ("untold-need-needs-blocks", chained(1, shallow=0.95), "in part"),
        ("untold-need-needs-three-blocks", chained(1, shallow=0.95), "not reproduced"),
    ],
)
def test_verdicts_on_a_need_that_nobody_tells(claim, record, verdict):
    assert verdict_on("untold_need", claim, record) == verdict
