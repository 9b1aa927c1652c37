"""What does T learn?  The routes of images through a trained 50-layer net, an open question.

    python -m experiments routing            -> results/routing.json
    python -m experiments routing --data-dir CIFAR-100            # besides MNIST

The published program asks this question, of MNIST.  The paper says of its nets, especially of that
on CIFAR-100, that different images use different blocks.  The route of an image is T of all its
blocks and units.  We look at the nets of the question `fifty_layers`:

- How well does the route tell the class?  A test image is given the class whose centroid, over the
  training images, is nearest.  The accuracy is measured with T of all blocks, the outputs of all
  blocks, the last block's output, and the pixels.
- Are two images of one class routed alike?  We measure the cosine between two routes, each less
  the mean route, and how often a pair of one class is more alike than a pair of two classes
  (AUC).
- Is the route static, or does it depend on the image?  The variance of T in a block, over units
  and images, is split in two.  The static part is the variance of the mean route over the units.
  The rest is the variance over images, which is split again: between classes, and within them.
- What of this did the gates learn?  All is measured again with random gates: W_T and b_T as
  another seed draws them at the start, fed with the same block states.
- What routes are there?  k-means finds ten clusters among the routes of the test images.  Their
  purity is the share of images that belong to their cluster's commonest class.  It is compared
  with that of clusters of the pixels.

CIFAR-100 was added when MNIST's nets had been judged.

Changed after the runs: if T does not tell the class better than random gates by the margin,
0.01, this is a "no" only if there was room for it, that is, if the nets' own accuracy is higher
than that of random gates by more than the margin.  There was none on MNIST: random gates tell
the class as well as the nets.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import highway_networks as hn
from experiments.fifty_layers.question import ON_ALL_SETS, ON_MNIST, by_data_set, look_into
from experiments.fifty_layers.trial import net_of
from highways.lab.judging.claim import CHOSEN_AFTER, Claim, effect_as_text, sample_as_text, values_of
from highways.lab.judging.rules import above, corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected, layer_by_layer
from highways.nets.layer_by_layer import rounded
from highways.nets.measures import auc
from highways.statistics import mean_sd_n

# pairs: the number of pairs of images that are compared; restarts: the starts of k-means
BUDGETS = {
    "quick": {"pairs": 500, "restarts": 1},
    "default": {"pairs": 20000, "restarts": 5},
}
CLUSTERS = 10
MARGIN = 0.01  # T tells the class better if it is right more often by more
EXAMPLES = 8  # the number of images that are kept of each cluster
GREYS = 16  # the number of greys in them; a pixel is a hexadecimal digit
DESCRIBED = 1  # the seed whose clusters are described
OF_ROUTES = (
    "static_variance_share",
    "between_class_variance_share",
    "route_cosine_same_class",
    "route_cosine_other_class",
    "same_class_auc",
    "cluster_purity",
)

# ---- One net ------------------------------------------------------------------------------------


def trial(setting: dict, folder: str) -> dict:
    net = net_of(setting, folder)
    untrained = fully_connected.make({**setting, "seed": setting["seed"] + 1000})
    # accuracies: one for each block, and then one for all blocks together
    of_gates, of_outputs, measured = measure(net, net, setting)
    of_random_gates, _, measured_random = measure(net, untrained, setting)
    *_, of_last_output, of_all_outputs = of_outputs
    of_pixels, purity_of_pixels = measure_pixels(setting)
    result = {
        "class_accuracy_from_gates": of_gates[-1],
        "class_accuracy_from_random_gates": of_random_gates[-1],
        "class_accuracy_from_outputs": of_all_outputs,
        "class_accuracy_from_last_output": of_last_output,
        "class_accuracy_from_pixels": of_pixels,
        "cluster_purity_pixels": purity_of_pixels,
        **measured,
    }
    for name, value in measured_random.items():
        if np.isscalar(value):  # not the lists over blocks
            result[f"{name}_random"] = value
    result["accuracy_gates"] = of_gates
    result["accuracy_random_gates"] = of_random_gates
    result["accuracy_outputs"] = of_outputs
    return result


def measure(net: hn.DeepNet, gates: hn.DeepNet, setting: dict) -> tuple[list, list, dict]:
    """Measures routes: the gates of one net, fed with the states of another or of the same net.

    Returns the two lists of nearest_centroid(), for T and for the outputs, and a dict of the
    rest."""
    images = fully_connected.images_of(setting)
    moments = Moments(net, gates, images.x_train, images.y_train)
    of_gates, of_outputs = nearest_centroid(net, gates, images.x_test, images.y_test, moments)
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
    return of_gates, of_outputs, result


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
    of_commonest = [np.bincount(y[labels == cluster]).max() for cluster in np.unique(labels)]
    return sum(of_commonest) / len(y)


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


def run(runner: Runner) -> list[dict]:
    return look_into(runner, trial)


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each data set and each source that the class of an image is predicted from."""
    result = []
    for data, trials in by_data_set(record["trials"]).items():
        by_source = {}
        for source in ("gates", "random gates", "outputs", "last output", "pixels"):
            accuracy = f"class_accuracy_from_{source.replace(' ', '_')}"
            of_seeds = mean_sd_n([trial[accuracy] for trial in trials])
            by_source[source] = {"data": data, "source": source, "class_accuracy": of_seeds}
        for name in OF_ROUTES:
            by_source["gates"][name] = mean_sd_n([trial[name] for trial in trials])
            by_source["random gates"][name] = mean_sd_n([trial[f"{name}_random"] for trial in trials])
        by_source["pixels"]["cluster_purity"] = mean_sd_n([trial["cluster_purity_pixels"] for trial in trials])
        result += by_source.values()
    return result


