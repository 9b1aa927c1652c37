"""The room why_plain_fails: its verdicts, and what its numbers need."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, verdict_on
from small_nets import BLOCKS, STEP, logits_from, random_net

import highway_networks as hn
from experiments.shared_trials import fully_connected, hundred_layer_nets
from experiments.why_plain_fails import (
    adam_explodes,
    adam_explodes_trial,
    clip,
    clip_trial,
    jacobian,
    jacobian_trial,
    why_plain_fails,
    why_plain_fails_trial,
)
from highways.nets import jacobians, layer_by_layer
from highways.records import load_results, select

# ---- Verdicts -------------------------------------------------------------------------------------

RATE = why_plain_fails.RATE
LOW_RATE = why_plain_fails.LOW_RATE
KINDS = [*jacobian.SEARCHED_WIDTH]


def reasons(accuracy=None, arrives=1e-8, slopes=1.1e-8, block_change=0.13, stack_change=0.95) -> dict:
    """Two seeds of every net of why_plain_fails; `accuracy` is {(group, block, depth, init, lr): test accuracy}, else
    at chance."""
    accuracy = accuracy or {}
    trials = {"headline": [], "starts": [], "relu": [], "all_images": []}

    def add(group, block, depth, init="uniform", lr=RATE, **more):
        for seed in range(2):
            found = accuracy.get((group, block, depth, init, lr), 0.1) + seed / 1000
            net = {"block": block, "depth": depth, "init": init, "lr": lr, "epochs": 12}
            trials[group].append({**net, "test_accuracy": found, "loss": 1.0, **more})

    look = {
        "gradient": [arrives, 1.0],
        "gradient_without_slopes": [slopes, 1.0],
        "norms": [1.6, 9e-8],
        "saturated": 0.0,
        "change_of_block": block_change,
        "change_of_stack": stack_change,
        "identity_part": 0.02,
    }
    for block in ("plain", "highway"):
        add("headline", block, 30, at_start=look, trained=look)
        add("all_images", block, 30)
    add("all_images", "plain", 5)
    for init in ("uniform", "glorot"):
        for lr in (RATE, LOW_RATE):
            add("starts", "plain", 30, init, lr)
    for init in ("uniform", "he"):
        for depth in (5, 10, 20):
            add("relu", "plain", depth, init)
    return {"settings": {"depth": 30, "modest": (5, 10, 20)}, "trials": trials}


GLOROT_AT_LOW_RATE = {("starts", "plain", 30, "glorot", LOW_RATE): 0.9}
GLOROT_AT_BOTH_RATES = {**GLOROT_AT_LOW_RATE, ("starts", "plain", 30, "glorot", RATE): 0.9}
RELU_AT_5 = {("relu", "plain", 5, "he", RATE): 0.9}
DEPTH_DECIDES = {
    ("all_images", "highway", 30, "uniform", RATE): 0.95,
    ("all_images", "plain", 5, "uniform", RATE): 0.95,
}


def lengths(block, at_start, trained) -> dict:
    """Three nets of this block, of whose directions half keep these lengths."""
    trials = []
    for noise in (0, 0.01, 0.02):
        looks = {}
        for when, median in (("at_start", at_start), ("trained", trained)):
            looks[when] = {"to_the_end": [[0.9, median + noise, 0.01]]}
        trials.append({"block": block, **looks})
    return {"trials": trials}


def differences(worst) -> dict:
    trials = []
    for block in KINDS:
        look = {"difference": worst if block == "plain" else 1e-15}
        trials.append({"block": block, "at_start": look, "trained": look})
    return {"trials": trials}


def losses(clipped, free, half, deep_free=None, shares=(0.5, 0.01)) -> dict:
    """Three seeds of every net of `clip`; a net ends with these losses, None where it diverges.  Without the clip nets
    of 50 layers end with `deep_free`, if it is given."""
    trials = []
    for block in clip.BLOCKS:
        depths = list(clip.DEPTHS)
        if block == "highway":
            depths.append(clip.DEEPEST)
        for depth in depths:
            for way, loss in zip(clip.WAYS, (clipped, free, half), strict=True):
                if depth == 49 and way != "clipped" and deep_free:
                    loss = deep_free
                for seed in (1, 2, 3):
                    trial = {"block": block, "depth": depth, "way": way, "seed": seed, "steps_over": list(shares)}
                    if loss is None:
                        trial |= {"diverged": True, "loss": None}
                    else:
                        noise = seed / 100 if way == "clipped" else seed / 90  # so that ratios differ, too
                        trial |= {"diverged": False, "loss": loss * (1 + noise)}
                    trials.append(trial)
    return {"settings": {}, "trials": trials}


def without_any_clip() -> dict:
    """The clip never acts: seeds differ by more than three times, the ways do not."""
    record = losses(1e-3, 1e-3, 1e-3)
    for trial in record["trials"]:
        trial["loss"] = 1e-3 * (1 + trial["seed"])
    return record


@pytest.mark.parametrize(
    ("question", "claim", "record", "verdict"),
    [
        ("why_plain_fails", "plain-gradient-vanishes", reasons(), "reproduced"),
        ("why_plain_fails", "plain-gradient-vanishes", reasons(arrives=0.1), "not reproduced"),
        ("why_plain_fails", "plain-fails-by-saturation", reasons(), "not reproduced"),
        ("why_plain_fails", "plain-fails-by-saturation", reasons(slopes=1e-2), "reproduced"),
        ("why_plain_fails", "plain-fails-by-its-start", reasons(), "in part"),  # the program's start stays at chance
        ("why_plain_fails", "plain-fails-by-its-start", reasons(GLOROT_AT_LOW_RATE), "in part"),
        ("why_plain_fails", "plain-fails-by-its-start", reasons(GLOROT_AT_BOTH_RATES), "reproduced"),
        ("why_plain_fails", "fresh-block-near-identity", reasons(), "reproduced"),
        ("why_plain_fails", "fresh-block-near-identity", reasons(block_change=0.3), "not reproduced"),
        ("why_plain_fails", "fresh-stack-near-identity", reasons(), "not reproduced"),
        ("why_plain_fails", "fresh-stack-near-identity", reasons(stack_change=0.4), "reproduced"),
        ("why_plain_fails", "stable-gradient-at-negative-bias", reasons(), "not reproduced"),
        ("why_plain_fails", "stable-gradient-at-negative-bias", reasons(arrives=0.6), "reproduced"),
        ("why_plain_fails", "relu-plain-trains-at-modest-depth", reasons(), "not reproduced"),
        ("why_plain_fails", "relu-plain-trains-at-modest-depth", reasons(RELU_AT_5), "in part"),
        ("why_plain_fails", "contrast-is-depth-driven", reasons(), "in part"),
        ("why_plain_fails", "contrast-is-depth-driven", reasons(DEPTH_DECIDES), "reproduced"),
        ("jacobian", "jacobian-of-a-layer", differences(1e-15), "reproduced"),
        ("jacobian", "jacobian-of-a-layer", differences(1e-11), "in part"),
        ("jacobian", "information-flows-unimpeded", lengths("highway", 0.6, 0.6), "reproduced"),
        ("jacobian", "information-flows-unimpeded", lengths("highway", 0.6, 0.1), "in part"),
        ("jacobian", "residual-path-unattenuated", lengths("residual", 1.0, 0.1), "in part"),
        ("clip", "simple-gradient-descent", losses(1e-3, 1e-3, 2e-3), "reproduced"),
        ("clip", "simple-gradient-descent", losses(1e-3, None, 2e-3), "reproduced"),  # at half the rate it trains
        ("clip", "simple-gradient-descent", losses(1e-3, 1e-2, 5e-3), "not reproduced"),
        ("clip", "simple-gradient-descent", losses(1e-3, None, None), "not reproduced"),
        ("clip", "simple-gradient-descent", losses(1e-3, 1e-3, 1e-3, deep_free=1e-2), "in part"),
        ("clip", "simple-gradient-descent", without_any_clip(), "reproduced"),
        ("clip", "clip-seldom-acts", losses(1e-3, 1e-3, 1e-3), "not reproduced"),
        ("clip", "clip-seldom-acts", losses(1e-3, 1e-3, 1e-3, shares=(0.1, 0.01)), "reproduced"),
    ],
)
def test_verdict(question, claim, record, verdict):
    assert verdict_on(question, claim, record) == verdict


# ---- why_plain_fails: trials ----------------------------------------------------------------------

FEW = {"n_train": 256, "n_test": 100, "epochs": 1, "lr": why_plain_fails.RATE, "seed": 3, "depth": 4}


@pytest.mark.parametrize("block", ["plain", "highway"])
def test_the_nets_are_those_of_the_headline(mnist, block):
    settings = hn.Settings(seed=3, depth=4, epochs=1, n_train=256, n_test=100)
    expected = hn.run_one(block, settings, hn.subset(mnist, 3, 256, 100))
    found = why_plain_fails_trial.trial({**FEW, "block": block, "activation": "tanh", "init": "uniform", "look": False})
    assert (found["test_accuracy"], found["loss"]) == (expected["final_test_acc"], expected["final_train_loss"])


def test_the_gradient_without_slopes_is_that_of_a_linear_net():
    """A plain net without biases is nearly linear at tiny states: all slopes are 1, and both
    gradients are alike."""
    net, x, y = random_net("plain", (4, 3, 5, 6, 7), dtype=np.float64)
    net.b_in[:] = 0
    net.b_H[:] = 0
    net.W_in *= 1e-6
    look = why_plain_fails_trial.look(net, x, y)
    np.testing.assert_allclose(look["gradient_without_slopes"], look["gradient"], rtol=1e-3)
    assert look["saturated"] == 0
    assert (
        why_plain_fails.share_of_slopes({**look, "gradient": [1e-4, 1.0], "gradient_without_slopes": [1e-1, 1.0]})
        == 0.75
    )


def test_the_change_of_a_highway_stack():
    net, x, y = random_net("highway", (4, 3, 5, 6, 7), dtype=np.float64)
    look = why_plain_fails_trial.look(net, x, y)
    first = layer_by_layer.first_state(net, x)
    states = [state for *_, state in layer_by_layer.walk(net, first)]
    expected = np.mean(np.linalg.norm(states[-1] - first, axis=1) / np.linalg.norm(first, axis=1))
    assert look["change_of_stack"] == pytest.approx(expected)
    assert len(look["norms"]) == 7
    assert "gradient_without_slopes" not in look


@pytest.mark.parametrize(
    ("ratio", "without", "share"), [(1e-8, 1e-8, 0), (1e-8, 1e-2, 0.75), (1.5, 1.0, None), (0.0, 0.1, None)]
)
def test_the_share_of_the_slopes(ratio, without, share):
    look = {"gradient": [ratio, 1.0], "gradient_without_slopes": [without, 1.0]}
    found = why_plain_fails.share_of_slopes(look)
    assert found == (share if share is None else pytest.approx(share))


# ---- jacobian -------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", KINDS)
def test_the_formula_is_the_derivative_and_needs_each_of_its_terms(block):
    net, images, _ = random_net(block, (4, 3, 5, 6, 7), dtype=np.float64)
    twin = layer_by_layer.in_dtype(net, np.complex128)
    x = layer_by_layer.first_state(net, images)
    J = jacobians.by_complex_step(twin, 2, x)
    terms = jacobians.by_formula(net, 2, x)
    expected = {"highway": ("transform", "carry", "gate"), "residual": ("transform", "carry"), "plain": ("transform",)}
    assert (*terms,) == expected[block]
    whole = sum(terms.values())
    np.testing.assert_allclose(whole, J, rtol=1e-12, atol=1e-14)
    for term in terms.values():
        assert np.abs(whole - term - J).max() > 0.01

    moved = x[0].copy()
    moved[3] += 1e-6  # moving one input moves the outputs by its column of J
    _, y = layer_by_layer.block_forward(net, 2, x[:1])
    _, y_moved = layer_by_layer.block_forward(net, 2, moved[None])
    np.testing.assert_allclose(J[0, :, 3], (y_moved - y)[0] / 1e-6, atol=1e-4)


@pytest.mark.parametrize("block", sorted({*BLOCKS} - {*KINDS}))
def test_there_is_no_formula_for_other_blocks(block):
    net, x, _ = random_net(block, (5, 3, 5, 6, 7), dtype=np.float64)
    with pytest.raises(ValueError):
        jacobians.by_formula(net, 2, x)


@pytest.mark.parametrize("block", KINDS)
def test_look_measures_the_singular_values_of_the_product_of_all_jacobians(block):
    """The product is the derivative of the last block's output by the first block's input, here by complex step."""
    net, images, _ = random_net(block, (4, 5, 5, 6, 1), dtype=np.float64)
    net.W_out[:] = np.eye(5)  # so that the logits are the last block's output
    net.b_out[:] = 0
    look = jacobian_trial.look(net, images)
    twin = layer_by_layer.in_dtype(net, np.complex128)
    moved = layer_by_layer.first_state(net, images) + 1j * STEP * np.eye(5)
    values = np.linalg.svd(logits_from(twin, moved).imag / STEP, compute_uv=False)
    np.testing.assert_allclose(look["to_the_end"][0], values[[0, 2, 4]], rtol=1e-3)
    assert look["directions_that_pass"][0] == (values >= 0.01).sum()
    assert look["to_the_end"][-1] == look["block"][-1]  # from the last block on, the product is that block's Jacobian
    assert look["difference"] < 1e-13
    lists = ("block", "to_the_end", "directions_that_pass", "sizes_of_terms")
    assert [len(look[name]) for name in lists] == [6, 6, 6, 6]


def test_stretches_are_geometric_means_and_rounded_values_count_as_the_bound():
    """A value below 1e-15 of the image's largest counts as that: 1e-30 as 4e-15."""
    values = np.array([[[4.0, 1.0, 1e-30], [9.0, 4.0, 0.25]]])
    np.testing.assert_allclose(jacobian_trial.stretches(values), [[6, 2, (4e-15 * 0.25) ** 0.5]])


