"""What the Python interface refuses: else a gradient, a training or an answer would be wrong silently."""

import numpy as np
import pytest

import highway_networks as hn
from highways.conv.net import ConvNet
from highways.nets.optimizers import SGD, Nesterov

SHAPE = (1, 6, 6)


def deep_net():
    return hn.DeepNet(36, 3, hidden=8, depth=3, block="highway", rng=0)


def conv_net():
    return ConvNet(SHAPE, [("conv", 3, 4), ("highway", 3), ("dense", 3)], 0)


NETS = (deep_net, conv_net)
X = np.random.default_rng(1).uniform(-1, 1, (5, 36)).astype(np.float32)
D_LOGITS = np.eye(5, 3, dtype=np.float32)


# ---- parameters between forward() and backward()


def an_optimiser_steps(net):
    hn.Adam(net.parameters).step(np.ones_like(net.parameters))


def other_parameters_are_loaded(net):
    net.parameters[:] = np.random.default_rng(2).normal(size=len(net.parameters))


def a_bias_is_changed(net):
    if isinstance(net, ConvNet):
        net.layers[0].W[0] += 1
    else:
        net.b_T[1] -= 1


@pytest.mark.parametrize("make", NETS)
@pytest.mark.parametrize("change", [an_optimiser_steps, other_parameters_are_loaded, a_bias_is_changed])
def test_parameters_that_changed_after_forward_are_refused(make, change):
    net = make()
    net.forward(X)
    change(net)
    with pytest.raises(RuntimeError):
        net.backward(D_LOGITS)
    net.forward(X)
    net.predict(X)
    net.backward(D_LOGITS)


def test_every_weight_matrix_and_all_biases_of_a_kind_are_sampled():
    """In a net of the headline's sizes, at whatever parameter the sample begins."""
    net = hn.DeepNet(784, 10, hidden=50, depth=30, block="highway", rng=0)
    changes = [net.W_in[7], net.W_H[2], net.W_T[29], net.b_H, net.b_T, net.W_out]
    stamps = [hn.Stamp(net) for _ in range(hn.SAMPLED)]
    for view in changes:
        view += 1
        for stamp in stamps:
            with pytest.raises(RuntimeError):
                stamp.check(net)
        view -= 1
        stamps = [hn.Stamp(net) for _ in range(hn.SAMPLED)]


def test_a_single_parameter_that_changes_again_and_again_is_found():
    net = hn.DeepNet(36, 3, hidden=50, depth=3, block="highway", rng=0)
    assert len(net.parameters) > hn.FEW  # not all are compared at once

    def change_one_again_and_again():
        for _ in range(hn.SAMPLED):
            net.forward(X)
            net.parameters[100] += 1
            net.backward(D_LOGITS)

    with pytest.raises(RuntimeError):
        change_one_again_and_again()


# ---- optimisers


@pytest.mark.parametrize("make", [hn.Adam, SGD, lambda p, lr: SGD(p, lr, learned=np.ones(3)), Nesterov])
@pytest.mark.parametrize(
    "gradient",
    [np.ma.array(np.ones(3), mask=[1, 0, 0]), [1.0, 1.0, 1.0], np.ones(3, np.int8)],
    ids=["masked", "a list", "whole numbers"],
)
def test_a_gradient_that_is_no_plain_array_of_floats_is_refused(make, gradient):
    parameters = np.ones(3)
    optimizer = make(parameters, lr=0.1)
    with pytest.raises(TypeError):
        optimizer.step(gradient)
    np.testing.assert_array_equal(parameters, np.ones(3))


def test_an_optimiser_of_another_net_is_refused():
    net = deep_net()
    y = np.array([0, 1, 2, 0, 1])
    with pytest.raises(ValueError):
        hn.train_epoch(net, hn.Adam(deep_net().parameters), X, y, np.arange(5), 5)
    before = net.parameters.copy()
    hn.train_epoch(net, hn.Adam(net.parameters[:]), X, y, np.arange(5), 5)
    assert (net.parameters != before).any()


# ---- pixels, data, logits


@pytest.mark.parametrize("dtype", ["uint8", "int64", "bool"])
def test_pixels_that_are_whole_numbers_are_refused(dtype):
    x = np.ones((5, 36), dtype)
    y = np.array([0, 1, 2, 0, 1])
    for make in NETS:
        net = make()
        uses = [net.forward, net.predict, net.gates if make is deep_net else net.mean_gates]
        uses.append(lambda x, net=net: hn.accuracy(net, x, y))
        uses.append(lambda x, net=net: hn.train_epoch(net, hn.Adam(net.parameters), x, y, np.arange(5), 5))
        for use in uses:
            with pytest.raises(TypeError):
                use(x)


@pytest.mark.parametrize("dtype", ["float16", "int64", "complex64"])
def test_a_net_of_another_dtype_is_refused(dtype):
    with pytest.raises(ValueError):
        hn.DeepNet(36, 3, hidden=8, depth=3, block="highway", rng=0, dtype=dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logits_whose_difference_overflows_are_refused():
    logits = np.array([[3e38, -3e38, 0]], np.float32)
    with pytest.raises(FloatingPointError):
        hn.softmax_cross_entropy(logits, np.array([1]))
    loss, gradient = hn.softmax_cross_entropy(logits.astype(np.float64), np.array([1]))
    assert loss == pytest.approx(6e38)
    np.testing.assert_array_equal(gradient, [[1, -1, 0]])
    loss, _ = hn.softmax_cross_entropy(np.full((1, 3), np.nan, np.float32), np.array([1]))
    assert np.isnan(loss)  # train_epoch() says at which step


# ---- losses and optimisers of one's own


LABELS = np.array([0, 1, 2, 0, 1])


def in_place(outputs, y):
    loss, gradient = hn.softmax_cross_entropy(outputs, y)
    outputs[...] = gradient
    return loss, outputs


class Rebinds(hn.Adam):
    def step(self, gradient):
        self.parameters = self.parameters - self.lr * gradient
        return 1.0


def train_own(y=LABELS, optimizer=hn.Adam, **chosen):
    net = deep_net()
    return hn.train_epoch(net, optimizer(net.parameters), X, y, np.arange(5), 5, **chosen)


def test_a_loss_may_work_in_place():
    ours = train_own(loss=in_place)
    theirs = train_own()
    assert ours["train_acc"] == theirs["train_acc"] > 0
    assert ours["train_loss"] == theirs["train_loss"]


@pytest.mark.parametrize(
    "chosen",
    [
        {"loss": lambda outputs, y: (outputs[:, 0], outputs)},
        {"optimizer": Rebinds},
        {"y": LABELS.astype(float)},
    ],
    ids=["a loss for each example", "other parameters", "targets"],
)
def test_a_loss_or_optimiser_that_cannot_train_is_refused(chosen):
    with pytest.raises((AttributeError, TypeError, ValueError)):
        train_own(**chosen)
