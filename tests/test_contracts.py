"""What the Python interface refuses, in one line that says what would be right: else a gradient, a training or an
answer would be wrong silently."""

import threading

import numpy as np
import pytest

import highway_networks as hn
from highways.conv.net import ConvNet

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


def test_every_row_and_every_bias_of_a_block_is_sampled():
    """In a net of the headline's sizes, at whatever parameter the sample begins."""
    net = hn.DeepNet(784, 10, hidden=50, depth=3, block="highway", rng=0)
    changes = [net.W_in[7], net.b_in, net.W_H[2, 3], net.b_H[1], net.W_T[0, 49], net.b_T[2], net.W_out[9]]
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
    with pytest.raises(RuntimeError, match="the parameters changed"):
        for _ in range(hn.SAMPLED):
            net.forward(X)
            net.parameters[100] += 1
            net.backward(D_LOGITS)


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
