"""Where the law's constants come from: the trainings of `what_trains`, at four rates a cell.

    python -m experiments.trainable_depth.calibration

They are 336 cells of other blocks, depths and epochs than those of this question.  Cells with ReLU are
left out, and of the three kinds that begin as the same net only one is taken.  Each rate of a cell is a
point: all seeds ended below a loss, or not.  The constants are those with most points right, on a grid of
tenths of a decade; of several equally good ones it is the middle one.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from experiments.trainable_depth import law
from highways.files import ROOT
from highways.records import load_results, path_of

RECORD = ROOT / path_of("what_trains")
PIXELS = law.Pixels(d_in=784, square=725.3, spread=211.0, absolute=741.4)  # of 6000 images in [-1, 1]
STEPS = 46 * (1 - 0.9**12) / (1 - 0.9)  # 12 epochs of 46 steps whose rate falls to 0.9 an epoch
SAME_START = ("convex", "static scalar")  # as static unit
LOSSES = (0.9 * math.log(10), 1.5, 0.3)


@functools.cache
def cells_and_values() -> list[tuple[dict, tuple]]:
    """Every cell, with its K, M, share and S."""
    found = []
    for cell in load_results(RECORD)["trials"]["trained"]:
        if cell["activation"] != "tanh" or cell["kind"] in SAME_START:
            continue
        start = law.start_of(cell, PIXELS)
        values = (law.signal(start), law.movement(start), law.share_in_blocks(start), law.passed(start))
        found.append((cell, values))
    return found


def points(loss: float) -> dict[str, np.ndarray]:
    """K, M, share, S, rate and outcome of every point, and the number of its cell."""
    found = []
    for number, (cell, values) in enumerate(cells_and_values()):
        for rate, losses in zip(cell["effective_lr"], cell["loss"], strict=True):
            trained = all(value is not None and value < loss for value in losses)
            found.append((*values, rate, trained, number))
    names = ("K", "M", "share", "S", "rate", "trained", "cell")
    return {name: np.array(column) for name, column in zip(names, zip(*found, strict=True), strict=True)}


def middle(candidates: list[tuple]) -> tuple:
    """Of (share right, *constants) the middle one among the best."""
    best = max(candidate[0] for candidate in candidates)
    good = sorted(candidate for candidate in candidates if candidate[0] > best - 1e-9)
    return good[len(good) // 2]


def decades(low: float, high: float) -> np.ndarray:
    return np.round(np.arange(low, high + 0.05, 0.1), 1)


def fitted(loss: float) -> dict[str, tuple]:
    """The best constants of each line at this loss, each with its share of points right."""
    at = points(loss)
    waits = np.array([law.wait(K) for K in at["K"]]) / STEPS
    found = {"law": [], "share": [], "one rate": []}
    for a in decades(0, 4):
        low = 10**a * waits <= at["rate"]
        for top in decades(-1, 2):
            high = at["rate"] <= 10**top / (1 + at["M"])
            found["law"].append((np.mean((low & high) == at["trained"]), a, top))
            high = at["rate"] <= 10**top
            found["one rate"].append((np.mean((low & high) == at["trained"]), a, top))
            for slope in decades(0, 3)[::2]:
                high = at["rate"] <= 10 ** (top - slope * at["share"])
                found["share"].append((np.mean((low & high) == at["trained"]), a, top, slope))
    result = {name: tuple(map(float, middle(candidates))) for name, candidates in found.items()}
    cells = np.unique(at["cell"])
    trains = np.array([at["trained"][at["cell"] == cell].any() for cell in cells])
    for name, values in (("S", at["S"]), ("log10 K", np.log10(at["K"]))):
        value = np.array([values[at["cell"] == cell][0] for cell in cells])
        lows = np.round(np.arange(-7, 2, 0.05), 2)
        result[name] = tuple(map(float, middle([(np.mean((value > low) == trains), low) for low in lows])))
    return result


if __name__ == "__main__":
    for loss in LOSSES:
        print(f"loss {loss:.4f}")
        for name, constants in fitted(loss).items():
            print(f"    {name:10}", *(f"{number:.3f}" for number in constants))
