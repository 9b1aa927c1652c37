"""The room gates: its trials, its rows and its claims."""

import itertools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, verdict_on, write_data_set
from small_nets import states_of

import highway_networks as hn
from experiments.gates import (
    article_gates_trial,
    fifty_layers,
    gates,
    gates_over_training_trial,
    gates_trial,
    routing_trial,
)
from experiments.gates.untrained import as_untrained
from experiments.shared_trials import fifty_layer_nets, fully_connected
from experiments.shared_trials.fully_connected import CIFAR
from highways.files import InputError
from highways.nets import gate_statistics, layer_by_layer
from highways.nets.measures import hoyer
from highways.records import load_results

# ---- Verdicts: results of every question, as they might be ---------------------------------------


def with_trials(*groups) -> tuple[dict, ...]:
    """A record for each of these trials."""
    return tuple({"settings": {}, "trials": trials} for trials in groups)


def sets_with(mnist: dict, cifar: dict) -> tuple[dict]:
    """Three nets on each data set, with statistics near these."""
    trials = []
    for data, statistics in (("MNIST", mnist), (CIFAR, cifar)):
        for noise in (-0.001, 0, 0.001):
            values = {name: value + noise for name, value in statistics.items()}
            trials.append({"data": data, "depth": 49, **values})
    return with_trials(trials)


def active(mean_T: tuple, opened: tuple) -> tuple[dict]:
    """Pairs have the shares on MNIST and on CIFAR-100."""
    pairs = zip(mean_T, opened, strict=True)
    return sets_with(*({"share_active_on_average": T, "share_open_in_1_of_100": share} for T, share in pairs))


MEASURED = {
    "sparsity_single": 0.2,
    "sparsity_single_at_start": 0.01,
    "mean_T_at_start": 0.1,
    "mean_T": 0.1,
    "share_open_in_1_of_100": 0.1,
}


def higher_on_cifar(*names: str) -> tuple[dict]:
    cifar = {name: value + (0.2 if name in names else -0.005) for name, value in MEASURED.items()}
    return sets_with(MEASURED, cifar)


def thirds(first: float, last: float) -> tuple[dict]:
    trials = []
    for data in ("MNIST", CIFAR):
        for noise in (-0.001, 0, 0.001):
            trials.append({"data": data, "mean_T_of_layer": [first + noise, 0.15, last - noise]})
    return with_trials(trials)


def changes_made(first_15: float, first_40: float) -> tuple[dict]:
    return sets_with({"change_share_first_15": first_15}, {"change_share_first_40": first_40})


def biases_and_selectivity(with_bias: int) -> tuple[dict, dict]:
    nets = []
    routes = []
    for seed in (1, 2, 3):
        biases = [-4.0, -3.0 + seed / 10, -2.0]
        place = {"data": CIFAR, "depth": 49, "seed": seed}
        nets.append({**place, "bias_activity_correlation": -0.6 - seed / 100, "bias_of_layer": biases})
        routes.append({**place, "static_by_block": [-with_bias * bias / 10 for bias in (-4.0, -3.0, -2.0)]})
    return with_trials(nets, routes)


def class_differences(first_blocks: float, share: float) -> tuple[dict]:
    """The differences in each of the first 15 blocks, elsewhere 0.5; and the share of the squared ones."""
    trials = []
    for noise in (-0.001, 0, 0.001):
        differences = [first_blocks + noise] * 15 + [0.5] * 34
        squared = share + noise
        trials.append({"data": "MNIST", "class_difference": differences, "class_difference_share_first_15": squared})
    return with_trials(trials)


AS_THE_PAPER_SAYS = {
    "bias_depth_correlation": 0.8,
    "bias_activity_correlation": -0.5,
    "change_share_first_40": 0.95,
    "settled_layer": 47,
    "class_difference_share_first_15": 0.4,
    "class_difference_sparsity": 0.5,
    "bias_of_layer": [-5.0, -4.5, -4.0],
}
MNIST = {
    "bias_depth_correlation": -0.4,
    "bias_activity_correlation": 0.9,
    "change_share_first_40": 0.8,
    "settled_layer": 40,
    "class_difference_share_first_15": 0.6,
    "class_difference_sparsity": 0.3,
    "bias_of_layer": [-2.1, -2.1, -2.1],
}
CHANGE = {CIFAR: [1.0] * 49, "MNIST": [3.0] * 15 + [1.0] * 34}  # half of it by block 25; by block 14
# of MNIST's nets in `gates`: beside these, CIFAR-100's nets of 200 epochs would fail
SHORT_MNIST = {
    **MNIST,
    "class_difference_share_first_15": 0.5,
    "class_difference_sparsity": 0.45,
    "settled_layer": 44,
}


