import gzip
import hashlib
import http.server
import threading

import numpy as np
import pytest
from conftest import ROOT, idx_bytes, write_data_set
from hypothesis import given
from hypothesis import strategies as st

import highway_networks as hn

TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS = hn.SHA256


def test_the_bundled_files_are_mnist(mnist):
    assert mnist.name == "MNIST"
    assert mnist.source == str(hn.BUNDLED.relative_to(ROOT))
    assert mnist.x_train.shape == (60000, 784)
    assert mnist.x_test.shape == (10000, 784)
    assert mnist.x_train.dtype == mnist.x_test.dtype == np.uint8
    assert np.bincount(mnist.y_train).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(mnist.y_test).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert mnist.n_classes == 10
    for name, array in ((TRAIN_IMAGES, mnist.x_train), (TEST_IMAGES, mnist.x_test)):
        data = idx_bytes(array.reshape(-1, 28, 28))
        assert hashlib.sha256(data).hexdigest() == hn.SHA256[name]


def test_a_run_uses_the_published_draws(mnist):
    part = hn.subset(mnist, 3, 50, 20)
    rng = np.random.default_rng(3)
    train, test = rng.permutation(60000)[:50], rng.permutation(10000)[:20]
    np.testing.assert_array_equal(part.x_train, mnist.x_train[train])
    np.testing.assert_array_equal(part.y_train, mnist.y_train[train])
    np.testing.assert_array_equal(part.x_test, mnist.x_test[test])
    np.testing.assert_array_equal(part.y_test, mnist.y_test[test])
    assert part.x_train.dtype == np.uint8


def test_pixels_are_scaled_as_published():
    pixels = np.arange(256, dtype=np.uint8)[None]
    scaled = hn.scale_pixels(pixels, np.float64)
    np.testing.assert_allclose(scaled, pixels / 255 * 2 - 1, atol=1e-15)
    assert hn.scale_pixels(pixels, np.float32).dtype == np.float32


@pytest.mark.parametrize("compress", [True, False])
def test_any_data_set_in_the_layout(tmp_path, monkeypatch, compress):
    folder = write_data_set(tmp_path / "shapes", compress=compress)
    data = hn.load_mnist(folder)
    assert (data.name, data.source, data.n_classes) == ("shapes", str(folder), 3)
    assert data.x_train.shape == (300, 36)
    assert data.y_test.tolist() == [i % 3 for i in range(80)]
    monkeypatch.setenv("MNIST_DIR", str(folder))
    assert hn.load_mnist().name == "shapes"


def recompress(path, change):
    path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes())), 1))


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


