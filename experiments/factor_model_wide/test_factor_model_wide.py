"""The factor model at the article's width: the verdict in the world that is complex and not volatile."""

import pytest
from conftest import verdict_on


@pytest.mark.parametrize(
    ("non_linear", "verdict"),
    [
        ([0.60, 0.62, 0.61], "reproduced"),
        ([0.52, 0.53, 0.525], "in part"),  # more than a coin, and less than is of use
        ([0.53, 0.54, 0.55], "in part, the rest not clear"),
        ([0.3, 0.5, 0.7], "not clear"),
        ([0.40, 0.41, 0.42], "not reproduced"),
    ],
)
def test_the_gates_must_tell_complexity_by_enough_to_be_of_use(non_linear, verdict):
    record = {"settings": {}, "trials": [{"world": "non-linear", "auc_gate": auc} for auc in non_linear]}
    assert verdict_on("factor_model_wide", "mean-gate-tells-turbulence-128", record) == verdict