def noisy(statistics: dict, seed: int) -> dict:
    """The statistics, multiplied by 1 + seed / 1000."""
    factor = 1 + seed / 1000
    found = {}
    for name, value in statistics.items():
        found[name] = [factor * number for number in value] if isinstance(value, list) else factor * value
    return found


def records_of_both_lengths(after_100: dict, after_200: dict) -> tuple[dict, dict]:
    """The results of `gates` and `gates_over_training`, in which all claims hold but for the given
    statistics of CIFAR-100."""
    nets = []
    longer = []
    for data, gate_bias in ((CIFAR, -4.0), ("MNIST", -2.0)):
        for seed in (1, 2, 3):
            common = {"data": data, "depth": 49, "seed": seed, "gate_bias": gate_bias}
            common["n_train"] = 50000 if data == CIFAR else 60000
            if data == CIFAR:
                first = {**AS_THE_PAPER_SAYS, **after_100}
                last = {**AS_THE_PAPER_SAYS, **after_200}
            else:
                first = SHORT_MNIST
                last = MNIST
            by_block = {"change": CHANGE[data], "class_difference": [0.1] * 49}
            nets.append({**common, **by_block, **noisy(first, seed)})
            early = {"epoch": 6, **noisy(MNIST, seed)}
            late = {"epoch": 200, **noisy(last, seed)}
            longer.append({**common, "measured": [early, late]})
    return {"settings": {}, "trials": nets}, {"settings": {"checkpoints": [6, 200]}, "trials": longer}


def half_of_the_change_early() -> tuple[dict, dict]:
    nets, longer = records_of_both_lengths({}, {})
    for trial in nets["trials"]:
        if trial["data"] == CIFAR:
            trial["change"] = [9.0] * 5 + [1.0] * 44  # half of it by block 5
    return nets, longer


def throughout(correlations: dict[int, float], share: float = 0.3) -> tuple[dict]:
    """Nets of both sets, with these correlations of biases and depth, {epoch: correlation}.

    `share` is that of the class differences in the first 15 blocks on CIFAR-100; on MNIST it is
    0.6."""
    trials = []
    for data, share_of_set in ((CIFAR, share), ("MNIST", 0.6)):
        for seed in (1, 2, 3):
            measured = []
            for epoch, correlation in correlations.items():
                checkpoint = {"epoch": epoch, "bias_depth_correlation": correlation + seed / 1000}
                checkpoint["bias_activity_correlation"] = -correlation + seed / 1000
                checkpoint["class_difference_share_first_15"] = share_of_set + seed / 1000
                measured.append(checkpoint)
            trials.append({"data": data, "depth": 49, "seed": seed, "measured": measured})
    return ({"settings": {"checkpoints": list(correlations)}, "trials": trials},)


def in_thirds(**changes) -> tuple[dict]:
    """Three seeds on both sets, where the article is right; `changes` is {what is measured: value}."""
    usual = {
        "selecting_first": 0.2,
        "selecting_middle": 0.8,
        "selecting_last": 0.2,
        "closing_first": 0.1,
        "closing_middle": 0.1,
        "closing_last": 0.3,
        "passed_first": 0,
        "passed_middle": 0,
        "passed_last": 0.3,
    }
    values = {**usual, **changes}
    trials = []
    for data in ("MNIST", CIFAR):
        for seed in range(3):
            trial = {name: value + seed / 1000 for name, value in values.items()}
            trials.append({"data": data, "depth": 49, **trial})
    return with_trials(trials)


def static_shares(mnist: float, cifar: float) -> tuple[dict]:
    return sets_with(
        *({"static_variance_share": share, "static_variance_share_random": 0.25} for share in (mnist, cifar))
    )


def classes_told(by_T: float, by_random: float, by_net: float) -> tuple[dict, dict]:
    """The accuracies of the nearest class mean, by T and by random gates, and those of the nets."""
    routes = []
    nets = []
    for noise in (-0.001, 0, 0.001):
        mnist = {"data": "MNIST", "depth": 49, "n_train": 60000}
        routes.append({
            **mnist,
            "class_accuracy_from_gates": by_T + noise,
            "class_accuracy_from_random_gates": by_random + noise,
        })  # fmt: skip
        nets.append({**mnist, "test_accuracy": by_net + noise})
    return with_trials(routes, {"final": nets})


