"""What does T learn?  The routes of images through a trained 50-layer net, an open question.

    python -m experiments routing            -> experiments/results/routing.json
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
"""

from __future__ import annotations

from experiments.gates.routing_trial import trial
from experiments.shared_trials.fifty_layer_nets import ON_ALL_SETS, ON_MNIST, look_into
from experiments.shared_trials.fully_connected import CIFAR
from highways.lab.judging.claim import Sample, claim, values_of
from highways.lab.judging.controls import Control
from highways.lab.judging.rules import above, corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import by_data_set
from highways.statistics import mean_sd_n

# pairs: the number of pairs of images that are compared; restarts: the starts of k-means
BUDGETS = {
    "quick": {"pairs": 500, "restarts": 1},
    "default": {"pairs": 20000, "restarts": 5},
}
MARGIN = 0.01  # T tells the class better if it is right more often by more
STATISTICS = (
    "static_variance_share",
    "between_class_variance_share",
    "route_cosine_same_class",
    "route_cosine_other_class",
    "same_class_auc",
    "cluster_purity",
)


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
            share_right = mean_sd_n([trial[accuracy] for trial in trials])
            by_source[source] = {"data": data, "source": source, "class_accuracy": share_right}
        for name in STATISTICS:
            by_source["gates"][name] = mean_sd_n([trial[name] for trial in trials])
            by_source["random gates"][name] = mean_sd_n([trial[f"{name}_random"] for trial in trials])
        by_source["pixels"]["cluster_purity"] = mean_sd_n([trial["cluster_purity_pixels"] for trial in trials])
        result += by_source.values()
    return result


# ---- Claims -------------------------------------------------------------------------------------


def random_gates(record: dict) -> tuple[dict]:
    """Gates of random weights, which see the same states, in the place of those that learned."""
    nets = [{**net, "static_variance_share": net["static_variance_share_random"]} for net in record["trials"]]
    return ({**record, "trials": nets},)


@claim(
    "images-take-different-routes",
    source="paper, 4.1",
    about=ON_ALL_SETS,
    seen=True,
    controls=(Control("a net of random gates", random_gates),),
)
def images_take_different_routes(r):
    """different blocks are used by different images, on MNIST and on CIFAR-100 (over half of T's
    variance in a block lies between images)"""
    comparisons = []
    texts = []
    for data in ("MNIST", CIFAR):
        share = between_images(r, "static_variance_share", data)
        random_share = between_images(r, "static_variance_share_random", data)
        comparisons.append(is_above(share, 0.5))
        texts.append(f"{data} {share:interval}, of random gates {random_share:2}")
    return corrected(*comparisons), f"share of T's variance that lies between images: {'; '.join(texts)}"


def between_images(record: dict, static_share: str, data: str) -> Sample:
    """What is not static: the share of the variance that lies between images."""
    static_shares = values_of(record["trials"], static_share, data=data)
    return Sample([1 - static for static in static_shares], f"share of T's variance between images, {data}")


@claim(
    "gates-tell-the-class",
    kind="open question",
    source="published program, open",
    about=ON_MNIST,
    over=("routing", "fifty_layers"),
    seen=True,
)
def gates_tell_the_class(r, nets):
    """T learns what class an image is of (nearest class mean of T: right more often by over {MARGIN}
    than with random gates; not clear if the nets themselves are not)"""
    by_T = Sample(values_of(r["trials"], "class_accuracy_from_gates"), "accuracy by T")
    by_random = Sample(values_of(r["trials"], "class_accuracy_from_random_gates"), "accuracy by random gates")
    by_net = Sample(values_of(nets["trials"]["final"], "test_accuracy"), "accuracy of the net")
    tells = above(by_T, MARGIN, baseline=by_random)
    has_room = above(by_net, MARGIN, baseline=by_random)
    if tells is False and not has_room:
        tells = None
    return [tells], (
        f"share of images that are right: {by_T:4} by T, {by_random:4} by random gates, {by_net:4} by the nets"
    )


QUESTION = Question(
    name="routing",
    source="an open question of the published program: what does T learn?",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
