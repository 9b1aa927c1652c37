"""Does the carry path save data movement, or only gradient flow?  A training step, priced by ByteDMD.

    python -m experiments data_movement            -> results/data_movement.json
    python -m experiments data_movement --data-dir CIFAR-100   # besides MNIST

The published program left the question open.

ByteDMD is a price for reading memory.  All values lie on one stack, the most recently touched on
top.  Reading a byte at depth d costs ceil(sqrt(d)); writing and arithmetic are free.  The inputs
of an instruction are priced together, by the stack as it was before the instruction.  Then they
move to the top in the order of reading, and the output is pushed.  A value is removed after its
last use.  At the start the first argument lies on top, and within an argument its last element.

A tape (experiments/data_movement/byte_dmd.py) records one training step of `depth` blocks.  Its arguments are the
weights, then the inputs.  Its instructions are, in this order: the forward pass as the equations are
written, one output at a time; dL/dy = y - target; the backward pass as the gradient of eq. 3;
gradient descent.  A number has four bytes.

A second question is asked of trained nets: what would be saved, at what accuracy, if blocks or
units whose gates are shut for an image were skipped?  There are three policies:

    known     it is known beforehand which blocks are shut, and their gates are not computed; no
              policy for blocks saves more
    computed  T is computed, and H only in blocks with a gate that is not shut
    unit      T is computed, and H only for units whose gate is not shut

Comparing T with a threshold is free.  Weights that an image does not need stay on the stack,
because the next image may need them.  A threshold is chosen on one half of the test images, and
judged on the other.

The effective depth of an image is its mean T, summed over the blocks.  An encyclopedia article
says that a net learns to use different effective depths for different inputs.  We measure how much
effective depth varies between images: its standard deviation over them, divided by its mean.  It
differs by input if this variation is larger in trained nets than in the same nets before training,
whose gates have learned nothing.  Each net is compared with itself.  The rule is the same on MNIST
and on CIFAR-100.  If the variation is larger, training has made depth depend on the input.  If it
is not, depth differs between images only because their states differ.

The rule was written down before we looked at any net of CIFAR-100, and at any net before training.
The variation in trained nets of MNIST, 0.055, had been seen.  Until then the rule was a variation of
more than 0.1.
"""

from __future__ import annotations

import functools

import numpy as np

import highway_networks as hn
from experiments.data_movement.byte_dmd import Tape, price
from experiments.fifty_layers.trial import ON_ALL_SETS, ON_MNIST, net_of, settings_of_kept_nets
from highways.lab.judging.claim import CHOSEN_AFTER, Claim, NotMeasured, effect_as_text, sample_as_text, values_of
from highways.lab.judging.rules import corrected, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected, layer_by_layer
from highways.records import by_data_set, select
from highways.statistics import mean_sd_n

BASE = {"depth": 10, "width": 16, "batch": 8}
# sweeps: sizes of a step, varied one at a time from the base
# thresholds: a gate is shut if its T is below
# images: the number of images whose passage is priced
BUDGETS = {
    "quick": {
        "sweeps": {"depth": [1, 3], "width": [4], "batch": [1, 2]},
        "base": {"depth": 2, "width": 6, "batch": 2},
        "thresholds": [0.3],
        "images": 1,
    },
    "default": {
        "sweeps": {"depth": [1, 2, 5, 20, 50], "width": [4, 8, 32], "batch": [1, 2, 4, 32]},
        "base": BASE,
        "thresholds": [0.1, 0.2, 0.3, 0.5],
        "images": 12,
    },
}
BYTES = 4  # in a number
MATRICES = {"plain": 1, "residual": 1, "highway": 2}  # in a block
PHASES = ("forward", "backward", "update")
POLICIES = ("known", "computed", "unit")
MARGIN = 0.05  # costs that differ by less are called equal
LOSSES = (0.01, 0.001)  # a policy may lose this much accuracy; the claim is about the first
GROUPS = {  # {group: the kinds of values that a step reads}
    "weights": ("W", "b", "dW", "db"),
    "states": ("x", "state"),
    "partial sums": ("product", "partial sum"),
    "what comes back": ("dy", "dz"),
    "the gate": ("T", "H - x", "T (H - x)", "dH", "dT", "carried"),
    "the rest": ("z", "H", "slope", "target"),
}

