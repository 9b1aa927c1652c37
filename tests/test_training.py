import math
from dataclasses import replace

import numpy as np
import pytest
from conftest import without_time

import highway_networks as hn

SMALL = hn.Settings(depth=4, hidden=8, epochs=3, batch_size=32, n_train=200, n_test=60)


def test_the_published_losses_to_nine_digits(mnist):
    """Fed as the published program is (one generator for weights and shuffling, float64), the net follows its run."""
    published = {"highway": 1.56812204650775, "plain": 2.30414988904925}
    for block, expected in published.items():
        s = hn.Settings(epochs=1, dtype="float64")
        rng = np.random.default_rng(0)
        net = hn.DeepNet(784, 10, s.hidden, s.depth, block, rng, dtype=s.dtype)
        result = hn.train(net, hn.subset(mnist, 0, s.n_train, s.n_test), s, rng)
        assert result["history"]["train_loss"][0] == pytest.approx(expected, abs=1e-9)


def test_a_short_real_training_learns_with_gates_and_not_without(mnist):
    s = hn.Settings(epochs=4)
    data = hn.subset(mnist, s.seed, s.n_train, s.n_test)
    highway, plain = (hn.run_one(block, s, data) for block in ("highway", "plain"))
    assert highway["final_test_acc"] >= 0.8
    assert plain["final_test_acc"] <= 0.15
    assert plain["final_train_loss"] == pytest.approx(math.log(10), abs=0.02)
    assert highway["history"]["train_loss"] == sorted(highway["history"]["train_loss"], reverse=True)


def test_a_record_of_a_run(data_set):
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
    plain = hn.run_one("plain", SMALL, data)
    assert plain.keys() == run.keys() - {"gate_bias", "layer_T_history", "final_T_per_layer"}


def test_epoch_means_are_over_whole_batches_in_the_given_order(data_set):
    data = hn.load_mnist(data_set)
    x = hn.scale_pixels(data.x_train, np.float64)
    net = hn.DeepNet(36, 3, 8, 2, "highway", np.random.default_rng(0), dtype=np.float64)
    twin = hn.DeepNet(36, 3, 8, 2, "highway", np.random.default_rng(0), dtype=np.float64)
    order = np.random.default_rng(1).permutation(100)
    row = hn.train_epoch(net, hn.Adam(net.parameters), x, data.y_train, order, 30)
    losses, norms, right, optimizer = [], [], [], hn.Adam(twin.parameters)
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
    monkeypatch.setattr(hn, "train_epoch", lambda *a: orders.append(a[4]) or real(*a))
    data = hn.load_mnist(data_set)
    for block in hn.BLOCKS:
        hn.run_one(block, SMALL, data)
    np.testing.assert_array_equal(orders[:3], orders[3:])
    assert not np.array_equal(orders[0], orders[1])


@pytest.mark.parametrize("block", hn.BLOCKS)
def test_a_run_that_diverges_stops_and_says_so(data_set, block, recwarn):
    run = hn.run_one(block, replace(SMALL, lr=1e38), hn.load_mnist(data_set))
    assert run["diverged"]
    assert run["diverged_at"].startswith("epoch 1, step 2: loss ")
    assert run["final_test_acc"] is run["final_train_loss"] is None
    assert run["history"]["epoch"] == []
    assert "DIVERGED" in hn.outcome(run)
    assert not recwarn.list


def test_the_table_keeps_diverged_runs_apart():
    def pair(seed, accuracy):
        run = {"diverged": accuracy is None, "final_test_acc": accuracy, "final_train_loss": accuracy}
        return {"depth": 3, "seed": seed, "highway": run, "plain": run | {"diverged": True, "final_test_acc": None}}

    text = hn.table([pair(0, 0.5), pair(1, 0.75), pair(2, None)])
    assert text.count("DIVERGED") == 4
    assert "highway: test accuracy 0.625 ± 0.177 over 2 seeds" in text
    assert "plain:" not in text


def test_results_do_not_depend_on_jobs_or_on_what_ran_before(data_set):
    data = hn.load_mnist(data_set)
    pairs = [replace(SMALL, seed=seed, depth=depth) for seed in (0, 1) for depth in (2, 4)]
    records = [without_time({"runs": hn.run_pairs(pairs, data, jobs, quiet=True)}) for jobs in (1, 2, 3)]
    assert records[0] == records[1] == records[2]
    alone = without_time({"runs": hn.run_pairs(pairs[2:3], data, 1, quiet=True)})
    assert alone[len('{"runs": [') : -len("]}")] in records[0]
