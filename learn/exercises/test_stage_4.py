"""Stage 4: a hundred layers that learn."""

import numpy as np
from checks import fail, must_agree

DEPTH = 100


def test_exercise_9_clipped(work):
    rng = np.random.default_rng(9)
    gradients = [rng.normal(size=(4, 3)), rng.normal(size=5)]
    norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients))
    for name, found, true in zip(("the first", "the second"), work.clipped(gradients, 2 * norm), gradients, strict=True):
        must_agree(found, true, f"{name} array, which is within the limit, ")
    for gradient, found in zip(gradients, work.clipped(gradients, norm / 4), strict=True):
        alone = gradient / np.linalg.norm(gradient) * norm / 4
        hint = "every array is clipped by its own norm, not by that of all together"
        must_agree(found, gradient / 4, "an array", [(alone, hint), (4 * gradient, "the factor is limit / norm")])


def two_moons(n=60, d=8):
    """Two bent classes that no straight line parts, turned into d dimensions."""
    rng = np.random.default_rng(10)
    angle = np.pi * rng.random(n)
    labels = np.arange(n) % 2
    points = np.stack((np.cos(angle) * (1 - 2 * labels) + labels, np.sin(angle) * (1 - 2 * labels) + labels / 2), 1)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0][:2]
    return (points - points.mean(axis=0)) @ turn, labels


def test_exercise_10_hundred_layers(work):
    x, labels = two_moons()
    net = work.hundred_layers(x.copy(), labels, 60)
    if len(net["layers"]) != DEPTH:
        fail(f"the net has {len(net['layers'])} layers, and {DEPTH} would be right")
    logits, kept = work.forward(net, x)
    right = (logits.argmax(axis=1) == labels).mean()
    loss, d_logits = work.softmax_cross_entropy(logits, labels)
    if right < 0.8:
        left = np.std(kept[-1], axis=0).mean() / np.std(x, axis=0).mean()
        gradient = work.backward(net, kept, d_logits)["layers"]
        first = np.linalg.norm(gradient[0]["W_H"])
        last = np.linalg.norm(gradient[-1]["W_H"])
        T = np.mean([T for _, _, T in kept[:-1]])
        fail(
            f"{right:.0%} of the points are right after 60 steps, and at least 80 % should be; the loss is {loss:.3g}, "
            f"mean T {T:.2g}, of the differences between points {left:.1g} is left after 100 layers, "
            f"and the gradient of the first layer is {first / last:.1g} times the last one's"
        )