# ---- A training step ----------------------------------------------------------------------------


def trial(setting: dict) -> dict:
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
        of_phase = phase == i
        result[name] = int(cost[of_phase].sum())
        by_kind[name] = {}
        for k, kind in enumerate(tape.kinds):
            cost_of_kind = int(cost[of_phase & (kinds == k)].sum())
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


def trained(setting: dict, folder: str) -> dict:
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


# ---- The trials ---------------------------------------------------------------------------------


def run(runner: Runner) -> dict:
    settings = runner.settings
    steps = runner.run(trial, settings_of_steps(settings["base"], settings["sweeps"]))
    of_skipping = {"thresholds": settings["thresholds"], "images": settings["images"]}
    nets = [{**net, **of_skipping} for net in settings_of_kept_nets(runner)]
    skip = functools.partial(trained, folder=str(runner.folder))
    return {"step": steps, "trained": fully_connected.run(runner, nets, skip)}


def settings_of_steps(base: dict, sweeps: dict) -> list[dict]:
    """Settings for a step at the base size, and with depth, width and batch varied one at a time.

    Each size is measured with highway blocks, and with plain and residual blocks that have as many
    parameters ("as_many": True).  At the base plain and residual blocks of the same width are added
    ("as_many": False)."""
    sizes = [base]
    for name, values in sweeps.items():
        for value in values:
            size = {**base, name: value}
            if size not in sizes:
                sizes.append(size)
    settings = []
    for size in sizes:
        for block in MATRICES:
            width = size["width"] if block == "highway" else width_with_as_many(size["width"])
            settings.append({"block": block, **size, "width": width, "size": size, "as_many": True})
    for block in ("plain", "residual"):
        settings.append({"block": block, **base, "size": base, "as_many": False})
    return settings


def width_with_as_many(width: int) -> int:
    """The width at which a block of one matrix has as many parameters as a highway block."""
    wanted = 2 * width * (width + 1)
    return min(range(width, 2 * width), key=lambda wider: abs(wider * (wider + 1) - wanted))


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """Rows for the cost of each kind of block, for highway's cost over that of the other kinds, for
    the kinds of values that a highway step reads, for the effective depths of trained nets, and for
    what each policy saves."""
    steps = record["trials"]["step"]
    base = record["settings"]["base"]
    result = [{"row": "cost", "block": block, **cost_of(block, steps, base)} for block in MATRICES]
    for block in ("plain", "residual"):
        result.append({"row": "highway over", "block": block, **cost_over(block, steps, base)})
    highway = step_of(steps, "highway", base)
    for group, kinds in GROUPS.items():
        cost = 0
        for cost_of_kind in highway["by_kind"].values():
            cost += sum(cost_of_kind.get(kind, 0) for kind in kinds)
        result.append({"block": "highway", "read": group, "share": cost / highway["cost"]})
    for data, nets in by_data_set(record["trials"]["trained"]).items():
        depth = mean_sd_n(values_of(nets, "effective_depth"))
        depth_sd = mean_sd_n(values_of(nets, "effective_depth_sd"))
        result.append({"data": data, "effective_depth": depth, "effective_depth_sd": depth_sd})
        for policy in POLICIES:
            for loss in LOSSES:
                measured = savings(nets, policy, loss)
                saved = mean_sd_n(measured["saved"])
                lost = mean_sd_n(measured["lost"])
                result.append({"data": data, "policy": policy, "may_lose": loss, "saved": saved, "lost": lost})
    return result


def step_of(steps: list[dict], block: str, size: dict, as_many: bool = True) -> dict:
    """The step of blocks of this kind that match highway blocks of this size.

    They match in the number of parameters or, with as_many=False, in width."""
    return select(steps, block=block, size=size, as_many=as_many)


def per_parameter(step: dict) -> float:
    """The cost of a step for one parameter and one example."""
    return step["cost"] / step["n_parameters"] / step["batch"]


