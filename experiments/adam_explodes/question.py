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

import math

import numpy as np

import highway_networks as hn
from experiments.full_mnist import trial as full_mnist
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected, jacobians, layer_by_layer
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"layers": 10, "epochs": 2, "seeds": 2, "calm": 2, "last": 2, "n_train": 640, "n_test": 200},
    "default": {"layers": 100, "epochs": 6, "seeds": 3, "calm": 300, "last": 50, **fully_connected.ALL},
}
RATE = 1e-3  # a short run of full_mnist selected it
UNCHANGED = "as it was"
CHANGES = {
    UNCHANGED: {},
    "beta2 0.99": {"beta2": 0.99},
    "warm-up": {"warm_up": 1},
    "clip 0.1": {"clip": 0.1},
    "rate 3e-4": {"rate": 3e-4},
    "tanh": {"activation": "tanh"},
}
STATISTICS = ("state", "gradient", "surprise", "step", "parameters")
GUESSING = math.log(10)  # the loss of guessing; a batch above it is an explosion
OUT_OF_RANGE = 2  # times the largest value in the calm steps
AFTER = 10  # the number of steps kept after an explosion
TENTHS = 10  # the parts of an epoch; the largest batch loss of each is kept
BURST = 100  # times the usual gradient
BEFORE = 300  # the usual gradient is the median over this many steps before
# a net was calm before its burst if the usual gradient is below this; chosen after looking
USUAL_BELOW = 10

# ---- Adam, watched ------------------------------------------------------------------------------


