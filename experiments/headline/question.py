"""Does a highway net learn at depths where a plain net stays at chance, and what do its gates do?

    python highway_networks.py --seeds 0,1,2,3,4,5,6,7,8,9            -> run_seeds.json
    python highway_networks.py --depths 5,10,20,30,50                 -> run_sweep.json
    python highway_networks.py --depths 5,10 --seeds 0,1,2,3,4,5,6,7,8,9 --out run_shallow.json

The claims judged here are the published program's.  highway_networks.py repeats its trainings:
30 blocks of 50 units, 6000 images of MNIST, 12 epochs of Adam.  This question has no trials of its
own.

Ten seeds at depths 5 and 10 were added after seeds 0 to 2 of depth 10 had been seen (plain:
0.585, 0.105, 0.540).  These rules were written down before the other seeds were run: Plain learns
at depth 5 if its mean test accuracy is above 0.8.  It learns much less at depth 10 if its mean
there is lower by more than half of the published difference.  At each depth the published run is
like ours if it lies in the 95 % prediction interval of one more run of ours.
"""

from __future__ import annotations

import math

from experiments.published import PUBLISHED
from highways.lab.judging.claim import CHOSEN_AFTER, Claim, effect_as_text
from highways.lab.judging.rules import above, corrected, is_above, is_below, mean, prediction_interval, within
from highways.lab.question import Question
from highways.nets.matched_blocks import early_and_late
from highways.statistics import mean_sd_n

PROGRAM = PUBLISHED["program"]
HIGHWAY = PROGRAM["headline"]["highway"]["test_acc"]
PLAIN = PROGRAM["headline"]["plain"]["test_acc"]
HIGHWAY_OVER_SEEDS = PROGRAM["seeds"]["highway"]
PLAIN_AT_5 = PROGRAM["depths"]["5"]["plain"]["test_acc"]
PLAIN_AT_10 = PROGRAM["depths"]["10"]["plain"]["test_acc"]
CHANCE = 0.15  # a net is at chance if its accuracy is below
HEADLINE_LEARNS = 0.85  # a highway net of depth 30 learns if its mean accuracy is above
LEARNS = 0.8  # a net of depth 5 learns if its mean accuracy is above
MUCH = (PLAIN_AT_5 - PLAIN_AT_10) / 2  # a net learns much less than another if it is less accurate by more


def over_runs(record: dict, block: str, name: str) -> list:
    """The number `name` of every run with this block."""
    return [pair[block][name] for pair in record["runs"]]


def accuracies(record: dict) -> dict:
    return {block: over_runs(record, block, "final_test_acc") for block in ("highway", "plain")}


def accuracies_by_depth(record: dict) -> dict:
    """{block: {depth: test accuracy}}."""
    depths = [pair["depth"] for pair in record["runs"]]
    return {block: dict(zip(depths, of_block, strict=True)) for block, of_block in accuracies(record).items()}


def show_by_depth(measured: dict) -> str:
    depths = ", ".join(map(str, measured["highway"]))
    texts = []
    for block, by_depth in measured.items():
        texts.append(f"{block} {', '.join(f'{accuracy:.3f}' for accuracy in by_depth.values())}")
    return f"at depths {depths}: {'; '.join(texts)}"


def flat_and_at_chance(measured: dict) -> list[bool]:
    highway = [*measured["highway"].values()]
    plain_from_20 = [accuracy for depth, accuracy in measured["plain"].items() if depth >= 20]
    return [max(highway) - min(highway) <= 0.04, max(plain_from_20) < CHANCE]


def shallow_plain(record: dict) -> dict:
    """The test accuracies of plain nets of depth 5 and of depth 10, over seeds."""
    pairs = record["runs"]
    return {
        "at_5": [pair["plain"]["final_test_acc"] for pair in pairs if pair["depth"] == 5],
        "at_10": [pair["plain"]["final_test_acc"] for pair in pairs if pair["depth"] == 10],
    }


def predicted(ours: list[float], runs: int) -> tuple[float, float]:
    """The 95 % prediction interval of the mean of so many more runs of ours."""
    return prediction_interval({**mean_sd_n(ours), "runs": len(ours)}, runs)


def is_like_ours(published: float, ours: list[float], runs: int = 1) -> bool:
    """Whether a published mean of so many runs lies in the 95 % prediction interval of ours."""
    low, high = predicted(ours, runs)
    return low <= published <= high


def prediction_as_text(ours: list[float], runs: int) -> str:
    low, high = predicted(ours, runs)
    return f"{effect_as_text(ours)}; prediction interval of {runs} more runs {low:.3f} to {high:.3f}"


def learns_less_at_10(measured: dict) -> list[bool | None]:
    at_5 = measured["at_5"]
    at_10 = measured["at_10"]
    learns_and_less = corrected(is_above(at_5, LEARNS), is_above(at_5, MUCH, baseline=at_10))
    return [*learns_and_less, is_like_ours(PLAIN_AT_5, at_5), is_like_ours(PLAIN_AT_10, at_10)]


def losses_over_epochs(record: dict) -> dict:
    """The training losses of plain nets after each epoch, over seeds."""
    histories = [history["train_loss"] for history in over_runs(record, "plain", "history")]
    return {"losses": [list(of_epoch) for of_epoch in zip(*histories, strict=True)]}


