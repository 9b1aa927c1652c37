"""The ledger of claims: its intervals and verdicts, and that what is committed is what its rules say today."""

import copy
import importlib
import json
import math

import numpy as np
import pytest
from conftest import ROOT
from ledger.rules import (
    PUBLISHED,
    above,
    below,
    compared,
    in_ratio,
    interval,
    judge,
    judged,
    mean_sd_n,
    prediction_interval,
    print_claims,
    shown,
    within,
)
from scipy import stats

from claims import ledger
from experiments import blocks, lesion, optimization, table1, very_deep
from plumbing.files import InputError
from plumbing.records import seconds_on_two_cores

EXPERIMENTS = [path.stem for path in (ROOT / "experiments").glob("*.py") if "\nCLAIMS = " in path.read_text("utf-8")]
EXPERIMENTS.remove("claims")


def test_intervals_are_student_s():
    """Of 1, 2, 3: mean 2, deviation 1, two degrees of freedom."""
    t_2, t_4 = 4.302652729911275, 2.7764451051977987  # 97.5 % quantiles of Student's t, from a table
    assert interval([1, 2, 3]) == pytest.approx((2 - t_2 / math.sqrt(3), 2 + t_2 / math.sqrt(3)))
    assert interval([5]) == (5, 5)
    assert interval([3, 3, 3]) == (3, 3)
    low, high = interval([1, 2, 3], less=[11, 12, 13])  # equal variances: 4 degrees of freedom
    assert (low, high) == pytest.approx((-10 - t_4 * math.sqrt(2 / 3), -10 + t_4 * math.sqrt(2 / 3)))
    for point in ([7], [7, 7]):  # what does not vary has no spread of its own
        assert interval([1, 2, 3], less=point) == pytest.approx((-5 - t_2 / math.sqrt(3), -5 + t_2 / math.sqrt(3)))
        assert interval(point, less=[1, 2, 3]) == pytest.approx((5 - t_2 / math.sqrt(3), 5 + t_2 / math.sqrt(3)))
    for missing in ([1, None], [1, math.nan], [None], [None, 1, 2]):
        assert all(map(math.isnan, interval(missing)))
        assert above(missing, 0) is below(missing, 0) is within(missing, 0, 9) is None
        assert above([1, 2], 0, less=missing) is above(missing, 0, less=[1, 2]) is above([1], 0, less=missing) is None


def test_unequal_variances_are_welch_s():
    errors, freedoms = np.array([1 / 3, 25]), np.array([2, 1])  # of 1, 2, 3 and of 0, 10
    quantile = stats.t.ppf(0.975, errors.sum() ** 2 / (errors**2 / freedoms).sum())
    low, high = interval([1, 2, 3], less=[0, 10])
    assert ((low + high) / 2, (high - low) / 2) == pytest.approx((-3, quantile * math.sqrt(errors.sum())))


@pytest.mark.parametrize("n", [3, 10, 40])
def test_intervals_hold_the_truth_in_95_of_100(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0, 1, (1000, n)), rng.normal(0.5, 3, (1000, n))
    for sample, truth in ((zip(a, strict=True), 0), (zip(b, a, strict=True), 0.5)):
        held = [low <= truth <= high for low, high in (interval(*each) for each in sample)]
        assert 0.93 < np.mean(held) < 0.985


def test_bounds():
    values = [1.0, 1.1, 0.9]
    assert above(values, 0.5) is True
    assert above(values, 2) is False
    assert above(values, 1.05) is None
    assert below(values, 2) is True
    assert below(values, 0.5) is False
    assert below(values, 0.95) is None
    assert within(values, 0, 2) is True
    assert within(values, 2, 3) is False
    assert within(values, 1, 3) is None
    assert above(values, 0, less=[0.1, 0.2, 0.3]) is True
    assert within(values, -0.5, 0.5, less=values) is True


def test_whoever_alone_lost_a_seed_is_the_worse():
    assert compared(above, [2.0, 2.1], [1.0, 1.1], 0) is True
    assert compared(above, [2.0, None], [1.0, 1.1], 0) is False
    assert compared(above, [2.0, 2.1], [1.0, None], 0) is True
    assert compared(above, [2.0, None], [1.0, None], 0) is None
    assert compared(below, [None, None], [5, 6], 0) is False  # epochs to a loss that was never reached


