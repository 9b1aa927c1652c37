"""What the Python interface refuses, in one line that says what would be right: else a gradient, a training or an
answer would be wrong silently."""

import math
import threading

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
    with pytest.raises(RuntimeError, match=r"the parameters changed between forward\(\) and backward\(\)"):
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
            with pytest.raises(RuntimeError, match="the parameters changed"):
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

    with pytest.raises(RuntimeError, match="the parameters changed"):
        change_one_again_and_again()


# ---- one net in several threads


def in_thread(call):
    """What call() raises in another thread, or None."""
    raised = []

    def run():
        try:
            call()
        except RuntimeError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised[0] if raised else None


@pytest.mark.parametrize("make", NETS)
def test_a_net_that_computes_in_one_thread_is_refused_in_another(make, monkeypatch):
    net = make()
    run = type(net)._run
    raised = []
    uses = [lambda: net.forward(X), lambda: net.predict(X), lambda: net.backward(D_LOGITS)]
    uses.append(lambda: net.gates(X) if make is deep_net else net.mean_gates(X))

    def meanwhile(net, *arguments):
        monkeypatch.setattr(type(net), "_run", run)
        raised.extend(in_thread(use) for use in uses)
        return run(net, *arguments)

    expected = net.predict(X)
    monkeypatch.setattr(type(net), "_run", meanwhile)
    np.testing.assert_array_equal(net.predict(X), expected)
    assert len(raised) == len(uses)
    for error in raised:
        assert str(error).startswith("this net is computing in another thread, with the same work arrays: give every")
    assert in_thread(lambda: net.predict(X)) is None  # one thread after another may use it


@pytest.mark.parametrize("make", NETS)
def test_backward_is_refused_after_the_forward_of_another_thread(make):
    net = make()
    net.forward(X)
    assert in_thread(lambda: net.forward(X)) is None
    with pytest.raises(RuntimeError, match=r"the last forward\(\) was called in another thread"):
        net.backward(D_LOGITS)


def test_a_net_is_free_again_after_an_error():
    net = deep_net()
    with pytest.raises(ValueError, match="x must have shape"):
        net.forward(X[:, :5])
    net.predict(X)


# ---- optimisers


@pytest.mark.parametrize("kind", [hn.Adam, SGD, Nesterov])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (deep_net(), "an optimizer needs the vector net.parameters, not a DeepNet"),
        ([1.0, 2.0], "an optimizer needs the vector net.parameters, not a list"),
        (np.ma.array([1.0, 2.0]), "parameters must not be a masked array"),
        (np.arange(3), "parameters must hold floating-point numbers, not int64"),
        (np.ones((2, 3)), "parameters must be one vector, as net.parameters is, not of shape"),
    ],
)
def test_what_is_no_vector_of_parameters_is_refused(kind, parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kind(parameters, lr=0.1)


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (hn.Adam, {"decay": -1}, "decay must be positive"),
        (hn.Adam, {"decay": math.nan}, "decay must be positive"),
        (SGD, {"decay": 0}, "decay must be positive"),
        (hn.Adam, {"beta1": -0.1}, "beta1 and beta2 must be at least 0 and less than 1: beta1=-0.1, beta2=0.999"),
        (hn.Adam, {"beta2": 2}, "beta1 and beta2 must be at least 0 and less than 1: beta1=0.9, beta2=2"),
        (hn.Adam, {"eps": -1}, "eps must be positive, not -1"),
        (hn.Adam, {"eps": "1e-8"}, "eps must be a number, not '1e-8'"),
        (hn.Adam, {"clip": None}, "clip must be a number, not None"),
        (SGD, {"momentum": 1}, "momentum must be at least 0 and less than 1, not 1"),
        (SGD, {"learned": np.ones(2)}, r"learned must have the shape of the parameters, \(3,\)"),
        (Nesterov, {"momentum": -0.1}, "momentum must be at least 0 and less than 1, not -0.1"),
    ],
)
def test_a_number_that_an_optimiser_cannot_use_is_refused(kind, wrong, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kind(np.ones(3), **{"lr": 0.1, **wrong})


@pytest.mark.parametrize("make", [hn.Adam, SGD, lambda p, lr: SGD(p, lr, learned=np.ones(3)), Nesterov])
@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (np.ma.array(np.ones(3), mask=[1, 0, 0]), "gradient must not be a masked array"),
        ([1.0, 1.0, 1.0], "gradient must be a NumPy array, not list"),
        (np.ones(3, np.int8), "gradient must hold floating-point numbers, not int8"),
    ],
)
def test_a_gradient_that_is_no_plain_array_of_floats_is_refused(make, gradient, message):
    parameters = np.ones(3)
    optimizer = make(parameters, lr=0.1)
    with pytest.raises(TypeError, match=message):
        optimizer.step(gradient)
    np.testing.assert_array_equal(parameters, np.ones(3))