def cost_of(block: str, steps: list[dict], base: dict) -> dict:
    """The cost of a step at the base, the shares of its phases, and the ratio of the deepest net's
    cost to the shallowest's."""
    at_base = step_of(steps, block, base)
    row = {
        "cost_per_parameter": per_parameter(at_base),
        "cost_per_layer": at_base["cost"] / at_base["depth"],
    }
    for phase in PHASES:
        row[f"{phase}_share"] = at_base[phase] / at_base["cost"]
    depths = [step["size"]["depth"] for step in steps]
    deepest = step_of(steps, block, {**base, "depth": max(depths)})
    shallowest = step_of(steps, block, {**base, "depth": min(depths)})
    row["deepest_over_shallowest"] = per_parameter(deepest) / per_parameter(shallowest)
    return row


def cost_over(block: str, steps: list[dict], base: dict) -> dict:
    """The ratio of highway blocks' cost to that of these blocks.

    For blocks with the same number of parameters it is the ratio of costs per parameter and
    example: at the base, and the least and the most over all sizes.  For blocks of the same width
    it is that of the whole step, at the base."""
    ratios = [
        per_parameter(step_of(steps, "highway", other["size"])) / per_parameter(other)
        for other in steps
        if other["block"] == block and other["as_many"]
    ]
    as_wide = step_of(steps, block, base, as_many=False)
    return {
        "at_base": ratios[0],  # the base is the first size
        "least": min(ratios),
        "most": max(ratios),
        "as_wide": step_of(steps, "highway", base)["cost"] / as_wide["cost"],
    }


def savings(nets: list[dict], policy: str, loss: float) -> dict[str, list[float]]:
    """What a policy saves, and what it loses, in every net."""
    chosen = [choice(net, policy, loss) for net in nets]
    return {"saved": [saved for saved, _ in chosen], "lost": [lost for _, lost in chosen]}


def choice(net: dict, policy: str, loss: float) -> tuple[float, float]:
    """Chooses the threshold that saves most; returns the share of the cost that it saves, and the
    accuracy that it loses.

    On the half of the test images that chooses, a threshold may lose at most `loss`.  The accuracy
    returned is lost on the half that judges.  (0, 0) if all thresholds lose more than `loss`."""
    best = (0.0, 0.0)
    for tried in net["policies"]:
        if tried["policy"] == policy and tried["choice_accuracy"] >= net["choice_accuracy"] - loss:
            saved = 1 - tried["cost_over_whole"]
            lost = net["test_accuracy"] - tried["test_accuracy"]
            best = max(best, (saved, lost))
    return best


def measure_variation(record: dict, data: str) -> dict:
    """The deviation of effective depth over images, divided by its mean, after and before training.

    Raises NotMeasured if no net of this data set was looked into.  "at_start" is empty if none was
    looked into before training."""
    nets = [net for net in record["trials"]["trained"] if net["data"] == data]
    if not nets:
        raise NotMeasured(f"no nets of {data} have been looked into for it yet")
    trained = np.divide(values_of(nets, "effective_depth_sd"), values_of(nets, "effective_depth")).tolist()
    at_start = []
    for net in nets:
        if "effective_depth_at_start" in net:
            at_start.append(net["effective_depth_sd_at_start"] / net["effective_depth_at_start"])
    return {"depth": values_of(nets, "effective_depth"), "trained": trained, "at_start": at_start}


def variation_as_text(measured: dict) -> str:
    text = f"depth {sample_as_text(measured['depth'])}, varies by a share of {effect_as_text(measured['trained'])}"
    if measured["at_start"]:
        text += f", before training by {effect_as_text(measured['at_start'])}"
    return text


LEAST_VARIATION = 0.1  # of effective depth: its standard deviation over its mean


def varies(measured: dict) -> list[bool | None] | str:
    """Whether the depth varies more than before training, and by more than a tenth."""
    if not measured["at_start"]:
        return "not tested: these nets have not been looked at before training yet"
    more = np.subtract(measured["trained"], measured["at_start"])
    return corrected(is_above(more, 0), is_above(measured["trained"], LEAST_VARIATION))


