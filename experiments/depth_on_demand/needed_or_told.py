"""Does a net use as many blocks as a problem needs, or as many as it is told?

    python -m experiments needed_or_told            -> experiments/results/needed_or_told.json

In `depth_on_demand` deeper problems are decided in later blocks.  But there k is told, and a random table has
numbers that point to themselves: a way that reaches one needs fewer steps than k.  So the slope over k mixes
two things.  Here the nets of that question's first level of pointers, highway (sees x), static gates (unit)
and x + T H (uncoupled), are trained with the settings that it chose, over five new seeds, and measured on
problems in which the steps told and the steps needed differ.

Two measures of a problem's block, over problems answered right:

decided   the block from which on the answer read from the state stays the same
worked    the block by which 0.9 of the state's changes are done.  A net that walks step by step and lets its
          place be read is decided early on a way that settles, even if it goes on working; this one it is not

RULES.md says what was fixed before the runs, and what was expected.
"""

from __future__ import annotations

from experiments.depth_on_demand.needed_or_told_trial import trial
from highways.lab.judging.claim import Sample, claim, effect_as_text
from highways.lab.judging.rules import corrected, is_above, within
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

LEVEL = "pointer-1"
KINDS = {"full": "highway nets", "unit": "static gates", "uncoupled": "x + T H"}
MEASURES = ("decided", "worked")
FIRST_SEED = 11
NO_SLOPE = 0.02  # of the depth, a step
# what a chosen setting of depth_on_demand holds
SETTING = ("level", "task", "size", "deepest", "trained_on", "kind", "block", "width", "depth", "steps", "start", "lr",
           "gain", "gate_bias", "scale")  # fmt: skip
BUDGETS = {
    "quick": {"seeds": 2, "n_test": 200, "steps": 6},
    "default": {"seeds": 5, "n_test": 6000},
}


def run(runner: Runner) -> list[dict]:
    final = runner.needed["depth_on_demand"]["trials"]["final"]
    settings = []
    for kind in KINDS:
        chosen = with_settings(final, level=LEVEL, kind=kind)[0]
        setting = {name: chosen[name] for name in SETTING if name in chosen}
        setting["steps"] = runner.settings.get("steps", setting["steps"])
        for place in range(runner.settings["seeds"]):
            settings.append({**setting, "seed": FIRST_SEED + place, "n_test": runner.settings["n_test"]})
    return runner.run(trial, settings)


def slopes(record: dict, kind: str, measure: str, steps: str, when: str = "trained") -> Sample:
    """A value for each net: the slope over needed or told steps, as a share of the depth; None if it diverged."""
    found = []
    for of_net in with_settings(record["trials"], kind=kind):
        is_lost = of_net["diverged"] or of_net[when] is None
        found.append(None if is_lost else of_net[when][measure][steps] / of_net["depth"])
    return Sample(found, f"{KINDS[kind]}, {measure}, a step {steps}")


def rows(record: dict) -> list[dict]:
    """A row for each kind and measure; then one for each kind and pair of told and needed steps."""
    result = []
    for kind in KINDS:
        for measure in MEASURES:
            row = {"row": "slopes", "kind": kind, "measure": measure}
            for steps in ("needed", "told"):
                row[steps] = mean_sd_n(slopes(record, kind, measure, steps))
                row[f"untrained_{steps}"] = mean_sd_n(slopes(record, kind, measure, steps, "untrained"))
            result.append(row)
    for kind in KINDS:
        nets = [of_net for of_net in with_settings(record["trials"], kind=kind) if not of_net["diverged"]]
        pairs = sorted({(cell["told"], cell["needed"]) for of_net in nets for cell in of_net["trained"]["cells"]})
        for told, needed in pairs:
            cells = []
            for of_net in nets:
                cells += with_settings(of_net["trained"]["cells"], told=told, needed=needed)
            row = {"row": "cell", "kind": kind, "told": told, "needed": needed}
            for name in ("accuracy", *MEASURES):
                row[name] = mean_sd_n([cell[name] for cell in cells if cell[name] is not None])
            result.append(row)
    return result


# ---- Claims -------------------------------------------------------------------------------------

SOURCE = "a question of our own, after a referee"
ABOUT = {"n_test": BUDGETS["default"]["n_test"], "level": LEVEL}


@claim("blocks-follow-the-need", kind="open question", source=SOURCE, about=ABOUT)
def blocks_follow_the_need(r):
    """do highway nets decide a pointer problem in a later block, and work longer, the more steps it needs, at
    equal told steps?"""
    samples = [slopes(r, "full", measure, "needed") for measure in MEASURES]
    parts = corrected(*(is_above(sample, 0) for sample in samples))
    return parts, "; ".join(f"{sample.name} {effect_as_text(sample)}" for sample in samples)


@claim("told-steps-count-nothing", kind="open question", source=SOURCE, about=ABOUT)
def told_steps_count_nothing(r):
    """does a step more that highway nets are told, but that a problem does not need, change nothing? (block
    by less than {NO_SLOPE} of the depth)"""
    samples = [slopes(r, "full", measure, "told") for measure in MEASURES]
    parts = [within(sample, -NO_SLOPE, NO_SLOPE) for sample in samples]
    return parts, "; ".join(f"{sample.name} {effect_as_text(sample)}" for sample in samples)


@claim("need-counts-more-than-told", kind="open question", source=SOURCE, about=ABOUT)
def need_counts_more(r):
    """in highway nets, does a step that is needed count more than one that is told?"""
    comparisons = []
    texts = []
    for measure in MEASURES:
        needed = slopes(r, "full", measure, "needed")
        told = slopes(r, "full", measure, "told")
        differences = [None if None in pair else pair[0] - pair[1] for pair in zip(needed, told, strict=True)]
        sample = Sample(differences, f"{measure}, needed less told")
        comparisons.append(is_above(sample, 0))
        texts.append(f"{sample.name} {effect_as_text(sample)}")
    return corrected(*comparisons), "; ".join(texts)


@claim("need-without-seeing-x", kind="open question", source=SOURCE, about=ABOUT)
def need_without_seeing_x(r):
    """do nets whose gates do not see x, and nets of x + T H, decide later and work longer, too, the more steps a
    problem needs?"""
    samples = [slopes(r, kind, measure, "needed") for kind in ("unit", "uncoupled") for measure in MEASURES]
    parts = corrected(*(is_above(sample, 0) for sample in samples))
    return parts, "; ".join(f"{sample.name} {effect_as_text(sample)}" for sample in samples)


QUESTION = Question(
    name="needed_or_told",
    source="a referee of this project, after depth_on_demand",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("depth_on_demand",),
)
