"""Data sets in MNIST's layout: reading and recognising them, which damage is refused, the cache and the download."""

import gzip
import hashlib
import io
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import BAD_ANSWERS, ROOT, SMALL, idx_bytes, names_in, write_data_set

import highway_networks as hn
from highways import files
from highways.files import InputError

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
    "no ubyte": (lambda name: name.replace("-ubyte", ""), "."),
    "dots": (lambda name: name.replace("s-idx", "s.idx"), "."),
    "gzip without its suffix": (lambda name: name.removesuffix(".gz"), "."),
    "underscores, capitals": (lambda name: name.replace("-", "_").upper().replace(".GZ", ".gz"), "."),
    "no idx in the name": (lambda name: name.split("-idx")[0].replace("t10k", "test") + ".gz", "."),
    "EMNIST": (lambda name: f"emnist-letters-{name.replace('t10k', 'test')}", "."),
    "one of EMNIST's": (lambda name: f"raw/emnist-digits-{name.replace('t10k', 'test')}", "raw/emnist-digits"),
    "torchvision": (lambda name: f"KMNIST/raw/{name}", "."),
    "a folder for each file": (lambda name: f"{name}/{name}", "."),
    "Kaggle": (lambda name: f"{name.removesuffix('.gz')}/{name.removesuffix('.gz')}", "."),
    "Kaggle, compressed": (lambda name: f"{name.removesuffix('.gz')}/{name}", "."),
    "Kaggle, with dots within": (lambda name: f"{name.removesuffix('.gz')}/{name.replace('s-idx', 's.idx')}", "."),
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


def test_a_folder_that_is_named_like_a_file_and_is_empty_hides_none(data_set):
    expected = hn.load_mnist(data_set).sha256
    for name in hn.SHA256:
        (data_set / name).mkdir()
    assert hn.load_mnist(data_set).sha256 == expected


def test_several_sets_in_a_folder_are_named(data_set):
    for path in list(data_set.iterdir()):
        for name in ("emnist-letters", "emnist-digits"):
            (data_set / f"{name}-{path.name}").write_bytes(path.read_bytes())
        path.unlink()
    with pytest.raises(InputError, match=f"has 2 data sets: name one of them, {data_set / 'emnist-digits'}, "):
        hn.load_mnist(data_set)


PIXEL = np.full((1, 1, 1), 255)


def npz_bytes(data):
    file = io.BytesIO()
    np.savez(file, x_train=np.frombuffer(data, np.uint8))
    return file.getvalue()


# what a file with the name of an idx file may be: {what: (its bytes, made of the idx file's; what the message says)}
STRANGERS = {
    "a web page": (
        lambda d: b"\n<!DOCTYPE html><title>404</title>",
        "is a web page: the download failed, fetch it again",
    ),
    "S3's error": (lambda d: b"<?xml version='1.0'?><Error>", "is a web page: the download failed, fetch it again"),
    "an LFS pointer": (lambda d: b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer: git lfs pull"),
    "npz": (npz_bytes, r"is a NumPy archive: np.load\(\) and Dataset.of\(\) read it, as docs/make_it_yours.md"),
    "npy": (lambda d: b"\x93NUMPY\1\0", r"is a NumPy array: np.load\(\) and"),
    "CSV": (lambda d: b"label,1x1,1x2,1x3\n5,0,0,0\n", r"is a CSV file: np.loadtxt\(\) and"),
    "PNG": (lambda d: b"\x89PNG\r\n", r"is a PNG image: imageio.v3.imread\(\) and"),
    "Parquet": (lambda d: b"PAR1", r"is a Parquet file: pandas.read_parquet\(\) and"),
    "a pickle": (lambda d: b"\x80\x04\x95", "is a pickle: it may run code, and is not read"),
    "zip": (lambda d: b"PK\3\4", "is an archive: unpack it first"),
    "tar": (lambda d: bytes(257) + b"ustar", "is a tar archive: unpack it first"),
    "gzip in gzip": (lambda d: gzip.compress(gzip.compress(d)), "is compressed twice: gunzip it once"),
    "int32 labels": (
        lambda d: b"\0\0\x0c\1\0\0\1\x2c" + bytes(1200),
        r"is an idx file of int32, 300, where bytes are needed: np.fromfile\(FILE, '>i4', offset=8\), reshaped",
    ),
    "a header alone": (lambda d: b"\0\0\x0c\1", "is an idx file of int32, 0, where"),
}


@pytest.mark.parametrize("what", STRANGERS)
def test_a_file_of_another_format_is_named_and_so_is_what_reads_it(data_set, what):
    make, message = STRANGERS[what]
    path = data_set / f"{TRAIN_LABELS}.gz"
    path.write_bytes(make(gzip.decompress(path.read_bytes())))
    with pytest.raises(InputError, match=message) as error:
        hn.load_mnist(data_set)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match=f"is not a folder with the four files of a data set: it {message}"):
        hn.load_mnist(path)


