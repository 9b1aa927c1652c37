"""In which order do the headline's nets come, if each has a rate of its own, with pixels in [-1, 1] or in [0, 1]?

    python -m experiments pixels            -> experiments/results/pixels.json

Every kind of net has a rate searched for it, in both intervals of pixels, with the same budget.  The nets: highway with
b_T = -2, highway with gates that stay shut (b_T = -20), no blocks, and plain nets with the program's start, Glorot's,
and orthogonal W_H.  All else is the headline's.  RULES.md has the rules.
"""

from __future__ import annotations

from experiments.headline.pixels_trial import NETS, trial
from experiments.shared_trials import fully_connected
from highway_networks import PIXELS
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.rules import above, corrected, is_above
from highways.lab.judging.searched_rates import accuracies_by_rate, any_at_an_end, best_rate, less
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

RATE = 5e-3  # the headline's
RATES = [RATE * 2**k for k in range(-5, 4)]
FIRST_SEED_OF_SEARCH = 300
FIRST_SEED = 310
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
            rate = best_rate(search, kind=kind, pixels=pixels)
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


def best_plain(search: list[dict], pixels: str) -> str:
    """The plain net, by its start, of the highest mean accuracy on held-out images."""
    return max(PLAIN, key=lambda kind: max(accuracies_by_rate(search, kind=kind, pixels=pixels).values()))


def rows(record: dict) -> list[dict]:
    """A row for each kind of net in each interval of pixels; highway less every other net."""
    search = record["trials"]["search"]
    final = record["trials"]["final"]
    result = []
    for pixels in PIXELS:
        for kind in NETS:
            held_out = accuracies_by_rate(search, kind=kind, pixels=pixels)
            rate = best_rate(search, kind=kind, pixels=pixels)
            result.append({
                "row": "net",
                "pixels": pixels,
                "kind": kind,
                "lr": rate,
                "held_out_accuracy": held_out[rate],
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
    name = f"{kind} less {other}, pixels in {pixels}"
    return less(record, {"kind": kind, "pixels": pixels}, {"kind": other, "pixels": pixels}, name)


# ---- Claims -------------------------------------------------------------------------------------


def exceed(record: dict, bound: float, pairs: list[tuple[str, str, str]]) -> tuple[list[bool | None], list[Sample]]:
    """For each (kind, other, pixels): whether the kind's accuracy less the other's exceeds the bound; and the
    differences."""
    samples = [differences(record, *pair) for pair in pairs]
    parts = []
    for part, (kind, other, pixels) in zip(corrected(*(is_above(s, bound) for s in samples)), pairs, strict=True):
        nets = ({"kind": kind, "pixels": pixels}, {"kind": other, "pixels": pixels})
        parts.append(None if any_at_an_end(record, *nets) else part)
    return parts, samples


def highway_over(record: dict, other: str) -> tuple[list[bool | None], str]:
    """Whether highway nets are more accurate than others, in both intervals of pixels; and as text."""
    parts, samples = exceed(record, 0, [("highway", other, pixels) for pixels in PIXELS])
    text = "; ".join(f"pixels in {pixels}: {effect_as_text(s)}" for pixels, s in zip(PIXELS, samples, strict=True))
    return parts, f"highway less {other}, {text}"


SOURCE = "a question of our own, after a referee"
ABOUT = {"depth": 30, "epochs": 12, "n_train": 6000, "n_test": (4000, 10000)}


@claim("searched-highway-over-shut", kind="open question", source=SOURCE, about=ABOUT, seen=True)
def searched_highway_over_shut(r):
    """are highway nets of thirty blocks more accurate than nets whose gates stay shut, if each has a
    rate of its own? (with pixels in [-1, 1], and in [0, 1])"""
    return highway_over(r, "shut gates")


@claim("searched-highway-over-no-blocks", kind="open question", source=SOURCE, about=ABOUT, seen=True)
def searched_highway_over_no_blocks(r):
    """are highway nets of thirty blocks more accurate than nets without blocks, if each has a rate of
    its own? (with pixels in [-1, 1], and in [0, 1])"""
    return highway_over(r, "no blocks")


@claim("searched-plain-as-accurate", kind="open question", source=SOURCE, about=ABOUT, seen=True)
def searched_plain_as_accurate(r):
    """are plain nets of thirty blocks with their best start as accurate as highway nets, if each has a
    rate of its own? (at most {MARGIN} less, with pixels in [-1, 1], and in [0, 1])"""
    plain = [best_plain(r["trials"]["search"], pixels) for pixels in PIXELS]
    pairs = [(kind, "highway", pixels) for kind, pixels in zip(plain, PIXELS, strict=True)]
    parts, samples = exceed(r, -MARGIN, pairs)
    texts = []
    for kind, pixels, sample in zip(plain, PIXELS, samples, strict=True):
        texts.append(f"pixels in {pixels}: {kind} less highway {effect_as_text(sample)}")
    return parts, "; ".join(texts)


@claim("pixels-decide-the-gain", kind="open question", source=SOURCE, about=ABOUT, seen=True)
def pixels_decide_the_gain(r):
    """do highway nets gain more over nets whose gates stay shut with pixels in [0, 1] than in [-1, 1]?
    (seed by seed, each net with a rate of its own)"""
    gains = [differences(r, "highway", "shut gates", pixels) for pixels in reversed(PIXELS)]
    more = []
    for in_0_1, in_1_1 in zip(*gains, strict=True):
        more.append(None if in_0_1 is None or in_1_1 is None else in_0_1 - in_1_1)
    sample = Sample(more, "gain with pixels in [0, 1] less gain with [-1, 1]")
    nets = [{"kind": kind, "pixels": pixels} for kind in ("highway", "shut gates") for pixels in PIXELS]
    gains_more = above(sample, 0)
    return [None if any_at_an_end(r, *nets) else gains_more], f"the gain is larger by {effect_as_text(sample)}"


QUESTION = Question(
    name="pixels",
    source="a referee of this project, after the published program's headline",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
