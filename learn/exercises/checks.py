"""What the tests of all stages use: equation 3, the complex step, and comparisons that say what differs."""

import copy
import functools
import importlib
import inspect
import traceback
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

SIZES = ((6, 5), (1, 3), (4, 4), (3, 7))  # (N, d) of the problems that are drawn
STEP = 1e-30

# ---- Right answers ------------------------------------------------------------------------------


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def highway(layer, x):
    H = np.tanh(x @ layer["W_H"].T + layer["b_H"])
    T = sigmoid(x @ layer["W_T"].T + layer["b_T"])
    return H * T + x * (1 - T), (x, H, T)


def made_up_layer(rng, d):
    """Arrays in which no two numbers are alike."""
    return {
        "W_H": rng.normal(0, 0.5, (d, d)),
        "b_H": rng.normal(0, 0.5, d),
        "W_T": rng.normal(0, 0.5, (d, d)),
        "b_T": rng.normal(-1, 0.5, d),
    }


def as_complex(layer):
    return {name: array.astype(complex) for name, array in layer.items()}


def derivatives(loss, array):
    """d loss() / d array, entry by entry, by the complex step: loss() reads the array, which is complex, is
    changed in place and put back."""
    found = np.empty(array.shape)
    for place in np.ndindex(array.shape):
        before = array[place]
        array[place] = before + 1j * STEP
        found[place] = np.imag(loss()) / STEP
        array[place] = before
    return found


# ---- Special cases in which a layer may be right ------------------------------------------------


def same_gate(layer, z):
    layer["W_T"] = 0 * layer["W_T"]
    layer["b_T"] = np.full_like(layer["b_T"], z)


LAYER_CASES = {
    "W_H is symmetric": lambda layer: layer.update(W_H=layer["W_H"] + layer["W_H"].T),
    "W_T is symmetric": lambda layer: layer.update(W_T=layer["W_T"] + layer["W_T"].T),
    "b_H is 0": lambda layer: layer.update(b_H=0 * layer["b_H"]),
    "b_T is 0": lambda layer: layer.update(b_T=0 * layer["b_T"]),
    "W_H is 0": lambda layer: layer.update(W_H=0 * layer["W_H"]),
    "W_T is 0": lambda layer: layer.update(W_T=0 * layer["W_T"]),
    "every T is 0": lambda layer: same_gate(layer, -50),
    "every T is 1": lambda layer: same_gate(layer, 50),
    "every T is 1/2": lambda layer: same_gate(layer, 0),
}

# ---- Comparisons --------------------------------------------------------------------------------


def fail(line):
    raise pytest.fail.Exception(line, pytrace=False) from None


def answer(function, *arguments, may_change=False):
    """What the function returns.  Fails if it raises, returns nothing, or changes an argument."""
    given = arguments if may_change else copy.deepcopy(arguments)
    try:
        found = function(*given)
    except NotImplementedError as error:
        fail(str(error))
    except Exception as error:
        fail(f"{function.__name__}() raises {type(error).__name__}: {error}{place_of(error, function)}")
    if found is None:
        fail(f"{function.__name__}() returns nothing")
    for name, before, after in zip(inspect.signature(function).parameters, arguments, given, strict=False):
        if not may_change and not same(before, after):
            fail(f"{function.__name__}() changes its argument {name}, which is needed again")
    return found


def place_of(error, function):
    """The last line of the function's file that the error came through."""
    file = function.__code__.co_filename
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" (line {frames[-1].lineno}: {frames[-1].line})" if frames else ""


def same(before, after):
    try:
        np.testing.assert_equal(after, before)
    except AssertionError:
        return False
    return True


def parts(found, true, name):
    """Yields the name, the array found and the true one of all arrays.  Fails if they are nested in another way."""
    kind = type(true)
    label = name if isinstance(name, str) else f"what is returned, ({', '.join(name)}),"
    if kind in (tuple, list, dict):
        if not isinstance(found, kind):
            fail(f"{label} must be a {kind.__name__}, not {type(found).__name__}")
        if kind is dict and set(found) != set(true):
            fail(f"{label} has the keys {', '.join(map(str, found))}; right are {', '.join(true)}")
        if len(found) != len(true):
            fail(f"{label} has the length {len(found)}, and {len(true)} would be right")
        for place in true if kind is dict else range(len(true)):
            inner = f'{name}["{place}"]' if kind is dict else f"{name}[{place}]"
            yield from parts(found[place], true[place], inner if isinstance(name, str) else name[place])
        return
    if not isinstance(found, np.ndarray | np.number | float):
        fail(f"{label} must be {'an array' if np.ndim(true) else 'a number'}, not {type(found).__name__}")
    if np.shape(found) != np.shape(true):
        fail(f"{label} has the shape {np.shape(found)}, and {np.shape(true)} would be right")
    yield name, np.asarray(found), np.asarray(true)


