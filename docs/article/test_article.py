"""The article: its PDF is of its text, and its tables and numbers are those of the records."""

import re

import numpy as np
import pytest
from conftest import ROOT

from docs.article import gates, make, show, studies, ten_claims, who_and_when, why_deep_nets_train
from experiments.depth_on_demand import depth_on_demand, untold_need, untold_need_trial
from experiments.primary.primary import PRIMARY
from experiments.published import PUBLISHED
from highways.files import read_json
from highways.lab.judging.accuracies import Accuracies, ranges_of
from highways.lab.showing import registry

TEXT = make.TEXT.read_text(encoding="utf-8")


def cell(kind: str, depth: int, trains: bool, predicted: bool, loss: float) -> dict:
    """A cell of the factorial design, with a gradient near the low bound."""
    settings = {"kind": kind, "gate_bias": -2.0, "start": "glorot", "activation": "tanh", "depth": depth}
    outcome = {"trains": trains, "predicted": predicted, "gradient": -2.5, "loss": [loss, loss, loss]}
    return {"row": "cell", **settings, **outcome}


CELLS = [
    cell("none", 30, True, True, 0.2),
    cell("none", 100, True, True, 0.3),
    cell("none", 300, True, True, 1.9),
    cell("convex", 100, True, True, 0.08),
    cell("sees x", 100, False, True, 2.3),  # begins as the convex one
]
SUMMARY_OF_WHAT_TRAINS = [
    {"row": "predictor", "predictor": "gradient", "interval": [0.864, 0.96], "low": -3.0, "high": 5.0},
    {"row": "gate", "kind": "sees x", "cells": 48, "gate_alone": 3, "convex_alone": 1},
    *CELLS,
]
RECORDS = {
    "experiments/results/what_trains.json": {"summary": SUMMARY_OF_WHAT_TRAINS},
    "experiments/results/which_carry.json": {
        "settings": {"depths": [30, 100]},
        "summary": [
            {"kind": kind, "depth": depth, "loss": {"mean": depth / 1e4}, "test_accuracy": {"mean": 0.9 + depth / 1e4}}
            for depth in (30, 100)
            for kind in why_deep_nets_train.BLOCK_OF
        ],
    },
}


def test_the_pdf_is_of_this_text_and_these_pictures():
    assert make.is_made_from(make.PDF.read_bytes(), TEXT), "python -m docs.article.make makes the PDF anew"
    assert not make.is_made_from(make.PDF.read_bytes(), f"{TEXT} ")


@pytest.mark.thorough
def test_the_same_text_gives_the_same_bytes():
    """If pandoc and typst are installed, in whatever version."""
    pytest.importorskip("pypandoc")
    pytest.importorskip("typst")
    data = make.pdf_of(TEXT)
    assert make.pdf_of(TEXT) == data
    assert make.is_made_from(data, TEXT)


def test_the_pdf_shows_neither_marks_nor_links_into_the_clone():
    title, body = make.title_and_body(TEXT)
    assert "*" not in title
    assert "<!--" not in body
    assert re.findall(r"(?<!!)\[[^\]]*\]\((?!https:)", body) == []
    assert body.count("\n## ") == TEXT.count("\n## ")