def test_an_optimiser_of_another_net_is_refused():
    net = deep_net()
    y = np.array([0, 1, 2, 0, 1])
    with pytest.raises(ValueError, match="the optimizer has the parameters of another net"):
        hn.train_epoch(net, hn.Adam(deep_net().parameters), X, y, np.arange(5), 5)
    before = net.parameters.copy()
    hn.train_epoch(net, hn.Adam(net.parameters[:]), X, y, np.arange(5), 5)
    assert (net.parameters != before).any()


# ---- settings, sizes, norms, classes


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_train": 0}, "n_train must be at least 1, not 0"),
        ({"n_test": -1}, "n_test must be at least 1, not -1"),
        ({"clip": -1}, "lr and clip must be positive: lr=0.005, clip=-1"),
        ({"lr": math.nan}, "lr and clip must be positive: lr=nan"),
        ({"lr": "1e-3"}, "lr must be a number, not '1e-3'"),
        ({"seed": -5}, "seed must be at least 0 and less than 2.63, not -5"),
        ({"seed": 2**63}, "seed must be at least 0 and less than 2.63, not 9223372036854775808"),
        ({"seed": None}, "seed must be a whole number, not None"),
        ({"depth": 2.5}, "depth must be a whole number, not 2.5"),
        ({"epochs": True}, "epochs must be a whole number, not True"),
        ({"depth": -1}, "depth must be at least 0, not -1"),
        ({"hidden": 0}, "hidden must be at least 1, not 0"),
        ({"gate_bias": math.inf}, "gate_bias must be finite, not inf"),
        ({"dtype": "int8"}, "dtype must be 'float32' or 'float64', not 'int8'"),
        ({"dtype": "complex128"}, "dtype must be 'float32' or 'float64', not 'complex128'"),
    ],
)
def test_settings_that_no_run_can_have_are_refused(wrong, message):
    with pytest.raises((TypeError, ValueError), match=message):
        hn.Settings(**wrong)


def test_the_largest_seed_and_numbers_of_numpy_are_taken():
    settings = hn.Settings(seed=2**63 - 1, depth=np.int8(3), lr=np.float32(0.5), clip=math.inf)
    assert (settings.seed, settings.depth) == (2**63 - 1, 3)


@pytest.mark.parametrize(
    ("norms", "message"),
    [
        (np.zeros(3, int), "norms must hold floating-point numbers, not int64"),
        ([0.0] * 3, "norms must be a NumPy array, not list"),
        (np.zeros(4), r"norms must have shape \(3,\), not \(4,\)"),
    ],
)
def test_norms_that_cannot_be_written_are_refused(norms, message):
    net = deep_net()
    net.forward(X)
    with pytest.raises((TypeError, ValueError), match=message):
        net.backward(D_LOGITS, norms)


def test_a_class_instead_of_an_object_or_a_name_is_refused():
    with pytest.raises(ValueError, match=r"Highway is a class: the block must be an object, Highway\(\), or its"):
        hn.DeepNet(4, 3, 6, 2, hn.Highway, 0)
    with pytest.raises(ValueError, match=r"Tanh is a class: the activation must be an object, Tanh\(\), or its name"):
        hn.DeepNet(4, 3, 6, 2, "plain", 0, activation=hn.Tanh)


# ---- pixels, data, logits


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"])
def test_pixels_that_are_whole_numbers_are_refused(dtype):
    x = np.ones((5, 36), dtype)
    y = np.array([0, 1, 2, 0, 1])
    message = f"x must hold floats, pixels as scale_pixels.. or pixels_for.. scales them, not {dtype}"
    for make in NETS:
        net = make()
        uses = [net.forward, net.predict, net.gates if make is deep_net else net.mean_gates]
        uses.append(lambda x, net=net: hn.accuracy(net, x, y))
        uses.append(lambda x, net=net: hn.train_epoch(net, hn.Adam(net.parameters), x, y, np.arange(5), 5))
        for use in uses:
            with pytest.raises(TypeError, match=message):
                use(x)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_pixels_to_scale_that_are_not_bytes_are_refused_with_what_would_be_right(dtype):
    with pytest.raises(ValueError, match=rf"not {dtype}: make those from 0 to 255 x\.astype\(np\.uint8\)"):
        hn.scale_pixels(np.full((2, 4), 255, dtype), np.float32)


