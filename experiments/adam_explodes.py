"""Why does Adam explode at 100 layers although its gradient is clipped, and what cures it?

    python -m experiments.adam_explodes            -> results/adam_explodes.json

Of the three nets of 100 ReLU highway layers that experiments/full_mnist.py trains by Adam one explodes in epoch 5, one
has an epoch at a loss of 23.  Here the same nets for 6 epochs, as they were and with one thing changed: beta2 = 0.99
for 0.999; a rate that rises from 0 over the first epoch; a clip of 0.1 for 1; a rate of 3e-4 for 1e-3; tanh for ReLU.

What follows was written before any run.  An *explosion* is the first batch after the first epoch that has a loss above
log 10, that of guessing.  Hypotheses, what each expects to go first, and what then cures:

1. The memory.  Adam divides by the root of v, its mean of squared gradients over some 1/(1 - beta2) = 1000 steps, and
   so undoes whatever scale a clip gives.  Where gradients were small for long v is small, and one ordinary gradient
   moves a parameter by up to lr (1 - beta1) / sqrt(1 - beta2) = 3.2 lr.  First: surprise, before the gradient.  Cure:
   beta2 = 0.99, where that bound is lr.
2. The gradient.  One batch has a gradient far above the usual; at a clip of 1 it still is.  First: the gradient.  Cure:
   the lower clip.
3. The start.  v is not known yet.  Cure: the warm-up.  Not expected: the explosions are epochs later.
4. The states.  They have no bound, and steps of ordinary size in all blocks at once multiply.  First: the state, all
   else in its range.  Cure: only smaller steps, the lower rate.

A fifth was added when the first run, seed 0 as it was, had been seen, and before all others.  There gradient and state
went first, in one batch, at steps of ordinary size: the gradient of a single image, whose states are a few times as
large as those of others, is a million times theirs.  So:

5. The gate.  A block's Jacobian (experiments/jacobian.py) has the term (H - x) dT/dx.  ReLU states have no bound, and
   where x is large this term stretches; over 99 blocks the gradient of one image explodes.  A clip bounds the step that
   follows, but all of it is then that one image's.  Cure: tanh, whose states cannot grow.

A *burst* is the first batch after the first epoch with a gradient over 100 times the median of the last 300.  Its
images are ordered by the *stretch*, the largest singular value of the product of all blocks' Jacobians, and the last of
them is compared with the median one: the stretch from each block to the end, the size of the gate's term (its Frobenius
norm over that of I), and the norm of the block's input.  Expected: in every burst the worst image's stretch is over 10
times the median one's, its gate's term and its states are larger in most blocks; under tanh there is no burst.

Statistics of every step and layer (the first layer, the blocks, the output), in the order in which a step finds them:

    state       the largest |y| of its units and images; of the output nothing
    gradient    the norm of the gradient, not clipped yet
    surprise    the norm of the clipped gradient over the root of the sum of v (bias-corrected) before this step
    step        the norm of the parameters' change over that of the parameters
    parameters  their norm, after the step

A statistic of a layer is out of range where it is more than twice its largest value in the steps 350 to 50 before the
explosion; its onset is the first of the last 50 steps where it is.  First is the earliest onset; at the same step the
order above decides, then how far out of range.  A change cures where no seed explodes and the mean test accuracy, over
seeds that explode in neither, is no worse by more than 0.005.  Few seeds tell little; so the number of batches above
log 10 is reported, too.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np
from fully_connected.trials import Experiment, run_and_exit

import highway_networks as hn
from claims.rules import mean_sd_n, print_summary
from training import fully_connected, hundred_layers, jacobians, layer_by_layer

BUDGETS = {
    "quick": {"layers": 10, "epochs": 2, "seeds": 2, "calm": 2, "last": 2, "n_train": 640, "n_test": 200},
    "default": {"layers": 100, "epochs": 6, "seeds": 3, "calm": 300, "last": 50, **fully_connected.ALL},
    "full": {"layers": 100, "epochs": 20, "seeds": 10, "calm": 300, "last": 50, **fully_connected.ALL},
}
RATE = 1e-3  # which a short run of full_mnist selected
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
GUESSING, OUT_OF_RANGE, AFTER, TENTHS = math.log(10), 2, 10, 10
BURST, BEFORE = 100, 300


class WatchedAdam(hn.Adam):
    """Adam, its rate rising from 0 over `warm_up` steps, that keeps what the docstring above defines of every step."""

    def __init__(self, net: hn.DeepNet, t: dict, steps: int):
        super().__init__(net.parameters, t["rate"], t["clip"], beta2=t["beta2"], decay=t["decay"] ** (1 / steps))
        self.net, self.steps, self.warm_up = net, steps, t["warm_up"] * steps
        self.of_layers, self.of_net, self.burst = [], [], None
        sizes = [net.W_in.size + net.b_in.size, *(block.size for block in net._blocks), net._output.size]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self.before, self.squares = np.empty((2, len(net.parameters)), net.dtype)

    def norms(self, vector: np.ndarray) -> np.ndarray:
        """(n_parameters,) -> the L2 norm of each layer's part (layers + 1,)."""
        return np.sqrt(self.sums(np.square(vector, self.squares)))

    def sums(self, vector: np.ndarray) -> np.ndarray:
        return np.add.reduceat(vector, self.starts).astype(np.float64)

    def step(self, gradient):
        np.copyto(self.before, self.parameters)
        v = self.sums(self.v) * (1 - self.beta2) / max(1 - self.beta2**self.t, 1e-30)
        states = self.net.workspace(fully_connected.BATCH, "train").states[:, :-1]
        state = np.maximum(states.max(axis=(1, 2)), -states.min(axis=(1, 2)))
        self.look_for_burst(math.sqrt(np.dot(gradient, gradient)))
        norm, sizes = super().step(gradient), self.norms(self.before)
        moved = np.subtract(self.parameters, self.before, self.before)
        gradients, clipped = self.norms(gradient), min(1, self.clip / norm)
        surprise = clipped * gradients / np.sqrt(v) if self.t > 1 else np.zeros(len(v))
        steps = self.norms(moved) / sizes
        self.of_layers.append([[*state, 0], gradients, surprise, steps, self.norms(self.parameters)])
        self.of_net.append([norm, math.sqrt(v.sum()), max(moved.max(), -moved.min()) / self.lr])
        return norm

    def look_for_burst(self, norm: float) -> None:
        if self.burst or self.t < self.steps or not math.isfinite(norm):
            return
        usual = float(np.median([each for each, *_ in self.of_net[-BEFORE:]]))
        if norm > BURST * usual:
            when = {"epoch": self.t // self.steps + 1, "step": self.t % self.steps + 1}
            self.burst = when | {"gradient_norm": digits(norm), "usual_norm": digits(usual), **self.look()}

    def look(self) -> dict:
        """Of the last batch, the image that the net stretches most, and the median one."""
        net, whole = layer_by_layer.in_dtype(self.net, np.float64), np.eye(self.net.hidden)
        x = self.net.workspace(fully_connected.BATCH, "train").states[0, :-1].T.astype(np.float64)
        for layer, _, state, _ in layer_by_layer.walk(net, x):
            whole = sum(jacobians.by_formula(net, layer, state)) @ whole
        order = np.linalg.norm(whole, 2, axis=(1, 2)).argsort()
        two = layer_by_layer.walk(net, x[order[[-1, len(order) // 2]]])
        blocks = [(state, jacobians.by_formula(net, layer, state)) for layer, _, state, _ in two]
        whole, stretches = np.eye(net.hidden), []
        for _, terms in reversed(blocks):
            whole = whole @ sum(terms)
            stretches.insert(0, np.linalg.norm(whole, 2, axis=(1, 2)))
        gates = [np.linalg.norm(terms[-1], axis=(1, 2)) / net.hidden**0.5 for _, terms in blocks]
        by_name = {"stretch": stretches, "gate_term": gates, "state": [np.linalg.norm(x, axis=1) for x, _ in blocks]}
        return {
            which: {name: digits(np.array(values)[:, k]) for name, values in by_name.items()}
            for k, which in enumerate(("worst", "median"))
        }

    def _update(self, gradient, scale):
        lr = self.lr
        self.lr = lr * min(1, (self.t + 1) / self.warm_up) if self.warm_up else lr
        super()._update(gradient, scale)
        self.lr = lr


def trial(t: dict) -> dict:
    """As fully_connected.train() trains, watched."""
    x, y, *_ = fully_connected.images_of(t)
    net, shuffle = fully_connected.make(t), np.random.default_rng([t["seed"], 1])
    steps, batch_losses = len(x) // fully_connected.BATCH, []

    def loss(logits, labels):
        result = hn.softmax_cross_entropy(logits, labels)
        batch_losses.append(float(result[0]))
        return result

    optimizer = WatchedAdam(net, t, steps)
    orders = (shuffle.permutation(len(x)) for _ in range(t["epochs"]))
    rows, diverged = hn.train_epochs(net, optimizer, x, y, orders, fully_connected.BATCH, loss=loss)
    result = {
        "losses": fully_connected.losses_of(rows),
        "diverged": diverged,
        **fully_connected.measure(net, t, diverged),
    }
    later = batch_losses[steps:]
    high = [k for k, each in enumerate(batch_losses) if k >= steps and not each <= GUESSING]
    result |= {"largest_batch_loss": digits(np.max(later, initial=0)), "batches_above_guessing": len(high)}
    result["share_clipped"] = digits(np.mean([norm > t["clip"] for norm, *_ in optimizer.of_net[steps:]]))
    parts = np.array_split(batch_losses, min(TENTHS * t["epochs"], len(batch_losses)))
    result["peaks"] = [digits(part.max()) for part in parts]
    result["burst"] = optimizer.burst
    return result | {"explosion": explosion(optimizer, batch_losses, high[0], t, steps) if high else None}


def explosion(watched: WatchedAdam, batch_losses: list[float], at: int, t: dict, steps: int) -> dict:
    """What was out of range first, before the batch `at`; steps count from it, layers from 1."""
    begin, end = at - t["last"], at + AFTER + 1
    values = np.array(watched.of_layers[:end], np.float64).transpose(1, 2, 0)  # (statistics, layers, steps)
    calm = values[:, :, max(begin - t["calm"], 0) : begin].max(axis=2)
    ratios = values[:, :, begin:] / np.where(calm > 0, calm, np.inf)[:, :, None]
    onsets = {}
    for name, ratio in zip(STATISTICS, ratios, strict=True):
        out = ~(ratio[:, : t["last"] + 1] <= OUT_OF_RANGE)  # NaN is out of range
        if out.any():
            step = int(out.any(axis=0).argmax())
            layer = int(np.where(out[:, step], ratio[:, step], 0).argmax())
            onsets[name] = {"step": step - t["last"], "layer": layer + 1, "ratio": digits(ratio[layer, step])}
            onsets[name] |= {"layers_out_of_range": int(out[:, step].sum())}
    first = min(onsets, key=lambda name: onsets[name]["step"], default=None)  # of equals the first named
    seen = (onsets[first]["step"] if first else 0) + t["last"]
    norm, typical, largest = np.array(watched.of_net[begin:end]).T
    return {
        "epoch": at // steps + 1,
        "step": at % steps + 1,
        "first": first,
        "onsets": onsets,
        "by_layer": {name: digits(ratio[:, seen]) for name, ratio in zip(STATISTICS, ratios, strict=True)},
        "largest": {name: digits(ratio.max(axis=0)) for name, ratio in zip(STATISTICS, ratios, strict=True)},
        "loss": digits(batch_losses[begin:end]),
        "gradient_norm": digits(norm),
        "root_of_v": digits(typical),
        "largest_step_over_lr": digits(largest),
    }


def digits(value):
    """Three of each number; None for one that is not finite."""
    if np.ndim(value):
        return [digits(each) for each in value]
    return float(f"{value:.3g}") if math.isfinite(value) else None


def main(argv=None) -> None:
    e = Experiment("adam_explodes", __doc__, BUDGETS, argv)
    s = e.settings
    common = {"rate": RATE, "beta2": 0.999, "warm_up": 0, "calm": s["calm"], "last": s["last"]}
    wanted = [
        hundred_layers.settings(s, **common | change, change=name, seed=seed)
        for seed in range(s["seeds"])
        for name, change in CHANGES.items()
    ]
    trials = fully_connected.run(e, wanted, trial)
    summary = summarise(trials)
    e.save("results/full_mnist.json: one seed of three", summary, trials)
    print_summary(summary)


def summarise(trials: list[dict]) -> dict:
    summary, exploded = {}, {(t["change"], t["seed"]) for t in trials if t["explosion"]}
    for change in CHANGES:
        own, name = [t for t in trials if t["change"] == change], change.replace(" ", "_").replace(".", "_")
        calm = [t["seed"] for t in own if not {(change, t["seed"]), (UNCHANGED, t["seed"])} & exploded]
        bursts = [t["burst"] for t in own if t["burst"]]
        summary[f"bursts_{name}"] = len(bursts)
        for which in ("worst", "median"):
            summary[f"stretch_of_{which}_{name}"] = mean_sd_n([burst[which]["stretch"][0] for burst in bursts])
        summary[f"exploded_{name}"] = sum(t["explosion"] is not None for t in own)
        summary[f"batches_above_guessing_{name}"] = sum(t["batches_above_guessing"] for t in own)
        largest = [t["largest_batch_loss"] for t in own]
        summary[f"largest_batch_loss_{name}"] = None if None in largest else max(largest)
        summary[f"share_clipped_{name}"] = mean_sd_n([t["share_clipped"] for t in own])
        for what in ("test_accuracy", "loss"):
            summary[f"{what}_{name}"] = mean_sd_n([t[what] for t in own])
            summary[f"{what}_where_none_exploded_{name}"] = mean_sd_n([t[what] for t in own if t["seed"] in calm])
    return summary


if __name__ == "__main__":
    run_and_exit("adam_explodes")
