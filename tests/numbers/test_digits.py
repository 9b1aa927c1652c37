"""A user's own digits: an image is made like MNIST's, and trained nets read it."""

import subprocess
import sys

import imageio.v3 as imageio
import numpy as np
import pytest
from conftest import ROOT, in_process
from PIL import Image
from small_nets import BLOCKS

import highway_networks as hn
from highways import like_mnist, load, read_grey
from highways.trained import classify


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
    image, _ = like_mnist(grey)
    there = mnist.x_test[0].reshape(28, 28)
    assert np.abs(image.astype(float) - there)[there > 60].mean() < 30


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


def test_the_command_knows_every_block_of_the_library():
    words = [sys.executable, "-c", "import highways.trained.classify, highway_networks as hn; print(*hn.BLOCKS)"]
    process = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {*BLOCKS} <= {*process.stdout.split()}


@pytest.mark.parametrize("name", ["highway-30", "record-mnist"])
def test_the_repository_s_nets_read_an_image(tmp_path, mnist, name):
    image = tmp_path / "image.png"
    imageio.imwrite(image, 255 - np.kron(mnist.x_test[0].reshape(28, 28), np.ones((5, 5), np.uint8)))
    process = in_process(classify.main, hn.ROOT / "highways" / "trained" / f"{name}.safetensors", image)
    assert process.returncode == 0, process.stderr
    logits = load(name).predict(like_mnist(read_grey(image))[0][None])[0].astype(float)
    probabilities = np.exp(logits) / np.exp(logits).sum()
    printed = [line.split()[:2] for line in process.stdout.splitlines()[-10:]]
    expected = [[label, pytest.approx(probability, abs=1e-3)] for label, probability in enumerate(probabilities)]
    assert [[int(label), float(probability)] for label, probability in printed] == expected
