"""The fully connected net, its loss, its optimisers and its files.  The independent references are straightforward.py
and textbook formulas."""

import copy
import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from small_nets import SHAPES, random_net

import highway_networks as hn
import highways.nets.activations  # noqa: F401  registers "sigmoid"
import straightforward
from benchmarks.rivals import as_straightforward
from highways.conv.net import ConvNet
from highways.files import InputError
from highways.nets.extra_blocks import Residual
from highways.nets.optimizers import SGD, Nesterov

pytestmark = pytest.mark.quick
# other modules that were imported before may have registered more
BLOCKS = ("highway", "plain", "residual", "highway-carry", "lstm", "maxout", "highway-maxout", "uncoupled")
ACTIVATION_FUNCTIONS = {
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0),
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
}


def carry_gate_equations(net, x):
    """Logits and T of a "highway-carry" net, y = H T + x C.  straightforward.py does not have this block."""
    activate = ACTIVATION_FUNCTIONS[net.activation.name]
    gates = []
    x = activate(x @ net.W_in.T + net.b_in)
    for layer in range(net.depth):
        z = {name: x @ getattr(net, f"W_{name}")[layer].T + getattr(net, f"b_{name}")[layer] for name in "HTC"}
        T, C = (1 / (1 + np.exp(-z[name])) for name in "TC")
        x = activate(z["H"]) * T + x * C
        gates.append(T)
    return x @ net.W_out.T + net.b_out, gates


def equations(net, x):
    """Logits and T by the paper's equations, batch first, a layer at a time."""
    if net.block.name == "highway-carry":
        return carry_gate_equations(net, x)
    with pytest.MonkeyPatch.context() as patch:
        # straightforward.py always calls np.tanh: here its np.tanh is the net's activation
        numpy_names = {**vars(np), "tanh": ACTIVATION_FUNCTIONS[net.activation.name]}
        patch.setattr(straightforward, "np", SimpleNamespace(**numpy_names))
        logits, kept = straightforward.forward(as_straightforward(net, net), x)
    gates = []
    if net.block.gates:
        for _, _, T in kept[1:-1]:
            gates.append(T)
    return logits, gates


def gradient_of(net, x, y):
    """The gradient of the mean cross-entropy: one forward() and one backward()."""
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    return net.backward(d_logits)


