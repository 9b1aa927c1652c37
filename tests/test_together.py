"""Several ranks train one net: the same run each time, and that of one process but for rounding."""

import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import of_ranks
import pytest
from conftest import ROOT, in_process, one_line_error, write_data_set

import conv_highway_networks
import highway_networks as hn
from highways.conv import together
from highways.conv.images import fingerprint
from highways.conv.together import ALONE, Ranks, find_mpiexec
from highways.conv.training import Training, train_conv
from highways.files import InputError

MPIEXEC = find_mpiexec()
CONV = ("--net", "mnist-3", "--epochs", 3)
with_mpi = pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec of mpich: see requirements-cluster.txt")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def shapes(tmp_path):
    return write_data_set(tmp_path / "shapes", n_train=300, n_test=80, side=14)


@pytest.fixture
def eight(tmp_path):
    return write_data_set(tmp_path / "eight", n_train=300, n_test=80, side=8)


def mpiexec(count: int, script: str, *words) -> subprocess.CompletedProcess:
    """Runs a program of the project in `count` ranks."""
    command = [MPIEXEC, "-n", count, sys.executable, ROOT / script, *words]
    return subprocess.run(
        list(map(str, command)), cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )


def of_each_rank(function, count: int, folder: Path) -> list:
    """The results of a function of of_ranks.py, in the order of the ranks."""
    process = mpiexec(count, "tests/of_ranks.py", function.__name__, folder)
    assert process.returncode == 0, process.stderr
    files = [folder / f"{function.__name__}_{index}.pickle" for index in range(count)]
    return [pickle.loads(file.read_bytes()) for file in files]


# ---- What ranks hand to each other