def test_losses_are_compared_by_their_ratio():
    losses = [0.01, 0.0101, 0.0099]
    for factor, holds in ((2.9, False), (3.0, None), (3.1, True)):
        assert in_ratio(above, [factor * loss for loss in losses], 3, less=losses) is holds
    assert in_ratio(above, [0.1, None], 3, less=losses) is None


def test_verdicts_of_parts():
    assert judged([True, True]) == "reproduced"
    assert judged([True, False]) == judged([True, None, False]) == "in part"
    assert judged([True, None]) == "in part, the rest not clear"
    assert judged([False, False]) == judged([False, None]) == "not reproduced"
    assert judged([None, None]) == "not clear"


def test_numbers_as_the_table_shows_them():
    assert shown([0.5]) == "0.5"
    assert shown([1.0, 2.0]) == "1.5 ± 0.71 (n = 2)"
    assert shown([1.0, None, 2.0]) == "1.5 ± 0.71 (n = 2), 1 of 3 lost"
    assert shown([None]) == "none of 1"
    assert shown([1.0, 2.0], [0.12345], digits=2) == "1.5 ± 0.71 (n = 2), 0.12"


def test_spread():
    """A mean of some seeds only would hide those that failed."""
    assert mean_sd_n([1.0, 3.0]) == {"mean": 2.0, "sd": pytest.approx(math.sqrt(2)), "n": 2}
    assert mean_sd_n([1.0, 3.0, None]) == {"mean": None, "sd": None, "n": 2}
    assert mean_sd_n([None]) == {"mean": None, "sd": None, "n": 0}


def test_published_numbers_have_a_source():
    assert all(part["source"] for part in PUBLISHED.values())
    program = PUBLISHED["program"]
    assert program["depths"]["30"] == program["headline"]
    assert all(program["seeds"][block][0] == program["headline"][block]["test_acc"] for block in ("highway", "plain"))


@pytest.fixture(scope="module")
def records():
    return ledger.read(ROOT)


NOT_TESTED = "not tested in 300 epochs", "not tested in 400 epochs"


def test_every_claim_is_judged(records):
    ledger = ledger.rows(records)
    assert len(ledger) == len(ledger.CLAIMS) >= 30
    assert len({row["claim"] for row in ledger}) == len(ledger)
    sources = ("published program", "paper", "the authors' log", "blog", "encyclopedia article")
    for row in ledger:
        assert row["source"].startswith(sources)
        verdict = row["verdict"].split(";")[0].split(":")[0].split(",")[0]
        verdicts = ("reproduced", "reproduced in another recipe", "in part", "not reproduced", "not clear")
        assert verdict in (*verdicts, "not tested", *NOT_TESTED)
        assert "|" not in row["ours"] + row["note"] + row["claim"]
        assert all(command.startswith("python ") for command in row["commands"])
        assert (
            bool(row["commands"]) == (row["ours"] != "-") == (row["minutes_on_two_cores"] > 0 or bool(row["results"]))
        )
    assert sum(ledger.counts(ledger).values()) == len(ledger)


def test_what_is_committed_is_what_the_rules_say(records):
    path = ROOT / "results" / "claims.json"
    kept = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert list(kept) == ["experiment", "source", "command", "settings", "env", "summary", "trials"]
    ledger = ledger.rows(records)
    assert kept["trials"] == json.loads(json.dumps(ledger))
    assert kept["summary"] == ledger.counts(ledger)