def numbers_in(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize(
    ("mark", "numbers"),
    [
        ("article-cells-that-train", [4]),
        ("article-cells-that-barely-train", [1]),
        ("article-gradient-bounds", [10, -3, 10, 5]),
        ("article-prediction-interval", [0.864, 0.96]),
        ("article-starts-right", [2, 3]),
        ("article-starts-that-train", [2]),
        ("article-near-the-bound", [4]),
        ("article-wrong-near-the-bound", [1]),
        ("article-at-the-lowest-bias", [4, 5, -2]),
        ("article-gates-agree", [44]),
        ("article-plain-starts", [1, 1]),
        ("article-plain-losses", [1.9, 1.9]),
    ],
)
def test_the_numbers_of_the_factorial_design(mark, numbers):
    assert numbers_in(registry.TABLES[mark](RECORDS.__getitem__)) == numbers


def test_gates_rescue_where_fixed_ones_fail():
    cells = [
        cell("none", 100, True, True, 0.3),
        cell("convex", 100, False, True, 2.3),  # its gates are open by 12 in all
        cell("sees x", 100, True, True, 0.1),
        {**cell("convex", 100, True, True, 0.1), "gate_bias": -8.0},
        {**cell("sees x", 100, True, True, 0.1), "gate_bias": -8.0},
    ]
    records = {"experiments/results/what_trains.json": {"summary": cells}}
    rescued, of, *_ = numbers_in(registry.TABLES["article-gates-that-rescue"](records.__getitem__))
    assert (rescued, of) == (1, 1)
    assert numbers_in(registry.TABLES["article-rule-of-open-gates"](records.__getitem__)) == [0.8]


def test_the_numbers_of_kinds():
    _, _, plain, *_ = registry.TABLES["article-kinds"](RECORDS.__getitem__).strip().split("\n")
    assert numbers_in(plain) == [2, 2, 3, 10, 0.903, 0.91]  # 1000 times the losses


def test_what_a_gate_gains_by_seeing_x_is_paired_by_search():
    def trials(entry, by_kind):
        return [
            {"of": "cycle", "kind": kind, "search": search, entry: value + search}
            for kind, value in by_kind.items()
            for search in range(2)
        ]

    searched = trials("chosen_by", {"both": 0.6, "neither": 0.5}) + trials("chosen_by", {"both": 0.8, "neither": 0.5})
    tested = trials("accuracy", {"both": 0.7, "neither": 0.75})
    nothing = {"trials": {"search": [], "final": []}}
    records = {
        gates.SHORT: {"trials": {"search": searched}},
        gates.ROUTING: {"trials": {"final": tested}},
        gates.PRODUCTS: nothing,
    }
    short, whole = gates.gains_of_seeing(records.__getitem__, "cycle", ("both", "neither"))
    assert short == pytest.approx([0.2, 0.2])
    assert whole == pytest.approx([-0.05, -0.05])


@pytest.mark.parametrize(("rates", "low", "high"), [([6e-4, 5e-3], 1, 0), ([9e-3, 9e-3], 0, 2)])
def test_how_often_a_setting_lies_at_an_end_of_its_range(rates, low, high):
    tested = [{"of": "cycle", "kind": "both", "search": search, "lr": rate} for search, rate in enumerate(rates)]
    _, ends, _ = gates.SEARCHED["lr"]
    found = [gates.n_at_end(tested, "cycle", "both", "lr", *ends, end) for end in ("low", "high")]
    assert found == [low, high]


def test_the_ten_claims_have_the_bounds_of_the_ledger():
    rows = {row["id"]: row for row in read_json(ROOT / "experiments/results/claims.json")["trials"]}
    assert list(ten_claims.TEN_CLAIMS) == [name for names in PRIMARY.values() for name in names]
    for name, primary in ten_claims.TEN_CLAIMS.items():
        bounds = [bound for test in rows[name]["tests"] for bound in test["bounds"]]
        bounds += [10**bound for bound in bounds]  # of ratios
        for number in numbers_in(primary.holds_if):
            assert number == int(number) or not bounds or number in np.round(bounds, 9), (name, number)


def test_accuracies_hold_in_the_range_of_their_rule():
    for row, published, runs in (
        ("16-maps-reach", PUBLISHED["table_1"]["16"], 3),
        ("32-maps-reach", PUBLISHED["table_1"]["32"], 1),
        ("19-layers-reach-on-whitened-images", PUBLISHED["table_3"]["cifar-10"], 1),
    ):
        lows, highs = zip(*ranges_of(published, Accuracies([published["mean"]] * runs, 1, 10000)), strict=True)
        ends = [round(100 * max(lows), 2), round(100 * min(highs), 2)]
        assert [number for number in numbers_in(ten_claims.TEN_CLAIMS[row].holds_if) if number > 90][:2] == ends


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("highway 0.898 (95 %: 0.888 to 0.909, n = 10)", "highway 0.898 (0.888 to 0.909)"),
        ("0.29 ± 0.002 (n = 3), of the last 0.1", "0.29 ± 0.002, of the last 0.1"),
        ("a share of 0 (n = 3, all equal) of them", "a share of 0 of them"),
        ("with mean T -0.33, at b_T 2", "with mean $T$ \N{MINUS SIGN}0.33, at $b_T$ 2"),
    ],
)
def test_numbers_as_the_table_of_claims_shows_them(text, shown):
    assert show.table_of_claims.compact(text) == shown


