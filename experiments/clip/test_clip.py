"""The clip: in how many steps it acts, and what the same nets do without it."""

import numpy as np
import pytest
from conftest import judgement_on, verdict_on

from experiments.clip import question as clip
from experiments.clip import trial as clipping
from highways.nets import fully_connected
from highways.records import select

SETTING = {
    "block": "plain",
    "depth": 3,
    "activation": "tanh",
    "effective_lr": 0.5,
    "momentum": 0.9,
    "decay": 0.9,
    "clip": 1.0,
    "seed": 1,
    "epochs": 3,
    "n_train": 512,
    "n_test": 100,
}


def test_counting_changes_nothing():
    counted = clipping.trial(SETTING)
    shares = counted.pop("steps_over")
    assert counted == fully_connected.trial(SETTING)
    assert len(shares) == 3
    assert all(0 <= share <= 1 for share in shares)


def test_steps_over_the_limit_are_counted(monkeypatch):
    """With a limit below every norm all steps are over it; with a limit above every norm, none."""
    for limit, share in ((1e-9, 1), (1e9, 0)):
        monkeypatch.setattr(clipping, "LIMIT", limit)
        assert clipping.trial(SETTING)["steps_over"] == [share] * 3


def test_no_clip_is_another_training_where_the_clip_acts():
    clipped = clipping.trial(SETTING)
    free = clipping.trial({**SETTING, "clip": None})
    assert max(clipped["steps_over"]) > 0
    assert free["loss"] != clipped["loss"]


def record_of(loss_of) -> dict:
    """A record in which a net ends with loss_of(block, layers, way); None where it diverged."""
    trials = []
    for block in clip.BLOCKS:
        depths = list(clip.DEPTHS)
        if block == "highway":
            depths.append(clip.DEEPEST)
        for depth in depths:
            for way in clip.WAYS:
                loss = loss_of(block, depth, way)
                for seed in (1, 2, 3):
                    trial = {"block": block, "depth": depth, "way": way, "seed": seed, "steps_over": [0.5, 0.01]}
                    if loss is None:
                        trial |= {"diverged": True, "loss": None}
                    else:
                        noise = seed / 100 if way == "clipped" else seed / 90  # so that ratios differ, too
                        trial |= {"diverged": False, "loss": loss * (1 + noise)}
                    trials.append(trial)
    return {"settings": {}, "trials": trials}


@pytest.mark.parametrize(
    ("free", "half", "verdict"),
    [
        (1e-3, 2e-3, "reproduced"),
        (None, 2e-3, "reproduced"),  # at half the rate it trains
        (1e-2, 5e-3, "not reproduced"),
        (None, None, "not reproduced"),
    ],
)
def test_whether_nets_train_without_a_clip(free, half, verdict):
    losses = {"clipped": 1e-3, "free": free, "free, half": half}
    record = record_of(lambda block, depth, way: losses[way])
    assert verdict_on("clip", "simple-gradient-descent", record) == verdict
    row = select(clip.rows(record), row="way", block="highway", depth=49, way="free")
    assert row["n_diverged"] == (0 if free else 3)
    assert row["share_of_first_epoch"]["mean"] == 0.5


def test_one_depth_that_does_not_train():
    def loss_of(block, depth, way):
        return None if depth == 49 and way != "clipped" else 1e-3

    assert verdict_on("clip", "simple-gradient-descent", record_of(loss_of)) == "in part"


def test_a_clip_that_never_acts_leaves_a_ratio_of_one():
    record = record_of(lambda block, depth, way: 1e-3)
    for trial in record["trials"]:
        trial["loss"] = 1e-3 * (1 + trial["seed"])  # seeds differ by more than three times; ways do not
    pair = clip.pairs(record, "highway")[9]
    assert clip.ratio_of_pairs(pair) == (1, 1, 1)
    verdict, text, _ = judgement_on("clip", "simple-gradient-descent", record)
    assert "10 layers 1, since the clip never acts" in text
    assert verdict == "reproduced"


def test_the_deepest_net_is_that_of_blocks():
    final = [
        {"block": block, "depth": depth, "seed": seed, "width": 50, "effective_lr": depth / 100}
        for block, depth in (("highway", 9), ("highway", 199), ("residual", 999))
        for seed in (1, 2)
    ]
    found = clip.deepest_highway({"trials": {"final": final}})
    assert (found["block"], found["depth"], found["effective_lr"]) == ("highway", 199, 1.99)


def test_how_often_the_clip_acts():
    record = record_of(lambda block, depth, way: 1e-3)
    assert np.mean(clip.share_of_steps(record, 9)) == pytest.approx(0.255)
    assert verdict_on("clip", "clip-seldom-acts", record) == "not reproduced"
