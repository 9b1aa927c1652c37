"""Tries at forty seeds what the scenes of pages/index.html promise.

    python -m pages.measure_scenes         -> experiments/results/scenes.json

A seed draws other weights, another order of the images, and another problem of pointers. The page's own functions
compute, in node, without a browser; pages/measure_scenes.js says what. PROMISES says which numbers keep a promise; its
bounds were fixed when one seed had been seen, those of the rates when two or ten had, that of the gradient after three
and eight cuts when eight had. That it always arrives after twenty, as the page said before, was not so: summary_of
counts in how many nets it fades.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import mean

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from tqdm import tqdm

from highways.commands import Parser, first_line, run_command, run_program
from highways.files import ROOT, InputError, full_environment, printable
from highways.records import MEASURED, record_bytes
from pages.make_index import N_TEST, N_TRAIN, PARTS, PROGRAMS

OUT = ROOT / "experiments" / "results" / "scenes.json"
PAGE = ROOT / "pages" / "index.html"
MEASURES = ROOT / "pages" / "measure_scenes.js"
SEEDS = range(1, 41)
ON_A_SCREEN = {"stage", "bets", "page"}  # programs that draw, or wait for a reader
LEARNS = 1.8  # the loss of a cell of the map; guessing has 2.3
MILLIONTH = 1e-6


def of_rates(losses: list[float | None], rates: slice) -> list[bool]:
    """Whether nets of the map learn; one that diverged has no loss."""
    return [loss is not None and loss < LEARNS for loss in losses[rates]]


LOW_RATES = slice(0, 4)  # up to 0.005
MIDDLE_RATES = slice(2, 6)  # from 0.002 to 0.02
HIGH_RATES = slice(6, 8)  # from 0.05 on
ALL_RATES = slice(0, 8)

# {scene: {promise: whether the numbers of a seed keep it}}
PROMISES = {
    "whisper": {
        "at T = 0.05 about a fifth is left: 0.15 to 0.3": lambda seed: 0.15 < seed["left"][1] < 0.3,
        "least is left between T = 0.65 and 0.85": lambda seed: 13 <= seed["left"].index(min(seed["left"])) <= 17,
    },
    "race": {
        "plain: under a millionth of signal and gradient arrives": lambda seed: (
            max(seed["towers"][0]["up"], seed["towers"][0]["down"]) < MILLIONTH
        ),
        "highway: over a tenth of both": lambda seed: min(seed["towers"][1]["up"], seed["towers"][1]["down"]) > 0.1,
        "plain guesses after 300 steps: under 0.2": lambda seed: seed["towers"][0]["read"] < 0.2,
        "highway reads: over 0.75": lambda seed: seed["towers"][1]["read"] > 0.75,
    },
    "sabotage": {
        "three cut layers heal: at most 0.02 below before": lambda seed: (
            seed["cuts"][0]["after"] > seed["cuts"][0]["before"] - 0.02
        ),
        "eight nearly: at least nine tenths of before": lambda seed: (
            seed["cuts"][1]["after"] > 0.9 * seed["cuts"][1]["before"]
        ),
        "twenty do not: under three quarters of before": lambda seed: (
            seed["cuts"][2]["after"] < 0.75 * seed["cuts"][2]["before"]
        ),
        "after three and eight the gradient arrives: over a half at every step": lambda seed: (
            min(cut["gradient"]["least"] for cut in seed["cuts"][:2]) > 0.5
        ),
    },
    "start": {
        "after 60 steps at rate 0.001 over half of the gradient arrives in plain nets": lambda seed: (
            seed["rates"][0]["still"] > 0.5
        ),
        "at 0.05 under a millionth, and a third of the units are nearly at -1 or 1": lambda seed: (
            seed["rates"][1]["still"] < MILLIONTH and seed["rates"][1]["flat"] > 1 / 3
        ),
        "nearly shut gates at 0.1: over a hundredth of it, but the first layer tells no digits apart": lambda seed: (
            seed["rates"][2]["still"] > 0.01 and seed["rates"][2]["spread_first"] < MILLIONTH
        ),
        "orthogonal plain nets learn at a rate up to 0.005": lambda seed: any(
            of_rates(seed["map"]["plain"], LOW_RATES)
        ),
        "and at none from 0.05 on": lambda seed: not any(of_rates(seed["map"]["plain"], HIGH_RATES)),
        "with nearly shut gates (b_T = -3) nets learn at all rates from 0.002 to 0.02": lambda seed: all(
            of_rates(seed["map"]["gates nearly shut"], MIDDLE_RATES)
        ),
        "with half open gates at no rate": lambda seed: not any(of_rates(seed["map"]["gates half open"], ALL_RATES)),
        "plain nets with small weights at no rate": lambda seed: (
            not any(of_rates(seed["map"]["plain, small weights"], ALL_RATES))
        ),
        "with nearly shut gates from small weights, too, at all rates from 0.002 to 0.02": lambda seed: all(
            of_rates(seed["map"]["gates nearly shut, small weights"], MIDDLE_RATES)
        ),
    },
    "turn": {
        "shut gates read as many: within 0.05 of free ones": lambda seed: (
            abs(seed["towers"][1]["read"] - seed["towers"][2]["read"]) < 0.05
        ),
    },
    "pointers": {
        "all four answers are right": lambda seed: all(seed["problem"]["right"]),
        "the answer for k = 4 stands later than for k = 1": lambda seed: (
            seed["problem"]["stands_from"][0] < (seed["problem"]["stands_from"][3] or 0)
        ),
        "with held gates one of the four is wrong": lambda seed: not all(seed["problem"]["right_with_gates_held"]),
        "the lower six blocks are more open for k = 1 than for k = 4": lambda seed: (
            seed["problem"]["mean_T"][0] > seed["problem"]["mean_T"][1]
        ),
    },
}


def program() -> str:
    """The page's programs without those that need a screen, and what measures."""
    page = PAGE.read_text(encoding="utf-8")
    texts = {
        id: re.search(rf'<script type="application/json" id="{id}">(.*?)</script>', page, re.S)[1]
        for id in ("data", "images")
    }
    elements = f"const document = {{ getElementById: (id) => ({{ textContent: {json.dumps(texts)}[id] }}) }};"
    files = [ROOT / "pages" / "shared" / "net.js", ROOT / "pages" / "explorer" / "trained.js"]
    files += [PARTS / f"{name}.js" for name in PROGRAMS.split() if name not in ON_A_SCREEN]
    parts = [file.read_text(encoding="utf-8") for file in (*files, MEASURES)]
    return "\n".join([elements, *parts])


