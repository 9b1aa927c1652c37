"""Stage 2: the way back, compared with the complex step."""

import numpy as np
import pytest
from checks import D, as_complex, derivatives, fail, made_up_layer, must_agree, must_be_pair


def problem():
    """A complex layer, x, dy, and H and T, which the functions of stage 1 need not have computed."""
    rng = np.random.default_rng(5)
    layer = as_complex(made_up_layer(rng))
    x = rng.normal(size=(6, D)).astype(complex)
    dy = rng.normal(size=(6, D))
    return layer, x, dy


def forward(z_H, z_T, x):
    T = 1 / (1 + np.exp(-z_T))
    return np.tanh(z_H) * T + x * (1 - T)


def kept_of(layer, x):
    z_H = x @ layer["W_H"].T + layer["b_H"]
    z_T = x @ layer["W_T"].T + layer["b_T"]
    return z_H, z_T, (x.real, np.tanh(z_H).real, (1 / (1 + np.exp(-z_T))).real)


def test_exercise_4_gate_backward(work):
    layer, x, dy = problem()
    z_H, z_T, kept = kept_of(layer, x)
    _, H, T = kept
    found = work.gate_backward(kept, dy)
    must_be_pair(found, "gate_backward() returns the tuple (dz_H, dz_T)")

    def loss():
        return (dy * forward(z_H, z_T, x)).sum()

    guesses = [
        (T * dy, "this is dH: tanh' is missing"),
        ((1 - H**2) * dy, "the factor T is missing"),
        ((1 - T) * dy * (1 - H**2), "H is multiplied by T, not by 1 - T: dH = T dy"),
        (T * dy * H * (1 - H), "tanh' is 1 - H^2, not H (1 - H)"),
    ]
    must_agree(found[0], derivatives(loss, z_H), "dz_H", guesses)
    dT = (H - x.real) * dy
    guesses = [
        (dT, "this is dT: sigmoid' is missing"),
        (H * dy * T * (1 - T), "T is in x (1 - T), too: dT = (H - x) dy"),
        (-dT * T * (1 - T), "the sign: dT = (H - x) dy"),
        (dT * (1 - T**2), "sigmoid' is T (1 - T), not 1 - T^2"),
    ]
    must_agree(found[1], derivatives(loss, z_T), "dz_T", guesses)


def test_exercise_5_highway_backward(work):
    try:
        check_highway_backward(work)
    except pytest.fail.Exception as failure:
        if not passes(test_exercise_4_gate_backward, work):
            fail(f"begin with exercise 4, which is not right yet. {failure}")
        raise


def passes(test, work):
    try:
        test(work)
    except (pytest.fail.Exception, NotImplementedError):
        return False
    return True


def check_highway_backward(work):
    layer, x, dy = problem()
    _, _, kept = kept_of(layer, x)
    real = {name: array.real.copy() for name, array in layer.items()}
    found = work.highway_backward(real, kept, dy)
    must_be_pair(found, "highway_backward() returns dx and a dict of gradients")
    dx, gradient = found

    def loss():
        z_H, z_T, _ = kept_of(layer, x)
        return (dy * forward(z_H, z_T, x)).sum()

    true = derivatives(loss, x)
    _, H, T = kept
    dz_H = T * dy * (1 - H**2)
    dz_T = (H - kept[0]) * dy * T * (1 - T)
    through_H = dz_H @ real["W_H"]
    through_T = dz_T @ real["W_T"]
    guesses = [
        (true - (1 - T) * dy, "the carried part (1 - T) dy is missing"),
        (true - through_T, "the way through T is missing"),
        (true - through_H, "the way through H is missing"),
        (true - (1 - T) * dy + dy, "the carried part is (1 - T) dy, not dy"),
        (true - through_H + dz_H @ real["W_H"].T, "W_H is transposed"),
        (true - through_T + dz_T @ real["W_T"].T, "W_T is transposed"),
        ((1 - T) * dy + dz_H @ real["W_H"].T + dz_T @ real["W_T"].T, "W_H and W_T are transposed"),
    ]
    must_agree(dx, true, "dx", guesses)
    if not isinstance(gradient, dict):
        fail(f"the gradients are in a dict, not in a {type(gradient).__name__}")
    if set(gradient) != set(layer):
        fail(f"the gradient has W_H, b_H, W_T and b_T, not {', '.join(gradient)}")
    for name, array in layer.items():
        true = derivatives(loss, array)
        guesses = [(true.T, "it is transposed"), (true / len(x), "it is a mean, not a sum, over the batch")]
        must_agree(gradient[name], true, f"d{name}", guesses)
