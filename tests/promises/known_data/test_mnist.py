"""Data sets in MNIST's layout: which damage is refused, the cache and the download."""

import hashlib
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import ROOT, corrupted, interrupted, write_data_set

import highway_networks as hn
from highways import files
from highways.files import InputError

TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS = hn.FILES


def test_the_bundled_files_are_mnist(mnist):
    assert mnist.name == "MNIST"
    assert mnist.source == str(hn.BUNDLED.relative_to(ROOT))
    assert mnist.x_train.shape == (60000, 784)
    assert mnist.x_test.shape == (10000, 784)
    assert mnist.x_train.dtype == mnist.x_test.dtype == np.uint8
    assert np.bincount(mnist.y_train).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(mnist.y_test).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert mnist.n_classes == 10


def test_a_run_uses_the_published_draws(mnist):
    part = hn.subset(mnist, 3, 50, 20)
    rng = np.random.default_rng(3)
    train = rng.permutation(60000)[:50]
    test = rng.permutation(10000)[:20]
    np.testing.assert_array_equal(part.x_train, mnist.x_train[train])
    np.testing.assert_array_equal(part.y_train, mnist.y_train[train])
    np.testing.assert_array_equal(part.x_test, mnist.x_test[test])
    np.testing.assert_array_equal(part.y_test, mnist.y_test[test])
    assert part.x_train.dtype == np.uint8


def test_pixels_are_scaled_as_published():
    pixels = np.arange(256, dtype=np.uint8)[None]
    scaled = hn.scale_pixels(pixels, np.float64)
    np.testing.assert_allclose(scaled, pixels / 255 * 2 - 1, atol=1e-15)
    for dtype in (np.float32, "float32", np.dtype("float32")):
        np.testing.assert_array_equal(hn.scale_pixels(pixels, dtype), hn.scale_pixels(pixels, np.float32))
        assert hn.scale_pixels(pixels, dtype).dtype == np.float32


@pytest.mark.parametrize("compress", [True, False])
def test_any_data_set_in_the_layout_of_mnist_is_read(tmp_path, monkeypatch, compress):
    folder = write_data_set(tmp_path / "shapes", compress=compress)
    data = hn.load_mnist(folder)
    assert (data.name, data.source, data.n_classes) == ('folder "shapes"', str(folder), 3)
    assert data.x_train.shape == (300, 36)
    assert data.y_test.tolist() == [i % 3 for i in range(80)]
    monkeypatch.setenv("MNIST_DIR", str(folder))
    assert hn.load_mnist().name == 'folder "shapes"'


def renamed(folder, name_of):
    """Gives the files of a data set other names: name_of(name)."""
    for path in list(folder.iterdir()):
        new = folder / name_of(path.name)
        content = path.read_bytes()
        path.unlink()
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(content)


# {who names files so: (the new name of a file, how the folder is named)}
FAMILY = {
    "one of EMNIST's": (lambda name: f"raw/emnist-digits-{name.replace('t10k', 'test')}", "raw/emnist-digits"),
    "Kaggle": (lambda name: name.replace("s-idx", "s.idx"), "."),
}


@pytest.mark.parametrize("who", FAMILY)
def test_the_names_that_the_files_of_the_family_have_are_read(data_set, who):
    expected = hn.load_mnist(data_set)
    name_of, chosen = FAMILY[who]
    renamed(data_set, name_of)
    for path in list((data_set / "raw").glob("emnist-digits*")):  # not the only set there
        path.with_name(path.name.replace("emnist-digits", "emnist-letters")).write_bytes(path.read_bytes())
    data = hn.load_mnist(data_set / chosen)
    np.testing.assert_array_equal(data.x_train, expected.x_train)
    np.testing.assert_array_equal(data.y_test, expected.y_test)
    assert data.sha256 == expected.sha256
    assert data.name == f'folder "{(data_set / chosen).name}"'


@pytest.mark.parametrize("name", ["MNIST", "fashion-mnist"])
def test_the_name_of_a_known_set_is_given_by_its_checksum_alone(tmp_path, monkeypatch, name):
    folder = write_data_set(tmp_path / name)
    assert hn.load_mnist(folder).name == f'folder "{name}"'
    monkeypatch.setenv("MNIST_DIR", str(folder))
    assert hn.load_mnist().name == f'folder "{name}"'


def test_another_known_set_is_recognised_in_any_folder(data_set, monkeypatch):
    monkeypatch.setattr(hn, "KNOWN_SETS", {hn.load_mnist(data_set).sha256: "fashion-mnist"})
    assert hn.load_mnist(data_set).name == "fashion-mnist"


def test_the_checksum_of_fashion_mnist_is_that_of_the_results():
    for path, checksums_in in (
        ("experiments/results/run_fashion.json", lambda record: {record["data_set"]: record["data_sha256"]}),
        ("experiments/results/fifty_layers.json", lambda record: record["env"]["data_sets"]),
    ):
        assert hn.KNOWN_SETS[checksums_in(files.read_json(ROOT / path))["fashion-mnist"]] == "fashion-mnist"


def test_a_foreign_file_in_the_bundle_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(hn, "BUNDLED", write_data_set(tmp_path / "mnist"))
    with pytest.raises(InputError):
        hn.load_mnist()


# ---- the cache and the download