def test_cells_that_need_a_rate_fail_at_other_rates():
    at_all_rates = {"loss": [[0.1, 0.2], [0.3, 0.1]]}
    one_seed_diverges = {"loss": [[0.1, 0.2], [0.3, None]]}
    at_no_rate = {"loss": [[0.1, 2.2], [2.3, 2.3]]}
    record = {
        "summary": [{"row": "definitions", "trains_below": 2.07}],
        "trials": {"trained": [at_all_rates, one_seed_diverges, at_no_rate]},
    }
    assert why_deep_nets_train.cells_that_need_a_rate(lambda _: record) == "1"


def test_factors_are_whole_and_levels_are_of_nets_that_fit():
    final = [
        {"block": block, "depth": 99, "loss": loss}
        for block, losses in (("plain", (0.2, 0.3)), ("highway", (1e-4, 1.5e-4)))
        for loss in losses
    ]
    kinds = [
        {"data": "CIFAR-100", "kind": "full", "loss": loss, "test_accuracy": accuracy}
        for loss, accuracy in ((0.1, 0.142), (0.3, 0.141), (2.1, 0.2))
    ]
    made_up = {
        "experiments/results/figure_1_finals.json": {"trials": {"final": final}},
        "experiments/results/primary.json": {"trials": {"kinds": kinds}},
    }
    assert registry.TABLES["article-plain-over-highway-after-400-epochs"](made_up.__getitem__).startswith("2 000 (")
    assert registry.TABLES["article-highway-that-fit-on-cifar"](made_up.__getitem__) == "0.1410 to 0.1420"


def test_rules_made_after_seeing_runs_count_for_tested_rows_alone():
    rows = [{"verdict": verdict, "seen": seen} for verdict in ("in part", "not tested") for seen in (True, False)]
    ledger = {"experiments/results/claims.json": {"trials": rows}}
    assert numbers_in(registry.TABLES["article-rules-after"](ledger.__getitem__)) == [1, 2]


def test_a_claim_counts_the_nets_of_all_its_groups():
    settings = {"fifty": {"searches": 5, "seeds": 1}, "headline": {"seeds": 10}}
    made_up = {"experiments/results/primary.json": {"settings": settings}}
    row = {"verdict": "in part", "additions": []}
    claim = ten_claims.TEN_CLAIMS["primary-biases"]
    assert show.table_of_claims.counted(made_up.__getitem__, row, claim) == "5, 10"


def test_the_settings_of_a_winner_are_those_that_its_first_weights_have():
    residual = {"width": 181, "start": "orthogonal", "gain": 1.2, "scale": 0.5, "lr": 0.00126}
    assert studies.chosen(residual) == "181, orthogonal 0.6, 1.26"
    highway = {"width": 128, "start": "glorot", "lr": 0.002645, "gate_bias": -0.9811}
    assert studies.chosen(highway) == "128, Glorot's, 2.65, \N{MINUS SIGN}0.98"


def test_the_inputs_and_classes_of_the_tasks_are_those_of_their_nets():
    pointers = depth_on_demand.LEVELS["pointer-1"]
    assert depth_on_demand.inputs_and_outputs(pointers) == studies.INPUTS_AND_CLASSES["pointers"]
    chains = untold_need.BUDGETS["default"]
    x, _ = untold_need_trial.problems(chains, np.ones(1, int), np.random.default_rng(0))
    assert (x.shape[1], chains["chains"]) == studies.INPUTS_AND_CLASSES["chains"]


def test_a_study_of_chosen_settings_has_the_draws_of_their_search():
    [study] = [study for study in studies.STUDIES if study.name == "`figure_1_finals`"]
    records = {studies.path_of(name): {"settings": {}} for name in (study.record, study.search)}
    records[studies.path_of(study.record)]["settings"] = {"epochs": 400, "seeds": 3}
    records[studies.path_of(study.search)]["settings"] = {"epochs": 20, "trials": 16}
    assert studies.row_of(records.__getitem__, study).endswith("| 16 | 400 | 3 seeds |")


def test_the_deposit_says_what_the_citation_says():
    deposit = read_json(ROOT / ".zenodo.json")
    [creator] = deposit["creators"]
    assert (deposit["title"], deposit["version"]) == (who_and_when.cited("title"), who_and_when.version())
    assert (creator["name"], deposit["license"]) == (who_and_when.authors(), who_and_when.cited("license"))


def test_the_papers_accuracies_have_the_decimals_that_it_prints():
    told = show.tables_1_to_3.accuracy_in_paper
    assert told({"mean": 0.994, "mean_between": [0.9936, 0.9942], "sd": 0.0003}) == "99.4 ± 0.03"
    assert told({"mean": 0.9231, "sd": 0.0012}) == "92.31 ± 0.12"