def gates_by_third(record: dict) -> dict:
    """Mean T of the lower and of the upper third of the layers, over seeds."""
    thirds = [early_and_late(mean_T) for mean_T in over_runs(record, "highway", "final_T_per_layer")]
    return {
        "lower": [lower for lower, _ in thirds],
        "upper": [upper for _, upper in thirds],
        "more": [lower - upper for lower, upper in thirds],
    }


SEEDS = {"data_set": "MNIST", "depth": 30, "n_train": 6000}
SWEEP = {"data_set": "MNIST", "n_train": 6000}
CLAIMS = (
    Claim(
        id="highway-learns-plain-does-not",
        source="published program",
        says=f"at depth 30 highway nets learn (published accuracy {HIGHWAY}; bound: above {HEADLINE_LEARNS}), plain "
        f"nets stay at chance (published {PLAIN}; bound: below {CHANCE})",
        over=("run_seeds",),
        about=SEEDS,
        measure=accuracies,
        show="highway {highway:interval}, plain {plain:interval}",
        holds=lambda m: corrected(is_above(m["highway"], HEADLINE_LEARNS), is_below(m["plain"], CHANCE)),
        note=CHOSEN_AFTER,
    ),
    Claim(
        id="no-overlap-over-seeds",
        source="published program",
        says="at depth 30 the accuracies of highway and plain nets do not overlap (every highway net is more "
        "accurate than every plain net)",
        over=("run_seeds",),
        about=SEEDS,
        measure=accuracies,
        show=lambda m: f"the lowest of highway {min(m['highway']):.3f}, the highest of plain {max(m['plain']):.3f}",
        holds=lambda m: [min(m["highway"]) > max(m["plain"])],
        note="three published seeds, ten here",
    ),
    Claim(
        id="highway-over-three-seeds",
        source="published program",
        says=f"at depth 30 the accuracy of highway nets, a mean over seeds, is {mean(HIGHWAY_OVER_SEEDS):.3f} "
        f"({', '.join(map(str, HIGHWAY_OVER_SEEDS))}; it lies in the 95 % prediction interval of three more runs here)",
        over=("run_seeds",),
        about=SEEDS,
        measure=lambda r: {"highway": over_runs(r, "highway", "final_test_acc")},
        show=lambda m: prediction_as_text(m["highway"], len(HIGHWAY_OVER_SEEDS)),
        holds=lambda m: [is_like_ours(mean(HIGHWAY_OVER_SEEDS), m["highway"], len(HIGHWAY_OVER_SEEDS))],
        note=f"{CHOSEN_AFTER}: a first rule, a mean within 0.02, could not be decided with three published seeds",
    ),
    Claim(
        id="plain-loss-stays",
        source="published program",
        says="at depth 30 the training loss of plain nets stays at log 10 for the entire run (within 0.01, after "
        "each of the 12 epochs)",
        over=("run_seeds",),
        about=SEEDS,
        measure=losses_over_epochs,
        show=lambda m: (
            f"after the last epoch {effect_as_text(m['losses'][-1])}; of all epochs and seeds "
            f"{min(map(min, m['losses'])):.4f} to {max(map(max, m['losses'])):.4f}"
        ),
        holds=lambda m: [within(of_epoch, math.log(10) - 0.01, math.log(10) + 0.01) for of_epoch in m["losses"]],
        note=f"{CHOSEN_AFTER}; at first judged after the last epoch alone",
    ),
    Claim(
        id="highway-is-flat-in-depth",
        source="published program",
        says="the accuracy of highway nets is flat from depth 5 to 50 (within 0.04), that of plain nets is at chance "
        f"from 20 on (below {CHANCE})",
        over=("run_sweep",),
        about=SWEEP,
        measure=accuracies_by_depth,
        show=show_by_depth,
        holds=flat_and_at_chance,
        note=CHOSEN_AFTER,
        one_run=True,
    ),
    Claim(
        id="plain-at-5-and-10",
        source="published program",
        says=f"plain nets learn at depth 5 (published accuracy {PLAIN_AT_5}) and much less at 10 (published "
        f"{PLAIN_AT_10}; bounds: above {LEARNS}; lower by {MUCH:.2f} or more; each published run lies in the 95 % "
        "prediction interval of one more run here)",
        over=("run_shallow",),
        about={"data_set": "MNIST", "n_train": 6000},
        measure=shallow_plain,
        show=lambda m: (
            f"at depth 5 {effect_as_text(m['at_5'])}; at 10 {effect_as_text(m['at_10'])}, lowest {min(m['at_10'])}; "
            f"difference {effect_as_text(m['at_5'], m['at_10'])}"
        ),
        holds=learns_less_at_10,
        note="rule chosen after three of the ten seeds",
    ),
    Claim(
        id="lower-layers-more-open",
        source="published program",
        says="lower layers develop higher T, upper layers keep it low (mean T of blocks 1 to 10 against the last 10 "
        "of 30)",
        over=("run_seeds",),
        about=SEEDS,
        measure=gates_by_third,
        show="mean T of the lower third {lower:2}, of the upper {upper:2}: difference {more:interval}",
        holds=lambda m: [above(m["more"], 0)],
        note=CHOSEN_AFTER,
    ),
)

QUESTION = Question(name="headline", source="the published program; the paper, section 2.2", claims=CLAIMS)
