"""Winograd's convolutions: against the direct method, the complex step and PyTorch, for every size of tile."""

import copy
import pickle

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import highway_networks as hn
from highways.conv import winograd
from highways.conv.convolution import METHODS, Convolution
from highways.conv.net import ConvNet
from highways.conv.nets import PUBLISHED
from highways.conv.winograd import POINTS, matrices, tile

STEP = 1e-30
SIDES = {2: 10, 3: 9, 4: 8, 6: 6}  # of an image that has such tiles


@pytest.fixture(autouse=True)
def one_thread():
    """For products as small as these, more threads only wait for each other."""
    with threadpool_limits(1):
        yield


def net_of(side, method="winograd", dtype=np.float64):
    """A net with every kind of layer that Winograd's method computes.  They have different numbers of maps, and stand
    before and after every other kind of layer."""
    entries = [
        ("dropout", 0.3), ("conv", 3, 22), ("highway", 3), ("conv", 3, 18), ("residual", 3), ("highway", 1),
        ("plain", 3), ("dropout", 0.2), ("highway", 3), ("conv-maxout", 3, 17), ("plain-maxout", 3), ("pool", 3, 2),
        ("hidden", 7), ("dropout", 0.4), ("hidden-maxout", 6), ("dense", 3),
    ]  # fmt: skip
    net = ConvNet((2, side, side), entries, np.random.default_rng(0), dtype=dtype, method=method)
    net.parameters[:] += np.random.default_rng(1).normal(0, 0.05, net.parameters.shape)
    return net


def loss_and_gradient(net, x, y):
    loss, d_logits = hn.softmax_cross_entropy(net.forward(x, dropout=np.random.default_rng(5)), y)
    return loss, net.backward(d_logits)


def batch(side, n=3):
    rng = np.random.default_rng(2)
    return rng.normal(size=(n, 2, side, side)), rng.integers(0, 3, n)


def methods(net):
    return [layer.method for layer in net.layers if isinstance(layer, Convolution)]


@pytest.mark.parametrize("m", POINTS)
def test_the_matrices_compute_a_convolution(m):
    """In one dimension: m outputs of a filter of three weights."""
    A_t, G, B_t = matrices(m, np.dtype(float))
    rng = np.random.default_rng(0)
    d = rng.normal(size=m + 2)
    g = rng.normal(size=3)
    np.testing.assert_allclose(A_t @ ((G @ g) * (B_t @ d)), [d[i : i + 3] @ g for i in range(m)], atol=1e-14)
    assert (A_t[:, winograd.POINT_ONE] == 1).all()
    assert B_t[0, 0] == B_t[-1, -1] == 1
    assert not B_t[1:, 0].any()
    assert not B_t[:-1, -1].any()


def test_which_tiles_are_taken():
    assert [tile(side) for side in (2, 3, 4, 6, 8, 9, 10, 12, 18, 24, 28, 32)] == [2, 3, 4, 6, 4, 3, 2, 4, 3, 4, 4, 4]
    assert tile(5) is tile(7) is tile(1) is None
    for k, maps, padding, side, expected in (
        (3, 16, "same", 8, "F(4x4, 3x3)"),
        (3, 16, "same", 7, "direct"),
        (3, 16, "valid", 8, "direct"),
        (3, 15, "same", 8, "direct"),
        (5, 16, "same", 8, "direct"),
        (1, 16, "same", 8, "direct"),
    ):
        assert Convolution((16, side), k, maps, padding).method == expected
        assert Convolution((16, side), k, maps, padding, method="direct").method == "direct"
    assert Convolution((15, 8), 3, 16).method == "direct"
    with pytest.raises(ValueError):
        net_of(8, "fast")


@pytest.mark.parametrize("m", POINTS)
def test_winograd_is_really_used(m, monkeypatch):
    """With its products spoiled the net's results change, and those of the direct net do not."""
    net = net_of(SIDES[m])
    direct = net_of(SIDES[m], "direct")
    x = batch(SIDES[m])[0]
    assert methods(net) == ["direct", *[f"F({m}x{m}, 3x3)"] * 3, "direct", *[f"F({m}x{m}, 3x3)"] * 4]
    assert set(methods(direct)) == {"direct"}
    before = net.predict(x)
    direct_before = direct.predict(x)
    monkeypatch.setattr(winograd, "product", lambda U, V, M: M.fill(0))
    assert abs(net.predict(x) - before).max() > 1e-3
    np.testing.assert_array_equal(direct.predict(x), direct_before)


@pytest.mark.parametrize("m", POINTS)
def test_the_gradient_agrees_with_the_complex_step(m):
    """At up to two parameters of each layer; test_both_methods_agree() compares all with those of the direct method."""
    net = net_of(SIDES[m], dtype=np.complex128)
    x, y = batch(SIDES[m], 2)
    gradient = loss_and_gradient(net, x, y)[1].real.copy()
    rng = np.random.default_rng(m)
    start = 0
    for layer in net.layers:
        size = sum(int(np.prod(shape)) for shape in layer.shapes.values())
        places = rng.integers(0, max(size, 1), min(size, 2))
        for i in start + places:
            net.parameters[i] += 1j * STEP
            expected = loss_and_gradient(net, x, y)[0].imag / STEP
            net.parameters[i] = net.parameters[i].real
            assert gradient[i] == pytest.approx(expected, rel=1e-9, abs=1e-14)
        start += size


