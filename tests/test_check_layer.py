"""check_layer() finds faults of the kinds that public implementations have, and nothing in layers that are right."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn
import straightforward
from highways import check_layer
from highways.nets import layer_by_layer

D = 12


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def relu(z):
    return np.maximum(z, 0)


def equation_3(x, W_H, b_H, W_T, b_T):
    return straightforward.highway(SimpleNamespace(W_H=W_H, b_H=b_H, W_T=W_T, b_T=b_T), x)[0]


def arrays(b_T=-2.0, seed=0):
    rng = np.random.default_rng(seed)
    W_H, W_T = rng.uniform(-1, 1, (2, D, D)) / np.sqrt(D)
    return {"W_H": W_H, "b_H": np.zeros(D), "W_T": W_T, "b_T": np.full(D, b_T)}


def at_start(layer, **changes):
    """The layer as a function of x alone."""
    start = arrays() | changes
    return lambda x: layer(x, *start.values())


# ---- Layers that are right ----------------------------------------------------------------------


def other_orientation(x, kernel, bias, gate_kernel, gate_bias):
    """As Keras has it: x W, and ReLU."""
    T = sigmoid(x @ gate_kernel + gate_bias)
    return T * relu(x @ kernel + bias) + (1 - T) * x


def with_a_gate_on_x(x, W_H, b_H, W_T, b_T):
    """As AllenNLP has it: the gate multiplies x, and begins open."""
    C = sigmoid(-x @ W_T.T - b_T)
    return C * x + (1 - C) * relu(x @ W_H.T + b_H)


def in_single_precision(x):
    return at_start(equation_3)(x).astype(np.float32)


def block_of_a_net():
    net = hn.DeepNet(4, 3, D, 1, "highway", rng=0, activation="relu", gate_bias=-3.0)
    return lambda x: layer_by_layer.block_forward(net, 0, x.astype(np.float32))[1]


RIGHT = {
    "the straightforward layer": equation_3,
    "another orientation": other_orientation,
    "a gate on x": with_a_gate_on_x,
    "tanh at its start": at_start(equation_3),
    "a gate on x at its start": at_start(with_a_gate_on_x, b_T=np.full(D, -1.0)),
    "single precision": in_single_precision,
    "a block of DeepNet": block_of_a_net(),
    "arrays": arrays(),
    "an object with arrays": SimpleNamespace(**arrays(b_T=-4.0)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found_in_a_layer_that_is_right(name):
    assert check_layer(RIGHT[name], D) == []


# ---- Seeded faults ------------------------------------------------------------------------------


def seeded(gate=sigmoid, carry=lambda x, H, T: x * (1 - T), after=lambda y: y):
    def layer(x, W_H, b_H, W_T, b_T):
        H = np.tanh(x @ W_H.T + b_H)
        T = gate(x @ W_T.T + b_T)
        return after(H * T + carry(x, H, T))

    return layer


def one_matrix(x, W_H, b_H, W_T, b_T):
    return equation_3(x, W_H, b_H, W_H, b_T)


def transposed_gate(x, W_H, b_H, W_T, b_T):
    return equation_3(x, W_H, b_H, W_T.T, b_T)


def no_gate_bias(x, W_H, b_H, W_T, b_T):
    return equation_3(x, W_H, b_H, W_T, 0)


def bias_of_columns(x, W_H, b_H, W_T, b_T):
    return equation_3(x, W_H, b_H[:, None], W_T, b_T)


def in_place(x, W_H, b_H, W_T, b_T):
    H = np.tanh(x @ W_H.T + b_H)
    T = sigmoid(x @ W_T.T + b_T)
    x *= 1 - T
    x += H * T
    return x


def mixed_by_batch(x, W_H, b_H, W_T, b_T):
    return seeded(gate=lambda z: sigmoid(z - z.mean(axis=0) - 2))(x, W_H, b_H, W_T, b_T)


def one_way_too_few(x, W_H, b_H, W_T, b_T):
    return equation_3(x, W_H, b_H, W_T, b_T)[:, :-1]


def linear_carry(x):
    W = np.random.default_rng(8).uniform(-1, 1, (D, D)) / np.sqrt(D)
    return at_start(seeded(carry=lambda x, H, T: (x @ W) * (1 - T)))(x)


def on_the_sum(activation):
    return seeded(after=activation)


shared = arrays()
shared["W_T"] = shared["W_H"]
FAULTS = {
    # with the arrays, equation 3 itself
    "the carry gate is T": (seeded(carry=lambda x, H, T: x * T), "the carry gate is T, and 1 - T would be right"),
    "x is not carried": (seeded(carry=lambda x, H, T: 1 - T), r"lacks x, and x \(1 - T\) would be right"),
    "x is added": (seeded(carry=lambda x, H, T: x), "x must be multiplied by 1 - T"),
    "the sign of b_T": (seeded(gate=lambda z: sigmoid(-z)), "b_T has the wrong sign, or H and x are exchanged"),
    "1 + T": (seeded(carry=lambda x, H, T: x * (1 + T)), "x is carried 2 times, and 0 would be right"),
    "T up to 2": (seeded(gate=lambda z: 2 * sigmoid(z)), "x is carried -1 times, and 0 would be right"),
    "no sigmoid": (seeded(gate=lambda z: z), r"T is not between 0 and 1, and T = sigmoid\(W_T x \+ b_T\)"),
    "tanh on the sum": (on_the_sum(np.tanh), "tanh belongs to H alone, not to the sum"),
    "ReLU on the sum": (on_the_sum(relu), "ReLU belongs to H alone, not to the sum"),
    "softplus": (seeded(gate=lambda z: np.logaddexp(0, z)), "T must not exceed 1"),
    "two sigmoids": (seeded(gate=lambda z: sigmoid(sigmoid(z))), "with a shut gate .* y must be x"),
    "W_T transposed": (transposed_gate, "W_T is transposed: H uses W_H as W x, T uses W_T as x W"),
    "one matrix": (one_matrix, "T is computed with W_H"),
    "no gate bias": (no_gate_bias, "y does not change with b_T"),
    "a bias along the wrong axis": (bias_of_columns, "a bias is added along the wrong axis"),
    "x changed in place": (in_place, "changes its input x in place"),
    "a mean over the batch": (mixed_by_batch, "a row of y depends on the other rows"),
    "a unit lost": (one_way_too_few, "a highway layer keeps the shape"),
    # from outside
    "b_T = 0": (at_start(equation_3, b_T=np.zeros(D)), r"mean T is 0.4\d at the start: b_T = -2 gives 0.12"),
    "b_T = 2": (at_start(equation_3, b_T=np.full(D, 2.0)), "mean T is 0.8. at the start: b_T = -2 gives 0.12"),
    "b_T = -12": (at_start(equation_3, b_T=np.full(D, -12.0)), "mean T is .* nothing but carry x"),
    "the carry gate is T, from outside": (at_start(seeded(carry=lambda x, H, T: x * T)), "multiplied by T and not"),
    "x is not carried, from outside": (at_start(seeded(carry=lambda x, H, T: 1 - T)), "x itself does not arrive"),
    "no sigmoid, from outside": (at_start(seeded(gate=lambda z: z)), "T must lie between 0 and 1"),
    "softplus, from outside": (at_start(seeded(gate=lambda z: np.logaddexp(0, z))), "T does not stay below 1"),
    "tanh on the sum, from outside": (at_start(on_the_sum(np.tanh)), "for any x, so x is not carried"),
    "ReLU on the sum, from outside": (at_start(on_the_sum(relu)), "y is never negative though x is"),
    "carried through weights": (linear_carry, "x itself does not arrive|multiplied by T and not"),
    "a plain layer": (at_start(seeded(gate=np.ones_like)), "x itself does not arrive"),
    "an input in each column": (lambda x: at_start(equation_3)(x.T).T if len(x) == D else x @ x, "in each column"),
    # arrays alone
    "b_T = 0, arrays": (arrays(b_T=0.0), "mean T is 0.50 at the start"),
    "one array for both": (shared, "W_H and W_T are the same array"),
    "one seed for both": (arrays() | {"W_T": arrays()["W_H"]}, "W_H and W_T hold the same numbers"),
    "a column of biases": (arrays() | {"b_T": np.full((D, 1), -2.0)}, r"b_T has the shape \(12, 1\): \(12,\)"),
    "no gate": ({"W_H": np.eye(D), "b_H": np.zeros(D)}, "W_T is missing"),
    "equal units": (arrays() | {"W_H": np.zeros((D, D))}, "all units have the same W_H"),
    "large weights": (arrays() | {"W_H": 10 * np.eye(D) + 9}, "W_H stretches a state"),
    "whole numbers": (arrays() | {"b_T": np.full(D, -2)}, "b_T holds int64"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_said_in_a_line(name):
    layer, said = FAULTS[name]
    [line] = check_layer(layer, D)
    assert "\n" not in line
    assert re.search(said, line), line


# ---- The gradient -------------------------------------------------------------------------------


def backward(x, dy, W_H, b_H, W_T, b_T):
    layer = straightforward.Layer(W_H=W_H, b_H=b_H, W_T=W_T, b_T=b_T)
    _, kept = straightforward.highway(layer, x)
    dx, gradient = straightforward.highway_backward(layer, kept, dy)
    return dx, gradient.W_H, gradient.b_H, gradient.W_T, gradient.b_T


def without_carry(x, dy, W_H, b_H, W_T, b_T):
    T = sigmoid(x @ W_T.T + b_T)
    return backward(x, dy, W_H, b_H, W_T, b_T)[0] - (1 - T) * dy


def transposed(x, dy, W_H, b_H, W_T, b_T):
    return backward(x, dy, W_H.T, b_H, W_T, b_T)[0]


def no_sum(x, dy, W_H, b_H, W_T, b_T):
    dx, dW_H, db_H, dW_T, _ = backward(x, dy, W_H, b_H, W_T, b_T)
    return dx, dW_H, db_H, dW_T, dy


def transposed_gradient(x, dy, W_H, b_H, W_T, b_T):
    dx, dW_H, db_H, dW_T, db_T = backward(x, dy, W_H, b_H, W_T, b_T)
    return dx, dW_H.T, db_H, dW_T, db_T


def no_slope(x, dy, W_H, b_H, W_T, b_T):
    dx, dW_H, db_H, dW_T, db_T = backward(x, dy, W_H, b_H, W_T, b_T)
    return dx, dW_H, db_H, dW_T, db_T * 1.01


def test_nothing_is_found_in_a_gradient_that_is_right():
    assert check_layer(equation_3, D, backward) == []
    start = arrays().values()
    assert check_layer(at_start(equation_3), D, lambda x, dy: backward(x, dy, *start)[0]) == []


def test_a_layer_that_takes_no_complex_numbers_is_checked_by_finite_differences():
    real = at_start(equation_3)
    start = arrays().values()

    def layer(x):
        return real(np.asarray(x, np.float64)) if np.isrealobj(x) else 1 / 0

    assert check_layer(layer, D, lambda x, dy: backward(x, dy, *start)[0]) == []
    [line] = check_layer(layer, D, lambda x, dy: without_carry(x, dy, *start))
    assert re.search(r"dx\[\d, \d+\] is .* by backward, .* by finite differences", line)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (without_carry, r"by the complex step: the carried part \(1 - T\) dy is missing"),
        (transposed, r"dx\[\d, \d+\] is .* by backward, .* by the complex step$"),
        (no_sum, r"db_T has the shape \(5, 12\): that of b_T, \(12,\), would be right"),
        (transposed_gradient, r"dW_H\[.* by the complex step: it is transposed$"),
        (no_slope, r"db_T\[\d+\] is"),
        (lambda *_: (1, 2), "backward returns 2 arrays: dx alone, or dx, dW_H, db_H, dW_T, db_T"),
    ],
)
def test_a_fault_in_a_gradient_is_found(wrong, said):
    [line] = check_layer(equation_3, D, wrong)
    assert re.search(said, line), line


@pytest.mark.parametrize(
    ("layer", "d", "error", "said"),
    [
        (3, D, TypeError, "this is int"),
        (equation_3, 7, ValueError, "d is the number of units, a whole number of at least 8, not 7"),
    ],
)
def test_what_is_no_layer_is_refused(layer, d, error, said):
    with pytest.raises(error, match=said):
        check_layer(layer, d)


def test_arrays_alone_have_no_gradient():
    with pytest.raises(TypeError, match="backward needs a layer that is a function"):
        check_layer(arrays(), D, backward)


def test_the_page_shows_what_is_printed(capsys):
    page = (ROOT / "docs" / "why_not.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", page, re.M | re.S)
    assert [kind for kind, _ in blocks] == ["python", "text"] * 2
    for (_, program), (_, shown) in zip(blocks[::2], blocks[1::2], strict=True):
        exec(compile(program, "example", "exec"), {"__name__": "example"})
        assert capsys.readouterr().out == shown
