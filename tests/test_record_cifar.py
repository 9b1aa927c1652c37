"""What the recipe of the record on CIFAR-10 needs: wide highway layers, a first layer that is frozen, Muon, images
mirrored in turns, several views, and a command that can be stopped."""

from functools import partial

import numpy as np
import pytest
from test_conv import convolved, gradient_of, nets

import highway_networks as hn
from benchmarks.records import __main__ as records
from highways.conv import winograd
from highways.conv.images import fingerprint
from highways.conv.mirrored import MirroredInTurns, mirror, predict_from_views
from highways.conv.net import ConvNet
from highways.conv.nets import NETS, find_net, record_net_of_cifar
from highways.conv.normalised import EPSILON
from highways.conv.protocols import settings_of
from highways.conv.training import Training, train_conv
from highways.files import InputError, Lock
from highways.nets.muon import Muon, orthogonalised

STEP = 1e-30
LAYERS = [
    ("conv-frozen", 2), ("highway-pool", 3), ("highway-wide", 3), ("highway-pool", 4), ("pool", 3, 3), ("dense", 3),
]  # fmt: skip


def small(dtype):
    net, x, y = nets(*LAYERS, shape=(2, 12, 12), dtype=dtype)
    net.statistics[: net.layers[0].W.size] = np.random.default_rng(3).normal(size=net.layers[0].W.size)
    return net, x, y


# ---- Layers


def by_the_equations(layer, x):
    """The output of a wide highway layer in training, x (N, maps, side, side)."""
    maps, side = layer.out_shape
    v = convolved(x, layer.W, np.zeros(maps), 1)
    if layer.pooled:
        blocks = v.reshape(len(v), maps, side, 2, side, 2)
        v = blocks.max(axis=(3, 5))
        x = x.reshape(*x.shape[:2], side, 2, side, 2).mean(axis=(3, 5))
    x = np.concatenate([x, np.zeros((len(x), maps - x.shape[1], side, side))], axis=1)
    mean = v.mean(axis=(0, 2, 3), keepdims=True)
    u = (v - mean) / np.sqrt(v.var(axis=(0, 2, 3), keepdims=True) + EPSILON)
    b_H, b_T = layer.b.reshape(2, 1, maps, 1, 1)
    a = u + b_H
    H = a / (1 + np.exp(-1.702 * a))
    z_T = np.einsum("om,nmij->noij", layer.W_T, x[:, : layer.in_shape[0]]) + b_T
    T = 1 / (1 + np.exp(-z_T))
    return H * T + x * (1 - T)


def test_forward_is_the_equations():
    net, x, _ = small(np.float64)
    frozen, *blocks, _, dense = net.layers
    a = convolved(x, frozen.W, np.zeros(2), 1)
    y = a / (1 + np.exp(-1.702 * a))
    for layer in blocks:
        y = by_the_equations(layer, y)
    y = y.max(axis=(2, 3))
    logits = y @ dense.W.reshape(3, -1).T + dense.b
    np.testing.assert_allclose(net.forward(x), logits, rtol=1e-10, atol=1e-12)


def test_predict_uses_running_statistics():
    net, x, _ = small(np.float64)
    for _ in range(120):
        logits = net.forward(x)
    np.testing.assert_allclose(net.predict(x), logits, rtol=1e-4)


def test_the_gradient_of_every_parameter_is_the_complex_step():
    net, x, y = small(np.complex128)
    for _ in range(2):
        gradient = gradient_of(net, x, y).real.copy()
    expected = np.empty(len(gradient))
    for i in range(len(gradient)):
        net.parameters[i] += 1j * STEP
        expected[i] = hn.softmax_cross_entropy(net.forward(x), y)[0].imag / STEP
        net.parameters[i] = net.parameters[i].real
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-13 * np.abs(expected).max())


def test_rows_are_pooled_in_pairs_whatever_the_cache_holds(monkeypatch):
    net, x, y = nets(("highway-pool", 3), ("dense", 3), shape=(2, 6, 6))  # one tile of 6 rows, not of 4
    expected = gradient_of(net, x, y).copy()
    for cached_bytes in range(400, 4000, 400):
        monkeypatch.setattr(winograd, "CACHED_BYTES", cached_bytes)
        net, x, y = nets(("highway-pool", 3), ("dense", 3), shape=(2, 6, 6))
        np.testing.assert_allclose(gradient_of(net, x, y), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([("highway-wide", 1)], "has at least the 2 maps that it is given, not 1"),
        ([("pool", 2, 4), ("highway-pool", 4)], "do not fill an image of 3 x 3"),
    ],
)
def test_what_a_wide_layer_refuses(layers, message):
    with pytest.raises(ValueError, match=message):
        ConvNet((2, 12, 12), [*layers, ("dense", 2)], 0)


