"""A stopped training ends as if it had not been stopped, to the bit, after any stops."""

import contextlib
import math
import pickle

import numpy as np
import pytest
from conftest import write_data_set
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

import highway_networks as hn
from highways import train_net
from highways.conv import images, protocols
from highways.conv.training import Training, load_same_run, train_conv
from highways.lab.log import Log, by_key, key_of, line_of
from highways.lab.trials import Runner
from highways.nets.optimizers import SGD

EPOCHS = 4
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)  # a smaller example would take minutes of trainings


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return hn.load_mnist(write_data_set(tmp_path_factory.mktemp("shapes"), side=14))


@settings(max_examples=6, phases=WITHOUT_SHRINKING, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


STOPS = set()  # the numbers of ended trials at which a question is stopped
ENDED = []  # the seeds of the trials that ended


def noted_trial(setting):
    if len(ENDED) in STOPS:
        STOPS.remove(len(ENDED))
        raise KeyboardInterrupt
    ENDED.append(setting["seed"])
    return {"drawn": np.random.default_rng(setting["seed"]).normal()}


@settings(max_examples=10)
@given(
    stops=st.sets(st.integers(0, 4)),
    seeds=st.lists(st.integers(0, 2**31), min_size=1, max_size=5, unique=True),
)
def test_a_question_stopped_at_any_trials_has_the_same_ones_in_the_end(tmp_path_factory, stops, seeds):
    """And no trial that had ended runs twice."""
    folder = tmp_path_factory.mktemp("question")
    STOPS.update(stops)
    ENDED.clear()
    for _ in range(1 + len(stops)):
        with contextlib.suppress(KeyboardInterrupt), Runner("q", "default", {}, folder=folder, jobs=1) as runner:
            found = runner.run(noted_trial, [{"seed": seed} for seed in seeds])
    STOPS.clear()
    assert seeds == ENDED
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


def read(file, text: bytes) -> list[dict]:
    """The lines of a log that holds this."""
    file.write_bytes(text)
    with Log(file) as log:
        return [*log.read().values()]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log with two lines."""
    file = tmp_path_factory.mktemp("log") / "log.jsonl"
    with Log(file) as log:
        for seed in (3, 4):
            log.append(key_of({"seed": seed}, "ab12", "cd34"), {"loss": 0.512345}, {"git": "ef56"})
    return file, file.read_bytes()


@settings(max_examples=40)
@given(at=st.integers(0, 10**6), digit=st.sampled_from(b"0123456789"))
def test_a_line_of_a_log_with_one_digit_changed_is_run_again(log, at, digit):
    """Or the digit was that one before."""
    file, text = log
    places = [place for place, letter in enumerate(text) if chr(letter).isdigit() and place < text.index(b"\n")]
    edited = bytearray(text)
    edited[places[at % len(places)]] = digit
    assert len(read(file, edited)) == 1 + (edited == text)


@settings(max_examples=100)
@given(part=st.floats(0, 1))
@example(part=0.001)  # the first letter alone
def test_a_log_that_is_cut_off_anywhere_keeps_its_whole_lines(log, part):
    file, text = log
    n = round(part * len(text))
    rest = text[:n]
    whole = (rest + b"\n").count(b'"}\n')
    assert len(read(file, rest)) == whole
    assert file.read_bytes().count(b"\n") == whole


NUMBERS = (math.nan, math.inf, -math.inf, 0, 0.0, -0.0, False, 1, 1.0, True)
VALUES = (*NUMBERS, None, "1", "null", "NaN", [], [1], {}, {"a": 1})
SETTINGS = st.dictionaries(st.sampled_from("ab"), st.sampled_from(VALUES), min_size=1)


@settings(max_examples=200)
@given(first=SETTINGS, second=SETTINGS)
@example(first={"a": math.nan}, second={"a": None})
def test_a_setting_is_never_served_the_result_of_another(first, second):
    try:
        line = line_of(key_of(first, None, None), {}, {})
        served = key_of(second, None, None) in by_key([line])
    except ValueError:
        assert {"inf", "-inf", "nan"} & {*map(repr, first.values()), *map(repr, second.values())}
    else:
        assert served == (repr(sorted(first.items())) == repr(sorted(second.items())))
