"""Batch normalisation of H, in two kinds of layers: against its equations, the complex step and PyTorch."""

import copy

import numpy as np
import pytest
from small_conv_nets import convolved

import highway_networks as hn
from highways.conv import images as conv_images
from highways.conv import protocols
from highways.conv import training as convolutional
from highways.conv.convolution import METHODS
from highways.conv.net import ConvNet
from highways.conv.normalised import EPSILON, PACE, combined, moments_of

STEP = 1e-30
LAYERS = [
    ("conv-bn", 3, 16), ("conv-bn", 3, 18), ("highway-bn", 3), ("dropout", 0.2), ("conv-bn", 3, 17, "valid"),
    ("pool", 2, 2), ("highway-bn", 3), ("dense", 3),
]  # fmt: skip


def net_of(method, dtype=np.float64, layers=LAYERS):
    net = ConvNet((2, 6, 6), layers, 0, dtype=dtype, method=method)
    net.parameters[:] += np.random.default_rng(1).normal(0, 0.2, net.parameters.shape)
    return net


def batch(n=5):
    rng = np.random.default_rng(2)
    return rng.normal(size=(n, 2, 6, 6)), rng.integers(0, 3, n)


def loss_and_gradient(net, x, y):
    loss, d_logits = hn.softmax_cross_entropy(net.forward(x, dropout=np.random.default_rng(5)), y)
    return loss, net.backward(d_logits)


def positions(net, name):
    """Where the first parameter of this name lies in the flat vector, for each layer that has one."""
    start = 0
    for layer in net.layers:
        for of_layer, shape in layer.shapes.items():
            if of_layer == name:
                yield start
            start += int(np.prod(shape))


@pytest.mark.parametrize("method", METHODS)
def test_the_gradient_agrees_with_the_complex_step(method):
    """At 40 parameters, and at three of every layer's b and gamma."""
    net = net_of(method, np.complex128)
    x, y = batch()
    names = ["F(6x6, 3x3)", "F(2x2, 3x3)"] if method == "winograd" else ["direct", "direct"]
    assert [layer.method for layer in net.layers if layer.gates] == names
    gradient = loss_and_gradient(net, x, y)[1].real.copy()
    places = {int(i) for i in np.random.default_rng(3).integers(0, len(gradient), 40)}
    for name in ("b", "gamma"):
        places |= {first + i for first in positions(net, name) for i in range(3)}
    for i in places:
        net.parameters[i] += 1j * STEP
        expected = loss_and_gradient(net, x, y)[0].imag / STEP
        net.parameters[i] = net.parameters[i].real
        assert gradient[i] == pytest.approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_both_methods_agree(dtype, tolerance):
    x, y = batch()
    first, second = METHODS
    loss, ours = loss_and_gradient(net_of(first, dtype), x, y)
    other_loss, direct = loss_and_gradient(net_of(second, dtype), x, y)
    assert loss == pytest.approx(other_loss, rel=tolerance)
    np.testing.assert_allclose(ours, direct, atol=tolerance * abs(direct).max())


@pytest.mark.frameworks
@pytest.mark.parametrize("method", METHODS)
def test_pytorch_has_the_same_logits_and_gradient(method):
    torch = pytest.importorskip("torch")
    layers = [("conv-bn", 3, 16), ("highway-bn", 3), ("dense", 3)]
    x, y = batch()
    net = net_of(method, layers=layers)
    conv, highway, dense = net.layers

    def tensor(array):
        return torch.tensor(np.array(array), requires_grad=True)

    W_0, W = (tensor(layer.W.transpose(0, 3, 1, 2)) for layer in (conv, highway))
    W_out = tensor(dense.W.transpose(0, 2, 1, 3).reshape(3, -1))
    b_0, gamma_0, b, gamma, b_out = map(tensor, (conv.b, conv.gamma, highway.b, highway.gamma, dense.b))
    F = torch.nn.functional

    def normalised(v, gamma, b):
        mean = torch.zeros(16, dtype=torch.float64)
        variance = torch.ones(16, dtype=torch.float64)
        return F.relu(F.batch_norm(v, mean, variance, gamma, b, True, PACE, EPSILON)), mean, variance

    h, *_ = normalised(F.conv2d(torch.tensor(x), W_0, padding=1), gamma_0, b_0)
    z = F.conv2d(h, W, padding=1)
    H, mean, variance = normalised(z[:, :16], gamma, b[:16])
    h = h + torch.sigmoid(z[:, 16:] + b[16:, None, None]) * (H - h)
    F.cross_entropy(F.linear(h.flatten(1), W_out, b_out), torch.tensor(y)).backward()
    loss_and_gradient(net, x, y)
    for ours, theirs in (
        (conv.grad.W, W_0.grad.permute(0, 2, 3, 1)), (conv.grad.b, b_0.grad), (conv.grad.gamma, gamma_0.grad),
        (highway.grad.W, W.grad.permute(0, 2, 3, 1)), (highway.grad.b, b.grad), (highway.grad.gamma, gamma.grad),
        (dense.grad.b, b_out.grad),
    ):  # fmt: skip
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-12)
    np.testing.assert_allclose(highway.mean, mean.numpy(), atol=1e-13)
    # The running variance is 1 - PACE, plus PACE times the batch's.  PyTorch's batch variance is the unbiased one,
    # n / (n - 1) times ours.
    n = x.shape[0] * 36
    np.testing.assert_allclose((highway.variance - 1 + PACE) * n / (n - 1), variance - 1 + PACE, atol=1e-12)