def depth_claim(id: str, data: str, note: str) -> Claim:
    return Claim(
        id=id,
        source="encyclopedia article",
        says=f"{data}: effective depth, the sum of an image's mean T, differs by input (it "
        f"varies more than before training; its standard deviation is over {LEAST_VARIATION} of "
        "its mean)",
        about=ON_ALL_SETS,
        measure=lambda r: measure_variation(r, data),
        show=variation_as_text,
        holds=varies,
        note=note,
    )


FIRST_RULE = (
    f"{CHOSEN_AFTER}: the first rule was the second half alone; the first half, which is weaker, "
    "replaced it when MNIST's trained nets had been seen; now both judge"
)


def measure_carry_path(record: dict) -> dict:
    steps = record["trials"]["step"]
    base = record["settings"]["base"]
    return {block: cost_over(block, steps, base) for block in ("plain", "residual")}


def measure_skipping(record: dict) -> dict:
    measured = {}
    for policy in POLICIES:
        for name, values in savings(record["trials"]["trained"], policy, LOSSES[0]).items():
            measured[f"{policy}_{name}"] = values
    return measured


def saves_a_tenth(measured: dict) -> list[bool | None]:
    """Whether each policy saves over a tenth and loses under 0.02: both, to count as one part."""
    comparisons = []
    for policy in POLICIES:
        comparisons.append(is_above(measured[f"{policy}_saved"], 0.1))
        comparisons.append(is_below(measured[f"{policy}_lost"], 0.02))
    verdicts = corrected(*comparisons)
    return [both(*verdicts[i : i + 2]) for i in range(0, len(verdicts), 2)]


def both(one: bool | None, other: bool | None) -> bool | None:
    """Whether both conditions hold; None if that is open."""
    if False in (one, other):
        return False
    return None if None in (one, other) else True


NAME_OF_POLICY = {"known": "blocks, known beforehand", "computed": "blocks, T computed", "unit": "units, T computed"}


def skipping_as_text(measured: dict) -> str:
    texts = []
    for policy in POLICIES:
        saved = effect_as_text(measured[f"{policy}_saved"])
        lost = effect_as_text(measured[f"{policy}_lost"])
        texts.append(f"{NAME_OF_POLICY[policy]}: {saved} saved, accuracy lost {lost}")
    return "; ".join(texts)


CLAIMS = (
    depth_claim("effective-depth-differs", "MNIST", FIRST_RULE),
    depth_claim("effective-depth-differs-on-cifar", fully_connected.CIFAR, FIRST_RULE),
    Claim(
        id="carry-path-saves-movement",
        kind="open question",
        source="published program, open",
        says="the carry path saves data movement in training (a step of highway blocks moves "
        "less by over 5 % than one of plain or residual blocks with as many parameters, at "
        "every size)",
        about={"base": BASE},
        measure=measure_carry_path,
        show="cost over that of plain {plain[at_base]:.2f} ({plain[least]:.2f} to "
        "{plain[most]:.2f}), of residual {residual[at_base]:.2f} ({residual[least]:.2f} to "
        "{residual[most]:.2f})",
        holds=lambda m: [m["plain"]["most"] < 1 - MARGIN, m["residual"]["most"] < 1 - MARGIN],
    ),
    Claim(
        id="skipping-saves-a-tenth",
        kind="open question",
        source="published program, open",
        says="on MNIST leaving out blocks or units with nearly closed gates saves a tenth of "
        "the data movement (each of three policies must save over a tenth and lose under 0.02 "
        "of accuracy; its threshold, of four, was chosen on other images to lose at most 0.01)",
        about=ON_MNIST,
        measure=measure_skipping,
        show=skipping_as_text,
        holds=saves_a_tenth,
        note="costs of an inference are means over 12 images a net; at first saving and losing "
        "were two parts of a policy, so that one that skips nothing passed a part; they were "
        "joined after the runs",
    ),
)

QUESTION = Question(
    name="data_movement",
    source="the published program's open question",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
