"""Layer by layer, a net computes what it computes as a whole, and its gradients agree with the complex step.  The
questions that look into the 50-layer net are tested on a small one."""

import copy
import itertools
from typing import NamedTuple

import numpy as np
import pytest
from conftest import ROOT, verdict_on
from test_gradients import STEP, random_net

import highway_networks as hn
from experiments.fifty_layers import kept_nets
from experiments.fifty_layers import question as fifty_layers
from experiments.gates import question as gates
from experiments.lesion import trial as lesion
from experiments.routing import question as routing
from highways.nets import fully_connected, layer_by_layer
from highways.nets.measures import hoyer


def logits_from(net, state, start=0):
    """Logits from the state that block `start` sees."""
    for layer in range(start, net.depth):
        _, state = layer_by_layer.block_forward(net, layer, state)
    return layer_by_layer.logits(net, state)


def states_of(net, x):
    """What every layer gives out, the plain first one first."""
    states = [layer_by_layer.first_state(net, x)]
    for layer in range(net.depth):
        _, y = layer_by_layer.block_forward(net, layer, states[-1])
        states.append(y)
    return states


@pytest.mark.parametrize("block", hn.BLOCKS)
@pytest.mark.parametrize("activation", hn.ACTIVATIONS)
def test_layer_by_layer_a_net_has_the_same_logits_and_gates(block, activation):
    net, x, _ = random_net(block, (4, 3, 6, 5, 7), dtype=np.float64, activation=activation)
    logits = logits_from(net, layer_by_layer.first_state(net, x))
    np.testing.assert_allclose(logits, net.predict(x), rtol=1e-12, atol=1e-14)
    state = layer_by_layer.first_state(net, x)
    for layer in range(net.depth):
        T, y = layer_by_layer.block_forward(net, layer, state)
        if hn.BLOCKS[block].gates:
            np.testing.assert_allclose(T, net.gates(x)[layer], rtol=1e-12)
        state = y


@pytest.mark.parametrize("block", hn.BLOCKS)
@pytest.mark.parametrize("activation", hn.ACTIVATIONS)
def test_the_gradient_at_every_layer(block, activation):
    """|dL/dx_l| of one image is compared with the complex step, unit by unit.  That of several is their mean."""
    net, xs, ys = random_net(block, (4, 3, 5, 6, 2), dtype=np.float64, activation=activation)
    of_each_image = []
    for x, y in zip(xs, ys, strict=True):
        norms, _ = layer_by_layer.gradient_flow(net, x[None], y[None])
        of_each_image.append(norms)
    of_all, _ = layer_by_layer.gradient_flow(net, xs, ys)
    np.testing.assert_allclose(of_all, np.mean(of_each_image, axis=0), rtol=1e-3)
    twin = layer_by_layer.in_dtype(net, np.complex128)
    expected = []
    for layer, state in enumerate(states_of(net, xs[:1])):
        derivatives = []
        for unit in range(net.hidden):
            moved = state.astype(complex)
            moved[0, unit] += 1j * STEP
            loss, _ = hn.softmax_cross_entropy(logits_from(twin, moved, layer), ys[:1])
            derivatives.append(loss.imag / STEP)
        expected.append(np.linalg.norm(derivatives))
    np.testing.assert_allclose(of_each_image[0], expected, rtol=1e-3)  # gradient_flow() keeps four digits


def test_the_identity_part_of_the_gradient():
    """The product over all blocks of the share of x that a block carries, 0, 1, or 1 - T: its mean over
    units and images."""
    for block, expected in (("plain", 0), ("residual", 1)):
        net, x, y = random_net(block, (4, 3, 5, 6, 2), dtype=np.float64)
        _, identity = layer_by_layer.gradient_flow(net, x, y)
        assert identity == expected
    net, x, y = random_net("highway", (4, 3, 5, 6, 2), dtype=np.float64)
    _, identity = layer_by_layer.gradient_flow(net, x, y)
    assert identity == pytest.approx(np.prod(1 - net.gates(x), axis=0).mean())