PNG = b"\x89PNG\r\n"
CSV = b"label,1x1,1x2,1x3\n5,0,0,0\n"
WEB_PAGE = b"<!DOCTYPE html><title>404</title>"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("mnist.npz", npz_bytes(b"1"), r"mnist.npz is a NumPy archive: np.load\(\) and Dataset.of\(\) read it"),
        ("mnist_train.csv", CSV, "mnist_train.csv is a CSV file"),
        ("mnist_train.csv", WEB_PAGE, "mnist_train.csv is a web page: the download failed"),
        ("mnist_test.csv.gz", gzip.compress(CSV, mtime=0), "mnist_test.csv.gz is a CSV file"),
        (
            "mnist.tar.gz",
            gzip.compress(bytes(257) + b"ustar", mtime=0),
            "mnist.tar.gz is a tar archive: unpack it first",
        ),
        ("7.png", PNG, "7.png is a PNG image"),
        ("3/17.png", PNG, "3/17.png is a PNG image"),
        ("training/3/17.png", PNG, "training/3/17.png is a PNG image"),
        ("train-images/17.jpg", b"\xff\xd8\xff", "17.jpg is a JPEG image"),
        ("emnist-letters.mat", b"MATLAB 5.0", "emnist-letters.mat is a MATLAB file: scipy.io.loadmat"),
        ("training.pt", b"PK\3\4 archive/data.pkl", "training.pt is a pickle of PyTorch: it may run code"),
        ("gzip.zip", b"PK\3\4", "gzip.zip is an archive: unpack it first"),
        (
            "train-images-idx3-ubyte (1).gz",
            gzip.compress(idx_bytes(PIXEL), mtime=0),
            f"is an idx file of uint8, 1 x 1 x 1; if it is one of the set, rename all: {TRAIN_IMAGES}, ",
        ),
        ("notes", b"", "the folder has notes"),
        ("latest.html", WEB_PAGE, "the folder has latest.html"),
        ("dh_view.html", WEB_PAGE, "the folder has dh_view.html"),
        ("libexec/valgrind/mnist.html", WEB_PAGE, "the folder has libexec"),
        ("share/icons/train.png", PNG, "the folder has share"),
        ("train.txt", b"one two", "the folder has train.txt"),
    ],
)
def test_what_a_folder_without_idx_files_holds_is_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"{TRAIN_IMAGES} is missing, as a plain file or as .gz: .*{message}"):
        hn.load_mnist(tmp_path)


def test_a_name_that_is_nearly_right_is_named(data_set):
    path = data_set / f"{TRAIN_IMAGES}.gz"
    path.rename(data_set / f"{TRAIN_IMAGES} (1).gz")
    with pytest.raises(InputError, match=r"the nearest name there is 'train-images-idx3-ubyte \(1\).gz'"):
        hn.load_mnist(data_set)


def test_an_address_is_no_folder():
    with pytest.raises(InputError, match="is an address: download the four files, and name the folder"):
        hn.load_mnist("https://example.com/mnist")


