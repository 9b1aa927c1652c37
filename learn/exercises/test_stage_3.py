"""Stage 3: a net, and its gradient, compared with the complex step."""

import numpy as np
from checks import answer, as_complex, builds_on, compare, derivatives, fail, highway, made_up_layer

CLASSES = 8


def made_up_net(rng, d):
    return {
        "layers": [made_up_layer(rng, d) for _ in range(2 + d % 3)],
        "W_out": rng.normal(size=(CLASSES, d)),
        "b_out": rng.normal(size=CLASSES),
    }


def problem(rng, N, d):
    """A net, x, and labels, among which the last class is missing."""
    return made_up_net(rng, d), rng.normal(size=(N, d)), rng.integers(0, CLASSES - 1, N)


def true_forward(net, x):
    kept = []
    for layer in net["layers"]:
        x, of_layer = highway(layer, x)
        kept.append(of_layer)
    return x @ net["W_out"].T + net["b_out"], [*kept, x]


def true_loss(logits, labels):
    return (np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(labels)), labels]).mean()


def true_softmax_cross_entropy(logits, labels):
    twin = logits.astype(complex)
    return true_loss(logits, labels), derivatives(lambda: true_loss(twin, labels), twin)


def true_backward(net, x, labels):
    twin = {"W_out": net["W_out"].astype(complex), "b_out": net["b_out"].astype(complex)}
    twin["layers"] = [as_complex(layer) for layer in net["layers"]]

    def loss():
        logits, _ = true_forward(twin, x)
        return true_loss(logits, labels)

    gradient = {name: derivatives(loss, twin[name]) for name in ("W_out", "b_out")}
    gradient["layers"] = []
    for layer in twin["layers"]:
        gradient["layers"].append({name: derivatives(loss, array) for name, array in layer.items()})
    return gradient


CASES = {
    "the net has one layer": lambda net, *_: net["layers"].__delitem__(slice(1, None)),
    "all layers are alike": lambda net, *_: net.update(layers=net["layers"][:1] * len(net["layers"])),
    "b_out is 0": lambda net, *_: net["b_out"].fill(0),
}


@builds_on(2)
def test_exercise_6_forward(work):
    compare(work.forward, true_forward, lambda *drawn: problem(*drawn)[:2], ("logits", "kept"), CASES)


def test_exercise_7_softmax_cross_entropy(work):
    def logits_and_labels(rng, N, d):
        return rng.normal(size=(N, CLASSES)), problem(rng, N, d)[2]

    cases = {"all logits of a row are alike": lambda logits, labels: logits.fill(0.5)}
    names = ("the loss", "d_logits")
    compare(work.softmax_cross_entropy, true_softmax_cross_entropy, logits_and_labels, names, cases)
    large = np.array([[1000.0, 0.0], [0.0, 1000.0], [-1000.0, 0.0], [0.0, -1000.0]])
    with np.errstate(all="ignore"):
        loss, d_logits = answer(work.softmax_cross_entropy, large, np.zeros(4, int))
    if not np.isclose(loss, 500) or not np.isfinite(d_logits).all():
        fail(
            f"for logits of ±1000 the loss is {loss:.6g}, and 500 would be right. exp(1000) is inf; log(exp(-1000)), "
            "-inf. What may be subtracted from all logits of a row? Which logarithm need not be taken?"
        )


@builds_on(4, 5)
def test_exercise_8_backward(work):
    def arguments(net, x, labels):
        logits, kept = true_forward(net, x)
        return net, kept, true_softmax_cross_entropy(logits, labels)[1]

    compare(work.backward, true_backward, problem, "gradient", CASES, arguments)
