"""Do nets use more blocks for problems that need more steps, if nobody tells them how many?

    python -m experiments untold_need            -> experiments/results/untold_need.json

In `needed_or_told` the net is told k, and most of the delay lies between problems that settle before k and those
that do not.  Here nothing tells the need: a start lies on a chain, and the answer is the symbol in which the chain
ends (untold_need_trial.py).  Highway nets, whose gates see x, stand beside x + T H, static gates and residual nets,
the last two with two matrices a block, so that all have the same width and about as many parameters; each with
twelve blocks of their own and with one block that is passed twelve times ("tied").

Two measures.  A probe, fitted after every block, tells by which block the answer can be read.  Patches tell by which
block the net has done its work on a problem: its state is moved until the probe reads it as another problem's, and
the net goes on from there.  As long as it still works on the answer, it undoes that.

RULES.md says what was fixed before the runs, and what was expected.
"""

from __future__ import annotations

from experiments.depth_on_demand.depth_on_demand import stat
from experiments.depth_on_demand.untold_need_trial import final_trial, search_trial
from experiments.shared_trials.latin_hypercube import latin_hypercube, on_log_scale, on_scale
from highways.lab.judging.claim import Sample, claim, effect_as_text
from highways.lab.judging.rules import corrected, is_above, is_below, mean, within
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

KINDS = {"highway": "highway", "uncoupled": "uncoupled", "static": "static-two-matrices", "residual": "two-matrices"}
NAMES = {"highway": "highway", "uncoupled": "x + T H", "static": "static gates", "residual": "residual, two matrices"}
TIED = (False, True)
MEASURES = ("probe", "patched", "donor")  # donor: patches, by the need of the other problem
SHALLOW = (1, 2)  # blocks
BUDGETS = {
    "quick": {"chains": 2, "length": 3, "deepest": 2, "width": 6, "depth": 3, "steps": 4, "search_steps": 2, "draws": 2,
              "searches": 2, "n_test": 20, "n_fit": 20},
    "default": {"chains": 2, "length": 4, "deepest": 3, "width": 96, "depth": 12, "steps": 8000, "search_steps": 2000,
                "draws": 4, "searches": 5, "n_test": 1000, "n_fit": 1000},
}  # fmt: skip
# ranges of the search
RATES = (1e-3, 6e-3)
GATE_BIASES = (-3.0, 1.0)
GAINS = (0.1, 1.0)  # of V

MOST_LOST = 1  # of the five nets of a kind; with more there is no verdict
NO_SLOPE = 0.02  # of the depth, a step
DEEPER_HELPS = 0.1  # of the accuracy at the largest need
UNREAD = 0.6  # a probe of an untrained net reads fewer right at the largest need; guessing has 0.5


# ---- Trials -------------------------------------------------------------------------------------


def draws(settings: dict, search: int) -> list[dict]:
    """The settings that every kind tries in one search."""
    found = []
    for rate, gate_bias, gain in latin_hypercube(settings["draws"], 3, search, settings["draws"], 84):
        found.append({
            "lr": on_log_scale(rate, *RATES),
            "gate_bias": on_scale(gate_bias, *GATE_BIASES),
            "gain": on_log_scale(gain, *GAINS),
        })  # fmt: skip
    return found


def run(runner: Runner) -> dict:
    """Search by search: the nets of every kind, then the shallow ones with the settings of the untied."""
    settings = runner.settings
    groups = {"search": [], "final": [], "shallow": []}
    fixed = {name: settings[name] for name in ("chains", "length", "deepest", "width", "depth", "n_test", "n_fit")}
    for search in range(settings["searches"]):
        for tied in TIED:
            for kind, block in KINDS.items():
                common = {"kind": kind, "block": block, "tied": tied, "search": search, **fixed}
                searched = []
                for draw in draws(settings, search):
                    searched.append({**common, **draw, "steps": settings["search_steps"], "seed": 100 + search})
                found = runner.run(search_trial, searched)
                chosen = max(found, key=lambda trial: -1.0 if trial["diverged"] else trial["chosen_by"])
                final = {name: chosen[name] for name in searched[0]}
                final |= {"steps": settings["steps"], "seed": 1 + search}
                groups["search"] += found
                groups["final"] += runner.run(final_trial, [final])
                if not tied:
                    groups["shallow"] += runner.run(final_trial, [{**final, "depth": depth} for depth in SHALLOW])
    return groups


