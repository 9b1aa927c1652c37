"""Convolutional nets: against the equations written out, the complex step, and PyTorch where it is installed."""

import pickle

import numpy as np
import pytest
from small_conv_nets import convolved, gradient_of, nets

import highway_networks as hn
from highways.conv.net import KINDS, ConvNet
from highways.conv.nets import PUBLISHED, mnist_net
from highways.conv.pooling import Pool
from highways.nets.optimizers import Nesterov

STEP = 1e-30
EVERYTHING = [
    ("dropout", 0.0), ("conv", 3, 2, "valid"), ("conv", 3, 4, "valid"), ("highway", 3), ("highway", 1), ("pool", 3, 2),
    ("plain", 3), ("residual", 5), ("conv", 1, 3), ("conv-maxout", 3, 2), ("plain-maxout", 3), ("average", 2),
    ("hidden-maxout", 4), ("dense", 5),
]  # fmt: skip


def larger(pieces):
    """Maxout: (N, 2 maps, ...), the first pieces of all maps before the second ones -> (N, maps, ...).

    Complex numbers are compared by their real parts."""
    first, second = np.split(pieces, 2, axis=1)
    return np.where(first.real >= second.real, first, second)


def pooled(x, k, stride, side):
    """The largest of k x k windows `stride` apart, (N, maps, side, side)."""
    largest = []
    for i in range(side):
        for j in range(side):
            window = x[:, :, i * stride : i * stride + k, j * stride : j * stride + k]
            window = window.reshape(*x.shape[:2], -1)
            place = window.real.argmax(axis=2)[..., None]
            largest.append(np.take_along_axis(window, place, 2))
    return np.concatenate(largest, axis=2).reshape(*x.shape[:2], side, side)


def straightforward(net, layers, x):
    """The logits by the paper's equations, images first.  `layers` are those that the net was made of.

    Complex numbers are compared by their real parts."""
    for layer, (kind, *settings) in zip(net.layers, layers, strict=True):
        if kind in ("conv", "plain", "residual", "highway"):
            z = convolved(x, layer.W, layer.b, layer.pad)
            maps = layer.out_shape[0]
            H = np.where(z[:, :maps].real > 0, z[:, :maps], 0)
            if kind == "highway":
                T = 1 / (1 + np.exp(-z[:, maps:]))
                x = H * T + x * (1 - T)
            elif kind == "residual":
                x = x + H
            else:
                x = H
        elif kind in ("conv-maxout", "plain-maxout"):
            x = larger(convolved(x, layer.W, layer.b, layer.pad))
        elif kind == "pool":
            x = pooled(x, *settings, layer.out_shape[1])
        elif kind == "conv-pool":
            z = convolved(x, layer.W, layer.b, 0)[:, :, :: layer.stride, :: layer.stride]
            x = pooled(np.where(z.real > 0, z, 0), 2, 2, layer.out_shape[1])
        elif kind == "average":
            k = settings[0]
            maps, side = layer.out_shape
            x = x.reshape(len(x), maps, side, k, side, k).mean(axis=(3, 5))
        elif kind in ("hidden-maxout", "dense"):
            x = np.einsum("ncij,oicj->no", x, layer.W) + layer.b
            if kind == "hidden-maxout":
                x = larger(x)[:, :, None, None]
    return x


# windows that leave pixels out
APART = [("conv", 3, 2), ("pool", 1, 2), ("conv", 3, 2), ("pool", 2, 3), ("dense", 3)]
# overlapping windows of a convolution with pooling, then layers of other phases than its own
POOLED = [("conv", 3, 2), ("conv-pool", 3, 4, 1), ("highway", 3), ("conv-pool", 1, 3, 1), ("pool", 2, 1), ("dense", 3)]
# layers with equal work arrays
DIRECT = [("conv", 3, 2), ("conv", 3, 2, "valid"), ("highway", 3), ("plain", 3), ("dense", 3)]
# windows larger than the whole image
WIDE = [("highway", 7), ("plain", 9), ("dense", 2)]