# ---- Claims -------------------------------------------------------------------------------------


def measure_between_images(record: dict) -> dict:
    """{data set: {"by_T" and "by_random": the share of T's variance that lies between images}}."""
    measured = {}
    for data in ("MNIST", fully_connected.CIFAR):
        static = values_of(record["trials"], "static_variance_share", data=data)
        static_of_random = values_of(record["trials"], "static_variance_share_random", data=data)
        measured[data] = {
            "by_T": [1 - share for share in static],
            "by_random": [1 - share for share in static_of_random],
        }
    return measured


def between_images_as_text(measured: dict) -> str:
    texts = []
    for data, shares in measured.items():
        texts.append(
            f"{data} {effect_as_text(shares['by_T'])}, of random gates {sample_as_text(shares['by_random'], 2)}"
        )
    return f"share of T's variance that lies between images: {'; '.join(texts)}"


def measure_class(routes_found: dict, nets: dict) -> dict:
    """How often the class is told by T, by random gates, and by the nets themselves."""
    trials = routes_found["trials"]
    return {
        "by_T": values_of(trials, "class_accuracy_from_gates"),
        "by_random": values_of(trials, "class_accuracy_from_random_gates"),
        "by_net": values_of(nets["trials"]["final"], "test_accuracy"),
    }


def tells_the_class(measured: dict) -> list[bool | None]:
    """Whether T is right more often than random gates by over the margin.

    Open where it is not, but even the nets are not right so often."""
    by_random = measured["by_random"]
    tells = above(measured["by_T"], MARGIN, baseline=by_random)
    has_room = above(measured["by_net"], MARGIN, baseline=by_random)
    return [None] if tells is False and not has_room else [tells]


CLAIMS = (
    Claim(
        id="images-take-different-routes",
        source="paper, 4.1",
        says="different blocks are used by different images, on MNIST and on CIFAR-100 (over half of T's variance in "
        "a block lies between images)",
        about=ON_ALL_SETS,
        measure=measure_between_images,
        show=between_images_as_text,
        holds=lambda m: corrected(*(is_above(shares["by_T"], 0.5) for shares in m.values())),
        note=f"{CHOSEN_AFTER}; at first judged on MNIST alone, though the paper says it especially of CIFAR-100",
        passed_by="a net of random gates, which have learned nothing,",
    ),
    Claim(
        id="gates-tell-the-class",
        kind="open question",
        source="published program, open",
        says="T learns what class an image is of (nearest class mean of T: right more often by over "
        f"{MARGIN} than with random gates; not clear if the nets themselves are not)",
        about=ON_MNIST,
        over=("routing", "fifty_layers"),
        measure=measure_class,
        show="share of images that are right: {by_T:4} by T, {by_random:4} by random gates, {by_net:4} by the nets",
        holds=tells_the_class,
        note=f"{CHOSEN_AFTER}: at first it was answered by no, though not even the nets are right so often",
    ),
)

QUESTION = Question(
    name="routing",
    source="an open question of the published program: what does T learn?",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