@pytest.mark.parametrize("block", ["highway", "plain", "residual", "highway-carry"])
@pytest.mark.parametrize("activation", ACTIVATION_FUNCTIONS)
@pytest.mark.parametrize("n", [1, hn.SLICE + 3])
def test_forward_and_predict_are_the_equations(block, activation, n):
    net, _, _ = random_net(block, (4, 3, 6, 5, 1), dtype=np.float64, activation=activation)
    x = np.random.default_rng(1).normal(size=(n, 4))
    expected, gates = equations(net, x)
    np.testing.assert_allclose(net.forward(x), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(net.predict(x), expected, rtol=1e-12, atol=1e-14)
    if gates:
        np.testing.assert_allclose(net.gates(x), np.array(gates), rtol=1e-12)
        assert net.gates(x).shape == (5, n, 6)


@pytest.mark.parametrize("block", straightforward.BLOCKS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_are_those_of_the_straightforward_program(block, shape):
    net, x, y = random_net(block, shape, dtype=np.float64)
    reference = as_straightforward(net, net)
    logits, kept = straightforward.forward(reference, x)
    expected_loss, d_logits = straightforward.softmax_cross_entropy(logits, y)
    expected = straightforward.arrays_of(straightforward.backward(reference, kept, d_logits))
    our_loss, our_d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    assert our_loss == pytest.approx(expected_loss, rel=1e-12)
    net.backward(our_d_logits)
    ours = straightforward.arrays_of(as_straightforward(net, net.grad))
    largest = max(np.abs(gradient).max() for gradient in expected)
    for our_gradient, expected_gradient in zip(ours, expected, strict=True):
        np.testing.assert_allclose(our_gradient, expected_gradient, rtol=1e-12, atol=1e-12 * largest)


def test_the_straightforward_program_starts_as_a_net_does_and_steps_as_adam():
    """At t = 1 the parameters are those at the start, which must be equal to the last bit."""
    net = hn.DeepNet(7, 3, 6, 4, "highway", np.random.default_rng(5), dtype=np.float64)
    reference = straightforward.make_net(np.random.default_rng(5), 7, 3, 6, 4, "highway")
    our_optimizer = hn.Adam(net.parameters)
    reference_optimizer = straightforward.Adam(reference)
    rng = np.random.default_rng(6)
    for t in range(1, 6):
        ours = straightforward.arrays_of(as_straightforward(net, net))
        for reference_array, our_array in zip(straightforward.arrays_of(reference), ours, strict=True):
            np.testing.assert_allclose(reference_array, our_array, rtol=0 if t == 1 else 1e-12, atol=0)
        net.gradient[:] = rng.normal(0, 10.0 ** (3 - t), net.gradient.shape)  # clipped at first, then not
        reference_optimizer.step(as_straightforward(net, net.grad))
        our_optimizer.step(net.gradient)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", [-200.0, -1e4])
def test_gates_shut_make_the_identity_to_the_last_bit(dtype, bias):
    net, x, _ = random_net("highway", (4, 3, 6, 9, 5), dtype=dtype)
    x = x.astype(dtype)
    net.b_T[:] = bias
    deep = net.forward(x).copy()
    shallow, _, _ = random_net("highway", (4, 3, 6, 0, 5), dtype=dtype)
    for name in ("W_in", "b_in", "W_out", "b_out"):
        getattr(shallow, name)[:] = getattr(net, name)
    np.testing.assert_array_equal(deep, shallow.forward(x))
    assert net.gates(x).max() < 1e-30


@pytest.mark.parametrize("block", BLOCKS)
def test_views_cover_the_flat_vectors_exactly_once(block):
    net, _, _ = random_net(block, (4, 3, 6, 2, 1), dtype=np.float64)
    of_gates = ["W_T", "b_T", "W_C", "b_C"][: 2 * hn.BLOCKS[block].gates]  # two arrays for each gate
    names = ["W_in", "b_in", "W_H", "b_H", "W_out", "b_out", *of_gates, *net.block.parameters(net.hidden)]
    for owner, flat in ((net, net.parameters), (net.grad, net.gradient)):
        flat[:] = 0
        for name in names:
            getattr(owner, name)[...] += 1
        assert (flat == 1).all()
    for name in ("W_T", "b_T", "W_C", "b_C"):
        assert hasattr(net, name) == (name in names)


def test_weights_are_the_published_draws():
    """From a generator of the same seed, in the order in which the published program draws them."""
    net = hn.DeepNet(784, 10, 50, 3, "highway", np.random.default_rng(7), dtype=np.float64)
    rng = np.random.default_rng(7)
    np.testing.assert_array_equal(net.W_in, rng.uniform(-1 / 28, 1 / 28, (50, 784)))
    for name in ("W_H", "W_T"):
        for layer in range(3):
            np.testing.assert_array_equal(getattr(net, name)[layer], rng.uniform(-(50**-0.5), 50**-0.5, (50, 50)))
    np.testing.assert_array_equal(net.W_out, rng.uniform(-(50**-0.5), 50**-0.5, (10, 50)))
    assert (net.b_T == -2).all()
    assert not net.b_in.any()
    assert not net.b_H.any()
    assert not net.b_out.any()


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(("init", "gate_bias"), [("glorot", -3), ("he", 3)])
def test_glorot_and_he_initialisation(block, init, gate_bias):
    """Glorot & Bengio 2010: variance 2 / (fan_in + fan_out); He et al. 2015: 2 / fan_in where a ReLU follows."""
    rng = np.random.default_rng(1)
    net = hn.DeepNet(784, 10, 100, 20, block, rng, init=init, gate_bias=gate_bias, dtype=np.float64)

    def variance_before_activation(fan_in, fan_out):
        return 2 / fan_in if init == "he" else 2 / (fan_in + fan_out)

    expected = {
        "W_in": variance_before_activation(784, 100),
        "W_H": variance_before_activation(100, 100),
        "W_out": 2 / 110,
    }
    if hn.BLOCKS[block].gates:
        expected["W_T"] = 2 / 200
        start = {"lstm": [gate_bias] * 50 + [-gate_bias] * 50, "maxout": 0}.get(block, gate_bias)
        assert (net.b_T == start).all()
    if block == "residual":
        expected["W_H"] /= 20**2  # a residual block's W_H starts at 1/depth of the usual size
    if block == "highway-carry":
        expected["W_C"] = 2 / 200
        assert (net.b_C == -gate_bias).all()  # the biases alone give C = 1 - T
    for name, variance in expected.items():
        W = getattr(net, name)
        assert W.var() == pytest.approx(variance, rel=5 / np.sqrt(W.size))
        assert abs(W.mean()) < 5 * np.sqrt(variance / W.size)
        # a normal distribution has 4.55 % beyond two deviations, a uniform one has nothing there
        assert (np.abs(W) > 2 * np.sqrt(variance)).mean() == pytest.approx(0.0455, abs=0.03)
    assert not net.b_in.any()
    assert not net.b_H.any()
    assert not net.b_out.any()


@pytest.mark.parametrize("block", ["highway", "lstm"])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_a_copy_is_whole_and_independent(block, duplicate):
    net, x, y = random_net(block, (4, 3, 6, 2, 5), dtype=np.float64, activation="relu")
    before = net.predict(x)
    twin = duplicate(net)
    np.testing.assert_array_equal(twin.predict(x), before)
    twin.parameters[:] *= 2
    assert not np.array_equal(twin.predict(x), before)
    np.testing.assert_array_equal(net.predict(x), before)
    gradient_of(twin, x, y)
    # the twin's grad.b_out is a view of its own flat gradient, which ends with [W_out b_out], 3 x (6 + 1)
    W_out_and_b_out = twin.gradient.reshape(-1)[-3 * 7 :].reshape(3, 7)
    assert np.array_equal(twin.grad.b_out, W_out_and_b_out[:, -1])


@pytest.mark.parametrize("block", ["highway", "residual"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_a_saved_net_is_the_same_net(block, dtype, tmp_path):
    net, x, y = random_net(block, (4, 3, 6, 2, 5), dtype=dtype, activation="relu")
    net.about = {"data": "MNIST", "settings": {"rate": 0.1, "é": [1, None]}}
    net.save(tmp_path / "net.npz")
    again = hn.DeepNet.load(str(tmp_path / "net.npz"))
    assert again.__getstate__().keys() == net.__getstate__().keys()
    for mine, other in ((again.block, net.block), (again.activation, net.activation)):
        assert (type(mine), vars(mine)) == (type(other), vars(other))
    for name, value in net.__getstate__().items():
        if name not in ("block", "activation"):
            np.testing.assert_array_equal(getattr(again, name), 0 if name == "gradient" else value)
    np.testing.assert_array_equal(again.predict(x), net.predict(x))
    gradient_of(again, x, y)
    assert again.grad.W_H.any()  # a view of the gradient, not a copy that stays 0
    before = (tmp_path / "net.npz").read_bytes()
    again.save(tmp_path / "net.npz")
    assert (tmp_path / "net.npz").read_bytes() == before  # the file holds no time
    assert [path.name for path in tmp_path.iterdir()] == ["net.npz"]


HEAD = {"d_in": 4, "d_out": 3, "hidden": 4, "depth": 1, "block": "highway", "activation": "tanh"}


def saved_with(path, parameters, **net):
    np.savez(path, parameters=parameters, head=json.dumps({"net": HEAD | net, "about": {}}))


def test_a_seed_may_stand_for_a_generator():
    for make in (
        lambda rng: hn.DeepNet(6, 3, 4, 2, "highway", rng),
        lambda rng: ConvNet((1, 6, 6), [("conv", 3, 2), ("highway", 3), ("dense", 3)], rng),
    ):
        np.testing.assert_array_equal(make(7).parameters, make(np.random.default_rng(7)).parameters)
        assert (make(7).parameters != make(8).parameters).any()


def test_pixels_for_a_net_are_scaled_as_in_its_training(mnist, tmp_path):
    """If its pixels are scaled otherwise, the committed net is right for only half of the images."""
    net = hn.DeepNet.load(ROOT / "experiments" / "results" / "fifty_layers_mnist_1.npz")
    net.save(tmp_path / "net.npz")
    net = hn.DeepNet.load(tmp_path / "net.npz")
    x_test = mnist.x_test[:1000]
    y_test = mnist.y_test[:1000]
    x = hn.inputs_for(net, x_test)
    assert (x.min(), x.max(), x.dtype) == (0, 1, net.dtype)
    assert hn.accuracy(net, x, y_test) > 0.96
    assert hn.accuracy(net, hn.scale_pixels(x_test, np.float32), y_test) < 0.6
    net = hn.DeepNet(784, 10, 8, 2, "highway", 0)
    s = hn.Settings(epochs=1, n_train=256, n_test=64)
    with pytest.raises(ValueError):
        hn.inputs_for(net, x_test)
    hn.train(net, hn.subset(mnist, 0, 256, 64), s)
    np.testing.assert_array_equal(hn.inputs_for(net, x_test[:9]), hn.scale_pixels(x_test[:9], np.float32))


def test_a_net_that_cannot_be_saved_leaves_the_old_file(tmp_path):
    net, _, _ = random_net("plain", (2, 2, 2, 1, 1), dtype=np.float32)
    (tmp_path / "net.npz").write_bytes(b"old")
    with pytest.raises(InputError):
        net.save(tmp_path / "net.npz")
    net.about = {"loss": object()}
    with pytest.raises(TypeError):
        net.save(tmp_path / "net.npz")
    assert (tmp_path / "net.npz").read_bytes() == b"old"


def test_evaluation_between_forward_and_backward_disturbs_nothing():
    net, x, y = random_net("highway", (4, 3, 6, 2, 5), dtype=np.float64)
    expected = gradient_of(net, x, y).copy()
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    net.predict(x[::-1])
    net.gates(x[::-1])
    net.gates(x[:2])
    np.testing.assert_array_equal(net.backward(d_logits), expected)


def test_the_batch_may_change_after_forward():
    net, x, y = random_net("highway", (4, 3, 6, 2, 5), dtype=np.float64)
    expected = gradient_of(net, x, y).copy()
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    x[:] = 9
    np.testing.assert_array_equal(net.backward(d_logits), expected)


def test_a_residual_block_starts_scaled_down():
    nets = [
        hn.DeepNet(4, 3, 6, 25, block, np.random.default_rng(0)) for block in ("highway", "residual", Residual(0.1))
    ]
    highway, by_default, by_a_tenth = (net.W_H for net in nets)
    np.testing.assert_array_equal(by_default, highway * np.float32(1 / 25))
    np.testing.assert_array_equal(by_a_tenth, highway * np.float32(0.1))


def test_labels_may_have_any_integer_dtype():
    logits = np.random.default_rng(0).normal(size=(3, 3))
    expected = hn.softmax_cross_entropy(logits, np.array([2, 0, 1]))
    for dtype in (np.uint8, np.int16, np.uint64):
        loss, d_logits = hn.softmax_cross_entropy(logits, np.array([2, 0, 1], dtype))
        assert loss == expected[0]
        np.testing.assert_array_equal(d_logits, expected[1])
        assert type(d_logits) is np.ndarray


def test_batches_of_changing_sizes_follow_the_equations():
    net, _, _ = random_net("highway", (4, 3, 6, 3, 1), dtype=np.float64)
    x = np.random.default_rng(0).normal(size=(40, 4))
    expected = equations(net, x)[0]
    for n in (1, 40, 7, 13, 40, 2, 3, 5, 8, 1):
        np.testing.assert_allclose(net.forward(x[:n]), expected[:n], rtol=1e-12)
        np.testing.assert_allclose(net.predict(x[:n]), expected[:n], rtol=1e-12)


# ---- loss and optimiser


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(2, 12), st.floats(0.01, 60), st.integers(0, 2**32))
def test_cross_entropy_is_the_textbook_formula(n, classes, scale, seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, scale, (n, classes))
    y = rng.integers(0, classes, n)
    shifted = logits - logits.max(axis=1, keepdims=True)
    p = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    expected = np.mean(np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(n), y])
    loss, gradient = hn.softmax_cross_entropy(logits, y)
    assert loss == pytest.approx(expected, rel=1e-9, abs=1e-15)
    np.testing.assert_allclose(gradient, (p - np.eye(classes)[y]) / n, atol=1e-14)


def test_cross_entropy_is_exact_for_tiny_losses_and_huge_logits():
    loss, gradient = hn.softmax_cross_entropy(np.array([[40, 0, 0]], np.float32), np.array([0]))
    assert loss == pytest.approx(2 * np.exp(-40), rel=1e-5, abs=0)
    assert gradient[0, 0] == pytest.approx(-2 * np.exp(-40), rel=1e-5, abs=0)
    loss, gradient = hn.softmax_cross_entropy(np.array([[3e4, -3e4]], np.float32), np.array([1]))
    assert loss == 6e4
    np.testing.assert_array_equal(gradient, [[1, -1]])


def published_adam(p, gradients, lr=5e-3, clip=5.0, beta1=0.9, beta2=0.999, eps=1e-8):
    m = np.zeros_like(p)
    v = np.zeros_like(p)
    for t, g in enumerate(gradients, 1):
        g = g * min(1, clip / np.linalg.norm(g))
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        p = p - lr * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + eps)
    return p


def test_adam_is_the_textbook_adam_with_the_gradient_clipped():
    rng = np.random.default_rng(0)
    p = rng.normal(size=200)
    gradients = rng.normal(size=(30, 200)) * np.geomspace(1e-6, 10, 30)[:, None]
    expected = published_adam(p, gradients)
    kept = gradients.copy()
    optimizer = hn.Adam(p)
    norms = [optimizer.step(g) for g in gradients]
    np.testing.assert_allclose(p, expected, rtol=1e-11)
    np.testing.assert_allclose(norms, np.linalg.norm(gradients, axis=1))
    np.testing.assert_array_equal(gradients, kept)
    assert min(norms) < optimizer.clip < max(norms)  # so that some gradients were clipped, others not


@pytest.mark.parametrize("clip", [np.inf, 2.0])
@pytest.mark.parametrize("size", [200, hn.CHUNK + 7])
def test_sgd_is_the_textbook_momentum_with_a_decaying_rate(clip, size):
    rng = np.random.default_rng(0)
    p = rng.normal(size=size)
    gradients = rng.normal(size=(6, size)) * np.geomspace(1e-3, 1, 6)[:, None]
    expected = p.copy()
    v = 0
    kept = gradients.copy()
    for t, g in enumerate(gradients):
        v = 0.8 * v + 0.3 * 0.9**t * g * min(1, clip / np.linalg.norm(g))
        expected = expected - v
    optimizer = SGD(p, lr=0.3, momentum=0.8, decay=0.9, clip=clip)
    norms = [optimizer.step(g) for g in gradients]
    np.testing.assert_allclose(p, expected, rtol=1e-11)
    np.testing.assert_allclose(norms, np.linalg.norm(gradients, axis=1))
    np.testing.assert_array_equal(gradients, kept)
    assert optimizer.lr == pytest.approx(0.3 * 0.9**6)
    assert max(norms) > 2  # so that a clip of 2.0 was at work


class Descent(hn.Optimizer):
    """Without a method of its own but update()."""

    def update(self, gradient, scale):
        self.parameters -= self.lr * scale * gradient


class Momentum(hn.Optimizer):
    def __init__(self, parameters, lr, clip):
        super().__init__(parameters, lr, clip, states=("v",))

    def update(self, gradient, scale):
        self.v[:] = 0.9 * self.v + self.lr * scale * gradient
        self.parameters -= self.v


@pytest.mark.parametrize(("kind", "momentum"), [(Descent, 0.0), (Momentum, 0.9)])
def test_an_optimiser_of_one_s_own_needs_update_alone(kind, momentum):
    gradients = np.random.default_rng(0).normal(size=(6, 50)) * np.geomspace(1e-3, 1, 6)[:, None]
    ours = kind(np.ones(50), 0.3, 2.0)
    theirs = SGD(np.ones(50), lr=0.3, momentum=momentum, clip=2.0)
    norms = [ours.step(gradient) for gradient in gradients]
    assert norms == [theirs.step(gradient) for gradient in gradients]
    assert max(norms) > 2
    np.testing.assert_allclose(ours.parameters, theirs.parameters, rtol=1e-12)


@pytest.mark.parametrize("kind", [hn.Adam, SGD])
def test_clip_survives_the_overflow_of_a_float32_norm(kind):
    """The squares of 1e20 overflow, the norm does not."""
    p = np.zeros(100, np.float32)
    optimizer = kind(p, lr=1.0, clip=5.0)
    norm = optimizer.step(np.full(100, 1e20, np.float32))
    assert norm == pytest.approx(1e21, rel=1e-5)
    kept = getattr(optimizer, optimizer.states[0])
    np.testing.assert_allclose(kept, 0.5, rtol=1e-5)  # the clipped gradient: 100 of 0.5 have norm 5


def duplicates():
    return [copy.deepcopy, lambda optimizer: pickle.loads(pickle.dumps(optimizer))]


@pytest.mark.parametrize("duplicate", duplicates())
@pytest.mark.parametrize(
    ("make", "names"), [(hn.Adam, ["m", "v"]), (SGD, ["v"]), (Nesterov, ["v", "weight_decay", "rates"])]
)
def test_a_copied_optimiser_goes_on_as_the_original(make, names, duplicate):
    rng = np.random.default_rng(0)
    gradients = rng.normal(size=(4, 9))
    ours = make(np.zeros(9), lr=0.1)
    for gradient in gradients[:2]:
        ours.step(gradient)
    theirs = duplicate(ours)
    assert theirs.parameters is not ours.parameters
    for gradient in gradients[2:]:
        assert theirs.step(gradient) == ours.step(gradient)
    np.testing.assert_array_equal(theirs.parameters, ours.parameters)
    for name in names:
        np.testing.assert_array_equal(getattr(theirs, name), getattr(ours, name))
        assert not np.shares_memory(getattr(theirs, name), getattr(ours, name))


def test_the_norm_survives_a_sum_of_squares_that_underflow_in_part():
    gradient = np.full(10_000, 3e-23, np.float32)
    assert hn.norm_of(gradient) == pytest.approx(3e-21, rel=1e-6, abs=0)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        *((np.float32, size) for size in (2e-24, 1e-40, 1e20)),
        *((np.float64, size) for size in (2e-170, 1e-310, 1e200)),
    ],
)
def test_the_norm_survives_squares_that_underflow_or_overflow(dtype, size):
    gradient = np.zeros(5, dtype)
    gradient[1] = 3 * size
    gradient[2] = 4 * size
    kept = gradient.copy()
    norm = hn.Adam(np.zeros(5, dtype)).step(gradient)
    assert norm == pytest.approx(5 * size, rel=1e-4, abs=0)  # subnormal numbers have fewer digits
    np.testing.assert_array_equal(gradient, kept)


def test_a_file_that_is_not_a_saved_net_is_refused(tmp_path):
    path = tmp_path / "net.npz"
    right = np.full(20 + 40 + 15, 0.5, np.float32)  # the parameters of HEAD's input layer, block and output layer
    saved_with(path, right)
    assert (hn.DeepNet.load(path).parameters == 0.5).all()
    for wrong in (
        {"parameters": right[1:]},
        {"parameters": right[:1]},  # NumPy would spread it over all
        {"parameters": right.reshape(3, 25)},
        {"parameters": right, "depth": 2},
        {"parameters": right, "block": "plain"},
    ):
        saved_with(path, **wrong)
        with pytest.raises(InputError):
            hn.DeepNet.load(path)
    np.savez(path, parameters=right, head=np.array(RunsCode(tmp_path / "ran"), dtype=object))
    with pytest.raises(InputError):
        hn.DeepNet.load(path)
    assert not (tmp_path / "ran").exists()


class RunsCode:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return self.folder.mkdir, ()


def test_a_second_block_of_a_name_is_refused():
    with pytest.raises(ValueError):
        type("Another", (hn.Block,), {"name": "highway"})
    assert hn.BLOCKS["highway"] is hn.Highway