def test_images_that_are_not_rows_are_refused(data_set):
    data = hn.load_mnist(data_set)
    squares = data._replace(x_train=data.x_train.reshape(-1, 6, 6))
    settings = hn.Settings(depth=1, hidden=4, epochs=1, batch_size=32)
    message = r"data\.x_train must have a row for each image, x\.reshape\(len\(x\), -1\), not \(\d+, 6, 6\)"
    for use in (
        lambda: hn.run_one("plain", settings, squares),
        lambda: hn.train(deep_net(), squares, settings, np.random.default_rng(0)),
    ):
        with pytest.raises(ValueError, match=message):
            use()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logits_whose_difference_overflows_are_refused():
    logits = np.array([[3e38, -3e38, 0]], np.float32)
    with pytest.raises(FloatingPointError, match=r"the logits, up to 3e\+38, differ by more than float32 can hold"):
        hn.softmax_cross_entropy(logits, np.array([1]))
    loss, gradient = hn.softmax_cross_entropy(logits.astype(np.float64), np.array([1]))
    assert loss == pytest.approx(6e38)
    np.testing.assert_array_equal(gradient, [[1, -1, 0]])
    loss, _ = hn.softmax_cross_entropy(np.full((1, 3), np.nan, np.float32), np.array([1]))
    assert np.isnan(loss)  # train_epoch() says at which step


# ---- blocks of one's own


class Own(hn.Block):
    """Residual with a gate and a parameter: y = x + alpha T H; the base of blocks that each lack something."""

    gates = 1
    kept = ("H", "T")

    def parameters(self, hidden):
        return {"alpha": ()}

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias
        net.alpha[:] = 1

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        layer.T[...] = 1 / (1 + np.exp(-layer.z_T))
        layer.y[...] = layer.x + layer.alpha * layer.T * layer.H

    def backward(self, layer, dy):
        layer.d_alpha[...] = (layer.T * layer.H * dy).sum()
        layer.dz_T[...] = layer.alpha * layer.H * layer.T * (1 - layer.T) * dy
        layer.activation.slope(layer.z_H, layer.H, layer.H)
        layer.dz_H[...] = layer.alpha * layer.T * layer.H * dy
        return dy


def forward_to_nowhere(self, layer):
    layer.activation.value(layer.z_H, layer.H)
    y = layer.x + layer.H  # noqa: F841  a mistake: layer.y[...] = was meant


def half_of_y(self, layer):
    layer.y[:4] = layer.x[:4]


def nothing_returned(self, layer, dy):
    Own.backward(self, layer, dy)


def no_gradient(*left_out, adds=False):
    """backward() that leaves these arrays as they were, or adds to them."""

    def backward(self, layer, dy):
        old = {name: getattr(layer, name).copy() for name in left_out}
        carried = Own.backward(self, layer, dy)
        for name, array in old.items():
            getattr(layer, name)[...] = array + adds * getattr(layer, name)
        return carried

    return backward


def run_backward(net):
    net.forward(X)
    net.backward(D_LOGITS)


def net_with(**members):
    """A net whose block is Own with other members."""
    block = type("OfATest", (Own,), {"name": "of a test", **members})
    try:
        return hn.DeepNet(36, 3, 8, 2, block(), 0)
    finally:
        del hn.BLOCKS["of a test"]


WRONG_BLOCKS = [
    ({"forward": forward_to_nowhere}, r"forward\(\) of OfATest\(\) does not write all of layer\.y: write layer\.y\["),
    ({"forward": half_of_y}, r"forward\(\) of OfATest\(\) does not write all of layer\.y"),
    ({"kept": ("H",)}, r"layer\.T does not exist: .* in the block's kept, kept = \('T',\)"),
    (
        {"gates": 0, "start": hn.Block.start},
        r"layer\.z_T does not exist: it needs gates = 1, and OfATest\(\) has 0",
    ),
    ({"backward": no_gradient("dz_H")}, r"backward\(\) of OfATest\(\) does not write all of layer\.dz_H"),
    ({"backward": no_gradient("dz_T")}, r"backward\(\) of OfATest\(\) does not write all of layer\.dz_T"),
    ({"backward": no_gradient("d_alpha")}, r"backward\(\) of OfATest\(\) does not write all of layer\.d_alpha"),
    ({"backward": no_gradient("d_alpha", adds=True)}, r"layer\.d_alpha, or adds to it: write layer\.d_alpha\[\.\.\.\]"),
    (
        {"backward": nothing_returned},
        r"backward\(\) of OfATest\(\) returns nothing, but its forward\(\) reads layer\.x",
    ),
    ({"backward": lambda self, layer, dy: Own.backward(self, layer, dy).sum()}, r"or None: not one of shape \(\)"),
]


