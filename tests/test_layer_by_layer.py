"""The layer-by-layer reading of a net against the net itself, and its gradients against the complex step."""

import copy
import itertools

import numpy as np
import pytest
from conftest import ROOT
from test_gradients import STEP, random_net

import highway_networks as hn
from experiments import fifty_layers, gates, lesion, routing
from training import fully_connected, layer_by_layer
from training.measures import hoyer


def walk(net, state, start=0):
    """Logits from the state that block `start` sees."""
    for layer in range(start, net.depth):
        *_, state = layer_by_layer.block(net, layer, state)
    return layer_by_layer.logits(net, state)


@pytest.mark.parametrize("block", hn.BLOCKS)
@pytest.mark.parametrize("activation", hn.ACTIVATIONS)
def test_it_is_the_net(block, activation):
    net, x, _ = random_net(block, (4, 3, 6, 5, 7), dtype=np.float64, activation=activation)
    np.testing.assert_allclose(walk(net, layer_by_layer.first(net, x)), net.predict(x), rtol=1e-12, atol=1e-14)
    state = layer_by_layer.first(net, x)
    for layer in range(net.depth):
        T, y = layer_by_layer.block(net, layer, state)
        if hn.BLOCKS[block].gates:
            np.testing.assert_allclose(T, net.gates(x)[layer], rtol=1e-12)
        state = y


@pytest.mark.parametrize("block", hn.BLOCKS)
@pytest.mark.parametrize("activation", hn.ACTIVATIONS)
def test_the_gradient_at_every_layer(block, activation):
    """|dL/dx_l| of one example, unit by unit; of several it is their mean."""
    net, xs, ys = random_net(block, (4, 3, 5, 6, 2), dtype=np.float64, activation=activation)
    each = [layer_by_layer.gradient_flow(net, x[None], y[None])[0] for x, y in zip(xs, ys, strict=True)]
    np.testing.assert_allclose(layer_by_layer.gradient_flow(net, xs, ys)[0], np.mean(each, axis=0), rtol=1e-3)
    state, norms, twin = layer_by_layer.first(net, xs[:1]), [], layer_by_layer.in_dtype(net, np.complex128)
    for layer in range(net.depth + 1):
        derivatives = []
        for unit in range(net.hidden):
            moved = state.astype(complex)
            moved[0, unit] += 1j * STEP
            derivatives.append(hn.softmax_cross_entropy(walk(twin, moved, layer), ys[:1])[0].imag / STEP)
        norms.append(np.linalg.norm(derivatives))
        if layer < net.depth:
            *_, state = layer_by_layer.block(net, layer, state)
    np.testing.assert_allclose(each[0], norms, rtol=1e-3)  # four digits are kept


def test_the_identity_part():
    for block, expected in (("plain", 0), ("residual", 1)):
        net, x, y = random_net(block, (4, 3, 5, 6, 2), dtype=np.float64)
        assert layer_by_layer.gradient_flow(net, x, y)[1] == expected
    net, x, y = random_net("highway", (4, 3, 5, 6, 2), dtype=np.float64)
    expected = np.prod(1 - net.gates(x), axis=0).mean()
    assert layer_by_layer.gradient_flow(net, x, y)[1] == pytest.approx(expected)


def test_slices_cover_everything_once():
    for n in (1, 499, 500, 501, 1700):
        rows = np.concatenate([np.arange(n)[part] for part in layer_by_layer.slices(n)])
        np.testing.assert_array_equal(rows, np.arange(n))


