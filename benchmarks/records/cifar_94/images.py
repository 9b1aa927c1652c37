"""Training images that are mirrored in turns, and moved with reflected borders; test images seen from several views."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

SHIFT = 2  # the most pixels by which a training image is moved


def moved_and_mirrored(images: np.ndarray, epoch: int, starts_mirrored: np.ndarray, rng) -> np.ndarray:
    """Images (n, maps, rows, columns) as the net sees them in this epoch, counted from 0.

    Every image is mirrored in every second epoch; those that `starts_mirrored` names are in the first.  Where each
    epoch draws anew, two epochs in succession show half of the images twice in the same way (Jordan 2024,
    arXiv:2404.00498, section 3.6).

    An image is moved by at most SHIFT pixels in both directions, at random.  What enters at the border is the image
    reflected there.  Draws for each image how far down and right its crop begins."""
    n, _, rows, columns = images.shape
    padded = np.pad(images, ((0, 0), (0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT)), "reflect")
    down, right = rng.integers(0, 2 * SHIFT + 1, (2, n))
    crops = sliding_window_view(padded, (rows, columns), (2, 3))
    y = crops[np.arange(n), :, down, right]
    is_mirrored = starts_mirrored if epoch % 2 == 0 else ~starts_mirrored
    y[is_mirrored] = y[is_mirrored, ..., ::-1]
    return y


def has_odd_sum(x: np.ndarray) -> np.ndarray:
    """Which of the images (n, pixels) uint8 have bytes with an odd sum: half of them, and the same in every epoch."""
    return x.sum(axis=1, dtype=np.int64) % 2 == 1


def predict_from_six_views(net, x: np.ndarray) -> np.ndarray:
    """Images x (n, maps, side, side) -> the mean of their logits over six views, (n, classes).

    The views are the image and its mirror image, and the same moved by a pixel up and left, and down and right, with
    reflected borders.  The moved ones count half (Jordan 2024)."""
    side = x.shape[-1]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "reflect")
    logits = predict_with_mirror_image(net, x) / 2
    for first in (0, 2):
        moved = np.ascontiguousarray(padded[..., first : first + side, first : first + side])
        logits += predict_with_mirror_image(net, moved) / 4
    return logits


def predict_with_mirror_image(net, x: np.ndarray) -> np.ndarray:
    """The mean of the logits of an image and its mirror image."""
    return (net.predict(x) + net.predict(mirror(x))) / 2


def mirror(x: np.ndarray) -> np.ndarray:
    """The images (n, maps, rows, columns), mirrored left to right."""
    return np.ascontiguousarray(x[..., ::-1])
