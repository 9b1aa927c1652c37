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
