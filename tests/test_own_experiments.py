"""Own arrays in Python and by the command; images of one's own digits."""

import contextlib
from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest
from conftest import SMALL, in_process, one_line_error
from PIL import Image

import highway_networks as hn
from highways import like_mnist, load, read_grey
from highways.trained.classify import main as classify_main

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (40, 6, 6)).astype(np.uint8)
PIXELS[0, 0, 0] = 255
LABELS = np.arange(40) % 3


def data_of(x=PIXELS, y=LABELS, **more):
    parts = {"x_train": x[:30], "y_train": y[:30], "x_test": x[30:], "y_test": y[30:]}
    return hn.Dataset.of(**parts | more)


def test_bytes_are_pixels():
    data = data_of()
    np.testing.assert_array_equal(data.x_train.reshape(-1, 6, 6), PIXELS[:30])
    assert (data.y_train.dtype, data.n_classes, data.shape, data.name) == (np.intp, 3, (6, 6), "own data")
    with pytest.raises(ValueError):
        data_of(PIXELS.astype(int))


def test_floats_are_inputs_as_they_are_and_a_checksum_names_the_arrays():
    x = PIXELS / 255
    data = data_of(x)
    np.testing.assert_array_equal(data.x_train, x[:30].reshape(30, -1))
    assert data.sha256 == data_of(x.copy()).sha256 != data_of(x.astype(np.float32)).sha256
    settings = hn.Settings(hidden=5, depth=2, epochs=1, batch_size=10)
    as_pixels = hn.run_one("highway", settings, data_of())
    as_floats = hn.run_one("highway", settings, data_of(PIXELS / 127.5 - 1))
    assert as_pixels["final_train_loss"] == pytest.approx(as_floats["final_train_loss"], rel=1e-5)


AGES = np.random.default_rng(1).integers(18, 90, (40, 6)) * 1.0
COUNTS = np.random.default_rng(2).poisson(0.3, (40, 6)) * 1.0
COUNTS[0, 0] = 1000


@pytest.mark.parametrize("x", [AGES, COUNTS, PIXELS // 16 * 1.0, np.concatenate((COUNTS[:30], COUNTS[30:] * 0))])
def test_whole_floats_are_inputs_as_they_are_and_train(x):
    with pytest.warns(UserWarning, match="own data") if x[:30].max() > 20 else contextlib.nullcontext():
        data = data_of(x)
    np.testing.assert_array_equal(data.x_train, x[:30].reshape(30, -1))
    np.testing.assert_array_equal(data.x_test, x[30:].reshape(10, -1))
    assert np.isfinite(train_small(data=data)["final_train_loss"])


def test_labels_may_have_gaps_and_begin_with_1():
    with pytest.warns(UserWarning, match="own data"):
        assert data_of(y=LABELS * 2 + 1).n_classes == 6


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


# ---- the command


def main(*words):
    return in_process(hn.main, *map(str, words))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ((), "run.json"),
        (("--seed", "3", "--depth", "30", "--gate-bias", "-2", "--jobs", "1"), "run.json"),
        (("--depths", "1,2"), "run_sweep.json"),
        (("--seeds", "1,2"), "run_seeds.json"),
        (("--depths", "1,2", "--seeds", "1,2"), "run_own.json"),
        (("--depth", "10"), "run_own.json"),
        (("--n-test", "1000"), "run_own.json"),
        (("--depth", "10", "--quick"), "run_quick.json"),
    ],
)
def test_what_is_not_the_headline_s_has_a_record_of_its_own(mnist, words, name):
    args = hn.parse_arguments(words)
    settings = hn.Settings(**{setting: getattr(args, setting) for setting in vars(hn.DEFAULTS)})
    assert hn.path_of_record(args, settings, mnist) == Path(name)


def test_save_replaces_nothing_but_a_net(tmp_path, data_set):
    path = tmp_path / "net.npz"
    words = (*SMALL, "--data-dir", data_set, "--no-save", "--jobs", 1, "--save", path)
    np.savez(path, mine=np.ones(3))
    before = path.read_bytes()
    one_line_error(main(*words))
    assert path.read_bytes() == before
    path.unlink()
    for _ in range(2):
        process = main(*words)
        assert process.returncode == 0, process.stderr
    assert hn.DeepNet.load(path).block.name == "highway"


def classify(*words):
    return in_process(classify_main, *words)


# ---- images like MNIST's


def test_an_image_of_mnist_stays_what_it_is(mnist):
    images = mnist.x_test[:200].reshape(-1, 28, 28)
    made = np.array([like_mnist(image / 255)[0] for image in images])
    pairs = zip(images, made, strict=True)
    alike = [np.corrcoef(image.ravel(), same.ravel())[0, 1] for image, same in pairs]
    assert np.mean(alike) > 0.95


@pytest.mark.parametrize("dark_on_light", [True, False])
def test_size_place_and_ink_do_not_matter(mnist, dark_on_light):
    digit = np.kron(mnist.x_test[0].reshape(28, 28) / 255, np.ones((4, 4)))
    large = np.pad(0.6 * digit, ((5, 60), (90, 0)))
    grey = 0.9 - large if dark_on_light else 0.1 + large
    image, said = like_mnist(grey)
    there = mnist.x_test[0].reshape(28, 28)
    assert np.abs(image.astype(float) - there)[there > 60].mean() < 30
    assert ("inverted" in said) is dark_on_light


