"""Why does Adam explode at 100 layers although its gradient is clipped, and what cures it?

    python -m experiments adam_explodes            -> results/adam_explodes.json

The question full_mnist trains three nets of 100 ReLU highway layers by Adam.  One explodes in
epoch 5, and one has an epoch at a loss of 23.  Here the same nets are trained for 6 epochs, as
they were and with one change at a time: beta2 = 0.99 instead of 0.999; a rate that rises from
0 over the first epoch; a clip of 0.1 instead of 1; a rate of 3e-4 instead of 1e-3; tanh instead
of ReLU.

What follows was written before any run.  An *explosion* is the first batch after the first epoch
whose loss exceeds log 10, the loss of guessing.  Each hypothesis says which statistic should leave
its usual range first (the statistics are listed below), and what should cure it:

1. The memory.  Adam divides by the root of v, its mean of squared gradients over some
   1/(1 - beta2) = 1000 steps, and so undoes whatever scale a clip gives.  If gradients have been
   small for long, v is small, and one ordinary gradient moves a parameter by up to
   lr (1 - beta1) / sqrt(1 - beta2) = 3.2 lr.  First: the surprise, which is the gradient over the
   root of v; it leaves its range before the gradient itself does.  Cure: beta2 = 0.99, which lowers
   that bound to lr.
2. The gradient.  One batch has a gradient far above the usual; clipped to a norm of 1, it still is.
   First: the gradient.  Cure: the lower clip.
3. The start.  v is not known yet.  Cure: the warm-up.  Not expected, since the explosions come
   epochs later.
4. The states.  They have no bound.  Steps of ordinary size in all blocks at once multiply their
   effects on the last state.  First: the state, with all else in its range.  Cure: only smaller
   steps, that is, the lower rate.

A fifth hypothesis was added after the first run (seed 0, nothing changed) and before all others.
In that run gradient and state left their range first, in one batch, at steps of ordinary size.
The gradient of a single image was a million times that of others; its states were a few times as
large as theirs.  So:

5. The gate.  A block's Jacobian (the question jacobian) has the term (H - x) dT/dx.  ReLU states
   have no bound, and where x is large this term stretches; over 99 blocks the gradient of one
   image explodes.  A clip bounds the step that follows, but that one image alone decides the step.
   Cure: tanh, whose states cannot grow.

A *burst* is the first batch after the first epoch with a gradient over 100 times the median of
the last 300.  Its images are ordered by their *stretch*, the largest singular value of the product
of all blocks' Jacobians.  The image with the largest stretch, the worst, is compared with the
median one, block by block: the stretch from the block to the end, the size of the gate's term (its
Frobenius norm over that of I), and the norm of the block's input.  Expected: in every burst the
worst image's stretch is over 10 times the median one's, and its gate's terms and states are larger
in most blocks; with tanh there is no burst.

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

A change is a cure if no seed explodes with it, and if the mean test accuracy is at most 0.005
lower.  The accuracies are compared over those seeds that do not explode even without the change.
Few seeds tell little, so the number of batches above log 10 is reported, too.
"""

from __future__ import annotations

from experiments.figure_1.full_mnist_trial import setting_of
from experiments.why_plain_fails.adam_explodes_trial import GUESSING, OUT_OF_RANGE, trial
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected
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
# a net was calm before its burst if the usual gradient is below this; chosen after looking
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
    source="results/full_mnist.json: one seed of three",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
