"""Images of digits from files, made like MNIST's, and what a trained net says of them.

python -m highways.digits net.npz digit.png
"""

from __future__ import annotations

import importlib
import os
from functools import partial

import imageio.v3 as imageio
import numpy as np

from highway_networks import DeepNet, finite_logits, inputs_for
from highways.commands import Parser, first_line, path_name, run_command, run_program
from highways.files import InputError, open_file, printable

SIDE = 28  # of MNIST's images, in pixels
BOX = 20  # the longer side of a digit in them
KINDS = ("activations", "carries", "extra_blocks")  # the modules of highways.nets whose blocks a net may have
PAPER = 0.2  # what has less than this share of the darkest ink counts as paper


def read_grey(path: str | os.PathLike) -> np.ndarray:
    """The image in a file that Pillow reads, (rows, columns) floats from 0, black, to 1, white,
    turned as the camera was held.  Where it is transparent, white paper shows through.  Of several
    images in a file it is the first.  Raises InputError for another file."""
    try:
        with open_file(path) as file:
            data = file.read()
        with imageio.imopen(data, "r", plugin="pillow") as file:
            has_inks = file.metadata()["mode"] in ("CMYK", "YCbCr")
            mode = "RGB" if has_inks else None
            image = np.asarray(file.read(index=0, mode=mode, rotate=True))
    except Exception as error:  # every format has its own
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path} cannot be read as an image, such as PNG or JPEG: {reason}") from error
    whole = np.iinfo(image.dtype).max if image.dtype.kind in "iu" else 1
    image = image.astype(np.float64) / whole
    if image.ndim == 2:
        return image
    if image.ndim != 3 or image.shape[2] > 4:
        raise InputError(f"{path} is not one image: its array has the shape {image.shape}")
    n_colours = 3 if image.shape[2] > 2 else 1
    grey = image[:, :, :n_colours].mean(axis=2)
    if image.shape[2] in (2, 4):
        opaque = image[:, :, -1]
        grey = grey * opaque + 1 - opaque
    return grey


def like_mnist(grey: np.ndarray) -> tuple[np.ndarray, str]:
    """A digit, (rows, columns) numbers, made like MNIST's: (28, 28) uint8, and what was done, in
    words.

    As MNIST's makers did, the digit is scaled so that its longer side has 20 pixels, and placed so
    that its centre of mass is in the middle of 28 x 28.  Before that, an image that is dark on light
    is inverted, and the paper set to 0.  Raises ValueError for an image without a digit."""
    ink = np.asarray(grey, np.float64)
    if ink.ndim != 2 or ink.size == 0:
        raise ValueError(f"one image is needed, (rows, columns), not an array of shape {ink.shape}")
    if not np.isfinite(ink).all():
        raise ValueError("the image must be finite; it holds NaN or infinity")
    border = np.concatenate((ink[0], ink[-1], ink[:, 0], ink[:, -1]))
    paper = np.median(border)
    is_dark_on_light = paper > (ink.min() + ink.max()) / 2
    ink = paper - ink if is_dark_on_light else ink - paper
    if ink.max() <= 0:
        raise ValueError("the image is blank: all its pixels are alike")
    ink = np.where(ink > PAPER * ink.max(), ink / ink.max(), 0)
    rows = np.flatnonzero(ink.any(axis=1))
    columns = np.flatnonzero(ink.any(axis=0))
    digit = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = BOX / max(digit.shape)
    height, width = (max(1, round(scale * side)) for side in digit.shape)
    small = averaging(height, digit.shape[0]) @ digit @ averaging(width, digit.shape[1]).T
    small /= small.max()
    image = np.zeros((SIDE, SIDE))
    top = place(small.sum(axis=1))
    left = place(small.sum(axis=0))
    image[top : top + height, left : left + width] = small
    said = "dark on light, so inverted; " if is_dark_on_light else "light on dark, as MNIST; "
    said += f"the digit, {digit.shape[0]} x {digit.shape[1]} pixels, is scaled to {height} x {width} "
    said += f"and centred in {SIDE} x {SIDE} by its mass"
    return np.rint(255 * image).astype(np.uint8), said


def averaging(n_out: int, n_in: int) -> np.ndarray:
    """(n_out, n_in): the matrix that scales a row of n_in pixels to n_out, each of which is the mean
    of the piece of the row that it covers."""
    edges = np.arange(n_out + 1) * (n_in / n_out)
    pixels = np.arange(n_in)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return np.maximum(covered, 0) * (n_out / n_in)


def place(mass: np.ndarray) -> int:
    """Where a digit with this mass in each row begins, so that the centre of mass is in the middle
    of SIDE and nothing is cut off."""
    centre = (mass * np.arange(len(mass))).sum() / mass.sum()
    return min(max(round(SIDE / 2 - centre), 0), SIDE - len(mass))


def image_for(net: DeepNet, grey: np.ndarray) -> tuple[np.ndarray, str]:
    """An image as rows of pixels for net.classify(), and what was done to it.

    A net that was trained on MNIST gets it like MNIST's; any other net as it is.  Raises ValueError
    where that has another size.  Of rows, such as a CSV file has, the number of pixels alone is
    known."""
    if net.about.get("data_set") == "MNIST":
        image, said = like_mnist(grey)
        return image.reshape(1, -1), said
    shape = net.about.get("shape", [net.d_in])
    if list(grey.shape) != shape and [grey.size] != shape:
        takes = " x ".join(map(str, shape))
        advice = "scale it first"
        if shape in ([SIDE, SIDE], [SIDE * SIDE]):
            advice = (
                "in Python image, _ = like_mnist(read_grey(path)) makes it like MNIST's for net.classify(image[None])"
            )
        raise ValueError(f"its pixels are {grey.shape}; the net takes {takes}, for it has learned other data: {advice}")
    pixels = np.rint(255 * grey).astype(np.uint8) if "pixels" in net.about else grey
    return pixels.reshape(1, -1), "taken as it is, 0 is black"


def classify_images(path: str, images: list[str], save) -> None:
    """Prints what a saved net says of each image."""
    for module in KINDS:
        importlib.import_module(f"highways.nets.{module}")
    net = DeepNet.load(path)
    if net.about.get("targets") or net.d_out == 1:
        raise InputError(f"{path}: the net has learned numbers, not classes: net.predict(x) gives them")
    for image in images:
        grey = read_grey(image)
        try:
            pixels, said = image_for(net, grey)
            logits = finite_logits(net, inputs_for(net, pixels)).astype(np.float64)[0]
        except (ValueError, FloatingPointError) as error:
            raise InputError(f"{image}: {error}") from error
        powers = np.exp(logits - logits.max())
        probabilities = powers / powers.sum()
        shown = printable(image)
        print(f"{shown}: {said}")
        print(f"{shown}: {probabilities.argmax()}, with the probability {probabilities.max():.3f}")
        for label, probability in enumerate(probabilities):
            print(f"{label:6d} {probability:6.3f}  {'#' * round(40 * probability)}".rstrip())


def main(argv=None) -> int:
    parser = Parser(prog="python -m highways.digits", description=first_line(__doc__))
    parser.add_argument("net", type=path_name, metavar="NET.npz", help="what DeepNet.save() wrote")
    parser.add_argument("images", type=path_name, metavar="IMAGE", nargs="+", help="PNG, JPEG, ...")
    args = parser.parse_args(argv)
    return run_command(parser.prog, partial(classify_images, args.net, args.images), saves=False)


if __name__ == "__main__":
    run_program(main)
