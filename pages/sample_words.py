"""What pages/claims.html calls the samples that the tests of a claim compare, in words."""

from __future__ import annotations

from itertools import product

from experiments.depth_on_demand import show as depth_on_demand
from experiments.which_carry import show as which_carry

DATA = ("MNIST", "CIFAR-100")
WHEN = ("untrained", "trained")
KINDS_OF_DEPTH = [depth_on_demand.NAMES[kind] for kind in depth_on_demand.NAMES if kind != depth_on_demand.FULL]
CARRIES = [which_carry.NAMES[kind] for kind in which_carry.NAMES if kind != which_carry.SEES_X]
DEPTH_FOLLOWS = [
    ["delay by one more step, as a share of the depth"],
    ["delay by one more step, trained", "delay by one more step, untrained"],
    ["delay by one more step, highway", "delay by one more step, residual"],
]
EPOCHS = [f"epoch {epoch}" for epoch in (6, 12, 25, 50, 100, 200)]


def at(places, *samples: str) -> list[list[str]]:
    """A test of these samples at each place."""
    return [[f"{sample}, {place}" for sample in samples] for place in places]


def at_depths(*samples: str, depths=(10, 20, 50, 100, 200)) -> list[list[str]]:
    """A test of these samples at each depth."""
    return at([f"{depth} layers" for depth in depths], *samples)


def beside(sample: str, deep, shallow) -> list[list[str]]:
    """A test of each deep net beside each shallow one."""
    return [[f"{sample}, {more} layers", f"{sample}, {fewer} layers"] for more, fewer in product(deep, shallow)]


