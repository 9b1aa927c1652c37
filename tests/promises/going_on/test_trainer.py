"""train_net() ends with the numbers of a training that never stopped."""

import signal

import numpy as np
import pytest

from highway_networks import Adam, DeepNet, scale_pixels, softmax_cross_entropy, train_epoch
from highways import train_net
from highways.nets.optimizers import SGD

CLASSES = 3


@pytest.fixture(scope="module")
def examples():
    """Points around three centres."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, 90)
    x = rng.normal(size=(CLASSES, 5))[y] + 0.3 * rng.normal(size=(90, 5))
    return x.astype(np.float32), y


def net_and(optimizer_of):
    net = DeepNet(5, CLASSES, 8, 3, "highway", rng=1)
    return net, optimizer_of(net.parameters)


def test_an_epoch_is_that_of_train_epoch_in_an_order_of_its_own(examples):
    net, optimizer = net_and(Adam)
    history = train_net(net, optimizer, *examples, epochs=2, batch_size=16, seed=7)
    by_hand, optimizer = net_and(Adam)
    for epoch, row in enumerate(history, 1):
        order = np.random.default_rng([7, epoch]).permutation(90)
        expected = train_epoch(by_hand, optimizer, *examples, order, 16)
        assert expected.items() <= row.items()
    np.testing.assert_array_equal(net.parameters, by_hand.parameters)


@pytest.mark.parametrize("other", [{"seed": 1}, {"batch_size": 15}])
def test_a_history_is_gone_on_with_by_its_own_seed_and_batches(examples, other):
    net, optimizer = net_and(Adam)
    history = train_net(net, optimizer, *examples, epochs=1, batch_size=16)
    with pytest.raises(ValueError):
        train_net(net, optimizer, *examples, epochs=2, history=history, **{"batch_size": 16, **other})


@pytest.mark.parametrize(
    "change",
    [
        lambda x, y: (x[:80], y[:80]),
        lambda x, y: (2 * x, y),
        lambda x, y: (x, y[::-1]),
    ],
    ids=["fewer", "other inputs", "other labels"],
)
def test_a_history_is_gone_on_with_by_its_own_examples(examples, change):
    net, optimizer = net_and(Adam)
    history = train_net(net, optimizer, *examples, epochs=1, batch_size=16)
    with pytest.raises(ValueError):
        train_net(net, optimizer, *change(*examples), epochs=2, batch_size=16, history=history)


class Momentum:
    """Keeps its momentum in a dict of a list."""

    def __init__(self, parameters, lr=0.1):
        self.parameters = parameters
        self.lr = lr
        self.m = {"of all": [np.zeros_like(parameters)]}

    def step(self, gradient):
        [momentum] = self.m["of all"]
        momentum *= 0.9
        momentum += gradient
        self.parameters -= self.lr * momentum
        return float(np.linalg.norm(gradient))


@pytest.mark.parametrize("optimizer_of", [Adam, SGD, Momentum])
def test_a_new_optimiser_is_refused_until_it_has_the_state_of_the_old_one(examples, optimizer_of):
    net, optimizer = net_and(optimizer_of)
    history = train_net(net, optimizer, *examples, epochs=1, batch_size=16)
    new = optimizer_of(net.parameters, lr=optimizer.lr / 2)
    for name in ("m", "v", "t"):
        if hasattr(optimizer, name):
            with pytest.raises(ValueError):
                train_net(net, new, *examples, epochs=2, batch_size=16, history=history)
            setattr(new, name, getattr(optimizer, name))
    assert len(train_net(net, new, *examples, epochs=2, batch_size=16, history=history)) == 2


def test_an_optimiser_of_any_kind_goes_on(examples):
    class Descent:
        __slots__ = ("lr", "parameters")

        def step(self, gradient):
            self.parameters -= self.lr * gradient
            return float(np.linalg.norm(gradient))

    net, optimizer = net_and(lambda parameters: Descent())
    optimizer.lr = 0.1
    optimizer.parameters = net.parameters
    history = train_net(net, optimizer, *examples, epochs=1, batch_size=16)
    assert len(train_net(net, optimizer, *examples, epochs=2, batch_size=16, history=history)) == 2


def test_a_net_that_an_interrupted_call_left_is_not_gone_on_with(examples):
    net, optimizer = net_and(Adam)
    history = train_net(net, optimizer, *examples, epochs=1, batch_size=16)
    losses = [softmax_cross_entropy, softmax_cross_entropy]

    def interrupted(outputs, y):
        return losses.pop()(outputs, y) if losses else signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train_net(net, optimizer, *examples, epochs=2, batch_size=16, loss=interrupted, history=history)
    with pytest.raises(ValueError):
        train_net(net, optimizer, *examples, epochs=2, batch_size=16, history=history)


def test_the_schedule_counts_steps_through_all_epochs(examples):
    asked = []

    def schedule(step):
        asked.append(step)
        return 0.01 / (1 + step)

    net, optimizer = net_and(Adam)
    history = train_net(net, optimizer, *examples, epochs=2, batch_size=16, schedule=schedule)
    history = train_net(net, optimizer, *examples, epochs=3, batch_size=16, schedule=schedule, history=history)
    assert asked == list(range(15))
    assert [row["lr"] for row in history] == [0.01 / 5, 0.01 / 10, 0.01 / 15]


def test_a_wrong_validation_is_refused_before_the_net_is_trained(examples):
    x, y = examples
    net, optimizer = net_and(Adam)
    before = net.parameters.copy()
    with pytest.raises(ValueError):
        train_net(net, optimizer, x, y, epochs=1, batch_size=16, validation=(x, y + 1))
    np.testing.assert_array_equal(net.parameters, before)


def test_it_stops_where_the_history_says_so(examples):
    net, optimizer = net_and(Adam)
    settings = {"batch_size": 16, "validation": examples}
    history = train_net(net, optimizer, *examples, epochs=50, stop=lambda rows: rows[-1]["epoch"] == 4, **settings)
    assert len(history) == 4
    assert history[-1]["validation_acc"] > 0.9


@pytest.mark.parametrize("first", [2, 3, 5])
def test_a_training_that_goes_on_stops_where_it_would_have_stopped(examples, first):
    def stop(history):
        return len(history) == 3

    whole, optimizer = net_and(Adam)
    expected = train_net(whole, optimizer, *examples, 10, batch_size=16, stop=stop)
    assert len(expected) == 3
    net, optimizer = net_and(Adam)
    history = train_net(net, optimizer, *examples, first, batch_size=16, stop=stop)
    history = train_net(net, optimizer, *examples, 10, batch_size=16, stop=stop, history=history)
    assert history == expected
    np.testing.assert_array_equal(net.parameters, whole.parameters)


def test_targets_are_measured_by_their_loss(examples):
    def squared_error(outputs, y):
        return ((outputs - y) ** 2).mean(), 2 * (outputs - y) / outputs.size

    x, _ = examples
    targets = x[:, :CLASSES]
    net, optimizer = net_and(Adam)
    history = train_net(net, optimizer, x, targets, 20, batch_size=16, loss=squared_error, validation=(x, targets))
    assert history[-1]["validation_loss"] < 0.5 * history[0]["validation_loss"]
    assert history[-1]["train_acc"] is None
    unknown = targets * np.nan
    [row] = train_net(net, optimizer, x, targets, 1, batch_size=16, loss=squared_error, validation=(x, unknown))
    assert "diverged" in row


def test_a_training_that_diverges_says_so_and_does_not_go_on(examples):
    net, optimizer = net_and(lambda parameters: SGD(parameters, 1e38))
    history = train_net(net, optimizer, *examples, epochs=5, batch_size=16)
    assert "diverged" in history[-1]
    with pytest.raises(ValueError):
        train_net(net, optimizer, *examples, epochs=9, batch_size=16, history=history)


def test_lists_train_as_arrays_do_and_a_mask_is_refused(examples):
    x, y = examples
    lists = (x.tolist(), y.tolist())
    histories = []
    for data in (examples, lists):
        net, optimizer = net_and(Adam)
        histories.append(train_net(net, optimizer, *data, epochs=1, batch_size=16, validation=data))
    assert histories[0] == histories[1]
    for data in ((np.ma.masked_less(x, 0), y), (x, np.ma.masked_less(y, 1))):
        with pytest.raises((TypeError, ValueError)):
            train_net(*net_and(Adam), *data, epochs=1, batch_size=16)


def test_images_train(examples):
    x = np.random.default_rng(0).integers(0, 256, (90, 5)).astype(np.uint8)
    net, optimizer = net_and(Adam)
    [row] = train_net(net, optimizer, scale_pixels(x, np.float32), examples[1], epochs=1, batch_size=16)
    assert row["epoch"] == 1


def test_the_rate_of_an_epoch_is_that_of_its_last_step(examples):
    net, optimizer = net_and(lambda parameters: Adam(parameters, lr=0.01, decay=0.5))
    history = train_net(net, optimizer, *examples, epochs=2, batch_size=90)
    assert [row["lr"] for row in history] == [0.01, 0.005]


def test_an_epoch_whose_last_step_lost_the_parameters_diverged(examples):
    net, optimizer = net_and(lambda parameters: SGD(parameters, lr=1e39))
    history = train_net(net, optimizer, *examples, epochs=1, batch_size=90)
    assert "diverged" in history[-1]
