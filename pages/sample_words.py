"""What pages/claims.html calls the samples that the tests of a claim compare, in words.

A name from the code of a rule is put into words by the table WORDS.  Where the code has no name for
a sample, as in a helper that several rules call, LABELS has the words of all tests of the claim."""

from __future__ import annotations

import re
from itertools import product

WITH_PLACE = re.compile(r"(\w+)(?:\[(\d+)\]| \((.*)\))?")  # "loss", "loss[49]", "loss (depth 49)"
PLACES = {"depth": "{layers} layers", "data": "{value}", "policy": "{value}"}  # of a loop's variables
BY_EPOCH = "-over-training-throughout"  # in these claims a number in brackets is an epoch

LAYERS = (10, 20, 50, 100, 200)
IN_ORDER = ("untrained", "trained")

# {claim: {name in the code of its rule: words}}; "" has the names that mean the same everywhere
WORDS = {
    "": {
        "accuracy": "test accuracy",
        "carry": "accuracy with a carry gate",
        "deep": "accuracy of the deep net",
        "fall": "fall of the loss from first to last epoch",
        "highway": "highway accuracy",
        "lstm": "accuracy of LSTM-like nets",
        "one_layer": "accuracy of one hidden layer",
        "own_rate": "one hidden layer at its own rate",
        "plain": "plain accuracy",
        "residual": "residual accuracy",
    },
    "plain-at-5-and-10": {"at_5": "plain accuracy, depth 5", "at_10": "plain accuracy, depth 10"},
    "lower-layers-more-open": {"lower_minus_upper": "mean T, lower third less upper"},
    "plain-gradient-vanishes": {
        "at_start": "share of the gradient that arrives, untrained",
        "trained": "share of the gradient that arrives, trained",
    },
    "plain-fails-by-saturation": {"part_at_start": "slopes' part of the gradient's fading"},
    "fresh-block-near-identity": {"change": "change by one block, as a share of the input"},
    "fresh-stack-near-identity": {"change": "change by 30 blocks, as a share of the input"},
    "contrast-is-depth-driven": {"shallow": "plain accuracy, depth 5"},
    "most-gates-active-on-average": {
        "mnist": "share of gates with mean T over 0.5, MNIST",
        "cifar": "share of gates with mean T over 0.5, CIFAR-100",
        "opened_mnist": "share open for 1 image in 100, MNIST",
        "opened_cifar": "share open for 1 image in 100, CIFAR-100",
    },
    "sparser-on-cifar": {
        "sparsity_cifar": "sparsity, CIFAR-100",
        "sparsity_mnist": "sparsity, MNIST",
        "mean_T_cifar": "mean T, CIFAR-100",
        "mean_T_mnist": "mean T, MNIST",
        "opened_cifar": "share of gates open, CIFAR-100",
        "opened_mnist": "share of gates open, MNIST",
    },
    "images-take-different-routes": {"share": "share of T's variance between images"},
    "gates-help-beyond-fixed-skips": {"residual": "residual loss", "highway": "highway loss"},
    "plain-degrades-in-400-epochs": {"loss_by_depth": "plain loss"},
    "highway-does-not-degrade-in-400-epochs": {"loss_by_depth": "highway loss"},
    "highway-does-not-degrade": {"loss_by_depth": "highway loss"},
    "highway-no-worse-with-depth": {"loss_by_depth": "highway loss"},
    "two-orders-at-100-in-400-epochs-wide": {"plain": "plain loss", "highway": "highway loss"},
    "plain-reaches-low-loss": {"at_10": "plain loss, 10 layers", "at_20": "plain loss, 20 layers"},
    "plain-degrades": {
        "at_20": "plain loss, 20 layers",
        "at_50": "plain loss, 50 layers",
        "at_100": "plain loss, 100 layers",
    },
    "two-orders-at-100-wide": {"plain": "plain loss", "highway": "highway loss"},
    "most-biases-decreased": {
        "mnist": "share of biases that fell, MNIST",
        "cifar": "share of biases that fell, CIFAR-100",
    },
    "gates-of-one-image-sparse-on-cifar": {"single": "sparsity of one image's gates"},
    "gates-of-one-image-sparse": {
        "mnist": "sparsity, MNIST",
        "cifar": "sparsity, CIFAR-100",
        "at_start": "sparsity before training, MNIST",
    },
    "most-change-in-first-15": {"share": "share of the change in blocks 1 to 15"},
    "negative-biases-make-gates-selective": {
        "with_T": "correlation of bias with mean T",
        "with_selectivity": "correlation of bias with share between images",
    },
    "biases-rise-with-depth-on-cifar": {
        "with_depth": "correlation of bias with depth",
        "with_depth_longer": "correlation of bias with depth, 200 epochs",
        "with_T": "correlation of bias with mean T",
        "with_T_longer": "correlation of bias with mean T, 200 epochs",
    },
    "change-takes-first-40-on-cifar": {
        "share": "share in blocks 1 to 40",
        "share_longer": "share in blocks 1 to 40, 200 epochs",
    },
    "change-takes-longer-on-cifar": {
        "half_cifar": "block of half the change, CIFAR-100",
        "half_mnist": "block of half the change, MNIST",
        "most_cifar": "block of 90 % of it, CIFAR-100",
        "most_mnist": "block of 90 % of it, MNIST",
        "most_cifar_longer": "block of 90 %, CIFAR-100, 200 epochs",
        "most_mnist_longer": "block of 90 %, MNIST, 200 epochs",
    },
    "classes-differ-in-first-15": {
        "squared": "share of squared differences in blocks 1 to 15",
        "not_squared": "share of the differences in blocks 1 to 15",
    },
    "class-differences-on-cifar": {
        "share": "share in blocks 1 to 15, CIFAR-100",
        "share_mnist": "share in blocks 1 to 15, MNIST",
        "share_longer": "share in blocks 1 to 15, CIFAR-100, 200 epochs",
        "share_mnist_longer": "share in blocks 1 to 15, MNIST, 200 epochs",
        "sparsity": "sparsity, CIFAR-100",
        "sparsity_mnist": "sparsity, MNIST",
        "sparsity_longer": "sparsity, CIFAR-100, 200 epochs",
        "sparsity_mnist_longer": "sparsity, MNIST, 200 epochs",
    },
    "early-layers-matter": {
        "early": "share of blocks 1 to 14 that are idle",
        "middle": "share of blocks 15 to 45 that are idle",
    },
    "idle-share": {"share": "share of all blocks that are idle"},
    "more-layers-matter-on-cifar": {"cifar": "idle share, CIFAR-100", "mnist": "idle share, MNIST"},
    "first-40-matter-on-cifar": {"idle": "share of blocks 1 to 40 that are idle"},
    "idle-layers-are-hard-to-get-in-plain-nets": {"idle": "share of a plain net's layers that are idle"},
    "biases-fall-early": {"more": "early biases' fall less the rest's"},
    "a-handful-of-gates-opens": {
        "mnist": "share of early gates open, MNIST",
        "cifar": "share of early gates open, CIFAR-100",
    },
    "coasts-unaltered": {
        "left_mnist": "change left after block 15, MNIST",
        "left_cifar": "change left after block 40, CIFAR-100",
    },
    "biases-fall-early-on-cifar": {
        "more": "early biases' fall less the rest's",
        "more_longer": "early biases' fall less the rest's, 200 epochs",
    },
    "almost-all-gates-active": {
        "mnist": "share of gates open for any image, MNIST",
        "cifar": "share of gates open for any image, CIFAR-100",
    },
    "depth-makes-up-for-width": {
        "deep": "accuracy, 50 layers of width 25",
        "narrower": "accuracy, 50 layers of width 22",
        "shallow": "accuracy, 10 layers of width 50",
        "plain": "accuracy, 10 plain layers",
    },
    "only-15-layers-in-use": {
        "first_alone": "accuracy lost with blocks 1 to 15 alone",
        "no_block": "accuracy lost with no block",
    },
    "middle-gates-select": {
        "first": "share of pairs in the first third",
        "middle": "share of pairs in the middle third",
        "last": "share of pairs in the last third",
    },
    "factors-compound": {
        "trained_100": "product of all 1 − T, 100 layers",
        "trained_200": "product of all 1 − T, 200 layers",
    },
    "gradient-fades": {
        "start_100": "first gradient ÷ last, 100 layers, untrained",
        "trained_100": "first gradient ÷ last, 100 layers, trained",
        "start_200": "first gradient ÷ last, 200 layers, untrained",
        "trained_200": "first gradient ÷ last, 200 layers, trained",
    },
    "effective-depth-differs": {
        "variation": "variation of the effective depth",
        "more": "depth's variation, trained less untrained",
    },
    "effective-depth-differs-on-cifar": {
        "variation": "variation of the effective depth",
        "more": "depth's variation, trained less untrained",
    },
    "gates-open-in-volatile-regimes": {"auc": "AUC of the mean gate, volatile and complex"},
    "mean-gate-tells-turbulence-128": {"auc": "AUC of the mean gate, complex only"},
    "mean-gate-tells-turbulence": {"non_linear": "AUC of the mean gate, complex only"},
    "mean-gate-tells-complexity": {
        "over_volatile": "AUC less that where volatile only",
        "over_norm": "AUC less that of the factors' norm",
    },
    "early-gates-more-open": {"first": "mean T of the first third"},
    "residual-past-1000": {"residual_at_200": "loss at 200 layers", "loss": "loss at 1500 layers"},
    "stable-gradient-at-negative-bias": {"arrives": "share of the gradient that arrives"},
    "one-block-deleted": {
        "cost": "accuracy that the worst block costs, residual",
        "left": "accuracy left without a block, plain",
    },
    "deleting-many-is-smooth": {"step": "cost of the largest step"},
    "reordering-is-smooth": {"step": "cost of the largest step"},
    "gradient-from-short-paths": {
        "direction": "share by short paths, by direction",
        "count": "share by short paths, by count",
    },
    "higher-residual-blocks-refine": {"last": "cosine in the last third", "first": "cosine in the first third"},
    "plain-fails-by-its-start": {
        "glorot": "accuracy, Glorot's start, a fifth of rate",
        "uniform": "accuracy, the program's start, a fifth of rate",
        "glorot_fast": "accuracy, Glorot's start, the whole rate",
    },
    "hundred-layers-train-on-all-of-mnist": {"sgd": "test accuracy under SGD"},
    "gates-tell-the-class": {
        "by_T": "accuracy by T",
        "by_random": "accuracy by random gates",
        "by_net": "accuracy of the net",
    },
    "depth-of-use-past-1000": {"gain": "gain over all blocks closed"},
    "start-matters-less-for-highway": {"differences": "loss's spread, highway less plain"},
    "deep-and-narrow-matches-wide-maxout": {"deep": "deep highway accuracy", "wide": "wide maxout accuracy"},
    "highway-ends-lower": {"plain": "plain loss", "highway": "highway loss"},
    "biases-rise-with-depth-over-training-throughout": {"correlations": "correlation of bias with depth"},
    "biases-against-gates-over-training-throughout": {"correlations": "correlation of bias with mean T"},
    "class-differences-over-training-throughout": {
        "mnist": "share in blocks 1 to 15, MNIST",
        "cifar": "share in blocks 1 to 15, CIFAR-100",
    },
    "struggles-beyond-100-on-mnist": {
        "at_20": "highway loss, 20 layers",
        "at_100": "highway loss, 100 layers",
        "at_200": "highway loss, 200 layers",
        "deep": "accuracy of 1000 layers",
    },
    "worse-beyond-100": {
        "at_20": "highway loss, 20 layers",
        "at_100": "highway loss, 100 layers",
        "at_200": "highway loss, 200 layers",
    },
    "conv-batch-normalisation": {"normalised": "accuracy with batch normalisation", "highway": "accuracy without it"},
    "highway-nets-refine": {
        "without": "share kept without blocks",
        "shuffled": "share kept with blocks shuffled",
        "lag": "lag of the own reader, half-way",
    },
    "highway-nets-behave-like-ensembles": {
        "cost": "accuracy that the worst block costs",
        "deleting": "largest step in deleting",
        "swapping": "largest step in swapping",
        "direction": "share by short paths, by direction",
        "count": "share by short paths, by count",
    },
    "accurate-without-blocks": {
        "shut": "accuracy with shut gates",
        "without": "accuracy without blocks",
        "highway": "accuracy with open gates",
    },
}  # fmt: skip