# {claim: the words for the samples of each of its tests}, as the page tells them: the second is what the first is
# compared with
SAMPLES = {
    # ---- the training error and the accuracy
    "highway-learns-plain-does-not": [["highway accuracy"], ["plain accuracy"]],
    "contrast-is-depth-driven": [["plain accuracy"], ["highway accuracy"], ["plain accuracy, depth 5"]],
    "plain-loss-stays": [[f"plain loss after epoch {epoch}"] for epoch in range(1, 13)],
    "plain-at-5-and-10": [["plain accuracy, depth 5"], ["plain accuracy, depth 5", "plain accuracy, depth 10"]],
    "relu-plain-trains-at-modest-depth": [
        *at(("depth 5", "depth 10", "depth 20"), "accuracy, the program's start"),
        *at(("depth 5", "depth 10", "depth 20"), "accuracy, He's start"),
    ],
    "plain-fails-by-its-start": [
        ["accuracy, Glorot's start, a fifth of rate"],
        ["accuracy, the program's start, a fifth of rate"],
        ["accuracy, Glorot's start, the whole rate"],
    ],
    "best-start-two-orders": [["plain loss", "highway loss"]],
    "best-start-no-degradation": [
        *beside("highway loss", [50], [10, 20]),
        *beside("plain loss", [50], [20]),
        *beside("highway loss", [100], [10, 20]),
        *beside("plain loss", [100], [20]),
    ],
    "best-start-plain-is-worse": at_depths("plain loss", "highway loss", depths=(10, 20, 50, 100)),
    "best-start-without-clip": at(("highway", "plain"), "log10 of loss unclipped ÷ clipped"),
    "start-matters-less-for-highway": at_depths("loss's spread, highway less plain", depths=(10, 30, 100)),
    "generalises-at-every-depth": beside("highway accuracy", [50, 100, 200], [10, 20]),
    "highway-converges-faster": [
        [f"plain epochs to a loss of {loss}, {layers} layers", f"highway epochs to a loss of {loss}, {layers} layers"]
        for layers, loss in product((10, 20, 50, 100), ("0.1", "0.01", "0.001", "10⁻⁴", "10⁻⁵"))
    ],
    "highway-ends-lower": at_depths("highway loss", "plain loss", depths=(10, 20, 50, 100)),
    "plain-reaches-low-loss": at_depths("plain loss", depths=(10, 20)),
    "plain-degrades": beside("plain loss", [50, 100], [20]),
    "plain-degrades-in-400-epochs": beside("plain loss", [50, 100], [20]),
    "highway-does-not-degrade": beside("highway loss", [50, 100], [10, 20]),
    "highway-does-not-degrade-in-400-epochs": beside("highway loss", [50, 100], [10, 20]),
    "highway-no-worse-with-depth": beside("highway loss", [50, 100], [10, 20]),
    "worse-beyond-100": beside("highway loss", [100, 200], [20]),
    "struggles-beyond-100-on-mnist": [
        *beside("highway loss", [100, 200], [20]),
        ["accuracy of one hidden layer", "accuracy of 1000 layers"],
        ["one hidden layer at its own rate", "accuracy of 1000 layers"],
    ],
    "two-orders-at-100-wide": [["plain loss", "highway loss"]],
    "two-orders-at-100-in-400-epochs-wide": [["plain loss", "highway loss"]],
    "hundred-layers-train-on-all-of-mnist": [["test accuracy under SGD"]],
    "sgd-does-not-stall": [["fall of the loss from first to last epoch"], ["test accuracy"]],
    "sgd-does-not-stall-past-1000": [["fall of the loss from first to last epoch"], ["test accuracy"]],
    "residual-past-1000": [["test accuracy"], ["loss at 1500 layers", "loss at 200 layers"]],
    "depth-of-use-past-1000": [["gain over all blocks closed"], ["test accuracy", "accuracy of one hidden layer"]],
    "depth-is-of-use": [
        ["accuracy of the deep net", "accuracy of one hidden layer"],
        ["accuracy of the deep net", "one hidden layer at its own rate"],
    ],
    "depth-makes-up-for-width": [
        ["accuracy, 50 layers of width 25", "accuracy, 10 layers of width 50"],
        ["accuracy, 50 layers of width 22", "accuracy, 10 layers of width 50"],
        ["accuracy, 50 layers of width 25", "accuracy, 10 plain layers"],
    ],
    "lesions-tell-the-depth-needed": [
        ["training error of 6 blocks, MNIST", "training error of 50 layers, MNIST"],
        ["training error of 15 blocks, CIFAR-100", "training error of 50 layers, CIFAR-100"],
    ],
    "simple-gradient-descent": at_depths("log10 of loss unclipped ÷ clipped"),
    "clip-seldom-acts": at_depths("share of steps with a clip"),
    "blog-plain-20": [["test accuracy"]],
    "blog-highway-much-better": [["highway accuracy", "plain accuracy"]],
    "blog-1000-layers": [["test accuracy"]],
    "conv-11-layers-train": [["test accuracy in percent"]],
    "conv-batch-normalisation": [["accuracy with batch normalisation", "accuracy without it"]],
    # ---- other blocks
    "gates-help-beyond-fixed-skips": at_depths("highway loss", "residual loss"),
    "residual-half-parameters": at_depths("residual accuracy", "highway accuracy"),
    "residual-better": at_depths("residual accuracy", "highway accuracy"),
    "residual-needs-no-tuned-start": at(("tanh", "ReLU"), "log10 of loss unscaled ÷ scaled"),
    "maxout-copes-better": at_depths("maxout loss", "plain loss", depths=(50, 100)),
    "maxout-suffers-beyond-20": beside("maxout loss", [50, 100], [20]),
    "deep-and-narrow-matches-wide-maxout": [["deep highway accuracy", "wide maxout accuracy"]],
    "lstm-block-succeeds": [
        *at_depths("LSTM-like loss", "plain loss", depths=(50, 100)),
        *beside("LSTM-like loss", [50, 100], [20]),
    ],
    "lstm-as-good-as-highway": at_depths("accuracy of LSTM-like nets", "highway accuracy", depths=(10, 20, 50, 100)),
    "carry-gate-not-needed": at_depths("highway accuracy", "accuracy with a carry gate"),
    "carry-gate-trains": [*at_depths("accuracy, as many parameters"), *at_depths("accuracy, width 50")],
    # ---- what arrives: the signal and its gradient
    "plain-gradient-vanishes": at(WHEN, "share of the gradient that arrives"),
    "plain-fails-by-saturation": [["slopes' part of the gradient's fading"]],
    "stable-gradient-at-negative-bias": [["share of the gradient that arrives"]],
    "fresh-block-near-identity": [["change by one block, as a share of the input"]],
    "fresh-stack-near-identity": [["change by 30 blocks, as a share of the input"]],
    "information-flows-unimpeded": at(WHEN, "length half of the directions keep"),
    "residual-path-unattenuated": at(WHEN, "length half of the directions keep"),
    "factors-compound": at_depths("product of all 1 − T", depths=(100, 200)),
    "gradient-fades": [
        *at(WHEN, "first gradient ÷ last, 100 layers"),
        *at(WHEN, "first gradient ÷ last, 200 layers"),
    ],
    "gradient-stronger-through-residual": [
        [f"highway {gradient}, {layers} layers, {when}", f"residual {gradient}, {layers} layers, {when}"]
        for gradient, when, layers in product(("gradient ratio", "first gradient"), WHEN, (10, 20, 50, 100, 200))
    ],
    "gradient-from-short-paths": [["share by short paths, by direction"], ["share by short paths, by count"]],
    # ---- gates and biases
    "lower-layers-more-open": [["mean T, lower third less upper"]],
    "early-gates-more-open": at(DATA, "mean T of the first third"),
    "most-gates-active-on-average": [
        *at(DATA, "share of gates with mean T over 0.5"),
        *at(DATA, "share open for 1 image in 100"),
    ],
    "almost-all-gates-active": at(DATA, "share of gates open for any image"),
    "a-handful-of-gates-opens": at(DATA, "share of early gates open"),
    "sparser-on-cifar": [
        ["sparsity, CIFAR-100", "sparsity, MNIST"],
        ["mean T, CIFAR-100", "mean T, MNIST"],
        ["share of gates open, CIFAR-100", "share of gates open, MNIST"],
    ],
    "gates-of-one-image-sparse": [
        ["sparsity, MNIST", "sparsity before training, MNIST"],
        ["sparsity, CIFAR-100", "sparsity, MNIST"],
    ],
    "gates-of-one-image-sparse-on-cifar": [["sparsity of one image's gates"]],
    "images-take-different-routes": at(DATA, "share of T's variance between images"),
    "trained-nets-need-their-gates": [
        [f"error's rise − 0.01, mean T of {part}, {data}"] for data, part in product(DATA, ("unit", "block"))
    ],
    "accurate-without-blocks": [
        ["accuracy with shut gates", "accuracy with open gates"],
        ["accuracy without blocks", "accuracy with open gates"],
    ],
    "gates-tell-the-class": [
        ["accuracy by T", "accuracy by random gates"],
        ["accuracy of the net", "accuracy by random gates"],
    ],
    "middle-gates-select": [
        [f"share of pairs in the {third} third, {data}" for third in thirds]
        for data, thirds in product(DATA, (["middle"], ["middle", "first"], ["middle", "last"]))
    ],
    "late-gates-close-for-certain-inputs": [
        ["share of late gates that close, MNIST"],
        ["share of late gates that close, MNIST", "share of early ones, MNIST"],
        ["share of late gates that close, CIFAR-100"],
        ["share of late gates that close, CIFAR-100", "share of early ones, CIFAR-100"],
    ],
    "most-biases-decreased": at(DATA, "share of biases that fell"),
    "biases-fall-early": [["early biases' fall less the rest's"]],
    "biases-fall-early-on-cifar": [
        ["early biases' fall less the rest's"],
        ["early biases' fall less the rest's, 200 epochs"],
    ],
    "negative-biases-make-gates-selective": [
        ["correlation of bias with mean T"],
        ["correlation of bias with share between images"],
    ],
    "biases-rise-with-depth-on-cifar": [
        ["correlation of bias with depth"],
        ["correlation of bias with depth, 200 epochs"],
        ["correlation of bias with mean T"],
        ["correlation of bias with mean T, 200 epochs"],
    ],
    "biases-rise-with-depth-over-training-throughout": at(EPOCHS, "correlation of bias with depth"),
    "biases-against-gates-over-training-throughout": at(EPOCHS, "correlation of bias with mean T"),
    "gates-open-in-volatile-regimes": [["AUC of the mean gate, volatile and complex"]],
    "mean-gate-tells-turbulence": [["AUC of the mean gate, complex only"], ["AUC of the mean gate, complex only"]],
    "mean-gate-tells-turbulence-128": [["AUC of the mean gate, complex only"], ["AUC of the mean gate, complex only"]],
    "mean-gate-tells-complexity": [["AUC less that where volatile only"], ["AUC less that of the factors' norm"]],
    # ---- where the blocks change what they are given
    "most-change-in-first-15": [
        ["share of the change in blocks 1 to 15"],
        ["share of the change in blocks 1 to 15"],
    ],
    "coasts-unaltered": [["change left after block 15, MNIST"], ["change left after block 40, CIFAR-100"]],
    "change-takes-first-40-on-cifar": [
        ["share in blocks 1 to 40"],
        ["share in blocks 1 to 40, 200 epochs"],
        ["share in blocks 1 to 40"],
        ["share in blocks 1 to 40, 200 epochs"],
    ],
    "change-takes-longer-on-cifar": [
        ["block of half the change, CIFAR-100", "block of half the change, MNIST"],
        ["block of 90 % of it, CIFAR-100", "block of 90 % of it, MNIST"],
        ["block of 90 %, CIFAR-100, 200 epochs", "block of 90 %, MNIST, 200 epochs"],
    ],
    "classes-differ-in-first-15": [
        ["share of squared differences in blocks 1 to 15"],
        ["share of the differences in blocks 1 to 15"],
    ],
    "class-differences-on-cifar": [
        ["share in blocks 1 to 15, MNIST", "share in blocks 1 to 15, CIFAR-100"],
        ["share in blocks 1 to 15, CIFAR-100"],
        ["share in blocks 1 to 15, MNIST, 200 epochs", "share in blocks 1 to 15, CIFAR-100, 200 epochs"],
        ["share in blocks 1 to 15, CIFAR-100, 200 epochs"],
        ["sparsity, CIFAR-100", "sparsity, MNIST"],
        ["sparsity, CIFAR-100, 200 epochs", "sparsity, MNIST, 200 epochs"],
    ],
    "class-differences-over-training-throughout": at(
        EPOCHS, "share in blocks 1 to 15, MNIST", "share in blocks 1 to 15, CIFAR-100"
    ),
    # ---- what the net loses without blocks
    "early-layers-matter": [["share of blocks 1 to 14 that are idle"], ["share of blocks 15 to 45 that are idle"]],
    "first-40-matter-on-cifar": [["share of blocks 1 to 40 that are idle"]],
    "idle-share": [["share of all blocks that are idle"]],
    "more-layers-matter-on-cifar": [["idle share, CIFAR-100", "idle share, MNIST"]],
    "idle-layers-are-hard-to-get-in-plain-nets": [["share of a plain net's layers that are idle"]],
    "only-15-layers-in-use": [["accuracy lost with blocks 1 to 15 alone"], ["accuracy lost with no block"]],
    "one-block-deleted": [
        ["accuracy that the worst block costs, residual"],
        ["accuracy left without a block, plain"],
    ],
    "deleting-many-is-smooth": [["cost of the largest step"]],
    "reordering-is-smooth": [["cost of the largest step"]],
    "net-shortened-for-certain-inputs": at(DATA, "share of late blocks that are passed"),
    "skipping-saves-a-tenth": [
        [f"{what}, {policy}"]
        for policy, what in product(
            ("blocks known beforehand", "blocks by T", "units by T"),
            ("movement saved", "accuracy lost"),
        )
    ],
    "effective-depth-differs": [["depth's variation, trained less untrained"], ["variation of the effective depth"]],
    "effective-depth-differs-on-cifar": [
        ["depth's variation, trained less untrained"],
        ["variation of the effective depth"],
    ],
    # ---- whether blocks refine
    "blocks-refine-the-same-features": [
        ["highway accuracy kept with blocks shuffled"],
        ["residual accuracy kept with blocks shuffled"],
        ["highway accuracy kept half-way"],
        ["residual accuracy kept half-way"],
    ],
    "residual-blocks-follow-the-gradient": [
        ["mean cosine with −dL/dx"],
        ["mean cosine, trained", "mean cosine, untrained"],
    ],
    "highway-blocks-follow-the-gradient": [
        ["mean cosine with −dL/dx"],
        ["mean cosine, trained", "mean cosine, untrained"],
    ],
    "higher-residual-blocks-refine": [["cosine in the last third", "cosine in the first third"]],
    "highway-nets-refine": [
        ["share kept without blocks"],
        ["share kept with blocks shuffled"],
        ["lag of the own reader, half-way"],
    ],
    "highway-nets-behave-like-ensembles": [
        ["accuracy that the worst block costs"],
        ["largest step in deleting"],
        ["largest step in swapping"],
        ["share by short paths, by direction"],
        ["share by short paths, by count"],
    ],
    # ---- the primary claims
    "primary-thirty-layers": [["highway accuracy"], ["plain accuracy"]],
    "primary-two-orders": [["plain loss", "highway loss"]],
    "primary-no-degradation": [
        *beside("highway loss", [50], [10, 20]),
        *beside("plain loss", [50], [20]),
        *beside("highway loss", [100], [10, 20]),
        *beside("plain loss", [100], [20]),
    ],
    "primary-past-1000": [
        ["fall of the loss from first to last epoch"],
        ["test accuracy"],
        ["accuracy that closing all blocks costs"],
        ["test accuracy", "accuracy of one hidden layer"],
    ],
    "primary-gate-bias": [
        *[[f"loss, b_T = {bias}, {layers} layers"] for layers, bias in product((30, 100), ("2", "0", "−10", "−20"))],
        *[["accuracy less than at the best b_T, 30 layers"]] * 5,
        *[["accuracy less than at the best b_T, 100 layers"]] * 5,
    ],
    "primary-idle-layers": [
        ["share of idle blocks, MNIST"],
        ["share of idle blocks, MNIST"],
        ["share idle of the first 40, CIFAR-100"],
    ],
    "primary-biases": [
        *at(DATA, "share of biases that fall"),
        ["correlation of b_T with depth, CIFAR-100"],
        ["correlation of b_T with mean T, CIFAR-100"],
        ["mean T, first third less last"],
    ],
    "primary-gates-see-x": [
        [f"{sample}, {data}"]
        for data, sample in product(DATA, ("rise of the error", "log10 of loss static ÷ highway", "accuracy lost"))
    ],
    # ---- problems of known depth
    "seeing-x-helps-where-depth-is-needed": [
        [f"highway accuracy, {task}", f"accuracy of {kind}, {task}"]
        for task, kind in product(("pointers", "rule 30"), KINDS_OF_DEPTH)
    ],
    "depth-in-use-follows-pointers": DEPTH_FOLLOWS,
    "depth-in-use-follows-rule-30": DEPTH_FOLLOWS,
    "depth-of-residual-nets-does-not-adapt": at(("pointers", "rule 30"), "delay by one more step"),
    "depth-in-use-follows-unseen-k": [
        *at(("pointers",), "blocks later than k − 1"),
        *at(("pointers",), "blocks earlier than k + 1"),
        *at(("rule 30",), "blocks later than k − 1"),
        *at(("rule 30",), "blocks earlier than k + 1"),
    ],
    "gates-see-more-than-k": at(("pointers", "rule 30"), "accuracy that T's mean costs"),
    # ---- carries where all train
    "sees-x-fits-better": [
        [f"highway loss, {depth} blocks", f"loss of {kind}, {depth} blocks"]
        for depth, kind in product((30, 100), CARRIES)
    ],
}


def words_of(claim: str, tests: list[dict]) -> list[list[str]]:
    """For each test of a claim the words for its samples; none for a claim that is not tested yet.

    Raises LookupError if SAMPLES lacks them."""
    if not tests:
        return []
    found = SAMPLES.get(claim, [])
    wanted = [2 if isinstance(test["baseline"], list) else 1 for test in tests]
    if [len(samples) for samples in found] != wanted:
        raise LookupError(f"{claim} has tests of {wanted} samples: give SAMPLES the words for each")
    return found