def test_settings_are_what_the_committed_searches_found():
    default = jacobian.BUDGETS["default"]
    settings = jacobian.settings(default)
    assert [setting["block"] for setting in settings] == KINDS
    searched = load_results(ROOT / "experiments" / "results" / "blocks.json")["trials"]["search"]
    for setting in settings:
        block = setting["block"]
        kind = {"block": block, "width": jacobian.SEARCHED_WIDTH[block], "depth": 49, "activation": "tanh"}
        tried = [trial for trial in searched if kind.items() <= trial.items()]
        best = min(tried, key=lambda trial: trial["losses"][-1])
        assert len(tried) == 5
        assert all(setting.get(name) == best.get(name) for name in jacobian.SETTING)
        assert (setting["width"], setting["depth"], setting["epochs"]) == (50, 49, default["epochs"])


def test_a_net_that_diverged_has_no_look_after_training():
    """If one seed of a kind has none, whether the formula holds for the kind is left open."""
    record = load_results(ROOT / "experiments" / "results" / "jacobian.json")
    trial = next(trial for trial in record["trials"] if trial["block"] == "residual")
    trial["trained"] = None
    rows = jacobian.rows(record)
    look = select(rows, row="look", block="residual", when="trained")
    assert look["directions_that_pass"]["mean"] is None
    assert look["difference"] > 0  # of the others
    assert verdict_on("jacobian", "jacobian-of-a-layer", record) == "in part, the rest not clear"


