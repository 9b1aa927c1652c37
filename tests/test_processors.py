"""What .ci/run switches off to stand for another processor is off."""

import os

import pytest
from threadpoolctl import threadpool_info

try:
    from numpy._core._multiarray_umath import __cpu_features__
except ImportError:  # before NumPy 2
    from numpy.core._multiarray_umath import __cpu_features__

pytestmark = pytest.mark.quick


def test_features_that_are_switched_off_are_not_used():
    """Of a name that it does not know NumPy only warns."""
    for feature in os.environ.get("NPY_DISABLE_CPU_FEATURES", "").split():
        assert __cpu_features__[feature] is False


def test_openblas_has_the_kernels_of_the_processor_that_is_named():
    name = os.environ.get("OPENBLAS_CORETYPE")
    libraries = [library for library in threadpool_info() if library["internal_api"] == "openblas"]
    if name:
        assert {library["architecture"] for library in libraries} == {name}