def in_shadow(digit: np.ndarray, rng) -> np.ndarray:
    """As a photograph: ink on paper in a light that fades to a third across it, and the camera's noise."""
    rows, columns = np.mgrid[: digit.shape[0], : digit.shape[1]]
    turn = rng.uniform(0, 2 * np.pi)
    across = np.cos(turn) * columns + np.sin(turn) * rows
    light = 1 - 0.65 * (across - across.min()) / np.ptp(across)
    photograph = light * (0.88 - 0.76 * digit) + rng.normal(0, 0.02, digit.shape)
    return np.rint(255 * photograph.clip(0, 1)).astype(np.uint8)


def at_the_edge_of_a_shadow(digit, rng):
    """Half of the paper lies in a hand's shadow."""
    rows, columns = np.mgrid[: digit.shape[0], : digit.shape[1]]
    turn = rng.uniform(0, 2 * np.pi)
    across = np.cos(turn) * (columns - 150) + np.sin(turn) * (rows - 200)
    light = 1 - 0.5 / (1 + np.exp(across / 15))
    return np.rint(255 * light * (0.88 - 0.76 * digit)).astype(np.uint8)


def with_specks(digit, rng):
    digit = digit.copy()
    for _ in range(12):
        row, column = rng.integers(0, np.array(digit.shape) - 7)
        digit[row : row + 7, column : column + 7] = 1
    return np.rint(255 * (0.9 - 0.8 * digit)).astype(np.uint8)


def in_white_on_nothing(digit, rng):
    opaque = np.rint(255 * digit).astype(np.uint8)
    return np.dstack((*[np.full_like(opaque, 255)] * 3, opaque))


def in_black_on_nothing(digit, rng):
    opaque = np.rint(255 * digit).astype(np.uint8)
    return np.dstack((*[np.zeros_like(opaque)] * 3, opaque))


@pytest.mark.parametrize(
    "drawn", [in_shadow, at_the_edge_of_a_shadow, with_specks, in_white_on_nothing, in_black_on_nothing]
)
def test_a_trained_net_reads_digits_as_people_bring_them(tmp_path, mnist, drawn):
    """Of eight digits that it reads as MNIST has them it reads all."""
    net = load("record-mnist")
    labels = mnist.y_test[:8]
    assert (net.classify(mnist.x_test[:8]) == labels).all()
    rng = np.random.default_rng(0)
    images = []
    for image in mnist.x_test[:8].reshape(-1, 28, 28):
        digit = np.zeros((400, 300))
        row, column = rng.integers(0, (160, 60))
        large = Image.fromarray(image).resize((240, 240), Image.Resampling.BICUBIC)
        digit[row : row + 240, column : column + 240] = np.asarray(large) / 255
        imageio.imwrite(tmp_path / "digit.png", drawn(digit, rng))
        images.append(like_mnist(read_grey(tmp_path / "digit.png"))[0])
    assert (net.classify(np.array(images)) == labels).all()


UPRIGHT = np.repeat(np.repeat(np.array([[0, 255], [255, 255], [255, 255]], np.uint8), 16, axis=0), 16, axis=1)


def write_turned(path):
    """As a phone writes it that was held upright: the pixels lie, and EXIF says how to turn them."""
    lying = Image.fromarray(np.rot90(UPRIGHT))
    exif = Image.Exif()
    exif[0x0112] = 6
    lying.save(path, "JPEG", exif=exif, quality=95)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("turned.jpg", write_turned),
        ("inks.jpg", lambda path: Image.fromarray(UPRIGHT).convert("CMYK").save(path, "JPEG", quality=95)),
    ],
)
def test_an_image_is_read_as_it_looks(tmp_path, name, write):
    write(tmp_path / name)
    np.testing.assert_allclose(read_grey(tmp_path / name), UPRIGHT / 255, atol=0.1)


# ---- saved nets


def train_small(block="highway", **chosen):
    return hn.run_one(block, **{"data": data_of(), "hidden": 5, "depth": 1, "epochs": 1, "batch_size": 10, **chosen})


def test_a_learning_curve_of_own_data_draws_as_many_as_it_names():
    drawn = hn.subset(data_of(), 1, 20, 10)
    named = train_small(data=data_of(), seed=1, n_train=20, n_test=10)
    assert named["history"] == train_small(data=drawn, seed=1)["history"]
    assert named["history"] != train_small(data=data_of(), seed=1)["history"]
    with pytest.raises(ValueError):
        train_small(data=data_of(), n_train=20)


@pytest.mark.parametrize("name", ["highway-30", "record-mnist"])
def test_the_repository_s_nets_read_an_image(tmp_path, mnist, name):
    image = tmp_path / "image.png"
    imageio.imwrite(image, 255 - np.kron(mnist.x_test[0].reshape(28, 28), np.ones((5, 5), np.uint8)))
    process = classify(hn.ROOT / "highways" / "trained" / f"{name}.safetensors", image)
    assert process.returncode == 0, process.stderr
    logits = load(name).predict(like_mnist(read_grey(image))[0][None])[0].astype(float)
    probabilities = np.exp(logits) / np.exp(logits).sum()
    printed = [line.split()[:2] for line in process.stdout.splitlines()[-10:]]
    expected = [[label, pytest.approx(probability, abs=1e-3)] for label, probability in enumerate(probabilities)]
    assert [[int(label), float(probability)] for label, probability in printed] == expected


@pytest.mark.parametrize("name", ["missing/net.npz", "mydata.npz"])
def test_a_name_for_a_net_is_refused_before_the_training(tmp_path, name):
    np.savez(tmp_path / "mydata.npz", x=PIXELS)
    before = (tmp_path / "mydata.npz").read_bytes()

    def started(row):
        raise AssertionError("the training has begun")

    with pytest.raises(ValueError):
        train_small(save=tmp_path / name, report=started)
    assert (tmp_path / "mydata.npz").read_bytes() == before
