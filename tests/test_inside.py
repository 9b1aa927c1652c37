"""The layer-by-layer reading of a net against the net itself, and its gradients against the complex step."""

import numpy as np
import pytest
from test_gradients import STEP, random_net

import highway_networks as hn
from experiments import inside


def walk(net, state, start=0):
    """Logits from the state that block `start` sees."""
    for layer in range(start, net.depth):
        *_, state = inside.block(net, layer, state)
    return inside.logits(net, state)


@pytest.mark.parametrize("block", hn.BLOCKS)
@pytest.mark.parametrize("activation", hn.ACTIVATIONS)
def test_it_is_the_net(block, activation):
    net, x, _ = random_net(block, (4, 3, 6, 5, 7), dtype=np.float64, activation=activation)
    np.testing.assert_allclose(walk(net, inside.first(net, x)), net.predict(x), rtol=1e-12, atol=1e-14)
    state = inside.first(net, x)
    for layer in range(net.depth):
        H, T, C, y = inside.block(net, layer, state)
        np.testing.assert_allclose(H * T + state * C, y)
        if hn.GATES[block]:
            np.testing.assert_allclose(T, net.gates(x)[layer], rtol=1e-12)
        state = y


@pytest.mark.parametrize("block", hn.BLOCKS)
@pytest.mark.parametrize("activation", hn.ACTIVATIONS)
def test_the_gradient_at_every_layer(block, activation):
    """|dL/dx_l| of one example, unit by unit; of several it is their mean."""
    net, xs, ys = random_net(block, (4, 3, 5, 6, 2), dtype=np.float64, activation=activation)
    each = [inside.gradient_flow(net, x[None], y[None])[0] for x, y in zip(xs, ys, strict=True)]
    np.testing.assert_allclose(inside.gradient_flow(net, xs, ys)[0], np.mean(each, axis=0), rtol=1e-3)
    state, norms = inside.first(net, xs[:1]), []
    for layer in range(net.depth + 1):
        derivatives = []
        for unit in range(net.hidden):
            moved = state.astype(complex)
            moved[0, unit] += 1j * STEP
            derivatives.append(hn.softmax_cross_entropy(walk(net, moved, layer), ys[:1])[0].imag / STEP)
        norms.append(np.linalg.norm(derivatives))
        if layer < net.depth:
            *_, state = inside.block(net, layer, state)
    np.testing.assert_allclose(each[0], norms, rtol=1e-3)  # four digits are kept


def test_the_identity_part():
    for block, expected in (("plain", 0), ("residual", 1)):
        net, x, y = random_net(block, (4, 3, 5, 6, 2), dtype=np.float64)
        assert inside.gradient_flow(net, x, y)[1] == expected
    net, x, y = random_net("highway", (4, 3, 5, 6, 2), dtype=np.float64)
    expected = np.prod(1 - net.gates(x), axis=0).mean()
    assert inside.gradient_flow(net, x, y)[1] == pytest.approx(expected)


def test_slices_cover_everything_once():
    for n in (1, 499, 500, 501, 1700):
        rows = np.concatenate([np.arange(n)[part] for part in inside.slices(n)])
        np.testing.assert_array_equal(rows, np.arange(n))
