"""CIFAR's files: what is read, which damage is refused, the cache and the download; and the input pipeline."""

import copy
import gzip
import hashlib
import io
import re
import tarfile
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_ANSWERS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from highways import cifar
from highways.cifar import PIXELS, load_cifar
from highways.conv.pipeline import FILTER_BIAS, Pipeline
from highways.files import InputError

OFFICIAL = dict(cifar.SETS)
TEN, HUNDRED = OFFICIAL


def made_up(layout: cifar.Layout, seed: int) -> dict[str, np.ndarray]:
    """{file: its records}, shuffled.  Every label occurs equally often.  As many images are distinct, and as many are
    in both parts, as the layout says."""
    rng = np.random.default_rng(seed)
    parts = []
    for n, n_distinct in zip((layout.n_train, layout.n_test), layout.distinct, strict=False):
        labels = np.stack([np.arange(n) % values for values in layout.labels], axis=1)
        images = rng.integers(0, 256, (n, PIXELS))
        images[: n - n_distinct] = images[-1]
        parts.append(np.hstack([labels, images]).astype(np.uint8))
    train, test = parts
    in_both_parts = slice(5, 5 + layout.distinct[2])
    test[in_both_parts, -PIXELS:] = train[in_both_parts, -PIXELS:]
    batches = np.split(rng.permutation(train), len(layout.train))
    return dict(zip(layout.train, batches, strict=True)) | {layout.test[0]: rng.permutation(test)}


