"""What does T learn?  The route of an image through a trained 50-layer net: an open question of the published program.

    python -m experiments.routing            -> results/routing.json

The route of an image is the values of its transform gates, all blocks and units.  Measured on the nets of the
experiment `fifty_layers`:

- How well does the route tell the class?  Nearest centroid, centroids of the training images, accuracy on the test
  images: on T of all blocks, on what all blocks give out, on the last block's output, on the pixels.
- Are two images of one class routed alike?  The cosine between two routes, each less the mean route; and how often a
  pair of one class is more alike than a pair of two (AUC).
- Is the route static, or does it depend on the image?  The variance of T in a block over units and images is that of
  the mean route over the units, the static part, and that over the images, between classes and within them.
- Which of this did the gates learn?  All of it again for random gates: W_T and b_T as drawn at the start, by another
  seed, fed with the same block states.
- Which routes are there?  k-means with ten clusters on the routes of the test images, and the share of images that are
  of their cluster's commonest class, beside the same on the pixels.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np
from fully_connected.layer_by_layer import rounded
from fully_connected.trials import Experiment, run_and_exit
from scipy.cluster.vq import kmeans, kmeans2, vq

import highway_networks as hn
from claims.rules import Claim, above, mean_sd_n, of, print_results, shown_in
from experiments import fifty_layers
from training import fully_connected, layer_by_layer
from training.measures import auc

BUDGETS = {
    "quick": {"pairs": 500, "restarts": 1},
    "default": {"pairs": 20000, "restarts": 5},
    "full": {"pairs": 20000, "restarts": 50},
}
CLUSTERS, EXAMPLES, GREYS = 10, 8, 16
STATISTICS = (
    "class_accuracy_from_gates", "class_accuracy_from_outputs", "class_accuracy_from_last_output",
    "class_accuracy_from_pixels", "static_variance_share", "between_class_variance_share",
    "route_cosine_same_class", "route_cosine_other_class", "same_class_auc", "cluster_purity", "cluster_purity_pixels",
    "class_accuracy_from_random_gates", "static_variance_share_random", "between_class_variance_share_random",
    "route_cosine_same_class_random", "route_cosine_other_class_random", "same_class_auc_random",
    "cluster_purity_random",
)  # fmt: skip


def trial(t: dict, folder: str) -> dict:
    net = fifty_layers.net_of(t, folder)
    x, y, x_test, y_test = fully_connected.images_of(t)
    of_gates, of_outputs, measured = measure(net, net, t)
    of_random, _, control = measure(net, fully_connected.make(t | {"seed": t["seed"] + 1000}), t)
    pixels = np.array([x[y == c].mean(axis=0) for c in range(y.max() + 1)])
    labels, _ = k_means(x_test, CLUSTERS, t["restarts"], np.random.default_rng([t["seed"], 6]))
    result = {
        "class_accuracy_from_gates": of_gates[-1],
        "class_accuracy_from_random_gates": of_random[-1],
        "class_accuracy_from_outputs": of_outputs[-1],
        "class_accuracy_from_last_output": of_outputs[-2],
        "class_accuracy_from_pixels": accuracy(distances(x_test, pixels), y_test),
        "cluster_purity_pixels": purity(labels, y_test),
        **measured,
    }
    result |= {f"{name}_random": value for name, value in control.items() if np.isscalar(value)}
    return result | {"accuracy_gates": of_gates, "accuracy_random_gates": of_random, "accuracy_outputs": of_outputs}


def measure(net: hn.DeepNet, gates: hn.DeepNet, t: dict) -> tuple[list, list, dict]:
    """What the gates of one net tell about the states of another, or of the same."""
    x, y, x_test, y_test = fully_connected.images_of(t)
    moments = Moments(net, gates, x, y)
    accuracies = nearest_centroid(net, gates, x_test, y_test, moments.classes)
    shares = moments.shares() | clusters_and_pairs(net, gates, x_test, y_test, t)
    return (*accuracies, shares)


def routes(net: hn.DeepNet, gates: hn.DeepNet, x: np.ndarray):
    """Yields (layer, T, y) of one block after another: T of `gates`, fed with the states of `net`."""
    for layer, T, x_l, y_l in layer_by_layer.walk(net, layer_by_layer.first(net, x)):
        yield layer, T if gates is net else layer_by_layer.block(gates, layer, x_l)[0], y_l


class Moments:
    """Means by class, and second moments, of T and of the block outputs over all training images."""

    def __init__(self, net: hn.DeepNet, gates: hn.DeepNet, x: np.ndarray, y: np.ndarray):
        one_hot = np.eye(y.max() + 1, dtype=x.dtype)[y]
        sums, squares = np.zeros((2, one_hot.shape[1], *net.b_T.shape)), np.zeros(net.b_T.shape)
        for rows in layer_by_layer.slices(len(x)):
            for layer, T, y_l in routes(net, gates, x[rows]):
                sums[0, :, layer] += one_hot[rows].T @ T  # (classes, N) (N, hidden)
                sums[1, :, layer] += one_hot[rows].T @ y_l
                squares[layer] += np.square(T, dtype=np.float64).sum(axis=0)
        self.n = one_hot.sum(axis=0, dtype=np.float64)[:, None, None]
        self.classes = sums / self.n  # (2, classes, depth, hidden): of T, of the outputs
        self.mean_square = squares / len(x)

    def shares(self) -> dict:
        """T's variance in each block, over units and images: its static part, between classes, within classes."""
        share, T = self.n / self.n.sum(), self.classes[0]
        mean = (share * T).sum(axis=0)
        between = (share * (T - mean) ** 2).sum(axis=0).sum(axis=1)
        depends = (self.mean_square - mean**2).sum(axis=1)
        static = ((mean - mean.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        parts = {"static": static, "between_class": between, "within_class": depends - between}
        total = static + depends
        result = {"static_variance_share": float(static.sum() / total.sum())}  # of all
        result["between_class_variance_share"] = float(between.sum() / depends.sum())  # of that over the images
        return result | {f"{name}_by_block": rounded(part / total, 4) for name, part in parts.items()}


def nearest_centroid(net, gates, x, y, classes) -> list[list[float]]:
    """Accuracy from T of each block, and last from T of all; the same from the outputs.

    The centroids of both are `classes`, (2, classes, depth, hidden).
    """
    right = np.zeros((2, net.depth + 1))
    for rows in layer_by_layer.slices(len(x)):
        together = np.zeros((2, len(x[rows]), classes.shape[1]))
        for layer, T, y_l in routes(net, gates, x[rows]):
            for i, values in enumerate((T, y_l)):
                d = distances(values, classes[i][:, layer])
                together[i] += d
                right[i, layer] += np.count_nonzero(d.argmin(axis=1) == y[rows])
        right[:, -1] += np.count_nonzero(together.argmin(axis=2) == y[rows], axis=1)
    return (right / len(x)).round(5).tolist()


def distances(values: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """(N, n), (k, n) -> (N, k): the squared Euclidean distances, less what is the same for all centroids."""
    return (centroids**2).sum(axis=1) - 2 * values @ centroids.T


def accuracy(d: np.ndarray, y: np.ndarray) -> float:
    return float((d.argmin(axis=1) == y).mean())


def clusters_and_pairs(net: hn.DeepNet, gates: hn.DeepNet, x: np.ndarray, y: np.ndarray, t: dict) -> dict:
    T = np.empty((len(x), net.depth, net.hidden), x.dtype)
    for rows in layer_by_layer.slices(len(x)):
        for layer, of_layer, _ in routes(net, gates, x[rows]):
            T[rows, layer] = of_layer
    mean_T, patterns = T.mean(axis=2), T.reshape(len(x), -1)
    rng = np.random.default_rng([t["seed"], 5])
    labels, distance = k_means(patterns, CLUSTERS, t["restarts"], rng)
    result = alike(patterns - patterns.mean(axis=0), y, t["pairs"], rng) | {"cluster_purity": purity(labels, y)}
    if t["seed"] == 1 and gates is net:
        result["clusters"] = [described(np.flatnonzero(labels == c), distance, x, y, mean_T) for c in range(CLUSTERS)]
    return result


def alike(patterns: np.ndarray, y: np.ndarray, pairs: int, rng: np.random.Generator) -> dict:
    """The cosine between the centred routes of pairs of images, and how well it tells pairs of one class."""
    a, b = rng.integers(len(y), size=(2, pairs))
    a, b = a[a != b], b[a != b]
    units = patterns / np.linalg.norm(patterns, axis=1, keepdims=True)
    r, same = np.einsum("ij,ij->i", units[a], units[b], dtype=np.float64), y[a] == y[b]
    means = {f"route_cosine_{name}_class": float(r[which].mean()) for name, which in (("same", same), ("other", ~same))}
    return means | {"same_class_auc": auc(r, same)}


def k_means(rows: np.ndarray, k: int, restarts: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The best of several k-means++ starts: the labels, and each row's distance to its centre, (N,) both."""
    starts = [kmeans2(rows, k, iter=1, minit="++", seed=rng)[0] for _ in range(restarts)]
    runs = [vq(rows, kmeans(rows, start, thresh=0)[0]) for start in starts]  # kmeans() stops where nothing moves
    return min(runs, key=lambda run: np.square(run[1], dtype=np.float64).sum())


def purity(labels: np.ndarray, y: np.ndarray) -> float:
    """The share of images that are of their cluster's commonest class."""
    return sum(np.bincount(y[labels == c]).max() for c in np.unique(labels)) / len(y)


def described(members: np.ndarray, distance: np.ndarray, x: np.ndarray, y: np.ndarray, mean_T: np.ndarray) -> dict:
    """A cluster: its size, its classes, its mean T by block less that of all, and its most typical images."""
    typical = members[np.argsort(distance[members])[:EXAMPLES]]
    return {
        "size": len(members),
        "classes": np.bincount(y[members], minlength=y.max() + 1).tolist(),
        "mean_T_less_that_of_all": rounded(mean_T[members].mean(axis=0) - mean_T.mean(axis=0), 4),
        "examples": ["".join(f"{int(grey):x}" for grey in x[i] * (GREYS - 1) + 0.5) for i in typical],
        "labels": y[typical].tolist(),
    }


def main(argv=None) -> None:
    e = Experiment("routing", __doc__, BUDGETS, argv)
    trials = fifty_layers.look_into(e, trial)
    record = e.save("an open question of the published program: what does T learn?", summarise(trials), trials)
    print_results(CLAIMS, record)


def summarise(trials: list[dict]) -> dict:
    return {name: mean_sd_n([t[name] for t in trials]) for name in STATISTICS}


CLAIMS = [
    Claim(
        "published program, open",
        "T learns what class an image is of: it tells more than gates drawn at random (by 0.01)",
        values=lambda r: [
            of(r["trials"], f"class_accuracy_from_{name}", data="MNIST") for name in ("gates", "random_gates")
        ],
        ours=shown_in("{} by T, {} by random gates", 4),
        holds=lambda T, random: [above(T, 0.01, less=random)],
    ),
]


if __name__ == "__main__":
    run_and_exit("routing")
