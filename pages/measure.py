"""Measures what the page pages/explorer.html says about whole data sets, with the page's own net.

    python -m pages.measure         -> experiments/results/explorer.json

- The training error with blocks i to j closed, for all ranges i <= j.  A closed block has T = 0
  and hands its input on unchanged.
- The training error and the test accuracy with all gate biases b_T shifted.
- The block after which the answer for a test image is decided.  The last layer can be applied to
  the state after any block; from this block on it always gives the final answer.

The net computes with its own weights, float32; the page's are rounded to float16.
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
from tqdm import tqdm

import highway_networks as hn
from highways.commands import Parser, run_command, run_program
from highways.files import ROOT, full_environment
from highways.nets import layer_by_layer
from highways.records import MEASURED, record_bytes
from pages.explorer_net import NET, checksum_of_net, load_page_mnist, load_page_net

OUT = ROOT / "experiments" / "results" / "explorer.json"
SHIFTS = np.arange(-4, 2.25, 0.25).tolist()  # added to b_T
PAPERS_RANGE = (15, 45)  # blocks that the paper's Figure 4 finds to have close to no effect


def wrong_by_range(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(depth, depth) counts: entry [i, j] is how many images the net gets wrong with blocks i to j
    closed, counted from 0.  Entries below the diagonal are 0.

    The states below block i are computed once for all j."""
    wrong = np.zeros((net.depth, net.depth), int)
    for rows in tqdm(list(layer_by_layer.slices(len(x))), unit="slice", disable=None):
        below = layer_by_layer.first_state(net, x[rows])
        for i in range(net.depth):
            for j in range(i, net.depth):
                answers = answers_through(net, below, range(j + 1, net.depth))
                wrong[i, j] += np.count_nonzero(answers != y[rows])
            _, below = layer_by_layer.block_forward(net, i, below)
    return wrong


def answers_through(net: hn.DeepNet, state: np.ndarray, layers) -> np.ndarray:
    """The net's answers (N,) if states (N, hidden) pass through these blocks only."""
    for *_, y in layer_by_layer.walk(net, state, layers):
        state = y
    return layer_by_layer.logits(net, state).argmax(axis=1)


def shifted(net: hn.DeepNet, shift: float) -> hn.DeepNet:
    """The net with `shift` added to b_T of every unit."""
    twin = copy.deepcopy(net)
    twin.b_T[:] = net.b_T + shift
    return twin


def error(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> float:
    return float((net.predict(x).argmax(axis=1) != y).mean())


def decided_at(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """(N,) the block after which the answer of each image is decided; 0 after the plain layer."""
    state = layer_by_layer.first_state(net, x)
    answers = [layer_by_layer.logits(net, state).argmax(axis=1)]
    for *_, y in layer_by_layer.walk(net, state):
        answers.append(layer_by_layer.logits(net, y).argmax(axis=1))
    differ = np.array(answers) != answers[-1]  # (depth + 1, N)
    # where the last answer that differs stands, counted from the end
    from_the_end = differ[::-1].argmax(axis=0)
    return np.where(differ.any(axis=0), net.depth + 1 - from_the_end, 0)


def measure(net: hn.DeepNet, mnist: hn.Dataset) -> dict:
    """The trials of the record:

    wrong      {i: counts}: how many training images the net gets wrong with blocks i to j
               closed, for j = i, i + 1, ...; blocks are counted from 1
    shifts     a row for each shift of b_T, with the training error and the test accuracy
    decided    {"images": counts}, where counts[k] test images are decided after block k
    """
    x_train = hn.inputs_for(net, mnist.x_train)
    x_test = hn.inputs_for(net, mnist.x_test)
    with hn.one_blas_thread():
        wrong = wrong_by_range(net, x_train, mnist.y_train)
        shifts = []
        for shift in SHIFTS:
            twin = shifted(net, shift)
            row = {"shift": shift}
            row["train_error"] = error(twin, x_train, mnist.y_train)
            row["test_accuracy"] = round(1 - error(twin, x_test, mnist.y_test), 6)
            shifts.append(row)
        parts = [decided_at(net, x_test[rows]) for rows in layer_by_layer.slices(len(x_test))]
    decided = np.concatenate(parts)
    return {
        "wrong": {str(i + 1): wrong[i, i:].tolist() for i in range(net.depth)},
        "shifts": shifts,
        "decided": {"images": np.bincount(decided, minlength=net.depth + 1).tolist()},
    }


def summary_of(numbers: dict, n_train: int) -> list[dict]:
    """A row on ranges, one on where answers are decided, and one for each shift."""
    wrong = numbers["wrong"]
    first, last = PAPERS_RANGE
    ranges = {
        "row": "ranges",
        "ranges": sum(len(row) for row in wrong.values()),
        "error_15_to_45": wrong[str(first)][last - first] / n_train,
    }
    images = np.array(numbers["decided"]["images"])
    at_most = np.cumsum(images) / images.sum()
    decided = {
        "row": "decided",
        "median_block": int(np.argmax(at_most >= 0.5)),
        "by_the_plain_layer": float(at_most[0]),
    }
    return [ranges, decided, *numbers["shifts"]]


def write(save) -> None:
    mnist = load_page_mnist()
    net = load_page_net(ROOT / NET, mnist)
    numbers = measure(net, mnist)
    settings = {
        "net": NET,
        "net_sha256": checksum_of_net(),
        "n_train": len(mnist.x_train),
        "n_test": len(mnist.x_test),
    }
    record = {
        "experiment": "explorer",
        "source": "this project's own question",
        "command": "python -m pages.measure",
        "settings": settings,
        "env": full_environment() | {"data_sets": {mnist.name: mnist.sha256}},
        "summary": summary_of(numbers, len(mnist.x_train)),
        "trials": numbers,
    }
    save({OUT: record_bytes(record, MEASURED)})
    print(f"wrote {OUT}", flush=True)


def main(argv=None) -> int:
    does = "Measure the explorer's net, into experiments/results/explorer.json."
    parser = Parser(description=does)
    parser.parse_args(argv)
    return run_command(parser.prog, write)


if __name__ == "__main__":
    run_program(main)