def test_the_running_statistics_move_by_a_tenth():
    net = ConvNet((2, 6, 6), LAYERS[:1] + LAYERS[-1:], 0, dtype=np.float64)
    x, _ = batch()
    layer = net.layers[0]
    assert (layer.variance == 1).all() and not layer.mean.any()  # noqa: PT018
    net.forward(x)
    v = convolved(x, layer.W, np.zeros(16), 1)
    np.testing.assert_allclose(layer.mean, 0.1 * v.mean(axis=(0, 2, 3)), atol=1e-13)
    np.testing.assert_allclose(layer.variance, 0.9 + 0.1 * v.var(axis=(0, 2, 3)), rtol=1e-12)


def test_a_batch_that_does_not_vary_has_finite_logits():
    assert np.isfinite(net_of("winograd").forward(np.zeros((2, 2, 6, 6)))).all()


def test_evaluation_of_other_images_in_between_disturbs_nothing():
    """Between forward() and backward()."""
    net = net_of("winograd")
    x, y = batch()
    expected = loss_and_gradient(net, x, y)[1].copy()
    _, d_logits = hn.softmax_cross_entropy(net.forward(x, dropout=np.random.default_rng(5)), y)
    before = net.statistics.copy()
    net.mean_gates(x + 1)
    net.predict(x + 1)
    np.testing.assert_array_equal(net.statistics, before)
    np.testing.assert_array_equal(net.backward(d_logits), expected)


def test_evaluation_is_by_the_running_statistics():
    """After many forward passes of one batch, the running statistics are those of the batch, and predict() gives what
    forward() gives.  Evaluation does not move them."""
    net = net_of("winograd")
    x, _ = batch()
    first = net.predict(x)
    for _ in range(400):
        trained = net.forward(x)
    before = net.statistics.copy()
    np.testing.assert_allclose(net.predict(x), trained, rtol=1e-12)
    assert abs(first - trained).max() > 0.01
    # an image's logits do not depend on what else is in the batch
    np.testing.assert_allclose(net.predict(x[:2]), net.predict(x)[:2], rtol=1e-12)
    net.mean_gates(x)
    np.testing.assert_array_equal(net.statistics, before)
    np.testing.assert_array_equal(copy.deepcopy(net).predict(x), net.predict(x))


def test_gamma_does_not_decay_and_the_statistics_are_no_parameters():
    net = net_of("winograd")
    decay = net.per_parameter(1.0)
    assert not decay[list(positions(net, "gamma"))].any()
    assert len(net.statistics) == 2 * (16 + 18 + 18 + 17 + 17)  # a mean and a variance for each normalised map
    assert len(decay) == len(net.parameters)


def test_a_checkpoint_keeps_the_statistics(tmp_path, mnist):
    settings = protocols.settings_of(net="mnist-4", block="highway-bn", epochs=2, n_train=300, n_test=100)
    data = conv_images.select_images(mnist, settings)
    run = convolutional.Training(settings, conv_images.fingerprint(data))
    convolutional.train_conv(run, data)
    run.save(tmp_path / "net.npz")
    again = convolutional.Training.load(tmp_path / "net.npz")
    assert run.net.statistics.any()
    np.testing.assert_array_equal(again.net.statistics, run.net.statistics)
    np.testing.assert_array_equal(again.predict(data.x_test), run.predict(data.x_test))


def test_the_moments_of_parts_are_those_of_the_whole():
    v = np.random.default_rng(0).normal(3, 2, (5, 2, 4, 3, 6)) + np.arange(5).reshape(-1, 1, 1, 1, 1)  # means differ
    moments = [moments_of(part, np.empty_like(part)) for part in (v[:1], v[1:4], v[4:])]
    mean, variance = combined(*map(np.array, zip(*moments, strict=True)))
    np.testing.assert_allclose(mean, v.mean(axis=(0, 1, 3, 4)), rtol=1e-13)
    np.testing.assert_allclose(variance, v.var(axis=(0, 1, 3, 4)), rtol=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_whose_statistics_overflow_changes_none(method):
    """Otherwise a single batch of finite numbers would make them NaN for ever."""
    net = net_of(method, np.float32)
    x, _ = batch()
    net.forward(x)
    before = net.statistics.copy()
    logits = net.predict(x)
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(FloatingPointError):
        net.forward(np.full((5, 2, 6, 6), 3e38))
    np.testing.assert_array_equal(net.statistics, before)
    np.testing.assert_array_equal(net.predict(x), logits)
    with pytest.raises(RuntimeError):
        net.backward(np.zeros((5, 3)))


def test_a_layer_that_overflows_leaves_the_statistics_of_those_below_alone():
    net = net_of("direct", np.float32)
    x, _ = batch()
    before = net.statistics.copy()
    net.layers[1].W[:] = 1e38
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(FloatingPointError):
        net.forward(x)
    np.testing.assert_array_equal(net.statistics, before)