@pytest.fixture
def mirror(web, tmp_path, monkeypatch):
    """The local server, with MNIST on it, in place of the mirrors."""
    files, asked, address = web
    monkeypatch.setattr(hn, "MIRRORS", (f"{address}/mnist/",))
    monkeypatch.setattr(hn, "BUNDLED", tmp_path / "no-bundle")
    monkeypatch.setattr(hn, "CACHE", tmp_path / "cache")
    for path in (ROOT / "data" / "mnist").glob("*.gz"):
        files[path.name] = path.read_bytes()
    # the bundle's files are compressed otherwise than those of the real mirrors, so their checksums differ
    checksums = {name: hashlib.md5(files[f"{name}.gz"]).hexdigest() for name in hn.GZ_MD5}
    monkeypatch.setattr(hn, "GZ_MD5", checksums)
    return files, asked


def test_download_once_then_cache(mirror):
    files, asked = mirror
    assert hn.load_mnist().name == "MNIST"
    assert sorted(asked) == sorted(f"/mnist/{name}" for name in files)
    files.clear()
    assert hn.load_mnist().source == str(hn.CACHE)
    assert len(asked) == 4


@pytest.mark.parametrize("answer", [corrupted, interrupted])
def test_a_bad_download_is_refused_and_replaced_from_the_next_mirror(mirror, monkeypatch, answer):
    files, _ = mirror
    name = f"{TRAIN_LABELS}.gz"
    good = files[name]
    bad = answer(good)
    files[name] = bad
    with pytest.raises(InputError):
        hn.load_mnist()
    assert not (hn.CACHE / name).exists()
    assert not list(hn.CACHE.glob("*.tmp"))

    [first] = hn.MIRRORS
    monkeypatch.setattr(hn, "MIRRORS", (first, first.replace("/mnist/", "/second/")))

    def good_from_the_second(handler):
        if handler.path.startswith("/second/"):
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(good)
        elif callable(bad):
            bad(handler)
        else:
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(bad)

    files[name] = good_from_the_second
    assert hn.load_mnist().name == "MNIST"
    assert sorted(path.name for path in hn.CACHE.iterdir()) == sorted(files)


DOWNLOAD = """
import pathlib, sys
import highway_networks as hn
hn.BUNDLED, hn.CACHE, hn.MIRRORS = pathlib.Path("none"), pathlib.Path(sys.argv[1]), (sys.argv[2],)
hn.GZ_MD5 = dict(word.split("=") for word in sys.argv[3:])
print(hn.load_mnist().name)
"""


def downloading():
    """Starts a process that loads MNIST with this process's cache, mirror and checksums."""
    words = [str(hn.CACHE), hn.MIRRORS[0], *(f"{name}={md5}" for name, md5 in hn.GZ_MD5.items())]
    command = [sys.executable, "-c", DOWNLOAD, *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows renames no file over another that is open")
def test_processes_may_download_at_the_same_time(mirror):
    processes = [downloading() for _ in range(2)]
    assert [process.communicate(timeout=600)[0] for process in processes] == ["MNIST\n"] * 2
    assert sorted(path.name for path in hn.CACHE.iterdir()) == sorted(mirror[0])
    mirror[0].clear()
    assert hn.load_mnist().name == "MNIST"


def test_a_download_that_was_killed_is_made_again(mirror):
    files, _ = mirror
    name = f"{TRAIN_IMAGES}.gz"
    good = files[name]
    reached = threading.Event()

    def half(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(good[: len(good) // 2])
        handler.wfile.flush()
        reached.set()
        threading.Event().wait(3)

    files[name] = half
    process = downloading()
    assert reached.wait(600)
    process.kill()
    process.communicate(timeout=600)
    files[name] = good
    assert hn.load_mnist().name == "MNIST"


@pytest.mark.parametrize(("content", "suffix"), [(b"", ".gz"), (b"another program's", "")])
def test_what_is_in_the_cache_is_verified(mirror, content, suffix):
    """A whole data set that is not MNIST is replaced (the empty `content` leaves it whole); so is one that has a
    damaged file."""
    write_data_set(hn.CACHE, compress=bool(suffix))
    labels = hn.CACHE / f"{TRAIN_LABELS}{suffix}"
    labels.write_bytes(content or labels.read_bytes())
    assert hn.load_mnist().name == "MNIST"
    assert len(mirror[1]) == 4


def test_a_dead_mirror_is_passed_over(mirror, monkeypatch):
    monkeypatch.setattr(hn, "MIRRORS", ("http://127.0.0.1:9/mnist/", *hn.MIRRORS))
    assert hn.load_mnist().name == "MNIST"


def test_an_empty_folder_name_is_refused(monkeypatch):
    """An unset shell variable gives such a name.  The bundled images must not be read in place of the set meant."""
    monkeypatch.setenv("MNIST_DIR", "")
    for name in ("", None):
        with pytest.raises(InputError):
            hn.load_mnist(name)


@pytest.mark.parametrize("n_bytes", [1, 3])
def test_a_file_of_another_size_than_its_header_says_is_refused(tmp_path, n_bytes):
    path = tmp_path / TRAIN_LABELS
    path.write_bytes(bytes((0, 0, 8, 1, 0, 0, 0, 2)) + bytes(n_bytes))
    with pytest.raises(InputError):
        hn.read_idx(path, rank=1)
