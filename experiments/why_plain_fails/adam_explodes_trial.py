"""Trains a net by Adam, and watches every step: what explodes, and what left its usual range first.

The question defines explosions, bursts, stretches and the statistics of a step.
"""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highways.nets import jacobians, layer_by_layer

STATISTICS = ("state", "gradient", "surprise", "step", "parameters")
GUESSING = math.log(10)  # the loss of guessing; a batch above it is an explosion
OUT_OF_RANGE = 2  # times the largest value in the calm steps
AFTER = 10  # the number of steps kept after an explosion
TENTHS = 10  # the parts of an epoch; the largest batch loss of each is kept
BURST = 100  # times the usual gradient
BEFORE = 300  # the usual gradient is the median over this many steps before


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
    rows, diverged_at = hn.train_epochs(net, optimizer, x, y, orders, fully_connected.BATCH, loss=loss)
    results = fully_connected.results_of(net, setting, fully_connected.losses_of(rows), diverged_at)

    later = batch_losses[steps:]  # after the first epoch
    # not <=, so that NaN counts as an explosion
    exploding = [k for k in range(steps, len(batch_losses)) if not batch_losses[k] <= GUESSING]
    clipped = [norm > setting["clip"] for norm, *_ in optimizer.net_statistics[steps:]]
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
    by_step = np.array(watched.layer_statistics[:end], np.float64)
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
    norm, root_of_v, largest_step = np.array(watched.net_statistics[begin:end]).T
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


# ---- Adam, watched ------------------------------------------------------------------------------


class WatchedAdam(hn.Adam):
    """Adam that keeps the statistics of every step; its rate rises from 0 over `warm_up` epochs.

    layer_statistics  for every step the five STATISTICS, of every layer: (STATISTICS, layers + 1)
    net_statistics    for every step the gradient's norm, the root of the sum of v, and the largest
                      change of a parameter over the rate
    burst             when the first burst was, and what look() saw in its batch, or None
    """

    def __init__(self, net: hn.DeepNet, setting: dict, steps: int):
        decay = setting["decay"] ** (1 / steps)
        super().__init__(net.parameters, setting["lr"], setting["clip"], beta2=setting["beta2"], decay=decay)
        self.net = net
        self.steps = steps  # steps in an epoch
        self.warm_up = setting["warm_up"] * steps
        self.layer_statistics = []
        self.net_statistics = []
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
        relative_steps = self.norms(moved) / sizes
        self.layer_statistics.append(
            [[*largest_states, 0], gradients, surprise, relative_steps, self.norms(self.parameters)]
        )
        self.net_statistics.append([norm, math.sqrt(v.sum()), max(moved.max(), -moved.min()) / self.lr])
        return norm

    def update(self, gradient, scale):
        rate = self.lr
        if self.warm_up:
            self.lr = rate * min(1, (self.t + 1) / self.warm_up)
        super().update(gradient, scale)
        self.lr = rate

    def look_for_burst(self, norm: float) -> None:
        """Keeps the first burst after the first epoch; `norm` is that of the gradient."""
        if self.burst or self.t < self.steps or not math.isfinite(norm):
            return
        usual = float(np.median([norm_before for norm_before, *_ in self.net_statistics[-BEFORE:]]))
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
                "stretch": three_digits([values[place] for values in stretches]),
                "gate_term": three_digits([values[place] for values in gate_terms]),
                "state": three_digits([values[place] for values in inputs]),
            }
        return seen


def stretches_of_net(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """x (N, hidden), the first block's input -> the stretch of each image by all blocks (N,)."""
    whole = np.eye(net.hidden)
    for layer, _, state, _ in layer_by_layer.walk(net, x):
        whole = sum(jacobians.by_formula(net, layer, state).values()) @ whole
    return np.linalg.norm(whole, 2, axis=(1, 2))
