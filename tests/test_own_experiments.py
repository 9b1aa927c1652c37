"""Own arrays, losses and optimisers in Python and by the command; images of one's own digits."""

import importlib
import json
import re

import imageio.v3 as imageio
import numpy as np
import pytest
from conftest import ROOT, SMALL, in_process, one_line_error
from PIL import Image

import highway_networks as hn
from highways import like_mnist, load, read_grey
from highways.nets.optimizers import SGD

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (40, 6, 6))
PIXELS[0, 0, 0] = 255
LABELS = np.arange(40) % 3


def data_of(x=PIXELS, y=LABELS, **more):
    parts = {"x_train": x[:30], "y_train": y[:30], "x_test": x[30:], "y_test": y[30:]}
    return hn.Dataset.of(**parts | more)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "uint64"])
def test_whole_numbers_from_0_to_255_are_pixels_of_any_dtype(dtype):
    data = data_of(PIXELS.astype(dtype), LABELS.astype(dtype))
    assert data.x_train.dtype == np.uint8
    np.testing.assert_array_equal(data.x_train.reshape(-1, 6, 6), PIXELS[:30])
    assert (data.y_train.dtype, data.n_classes, data.shape, data.name) == (np.intp, 3, (6, 6), "own data")


def test_floats_are_inputs_as_they_are_and_a_checksum_names_the_arrays():
    x = PIXELS / 255
    data = data_of(x)
    np.testing.assert_array_equal(data.x_train, x[:30].reshape(30, -1))
    assert data.sha256 == data_of(x.copy()).sha256 != data_of(x.astype(np.float32)).sha256
    settings = hn.Settings(hidden=5, depth=2, epochs=1, batch_size=10)
    as_pixels = hn.run_one("highway", settings, data_of())
    as_floats = hn.run_one("highway", settings, data_of(PIXELS / 127.5 - 1))
    assert as_pixels["final_train_loss"] == pytest.approx(as_floats["final_train_loss"], rel=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": PIXELS + 1}, "holds whole numbers from 1 to 256, and pixels lie between 0 and 255"),
        ({"x": PIXELS // 16}, "the largest pixel of x_train is 15, and white would be 255: give floats, x / 15, or x"),
        ({"x_test": PIXELS[30:] // 16}, "the largest pixel of x_test is 15, and white would be 255"),
        ({"x": PIXELS // 16 * 1.0}, "whole numbers up to 15, as floats: to scale pixels, divide all x by 15"),
        (
            {"x_train": PIXELS[:30] / 255, "x_test": PIXELS[30:] * 1.0},
            "x_test holds whole numbers up to 25., as floats",
        ),
        (
            {"x_train": PIXELS[:30] / 255, "x_test": PIXELS[30:] * 0.99},
            "must have the same scale; the largest number is 1",
        ),
        (
            {"x_train": PIXELS[:30] * -0.99, "x_test": PIXELS[30:] / 255},
            "must have the same scale; the largest number is 25",
        ),
        ({"x": PIXELS > 9}, r"truth values: x.astype\(np.float32\) makes them 0 and 1"),
        ({"x": np.where(PIXELS > 254, np.nan, PIXELS)}, "x_train must be finite"),
        ({"x": PIXELS[:, :0]}, "x_train must hold an example at each first index"),
        ({"y": LABELS + 1}, "labels count from 0, without gaps; those of y_train are 3 from 1 to 3"),
        ({"y": LABELS * 50}, "labels count from 0, without gaps; those of y_train are 3 from 0 to 100"),
        ({"y": LABELS % 2 * 2}, "labels count from 0, without gaps; those of y_train are 2 from 0 to 2"),
        ({"y": LABELS - 1}, "those of y_train are 3 from -1 to 1"),
        ({"y": LABELS * 0}, "every label in y_train is 0"),
        ({"y": LABELS[:, None]}, r"y.ravel\(\) makes a vector of a column"),
        ({"y_test": LABELS[30:] + 1}, "y_test holds the label 3, which no training example has"),
        ({"y_test": LABELS[30:] / 9}, "y_train and y_test must both hold floats, or both whole numbers"),
        ({"x_test": PIXELS[30:, 1:]}, r"examples of x_train and x_test differ: \(6, 6\) and \(5, 6\)"),
        ({"x_test": PIXELS[31:]}, "x_test has 9 examples, y_test has 10"),
    ],
)
def test_a_slip_in_the_arrays_is_one_line(change, message):
    with pytest.raises(ValueError, match=message) as refused:
        data_of(**change)
    assert len(str(refused.value).splitlines()) == 1


def test_counts_are_inputs_and_an_empty_test_image_is_none_of_another_scale():
    counts = PIXELS // 86 * 1.0
    np.testing.assert_array_equal(data_of(counts).x_train, counts[:30].reshape(30, -1))
    assert counts.max() == 2
    assert data_of(counts, x_test=counts[30:] * 0).x_test.max() == 0


def test_test_examples_that_are_training_examples_are_said(capsys):
    data_of()
    assert capsys.readouterr().err == ""
    for x, y in ((PIXELS, LABELS), (PIXELS / 255, LABELS / 2)):
        data_of(x, y, x_test=np.concatenate((x[:3], x[33:])))
        expected = (
            "own data: 3 of 10 test images are training images, too: the test accuracy says less about new images\n"
        )
        assert capsys.readouterr().err == expected


def test_large_floats_are_said(capsys):
    data_of(PIXELS / 255 * 40)
    training, test = capsys.readouterr().err.splitlines()
    assert re.match(r"own data: the training inputs have a root mean square of \d+\.?\d*, not about 1: ", training)
    assert test.startswith("own data: the test inputs have a root mean square of ")


def test_a_data_set_prints_what_it_holds_in_a_line():
    line = repr(data_of())
    assert line.startswith("<Dataset own data: x_train (30, 36) uint8, y_train (30,) int64, x_test (10, 36) uint8, ")


def test_text_is_refused_as_such():
    with pytest.raises(TypeError, match="x_train must hold real numbers, not <U"):
        data_of(PIXELS.astype(str))
    for words in (LABELS.astype(str), LABELS.astype(str).astype(object)):
        with pytest.raises(TypeError, match=r"y_train holds words: names, y = np.unique\(words, return_inverse=True\)"):
            data_of(y=words)


def squared_error(outputs, y):
    error = outputs - y
    return (error**2).mean(), 2 * error / error.size


def test_a_regression_learns_and_measures_the_loss_of_the_test_examples():
    x = RNG.normal(size=(600, 4))
    y = np.sin(x[:, 0])
    data = hn.Dataset.of(x[:500], y[:500], x[500:], y[500:])
    assert (data.y_train.shape, data.n_classes) == ((500, 1), 1)
    run = hn.run_one("highway", data=data, loss=squared_error, depth=2, hidden=20, epochs=20, batch_size=50)
    assert run["history"].keys() == {"epoch", "train_loss", "test_loss", "grad_norm"}
    assert run["final_test_loss"] == run["history"]["test_loss"][-1] < 0.1 * y.var()
    assert run["loss"] == "squared_error"
    with pytest.raises(ValueError, match=r"y holds floats: give loss=\.\.\. for a regression"):
        hn.run_one("highway", data=data, depth=2)


def test_the_defaults_are_the_headline_s_and_are_not_recorded(data_set):
    data = hn.load_mnist(data_set)
    settings = hn.Settings(hidden=5, depth=2, epochs=2, batch_size=50)
    plain = hn.run_one("highway", settings, data)
    same = hn.run_one(
        data=data, hidden=5, depth=2, epochs=2, batch_size=50, activation="tanh", init="uniform", optimizer=hn.Adam
    )
    assert {**plain, "wallclock_sec": 0} == {**same, "wallclock_sec": 0}
    assert not {"activation", "init", "optimizer", "loss", "clip"} & plain.keys()
    other = hn.run_one("highway", settings, data, activation="relu", init="he", optimizer=SGD)
    assert (other["activation"], other["init"], other["optimizer"]) == ("relu", "he", "sgd")
    assert other["final_train_loss"] != plain["final_train_loss"]


def test_a_run_that_is_shown_is_reported_too(data_set, capsys):
    rows = []
    data = hn.load_mnist(data_set)
    hn.run_one("plain", data=data, verbose=True, report=rows.append, depth=2, hidden=5, epochs=2, batch_size=50)
    assert [row["epoch"] for row in rows] == [1, 2]
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_command_imports_every_kind_of_the_package():
    modules = set()
    for path in (ROOT / "highways" / "nets").glob("*.py"):
        module = importlib.import_module(f"highways.nets.{path.stem}")
        kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
        for kind in kinds:
            if kind in (*hn.BLOCKS.values(), *hn.ACTIVATIONS.values()):
                modules.add(kind.__module__)
    assert "highways.nets.carries" in modules
    assert modules - {"highway_networks"} <= set(hn.package().MORE_KINDS)


def test_a_word_that_is_no_setting_is_named():
    with pytest.raises(TypeError, match="'width' is not a setting; the settings are seed, hidden, depth"):
        hn.run_one("highway", width=3)


def test_a_saved_net_classifies_as_the_trained_one(data_set, tmp_path):
    data = hn.load_mnist(data_set)
    path = tmp_path / "net.npz"
    run = hn.run_one("highway", hn.Settings(hidden=5, depth=2, epochs=2, batch_size=50), data, save=path)
    net = hn.DeepNet.load(path)
    assert net.about == {"pixels": "[-1, 1]", "data_set": data.name, "shape": [6, 6]}
    images = data.x_test.reshape(-1, 6, 6)
    assert (net.classify(images) == data.y_test).mean() == run["final_test_acc"]
    np.testing.assert_array_equal(net.classify(hn.pixels_for(net, data.x_test)), net.classify(images))
    with pytest.raises(ValueError, match=r"also where N is 1: x\[None\]"):
        net.classify(data.x_test[0])
    with pytest.raises(ValueError, match="pixels must be bytes, not int64"):
        net.classify(data.x_test.astype(np.int64))


def test_a_net_that_diverged_is_not_saved(data_set, tmp_path):
    path = tmp_path / "net.npz"
    run = hn.run_one("plain", data=hn.load_mnist(data_set), depth=2, hidden=5, epochs=1, lr=1e38, save=path)
    assert run["diverged"]
    assert not path.exists()


# ---- the command


def main(*words):
    return in_process(hn.main, *map(str, words))


LEAKY = """
from highway_networks import Adam, Highway

class Gate(Highway):
    name = "gate, of a test"

class Mine(Adam):
    pass
"""


def test_the_command_trains_what_its_flags_name(tmp_path, data_set):
    (tmp_path / "gate_of_a_test.py").write_text(LEAKY)
    out = tmp_path / "own.json"
    words = [*SMALL, "--data-dir", data_set, "--import", tmp_path / "gate_of_a_test.py", "--out", out, "--jobs", 2]
    words += ["--block", "gate, of a test", "--against", "residual", "--activation", "relu", "--init", "he"]
    words += ["--optimizer", "mine", "--clip", 1, "--gate-biases", "-4,-2"]
    try:
        process = main(*words)
        assert process.returncode == 0, process.stderr
        first = json.loads(out.read_text())
        assert main(*words).returncode == 0, "its own record is replaced"
    finally:
        hn.BLOCKS.pop("gate, of a test", None)
    assert (first["blocks"], first["activation"], first["init"]) == (["gate, of a test", "residual"], "relu", "he")
    assert (first["optimizer"], first["clip"]) == ("mine", 1.0)
    assert (first["gate_bias"], first["gate_biases"]) == (None, [-4.0, -2.0])
    low, high = first["runs"]
    assert (low["gate_bias"], high["gate_bias"]) == (-4.0, -2.0)
    assert low["gate, of a test"]["final_train_loss"] != high["gate, of a test"]["final_train_loss"]
    assert low["residual"] == high["residual"], "a net without gates is trained once"
    assert "3 of 3 nets are trained" in process.stdout
    for bias in (-4, -2):
        label = f"gate, of a test, depth 3, seed 0, gate bias {bias}"
        assert f"\n{label}  test accuracy " in process.stdout
        assert label in [pair["gate, of a test"]["label"] for pair in first["runs"]]
    assert low["residual"]["label"] == "residual, depth 3, seed 0"
    assert "gate, of a test test acc" in process.stdout


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ((), "run.json"),
        (("--seed", "3", "--depth", "30", "--gate-bias", "-2", "--jobs", "1"), "run.json"),
        (("--depths", "1,2"), "run_sweep.json"),
        (("--depths", "1,2", "--seed", "3"), "run_sweep.json"),
        (("--seeds", "1,2"), "run_seeds.json"),
        (("--depths", "1,2", "--seeds", "1,2"), "run_own.json"),
        (("--block", "residual"), "run_own.json"),
        (("--init", "he", "--seeds", "0,1"), "run_own.json"),
        (("--gate-biases", "-2"), "run_own.json"),
        (("--depths", "1,2", "--epochs", "2"), "run_own.json"),
        (("--depth", "10"), "run_own.json"),
        (("--hidden", "10"), "run_own.json"),
        (("--batch", "10"), "run_own.json"),
        (("--lr", "1e-3"), "run_own.json"),
        (("--gate-bias", "-1"), "run_own.json"),
        (("--clip", "1"), "run_own.json"),
        (("--n-train", "1000"), "run_own.json"),
        (("--n-test", "1000"), "run_own.json"),
        (("--dtype", "float64"), "run_own.json"),
        (("--depth", "10", "--quick"), "run_quick.json"),
    ],
)
def test_what_is_not_the_headline_s_has_a_record_of_its_own(mnist, words, name):
    _, args = hn.parse_arguments(list(words))
    assert hn.path_of_record(args, hn.chosen_by(args), mnist) == hn.ROOT / name


def test_another_data_set_has_a_record_of_its_own(mnist, data_set):
    _, args = hn.parse_arguments(["--seeds", "0,1"])
    assert hn.path_of_record(args, hn.HEADLINE, mnist) == hn.ROOT / "run_seeds.json"
    assert hn.path_of_record(args, hn.HEADLINE, hn.load_mnist(data_set)) == hn.ROOT / "run_own.json"


def test_an_installed_program_writes_into_the_working_folder(monkeypatch, tmp_path, mnist):
    monkeypatch.setattr(hn, "ROOT", tmp_path / "lib" / "site-packages")
    monkeypatch.chdir(tmp_path)
    _, args = hn.parse_arguments([])
    assert hn.path_of_record(args, hn.chosen_by(args), mnist) == tmp_path / "run.json"


def test_save_replaces_nothing_but_a_net(tmp_path, data_set):
    path = tmp_path / "net.npz"
    words = (*SMALL, "--data-dir", data_set, "--no-save", "--jobs", 1, "--save", path)
    np.savez(path, mine=np.ones(3))
    before = path.read_bytes()
    assert "is no net of this program, and is not replaced" in one_line_error(main(*words))
    assert path.read_bytes() == before
    path.unlink()
    for _ in range(2):
        process = main(*words)
        assert process.returncode == 0, process.stderr
        assert f"the highway net is in {path}; --classify" in process.stdout
    image = tmp_path / "image.png"
    imageio.imwrite(image, hn.load_mnist(data_set).x_test[0].reshape(6, 6))
    process = main("--classify", path, image)
    assert process.returncode == 0, process.stderr
    assert f"{image}: taken as it is, 0 is black" in process.stdout
    imageio.imwrite(image, np.zeros((7, 6), np.uint8))
    assert "its pixels are (7, 6); the net takes 6 x 6, for it has learned other data" in one_line_error(
        main("--classify", path, image)
    )
    image.write_text("no image")
    assert "cannot be read as an image" in one_line_error(main("--classify", path, image))


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
    assert said.endswith("is scaled to 20 x 16 and centred in 28 x 28 by its mass")


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
    """Of 40 digits that it reads as MNIST has them it reads 95 % so."""
    net = load("record-mnist")
    labels = mnist.y_test[:40]
    assert (net.classify(mnist.x_test[:40]) == labels).all()
    rng = np.random.default_rng(0)
    images = []
    for image in mnist.x_test[:40].reshape(-1, 28, 28):
        digit = np.zeros((400, 300))
        row, column = rng.integers(0, (160, 60))
        large = Image.fromarray(image).resize((240, 240), Image.Resampling.BICUBIC)
        digit[row : row + 240, column : column + 240] = np.asarray(large) / 255
        imageio.imwrite(tmp_path / "digit.png", drawn(digit, rng))
        images.append(like_mnist(read_grey(tmp_path / "digit.png"))[0])
    assert (net.classify(np.array(images)) == labels).mean() >= 0.95


def test_a_shadow_does_not_matter_to_the_numbers(mnist):
    digit = np.pad(np.kron(mnist.x_test[0].reshape(28, 28) / 255, np.ones((8, 8))), 20)
    light = np.linspace(0.4, 1, digit.shape[1])
    lit, _ = like_mnist(0.9 - 0.8 * digit)
    shaded, _ = like_mnist(light * (0.9 - 0.8 * digit))
    assert np.abs(lit.astype(float) - shaded).max() <= 8


def test_other_numbers_for_black_and_white_make_no_difference(mnist):
    digit = np.kron(mnist.x_test[0].reshape(28, 28) / 255, np.ones((8, 8)))
    made, _ = like_mnist(1 - digit)
    np.testing.assert_allclose(like_mnist(255 - 255 * digit)[0], made, atol=1)
    np.testing.assert_allclose(like_mnist(-digit)[0], made, atol=1)


def test_a_thin_line_at_the_edge_is_placed_whole():
    grey = np.zeros((300, 200))
    grey[:, 199] = 1
    image, _ = like_mnist(grey)
    assert (image > 0).sum() == 20
    assert image[:, 14].max() == 255


def test_a_blank_image_is_refused():
    with pytest.raises(ValueError, match="the image is blank"):
        like_mnist(np.ones((9, 9)))


@pytest.mark.parametrize(
    "pixels",
    [
        np.full((5, 4), 51, np.uint8),
        np.full((5, 4), 51 * 257, np.uint16),
        np.full((5, 4, 3), 51, np.uint8),
        np.dstack((np.zeros((5, 4, 3), np.uint8), np.full((5, 4), 204, np.uint8))),
    ],
    ids=["grey", "16 bits", "colours", "transparent"],
)
def test_every_kind_of_png_gives_the_same_grey(tmp_path, pixels):
    imageio.imwrite(tmp_path / "a.png", pixels)
    np.testing.assert_allclose(read_grey(tmp_path / "a.png"), np.full((5, 4), 0.2), atol=1e-3)


@pytest.mark.parametrize(
    ("grey", "message"),
    [
        (np.zeros((3, 4, 4)), r"one image is needed, \(rows, columns\), not an array of shape \(3, 4, 4\)"),
        (np.zeros((0, 4)), r"one image is needed, \(rows, columns\)"),
        (np.full((4, 4), np.nan), "the image must be finite"),
    ],
)
def test_what_is_no_image_is_refused(grey, message):
    with pytest.raises(ValueError, match=message):
        like_mnist(grey)


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
        ("one.gif", lambda path: Image.fromarray(UPRIGHT).save(path)),
        ("no_suffix", lambda path: Image.fromarray(UPRIGHT).save(path, "PNG")),
        ("wrong.jpg", lambda path: Image.fromarray(UPRIGHT).save(path, "PNG")),
    ],
)
def test_an_image_is_read_as_it_looks(tmp_path, name, write):
    write(tmp_path / name)
    np.testing.assert_allclose(read_grey(tmp_path / name), UPRIGHT / 255, atol=0.1)


@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_a_large_photograph_is_shrunk_as_it_is_read(tmp_path, suffix):
    large = Image.new("L", (12000, 9000), 200)  # of 108 megapixels
    large.paste(50, (0, 0, 6000, 4500))
    large.save(tmp_path / f"a.{suffix}", compress_level=1)
    grey = read_grey(tmp_path / f"a.{suffix}")
    rows, columns = grey.shape
    assert max(grey.shape) <= 2048
    assert columns / rows == pytest.approx(4 / 3, rel=1e-2)
    np.testing.assert_allclose(grey[: rows // 2 - 9, : columns // 2 - 9], 50 / 255, atol=1e-2)
    np.testing.assert_allclose(grey[rows // 2 + 9 :], 200 / 255, atol=1e-2)


def test_large_images_of_every_kind_are_shrunk(tmp_path):
    pixels = np.full((2100, 100), 51 * 257, np.uint16)
    for kind in ("1", "P", "L", "LA", "RGB", "RGBA", "I;16"):
        image = Image.fromarray(pixels) if kind == "I;16" else Image.new("L", (100, 2100), 51).convert(kind)
        image.save(tmp_path / "a.png")
        grey = read_grey(tmp_path / "a.png")
        assert grey.shape == (1050, 50)
        assert grey.mean() == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(("ink", "laid_on"), [(255, 0), (200, 0), (100, 1), (0, 1)])
def test_what_is_transparent_is_dark_or_light_so_that_ink_shows(tmp_path, ink, laid_on):
    opaque = np.array([[0, 255], [51, 0]], np.uint8)
    imageio.imwrite(tmp_path / "a.png", np.dstack((*[np.full_like(opaque, ink)] * 3, opaque)))
    share = opaque / 255
    expected = share * ink / 255 + (1 - share) * laid_on
    np.testing.assert_allclose(read_grey(tmp_path / "a.png"), expected, atol=1e-9)


# ---- saved nets


def mean_squares(outputs, y):
    error = outputs - y
    return (error**2).mean(), 2 * error / error.size


def train_small(**chosen):
    return hn.run_one(
        "highway", **{"data": data_of(), "hidden": 5, "depth": 1, "epochs": 1, "batch_size": 10, **chosen}
    )


def test_a_learning_curve_of_own_data_draws_as_many_as_it_names():
    drawn = hn.subset(data_of(), 1, 20, 10)
    named = train_small(data=data_of(), seed=1, n_train=20)
    assert named["history"] == train_small(data=drawn, seed=1)["history"]
    assert named["history"] != train_small(data=data_of(), seed=1)["history"]
    with pytest.raises(ValueError, match="from 1 to 30 training images can be drawn, not 31"):
        train_small(data=data_of(), n_train=31)


def test_data_in_the_place_of_the_settings_are_told_their_name():
    with pytest.raises(TypeError, match=r"settings must be Settings\(...\), not Dataset: name the others, data=..."):
        hn.run_one("highway", data_of())


def test_a_function_is_no_activation():
    with pytest.raises(ValueError, match="tanh is no activation: give an object of a subclass of Activation"):
        train_small(activation=np.tanh)


def test_classify_refuses_pixels_that_nobody_has_scaled_and_nets_of_numbers(tmp_path):
    path = tmp_path / "net.npz"
    train_small(save=path)
    net = hn.DeepNet.load(path)
    np.testing.assert_array_equal(net.classify(PIXELS.astype(np.uint8)), net.classify(PIXELS / 127.5 - 1))
    with pytest.raises(ValueError, match=r"x holds floats up to 255, and the net has learned pixels: x.astype\(np"):
        net.classify(PIXELS * 1.0)
    net.about["targets"] = True
    with pytest.raises(ValueError, match=r"has learned numbers, not classes: net.predict\(x\) gives them"):
        net.classify(PIXELS / 255)


def test_a_file_that_is_no_program_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "digits").mkdir()  # Python takes it for a package
    (tmp_path / "digits.csv").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert "a file's name ends in .py" in one_line_error(main("--import", "digits.csv"))


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "image.png"
    imageio.imwrite(path, PIXELS[0].astype(np.uint8))
    return path


def test_a_net_of_numbers_is_not_asked_for_a_class(tmp_path, image):
    net = tmp_path / "net.npz"
    targets = np.stack((LABELS, -LABELS), axis=1) / 3
    train_small(data=data_of(y=targets), loss=mean_squares, save=net)
    process = main("--classify", net, image)
    assert "the net has learned numbers, not classes" in one_line_error(process)


def test_pixels_that_a_net_cannot_take_are_one_line(tmp_path, image):
    net = tmp_path / "net.npz"
    train_small(save=net)
    loaded = hn.DeepNet.load(net)
    loaded.about["pixels"] = "[0, 2]"
    loaded.save(net)
    process = main("--classify", net, image)
    assert "net.about['pixels'] must say where pixels lie" in one_line_error(process)


@pytest.mark.parametrize("name", ["highway-30", "record-mnist"])
def test_the_repository_s_nets_read_an_image(tmp_path, mnist, name):
    image = tmp_path / "image.png"
    imageio.imwrite(image, 255 - np.kron(mnist.x_test[0].reshape(28, 28), np.ones((5, 5), np.uint8)))
    process = main("--classify", hn.ROOT / "nets" / f"{name}.safetensors", image)
    assert process.returncode == 0, process.stderr
    logits = load(name).predict(like_mnist(read_grey(image))[0][None])[0].astype(float)
    probabilities = np.exp(logits) / np.exp(logits).sum()
    printed = [line.split()[:2] for line in process.stdout.splitlines()[-10:]]
    expected = [[label, pytest.approx(probability, abs=1e-3)] for label, probability in enumerate(probabilities)]
    assert [[int(label), float(probability)] for label, probability in printed] == expected


def test_a_net_of_the_repository_that_has_learned_colours_refuses_a_grey_image(tmp_path):
    imageio.imwrite(tmp_path / "image.png", np.zeros((32, 32), np.uint8))
    one_line_error(main("--classify", hn.ROOT / "nets" / "highway-a.safetensors", tmp_path / "image.png"))


def test_another_safetensors_file_is_one_line(tmp_path):
    (tmp_path / "other.safetensors").write_bytes(b"\2" + bytes(7) + b"{}")
    one_line_error(main("--classify", tmp_path / "other.safetensors", tmp_path / "image.png"))


@pytest.mark.parametrize("shape", [(28, 28), (784,)])
def test_a_net_of_data_like_mnist_is_shown_how_images_are_made_like_them(tmp_path, shape):
    path = tmp_path / "net.npz"
    net = hn.DeepNet(784, 3, 5, 1, "plain", 0)
    net.about = {"pixels": hn.PIXELS[0], "data_set": "own data", "shape": list(shape)}
    net.save(path)
    imageio.imwrite(tmp_path / "right.png", np.kron(PIXELS[0], np.ones((5, 5)))[:28, :28].astype(np.uint8))
    imageio.imwrite(tmp_path / "large.png", np.kron(PIXELS[0], np.ones((9, 9))).astype(np.uint8))
    process = main("--classify", path, tmp_path / "right.png")
    assert process.returncode == 0, process.stderr
    error = one_line_error(main("--classify", path, tmp_path / "large.png"))
    assert f"its pixels are (54, 54); the net takes {' x '.join(map(str, shape))}, for it has learned other" in error
    assert error.endswith("like_mnist(read_grey(path)) makes it like MNIST's for net.classify(image[None])")


def test_a_net_of_the_package_s_kinds_is_classified_and_replaced(tmp_path, data_set):
    net = tmp_path / "net.npz"
    kinds = ("--block", "residual", "--activation", "relu")
    words = (*SMALL, "--data-dir", data_set, "--no-save", "--jobs", 1, "--save", net)
    picture = tmp_path / "picture.png"
    imageio.imwrite(picture, hn.load_mnist(data_set).x_test[0].reshape(6, 6))
    assert main(*words, *kinds).returncode == 0
    process = main("--classify", net, picture)
    assert process.returncode == 0, process.stderr
    assert main(*words).returncode == 0


def test_a_net_whose_activation_is_not_imported_is_not_called_something_else(tmp_path):
    class Strange(hn.Relu):
        name = "strange"

    path = tmp_path / "net.npz"
    try:
        hn.DeepNet(4, 3, 5, 1, "plain", 0, activation="strange").save(path)
    finally:
        del hn.ACTIVATIONS["strange"]
    with pytest.raises(ValueError, match=r"holds a net with the activation 'strange', .* --import FILE\.py") as error:
        hn.DeepNet.load(path)
    assert "is not a net" not in str(error.value)
    hn.DeepNet(4, 3, 5, 1, "plain", 0).save(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing/net.npz", "cannot be written"),
        ("mine.csv", "the name of a net ends in .npz"),
        ("mydata.npz", "is no net of this program, and is not replaced"),
    ],
)
def test_a_name_for_a_net_is_refused_before_the_training(tmp_path, name, message):
    np.savez(tmp_path / "mydata.npz", x=PIXELS)
    before = (tmp_path / "mydata.npz").read_bytes()

    def started(row):
        raise AssertionError("the training has begun")

    with pytest.raises(ValueError, match=message):
        train_small(save=tmp_path / name, report=started)
    assert (tmp_path / "mydata.npz").read_bytes() == before


def test_save_of_a_net_replaces_no_other_file(tmp_path):
    path = tmp_path / "mydata.npz"
    np.savez(path, x=PIXELS)
    before = path.read_bytes()
    net = hn.DeepNet(4, 3, 5, 1, "plain", 0)
    with pytest.raises(ValueError, match="is no net of this program, and is not replaced"):
        net.save(path)
    with pytest.raises(ValueError, match=r"the name of a net ends in \.npz"):
        net.save(tmp_path / "net")
    assert path.read_bytes() == before


def test_a_smoke_test_replaces_no_committed_net(tmp_path, monkeypatch):
    monkeypatch.setattr(hn.package(), "is_committed", lambda path: True)
    hn.check_net_replaceable(tmp_path / "net.npz")
    with pytest.raises(ValueError, match="is committed: a smoke test does not replace it"):
        hn.check_net_replaceable(tmp_path / "net.npz", is_smoke_test=True)
