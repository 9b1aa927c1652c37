"""Deep and narrow nets beside shallow and wide ones: as many parameters, the verdicts, and the
picture."""

import pytest
from conftest import verdict_on

from experiments.depth_for_width import question as depth_for_width
from highways.nets.fully_connected import ALL


def record_of(accuracies: dict) -> dict:
    """A record of three seeds of these nets, {(block, width, depth): accuracy}."""
    final = []
    for net, accuracy in accuracies.items():
        for seed in range(3):
            final.append({**depth_for_width.settings_of(net), **ALL, "test_accuracy": accuracy + seed / 1e4})
    return {"settings": {}, "trials": {"final": final}}


def test_the_nets_have_as_many_parameters():
    shallow = depth_for_width.parameters(depth_for_width.SHALLOW)
    for net in (depth_for_width.DEEP, depth_for_width.WIDE):
        assert depth_for_width.parameters(net) == pytest.approx(shallow, rel=0.03)
    assert depth_for_width.parameters(depth_for_width.DEEP_AND_NARROWER) == pytest.approx(0.8 * shallow, rel=0.03)
    assert depth_for_width.parameters(depth_for_width.PLAIN) == pytest.approx(1.2 * shallow, rel=0.03)


@pytest.mark.parametrize(
    ("deep", "narrower", "expected"),
    [(0.97, 0.97, "reproduced"), (0.97, 0.96, "in part"), (0.96, 0.96, "not reproduced")],
)
def test_the_verdict_on_depth_for_width(deep, narrower, expected):
    record = record_of({depth_for_width.DEEP: deep, depth_for_width.DEEP_AND_NARROWER: narrower})
    blocks = {"experiment": "blocks", **record_of({depth_for_width.SHALLOW: 0.97, depth_for_width.PLAIN: 0.97})}
    more_seeds = {"settings": {}, "trials": {"blocks": []}}
    assert verdict_on("depth_for_width", "depth-makes-up-for-width", record, blocks, more_seeds) == expected


@pytest.mark.parametrize(("wide", "expected"), [(0.97, "reproduced"), (0.98, "not reproduced")])
def test_the_verdict_on_wide_maxout(wide, expected):
    record = record_of({depth_for_width.DEEP: 0.97, depth_for_width.WIDE: wide})
    assert verdict_on("depth_for_width", "deep-and-narrow-matches-wide-maxout", record) == expected