def test_contradictions_say_who_is_right(records):
    ledger = {row["claim"]: row["verdict"] for row in ledger.rows(records)}
    contradicted = {claim.says for pair in ledger.CONTRADICTIONS for claim in pair}
    assert len(contradicted) >= 4
    assert {says for says, verdict in ledger.items() if "says otherwise" in verdict} == contradicted
    for one, other in ledger.CONTRADICTIONS:
        assert one.source != other.source
        for held, end in (
            (("reproduced", "not reproduced"), f"the {one.source.split(',')[0]} is right"),
            (("in part", "reproduced"), f"the {other.source.split(',')[0]} is right"),
            (("reproduced, one run", "reproduced"), "both hold"),
            (("not clear", "in part"), "undecided"),
        ):
            verdicts = dict(zip((one.says, other.says), held, strict=True))
            assert ledger.contradiction(one, other, verdicts).endswith(end)
            assert ledger.contradiction(other, one, verdicts).endswith(end)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_says_of_its_claims_what_the_ledger_says(records, capsys, name):
    own = importlib.import_module(f"experiments.{name}").CLAIMS
    print_claims(own, records[name])
    printed = capsys.readouterr().out
    ledger = {row["claim"]: row for row in ledger.rows(records)}
    tested = [claim for claim in own if claim.values and not claim.over]
    for claim in tested:
        row = ledger[claim.says]
        assert f": {claim.says}" in printed
        if row["verdict"].startswith("not tested: "):  # its runs are not there yet
            assert f": {claim.says}\n    not measured with these settings\n" in printed
            continue
        assert row["results"][-1] == name
        verdict = row["verdict"].split("; the ")[0] if "says otherwise" in row["verdict"] else row["verdict"]
        assert f"\n    {verdict}: {row['ours']}\n" in printed
    assert printed.count("\n") == 2 * len(tested)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_smoke_test_has_numbers_and_no_verdicts(records, capsys, name):
    own = importlib.import_module(f"experiments.{name}").CLAIMS
    print_claims(own, records[name] | {"settings": records[name]["settings"] | {"budget": "quick"}})
    printed = capsys.readouterr().out
    measured = {row["claim"] for row in ledger.rows(records) if row["results"]}
    assert measured & {claim.says for claim in own}
    for claim in own:
        if claim.values and not claim.over and claim.says in measured:
            assert f"\n    {judge(claim, records[name])[0]}\n" in printed
    assert not any(word in printed for word in ("reproduced", "in part", "not clear", "not tested"))


@pytest.mark.parametrize(
    "name", ["blocks", "full_mnist", "long_training", "optimization", "table1", "thousand_layers", "very_deep"]
)
def test_nets_that_diverged_leave_claims_that_are_judged(records, name):
    """What a trial could not measure is None."""
    trials, numbers = copy.deepcopy(records[name]["trials"]), {"loss", "test_accuracy", "final_test_acc"}
    for trial in (trial for group in trials.values() for trial in group):
        trial |= {key: None for key in numbers & trial.keys()}
    for claim in importlib.import_module(f"experiments.{name}").CLAIMS:
        if claim.values and not claim.over:
            ours, verdict = judge(claim, records[name] | {"trials": trials})
            assert ours != "-"
            assert verdict


def changed(records, file, path, value):
    records = records | {file: copy.deepcopy(records[file])}
    *way, last = path
    part = records[file]
    for step in way:
        part = part[step]
    part[last] = value
    return records


def verdict(start, records):
    claim = ledger.find(start)
    return judge(claim, *(records[name] for name in claim.over))[1]


def test_verdicts_follow_the_results(records):
    """No verdict is written by hand: other results, another verdict."""
    start = "SGD does not stall"
    assert verdict(start, records) == "reproduced"
    worse, path = records, ("trials", "best", 0, "test_accuracy")
    for i in range(3):
        worse = changed(worse, "thousand_layers", ("trials", "best", i, "test_accuracy"), 0.1 + i / 1000)
    assert verdict(start, worse) == "not reproduced"
    for lost in (0.1, None):
        assert verdict(start, changed(records, "thousand_layers", path, lost)) == "not clear"
    worse = records
    for i in range(10):
        worse = changed(worse, "run_seeds", ("runs", i, "plain", "final_test_acc"), 0.9)
    assert verdict("at depth 30 highway learns", worse) == "in part"
    for block, expected in (("residual", "not reproduced"), ("highway", "reproduced")):
        final = records["blocks"]["trials"]["final"]
        lost = [t | ({"test_accuracy": None} if t["block"] == block else {}) for t in final]
        lost = changed(records, "blocks", ("trials", "final"), lost)
        assert verdict("residual is as effective", lost) == expected


