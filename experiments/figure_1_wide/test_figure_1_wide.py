"""The plain net of 100 layers after 400 epochs, at the rate of the wider search."""

import pytest
from conftest import verdict_on


@pytest.mark.parametrize(
    ("plain", "verdict"),
    [(1e-3, "reproduced"), (1e-5, "not reproduced"), (None, "not clear")],
)
def test_the_verdict_at_the_rate_of_the_wider_search(plain, verdict):
    noisy = (0.9, 1.0, 1.1)
    final = [{"block": "highway", "depth": 99, "loss": 1e-6 * noise} for noise in noisy]
    final += [{"block": "plain", "depth": 99, "loss": 1e-2 * noise} for noise in noisy]
    wide = [{"block": "plain", "depth": 99, "loss": plain and plain * noise} for noise in noisy]
    records = ({"settings": {}, "trials": wide}, {"settings": {}, "trials": {"final": final}})
    assert verdict_on("figure_1_wide", "two-orders-at-100-in-400-epochs-wide", *records) == verdict
