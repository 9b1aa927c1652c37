"""Training images that are mirrored in turns, and moved with reflected borders; test images seen from several views."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from highways.conv.pipeline import Pipeline


class MirroredInTurns(Pipeline):
    """The images of Pipeline("standardised"), for training moved and mirrored in another way.

    Every image is mirrored in every second epoch.  Half of the images begin mirrored: those whose bytes have an odd
    sum.  Where each epoch draws anew, two epochs in succession show half of the images twice in the same way (Jordan
    2024, arXiv:2404.00498, section 3.6).

    An image is moved by at most `shift` pixels in both directions, at random.  What enters at the border is the image
    reflected there."""

    def __init__(self, shift: int):
        super().__init__("standardised", shift)
        self._epoch = 0

    def begin_epoch(self, epoch: int) -> None:
        """Tells how many epochs are finished."""
        self._epoch = epoch

    def train_batch(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Training images moved at random and mirrored in turns.

        Draws for each image how far down and right its crop begins.  Raises RuntimeError before fit()."""
        images = self.test(x)
        n, _, rows, columns = images.shape
        pad = self.pad
        padded = np.pad(images, ((0, 0), (0, 0), (pad, pad), (pad, pad)), "reflect")
        down, right = rng.integers(0, 2 * pad + 1, (2, n))
        crops = sliding_window_view(padded, (rows, columns), (2, 3))
        y = crops[np.arange(n), :, down, right]
        mirrored = (x.sum(axis=1, dtype=np.int64) + self._epoch) % 2 == 1
        y[mirrored] = y[mirrored, ..., ::-1]
        return y


def check_views(views: int) -> None:
    """Raises ValueError for a number of views that predict_from_views() does not know."""
    if views not in (1, 2, 6):
        raise ValueError(f"an image is seen from 1, 2 or 6 views, not {views}")


def predict_from_views(net, x: np.ndarray, views: int) -> np.ndarray:
    """Images x (N, maps, side, side) -> the mean of their logits over `views`, (N, classes).

    1 view is the image, 2 are the image and its mirror image.  6 are these two, and the same moved by a pixel up and
    left, and down and right, with reflected borders.  The moved ones count half (Jordan 2024).

    Raises ValueError for another number of views."""
    check_views(views)
    if views == 1:
        return net.predict(x)
    if views == 2:
        return (net.predict(x) + net.predict(mirror(x))) / 2
    side = x.shape[-1]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "reflect")
    logits = predict_from_views(net, x, 2) / 2
    for first in (0, 2):
        moved = np.ascontiguousarray(padded[..., first : first + side, first : first + side])
        logits += predict_from_views(net, moved, 2) / 4
    return logits


def mirror(x: np.ndarray) -> np.ndarray:
    """The images (N, maps, rows, columns), mirrored left to right."""
    return np.ascontiguousarray(x[..., ::-1])
