"""The room data_movement: its trials, its rows and its claims."""

import numpy as np
import pytest
from conftest import verdict_on
from hypothesis import given, settings
from hypothesis import strategies as st

import highway_networks as hn
import highways.nets.extra_blocks  # noqa: F401  registers residual
from experiments.data_movement import data_movement, data_movement_trial
from experiments.data_movement.byte_dmd import NONE, Tape, price
from experiments.shared_trials import fully_connected
from highways.nets import layer_by_layer
from highways.records import select


def on_a_stack(tape):
    """The depths of all reads, found by moving the items of a list as the rules say."""
    values, when, is_read = (array.tolist() for array in tape.touches())
    last_touch = {value: i for i, value in enumerate(values)}
    stack = []
    depths = []
    start = 0
    while start < len(values):
        end = start + 1  # an argument is put on the stack alone
        if when[start] >= 0:
            end = len(when) - when[::-1].index(when[start])  # the touches of one instruction
        depths += [stack.index(values[i]) + 1 for i in range(start, end) if is_read[i]]
        for i in range(start, end):
            if is_read[i]:
                stack.remove(values[i])
            if last_touch[values[i]] > i:
                stack.insert(0, values[i])
        start = end
    return depths


def cost(tape, size=1):
    depths, _, _ = tape.depths()
    return price(depths, size).sum()


def test_a_tape_costs_what_the_examples_of_the_definition_cost():
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
def test_a_tape_costs_what_a_stack_that_is_really_moved_costs(seed, n):
    """Random programs of element-wise operations, products and sums, whose arguments are read
    never, once or often."""
    rng = np.random.default_rng(seed)
    tape = Tape()
    shapes = {f"a{i}": tuple(rng.integers(1, 4, 2)) for i in range(3)}
    arrays = tape.arguments(**shapes)
    for _ in range(n):
        how = rng.choice(["one by one", "sums", "two by two", "products"])
        one = arrays[rng.integers(len(arrays))]
        if how == "one by one":
            arrays.append(tape.do("f", one))
        if how == "sums":
            arrays.append(tape.sums("sum", one)[None])
        if how == "two by two":
            fits = [other for other in arrays if other.shape == one.shape and not (other == one).any()]
            if fits:
                arrays.append(tape.do("g", one, fits[rng.integers(len(fits))]))
        if how == "products":
            apart = [other for other in arrays if not np.intersect1d(one, other).size]
            fits = [other for other in apart if len(other) == one.shape[1]]
            if fits:
                arrays.append(tape.products("product", one, fits[rng.integers(len(fits))]))
    if len(tape):
        depths, kinds, when = tape.depths()
        assert depths.tolist() == on_a_stack(tape)
        assert (np.diff(when) >= 0).all()
        assert kinds.max() < len(tape.kinds)


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
    """Computes all instructions of the tape in order, given the values of its arguments.

    Returns all values, and the kind of each."""
    kind_of = [tape.kinds[kind] for kind in np.concatenate(tape._kind_of)]
    value_of = dict(enumerate(values))
    for inputs, output in zip(np.concatenate(tape._inputs), np.concatenate(tape._outputs), strict=True):
        inputs = [i for i in inputs.tolist() if i != NONE]
        kind = kind_of[output]
        kind_of_last = kind_of[inputs[-1]]
        rule = RULES.get((kind, kind_of_last)) or RULES.get(kind) or add
        value_of[int(output)] = rule(*(value_of[i] for i in inputs))
    return np.array([value_of[i] for i in range(len(kind_of))]), np.array(kind_of)


def add(*terms):
    return sum(terms)


