"""Stage 1: equation 3."""

import warnings

import numpy as np
from checks import D, fail, made_up_layer, must_agree, must_be_array, must_be_pair


def test_exercise_1_sigmoid(work):
    z = np.array([-1000.0, -2.0, 0.0, 3.0, 1000.0])
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = work.sigmoid(z)
    true = np.array([0, 1 / (1 + np.exp(2.0)), 0.5, 1 / (1 + np.exp(-3.0)), 1])
    must_agree(found, true, "sigmoid(z)", [(1 - true, "the sign of z"), (np.tanh(z), "this is tanh")])
    if warned:
        fail(f"sigmoid(-1000) warns of {warned[0].message}: use (1 + tanh(z / 2)) / 2")


def test_exercise_2_highway(work):
    rng = np.random.default_rng(2)
    layer = made_up_layer(rng)
    x = rng.normal(size=(7, D))
    given = x.copy()
    returned = work.highway(layer, x)
    must_be_pair(returned, "highway() returns y and the tuple (x, H, T)")
    if not np.array_equal(x, given):
        fail("highway() changes x, which the way back needs: write y into another array")
    y, kept = returned

    def gate(z):
        return 1 / (1 + np.exp(-z))

    H = np.tanh(x @ layer["W_H"].T + layer["b_H"])
    T = gate(x @ layer["W_T"].T + layer["b_T"])
    H_transposed = np.tanh(x @ layer["W_H"] + layer["b_H"])
    T_transposed = gate(x @ layer["W_T"] + layer["b_T"])
    H_without_bias = np.tanh(x @ layer["W_H"].T)
    T_without_bias = gate(x @ layer["W_T"].T)
    T_subtracted = gate(x @ layer["W_T"].T - layer["b_T"])
    guesses = [
        (H * T + x * T, "the carry gate is T, not 1 - T"),
        (H * (1 - T) + x * T, "H and x are exchanged"),
        (H * T + (1 - T), "x is missing in x (1 - T)"),
        (H * T + x, "x is not multiplied by 1 - T"),
        (H * T, "the carried part x (1 - T) is missing"),
        (np.tanh(H * T + x * (1 - T)), "tanh belongs to H alone"),
        (H_transposed * T + x * (1 - T), "W_H is transposed: x in rows needs x @ W_H.T"),
        (H * T_transposed + x * (1 - T_transposed), "W_T is transposed: x in rows needs x @ W_T.T"),
        (
            H_transposed * T_transposed + x * (1 - T_transposed),
            "W_H and W_T are transposed: x in rows needs x @ W_H.T",
        ),
        (H_without_bias * T + x * (1 - T), "b_H is missing"),
        (H * T_without_bias + x * (1 - T_without_bias), "b_T is missing"),
        (H * T_subtracted + x * (1 - T_subtracted), "b_T is subtracted"),
    ]
    must_agree(y, H * T + x * (1 - T), "y", guesses)
    if not isinstance(kept, tuple) or len(kept) != 3:
        fail("highway() returns y and the tuple (x, H, T)")
    must_agree(kept[0], x, "the kept x")
    must_agree(kept[1], H, "the kept H")
    must_agree(kept[2], T, "the kept T")


def test_exercise_3_new_layer(work):
    d = 50
    layer = work.new_layer(np.random.default_rng(3), d, -2)
    if set(layer) != {"W_H", "b_H", "W_T", "b_T"}:
        fail(f"a layer has W_H, b_H, W_T and b_T, not {', '.join(layer)}")
    for name in ("W_H", "W_T"):
        must_be_array(layer[name], (d, d), name)
        largest = np.abs(layer[name]).max()
        if not 0.9 < largest * np.sqrt(d) <= 1:
            fail(f"the largest {name} is {largest:.3f}, and just below 1 / sqrt({d}) = 0.141 would be right")
        if abs(layer[name].mean()) > 0.01:
            fail(f"the mean of {name} is {layer[name].mean():.3f}: weights lie on both sides of 0")
    if np.allclose(layer["W_H"], layer["W_T"]):
        fail("W_H and W_T hold the same numbers: draw each")
    must_agree(layer["b_H"], np.zeros(d), "b_H")
    must_agree(layer["b_T"], np.full(d, -2.0), "b_T")
    for name, array in layer.items():
        if array.dtype.kind != "f":
            fail(f"{name} holds {array.dtype}, and floats would be right: a training adds fractions to them")
    x = np.random.default_rng(4).normal(0, 0.5, (100, d))
    _, (_, _, T) = work.highway(layer, x)
    if not 0.1 < T.mean() < 0.15:
        fail(f"mean T is {T.mean():.2f} at the start, and about 0.12 would be right")