def test_a_fast_net_that_never_arrives_is_not_faster(records):
    final = records["optimization"]["trials"]["final"]
    slow = [t | ({"losses": [1.0]} if t["block"] == "highway" else {}) for t in final]
    assert verdict("highway nets converge faster", changed(records, "optimization", ("trials", "final"), slow)) == (
        "not reproduced"
    )


@pytest.mark.parametrize(("factor", "degrades"), [(2.9, False), (3.1, True)])
@pytest.mark.parametrize("block", ["highway", "plain"])
def test_both_kinds_are_judged_by_one_measure(block, factor, degrades):
    """A kind degrades when its loss is over three times that of its own shallower nets."""
    final = [
        {"block": b, "layers": n, "loss": 1e-3 * (1 + seed / 1000) * (factor if n == 100 and b == block else 1)}
        for b in ("highway", "plain")
        for n in optimization.LAYERS
        for seed in range(3)
    ]
    verdicts = {claim.says: claim for claim in optimization.CLAIMS}
    [plain] = [claim for says, claim in verdicts.items() if says.startswith("plain nets degrade")]
    [highway] = [claim for says, claim in verdicts.items() if says.startswith("highway nets of 50 and 100")]
    record = {"trials": {"final": final}}
    assert judge(plain, record)[1] == ("in part" if degrades and block == "plain" else "not reproduced")
    assert judge(highway, record)[1] == ("in part" if degrades and block == "highway" else "reproduced")


@pytest.mark.parametrize(
    ("loss", "accuracy", "expected"),
    [(2.9, 0.95, "reproduced"), (3.1, 0.95, "in part"), (3.1, 0.1, "not reproduced"), (None, None, "not reproduced")],
)
def test_residual_nets_go_on_where_they_train_as_well_as_shallower_ones(loss, accuracy, expected):
    def net(block, n, seed):
        deepest = n == 1000 and block == "residual"
        lost = deepest and loss is None and seed == 0  # one seed is enough
        t = {"block": block, "layers": n, "loss": 0.1 * (loss or 1 if deepest else 1) * (1 + seed / 1000)}
        t["test_accuracy"] = t["skipped_accuracy"] = (accuracy or 0.95 if deepest else 0.95) + seed / 1000
        return t | {"loss": None, "test_accuracy": None} if lost else t

    layers = very_deep.LAYERS
    final = [net(block, n, seed) for block in very_deep.NETS for n in layers for seed in range(3)]
    record = {"settings": {"layers": layers}, "trials": {"final": final}}
    assert judge(ledger.find("residual nets go on"), record)[1].startswith(expected)


DEPTHS = blocks.BUDGETS["default"]["layers"]


def blocks_record(**own):
    """All kinds train to 0.97 and a loss of 0.01 at every depth, and T is 0.2 early, 0.1 late; but for `own`."""
    nets = ("highway_50", "residual_50", "residual_71", "highway-carry_50", "highway-carry_41")
    trials = []
    for net, n, seed in ((net, n, seed) for net in nets for n in DEPTHS for seed in range(3)):
        block, width = net.split("_")

        def near(name, value, key=f"{net}_{n}", seed=seed):
            value = own.get(f"{name}_{key}", value)
            return None if value is None else value * (1 + 1e-4 * seed)

        t = {"block": block, "width": int(width), "layers": n, "loss": near("loss", 0.01)}
        t |= {"test_accuracy": near("accuracy", 0.97), "mean_T": [near("early", 0.2), 0.15, near("late", 0.1)]}
        trials.append(t | {"trained": {"gradient": [near("gradient", 0.6), 1.0]}})
    return {"settings": {"layers": DEPTHS}, "trials": {"final": trials}}


NEEDLESS, TRAINS, OPENED, FADES, HALF, BETTER = (
    "a carry gate of its own", "the general form", "early layers' gates", "... because the factors",
    "residual is as effective", "highway against residual",
)  # fmt: skip