@pytest.mark.parametrize("block", data_movement_trial.MATRICES)
def test_the_tape_computes_what_the_registered_block_does(block):
    """A step of the tape, followed value by value, is a step of a net of these blocks: its states and its gradient."""
    depth = 3
    width = 4
    batch = 2
    rng = np.random.default_rng(0)
    net = hn.DeepNet(5, width, width, depth, block, rng, dtype=np.float64)
    net.parameters[:] += rng.normal(0, 0.5, net.parameters.shape)
    net.W_out[:] = np.eye(width)  # the logits are the last state
    net.b_out[:] = 0
    images = rng.normal(size=(batch, 5))
    target = rng.normal(size=(batch, width))
    W = net.W_H
    b = net.b_H
    if block == "highway":
        W = np.concatenate([W, net.W_T], axis=1)
        b = np.concatenate([b, net.b_T], axis=1)
    first = layer_by_layer.first_state(net, images).T

    tape, _ = data_movement_trial.trace_step(block, depth, width, batch)
    arguments = np.concatenate([array.ravel() for array in (W, b, first, target.T)])
    values, kinds = follow(tape, arguments)
    computed = np.arange(len(values)) >= len(arguments)
    last_state = net.forward(images)
    net.backward(last_state - target)

    states = values[computed & (kinds == ("H" if block == "plain" else "state"))].reshape(depth, width, batch)
    np.testing.assert_allclose(states[-1], last_state.T, rtol=1e-12)

    gradient = net.grad.W_H
    if block == "highway":
        gradient = np.concatenate([gradient, net.grad.W_T], axis=1)
    dW = values[kinds == "dW"].reshape(gradient.shape)  # the last layer's first
    np.testing.assert_allclose(dW[::-1], gradient, rtol=1e-10)

    dy_of_first = values[kinds == "dy"][-first.size :].reshape(first.shape)
    dz = (1 - first**2) * dy_of_first
    np.testing.assert_allclose(dz @ images, net.grad.W_in, rtol=1e-10)

    updated = values[computed & (kinds == "W")].reshape(W.shape)  # the last layer's first
    np.testing.assert_allclose(updated[::-1], W - gradient, rtol=1e-10)


# how many values are read for each element of a block, besides those of the matrix products
READS_FORWARD = {
    "plain": 1,  # H
    "residual": 1 + 2,  # H, x + H
    "highway": 2 + 2 + 2 + 2,  # H and T, H - x, T (H - x), x + T (H - x)
}
READS_BACKWARD = {
    "plain": 1 + 2,  # slope, dz
    "residual": 1 + 2,
    "highway": 2 + 2 + 1 + 2 + 1 + 2 + 2,  # dH, carried, slope, dz_H, slope of T, dT, dz_T
}


@pytest.mark.parametrize("block", data_movement_trial.MATRICES)
def test_a_step_reads_what_its_equations_do(block):
    """A product reads two factors.  Adding it reads the product and the sum so far, except for the
    first term of a sum that starts from 0."""
    depth = 3
    width = 5
    batch = 2
    tape, ends = data_movement_trial.trace_step(block, depth, width, batch)
    assert ends[-1] == len(tape)
    rows = width * data_movement_trial.MATRICES[block]
    elements = width * batch
    products = rows * elements

    forward = 4 * products + READS_FORWARD[block] * elements
    dW = 4 * products - rows * width
    db = 2 * rows * batch - rows
    dx = 4 * products
    if block == "plain":  # nothing is carried: the sums start from 0
        dx -= elements
    backward = READS_BACKWARD[block] * elements + dW + db + dx
    update = 2 * rows * (width + 1)
    loss = 2 * elements  # y - target

    _, _, when = tape.depths()
    counted = np.bincount(np.searchsorted(ends, when, side="right"), minlength=3)
    assert counted.tolist() == [depth * forward, loss + depth * backward, depth * update]

    result = data_movement_trial.price_step({"block": block, "depth": depth, "width": width, "batch": batch})
    assert result["reads"] == counted.sum()
    assert result["cost"] == sum(result[phase] for phase in data_movement_trial.PHASES)
    assert result["cost"] == sum(sum(costs.values()) for costs in result["by_kind"].values())
    assert result["n_parameters"] == depth * rows * (width + 1)
    grouped = {kind for group in data_movement.GROUPS.values() for kind in group}
    read = {kind for costs in result["by_kind"].values() for kind in costs}
    assert read <= grouped


def test_plain_and_residual_blocks_have_widths_with_as_many_parameters():
    assert data_movement.width_with_as_many(50) == 71
    assert data_movement.width_with_as_many(16) == 23
    base = {"depth": 3, "width": 16, "batch": 2}
    settings_of_steps = data_movement.settings_of_steps(base, {"depth": [1], "width": [8, 50], "batch": [2, 4]})
    assert len(settings_of_steps) == 3 * 5 + 2
    assert len(set(map(str, settings_of_steps))) == len(settings_of_steps)
    widths = {}
    for setting in settings_of_steps:
        width_of_highway = setting["size"]["width"]
        if setting["block"] == "highway" or not setting["as_many"]:
            assert setting["width"] == width_of_highway
        elif setting["block"] == "plain":
            widths[width_of_highway] = setting["width"]
    assert widths == {16: 23, 8: data_movement.width_with_as_many(8), 50: 71}