# ---- Summary ------------------------------------------------------------------------------------


def slopes(record: dict, kind: str, tied: bool, measure: str, permuted: bool = False) -> Sample:
    """How many blocks later for one more step, as a share of the depth; a value for each net that solves two needs.

    With `permuted`, less the mean |slope| with needs permuted.  All are None if more than MOST_LOST nets have none."""
    nets = with_settings(record["trials"]["final"], kind=kind, tied=tied)
    found = []
    for net in nets:
        measured = None if net["diverged"] else net["trained"][measure]
        if measured is None or measured["slope"] is None:
            continue
        found.append((measured["slope"] - (measured["permuted"] if permuted else 0)) / net["depth"])
    if len(found) < len(nets) - MOST_LOST:
        found = [None] * len(nets)
    return Sample(found, f"{named(kind, tied)}, {measure}")


def named(kind: str, tied: bool) -> str:
    return f"{NAMES[kind]}, tied" if tied else NAMES[kind]


def at_largest_need(record: dict, kind: str, depth: int | None = None) -> Sample:
    """The accuracy of untied nets at the largest need, of shallow ones if a depth is given.

    A net that diverged guesses."""
    if depth is None:
        nets = with_settings(record["trials"]["final"], kind=kind, tied=False)
    else:
        nets = with_settings(record["trials"]["shallow"], kind=kind, depth=depth)
    guessing = 1 / record["settings"]["chains"]
    return Sample([guessing if net["diverged"] else net["accuracy"][-1] for net in nets], NAMES[kind])


def read_untrained(record: dict, kind: str) -> Sample:
    """What a probe reads right at the largest need in untrained nets, after the block at which that is most."""
    nets = [net for net in with_settings(record["trials"]["final"], kind=kind) if not net["diverged"]]
    return Sample([max(net["untrained"]["probe"]["share"][-1]) for net in nets], f"{NAMES[kind]}, untrained")


def rows(record: dict) -> list[dict]:
    """A row for each kind; one for each kind and need; one for the shallow nets of each kind."""
    result = []
    for tied in TIED:
        for kind in KINDS:
            nets = with_settings(record["trials"]["final"], kind=kind, tied=tied)
            finished = [net for net in nets if not net["diverged"]]
            row = {"row": "net", "kind": kind, "tied": tied, "n_diverged": len(nets) - len(finished)}
            for measure in MEASURES:
                row[measure] = stat([of(net, measure, "slope", 1 / net["depth"]) for net in finished])
                row[f"{measure}_permuted"] = stat([of(net, measure, "permuted", 1 / net["depth"]) for net in finished])
                row[f"{measure}_p"] = stat([net["trained"][measure]["p"] for net in finished])
            result.append(row)
            for place in range(record["settings"]["deepest"]):
                row = {"row": "need", "kind": kind, "tied": tied, "need": place + 1}
                row["accuracy"] = mean_sd_n([net["accuracy"][place] for net in finished])
                for measure in MEASURES:
                    row[measure] = stat([net["trained"][measure]["half_way"][place] for net in finished])
                untrained = [max(net["untrained"]["probe"]["share"][place]) for net in finished]
                row["untrained_probe"] = mean_sd_n(untrained)
                result.append(row)
    for kind in KINDS:
        for depth in SHALLOW:
            nets = with_settings(record["trials"]["shallow"], kind=kind, depth=depth)
            finished = [net for net in nets if not net["diverged"]]
            for place in range(record["settings"]["deepest"]):
                accuracy = mean_sd_n([net["accuracy"][place] for net in finished])
                result.append({"row": "shallow", "kind": kind, "depth": depth, "need": place + 1, "accuracy": accuracy})
    return result


def of(net: dict, measure: str, name: str, factor: float) -> float | None:
    value = net["trained"][measure][name]
    return None if value is None else value * factor


# ---- Claims -------------------------------------------------------------------------------------

SOURCE = "a question of our own, after a referee"
ABOUT = {name: BUDGETS["default"][name] for name in ("length", "width", "n_test")}


def as_text(samples: list[Sample]) -> str:
    return "; ".join(f"{sample.name} {effect_as_text(sample)}" for sample in samples)


def rises(r: dict, kinds: tuple, tied: bool) -> tuple[list, str]:
    """Whether the slopes of these kinds, by the probe, lie above those of permuted needs."""
    samples = [slopes(r, kind, tied, "probe", permuted=True) for kind in kinds]
    return corrected(*(is_above(sample, 0) for sample in samples)), as_text(samples)


