"""In which order do the headline's nets come, if each has a rate of its own, with pixels in [-1, 1] or in [0, 1]?

    python -m experiments pixels            -> experiments/results/pixels.json

Every kind of net has a rate searched for it, in both intervals of pixels, with the same budget.  The nets: highway with
b_T = -2, highway with gates that stay shut (b_T = -20), no blocks, and plain nets with the program's start, Glorot's,
and orthogonal W_H.  All else is the headline's.  RULES.md has the rules.
"""

from __future__ import annotations

from experiments.headline.pixels_trial import NETS, trial
from highway_networks import PIXELS
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.rules import above, corrected, is_above, mean
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected
from highways.records import with_settings
from highways.statistics import mean_sd_n

RATE = 5e-3  # the headline's
RATES = [RATE * 2**k for k in range(-5, 4)]
FIRST_SEED_OF_SEARCH = 300
FIRST_SEED = 310
GUESSING = 0.1
MARGIN = 0.01  # a net is as accurate as another if it is at most so much less accurate
PLAIN = tuple(kind for kind in NETS if kind.startswith("plain"))
BUDGETS = {
    "quick": {
        "depth": 3,
        "rates": [1e-3, 1e-2],
        "search_seeds": 1,
        "seeds": 2,
        "epochs": 1,
        "n_train": 256,
        "n_held_out": 100,
        "n_test": 100,
    },
    "default": {
        "depth": 30,
        "rates": RATES,
        "search_seeds": 3,
        "seeds": 10,
        "epochs": 12,
        "n_train": 6000,
        "n_held_out": 4000,
        "n_test": 10000,
    },
}


def run(runner: Runner) -> dict:
    fully_connected.data_set()  # forked processes share it
    search = runner.run(trial, settings_of_search(runner.settings), fully_connected.data_of)
    final = runner.run(trial, settings_of_finals(runner.settings, search), fully_connected.data_of)
    return {"search": search, "final": final}


def settings_of_search(budget: dict) -> list[dict]:
    """Every kind of net, in both intervals of pixels, at every rate."""
    found = []
    for pixels in PIXELS:
        for kind in NETS:
            for rate in budget["rates"]:
                for place in range(budget["search_seeds"]):
                    found.append({
                        "pixels": pixels,
                        "kind": kind,
                        "lr": rate,
                        "depth": budget["depth"],
                        "seed": FIRST_SEED_OF_SEARCH + place,
                        "held_out": True,
                        "epochs": budget["epochs"],
                        "n_train": budget["n_train"],
                        "n_test": budget["n_held_out"],
                    })  # fmt: skip
    return found


def settings_of_finals(budget: dict, search: list[dict]) -> list[dict]:
    """Every kind of net, in both intervals of pixels, at the rate that the search found for it."""
    found = []
    for pixels in PIXELS:
        for kind in NETS:
            rate, _ = best_rate(search, kind, pixels)
            for place in range(budget["seeds"]):
                found.append({
                    "pixels": pixels,
                    "kind": kind,
                    "lr": rate,
                    "depth": budget["depth"],
                    "seed": FIRST_SEED + place,
                    "held_out": False,
                    "epochs": budget["epochs"],
                    "n_train": budget["n_train"],
                    "n_test": budget["n_test"],
                })  # fmt: skip
    return found


def best_rate(search: list[dict], kind: str, pixels: str) -> tuple[float, float]:
    """The rate of the highest mean accuracy on held-out images, and that accuracy; the lowest of equal ones."""
    tried = with_settings(search, kind=kind, pixels=pixels)
    accuracies = {}
    for found in tried:
        accuracy = GUESSING if found["diverged"] else found["accuracy"]
        accuracies.setdefault(found["lr"], []).append(accuracy)
    means = {rate: mean(values) for rate, values in sorted(accuracies.items())}
    best = max(means, key=means.get)
    return best, float(means[best])


def best_plain(search: list[dict], pixels: str) -> str:
    """The plain net, by its start, of the highest mean accuracy on held-out images."""
    return max(PLAIN, key=lambda kind: best_rate(search, kind, pixels)[1])


def rows(record: dict) -> list[dict]:
    """A row for each kind of net in each interval of pixels; highway less every other net."""
    search, final = record["trials"]["search"], record["trials"]["final"]
    result = []
    for pixels in PIXELS:
        for kind in NETS:
            rate, held_out = best_rate(search, kind, pixels)
            result.append({
                "row": "net",
                "pixels": pixels,
                "kind": kind,
                "lr": rate,
                "held_out_accuracy": held_out,
                "test_accuracy": mean_sd_n(values_of(final, "accuracy", kind=kind, pixels=pixels)),
                "loss": mean_sd_n(values_of(final, "loss", kind=kind, pixels=pixels)),
            })  # fmt: skip
        result.append({"row": "plain", "pixels": pixels, "best_start": best_plain(search, pixels)})
        for kind in NETS:
            if kind != "highway":
                gain = mean_sd_n(differences(record, "highway", kind, pixels))
                result.append({"row": "gain", "pixels": pixels, "over": kind, "gain": gain})
    return result