# ---- clip -----------------------------------------------------------------------------------------

SETTING = {
    "block": "plain",
    "depth": 3,
    "activation": "tanh",
    "effective_lr": 0.5,
    "momentum": 0.9,
    "decay": 0.9,
    "clip": 1.0,
    "seed": 1,
    "epochs": 3,
    "n_train": 512,
    "n_test": 100,
}


def test_counting_changes_nothing():
    counted = clip_trial.trial(SETTING)
    shares = counted.pop("steps_over")
    assert counted == fully_connected.trial(SETTING)
    assert len(shares) == 3
    assert all(0 <= share <= 1 for share in shares)


def test_steps_over_the_limit_are_counted(monkeypatch):
    """With a limit below every norm all steps are over it; with a limit above every norm, none."""
    for limit, share in ((1e-9, 1), (1e9, 0)):
        monkeypatch.setattr(clip_trial, "LIMIT", limit)
        assert clip_trial.trial(SETTING)["steps_over"] == [share] * 3


def test_no_clip_is_another_training_where_the_clip_acts():
    clipped = clip_trial.trial(SETTING)
    free = clip_trial.trial({**SETTING, "clip": None})
    assert max(clipped["steps_over"]) > 0
    assert free["loss"] != clipped["loss"]


def test_the_deepest_net_is_that_of_blocks():
    final = [
        {"block": block, "depth": depth, "seed": seed, "width": 50, "effective_lr": depth / 100}
        for block, depth in (("highway", 9), ("highway", 199), ("residual", 999))
        for seed in (1, 2)
    ]
    found = clip.deepest_highway({"trials": {"final": final}})
    assert (found["block"], found["depth"], found["effective_lr"]) == ("highway", 199, 1.99)