DAMAGE = {  # what happens to which file, and what the message must say
    "missing": (TEST_LABELS, lambda p: p.unlink(), "is missing"),
    "empty": (TRAIN_LABELS, lambda p: p.write_bytes(b""), "idx magic number"),
    "gzip cut short": (TRAIN_IMAGES, cut, "cannot be read"),
    "text": (TRAIN_IMAGES, lambda p: p.write_text("<html>404</html>"), "cannot be read"),
    "compressed text": (TRAIN_IMAGES, lambda p: recompress(p, lambda d: b"hello, world" * 9), "idx magic number"),
    "header cut": (TRAIN_IMAGES, lambda p: recompress(p, lambda d: d[:9]), "ends inside its header"),
    "data cut": (TRAIN_IMAGES, lambda p: recompress(p, lambda d: d[:-1]), "its header says 300 x 6 x 6"),
    "bytes too many": (TEST_IMAGES, lambda p: recompress(p, lambda d: d + b"\0"), "its header says 80 x 6 x 6"),
    "floats": (TRAIN_IMAGES, lambda p: recompress(p, lambda d: b"\0\0\x0d\3" + d[4:]), "idx magic number 00000803"),
    "another size": (TEST_IMAGES, lambda p: recompress(p, lambda d: idx_bytes(np.zeros((80, 5, 6)))), "sizes differ"),
    "labels too few": (TRAIN_LABELS, lambda p: recompress(p, lambda d: idx_bytes(np.zeros(299))), "299 labels"),
    "a label too high": (TEST_LABELS, lambda p: recompress(p, lambda d: idx_bytes(np.arange(80))), "exceeds"),
    "no images": (
        TRAIN_IMAGES,
        lambda p: recompress(p, lambda d: idx_bytes(np.zeros((0, 6, 6)))),
        "one label an image",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_named(data_set, damage):
    name, spoil, message = DAMAGE[damage]
    spoil(data_set / f"{name}.gz")
    with pytest.raises(hn.InputError, match=message) as error:
        hn.load_mnist(data_set)
    assert str(data_set) in str(error.value)
    assert "\n" not in str(error.value)


def test_images_and_labels_swapped(data_set):
    images, labels = data_set / f"{TRAIN_IMAGES}.gz", data_set / f"{TRAIN_LABELS}.gz"
    kept = images.read_bytes()
    images.write_bytes(labels.read_bytes())
    labels.write_bytes(kept)
    with pytest.raises(hn.InputError, match="idx magic number 00000803"):
        hn.load_mnist(data_set)


def copy_bundled(folder):
    folder.mkdir()
    for path in hn.BUNDLED.glob("*.gz"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_mnist_is_recognised_anywhere_and_so_are_its_swapped_files(tmp_path):
    folder = copy_bundled(tmp_path / "elsewhere")
    assert hn.load_mnist(folder).name == "MNIST"
    (folder / f"{TRAIN_IMAGES}.gz").write_bytes((folder / f"{TEST_IMAGES}.gz").read_bytes())
    with pytest.raises(hn.InputError, match=f"holds MNIST's {TEST_IMAGES}: the files are swapped"):
        hn.load_mnist(folder)


def test_a_foreign_file_in_the_bundle_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(hn, "BUNDLED", write_data_set(tmp_path / "mnist"))
    with pytest.raises(hn.InputError, match="is not MNIST's file"):
        hn.load_mnist()


@given(st.binary(max_size=60), st.integers(1, 3))
def test_garbage_is_an_array_or_one_line(data, n_dims):
    try:
        outcome = idx_bytes(hn._parse_idx(data, hn.Path("garbage"), n_dims))
    except hn.InputError as error:
        outcome = str(error)
    assert outcome == data or (outcome.startswith("garbage ") and "\n" not in outcome)


# ---- the cache and the download


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A local HTTP server in the mirrors' place; `files` maps a name to what it serves (else 404)."""
    files, asked = {}, []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = files.get(self.path.rsplit("/", 1)[-1])
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(hn, "MIRRORS", (f"http://127.0.0.1:{server.server_port}/mnist/",))
    monkeypatch.setattr(hn, "BUNDLED", tmp_path / "no-bundle")
    monkeypatch.setattr(hn, "CACHE", tmp_path / "cache")
    for path in (ROOT / "data" / "mnist").glob("*.gz"):
        files[path.name] = path.read_bytes()
    # the bundle holds the same files, compressed again: other bytes than the mirrors', so another checksum
    checksums = {name: hashlib.md5(files[f"{name}.gz"]).hexdigest() for name in hn.GZ_MD5}
    monkeypatch.setattr(hn, "GZ_MD5", checksums)
    yield files, asked
    server.shutdown()
    server.server_close()


def test_download_once_then_cache(mirror):
    files, asked = mirror
    assert hn.load_mnist().name == "MNIST"
    assert sorted(asked) == sorted(f"/mnist/{name}" for name in files)
    files.clear()
    assert hn.load_mnist().source == str(hn.CACHE)
    assert len(asked) == 4


def test_a_bad_file_in_the_cache_is_replaced(mirror):
    hn.load_mnist()
    bad = hn.CACHE / f"{TEST_LABELS}.gz"
    bad.write_bytes(bad.read_bytes()[:100])
    assert len(hn.load_mnist().y_test) == 10000


def test_a_download_that_is_not_mnist_is_refused_and_does_not_stay(mirror):
    files, _ = mirror
    files[f"{TRAIN_LABELS}.gz"] = b"<html>please log in</html>"
    with pytest.raises(hn.InputError, match="could not be downloaded"):
        hn.load_mnist()
    assert not (hn.CACHE / f"{TRAIN_LABELS}.gz").exists()


def test_a_dead_mirror_is_passed_over(mirror, monkeypatch):
    monkeypatch.setattr(hn, "MIRRORS", ("http://127.0.0.1:9/mnist/", *hn.MIRRORS))
    assert hn.load_mnist().name == "MNIST"