THROUGHOUT = [
    (throughout({6: 0.5, 200: 0.8}), "reproduced"),
    (throughout({6: -0.4, 200: 0.8}), "in part"),
    (throughout({6: -0.4, 200: 0.1}), "not reproduced"),
]
VERDICTS = {
    ("gates", "most-gates-active-on-average"): [
        (active((0.6, 0.6), (0.7, 0.7)), "reproduced"),
        (active((0.1, 0.1), (0.7, 0.7)), "in part"),
        (active((0.1, 0.1), (0.3, 0.7)), "in part"),
        (active((0.1, 0.1), (0.3, 0.3)), "not reproduced"),
    ],
    ("gates", "sparser-on-cifar"): [
        (higher_on_cifar("sparsity_single", "mean_T", "share_open_in_1_of_100"), "reproduced"),
        (higher_on_cifar("sparsity_single", "share_open_in_1_of_100"), "in part"),
        (higher_on_cifar("sparsity_single"), "in part"),
        (higher_on_cifar(), "not reproduced"),
    ],
    ("gates", "early-gates-more-open"): [
        (thirds(0.2, 0.1), "not reproduced"),
        (thirds(0.6, 0.1), "reproduced"),
        (thirds(0.6, 0.7), "reproduced"),
    ],
    ("gates", "coasts-unaltered"): [
        (changes_made(0.998, 0.998), "reproduced"),
        (changes_made(0.998, 0.5), "in part"),
        (changes_made(0.6, 0.5), "not reproduced"),
    ],
    ("gates", "negative-biases-make-gates-selective"): [
        (biases_and_selectivity(-1), "reproduced"),
        (biases_and_selectivity(1), "in part"),
    ],
    ("gates", "classes-differ-in-first-15"): [
        (class_differences(0.5, 0.6), "not clear"),
        (class_differences(2.0, 0.6), "reproduced"),
        (class_differences(0.5, 0.4), "not reproduced"),
    ],
    ("gates_over_training", "change-takes-longer-on-cifar"): [
        (half_of_the_change_early(), "in part"),
    ],
    ("gates_over_training", "class-differences-on-cifar"): [
        (records_of_both_lengths(*[{"class_difference_share_first_15": 0.32}] * 2), "reproduced"),  # even: 0.306
        (records_of_both_lengths(*[{"class_difference_share_first_15": 0.29}] * 2), "in part"),
    ],
    ("gates_over_training", "biases-rise-with-depth-over-training-throughout"): THROUGHOUT,
    ("gates_over_training", "biases-against-gates-over-training-throughout"): THROUGHOUT,
    ("gates_over_training", "class-differences-over-training-throughout"): [
        (throughout({6: 0.5, 200: 0.8}, share=0.3), "reproduced"),
        (throughout({6: 0.5, 200: 0.8}, share=0.8), "not reproduced"),
    ],
    ("article_gates", "middle-gates-select"): [
        (in_thirds(), "reproduced"),
        (in_thirds(selecting_last=0.9), "in part"),
        (in_thirds(selecting_middle=0.1), "not reproduced"),
    ],
    ("article_gates", "late-gates-close-for-certain-inputs"): [
        (in_thirds(), "reproduced"),
        (in_thirds(closing_first=0.4), "in part"),
        (in_thirds(closing_last=0.05), "not reproduced"),
    ],
    ("article_gates", "net-shortened-for-certain-inputs"): [
        (in_thirds(), "reproduced"),
        (in_thirds(passed_last=0.0), "not reproduced"),
    ],
    ("routing", "images-take-different-routes"): [
        (static_shares(0.1, 0.2), "reproduced"),
        (static_shares(0.1, 0.6), "in part"),
    ],
    ("routing", "gates-tell-the-class"): [
        (classes_told(0.97, 0.95, 0.97), "reproduced"),
        (classes_told(0.95, 0.95, 0.97), "not reproduced"),
        (classes_told(0.97, 0.97, 0.97), "not clear"),  # no T could be right so often
        (classes_told(0.99, 0.97, 0.97), "reproduced"),  # but this one is
    ],
}


@pytest.mark.parametrize("claim", VERDICTS, ids="/".join)
def test_verdicts(claim):
    for records, verdict in VERDICTS[claim]:
        assert verdict_on(*claim, *records) == verdict