class WatchedAdam(hn.Adam):
    """Adam that keeps the statistics of every step; its rate rises from 0 over `warm_up` epochs.

    of_layers   for every step the five STATISTICS, of every layer: (STATISTICS, layers + 1)
    of_net      for every step the gradient's norm, the root of the sum of v, and the largest change
                of a parameter over the rate
    burst       when the first burst was, and what look() saw in its batch, or None
    """

    def __init__(self, net: hn.DeepNet, setting: dict, steps: int):
        decay = setting["decay"] ** (1 / steps)
        super().__init__(net.parameters, setting["rate"], setting["clip"], beta2=setting["beta2"], decay=decay)
        self.net = net
        self.steps = steps  # steps in an epoch
        self.warm_up = setting["warm_up"] * steps
        self.of_layers = []
        self.of_net = []
        self.burst = None
        sizes = [net.W_in.size + net.b_in.size]
        sizes += [block.size for block in net._blocks]
        self.starts = np.cumsum([0, *sizes])  # where every layer's parameters begin
        self.before = np.empty(len(net.parameters), net.dtype)  # the parameters before a step
        self.squares = np.empty(len(net.parameters), net.dtype)

    def norms(self, vector: np.ndarray) -> np.ndarray:
        """(n_parameters,) -> the L2 norm of each layer's part (layers + 1,)."""
        return np.sqrt(self.sums(np.square(vector, self.squares)))

    def sums(self, vector: np.ndarray) -> np.ndarray:
        """(n_parameters,) -> the sum of each layer's part (layers + 1,)."""
        return np.add.reduceat(vector, self.starts).astype(np.float64)

    def step(self, gradient):
        np.copyto(self.before, self.parameters)
        # the sum of v over each layer; hn.Adam keeps v without 1 - beta2 and bias correction
        v = self.sums(self.v) * (1 - self.beta2) / max(1 - self.beta2**self.t, 1e-30)
        # (layers, hidden, batch), without the row of ones
        states = self.net.workspace(fully_connected.BATCH, "train").states[:, :-1]
        largest_states = np.maximum(states.max(axis=(1, 2)), -states.min(axis=(1, 2)))
        self.look_for_burst(math.sqrt(np.dot(gradient, gradient)))

        norm = super().step(gradient)
        sizes = self.norms(self.before)
        moved = np.subtract(self.parameters, self.before, out=self.before)
        gradients = self.norms(gradient)
        scale_of_clip = min(1, self.clip / norm)
        surprise = scale_of_clip * gradients / np.sqrt(v) if self.t > 1 else np.zeros(len(v))
        steps = self.norms(moved) / sizes
        self.of_layers.append([[*largest_states, 0], gradients, surprise, steps, self.norms(self.parameters)])
        self.of_net.append([norm, math.sqrt(v.sum()), max(moved.max(), -moved.min()) / self.lr])
        return norm

    def _update(self, gradient, scale):
        rate = self.lr
        if self.warm_up:
            self.lr = rate * min(1, (self.t + 1) / self.warm_up)
        super()._update(gradient, scale)
        self.lr = rate

    def look_for_burst(self, norm: float) -> None:
        """Keeps the first burst after the first epoch; `norm` is that of the gradient."""
        if self.burst or self.t < self.steps or not math.isfinite(norm):
            return
        usual = float(np.median([norm_before for norm_before, *_ in self.of_net[-BEFORE:]]))
        if norm > BURST * usual:
            self.burst = {
                "epoch": self.t // self.steps + 1,
                "step": self.t % self.steps + 1,
                "gradient_norm": three_digits(norm),
                "usual_norm": three_digits(usual),
                **self.look(),
            }

    def look(self) -> dict:
        """Compares the image of the last batch with the largest stretch, "worst", and the "median" one.

        A list has an entry for each block: the stretch from the block to the end, the size of the
        gate's term, the norm of the block's input."""
        net = layer_by_layer.in_dtype(self.net, np.float64)
        x = self.net.workspace(fully_connected.BATCH, "train").states[0, :-1].T.astype(np.float64)
        order = stretches_of_net(net, x).argsort()
        worst_and_median = x[order[[-1, len(order) // 2]]]
        inputs = []
        gate_terms = []
        jacobians_of_blocks = []
        for layer, _, state, _ in layer_by_layer.walk(net, worst_and_median):
            terms = jacobians.by_formula(net, layer, state)
            inputs.append(np.linalg.norm(state, axis=1))
            gate_terms.append(np.linalg.norm(terms["gate"], axis=(1, 2)) / net.hidden**0.5)
            jacobians_of_blocks.append(sum(terms.values()))

        to_the_end = np.eye(net.hidden)
        stretches = []
        for J in reversed(jacobians_of_blocks):
            to_the_end = to_the_end @ J
            stretches.insert(0, np.linalg.norm(to_the_end, 2, axis=(1, 2)))
        seen = {}
        for place, image in enumerate(("worst", "median")):
            seen[image] = {
                "stretch": three_digits([of_images[place] for of_images in stretches]),
                "gate_term": three_digits([of_images[place] for of_images in gate_terms]),
                "state": three_digits([of_images[place] for of_images in inputs]),
            }
        return seen


def stretches_of_net(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """x (N, hidden), the first block's input -> the stretch of each image by all blocks (N,)."""
    whole = np.eye(net.hidden)
    for layer, _, state, _ in layer_by_layer.walk(net, x):
        whole = sum(jacobians.by_formula(net, layer, state).values()) @ whole
    return np.linalg.norm(whole, 2, axis=(1, 2))


# ---- A trial ------------------------------------------------------------------------------------


def trial(setting: dict) -> dict:
    """fully_connected.train() with a WatchedAdam."""
    images = fully_connected.images_of(setting)
    x = images.x_train
    y = images.y_train
    net = fully_connected.make(setting)
    shuffle = np.random.default_rng([setting["seed"], 1])
    steps = len(x) // fully_connected.BATCH
    batch_losses = []

    def loss(logits, labels):
        result = hn.softmax_cross_entropy(logits, labels)
        batch_losses.append(float(result[0]))
        return result

    optimizer = WatchedAdam(net, setting, steps)
    orders = (shuffle.permutation(len(x)) for _ in range(setting["epochs"]))
    rows, diverged = hn.train_epochs(net, optimizer, x, y, orders, fully_connected.BATCH, loss=loss)
    results = fully_connected.results_of(net, setting, fully_connected.losses_of(rows), diverged)

    later = batch_losses[steps:]  # after the first epoch
    # not <=, so that NaN counts as an explosion
    exploding = [k for k in range(steps, len(batch_losses)) if not batch_losses[k] <= GUESSING]
    clipped = [norm > setting["clip"] for norm, *_ in optimizer.of_net[steps:]]
    tenths = np.array_split(batch_losses, min(TENTHS * setting["epochs"], len(batch_losses)))
    first_explosion = None
    if exploding:
        first_explosion = explosion(optimizer, batch_losses, exploding[0], setting, steps)
    return {
        **results,
        "largest_batch_loss": three_digits(np.max(later, initial=0)),
        "batches_above_guessing": len(exploding),
        "share_clipped": three_digits(np.mean(clipped)),
        "peaks": [three_digits(tenth.max()) for tenth in tenths],
        "burst": optimizer.burst,
        "explosion": first_explosion,
    }


def explosion(watched: WatchedAdam, batch_losses: list[float], at: int, setting: dict, steps: int) -> dict:
    """What was out of range first, before the batch `at`.

    Steps are counted from that batch, layers from 1."""
    last = setting["last"]
    begin = at - last
    end = at + AFTER + 1
    by_step = np.array(watched.of_layers[:end], np.float64)
    values = by_step.transpose(1, 2, 0)  # (statistics, layers, steps)
    largest_in_calm = values[:, :, max(begin - setting["calm"], 0) : begin].max(axis=2)
    # the output has no state: its ratio is 0 / inf = 0, never out of range
    divisors = np.where(largest_in_calm > 0, largest_in_calm, np.inf)[:, :, None]
    ratios = dict(zip(STATISTICS, values[:, :, begin:] / divisors, strict=True))  # each (layers, steps)

    onsets = {}
    for name, ratio in ratios.items():
        out = ~(ratio[:, : last + 1] <= OUT_OF_RANGE)  # NaN is out of range
        if out.any():
            step = int(out.any(axis=0).argmax())
            layer = int(np.where(out[:, step], ratio[:, step], 0).argmax())
            onsets[name] = {
                "step": step - last,
                "layer": layer + 1,
                "ratio": three_digits(ratio[layer, step]),
                "layers_out_of_range": int(out[:, step].sum()),
            }
    # among those that leave their range in the same step, the first in STATISTICS
    first = min(onsets, key=lambda name: onsets[name]["step"], default=None)
    onset = last  # that of the explosion itself, if nothing was out of range
    if first:
        onset += onsets[first]["step"]
    norm, root_of_v, largest_step = np.array(watched.of_net[begin:end]).T
    return {
        "epoch": at // steps + 1,
        "step": at % steps + 1,
        "first": first,
        "onsets": onsets,
        "by_layer": {name: three_digits(ratio[:, onset]) for name, ratio in ratios.items()},
        "largest": {name: three_digits(ratio.max(axis=0)) for name, ratio in ratios.items()},
        "loss": three_digits(batch_losses[begin:end]),
        "gradient_norm": three_digits(norm),
        "root_of_v": three_digits(root_of_v),
        "largest_step_over_lr": three_digits(largest_step),
    }


def three_digits(value):
    """The number, or the numbers of a list, with three digits; None for one that is not finite."""
    if np.ndim(value):
        return [three_digits(part) for part in value]
    return float(f"{value:.3g}") if math.isfinite(value) else None


def run(runner: Runner) -> list[dict]:
    budget = runner.settings
    of_budget = {"calm": budget["calm"], "last": budget["last"]}
    common = {"rate": RATE, "beta2": 0.999, "warm_up": 0, **of_budget}
    wanted = [
        full_mnist.setting_of(budget, **{**common, **change}, change=name, seed=seed)
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
