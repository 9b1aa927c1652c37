"""check_layer(layer, d): what is wrong with somebody's highway layer.

A highway layer of d units computes (equation 3 of the paper)

    H = f(W_H x + b_H)           f is tanh, ReLU or another activation
    T = sigmoid(W_T x + b_T)     b_T is about -2 at the start, so that T is about 0.12
    y = H T + x (1 - T)

A batch of N inputs is a matrix x (N, d), with an input in each row.  docs/why_not.md shows how the
check is used.  It needs NumPy alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import SimpleNamespace

import numpy as np

ARRAYS = ("W_H", "b_H", "W_T", "b_T")
FEWEST_UNITS = 8
COPIES = 30
HIGHEST_T = 0.4  # of a mean T at the start; b_T = -0.4 gives it
LOWEST_T = 1e-3  # b_T = -7 gives 0.0009
FADED = 1e-6  # thirty plain layers leave 1e-7 of the signal; thirty highway layers with b_T = -2, 1e-2
EXPLODED = 1e6
OPEN = 40.0  # a gate bias that makes T exactly 1 in floating point; its negative makes T 4e-18


def check_layer(layer, d: int, backward=None) -> list[str]:
    """Returns a line for each fault found in a highway layer of d units: what is wrong, and what
    would be right.  The list of a layer without a fault is empty.

    `layer` is one of

    - a function y = layer(x) with the weights of its start inside; x and y are (N, d).  From
      outside one sees shapes, the mean T, whether T stays below 1, and the signal and the gradient
      after 30 copies
    - a function y = layer(x, W_H, b_H, W_T, b_T).  It is compared with equation 3 at random
      weights, for whatever activation it has
    - a dict of the arrays W_H (d, d), b_H (d,), W_T and b_T at their start, or an object that has
      them: shapes, the mean T, and whether H and T have weights of their own

    `backward` may be given with a function: backward(x, dy), or backward(x, dy, W_H, b_H, W_T, b_T).
    It returns dx, or a tuple of dx and the gradients of the four arrays, summed over the batch.
    They are compared with the complex step, or with finite differences where the layer does not
    take complex numbers.

    Raises ValueError for a d below 8, where one unit's weights hide what is common to all, and
    TypeError if `layer` is none of the three."""
    if isinstance(d, bool) or not isinstance(d, (int, np.integer)) or d < FEWEST_UNITS:
        raise ValueError(f"d is the number of units, a whole number of at least {FEWEST_UNITS}, not {d!r}")
    rng = np.random.default_rng(0)
    if callable(layer):
        with np.errstate(all="ignore"):
            return check_function(layer, int(d), backward, rng)
    if backward is not None:
        raise TypeError("backward needs a layer that is a function: arrays alone do not say what y is")
    arrays = dict(layer) if isinstance(layer, Mapping) else dict(getattr(layer, "__dict__", {}))
    if not any(name in arrays for name in ARRAYS):
        raise TypeError(
            "layer must be a function y = layer(x), a function y = layer(x, W_H, b_H, W_T, b_T), "
            f"or hold the arrays W_H, b_H, W_T, b_T; this is {type(layer).__name__}"
        )
    return check_arrays(arrays, int(d), rng)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def start_of(rng: np.random.Generator, d: int) -> SimpleNamespace:
    """The arrays of a layer at the start that this project uses."""
    bound = 1 / np.sqrt(d)
    W_H, W_T = rng.uniform(-bound, bound, (2, d, d))
    return SimpleNamespace(W_H=W_H, b_H=np.zeros(d), W_T=W_T, b_T=np.full(d, -2.0))


def random_arrays(rng: np.random.Generator, d: int) -> SimpleNamespace:
    """Arrays in which no two numbers are alike, the biases included."""
    W_H, W_T = rng.normal(0, 1 / np.sqrt(d), (2, d, d))
    b_H, b_T = rng.normal(0, 0.5, (2, d))
    return SimpleNamespace(W_H=W_H, b_H=b_H, W_T=W_T, b_T=b_T - 1)


def takes_arrays(layer: Callable) -> bool:
    """Whether it is layer(x, W_H, b_H, W_T, b_T), and not layer(x)."""
    try:
        inspect.signature(layer).bind(*range(1 + len(ARRAYS)))
    except (TypeError, ValueError):
        return False
    try:
        inspect.signature(layer).bind("x")
    except TypeError:
        return True
    return False


def check_function(layer: Callable, d: int, backward, rng) -> list[str]:
    if not takes_arrays(layer):
        found = check_shapes(layer, d, rng) or check_from_outside(layer, d, rng)
        if backward is None or found:
            return found
        return check_backward(layer, backward, rng.normal(size=(5, d)), {}, rng)

    def at(arrays):
        return lambda x: layer(x, arrays.W_H, arrays.b_H, arrays.W_T, arrays.b_T)

    found = check_shapes(at(random_arrays(rng, d)), d, rng)
    found = found or check_equation_3(lambda x, arrays: at(arrays)(x), d, rng)
    if backward is None or found:
        return found
    return check_backward(layer, backward, rng.normal(size=(5, d)), vars(random_arrays(rng, d)), rng)


# ---- Shapes -------------------------------------------------------------------------------------


def check_shapes(layer: Callable, d: int, rng) -> list[str]:
    """Whether y has the shape of x, and each of its rows depends on the same row of x alone."""
    n = d + 3  # so that a batch has another size than a layer
    x = rng.normal(size=(n, d))
    given = x.copy()
    try:
        y = np.asarray(layer(x))
    except Exception as error:
        return [why_it_fails(layer, x, error)]
    if y.shape != x.shape:
        return [f"y has the shape {y.shape} for x {x.shape}: a highway layer keeps the shape, because y adds x to H"]
    if not np.isfinite(y).all():
        return ["y holds NaN or infinity for inputs of about 1: look for an overflow, log or division in the layer"]
    if not np.array_equal(x, given):
        return ["the layer changes its input x in place, and the carried x with it: write y into another array"]
    if not np.array_equal(y, np.asarray(layer(x))):
        return ["two calls with the same x differ: switch dropout and other random parts off for this check"]
    square = x[:d]
    one_by_one = np.concatenate([np.asarray(layer(square[i : i + 1])) for i in range(d)])
    if not np.allclose(np.asarray(layer(square)), one_by_one, rtol=1e-3, atol=1e-4):
        return [
            "a row of y depends on the other rows of the batch: "
            "a bias is added along the wrong axis (b, not b[:, None]), or a mean or softmax is taken over the batch"
        ]
    return []


def why_it_fails(layer: Callable, x: np.ndarray, error: Exception) -> str:
    """The line for a layer that raises an error for x (N, d)."""
    n, d = x.shape
    said = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if gives(layer, x.T):
        return f"the layer wants x as {x.T.shape}, with an input in each column: check lambda x: layer(x.T).T"
    if gives(layer, x[:d]):
        return (
            f"the layer works for a batch of {d} inputs, as many as it has units, but not for {n} ({said}): "
            "a bias is added along the wrong axis (b, not b[:, None])"
        )
    return f"the layer fails for x of shape {x.shape}, {n} inputs of {d} units ({said}): y of the same shape is wanted"


def gives(layer: Callable, x: np.ndarray) -> bool:
    """Whether the layer has an output of the shape of x."""
    try:
        return np.shape(layer(x)) == x.shape
    except Exception:
        return False


# ---- A function alone ---------------------------------------------------------------------------


def check_from_outside(layer: Callable, d: int, rng) -> list[str]:
    """What a function y = layer(x) shows of its start."""
    large = 100 * rng.normal(size=(64, d))
    if np.min(layer(large)) >= 0:
        return ["y is never negative though x is: the activation belongs to H alone, not to the sum H T + x (1 - T)"]
    return check_mean_gate(layer, d, rng) or check_growth(layer, large) or check_copies(layer, d, rng)


def jacobian(layer: Callable, x: np.ndarray) -> np.ndarray:
    """dy_i/dx_j (d, d) at one input x (d,), by central differences."""
    d = len(x)
    step = 1e-2 if np.asarray(layer(x[None])).dtype == np.float32 else 1e-5
    above = np.asarray(layer(x + step * np.eye(d)), np.float64)
    below = np.asarray(layer(x - step * np.eye(d)), np.float64)
    return (above - below).T / (2 * step)


def check_mean_gate(layer: Callable, d: int, rng) -> list[str]:
    """The mean T, from how much of each x_i arrives in y_i: dy_i/dx_i is 1 - T plus what comes
    through the weights, which has no sign of its own."""
    carried = np.mean([np.diag(jacobian(layer, x)) for x in rng.normal(0, 0.5, (8, d))])
    T = 1 - carried
    if carried > 1.05:
        return [
            f"x is carried {carried:.2f} times, so T would be {T:.2f}: T must lie between 0 and 1, "
            "T = sigmoid(W_T x + b_T)"
        ]
    if abs(carried) < 0.03:
        return ["x itself does not arrive in y: y = H T + x (1 - T) carries it past the weights, unit by unit"]
    if T > HIGHEST_T:
        return [
            f"mean T is {T:.2f} at the start: b_T = -2 gives 0.12, mostly carry; "
            f"if b_T is -2 already, it is subtracted, or x is multiplied by T and not by 1 - T, or by weights"
        ]
    if T < LOWEST_T:
        return [
            f"mean T is {T:.1g} at the start, so the layer does nothing but carry x: b_T of -1 to -4 would be right"
        ]
    return []


def check_growth(layer: Callable, large: np.ndarray) -> list[str]:
    """Whether y grows as x does where x is large: unit by unit it lies between x and H."""
    y = np.asarray(layer(large), np.float64)
    y_of_larger = np.asarray(layer(10 * large), np.float64)
    growth = np.abs(y_of_larger).mean() / max(np.abs(y).mean(), 1e-30)
    if not np.isfinite(growth) or growth > 30:
        return [
            f"y grows {growth:.0f} times where x grows 10 times: T does not stay below 1; "
            "T = sigmoid(W_T x + b_T), not softplus, ReLU or the sum itself"
        ]
    if growth < 2:
        return [
            f"y stays below {np.abs(y_of_larger).max():.1f} for any x, so x is not carried: "
            "the activation belongs to H alone, not to the sum H T + x (1 - T)"
        ]
    return []


def check_copies(layer: Callable, d: int, rng) -> list[str]:
    """How much of the difference between inputs, and of a gradient, passes 30 copies of the layer."""
    state = rng.normal(size=(8, d))
    spread_before = state.std(axis=0).mean()
    matrices = []
    for _ in range(COPIES):
        matrices.append(jacobian(layer, state[0]))
        state = np.asarray(layer(state))
    spread = state.astype(np.float64).std(axis=0).mean() / spread_before
    dy = rng.normal(size=(8, d))
    norm_before = np.linalg.norm(dy)
    for matrix in reversed(matrices):
        dy = dy @ matrix
    gradient = np.linalg.norm(dy) / norm_before
    found = []
    if not spread < EXPLODED:
        found.append(f"after {COPIES} copies the inputs differ {spread:.1g} times as much: smaller W_H, or b_T of -4")
    elif spread < FADED:
        found.append(f"after {COPIES} copies {spread:.1g} of the difference between inputs is left: x is not carried")
    if not gradient < EXPLODED:
        found.append(f"the gradient grows {gradient:.1g} times through {COPIES} copies: smaller W_H, or b_T of -4")
    elif gradient < FADED:
        found.append(f"of the gradient {gradient:.1g} comes back through {COPIES} copies: 1 - T must carry it")
    return found


# ---- Equation 3 ---------------------------------------------------------------------------------


def check_equation_3(layer: Callable, d: int, rng) -> list[str]:
    """Compares layer(x, arrays) with equation 3, without knowing its activation: with the gate open
    y is H, and with the gate shut y is x."""
    arrays = random_arrays(rng, d)
    x = rng.normal(size=(7, d))
    zeros = np.zeros((d, d))
    shut = SimpleNamespace(**vars(arrays) | {"W_T": zeros, "b_T": np.full(d, -OPEN)})
    opened = SimpleNamespace(**vars(arrays) | {"W_T": zeros, "b_T": np.full(d, OPEN)})
    H = np.asarray(layer(x, opened), np.float64)
    y_shut = np.asarray(layer(x, shut), np.float64)
    if is_close(H, y_shut):
        return ["y does not change with b_T: T = sigmoid(W_T x + b_T)"]
    if is_close(H, x):
        return ["with an open gate (b_T = 40) y is x, not H: b_T has the wrong sign, or H and x are exchanged"]
    found = check_shut_gate(y_shut, x)
    found = found or check_open_gate(layer, x, opened)
    if found:
        return found
    found, orientation = check_argument_of_H(layer, x, arrays, opened, H)
    if found:
        return found
    return check_gate(np.asarray(layer(x, arrays), np.float64), x, H, arrays, orientation)


def is_close(one, other) -> bool:
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-3, atol=1e-4)


def check_shut_gate(y: np.ndarray, x: np.ndarray) -> list[str]:
    """y where b_T = -40 and W_T = 0, so that T = 0."""
    if is_close(y, x):
        return []
    if is_close(y, np.zeros_like(y)):
        return ["with a shut gate (b_T = -40) y is 0, not x: the carry gate is T, and 1 - T would be right"]
    if is_close(y, np.ones_like(y)):
        return ["with a shut gate (b_T = -40) y is 1, not x: y = H T + (1 - T) lacks x, and x (1 - T) would be right"]
    if np.abs(y).max() > 10 * np.abs(x).max():
        return [
            f"with b_T = -40 y is as large as {np.abs(y).max():.0f}, not x: "
            "T is not between 0 and 1, and T = sigmoid(W_T x + b_T) would be right"
        ]
    for name, activation in (("tanh", np.tanh), ("ReLU", lambda z: np.maximum(z, 0)), ("sigmoid", sigmoid)):
        if is_close(y, activation(x)):
            return [f"with a shut gate (b_T = -40) y is {name} of x, not x: {name} belongs to H alone, not to the sum"]
    worst = np.unravel_index(np.abs(y - x).argmax(), y.shape)
    return [
        f"with a shut gate (b_T = -40) y must be x: where x is {x[worst]:.3f}, y is {y[worst]:.3f}; "
        "y = H T + x (1 - T) carries x itself"
    ]


def check_open_gate(layer: Callable, x: np.ndarray, opened) -> list[str]:
    """y where b_T = 40 and W_T = 0, so that T = 1; with W_H = 0 it is the same for every x."""
    constant = SimpleNamespace(**vars(opened) | {"W_H": np.zeros_like(opened.W_H)})
    y = np.asarray(layer(x, constant), np.float64)
    if is_close(y, np.broadcast_to(y[:1], y.shape)):
        return []
    rest = y - x
    if is_close(rest, np.broadcast_to(rest[:1], rest.shape)):
        return ["with an open gate (b_T = 40) x is added to H: x must be multiplied by 1 - T"]
    if np.abs(y).max() > 10 * np.abs(x).max():
        return ["with b_T = 40 y is far larger than H and x: T must not exceed 1, T = sigmoid(W_T x + b_T)"]
    from_mean = x - x.mean(axis=0)
    carried = (from_mean * y).sum() / (from_mean**2).sum()
    rest = y - carried * x
    if is_close(rest, np.broadcast_to(rest[:1], rest.shape)):
        return [
            f"with an open gate (b_T = 40) x is carried {carried:.2g} times, and 0 would be right: "
            "T = sigmoid(W_T x + b_T) is 1 there, and x is multiplied by 1 - T"
        ]
    return ["with an open gate (b_T = 40) and W_H = 0 y still changes with x: y must be H = f(W_H x + b_H) alone"]


def check_argument_of_H(layer: Callable, x, arrays, opened, H) -> tuple[list[str], str]:
    """What H is a function of: a list of faults, and how W_H is used, "W x" or "x W".

    With W_H = 1, b_H = 0 and an open gate the layer is its own activation."""
    d = x.shape[1]
    bare = SimpleNamespace(**vars(opened) | {"W_H": np.eye(d), "b_H": np.zeros(d)})

    def f(z):
        return np.asarray(layer(z, bare), np.float64)

    if is_close(H, f(x @ arrays.W_H.T + arrays.b_H)):
        return [], "W x"
    if is_close(H, f(x @ arrays.W_H + arrays.b_H)):
        return [], "x W"
    if is_close(H, f(x @ arrays.W_H.T)) or is_close(H, f(x @ arrays.W_H)):
        return ["b_H is not used: H = f(W_H x + b_H)"], ""
    return ["H is not f(W_H x + b_H) with any f that acts on each unit alone"], ""


def check_gate(y: np.ndarray, x: np.ndarray, H: np.ndarray, arrays, orientation: str) -> list[str]:
    """T as it follows from y, x and H, beside sigmoid(W_T x + b_T)."""
    measurable = np.abs(H - x) > 0.1
    T = (y - x)[measurable] / (H - x)[measurable]

    def is_T(of_all_units) -> bool:
        return is_close(T, of_all_units[measurable])

    if orientation == "W x":
        z = x @ arrays.W_T.T
        transposed = x @ arrays.W_T
        z_H = x @ arrays.W_H.T
    else:
        z = x @ arrays.W_T
        transposed = x @ arrays.W_T.T
        z_H = x @ arrays.W_H
    other = "x W" if orientation == "W x" else "W x"
    if is_T(sigmoid(z + arrays.b_T)):
        return []
    known_faults = (
        (sigmoid(transposed + arrays.b_T), f"W_T is transposed: H uses W_H as {orientation}, T uses W_T as {other}"),
        (sigmoid(z_H + arrays.b_T), "T is computed with W_H: the gate must have weights W_T of its own"),
        (sigmoid(z_H + arrays.b_H), "T is computed with W_H and b_H: the gate must have W_T and b_T of its own"),
        (sigmoid(z), "b_T is not used: T = sigmoid(W_T x + b_T)"),
        (sigmoid(z + arrays.b_H), "T is computed with b_H: T = sigmoid(W_T x + b_T)"),
        (sigmoid(z - arrays.b_T), "b_T is subtracted: T = sigmoid(W_T x + b_T)"),
        (1 - sigmoid(z + arrays.b_T), "H and x are exchanged: y = H T + x (1 - T), with T on H"),
        (sigmoid(sigmoid(z + arrays.b_T)), "the sigmoid is taken twice: T = sigmoid(W_T x + b_T)"),
        (np.logaddexp(0, z + arrays.b_T), "T is a softplus, which exceeds 1: T = sigmoid(W_T x + b_T)"),
        (np.tanh(z + arrays.b_T), "T is a tanh, which is negative for half its arguments: T = sigmoid(W_T x + b_T)"),
        (np.clip((z + arrays.b_T) / 6 + 0.5, 0, 1), "T is a hard sigmoid, which has no gradient where it is 0 or 1"),
        (np.clip((z + arrays.b_T) / 5 + 0.5, 0, 1), "T is a hard sigmoid, which has no gradient where it is 0 or 1"),
        (
            softmax(z + arrays.b_T),
            "T is a softmax over the units, which share one opening: take a sigmoid of each unit",
        ),
    )
    for formula, line in known_faults:
        if is_T(formula):
            return [line]
    wanted = sigmoid(z + arrays.b_T)[measurable]
    worst = np.abs(T - wanted).argmax()
    return [f"T is {T[worst]:.3f} where sigmoid(W_T x + b_T) is {wanted[worst]:.3f}"]


def softmax(z):
    powers = np.exp(z - z.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


# ---- The gradient -------------------------------------------------------------------------------


def check_backward(layer: Callable, backward: Callable, x: np.ndarray, arrays: dict, rng) -> list[str]:
    """Compares what backward returns with derivatives of sum(dy * layer(x))."""
    dy = rng.normal(size=x.shape)
    given = {"x": x, **arrays}
    returned = backward(x, dy.copy(), *arrays.values())
    if not isinstance(returned, tuple):
        returned = (returned,)
    if len(returned) not in (1, len(given)):
        return [
            f"backward returns {len(returned)} arrays: dx alone, or dx, dW_H, db_H, dW_T, db_T would be right"
            if arrays
            else f"backward returns {len(returned)} arrays: dx alone would be right"
        ]
    found = []
    for name, gradient in zip(given, returned, strict=False):
        gradient = np.asarray(gradient)
        if gradient.shape != given[name].shape:
            found.append(f"d{name} has the shape {gradient.shape}: that of {name}, {given[name].shape}, would be right")
            continue
        true, how = derivative(layer, given, name, dy)
        tolerance = 1e-8 if how == "the complex step" else 1e-3
        error = np.abs(gradient - true)
        if not error.max() <= tolerance * (1 + np.abs(true).max()):
            worst = np.unravel_index(error.argmax(), error.shape)
            place = ", ".join(map(str, worst))
            line = f"d{name}[{place}] is {gradient[worst]:.4f} by backward, {true[worst]:.4f} by {how}"
            if name.startswith("W") and is_close(gradient.T, true):
                line += ": it is transposed"
            found.append(line)
    if found and arrays and "dx" in found[0].split("[")[0]:
        found[0] += hint_of_dx(np.asarray(returned[0]), x, dy, arrays, derivative(layer, given, "x", dy)[0])
    return found


def hint_of_dx(dx, x, dy, arrays, true) -> str:
    """What is missing in a wrong dx of equation 3, if that can be told."""
    for W_T in (arrays["W_T"], arrays["W_T"].T):
        T = sigmoid(x @ W_T + arrays["b_T"])
        if is_close(true - dx, (1 - T) * dy):
            return ": the carried part (1 - T) dy is missing"
    return ""


def derivative(layer: Callable, given: dict, name: str, dy: np.ndarray) -> tuple[np.ndarray, str]:
    """d/dp of sum(dy * layer(...)) for every number p of one array, and how it was found."""

    def total(array):
        return (dy * np.asarray(layer(*(given | {name: array}).values()))).sum()

    values = given[name].astype(np.float64)
    is_complex = takes_complex(total, values)
    found = np.empty_like(values)
    for place in np.ndindex(values.shape):
        if is_complex:
            moved = values.astype(complex)
            moved[place] += 1e-30j
            found[place] = total(moved).imag / 1e-30
            continue
        above = values.copy()
        below = values.copy()
        above[place] += 1e-5
        below[place] -= 1e-5
        found[place] = (total(above) - total(below)) / 2e-5
    return found, "the complex step" if is_complex else "finite differences"


def takes_complex(total: Callable, values: np.ndarray) -> bool:
    """Whether the layer computes in complex numbers, and hands the imaginary part on."""
    try:
        return np.imag(total(values + 1e-30j)) != 0
    except Exception:
        return False


# ---- Arrays alone -------------------------------------------------------------------------------


def check_arrays(arrays: dict, d: int, rng) -> list[str]:
    """Shapes and start of W_H, b_H, W_T and b_T."""
    missing = [name for name in ARRAYS if name not in arrays]
    if missing:
        return [f"{missing[0]} is missing: a highway layer has W_H, b_H, W_T and b_T"]
    held = {name: np.asarray(arrays[name]) for name in ARRAYS}
    found = []
    for name, array in held.items():
        shape = (d, d) if name.startswith("W") else (d,)
        if array.shape != shape and not (len(shape) == 1 and array.shape == (1, d)):
            found.append(f"{name} has the shape {array.shape}: {shape} would be right")
        elif array.dtype.kind != "f":
            found.append(f"{name} holds {array.dtype}: floats would be right, which training can change by little")
        elif not np.isfinite(array).all():
            found.append(f"{name} holds NaN or infinity")
    return found or check_start(held, d, rng)


def check_start(held: dict, d: int, rng) -> list[str]:
    found = []
    W_H = held["W_H"]
    W_T = held["W_T"]
    if np.shares_memory(W_H, W_T):
        found.append("W_H and W_T are the same array, so training changes both: W_T must be an array of its own")
    elif np.array_equal(W_H, W_T) and W_H.any():
        found.append("W_H and W_T hold the same numbers: draw each from random numbers of its own")
    elif np.array_equal(W_H, W_T.T) and W_H.any():
        found.append("W_T is W_H transposed: draw each from random numbers of its own")
    if (W_H[:1] == W_H).all():
        found.append("all units have the same W_H, and stay alike in training: draw W_H at random")
    x = rng.normal(0, 0.5, (64, d))
    T = sigmoid(x @ W_T.T + held["b_T"].reshape(1, d))
    if T.mean() > HIGHEST_T:
        found.append(f"mean T is {T.mean():.2f} at the start: b_T = -2 gives 0.12, mostly carry, and would be right")
    if T.mean() < LOWEST_T:
        found.append(f"mean T is {T.mean():.1g} at the start, so the layer only carries x: b_T of -1 to -4 is right")
    largest = np.linalg.norm(W_H, 2)
    if largest > 10:
        found.append(f"W_H stretches a state up to {largest:.0f} times: numbers within 1 / sqrt(d) would be right")
    return found