@pytest.mark.parametrize(
    ("layers", "side", "dtype"),
    [
        (EVERYTHING, 12, np.float64),
        (EVERYTHING, 12, np.complex128),
        (DIRECT, 9, np.float64),
        (WIDE, 2, np.float64),
        (APART, 10, np.float64),
        (POOLED, 10, np.float64),
    ],
)
def test_forward_and_predict_are_the_equations(layers, side, dtype):
    net, x, _ = nets(*layers, dtype=dtype, shape=(2, side, side))
    expected = straightforward(net, layers, x)
    np.testing.assert_allclose(net.forward(x), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(net.predict(x), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(net.forward(x.reshape(3, -1)), net.forward(x))


@pytest.mark.parametrize(
    "layers",
    [
        EVERYTHING,
        [("dense", 4)],
        [("highway", 3), ("dense", 3)],
        [("conv", 5, 3), ("highway", 3), ("pool", 3, 2), ("highway", 3), ("pool", 2, 2), ("dense", 3)],
        [("residual", 1), ("pool", 3, 1), ("plain", 3), ("pool", 5, 3), ("dense", 3)],
        [("conv", 3, 2), ("pool", 4, 4), *WIDE],
        [("conv-pool", 2, 3, 1), ("highway", 3), ("conv-pool", 1, 2, 1), ("dense", 3)],
        *([("conv", 3, 2), ("highway", 3), ("pool", *apart), ("dense", 3)] for apart in ((1, 2), (2, 3), (1, 3))),
    ],
    ids=str,
)
def test_the_gradient_of_every_parameter_is_the_complex_step(layers):
    """The gradient is compared with the complex-step derivative, which is exact to rounding error.

    It is the gradient of a second step, so that whatever the first one leaves in the work arrays would be noticed."""
    shape = (2, 9, 9) if layers is not EVERYTHING else (2, 12, 12)
    net, x, y = nets(*layers, dtype=np.complex128, shape=shape)
    for _ in range(2):
        gradient = gradient_of(net, x, y).real.copy()
    expected = np.empty(len(gradient))
    for i in range(len(gradient)):
        net.parameters[i] += 1j * STEP
        expected[i] = hn.softmax_cross_entropy(net.forward(x), y)[0].imag / STEP
        net.parameters[i] = net.parameters[i].real
    np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-14 * np.abs(expected).max())


def test_a_uniform_image_counts_once_where_all_four_are_the_largest():
    """All four outputs under a maximum are equal there, and only the first of them gets its gradient."""
    net, x, y = nets(("conv-pool", 3, 4, 1), ("dense", 3), shape=(2, 6, 6), dtype=np.complex128)
    x = np.zeros_like(x)
    gradient = gradient_of(net, x, y).real.copy()
    first = net.layers[0]
    for i in range(len(first.b)):
        first.b[i] += 1j * STEP
        expected = hn.softmax_cross_entropy(net.forward(x), y)[0].imag / STEP
        first.b[i] = first.b[i].real
        assert gradient[first.W.size + i] == pytest.approx(expected, rel=1e-12)


def test_a_layer_may_stand_in_the_list_as_its_class():
    layers = [("conv", 3, 2), ("pool", 2, 2), ("highway", 3), ("dense", 3)]
    named, x, y = nets(*layers, shape=(1, 4, 4))
    *hidden, dense = layers
    by_class, _, _ = nets(*[(KINDS[kind], *settings) for kind, *settings in hidden], dense, shape=(1, 4, 4))
    by_class = pickle.loads(pickle.dumps(by_class))
    np.testing.assert_array_equal(gradient_of(by_class, x, y), gradient_of(named, x, y))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_real_dtypes_agree_with_complex(dtype, tolerance):
    gradients = []
    for each in (np.complex128, dtype):
        net, x, y = nets(*EVERYTHING, dtype=each)
        gradients.append(gradient_of(net, x, y).real.astype(np.float64))
    expected, gradient = gradients
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=tolerance * np.abs(expected).max())
    assert net.gradient.dtype == net.forward(x).dtype == dtype


def test_the_authors_nets_have_the_published_sizes():
    rng = np.random.default_rng(0)
    sizes = {
        "width 16": len(ConvNet((1, 28, 28), mnist_net(16), rng).parameters),
        "width 32": len(ConvNet((1, 28, 28), mnist_net(32), rng).parameters),
        "A": len(ConvNet((3, 32, 32), PUBLISHED["highway-a"].layers, rng).parameters),
        "19 layers": len(ConvNet((3, 32, 32), PUBLISHED["nineteen-layers"].layers, rng).parameters),
    }
    # published: 39 K, 151 K, 236 K, 2.3 M
    assert sizes == {"width 16": 38_986, "width 32": 151_690, "A": 236_328, "19 layers": 2_256_838}