def test_rows_count_the_nets_that_diverged():
    row = select(clip.rows(losses(1e-3, None, 2e-3)), row="way", block="highway", depth=49, way="free")
    assert row["n_diverged"] == 3
    assert row["share_of_first_epoch"]["mean"] == 0.5


def test_the_ratio_is_that_of_pairs():
    assert clip.ratio_of_pairs(clip.pairs(without_any_clip(), "highway")[9]) == (1, 1, 1)


# ---- adam_explodes --------------------------------------------------------------------------------


def adam_setting(**others):
    budget = {"depth": 5, "epochs": 2, "n_train": 1280, "n_test": 300}
    adam = {"optimizer": "adam", "lr": 1e-3, "beta2": 0.999, "warm_up": 0, "calm": 4, "last": 3}
    return hundred_layer_nets.setting_of(budget, seed=3, **{**adam, **others})


def test_watching_changes_nothing():
    watched = adam_explodes_trial.trial(adam_setting())
    not_watched = hundred_layer_nets.trial(adam_setting())
    assert not_watched.items() <= watched.items()
    assert max(watched["peaks"][10:]) == watched["largest_batch_loss"]  # after the first epoch, which has ten peaks
    assert adam_explodes_trial.trial(adam_setting(beta2=0.99))["losses"] != watched["losses"]


