"""check_layer(layer, d): the first thing in which somebody's layer differs from a highway layer.

A highway layer of d units computes (equation 3 of the paper)

    H = f(W_H x + b_H)           f is tanh, ReLU or another activation
    T = sigmoid(W_T x + b_T)     b_T is about -2 at the start, so that T is about 0.12
    y = H T + x (1 - T)

A batch of N inputs is a matrix x (N, d), with an input in each row.  docs/why_not.md shows how the
check is used.  It needs NumPy alone; a layer of PyTorch or JAX is called as it is.
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable

import numpy as np

ARRAYS = ("W_H", "b_H", "W_T", "b_T")
FEWEST_UNITS = 8
HIGHEST_T = 0.4  # of a mean T at the start; b_T = -0.4 gives it
LOWEST_T = 1e-3  # b_T = -7 gives 0.0009
OPEN = 40.0  # a gate bias that makes T exactly 1 in floating point; its negative makes T 4e-18


class Deviation(str):
    """A line that says in what a layer differs; `part` names that: "carry", "T", "dW_H" ..."""

    part: str


def check_layer(layer, d: int, backward=None) -> list[Deviation]:
    """Returns an empty list, or a line: the first thing in which a layer of d units, with the weights
    of its start, differs from a highway layer.

    `layer` is one of

    - a function y = layer(x), or a torch.nn.Module; x and y are (N, d).  It is asked for its shapes and
      for its mean T
    - a function y = layer(x, W_H, b_H, W_T, b_T).  It is compared with equation 3 at random weights, for
      whatever activation it has

    `backward` may be given with a function: backward(x, dy), or backward(x, dy, W_H, b_H, W_T, b_T).
    It returns dx, or a tuple of dx and the gradients of the four arrays, summed over the batch.  They
    are compared with central differences.

    Raises ValueError for a d below 8, where one unit's weights hide what is common to all, and
    TypeError if `layer` is neither."""
    if isinstance(d, bool) or not isinstance(d, (int, np.integer)) or d < FEWEST_UNITS:
        raise ValueError(f"d is the number of units, a whole number of at least {FEWEST_UNITS}, not {d!r}")
    if isinstance(layer, type):
        raise TypeError(f"give a layer, not its class: {layer.__name__}(...)")
    if not callable(layer):
        raise TypeError(f"layer is a function of x, or of x, W_H, b_H, W_T, b_T, not {type(layer).__name__}")
    rng = np.random.default_rng(0)
    layer = of_numpy(layer)
    arrays = random_arrays(rng, d) if takes_arrays(layer) else {}

    def at_arrays(x):
        y = layer(x, *arrays.values())
        if isinstance(y, tuple):
            raise TypeError(f"it returns a tuple of {len(y)}: let it return y alone")
        return np.asarray(y)

    with np.errstate(all="ignore"):
        found = check_shapes(at_arrays, d, rng)
        if not found and arrays:
            found = check_equation_3(layer, d, arrays, rng)
        elif not found:
            found = check_mean_gate(at_arrays, d, rng)
        if not found and backward is not None:
            found = check_backward(layer, backward, {"x": rng.normal(size=(5, d)), **arrays}, rng)
    if not found:
        return []
    part, line = found
    deviation = Deviation(line)
    deviation.part = part
    return [deviation]


def of_numpy(layer) -> Callable:
    """The layer as a function of NumPy's arrays; a torch.nn.Module is copied, in double precision."""
    torch = sys.modules.get("torch")  # it is there if the layer is one of its modules
    if torch is None or not isinstance(layer, torch.nn.Module):
        return layer
    module = copy.deepcopy(layer).cpu().double().eval()

    def as_function(x):
        with torch.no_grad():
            y = module(torch.tensor(x, dtype=torch.float64))
        return y if isinstance(y, tuple) else y.numpy()

    return as_function


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


def random_arrays(rng: np.random.Generator, d: int) -> dict[str, np.ndarray]:
    """Arrays in which no two numbers are alike, the biases included."""
    W_H, W_T = rng.normal(0, 1 / np.sqrt(d), (2, d, d))
    b_H, b_T = rng.normal(0, 0.5, (2, d))
    return {"W_H": W_H, "b_H": b_H, "W_T": W_T, "b_T": b_T - 1}


