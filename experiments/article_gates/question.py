"""Do the gates of middle layers select, and do late ones close for certain inputs?

    python -m experiments article_gates                          -> results/article_gates.json
    python -m experiments article_gates --data-dir CIFAR-100   # besides MNIST

The encyclopedia article "Highway Networks", on learned gates: "middle layers: gates show
selective behavior, transforming some dimensions while carrying others; later layers: some gates
close (T near 0), effectively shortening the network for certain inputs".  Here the nets of
`fifty_layers` on MNIST and CIFAR-100 are looked at, with the first 1000 training images.  By first,
middle and last layers we mean the thirds of the 49 blocks.

Fixed before looking, with one rule for both data sets:

- A block selects for an image if some of its units are open, T > 0.5, and some carry, T < 0.1.
  Middle layers are selective if their blocks select in over half of the pairs of image and block,
  and more often than those of the first and of the last third.
- A gate closes for certain inputs if T is below half of its value at the start, sigmoid(b_T), for
  at least a tenth of the images, and is not below for at least another tenth.  Some gates of later
  layers close if over a tenth of the gates of the last third do, and more than of the first third.
- An image passes a block if the block changes its state by less than a hundredth of its length.
  The net is shortened for certain inputs if over a tenth of the blocks of the last third are
  passed by at least a tenth of the images and not passed by at least another tenth.

Means over seeds are compared by Welch's t-test, with Holm's correction over all comparisons of
a claim.  Known before: mean T is highest at both ends; on MNIST it is some 0.12, on CIFAR-100
lower.  Expected: no third selects much more than another; late gates do close for certain inputs,
and early ones, too; few blocks are passed on MNIST.
"""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.fifty_layers.question import by_data_set, look_into
from experiments.fifty_layers.trial import net_of
from highways.lab.judging.claim import Claim, effect_as_text, values_of
from highways.lab.judging.rules import all_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected, layer_by_layer
from highways.nets.fully_connected import CIFAR
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"of_each": 100},
    "default": {"of_each": 1000},
}  # the number of images
OPEN = 0.5  # a unit is open if T is above
CARRIES = 0.1  # a unit carries if T is below
PASSED = 0.01  # a block is passed if it changes less than this share of the state's length
CERTAIN = 0.1  # a tenth of the images, and a tenth of the gates or blocks
THIRDS = ("first", "middle", "last")
MEASURED = ("selecting", "closing", "passed")
PAPERS_SETS = ("MNIST", CIFAR)


def trial(setting: dict, folder: str) -> dict:
    """What the module's docstring defines, for each third of the blocks and for each block."""
    net = net_of(setting, folder)
    images = fully_connected.images_of(setting)
    start = 1 / (1 + math.exp(-setting["gate_bias"]))
    by_block = measured_by_block(net, images.x_train[: setting["of_each"]], start)
    result = {}
    for name, values in by_block.items():
        thirds = np.array_split(np.array(values), len(THIRDS))
        for third, of_third in zip(THIRDS, thirds, strict=True):
            result[f"{name}_{third}"] = float(f"{of_third.mean():.6g}")
        result[f"{name}_of_block"] = layer_by_layer.rounded(values)
    return result


def measured_by_block(net: hn.DeepNet, x: np.ndarray, start: float) -> dict[str, list[float]]:
    """For every block: the share of images for which it selects ("selecting"), the share of its
    gates that close for certain inputs ("closing"), and whether certain inputs pass it
    ("passed")."""
    by_block = {name: [] for name in MEASURED}
    for _, T, x_l, y_l in layer_by_layer.walk(net, layer_by_layer.first_state(net, x)):
        selects = (T > OPEN).any(axis=1) & (T < CARRIES).any(axis=1)  # (N,)
        is_closed = np.less(T, start / 2)
        closed = is_closed.mean(axis=0)  # (hidden,): the share of images
        change = np.linalg.norm(y_l - x_l, axis=1) / np.linalg.norm(x_l, axis=1)  # (N,)
        by_block["selecting"].append(selects.mean())
        by_block["closing"].append(is_for_certain_inputs(closed).mean())
        by_block["passed"].append(float(is_for_certain_inputs((change < PASSED).mean())))
    return by_block


def is_for_certain_inputs(share):
    """Whether something is so for at least a tenth of the images, and not so for another tenth."""
    return (share >= CERTAIN) & (share <= 1 - CERTAIN)


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


def measure_thirds(*names: str):
    """A claim's measure: {data: {what is measured in a third: its values over seeds}}."""

    def measure(record: dict) -> dict:
        measured = {}
        for data in PAPERS_SETS:
            measured[data] = {}
            for name in names:
                for third in THIRDS:
                    key = f"{name}_{third}"
                    measured[data][key] = values_of(record["trials"], key, data=data)
        return measured

    return measure


def thirds_as_text(measured: dict) -> str:
    texts = []
    for data, values in measured.items():
        parts = []
        for key, of_seeds in values.items():
            third = key.rpartition("_")[2]
            parts.append(f"{third} third {effect_as_text(of_seeds)}")
        texts.append(f"{data}: {', '.join(parts)}")
    return f"shares: {'; '.join(texts)}"


def middle_selects(measured: dict) -> list[bool | None]:
    pairs = []
    for values in measured.values():
        middle = values["selecting_middle"]
        pairs += [
            ([0.5], middle),
            (values["selecting_first"], middle),
            (values["selecting_last"], middle),
        ]
    return all_below(pairs)


def late_gates_close(measured: dict) -> list[bool | None]:
    pairs = []
    for values in measured.values():
        last = values["closing_last"]
        pairs += [([CERTAIN], last), (values["closing_first"], last)]
    return all_below(pairs)


def late_blocks_are_passed(measured: dict) -> list[bool | None]:
    return all_below([([CERTAIN], values["passed_last"]) for values in measured.values()])


ABOUT = {"data": PAPERS_SETS, "layers": 50}
CLAIMS = (
    Claim(
        id="middle-gates-select",
        source="encyclopedia article",
        says="gates of middle layers select: they transform some dimensions and carry others (a unit with T above "
        "0.5 and one with T below 0.1, in over half of all pairs of image and middle block, and more often than in "
        "the first and the last third)",
        about=ABOUT,
        measure=measure_thirds("selecting"),
        show=thirds_as_text,
        holds=middle_selects,
        note="the definition is ours",
    ),
    Claim(
        id="late-gates-close-for-certain-inputs",
        source="encyclopedia article",
        says="some gates of later layers close for certain inputs (over a tenth of the gates of the last third, and "
        "more than of the first; T below half of its start for a tenth of the images, not below for another tenth)",
        about=ABOUT,
        measure=measure_thirds("closing"),
        show=thirds_as_text,
        holds=late_gates_close,
        note="the definition is ours, and so is the comparison with the first third: the article "
        "speaks of some gates, and without it both data sets pass",
    ),
    Claim(
        id="net-shortened-for-certain-inputs",
        source="encyclopedia article",
        says="the net is shortened for certain inputs (over a tenth of the last third's blocks change the state of "
        "some tenth of the images by under 1 %, and not that of another tenth)",
        about=ABOUT,
        measure=measure_thirds("passed"),
        show=thirds_as_text,
        holds=late_blocks_are_passed,
        note="the definition is ours",
    ),
)

QUESTION = Question(
    name="article_gates",
    source="an encyclopedia article on highway networks",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
