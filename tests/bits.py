"""Prints a checksum of everything that must stay the same to the bit while the project is rebuilt.

    python tests/bits.py | sort > FILE       at two commits, on one machine; then diff the files
    python tests/bits.py paths gate_bias     only these questions

A line is a name and a checksum: two settings of every set of trials of every question, under the smoke test's budget;
the numbers of run.json's pair; the logits of the trained nets.  Words and times are not in it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

import highway_networks as hn
from experiments import find_question, question_names
from highways.lab.trials import Runner, key_of
from highways.trained import nets

NOT_BITS = ("seconds", "wallclock_sec", "commits")  # what else a result has


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in names or question_names():
            answer(name, folder)
    if not names:
        print_pair()
        print_logits()


# ---- What knows where the questions are ------------------------------------------------------------------------------


@functools.cache
def answer(name: str, folder: str) -> dict | None:
    """Answers a question with a smoke test in which few trials run; returns its record."""
    question = find_question(name)
    if question.run is None:
        return None
    needed = {other: answer(other, folder) for other in question.needs}
    with FewTrials(name, "quick", question.budgets["quick"], folder=Path(folder), jobs=1) as runner:
        runner.needed = needed
        trials = question.run(runner)
        if not runner.sets:
            print_item(f"{name}, all", trials)
        return runner.record(question.source, trials)


class FewTrials(Runner):
    """Runs the first and the last of the settings that it is given at a time, and prints their checksums.

    The others get the last one's result."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.sets = 0  # of settings

    def run(self, function, settings, data_of=None):
        self.sets += 1
        results = {}
        for index in sorted({0, len(settings) - 1}):
            results[index] = as_json(function(settings[index]))
            place = f"{self.name}, set {self.sets}, {name_of(function)}, {index + 1} of {len(settings)}"
            print_item(place, {key: results[index][key] for key in results[index].keys() - settings[index].keys()})
        last = results[len(settings) - 1]
        trials = []
        for index, setting in enumerate(settings):
            as_logged = json.loads(key_of(setting, None, None))["trial"]
            trials.append({"seconds": 0.0, **results.get(index, last), **as_logged})
        return trials


def name_of(function) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return function.__name__


# ---- What else there is ----------------------------------------------------------------------------------------------


def print_pair() -> None:
    """The pair of run.json, as far as its settings and seed determine it."""
    for block in ("highway", "plain"):
        for name, value in hn.run_one(block, hn.Settings()).items():
            if name not in NOT_BITS and not isinstance(value, str):
                print_item(f"run.json, {block}, {name}", value)


def print_logits() -> None:
    """The logits of the trained nets for test images of MNIST or, if they take colours, for noise."""
    digits = hn.load_mnist().x_test[:100]
    noise = np.random.default_rng(0).integers(0, 256, (20, 3, 32, 32)).astype(np.uint8)
    for name, about in nets.cards().items():
        images = noise if about["image"] == [3, 32, 32] else digits
        print(f"logits of {name}: {checksum(nets.load(name).predict(images).tobytes())}", flush=True)


# ---- Checksums -------------------------------------------------------------------------------------------------------


def print_item(name: str, value) -> None:
    print(f"{name}: {checksum(json.dumps(numbers_in(as_json(value)), sort_keys=True).encode())}", flush=True)


def as_json(value):
    return json.loads(json.dumps(value, default=lambda value: value.item()))


def numbers_in(value):
    """The value without its words and its times."""
    if isinstance(value, dict):
        return {name: numbers_in(part) for name, part in value.items() if name not in NOT_BITS}
    if isinstance(value, list):
        return [numbers_in(part) for part in value]
    return None if isinstance(value, str) else value


def checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


if __name__ == "__main__":
    with hn.one_blas_thread():
        main(sys.argv[1:])