def is_close(one, other) -> bool:
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-3, atol=1e-4)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


# ---- Shapes -------------------------------------------------------------------------------------


def check_shapes(layer: Callable, d: int, rng) -> tuple[str, str] | None:
    """Whether y has the shape of x, and each of its rows depends on the same row of x alone."""
    x = rng.normal(size=(d + 3, d))  # a batch of another size than the layer
    given = x.copy()
    try:
        y = layer(x)
    except Exception as error:
        said = " ".join(str(error).split())
        given = f"x of two axes, {d + 3} inputs of {d} units"
        return "call", f"the layer fails for {given} ({type(error).__name__}: {said})"
    if y.shape != x.shape:
        return (
            "shape",
            f"y has the shape {y.shape} for x {x.shape}: a highway layer keeps the shape, because y adds x to H",
        )
    if not np.isfinite(y).all():
        return "values", "y holds NaN or infinity for inputs of about 1"
    if not np.array_equal(x, given):
        return "x", "the layer changes its input x in place, and the carried x with it: write y into another array"
    if not np.array_equal(y, layer(x)):
        return "values", "two calls with the same x differ: switch dropout and other random parts off for this check"
    square = x[:d]
    one_by_one = np.concatenate([layer(square[i : i + 1]) for i in range(d)])
    if not is_close(layer(square), one_by_one):
        return "rows", (
            "a row of y depends on the other rows of the batch: "
            "a bias is added along the wrong axis, or a mean or softmax is taken over the batch"
        )
    return None


# ---- A function of x alone ----------------------------------------------------------------------


def check_mean_gate(layer: Callable, d: int, rng) -> tuple[str, str] | None:
    """The mean T near 0, from how much of each x_i arrives in y_i: dy_i/dx_i is 1 - T plus what comes
    through the weights, which has no sign of its own."""
    carried = np.mean([np.diag(jacobian(layer, x)) for x in rng.normal(0, 0.5, (8, d))])
    T = 1 - carried
    if T > HIGHEST_T:
        return "b_T", (
            f"mean T is {T:.2f} at the start: b_T = -2 gives 0.12, mostly carry; "
            "is the bias set, with its sign, and is x carried by 1 - T?"
        )
    if T < LOWEST_T:
        return (
            "b_T",
            f"mean T is {T:.1g} at the start, so the layer does nothing but carry x: b_T of -1 to -4 would be right",
        )
    return None


def jacobian(layer: Callable, x: np.ndarray) -> np.ndarray:
    """dy_i/dx_j (d, d) at one input x (d,), by central differences."""
    d = len(x)
    step = step_for(layer(x[None]).dtype)
    above = layer(x + step * np.eye(d)).astype(np.float64)
    below = layer(x - step * np.eye(d)).astype(np.float64)
    return (above - below).T / (2 * step)


# ---- Equation 3 ---------------------------------------------------------------------------------


def check_equation_3(layer: Callable, d: int, arrays: dict, rng) -> tuple[str, str] | None:
    """Compares layer(x, arrays) with equation 3, without knowing its activation: with an open gate y
    is H, and with a shut gate y is x."""
    x = rng.normal(size=(7, d))
    zeros = np.zeros((d, d))
    opened = {**arrays, "W_T": zeros, "b_T": np.full(d, OPEN)}
    shut = {**arrays, "W_T": zeros, "b_T": np.full(d, -OPEN)}

    def y_of(held: dict, **changed) -> np.ndarray:
        return np.asarray(layer(x, *(held | changed).values()), np.float64)

    H = y_of(opened)
    if is_close(H, y_of(shut)):
        return "b_T", "y does not change with b_T: T = sigmoid(W_T x + b_T)"
    if is_close(H, x):
        return "b_T", "with an open gate (b_T = 40) y is x, not H: b_T has the wrong sign, or H and x are exchanged"
    if not is_close(y_of(shut), x):
        return first_difference("carry", "with a shut gate (b_T = -40) y must be x", y_of(shut), x)
    constant = y_of(opened, W_H=zeros)
    if not is_close(constant, np.broadcast_to(constant[:1], constant.shape)):
        return (
            "carry",
            "with an open gate (b_T = 40) and W_H = 0 y still changes with x: 1 - T, which is 0, must carry it",
        )
    for name, z in (("W x", x @ arrays["W_H"].T), ("x W", x @ arrays["W_H"])):
        if is_close(H, H_of(layer, opened, z + arrays["b_H"])):
            orientation = name
            break
    else:
        return "H", "with an open gate (b_T = 40) y is no function of W_H x + b_H: H = f(W_H x + b_H)"
    W_T = arrays["W_T"].T if orientation == "W x" else arrays["W_T"]
    T = sigmoid(x @ W_T + arrays["b_T"])
    y = y_of(arrays)
    if is_close(y, H * T + x * (1 - T)):
        return None
    return why_T_differs(y, x, H, T, x @ W_T.T, arrays["b_T"])


