"""The search for rates at 100 layers, in ranges that reach four times lower and higher."""

from types import SimpleNamespace

import pytest
from conftest import verdict_on

from experiments.wider_rates import question as wider_rates
from highways.nets import search
from highways.records import select

TRIALS = 24


@pytest.mark.parametrize("block", wider_rates.BLOCKS)
@pytest.mark.parametrize("activation", wider_rates.ACTIVATIONS)
def test_every_part_of_the_range_has_one_rate(block, activation):
    runner = SimpleNamespace(settings={"trials": TRIALS})
    tried = [wider_rates.sample(block, k, runner) for k in range(TRIALS)]
    rates = [setting["effective_lr"] for setting in tried if setting["activation"] == activation]
    parts = [wider_rates.part_of(rate, block, activation, TRIALS) for rate in rates]
    assert sorted(parts) == list(range(1, TRIALS // 2 + 1))
    low, high = search.FIGURE_1_RATES[block, 99][activation]
    assert min(rates) < low / 2
    assert max(rates) > high * 2


@pytest.mark.parametrize(
    ("plain", "plain_rate", "highway_rate", "verdict"),
    [
        (0.3, 0.07, 3.0, "reproduced"),
        (0.3, 0.07, 19.0, "reproduced"),  # a better highway rate makes the ratio larger still
        (0.05, 0.07, 3.0, "not reproduced"),
        (0.05, 0.3, 3.0, "not reproduced"),  # a better plain rate makes it smaller still
        (0.3, 0.3, 3.0, "not clear"),
        (0.05, 0.07, 19.0, "not clear"),
    ],
)
def test_the_ratio_and_where_the_best_rates_lie(plain, plain_rate, highway_rate, verdict):
    final = []
    for block, loss, rate in (("plain", plain, plain_rate), ("highway", 1e-3, highway_rate)):
        for seed in (1, 2, 3):
            trial = {"block": block, "activation": "tanh", "effective_lr": rate, "momentum": 0.9, "decay": 0.95}
            trial |= {"loss": loss * (1 + seed / 100), "test_accuracy": 0.9, "diverged": False, "losses": [loss]}
            final.append(trial)
    record = {"settings": {"trials": TRIALS}, "trials": {"final": final}}
    assert verdict_on("wider_rates", "two-orders-at-100-wide", record) == verdict
    rows = wider_rates.rows(record)
    expected_part = 12 if plain_rate == 0.3 else 9  # of 12
    assert select(rows, row="net", block="plain")["part"] == expected_part
    assert select(rows, row="net", block="highway")["part"] == (12 if highway_rate == 19 else 6)
    assert select(rows, row="ratio")["plain_over_highway"] == pytest.approx(plain / 1e-3)