def test_the_published_net_follows_the_equations_at_the_published_sizes():
    """At these sizes the work is cut into blocks of columns, groups of rows, and slices of images; the result is the
    same."""
    rng = np.random.default_rng(0)
    layers = mnist_net(16)
    net = ConvNet((1, 28, 28), layers, rng, dtype=np.float64)
    x = rng.random((107, 1, 28, 28))
    logits = net.forward(x)
    np.testing.assert_allclose(logits[5:9], straightforward(net, layers, x[5:9]), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(net.predict(x), logits, rtol=1e-10, atol=1e-12)
    assert [layer.out_shape for layer in net.layers if isinstance(layer, Pool)] == [(16, 12), (16, 6), (16, 3)]


def test_a_uniform_image_sends_the_gradient_of_a_window_to_one_place():
    net, _, _ = nets(("conv", 1, 1), ("pool", 2, 2), ("dense", 2), shape=(1, 4, 4))
    net.layers[0].W[:] = 1
    net.layers[0].b[:] = 1
    x = np.ones((1, 1, 4, 4))
    y = np.array([0])
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    expected = (np.asarray(d_logits) @ net.layers[2].W.reshape(2, -1)).sum()  # each window once, not four times
    net.backward(d_logits)
    assert net.layers[0].grad.b[0] == pytest.approx(expected)


def test_dropout_drops_its_share_and_scales_the_rest():
    """Equal generators drop the same units, and without a generator nothing is dropped."""
    net = ConvNet((1, 50, 50), [("dropout", 0.3), ("conv", 1, 1), ("dense", 2)], np.random.default_rng(0))
    x = np.ones((40, 2500))
    net.forward(x, dropout=np.random.default_rng(3))
    after_dropout = net._saved.arrays[1].x
    assert set(np.unique(after_dropout)) == {0, np.float32(1 / 0.7)}
    assert (after_dropout == 0).mean() == pytest.approx(0.3, abs=0.01)
    first, second = (net.forward(x, dropout=np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, net.forward(x, dropout=np.random.default_rng(4)))
    np.testing.assert_allclose(net.forward(x), net.predict(x), rtol=1e-5)  # without a generator nothing is dropped


def test_the_gradient_through_dropout():
    """It is compared with the complex-step derivative; equal generators drop the same units."""
    layers = [("dropout", 0.5), ("highway", 3), ("dropout", 0.4), ("conv", 3, 2), ("dropout", 0.5), ("dense", 3)]
    net, x, y = nets(*layers, dtype=np.complex128, shape=(2, 6, 6))

    def loss():
        return hn.softmax_cross_entropy(net.forward(x, dropout=np.random.default_rng(5)), y)

    gradient = net.backward(loss()[1]).real.copy()
    for i in np.random.default_rng(0).integers(0, len(gradient), 60):
        net.parameters[i] += 1j * STEP
        assert gradient[i] == pytest.approx(loss()[0].imag / STEP, rel=1e-10, abs=1e-15)
        net.parameters[i] = net.parameters[i].real


def test_evaluation_in_between_and_other_batches_disturb_nothing():
    """Evaluation lies between forward() and backward(); the other batches come before them."""
    net, x, y = nets(*EVERYTHING)
    expected = gradient_of(net, x, y).copy()
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    net.predict(x[::-1])
    net.predict(x[:1])
    np.testing.assert_array_equal(net.backward(d_logits), expected)
    for n in (1, 2, 3, 1, 3):
        gradient_of(net, x[:n], y[:n])
    np.testing.assert_array_equal(net.gradient, expected)


def test_weights_start_with_the_deviations_that_are_given():
    for layers, given, deviations in (
        ([("dense", 9)], {"init": "he", "last": 0.7}, [0.7]),
        ([("conv", 3, 9), ("conv", 3, 9), ("dense", 9)], {"first": 0.5, "init": 0.2, "last": 0.7}, [0.5, 0.2, 0.7]),
    ):
        net = ConvNet((2, 20, 20), layers, 0, **given)
        assert [layer.W.std() for layer in net.layers] == pytest.approx(deviations, rel=0.15)
    assert ConvNet((1, 4, 4), [("highway", 3), ("dense", 2)], 0, gate_bias=-3.0).layers[0].b.tolist() == [0, -3]


@pytest.mark.parametrize("block", ["plain", "plain-maxout"])
def test_the_start_he_keeps_the_mean_square_of_a_state(block):
    net = ConvNet((300, 3, 3), [*[(block, 1)] * 8, ("dense", 2)], 0, init="he", dtype=np.float64)
    net.forward(np.random.default_rng(1).normal(size=(20, 300, 3, 3)))
    states = [np.mean(arrays.x**2) for arrays in net._saved.arrays]
    assert 0.4 < min(states) <= max(states) < 2.5  # weights of twice the variance would end at 2 ** 8


@pytest.mark.frameworks
@pytest.mark.parametrize("block", ["highway", "residual", "plain", "plain-maxout"])
def test_pytorch_has_the_same_logits_and_gradient(block):
    """PyTorch's autograd in float64 on the published net: the loss, and the gradient of every parameter."""
    torch = pytest.importorskip("torch")
    from torch.nn import functional as F

    rng = np.random.default_rng(0)
    net = ConvNet((1, 28, 28), mnist_net(16, block), rng, dtype=np.float64)
    net.parameters[:] += rng.normal(0, 0.02, net.parameters.shape)
    x = rng.random((7, 1, 28, 28))
    y = rng.integers(0, 10, 7)
    parameters = torch.tensor(net.parameters, requires_grad=True)
    h = torch.tensor(x)
    start = 0
    for layer, (kind, *settings) in zip(net.layers, mnist_net(16, block), strict=True):
        W_and_b = []
        for shape in layer.shapes.values():
            size = int(np.prod(shape))
            W_and_b.append(parameters[start : start + size].reshape(shape))
            start += size
        if kind in ("conv", "plain", "residual", "highway"):
            W, b = W_and_b
            z = F.conv2d(h, W.permute(0, 3, 1, 2), b, padding=layer.pad)
            H = F.relu(z[:, : layer.out_shape[0]])
            if kind == "highway":
                h = h + torch.sigmoid(z[:, layer.out_shape[0] :]) * (H - h)
            else:
                h = h + H if kind == "residual" else H
        elif kind in ("conv-maxout", "plain-maxout"):
            W, b = W_and_b
            z = F.conv2d(h, W.permute(0, 3, 1, 2), b, padding=layer.pad)
            h = torch.maximum(*z.chunk(2, dim=1))
        elif kind == "pool":
            h = F.max_pool2d(h, *settings, ceil_mode=True)
        elif kind == "dense":
            W, b = W_and_b
            h = torch.einsum("ncij,oicj->no", h, W) + b
    loss = F.cross_entropy(h, torch.tensor(y))
    loss.backward()
    our_loss, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    assert our_loss == pytest.approx(loss.item(), rel=1e-12)
    expected = parameters.grad.numpy()
    np.testing.assert_allclose(net.backward(d_logits), expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("size", [7, hn.CHUNK + 3])
def test_nesterov_is_the_textbook_nesterov(size):
    """With a weight decay and a rate for each parameter."""
    rng = np.random.default_rng(0)
    p = rng.normal(size=size)
    decay = rng.random(size)
    rates = 1 + rng.random(size)
    ours = p.copy()
    expected = p.copy()
    v = np.zeros(size)
    optimizer = Nesterov(ours, 0.1, 0.8, decay, rates)
    for step in range(4):
        gradient = rng.normal(size=size)
        optimizer.lr = 0.1 / (step + 1)
        optimizer.step(gradient)
        g = gradient + decay * expected
        v = 0.8 * v + g
        expected -= 0.1 / (step + 1) * rates * (g + 0.8 * v)
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.frameworks
def test_pytorchs_nesterov_agrees():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    p = rng.normal(size=9)
    ours = p.copy()
    theirs = torch.nn.Parameter(torch.tensor(p))
    optimizer = Nesterov(ours, 0.1, 0.9, 0.01)
    their_optimizer = torch.optim.SGD([theirs], lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True)
    for _ in range(5):
        gradient = rng.normal(size=9)
        optimizer.step(gradient)
        theirs.grad = torch.tensor(gradient)
        their_optimizer.step()
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-12)


def test_per_parameter_gives_a_number_for_weights_last_layer_and_biases():
    net = ConvNet((1, 6, 6), [("conv", 3, 2), ("highway", 3), ("dense", 3)], np.random.default_rng(0))
    net.parameters[:] = net.per_parameter(weights=1.0, last=10.0, biases=-2.0)
    assert [(layer.W.min(), layer.W.max()) for layer in net.layers] == [(1, 1), (1, 1), (10, 10)]
    assert all((layer.b == -2).all() for layer in net.layers)
    assert set(net.per_parameter(weights=3.0)) == {0, 3}


def test_layers_that_do_not_fit_are_refused():
    for layers in (
        [("conv", 2, 3), ("dense", 2)],
        [("conv", 5, 3, "valid"), ("dense", 2)],
        [("highway", 3, 5), ("dense", 2)],
        [("average", 3), ("dense", 2)],
        [("conv-pool", 3, 4, 2), ("dense", 2)],
        [("highway", 3)],
    ):
        with pytest.raises(ValueError):
            ConvNet((1, 4, 4), layers, 0)