@pytest.mark.parametrize(
    ("claim_id", "wrong"),
    [
        ("biases-rise-with-depth-on-cifar", {"bias_depth_correlation": 0.1}),
        ("biases-rise-with-depth-on-cifar", {"bias_activity_correlation": 0.2}),
        ("biases-fall-early-on-cifar", {"bias_of_layer": [-4.0, -4.5, -5.0]}),
        ("change-takes-first-40-on-cifar", {"change_share_first_40": 0.8}),
        ("change-takes-longer-on-cifar", {"settled_layer": 35}),
        ("class-differences-on-cifar", {"class_difference_share_first_15": 0.2}),  # far below an even share
        ("class-differences-on-cifar", {"class_difference_share_first_15": 0.65}),
        ("class-differences-on-cifar", {"class_difference_sparsity": 0.2}),
    ],
)
def test_a_cifar_100_claim_must_hold_after_100_and_200_epochs(claim_id, wrong):
    def verdict(after_100, after_200):
        return verdict_on("gates_over_training", claim_id, *records_of_both_lengths(after_100, after_200))

    assert verdict({}, {}) == "reproduced"
    assert verdict(wrong, {}) == "in part"
    assert verdict({}, wrong) == "in part"


# ---- fifty_layers: the nets that are kept ---------------------------------------------------------


def test_a_kept_net_is_used_and_a_missing_one_trained_again(kept, tmp_path, monkeypatch):
    setting = kept.setting
    net = fifty_layer_nets.net_of(setting, kept.folder)
    assert net.about["trial"] == setting
    again = fifty_layer_nets.net_of(setting, str(tmp_path / "on another machine"))
    np.testing.assert_array_equal(again.parameters, net.parameters)
    assert not list(tmp_path.iterdir())
    about_net = net.about
    about_other_nets = [
        {**about_net, "trial": {**setting, "epochs": 1}},
        {**about_net, "data_sha256": "0"},
    ]
    for about in about_other_nets:  # another net under the file name of this one is not used
        net.about = about
        net.save(tmp_path / "fifty_layers_mnist_1.npz")
        again = fifty_layer_nets.net_of(setting, str(tmp_path))
        # the net that was trained again replaced it
        replaced = hn.DeepNet.load(tmp_path / "fifty_layers_mnist_1.npz")
        for found in (again, replaced):
            assert found.about["trial"] == setting
            assert found.about["data_sha256"] == about_net["data_sha256"]
    monkeypatch.setattr(fifty_layer_nets, "trained", pytest.fail)
    elsewhere = {**setting, "another": 1, "data_dir": str(ROOT / "data" / "mnist")}
    same = fifty_layer_nets.net_of(elsewhere, kept.folder)
    np.testing.assert_array_equal(same.parameters, net.parameters)


COMMITTED = ROOT / "experiments" / "results"


def committed_finals() -> list[dict]:
    return load_results(COMMITTED / "fifty_layers.json")["trials"]["final"]


def test_the_committed_net_is_the_one_of_the_results(monkeypatch):
    """It is used, although the program has changed since it was trained."""
    monkeypatch.setattr(fifty_layer_nets, "trained", pytest.fail)
    trial = next(trial for trial in committed_finals() if (trial["data"], trial["seed"]) == ("MNIST", 1))
    net = fifty_layer_nets.net_of(trial, COMMITTED)
    assert (net.depth, net.hidden, net.activation.name, net.dtype) == (49, 50, "tanh", np.float32)
    images = fully_connected.images(1, trial["n_test"])
    accuracy = np.mean(net.predict(images.x_test).argmax(axis=1) == images.y_test)
    assert accuracy == pytest.approx(trial["test_accuracy"], abs=1.5e-4)


def runner_with(finals: list[dict], folder: Path) -> SimpleNamespace:
    """A runner of a question that looks into these nets."""
    needed = {"fifty_layers": {"trials": {"final": finals}}}
    return SimpleNamespace(folder=folder, more_data_sets=(), settings={}, needed=needed)


@pytest.mark.parametrize(
    ("name", "value"), [("depth", "8"), ("block", "plain"), ("seed", []), ("diverged", True), ("data", "CIFAR-100")]
)
def test_nets_that_cannot_be_used_are_refused(tmp_path, name, value):
    finals = [{**trial, name: value} for trial in committed_finals() if trial["data"] == "MNIST"]
    with pytest.raises(InputError):
        fifty_layer_nets.settings_of_kept_nets(runner_with(finals, tmp_path))