def test_the_frozen_filters_whiten_patches():
    net = ConvNet((3, 9, 9), [("conv-frozen", 24), ("dense", 2)], 0, dtype=np.float64)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 3, 9, 9)).cumsum(axis=2).cumsum(axis=1)
    layer = net.layers[0]
    layer.whiten(x)
    z = convolved(x, layer.W, np.zeros(24), 1)[:, :, :-1, :-1]  # the windows that lie within the image
    z = z.transpose(0, 2, 3, 1).reshape(-1, 24)
    np.testing.assert_allclose(z[:, 12:], -z[:, :12])
    squares = z[:, :12].T @ z[:, :12] / len(z)
    np.testing.assert_allclose(squares, np.diag(np.diag(squares)), atol=1e-10)
    assert (np.diag(squares) > 0.9).all()
    assert (np.diag(squares) <= 1).all()


def test_most_layers_of_the_record_are_highway_layers():
    weighted = [kind for kind, *_ in find_net("record-cifar").layers if kind != "pool"]
    assert sum(kind.startswith("highway") for kind in weighted) > len(weighted) / 2


# ---- Muon


@pytest.mark.parametrize("shape", [(5, 12), (12, 5), (6, 6)])
def test_an_orthogonalised_matrix_keeps_its_directions(shape):
    matrix = np.random.default_rng(0).normal(size=shape)
    U, s, V_t = np.linalg.svd(matrix, full_matrices=False)
    inner = U.T @ orthogonalised(matrix) @ V_t.T
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-12)
    kept = s > 0.1 * s.max()
    assert (np.diag(inner)[kept] > 0.6).all()
    assert (np.diag(inner) < 1.3).all()


def test_a_step_of_muon():
    rng = np.random.default_rng(0)
    parameters = rng.normal(size=20)
    W = parameters[4:16].reshape(3, 4).copy()
    others = np.r_[0:4, 16:20]
    p = parameters[others].copy()
    v = np.zeros(20)
    optimizer = Muon(parameters, 0.1, [(slice(4, 16), (3, 4))], weight_decay=0.3, rates=2.0)
    for _ in range(3):
        g = rng.normal(size=20)
        v[4:16] = 0.6 * v[4:16] + g[4:16]
        W *= np.sqrt(3) / np.linalg.norm(W)
        W -= 0.1 * orthogonalised((g[4:16] + 0.6 * v[4:16]).reshape(3, 4))
        decayed = g[others] + 0.3 * p
        v[others] = 0.85 * v[others] + decayed
        p -= 0.1 * 2 * (decayed + 0.85 * v[others])
        optimizer.step(g)
        np.testing.assert_allclose(parameters[4:16].reshape(3, 4), W, rtol=1e-12)
        np.testing.assert_allclose(parameters[others], p, rtol=1e-12)


def test_a_run_that_was_stopped_ends_with_the_same_bits(tmp_path, monkeypatch):
    """With a frozen layer, Muon, and images that are mirrored in turns."""
    narrow = find_net("record-cifar")._replace(layers_of=partial(record_net_of_cifar, (24, 24, 24)))
    monkeypatch.setitem(NETS, "record-cifar", narrow)
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (30, 3072)).astype(np.uint8)
    y = np.arange(30) % 10
    few = hn.Dataset.of(x[:20], y[:20], x[20:], y[20:])._replace(shape=(3, 32, 32))
    sizes = {"n_train": 20, "n_test": 10, "epochs": 2, "batch_size": 10}
    settings = settings_of(net="record-cifar", data="cifar-10", protocol="record", **sizes)
    whole = Training(settings, fingerprint(few))
    train_conv(whole, few)
    stopped = Training(settings, fingerprint(few))
    train_conv(stopped, few, tmp_path / "net.npz", stop_after=1)
    resumed = Training.load(tmp_path / "net.npz")
    train_conv(resumed, few)
    assert stopped.history["test_accuracy"] == [None]
    assert resumed.history == whole.history
    np.testing.assert_array_equal(resumed.parameters, whole.parameters)
    np.testing.assert_array_equal(resumed.net.statistics, whole.net.statistics)
    np.testing.assert_array_equal(resumed.net.layers[-1].b, 0)


# ---- Images


def test_every_image_is_mirrored_in_every_second_epoch():
    x = np.random.default_rng(0).integers(0, 256, (8, 3072)).astype(np.uint8)
    inputs = MirroredInTurns(0).fit(x)
    whole = inputs.test(x)
    odd = x.sum(axis=1, dtype=int) % 2 == 1
    assert 0 < odd.sum() < 8
    for epoch in range(3):
        inputs.begin_epoch(epoch)
        seen = inputs.train_batch(x, np.random.default_rng(1))
        mirrored = odd if epoch % 2 == 0 else ~odd
        np.testing.assert_array_equal(seen[mirrored], mirror(whole[mirrored]))
        np.testing.assert_array_equal(seen[~mirrored], whole[~mirrored])


def test_moved_images_are_reflected_at_the_border():
    x = np.random.default_rng(0).integers(0, 256, (30, 3072)).astype(np.uint8)
    inputs = MirroredInTurns(2).fit(x)
    reflected = np.pad(inputs.test(x), ((0, 0), (0, 0), (2, 2), (2, 2)), "reflect")
    seen = inputs.train_batch(x, np.random.default_rng(1))
    places = set()
    for image, moved in zip(reflected, seen, strict=True):
        for i, j in np.ndindex(5, 5):
            crop = image[:, i : i + 32, j : j + 32]
            if (crop == moved).all() or (mirror(crop) == moved).all():
                places.add((i, j))
                break
        else:
            pytest.fail("an image is none of its crops")
    assert len(places) > 10


