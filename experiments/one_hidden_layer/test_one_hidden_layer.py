"""One hidden layer: its search, and that it takes the place of deep nets in their rules."""

from types import SimpleNamespace

from experiments.initialisations import question as starts
from experiments.one_hidden_layer import question
from experiments.optimization import question as optimization


def test_the_net_has_no_block_and_searches_both_activations():
    runner = SimpleNamespace(settings=question.BUDGETS["default"])
    tried = [question.sample("", k, runner) for k in range(16)]
    assert {setting["depth"] for setting in tried} == {0}
    assert [setting["activation"] for setting in tried[:3]] == ["tanh", "relu", "tanh"]
    assert all(0.5 <= setting["effective_lr"] <= 8 for setting in tried)


def test_it_stands_in_every_cell_of_highway_nets():
    cells = [{"kind": kind, "H": "relu", "seed": 1, "loss": 2.3, "test_accuracy": 0.1} for kind in starts.KINDS]
    shallow = [{"H": "relu", "seed": 1, "loss": 0.2}, {"H": "relu", "seed": 2, "loss": 0.3}]
    [record] = starts.shallow({"trials": {"final": cells}}, {"trials": {"starts": shallow}})
    assert [net["loss"] for net in record["trials"]["final"]] == [0.2, 2.3]


def test_it_stands_at_every_depth():
    nets = [{"block": block, "depth": depth, "loss": 1.0} for block in ("highway", "plain") for depth in (9, 99)]
    more = {"trials": {"optimization": [{"block": "highway", "depth": 9, "loss": 1.0}]}}
    shallow = {"trials": {"final": [{"block": "highway", "depth": 0, "loss": 0.2}]}}
    record, others = optimization.shallow({"trials": {"final": nets}}, more, shallow)
    found = [(net["depth"], net["loss"]) for net in record["trials"]["final"] if net["block"] == "highway"]
    assert found == [(depth, 0.2) for depth in optimization.DEPTHS]
    assert others["trials"]["optimization"] == []
