"""Images of digits from files, made like MNIST's."""

from __future__ import annotations

import math
import os
import warnings

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image, ImageOps

from highways.files import InputError

LONGEST = 2048  # side, in pixels, of an image that is read; a larger one is shrunk
SEEN = 192  # side, in pixels, of the image in which a digit is looked for
SIDE = 28  # of MNIST's images, in pixels
BOX = 20  # the longer side of a digit in them
PAPER = 0.2  # what has less than this share of the darkest ink counts as paper
STROKE = 0.5  # a piece of the digit has this share of the darkest ink somewhere
PIECE = 0.1  # and this share of the ink of the largest piece
FREE = 0.25  # a piece with this share of the largest one's ink is the digit, if it alone is free of the edge


def read_grey(path: str | os.PathLike) -> np.ndarray:
    """The image in a file that Pillow reads, (rows, columns) floats from 0, black, to 1, white,
    turned as the camera was held.  What is transparent lies on white paper, or on black if ink shows
    better there.  An image of more than 2048 pixels a side is shrunk.  Of several images in a file it
    is the first.  Raises InputError for another file."""
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # a phone has 108 megapixels
            image = ImageOps.exif_transpose(read_small(file))
            return grey_of(image)
    except Exception as error:  # every format has its own
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path} cannot be read as an image, such as PNG or JPEG: {reason}") from error


def read_small(file) -> Image.Image:
    """The image, with at most LONGEST pixels a side."""
    image = Image.open(file)
    image.draft(None, (LONGEST, LONGEST))  # a JPEG is decoded at a half, a quarter or an eighth
    if image.mode.startswith("I"):  # PNG's 16 bits
        image = image.convert("F").point(lambda level: level * (1 / 65535))
    factor = math.ceil(max(image.size) / LONGEST)
    if factor == 1:
        return image
    if image.mode in ("1", "P"):
        image = image.convert("RGBA")
    return image.reduce(factor)


def grey_of(image: Image.Image) -> np.ndarray:
    """(rows, columns) floats from 0 to 1."""
    if image.mode == "F":
        return np.asarray(image, np.float64)
    pixels = np.asarray(image.convert("RGBA"))
    grey = pixels[:, :, :3].mean(axis=2) / 255
    opaque = pixels[:, :, 3] / 255
    on_white = grey * opaque + 1 - opaque
    on_black = grey * opaque
    return on_white if np.ptp(on_white) >= np.ptp(on_black) else on_black