# ---- fifty_layers: the data sets beside MNIST -----------------------------------------------------


def runner_of(*data_dirs) -> SimpleNamespace:
    return SimpleNamespace(more_data_sets=data_dirs, settings=fifty_layers.BUDGETS["quick"])


def test_data_sets_beside_mnist(tmp_path, made_up_cifar):
    """CIFAR-100, and a set in MNIST's layout with other sizes."""
    harder = str(write_data_set(tmp_path / "harder", n_train=700, side=9, classes=4))
    runner = runner_of("CIFAR-100", harder)
    finals = []
    files = []
    for place in fully_connected.data_sets(runner).values():
        tried = fifty_layers.sample(place, 0, runner)
        final = fifty_layer_nets.longer({**tried, "epochs": 2, "seed": 1})
        finals.append(tuple(final[key] for key in ("data", "data_dir", "n_train", "n_test", "gate_bias", "epochs")))
        files.append(fifty_layer_nets.net_file_of(final, "").name)
    assert finals == [
        ("MNIST", None, 1280, 300, -2, 2),
        ("CIFAR-100", "CIFAR-100", 1280, 100, -4, 8),
        ('folder "harder"', harder, 700, 80, -2, 2),
    ]
    assert files == [f"fifty_layers_{name}_1.npz" for name in ("mnist", "cifar-100", "folder_harder")]
    of_cifar = fully_connected.images(1280, 80, "CIFAR-100").x_train
    of_harder = fully_connected.images(1280, 80, harder).x_train
    assert (of_cifar.min(), of_cifar.max(), of_harder.min()) == pytest.approx((-1, 1, 0))


@pytest.mark.parametrize("names", [("a b", "a-b"), ("a_b", "A.B")])
def test_data_sets_whose_results_would_have_one_name_are_refused(tmp_path, names):
    folders = [str(write_data_set(tmp_path / name)) for name in names]
    with pytest.raises(InputError):
        fully_connected.data_sets(runner_of(*folders))


def test_a_data_set_smaller_than_a_batch_is_refused(tmp_path):
    with pytest.raises(InputError):
        fully_connected.data_sets(runner_of(str(write_data_set(tmp_path / "few", 127))))


# ---- gates ----------------------------------------------------------------------------------------

SETTING = {
    "data": "MNIST",
    "block": "highway",
    "depth": 5,
    "activation": "tanh",
    "effective_lr": 2.0,
    "momentum": 0.9,
    "decay": 0.9,
    "gate_bias": -2.0,
    "clip": 1.0,
    "seed": 1,
    "epochs": 3,
    "n_train": 512,
    "n_test": 100,
}


def test_a_net_that_learns_nothing_measures_like_an_untrained_one(tmp_path):
    """A training at such a low rate leaves the net as it was drawn."""
    setting = {**SETTING, "data_dir": None, "effective_lr": 1e-20, "epochs": 1, "of_each": 50}
    with np.errstate(invalid="ignore"):  # biases that have not moved have no correlation
        trained = gates_trial.trial(setting, str(tmp_path))
    untrained = trained["untrained"]
    assert untrained == {name: trained[name] for name in untrained}
    assert untrained["sparsity_single"] == trained["sparsity_single_at_start"]
    learned = gates_trial.trial({**setting, "effective_lr": 2.0, "seed": 2}, str(tmp_path))
    assert learned["untrained"]["change"] != learned["change"]


