"""Trains and measures the net of the page pages/index.html: a highway net that follows pointers.

    python -m pages.measure_pointers        -> experiments/results/pointers.json, experiments/results/pointers.npz

A problem is a table of six numbers, each with a next one, a start, and k: follow the table k times.
The net is told k.  Task, training and measurements are those of
experiments/depth_on_demand/depth_on_demand_trial.py, and the settings are those that the search of that
question chose for highway nets on its first level.  After training the parameters are rounded to
float16, as the page holds them.

Measured on 2000 new problems of each k:

- the share of right answers
- the same if the output layer reads the state after block 0 (the plain first layer), 1, 2, ...
- the same with every gate held: T of each unit is replaced by its mean over other problems of all k
- how often a number that the way passes is read after some block, and how often one off the way; from problems whose
  way leads through k + 1 different numbers, for k = 2, 3, ...
- for comparison, the share of right answers of a rule that sees neither start nor k: name the number to which most
  arrows point
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np

import highway_networks as hn
from experiments.depth_on_demand import depth_on_demand_trial as trial
from highways.commands import Parser, first_line, run_command, run_program
from highways.files import ROOT, InputError, full_environment, printable
from highways.nets import layer_by_layer
from highways.records import MEASURED, record_bytes

OUT = ROOT / "experiments" / "results" / "pointers.json"
NET = ROOT / "experiments" / "results" / "pointers.npz"
SETTING = {
    "task": "pointer",
    "size": 6,
    "deepest": 4,
    "trained_on": [1, 2, 3, 4],
    "block": "highway",
    "width": 128,
    "depth": 12,
    "start": "glorot",
    "gate_bias": -0.9811,
    "lr": 0.002645,
    "steps": 8000,
    "seed": 1,
    "n_test": 2000,
}
RIGHT = 0.95  # of the answers: "right from block l on"


def measure(net: hn.DeepNet) -> dict:
    """Lists by k: `accuracy`, `right_after` (a list by block), `held` (the accuracy with every gate held),
    `most_frequent` (the accuracy of the rule); and lists by k from 2 on: `read_of_the_way`, `read_off_the_way`."""
    on_the_way = [read_on_the_way(net, k) for k in trial.depths_of(SETTING)[1:]]
    return {
        "accuracy": trial.accuracies(net, SETTING, trial.TESTING),
        "right_after": trial.look_inside(net, SETTING)["right_after"],
        "held": trial.frozen(net, SETTING)["overall"],
        "most_frequent": [accuracy_of_the_rule(k) for k in trial.depths_of(SETTING)],
        "read_of_the_way": [passed for passed, _ in on_the_way],
        "read_off_the_way": [other for _, other in on_the_way],
    }


def read_on_the_way(net: hn.DeepNet, k: int) -> tuple[float, float]:
    """Over the test problems whose way leads through k + 1 different numbers: the share of the numbers between start
    and end that are read after some block, and that of the numbers off the way."""
    x, _ = trial.drawn(SETTING, k, trial.TESTING)
    n = SETTING["size"]
    table = x[:, : n * n].reshape(-1, n, n).argmax(axis=2)
    way = [x[:, n * n : n * n + n].argmax(axis=1)]
    for _ in range(k):
        way.append(table[np.arange(len(x)), way[-1]])
    state = layer_by_layer.first_state(net, x)
    states = [state]
    for *_, y in layer_by_layer.walk(net, state):
        states.append(y)
    answers = np.array([layer_by_layer.logits(net, y).argmax(axis=1) for y in states])
    is_read = (answers[:, :, None] == np.arange(n)).any(axis=0)  # (N, n)
    steps = np.array(way).T  # (N, k + 1)
    passed = np.zeros((len(x), n), int)  # how often the way passes a number
    np.add.at(passed, (np.arange(len(x))[:, None], steps), 1)
    distinct = passed.max(axis=1) == 1
    between = np.take_along_axis(is_read, steps[:, 1:-1], axis=1)[distinct]
    off = is_read[distinct][passed[distinct] == 0]
    return float(between.mean()), float(off.mean())


def accuracy_of_the_rule(k: int) -> float:
    """The share of the test problems that end at the number to which most arrows point; of several, at the least."""
    x, y = trial.drawn(SETTING, k, trial.TESTING)
    n = SETTING["size"]
    arrows = x[:, : n * n].reshape(-1, n, n).sum(axis=1)  # to each number
    return float((arrows.argmax(axis=1) == y).mean())


def first_right(right_after: list[float]) -> int:
    """The first block from which on at least RIGHT of the answers are right."""
    wrong = [block for block, share in enumerate(right_after) if share < RIGHT]
    return wrong[-1] + 1 if wrong else 0


def summary_of(numbers: dict) -> list[dict]:
    """A row for each k."""
    rows = []
    for k in trial.depths_of(SETTING):
        row = {"k": k, "right_from_block": first_right(numbers["right_after"][k - 1])}
        row["accuracy"] = numbers["accuracy"][k - 1]
        row["accuracy_with_gates_held"] = numbers["held"][k - 1]
        row["accuracy_of_the_rule"] = numbers["most_frequent"][k - 1]
        if k > 1:
            row["read_of_the_way"] = numbers["read_of_the_way"][k - 2]
            row["read_off_the_way"] = numbers["read_off_the_way"][k - 2]
        rows.append(row)
    return rows


def bytes_of(net: hn.DeepNet) -> bytes:
    """The file that save() writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.npz"
        net.save(path)
        return path.read_bytes()


def checksum_of(net: bytes) -> str:
    return hashlib.sha256(net).hexdigest()


def train_and_measure(save) -> None:
    net, diverged = trial.train(SETTING)
    if diverged:
        raise InputError("the training diverged")
    net.parameters[:] = net.parameters.astype(np.float16)  # as the page holds them
    numbers = measure(net)
    file = bytes_of(net)
    record = {
        "experiment": "pointers",
        "source": "this project's own question",
        "command": "python -m pages.measure_pointers",
        "settings": {**SETTING, "net_sha256": checksum_of(file)},
        "env": full_environment(),
        "summary": summary_of(numbers),
        "trials": numbers,
    }
    save({OUT: record_bytes(record, MEASURED), NET: file})
    print(f"wrote {printable(OUT)} and {printable(NET)}", flush=True)


def main(argv=None) -> int:
    parser = Parser(description=first_line(__doc__))
    parser.parse_args(argv)
    return run_command(parser.prog, train_and_measure)


if __name__ == "__main__":
    run_program(main)