def test_slices_cover_everything_once():
    for n in (1, 499, 500, 501, 1700):
        rows = np.concatenate([np.arange(n)[part] for part in layer_by_layer.slices(n)])
        np.testing.assert_array_equal(rows, np.arange(n))


# ---- Questions on the 50-layer net, on a small one ------------------------------------------------------------------


class Trained(NamedTuple):
    """A small net that was trained and kept."""

    net: hn.DeepNet
    setting: dict
    folder: str
    images: fully_connected.Images


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("nets"))
    setting = {
        "data": "MNIST",
        "data_dir": None,
        "block": "highway",
        "layers": 7,
        "activation": "tanh",
        "rate": 4.0,
        "momentum": 0.9,
        "decay": 0.9,
        "gate_bias": -1.0,
        "clip": 1.0,
        "seed": 1,
        "epochs": 3,
        "n_train": 1500,
        "n_test": 400,
    }
    fifty_layers.trial(setting, folder)
    return Trained(kept_nets.net_of(setting, folder), setting, folder, fully_connected.images_of(setting))


def test_a_net_that_was_kept_is_used_and_one_that_is_not_there_is_trained_again(trained, tmp_path, monkeypatch):
    net = trained.net
    setting = trained.setting
    assert net.about["trial"] == setting
    again = kept_nets.net_of(setting, str(tmp_path / "on another machine"))
    np.testing.assert_array_equal(again.parameters, net.parameters)
    assert not list(tmp_path.iterdir())
    about_net = net.about
    about_other_nets = [
        {},
        {**about_net, "trial": [1]},
        {**about_net, "trial": {**setting, "epochs": 1}},
        {**about_net, "data_sha256": "0"},
    ]
    for about in about_other_nets:  # another net under the file name of this one is not used
        net.about = about
        net.save(tmp_path / "fifty_layers_mnist_1.npz")
        assert kept_nets.net_of(setting, str(tmp_path)).about["trial"] == setting
    net.about = about_net
    # the net that was trained again replaced it
    assert hn.DeepNet.load(tmp_path / "fifty_layers_mnist_1.npz").about["trial"] == setting
    monkeypatch.setattr(kept_nets, "trained", pytest.fail)
    elsewhere = {**setting, "another": 1, "data_dir": str(ROOT / "data" / "mnist")}
    same = kept_nets.net_of(elsewhere, trained.folder)
    np.testing.assert_array_equal(same.parameters, net.parameters)


def closed(net, layers):
    """A copy of the net with the gates of these layers shut by their biases, which is what a lesion is."""
    twin = copy.deepcopy(net)
    twin.b_T[list(layers)] = -1e4
    return twin


def error(net, x, y):
    return (net.predict(x).argmax(axis=1) != y).mean()


def test_a_lesion_is_a_net_with_its_gates_shut(trained):
    net = trained.net
    x = trained.images.x_train
    y = trained.images.y_train
    setting = {**trained.setting, "draws": 2, "step": 2}
    result = lesion.trial(setting, trained.folder)
    close = {"abs": 1.5 / len(x)}  # an image on the edge may fall to the other side
    assert result["error"] == pytest.approx(error(net, x, y), **close)
    assert result["loss"] == pytest.approx(hn.softmax_cross_entropy(net.predict(x), y)[0], rel=1e-4)
    for layer in range(net.depth):
        assert result["errors"][layer] == pytest.approx(error(closed(net, [layer]), x, y), **close)
    for k in range(net.depth + 1):
        assert result["errors_above"][k] == pytest.approx(error(closed(net, range(k, net.depth)), x, y), **close)
    sets = lesion.random_sets(net.depth, setting)
    assert result["set_sizes"] == [2, 2, 4, 4, 6, 6]
    assert result["set_sizes"] == [len(set(layers)) for layers in sets]
    for layers, measured in zip(sets, result["errors_sets"], strict=True):
        assert measured == pytest.approx(error(closed(net, layers), x, y), **close)
    idle = [layer for layer in range(net.depth) if result["errors"][layer] - result["error"] < lesion.IDLE]
    assert result["idle"] == [layer + 1 for layer in idle]
    assert result["idle_share"] == len(idle) / net.depth
    assert result["error_all_idle"] == pytest.approx(error(closed(net, idle), x, y), **close)
    greedy = [layer - 1 for layer in result["greedy"]]
    assert sorted(greedy) == list(range(net.depth))
    for k, measured in enumerate(result["errors_greedy"]):
        together = {layer: error(closed(net, [*greedy[:k], layer]), x, y) for layer in greedy[k:]}
        assert measured == pytest.approx(together[greedy[k]], **close)
        assert measured == pytest.approx(min(together.values()), **close)  # all 1500 images choose
    cheap = [measured - result["error"] < lesion.POINT for measured in result["errors_greedy"]]
    assert result["closed_together"] == [*cheap, False].index(False)


