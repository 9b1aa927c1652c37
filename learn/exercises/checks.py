"""What the tests of all stages use: made-up layers, the complex step, and comparisons that say what differs."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

D = 5
STEP = 1e-30


def made_up_layer(rng, d=D):
    """Arrays in which no two numbers are alike."""
    return {
        "W_H": rng.normal(0, 0.5, (d, d)),
        "b_H": rng.normal(0, 0.5, d),
        "W_T": rng.normal(0, 0.5, (d, d)),
        "b_T": rng.normal(-1, 0.5, d),
    }


def made_up_net(rng, depth=3, classes=4):
    return {
        "layers": [made_up_layer(rng) for _ in range(depth)],
        "W_out": rng.normal(size=(classes, D)),
        "b_out": rng.normal(size=classes),
    }


def derivatives(function, array):
    """d function() / d array, entry by entry, by the complex step: function() reads the array, which
    is changed in place and put back.  The array must be complex."""
    found = np.empty(array.shape)
    for place in np.ndindex(array.shape):
        before = array[place]
        array[place] = before + 1j * STEP
        found[place] = np.imag(function()) / STEP
        array[place] = before
    return found


def as_complex(layer):
    return {name: array.astype(complex) for name, array in layer.items()}


def check(exercise, *functions):
    """For the cells of a notebook: prints whether these functions pass the test of an exercise."""
    work = SimpleNamespace(**{function.__name__: function for function in functions})
    try:
        test_of(exercise)(work)
    except (pytest.fail.Exception, NotImplementedError) as failure:
        print(f"exercise {exercise}: {failure}")
    else:
        print(f"exercise {exercise}: right")


def test_of(exercise):
    for path in Path(__file__).parent.glob("test_stage_*.py"):
        for name, test in vars(importlib.import_module(path.stem)).items():
            if name.startswith(f"test_exercise_{exercise}_"):
                return test
    raise ValueError(f"there is no exercise {exercise}")


def fail(line):
    pytest.fail(line, pytrace=False)


def must_be_array(found, shape, name):
    if not isinstance(found, np.ndarray):
        fail(f"{name} must be a NumPy array, not {type(found).__name__}")
    if found.shape != shape:
        fail(f"{name} has the shape {found.shape}, and {shape} would be right")


def must_be_pair(found, line):
    if not isinstance(found, tuple) or len(found) != 2:
        fail(line)


def must_agree(found, true, name, guesses=()):
    """Fails with a line that names the largest difference and, of the (array, hint), the one that fits."""
    must_be_array(found, true.shape, name)
    error = np.abs(found - true)
    if np.nanmax(error) <= 1e-9 * (1 + np.abs(true).max()) and not np.isnan(error).any():
        return
    place = np.unravel_index(np.nan_to_num(error, nan=np.inf).argmax(), error.shape)
    line = f"{name}{list(map(int, place))} is {found[place]:.6g}, and {true[place]:.6g} would be right"
    for guess, hint in guesses:
        if np.shape(guess) == found.shape and np.allclose(found, guess, rtol=1e-9, atol=1e-12):
            line += f": {hint}"
            break
    fail(line)