def H_of(layer: Callable, opened: dict, z: np.ndarray) -> np.ndarray:
    """f(z) of the layer's activation: y of an open gate with W_H = 0 and b_H = z, a row at a time."""
    zeros = np.zeros_like(opened["W_H"])
    rows = [layer(np.zeros((1, len(row))), *(opened | {"W_H": zeros, "b_H": row}).values()) for row in z]
    return np.concatenate([np.asarray(row, np.float64) for row in rows])


def why_T_differs(y, x, H, wanted, other_z, b_T) -> tuple[str, str]:
    """The line for a gate that is not sigmoid(W_T x + b_T)."""
    T = (y - x) / (H - x)
    if is_close(T, sigmoid(other_z + b_T)):
        return "T", "W_T is transposed: H and T must both use W x, or both x W"
    if np.allclose(T.sum(axis=1), 1, atol=1e-3):
        return "T", "T of all units makes 1: it is a softmax, which shares one opening; take a sigmoid of each unit"
    return first_difference("T", "T must be sigmoid(W_T x + b_T), of x and with weights of its own", T, wanted)


def first_difference(part: str, rule: str, found: np.ndarray, wanted: np.ndarray) -> tuple[str, str]:
    """The part that differs; the rule that is broken, and the number that breaks it most."""
    worst = np.unravel_index(np.abs(found - wanted).argmax(), found.shape)
    return part, f"{rule}: it is {found[worst]:.3f} where {wanted[worst]:.3f} would be right"


# ---- The gradient -------------------------------------------------------------------------------


def check_backward(layer: Callable, backward: Callable, given: dict, rng) -> tuple[str, str] | None:
    """Compares what backward returns with derivatives of sum(dy * layer(...)), by central differences."""
    dy = rng.normal(size=given["x"].shape)
    x, *arrays = given.values()
    returned = backward(x, dy.copy(), *arrays)
    returned = returned if isinstance(returned, tuple) else (returned,)
    if len(returned) not in (1, len(given)):
        names = ", ".join(f"d{name}" for name in given)
        return "gradient", f"backward returns {len(returned)} arrays: dx alone, or {names}, would be right"
    step = step_for(np.asarray(layer(x, *arrays)).dtype)
    for name, gradient in zip(given, map(np.asarray, returned), strict=False):
        if gradient.shape != given[name].shape:
            return (
                f"d{name}",
                f"d{name} has the shape {gradient.shape}: that of {name}, {given[name].shape}, would be right",
            )
        wanted = derivative(layer, given, name, dy, step)
        if not np.abs(gradient - wanted).max() <= 10 * step * (1 + np.abs(wanted).max()):
            return first_difference(f"d{name}", f"d{name} differs from its central differences", gradient, wanted)
    return None


def step_for(dtype) -> float:
    """The step of central differences of a layer that computes in this dtype."""
    is_double = dtype.itemsize >= 8
    return 1e-5 if is_double else 1e-2


def derivative(layer: Callable, given: dict, name: str, dy: np.ndarray, step: float) -> np.ndarray:
    """d/dp of sum(dy * layer(...)) for every number p of one array."""
    found = np.empty(given[name].shape)
    for place in np.ndindex(found.shape):
        sums = []
        for sign in (1, -1):
            moved = given[name].astype(np.float64)
            moved[place] += sign * step
            sums.append((dy * np.asarray(layer(*(given | {name: moved}).values()), np.float64)).sum())
        found[place] = (sums[0] - sums[1]) / (2 * step)
    return found
