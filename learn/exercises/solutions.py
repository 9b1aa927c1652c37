"""Solutions of the ten exercises.  Write your own first."""

import numpy as np

# ---- Stage 1: equation 3 ------------------------------------------------------------------------


def sigmoid(z):
    return (1 + np.tanh(z / 2)) / 2


def highway(layer, x):
    H = np.tanh(x @ layer["W_H"].T + layer["b_H"])
    T = sigmoid(x @ layer["W_T"].T + layer["b_T"])
    y = H * T + x * (1 - T)
    return y, (x, H, T)


def new_layer(rng, d, gate_bias):
    bound = 1 / np.sqrt(d)
    return {
        "W_H": rng.uniform(-bound, bound, (d, d)),
        "b_H": np.zeros(d),
        "W_T": rng.uniform(-bound, bound, (d, d)),
        "b_T": np.full(d, float(gate_bias)),
    }


# ---- Stage 2: the way back ----------------------------------------------------------------------


def gate_backward(kept, dy):
    x, H, T = kept
    dH = T * dy
    dT = (H - x) * dy
    return dH * (1 - H**2), dT * T * (1 - T)


def highway_backward(layer, kept, dy):
    x, _, T = kept
    dz_H, dz_T = gate_backward(kept, dy)
    dx = (1 - T) * dy + dz_H @ layer["W_H"] + dz_T @ layer["W_T"]
    gradient = {"W_H": dz_H.T @ x, "b_H": dz_H.sum(axis=0), "W_T": dz_T.T @ x, "b_T": dz_T.sum(axis=0)}
    return dx, gradient


# ---- Stage 3: a net -----------------------------------------------------------------------------


def forward(net, x):
    kept = []
    for layer in net["layers"]:
        x, kept_by_layer = highway(layer, x)
        kept.append(kept_by_layer)
    kept.append(x)
    return x @ net["W_out"].T + net["b_out"], kept


def softmax_cross_entropy(logits, labels):
    N = len(labels)
    logits = logits - logits.max(axis=1, keepdims=True)
    log_of_sum = np.log(np.exp(logits).sum(axis=1, keepdims=True))
    loss = (log_of_sum[:, 0] - logits[np.arange(N), labels]).mean()
    probabilities = np.exp(logits - log_of_sum)
    return loss, (probabilities - np.eye(logits.shape[1])[labels]) / N


def backward(net, kept, d_logits):
    *kept_by_layers, y = kept
    gradient = {"W_out": d_logits.T @ y, "b_out": d_logits.sum(axis=0), "layers": []}
    dy = d_logits @ net["W_out"]
    for layer, kept_by_layer in zip(net["layers"][::-1], kept_by_layers[::-1], strict=True):
        dy, gradient_of_layer = highway_backward(layer, kept_by_layer, dy)
        gradient["layers"].insert(0, gradient_of_layer)
    return gradient


# ---- Stage 4: a hundred layers ------------------------------------------------------------------


def clipped(gradients, limit):
    norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients))
    scale = min(1.0, limit / max(norm, 1e-30))
    return [scale * gradient for gradient in gradients]


def arrays_of(net):
    """All arrays of a net, or of its gradient, in the same order."""
    arrays = [net["W_out"], net["b_out"]]
    for layer in net["layers"]:
        arrays += [layer[name] for name in ("W_H", "b_H", "W_T", "b_T")]
    return arrays


def hundred_layers(x, labels, steps):
    rng = np.random.default_rng(0)
    d = x.shape[1]
    classes = labels.max() + 1
    net = {
        "layers": [new_layer(rng, d, gate_bias=-5) for _ in range(100)],
        "W_out": rng.uniform(-1, 1, (classes, d)) / np.sqrt(d),
        "b_out": np.zeros(classes),
    }
    for _ in range(steps):
        logits, kept = forward(net, x)
        _, d_logits = softmax_cross_entropy(logits, labels)
        gradient = backward(net, kept, d_logits)
        for array, change in zip(arrays_of(net), clipped(arrays_of(gradient), 2.0), strict=True):
            array -= change
    return net
