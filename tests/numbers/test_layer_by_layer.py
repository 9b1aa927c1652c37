"""Layer by layer, a net computes what it computes as a whole, and its gradients agree with the complex step."""

import numpy as np
import pytest
from small_nets import ACTIVATIONS, BLOCKS, STEP, logits_from, random_net, states_of

import highway_networks as hn
from highways.nets import layer_by_layer

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_layer_by_layer_a_net_has_the_same_logits_and_gates(block, activation):
    net, x, _ = random_net(block, (4, 3, 6, 5, 7), dtype=np.float64, activation=activation)
    logits = logits_from(net, layer_by_layer.first_state(net, x))
    np.testing.assert_allclose(logits, net.predict(x), rtol=1e-12, atol=1e-14)
    state = layer_by_layer.first_state(net, x)
    for layer in range(net.depth):
        T, y = layer_by_layer.block_forward(net, layer, state)
        if net.block.has_gate:
            np.testing.assert_allclose(T, net.gates(x)[layer], rtol=1e-12)
        state = y


@pytest.mark.parametrize("block", BLOCKS)
def test_the_gradient_at_every_layer(block):
    """|dL/dx_l| of one image is compared with the complex step, unit by unit.  That of several is their mean."""
    net, xs, ys = random_net(block, (4, 3, 5, 6, 2), dtype=np.float64)
    of_each_image = []
    for x, y in zip(xs, ys, strict=True):
        norms, _ = layer_by_layer.gradient_flow(net, x[None], y[None])
        of_each_image.append(norms)
    of_all, _ = layer_by_layer.gradient_flow(net, xs, ys)
    np.testing.assert_allclose(of_all, np.mean(of_each_image, axis=0), rtol=1e-3)
    twin = layer_by_layer.in_dtype(net, np.complex128)
    expected = []
    for layer, state in enumerate(states_of(net, xs[:1])):
        derivatives = []
        for unit in range(net.hidden):
            moved = state.astype(complex)
            moved[0, unit] += 1j * STEP
            loss, _ = hn.softmax_cross_entropy(logits_from(twin, moved, layer), ys[:1])
            derivatives.append(loss.imag / STEP)
        expected.append(np.linalg.norm(derivatives))
    np.testing.assert_allclose(of_each_image[0], expected, rtol=1e-3)  # gradient_flow() keeps four digits


def test_the_identity_part_of_the_gradient():
    """The product over all blocks of the share of x that a block carries, 0, 1, or 1 - T: its mean over
    units and images."""
    for block, expected in (("plain", 0), ("residual", 1)):
        net, x, y = random_net(block, (4, 3, 5, 6, 2), dtype=np.float64)
        _, identity = layer_by_layer.gradient_flow(net, x, y)
        assert identity == expected
    net, x, y = random_net("highway", (4, 3, 5, 6, 2), dtype=np.float64)
    _, identity = layer_by_layer.gradient_flow(net, x, y)
    assert identity == pytest.approx(np.prod(1 - net.gates(x), axis=0).mean())


def test_slices_cover_everything_once():
    for n in (1, 499, 500, 501, 1700):
        rows = np.concatenate([np.arange(n)[part] for part in layer_by_layer.slices(n)])
        np.testing.assert_array_equal(rows, np.arange(n))
