"""CIFAR's files: which damage is refused, the cache and the download; and the input pipeline."""

import gzip
import hashlib
import io
import tarfile
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from conftest import corrupted, interrupted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_up_cifar import made_up, write

from highways import cifar
from highways.cifar import PIXELS, load_cifar
from highways.conv.pipeline import FILTER_BIAS, Pipeline, whitening_of
from highways.files import InputError

OFFICIAL = dict(cifar.SETS)
TEN, HUNDRED = OFFICIAL


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


def in_order(layout, records: dict):
    """The images of the training records, their labels, then those of the test records."""
    n_labels = len(layout.labels)
    for files in (layout.train, layout.test):
        part = np.concatenate([records[file] for file in files])
        yield part[:, n_labels:].tobytes()
        yield part[:, n_labels - 1].tobytes()


@pytest.fixture(scope="module")
def sets():
    """Small sets of the official layouts: {name: (layout, the files' records, the archive)}."""
    small = {
        TEN: OFFICIAL[TEN]._replace(n_train=50, n_test=10),
        HUNDRED: OFFICIAL[HUNDRED]._replace(n_train=40, n_test=20, labels=[5, 10]),
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
        as_read = hashlib.sha256(b"".join(in_order(layout, records))).hexdigest()
        layout = layout._replace(md5=md5(archive), sha256=sha256, sha256_as_read=as_read)
        small[name] = layout, records, archive
    return small


@pytest.fixture(autouse=True)
def small_sets(sets, tmp_path, monkeypatch):
    """Puts the small sets in place of the real ones, and empties the cache."""
    monkeypatch.setattr(cifar, "SETS", {name: layout for name, (layout, _, _) in sets.items()})
    monkeypatch.setattr(cifar, "CACHE", tmp_path / "cache")


@pytest.fixture
def ten(sets, tmp_path):
    """A folder of a small CIFAR-10 in its binary version."""
    return write(tmp_path / "data" / "cifar-10-batches-bin", sets[TEN][1])


# ---- what is read


@pytest.mark.parametrize("form", ["parent", "renamed", "archive's folder"])
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


def test_a_set_in_another_order_is_named(sets, ten):
    """Its sha256 is the same in any order, the SHA-256 "as read" is not: other numbers come of it."""
    layout, records, _ = sets[TEN]
    first = load_cifar(TEN, ten)
    again = load_cifar(TEN, ten)
    train = np.random.default_rng(0).permutation(np.concatenate([records[file] for file in layout.train]))
    other = load_cifar(TEN, write(ten, dict(zip(layout.train, np.split(train, 5), strict=True))))
    assert (first.name, other.name, other.sha256) == (TEN, "CIFAR-10, reordered", first.sha256)
    assert cifar.sha256_as_read(first) == cifar.sha256_as_read(again) != cifar.sha256_as_read(other)
    arrays = b"".join(array.astype(np.uint8).tobytes() for array in first[:4])
    assert cifar.sha256_as_read(first) == hashlib.sha256(arrays).hexdigest()


def edited(folder: Path, file: str, byte: int, value: int) -> Path:
    path = folder / file
    content = bytearray(path.read_bytes())
    content[byte] = value
    path.write_bytes(content)
    return folder


def test_other_records_are_named(sets, ten):
    grey = (ten / "data_batch_3.bin").read_bytes()[1000]
    data = load_cifar(TEN, edited(ten, "data_batch_3.bin", 1000, grey ^ 1))
    assert data.name == "CIFAR-10, altered"
    assert data.sha256 != sets[TEN][0].sha256


def test_a_file_that_was_cut_is_refused(ten):
    (ten / "data_batch_1.bin").write_bytes(bytes(30729))
    with pytest.raises(InputError):
        load_cifar(TEN, ten)


@pytest.mark.parametrize("file", ["data_batch_2.bin", "test_batch.bin"])
def test_a_label_of_no_class_is_refused(ten, file):
    with pytest.raises(InputError):
        load_cifar(TEN, edited(ten, file, 0, 10))


# ---- foreign files


def test_archives_that_are_not_the_official_one_are_refused(sets, tmp_path):
    archive = sets[TEN][2]
    path = tmp_path / "cifar-10-binary.tar.gz"
    flipped = archive[:500] + bytes([archive[500] ^ 1]) + archive[501:]
    for data in (b"", archive[:-1], flipped, sets[HUNDRED][2]):
        path.write_bytes(data)
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


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=600), st.integers(0, 4000), st.booleans())
def test_garbage_is_refused_or_does_no_harm(sets, tmp_path, monkeypatch, garbage, where, compressed):
    """Garbage in place of an archive or of a part of it; if `compressed`, garbage that was compressed."""
    whole = gzip.decompress(sets[TEN][2]) if compressed else sets[TEN][2]
    for data in (garbage, whole[:where] + garbage + whole[where + len(garbage) :]):
        archive = gzip.compress(data, 1) if compressed else data
        try:
            data_set = load_as_official(monkeypatch, tmp_path / "a", archive)
        except InputError:
            continue
        assert data_set.name.startswith(TEN)


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


@pytest.mark.parametrize("answer", [corrupted, interrupted])
def test_a_bad_download_is_refused_and_made_again(sets, mirror, answer):
    files, _ = mirror
    archive = sets[TEN][0].archive
    good = files[archive]
    files[archive] = answer(files[archive])
    with pytest.raises(InputError):
        load_cifar(TEN)
    assert [*cifar.CACHE.iterdir()] == []
    files[archive] = good
    assert load_cifar(TEN).name == TEN


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


@pytest.mark.parametrize(("kind", "pad"), [("contrast", 4), ("standardised", 4)])
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


@pytest.mark.parametrize("kind", ["contrast", "standardised"])
def test_images_without_contrast_become_zeros(kind):
    grey = np.full((4, 3072), 200, np.uint8)
    assert not Pipeline(kind, 2).fit(grey).test(grey).any()


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


def test_whitening_divides_by_the_deviation_not_by_a_pixel_s_size():
    """The pixels are far from 0, and come in two parts."""
    x = np.random.default_rng(0).normal(100, [1, 2, 3], (500, 3))
    mean, whitening = whitening_of([x[:200], x[200:]])
    np.testing.assert_allclose(mean, x.mean(axis=0), rtol=1e-6)
    variances, directions = np.linalg.eigh(np.cov(x, rowvar=False, bias=True))
    expected = (directions / np.sqrt(variances + FILTER_BIAS)) @ directions.T
    np.testing.assert_allclose(whitening, expected, rtol=1e-4, atol=1e-5)
