"""The command line of highway_networks.py: what it prints, writes and refuses."""

import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest
from conftest import OLD, SMALL, in_process, run, without_time

import highway_networks as hn
from highways.records import RUN, digest_of, record_bytes


def train(*words, **more):
    return run("highway_networks.py", *words, **more)


def test_the_json_and_the_output_of_a_pair_of_runs(tmp_path, data_set):
    """A pair is a highway net and a plain net of the same depth and seed."""
    out = tmp_path / "new.json"
    process = train(*SMALL, "--data-dir", data_set, "--gate-bias", -1.5, "--out", out)
    assert process.returncode == 0, process.stderr
    record = json.loads(out.read_text())
    expected = {"seed": 0, "hidden": 8, "depth": 3, "epochs": 2, "batch_size": 32, "lr": 5e-3, "n_train": 200}
    expected |= {"n_test": 60, "gate_bias": -1.5, "clip": 5.0, "dtype": "float32", "activation": "tanh"}
    assert record.items() >= (expected | {"optimizer": "adam", "data_set": 'folder "shapes"', "n_classes": 3}).items()
    env = {"python", "numpy", "blas", "platform", "processor", "cpu_count", "git"}
    assert record["env"].keys() == env
    assert record["data_sha256"] == hn.load_mnist(data_set).sha256
    [pair] = record["runs"]
    assert (pair["depth"], pair["seed"]) == (3, 0)
    assert pair["wallclock_sec"] == pair["highway"]["wallclock_sec"] + pair["plain"]["wallclock_sec"]
    assert pair["highway"]["history"]["test_acc"][-1] == pair["highway"]["final_test_acc"]
    assert pair["highway"]["gate_bias"] == -1.5
    assert set(os.listdir(tmp_path)) == {"shapes", "new.json"}


def test_a_seed_that_stands_twice_counts_once():
    assert hn.parse_arguments(["--seeds", "1,0,1"]).seeds == [1, 0]


@pytest.mark.parametrize(
    ("words", "seeds", "depths"),
    [
        (("--seeds", "3,1"), [3, 1], [3]),
        (("--seeds", "0,1", "--depths", "1,2"), [0, 1], [1, 2]),
    ],
)
def test_several_runs_are_the_same_for_any_number_of_jobs(tmp_path, data_set, words, seeds, depths):
    records = []
    for jobs in (1, 2):
        out = tmp_path / f"{jobs}.json"
        small = SMALL if "--depths" not in words else SMALL[2:]  # without its --depth 3
        process = in_process(hn.main, *small, *words, "--data-dir", data_set, "--jobs", jobs, "--out", out)
        assert process.returncode == 0, process.stderr
        records.append(json.loads(out.read_text()))
    assert without_time(records[0]) == without_time(records[1])
    runs = [(pair["seed"], pair["depth"]) for pair in records[0]["runs"]]
    assert runs == [(seed, depth) for seed in seeds for depth in depths]
    for name, values in (("seed", seeds), ("depth", depths)):
        assert records[0][name] == (values[0] if len(values) == 1 else None)
        assert records[0].get(f"{name}s", values) == values


def test_a_diverged_run_is_named(tmp_path, data_set):
    net = tmp_path / "net.npz"
    words = (*SMALL, "--data-dir", data_set, "--lr", "1e38", "--jobs", 1, "--out", tmp_path / "d.json", "--save", net)
    process = in_process(hn.main, *words)
    assert process.returncode == 0
    assert f"{net} is not written" in process.stdout
    run = json.loads((tmp_path / "d.json").read_text(), parse_constant=pytest.fail)["runs"][0]["plain"]
    assert run["diverged"] is True
    assert run["final_test_acc"] is None


def test_a_loss_above_that_of_guessing_is_recorded(tmp_path, data_set):
    words = (*SMALL, "--data-dir", data_set, "--lr", "1000", "--jobs", 1, "--out", tmp_path / "high.json")
    process = in_process(hn.main, *words)
    assert process.stdout.count("worse than guessing") == 2
    [pair] = json.loads((tmp_path / "high.json").read_text())["runs"]
    assert pair["highway"]["above_guessing"] is pair["plain"]["above_guessing"] is True


