"""Training a fully connected net: what a run reports, how it diverges, what it refuses, and which commit it names."""

import math
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import write_data_set
from threadpoolctl import threadpool_info, threadpool_limits

import highway_networks as hn
import highways.nets.extra_blocks  # noqa: F401  registers "residual"
from highways.lab import trials
from highways.nets import layer_by_layer

SMALL = hn.Settings(depth=4, hidden=8, epochs=3, batch_size=32, n_train=200, n_test=60)


@pytest.mark.quick
def test_the_published_losses_to_nine_digits(mnist):
    """With the published program's random numbers (one generator for weights and shuffling) and in float64, the net
    has that program's losses."""
    published = {"highway": 1.56812204650775, "plain": 2.30414988904925}
    for block, expected in published.items():
        s = hn.Settings(epochs=1, dtype="float64")
        rng = np.random.default_rng(0)
        net = hn.DeepNet(784, 10, s.hidden, s.depth, block, rng, dtype=s.dtype)
        data = hn.subset(mnist, 0, s.n_train, s.n_test)
        x = hn.scale_pixels(data.x_train, s.dtype)
        optimizer = hn.Adam(net.parameters, s.lr, s.clip)
        row = hn.train_epoch(net, optimizer, x, data.y_train, rng.permutation(s.n_train), s.batch_size)
        assert row["train_loss"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.quick
def test_a_short_real_training_learns_with_gates_and_not_without(mnist):
    s = hn.Settings(epochs=4)
    data = hn.subset(mnist, s.seed, s.n_train, s.n_test)
    highway = hn.run_one("highway", s, data)
    plain = hn.run_one("plain", replace(s, epochs=1), data)
    assert highway["above_guessing"] is plain["above_guessing"] is False
    assert highway["final_test_acc"] >= 0.8
    assert plain["final_test_acc"] <= 0.15
    assert plain["final_train_loss"] == pytest.approx(math.log(10), abs=0.02)
    assert highway["history"]["train_loss"] == sorted(highway["history"]["train_loss"], reverse=True)


@pytest.mark.parametrize(("share", "is_above"), [(1.09, False), (1.11, True)])
def test_a_loss_of_a_tenth_more_than_guessing_is_above_it(monkeypatch, data_set, share, is_above):
    data = hn.load_mnist(data_set)
    loss = share * math.log(data.n_classes)
    row = {"epoch": 1, "train_loss": loss, "train_acc": 0.5, "test_acc": 0.5, "grad_norm": 1.0}
    monkeypatch.setattr(hn, "train_epochs", lambda *_, **__: ([row], None))
    assert hn.run_one("plain", SMALL, data)["above_guessing"] is is_above


def test_what_the_record_of_a_run_holds(data_set):
    data = hn.load_mnist(data_set)
    run = hn.run_one("highway", SMALL, data)
    assert run["history"]["epoch"] == [1, 2, 3]
    assert {len(values) for values in run["history"].values()} == {3}
    for name in ("train_acc", "test_acc", "train_loss"):
        assert run[f"final_{name}"] == run["history"][name][-1]
    assert [epoch for epoch, _ in run["layer_T_history"]] == [1, 2, 3]
    assert all(len(gates) == 4 and all(0 < T < 1 for T in gates) for _, gates in run["layer_T_history"])
    assert len(run["final_T_per_layer"]) == 4
    assert not run["diverged"]
    layers = run["layer_history"]
    assert layers["step"] == [0, 1, 2, 5, 9, 10, 18, 20, 27]  # an epoch has nine steps
    assert {len(values) for values in layers.values()} == {9}
    assert {len(values) for name in ("gradient", "T") for values in layers[name]} == {4}
    plain = hn.run_one("plain", SMALL, data)
    assert plain["layer_history"].keys() == {"step", "loss", "gradient"}
    assert plain.keys() == run.keys() - {"gate_bias", "layer_T_history", "final_T_per_layer"}


def test_run_one_reports_what_is_computed_by_hand(tmp_path):
    """By hand, from the net and the optimiser: with the images, the clip, the bias and the order of the settings."""
    data = hn.load_mnist(write_data_set(tmp_path / "many", n_test=1200))
    s = replace(SMALL, seed=3, gate_bias=-1.2, clip=0.1, lr=0.02, dtype="float64")
    run = hn.run_one("highway", s, data)
    x_train, x_test = (hn.scale_pixels(x, np.float64) for x in (data.x_train, data.x_test))
    net = hn.DeepNet(36, 3, 8, 4, "highway", np.random.default_rng(3), gate_bias=-1.2, dtype=np.float64)
    optimizer = hn.Adam(net.parameters, 0.02, clip=0.1)
    loss, _ = hn.softmax_cross_entropy(net.predict(x_train[:32]), data.y_train[:32])
    assert run["layer_history"]["loss"][0] == hn.four_digits(loss)
    shuffle = np.random.default_rng([3, 1])
    for epoch in range(3):
        row = hn.train_epoch(net, optimizer, x_train, data.y_train, shuffle.permutation(300), 32)
        assert row["grad_norm"] == run["history"]["grad_norm"][epoch]
        right = net.predict(x_test).argmax(axis=1) == data.y_test
        assert run["history"]["test_acc"][epoch] == right.mean()
        gates = net.gates(x_test).mean(axis=2)
        np.testing.assert_allclose(run["layer_T_history"][epoch][1], gates[:, :256].mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(run["final_T_per_layer"], gates[:, :1000].mean(axis=1), rtol=1e-12)
    assert max(run["history"]["grad_norm"]) > 0.1  # so that the clip was at work
    assert run["final_test_acc"] == right.mean()
    assert run["final_train_acc"] == row["train_acc"]


def test_the_layers_are_measured_on_the_first_batch(data_set):
    """The gradients are compared with those of layer_by_layer, computed block by block.  A step that was looked at
    before adds no row; neither does one whose numbers are not finite."""
    data = hn.load_mnist(data_set)
    x = hn.scale_pixels(data.x_train[:32], np.float64)
    y = data.y_train[:32]
    net = hn.DeepNet(36, 3, 8, 4, "highway", 3, dtype=np.float64)
    layers = hn.LayerHistory(net, x, y)
    layers.steps_done = 7
    layers.look()
    states = [layer_by_layer.first_state(net, x)]
    states += [y_l for *_, y_l in layer_by_layer.walk(net, states[0])]
    loss, d_logits = hn.softmax_cross_entropy(layer_by_layer.logits(net, states[-1]), y)
    dy = d_logits @ net.W_out
    norms = []
    for layer in reversed(range(net.depth)):
        norms.insert(0, np.linalg.norm(dy))
        dy = layer_by_layer.block_backward(net, layer, states[layer], dy)
    np.testing.assert_allclose(layers.columns["gradient"], [norms], rtol=1e-3)
    np.testing.assert_allclose(layers.columns["loss"], [loss], rtol=1e-3)
    np.testing.assert_allclose(layers.columns["T"], [net.gates(x).mean(axis=(1, 2))], rtol=1e-3)
    layers.look()
    net.W_out[:] = np.nan
    layers.steps_done = 8
    layers.look()
    assert layers.columns["step"] == [7]


@pytest.mark.parametrize("block", ["highway", "plain"])
def test_looking_at_the_layers_changes_no_digit(data_set, monkeypatch, block):
    data = hn.load_mnist(data_set)
    looked_at = hn.run_one(block, SMALL, data)
    monkeypatch.setattr(hn.LayerHistory, "look", lambda *_: None)
    unwatched = hn.run_one(block, SMALL, data)
    assert looked_at["layer_history"]["step"]
    assert not unwatched["layer_history"]["step"]
    changed = {name for name in looked_at if looked_at[name] != unwatched[name]}
    assert changed == {"layer_history", "wallclock_sec"}


def n_threads() -> int:
    """How many threads BLAS has."""
    return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")


def trial_of_threads(setting) -> dict:
    return {"threads": n_threads()}


def test_blas_has_one_thread_in_all_that_computes(data_set, monkeypatch):
    """Where it has more outside of it, too."""
    data = hn.load_mnist(data_set)
    x = hn.scale_pixels(data.x_train, np.float32)
    trained = hn.DeepNet(36, 3, 8, 2, "plain", 0)
    asked = hn.DeepNet(36, 3, 8, 2, "plain", 0)
    asked._run = lambda *_: n_threads()
    monkeypatch.setattr(hn, "train", lambda *_: {"threads": n_threads()})
    key = trials.key_of_trial(trial_of_threads, "threads", {}, None)

    def loss(logits, y):
        return n_threads(), 0 * logits

    with threadpool_limits(2):
        assert n_threads() == 2
        row = hn.train_epoch(trained, hn.Adam(trained.parameters), x, data.y_train, np.arange(300), 300, loss)
        logits = asked.predict(x)
        run = hn.run_one("plain", SMALL, data)
        _, result, _ = trials._run_trial(trial_of_threads, "threads", None, {}, key, Path("absent") / "net.npz")
    assert row["train_loss"] == logits.max() == run["threads"] == result["threads"] == 1


def test_a_part_of_a_data_set_keeps_the_number_of_its_classes(data_set):
    data = hn.load_mnist(data_set)
    part = hn.subset(data, 0, 2, 5)
    assert len(set(part.y_train)) < 3 == part.n_classes


def test_a_parameter_that_is_not_finite_is_noticed_behind_finite_logits(data_set, monkeypatch):
    real = hn.train_epoch

    def ruined(net, *rest):
        row = real(net, *rest)
        net.b_H[0, 0] = np.inf  # tanh(inf) is 1
        return row

    monkeypatch.setattr(hn, "train_epoch", ruined)
    run = hn.run_one("plain", SMALL, hn.load_mnist(data_set))
    assert run["diverged"]
    assert run["final_test_acc"] is None


def test_epoch_means_are_over_whole_batches_in_the_given_order(data_set):
    data = hn.load_mnist(data_set)
    x = hn.scale_pixels(data.x_train, np.float64)
    net = hn.DeepNet(36, 3, 8, 2, "highway", np.random.default_rng(0), dtype=np.float64)
    twin = hn.DeepNet(36, 3, 8, 2, "highway", np.random.default_rng(0), dtype=np.float64)
    order = np.random.default_rng(1).permutation(100)
    row = hn.train_epoch(net, hn.Adam(net.parameters), x, data.y_train, order, 30)
    losses = []
    norms = []
    right = []
    optimizer = hn.Adam(twin.parameters)
    for batch in (order[:30], order[30:60], order[60:90]):
        logits = twin.forward(x[batch])
        loss, d_logits = hn.softmax_cross_entropy(logits, data.y_train[batch])
        losses.append(loss)
        right.append((logits.argmax(1) == data.y_train[batch]).mean())
        norms.append(np.linalg.norm(twin.backward(d_logits)))
        optimizer.step(twin.gradient)
    assert row == pytest.approx(
        {"train_loss": np.mean(losses), "train_acc": np.mean(right), "grad_norm": np.mean(norms)}
    )
    np.testing.assert_array_equal(net.parameters, twin.parameters)


def test_highway_and_plain_see_the_same_batches(data_set, monkeypatch):
    orders = []
    real = hn.train_epoch

    def train_epoch(net, optimizer, x, y, order, *rest):
        orders.append(order)
        return real(net, optimizer, x, y, order, *rest)

    monkeypatch.setattr(hn, "train_epoch", train_epoch)
    data = hn.load_mnist(data_set)
    for block in hn.PAIR:
        hn.run_one(block, SMALL, data)
    np.testing.assert_array_equal(orders[:3], orders[3:])
    assert not np.array_equal(orders[0], orders[1])


@pytest.mark.parametrize("block", hn.PAIR)
def test_a_run_that_diverges_stops_and_says_so(data_set, block, recwarn):
    run = hn.run_one(block, replace(SMALL, lr=1e38), hn.load_mnist(data_set))
    assert run["diverged"]
    assert run["diverged_at"]
    assert run["final_test_acc"] is run["final_train_loss"] is None
    assert run["history"]["epoch"] == []
    assert not recwarn.list


def test_the_commit_is_that_of_this_repository_and_says_what_changed_since(tmp_path, monkeypatch):
    """It is not that of a repository in a folder above, nor of one that GIT_DIR names.  What git ignores does not
    count."""
    commit = hn.commit.__wrapped__  # without its cache: it asks git each time
    monkeypatch.setattr(hn, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_DIR", "nowhere")
    (tmp_path / "program.py").write_text("1\n")
    (tmp_path / ".gitignore").write_text("scratch/\n")
    git = ("git", "--git-dir=.git", "--work-tree=.", "-c", "user.name=n", "-c", "user.email=e")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "m")):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    head = commit()
    assert re.fullmatch("[0-9a-f]{12}", head)
    for folder in ("scratch", "inside"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text("1\n")
        assert commit() == (head if folder == "scratch" else f"{head}-dirty")
    (tmp_path / "inside" / "mine.py").unlink()
    (tmp_path / "program.py").write_text("2\n")
    assert commit() == f"{head}-dirty"
    monkeypatch.setattr(hn, "ROOT", tmp_path / "scratch")
    assert commit() is None


def test_targets_in_a_column_of_whole_numbers_have_no_accuracy():
    """The caller's own loss may take such targets.  They are not labels: an accuracy would compare N x N pairs."""
    net = hn.DeepNet(4, 1, 6, 2, "plain", 0)

    def squared_error(out, y):
        return ((out - y) ** 2).mean(), 2 * (out - y) / len(y)

    x = np.ones((8, 4))
    y = np.zeros((8, 1), int)
    row = hn.train_epoch(net, hn.Adam(net.parameters), x, y, np.arange(8), 4, squared_error)
    assert row["train_acc"] is None


def test_the_defaults_are_the_headline_s_and_are_not_recorded(data_set):
    data = hn.load_mnist(data_set)
    settings = hn.Settings(hidden=5, depth=2, epochs=2, batch_size=50)
    plain = hn.run_one("highway", settings, data)
    same = hn.run_one(data=data, hidden=5, depth=2, epochs=2, batch_size=50, activation="tanh", init="uniform")
    assert {**plain, "wallclock_sec": 0} == {**same, "wallclock_sec": 0}
    assert not {"activation", "init"} & plain.keys()
    other = hn.run_one("highway", settings, data, activation="relu", init="he")
    assert (other["activation"], other["init"]) == ("relu", "he")
    assert other["final_train_loss"] != plain["final_train_loss"]


def test_a_saved_net_answers_as_the_trained_one(data_set, tmp_path):
    data = hn.load_mnist(data_set)
    path = tmp_path / "net.npz"
    run = hn.run_one("highway", hn.Settings(hidden=5, depth=2, epochs=2, batch_size=50), data, save=path)
    net = hn.DeepNet.load(path)
    assert net.about == {"pixels": "[-1, 1]", "data_set": data.name, "shape": [6, 6]}
    x_test = hn.inputs_for(net, data.x_test)
    assert hn.accuracy(net, x_test, data.y_test) == run["final_test_acc"]
    np.testing.assert_array_equal(hn.inputs_for(net, x_test), x_test)
    with pytest.raises(ValueError):
        hn.inputs_for(net, data.x_test.astype(np.int64))


def test_a_net_that_diverged_is_not_saved(data_set, tmp_path):
    path = tmp_path / "net.npz"
    run = hn.run_one("plain", data=hn.load_mnist(data_set), depth=2, hidden=5, epochs=1, lr=1e38, save=path)
    assert run["diverged"]
    assert not path.exists()


@pytest.mark.parametrize("name", ["missing/net.npz", "mydata.npz"])
def test_a_name_for_a_net_is_refused_before_the_training(tmp_path, data_set, name):
    np.savez(tmp_path / "mydata.npz", x=np.ones(3))
    before = (tmp_path / "mydata.npz").read_bytes()

    def started(row):
        raise AssertionError("the training has begun")

    with pytest.raises(ValueError):
        hn.run_one("highway", SMALL, hn.load_mnist(data_set), save=tmp_path / name, report=started)
    assert (tmp_path / "mydata.npz").read_bytes() == before