@pytest.mark.parametrize(("n", "dtype", "tolerance"), [(1, np.float64, 3e-14), (7, np.float32, 2e-5)])
@pytest.mark.parametrize("m", POINTS)
def test_both_methods_agree(m, n, dtype, tolerance):
    """On logits, gradients, predictions and gates; the tolerance is relative to the largest number."""
    results = []
    for method in METHODS:
        net = net_of(SIDES[m], method, dtype)
        x, y = batch(SIDES[m], n)
        _, gradient = loss_and_gradient(net, x, y)
        results.append([net.forward(x), gradient, net.predict(x), *net.mean_gates(x)])
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name", ["mnist-16", "highway-a"])
def test_both_methods_agree_on_the_paper_s_nets(name):
    shape = PUBLISHED[name].shape
    layers = PUBLISHED[name].layers
    rng = np.random.default_rng(0)
    x = rng.random((3, *shape))
    y = rng.integers(0, 10, 3)

    def loss_and_gradient_by(method):
        net = ConvNet(shape, layers, np.random.default_rng(0), dtype=np.float64, method=method)
        return loss_and_gradient(net, x, y)

    first, second = METHODS
    loss, gradient = loss_and_gradient_by(first)
    expected_loss, expected = loss_and_gradient_by(second)
    assert loss == pytest.approx(expected_loss, rel=1e-13)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_a_second_pass_gives_the_same_gradient():
    net = net_of(4)
    x, y = batch(4)
    gradients = []
    for _ in range(2):
        _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
        gradients.append(net.backward(d_logits).copy())
    first, second = gradients
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("unpacked", "packing_pays"), [(999, 1000), (99, 1000), (99, 1)])
def test_cutting_the_work_into_pieces_changes_nothing(monkeypatch, unpacked, packing_pays):
    """Planes and rows are taken one at a time; products in blocks of a size that does not divide the whole, or
    whole."""
    net = net_of(8)
    x, y = batch(8, n=7)
    expected = loss_and_gradient(net, x, y)[1].copy()
    for name, value in {
        "CACHED_BYTES": 1,
        "UNPACKED": unpacked,
        "BLOCK_ROWS": 5,
        "PACKING_PAYS": packing_pays,
    }.items():
        monkeypatch.setattr(winograd, name, value)
    gradient = loss_and_gradient(net_of(8), x, y)[1]
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-14 * np.abs(expected).max())


@pytest.mark.frameworks
@pytest.mark.parametrize("m", POINTS)
def test_pytorch_has_the_same_logits_and_gradient(m):
    """Two convolutions and a linear layer, in float64: the logits, and the gradient of every parameter."""
    torch = pytest.importorskip("torch")
    side = SIDES[m]
    maps = 16
    outputs = 19
    n = 3
    rng = np.random.default_rng(0)
    layers = [("conv", 3, outputs), ("conv", 3, outputs), ("dense", 5)]
    net = ConvNet((maps, side, side), layers, rng, dtype=np.float64)
    assert net.layers[0].method == f"F({m}x{m}, 3x3)"
    net.parameters[:] = rng.normal(0, 0.1, net.parameters.shape)
    x = rng.normal(size=(n, maps, side, side))
    d_logits = rng.normal(size=(n, 5))
    parameters = []
    for each in net.layers:
        parameters.append(torch.tensor(each.W, requires_grad=True))
        parameters.append(torch.tensor(each.b, requires_grad=True))
    W_1, b_1, W_2, b_2, W_out, b_out = parameters
    h = torch.tensor(x)
    for W, b in ((W_1, b_1), (W_2, b_2)):
        h = torch.relu(torch.nn.functional.conv2d(h, W.permute(0, 3, 1, 2), b, padding=1))
    logits = torch.einsum("ncij,oicj->no", h, W_out) + b_out
    (logits * torch.tensor(d_logits)).sum().backward()
    np.testing.assert_allclose(net.forward(x), logits.detach().numpy(), rtol=1e-11, atol=1e-13)
    expected = np.concatenate([parameter.grad.numpy().ravel() for parameter in parameters])
    np.testing.assert_allclose(net.backward(d_logits), expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("m", POINTS)
def test_the_errors_in_float32_are_small(m):
    """Of the logits and the gradient of one layer: the largest error over the largest value in float64."""
    side = SIDES[m]
    layers = [("plain", 3), ("dense", 3)]
    fast = ConvNet((16, side, side), layers, 0, dtype=np.float32)
    exact = ConvNet((16, side, side), layers, 0, dtype=np.float64, method="direct")
    exact.parameters[:] = fast.parameters
    rng = np.random.default_rng(1)
    x = rng.random((10, 16, side, side), dtype=np.float32)
    d_logits = rng.normal(size=(10, 3)).astype(np.float32)
    expected = [exact.forward(x.astype(float)), exact.backward(d_logits.astype(float))]
    for ours, direct in zip([fast.forward(x), fast.backward(d_logits)], expected, strict=True):
        assert 1e-8 < np.abs(ours - direct).max() / np.abs(direct).max() < (2e-5 if m == 6 else 5e-6)


def test_copies_and_pickles_keep_the_method():
    for method, expected in zip(METHODS, ("F(4x4, 3x3)", "direct"), strict=True):
        net = net_of(8, method)
        for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            assert other.method == method
            assert methods(other)[1] == expected
            np.testing.assert_array_equal(other.predict(batch(8)[0]), net.predict(batch(8)[0]))