def darker(data):
    return idx_bytes(np.frombuffer(data[16:], np.uint8).reshape(-1, 6, 6) // 16)


def one_higher(data):
    return idx_bytes(np.frombuffer(data[8:], np.uint8) + 1)


def without_a_2(data):
    return idx_bytes(np.arange(300) % 2 * 3)


ALIKE = bytes(range(200, 236))  # an image


def all_alike(data):
    return data[:16] + ALIKE * 300


# what can be read and looks wrong: {what: ({file: its new bytes, made of the old}, what the warnings say)}
DOUBTS = {
    "dark images": (
        {TRAIN_IMAGES: darker, TEST_IMAGES: darker},
        [
            "the largest pixel of the training images is 13, not 255: a net may learn far less; multiply",
            "the largest pixel of the test images is 13",
        ],
    ),
    "labels from 1": (
        {TRAIN_LABELS: one_higher, TEST_LABELS: one_higher},
        ["of the labels 0 to 3 these never occur in training: 0; the net has 4 classes even so"],
    ),
    "labels that only test images have": (
        {TRAIN_LABELS: without_a_2},
        [
            "of the labels 0 to 3 these never occur in training: 1, 2",
            "test images have labels that no training image has: 1, 2",
        ],
    ),
    "test images that are training images": (
        {TRAIN_IMAGES: all_alike, TEST_IMAGES: lambda data: data[:-72] + ALIKE * 2},
        ["2 of 80 test images are training images, too"],
    ),
}


@pytest.mark.parametrize("what", DOUBTS)
def test_what_looks_wrong_is_said_and_recorded(data_set, capsys, what):
    changes, expected = DOUBTS[what]
    for name, change in changes.items():
        recompress(data_set / f"{name}.gz", change)
    out = data_set / "run.json"
    assert hn.main([*map(str, SMALL), "--data-dir", str(data_set), "--jobs", "1", "--quiet", "--out", str(out)]) == 0
    lines = capsys.readouterr().err.splitlines()
    recorded = files.read_json(out)["data_warnings"]
    assert lines == [f'folder "shapes": {warning}' for warning in recorded]
    for warning, text in zip(recorded, expected, strict=True):
        assert text in warning


def test_nothing_is_said_of_mnist_and_of_a_set_that_looks_right(data_set, capsys, mnist):
    assert hn.data_warnings(mnist) == []
    assert hn.data_warnings(hn.load_mnist(data_set)) == []
    assert capsys.readouterr().err == ""


def test_emnists_images_are_said_to_lie_transposed(data_set, capsys):
    renamed(data_set, lambda name: f"emnist-letters-{name}")
    data = hn.load_mnist(data_set)
    [line] = capsys.readouterr().err.splitlines()
    _, turned = line.split("this turns them: ")
    images = eval(turned, {"x": data.x_train, "len": len})
    np.testing.assert_array_equal(images[7].reshape(6, 6), data.x_train[7].reshape(6, 6).T)


@pytest.mark.parametrize(
    ("source", "is_emnist"),
    [
        ("EMNIST/raw", True),
        ("gzip/emnist-letters", True),
        ("my_emnist", True),
        ("chinesemnist", False),
        ("femnist/raw", False),
        ("signlanguagemnist", False),
        ("emnist/2/raw", False),
    ],
)
def test_emnist_is_known_by_its_own_name(data_set, source, is_emnist):
    data = hn.load_mnist(data_set)._replace(source=source)
    assert len(hn.data_warnings(data)) == is_emnist


def recompress(path, change):
    """Replaces the contents of a .gz file by change(contents)."""
    path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes())), 1))


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


