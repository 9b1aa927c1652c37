"""Writes pages/pointers.html, a page on a net that follows pointers.  It is a single file that a browser opens from
disk.

    python -m pages.make_pointers

The page holds the net experiments/results/pointers.npz and the numbers of experiments/results/pointers.json, which
pages/measure_pointers.py makes.  Its markup, style and programs are in pages/pointers/: page.html includes page.css,
follower.js (problems and the net), ring.js, towers.js and page.js.  It has trained.js from pages/explorer/, and from
pages/shared/ net.js, which computes, base.css, words.js, svg.js and charts.js."""

from __future__ import annotations

import numpy as np

from experiments.depth_on_demand import depth_on_demand_trial as trial
from highway_networks import DeepNet
from highways.commands import run_program
from highways.files import ROOT, InputError, printable
from highways.records import load_results
from pages.make_explorer import base64_of
from pages.measure_pointers import NET, OUT, SETTING, checksum_of, summary_of
from pages.parts import CHARTS, ENGINE, STYLE, SVG, WORDS, json_in_page, page_of, run_page_command

PARTS = ROOT / "pages" / "pointers"
PAGE_PARTS = (
    STYLE,
    "page.css",
    ENGINE,
    "../explorer/trained.js",
    WORDS,
    SVG,
    CHARTS,
    "follower.js",
    "ring.js",
    "towers.js",
    "page.js",
)
DIGITS = 4  # of the means of T


def checked_record() -> dict:
    """The record of the page's net; raises InputError for any other."""
    record = load_results(OUT)
    anew = "python -m pages.measure_pointers measures anew"
    if record["settings"].get("net_sha256") != checksum_of(NET.read_bytes()):
        raise InputError(f"{printable(OUT)} was measured on another net than {printable(NET)}: {anew}")
    if record["summary"] != summary_of(record["trials"]):
        raise InputError(f"{printable(OUT)} has a summary that is not that of its trials: {anew}")
    return record


def mean_gates(net: DeepNet) -> np.ndarray:
    """The mean of T over problems of all k, (depth, width), by which gates are held."""
    by_k = []
    for k in trial.depths_of(SETTING):
        x, _ = trial.drawn(SETTING, k, trial.CHOOSING)
        by_k.append(net.gates(x).mean(axis=1, dtype=np.float64))
    return np.mean(by_k, axis=0)


def data_of(net: DeepNet, record: dict) -> dict:
    return {
        "net": {
            "d_in": net.d_in,
            "d_out": net.d_out,
            "hidden": net.hidden,
            "depth": net.depth,
            "parameters": base64_of(net.parameters.astype("<f2")),
        },
        "held": mean_gates(net).round(DIGITS).tolist(),
        "measured": {
            "summary": record["summary"],
            "right_after": record["trials"]["right_after"],
            "n_test": record["settings"]["n_test"],
            "steps": record["settings"]["steps"],
        },
    }


def whole_page() -> str:
    """The page, from the committed net and record."""
    record = checked_record()
    data = data_of(DeepNet.load(NET), record)
    return page_of(PARTS, PAGE_PARTS, {"data": json_in_page(data)})


def main(argv=None) -> int:
    return run_page_command(argv, "pointers.html", "a page on a net that follows pointers", whole_page)


if __name__ == "__main__":
    run_program(main)