@pytest.mark.parametrize(
    ("own", "verdicts"),
    [
        ({}, {}),
        ({"accuracy_residual_50_50": 0.9677}, {HALF: "in part"}),
        ({"accuracy_residual_50_50": 0.968}, {HALF: "in part, the rest not clear"}),
        ({"accuracy_residual_50_50": 0.9683}, {}),
        ({"accuracy_residual_50_50": None}, {HALF: "in part"}),
        ({"accuracy_residual_71_50": None}, {BETTER: "not reproduced"}),
        ({"accuracy_residual_71_50": 0.98}, {BETTER: "in part, the rest not clear"}),
        ({"accuracy_highway_50_50": 0.5}, {NEEDLESS: "in part", BETTER: "in part, the rest not clear"}),
        ({"accuracy_highway-carry_50_10": 0.98}, {NEEDLESS: "in part"}),
        ({"accuracy_highway-carry_50_10": None}, {TRAINS: "in part"}),
        ({"accuracy_highway-carry_41_200": 0.5}, {TRAINS: "in part"}),
        ({"early_highway_50_10": 0.6}, {}),
        (
            {f"{third}_highway_50_{n}": T for n in DEPTHS for third, T in (("early", 0.6), ("late", 0.1))},
            {OPENED: True},
        ),
        ({f"late_highway_50_{n}": 0.3 for n in DEPTHS}, {OPENED: "not reproduced"}),
        ({"gradient_highway_50_200": 0.4}, {FADES: "in part"}),
        ({"gradient_highway_50_200": None, "gradient_highway_50_100": None}, {FADES: "not clear"}),
    ],
)
def test_the_verdicts_on_the_blocks(own, verdicts):
    alike = {NEEDLESS: True, TRAINS: True, OPENED: "in part", FADES: "not reproduced", HALF: True, BETTER: "not clear"}
    record = blocks_record(**own)
    for start, expected in (alike | verdicts).items():
        [claim] = [claim for claim in blocks.CLAIMS if claim.says.startswith(start)]
        assert judge(claim, record)[1] == ("reproduced" if expected is True else expected), start


@pytest.mark.parametrize(
    ("own", "at_1000", "expected"),
    [
        ({}, 0.97, "not reproduced"),
        ({"loss_highway_50_200": 0.031}, 0.97, "in part"),
        ({"loss_highway_50_200": 0.031, "loss_highway_50_100": 0.031}, 0.5, "reproduced"),
        ({"loss_highway_50_200": 0.03, "loss_highway_50_100": 0.03}, 0.9, "not clear"),
        ({"loss_highway_50_200": None, "loss_highway_50_100": None}, 0.5, "in part, the rest not clear"),
    ],
)
def test_the_verdict_on_depths_beyond_100(own, at_1000, expected):
    deepest = {"trials": {"best": [{"test_accuracy": at_1000 + noise} for noise in (-0.001, 0, 0.001)]}}
    claim = ledger.find("highway nets struggle beyond about 100 layers")
    assert judge(claim, blocks_record(**own), deepest)[1] == expected


@pytest.mark.parametrize(
    ("share", "hard", "expected"), [(0.9, 0.5, "reproduced"), (0.5, 0.9, "not reproduced"), (0.5, 0.51, "not clear")]
)
def test_the_verdict_on_the_harder_task(capsys, share, hard, expected):
    sets = (("MNIST", share), ("CIFAR-100", hard))
    trials = [{"data": data, "idle_share": value + noise} for data, value in sets for noise in (0, 0.02)]
    [harder] = [claim for claim in lesion.CLAIMS if claim.says.startswith("on the harder task")]
    assert judge(harder, {"trials": trials})[1] == expected
    print_claims([harder], {"settings": {"budget": "default"}, "trials": trials[:2]})
    assert capsys.readouterr().out.endswith("\n    not measured with these settings\n")