def test_the_numbers_of_figures_2_and_3_are_as_by_hand(trained):
    net = trained.net
    x = trained.images.x_train
    y = trained.images.y_train
    result = gates.trial({**trained.setting, "of_each": 100}, trained.folder)
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
    of_block = (net.gates(x[:100]) > 0.5).mean(axis=(1, 2))
    np.testing.assert_allclose(result["open_single_of_layer"], of_block, atol=1e-3)
    early = np.array_split(of_block, 3)[0]
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


def test_the_variance_of_T_is_split_as_by_hand(trained):
    net = trained.net
    x = trained.images.x_train
    y = trained.images.y_train
    shares = routing.Moments(net, net, x, y).shares()
    T = net.gates(x).astype(np.float64)
    of_class = np.empty_like(T)
    for label in range(10):
        of_class[:, y == label] = T[:, y == label].mean(axis=1, keepdims=True)
    over_images = T.var(axis=1).mean(axis=1)  # (depth,)
    within = ((T - of_class) ** 2).mean(axis=(1, 2))
    between = over_images - within
    static = T.mean(axis=1).var(axis=1)
    total = T.var(axis=(1, 2))
    assert shares["static_variance_share"] == pytest.approx(static.sum() / total.sum(), rel=1e-3)
    assert shares["between_class_variance_share"] == pytest.approx(between.sum() / over_images.sum(), rel=1e-3)
    np.testing.assert_allclose(shares["static_by_block"], static / total, atol=2e-4)
    np.testing.assert_allclose(shares["between_class_by_block"], between / total, atol=2e-4)
    np.testing.assert_allclose(shares["within_class_by_block"], within / total, atol=2e-4)


def test_what_is_not_static_lies_between_images():
    trials = []
    for data, static in (("MNIST", 0.1), ("CIFAR-100", 0.6)):
        for noise in (-0.01, 0.01):
            shares = {"static_variance_share": static + noise, "static_variance_share_random": 0.25}
            trials.append({"data": data, "layers": 50, **shares})
    measured = routing.measure_between_images({"trials": trials})
    np.testing.assert_allclose(measured["MNIST"]["by_T"], [0.91, 0.89])
    np.testing.assert_allclose(measured["CIFAR-100"]["by_T"], [0.41, 0.39])
    assert "CIFAR-100 0.40" in routing.between_images_as_text(measured)
    verdict = verdict_on("routing", "images-take-different-routes", {"settings": {}, "trials": trials})
    assert verdict == "in part, the rest not clear"


def share_nearest(values, labels, centroids):
    """The share of images whose nearest centroid is that of their class, and the squared distances (N, classes)."""
    squares = ((values[:, None] - centroids) ** 2).sum(axis=2)
    return (squares.argmin(axis=1) == labels).mean(), squares