class Sums:
    """A net whose logits tell what it was given: the sums of the upper left and of the upper right pixels."""

    def predict(self, x):
        return np.stack([x[:, :, 0, 0].sum(axis=1), x[:, :, 0, -1].sum(axis=1)], axis=1)


def test_the_views_of_an_image():
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    assert predict_from_views(Sums(), x, 1).tolist() == [[0, 3]]
    assert predict_from_views(Sums(), x, 2).tolist() == [[1.5, 1.5]]
    # moved down and right the corners are those of the reflected border, 5 and 6; up and left 5 and 6 too
    assert predict_from_views(Sums(), x, 6).tolist() == [[3.5, 3.5]]
    with pytest.raises(ValueError, match="from 1, 2 or 6 views, not 3"):
        predict_from_views(Sums(), x, 3)


# ---- The command


@pytest.fixture
def command(tmp_path, monkeypatch):
    """`records.main` for MNIST's net and few images, in two epochs and two seeds; the folder of its files."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (300, 784)).astype(np.uint8)
    y = rng.integers(0, 10, 300)
    few = hn.Dataset.of(x[:200], y[:200], x[200:], y[200:])._replace(shape=(28, 28))
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    monkeypatch.setattr(records, "load_images", lambda name, data_dir: few)
    monkeypatch.setattr(records, "settings_of", partial(settings_of, n_train=200, n_test=100, epochs=2))
    monkeypatch.setattr(records, "pin", lambda: "core 0")
    monkeypatch.setitem(records.RECORDS, "mnist", records.RECORDS["mnist"]._replace(seeds=range(2)))
    (tmp_path / "mnist").mkdir()
    return tmp_path / "mnist"


def test_a_stopped_command_goes_on(command, monkeypatch):
    assert records.main(["mnist", "--who", "me"]) == 0
    (path,) = command.glob("[!.]*")
    whole = records.read_json(path)["trials"]
    path.unlink()
    write = records.Unfinished.write
    writes = []

    def stopped(self):
        write(self)
        writes.append(self.current)
        if len(writes) == 4:  # after the first epoch of the second seed
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(records.Unfinished, "write", stopped)
        with pytest.raises(KeyboardInterrupt):
            records.main(["mnist", "--who", "me"])
    assert {file.name for file in command.glob("[!.]*")} == {"unfinished.json", "unfinished.npz"}
    assert records.main(["mnist", "--who", "me"]) == 0
    (path,) = command.glob("[!.]*")
    trials = records.read_json(path)["trials"]
    assert [trial["train_loss"] for trial in trials] == [trial["train_loss"] for trial in whole]
    assert trials[1]["processor_seconds"] > writes[-1]["processor_seconds"] > 0


def test_a_command_that_was_stopped_before_its_log_writes_it(command, monkeypatch):
    monkeypatch.setitem(records.RECORDS, "mnist", records.RECORDS["mnist"]._replace(seeds=range(1)))
    with monkeypatch.context() as patch:
        patch.setattr(records, "record_bytes", stopped_by_keyboard)
        with pytest.raises(KeyboardInterrupt):
            records.main(["mnist", "--who", "me"])
    with monkeypatch.context() as patch:
        patch.setattr(records, "train_conv", pytest.fail)
        assert records.main(["mnist", "--who", "me"]) == 0
    assert len(list(command.glob("[!.]*"))) == 1


def stopped_by_keyboard(*words):
    raise KeyboardInterrupt


def test_a_record_of_another_commit_or_images_is_not_continued(command, monkeypatch):
    path = command / "unfinished.json"
    records.Unfinished(path, [], "digest").write()
    with pytest.raises(InputError, match="a record of another commit, recipe or images was stopped"):
        records.Unfinished(path, [], "another")
    monkeypatch.setattr(records, "commit", lambda: "another")
    with pytest.raises(InputError, match="a record of another commit, recipe or images was stopped"):
        records.Unfinished(path, [], "digest")


def test_two_commands_do_not_write_the_same_record(command):
    with Lock(command / "unfinished.json"), pytest.raises(InputError, match="another command is writing"):
        records.main(["mnist", "--who", "me"])


def test_the_command_replaces_no_file_that_it_did_not_write(command):
    path = command / "mine.json"
    path.write_text("[]")
    with pytest.raises(InputError, match="does not hold results of record_mnist"):
        records.main(["mnist", "--out", str(path)])
    with pytest.raises(InputError, match="does not end in"):
        records.main(["mnist", "--out", str(command / "mine")])
    (command / "log_unfinished.json").write_text("{}")
    with pytest.raises(InputError, match="holds something else than a stopped record"):
        records.main(["mnist", "--out", str(command / "log.json")])
    assert path.read_text() == "[]"
