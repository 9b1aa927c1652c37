"""Stage 1: equation 3."""

import warnings

import numpy as np
from checks import LAYER_CASES, answer, compare, fail, highway, made_up_layer, parts, sigmoid


def test_exercise_1_sigmoid(work):
    cases = {"z is 0": lambda z: z.fill(0)}
    for shape in ((8,), (3, 4), (2, 1, 3)):

        def problem(rng, *_, shape=shape):
            return (rng.normal(0, 3, shape),)

        compare(work.sigmoid, sigmoid, problem, "sigmoid(z)", cases)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = answer(work.sigmoid, np.array([-1000.0, 1000.0]))
    if not np.array_equal(found, [0, 1]):
        fail(f"sigmoid([-1000, 1000]) is {found}, and [0. 1.] would be right")
    if warned:
        fail(f"sigmoid([-1000, 1000]) is right, but warns: {warned[0].message}")


def test_exercise_2_highway(work):
    cases = {words: lambda layer, x, change=change: change(layer) for words, change in LAYER_CASES.items()}
    cases["x is 0"] = lambda layer, x: x.fill(0)

    def problem(rng, N, d):
        return made_up_layer(rng, d), rng.normal(size=(N, d))

    compare(work.highway, highway, problem, ("y", "kept"), cases)


def test_exercise_3_new_layer(work):
    for d, gate_bias in ((50, -2), (80, 1.5)):
        rng = np.random.default_rng(d)
        first, second = (layer_of(work, rng, d, gate_bias) for _ in range(2))
        again = layer_of(work, np.random.default_rng(d), d, gate_bias)
        for name, value in (("b_H", 0), ("b_T", gate_bias)):
            if not (first[name] == value).all():
                fail(f"{name} is {first[name][0]:.4g}, ..., and {value} would be right for gate_bias = {gate_bias}")
        if not np.array_equal(first["W_H"], again["W_H"]) or not np.array_equal(first["W_T"], again["W_T"]):
            fail("two generators of the same seed give different layers: is every number drawn from rng?")
        for name, other in (("a second W_H", second["W_H"]), ("a second W_T", second["W_T"]), ("W_T", first["W_T"])):
            if np.isclose(first["W_H"], other).all():
                fail(f"W_H and {name} hold the same numbers: rng must draw each anew")
        for name in ("W_H", "W_T"):
            uniform_within(1 / np.sqrt(d), first[name], f"{name} for d = {d}")


def layer_of(work, rng, d, gate_bias):
    """The student's layer, if its arrays have the right names and shapes and hold floats."""
    layer = answer(work.new_layer, rng, d, gate_bias, may_change=True)
    for name, array, _ in parts(layer, made_up_layer(np.random.default_rng(0), d), "layer"):
        if array.dtype.kind != "f":
            fail(f"{name} holds {array.dtype}, and floats would be right: a training adds fractions to them")
    return layer


def uniform_within(bound, found, name):
    largest, mean, deviation = np.abs(found).max(), found.mean(), found.std()
    if not 0.97 * bound < largest <= bound:
        fail(f"the largest size in {name} is {largest:.4f}, and just below {bound:.4f} would be right")
    if abs(mean) > bound / 10:
        fail(f"the mean of {name} is {mean:.4f}, and about 0 would be right")
    if abs(deviation / bound - 3**-0.5) > 0.05:
        fail(f"the standard deviation of {name} is {deviation:.4f}; {bound / np.sqrt(3):.4f} would be uniform")
