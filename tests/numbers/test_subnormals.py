"""Subnormal numbers are flushed within the context, and nowhere else."""

import numpy as np
import pytest

from highways.nets import subnormals
from highways.nets.subnormals import flushed_subnormals

pytestmark = [
    pytest.mark.quick,
    pytest.mark.skipif(subnormals._libm() is None, reason="flushes on x86-64 with glibc only"),
]
SMALL = np.full(8, 1e-30, np.float32)


def product() -> np.ndarray:
    """1e-40, which is subnormal in float32."""
    return SMALL * np.float32(1e-10)


def test_they_are_zero_within_and_not_before_or_after():
    assert (product() > 0).all()
    with flushed_subnormals() as flushed:
        assert flushed
        assert (product() == 0).all()
    assert (product() > 0).all()


def test_they_are_back_after_an_error():
    with pytest.raises(ZeroDivisionError), flushed_subnormals():
        raise ZeroDivisionError
    assert (product() > 0).all()


def test_what_was_flushed_before_is_flushed_afterwards():
    with flushed_subnormals():
        with flushed_subnormals():
            pass
        assert (product() == 0).all()
    assert (product() > 0).all()