def test_the_numbers_of_figures_2_and_3_are_as_by_hand(kept):
    net = kept.net
    x = kept.images.x_train
    y = kept.images.y_train
    result = gates_trial.trial({**kept.setting, "of_each": 100}, kept.folder)
    T = net.gates(x).astype(np.float64)  # (depth, N, hidden)
    mean = T.mean(axis=1)

    assert result["share_of_biases_decreased"] == pytest.approx((net.b_T < -1).mean())
    expected = np.corrcoef(net.b_T.mean(axis=1), mean.mean(axis=1))[0, 1]
    assert result["bias_activity_correlation"] == pytest.approx(expected, abs=1e-4)

    assert result["share_open_single"] == pytest.approx((net.gates(x[:100]) > 0.5).mean(), abs=1e-4)
    singles = [hoyer(T[:, image].reshape(1, -1))[0] for image in range(100)]
    assert result["sparsity_single"] == pytest.approx(np.mean(singles), rel=1e-4)
    assert result["sparsity_mean"] == pytest.approx(hoyer(mean.reshape(1, -1))[0], rel=1e-4)
    assert result["share_open_in_1_of_100"] == pytest.approx(((T > 0.5).sum(axis=1) >= 15).mean(), abs=0.004)
    assert result["share_open_for_any"] == pytest.approx((T > 0.5).any(axis=1).mean(), abs=0.004)
    assert result["share_active_on_average"] == pytest.approx((mean > 0.5).mean(), abs=0.004)
    open_by_block = (net.gates(x[:100]) > 0.5).mean(axis=(1, 2))
    np.testing.assert_allclose(result["open_single_of_layer"], open_by_block, atol=1e-3)
    early = np.array_split(open_by_block, 3)[0]
    assert result["share_open_single_early"] == pytest.approx(early.mean(), abs=1e-4)

    states = states_of(net, x)
    change = [np.linalg.norm(after - before, axis=1).mean() for before, after in itertools.pairwise(states)]
    np.testing.assert_allclose(result["change"], change, atol=1e-3)
    settled = int(result["settled_layer"])
    assert sum(change[:settled]) >= 0.9 * sum(change)
    assert sum(change[: settled - 1]) < 0.9 * sum(change)
    assert result["change_share_first_40"] == 1  # of 6 blocks

    classes = np.array([T[:, y == label].mean(axis=1) for label in range(10)])
    np.testing.assert_allclose(result["maps"]["class_minus_mean"], classes - mean, atol=6e-3)
    sparsity = [hoyer(np.abs(of_class - mean).reshape(1, -1))[0] for of_class in classes]
    assert result["class_difference_sparsity"] == pytest.approx(np.mean(sparsity), rel=1e-4)

    np.testing.assert_allclose(result["maps"]["mean_T"], mean, atol=6e-4)
    one = result["maps"]["one"]
    np.testing.assert_allclose(one["T"], T[:, one["image"]], atol=6e-4)
    np.testing.assert_allclose(one["outputs"], [state[one["image"]] for state in states[1:]], atol=6e-4)


def test_sparsity_is_zero_for_equal_numbers_and_one_for_a_single_one():
    np.testing.assert_allclose(hoyer(np.array([[0.3] * 16, [0] * 15 + [0.2]])), [0, 1], atol=1e-12)


def test_the_block_by_which_a_share_of_the_change_has_happened():
    change = [4.0, 3.0, 2.0, 1.0]
    assert [gate_statistics.settled_at(change, share) for share in (0.4, 0.41, 0.9, 1.0)] == [1, 2, 3, 4]


def test_the_first_15_and_the_first_40_of_49_blocks():
    rng = np.random.default_rng(0)
    net = hn.DeepNet(4, 3, 2, 49, "highway", 0)
    net.b_T[:] = rng.random((49, 2))
    sums = gate_statistics.Sums(
        images_of_class=np.full(3, 10.0), T=rng.random((3, 49, 2)), open=np.ones((49, 2)), change=rng.random(49)
    )
    found = gate_statistics.statistics(net, sums, rng.random((49, 5, 2)), -2.0)
    changes = sums.change / sums.change.sum()
    assert found["change_share_first_15"] == pytest.approx(changes[:15].sum(), rel=1e-5)
    assert found["change_share_first_40"] == pytest.approx(changes[:40].sum(), rel=1e-5)
    means = sums.T / 10
    differences = ((means - means.mean(axis=0)) ** 2).sum(axis=(0, 2))
    expected = differences[:15].sum() / differences.sum()
    assert found["class_difference_share_first_15"] == pytest.approx(expected, rel=1e-5)


def test_stripes_are_outputs_that_stay_constant():
    """Two of four units stay constant over twelve blocks, one over nine, and one never."""
    outputs = []
    for block in range(12):
        constant_over_nine = 0 if block <= 8 else 0.1 * block
        never_constant = 0.3 * block
        outputs.append([0.5, -0.5, constant_over_nine, never_constant])
    assert gates.stripes(outputs) == 0.5