@pytest.mark.parametrize("warm_up", [0, 1])
def test_what_is_watched_is_as_by_hand(warm_up):
    setting = adam_setting(warm_up=warm_up, clip=0.01)
    images = fully_connected.images_of(setting)
    x = images.x_train[:128]
    y = images.y_train[:128]
    net = fully_connected.make(setting)
    watched = adam_explodes_trial.WatchedAdam(net, setting, 10)
    v = np.zeros(len(net.parameters))
    first_layer = net.W_in.size + net.b_in.size
    block = slice(first_layer, first_layer + 5100)  # the first block: W_H, b_H, W_T and b_T
    for k in range(3):
        before = net.parameters.astype(np.float64)
        _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
        norm = watched.step(net.backward(d_logits))
        g = net.gradient.astype(np.float64)
        state, gradient, surprise, step, size = np.array(watched.layer_statistics[-1])[:, 1]
        assert gradient == pytest.approx(np.linalg.norm(g[block]), rel=1e-4)
        assert state == pytest.approx(np.abs(net.workspace(128, "train").states[1, :-1]).max())
        if k > 0:
            clipped = 0.01 / norm * np.linalg.norm(g[block])
            root_of_v = np.sqrt((v / (1 - 0.999**k))[block].sum())
            assert surprise == pytest.approx(clipped / root_of_v, rel=1e-3)
        v = 0.999 * v + 0.001 * (0.01 / norm * g) ** 2
        moved = net.parameters - before
        assert step == pytest.approx(np.linalg.norm(moved[block]) / np.linalg.norm(before[block]), rel=1e-3)
        assert size == pytest.approx(np.linalg.norm(net.parameters[block]), rel=1e-4)
        if k == 0:  # Adam's first step is lr in every parameter that has a gradient
            assert np.abs(moved).max() == pytest.approx(1e-3 * (0.1 if warm_up else 1), rel=1e-2)


