"""Stage 4: a hundred layers that learn."""

import numpy as np
from checks import fail, must_agree

DEPTH = 100
STEPS = 120
ENOUGH = 0.9  # a net that carries alone, or draws a straight line, has less than 0.7


def test_exercise_9_clipped(work):
    rng = np.random.default_rng(9)
    gradients = [rng.normal(size=(4, 3)), rng.normal(size=5)]
    norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients))

    def clipped(limit):
        found = work.clipped([gradient.copy() for gradient in gradients], limit)
        if not isinstance(found, list) or len(found) != len(gradients):
            fail("clipped() returns a list of as many arrays as it is given")
        return found

    for name, found, true in zip(("the first", "the second"), clipped(2 * norm), gradients, strict=True):
        must_agree(found, true, f"{name} array, which is within the limit, ")
    for gradient, found in zip(gradients, clipped(norm / 4), strict=True):
        alone = gradient / np.linalg.norm(gradient) * norm / 4
        hint = "every array is clipped by its own norm, not by that of all together"
        must_agree(found, gradient / 4, "an array", [(alone, hint), (4 * gradient, "the factor is limit / norm")])


def four_clouds(n=48, d=12):
    """Two classes of two clouds each, at opposite corners of a square: no straight line parts them."""
    rng = np.random.default_rng(10)
    corners = rng.integers(0, 2, (n, 2))
    labels = corners[:, 0] ^ corners[:, 1]
    points = 2 * corners - 1 + rng.normal(0, 0.25, (n, 2))
    axes = np.linalg.qr(rng.normal(size=(d, d)))[0][:2]
    return points @ axes * np.sqrt(d / 4), labels


def test_exercise_10_hundred_layers(work):
    x, labels = four_clouds()
    net = work.hundred_layers(x.copy(), labels, STEPS)
    if len(net["layers"]) != DEPTH:
        fail(f"the net has {len(net['layers'])} layers, and {DEPTH} would be right")
    logits, kept = work.forward(net, x)
    right = (logits.argmax(axis=1) == labels).mean()
    loss, d_logits = work.softmax_cross_entropy(logits, labels)
    if right < ENOUGH:
        left = np.std(kept[-1], axis=0).mean() / np.std(x, axis=0).mean()
        gradient = work.backward(net, kept, d_logits)["layers"]
        first = np.linalg.norm(gradient[0]["W_H"])
        last = np.linalg.norm(gradient[-1]["W_H"])
        T = np.mean([T for _, _, T in kept[:-1]])
        hint = ""
        if T > 1e-3 and left > 0.05:
            hint = ": x arrives and the layers do something, so try another rate"
        fail(
            f"{right:.0%} of the points are right after {STEPS} steps, and {ENOUGH:.0%} should be; "
            f"the loss is {loss:.3g}, mean T {T:.2g}; after 100 layers {left:.1g} of the points' differences is left, "
            f"and the gradient of the first layer is {first / last:.1g} times the last one's{hint}"
        )
