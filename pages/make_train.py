"""Writes pages/train.html, a page in which two deep nets train side by side.  It is a single file
that a browser opens from disk.

    python -m pages.make_train

The page holds some of MNIST's images, made small, and the programs of pages/train/: page.html
includes page.css, worker.js (which runs the nets beside the page), presets.js (the tour),
takeaway.js (Python, CSV), lesson.js, summary.js, towers.js, layer.js and page.js.  From pages/shared/
it has net.js (the nets and their training), base.css, palette.js, words.js, svg.js and charts.js."""

from __future__ import annotations

import base64
import zlib

import numpy as np

from highway_networks import Dataset, subset
from highways.commands import run_program
from highways.files import ROOT
from pages.explorer_net import load_page_mnist
from pages.parts import CHARTS, ENGINE, PALETTE, STYLE, SVG, WORDS, json_in_page, page_of, run_page_command

PARTS = ROOT / "pages" / "train"
PAGE_PARTS = (
    STYLE,
    "page.css",
    ENGINE,
    "worker.js",
    "presets.js",
    "takeaway.js",
    PALETTE,
    WORDS,
    SVG,
    CHARTS,
    "towers.js",
    "layer.js",
    "percents.js",
    "lesson.js",
    "summary.js",
    "page.js",
)
N_TRAIN = 2000
N_TEST = 1000
SIDE = 14  # of an image in the page; MNIST's is twice as long
TOP = 15  # the brightest of the 16 greys that 4 bits hold


def small_images(x: np.ndarray) -> np.ndarray:
    """Images (N, 784) of bytes -> (N, 196) of greys from 0 to 15: the means of 2 x 2 pixels."""
    squares = x.reshape(len(x), SIDE, 2, SIDE, 2)
    means = squares.mean(axis=(2, 4))
    greys = np.rint(means * TOP / 255)
    return greys.astype(np.uint8).reshape(len(x), SIDE * SIDE)


def two_to_a_byte(greys: np.ndarray) -> bytes:
    """Packs an even count of numbers from 0 to 15, two to a byte, the first in the high half."""
    flat = greys.reshape(-1, 2)
    return (flat[:, 0] << 4 | flat[:, 1]).tobytes()


def images_part(mnist: Dataset) -> dict:
    """The page's images: the pixels of the training images, then of the test images, two to a
    byte, then all labels, a byte each; deflated, in base64."""
    drawn = subset(mnist, 0, N_TRAIN, N_TEST)
    x = np.concatenate([drawn.x_train, drawn.x_test])
    labels = np.concatenate([drawn.y_train, drawn.y_test]).astype(np.uint8)
    packed = two_to_a_byte(small_images(x)) + labels.tobytes()
    return {
        "n_train": N_TRAIN,
        "n_test": N_TEST,
        "d_in": SIDE * SIDE,
        "top": TOP,
        "deflated": base64.b64encode(zlib.compress(packed, 9)).decode(),
    }


def whole_page() -> str:
    images = images_part(load_page_mnist())
    return page_of(PARTS, PAGE_PARTS, {"images": json_in_page(images)})


def main(argv=None) -> int:
    return run_page_command(argv, "train.html", "a page in which two nets train side by side", whole_page)


if __name__ == "__main__":
    run_program(main)