@with_mpi
def test_every_rank_is_handed_the_same_arrays_in_the_order_of_the_ranks(tmp_path):
    first, *others = of_each_rank(of_ranks.exchange_often, 3, tmp_path)
    assert all(other == first for other in others)
    for turn, numbers in enumerate(first):
        assert numbers == sorted(numbers)
        assert {number // 1000 for number in numbers} <= {turn}


@with_mpi
def test_gradients_are_added_in_the_order_of_the_ranks(tmp_path):
    for sums in of_each_rank(of_ranks.add_up_often, 3, tmp_path):
        for step, total in enumerate(sums):
            first, second, third = of_ranks.gradients_of(step, len(total))
            np.testing.assert_array_equal(total, -(first + second + third))


@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_rows_of_all_ranks_are_all_rows(count):
    def rows_of(index, n):
        ranks = Ranks.__new__(Ranks)
        ranks.index = index
        ranks.count = count
        return range(n)[ranks.rows(n)]

    for n in (count, 17, 100):
        parts = [rows_of(index, n) for index in range(count)]
        assert [row for part in parts for row in part] == list(range(n))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


# ---- The net that they train


@with_mpi
@pytest.mark.parametrize("count", [3, pytest.param(2, marks=pytest.mark.thorough)])
def test_batch_normalisation_takes_its_statistics_over_the_whole_batch(count, tmp_path):
    alone = of_ranks.conv_gradient(ALONE, tmp_path)
    for of_rank in of_each_rank(of_ranks.conv_gradient, count, tmp_path):
        for mine, whole in zip(of_rank, alone, strict=True):
            np.testing.assert_allclose(mine, whole, rtol=1e-10, atol=1e-13)


@with_mpi
def test_three_ranks_train_the_net_of_one_but_for_rounding(eight):
    """A batch of 100 images cannot be divided evenly by three."""
    folder = eight.parent
    alone = of_ranks.train_tiny(ALONE, folder)
    first, *others = of_each_rank(of_ranks.train_tiny, 3, folder)
    for mine, whole in zip(first, alone, strict=True):
        np.testing.assert_allclose(mine, whole, rtol=1e-4, atol=1e-5)
    for other in others:
        for theirs, mine in zip(other, first, strict=True):
            np.testing.assert_array_equal(theirs, mine)


@with_mpi
def test_ranks_draw_the_same_order_of_images_and_drop_different_units(eight):
    of_first_rank, of_second_rank = of_each_rank(of_ranks.draw, 2, eight.parent)
    orders, numbers_of_first = of_first_rank
    same_orders, numbers_of_second = of_second_rank
    assert orders == same_orders
    numbers = [*numbers_of_first, *numbers_of_second]
    assert len(set(numbers)) == len(numbers)


def test_a_net_of_two_ranks_is_not_trained_by_one(eight):
    data = hn.load_mnist(eight)
    training = of_ranks.tiny_training(ALONE, data)
    training.settings = replace(training.settings, ranks=2)
    with pytest.raises(ValueError):
        train_conv(training, data)


# ---- The command


def run_conv(count: int, shapes: Path, out: Path, *words) -> dict:
    process = mpiexec(count, "conv_highway_networks.py", *CONV, "--data-dir", shapes, "--out", out, *words)
    assert process.returncode == 0, process.stderr
    told = re.findall(r"^.*(?:epoch +\d+ |seed \d+:)", process.stdout, re.MULTILINE)
    assert told
    assert len(told) == len(set(told)), process.stdout  # the first rank alone tells
    return json.loads(out.read_text())


def results_of(record: dict, out: Path) -> list:
    """What must be the same, bit for bit, in two equal trainings."""
    results = []
    for run in record["runs"]:
        with np.load(out.with_name(f"{out.stem}_{run['seed']}.npz")) as net:
            arrays = [net[name].tobytes() for name in ("parameters", "statistics", "v")]
        results.append([run["history"], run["filters"], run["wrong"], arrays])
    return results


@with_mpi
def test_a_run_stops_resumes_and_repeats_to_the_last_bit(tmp_path, shapes):
    """Its blocks have running statistics, too."""
    block = "highway-bn"
    out = tmp_path / "whole.json"
    whole = run_conv(2, shapes, out, "--block", block)
    results = results_of(whole, out)
    out = tmp_path / "stopped.json"
    run_conv(2, shapes, out, "--block", block, "--stop-after", 1)
    resumed = run_conv(2, shapes, out, "--block", block, "--resume")
    assert whole["ranks"] == resumed["ranks"] == 2
    assert whole["runs"][0]["ranks"] == 2
    assert results_of(resumed, out) == results


@with_mpi
def test_another_number_of_ranks_is_another_run(tmp_path, shapes):
    out = tmp_path / "run.json"
    words = (*CONV, "--data-dir", shapes, "--out", out, "--resume")
    run_conv(2, shapes, out, "--stop-after", 1)
    assert in_process(conv_highway_networks.main, *words).returncode == 2


# ---- Ranks that are not of one command


def run_two(first: list, second: list) -> subprocess.CompletedProcess:
    """Runs a rank of each of these two commands, given as a folder with the program and words."""
    command = [MPIEXEC]
    for folder, *words in (first, second):
        command += ["-n", 1, sys.executable, folder / "conv_highway_networks.py", *CONV, *words, ":"]
    return subprocess.run(
        list(map(str, command[:-1])), capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )


@with_mpi
@pytest.mark.parametrize(
    ("of_first", "of_second"),
    [
        ((), ("--lr", 1.0)),
        ((), ("--n-train", 1)),  # refused before the ranks are joined
    ],
)
def test_a_rank_with_other_arguments_ends_all(tmp_path, shapes, of_first, of_second):
    command = (ROOT, "--data-dir", shapes, "--out", tmp_path / "run.json")
    one_line_error(run_two([*command, *of_first], [*command, *of_second]))
    assert not list(tmp_path.glob("run*"))


@with_mpi
def test_a_rank_of_changed_code_ends_all(tmp_path, shapes):
    """The programs are of no commit, so that the code alone tells them apart."""
    for name in ("first", "second"):
        copy_program(tmp_path / name)
    changed = tmp_path / "second" / "highways" / "conv" / "pooling.py"
    words = ("--data-dir", shapes, "--out", tmp_path / "run.json")
    changed.write_text(f"{changed.read_text()}\nEDGE = 1\n")
    one_line_error(run_two([tmp_path / "first", *words], [tmp_path / "second", *words]))
    assert not (tmp_path / "run.json").exists()


def copy_program(folder: Path) -> None:
    shutil.copytree(ROOT / "highways", folder / "highways", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("conv_highway_networks.py", "highway_networks.py"):
        shutil.copy(ROOT / name, folder)


def facts(shapes: Path, *words) -> dict:
    """What a rank would be compared by."""
    _, args = conv_highway_networks.parse_arguments(list(map(str, (*CONV, "--data-dir", shapes, *words))))
    data = hn.load_mnist(shapes)
    planned = conv_highway_networks.plan(args, data, ranks=2)
    return conv_highway_networks.facts_of(args, planned, fingerprint(data))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--lr", 1.0), "lr"),
        (("--seed", 1), "seed"),
        (("--seeds", "1,0"), "seed"),
        (("--stop-after", 2), "last epoch"),
        (("--block", "plain"), "block"),
        (("--n-train", 200), "n_train"),
    ],
)
def test_ranks_are_compared_by_what_the_numbers_depend_on(shapes, words, name):
    assert facts(shapes, *words)[name] != facts(shapes)[name]


