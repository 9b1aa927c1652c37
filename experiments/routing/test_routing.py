"""Routes of images: their parts by hand, clusters where the truth is known, and the verdicts."""

import numpy as np
import pytest
from conftest import judgement_on, verdict_on
from test_layer_by_layer import states_of

from experiments.routing import trial as routing
from highways.nets import fully_connected, layer_by_layer


def test_the_variance_of_T_is_split_as_by_hand(kept):
    net = kept.net
    x = kept.images.x_train
    y = kept.images.y_train
    shares = routing.Moments(net, net, x, y).shares()
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


def test_what_is_not_static_lies_between_images():
    trials = []
    for data, static in (("MNIST", 0.1), ("CIFAR-100", 0.6)):
        for noise in (-0.01, 0.01):
            shares = {"static_variance_share": static + noise, "static_variance_share_random": 0.25}
            trials.append({"data": data, "depth": 49, **shares})
    verdict, text, _ = judgement_on("routing", "images-take-different-routes", {"settings": {}, "trials": trials})
    assert "MNIST 0.90" in text
    assert "CIFAR-100 0.40" in text
    assert verdict == "in part, the rest not clear"


def share_nearest(values, labels, centroids):
    """The share of images whose nearest centroid is that of their class, and the squared distances (N, classes)."""
    squares = ((values[:, None] - centroids) ** 2).sum(axis=2)
    return (squares.argmin(axis=1) == labels).mean(), squares


def test_nearest_centroids_are_as_by_hand(kept):
    net = kept.net
    x, y, x_test, y_test = kept.images
    moments = routing.Moments(net, net, x, y)
    by_gates, by_outputs = routing.nearest_centroid(net, net, x_test, y_test, moments)
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


def test_random_gates_see_the_same_states(kept):
    """The gates of an untrained net get the inputs of the trained net's blocks."""
    net = kept.net
    x = kept.images.x_train[:9]
    other = fully_connected.make({**kept.setting, "seed": 1001})
    routes_of_net = list(routing.routes(net, net, x))
    routes_of_other = list(routing.routes(net, other, x))
    state = layer_by_layer.first_state(net, x)
    for (layer, T, y_l), (_, random_T, same_y_l) in zip(routes_of_net, routes_of_other, strict=True):
        np.testing.assert_array_equal(y_l, same_y_l)
        np.testing.assert_allclose(T, net.gates(x)[layer], rtol=1e-4)
        expected = 1 / (1 + np.exp(-(state @ other.W_T[layer].T + other.b_T[layer])))
        np.testing.assert_allclose(random_T, expected, rtol=1e-5)
        state = y_l
    setting = {**kept.setting, "pairs": 200, "restarts": 1}
    result = routing.trial(setting, kept.folder)
    accuracies, _, measured = routing.measure(net, other, setting)
    assert result["class_accuracy_from_random_gates"] == accuracies[-1]
    assert result["same_class_auc_random"] == measured["same_class_auc"]
    assert result["same_class_auc_random"] != result["same_class_auc"]


def test_digits_in_the_results_are_the_images(kept):
    x_test = kept.images.x_test
    result = routing.trial({**kept.setting, "pairs": 200, "restarts": 1}, kept.folder)
    assert sum(cluster["size"] for cluster in result["clusters"]) == len(x_test)
    for cluster in result["clusters"]:
        assert sum(cluster["classes"]) == cluster["size"]
        for image, label in zip(cluster["examples"], cluster["labels"], strict=True):
            pixels = np.array([int(grey, 16) for grey in image]) / 15
            differences = np.abs(x_test - pixels).max(axis=1)
            match = differences.argmin()
            assert differences[match] < 0.04
            assert kept.images.y_test[match] == label


@pytest.mark.parametrize(
    ("by_T", "by_random", "by_net", "verdict"),
    [
        (0.97, 0.95, 0.97, "reproduced"),
        (0.95, 0.95, 0.97, "not reproduced"),
        (0.97, 0.97, 0.97, "not clear"),  # no T could be right so often
        (0.99, 0.97, 0.97, "reproduced"),  # but this one is
    ],
)
def test_whether_t_tells_the_class(by_T, by_random, by_net, verdict):
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
    records = ({"settings": {}, "trials": routes}, {"settings": {}, "trials": {"final": nets}})
    assert verdict_on("routing", "gates-tell-the-class", *records) == verdict
