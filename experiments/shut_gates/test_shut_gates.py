"""Nets whose blocks do nothing: the verdict on made-up accuracies, and the picture."""

import pytest
from conftest import ROOT, verdict_on

from experiments.shut_gates import show
from highways.files import read_json
from highways.lab.showing import style


def verdict(shut=0.9, without=0.9, open_after=3e-9) -> str:
    trials = []
    runs = []
    for seed in range(3):
        noise = seed / 1000
        setting = {"epochs": 12, "n_train": 6000}
        trials.append({
            "kind": "shut gates", "depth": 30, **setting, "test_accuracy": shut + noise, "open_after": open_after
        })  # fmt: skip
        trials.append({
            "kind": "no blocks", "depth": 0, **setting, "test_accuracy": without + noise, "open_after": None
        })  # fmt: skip
        runs.append({"highway": {"final_test_acc": 0.9 + noise}})
    headline = {"depth": 30, "epochs": 12, "n_train": 6000, "runs": runs}
    return verdict_on("shut_gates", "accurate-without-blocks", {"trials": trials}, headline)


@pytest.mark.parametrize(
    ("made_up", "expected"),
    [
        ({}, "reproduced"),
        ({"shut": 0.8}, "in part"),
        ({"without": 0.891}, "in part, the rest not clear"),
        ({"shut": 0.8, "without": 0.8, "open_after": 0.1}, "not reproduced"),
    ],
)
def test_the_verdict(made_up, expected):
    assert verdict(**made_up) == expected


def test_the_picture_shows_every_seed():
    with style.house_style():
        fig = show.shut_gates(read_json(ROOT / "results" / "shut_gates.json"), read_json(ROOT / "run_seeds.json"))
        [ax] = fig.axes
        assert [len(line.get_xdata()) for line in ax.get_lines()][:4] == [10, 10, 10, 10]
        style.plt.close(fig)