def test_ranks_are_compared_by_images_and_commit(shapes, eight, monkeypatch):
    mine = facts(shapes)
    assert facts(eight)["loaded images"] != mine["loaded images"]
    monkeypatch.setattr(conv_highway_networks, "commit", lambda: "0123456789ab")
    assert facts(shapes)["commit"] != mine["commit"]


# ---- Bad input, faults


@with_mpi
@linux
@pytest.mark.parametrize("how", ["a rank is killed", pytest.param("Ctrl-C", marks=pytest.mark.thorough)])
def test_a_command_that_is_killed_or_interrupted_ends_and_keeps_the_last_checkpoint(tmp_path, shapes, how):
    out = tmp_path / "run.json"
    words = (*CONV, "--epochs", 10**6, "--data-dir", shapes, "--out", out)
    command = [MPIEXEC, "-n", 2, sys.executable, ROOT / "conv_highway_networks.py", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True, "text": True}
    with subprocess.Popen(list(map(str, command)), **pipes) as process:
        printed = ""
        while "epoch   3" not in printed:
            line = process.stdout.readline()
            assert line, printed
            printed += line
        first, second = ranks_of(process.pid)
        if how == "Ctrl-C":
            process.send_signal(signal.SIGINT)
        else:
            os.kill(second, signal.SIGKILL)
        try:
            process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode != 0
    assert not out.exists()
    assert Training.load(tmp_path / "run_0_unfinished.npz").epochs >= 2
    for pid in (first, second):
        must_end(pid)


def ranks_of(pid: int) -> list[int]:
    """The processes that mpiexec has started, in the order of the ranks."""
    [proxy] = children_of(pid)
    first, second = children_of(proxy)
    return [first, second]


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def must_end(pid: int) -> None:
    """Waits until a process is gone, or only its parent has not noticed."""
    for _ in range(600):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.1)
    raise AssertionError(f"process {pid} is still there")


# ---- mpi4py


TINY = (*CONV, "--epochs", 1, "--n-train", 100, "--n-test", 20, "--no-save")


def test_an_mpiexec_of_another_mpi_is_refused(monkeypatch):
    """Each process would train the whole net, and all would write the same file."""
    MPI = type("MPI", (), {"COMM_WORLD": type("World", (), {"size": 1, "rank": 0})})
    monkeypatch.setitem(sys.modules, "mpi4py", type("mpi4py", (), {"MPI": MPI}))
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    with pytest.raises(InputError):
        together.import_mpi()