# {damage: (file, what happens to its path p, what the message must say)}; d are the file's uncompressed bytes
DAMAGE = {
    "missing": (TEST_LABELS, lambda p: p.unlink(), "is missing"),
    "empty": (TRAIN_LABELS, lambda p: p.write_bytes(b""), "is empty: the download failed"),
    "gzip cut short": (TRAIN_IMAGES, cut, "cannot be read, for it ends too early"),
    "gzip corrupted": (TRAIN_IMAGES, lambda p: p.write_bytes(p.read_bytes()[:40] + bytes(400)), "cannot be read: "),
    "text": (TRAIN_IMAGES, lambda p: recompress(p, lambda d: b"hello, world"), "is text: 'hello, world'"),
    "garbage": (TRAIN_IMAGES, lambda p: p.write_bytes(b"\1\2\3\4" * 9), "begins with '01020304', as no idx file does"),
    "a folder": (TRAIN_LABELS, lambda p: (p.unlink(), p.mkdir()), "is missing"),
    "header cut": (TRAIN_IMAGES, lambda p: recompress(p, lambda d: d[:9]), "ends inside its header"),
    "data cut": (TRAIN_IMAGES, lambda p: recompress(p, lambda d: d[:-1]), "its header says 300 x 6 x 6"),
    "bytes too many": (TEST_IMAGES, lambda p: recompress(p, lambda d: d + b"\0"), "its header says 80 x 6 x 6"),
    "floats": (
        TRAIN_IMAGES,
        lambda p: recompress(p, lambda d: b"\0\0\x0d\3" + d[4:]),
        "is an idx file of float32, 300",
    ),
    "another size": (
        TEST_IMAGES,
        lambda p: recompress(p, lambda d: idx_bytes(np.indices((80, 5, 6))[0])),
        "sizes differ",
    ),
    "labels too few": (TRAIN_LABELS, lambda p: recompress(p, lambda d: idx_bytes(np.zeros(299))), "299 labels"),
    "no class but one": (
        TRAIN_LABELS,
        lambda p: recompress(p, lambda d: idx_bytes(np.full(300, 2))),
        "label is 2; at",
    ),
    "no class but 0": (TRAIN_LABELS, lambda p: recompress(p, lambda d: idx_bytes(np.zeros(300))), "label is 0; at"),
    "a label too high": (TEST_LABELS, lambda p: recompress(p, lambda d: idx_bytes(np.arange(80))), "exceeds"),
    "no image that shows anything": (
        TEST_IMAGES,
        lambda p: recompress(p, lambda d: d[:16] + bytes(len(d) - 16)),
        "every pixel of the t10k images is 0",
    ),
    "colours": (
        TRAIN_IMAGES,
        lambda p: recompress(p, lambda d: idx_bytes(np.zeros((300, 6, 6, 3)))),
        r"6 x 3; images have three sizes: np.fromfile\(FILE, 'u1', offset=20\)",
    ),
    "a header that is turned": (
        TRAIN_IMAGES,
        lambda p: recompress(p, lambda d: d[:4] + np.frombuffer(d[4:16], ">u4").astype("<u4").tobytes() + d[16:]),
        "are not read; are its sizes written lowest byte first",
    ),
    "another file of its name": (
        TRAIN_LABELS,
        lambda p: p.with_suffix("").write_bytes(idx_bytes(np.arange(300) % 2)),
        f"{TRAIN_LABELS}.gz and {TRAIN_LABELS} differ: remove the wrong one",
    ),
    "no images": (
        TRAIN_IMAGES,
        lambda p: recompress(p, lambda d: idx_bytes(np.zeros((0, 6, 6)))),
        "each image needs one label",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_named_in_one_line(data_set, damage):
    name, spoil, message = DAMAGE[damage]
    spoil(data_set / f"{name}.gz")
    with pytest.raises(InputError, match=message) as error:
        hn.load_mnist(data_set)
    assert str(data_set) in str(error.value)
    assert "\n" not in str(error.value)


def test_swapped_images_and_labels_are_refused(data_set):
    images = data_set / f"{TRAIN_IMAGES}.gz"
    labels = data_set / f"{TRAIN_LABELS}.gz"
    kept = images.read_bytes()
    images.write_bytes(labels.read_bytes())
    labels.write_bytes(kept)
    with pytest.raises(
        InputError, match="is an idx file of uint8, 300; images have three sizes: are the files swapped"
    ):
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
    with pytest.raises(InputError, match=f"holds MNIST's {TEST_IMAGES}: the files are swapped"):
        hn.load_mnist(folder)


@pytest.mark.parametrize("name", ["MNIST", "fashion-mnist"])
def test_the_name_of_a_known_set_is_given_by_its_checksum_alone(tmp_path, monkeypatch, name):
    folder = write_data_set(tmp_path / name)
    assert hn.load_mnist(folder).name == f'folder "{name}"'
    monkeypatch.setenv("MNIST_DIR", str(folder))
    assert hn.load_mnist().name == f'folder "{name}"'


def test_another_known_set_is_recognised_in_any_folder(data_set, monkeypatch):
    monkeypatch.setattr(hn, "OTHER_SETS", {"fashion-mnist": hn.load_mnist(data_set).sha256})
    assert hn.load_mnist(data_set).name == "fashion-mnist"


def test_the_checksum_of_fashion_mnist_is_that_of_the_results():
    for path, checksums_in in (
        ("run_fashion.json", lambda record: {record["data_set"]: record["data_sha256"]}),
        ("results/fifty_layers.json", lambda record: record["env"]["data_sets"]),
    ):
        assert checksums_in(files.read_json(ROOT / path))["fashion-mnist"] == hn.OTHER_SETS["fashion-mnist"]


def test_a_foreign_file_in_the_bundle_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(hn, "BUNDLED", write_data_set(tmp_path / "mnist"))
    with pytest.raises(InputError, match="is not MNIST's file"):
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


def test_a_bad_file_in_the_cache_is_replaced(mirror):
    hn.load_mnist()
    bad = hn.CACHE / f"{TEST_LABELS}.gz"
    bad.write_bytes(bad.read_bytes()[:100])
    assert len(hn.load_mnist().y_test) == 10000


@pytest.mark.parametrize("answer", BAD_ANSWERS)
def test_a_bad_download_is_refused_and_replaced_from_the_next_mirror(mirror, monkeypatch, capsys, answer):
    files, asked = mirror
    monkeypatch.setattr(hn, "PATIENCE", 0.5 if answer == "silent" else 30)
    name = f"{TRAIN_LABELS}.gz"
    good = files[name]
    files[name] = BAD_ANSWERS[answer](files[name])
    assert hn.main(["--quick", "--no-save"]) == 2
    [line] = [line for line in capsys.readouterr().err.splitlines() if "error: " in line]
    assert f"error: there is no whole MNIST in {hn.CACHE}, and it could not be downloaded: {hn.MIRRORS[0]}: " in line
    assert not (hn.CACHE / name).exists()
    assert not list(hn.CACHE.glob("*.tmp"))

    [first] = hn.MIRRORS
    monkeypatch.setattr(hn, "MIRRORS", (first, first.replace("/mnist/", "/second/")))
    bad = files[name]

    def good_from_the_second(handler):
        if handler.path.startswith("/second/"):
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(good)
        elif callable(bad):
            bad(handler)
        else:
            handler.send_response(404 if bad is None else 200)
            handler.end_headers()
            handler.wfile.write(bad or b"")

    files[name] = good_from_the_second
    assert hn.load_mnist().name == "MNIST"
    assert sorted(path.name for path in hn.CACHE.iterdir()) == sorted(files)
    # the first file came from the first mirror and is kept; the second mirror gives the bad one and those after it
    assert [path for path in asked if "/second/" in path] == [f"/second/{name}.gz" for name in list(hn.SHA256)[1:]]


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
    processes = [downloading() for _ in range(3)]
    assert [process.communicate(timeout=60)[0] for process in processes] == ["MNIST\n"] * 3
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
    assert reached.wait(60)
    process.kill()
    process.communicate(timeout=60)
    files[name] = good
    assert hn.load_mnist().name == "MNIST"


@pytest.mark.parametrize("content", [b"", b"\0\0\x08\1", b"another program's"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_what_is_in_the_cache_is_verified(mirror, content, suffix):
    """A whole data set that is not MNIST is replaced (the empty `content` leaves it whole); so is one that has a
    damaged file."""
    write_data_set(hn.CACHE, compress=bool(suffix))
    labels = hn.CACHE / f"{TRAIN_LABELS}{suffix}"
    labels.write_bytes(content or labels.read_bytes())
    assert hn.load_mnist().name == "MNIST"
    assert len(mirror[1]) == 4


@pytest.mark.parametrize("full", [True, False])
def test_a_cache_that_cannot_be_written(mirror, tmp_path, monkeypatch, full):
    """If the cache holds the files, they are read.  If not, one line says why it cannot be filled."""
    if full:
        hn.load_mnist()
        hn.CACHE.chmod(0o500)
        assert hn.load_mnist().name == "MNIST"
        hn.CACHE.chmod(0o700)
        return
    (tmp_path / "file").write_text("kept")
    monkeypatch.setattr(hn, "CACHE", tmp_path / "file" / "cache")
    with pytest.raises(InputError, match="could not be downloaded") as error:
        hn.load_mnist()
    assert "Not a directory" in str(error.value) or "cannot find the path" in str(error.value)
    assert (tmp_path / "file").read_text() == "kept"


def test_a_dead_mirror_is_passed_over(mirror, monkeypatch):
    monkeypatch.setattr(hn, "MIRRORS", ("http://127.0.0.1:9/mnist/", *hn.MIRRORS))
    assert hn.load_mnist().name == "MNIST"


# ---- unpacked copies


@pytest.fixture
def copies(tmp_path, monkeypatch):
    """An empty folder for the copies of two files of MNIST, those of the labels; what reads these two."""
    folder = tmp_path / "caches" / "copies"
    monkeypatch.setenv("HIGHWAYS_CACHE", str(folder))

    def read():
        read_files = []
        for name in (TRAIN_LABELS, TEST_LABELS):
            array, checksum = hn.read_file(hn.BUNDLED / f"{name}.gz", 1, hn.SHA256[name])
            assert checksum == hn.SHA256[name] == hashlib.sha256(idx_bytes(array)).hexdigest()
            read_files.append(len(array))
        assert read_files == [60000, 10000]

    read.folder = folder
    return read


def test_a_file_is_unpacked_once(copies, monkeypatch):
    copies()
    assert len(names_in(copies.folder)) == 2

    class Unpacked(Exception):
        pass

    class GzipFile:
        def __init__(self, fileobj):
            raise Unpacked

    monkeypatch.setattr(hn.gzip, "GzipFile", GzipFile)
    copies()
    with pytest.raises(Unpacked):
        hn.read_file(hn.BUNDLED / f"{TRAIN_LABELS}.gz", 1)  # whoever names no checksum gets no copy


def test_what_is_not_mnist_is_not_copied(copies, data_set):
    hn.load_mnist(data_set)
    assert not copies.folder.exists()


# what may have happened to a copy: (how it is damaged, whether a whole one then takes its place)
HARM = {
    "flipped": (lambda copy: copy.write_bytes(copy.read_bytes()[:-1] + b"\xff"), True),
    "cut": (lambda copy: copy.write_bytes(copy.read_bytes()[:100]), True),
    "empty": (lambda copy: copy.write_bytes(b""), True),
    "foreign": (lambda copy: copy.write_bytes(b"another program's"), True),
    "another file of MNIST": (lambda copy: copy.write_bytes((hn.BUNDLED / f"{TEST_LABELS}.gz").read_bytes()), True),
    "a folder": (lambda copy: (copy.unlink(), copy.mkdir()), False),
}


@pytest.mark.parametrize("harm", HARM)
def test_a_copy_that_is_not_whole_is_made_again(copies, harm):
    copies()
    damage, is_replaced = HARM[harm]
    before = {copy: copy.read_bytes() for copy in copies.folder.iterdir()}
    for copy in before:
        damage(copy)
    copies()
    assert {*copies.folder.iterdir()} == {*before}
    if is_replaced:
        assert {copy: copy.read_bytes() for copy in before} == before


def test_a_cache_that_takes_no_copies_is_no_error(copies, tmp_path, monkeypatch):
    (tmp_path / "caches").write_text("a file, where the folder's parent should be")
    copies()
    monkeypatch.setattr(hn.Alone, "write_whole", full_disk)
    monkeypatch.setenv("HIGHWAYS_CACHE", str(tmp_path))
    copies()
    assert names_in(tmp_path) == ["caches"]


def full_disk(files):
    raise ValueError("cannot be written: No space left on device")


def test_where_copies_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))  # Windows
    monkeypatch.delenv("HIGHWAYS_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert hn.folder_of_copies() == tmp_path / ".cache" / "highway-networks"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert hn.folder_of_copies() == tmp_path / ".cache" / "highway-networks"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert hn.folder_of_copies() == tmp_path / "xdg" / "highway-networks"
    monkeypatch.setenv("HIGHWAYS_CACHE", "~/ours")
    assert hn.folder_of_copies() == tmp_path / "ours"
    monkeypatch.setenv("HIGHWAYS_CACHE", "")
    assert hn.folder_of_copies() is None


COPIES = """
import sys
import highway_networks as hn
for name in list(hn.SHA256)[2:]:
    array, checksum = hn.read_file(hn.BUNDLED / f"{name}.gz", 3 if "images" in name else 1, hn.SHA256[name])
    assert checksum == hn.SHA256[name]
"""


def test_processes_may_copy_at_the_same_time(copies):
    processes = [subprocess.Popen([sys.executable, "-c", COPIES], cwd=ROOT) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert len(names_in(copies.folder)) == 2


def test_an_empty_folder_name_is_refused():
    """An unset shell variable gives such a name.  The bundled images must not be read in place of the set meant."""
    with pytest.raises(InputError, match="must have a name, not ''"):
        hn.load_mnist("")