@pytest.mark.parametrize(
    ("width", "epochs", "paper", "short", "expected"),
    [
        (16, 15, 0.9940, 0.9940, "not tested in 300 epochs; 99.4 ± 0.01 (n = 3) in 12 epochs of another recipe"),
        (16, 15, 0.9940, None, "not tested in 300 epochs; none of 3 in 12 epochs of another recipe"),
        (16, 300, 0.9940, 0.9, "reproduced"),
        (16, 300, 0.9933, 0.9, "not reproduced"),  # three runs: 99.34 to 99.46
        (16, 300, 0.9935, 0.9, "reproduced"),
        (16, 300, 0.9947, 0.9, "not reproduced"),  # above is outside, too
        (16, 300, None, 0.9999, "not reproduced"),  # no run of theirs diverged
        (32, 300, 0.9953, 0.9, "reproduced"),
    ],
)
def test_the_verdicts_on_table_1(width, epochs, paper, short, expected):
    final = [
        {"width": width, "protocol": protocol, "block": "highway", "epochs": epochs if protocol == "paper" else 12}
        | {"final_test_acc": None if mean is None else mean + noise}
        for protocol, mean in (("paper", paper), ("short", short))
        for noise in (-0.0001, 0, 0.0001)
    ]
    assert judge(table1.table_1(width), {"trials": {"final": final}})[1] == expected


def test_the_prediction_interval():
    """2.776 is Student's t of four degrees of freedom at 97.5 %."""
    for name, data, low, high in (("table_3", "cifar-10", 0.9195, 0.9267), ("table_1", "16", 0.9931, 0.9949)):
        assert prediction_interval(PUBLISHED[name][data], 1) == pytest.approx((low, high), abs=5e-5)
    mean, sd = 0.5, 0.01
    low, high = prediction_interval({"mean": mean, "sd": sd, "runs": 5}, 3)
    assert (mean - low, high - mean) == pytest.approx([2.7764 * sd * (1 / 3 + 1 / 5) ** 0.5] * 2, rel=1e-4)


@pytest.mark.parametrize(
    ("normalised", "expected"),
    [(0.9942, "reproduced"), (0.9935, "not clear"), (0.9928, "not reproduced"), (None, "not reproduced")],
)
def test_the_verdict_on_batch_normalisation(normalised, expected):
    """Beside highway's 0.9940, within 0.0005; None: it lost a seed, and highway did not."""
    final = [
        {"width": 16, "protocol": "short", "block": block, "history": {"test_acc": [0.98, 0.99]}}
        | {"final_test_acc": None if mean is None and noise == 0 else (mean or 0.9942) + noise}
        for block, mean in (("highway", 0.9940), ("highway-bn", normalised))
        for noise in (-0.0001, 0, 0.0001)
    ]
    assert judge(table1.CLAIMS[-1], {"trials": {"final": final}})[1] == expected


def test_how_long_two_cores_take():
    assert seconds_on_two_cores({"runs": [{"wallclock_sec": 4}, {"wallclock_sec": 1}, {"wallclock_sec": 5}]}) == 6
    assert seconds_on_two_cores({"trials": [{"seconds": 9}, {"seconds": 1}]}) == 9  # one keeps a core alone
    resumed = {"seconds": 1, "wallclock_sec": 7}  # of its last start; of all
    assert seconds_on_two_cores({"trials": {"search": [{"seconds": 8}], "final": [resumed, {"seconds": 5}]}}) == 15
    assert seconds_on_two_cores({"trials": {"search": [], "final": [{"seconds": 4}]}}) == 4


def test_results_that_lack_a_number_are_refused_in_one_line(records):
    lacking = changed(records, "run_seeds", ("runs", 0, "highway"), {})
    with pytest.raises(InputError, match="lack what a claim is judged by"):
        ledger.rows(lacking)


def test_results_that_are_missing_are_named(tmp_path):
    with pytest.raises(InputError, match=r"blocks\.json cannot be read as JSON"):
        ledger.read(tmp_path)


def test_the_command_writes_the_ledger_and_prints_it(records, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ledger, "ROOT", tmp_path)
    monkeypatch.setattr(ledger, "read", lambda folder: records)
    (tmp_path / "results").mkdir()
    ledger.main([])
    record, printed = json.loads((tmp_path / "results" / "claims.json").read_text()), capsys.readouterr().out
    assert list(record) == ["experiment", "source", "command", "settings", "env", "summary", "trials"]
    assert len(record["trials"]) == len(ledger.CLAIMS)
    for row in record["trials"]:
        assert f"{row['source']}: {row['claim']}" in printed
        assert f"\n    {row['verdict']}: {row['ours']}\n" in printed
