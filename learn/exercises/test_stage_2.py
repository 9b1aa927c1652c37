"""Stage 2: the way back, compared with the complex step."""

import numpy as np
from checks import LAYER_CASES, as_complex, builds_on, compare, derivatives, highway, made_up_layer, sigmoid


def kept_and_dy(rng, N, d):
    x, z_H, z_T, dy = rng.normal(size=(4, N, d))
    return [x, np.tanh(z_H), sigmoid(z_T)], dy


def true_gate_gradients(kept, dy):
    x, H, T = kept
    z_H = np.arctanh(H).astype(complex)
    z_T = np.log(T / (1 - T)).astype(complex)

    def loss():
        T = sigmoid(z_T)
        return (dy * (np.tanh(z_H) * T + x * (1 - T))).sum()

    return derivatives(loss, z_H), derivatives(loss, z_T)


def test_exercise_4_gate_backward(work):
    cases = {
        "every T is 0": lambda kept, dy: kept[2].fill(1e-12),
        "every T is 1": lambda kept, dy: kept[2].fill(1 - 1e-12),
        "every T is 1/2": lambda kept, dy: kept[2].fill(0.5),
        "H is 0": lambda kept, dy: kept[1].fill(0),
        "x is 0": lambda kept, dy: kept[0].fill(0),
        "x is H": lambda kept, dy: np.copyto(kept[0], kept[1]),
        "dy is 1": lambda kept, dy: dy.fill(1),
    }

    def arguments(kept, dy):
        return tuple(kept), dy

    compare(work.gate_backward, true_gate_gradients, kept_and_dy, ("dz_H", "dz_T"), cases, arguments)


def true_layer_gradients(layer, x, dy):
    layer = as_complex(layer)
    x = x.astype(complex)

    def loss():
        y, _ = highway(layer, x)
        return (dy * y).sum()

    return derivatives(loss, x), {name: derivatives(loss, array) for name, array in layer.items()}


@builds_on(4)
def test_exercise_5_highway_backward(work):
    def problem(rng, N, d):
        return made_up_layer(rng, d), rng.normal(size=(N, d)), rng.normal(size=(N, d))

    def arguments(layer, x, dy):
        return layer, highway(layer, x)[1], dy

    cases = {words: lambda layer, x, dy, change=change: change(layer) for words, change in LAYER_CASES.items()}
    compare(work.highway_backward, true_layer_gradients, problem, ("dx", "gradient"), cases, arguments)
