"""Several ranks of MPI train one net in the same run each time, and as one process does but for rounding."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import of_ranks
import pytest
from conftest import ROOT, one_line_error, write_data_set

import conv_highway_networks
import highway_networks as hn
from highways.conv import together
from highways.conv.images import fingerprint
from highways.conv.together import ALONE, Ranks, find_mpiexec
from highways.conv.training import Training, train_conv
from highways.files import InputError

MPIEXEC = find_mpiexec()
CONV = ("--net", "mnist-3", "--epochs", 2)
with_mpi = pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec of mpich: see requirements-cluster.txt")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
pytestmark = pytest.mark.xdist_group("ranks")  # one call of mpiexec serves several tests


def write_eight(folder: Path) -> Path:
    return write_data_set(folder / "eight", n_train=300, n_test=80, side=8)


@pytest.fixture
def eight(tmp_path):
    return write_eight(tmp_path)


def mpiexec(count: int, script: str, *words) -> subprocess.CompletedProcess:
    """Runs a program of the project in `count` ranks."""
    command = [MPIEXEC, "-n", count, sys.executable, ROOT / script, *words]
    return subprocess.run(
        list(map(str, command)), cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=600, check=False
    )


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """three(function): what a function of of_ranks.py gave in each of three ranks, which ran all of them once."""
    functions = (
        of_ranks.exchange_often,
        of_ranks.add_up_often,
        of_ranks.conv_gradient,
        of_ranks.train_tiny,
        of_ranks.draw,
        of_ranks.stop_and_go_on,
    )
    folder = tmp_path_factory.mktemp("ranks")
    write_eight(folder)
    write_data_set(folder / "shapes", side=14)
    process = mpiexec(3, "tests/helpers/of_ranks.py", folder, *(function.__name__ for function in functions))
    assert process.returncode == 0, process.stderr
    results = [pickle.loads((folder / f"{index}.pickle").read_bytes()) for index in range(3)]
    return lambda function: [of_rank[function.__name__] for of_rank in results]


# ---- What ranks hand to each other


@with_mpi
def test_every_rank_gets_the_same_arrays_in_the_order_of_ranks(three):
    first, *others = three(of_ranks.exchange_often)
    assert all(other == first for other in others)
    for turn, numbers in enumerate(first):
        assert numbers == sorted(numbers)
        assert {number // 1000 for number in numbers} <= {turn}


@with_mpi
def test_gradients_are_added_in_the_order_of_the_ranks(three):
    for sums in three(of_ranks.add_up_often):
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
def test_batch_normalisation_takes_its_statistics_over_the_whole_batch(three, tmp_path):
    alone = of_ranks.conv_gradient(ALONE, tmp_path)
    for of_rank in three(of_ranks.conv_gradient):
        for mine, whole in zip(of_rank, alone, strict=True):
            np.testing.assert_allclose(mine, whole, rtol=1e-10, atol=1e-13)


@with_mpi
def test_three_ranks_train_the_net_of_one_but_for_rounding(three, eight):
    """A batch of 100 images cannot be divided evenly by three."""
    alone = of_ranks.train_tiny(ALONE, eight.parent)
    first, *others = three(of_ranks.train_tiny)
    for mine, whole in zip(first, alone, strict=True):
        np.testing.assert_allclose(mine, whole, rtol=1e-4, atol=1e-5)
    for other in others:
        for theirs, mine in zip(other, first, strict=True):
            np.testing.assert_array_equal(theirs, mine)


@with_mpi
def test_ranks_draw_the_same_order_of_images_and_drop_different_units(three):
    orders = []
    numbers = []
    for order, numbers_of_rank in three(of_ranks.draw):
        orders.append(order)
        numbers += numbers_of_rank
    assert orders == [orders[0]] * 3
    assert len(set(numbers)) == len(numbers)


def test_a_net_of_two_ranks_is_not_trained_by_one(eight):
    data = hn.load_mnist(eight)
    training = of_ranks.tiny_training(ALONE, data)
    training.settings = replace(training.settings, ranks=2)
    with pytest.raises(ValueError):
        train_conv(training, data)


@with_mpi
def test_a_run_stops_resumes_and_repeats_to_the_last_bit(three):
    for whole, stopped in three(of_ranks.stop_and_go_on):
        assert stopped == whole


# ---- The command


@with_mpi
def test_the_command_trains_one_net_in_two_ranks(tmp_path, shapes):
    out = tmp_path / "run.json"
    process = mpiexec(2, "conv_highway_networks.py", *CONV, "--data-dir", shapes, "--out", out)
    assert process.returncode == 0, process.stderr
    record = json.loads(out.read_text())
    assert (record["ranks"], record["runs"][0]["ranks"]) == (2, 2)


# ---- Ranks that are not of one command


@with_mpi
def test_a_rank_with_other_arguments_ends_all(tmp_path, shapes):
    program = ROOT / "conv_highway_networks.py"
    first = [sys.executable, program, *CONV, "--data-dir", shapes, "--out", tmp_path / "run.json"]
    command = [MPIEXEC, "-n", 1, *first, ":", "-n", 1, *first, "--lr", 1.0]
    process = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, encoding="utf-8", timeout=600, check=False
    )
    one_line_error(process)
    assert not list(tmp_path.glob("run*"))


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
        (("--stop-after", 1), "last epoch"),
        (("--n-train", 200), "n_train"),
    ],
)
def test_ranks_are_compared_by_what_the_numbers_depend_on(shapes, words, name):
    assert facts(shapes, *words)[name] != facts(shapes)[name]


def test_ranks_are_compared_by_images_commit_and_code(shapes, eight, monkeypatch):
    mine = facts(shapes)
    assert facts(eight)["loaded images"] != mine["loaded images"]
    monkeypatch.setattr(conv_highway_networks, "commit", lambda: "0123456789ab")
    monkeypatch.setattr(conv_highway_networks, "checksum_of_code", lambda function: "of other code")
    other = facts(shapes)
    assert other["commit"] != mine["commit"]
    assert other["code"] != mine["code"]


# ---- Bad input, faults


@with_mpi
@linux
def test_a_killed_rank_ends_the_command_and_leaves_the_checkpoint(tmp_path, shapes):
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
        os.kill(second, signal.SIGKILL)
        try:
            process.communicate(timeout=600)
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


def test_an_mpiexec_of_another_mpi_is_refused(monkeypatch):
    """Each process would train the whole net, and all would write the same file."""
    MPI = type("MPI", (), {"COMM_WORLD": type("World", (), {"size": 1, "rank": 0})})
    monkeypatch.setitem(sys.modules, "mpi4py", type("mpi4py", (), {"MPI": MPI}))
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    with pytest.raises(InputError):
        together.import_mpi()
