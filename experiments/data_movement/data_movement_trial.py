"""Prices the data movement of a training step, and of trained nets that skip what their gates shut out.

byte_dmd.py holds the price; the question defines the policies of skipping.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.data_movement.byte_dmd import Tape, price
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import commits_of, net_of
from highways.nets import layer_by_layer

BYTES = 4  # in a number
MATRICES = {"plain": 1, "residual": 1, "highway": 2}  # in a block
PHASES = ("forward", "backward", "update")
POLICIES = ("known", "computed", "unit")

# ---- A training step ----------------------------------------------------------------------------


def price_step(setting: dict) -> dict:
    """Prices one training step: in all, by phase, and by kind of value."""
    block = setting["block"]
    depth = setting["depth"]
    width = setting["width"]
    tape, ends = trace_step(block, depth, width, setting["batch"])
    depths, kinds, when = tape.depths()
    cost = price(depths, BYTES)
    phase = np.searchsorted(ends, when, side="right")
    result = {
        "n_parameters": depth * MATRICES[block] * width * (width + 1),
        "cost": int(cost.sum()),
        "reads": len(cost),
        "mean_depth": float(depths.mean()),
    }
    by_kind = {}
    for i, name in enumerate(PHASES):
        in_phase = phase == i
        result[name] = int(cost[in_phase].sum())
        by_kind[name] = {}
        for k, kind in enumerate(tape.kinds):
            cost_of_kind = int(cost[in_phase & (kinds == k)].sum())
            if cost_of_kind:
                by_kind[name][kind] = cost_of_kind
    result["by_kind"] = by_kind
    return result


def trace_step(block: str, depth: int, width: int, batch: int) -> tuple[Tape, list[int]]:
    """The tape of one training step, and the instructions at which its phases end."""
    tape = Tape()
    rows = width * MATRICES[block]
    W, b, x, target = tape.arguments(
        W=(depth, rows, width),
        b=(depth, rows),
        x=(width, batch),
        target=(width, batch),
    )
    ends = []

    states = [x]
    kept = []
    for layer in range(depth):
        z = tape.products("z", W[layer], states[-1], start=b[layer][:, None])
        y, for_the_way_back = forward(tape, block, z, states[-1])
        states.append(y)
        kept.append(for_the_way_back)
    ends.append(len(tape))

    dy = tape.do("dy", states[-1], target)
    gradients = []
    for layer in reversed(range(depth)):
        dz, carried = backward(tape, block, dy, *kept[layer])
        dW = tape.products("dW", dz, states[layer].T)
        db = tape.sums("db", dz)
        gradients.append((layer, dW, db))
        dy = tape.products("dy", W[layer].T, dz, start=carried)
    ends.append(len(tape))

    for layer, dW, db in gradients:
        tape.do("W", W[layer], dW)
        tape.do("b", b[layer], db)
    ends.append(len(tape))
    return tape, ends


def forward(tape: Tape, block: str, z, x) -> tuple[np.ndarray, tuple]:
    """y, and what the way back needs."""
    H = tape.do("H", z[: len(x)])
    if block == "plain":
        return H, (H,)  # eq. 1
    if block == "residual":
        return tape.do("state", x, H), (H,)  # y = x + H
    T = tape.do("T", z[len(x) :])
    difference = tape.do("H - x", H, x)
    change = tape.do("T (H - x)", T, difference)
    return tape.do("state", x, change), (H, T, difference)  # eq. 3


def backward(tape: Tape, block: str, dy, H, T=None, difference=None) -> tuple:
    """dz, and the part of dy that is carried past the products: None, dy, or (1 - T) dy."""
    slope = tape.do("slope", H)  # 1 - H^2
    if block == "plain":
        return tape.do("dz", slope, dy), None
    if block == "residual":
        return tape.do("dz", slope, dy), dy
    dH = tape.do("dH", T, dy)
    carried = tape.do("carried", dy, dH)
    dz_H = tape.do("dz", slope, dH)
    slope_of_T = tape.do("slope", T)  # T (1 - T)
    dT = tape.do("dT", difference, dy)
    dz_T = tape.do("dz", slope_of_T, dT)
    return np.concatenate([dz_H, dz_T]), carried


# ---- A trained net ------------------------------------------------------------------------------


def try_skipping(setting: dict, folder: str) -> dict:
    """What skipping would save in one trained net, and cost in accuracy."""
    net = net_of(setting, folder)
    images = fully_connected.images_of(setting)
    y = images.y_test
    state = layer_by_layer.first_state(net, images.x_test)
    depths = effective_depths(net, images.x_test)
    depths_at_start = effective_depths(fully_connected.make(setting), images.x_test)
    judging_half = state[len(y) // 2 :]
    priced = judging_half[: setting["images"]]
    whole_costs = [inference(net, image_state, 0.0, "all") for image_state in priced]

    policies = []
    for threshold in setting["thresholds"]:
        for policy in POLICIES:
            by_unit = policy == "unit"
            after, used = through(net, state, threshold, by_unit)
            costs = [inference(net, image_state, threshold, policy) for image_state in priced]
            ratios = [cost / whole for cost, whole in zip(costs, whole_costs, strict=True)]
            policies.append({
                "policy": policy,
                "threshold": threshold,
                **accuracies(net, after, y),
                "used": float(used),
                "cost_over_whole": float(np.mean(ratios)),
            })  # fmt: skip

    whole, _ = through(net, state, 0.0, unit=False)
    return {
        "effective_depth": float(depths.mean()),
        "effective_depth_sd": float(depths.std(ddof=1)),
        "effective_depth_at_start": float(depths_at_start.mean()),
        "effective_depth_sd_at_start": float(depths_at_start.std(ddof=1)),
        "policies": policies,
        **accuracies(net, whole, y),
        "cost": float(np.mean(whole_costs)),
        "commits": commits_of(net),
    }


def effective_depths(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """Images (N, d_in) -> their effective depths (N,): mean T, summed over the blocks."""
    state = layer_by_layer.first_state(net, x)
    return sum(T.mean(axis=1) for _, T, *_ in layer_by_layer.walk(net, state))


def accuracies(net: hn.DeepNet, state: np.ndarray, y: np.ndarray) -> dict:
    """The accuracy on the half of the test images that chooses a threshold ("choice_accuracy") and
    on the half that judges it ("test_accuracy")."""
    right = layer_by_layer.logits(net, state).argmax(axis=1) == y
    half = len(y) // 2
    return {
        "choice_accuracy": float(right[:half].mean()),
        "test_accuracy": float(right[half:].mean()),
    }


def through(net: hn.DeepNet, state: np.ndarray, threshold: float, unit: bool) -> tuple:
    """The state after all blocks, with shut blocks (or shut units) skipped, and the share not shut."""
    used = []
    for layer in range(net.depth):
        T, y = layer_by_layer.block_forward(net, layer, state)
        gate = T if unit else T.max(axis=1, keepdims=True)
        shut = gate < threshold
        used.append(1 - shut.mean())
        state = np.where(shut, state, y)
    return state, np.mean(used)


def inference(net: hn.DeepNet, state: np.ndarray, threshold: float, policy: str) -> int:
    """The price of passing one state (hidden,) through the blocks by a policy; "all" skips none."""
    width = net.hidden
    depth = net.depth
    tape = Tape()
    W_H, W_T, b_H, b_T, x = tape.arguments(
        W_H=(depth, width, width),
        W_T=(depth, width, width),
        b_H=(depth, width),
        b_T=(depth, width),
        x=(width, 1),
    )
    state = state[None]
    for layer in range(depth):
        T, y = layer_by_layer.block_forward(net, layer, state)
        used = units_used(T[0], threshold, policy)
        state = np.where(used, y, state)
        if policy == "known" and not used.any():
            continue
        z_T = tape.products("z", W_T[layer], x, start=b_T[layer][:, None])
        T = tape.do("T", z_T)
        if not used.any():
            continue
        z_H = tape.products("z", W_H[layer][used], x, start=b_H[layer][used][:, None])
        H = tape.do("H", z_H)
        difference = tape.do("H - x", H, x[used])
        change = tape.do("T (H - x)", T[used], difference)
        x = x.copy()
        x[used] = tape.do("state", x[used], change)
    end = len(tape)
    # weights that this image did not need stay on the stack: reading them at the end keeps them there
    tape.do("end", tape.unread())
    depths, _, when = tape.depths()
    return int(price(depths[when < end], BYTES).sum())


def units_used(gates: np.ndarray, threshold: float, policy: str) -> np.ndarray:
    """Which units of a block with these gates (hidden,) are computed."""
    if policy == "all":
        return np.full(len(gates), True)
    if policy == "unit":
        return gates >= threshold
    return np.full(len(gates), gates.max() >= threshold)
