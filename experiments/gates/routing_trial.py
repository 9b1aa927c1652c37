"""Follows the routes of images through one kept net: T of all its blocks and units.

Measures what the routes tell of an image's class, how alike they are, and what of this random gates
do as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import commits_of, net_of
from highways.nets import layer_by_layer
from highways.nets.layer_by_layer import rounded
from highways.nets.measures import auc

CLUSTERS = 10
EXAMPLES = 8  # the number of images that are kept of each cluster
GREYS = 16  # the number of greys in them; a pixel is a hexadecimal digit
DESCRIBED = 1  # the seed whose clusters are described

# ---- One net ------------------------------------------------------------------------------------


def trial(setting: dict, folder: str) -> dict:
    net = net_of(setting, folder)
    untrained = fully_connected.make({**setting, "seed": setting["seed"] + 1000})
    # accuracies: one for each block, and then one for all blocks together
    by_gates, by_outputs, measured = measure(net, net, setting)
    by_random_gates, _, measured_random = measure(net, untrained, setting)
    *_, by_last_output, by_all_outputs = by_outputs
    by_pixels, purity_of_pixels = measure_pixels(setting)
    result = {
        "commits": commits_of(net),
        "class_accuracy_from_gates": by_gates[-1],
        "class_accuracy_from_random_gates": by_random_gates[-1],
        "class_accuracy_from_outputs": by_all_outputs,
        "class_accuracy_from_last_output": by_last_output,
        "class_accuracy_from_pixels": by_pixels,
        "cluster_purity_pixels": purity_of_pixels,
        **measured,
    }
    for name, value in measured_random.items():
        if np.isscalar(value):  # not the lists over blocks
            result[f"{name}_random"] = value
    result["accuracy_gates"] = by_gates
    result["accuracy_random_gates"] = by_random_gates
    result["accuracy_outputs"] = by_outputs
    return result


def measure(net: hn.DeepNet, gates: hn.DeepNet, setting: dict) -> tuple[list, list, dict]:
    """Measures routes: the gates of one net, fed with the states of another or of the same net.

    Returns the two lists of nearest_centroid(), for T and for the outputs, and a dict of the
    rest."""
    images = fully_connected.images_of(setting)
    moments = Moments(net, gates, images.x_train, images.y_train)
    by_gates, by_outputs = nearest_centroid(net, gates, images.x_test, images.y_test, moments)
    T = all_routes(net, gates, images.x_test)
    patterns = T.reshape(len(T), -1)
    rng = np.random.default_rng([setting["seed"], 5])
    labels, distance = k_means(patterns, CLUSTERS, setting["restarts"], rng)
    result = {
        **moments.shares(),
        **alike(patterns - patterns.mean(axis=0), images.y_test, setting["pairs"], rng),
        "cluster_purity": purity(labels, images.y_test),
    }
    if setting["seed"] == DESCRIBED and setting["data"] == "MNIST" and gates is net:
        mean_T = T.mean(axis=2)
        result["clusters"] = []
        for cluster in range(CLUSTERS):
            members = np.flatnonzero(labels == cluster)
            result["clusters"].append(described(members, distance, images.x_test, images.y_test, mean_T))
    return by_gates, by_outputs, result


def measure_pixels(setting: dict) -> tuple[float, float]:
    """For the pixels: the accuracy of the nearest centroid, and the purity of clusters."""
    images = fully_connected.images_of(setting)
    y = images.y_train
    centroids = np.array([images.x_train[y == label].mean(axis=0) for label in range(y.max() + 1)])
    nearest = distances(images.x_test, centroids).argmin(axis=1)
    rng = np.random.default_rng([setting["seed"], 6])
    labels, _ = k_means(images.x_test, CLUSTERS, setting["restarts"], rng)
    return float((nearest == images.y_test).mean()), purity(labels, images.y_test)


# ---- Routes -------------------------------------------------------------------------------------


def routes(net: hn.DeepNet, gates: hn.DeepNet, x: np.ndarray) -> Iterator[tuple]:
    """Yields (layer, T, y), block by block: T of `gates`, fed with the states of `net`."""
    for layer, T, x_l, y_l in layer_by_layer.walk(net, layer_by_layer.first_state(net, x)):
        if gates is not net:
            T, _ = layer_by_layer.block_forward(gates, layer, x_l)
        yield layer, T, y_l


def all_routes(net: hn.DeepNet, gates: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """T (N, depth, hidden) of all images."""
    T = np.empty((len(x), net.depth, net.hidden), x.dtype)
    for rows in layer_by_layer.slices(len(x)):
        for layer, T_l, _ in routes(net, gates, x[rows]):
            T[rows, layer] = T_l
    return T


class Moments:
    """Moments of T and of the block outputs over the training images.

    n                 (classes, 1, 1): the number of images of each class
    mean_T            (classes, depth, hidden): over the images of each class
    mean_output       (classes, depth, hidden): over the images of each class
    mean_square_of_T  (depth, hidden): over all images
    """

    def __init__(self, net: hn.DeepNet, gates: hn.DeepNet, x: np.ndarray, y: np.ndarray):
        one_hot = np.eye(y.max() + 1, dtype=x.dtype)[y]
        depth, hidden = net.b_T.shape
        n_classes = one_hot.shape[1]
        sum_T = np.zeros((n_classes, depth, hidden))
        sum_output = np.zeros((n_classes, depth, hidden))
        sum_square = np.zeros((depth, hidden))
        for rows in layer_by_layer.slices(len(x)):
            for layer, T, y_l in routes(net, gates, x[rows]):
                sum_T[:, layer] += one_hot[rows].T @ T  # (classes, N) (N, hidden)
                sum_output[:, layer] += one_hot[rows].T @ y_l
                sum_square[layer] += np.square(T, dtype=np.float64).sum(axis=0)
        self.n = one_hot.sum(axis=0, dtype=np.float64)[:, None, None]
        self.mean_T = sum_T / self.n
        self.mean_output = sum_output / self.n
        self.mean_square_of_T = sum_square / len(x)

    def shares(self) -> dict:
        """The shares of T's variance: the static part, between classes, and within classes."""
        share_of_class = self.n / self.n.sum()
        mean = (share_of_class * self.mean_T).sum(axis=0)
        # sums over the units of a block, (depth,)
        static = ((mean - mean.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        over_images = (self.mean_square_of_T - mean**2).sum(axis=1)
        between = (share_of_class * (self.mean_T - mean) ** 2).sum(axis=0).sum(axis=1)
        total = static + over_images
        return {
            "static_variance_share": float(static.sum() / total.sum()),
            "between_class_variance_share": float(between.sum() / over_images.sum()),
            "static_by_block": rounded(static / total, 4),
            "between_class_by_block": rounded(between / total, 4),
            "within_class_by_block": rounded((over_images - between) / total, 4),
        }


# ---- What routes tell of images -----------------------------------------------------------------


def nearest_centroid(
    net: hn.DeepNet, gates: hn.DeepNet, x: np.ndarray, y: np.ndarray, moments: Moments
) -> tuple[list[float], list[float]]:
    """Two lists of accuracies, by T and by the outputs.

    A list has an entry for each block, and then one for all blocks together."""
    right_by_T = np.zeros(net.depth + 1)
    right_by_output = np.zeros(net.depth + 1)
    n_classes = len(moments.n)
    for rows in layer_by_layer.slices(len(x)):
        labels = y[rows]
        sum_by_T = np.zeros((len(labels), n_classes))
        sum_by_output = np.zeros((len(labels), n_classes))
        for layer, T, y_l in routes(net, gates, x[rows]):
            by_T = distances(T, moments.mean_T[:, layer])
            by_output = distances(y_l, moments.mean_output[:, layer])
            right_by_T[layer] += n_right(by_T, labels)
            right_by_output[layer] += n_right(by_output, labels)
            sum_by_T += by_T
            sum_by_output += by_output
        right_by_T[-1] += n_right(sum_by_T, labels)
        right_by_output[-1] += n_right(sum_by_output, labels)
    return (right_by_T / len(x)).round(5).tolist(), (right_by_output / len(x)).round(5).tolist()


def distances(values: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """(N, n), (k, n) -> (N, k): squared distances, less |value|^2, which all centroids share."""
    return (centroids**2).sum(axis=1) - 2 * values @ centroids.T


def n_right(distances_to_classes: np.ndarray, y: np.ndarray) -> int:
    """The number of images whose own class is nearest: distances (N, classes), labels y (N,)."""
    return np.count_nonzero(distances_to_classes.argmin(axis=1) == y)


def alike(patterns: np.ndarray, y: np.ndarray, pairs: int, rng: np.random.Generator) -> dict:
    """The cosine between the centred routes of two images, drawn at random.

    Its mean over pairs of one class, its mean over pairs of two classes, and how well it tells the
    former from the latter (AUC)."""
    first, second = rng.integers(len(y), size=(2, pairs))
    differ = first != second
    first = first[differ]
    second = second[differ]
    units = patterns / np.linalg.norm(patterns, axis=1, keepdims=True)
    cosine = np.einsum("ij,ij->i", units[first], units[second], dtype=np.float64)
    same_class = y[first] == y[second]
    return {
        "route_cosine_same_class": float(cosine[same_class].mean()),
        "route_cosine_other_class": float(cosine[~same_class].mean()),
        "same_class_auc": auc(cosine, same_class),
    }


def k_means(rows: np.ndarray, k: int, restarts: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """The best of several k-means++ starts: labels (N,), and distances to the centres (N,)."""
    from scipy.cluster.vq import kmeans, kmeans2, vq  # imported here: it takes half a second

    # all starts are drawn first
    starts = [kmeans2(rows, k, iter=1, minit="++", seed=rng)[0] for _ in range(restarts)]
    runs = []
    for start in starts:
        centres, _ = kmeans(rows, start, thresh=0)  # until nothing moves
        runs.append(vq(rows, centres))
    return min(runs, key=lambda run: np.square(run[1], dtype=np.float64).sum())


def purity(labels: np.ndarray, y: np.ndarray) -> float:
    """The share of images that are of their cluster's commonest class."""
    most_of_a_class = [np.bincount(y[labels == cluster]).max() for cluster in np.unique(labels)]
    return sum(most_of_a_class) / len(y)


def described(members, distance, x, y, mean_T) -> dict:
    """Describes the cluster with these members.

    `distance` (N,) is that of each image to its centre; `mean_T` (N, depth) is a mean over the
    units of each block."""
    typical = members[np.argsort(distance[members])[:EXAMPLES]]
    return {
        "size": len(members),
        "classes": np.bincount(y[members], minlength=y.max() + 1).tolist(),
        "mean_T_less_that_of_all": rounded(mean_T[members].mean(axis=0) - mean_T.mean(axis=0), 4),
        "examples": [hexadecimal(image) for image in x[typical]],
        "labels": y[typical].tolist(),
    }


def hexadecimal(image: np.ndarray) -> str:
    """Pixels in [0, 1], as a hexadecimal digit each."""
    return "".join(f"{int(grey):x}" for grey in image * (GREYS - 1) + 0.5)
