"""Do the gates of middle layers select, and do late ones close for certain inputs?

    python -m experiments article_gates                          -> experiments/results/article_gates.json
    python -m experiments article_gates --data-dir CIFAR-100   # besides MNIST

The encyclopedia article "Highway Networks", on learned gates: "middle layers: gates show
selective behavior, transforming some dimensions while carrying others; later layers: some gates
close (T near 0), effectively shortening the network for certain inputs".  Here the nets of
`fifty_layers` on MNIST and CIFAR-100 are looked at, with the first 1000 training images.  By first,
middle and last layers we mean the thirds of the 49 blocks.

- A block selects for an image if some of its units are open, T > 0.5, and some carry, T < 0.1.
- A gate closes for certain inputs if T is below half of its value at the start, sigmoid(b_T), for
  at least a tenth of the images, and is not below for at least another tenth.
- An image passes a block if the block changes its state by less than a hundredth of its length.
"""

from __future__ import annotations

from experiments.gates.article_gates_trial import CERTAIN, MEASURED, THIRDS, trial
from experiments.shared_trials.fifty_layer_nets import look_into
from experiments.shared_trials.fully_connected import CIFAR
from highways.lab.judging.claim import Sample, claim, values_of
from highways.lab.judging.rules import all_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import by_data_set
from highways.statistics import mean_sd_n

# of_each: the number of images
BUDGETS = {
    "quick": {"of_each": 100},
    "default": {"of_each": 1000},
}
PAPERS_SETS = ("MNIST", CIFAR)
ONE_BLOCK = 1 / 16  # the resolution of a share of a third's blocks
ONE_GATE = ONE_BLOCK / 50  # and of its gates


def run(runner: Runner) -> list[dict]:
    return look_into(runner, trial)


# ---- Summary -----------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each data set and third."""
    result = []
    for data, trials in by_data_set(record["trials"]).items():
        for third in THIRDS:
            row = {"data": data, "third": third}
            for name in MEASURED:
                row[name] = mean_sd_n([trial[f"{name}_{third}"] for trial in trials])
            result.append(row)
    return result


# ---- Claims ------------------------------------------------------------------------------------

ABOUT = {"data": PAPERS_SETS, "depth": 49}
NOT_UNTRAINED = (
    "nets before training were looked at once, and are not in the results: of the gates of their last third at most "
    "0.2 % close for certain inputs"
)


@claim(
    "middle-gates-select",
    source="encyclopedia article",
    about=ABOUT,
    no_control="before training no gate of these nets is open (`gates`), so that no block selects",
)
def middle_gates_select(r):
    """gates of middle layers select: they transform some dimensions and carry others (a unit with T
    above 0.5 and one with T below 0.1, in over half of all pairs of image and middle block, and more
    often than in the first and the last third)"""
    pairs = []
    for data in PAPERS_SETS:
        first, middle, last = in_thirds(r, "selecting", data)
        pairs += [(0.5, middle), (first, middle), (last, middle)]
    return all_below(pairs), thirds_as_text(r, "selecting")


@claim(
    "late-gates-close-for-certain-inputs",
    source="encyclopedia article",
    about=ABOUT,
    no_control=NOT_UNTRAINED,
)
def late_gates_close_for_certain_inputs(r):
    """some gates of later layers close for certain inputs (over a tenth of the gates of the last
    third, and more than of the first; T below half of its start for a tenth of the images, not below
    for another tenth)"""
    pairs = []
    for data in PAPERS_SETS:
        first, _, last = in_thirds(r, "closing", data)
        pairs += [(CERTAIN, last), (first, last)]
    return all_below(pairs, resolution=ONE_GATE), thirds_as_text(r, "closing")


@claim(
    "net-shortened-for-certain-inputs",
    source="encyclopedia article",
    about=ABOUT,
)
def net_shortened_for_certain_inputs(r):
    """the net is shortened for certain inputs (over a tenth of the last third's blocks change the
    state of some tenth of the images by under 1 %, and not that of another tenth)"""
    pairs = []
    for data in PAPERS_SETS:
        _, _, last = in_thirds(r, "passed", data)
        pairs.append((CERTAIN, last))
    return all_below(pairs, resolution=ONE_BLOCK), thirds_as_text(r, "passed")


SHARES = {
    "selecting": "share of pairs",
    "closing": "share of closing gates",
    "passed": "share of passed blocks",
}


def in_thirds(record: dict, name: str, data: str) -> list[Sample]:
    """What is measured in the first, the middle and the last third of the blocks, over seeds."""
    found = []
    for third in THIRDS:
        values = values_of(record["trials"], f"{name}_{third}", data=data)
        found.append(Sample(values, f"{SHARES[name]}, {third} third, {data}"))
    return found


def thirds_as_text(record: dict, name: str) -> str:
    texts = []
    for data in PAPERS_SETS:
        first, middle, last = in_thirds(record, name, data)
        texts.append(
            f"{data}: first third {first:interval}, middle third {middle:interval}, last third {last:interval}"
        )
    return f"shares: {'; '.join(texts)}"


QUESTION = Question(
    name="article_gates",
    source="an encyclopedia article on highway networks",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