def agree(found, true):
    return np.allclose(found, true, rtol=1e-9, atol=1e-9)


def compare(function, true, draw, name, cases=None, arguments=lambda *problem: problem, **options):
    """At several drawn problems the function must return what true(*problem) returns.

    If it does not, the test says which number is wrong, and in which special cases it would be right.
    arguments(*problem) are the function's arguments; a case changes a problem in place."""

    def found_and_true(number, case=lambda *problem: None):
        problem = draw(np.random.default_rng(number), *SIZES[number])
        case(*problem)
        right = true(*problem)
        return list(parts(answer(function, *arguments(*problem), **options), right, name))

    for number, (N, d) in enumerate(SIZES):
        size = f"for N = {N}, d = {d}"
        try:
            everything = found_and_true(number)
        except pytest.fail.Exception as failure:
            fail(f"{size}: {failure}" if number else str(failure))
        for label, found, right in everything:
            if not agree(found, right):
                where = right_where(cases or {}, label, functools.partial(found_and_true, number))
                fail(difference(label, found, right, size, everything) + where)


def difference(name, found, true, size, everything):
    """The largest difference, and whether it is of a simple kind."""
    error = np.nan_to_num(np.abs(found - true), nan=np.inf)
    place = np.unravel_index(error.argmax(), error.shape)
    index = list(map(int, place)) if place else ""
    line = f"{name}{index} is {found[place]:.6g}, and {true[place]:.6g} would be right"
    factor = found[place] / true[place] if true[place] else 0
    telling = true.size > 1 or agree(factor, np.round(factor))
    if factor and telling and agree(found, factor * true):
        line += f". It is {factor:.4g} times the right one, {size}"
    elif true.ndim == 2 and len(true) == len(true.T) and agree(found, true.T):
        line += ". It is transposed"
    for other, _, array in everything:
        if other != name and found.shape == array.shape and agree(found, array):
            return f"{line}. This is {other}"
    return line


def right_where(cases, label, found_and_true):
    """Words on the first two cases in which this array is right, and not 0, which would hide a wrong factor."""
    where = []
    for words, case in cases.items():
        try:
            everything = found_and_true(case)
        except pytest.fail.Exception:
            continue
        if any(name == label and agree(*arrays) and not agree(arrays[1], 0) for name, *arrays in everything):
            where.append(words)
    return f". It is right where {', and where '.join(where[:2])}" if where else ""


# ---- Which test, and in which order -------------------------------------------------------------


def test_of(exercise):
    for path in Path(__file__).parent.glob("test_stage_*.py"):
        for name, test in vars(importlib.import_module(path.stem)).items():
            if name.startswith(f"test_exercise_{exercise}_"):
                return test
    raise ValueError(f"there is no exercise {exercise}")


def builds_on(*exercises):
    """If the test fails and that of an earlier exercise does, too, it names the earlier one."""

    def decorate(test):
        @functools.wraps(test)
        def run(work):
            try:
                test(work)
            except pytest.fail.Exception as failure:
                for exercise in exercises:
                    try:
                        inspect.unwrap(test_of(exercise))(work)
                    except pytest.fail.Exception as earlier:
                        fail(f"begin with exercise {exercise}. {earlier}")
                raise failure

        return run

    return decorate


def check(exercise, *functions):
    """For the cells of a notebook: prints whether these functions pass the test of an exercise."""
    work = SimpleNamespace(**{function.__name__: function for function in functions})
    report(f"exercise {exercise}", lambda: test_of(exercise)(work))


def check_answer(function, true, *arguments):
    """For other cells: prints whether function(*arguments) returns what is true."""
    name = function.__name__
    report(name, lambda: compare(function, lambda *_: true, lambda *_: arguments, name, may_change=True))


def report(name, test):
    try:
        test()
    except pytest.fail.Exception as failure:
        print(f"{name}: {failure}")
    else:
        print(f"{name}: right")