# those that say it when the net is made
WRONG_DECLARATIONS = [
    ({"gates": 3}, "of a test: gates must be 0, 1 or 2, not 3"),
    ({"kept": ("H")}, r"of a test: kept must be a tuple of names, with a comma: kept = \('H',\)"),
    ({"shared": "S"}, "of a test: shared must be a tuple of names, with a comma"),
]


@pytest.mark.parametrize(("members", "message"), WRONG_DECLARATIONS)
def test_what_a_block_cannot_declare_is_refused(members, message):
    with pytest.raises(ValueError, match=message):
        net_with(**members)


@pytest.mark.parametrize("method", ["forward", "backward"])
def test_a_block_without_a_method_is_told_which(method):
    net = net_with(**{method: getattr(hn.Block, method)})
    with pytest.raises(NotImplementedError, match=rf"the block 'of a test' needs a method {method}\("):
        run_backward(net)


@pytest.mark.parametrize(("members", "message"), WRONG_BLOCKS)
def test_a_block_that_lacks_something_is_told_what_at_its_first_use(members, message):
    net = net_with(**members)
    with pytest.raises((AttributeError, ValueError), match=message):
        run_backward(net)


def test_a_block_without_gates_that_sets_their_bias_is_told_so():
    with pytest.raises(AttributeError, match=r"net\.b_T does not exist: it needs gates = 1, and OfATest\(\) has 0"):
        net_with(gates=0)


def test_a_block_that_lacks_nothing_is_taken():
    run_backward(net_with())


def test_the_check_of_a_block_changes_no_number():
    """The gradient of a first backward() is that of a second."""
    net = net_with()
    first = [net.forward(X), net.backward(D_LOGITS).copy()]
    second = [net.forward(X), net.backward(D_LOGITS)]
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def x_is_changed(self, layer):
    Own.forward(self, layer)
    layer.x *= 2


def x_is_changed_backward(self, layer, dy):
    layer.x *= 2
    return Own.backward(self, layer, dy)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"forward": x_is_changed}, r"forward\(\) of OfATest\(\) changes layer\.x, the y of the layer below"),
        ({"backward": x_is_changed_backward}, r"backward\(\) of OfATest\(\) changes layer\.x"),
        (
            {"kept": ("H",), "shared": ("T",)},
            r"backward\(\) of OfATest\(\) reads layer\.T, which other layers have written over by then: keep what it",
        ),
    ],
)
def test_a_block_that_uses_what_other_layers_use_is_told_so(members, message):
    net = net_with(**members)
    with pytest.raises(ValueError, match=message):
        run_backward(net)


# ---- activations of one's own


class Softplus(hn.Activation):
    """H = log(1 + e^z), H' = 1 / (1 + e^-z); the base of activations that each lack something."""

    keeps_z = True

    def value(self, z, H):
        H[...] = np.log1p(np.exp(z))

    def slope(self, z, H, slope):
        slope[...] = 1 / (1 + np.exp(-z))


def positive_alone(self, z, H):
    H[z > 0] = z[z > 0]


def slope_is_added(self, z, H, slope):
    slope += 1 / (1 + np.exp(-z))


def slope_is_written_first(self, z, H, slope):
    slope[...] = 1
    slope /= 1 + np.exp(-z)


def z_is_changed(self, z, H):
    np.exp(z, z)
    H[...] = np.log1p(z)


def activation_with(**members):
    kind = type("OfATest", (Softplus,), {"name": "of a test", **members})
    del hn.ACTIVATIONS["of a test"]
    return kind()


