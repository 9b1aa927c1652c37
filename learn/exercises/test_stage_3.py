"""Stage 3: a net, and its gradient, compared with the complex step."""

import numpy as np
from checks import D, as_complex, derivatives, fail, made_up_net, must_agree

N = 6


def highway(layer, x):
    T = 1 / (1 + np.exp(-(x @ layer["W_T"].T + layer["b_T"])))
    return np.tanh(x @ layer["W_H"].T + layer["b_H"]) * T + x * (1 - T)


def logits_of(net, x):
    for layer in net["layers"]:
        x = highway(layer, x)
    return x @ net["W_out"].T + net["b_out"]


def loss_of(logits, labels):
    return (np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(N), labels]).mean()


def problem():
    rng = np.random.default_rng(6)
    net = made_up_net(rng)
    return net, rng.normal(size=(N, D)), rng.integers(0, 4, N)


def test_exercise_6_forward(work):
    net, x, _ = problem()
    logits, kept = work.forward(net, x)
    backwards = logits_of(net | {"layers": net["layers"][::-1]}, x)
    first_x = [highway(layer, x) for layer in net["layers"]][-1] @ net["W_out"].T + net["b_out"]
    guesses = [
        (backwards, "the layers are applied in the wrong order"),
        (first_x, "every layer gets the first x: each must get the y of the one before"),
    ]
    must_agree(logits, logits_of(net, x), "logits", guesses)
    if len(kept) != len(net["layers"]) + 1:
        fail(f"forward() keeps {len(kept)} things, and one for each layer and the last y would be right")


def test_exercise_7_softmax_cross_entropy(work):
    _, _, labels = problem()
    logits = np.random.default_rng(7).normal(size=(N, 4)).astype(complex)
    loss, d_logits = work.softmax_cross_entropy(logits.real.copy(), labels)
    true = loss_of(logits, labels).real
    must_agree(np.array(loss), np.array(true), "the loss", [(N * true, "it is a sum, not a mean"), (-true, "the sign")])
    true = derivatives(lambda: loss_of(logits, labels), logits)
    must_agree(d_logits, true, "d_logits", [(N * true, "divide by the size of the batch"), (-true, "the sign")])
    large = np.array([[1000.0, 0.0], [0.0, 1000.0], [-1000.0, 0.0], [0.0, -1000.0]])
    with np.errstate(all="ignore"):
        loss, d_logits = work.softmax_cross_entropy(large, np.array([0, 0, 0, 0]))
    if not np.isfinite(loss) or not np.isfinite(d_logits).all():
        fail(f"for logits of 1000 the loss is {loss}, and 500 would be right: subtract each row's largest logit first")
    if not np.isclose(loss, 500):
        fail(
            f"for logits of 1000 the loss is {loss:.6g}, and 500 would be right: "
            "log softmax is logit - log(sum(exp(logits))), and needs no logarithm of a probability"
        )


def test_exercise_8_backward(work):
    net, x, labels = problem()
    logits, kept = work.forward(net, x)
    _, d_logits = work.softmax_cross_entropy(logits, labels)
    gradient = work.backward(net, kept, d_logits)
    layers = [as_complex(layer) for layer in net["layers"]]
    twin = {"layers": layers, "W_out": net["W_out"].astype(complex), "b_out": net["b_out"].astype(complex)}

    def loss():
        return loss_of(logits_of(twin, x), labels)

    for name in ("W_out", "b_out"):
        must_agree(gradient[name], derivatives(loss, twin[name]), f"d{name}")
    if len(gradient["layers"]) != len(layers):
        fail(f"the gradient has {len(gradient['layers'])} layers, and {len(layers)} would be right")
    in_reverse = gradient["layers"][::-1]
    for number, layer in enumerate(layers):
        for name, array in layer.items():
            true = derivatives(loss, array)
            if np.allclose(in_reverse[number][name], true) and number != len(layers) // 2:
                fail("the gradients are listed from the last layer to the first: list them as the net's layers are")
            must_agree(gradient["layers"][number][name], true, f"d{name} of layer {number}, ")
