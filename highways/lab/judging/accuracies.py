"""Test accuracies over seeds, and the rules that judge a published accuracy by them.

Only whole runs of the published protocol can reproduce a published number, or fail to.  Runs of
another recipe leave it untested; the verdict may add that they reach as much.
"""

from __future__ import annotations

from dataclasses import dataclass

from highways.lab.judging.claim import sample_as_text
from highways.lab.judging.rules import interval, mean, prediction_interval, standard_error
from highways.verdict import ONE_RUN, Verdict, verdict_of_parts

ERRORS = 1.96  # a 95 % interval reaches this many standard errors to either side of the mean
REACHES = ", which reaches it"  # another recipe than the paper's


@dataclass(frozen=True)
class Accuracies:
    """Test accuracies of runs that differ only in their seed."""

    over_seeds: list[float | None]  # None where the run diverged
    epochs: int
    images: int  # test images

    @classmethod
    def of(cls, runs: list[dict]) -> Accuracies:
        """The accuracies of whole convolutional runs; raises LookupError where there are none."""
        if not runs:
            raise LookupError("there are no such runs")
        return cls([run["test_accuracy"] for run in runs], runs[0]["epochs"], runs[0]["n_test"])

    def __str__(self) -> str:
        unit = "epoch" if self.epochs == 1 else "epochs"
        return f"{sample_as_text(self.percents, 4)} in {self.epochs} {unit}"

    @property
    def percents(self) -> list[float | None]:
        return [None if accuracy is None else 100 * accuracy for accuracy in self.over_seeds]

    @property
    def mean(self) -> float:
        """NaN where a run diverged."""
        return mean(self.over_seeds)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean over the seeds; of one run, its accuracy twice.

        NaN where a run diverged."""
        if len(self.over_seeds) == 1:
            return self.mean, self.mean
        return interval(self.over_seeds, resolution=1 / self.images)

    @property
    def all_diverged(self) -> bool:
        return self.over_seeds.count(None) == len(self.over_seeds)

    @property
    def standard_error(self) -> float:
        """The mean's error from the number of test images; NaN where a run diverged.

        More runs do not reduce it: all are tested on the same images."""
        return standard_error(self.mean, self.images)

    def verdict(self, holds: bool | None) -> Verdict:
        """The verdict on a claim that holds, or not; adds ONE_RUN if it rests on one."""
        verdict = verdict_of_parts([holds])
        return verdict.plus(ONE_RUN) if len(self.over_seeds) == 1 else verdict


# ---- Rules --------------------------------------------------------------------------------------


def reaches(
    published: dict,
    epochs: int,
    paper: Accuracies | None,
    other: Accuracies | None,
) -> Verdict:
    """The verdict on a published accuracy {mean, sd, runs} of nets trained for `epochs` epochs.

    `paper` has our runs by the paper's protocol, `other` those by another recipe; at least one of
    the two is not None.  If `paper` is None, the verdict is "not tested".

    Our 95 % interval by the paper's protocol must lie in a range around the published mean; of one
    run, its accuracy must.  The range is the prediction interval of the published runs.  If no
    deviation is published, the range reaches 1.96 of our standard errors to either side of the
    published mean.  The verdict is "not clear" if only a part of our interval lies in the range: then
    our runs are consistent with the published ones, and do not decide.  If a run diverged it is
    "not clear", too, and "not reproduced" if all did.

    If the published mean is rounded, "mean_between" has the least and the greatest mean that it
    may stand for.  The verdict is "not clear" if it depends on which mean is meant."""
    if paper is None:
        return not_tested(epochs, other)
    low, high = paper.interval
    ranges = ranges_of(published, paper)
    lows = [low_of_range for low_of_range, _ in ranges]
    highs = [high_of_range for _, high_of_range in ranges]
    if max(lows) <= low and high <= min(highs):
        is_inside = True
    elif high < min(lows) or max(highs) < low or paper.all_diverged:
        is_inside = False
    else:
        is_inside = None
    return paper.verdict(is_inside)


def ranges_of(published: dict, paper: Accuracies) -> list[tuple[float, float]]:
    """The range in which our mean must lie: one, or two for a rounded mean, those of the least and
    the greatest mean that it may stand for."""
    ranges = []
    for mean_of_theirs in published.get("mean_between", [published["mean"]]):
        if published["sd"]:
            as_if = {**published, "mean": mean_of_theirs}
            ranges.append(prediction_interval(as_if, len(paper.over_seeds)))
        else:
            margin = ERRORS * paper.standard_error
            ranges.append((mean_of_theirs - margin, mean_of_theirs + margin))
    return ranges


def is_at_least(
    bound: float,
    epochs: int,
    paper: Accuracies | None,
    other: Accuracies | None,
    errors: float = ERRORS,
) -> Verdict:
    """The verdict on the claim that an accuracy is at least `bound`.

    It is "reproduced" if our mean lies above the bound by more than `errors` standard errors, "not
    reproduced" if it lies below the bound by more than that or if all runs diverged, and otherwise
    "not clear".

    Only runs of the paper's protocol decide this.  Without them (`paper` is None, and `other` is
    not), the verdict is "not tested".  It says so if the runs by another recipe lie above the
    bound by more than `errors` standard errors."""
    if paper is None:
        reached = other.mean - bound > errors * other.standard_error
        verdict = not_tested(epochs, other)
        return verdict.plus(REACHES) if reached else verdict
    excess = paper.mean - bound
    margin = errors * paper.standard_error
    if excess > margin:
        return paper.verdict(True)
    return paper.verdict(False if excess < -margin or paper.all_diverged else None)


def not_tested(epochs: int, other: Accuracies) -> Verdict:
    return Verdict("not tested", (f" in {epochs} epochs", f"; {other} of another recipe"))


# ---- As text ------------------------------------------------------------------------------------


def side_by_side(
    published: dict,
    paper: Accuracies | None,
    other: Accuracies | None,
    name_of_other: str,
) -> str:
    """Our accuracies as text: by the paper's protocol, with the range that the published accuracy
    makes us expect, and by the other recipe."""
    parts = []
    if paper:
        parts.append(f"{paper} ({expected(published, paper)})")
    if other:
        parts.append(f"{name_of_other}: {other}")
    return "; ".join(parts)


def expected(published: dict, paper: Accuracies, errors: float = ERRORS) -> str:
    """The prediction interval in percent, after our own interval if there are several runs.

    If no deviation is published, as many standard errors as the rule allows for, which there are
    only if no run diverged."""
    if published.get("sd"):
        intervals = []
        for low, high in ranges_of(published, paper):
            intervals.append(f"{100 * low:.2f} to {100 * high:.2f}")
        text = f"95 % prediction interval {' or '.join(intervals)}"
        if len(paper.over_seeds) > 1:
            low, high = paper.interval
            text = f"95 %: {100 * low:.2f} to {100 * high:.2f}; {text}"
        return text
    if None in paper.over_seeds:
        return "no standard error, since a run diverged"
    margin = 100 * errors * paper.standard_error
    return f"± {margin:.2f}, {errors} standard errors on {paper.images} images"
