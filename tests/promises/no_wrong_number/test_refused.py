"""What nets, optimisers and epochs refuse, since a gradient, an answer or a training would be wrong."""

import math

import numpy as np
import pytest

import highway_networks as hn
from highways.conv.net import ConvNet
from highways.nets.optimizers import SGD, Nesterov

pytestmark = pytest.mark.quick
SHAPE = (1, 6, 6)


def deep_net():
    return hn.DeepNet(36, 3, hidden=8, depth=3, block="highway", rng=0)


def conv_net():
    return ConvNet(SHAPE, [("conv", 3, 4), ("highway", 3), ("dense", 3)], 0)


NETS = (deep_net, conv_net)
X = np.random.default_rng(1).uniform(-1, 1, (5, 36)).astype(np.float32)
LABELS = np.array([0, 1, 2, 0, 1])
D_LOGITS = np.eye(5, 3, dtype=np.float32)


# ---- forward() and backward(), and the parameters between them


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
def test_backward_belongs_to_one_forward(make):
    net = make()
    for _ in range(2):  # before the first forward(), and when its backward() was called
        with pytest.raises(RuntimeError):
            net.backward(D_LOGITS)
        net.forward(X)
        net.backward(D_LOGITS)
    net.forward(X)
    with pytest.raises(ValueError):
        net.backward(D_LOGITS[:1])


def on_an_x_that_is_refused(net):
    with pytest.raises(ValueError):
        net.forward(X * np.nan)


def interrupted(net):
    """When some layers hold the new batch, others still the old one."""

    def ctrl_c(*_):
        raise KeyboardInterrupt

    layer = net.layers[1] if isinstance(net, ConvNet) else net.block
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(layer), "forward", ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            net.forward(X[::-1])


@pytest.mark.parametrize("make", NETS)
@pytest.mark.parametrize("forward", [on_an_x_that_is_refused, interrupted])
def test_backward_is_refused_after_a_forward_that_did_not_end(make, forward):
    net = make()
    net.forward(X)
    forward(net)
    with pytest.raises(RuntimeError):
        net.backward(D_LOGITS)


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


@pytest.mark.parametrize(
    ("holder", "name"),
    [
        (deep_net(), "parameters"),
        (deep_net(), "W_H"),
        (deep_net().grad, "b_T"),
        (conv_net(), "parameters"),
        (conv_net().layers[0], "W"),
        (conv_net().layers[0].grad, "W"),
    ],
)
def test_an_array_that_others_hold_is_not_replaced(holder, name):
    with pytest.raises(AttributeError):
        setattr(holder, name, getattr(holder, name).copy())


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

OPTIMIZERS = [hn.Adam, SGD, lambda p, lr: SGD(p, lr, learned=np.ones(3)), Nesterov]


@pytest.mark.parametrize("make", OPTIMIZERS)
@pytest.mark.parametrize(
    ("gradient", "error"),
    [
        (np.ma.array(np.ones(3), mask=[1, 0, 0]), TypeError),
        ([1.0, 1.0, 1.0], TypeError),
        (np.ones(3, np.int8), TypeError),
        (np.ones(1), ValueError),
        (np.ones(4), ValueError),
        (np.ones((3, 1)), ValueError),
    ],
    ids=["masked", "a list", "whole numbers", "one for all", "of other parameters", "a column"],
)
def test_a_gradient_of_another_shape_or_dtype_is_refused(make, gradient, error):
    parameters = np.ones(3)
    optimizer = make(parameters, lr=0.1)
    with pytest.raises(error):
        optimizer.step(gradient)
    np.testing.assert_array_equal(parameters, np.ones(3))


