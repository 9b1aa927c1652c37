"""The rules by which the published program's numbers are compared with ours."""

import pytest
from conftest import verdict_on

from experiments.headline import question


def test_a_published_run_is_like_ours_where_one_more_of_ours_could_be_it():
    ours = [0.85, 0.86, 0.87, 0.88, 0.86]
    assert question.is_like_ours(0.864, ours)
    assert not question.is_like_ours(0.95, ours)


@pytest.mark.parametrize(
    ("at_10", "verdict"),
    [
        ([0.29, 0.3, 0.28], "reproduced"),
        ([0.84, 0.85, 0.86], "in part"),  # plain nets of depth 10 learn as well as those of depth 5
    ],
)
def test_plain_learns_much_less_at_10(at_10, verdict):
    runs = []
    for depth, accuracies in ((5, [0.86, 0.87, 0.85]), (10, at_10)):
        runs += [{"depth": depth, "plain": {"final_test_acc": accuracy}} for accuracy in accuracies]
    assert verdict_on("headline", "plain-at-5-and-10", {"runs": runs}) == verdict


@pytest.mark.parametrize(
    ("highway", "plain", "verdict"),
    [(0.9, 0.11, "reproduced"), (0.9, 0.3, "in part"), (0.3, 0.11, "in part"), (0.3, 0.3, "not reproduced")],
)
def test_highway_nets_must_learn_and_plain_ones_stay_at_chance(highway, plain, verdict):
    runs = []
    for noise in (-0.001, 0, 0.001):
        runs.append({"highway": {"final_test_acc": highway + noise}, "plain": {"final_test_acc": plain + noise}})
    assert verdict_on("headline", "highway-learns-plain-does-not", {"runs": runs}) == verdict


@pytest.mark.parametrize(
    ("lower", "upper", "verdict"),
    [(0.3, 0.1, "reproduced"), (0.1, 0.3, "not reproduced"), (0.1, 0.1, "not clear")],
)
def test_lower_layers_are_the_first_ten_of_thirty(lower, upper, verdict):
    """The ten between the two thirds do not count."""
    runs = []
    for noise in (-0.001, 0, 0.001):
        runs.append({"highway": {"final_T_per_layer": [lower + noise] * 10 + [0.9] * 10 + [upper] * 10}})
    assert verdict_on("headline", "lower-layers-more-open", {"runs": runs}) == verdict
