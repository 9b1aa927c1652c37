"""Stage 4: a hundred layers that learn."""

import numpy as np
from checks import answer, builds_on, compare, fail, parts

DEPTH = 100
STEPS = 120
ENOUGH = 0.9  # a net that carries alone, or draws a straight line, has less than 0.7


def norm_of(gradients):
    return np.sqrt(sum((gradient**2).sum() for gradient in gradients))


def true_clipped(gradients, limit):
    factor = min(1, limit / norm_of(gradients))
    return [factor * gradient for gradient in gradients]


def test_exercise_9_clipped(work):
    for share in (2, 0.9, 0.25):  # of the norm, that the limit is

        def problem(rng, N, d, share=share):
            gradients = [rng.normal(size=(N, d)), rng.normal(size=d), rng.normal(size=N)]
            return gradients, share * norm_of(gradients)

        cases = {"all but one array are nearly 0": lambda gradients, limit: [a.fill(1e-12) for a in gradients[1:]]}
        words = f"with a limit of {share} times the norm, gradients"
        compare(work.clipped, true_clipped, problem, words, cases, may_change=True)
    zeros = answer(work.clipped, [np.zeros(3)], 1.0, may_change=True)
    if not np.array_equal(zeros[0], np.zeros(3)):
        fail(f"a gradient of zeros becomes {zeros[0]}: what is its norm?")


def four_clouds(n=48, d=12):
    """Two classes of two clouds each, at opposite corners of a square: no straight line parts them."""
    rng = np.random.default_rng(10)
    corners = rng.integers(0, 2, (n, 2))
    labels = corners[:, 0] ^ corners[:, 1]
    points = 2 * corners - 1 + rng.normal(0, 0.25, (n, 2))
    axes = np.linalg.qr(rng.normal(size=(d, d)))[0][:2]
    return points @ axes * np.sqrt(d / 4), labels


def trained(work, x, labels, steps):
    """The arrays by name of the student's net, if they have the right names and shapes, and the net."""
    net = answer(work.hundred_layers, x, labels, steps)
    d, classes = x.shape[1], labels.max() + 1
    shapes = {"W_H": (d, d), "b_H": (d,), "W_T": (d, d), "b_T": (d,)}
    layers = [{name: np.empty(shape) for name, shape in shapes.items()} for _ in range(DEPTH)]
    right = {"layers": layers, "W_out": np.empty((classes, d)), "b_out": np.empty(classes)}
    arrays = {name: array for name, array, _ in parts(net, right, "net")}
    if np.array_equal(net["layers"][0]["W_H"], net["layers"][1]["W_H"]):
        fail("two layers hold the same W_H: each must be drawn")
    return arrays, net


def gradient_at_the_first_layer(work, net, kept, d_logits):
    """The length of the loss's gradient with respect to x, over that with respect to the last y."""
    dy = d_logits @ net["W_out"]
    last = np.linalg.norm(dy)
    for layer, kept_by_layer in zip(net["layers"][::-1], kept[-2::-1], strict=True):
        dy, _ = work.highway_backward(layer, kept_by_layer, dy)
    return np.linalg.norm(dy) / last


@builds_on(*range(2, 10))
def test_exercise_10_hundred_layers(work):
    x, labels = four_clouds()
    trained(work, x[:, :7], np.arange(len(x)) % 3, 0)
    before, untrained = trained(work, x, labels, 0)
    _, net = trained(work, x, labels, STEPS)
    logits, kept = work.forward(net, x)
    right = (logits.argmax(axis=1) == labels).mean()
    if right >= ENOUGH:
        return
    after, _ = trained(work, x, labels, 1)
    moved = sum(not np.array_equal(before[name], after[name]) for name in before)
    loss, d_logits = work.softmax_cross_entropy(logits, labels)
    loss_before, _ = work.softmax_cross_entropy(work.forward(untrained, x)[0], labels)
    left = np.std(kept[-1], axis=0).mean() / np.std(x, axis=0).mean()
    gradient = gradient_at_the_first_layer(work, net, kept, d_logits)
    T = np.mean([T for _, _, T in kept[:-1]])
    hint = ""
    if loss > loss_before:
        hint = ". The loss rises: is a step too long, or in the wrong direction?"
    elif T > 1e-3 and left > 0.05:
        hint = ". x arrives and the layers do something: try another rate"
    fail(
        f"{right:.0%} of the points are right after {STEPS} steps, and {ENOUGH:.0%} should be. The loss goes from "
        f"{loss_before:.3g} to {loss:.3g}; one step changes {moved} of {len(before)} arrays; mean T is {T:.2g}; "
        f"after {DEPTH} layers {left:.1g} of the points' differences is left, and the gradient at the first layer is "
        f"{gradient:.1g} times that at the last{hint}"
    )
