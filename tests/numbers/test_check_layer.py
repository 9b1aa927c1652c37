"""check_layer() finds faults of the kinds that public layers have, and nothing in layers that are right."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

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
}


def test_nothing_is_found_in_a_layer_that_is_right():
    for name, layer in RIGHT.items():
        assert check_layer(layer, D) == [], name


ACTIVATIONS = {
    "tanh": np.tanh,
    "ReLU": relu,
    "sigmoid": sigmoid,
    "ELU": lambda z: np.where(z > 0, z, np.expm1(np.minimum(z, 0))),
    "SELU": lambda z: 1.05 * np.where(z > 0, z, 1.67 * np.expm1(np.minimum(z, 0))),
    "GELU": lambda z: z * sigmoid(1.702 * z),
    "leaky ReLU": lambda z: np.where(z > 0, z, 0.2 * z),
    "no activation": lambda z: z,
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_no_layer_that_is_right_is_accused(activation):
    d = 8
    f = ACTIVATIONS[activation]
    for place, (b_T, size) in enumerate(itertools.product((-1, -2, -4), (0.5, 1, 1.7))):
        W_H, W_T = np.random.default_rng(place).uniform(-1, 1, (2, d, d)) * size / np.sqrt(d)

        def layer(x, W_H=W_H, W_T=W_T, b_T=b_T):
            T = sigmoid(x @ W_T.T + b_T)
            return f(x @ W_H.T) * T + x * (1 - T)

        assert check_layer(lambda x, layer=layer: layer(x), d) == []


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


def softmax(z):
    powers = np.exp(z - z.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def gate_of_H(x, W_H, b_H, W_T, b_T):
    H = relu(x @ W_H.T + b_H)
    T = sigmoid(H @ W_T.T + b_T)
    return H * T + x * (1 - T)


def bias_never_added(x, W_H, b_H, W_T, b_T):
    return equation_3(x, W_H, b_H, W_T, np.zeros(D))


def affine_carry(x, W_H, b_H, W_T, b_T):
    W = np.random.default_rng(9).uniform(-1, 1, (D, D)) / np.sqrt(D)
    return seeded(carry=lambda x, H, T: (x @ W + 0.1) * (1 - T))(x, W_H, b_H, W_T, b_T)


# what is found by the arrays, and by the mean T at the start, None where that does not show it
IN_BOTH_WAYS = {
    "the carry gate is T": ("carry", "b_T", seeded(carry=lambda x, H, T: x * T)),
    "x is not carried": ("carry", "b_T", seeded(carry=lambda x, H, T: 1 - T)),
    "x is added": ("carry", "b_T", seeded(carry=lambda x, H, T: x)),
    "1 + T": ("carry", "b_T", seeded(carry=lambda x, H, T: x * (1 + T))),
    "T up to 2": ("carry", None, seeded(gate=lambda z: 2 * sigmoid(z))),
    "no sigmoid": ("carry", "b_T", seeded(gate=lambda z: z)),
    "softplus": ("carry", None, seeded(gate=lambda z: np.logaddexp(0, z))),
    "two sigmoids": ("carry", "b_T", seeded(gate=lambda z: sigmoid(sigmoid(z)))),
    "a softmax over the units": ("b_T", None, seeded(gate=softmax)),
    "a gate that sees H": ("T", None, gate_of_H),
    "an affine carry": ("carry", "b_T", affine_carry),
    "a bias that is never added": ("b_T", "b_T", bias_never_added),
    "tanh on the sum": ("carry", None, on_the_sum(np.tanh)),
    "ReLU on the sum": ("carry", "b_T", on_the_sum(relu)),
    "a plain layer": ("b_T", "b_T", seeded(gate=np.ones_like)),
    "a bias along the wrong axis": ("call", "call", bias_of_columns),
    "x changed in place": ("x", "x", in_place),
    "a mean over the batch": ("rows", "rows", mixed_by_batch),
    "a unit lost": ("shape", "shape", one_way_too_few),
}
IN_ONE_WAY = {
    "the sign of b_T": ("b_T", seeded(gate=lambda z: sigmoid(-z))),
    "W_T transposed": ("T", transposed_gate),
    "one matrix": ("T", one_matrix),
    "b_T = 0": ("b_T", at_start(equation_3, b_T=np.zeros(D))),
    "b_T = 2": ("b_T", at_start(equation_3, b_T=np.full(D, 2.0))),
    "b_T = -12": ("b_T", at_start(equation_3, b_T=np.full(D, -12.0))),
    "carried through weights": ("b_T", linear_carry),
    "an input in each column": ("call", lambda x: at_start(equation_3)(x.T).T if len(x) == D else x @ x),
}


def part_found(*words) -> str | None:
    """What check_layer() says differs, if anything."""
    parts = [deviation.part for deviation in check_layer(*words)]
    assert len(parts) <= 1
    return parts[0] if parts else None


def test_every_fault_is_found_by_the_arrays_and_most_at_the_start():
    for name, (by_arrays, by_x, layer) in IN_BOTH_WAYS.items():
        assert part_found(layer, D) == by_arrays, name
        assert part_found(at_start(layer), D) == by_x, name
    for name, (part, layer) in IN_ONE_WAY.items():
        assert part_found(layer, D) == part, name


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


def test_a_right_gradient_in_single_precision_is_not_accused():
    start = {name: array.astype(np.float32) for name, array in arrays().items()}

    def layer(x):
        return equation_3(x.astype(np.float32), *start.values())

    def layer_backward(x, dy):
        return backward(x.astype(np.float32), dy.astype(np.float32), *start.values())[0]

    assert check_layer(layer, D, layer_backward) == []
    assert part_found(layer, D, lambda x, dy: 1.2 * layer_backward(x, dy)) == "dx"


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        (without_carry, "dx"),
        (transposed, "dx"),
        (no_sum, "db_T"),
        (transposed_gradient, "dW_H"),
        (no_slope, "db_T"),
        (lambda *_: (1, 2), "gradient"),
    ],
)
def test_a_fault_in_a_gradient_is_found_and_named(wrong, part):
    assert part_found(equation_3, D, wrong) == part


@pytest.mark.parametrize(
    ("layer", "d", "error"), [(3, D, TypeError), (arrays(), D, TypeError), (equation_3, 7, ValueError)]
)
def test_what_is_no_layer_is_refused(layer, d, error):
    with pytest.raises(error):
        check_layer(layer, d)


def in_torch(torch, gate_bias):
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.H = torch.nn.Linear(D, D)
            self.T = torch.nn.Linear(D, D)
            torch.nn.init.constant_(self.T.bias, gate_bias)

        def forward(self, x):
            T = torch.sigmoid(self.T(x))
            return torch.relu(self.H(x)) * T + x * (1 - T)

    return Layer()


def test_a_module_of_pytorch_is_taken_as_it_is():
    torch = pytest.importorskip("torch")
    assert check_layer(in_torch(torch, -2.0), D) == []
    assert part_found(in_torch(torch, 0.0), D) == "b_T"


def test_a_function_of_jax_is_taken_as_it_is():
    jax = pytest.importorskip("jax")
    W_H, b_H, W_T, _ = arrays().values()

    @jax.jit
    def layer(x, gate_bias=-2.0):
        T = jax.nn.sigmoid(x @ W_T.T + gate_bias)
        return jax.numpy.tanh(x @ W_H.T + b_H) * T + x * (1 - T)

    assert check_layer(layer, D) == []
    assert part_found(lambda x: layer(x, 0.0), D) == "b_T"