BAD = [
    "--seed 9223372036854775808",
    "--save other.npz",
    "--save new.npz --seeds 0,1",
    "--out new.json --save ./new.json",
    "--lr nan",
    "--hidden 20000000 --jobs 1",  # no memory is large enough
    "--n-train 301",
    "--batch 201",
    "--seed 0 --seeds 2,3",  # 0 is the default
]


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_refused_and_replaces_nothing(tmp_path, data_set, monkeypatch, words):
    texts = {"run.json": OLD, "other.npz": "mine"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    process = in_process(hn.main, "--data-dir", data_set, "--out", "run.json", *SMALL, *words.split())
    assert process.returncode == 2
    assert {name: (tmp_path / name).read_text() for name in texts} == texts
    assert set(os.listdir(tmp_path)) == {"shapes", *texts}


def test_what_the_command_writes_is_taken_in_and_sealed(tmp_path, data_set):
    out = tmp_path / "run.json"
    process = in_process(hn.main, *SMALL, "--seeds", "0,1", "--data-dir", data_set, "--jobs", 1, "--out", out)
    assert process.returncode == 0, process.stderr
    written = json.loads(out.read_text())
    assert "digest" not in written
    record = json.loads(record_bytes(written, RUN))
    assert record == {**written, "digest": digest_of(written)}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ((), "run.json"),
        (("--seed", "3", "--depth", "30", "--gate-bias", "-2", "--jobs", "1"), "run.json"),
        (("--depths", "1,2"), "run_sweep.json"),
        (("--seeds", "1,2"), "run_seeds.json"),
        (("--depths", "1,2", "--seeds", "1,2"), "run_own.json"),
        (("--depths", "7"), "run_own.json"),
        (("--seeds", "3"), "run_own.json"),
        (("--depth", "10"), "run_own.json"),
        (("--n-test", "1000"), "run_own.json"),
        (("--depth", "10", "--quick"), "run_quick.json"),
    ],
)
def test_what_is_not_the_headline_s_has_a_record_of_its_own(mnist, words, name):
    args = hn.parse_arguments(words)
    settings = hn.Settings(**{setting: getattr(args, setting) for setting in vars(hn.DEFAULTS)})
    assert hn.path_of_record(args, settings, mnist) == Path(name)
    other = hn.path_of_record(args, settings, mnist._replace(name="Fashion-MNIST"))
    assert other == Path("run_quick.json" if args.quick else "run_own.json")


def test_a_task_that_fails_ends_no_other_process():
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    other.start()
    try:
        with pytest.raises(ValueError):
            hn.train_all([{"block": "unknown"}] * 2, jobs=2)
        assert multiprocessing.active_children() == [other]
    finally:
        other.kill()
        other.join()


def test_flags_override_what_quick_sets():
    quick = hn.parse_arguments(["--quick"])
    assert (quick.epochs, quick.n_train, quick.n_test, quick.depth) == (2, 1280, 500, 30)
    args = hn.parse_arguments(["--quick", "--epochs", "1", "--n-train", "256", "--n-test", "500"])
    assert (args.epochs, args.n_train, args.n_test, args.depth) == (1, 256, 500, 30)


def test_a_net_is_saved_and_replaces_another(tmp_path, data_set):
    path = tmp_path / "net.npz"
    for depth in (2, 3):
        words = (*SMALL, "--depth", depth, "--data-dir", data_set, "--no-save", "--jobs", 1, "--save", path)
        process = in_process(hn.main, *words)
        assert process.returncode == 0, process.stderr
        assert f"{path} has the net" in process.stdout
        net = hn.DeepNet.load(path)
        assert (net.block.name, net.depth) == ("highway", depth)


def test_nets_of_several_pairs_do_not_replace_each_other(tmp_path):
    with pytest.raises(hn.InputError, match="one net, and 2 pairs"):
        hn.run_pairs([hn.DEFAULTS, hn.DEFAULTS], None, save=tmp_path / "net.npz")