def loss_beside_plain(kind: str) -> list[list[str]]:
    return [[f"plain loss, {layers} layers", f"{kind} loss, {layers} layers"] for layers in (50, 100)]


def loss_beside_20(kind: str) -> list[list[str]]:
    return [[f"{kind} loss, 20 layers", f"{kind} loss, {layers} layers"] for layers in (50, 100)]


def at_all_depths(words: str) -> list[list[str]]:
    return [[f"{words}, {layers} layers"] for layers in LAYERS]


def over_training(words: str) -> list[list[str]]:
    return [[f"{words}, {when}"] for when in IN_ORDER]


# {claim: for each test the words for its samples, the first one first}
LABELS = {
    "plain-loss-stays": [[f"plain loss after epoch {epoch}"] for epoch in range(1, 13)],
    "relu-plain-trains-at-modest-depth": [
        [f"accuracy, {start} start, depth {depth}"]
        for start, depth in product(("the program's", "He's"), (5, 10, 20))
    ],
    "information-flows-unimpeded": over_training("length half of the directions keep"),
    "residual-path-unattenuated": over_training("length half of the directions keep"),
    "lstm-block-succeeds": [*loss_beside_plain("LSTM-like"), *loss_beside_20("LSTM-like")],
    "maxout-copes-better": loss_beside_plain("maxout"),
    "maxout-suffers-beyond-20": loss_beside_20("maxout"),
    "conv-11-layers-train": [["test accuracy in percent"]],
    "highway-converges-faster": [
        [f"plain epochs to a loss of {loss}, {layers} layers", f"highway epochs to a loss of {loss}, {layers} layers"]
        for layers, loss in product((10, 20, 50, 100), ("0.1", "0.01", "0.001", "10⁻⁴", "10⁻⁵"))
    ],
    "lesions-tell-the-depth-needed": [
        ["training error of 6 blocks, MNIST", "training error of 50 layers, MNIST"],
        ["training error of 15 blocks, CIFAR-100", "training error of 50 layers, CIFAR-100"],
    ],
    "simple-gradient-descent": at_all_depths("log10 of loss unclipped ÷ clipped"),
    "clip-seldom-acts": at_all_depths("share of steps with a clip"),
    "net-shortened-for-certain-inputs": [
        [f"share of late blocks that are passed, {data}"] for data in ("MNIST", "CIFAR-100")
    ],
    "late-gates-close-for-certain-inputs": [
        ["share of late gates that close, MNIST"],
        ["share of late gates that close, MNIST", "share of early ones, MNIST"],
        ["share of late gates that close, CIFAR-100"],
        ["share of late gates that close, CIFAR-100", "share of early ones, CIFAR-100"],
    ],
    "gradient-stronger-through-residual": [
        [f"residual {gradient}, {layers} layers, {when}", f"highway {gradient}, {layers} layers, {when}"]
        for gradient, when, layers in product(("gradient ratio", "first gradient"), IN_ORDER, LAYERS)
    ],
    "residual-blocks-follow-the-gradient": [
        ["mean cosine with −dL/dx"],
        ["mean cosine, trained", "mean cosine, untrained"],
    ],
    "highway-blocks-follow-the-gradient": [
        ["mean cosine with −dL/dx"],
        ["mean cosine, trained", "mean cosine, untrained"],
    ],
    "blocks-refine-the-same-features": [
        [f"{kind} accuracy kept {how}"]
        for how, kind in product(("with blocks shuffled", "half-way"), ("highway", "residual"))
    ],
    "skipping-saves-a-tenth": [
        [f"{what}, {policy}"]
        for policy, what in product(
            ("blocks known beforehand", "blocks by T", "units by T"),
            ("movement saved", "accuracy lost"),
        )
    ],
    "carry-gate-trains": [
        *at_all_depths("accuracy, as many parameters"),
        *at_all_depths("accuracy, width 50"),
    ],
    "trained-nets-need-their-gates": [
        [f"error's rise − 0.01, mean T of {part}, {data}"]
        for data, part in product(("MNIST", "CIFAR-100"), ("unit", "block"))
    ],
    "residual-needs-no-tuned-start": [
        [f"log10 of loss unscaled ÷ scaled, {activation}"] for activation in ("tanh", "ReLU")
    ],
}  # fmt: skip