def differences(record: dict, kind: str, other: str, pixels: str) -> Sample:
    """The accuracy of one kind less that of another, seed by seed; None where one diverged."""
    final = record["trials"]["final"]
    ours = values_of(final, "accuracy", kind=kind, pixels=pixels)
    theirs = values_of(final, "accuracy", kind=other, pixels=pixels)
    found = []
    for our, their in zip(ours, theirs, strict=True):
        found.append(None if our is None or their is None else our - their)
    return Sample(found, f"{kind} less {other}, pixels in {pixels}")


# ---- Claims -------------------------------------------------------------------------------------


def is_at_an_end(record: dict, kind: str, pixels: str) -> bool:
    """Whether the rate that was found for a net lies at an end of those that were tried."""
    rates = record["settings"]["rates"]
    rate, _ = best_rate(record["trials"]["search"], kind, pixels)
    return rate in (min(rates), max(rates))


def unless_at_an_end(record: dict, parts: list[bool | None], nets: list[list[tuple[str, str]]]) -> list[bool | None]:
    """The parts of a row; open where a net of a part, (kind, pixels), has a rate at an end."""
    found = []
    for part, of_part in zip(parts, nets, strict=True):
        is_open = any(is_at_an_end(record, kind, pixels) for kind, pixels in of_part)
        found.append(None if is_open else part)
    return found


def highway_over(record: dict, other: str, bound: float) -> tuple[list[bool | None], str]:
    """Whether highway less another net exceeds the bound, in both intervals of pixels; and as text."""
    samples = [differences(record, "highway", other, pixels) for pixels in PIXELS]
    parts = corrected(*(is_above(sample, bound) for sample in samples))
    nets = [[("highway", pixels), (other, pixels)] for pixels in PIXELS]
    text = "; ".join(f"pixels in {pixels}: {effect_as_text(s)}" for pixels, s in zip(PIXELS, samples, strict=True))
    return unless_at_an_end(record, parts, nets), f"highway less {other}, {text}"


SOURCE = "a question of our own, after a referee"
ABOUT = {"depth": 30, "epochs": 12, "n_train": 6000, "n_test": (4000, 10000)}
KNOWN = "a referee's means at one rate were known before the rule"


@claim("searched-highway-over-shut", kind="open question", source=SOURCE, about=ABOUT, note=KNOWN)
def searched_highway_over_shut(r):
    """are highway nets of thirty blocks more accurate than nets whose gates stay shut, if each has a
    rate of its own? (with pixels in [-1, 1], and in [0, 1])"""
    return highway_over(r, "shut gates", 0)


@claim("searched-highway-over-no-blocks", kind="open question", source=SOURCE, about=ABOUT, note=KNOWN)
def searched_highway_over_no_blocks(r):
    """are highway nets of thirty blocks more accurate than nets without blocks, if each has a rate of
    its own? (with pixels in [-1, 1], and in [0, 1])"""
    return highway_over(r, "no blocks", 0)


@claim("searched-plain-as-accurate", kind="open question", source=SOURCE, about=ABOUT, note=KNOWN)
def searched_plain_as_accurate(r):
    """are plain nets of thirty blocks with their best start as accurate as highway nets, if each has a
    rate of its own? (at most {MARGIN} less, with pixels in [-1, 1], and in [0, 1])"""
    plain = [best_plain(r["trials"]["search"], pixels) for pixels in PIXELS]
    samples = [differences(r, kind, "highway", pixels) for kind, pixels in zip(plain, PIXELS, strict=True)]
    parts = corrected(*(is_above(sample, -MARGIN) for sample in samples))
    nets = [[("highway", pixels), (kind, pixels)] for kind, pixels in zip(plain, PIXELS, strict=True)]
    texts = []
    for kind, pixels, sample in zip(plain, PIXELS, samples, strict=True):
        texts.append(f"pixels in {pixels}: {kind} less highway {effect_as_text(sample)}")
    return unless_at_an_end(r, parts, nets), "; ".join(texts)


@claim("pixels-decide-the-gain", kind="open question", source=SOURCE, about=ABOUT, note=KNOWN)
def pixels_decide_the_gain(r):
    """do highway nets gain more over nets whose gates stay shut with pixels in [0, 1] than in [-1, 1]?
    (seed by seed, each net with a rate of its own)"""
    gains = [differences(r, "highway", "shut gates", pixels) for pixels in reversed(PIXELS)]
    more = []
    for in_0_1, in_1_1 in zip(*gains, strict=True):
        more.append(None if in_0_1 is None or in_1_1 is None else in_0_1 - in_1_1)
    sample = Sample(more, "gain with pixels in [0, 1] less gain with [-1, 1]")
    nets = [[(kind, pixels) for kind in ("highway", "shut gates") for pixels in PIXELS]]
    return unless_at_an_end(r, [above(sample, 0)], nets), f"the gain is larger by {effect_as_text(sample)}"


QUESTION = Question(
    name="pixels",
    source="a referee of this project, after the published program's headline",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