def test_untrained_nets_take_the_place_of_trained_ones():
    nets = {"trials": [{"data": "MNIST", "seed": 1, "change": [3.0, 1.0], "mean_T": 0.3}]}
    nets["trials"][0]["untrained"] = {"change": [1.0, 1.0], "mean_T": 0.1}
    longer = {"trials": [{"data": "MNIST", "seed": 1, "measured": [{"epoch": 6, "mean_T": 0.4}]}]}
    untrained, untrained_longer = as_untrained(nets, longer)
    [net] = untrained["trials"]
    [long] = untrained_longer["trials"]
    assert net["change"] == [1.0, 1.0]
    assert net["mean_T"] == 0.1
    [checkpoint] = long["measured"]
    assert (checkpoint["epoch"], checkpoint["mean_T"]) == (6, 0.1)
    assert longer["trials"][0]["measured"][0]["mean_T"] == 0.4


# ---- gates_over_training --------------------------------------------------------------------------


def test_measuring_on_the_way_changes_nothing():
    result = gates_over_training_trial.trial({**SETTING, "checkpoints": [1, 3], "of_each": 50})
    measured = result.pop("measured")
    assert result == fully_connected.trial(SETTING)
    assert [checkpoint["epoch"] for checkpoint in measured] == [1, 3]
    assert measured[-1]["loss"] == result["loss"]
    assert measured[0]["loss"] > result["loss"]


def test_a_checkpoint_is_what_a_training_of_that_length_gives():
    """If the rate does not fall."""
    setting = {**SETTING, "decay": 1.0}
    long = gates_over_training_trial.trial({**setting, "checkpoints": [2, 3], "of_each": 50})
    short = gates_over_training_trial.trial({**setting, "epochs": 2, "checkpoints": [2], "of_each": 50})
    assert long["measured"][0] == short["measured"][0]


# ---- article_gates --------------------------------------------------------------------------------


def test_what_is_for_certain_inputs():
    shares = np.array([0, 0.09, 0.1, 0.5, 0.9, 0.91, 1])
    assert article_gates_trial.is_for_certain_inputs(shares).tolist() == [False, False, True, True, True, False, False]


def test_blocks_that_select_close_and_are_passed():
    """Three blocks of four units.  Their gates are shut, or open, or follow the sign of a state's
    first unit."""
    net = hn.DeepNet(2, 2, 4, 3, "highway", 0, dtype=np.float64)
    net.W_in[:] = [[9, 0], [0, 1], [0, 1], [0, 1]]
    net.W_T[:] = 0
    net.b_T[0] = [5, -5, -5, -5]  # selects for all images
    net.b_T[1] = -50  # passed by all
    net.b_T[2] = 0
    net.W_T[2, :, 0] = 50  # shut if the first unit is negative; in the last block, so that no other block sees it
    net.W_H[0] = 0
    net.b_H[0, 0] = 0
    net.W_H[0, 0, 0] = 1
    x = np.array([[1.0, 0.3], [-1.0, 0.3]])
    found = article_gates_trial.measured_by_block(net, x, start=0.1)
    assert found["selecting"] == [1, 0, 0]
    assert found["closing"] == [0, 0, 1]
    assert found["passed"] == [0, 0, 1]


# ---- routing --------------------------------------------------------------------------------------


def test_the_variance_of_T_is_split_as_by_hand(kept):
    net = kept.net
    x = kept.images.x_train
    y = kept.images.y_train
    shares = routing_trial.Moments(net, net, x, y).shares()
    T = net.gates(x).astype(np.float64)
    class_mean = np.empty_like(T)
    for label in range(10):
        class_mean[:, y == label] = T[:, y == label].mean(axis=1, keepdims=True)
    over_images = T.var(axis=1).mean(axis=1)  # (depth,)
    within = ((T - class_mean) ** 2).mean(axis=(1, 2))
    between = over_images - within
    static = T.mean(axis=1).var(axis=1)
    total = T.var(axis=(1, 2))
    assert shares["static_variance_share"] == pytest.approx(static.sum() / total.sum(), rel=1e-3)
    assert shares["between_class_variance_share"] == pytest.approx(between.sum() / over_images.sum(), rel=1e-3)
    np.testing.assert_allclose(shares["static_by_block"], static / total, atol=2e-4)
    np.testing.assert_allclose(shares["between_class_by_block"], between / total, atol=2e-4)
    np.testing.assert_allclose(shares["within_class_by_block"], within / total, atol=2e-4)


def share_nearest(values, labels, centroids):
    """The share of images whose nearest centroid is that of their class, and the squared distances (N, classes)."""
    squares = ((values[:, None] - centroids) ** 2).sum(axis=2)
    return (squares.argmin(axis=1) == labels).mean(), squares


