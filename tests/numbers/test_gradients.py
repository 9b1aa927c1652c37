"""Every parameter's gradient against the complex-step derivative, which is exact to rounding error."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_nets import SHAPES, STEP, random_net

import highway_networks as hn
import highways.nets.carries  # this and the next register blocks
import highways.nets.static_gates  # noqa: F401

pytestmark = pytest.mark.quick


def loss_of(net, x, y):
    return hn.softmax_cross_entropy(net.forward(x), y)[0]


def complex_step(net, x, y):
    """dL/dp_i = Im L(p + i STEP e_i) / STEP for every parameter."""
    derivative = np.empty(len(net.parameters))
    for i in range(len(derivative)):
        net.parameters[i] += 1j * STEP
        derivative[i] = loss_of(net, x, y).imag / STEP
        net.parameters[i] = net.parameters[i].real
    return derivative


def assert_gradient_is_right(net, x, y):
    logits = net.forward(x)
    d_logits = hn.softmax_cross_entropy(logits, y)[1]
    gradient = net.backward(d_logits).real.copy()
    net.forward(x)
    assert (net.backward(d_logits).real == gradient).all()  # the second does not add to the first
    expected = complex_step(net, x, y)
    allowed = 1e-12 * np.abs(expected) + 1e-15 * np.abs(expected).max()
    excess = np.abs(gradient - expected) - allowed
    worst = int(np.argmax(excess))
    assert excess[worst] <= 0, f"{name_of(net, worst)}: backward {gradient[worst]!r}, complex step {expected[worst]!r}"


def name_of(net, i):
    """Parameter i by its array and indices, such as W_T[0, 2, 1].  The parameter is lost: it becomes NaN."""
    net.parameters[i] = np.nan
    names = [name for name in vars(net.grad) if not name.startswith("_")]
    found = {name: np.argwhere(np.isnan(getattr(net, name))).tolist() for name in names}
    [(name, [indices])] = [(name, places) for name, places in found.items() if places]  # one array, one place
    return f"{name}{indices}"


@pytest.mark.parametrize("block", hn.BLOCKS)
@pytest.mark.parametrize("activation", hn.ACTIVATIONS)
def test_the_gradient_of_every_parameter_is_the_complex_step(block, activation):
    assert_gradient_is_right(*random_net(block, SHAPES[0], activation=activation))


AT_LEAST_ONE = st.integers(1, 5)
SHAPE = st.tuples(AT_LEAST_ONE, st.integers(2, 5), AT_LEAST_ONE, st.integers(0, 5), AT_LEAST_ONE)


@settings(max_examples=25, deadline=None)
@given(
    block=st.sampled_from([*hn.BLOCKS]),
    activation=st.sampled_from([*hn.ACTIVATIONS]),
    shape=SHAPE,
    seed=st.integers(0, 2**32),
)
@example(block="highway", activation="tanh", shape=SHAPES[4], seed=0)  # twenty layers
def test_gradients_of_nets_of_any_shape(block, activation, shape, seed):
    assert_gradient_is_right(*random_net(block, shape, seed, activation=activation))


@pytest.mark.parametrize("block", ["plain", "highway"])
@pytest.mark.parametrize("fault", [1e-9, "transposed", "one layer's bias"])
def test_the_check_notices_a_wrong_gradient(monkeypatch, block, fault):
    right = hn.DeepNet.backward

    def wrong(net, d_logits):
        gradient = right(net, d_logits)
        if fault == "transposed":
            net.grad.W_H[1] = net.grad.W_H[1].T.copy()
        elif fault == "one layer's bias":
            net.grad.b_H[0] *= 1.000001
        else:
            net.grad.W_in[2, 1] *= 1 + fault
        return gradient

    monkeypatch.setattr(hn.DeepNet, "backward", wrong)
    with pytest.raises(AssertionError):
        assert_gradient_is_right(*random_net(block, SHAPES[0]))


@pytest.mark.parametrize("block", hn.BLOCKS)
@pytest.mark.parametrize("activation", hn.ACTIVATIONS)
def test_real_dtypes_agree_with_complex(block, activation):
    exact, x, y = random_net(block, (7, 5, 6, 9, 11), activation=activation)
    for dtype, tolerance in ((np.float64, 1e-13), (np.float32, 2e-5)):
        net, _, _ = random_net(block, (7, 5, 6, 9, 11), dtype=dtype, activation=activation)
        gradients = []
        for each in (exact, net):
            logits = each.forward(x.astype(dtype))
            _, d_logits = hn.softmax_cross_entropy(logits, y)
            gradients.append(each.backward(d_logits).real)
        expected, gradient = gradients
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=tolerance * np.abs(expected).max())
        assert net.gradient.dtype == net.parameters.dtype == net.forward(x.astype(dtype)).dtype == dtype


def test_a_gate_far_in_saturation_still_has_its_gradient():
    """T = sigmoid(-30) is 9e-14.  In float32 1 - T is 1, but dL/db_T is of the size of T, and not zero."""
    net, x, y = random_net("highway", SHAPES[0], dtype=np.float32)
    net.b_T[:] = -30
    _, d_logits = hn.softmax_cross_entropy(net.forward(x.astype(np.float32)), y)
    net.backward(d_logits)
    exact, x, y = random_net("highway", SHAPES[0])
    exact.b_T[:] = -30
    _, exact_d_logits = hn.softmax_cross_entropy(exact.forward(x), y)
    exact.backward(exact_d_logits)
    assert np.abs(exact.grad.b_T.real).max() > 0
    np.testing.assert_allclose(net.grad.b_T, exact.grad.b_T.real, rtol=1e-3, atol=0)
