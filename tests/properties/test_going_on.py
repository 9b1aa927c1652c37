"""A stopped training ends as if it had not been stopped, to the bit, after any stops."""

import contextlib
import json
import pickle

import numpy as np
import pytest
from conftest import write_data_set
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import highway_networks as hn
from highways import train_net
from highways.conv import images, protocols
from highways.conv.training import Training, load_same_run, train_conv
from highways.lab import trials
from highways.nets.optimizers import SGD

EPOCHS = 4


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return hn.load_mnist(write_data_set(tmp_path_factory.mktemp("shapes"), side=14))


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stops=st.sets(st.integers(1, EPOCHS - 1)),
    protocol=st.sampled_from(["paper", "short"]),
    block=st.sampled_from(["highway", "plain", "residual"]),
    seed=st.integers(0, 2**31),
)
def test_a_training_stopped_after_any_epochs_ends_with_the_same_bits(tmp_path, data, stops, protocol, block, seed):
    chosen = protocols.settings_of(
        net="mnist-3", protocol=protocol, block=block, epochs=EPOCHS, n_train=300, n_test=80, seed=seed
    )
    whole = Training(chosen, images.fingerprint(data))
    train_conv(whole, data)
    stopped = Training(chosen, images.fingerprint(data))
    checkpoint = tmp_path / "net.npz"
    for epoch in sorted(stops):
        train_conv(stopped, data, checkpoint, stop_after=epoch)
        stopped = Training.load(checkpoint)
    train_conv(stopped, data, checkpoint)
    np.testing.assert_array_equal(stopped.parameters, whole.parameters)
    assert stopped.history == whole.history


@settings(max_examples=10)
@given(
    stops=st.sets(st.integers(0, EPOCHS)),
    optimizer_of=st.sampled_from([hn.Adam, lambda parameters: SGD(parameters, 0.05, decay=0.99)]),
    block=st.sampled_from(hn.PAIR),
    seed=st.integers(0, 2**31),
)
def test_train_net_called_in_parts_ends_with_the_same_bits(data, stops, optimizer_of, block, seed):
    """Each part in a process of its own."""
    x = hn.scale_pixels(data.x_train, np.float32)
    chosen = {"batch_size": 64, "seed": seed, "validation": (x[:50], data.y_train[:50])}
    nets = [hn.DeepNet(x.shape[1], data.n_classes, 8, 3, block, rng=1) for _ in range(2)]
    whole, net = nets
    expected = train_net(whole, optimizer_of(whole.parameters), x, data.y_train, EPOCHS, **chosen)
    optimizer = optimizer_of(net.parameters)
    history = []
    for epochs in [*sorted(stops), EPOCHS]:
        net, optimizer, history = pickle.loads(pickle.dumps((net, optimizer, history)))
        history = train_net(net, optimizer, x, data.y_train, epochs, history=history, **chosen)
    assert history == expected
    np.testing.assert_array_equal(net.parameters, whole.parameters)


@settings(max_examples=10)
@given(
    stops=st.sets(st.integers(0, 4)),
    seeds=st.lists(st.integers(0, 2**31), min_size=1, max_size=5, unique=True),
)
def test_a_question_stopped_at_any_trials_has_the_same_ones_in_the_end(tmp_path_factory, stops, seeds):
    """And no trial that had ended runs twice."""
    folder = tmp_path_factory.mktemp("question")
    ended = []

    def trial(setting):
        if len(ended) in stops:
            stops.remove(len(ended))
            raise KeyboardInterrupt
        ended.append(setting["seed"])
        return {"drawn": np.random.default_rng(setting["seed"]).normal()}

    for _ in range(1 + len(stops)):
        with contextlib.suppress(KeyboardInterrupt), trials.Runner("q", "default", {}, folder=folder, jobs=1) as runner:
            found = runner.run(trial, [{"seed": seed} for seed in seeds])
    assert ended == seeds
    assert [row["drawn"] for row in found] == [np.random.default_rng(seed).normal() for seed in seeds]


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(other=st.sampled_from([{"seed": 1}, {"n_test": 70}, {"block": "plain"}, {"epochs": 2}]))
def test_only_the_same_run_is_gone_on_with(tmp_path, data, other):
    task = {"net": "mnist-3", "protocol": "paper", "block": "highway", "epochs": 1, "n_train": 300, "n_test": 80}
    task["seed"] = 0
    fingerprint = images.fingerprint(data)
    checkpoint = tmp_path / "net.npz"
    train_conv(Training(protocols.settings_of(**task), fingerprint), data, checkpoint)
    assert load_same_run(checkpoint, protocols.settings_of(**task), fingerprint).history
    with pytest.raises(ValueError):
        load_same_run(checkpoint, protocols.settings_of(**task | other), fingerprint)


@settings(max_examples=40)
@given(at=st.integers(0, 10**6), digit=st.sampled_from("0123456789"))
def test_a_log_with_one_digit_changed_is_run_again(tmp_path_factory, at, digit):
    """Or the digit was that one before."""
    log = tmp_path_factory.mktemp("log") / "log.jsonl"
    key = json.dumps({"trial": {"seed": 3}, "data": "ab12", "code": "cd34"})
    line = trials.line_of_log(key, {"loss": 0.512345}, "ef56")
    text = json.dumps(line)
    places = [place for place, letter in enumerate(text) if letter.isdigit()]
    place = places[at % len(places)]
    edited = text[:place] + digit + text[place + 1 :]
    log.write_text(edited + "\n")
    lines, said = trials.read_log(log)
    assert lines == ([line] if edited == text else [])
    assert (said is None) == (edited == text)