@claim("untold-need-is-read-later", kind="open question", source=SOURCE, about=ABOUT)
def untold_need_is_read_later(r):
    """in highway nets that are told no number of steps, can the answer be read by a probe later the more steps a
    problem needs? (above permuted needs)"""
    return rises(r, ("highway",), tied=False)


@claim("untold-need-without-seeing-x", kind="open question", source=SOURCE, about=ABOUT)
def untold_need_without_seeing_x(r):
    """and in nets of x + T H, of static gates, and in residual nets of two matrices?"""
    return rises(r, ("uncoupled", "static", "residual"), tied=False)


@claim("untold-need-with-tied-blocks", kind="open question", source=SOURCE, about=ABOUT)
def untold_need_with_tied_blocks(r):
    """and in nets of all four kinds that pass one block twelve times?"""
    return rises(r, tuple(KINDS), tied=True)


@claim("work-goes-on-for-all-needs-alike", kind="open question", source=SOURCE, about=ABOUT)
def work_goes_on(r):
    """do nets of all four kinds undo the answer of another problem up to the same block, whatever their own problem
    needs? (a step within {NO_SLOPE} of the depth)"""
    samples = [slopes(r, kind, False, "patched") for kind in KINDS]
    return [within(sample, -NO_SLOPE, NO_SLOPE) for sample in samples], as_text(samples)


@claim("untold-need-gates-that-see-x", kind="open question", source=SOURCE, about=ABOUT)
def gates_that_see_x(r):
    """by a probe, is the delay a step larger in highway nets than in nets of static gates and in residual ones?"""
    comparisons = []
    texts = []
    highway = slopes(r, "highway", False, "probe")
    for kind in ("static", "residual"):
        other = slopes(r, kind, False, "probe")
        comparisons.append(is_above(highway, 0, baseline=other))
        texts.append(f"highway less {NAMES[kind]} {effect_as_text(highway, other)}")
    return corrected(*comparisons), "; ".join(texts)


@claim("tied-blocks-spread-the-need", kind="open question", source=SOURCE, about=ABOUT)
def tied_blocks_spread_the_need(r):
    """by a probe, is the delay a step larger if blocks are tied, in all four kinds?"""
    comparisons = []
    texts = []
    for kind in KINDS:
        tied = slopes(r, kind, True, "probe")
        untied = slopes(r, kind, False, "probe")
        comparisons.append(is_above(tied, 0, baseline=untied))
        texts.append(f"{NAMES[kind]}, tied less untied {effect_as_text(tied, untied)}")
    return corrected(*comparisons), "; ".join(texts)


def is_deeper_better(r: dict, depth: int) -> tuple[list, list[str]]:
    """Comparisons of the accuracy at the largest need with that of nets of so many blocks, for each kind."""
    comparisons = []
    texts = []
    for kind in KINDS:
        deep = at_largest_need(r, kind)
        shallow = at_largest_need(r, kind, depth)
        comparisons.append(is_above(deep, DEEPER_HELPS, baseline=shallow))
        texts.append(f"{NAMES[kind]} {mean(deep):.3f}, shallow {mean(shallow):.3f}")
    return comparisons, texts


@claim("untold-need-needs-blocks", kind="open question", source=SOURCE, about=ABOUT)
def needs_blocks(r):
    """do nets of one block answer fewer problems of the largest need than those of twelve, by more than {DEEPER_HELPS},
    and does no probe read it in untrained nets? (fewer than {UNREAD} right)"""
    comparisons, texts = is_deeper_better(r, 1)
    for kind in KINDS:
        untrained = read_untrained(r, kind)
        comparisons.append(is_below(untrained, UNREAD))
        texts.append(f"read in untrained {NAMES[kind]} {mean(untrained):.3f}")
    return corrected(*comparisons), "; ".join(texts)


@claim("untold-need-needs-three-blocks", kind="open question", source=SOURCE, about=ABOUT)
def needs_three_blocks(r):
    """and do nets of two blocks answer fewer, by more than {DEEPER_HELPS}?"""
    comparisons, texts = is_deeper_better(r, 2)
    return corrected(*comparisons), "; ".join(texts)


QUESTION = Question(
    name="untold_need",
    source="a referee of this project, after needed_or_told",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