def test_nearest_centroids_are_as_by_hand(trained):
    net = trained.net
    x, y, x_test, y_test = trained.images
    moments = routing.Moments(net, net, x, y)
    of_gates, of_outputs = routing.nearest_centroid(net, net, x_test, y_test, moments)
    T = net.gates(x)
    T_test = net.gates(x_test)
    squares_of_all = 0
    for layer in range(net.depth):
        centroids = np.array([T[layer, y == label].mean(axis=0) for label in range(10)])
        share, squares = share_nearest(T_test[layer], y_test, centroids)
        assert of_gates[layer] == pytest.approx(share, abs=0.006)
        squares_of_all = squares_of_all + squares
    assert of_gates[-1] == pytest.approx((squares_of_all.argmin(axis=1) == y_test).mean(), abs=0.006)
    last = states_of(net, x)[-1]
    centroids = np.array([last[y == label].mean(axis=0) for label in range(10)])
    share, _ = share_nearest(states_of(net, x_test)[-1], y_test, centroids)
    assert of_outputs[-2] == pytest.approx(share, abs=0.006)
    assert len(of_outputs) == net.depth + 1
    assert min(of_gates[-1], of_outputs[-1]) > 0.5


def test_clusters_and_pairs_where_the_truth_is_known():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    rows = (10 * np.eye(3, 8)[y] + rng.normal(0, 0.3, (120, 8))).astype(np.float32)
    labels, distance = routing.k_means(rows, 3, 4, rng)
    assert routing.purity(labels, y) == 1
    centres = np.array([rows[labels == cluster].mean(axis=0) for cluster in range(3)])
    np.testing.assert_allclose(distance, np.linalg.norm(rows - centres[labels], axis=1), rtol=1e-3, atol=1e-3)
    assert routing.purity(np.zeros(120, int), y) == pytest.approx(1 / 3)
    result = routing.alike(rows - rows.mean(axis=0), y, 2000, rng)
    assert result["same_class_auc"] == 1
    assert result["route_cosine_same_class"] > 0.95
    assert result["route_cosine_other_class"] < 0
    noise = routing.alike(rng.normal(size=(120, 8)), y, 20000, rng)
    assert noise["same_class_auc"] == pytest.approx(0.5, abs=0.05)


def test_random_gates_see_the_same_states(trained):
    """The gates of an untrained net get the inputs of the trained net's blocks."""
    net = trained.net
    x = trained.images.x_train[:9]
    other = fully_connected.make({**trained.setting, "seed": 1001})
    of_net = list(routing.routes(net, net, x))
    of_other = list(routing.routes(net, other, x))
    state = layer_by_layer.first_state(net, x)
    for (layer, T, y_l), (_, random_T, same_y_l) in zip(of_net, of_other, strict=True):
        np.testing.assert_array_equal(y_l, same_y_l)
        np.testing.assert_allclose(T, net.gates(x)[layer], rtol=1e-4)
        expected = 1 / (1 + np.exp(-(state @ other.W_T[layer].T + other.b_T[layer])))
        np.testing.assert_allclose(random_T, expected, rtol=1e-5)
        state = y_l
    setting = {**trained.setting, "pairs": 200, "restarts": 1}
    result = routing.trial(setting, trained.folder)
    accuracies, _, measured = routing.measure(net, other, setting)
    assert result["class_accuracy_from_random_gates"] == accuracies[-1]
    assert result["same_class_auc_random"] == measured["same_class_auc"]
    assert result["same_class_auc_random"] != result["same_class_auc"]


def test_digits_in_the_results_are_the_images(trained):
    x_test = trained.images.x_test
    result = routing.trial({**trained.setting, "pairs": 200, "restarts": 1}, trained.folder)
    assert sum(cluster["size"] for cluster in result["clusters"]) == len(x_test)
    for cluster in result["clusters"]:
        assert sum(cluster["classes"]) == cluster["size"]
        for image, label in zip(cluster["examples"], cluster["labels"], strict=True):
            pixels = np.array([int(grey, 16) for grey in image]) / 15
            differences = np.abs(x_test - pixels).max(axis=1)
            match = differences.argmin()
            assert differences[match] < 0.04
            assert trained.images.y_test[match] == label