def measure_seed(node: str, text: str, seed: int) -> dict:
    ask = f"measureSeed({seed}).then((found) => console.log(JSON.stringify(found)));"
    done = subprocess.run([node, "-"], input=f"{text}\n{ask}", capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"node: {done.stderr.strip()}")
    return json.loads(done.stdout)


def after_twenty_cuts(trials: list[dict]) -> dict:
    """In how many nets the gradient fades: its median over the steps is below a hundredth.  And what they and the
    others then read, on average."""
    read = {True: [], False: []}
    for trial in trials:
        cut = trial["cuts"][2]
        read[cut["gradient"]["median"] < 0.01].append(cut["after"])
    row = {"scene": "sabotage", "cut": 20, "seeds": len(trials), "faded": len(read[True])}
    return {**row, "read_if_faded": mean(read[True]), "read_if_not": mean(read[False])}


def summary_of(trials: list[dict]) -> list[dict]:
    """A row for each promise: by how many seeds it is kept; and one on twenty cuts."""
    rows = []
    for scene, promises in PROMISES.items():
        for promise, is_kept in promises.items():
            rows.append({"scene": scene, "promise": promise, "kept": sum(map(is_kept, trials)), "seeds": len(trials)})
    return [*rows, after_twenty_cuts(trials)]


def measure(save) -> None:
    node = shutil.which("node")
    if not node:
        raise InputError("there is no node: install Node.js 18 or newer")
    text = program()
    trials = [measure_seed(node, text, seed) for seed in tqdm(SEEDS, unit="seed", disable=None)]
    record = {
        "experiment": "scenes",
        "source": "this project's own question",
        "command": "python -m pages.measure_scenes",
        "settings": {"n_train": N_TRAIN, "n_test": N_TEST, "seeds": list(SEEDS)},
        "env": full_environment(),
        "summary": summary_of(trials),
        "trials": trials,
    }
    save({OUT: record_bytes(record, MEASURED)})
    print(f"wrote {printable(OUT)}", flush=True)


def main(argv=None) -> int:
    parser = Parser(description=first_line(__doc__))
    parser.parse_args(argv)
    return run_command(parser.prog, measure)


if __name__ == "__main__":
    run_program(main)