WRONG_ACTIVATIONS = [
    ({"keeps_z": False}, r"slope\(\) of OfATest\(\) reads z, .* set keeps_z = True in its class"),
    ({"value": lambda self, z, H: np.log1p(np.exp(z))}, r"value\(\) of OfATest\(\) does not write all of H"),
    ({"value": positive_alone}, r"value\(\) of OfATest\(\) does not write all of H"),
    ({"value": z_is_changed}, r"value\(\) of OfATest\(\) changes z: it must write into H alone"),
    (
        {"slope": lambda self, z, H, slope: 1 / (1 + np.exp(-z))},
        r"slope\(\) of OfATest\(\) does not write all of slope",
    ),
    ({"slope": slope_is_added}, r"slope\(\) of OfATest\(\) does not write all of slope, or reads what it held"),
    ({"slope": slope_is_written_first}, r"slope\(\) of OfATest\(\) is wrong where slope and z are one array"),
]


@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize(("members", "message"), WRONG_ACTIVATIONS)
def test_an_activation_that_lacks_something_is_told_what_at_its_first_use(members, message, depth, monkeypatch):
    monkeypatch.setattr(hn, "check_registered", lambda named: None)
    net = hn.DeepNet(36, 3, 8, depth, "highway", 0, activation=activation_with(**members))
    with pytest.raises(ValueError, match=message):
        run_backward(net)


def test_an_activation_that_lacks_nothing_is_taken(monkeypatch):
    monkeypatch.setattr(hn, "check_registered", lambda named: None)
    run_backward(hn.DeepNet(36, 3, 8, 2, "highway", 0, activation=activation_with()))


# ---- losses and optimisers of one's own


LABELS = np.array([0, 1, 2, 0, 1])
OWN_DATA = hn.Dataset.of(X, LABELS, X, LABELS)
TARGETS = hn.Dataset.of(X, LABELS.astype(float), X, LABELS.astype(float))


def in_place(outputs, y):
    loss, gradient = hn.softmax_cross_entropy(outputs, y)
    outputs[...] = gradient
    return loss, outputs


def y_is_changed(outputs, y):
    y += 1
    return hn.softmax_cross_entropy(outputs, y - 1)


class ReturnsNothing(hn.Adam):
    def step(self, gradient):
        super().step(gradient)


class Rebinds(hn.Adam):
    def step(self, gradient):
        self.parameters = self.parameters - self.lr * gradient
        return 1.0


class RebindsItsOwn:
    def __init__(self, parameters, lr, clip):
        self.parameters = parameters

    def step(self, gradient):
        self.parameters = self.parameters - gradient
        return 1.0


def train_own(data=OWN_DATA, **chosen):
    return hn.run_one("highway", data=data, depth=2, hidden=8, epochs=1, batch_size=5, **chosen)


def test_a_loss_may_work_in_place():
    ours = train_own(loss=in_place)
    theirs = train_own()
    assert ours["final_train_acc"] == theirs["final_train_acc"] > 0
    assert ours["final_train_loss"] == theirs["final_train_loss"]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"loss": y_is_changed}, "read-only"),
        ({"loss": lambda outputs, y: 1.0}, "must return two things, the loss and its gradient"),
        ({"loss": lambda outputs, y: (outputs[:, 0], outputs)}, r"one number as the loss of a batch.* shape \(5,\)"),
        ({"loss": "mse"}, "loss must be a function, such as softmax_cross_entropy, not 'mse'"),
        ({"optimizer": "adam"}, "optimizer must be a class, such as Adam, not 'adam'"),
        ({"optimizer": ReturnsNothing}, r"step\(\) of ReturnsNothing must return the norm of the gradient, not None"),
        ({"optimizer": Rebinds}, r"write into the array, which others use: optimizer\.parameters\[\.\.\.\]"),
        ({"optimizer": RebindsItsOwn}, r"or assigned self\.parameters anew"),
        ({"data": TARGETS}, r"y holds floats: give loss=\.\.\. for a regression, or y\.astype\(int\) for labels"),
    ],
)
def test_a_loss_or_optimiser_that_cannot_train_is_refused(chosen, message):
    with pytest.raises((AttributeError, TypeError, ValueError), match=message):
        train_own(**chosen)


@pytest.mark.parametrize("batch_size", [0, -1, 2.5])
def test_a_batch_that_no_epoch_can_have_is_refused(batch_size):
    net = deep_net()
    with pytest.raises((TypeError, ValueError), match="batch_size must be"):
        hn.train_epoch(net, hn.Adam(net.parameters), X, LABELS, np.arange(5), batch_size)
