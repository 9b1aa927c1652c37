"""Do thirty highway layers need what they compute?

    python -m experiments shut_gates            -> experiments/results/shut_gates.json

The headline compares highway nets of depth 30 with plain ones.  They differ in two things: a
highway block lets its input pass, and its gates choose how much.  So two more nets are trained by
the headline's protocol: highway nets whose gates are shut, b_T = -20 at the start, and nets
without blocks, which have the first and the last layer alone.  Both lack what the blocks compute.
"""

from __future__ import annotations

from experiments.headline.shut_gates_trial import trial
from experiments.shared_trials import fully_connected
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.rules import corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"depth": 6, "epochs": 1, "seeds": 2, "n_train": 256, "n_test": 100},
    "default": {"depth": 30, "epochs": 12, "seeds": 10, "n_train": 6000, "n_test": 2000},
}
SHUT_BIAS = -20.0
SHUT = 1e-6  # gates are shut if the mean T of each block is below
MARGIN = 0.01  # a net is as accurate as another if it is at most so much less accurate
KINDS = ("shut gates", "no blocks")


def run(runner: Runner) -> list[dict]:
    budget = runner.settings
    nets = {
        "shut gates": {"block": "highway", "depth": budget["depth"], "gate_bias": SHUT_BIAS},
        "no blocks": {"block": "plain", "depth": 0},
    }
    images = {"n_train": budget["n_train"], "n_test": budget["n_test"]}
    settings = []
    for kind in KINDS:
        for seed in range(budget["seeds"]):
            settings.append({"kind": kind, **nets[kind], **images, "epochs": budget["epochs"], "seed": seed})
    return runner.run(trial, settings, fully_connected.data_of)


def rows(record: dict) -> list[dict]:
    """A row for each kind of net."""
    result = []
    for kind in KINDS:
        accuracies = values_of(record["trials"], "test_accuracy", kind=kind)
        losses = values_of(record["trials"], "loss", kind=kind)
        result.append({"kind": kind, "test_accuracy": mean_sd_n(accuracies), "loss": mean_sd_n(losses)})
    return result


@claim(
    "accurate-without-blocks",
    kind="open question",
    source="a question of our own, after a referee",
    over=("shut_gates", "run_seeds"),
    about={"depth": (0, 30), "epochs": 12, "n_train": 6000},
    seen=True,
)
def accurate_without_blocks(r, headline):
    """are nets whose blocks do nothing as accurate as the headline's highway nets? (with gates that
    stay shut, T below {SHUT}, and without blocks: mean test accuracy at most {MARGIN} lower)"""
    highway = Sample([pair["highway"]["final_test_acc"] for pair in headline["runs"]], "accuracy with open gates")
    shut = Sample(values_of(r["trials"], "test_accuracy", kind="shut gates"), "accuracy with shut gates")
    without = Sample(values_of(r["trials"], "test_accuracy", kind="no blocks"), "accuracy without blocks")
    most_open = max(values_of(r["trials"], "open_after", kind="shut gates"))
    parts = [
        *corrected(is_above(shut, -MARGIN, baseline=highway), is_above(without, -MARGIN, baseline=highway)),
        most_open < SHUT,
    ]
    return parts, (
        f"shut gates less open ones {effect_as_text(shut, highway)}, "
        f"no blocks less open gates {effect_as_text(without, highway)}; T of the most open block {most_open:.1g}"
    )


QUESTION = Question(
    name="shut_gates",
    source="a referee of this project, after the published program's headline",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
