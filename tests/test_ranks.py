"""One net trained by several processes: the same run each time, and that of one process but for rounding."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, in_process, one_line_error, write_data_set

import conv_highway_networks
import highway_networks as hn
from highways import ranks
from highways.conv import runs
from highways.conv.images import fingerprint
from highways.conv.net import ConvNet
from highways.conv.normalised import Normalised
from highways.conv.protocols import ConvSettings, Protocol, protocol_of
from highways.conv.training import Training, train_conv
from highways.files import InputError
from highways.nets.optimizers import SGD, Nesterov
from highways.processes import all_cores, in_processes, warn_of_few_cores

SMALL = ("--depth", 3, "--hidden", 7, "--epochs", 3, "--n-train", 256, "--n-test", 75, "--batch", 32)
CONV = ("--net", "mnist-3", "--epochs", 3)
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc and /dev/shm")


def together(function, count: int, *, parameters=0, states=0, dtype="float64", slot=4096, words=()) -> list:
    """function(team, index, *words) in `count` processes: their results in the order of the ranks."""
    with ranks.team(count, parameters=parameters, states=states, dtype=dtype, slot=slot) as team:
        tasks = [(function, team, index, *words) for index in range(count)]
        with closing(in_processes(numbered, tasks, count)) as finished:
            return [result for _, result in sorted(finished, key=lambda pair: pair[0])]


def numbered(function, team, index, *words):
    """The result with the index of its rank, since the processes end in any order."""
    return index, function(team, index, *words)


# ---- What ranks hand to each other


def exchange_often(team, index):
    """What this rank is handed in 200 turns.  The arrays differ in length; their numbers are 1000 turn + index."""
    rank = ranks.Rank(team, index)
    generator = np.random.default_rng(index)
    handed = []
    for turn in range(200):
        mine = np.full(generator.integers(0, 9), 1000 * turn + index)
        handed.append(rank.exchange(mine))
    return [np.concatenate(arrays).tolist() for arrays in handed]


def test_every_rank_is_handed_the_same_arrays_in_the_order_of_the_ranks():
    first, *others = together(exchange_often, 3)
    assert all(other == first for other in others)
    for turn, numbers in enumerate(first):
        assert numbers == sorted(numbers)
        assert {number // 1000 for number in numbers} <= {turn}


@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_rows_of_all_ranks_are_all_rows(count):
    def rows_of(index, n):
        rank = ranks.Rank.__new__(ranks.Rank)
        rank.index = index
        rank.ranks = count
        return range(n)[rank.rows(n)]

    for n in (count, 17, 100):
        parts = [rows_of(index, n) for index in range(count)]
        assert [row for part in parts for row in part] == list(range(n))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


class Late(SGD):
    """parameters -= gradient, by ranks that come late at random."""

    def __init__(self, net, index):
        super().__init__(net.parameters, lr=1, momentum=0)
        self._naps = np.random.default_rng(index)

    def sleep(self):
        time.sleep(0.003 * self._naps.random())

    def norm(self, gradient):
        self.sleep()
        return super().norm(gradient)

    def update(self, gradient, norm):
        self.sleep()
        super().update(gradient, norm)


def small_net() -> hn.DeepNet:
    return hn.DeepNet(8, 3, 7, 2, "highway", 0, dtype="float64")


def gradients_of(step: int, size: int) -> np.ndarray:
    """Gradients of three ranks whose sums in different orders are different numbers."""
    rng = np.random.default_rng(step)
    return rng.permuted([[1e16] * size, [1.0] * size, [-1e16] * size], axis=0)


def late_steps(team, index):
    """The parameters at the start and after each of 20 steps."""
    rank = ranks.Rank(team, index)
    net = small_net()
    if index == 0:
        net.parameters[:] = 1
        time.sleep(0.05)
    optimizer = Late(net, index)
    rank.share(net, optimizer)
    seen = [net.parameters.copy()]
    for step in range(20):
        optimizer.sleep()
        net.gradient[:] = gradients_of(step, len(net.gradient))[index]
        rank.step(optimizer, net.gradient)
        seen.append(net.parameters.copy())
    return seen


def test_late_ranks_take_the_same_steps_by_sums_in_the_order_of_the_ranks():
    size = len(small_net().parameters)
    expected = [np.ones(size)]
    for step in range(20):
        first, second, third = gradients_of(step, size)
        expected.append(expected[-1] - (first + second + third))
    for seen in together(late_steps, 3, parameters=size, states=1):
        np.testing.assert_array_equal(seen, expected)


# ---- Fully connected nets


def trained(tmp_path, *words) -> dict:
    out = tmp_path / "run.json"
    process = in_process(hn.main, *SMALL, *words, "--out", out)
    assert process.returncode == 0, process.stderr
    must_be_told_once(process.stdout)
    return json.loads(out.read_text())


def must_be_told_once(printed: str) -> None:
    """Only one of the ranks tells of an epoch or of a net."""
    told = re.findall(r"^.*(?:epoch +\d+ |seed \d+:)", printed, re.MULTILINE)
    assert len(told) == len(set(told)), printed


@pytest.fixture
def shapes(tmp_path):
    return write_data_set(tmp_path / "shapes", n_train=300, n_test=80, side=14)


@pytest.mark.parametrize("cores", [2, 3])
def test_in_float64_several_cores_train_the_net_of_one(tmp_path, shapes, cores):
    words = ("--data-dir", shapes, "--dtype", "float64")
    one = trained(tmp_path, *words)
    several = trained(tmp_path, *words, "--cores", cores)
    assert one["cores"] == 1
    assert several["cores"] == cores
    for block in hn.PAIR:
        for name, column in one["runs"][0][block]["history"].items():
            assert several["runs"][0][block]["history"][name] == pytest.approx(column, rel=1e-9), name


def test_a_run_on_several_cores_repeats_itself_to_the_last_bit(tmp_path, shapes):
    words = ("--data-dir", shapes, "--cores", 2, "--seeds", "0,1")
    runs = []
    for _ in range(2):
        record = trained(tmp_path, *words)
        runs.append([pair[block]["history"] for pair in record["runs"] for block in hn.PAIR])
    assert runs[0] == runs[1]


def test_a_run_that_diverges_says_so_once(tmp_path, shapes):
    record = trained(tmp_path, "--data-dir", shapes, "--cores", 2, "--lr", 1e38)
    assert record["runs"][0]["highway"]["diverged"]
    assert "step" in record["runs"][0]["highway"]["diverged_at"]


def test_more_cores_than_there_are_images_to_divide_are_refused(tmp_path, shapes):
    process = in_process(hn.main, *SMALL, "--data-dir", shapes, "--batch", 4, "--cores", 5, "--no-save")
    assert "--cores 5 is more than the images to divide" in one_line_error(process)


def test_more_cores_than_the_machine_has_are_said_to_be_slow(capsys):
    cores = all_cores()
    warn_of_few_cores(cores)
    assert capsys.readouterr().err == ""
    warn_of_few_cores(cores + 1)
    assert capsys.readouterr().err == f"--cores {cores + 1} is more than the {cores} here: the training will be slow\n"


@linux
def test_too_little_shared_memory_ends_in_a_line(monkeypatch):
    def no_space(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ranks.os, "posix_fallocate", no_space)
    memory = ranks.team(2, parameters=10**6, states=2, dtype="float32", slot=64)
    with pytest.raises(InputError, match=r"2 cores need 19.1 MB in .*, which has less: use fewer"), memory:
        pass


@linux
def test_memory_is_removed_even_if_no_rank_has_begun():
    with pytest.raises(KeyboardInterrupt), ranks.team(2, parameters=1, states=1, dtype="float32", slot=64) as team:
        raise KeyboardInterrupt
    assert not Path(ranks.SHARED_MEMORY, team.name).exists()


@linux
def test_memory_that_cannot_be_taken_beforehand_is_used_as_it_is(monkeypatch):
    def not_supported(*_):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(ranks.os, "posix_fallocate", not_supported)
    with ranks.team(2, parameters=10, states=1, dtype="float32", slot=64) as team:
        assert team.bytes() > 0


@linux
def test_all_memory_of_a_net_is_taken_at_once_and_given_back_when_the_net_is_trained(tmp_path, shapes, monkeypatch):
    names = []
    is_whole = []
    held = []  # of how many nets the memory is held, whenever one is made
    reserve = ranks._reserve

    def watched(memory):
        names.append(memory.name)
        assert reserve(memory)
        stat = Path(ranks.SHARED_MEMORY, memory.name).stat()
        is_whole.append(512 * stat.st_blocks >= stat.st_size)
        held.append(len(shared_memory_of(os.getpid()) & {*names}))
        return True

    monkeypatch.setattr(ranks, "_reserve", watched)
    trained(tmp_path, "--data-dir", shapes, "--epochs", 1, "--cores", 2, "--jobs", 2, "--seeds", "0,1")
    assert is_whole == [True] * 4  # two nets for each seed
    assert held == [1] * 4
    assert not {*names} & {*os.listdir(ranks.SHARED_MEMORY)}


# ---- Convolutional nets

LAYERS = [("conv", 3, 4), ("highway-bn", 3), ("pool", 2, 2), ("conv-bn", 3, 5), ("dense", 3)]


def conv_gradient(team, index):
    """For 12 images: the loss, and the norm of the gradient; the gradient summed over the ranks; the statistics, and
    the parameters after a step."""
    rank = ranks.Rank(team, index) if team else ranks.ALONE
    rng = np.random.default_rng(0)
    net = ConvNet((1, 8, 8), LAYERS, rng, dtype=np.float64)
    net.parameters[:] += rng.normal(0, 0.1, net.parameters.shape)
    x = rng.random((12, 64))
    y = rng.integers(0, 3, 12)
    optimizer = Nesterov(net.parameters, 0.1, weight_decay=1e-3)
    rank.share(net, optimizer)
    for layer in net.layers:
        if isinstance(layer, Normalised):
            layer.exchange = rank.exchange
    rows = rank.rows(len(x))
    logits = rank.gather(net.forward(x[rows]))
    loss, d_logits = hn.softmax_cross_entropy(logits, y)
    gradient = net.backward(d_logits[rows])
    total = np.sum(rank.exchange(gradient), axis=0)
    norm = rank.step(optimizer, gradient)
    return float(loss), norm, total, net.statistics.copy(), net.parameters.copy()


@pytest.mark.parametrize("count", [2, 3])
def test_batch_normalisation_takes_its_statistics_over_the_whole_batch(count):
    alone = conv_gradient(None, 0)
    size = ConvNet.sizes_of((1, 8, 8), LAYERS)["parameters"]
    for of_rank in together(conv_gradient, count, parameters=size, states=3, slot=8 * size):
        for mine, whole in zip(of_rank, alone, strict=True):
            np.testing.assert_allclose(mine, whole, rtol=1e-10, atol=1e-13)


WITHOUT_CHANCE = Protocol(
    epochs=2, dropout=(), shift=0, lr=0.05, schedule="in steps", weight_decay=1e-3, decay_of_last=1e-2, init="he"
)


class TinyTraining(Training):
    @staticmethod
    def shape_and_layers(settings, protocol, images):
        return (1, 8, 8), LAYERS


def tiny_training(team, index, data, seed=0) -> Training:
    settings = ConvSettings(seed=seed, epochs=2, n_train=len(data.x_train), n_test=len(data.x_test))
    training = TinyTraining(settings, WITHOUT_CHANCE, fingerprint(data))
    if team:
        training.join(ranks.Rank(team, index))
    return training


def trained_tiny(team, index, data):
    """The history of a run without dropout and shifts, its last parameters and statistics."""
    training = tiny_training(team, index, data)
    train_conv(training, data)
    return [*training.history.values(), training.net.parameters.copy(), training.net.statistics.copy()]


SHARED_BY_TINY = {
    "parameters": ConvNet.sizes_of((1, 8, 8), LAYERS)["parameters"],
    "states": 3,
    "dtype": "float32",
}


def test_three_cores_train_the_convolutional_net_of_one_but_for_rounding(tmp_path):
    """A batch of 100 images cannot be divided evenly by three."""
    data = hn.load_mnist(write_data_set(tmp_path / "eight", n_train=300, n_test=80, side=8))
    alone = trained_tiny(None, 0, data)
    for of_rank in together(trained_tiny, 3, **SHARED_BY_TINY, words=(data,)):
        for mine, whole in zip(of_rank, alone, strict=True):
            np.testing.assert_allclose(mine, whole, rtol=1e-4, atol=1e-5)


def drawn(team, index, data, seed):
    """The order of the images, and a number with which this rank drops units, in each of two epochs."""
    training = tiny_training(team, index, data, seed)
    orders = []
    numbers = []
    for epoch in (1, 2):
        orders.append(training.begin_epoch().tolist())
        numbers.append(training.rng_of_rank.random())
        training.history["epoch"].append(epoch)
    return orders, numbers


def test_ranks_draw_the_same_order_of_images_and_drop_different_units(tmp_path):
    data = hn.load_mnist(write_data_set(tmp_path / "eight", n_train=300, n_test=80, side=8))
    numbers = []
    for seed in (0, 1):
        of_first_rank, of_second_rank = together(drawn, 2, **SHARED_BY_TINY, words=(data, seed))
        orders, numbers_of_first = of_first_rank
        same_orders, numbers_of_second = of_second_rank
        assert orders == same_orders
        numbers += [*numbers_of_first, *numbers_of_second]
    assert len(set(numbers)) == len(numbers)


def test_a_slot_holds_the_longest_array_of_a_normalised_layer():
    settings = ConvSettings(net="eight-layers", data="cifar-10", block="highway-bn", n_test=20, cores=3)
    protocol = protocol_of(settings)
    images = {"pixels": 3072, "classes": 10}
    longest = 0

    def exchange(array):
        nonlocal longest
        longest = max(longest, array.nbytes)
        return [array]

    net = Training(settings, protocol, images).net
    for layer in net.layers:
        if isinstance(layer, Normalised):
            layer.exchange = exchange
    rng = np.random.default_rng(0)
    net.backward(net.forward(rng.random((2, 3072), np.float32)))
    with runs.team_of(settings, protocol, images) as team:
        assert longest <= team.slot


def run_conv(tmp_path, shapes, name, *words):
    out = tmp_path / name
    process = in_process(conv_highway_networks.main, *CONV, "--data-dir", shapes, "--out", out, *words)
    assert process.returncode == 0, process.stderr
    must_be_told_once(process.stdout)
    return json.loads(out.read_text())


def test_a_convolutional_run_on_two_cores_stops_resumes_and_repeats(tmp_path, shapes):
    whole = run_conv(tmp_path, shapes, "whole.json", "--cores", 2)
    run_conv(tmp_path, shapes, "stopped.json", "--cores", 2, "--stop-after", 1)
    resumed = run_conv(tmp_path, shapes, "stopped.json", "--cores", 2, "--resume")
    assert whole["cores"] == resumed["cores"] == 2
    assert resumed["runs"][0]["history"] == whole["runs"][0]["history"]
    assert resumed["runs"][0]["filters"] == whole["runs"][0]["filters"]


def test_another_number_of_cores_is_another_run(tmp_path, shapes):
    run_conv(tmp_path, shapes, "run.json", "--cores", 2, "--stop-after", 1)
    words = (*CONV, "--data-dir", shapes, "--out", tmp_path / "run.json", "--resume")
    error = one_line_error(in_process(conv_highway_networks.main, *words))
    assert "is of another run (cores 2, not 1)" in error


# ---- Killed or interrupted


@linux
@pytest.mark.parametrize("how", ["a rank is killed", "Ctrl-C", "the command is killed", "all are killed"])
def test_a_run_that_is_killed_or_interrupted_ends_and_leaves_no_shared_memory(tmp_path, shapes, how):
    words = (*SMALL, "--epochs", 10**6, "--data-dir", shapes, "--cores", 2, "--out", tmp_path / "run.json")
    command = [sys.executable, ROOT / "highway_networks.py", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True, "text": True}
    with subprocess.Popen(list(map(str, command)), **pipes) as process:
        printed = ""
        while "epoch   3" not in printed:
            line = process.stdout.readline()
            assert line, printed
            printed += line
        must_be_told_once(printed)
        made = shared_memory_of(rank_of(process.pid))
        if how == "Ctrl-C":
            os.killpg(process.pid, signal.SIGINT)
        elif how == "a rank is killed":
            os.kill(rank_of(process.pid), signal.SIGKILL)
        elif how == "the command is killed":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        try:
            stderr = process.communicate(timeout=120)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    expected = {
        "Ctrl-C": (130, "interrupted: nothing was written"),
        "a rank is killed": (1, "a worker process died"),
        "the command is killed": (-signal.SIGKILL, ""),
        "all are killed": (-signal.SIGKILL, ""),
    }
    status, line = expected[how]
    assert process.returncode == status, stderr
    assert line in stderr
    assert "Traceback" not in stderr
    assert made
    assert not made & set(os.listdir(ranks.SHARED_MEMORY))
    assert not (tmp_path / "run.json").exists()


def shared_memory_of(pid: int) -> set[str]:
    """The names of the shared memory that the process has."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    return set(re.findall(rf"{ranks.SHARED_MEMORY}/(\S+)", maps))


def rank_of(pid: int) -> int:
    """A process that computes for the command, not the one that removes its shared memory."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for child in children:
        if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    raise AssertionError("there is no rank")
