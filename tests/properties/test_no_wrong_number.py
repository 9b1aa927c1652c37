"""Any array, setting or rate gives a right number, or is refused, or said to have diverged.  Half of the examples are
such that they must be taken."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import highway_networks as hn

DTYPES = st.sampled_from(["bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex128", "U3", "O"])
FLOATS = ["float16", "float32", "float64"]
NUMBERS = st.sampled_from([0.0, 1.0, -1.5, 1e-30, 1e30, math.inf, math.nan])


@st.composite
def any_array(draw, shapes):
    dtype = draw(DTYPES)
    shape = draw(shapes)
    if dtype in FLOATS:
        with np.errstate(over="ignore"):
            return (
                np.array(draw(st.lists(NUMBERS, min_size=math.prod(shape), max_size=math.prod(shape))))
                .reshape(shape)
                .astype(dtype)
            )
    return draw(arrays.arrays(dtype, shape, elements=None))


def finite(dtypes, *shape):
    """Arrays that must be taken, if their dtype and shape are right."""
    numbers = st.floats(-16, 16, width=16)
    return st.sampled_from(dtypes).flatmap(lambda dtype: arrays.arrays(dtype, shape, elements=numbers))


def half(right, any_kind):
    """Pairs: whether the example must be taken, and the example."""
    return st.tuples(st.just(True), right) | st.tuples(st.just(False), any_kind)


def masked_or_not(kind):
    return kind | kind.map(np.ma.asarray)


def labels(high: int, n: int):
    return st.lists(st.integers(0, high), min_size=n, max_size=n)


def logits_in_float64(net, x):
    """What a highway net answers, by equation 3 as it is written."""
    y = np.tanh(x.astype(float) @ net.W_in.T.astype(float) + net.b_in)
    for W_H, b_H, W_T, b_T in zip(net.W_H, net.b_H, net.W_T, net.b_T, strict=True):
        H = np.tanh(y @ W_H.T.astype(float) + b_H)
        T = 1 / (1 + np.exp(-(y @ W_T.T.astype(float) + b_T)))
        y = H * T + y * (1 - T)
    return y @ net.W_out.T.astype(float) + net.b_out


@settings(max_examples=50)
@given(
    half(
        st.tuples(
            finite(FLOATS, 3, 2) | arrays.arrays("uint8", (3, 2)), labels(3, 3), st.none(), labels(4, 2), st.just((2,))
        ),
        st.tuples(
            masked_or_not(any_array(st.sampled_from([(3, 2), (2, 2), (3,)]))),
            masked_or_not(any_array(st.sampled_from([(3,), (3, 1), (2,)])))
            | st.lists(st.integers(-1, 3), min_size=3, max_size=3),
            st.none() | DTYPES,
            st.lists(st.integers(-1, 4), min_size=1, max_size=3),
            st.sampled_from([(2,), (3,), ()]),
        ),
    )
)
@example((False, (np.full((3, 2), np.nan), [0, 1, 1], None, [0], (2,))))
@example((False, (np.ma.ones((3, 2)), [0, 1, 1], None, [0], (2,))))
@example((False, (np.ones((3, 2)), np.ma.array([0, 1, 1]), None, [0], (2,))))
@example((False, (np.ones((3, 2), np.uint8), [0, 1, 1], "float32", [0], (2,))))
@example((False, (np.ones((2, 3)), [0, 1], None, [0, 1, 1], (2,))))
@example((True, (np.ones((3, 2)), [0, 1, 1], None, [0, 2], (2,))))
def test_a_data_set_has_right_arrays_or_is_refused(drawn):
    must_be_taken, (x, y, dtype_of_test, of_test, shape_of_test) = drawn
    x_test = np.ones((len(of_test), *shape_of_test), dtype_of_test or x.dtype)
    y_test = np.array(of_test).astype(np.asarray(y).dtype)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            data = hn.Dataset.of(x, y, x_test, y_test)
        except (ValueError, TypeError):
            assert not must_be_taken
            return
    for array in (data.x_train, data.y_train, data.x_test, data.y_test):
        assert type(array) is np.ndarray  # without a mask
        assert np.isfinite(array).all()
    assert data.x_train.dtype.kind == data.x_test.dtype.kind
    assert data.shape == x_test.shape[1:]
    assert len(data.x_train) == len(data.y_train)
    np.testing.assert_array_equal(data.x_train, np.reshape(x, data.x_train.shape))
    np.testing.assert_array_equal(data.y_train, y)
    np.testing.assert_array_equal(data.y_test, y_test)
    for found in (data.y_train, data.y_test):
        assert 0 <= found.min() <= found.max() < data.n_classes


SHAPES_OF_X = st.sampled_from([(2, 3), (1, 3), (0, 3), (3,), (2, 4), (3, 2), (1, 2, 3), ()])


@pytest.mark.quick
@settings(max_examples=60)
@given(half(finite(FLOATS, 2, 3), any_array(SHAPES_OF_X)))
@example((False, np.array([[1.0, math.nan, 1.0]])))
def test_a_net_answers_right_or_refuses(drawn):
    must_be_taken, x = drawn
    net = hn.DeepNet(3, 2, 4, 3, "highway", 0)
    with np.errstate(all="ignore"):
        try:
            logits = net.predict(x)
        except (ValueError, TypeError):
            assert not must_be_taken
            return
        assert np.isfinite(logits).all()
        np.testing.assert_allclose(logits, logits_in_float64(net, x), rtol=1e-3, atol=1e-5)


@pytest.mark.quick
@settings(max_examples=60)
@given(
    half(
        st.tuples(finite(["float32", "float64"], 2, 3), labels(2, 2)),
        st.tuples(
            # complex logits have several right losses: logarithms are known but for 2 pi i
            any_array(st.sampled_from([(2, 3), (1, 3), (3,), (2, 1)])).filter(lambda x: x.dtype.kind != "c"),
            any_array(st.sampled_from([(2,), (1,), (2, 1), ()])) | st.lists(st.integers(-2, 4), max_size=3),
        ),
    )
)
@example((False, (np.zeros((2, 3)), [0, -1])))
@example((False, (np.zeros((2, 3)), [0, 3])))
def test_the_loss_is_right_or_refused(drawn):
    must_be_taken, (logits, y) = drawn
    with np.errstate(all="ignore"):
        try:
            loss, _ = hn.softmax_cross_entropy(logits, y)
        except (ValueError, TypeError, IndexError, FloatingPointError):
            assert not must_be_taken
            return
        wide = logits.astype(np.longdouble)
        rows = np.arange(len(wide))
        y = np.asarray(y)
        assert (y >= 0).all()
        exponents = wide - wide[rows, y][:, None]
        top = exponents.max(axis=1, keepdims=True)
        expected = (top[:, 0] + np.log(np.exp(exponents - top).sum(axis=1))).mean()
    if np.isfinite(expected):
        assert loss == pytest.approx(float(expected), rel=1e-3, abs=1e-3)
    else:
        assert not np.isfinite(loss)


@pytest.mark.quick
@settings(max_examples=30)
@given(
    block=st.sampled_from(hn.PAIR),
    lr=st.sampled_from([1e-12, 1e-3, 1.0, 1e30, 1e300]),
    clip=st.sampled_from([1e-3, 5.0, 1e9]),
    gate_bias=st.sampled_from([-1e3, -2.0, 1e3]),
    seed=st.sampled_from([0, 1, hn.MOST_SEED]),
)
def test_a_run_has_finite_numbers_or_says_that_it_diverged(block, lr, clip, gate_bias, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(64, 3)).astype(np.float32)
    y = (x[:, 0] > 0).astype(int)
    data = hn.Dataset.of(x, y, x, y)
    chosen = {"lr": lr, "clip": clip, "gate_bias": gate_bias, "seed": seed}
    run = hn.run_one(block, data=data, depth=2, hidden=4, epochs=2, batch_size=16, **chosen)
    finals = [run["final_train_loss"], run["final_test_acc"]]
    if run["diverged"]:
        assert finals == [None, None]
        assert run["diverged_at"]
    else:
        assert np.isfinite(finals).all()
        assert np.isfinite(run["history"]["train_loss"]).all()
