"""Every parameter's gradient against the complex-step derivative, which is exact to rounding error."""

import numpy as np
import pytest
from complex_step import assert_gradient_is_right
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_nets import ACTIVATIONS, BLOCKS, SHAPES, random_net

import highway_networks as hn

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_gradient_of_every_parameter_is_the_complex_step(block, activation):
    assert_gradient_is_right(*random_net(block, SHAPES[0], activation=activation))


AT_LEAST_ONE = st.integers(1, 5)
SHAPE = st.tuples(AT_LEAST_ONE, st.integers(2, 5), AT_LEAST_ONE, st.integers(0, 5), AT_LEAST_ONE)


@settings(max_examples=25, deadline=None)
@given(
    block=st.sampled_from(BLOCKS),
    activation=st.sampled_from(ACTIVATIONS),
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


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
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