def tar(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


@pytest.fixture(scope="module")
def sets():
    """Small sets of the official layouts: {name: (layout, the files' records, the archive)}."""
    small = {
        TEN: OFFICIAL[TEN]._replace(n_train=50, n_test=10, distinct=[50, 10, 0]),
        HUNDRED: OFFICIAL[HUNDRED]._replace(n_train=40, n_test=20, labels=[5, 10], distinct=[38, 19, 2]),
    }
    for seed, (name, layout) in enumerate(small.items()):
        records = made_up(layout, seed)
        members = {f"{layout.folder}/{file}": part.tobytes() for file, part in records.items()}
        archive = tar({f"{layout.folder}/readme.html": b"?"} | members)
        digests = (
            sorted(hashlib.sha256(record.tobytes()).hexdigest() for file in part for record in records[file])
            for part in (layout.train, layout.test)
        )
        sha256 = hashlib.sha256(bytes.fromhex("".join(chain(*digests)))).hexdigest()
        small[name] = layout._replace(md5=md5(archive), sha256=sha256), records, archive
    return small


@pytest.fixture(autouse=True)
def small_sets(sets, tmp_path, monkeypatch):
    """Puts the small sets in place of the real ones, and empties the cache."""
    monkeypatch.setattr(cifar, "SETS", {name: layout for name, (layout, _, _) in sets.items()})
    monkeypatch.setattr(cifar, "CACHE", tmp_path / "cache")


def write(folder: Path, records: dict[str, np.ndarray]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for file, part in records.items():
        (folder / file).write_bytes(part.tobytes())
    return folder


@pytest.fixture
def ten(sets, tmp_path):
    """A folder of a small CIFAR-10 in its binary version."""
    return write(tmp_path / "data" / "cifar-10-batches-bin", sets[TEN][1])


# ---- what is read


@pytest.mark.parametrize("form", ["folder", "parent", "renamed", "archive", "renamed archive", "archive's folder"])
@pytest.mark.parametrize("name", [TEN, HUNDRED])
def test_every_form_of_a_set_is_read(sets, tmp_path, name, form):
    """`place` is what the user names, `path` is where the files are."""
    layout, records, archive = sets[name]
    official_names = {"folder": layout.folder, "archive": layout.archive}
    place = tmp_path / official_names.get(form, "another name")
    path = place
    if form == "parent":
        path = place / layout.folder
    if form == "archive's folder":
        place.mkdir()
        path = place / layout.archive
    if "archive" in form:
        path.write_bytes(archive)
    else:
        write(path, records)

    data = load_cifar(name, place)
    assert (data.name, data.source, data.n_classes) == (name, str(path), layout.labels[-1])
    for x, y, files in ((data.x_train, data.y_train, layout.train), (data.x_test, data.y_test, layout.test)):
        expected = np.concatenate([records[file] for file in files])
        np.testing.assert_array_equal(x, expected[:, -PIXELS:])
        np.testing.assert_array_equal(y, expected[:, -PIXELS - 1])
        assert (x.dtype, y.dtype, x.flags.c_contiguous) == (np.uint8, np.intp, True)
    assert data.sha256 == layout.sha256


def test_the_official_files_have_their_sizes():
    batches = [f"data_batch_{i}.bin" for i in range(1, 6)]
    assert OFFICIAL[TEN].sizes() == dict.fromkeys([*batches, "test_batch.bin"], 30_730_000)
    assert OFFICIAL[HUNDRED].sizes() == {"train.bin": 153_700_000, "test.bin": 30_740_000}


def test_a_set_is_recognised_in_any_order(sets, ten):
    """Its sha256 is the same in any order, the SHA-256 "as read" is not."""
    layout, records, _ = sets[TEN]
    first = load_cifar(TEN, ten)
    again = load_cifar(TEN, ten)
    train = np.random.default_rng(0).permutation(np.concatenate([records[file] for file in layout.train]))
    other = load_cifar(TEN, write(ten, dict(zip(layout.train, np.split(train, 5), strict=True))))
    assert (other.name, other.sha256) == (TEN, first.sha256)
    assert cifar.sha256_as_read(first) == cifar.sha256_as_read(again) != cifar.sha256_as_read(other)
    arrays = b"".join(array.astype(np.uint8).tobytes() for array in first[:4])
    assert cifar.sha256_as_read(first) == hashlib.sha256(arrays).hexdigest()


@pytest.mark.parametrize("change", ["a pixel", "two labels exchanged", "two images exchanged between the parts"])
def test_other_records_of_the_same_structure_are_named(sets, ten, change):
    records = copy.deepcopy(sets[TEN][1])
    train = records["data_batch_3.bin"]
    test = records["test_batch.bin"]
    if change == "a pixel":
        train[4, 1000] ^= 1
    elif change == "two labels exchanged":
        other = np.flatnonzero(train[:, 0] != train[0, 0])[0]
        train[[0, other], 0] = train[[other, 0], 0]
    else:
        same = np.flatnonzero(test[:, 0] == train[0, 0])[0]
        moved = test[same].copy()
        test[same] = train[0]
        train[0] = moved
    data = load_cifar(TEN, write(ten, records))
    assert data.name == "CIFAR-10, altered"
    assert data.sha256 != sets[TEN][0].sha256


# ---- damage


def edit(file, row, columns, value):
    """Writes `value` into these columns of a file's record `row`; for [other], what the record `other` has there."""

    def spoil(folder):
        records = np.frombuffer((folder / file).read_bytes(), np.uint8).reshape(-1, 1 + PIXELS).copy()
        records[row, columns] = value if isinstance(value, int) else records[value[0], columns]
        (folder / file).write_bytes(records.tobytes())

    return spoil


def write_file(file, data):
    return lambda folder: (folder / file).write_bytes(data)


def copy_file(a, b):
    return lambda folder: (folder / b).write_bytes((folder / a).read_bytes())


def swap(folder):
    a = folder / "data_batch_2.bin"
    b = folder / "test_batch.bin"
    train = a.read_bytes()
    test = b.read_bytes()
    a.write_bytes(test)
    b.write_bytes(train)


def make_folder(path):
    path.unlink()
    path.mkdir()


DAMAGE = {  # what happens to the folder, and what the message must say
    "missing": (lambda f: (f / "test_batch.bin").unlink(), r"test_batch\.bin cannot be read: No such file"),
    "empty": (write_file("data_batch_1.bin", b""), "has 0 bytes; CIFAR-10's has 30730$"),
    "cut": (write_file("data_batch_1.bin", bytes(30729)), "has 30729 bytes; CIFAR-10's has 30730$"),
    "too long": (write_file("data_batch_5.bin", bytes(30731)), "has 30731 bytes"),
    "a web page": (write_file("data_batch_4.bin", b"<html>404</html>"), "has 16 bytes"),
    "a folder": (lambda f: make_folder(f / "test_batch.bin"), r"test_batch\.bin (cannot be read|has \d+ bytes)"),
    "zeros": (write_file("test_batch.bin", bytes(30730)), "10 test images have label 0; CIFAR-10 has 1 of each"),
    "a label too high": (edit("data_batch_2.bin", 3, 0, 10), "training label 10; CIFAR-10's are 0 to 9"),
    "a test label too high": (edit("test_batch.bin", 9, 0, 255), "test label 255; CIFAR-10's are 0 to 9"),
    "another label": (edit("test_batch.bin", 0, 0, [1]), r"[02] test images have label \d; CIFAR-10 has 1 of each"),
    "an image twice": (
        edit("data_batch_2.bin", 0, slice(1, None), [1]),
        "49 different training images, 10 different test images, 0 images in both; CIFAR-10 has 50 different training",
    ),
    "a batch twice": (copy_file("data_batch_1.bin", "data_batch_2.bin"), r"\d+ training images have label \d"),
    "training and test swapped": (swap, r"\d+ training images have label \d; CIFAR-10 has 5 of each"),
    "training for test": (copy_file("data_batch_1.bin", "test_batch.bin"), r"\d+ test images have label \d"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_named_in_one_line(ten, damage):
    spoil, message = DAMAGE[damage]
    spoil(ten)
    with pytest.raises(InputError, match=message) as error:
        load_cifar(TEN, ten)
    assert str(ten) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_training_image_in_the_test_file_is_refused(sets, ten):
    records = copy.deepcopy(sets[TEN][1])
    records["test_batch.bin"][0, 1:] = records["data_batch_4.bin"][2, 1:]
    with pytest.raises(InputError):
        load_cifar(TEN, write(ten, records))


@pytest.mark.parametrize("column", [0, 1])
def test_both_labels_of_cifar_100_are_checked(sets, tmp_path, column):
    records = copy.deepcopy(sets[HUNDRED][1])
    records["train.bin"][0, column] = 77
    with pytest.raises(InputError, match=f"training label 77; CIFAR-100's are 0 to {(4, 9)[column]}"):
        load_cifar(HUNDRED, write(tmp_path / "cifar-100-binary", records))


# ---- foreign files


@pytest.mark.parametrize("place", ["cifar-10-batches-py", "cifar-10-python.tar.gz", "only the folder", "."])
def test_the_python_version_is_not_opened(tmp_path, place):
    folder = tmp_path / ("only the folder" if place == "only the folder" else ".") / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    (folder / "data_batch_1").write_bytes(b"a pickle")
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(tar({"cifar-10-batches-py/data_batch_1": b"a pickle"}))
    message = "is the Python version, made of pickles, which are never opened; cifar-10-binary.tar.gz, the binary"
    with pytest.raises(InputError, match=re.escape(message)):
        load_cifar(TEN, tmp_path / place)


def test_places_without_the_set_are_refused(sets, tmp_path, ten):
    (tmp_path / "empty").mkdir()
    hundred = write(tmp_path / "cifar-100-binary", sets[HUNDRED][1])
    for name, place, message in (
        (TEN, "nowhere", "does not exist; cifar-10-batches-bin or cifar-10-binary.tar.gz is needed"),
        (TEN, "n" * 300, "does not exist"),
        (TEN, "n\0", "does not exist"),
        (
            TEN,
            "empty",
            "holds neither cifar-10-batches-bin nor cifar-10-binary.tar.gz, the binary version of CIFAR-10",
        ),
        (HUNDRED, ten, "holds neither cifar-100-binary nor cifar-100-binary.tar.gz"),
        (TEN, hundred, "holds neither cifar-10-batches-bin nor"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            load_cifar(name, tmp_path / place)
    (hundred / "data_batch_1.bin").write_bytes((hundred / "train.bin").read_bytes())
    with pytest.raises(InputError):
        load_cifar(TEN, hundred)


def test_archives_that_are_not_the_official_one_are_refused(sets, tmp_path):
    archive = sets[TEN][2]
    path = tmp_path / "cifar-10-binary.tar.gz"
    flipped = archive[:500] + bytes([archive[500] ^ 1]) + archive[501:]
    repacked = gzip.compress(gzip.decompress(archive), 9)
    for data in (b"", archive[:-1], flipped, repacked, b"<html>404</html>"):
        path.write_bytes(data)
        with pytest.raises(InputError, match=f"or it is damaged: MD5 {md5(data)[:12]}"):
            load_cifar(TEN, path)
    path.write_bytes(sets[HUNDRED][2])
    with pytest.raises(InputError):
        load_cifar(TEN, path)


def load_as_official(monkeypatch, path, archive: bytes):
    """Loads an archive as if its MD5 were the published one."""
    path.write_bytes(archive)
    monkeypatch.setitem(cifar.SETS, TEN, cifar.SETS[TEN]._replace(md5=md5(archive)))
    return load_cifar(TEN, path)


def test_no_path_of_an_archive_is_trusted(sets, tmp_path, monkeypatch):
    """Members are found by their file names, in whatever folder.  Others are not read, and nothing is written."""
    layout, records, _ = sets[TEN]
    members = {f"../../{i}/{file}": part.tobytes() for i, (file, part) in enumerate(records.items())}
    members |= {"/tmp/evil": b"?", "../evil": b"?", "cifar-10-batches-bin/batches.meta.txt": b"?"}
    path = tmp_path / "archive"
    assert load_as_official(monkeypatch, path, tar(members)).sha256 == layout.sha256
    assert [*tmp_path.rglob("*")] == [path]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_links_in_an_archive_are_not_followed(sets, tmp_path, monkeypatch, kind):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, part in sets[TEN][1].items():
            info = tarfile.TarInfo(name)
            is_link = name == "test_batch.bin"
            info.size = part.nbytes
            if is_link:
                info.type = kind
                info.linkname = "data_batch_1.bin"
            archive.addfile(info, None if is_link else io.BytesIO(part.tobytes()))
    with pytest.raises(InputError):
        load_as_official(monkeypatch, tmp_path / "archive", file.getvalue())


def test_damage_in_an_archive_is_named_in_one_line(sets, tmp_path, monkeypatch):
    good = {name: part.tobytes() for name, part in sets[TEN][1].items()}
    path = tmp_path / "archive"
    whole = gzip.decompress(tar(good))
    cut = gzip.compress(whole[: len(whole) // 2], 1)
    halved = sets[TEN][2][:-3000]
    endless = tarfile.TarInfo("readme.html")
    endless.size = 1 << 80
    for archive, message in (
        (tar(good | {"data_batch_3.bin": b"short"}), "lacks data_batch_3.bin of 30730 bytes"),
        (tar({"readme.html": b"?"}), "lacks data_batch_1.bin"),
        (cut, "cannot be read"),
        (halved, "cannot be read"),
        (halved[:40000] + b"\xff" * 100000, "cannot be read"),
        (gzip.compress(endless.tobuf(tarfile.GNU_FORMAT) + whole), "cannot be read"),
        (b"no archive", "cannot be read"),
        (b"", "cannot be read"),
    ):
        with pytest.raises(InputError, match=message) as error:
            load_as_official(monkeypatch, path, archive)
        assert str(error.value).startswith(str(path))
        assert "\n" not in str(error.value)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=600), st.integers(0, 4000), st.booleans())
def test_garbage_is_refused_in_one_line_or_does_no_harm(sets, tmp_path, monkeypatch, garbage, where, compressed):
    """Garbage in place of an archive or of a part of it; if `compressed`, garbage that was compressed."""
    whole = gzip.decompress(sets[TEN][2]) if compressed else sets[TEN][2]
    for data in (garbage, whole[:where] + garbage + whole[where + len(garbage) :]):
        archive = gzip.compress(data, 1) if compressed else data
        try:
            outcome = load_as_official(monkeypatch, tmp_path / "a", archive).name
        except InputError as error:
            outcome = str(error)
        assert outcome.startswith((TEN, str(tmp_path / "a")))
        assert "\n" not in outcome


# ---- the cache and the download


@pytest.fixture
def mirror(sets, web, monkeypatch):
    """The local server, with the archives of the small sets, in place of the mirrors."""
    files, asked, address = web
    files.update({layout.archive: archive for layout, _, archive in sets.values()})
    monkeypatch.setattr(cifar, "MIRRORS", [f"{address}/kriz/"])
    return files, asked


@pytest.mark.parametrize("name", [TEN, HUNDRED])
def test_download_once_then_cache(sets, mirror, name):
    files, asked = mirror
    assert load_cifar(name).name == name
    files.clear()
    path = cifar.CACHE / sets[name][0].archive
    assert load_cifar(name).source == str(path)
    assert asked == [f"/kriz/{path.name}"]
    assert [*cifar.CACHE.iterdir()] == [path]


@pytest.mark.parametrize("content", [b"", b"another program's"])
def test_a_bad_archive_in_the_cache_is_replaced(sets, mirror, content):
    cifar.CACHE.mkdir()
    (cifar.CACHE / sets[TEN][0].archive).write_bytes(content)
    assert load_cifar(TEN).name == TEN


@pytest.mark.parametrize("answer", BAD_ANSWERS)
def test_a_bad_download_is_refused_and_made_again(sets, mirror, monkeypatch, answer):
    files, _ = mirror
    monkeypatch.setattr(cifar.hn, "PATIENCE", 0.5 if answer == "silent" else 30)
    archive = sets[TEN][0].archive
    good = files[archive]
    files[archive] = BAD_ANSWERS[answer](files[archive])
    with pytest.raises(InputError) as error:
        load_cifar(TEN)
    start = f"there is no whole CIFAR-10 in {cifar.CACHE}, and it could not be downloaded: {cifar.MIRRORS[0]}: "
    assert str(error.value).startswith(start)
    assert "\n" not in str(error.value)
    assert [*cifar.CACHE.iterdir()] == []
    files[archive] = good
    assert load_cifar(TEN).name == TEN


def test_a_cache_that_cannot_be_written_is_an_error(mirror, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("kept")
    monkeypatch.setattr(cifar, "CACHE", tmp_path / "file" / "cache")
    with pytest.raises(InputError):
        load_cifar(TEN)
    assert (tmp_path / "file").read_text() == "kept"


# ---- the input pipeline


@pytest.fixture(scope="module")
def images():
    """Training images (90, 3072) uint8, each with its own brightness, contrast and colour; and 30 test images."""
    rng = np.random.default_rng(3)
    level = rng.uniform(80, 170, (120, 1, 1))
    contrast = rng.uniform(5, 40, (120, 1, 1))
    colour = rng.normal(0, 20, (1, 3, 1))
    x = level + colour + contrast * rng.normal(0, 1, (120, 3, 1024))
    x = x.clip(0, 255).astype(np.uint8).reshape(120, -1)
    return x[:90], x[90:]


def contrast_normalised(x):
    x = x.astype(float)
    return ((x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)).reshape(-1, 3, 32, 32)


def padded_by(pad, x):
    return np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))


def test_contrast_normalisation_and_the_mean_image(images):
    """The mean image is that of the training images, for test images, too."""
    train, test = (contrast_normalised(x) for x in images)
    pipeline = Pipeline("contrast", 0).fit(images[0])
    np.testing.assert_allclose(pipeline.test(images[1]), test - train.mean(axis=0), atol=1e-5)
    many_images = np.concatenate([images[0], *[images[1]] * 40])  # more than the 1000 that are summed at a time
    fitted_to_many = Pipeline("contrast", 0).fit(many_images)
    mean = (train.sum(axis=0) + 40 * test.sum(axis=0)) / (90 + 40 * 30)
    np.testing.assert_allclose(fitted_to_many.test(images[1]), test - mean, atol=1e-5)
    y = pipeline.train_batch(images[0], np.random.default_rng(0))
    for got, expected in zip(y, train - train.mean(axis=0), strict=True):
        error = abs(got - expected).max()
        error_if_mirrored = abs(got - expected[..., ::-1]).max()
        assert min(error, error_if_mirrored) < 1e-5
    assert y.dtype == pipeline.test(images[1]).dtype == np.float32


@pytest.mark.thorough
def test_whitened_images(images):
    """By SVD instead of the covariance matrix's eigenvectors: z W = u s / sqrt(s^2 / n + bias) v."""
    train, test = (contrast_normalised(x).reshape(-1, 3072) for x in images)
    center = train.mean(axis=0)
    _, s, v = np.linalg.svd(train - center, full_matrices=False)
    along_v = (test - center) @ v.T
    rest = test - center - along_v @ v  # across all directions of the training images: variance 0
    whitened = along_v / np.sqrt(s**2 / len(train) + FILTER_BIAS) @ v + rest / np.sqrt(FILTER_BIAS)
    pipeline = Pipeline("whitened", 0).fit(images[0])
    np.testing.assert_allclose(pipeline.test(images[1]).reshape(-1, 3072), whitened, atol=2e-4)
    of_train = (train - center) @ v.T / np.sqrt(s**2 / len(train) + FILTER_BIAS) @ v
    of_train = of_train.reshape(-1, 3, 32, 32)
    y = pipeline.train_batch(images[0], np.random.default_rng(0))
    # adding the mirror image undoes the mirroring
    np.testing.assert_allclose(y + y[..., ::-1], of_train + of_train[..., ::-1], atol=4e-4)


def test_standardised_maps(images):
    maps = images[0].reshape(-1, 3, 1024)
    mean = np.mean(maps, axis=(0, 2)).reshape(3, 1, 1)
    deviation = np.std(maps, axis=(0, 2)).reshape(3, 1, 1)
    pipeline = Pipeline("standardised", 4).fit(images[0])
    expected = (images[1].reshape(-1, 3, 32, 32) - mean) / deviation
    np.testing.assert_allclose(pipeline.test(images[1]), expected, atol=1e-5)


@pytest.mark.parametrize(("kind", "pad"), [("contrast", 8), ("contrast", 4), ("standardised", 4)])
def test_crops_of_the_padded_image_less_the_padded_mean(images, kind, pad):
    """Each result is a crop, mirrored or not, of the image as the authors make it: it is padded, and the padded mean
    image is subtracted.  All crops occur."""
    if kind == "contrast":
        padded = padded_by(pad, contrast_normalised(images[0]))
        padded -= padded.mean(axis=0)
    else:
        padded = padded_by(pad, Pipeline(kind, 0).fit(images[0]).test(images[0]))
    pipeline = Pipeline(kind, pad).fit(images[0])
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(20):
        y = pipeline.train_batch(images[0], rng)
        drawn = set()
        assert (y.shape, y.dtype, y.flags.c_contiguous) == ((90, 3, 32, 32), np.float32, True)
        for got, image in zip(y[:10], padded[:10], strict=True):
            windows = np.lib.stride_tricks.sliding_window_view(image, (32, 32), (1, 2))  # (3, down, right, 32, 32)
            for mirrored in (False, True):
                expected = got[..., ::-1] if mirrored else got
                close = abs(windows - expected[:, None, None]).max(axis=(0, 3, 4)) < 1e-4
                drawn |= {(int(d), int(r), mirrored) for d, r in np.argwhere(close)}
        assert len(drawn) > 5
        seen |= drawn
    downs, rights, mirrors = map(set, zip(*seen, strict=True))
    assert downs == rights == set(range(2 * pad + 1))
    assert mirrors == {False, True}


def test_the_same_state_gives_the_same_bytes(images):
    """The state is that of the random generator.  A test image gives the same bytes in any batch."""
    pipeline = Pipeline("contrast", 8).fit(images[0])
    rng = np.random.default_rng(7)
    pipeline.train_batch(images[0], rng)
    state = rng.bit_generator.state
    y = pipeline.train_batch(images[0][:50], rng)
    again = np.random.default_rng(0)
    again.bit_generator.state = state
    assert Pipeline("contrast", 8).fit(images[0]).train_batch(images[0][:50], again).tobytes() == y.tobytes()
    assert rng.bit_generator.state == again.bit_generator.state
    alone = np.concatenate([pipeline.test(image[None]) for image in images[1]])
    assert pipeline.test(images[1]).tobytes() == alone.tobytes()


def test_the_images_are_left_alone(images):
    before = [x.copy() for x in images]
    pipeline = Pipeline("contrast", 4).fit(images[0])
    pipeline.train_batch(images[0], np.random.default_rng(0))[:] = 0
    pipeline.test(images[1])[:] = 0
    np.testing.assert_array_equal(images[0], before[0])
    np.testing.assert_array_equal(images[1], before[1])
    assert pipeline.test(images[1]).any()


@pytest.mark.parametrize("kind", ["contrast", "standardised", pytest.param("whitened", marks=pytest.mark.thorough)])
def test_images_without_contrast_become_zeros(kind):
    grey = np.full((4, 3072), 200, np.uint8)
    assert not Pipeline(kind, 2).fit(grey).test(grey).any()


@pytest.mark.parametrize("kind", Pipeline.KINDS)
def test_a_pipeline_must_be_fitted_first(images, kind):
    pipeline = Pipeline(kind, 2)
    uses = (pipeline.test, pipeline.before_mean_image, lambda x: pipeline.train_batch(x, np.random.default_rng(0)))
    for use in uses:
        with pytest.raises(RuntimeError):
            use(images[0])


@pytest.mark.parametrize("kind", ["contrast", "standardised"])  # whitening comes after these checks, and takes seconds
def test_images_that_are_not_bytes_or_have_another_shape_are_refused(kind):
    right = np.random.default_rng(0).integers(0, 256, (4, 3072), np.uint8)
    fitted = Pipeline(kind, 4).fit(right)
    uses = (
        Pipeline(kind, 4).fit,
        lambda x: fitted.train_batch(x, np.random.default_rng(0)),
        fitted.test,
    )
    for use in uses:
        with pytest.raises(ValueError):
            use(right / 255)
        for shape in ((12, 1024), (12288,), (4, 3, 32, 32)):
            with pytest.raises(ValueError):
                use(right.reshape(shape))