# ---- the experiments on the 50-layer net, on a small one


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A small net that was trained and kept, its settings, its folder, and its images."""
    folder = tmp_path_factory.mktemp("nets")
    t = {"data": "MNIST", "data_dir": None, "block": "highway", "layers": 7, "activation": "tanh", "rate": 4.0}
    t |= {"momentum": 0.9, "decay": 0.9, "gate_bias": -1.0, "clip": 1.0, "seed": 1, "epochs": 3}
    t |= {"n_train": 1500, "n_test": 400}
    fifty_layers.trial(t, str(folder))
    return fifty_layers.net_of(t, str(folder)), t, str(folder), fully_connected.images_of(t)


def test_a_net_that_was_kept_is_used_and_one_that_is_not_there_is_trained_again(trained, tmp_path, monkeypatch):
    net, t, folder, _ = trained
    assert net.about["trial"] == t
    again = fifty_layers.net_of(t, str(tmp_path / "on another machine"))
    np.testing.assert_array_equal(again.parameters, net.parameters)
    assert not list(tmp_path.iterdir())
    kept = net.about
    wrong = {"trial": [1]}, {"trial": t | {"epochs": 1}}, {"data_sha256": "0"}
    for about in ({}, *(kept | each for each in wrong)):  # of the same name, but not the same net
        net.about = about
        net.save(tmp_path / "fifty_layers_mnist_1.npz")
        assert fifty_layers.net_of(t, str(tmp_path)).about["trial"] == t
    assert hn.DeepNet.load(tmp_path / "fifty_layers_mnist_1.npz").about["trial"] == t  # and kept
    monkeypatch.setattr(fifty_layers, "trained", pytest.fail)
    same = fifty_layers.net_of(t | {"another": 1, "data_dir": str(ROOT / "data" / "mnist")}, folder)
    np.testing.assert_array_equal(same.parameters, net.parameters)


def closed(net, layers):
    """A copy of the net with the gates of these layers shut by their biases, which is what a lesion is."""
    twin = copy.deepcopy(net)
    twin.b_T[list(layers)] = -1e4
    return twin


def error(net, x, y):
    return (net.predict(x).argmax(axis=1) != y).mean()


def test_a_lesion_is_a_net_with_its_gates_shut(trained):
    net, t, folder, (x, y, *_) = trained
    result = lesion.trial(t | {"draws": 2, "step": 2}, folder)
    close = {"abs": 1.5 / len(x)}  # an image on the edge may fall to the other side
    assert result["error"] == pytest.approx(error(net, x, y), **close)
    assert result["loss"] == pytest.approx(hn.softmax_cross_entropy(net.predict(x), y)[0], rel=1e-4)
    for layer in range(net.depth):
        assert result["errors"][layer] == pytest.approx(error(closed(net, [layer]), x, y), **close)
    for k in range(net.depth + 1):
        assert result["errors_above"][k] == pytest.approx(error(closed(net, range(k, net.depth)), x, y), **close)
    sets = lesion.random_sets(net.depth, t | {"draws": 2, "step": 2})
    assert result["set_sizes"] == [2, 2, 4, 4, 6, 6] == [len(set(each)) for each in sets]
    for closed_layers, measured in zip(sets, result["errors_sets"], strict=True):
        assert measured == pytest.approx(error(closed(net, closed_layers), x, y), **close)
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


def test_the_numbers_of_figures_2_and_3(trained):
    net, t, folder, (x, y, *_) = trained
    result = gates.trial(t | {"of_each": 100}, folder)
    assert result["share_open_single"] == pytest.approx((net.gates(x[:100]) > 0.5).mean(), abs=1e-4)
    T = net.gates(x).astype(np.float64)  # (depth, N, hidden)
    mean = T.mean(axis=1)
    assert result["share_of_biases_decreased"] == pytest.approx((net.b_T < -1).mean())
    expected = np.corrcoef(net.b_T.mean(axis=1), mean.mean(axis=1))[0, 1]
    assert result["bias_activity_correlation"] == pytest.approx(expected, abs=1e-4)
    singles = [hoyer(T[:, i].reshape(1, -1))[0] for i in range(100)]
    assert result["sparsity_single"] == pytest.approx(np.mean(singles), rel=1e-4)
    assert result["sparsity_mean"] == pytest.approx(hoyer(mean.reshape(1, -1))[0], rel=1e-4)
    assert result["share_open_in_1_of_100"] == pytest.approx(((T > 0.5).sum(axis=1) >= 15).mean(), abs=0.004)
    states = [layer_by_layer.first(net, x)]
    for layer in range(net.depth):
        states.append(layer_by_layer.block(net, layer, states[-1])[-1])
    change = [np.linalg.norm(b - a, axis=1).mean() for a, b in itertools.pairwise(states)]
    np.testing.assert_allclose(result["change"], change, atol=1e-3)
    assert (
        sum(change[: int(result["settled_layer"])])
        >= 0.9 * sum(change)
        > sum(change[: int(result["settled_layer"]) - 1])
    )
    classes = np.array([T[:, y == c].mean(axis=1) for c in range(10)])
    np.testing.assert_allclose(result["maps"]["class_minus_mean"], classes - mean, atol=6e-3)
    sparsity = [hoyer(np.abs(of_class - mean).reshape(1, -1))[0] for of_class in classes]
    assert result["class_difference_sparsity"] == pytest.approx(np.mean(sparsity), rel=1e-4)
    assert result["change_share_first_40"] == 1  # of 6 blocks
    np.testing.assert_allclose(result["maps"]["mean_T"], mean, atol=6e-4)
    one = result["maps"]["one"]
    np.testing.assert_allclose(one["T"], T[:, one["image"]], atol=6e-4)
    np.testing.assert_allclose(one["outputs"], [state[one["image"]] for state in states[1:]], atol=6e-4)


def test_sparsity_is_from_zero_to_one():
    np.testing.assert_allclose(hoyer(np.array([[0.3] * 16, [0] * 15 + [0.2]])), [0, 1], atol=1e-12)


def test_the_variance_of_T_is_split_as_by_hand(trained):
    net, _, _, (x, y, *_) = trained
    T = net.gates(x).astype(np.float64)
    shares = routing.Moments(net, net, x, y).shares()
    total = sum(T[layer].var() for layer in range(net.depth))
    fitted = np.empty_like(T)
    for c in range(10):
        fitted[:, y == c] = T[:, y == c].mean(axis=1, keepdims=True)
    within, depends = ((T - fitted) ** 2).mean(axis=1), T.var(axis=1)
    parts = {"static": T.mean(axis=1).var(axis=1), "between_class": (depends - within).mean(axis=1)}
    assert shares["static_variance_share"] == pytest.approx(parts["static"].sum() / total, rel=1e-3)
    expected = parts["between_class"].sum() / depends.mean(axis=1).sum()
    assert shares["between_class_variance_share"] == pytest.approx(expected, rel=1e-3)
    for name, by_layer in (parts | {"within_class": within.mean(axis=1)}).items():
        np.testing.assert_allclose(shares[f"{name}_by_block"], by_layer / T.var(axis=(1, 2)), atol=2e-4)


def test_nearest_centroids_are_as_by_hand(trained):
    net, _, _, (x, y, x_test, y_test) = trained
    moments = routing.Moments(net, net, x, y)
    of_gates, of_outputs = routing.nearest_centroid(net, net, x_test, y_test, moments.classes)
    T, T_test = net.gates(x), net.gates(x_test)
    everything, each = [], np.array([T[:, y == c].mean(axis=1) for c in range(10)])  # (classes, depth, hidden)
    for layer in range(net.depth):
        d = ((T_test[layer][:, None] - each[None, :, layer]) ** 2).sum(axis=2)
        everything.append(d)
        assert of_gates[layer] == pytest.approx((d.argmin(axis=1) == y_test).mean(), abs=0.006)
    assert of_gates[-1] == pytest.approx((sum(everything).argmin(axis=1) == y_test).mean(), abs=0.006)
    y_l, y_l_test = (list(layer_by_layer.walk(net, layer_by_layer.first(net, images)))[-1][3] for images in (x, x_test))
    last = np.array([y_l[y == c].mean(axis=0) for c in range(10)])
    d = ((y_l_test[:, None] - last) ** 2).sum(axis=2)
    assert of_outputs[-2] == pytest.approx((d.argmin(axis=1) == y_test).mean(), abs=0.006)
    assert len(of_outputs) == net.depth + 1
    assert min(of_gates[-1], of_outputs[-1]) > 0.5


def test_clusters_and_pairs_where_the_truth_is_known():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    rows = (10 * np.eye(3, 8)[y] + rng.normal(0, 0.3, (120, 8))).astype(np.float32)
    labels, distance = routing.k_means(rows, 3, 4, rng)
    assert routing.purity(labels, y) == 1
    expected = [
        np.linalg.norm(row - rows[labels == label].mean(axis=0)) for row, label in zip(rows, labels, strict=True)
    ]
    np.testing.assert_allclose(distance, expected, rtol=1e-3, atol=1e-3)
    assert routing.purity(np.zeros(120, int), y) == pytest.approx(1 / 3)
    result = routing.alike(rows - rows.mean(axis=0), y, 2000, rng)
    assert result["same_class_auc"] == 1
    assert result["route_cosine_same_class"] > 0.95
    assert result["route_cosine_other_class"] < 0
    noise = routing.alike(rng.normal(size=(120, 8)), y, 20000, rng)
    assert noise["same_class_auc"] == pytest.approx(0.5, abs=0.05)


def test_random_gates_see_the_same_states(trained):
    net, t, folder, (x, *_) = trained
    other = fully_connected.make(t | {"seed": 1001})
    mine, control = list(routing.routes(net, net, x[:9])), list(routing.routes(net, other, x[:9]))
    state = layer_by_layer.first(net, x[:9])
    for (layer, T, y_l), (_, random, same) in zip(mine, control, strict=True):
        np.testing.assert_array_equal(y_l, same)
        np.testing.assert_allclose(T, net.gates(x[:9])[layer], rtol=1e-4)
        expected = 1 / (1 + np.exp(-(state @ other.W_T[layer].T + other.b_T[layer])))
        np.testing.assert_allclose(random, expected, rtol=1e-5)
        state = y_l
    result = routing.trial(t | {"pairs": 200, "restarts": 1}, folder)
    expected, _, measured = routing.measure(net, other, t | {"pairs": 200, "restarts": 1})
    assert result["class_accuracy_from_random_gates"] == expected[-1]
    assert result["same_class_auc_random"] == measured["same_class_auc"] != result["same_class_auc"]


def test_digits_in_the_results_are_the_images(trained):
    _, t, folder, (_, _, x_test, y_test) = trained
    clusters = routing.trial(t | {"pairs": 200, "restarts": 1}, folder)["clusters"]
    assert sum(c["size"] for c in clusters) == len(x_test)
    for cluster in clusters:
        assert sum(cluster["classes"]) == cluster["size"]
        for image, label in zip(cluster["examples"], cluster["labels"], strict=True):
            pixels = np.array([int(grey, 16) for grey in image]) / 15
            match = np.abs(x_test - pixels).max(axis=1).argmin()
            assert np.abs(x_test[match] - pixels).max() < 0.04
            assert y_test[match] == label
