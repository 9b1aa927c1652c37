"""What turns images into a net's input: Pixels for MNIST's, a Pipeline for CIFAR's.

pipeline = Pipeline("contrast", pad=8).fit(data.x_train)
x = pipeline.train_batch(data.x_train[:100], np.random.default_rng(0))  # (100, 3, 32, 32) float32
x = pipeline.test(data.x_test[:100])
"""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import highway_networks as hn
from highways.cifar import PIXELS, SHAPE

LEAST_CONTRAST = 1.0  # grey levels, out of 255; no image of these sets has a deviation below 7
FILTER_BIAS = 0.1  # added to the variances before whitening divides by their roots: pylearn2's default


def random_shift(x: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Moves each of the square images (N, pixels) by up to `most` whole pixels in both directions.

    Pixels from outside are 0."""
    if most == 0:  # rng would draw nothing, either
        return x
    n = len(x)
    side = math.isqrt(x.shape[1])
    padded = np.pad(x.reshape(n, side, side), ((0, 0), (most, most), (most, most)))
    down, right = rng.integers(0, 2 * most + 1, (2, n))
    crops = sliding_window_view(padded, (side, side), (1, 2))
    return crops[np.arange(n), down, right].reshape(n, -1)


class Pixels:
    """Makes a net's input from MNIST's images: (n, pixels) uint8 -> float32 in [0, 1).

    This is the authors' scale.  For training each image is moved by at most `shift` pixels.

    Raises ValueError for pixels that are not bytes."""

    def __init__(self, shift: int):
        self.shift = shift

    def fit(self, x_train: np.ndarray) -> Pixels:
        return self  # nothing is subtracted

    def train_batch(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        hn.check_bytes(x)
        return self.test(random_shift(x, self.shift, rng))

    def test(self, x: np.ndarray) -> np.ndarray:
        hn.check_bytes(x)
        return x.astype(np.float32) * np.float32(1 / 256)


class Pipeline:
    """Images (n, 3072) uint8 -> what the net is given, (n, 3, 32, 32) float32.

    "contrast" is what the authors say of their images: global contrast normalisation, then the
    mean image is subtracted:

        z = (x - mean) / deviation      over all pixels of one image; deviation >= LEAST_CONTRAST
        y = z - mean image              of the training images

    The authors' own scale is not known.

    "whitened" has one step between these two, ZCA, as for Maxout and Network in Network.  C is the
    covariance matrix of the training images' z, over all pixels:

        z <- (z - mean of the training images' z) (C + FILTER_BIAS I)^(-1/2)

    "standardised":

        y = (x - mean) / deviation      over one map of all training images

    For training, each image is then padded by `pad` zeros on all sides, cropped to 32 x 32 pixels
    at random, and mirrored or not.  Once the crop and the mirroring are drawn, the result for an
    image does not depend on the number of threads.  Nor does it depend on the rest of the batch,
    except that whitening is a product of matrices, whose last bits depend on the batch's size.

    Raises ValueError for another kind, a negative pad, and images that are not (n, 3072) uint8."""

    KINDS = ("contrast", "whitened", "standardised")

    def __init__(self, kind: str, pad: int):
        if kind not in self.KINDS:
            raise ValueError(f"kind must be one of {', '.join(self.KINDS)}, not {kind!r}")
        if pad < 0:
            raise ValueError(f"pad must not be negative, but is {pad}")
        self.kind = kind
        self.pad = pad
        self._mean = None  # the mean image, (3, 32, 32), or 0

    def fit(self, x_train: np.ndarray) -> Pipeline:
        """Computes from the training images what will be subtracted.  Call it before the first batch.

        Returns self."""
        _check_images(x_train)
        if self.kind == "standardised":
            of_all_images = sum(_sums_and_squares(part).sum(axis=1) for part in _in_parts(x_train))
            pixels_of_map = len(x_train) * SHAPE[1] * SHAPE[2]
            self._map_mean, self._map_scale = _mean_and_scale(of_all_images, pixels_of_map)
            self._mean = np.float32(0)
        else:
            if self.kind == "whitened":
                parts = map(self._contrast_normalised, _in_parts(x_train))
                self._center, self._whitening = whitening_of(parts)
            self._mean = self._mean_image(x_train)
        return self

    def train_batch(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Training images padded, cropped and mirrored at random.

        Draws for each image how far down and right its crop begins, then whether it is mirrored.
        Raises RuntimeError before fit()."""
        self._check_fitted()
        _check_images(x)
        n = len(x)
        pad = self.pad
        maps, rows, columns = SHAPE
        padded = np.zeros((n, maps, rows + 2 * pad, columns + 2 * pad), np.float32)
        # Subtracting before padding is the same as after: the padding of the mean image is zero.
        inner = padded[..., pad : pad + rows, pad : pad + columns]
        np.subtract(self._before_mean_image(x), self._mean, inner)
        down, right = rng.integers(0, 2 * pad + 1, (2, n))
        mirrored = rng.integers(0, 2, n) == 1
        crops = sliding_window_view(padded, (rows, columns), (2, 3))
        y = crops[np.arange(n), :, down, right]
        y[mirrored] = y[mirrored, ..., ::-1]
        return y

    def test(self, x: np.ndarray) -> np.ndarray:
        """Whole images, not mirrored.  Raises RuntimeError before fit()."""
        self._check_fitted()
        _check_images(x)
        return self._before_mean_image(x) - self._mean

    def _check_fitted(self):
        if self._mean is None:
            raise RuntimeError("call fit() with the training images first")

    def before_mean_image(self, x: np.ndarray) -> np.ndarray:
        """Like test(), but the mean image is not subtracted."""
        self._check_fitted()
        _check_images(x)
        return self._before_mean_image(x)

    def _before_mean_image(self, x):
        if self.kind == "standardised":
            mean = self._map_mean[:, None, None]  # (maps, 1, 1)
            scale = self._map_scale[:, None, None]
            return _centred_and_scaled(x, mean, scale)
        z = self._contrast_normalised(x)
        if self.kind == "whitened":
            z = self._whitened(z)
        return z

    def _contrast_normalised(self, x):
        mean, scale = _mean_and_scale(_sums_and_squares(x).sum(axis=2), PIXELS)
        mean = mean[:, None, None, None]  # (n, 1, 1, 1)
        scale = scale[:, None, None, None]
        return _centred_and_scaled(x, mean, scale)

    @hn.one_blas_thread()
    def _whitened(self, z):
        flat = z.reshape(-1, PIXELS) - self._center
        return (flat @ self._whitening).reshape(z.shape)

    def _mean_image(self, x):
        total = sum(self._before_mean_image(part).sum(axis=0, dtype=float) for part in _in_parts(x))
        return (total / len(x)).astype(np.float32)


def inputs_of(images: str, shift: int) -> Pixels | Pipeline:
    """What makes a net's input from images: Pixels, or a Pipeline of this kind.  It moves them by up to `shift`."""
    return Pixels(shift) if images == "pixels" else Pipeline(images, shift)


def _check_images(x: np.ndarray) -> None:
    """Raises ValueError unless they are (n, 3072) uint8."""
    hn.check_bytes(x)
    if x.shape[1:] != (PIXELS,):
        raise ValueError(f"images must have shape (n, {PIXELS}), not {x.shape}")


def _in_parts(x):
    """1000 images at a time."""
    return (x[i : i + 1000] for i in range(0, len(x), 1000))


def _sums_and_squares(x) -> np.ndarray:
    """(n, 3072) uint8 -> (2, n, 3) float64: for each map the sum of its pixels and the sum of
    their squares, both exact."""
    x = x.reshape(len(x), SHAPE[0], -1).astype(np.uint32)
    squares = np.einsum("nmp,nmp->nm", x, x)
    return np.array([x.sum(axis=2, dtype=np.uint32), squares], float)


def _centred_and_scaled(x, mean, scale):
    """(n, 3072) uint8 -> (x - mean) / scale, (n, 3, 32, 32) float32."""
    z = x.reshape(-1, *SHAPE).astype(np.float32)
    z -= mean.astype(np.float32)
    z *= (1 / scale).astype(np.float32)
    return z


@hn.one_blas_thread()
def whitening_of(parts) -> tuple[np.ndarray, np.ndarray]:
    """The mean of all images, (pixels,), and (C + FILTER_BIAS I)^(-1/2), (pixels, pixels), both
    float32, where C is the images' covariance matrix over pixels.

    `parts` yields the images, (n, ...) each, a few at a time."""
    n = 0
    total = 0
    products = 0
    for part in parts:
        z = part.reshape(len(part), -1).astype(float)
        n += len(z)
        total += z.sum(axis=0)
        products += z.T @ z
    mean = total / n
    covariance = products / n - np.outer(mean, mean)
    variances, directions = np.linalg.eigh(covariance + FILTER_BIAS * np.eye(len(mean)))
    whitening = (directions / np.sqrt(variances)) @ directions.T
    return mean.astype(np.float32), whitening.astype(np.float32)


def _mean_and_scale(sums, n: int):
    """The mean and the standard deviation (at least LEAST_CONTRAST) of n numbers, from their sum
    and the sum of their squares, (2, ...)."""
    mean, squares = sums / n
    return mean, np.sqrt(np.maximum(squares - mean**2, LEAST_CONTRAST**2))