def test_what_is_out_of_range_first():
    """After calm steps the surprise of layer 2 leaves its range.  A step later the state and the gradient of layers 2
    and 3 leave theirs, those of layer 3 most."""
    layer_statistics = np.ones((12, 5, 4))
    layer_statistics[3, 2, 1] = 4  # in a calm step; so the surprise of layer 2 is out of range only above 8
    layer_statistics[8:, 2, 1] = 9
    layer_statistics[9:, :2, 1:3] = [[3, 5]]
    watched = SimpleNamespace(layer_statistics=layer_statistics.tolist(), net_statistics=np.ones((12, 3)).tolist())
    found = adam_explodes_trial.explosion(watched, [*range(12)], 10, {"last": 3, "calm": 4}, steps=4)
    assert (found["epoch"], found["step"], found["first"]) == (3, 3, "surprise")
    onsets = found["onsets"]
    assert onsets.keys() == {"surprise", "state", "gradient"}
    assert [onsets["surprise"][name] for name in ("step", "layer", "layers_out_of_range")] == [-2, 2, 1]
    assert [onsets["state"][name] for name in ("step", "layer", "layers_out_of_range")] == [-1, 3, 2]
    assert [onsets["gradient"][name] for name in ("step", "layer", "layers_out_of_range")] == [-1, 3, 2]
    assert found["loss"] == [*range(7, 12)]
    assert found["largest"]["gradient"] == [1, 1, 5, 5, 5]
    assert found["by_layer"]["surprise"] == [1, 2.25, 1, 1]


def test_a_burst_names_the_image_that_is_stretched_most(monkeypatch):
    """Its stretch is the largest singular value of the whole net's Jacobian, here by complex step."""
    monkeypatch.setattr(adam_explodes_trial, "BURST", 0.01)
    setting = adam_setting(depth=2)
    burst = adam_explodes_trial.trial(setting)["burst"]
    assert (burst["epoch"], burst["step"]) == (2, 1)

    net = fully_connected.make(setting)
    x = fully_connected.images_of(setting).x_train[:128]
    net.W_T[:] *= 10  # so that images differ
    watched = adam_explodes_trial.WatchedAdam(net, setting, 10)
    net.forward(x)
    look = watched.look()
    twin = layer_by_layer.in_dtype(net, np.complex128)
    state = layer_by_layer.first_state(twin, x)
    whole = np.eye(50)
    for layer in range(2):
        whole = jacobians.by_complex_step(twin, layer, state.real) @ whole
        _, state = layer_by_layer.block_forward(twin, layer, state)
    stretches = np.sort(np.linalg.svd(whole, compute_uv=False)[:, 0])
    assert look["worst"]["stretch"][0] == pytest.approx(stretches[-1], rel=5e-3)
    assert look["median"]["stretch"][0] == pytest.approx(stretches[64], rel=5e-3)
    assert stretches[-1] > 1.1 * stretches[64]
    assert [len(values) for image in ("worst", "median") for values in look[image].values()] == [2] * 6


def test_adam_has_the_rate_that_full_mnist_chose():
    record = load_results(ROOT / "experiments" / "results" / "full_mnist.json")
    assert select(record["summary"], optimizer="adam")["lr"] == adam_explodes.RATE


def test_what_pages_say_in_words_of_adam():
    trials = load_results(ROOT / "experiments" / "results" / "adam_explodes.json")["trials"]
    assert {trial["change"] for trial in trials if trial["explosion"]} == {*adam_explodes.CHANGES} - {"tanh"}
    for trial in trials:
        burst = trial["burst"]
        if not burst:
            continue
        assert trial["change"] != "tanh"
        assert burst["worst"]["stretch"][0] > 100 * burst["median"]["stretch"][0]
        if trial["explosion"] and burst["usual_norm"] < 10:  # it began after the first epoch
            onsets = {name: onset["step"] for name, onset in trial["explosion"]["onsets"].items()}
            assert onsets["gradient"] == min(onsets.values())
