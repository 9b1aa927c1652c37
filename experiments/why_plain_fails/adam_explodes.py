"""Why does Adam explode at 100 layers although its gradient is clipped, and what cures it?

    python -m experiments adam_explodes            -> experiments/results/adam_explodes.json

The question full_mnist trains three nets of 100 ReLU highway layers by Adam, and one explodes.
Here the same nets are trained for 6 epochs, as they were and with one change at a time.  RULES.md
has the hypotheses.

An *explosion* is the first batch after the first epoch whose loss exceeds log 10, the loss of
guessing.  A *burst* is the first batch after the first epoch with a gradient over 100 times the
median of the last 300.  Its images are ordered by their *stretch*, the largest singular value of the
product of all blocks' Jacobians.  The image with the largest stretch, the worst, is compared with
the median one, block by block: the stretch from the block to the end, the size of the gate's term
(its Frobenius norm over that of I), and the norm of the block's input.

Statistics of every step and layer (the first layer, the blocks, the output), in the order in
which a step computes them:

    state       the largest |y| over units and images; the output has none
    gradient    the norm of the gradient, not clipped yet
    surprise    the norm of the clipped gradient over the root of the sum of v (bias-corrected) before this step
    step        the norm of the parameters' change over that of the parameters
    parameters  their norm, after the step

A statistic of a layer is out of range if it is more than twice its largest value in the steps 350
to 50 before the explosion.  Its onset is the first of the last 50 steps in which it is out of
range.  The statistic with the earliest onset left its range first.  If two have the same onset, the
one higher in the list above counts as first.  If two layers have the same onset, the layer that is
further out of range counts.
"""

from __future__ import annotations

from experiments.shared_trials import fully_connected
from experiments.shared_trials.hundred_layer_nets import setting_of
from experiments.why_plain_fails.adam_explodes_trial import GUESSING, OUT_OF_RANGE, trial
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"depth": 9, "epochs": 2, "seeds": 2, "calm": 2, "last": 2, "n_train": 640, "n_test": 200},
    "default": {"depth": 99, "epochs": 6, "seeds": 3, "calm": 300, "last": 50, **fully_connected.ALL},
}
RATE = 1e-3  # a short run of full_mnist selected it
UNCHANGED = "as it was"
CHANGES = {
    UNCHANGED: {},
    "beta2 0.99": {"beta2": 0.99},
    "warm-up": {"warm_up": 1},
    "clip 0.1": {"clip": 0.1},
    "rate 3e-4": {"lr": 3e-4},
    "tanh": {"activation": "tanh"},
}
# a net was calm before its burst if the usual gradient is below this
USUAL_BELOW = 10


def run(runner: Runner) -> list[dict]:
    budget = runner.settings
    common = {"lr": RATE, "beta2": 0.999, "warm_up": 0, "calm": budget["calm"], "last": budget["last"]}
    wanted = [
        setting_of(budget, **{**common, **change}, change=name, seed=seed)
        for seed in range(budget["seeds"])
        for name, change in CHANGES.items()
    ]
    return fully_connected.run(runner, wanted, trial)


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, and a row for each change."""
    definitions = {
        "row": "definitions",
        "guessing": GUESSING,
        "out_of_range": OUT_OF_RANGE,
        "usual_norm_below": USUAL_BELOW,
    }
    result = [definitions]
    unchanged = [trial for trial in record["trials"] if trial["change"] == UNCHANGED]
    for change in CHANGES:
        trials = [trial for trial in record["trials"] if trial["change"] == change]
        result.append({"change": change, **summed_up(trials, unchanged)})
    return result


def summed_up(trials: list[dict], unchanged: list[dict]) -> dict:
    """The numbers of one change, over all seeds; accuracy and loss also over the seeds that explode
    neither with the change nor without it."""
    exploded = {trial["seed"] for trial in trials + unchanged if trial["explosion"]}
    calm = [trial for trial in trials if trial["seed"] not in exploded]
    largest = [trial["largest_batch_loss"] for trial in trials]
    row = {
        "exploded": sum(trial["explosion"] is not None for trial in trials),
        "batches_above_guessing": sum(trial["batches_above_guessing"] for trial in trials),
        "largest_batch_loss": None if None in largest else max(largest),
        "share_clipped": mean_sd_n([trial["share_clipped"] for trial in trials]),
    }
    for name in ("test_accuracy", "loss"):
        row[name] = mean_sd_n([trial[name] for trial in trials])
        row[f"{name}_where_none_exploded"] = mean_sd_n([trial[name] for trial in calm])
    bursts = [trial["burst"] for trial in trials if trial["burst"]]
    row["bursts"] = len(bursts)
    for image in ("worst", "median"):
        row[f"stretch_of_{image}"] = mean_sd_n([burst[image]["stretch"][0] for burst in bursts])
    return row


QUESTION = Question(
    name="adam_explodes",
    source="experiments/results/full_mnist.json: one seed of three",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
