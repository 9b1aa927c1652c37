"""ByteDMD against a stack that is really moved, and what the tapes of the blocks compute."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import highway_networks as hn
import training.extra_blocks  # noqa: F401  registers residual
from experiments import data_movement
from training import layer_by_layer
from training.byte_dmd import Tape, greater_later, price


def on_a_stack(tape):
    """The depths of all reads by moving a list, as the rules are written."""
    values, when, read = (each.tolist() for each in tape.touches())
    last = {value: i for i, value in enumerate(values)}
    stack, depths, i = [], [], 0
    while i < len(values):
        touched = [j for j in range(i, len(values)) if when[j] == when[i]] if when[i] >= 0 else [i]
        reads = [j for j in touched if read[j]]
        depths += [stack.index(values[j]) + 1 for j in reads]
        for j in touched:
            if read[j]:
                stack.remove(values[j])
            if last[values[j]] > j:
                stack.insert(0, values[j])
        i = touched[-1] + 1
    return depths


def cost(tape, size=1):
    return price(tape.depths()[0], size).sum()


def test_the_examples_of_the_definition():
    tape = Tape()
    a, b, c = tape.arguments(a=(), b=(), c=())
    tape.do("sum", tape.do("sum", a, b), c)
    assert cost(tape) == 6
    tape = Tape()
    a, b = tape.arguments(a=(1, 2), b=(2, 1))
    tape.products("sum", a, b)
    assert cost(tape) == 12
    tape = Tape()
    x, A = tape.arguments(x=(2, 1), A=(2, 2))  # the vector is the first argument; the other way round it costs 27
    tape.products("sum", A, x)
    assert cost(tape) == 26


def test_a_value_of_four_bytes_is_four_bytes_one_under_the_other():
    assert price(np.array([1, 2]), 4).tolist() == [1 + 2 + 2 + 2, 3 + 3 + 3 + 3]
    assert price(np.array([10**12]), 1).tolist() == [10**6]


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_against_a_stack_that_is_moved(seed, n):
    """Programs at random: element by element, products, sums, with arguments that are read never, once, or often."""
    rng = np.random.default_rng(seed)
    tape = Tape()
    shapes = {f"a{i}": tuple(rng.integers(1, 4, 2)) for i in range(3)}
    arrays = tape.arguments(**shapes)
    for _ in range(n):
        how, one = rng.integers(4), arrays[rng.integers(len(arrays))]
        if how == 0:
            arrays.append(tape.do("f", one))
        elif how == 1:
            arrays.append(tape.sums("sum", one)[None])
        else:
            fits = [other for other in arrays if other.shape == one.shape and not (other == one).any()]
            if how == 2 and fits:
                arrays.append(tape.do("g", one, fits[rng.integers(len(fits))]))
            else:
                fits = [other for other in arrays if len(other) == one.shape[1] and not np.intersect1d(one, other).size]
                if fits:
                    arrays.append(tape.products("product", one, fits[rng.integers(len(fits))]))
    if len(tape):
        depths, kinds, when = tape.depths()
        assert depths.tolist() == on_a_stack(tape)
        assert (np.diff(when) >= 0).all()
        assert kinds.max() < len(tape.kinds)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 100, 1025])
def test_greater_ones_that_come_later(n):
    rank = np.random.default_rng(n).permutation(n)
    assert greater_later(rank).tolist() == [(rank[i + 1 :] > rank[i]).sum() for i in range(n)]


RULES = {  # what an instruction computes: by the kind of its output, and of its last input where that decides
    "product": lambda a, b: a * b,
    "H": np.tanh,
    "T": lambda z: 1 / (1 + np.exp(-z)),
    "H - x": lambda H, x: H - x,
    "T (H - x)": lambda T, difference: T * difference,
    "state": lambda x, change: x + change,
    "dH": lambda T, dy: T * dy,
    "dT": lambda difference, dy: difference * dy,
    "carried": lambda dy, dH: dy - dH,
    "dz": lambda slope, d: slope * d,
    ("slope", "H"): lambda H: 1 - H**2,
    ("slope", "T"): lambda T: T * (1 - T),
    ("dy", "target"): lambda y, target: y - target,
    ("W", "dW"): lambda W, dW: W - dW,
    ("b", "db"): lambda b, db: b - db,
}


def follow(tape, values):
    """Computes every instruction of the tape, in its order, from the values of its arguments."""
    kind_of = [tape.kinds[kind] for kind in np.concatenate(tape._kind_of)]
    values = dict(enumerate(values))
    for inputs, output in zip(np.concatenate(tape._inputs), np.concatenate(tape._outputs), strict=True):
        inputs = [i for i in inputs.tolist() if i >= 0]
        kind, last = kind_of[output], kind_of[inputs[-1]]
        rule = RULES.get((kind, last)) or RULES.get(kind) or (lambda *terms: sum(terms))
        values[int(output)] = rule(*(values[i] for i in inputs))
    return values, kind_of


@pytest.mark.parametrize("block", data_movement.KINDS)
def test_the_tape_computes_what_the_registered_block_does(block):
    """A step of the tape, followed value by value, is a step of a net of these blocks: its states and its gradient."""
    depth, width, batch = 3, 4, 2
    rng = np.random.default_rng(0)
    net = hn.DeepNet(5, width, width, depth, block, rng, dtype=np.float64)
    net.parameters[:] += rng.normal(0, 0.5, net.parameters.shape)
    net.W_out[:], net.b_out[:] = np.eye(width), 0  # the logits are the last state
    images, target = rng.normal(size=(batch, 5)), rng.normal(size=(batch, width))
    W = np.concatenate([net.W_H, net.W_T] if block == "highway" else [net.W_H], axis=1)
    b = np.concatenate([net.b_H, net.b_T] if block == "highway" else [net.b_H], axis=1)
    first = layer_by_layer.first(net, images).T

    tape, _ = data_movement.step(block, depth, width, batch)
    values, kinds = follow(tape, np.concatenate([each.ravel() for each in (W, b, first, target.T)]))
    last_state = net.forward(images)
    net.backward(last_state - target)

    def of(kind, layer):
        """Of what the tape has of this kind, from the first layer's to the last's, that of one."""
        every = [values[i] for i in range(len(kinds)) if kinds[i] == kind]
        return np.array(every).reshape(depth, -1)[layer]

    H = "H" if block == "plain" else "state"
    np.testing.assert_allclose(of(H, -1).reshape(width, batch), last_state.T, rtol=1e-12)
    gradient = [net.grad.W_H, net.grad.W_T] if block == "highway" else [net.grad.W_H]
    for layer in range(depth):
        dW = of("dW", depth - 1 - layer).reshape(-1, width)
        np.testing.assert_allclose(dW, np.concatenate([each[layer] for each in gradient]), rtol=1e-10)
    every_dy = np.array([values[i] for i in range(len(kinds)) if kinds[i] == "dy"])
    dz = (1 - first**2) * every_dy[-first.size :].reshape(first.shape)
    np.testing.assert_allclose(dz @ images, net.grad.W_in, rtol=1e-10)
    updated = [values[i] for i in range(W.size, len(kinds)) if kinds[i] == "W"]  # the last layer's first
    expected = (W - np.concatenate(gradient, axis=1))[::-1]
    np.testing.assert_allclose(np.reshape(updated, expected.shape), expected, rtol=1e-10)


@pytest.mark.parametrize("block", data_movement.KINDS)
def test_a_step_reads_what_its_equations_do(block):
    """Every product reads two factors and, but for the first into a sum from 0, the sum so far and the product."""
    depth, width, batch = 3, 5, 2
    tape, ends = data_movement.step(block, depth, width, batch)
    assert ends[-1] == len(tape)
    rows, elements = width * data_movement.KINDS[block], width * batch
    products = rows * elements
    own = {"plain": (1, 1 + 2), "residual": (1 + 2, 1 + 2), "highway": (2 + 2 + 2 + 2, 2 + 2 + 1 + 2 + 1 + 2 + 2)}[
        block
    ]
    forward = 4 * products + own[0] * elements
    from_zero = block == "plain"
    backward = 2 * elements // depth  # y - target
    backward = (4 * products - rows * width) + (2 * rows * batch - rows)  # dW, db: batch products into a sum from 0
    backward += 4 * products - from_zero * elements + own[1] * elements
    update = 2 * rows * (width + 1)
    when = tape.depths()[2]
    counted = np.bincount(np.searchsorted(ends, when, side="right"), minlength=3)
    assert counted.tolist() == [depth * forward, depth * backward + 2 * elements, depth * update]
    result = data_movement.trial({"block": block, "depth": depth, "width": width, "batch": batch})
    assert result["reads"] == counted.sum()
    assert result["cost"] == sum(result[name] for name in data_movement.PHASES)
    assert result["cost"] == sum(sum(of.values()) for of in result["by_kind"].values())
    assert result["n_parameters"] == depth * rows * (width + 1)
    kinds = {kind for group in data_movement.GROUPS.values() for kind in group}
    assert {kind for of in result["by_kind"].values() for kind in of} <= kinds


def test_as_many_parameters():
    assert data_movement.wide(50) == 71
    assert data_movement.wide(16) == 23
    s = {"base": {"depth": 3, "width": 16, "batch": 2}, "sweeps": {"depth": [1], "width": [8, 50], "batch": [2, 4]}}
    trials = data_movement.settings(s)
    assert len({str(t) for t in trials}) == len(trials) == 3 * 5 + 2
    widths = {t["size"]["width"]: t["width"] for t in trials if t["block"] == "plain" and t["as_many"]}
    assert widths == {16: 23, 8: data_movement.wide(8), 50: 71}
    assert all(t["width"] == t["size"]["width"] for t in trials if t["block"] == "highway" or not t["as_many"])


def test_weights_that_an_image_does_not_need_stay_on_the_stack():
    """What lies under them costs as much as if they were used at the end."""
    tape = Tape()
    unused, used = tape.arguments(unused=(10,), used=(1,))
    tape.do("f", used)
    assert tape.depths()[0].tolist() == [1]
    assert (tape.unread() == unused).all()
    tape.do("end", tape.unread())
    assert tape.depths()[0][0] == 11


def small_net():
    rng = np.random.default_rng(0)
    net = hn.DeepNet(6, 3, 5, 4, "highway", rng, dtype=np.float64)
    net.parameters[:] += rng.normal(0, 0.8, net.parameters.shape)
    return net, rng.normal(size=(40, 6))


def test_nothing_is_skipped_at_no_threshold_and_all_above_one():
    net, x = small_net()
    state = layer_by_layer.first(net, x)
    for how in ("block", "unit"):
        same, used = data_movement.through(net, state, 0.0, how)
        np.testing.assert_allclose(layer_by_layer.logits(net, same), net.predict(x), rtol=1e-10)
        assert used == 1
        nothing, used = data_movement.through(net, state, 1.1, how)
        assert (nothing == state).all()
        assert used == 0
    whole = data_movement.inference(net, state[0], 0.0, "all")
    for policy in data_movement.POLICIES:
        assert data_movement.inference(net, state[0], 0.0, policy) == whole
    assert data_movement.inference(net, state[0], 1.1, "known") == 0
    gates_only = data_movement.inference(net, state[0], 1.1, "computed")
    assert 0 < gates_only == data_movement.inference(net, state[0], 1.1, "unit") < whole
    some = [data_movement.inference(net, state[0], 0.3, policy) for policy in ("known", "computed")]
    assert some[0] <= some[1] <= whole


def test_a_unit_whose_gate_is_shut_carries():
    net, x = small_net()
    state = layer_by_layer.first(net, x)
    net.b_T[:] = -50
    net.b_T[:, 2] = 50
    after, used = data_movement.through(net, state, 0.5, "unit")
    assert used == pytest.approx(1 / 5)
    changed = (after != state).any(axis=0)
    assert changed.tolist() == [False, False, True, False, False]
    by_block, used = data_movement.through(net, state, 0.5, "block")
    assert used == 1
    np.testing.assert_allclose(by_block, after, atol=1e-15)


def test_the_largest_saving_is_chosen_on_one_half_and_judged_on_the_other():
    names = "policy", "threshold", "choice_accuracy", "test_accuracy", "cost_over_whole"
    policies = [
        ("unit", 0.1, 0.96, 0.97, 0.9),
        ("unit", 0.3, 0.951, 0.93, 0.6),
        ("unit", 0.5, 0.9, 0.97, 0.3),
        ("known", 0.5, 0.9, 0.97, 0.3),
    ]
    t = {
        "choice_accuracy": 0.96,
        "test_accuracy": 0.97,
        "policies": [dict(zip(names, p, strict=True)) for p in policies],
    }
    assert data_movement.choice(t, "unit", 0.01) == pytest.approx((0.4, 0.04))
    assert data_movement.choice(t, "unit", 0.001) == pytest.approx((0.1, 0))
    assert data_movement.choice(t, "known", 0.01) == (0, 0)


def test_what_skipping_costs_is_measured_against_the_whole_net(tmp_path, monkeypatch):
    net, x = small_net()
    y = np.random.default_rng(1).integers(0, 3, len(x))
    monkeypatch.setattr(data_movement.fifty_layers, "net_of", lambda t, folder: net)
    monkeypatch.setattr(data_movement.training, "images_of", lambda t: (None, None, x, y))
    result = data_movement.trained({"thresholds": [0.0, 0.4, 1.1], "images": 3}, str(tmp_path))
    right = net.predict(x).argmax(axis=1) == y
    assert (result["choice_accuracy"], result["test_accuracy"]) == (right[:20].mean(), right[20:].mean())
    right = layer_by_layer.logits(net, layer_by_layer.first(net, x)).argmax(axis=1) == y
    policies = {(p["policy"], p["threshold"]): p for p in result["policies"]}
    assert len(policies) == 9
    for policy in data_movement.POLICIES:
        assert policies[policy, 0.0]["cost_over_whole"] == 1
        assert policies[policy, 0.0]["test_accuracy"] == result["test_accuracy"]
        assert policies[policy, 1.1]["test_accuracy"] == right[20:].mean()
        assert policies[policy, 1.1]["used"] == 0
    depth = net.gates(x).mean(axis=2).sum(axis=0)
    assert result["effective_depth"] == pytest.approx(depth.mean())
    assert result["effective_depth_sd"] == pytest.approx(depth.std(ddof=1))


def test_the_way_back_reads_what_eq_9_needs():
    """Element by element: T for dH and its slope, H for its slope, dH for what is carried and for dz_H, and so on."""
    tape, ends = data_movement.step("highway", 1, 4, 3)
    _, kinds, when = tape.depths()
    back = np.bincount(kinds[(when >= ends[0]) & (when < ends[1])], minlength=len(tape.kinds))
    reads = dict(zip(tape.kinds, (back / 12).tolist(), strict=True))
    expected = {"T": 2, "H": 1, "H - x": 1, "slope": 2, "dH": 2, "dT": 1, "carried": 1, "dy": 3}
    assert {name: reads[name] for name in expected} == expected


def test_a_skipped_block_s_weights_lie_in_the_way():
    """A net whose first block is shut costs more than the net without it: the next image may need those weights."""
    net, x = small_net()
    state = layer_by_layer.first(net, x)[0]
    net.W_T[:] = 0
    net.b_T[:] = 50
    net.b_T[0] = -50
    without = hn.DeepNet(6, 3, 5, 3, "highway", np.random.default_rng(0), dtype=np.float64)
    without._blocks[:] = net._blocks[1:]
    skipped = data_movement.inference(net, state, 0.5, "known")
    assert (
        data_movement.inference(without, state, 0.0, "all") < skipped < data_movement.inference(net, state, 0.0, "all")
    )