def test_weights_that_an_image_does_not_need_stay_on_the_stack():
    """So a read of what lies under them costs as much as if they were used at the end."""
    tape = Tape()
    unused, used = tape.arguments(unused=(10,), used=(1,))
    tape.do("f", used)
    assert tape.depths()[0].tolist() == [1]
    assert (tape.unread() == unused).all()
    tape.do("end", tape.unread())
    assert tape.depths()[0][0] == 11


def small_net(seed: int = 0):
    rng = np.random.default_rng(seed)
    net = hn.DeepNet(6, 3, 5, 4, "highway", rng, dtype=np.float64)
    net.parameters[:] += rng.normal(0, 0.8, net.parameters.shape)
    return net, rng.normal(size=(40, 6))


def test_nothing_is_skipped_at_no_threshold_and_all_above_one():
    net, x = small_net()
    state = layer_by_layer.first_state(net, x)
    for unit in (False, True):
        same, used = data_movement_trial.through(net, state, 0.0, unit)
        np.testing.assert_allclose(layer_by_layer.logits(net, same), net.predict(x), rtol=1e-10)
        assert used == 1
        nothing, used = data_movement_trial.through(net, state, 1.1, unit)
        assert (nothing == state).all()
        assert used == 0
    whole = data_movement_trial.inference(net, state[0], 0.0, "all")
    for policy in data_movement_trial.POLICIES:
        assert data_movement_trial.inference(net, state[0], 0.0, policy) == whole
    assert data_movement_trial.inference(net, state[0], 1.1, "known") == 0
    gates_only = data_movement_trial.inference(net, state[0], 1.1, "computed")
    assert 0 < gates_only < whole
    assert gates_only == data_movement_trial.inference(net, state[0], 1.1, "unit")
    known = data_movement_trial.inference(net, state[0], 0.3, "known")
    computed = data_movement_trial.inference(net, state[0], 0.3, "computed")
    assert known <= computed <= whole


def test_a_unit_whose_gate_is_shut_carries():
    net, x = small_net()
    state = layer_by_layer.first_state(net, x)
    net.b_T[:] = -50
    net.b_T[:, 2] = 50
    after, used = data_movement_trial.through(net, state, 0.5, unit=True)
    assert used == pytest.approx(1 / 5)
    changed = (after != state).any(axis=0)
    assert changed.tolist() == [False, False, True, False, False]
    by_block, used = data_movement_trial.through(net, state, 0.5, unit=False)
    assert used == 1
    np.testing.assert_allclose(by_block, after, atol=1e-15)


def test_the_saving_is_chosen_on_one_half_and_judged_on_another():
    names = ("policy", "threshold", "choice_accuracy", "test_accuracy", "cost_over_whole")
    policies = [
        ("unit", 0.1, 0.96, 0.97, 0.9),
        ("unit", 0.3, 0.951, 0.93, 0.6),
        ("unit", 0.5, 0.9, 0.97, 0.3),
        ("known", 0.5, 0.9, 0.97, 0.3),
    ]
    net = {
        "choice_accuracy": 0.96,
        "test_accuracy": 0.97,
        "policies": [dict(zip(names, policy, strict=True)) for policy in policies],
    }
    assert data_movement.choice(net, "unit", 0.01) == pytest.approx((0.4, 0.04))
    assert data_movement.choice(net, "unit", 0.001) == pytest.approx((0.1, 0))
    assert data_movement.choice(net, "known", 0.01) == (0, 0)