@pytest.mark.parametrize("make", OPTIMIZERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_gradient_that_is_not_finite_changes_nothing(make, bad):
    parameters = np.ones(3)
    optimizer = make(parameters, lr=0.1)
    before = [getattr(optimizer, name).copy() for name in optimizer.states]
    assert not np.isfinite(optimizer.step(np.array([1, bad, 3])))
    np.testing.assert_array_equal(parameters, np.ones(3))
    np.testing.assert_array_equal([getattr(optimizer, name) for name in optimizer.states], before)
    assert optimizer.lr == 0.1
    assert getattr(optimizer, "t", 0) == 0


@pytest.mark.parametrize(
    "setting",
    [{"beta1": 1.5}, {"beta1": -0.1}, {"beta2": 1.0}, {"beta2": math.nan}, {"eps": 0.0}, {"lr": 0.0}, {"clip": -1.0}],
    ids=str,
)
def test_settings_that_no_adam_can_have_are_refused(setting):
    with pytest.raises(ValueError):
        hn.Adam(np.ones(3), **setting)


def test_an_optimiser_of_another_net_is_refused():
    net = deep_net()
    with pytest.raises(ValueError):
        hn.train_epoch(net, hn.Adam(deep_net().parameters), X, LABELS, np.arange(5), 5)
    before = net.parameters.copy()
    hn.train_epoch(net, hn.Adam(net.parameters[:]), X, LABELS, np.arange(5), 5)
    assert (net.parameters != before).any()


# ---- images, labels, logits

NO_FLOATS = {
    "bytes": lambda x: x.astype(np.uint8),
    "whole numbers": lambda x: x.astype(int),
    "truth values": lambda x: x > 0,
    "complex": lambda x: x + 1j,
    "masked": lambda x: np.ma.masked_less(x, 0),
    "text": lambda x: x.astype(str),
    "objects": lambda x: x.astype(object),
}


@pytest.mark.parametrize("make", NETS)
@pytest.mark.parametrize("kind", NO_FLOATS)
def test_an_x_that_is_no_array_of_floats_is_refused(make, kind):
    wrong = NO_FLOATS[kind](X)
    net = make()
    for use in (
        net.forward,
        net.predict,
        net.gates if make is deep_net else net.mean_gates,
        lambda x: hn.accuracy(net, x, LABELS),
        lambda x: hn.train_epoch(net, hn.Adam(net.parameters), x, LABELS, np.arange(5), 5),
    ):
        with pytest.raises(TypeError):
            use(wrong)


@pytest.mark.parametrize("make", NETS)
@pytest.mark.parametrize(
    "wrong",
    [X[:0], X[:, :5], X.reshape(5, 6, 1, 6), X * np.nan, np.full((1, 36), 1e39)],
    ids=["none", "too few pixels", "another shape", "NaN", "infinite in float32"],
)
def test_an_x_of_another_shape_or_with_no_finite_numbers_is_refused(make, wrong):
    net = make()
    for use in (net.forward, net.predict):
        with pytest.raises(ValueError), np.errstate(over="ignore"):
            use(wrong)


def gates_into(net, array):
    net.predict(X, array)


def norms_into(net, array):
    net.forward(X)
    net.backward(D_LOGITS, array)


@pytest.mark.parametrize(("write", "shape"), [(gates_into, (3, 5, 8)), (norms_into, (3,))])
def test_an_array_that_cannot_receive_gates_or_norms_is_refused(write, shape):
    received = np.zeros(shape)
    write(deep_net(), received)
    assert (received > 0).all()
    longer = (4, *shape[1:])
    for wrong in (np.zeros(shape, int), np.zeros(longer), np.ma.zeros(shape), received.tolist()):
        with pytest.raises((TypeError, ValueError)):
            write(deep_net(), wrong)


def test_an_epoch_refuses_an_invalid_x_or_y():
    net = hn.DeepNet(4, 3, 6, 2, "plain", 0)
    optimizer = hn.Adam(net.parameters)
    x = np.ones((8, 4))
    y = np.zeros(8, int)
    order = np.arange(8)
    for bad_x, bad_y, error in (
        (x, y[:, None], ValueError),
        (x, y.astype(str), ValueError),
        (x, np.ma.masked_equal(y, 0), ValueError),
        (np.ma.masked_equal(x, 0), y, TypeError),
        (x + 1j, y, TypeError),
        (x, np.zeros(9, int), ValueError),
    ):
        before = net.parameters.copy()
        with pytest.raises(error):
            hn.train_epoch(net, optimizer, bad_x, bad_y, order, 4)
        with pytest.raises(error):
            hn.train_epochs(net, optimizer, bad_x, bad_y, [order], 4)
        np.testing.assert_array_equal(net.parameters, before)


def test_a_training_whose_last_step_loses_the_parameters_is_said_to_have_diverged():
    net = hn.DeepNet(4, 3, 6, 2, "plain", 0)
    optimizer = hn.Adam(net.parameters, lr=1e39)
    _, diverged_at = hn.train_epochs(net, optimizer, np.ones((4, 4)), np.zeros(4, int), [np.arange(4)], 4)
    assert not np.isfinite(net.parameters).all()
    assert diverged_at is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"dtype": "float16"},
        {"dtype": "int64"},
        {"dtype": "complex64"},
        {"hidden": 4.0},
        {"hidden": 0},
        {"depth": -1},
        {"gate_bias": math.nan},
    ],
    ids=str,
)
def test_a_net_that_could_not_compute_is_refused(wrong):
    arguments = {"hidden": 8, "depth": 3, **wrong}
    with pytest.raises(ValueError):
        hn.DeepNet(36, 3, block="highway", rng=0, **arguments)


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


@pytest.mark.parametrize(
    "setting",
    [
        {"epochs": 2.5},
        {"hidden": 8.0},
        {"batch_size": 1.5},
        {"depth": math.inf},
        {"seed": math.nan},
        {"seed": -1},
        {"seed": hn.MOST_SEED + 1},
        {"lr": math.nan},
        {"clip": 0.0},
        {"gate_bias": math.nan},
        {"gate_bias": -math.inf},
        {"dtype": "int8"},
    ],
)
def test_settings_that_no_run_can_have_are_refused(setting):
    with pytest.raises(hn.InputError):
        hn.Settings(**setting)