def like_mnist(grey: np.ndarray) -> tuple[np.ndarray, str]:
    """A digit, (rows, columns) numbers, made like MNIST's: (28, 28) uint8, and what was done, in
    words.

    As MNIST's makers did, the digit is scaled so that its longer side has 20 pixels, and placed so
    that its centre of mass is in the middle of 28 x 28.  Before that, an image that is dark on light
    is inverted, the paper around each stroke set to 0, shadows and all, and specks are left out.
    Raises ValueError for an image without a digit."""
    grey = np.asarray(grey, np.float64)
    if grey.ndim != 2 or grey.size == 0:
        raise ValueError(f"one image is needed, (rows, columns), not an array of shape {grey.shape}")
    if not np.isfinite(grey).all():
        raise ValueError("the image must be finite; it holds NaN or infinity")
    image = scaled(grey, min(1, SEEN / max(grey.shape)))
    is_dark = is_dark_on_light(image)
    ink = ink_of(image, is_dark)
    if np.ptp(grey) == 0 or ink.max() <= 0:
        raise ValueError("the image is blank: all its pixels are alike")
    pieces = pieces_of(ink > PAPER * ink.max())
    of_digit = pieces_of_digit(pieces, ink)
    digit = np.zeros(ink.shape)
    for piece in of_digit:
        digit[piece] = ink[piece]
    rows = np.flatnonzero(digit.any(axis=1))
    columns = np.flatnonzero(digit.any(axis=0))
    digit = digit[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    small = scaled(digit, BOX / max(digit.shape))
    small /= small.max()
    height, width = small.shape
    made = np.zeros((SIDE, SIDE))
    top = place(small.sum(axis=1))
    left = place(small.sum(axis=0))
    made[top : top + height, left : left + width] = small
    high, wide = np.rint(np.multiply(digit.shape, grey.shape) / image.shape).astype(int)
    said = "dark on light, so inverted; " if is_dark else "light on dark, as MNIST; "
    if len(of_digit) < len(pieces):
        said += f"specks left out: {len(pieces) - len(of_digit)}; "
    said += f"the digit, {high} x {wide} pixels, is scaled to {height} x {width} "
    said += f"and centred in {SIDE} x {SIDE} by its mass"
    return np.rint(255 * made).astype(np.uint8), said


def is_dark_on_light(image: np.ndarray) -> bool:
    """Whether the border, which is mostly paper, is lighter than the middle of what there is.

    The image is asked, and so is twice what it is less its local median, in which there are no
    shadows: strokes that fill the image mislead the one, shadows the other."""
    few = scaled(image, min(1, 24 / max(image.shape)))
    reach = max(few.shape) // 4
    around = sliding_window_view(np.pad(few, reach, mode="edge"), (2 * reach + 1, 2 * reach + 1))
    level = few - np.median(around, axis=(2, 3))
    return lightness_of_border(few) + 2 * lightness_of_border(level) > 0


def lightness_of_border(image: np.ndarray) -> float:
    """From -1/2, the border is as dark as the darkest pixel, to 1/2."""
    border = np.concatenate((image[0], image[-1], image[:, 0], image[:, -1]))
    if np.ptp(image) == 0:
        return 0.0
    return (np.median(border) - image.min()) / np.ptp(image) - 0.5


def ink_of(image: np.ndarray, is_dark: bool) -> np.ndarray:
    """How much ink each pixel has, above the paper around it; that of dark ink is the share of the
    light that it takes, which is the same in a shadow."""
    reach = max(image.shape) // 6  # a stroke is thinner than a third of the image
    if not is_dark:
        paper = highest(-highest(-image, reach), reach)
        return image - paper
    image = image - min(image.min(), 0)
    paper = -highest(-highest(image, reach), reach)
    return (paper - image) / np.maximum(paper, 0.1 * paper.max())  # of what is nearly black nothing is known


def highest(image: np.ndarray, reach: int) -> np.ndarray:
    """The highest of the pixels that lie at most `reach` rows and columns from each pixel."""
    for axis in (0, 1):
        margin = [(0, 0), (0, 0)]
        margin[axis] = (reach, reach)
        wide = np.pad(image, margin, constant_values=-np.inf)
        image = sliding_window_view(wide, 2 * reach + 1, axis).max(axis=-1)
    return image


def pieces_of(mask: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The connected pieces of a mask, each as (rows, columns); pixels that share a corner are connected."""
    left = set(zip(*map(np.ndarray.tolist, np.nonzero(mask)), strict=True))
    pieces = []
    while left:
        waiting = [left.pop()]
        piece = []
        while waiting:
            row, column = waiting.pop()
            piece.append((row, column))
            for r in (row - 1, row, row + 1):
                for c in (column - 1, column, column + 1):
                    if (r, c) in left:
                        left.remove((r, c))
                        waiting.append((r, c))
        rows, columns = np.array(piece).T
        pieces.append((rows, columns))
    return pieces


def pieces_of_digit(pieces: list, ink: np.ndarray) -> list:
    """Those that are no specks, no faint rests of a shadow, and not what hangs at the edge beside a digit that
    does not: a shadow's corner, or the table."""
    mass = np.array([ink[piece].sum() for piece in pieces])
    mass[[ink[piece].max() < STROKE * ink.max() for piece in pieces]] = 0
    is_inner = np.zeros(ink.shape, bool)
    is_inner[1:-1, 1:-1] = True
    inner_mass = np.where([is_inner[piece].all() for piece in pieces], mass, 0)
    if inner_mass.max() > FREE * mass.max():
        mass = inner_mass
    return [piece for piece, has in zip(pieces, mass, strict=True) if has >= PIECE * mass.max()]


def scaled(image: np.ndarray, scale: float) -> np.ndarray:
    """The image in another size; its pixels are means of those that they cover."""
    rows, columns = (max(1, round(scale * side)) for side in image.shape)
    return averaging(rows, image.shape[0]) @ image @ averaging(columns, image.shape[1]).T


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