def test_what_skipping_costs_is_measured_against_the_whole_net(tmp_path, monkeypatch):
    net, x = small_net()
    y = np.random.default_rng(1).integers(0, 3, len(x))
    images = fully_connected.Images(None, None, x, y)
    net.about = {"env": {"git": "abc"}}
    monkeypatch.setattr(data_movement_trial, "net_of", lambda setting, folder: net)
    monkeypatch.setattr(fully_connected, "images_of", lambda setting: images)
    untrained, _ = small_net(seed=2)
    monkeypatch.setattr(fully_connected, "make", lambda setting: untrained)
    result = data_movement_trial.try_skipping({"thresholds": [0.0, 0.4, 1.1], "images": 3}, str(tmp_path))
    assert result["commits"] == ["abc"]
    right = net.predict(x).argmax(axis=1) == y
    assert result["choice_accuracy"] == right[:20].mean()
    assert result["test_accuracy"] == right[20:].mean()
    right_without_blocks = layer_by_layer.logits(net, layer_by_layer.first_state(net, x)).argmax(axis=1) == y
    assert len(result["policies"]) == 9
    for policy in data_movement_trial.POLICIES:
        nothing_shut = select(result["policies"], policy=policy, threshold=0.0)
        assert nothing_shut["cost_over_whole"] == 1
        assert nothing_shut["test_accuracy"] == result["test_accuracy"]
        all_shut = select(result["policies"], policy=policy, threshold=1.1)
        assert all_shut["test_accuracy"] == right_without_blocks[20:].mean()
        assert all_shut["used"] == 0
    depth = net.gates(x).mean(axis=2).sum(axis=0)
    assert result["effective_depth"] == pytest.approx(depth.mean())
    assert result["effective_depth_sd"] == pytest.approx(depth.std(ddof=1))
    depth_at_start = untrained.gates(x).mean(axis=2).sum(axis=0)
    assert result["effective_depth_at_start"] == pytest.approx(depth_at_start.mean())
    assert result["effective_depth_sd_at_start"] == pytest.approx(depth_at_start.std(ddof=1))


def test_a_skipped_block_s_weights_lie_in_the_way():
    """A net whose first block is shut costs more than the net without it: the next image may need those weights."""
    net, x = small_net()
    state = layer_by_layer.first_state(net, x)[0]
    net.W_T[:] = 0
    net.b_T[:] = 50
    net.b_T[0] = -50
    without = hn.DeepNet(6, 3, 5, 3, "highway", np.random.default_rng(0), dtype=np.float64)
    without._blocks[:] = net._blocks[1:]
    skipped = data_movement_trial.inference(net, state, 0.5, "known")
    assert data_movement_trial.inference(without, state, 0.0, "all") < skipped
    assert skipped < data_movement_trial.inference(net, state, 0.0, "all")


def looked_into(data: str, sd: float, sd_at_start: float) -> dict:
    """A net whose effective depth is 10, before and after training."""
    depths = {"effective_depth": 10.0, "effective_depth_at_start": 10.0}
    return {"data": data, **depths, "effective_depth_sd": sd, "effective_depth_sd_at_start": sd_at_start}


def test_effective_depth_is_compared_with_that_before_training():
    more = [looked_into("MNIST", 2.0 + i / 10, 0.1 + i / 100) for i in range(3)]  # over a tenth of the mean, 10
    less = [looked_into("CIFAR-100", 0.1 + i / 100, 0.05 + i / 200) for i in range(3)]  # more than at the start
    record = {"trials": {"trained": more + less}}
    assert verdict_on("data_movement", "effective-depth-differs", record) == "reproduced"
    assert verdict_on("data_movement", "effective-depth-differs-on-cifar", record) == "in part"


@pytest.mark.parametrize(
    ("unit_saved", "unit_lost", "verdict"),
    [
        (0.12, 0.001, "in part"),
        (0.12, 0.03, "not reproduced"),  # it loses too much
        (0.0, 0.0, "not reproduced, the rest not clear"),  # a policy that skips nothing loses nothing
        (0.1, 0.001, "not reproduced, the rest not clear"),
    ],
)
def test_a_policy_must_save_and_not_lose(unit_saved, unit_lost, verdict):
    nets = []
    for noise in (-1e-4, 0, 1e-4):
        policies = []
        for policy in data_movement_trial.POLICIES:
            saved, lost = (unit_saved, unit_lost) if policy == "unit" else (0.03, 0.0)
            policies.append({
                "policy": policy,
                "choice_accuracy": 0.97,
                "test_accuracy": 0.97 - lost - noise,
                "cost_over_whole": 1 - saved - noise * (saved > 0),
            })  # fmt: skip
        net = {"data": "MNIST", "depth": 49, "n_train": 60000, "policies": policies}
        nets.append({**net, "choice_accuracy": 0.97, "test_accuracy": 0.97})
    record = {"settings": {}, "trials": {"trained": nets}}
    assert verdict_on("data_movement", "skipping-saves-a-tenth", record) == verdict