def labels(claim: str, names: list[list[str]], tests: list[dict]) -> list[list[str]]:
    """For each test the words for its samples; names are those from the code of the claim's rule.

    Raises LookupError for a name without words."""
    if claim in LABELS:
        found = LABELS[claim]
        if len(found) != len(tests):
            raise LookupError(f"{claim} has {len(tests)} tests, and LABELS words for {len(found)}")
        return found
    found = []
    for test, of_test in zip(tests, names, strict=True):
        n = 2 if isinstance(test["baseline"], list) else 1
        if len(of_test) < n:
            raise LookupError(f"{claim} has a test whose samples have no name in its code: give LABELS the words")
        found.append([in_words(claim, name) for name in of_test[:n]])
    return found


def in_words(claim: str, name: str) -> str:
    """A sample's name from the code, in words: "loss[49]" is "loss, 50 layers"."""
    match = WITH_PLACE.fullmatch(name)
    known = {**WORDS[""], **WORDS.get(claim, {})}
    if not match or match[1] not in known:
        raise LookupError(f"{claim} calls a sample {name!r}: give WORDS the words for it")
    words = [known[match[1]]]
    if match[2]:
        number = int(match[2])
        words.append(f"epoch {number}" if claim.endswith(BY_EPOCH) else f"{number + 1} layers")
    for variable in (match[3] or "").split(", "):
        if variable:
            kind, value = variable.split(" ", 1)
            layers = int(value) + 1 if kind == "depth" else None
            words.append(PLACES[kind].format(value=value, layers=layers))
    return ", ".join(words)
