"""Does depth make up for width?  Deep and narrow highway nets beside shallow and wide ones.

    python -m experiments depth_for_width            -> experiments/results/depth_for_width.json

The blog says that highway layers "require additional parameters", but that "since we can go
deeper, the layers do not need to be as wide which can compensate".  The paper (section 5) says
that "deep and narrow highway networks can match/exceed the accuracy of wide and shallow maxout
networks"; its nets are convolutional.

Three nets are trained here.  A highway net of 50 layers and width 25 has about as many parameters
as the highway net of 10 layers and width 50 in `blocks`, first and last layer included.  A highway
net of 50 layers and width 22 has about as many parameters in its blocks as that net has in its
own, and a fifth fewer in all.  A maxout net of 3 layers and width 77 has as many as the net of
width 25.  Search, epochs and images are those of `blocks`.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import ALL
from experiments.shared_trials.joined import with_more_seeds
from experiments.shared_trials.matched_blocks import DECAY, GATE_BIASES, MARGIN, RATES
from experiments.shared_trials.search import in_words, log_uniform, over_seeds, ranked, search
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.rules import above, corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"trials": 2, "search_epochs": 1, "epochs": 1, "seeds": 2, **FEW},
    "default": {"trials": 10, "search_epochs": 3, "epochs": 10, "seeds": 10, **ALL},
}
DEEP = ("highway", 25, 49)  # (block, width, depth)
DEEP_AND_NARROWER = ("highway", 22, 49)
WIDE = ("maxout", 77, 2)
TRAINED = (DEEP, DEEP_AND_NARROWER, WIDE)
SHALLOW = ("highway", 50, 9)  # trained in `blocks`
PLAIN = ("plain", 71, 9)  # trained in `blocks`
MAXOUT_RATES = (0.2, 2)  # lr / (1 - momentum), drawn log-uniformly
PIXELS_AND_CLASSES = (784, 10)


def sample(net: tuple[str, int, int], k: int, runner: Runner) -> dict:
    """The k-th setting that the search tries for a net; highway nets alternate tanh and ReLU."""
    block, width, depth = net
    rng = np.random.default_rng([k, depth + 1, width, 8])
    activation = "tanh" if block == "maxout" else ("tanh", "relu")[k % 2]
    rates = MAXOUT_RATES if block == "maxout" else RATES[block][depth][activation]
    setting = {
        "block": block,
        "width": width,
        "depth": depth,
        "activation": activation,
        "effective_lr": hn.four_digits(log_uniform(rng, *rates)),
        "momentum": 0.9,
        "decay": DECAY,
    }
    if block == "highway":
        setting["gate_bias"] = round(rng.uniform(*GATE_BIASES[depth]), 2)
    return setting


def parameters(net: tuple[str, int, int]) -> int:
    """All parameters of a net on MNIST."""
    block, width, depth = net
    return hn.DeepNet(*PIXELS_AND_CLASSES, width, depth, block, 0).parameters.size


def run(runner: Runner) -> dict:
    trials, bests = search(runner, [*TRAINED], sample)
    trials["final"] = fully_connected.run(runner, over_seeds(bests, runner.settings["seeds"]))
    return trials


# ---- Summary -----------------------------------------------------------------------------------


def settings_of(net: tuple[str, int, int]) -> dict:
    block, width, depth = net
    return {"block": block, "width": width, "depth": depth}


def rows(record: dict) -> list[dict]:
    """A row for each net trained here, and one for each net of `blocks`, with its parameters."""
    result = []
    for net in TRAINED:
        final = ranked(record["trials"]["final"], **settings_of(net))
        result.append({
            "row": "net",
            **settings_of(net),
            "parameters": parameters(net),
            "loss": mean_sd_n([trial["loss"] for trial in final]),
            "test_accuracy": mean_sd_n([trial["test_accuracy"] for trial in final]),
            "best": in_words(final[0], ("activation", "effective_lr", "gate_bias")),
        })  # fmt: skip
    for net in (SHALLOW, PLAIN):
        result.append({"row": "net of blocks", **settings_of(net), "parameters": parameters(net)})
    return result


def accuracies(record: dict, net: tuple[str, int, int]) -> Sample:
    block, width, depth = net
    found = values_of(record["trials"]["final"], "test_accuracy", **settings_of(net))
    return Sample(found, f"accuracy, {depth + 1} {block} layers of width {width}")


# ---- Claims ------------------------------------------------------------------------------------


@claim(
    "depth-makes-up-for-width",
    source="blog",
    about=ALL,
    over=("depth_for_width", "blocks", "more_seeds"),
)
def depth_makes_up_for_width(r, blocks, more_seeds):
    """deeper highway nets need not be as wide (the accuracy of 50 layers of width 25, or of width 22,
    is at most {MARGIN} below that of 10 highway layers of width 50; that of 50 layers of width 25 is
    also at most {MARGIN} below that of 10 plain layers, which have a fifth more parameters)"""
    deep = accuracies(r, DEEP)
    narrower = accuracies(r, DEEP_AND_NARROWER)
    all_of_blocks = with_more_seeds(blocks, more_seeds)
    shallow = accuracies(all_of_blocks, SHALLOW)
    plain = accuracies(all_of_blocks, PLAIN)
    parts = corrected(
        is_above(deep, -MARGIN, baseline=shallow),
        is_above(narrower, -MARGIN, baseline=shallow),
        is_above(deep, -MARGIN, baseline=plain),
    )
    return parts, (
        f"width 25 less 10 layers of width 50 {effect_as_text(deep, shallow)}, "
        f"width 22 {effect_as_text(narrower, shallow)}; "
        f"width 25 less plain {effect_as_text(deep, plain)}"
    )


@claim(
    "deep-and-narrow-matches-wide-maxout",
    kind="open question",
    source="paper, 5, open",
    about=ALL,
)
def deep_and_narrow_matches_wide_maxout(r):
    """do deep and narrow highway nets match wide and shallow maxout nets when fully connected, too?
    (the accuracy of 50 highway layers of width 25 is at most {MARGIN} below that of 3 maxout layers
    of width 77)"""
    deep = accuracies(r, DEEP)
    wide = accuracies(r, WIDE)
    return [above(deep, -MARGIN, baseline=wide)], f"highway less maxout {effect_as_text(deep, wide)}"


QUESTION = Question(
    name="depth_for_width",
    source="Highway Networks with TensorFlow (a blog); Training Very Deep Networks, section 5",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