def test_nearest_centroids_are_as_by_hand(kept):
    net = kept.net
    x, y, x_test, y_test = kept.images
    moments = routing_trial.Moments(net, net, x, y)
    by_gates, by_outputs = routing_trial.nearest_centroid(net, net, x_test, y_test, moments)
    T = net.gates(x)
    T_test = net.gates(x_test)
    squares_of_all = 0
    for layer in range(net.depth):
        centroids = np.array([T[layer, y == label].mean(axis=0) for label in range(10)])
        share, squares = share_nearest(T_test[layer], y_test, centroids)
        assert by_gates[layer] == pytest.approx(share, abs=0.006)
        squares_of_all = squares_of_all + squares
    assert by_gates[-1] == pytest.approx((squares_of_all.argmin(axis=1) == y_test).mean(), abs=0.006)
    last = states_of(net, x)[-1]
    centroids = np.array([last[y == label].mean(axis=0) for label in range(10)])
    share, _ = share_nearest(states_of(net, x_test)[-1], y_test, centroids)
    assert by_outputs[-2] == pytest.approx(share, abs=0.006)
    assert len(by_outputs) == net.depth + 1
    assert min(by_gates[-1], by_outputs[-1]) > 0.5


def test_clusters_and_pairs_where_the_truth_is_known():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    rows = (10 * np.eye(3, 8)[y] + rng.normal(0, 0.3, (120, 8))).astype(np.float32)
    labels, distance = routing_trial.k_means(rows, 3, 4, rng)
    assert routing_trial.purity(labels, y) == 1
    centres = np.array([rows[labels == cluster].mean(axis=0) for cluster in range(3)])
    np.testing.assert_allclose(distance, np.linalg.norm(rows - centres[labels], axis=1), rtol=1e-3, atol=1e-3)
    assert routing_trial.purity(np.zeros(120, int), y) == pytest.approx(1 / 3)
    result = routing_trial.alike(rows - rows.mean(axis=0), y, 2000, rng)
    assert result["same_class_auc"] == 1
    assert result["route_cosine_same_class"] > 0.95
    assert result["route_cosine_other_class"] < 0
    noise = routing_trial.alike(rng.normal(size=(120, 8)), y, 20000, rng)
    assert noise["same_class_auc"] == pytest.approx(0.5, abs=0.05)


def test_random_gates_see_the_same_states(kept):
    """The gates of an untrained net get the inputs of the trained net's blocks."""
    net = kept.net
    x = kept.images.x_train[:9]
    other = fully_connected.make({**kept.setting, "seed": 1001})
    routes_of_net = list(routing_trial.routes(net, net, x))
    routes_of_other = list(routing_trial.routes(net, other, x))
    state = layer_by_layer.first_state(net, x)
    for (layer, T, y_l), (_, random_T, same_y_l) in zip(routes_of_net, routes_of_other, strict=True):
        np.testing.assert_array_equal(y_l, same_y_l)
        np.testing.assert_allclose(T, net.gates(x)[layer], rtol=1e-4)
        expected = 1 / (1 + np.exp(-(state @ other.W_T[layer].T + other.b_T[layer])))
        np.testing.assert_allclose(random_T, expected, rtol=1e-5)
        state = y_l
    setting = {**kept.setting, "pairs": 200, "restarts": 1}
    result = routing_trial.trial(setting, kept.folder)
    accuracies, _, measured = routing_trial.measure(net, other, setting)
    assert result["class_accuracy_from_random_gates"] == accuracies[-1]
    assert result["same_class_auc_random"] == measured["same_class_auc"]
    assert result["same_class_auc_random"] != result["same_class_auc"]


def test_digits_in_the_results_are_the_images(kept):
    x_test = kept.images.x_test
    result = routing_trial.trial({**kept.setting, "pairs": 200, "restarts": 1}, kept.folder)
    assert sum(cluster["size"] for cluster in result["clusters"]) == len(x_test)
    for cluster in result["clusters"]:
        assert sum(cluster["classes"]) == cluster["size"]
        for image, label in zip(cluster["examples"], cluster["labels"], strict=True):
            pixels = np.array([int(grey, 16) for grey in image]) / 15
            differences = np.abs(x_test - pixels).max(axis=1)
            match = differences.argmin()
            assert differences[match] < 0.04
            assert kept.images.y_test[match] == label
