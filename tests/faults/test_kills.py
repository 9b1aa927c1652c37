"""Faults, for real: processes killed at random moments, a full disk, a dead worker.  A target file is the old one or
the new one, whole; a next run works as if nothing had happened."""

import contextlib
import json
import multiprocessing
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import ROOT, run
from test_cli import SMALL, is_running, workers_of
from test_drawing import ours

import highway_networks as hn
from plumbing import commands, files
from plumbing.commands import _once_a_second
from plumbing.files import LEFTOVER_AGE, check_writable, write_whole, written_beside
from plumbing.processes import WorkerDied, in_processes

COMMAND_KILLS, WRITER_KILLS, WORKER_KILLS, INTERRUPTIONS = 60, 100, 20, 30

pytestmark = pytest.mark.xdist_group("kills")  # one after another, on one core
unix = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
linux = pytest.mark.skipif(
    sys.platform != "linux", reason="changes the limits of a process under way, or looks into it"
)


def start(*words, code=None):
    """A command under way, or a program of ours, in a process group of its own as under a terminal."""
    program = ["-c", code] if code else [str(ROOT / "highway_networks.py")]
    command = [sys.executable, *program, *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, start_new_session=True, cwd=ROOT, **pipes)


def end_of(process) -> str:
    """Its stderr; fails, rather than waiting for ever, if it does not end."""
    try:
        return process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def old_or_new(path) -> str:
    """What a target is: "old", or a whole "new" record; fails if it is anything else."""
    text = path.read_text()
    if text == "old":
        return "old"
    [pair] = json.loads(text, parse_constant=pytest.fail)["runs"]
    assert pair["plain"]["history"]["epoch"] == pair["highway"]["history"]["epoch"] == [1, 2]
    return "new"


def strike(folder, data_set, signal_number, n, begun=False) -> list[tuple[str, int, str]]:
    """n commands, two at a time, each struck at a random moment of its life, or of that after its first line.

    Returns (target, exit status, stderr) of each.
    """
    folder.mkdir()
    words = (*SMALL, "--data-dir", data_set, "--jobs", 2, "--out")
    lives = []
    for _ in range(3):
        before = time.perf_counter()
        assert run("highway_networks.py", *words, folder / "first.json").returncode == 0
        lives.append(time.perf_counter() - before)
    life = min(lives)

    def one(i):
        target = folder / f"{i}.json"
        target.write_text("old")
        with start(*words, target) as process:
            if begun:
                process.stdout.readline()
            time.sleep(random.uniform(0, life / 2 if begun else 1.5 * life))  # two at a time take longer
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it is over already
                os.killpg(process.pid, signal_number)
            stderr = end_of(process)
        return old_or_new(target), process.returncode, stderr

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, range(n)))


@unix
def test_commands_killed_at_random_moments(tmp_path, data_set):
    folder = tmp_path / "out"
    struck = strike(folder, data_set, signal.SIGKILL, COMMAND_KILLS)
    killed = [target for target, status, _ in struck if status == -signal.SIGKILL]
    assert len(killed) > COMMAND_KILLS / 4
    assert {status for _, status, _ in struck} <= {0, -signal.SIGKILL}
    assert all(target == "new" for target, status, _ in struck if status == 0)
    for leftover in folder.glob(".*"):  # at most what was being written at that moment
        os.utime(leftover, (0, 0))
    targets = [folder / f"{i}.json" for i in range(COMMAND_KILLS)]
    for target in targets:
        check_writable(target)
    assert sorted(folder.iterdir()) == sorted([folder / "first.json", *targets])


@unix
def test_ctrl_c_at_random_moments(tmp_path, data_set):
    struck = strike(tmp_path / "out", data_set, signal.SIGINT, INTERRUPTIONS, begun=True)
    for i, (target, status, stderr) in enumerate(struck):
        assert (target, status) in (("old", 130), ("new", 130), ("new", 0))
        if status == 130:
            written = tmp_path / "out" / f"{i}.json" if target == "new" else "nothing"
            assert f"interrupted: {written} was written\n" in stderr  # tqdm may complain as well
    assert any(status == 130 for _, status, _ in struck)
    assert not list((tmp_path / "out").glob(".*"))


WRITER = """
import os, random, signal, sys, time
from pathlib import Path
from plumbing.files import write_json
path, kills = Path(sys.argv[1]), int(sys.argv[2])
for i in range(kills):
    child = os.fork()
    if child == 0:
        for k in range(10**9):
            write_json(path, {'k': [k] * 5000})
    time.sleep(random.uniform(0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if path.exists():
        text = path.read_text()
        assert len(text) > 20000 and text[0] == "{" and text[-2:] == "}\\n", (len(text), text[:9], text[-9:])
print("survived", kills)
"""


@unix
def test_killed_while_writing(tmp_path):
    """Children that do nothing but write the same file, killed at random moments."""
    words = [sys.executable, "-c", WRITER, str(tmp_path / "target.json"), str(WRITER_KILLS)]
    process = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert process.stdout == f"survived {WRITER_KILLS}\n", process.stderr


@linux
def test_workers_killed_at_random_moments(tmp_path, data_set):
    for i in range(WORKER_KILLS):
        target = tmp_path / f"{i}.json"
        target.write_text("old")
        with start(*SMALL, "--epochs", 10**6, "--data-dir", data_set, "--jobs", 2, "--out", target) as process:
            workers = []
            while len(workers) < 2:
                assert process.poll() is None
                workers = workers_of(process.pid)
            time.sleep(random.uniform(0, 0.2))
            os.kill(random.choice(workers), signal.SIGKILL)
            stderr = end_of(process)
        assert process.returncode == 1, stderr
        assert stderr.splitlines() == ["a worker process died (killed, or out of memory): nothing was written"]
        assert target.read_text() == "old"
    assert not list(tmp_path.glob(".*"))


@linux
def test_the_disk_is_full_when_the_result_is_ready(tmp_path, data_set):
    """The limit on a file's size, set while the command trains, lets it write a thousand bytes and no more."""
    import resource

    target = tmp_path / "run.json"
    target.write_text("old")
    with start(*SMALL, "--epochs", 1000, "--data-dir", data_set, "--jobs", 1, "--out", target) as process:
        assert any("epoch   1" in line for line in process.stdout)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1000, 1000))
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert stderr == f"highway_networks.py: error: {target} cannot be written: File too large\n"
    assert "highway test acc" in stdout  # the numbers are not lost
    assert target.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["run.json", "shapes"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of half a megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(disk)]
    if sys.platform != "linux" or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_too_small_is_named_before_the_training(small_disk, data_set):
    (small_disk / "run.json").write_text("old")
    process = run("highway_networks.py", "--epochs", 10**6, "--data-dir", data_set, "--out", small_disk / "run.json")
    assert process.returncode == 2
    assert (
        process.stderr
        == f"highway_networks.py: error: {small_disk}/run.json cannot be written: No space left on device\n"
    )
    assert os.listdir(small_disk) == ["run.json"]


def test_a_disk_too_small_for_a_picture(small_disk, tmp_path):
    (small_disk / "rest").write_bytes(bytes(500_000))
    (small_disk / "highway_networks.gif").write_text("old")
    for words in (
        ("visualize_highway_networks.py", "--only", "seeds", "--out", small_disk),
        ("make_highway_networks_gif.py", "--out", small_disk / "highway_networks.gif"),
    ):
        process = run(*words)
        assert process.returncode == 2
        assert process.stderr.endswith("cannot be written: No space left on device\n")
        assert sorted(os.listdir(small_disk)) == ["highway_networks.gif", "rest"]
    assert (small_disk / "highway_networks.gif").read_text() == "old"


@unix
@pytest.mark.parametrize("words", [("--quiet",), (), ("--seeds", "0,1")])
def test_output_that_cannot_be_written(tmp_path, data_set, words):
    """Standard output closed, or a full device: one line at most, and what is saved is whole."""
    for redirection in (">&-", "2>&-", ">&- 2>&-", "> /dev/full"):
        if "full" in redirection and not os.path.exists("/dev/full"):
            continue
        target = tmp_path / "run.json"
        target.write_text("old")
        command = [
            sys.executable,
            ROOT / "highway_networks.py",
            *SMALL,
            "--data-dir",
            data_set,
            *words,
            "--out",
            target,
        ]
        shell = f"{shlex.join(map(str, command))} {redirection}"
        process = subprocess.run(shell, shell=True, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        if "full" in redirection:
            assert process.returncode == 2
            written = "nothing" if target.read_text() == "old" else target
            why = "standard output: No space left on device"
            assert process.stderr == f"highway_networks.py: error: {why}; {written} was written\n"
            assert (written == "nothing") == ("--quiet" not in words)
        else:
            assert (process.returncode, process.stderr) == (0, "")
            assert json.loads(target.read_text())["runs"]


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    target = tmp_path / "a[1].json"
    old, new, foreign = (tmp_path / name for name in (".a[1].json.123.tmp", ".a[1].json.124.tmp", ".a1.json.123.tmp"))
    for path in (old, new, foreign):
        path.write_text("torn")
    for path in (old, foreign):
        os.utime(path, (time.time() - 2 * LEFTOVER_AGE,) * 2)
    check_writable(target)
    assert sorted(tmp_path.iterdir()) == sorted([new, foreign])  # another process may be writing the new one
    os.utime(new, (time.time() - 2 * LEFTOVER_AGE,) * 2)
    write_whole({target: b"whole"})
    assert sorted(tmp_path.iterdir()) == sorted([target, foreign])


def test_two_processes_that_have_the_same_number(tmp_path, monkeypatch):
    """As in two containers: their temporary files still differ."""
    monkeypatch.setattr(files.os, "getpid", lambda: 1)
    target = tmp_path / "run.json"
    with written_beside({target: b"one"}) as one, written_beside({target: b"two"}) as two:
        assert one != two
        one[target].replace(target)
        assert target.read_bytes() == b"one"
        two[target].replace(target)
    assert target.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [target]


@unix
@pytest.mark.parametrize(
    ("owner", "name", "calls"),
    [
        (multiprocessing.process.BaseProcess, "start", 1),
        (files.Path, "replace", 1),
    ],
)
def test_ctrl_c_waits_for_a_command(tmp_path, data_set, monkeypatch, capsys, owner, name, calls):
    """For a process to be known, for the file to be written; then it does what it always does."""
    original, struck = getattr(owner, name), []

    def interrupted(*words):
        os.kill(os.getpid(), signal.SIGINT)
        result = original(*words)
        struck.append(os.kill(os.getpid(), signal.SIGINT))
        return result

    monkeypatch.setattr(owner, name, interrupted)
    target = tmp_path / "run.json"
    words = (*SMALL, "--data-dir", data_set, "--jobs", 2, "--quiet", "--out", target)
    assert hn.main([str(word) for word in words]) == 130
    assert len(struck) == calls
    written = target if name == "replace" else "nothing"
    assert capsys.readouterr().err == f"interrupted: {written} was written\n"
    assert target.exists() == (written == target)
    assert not multiprocessing.active_children()


@unix
def test_ctrl_c_waits_until_all_processes_have_ended(monkeypatch):
    original, killed = multiprocessing.process.BaseProcess.kill, []

    def interrupted(process):
        os.kill(os.getpid(), signal.SIGINT)
        original(process)
        killed.append(process)

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "kill", interrupted)
    under_way = in_processes(time.sleep, [(0,), (100,), (100,)], 3)
    next(under_way)
    with pytest.raises(KeyboardInterrupt):
        under_way.close()
    assert len(killed) == 2
    assert not multiprocessing.active_children()


def test_a_second_ctrl_c_at_once_is_the_echo_of_the_first(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(commands.time, "monotonic", lambda: now[0])
    interrupt = _once_a_second()
    with pytest.raises(KeyboardInterrupt):
        interrupt()
    for now[0] in (100.3, 101.2):  # an echo of an echo
        interrupt()
    now[0] = 102.3
    with pytest.raises(KeyboardInterrupt):
        interrupt()


@pytest.mark.parametrize("jobs", [0, -1])
def test_no_task_is_dropped_for_want_of_a_process(jobs):
    with pytest.raises(ValueError, match=f"at least one task at a time must run, not {jobs}"):
        list(in_processes(abs, [(-1,)], jobs))


@pytest.mark.parametrize("jobs", [2, 5])
def test_every_task_is_done_once_and_an_error_tells_where(jobs):
    assert sorted(in_processes(abs, [(-i,) for i in range(50)], jobs)) == [*range(50)]
    assert list(in_processes(abs, [], jobs)) == []
    with pytest.raises(ZeroDivisionError) as error:
        list(in_processes(divmod, [(1, 1), (1, 0), (1, 1)], jobs))
    assert "in _run" in str(error.value.__cause__)
    assert not multiprocessing.active_children()


def tell_twice(n, tell):
    tell(("begins", n))
    tell(("ends", n))
    return n


def tell_for_ever(tell):
    while True:
        tell(bytes(300_000))


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_tasks_tell_is_heard_before_their_results(jobs):
    heard, expected = [], [(what, n) for n in range(9) for what in ("begins", "ends")]
    for n in in_processes(tell_twice, [(n,) for n in range(9)], jobs, heard.append):
        assert heard.index(("begins", n)) < heard.index(("ends", n))
    assert sorted(heard) == sorted(expected)


def test_a_worker_that_dies_while_it_tells_is_reported():
    def kill(message):
        for process in multiprocessing.active_children()[:1]:  # none is left when what both had sent is heard
            process.kill()

    for _ in range(5):
        with pytest.raises(WorkerDied):
            list(in_processes(tell_for_ever, [(), ()], 2, kill))
        assert not multiprocessing.active_children()


BUSY = """
import sys
from plumbing import processes
from plumbing.commands import run_command, run_program

def work(save):
    for i, result in enumerate(processes.in_processes(bytes, [(bytes(300_000),)] * 10**6, 2)):
        if i == 4:
            print("under way", flush=True)

get = processes.multiprocessing.get_context
processes.multiprocessing.get_context = lambda _: get(sys.argv[1])
run_program(lambda: run_command("busy", work))
"""


def kill_workers(process, method: str) -> list[int]:
    """One after another, until the command has noticed: what had sent its result is not missed.  All that it had."""
    seen, deadline = set(), time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        workers = workers_of(process.pid, b"spawn_main" if method == "spawn" else b"")
        seen.update(workers)
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
    return [*seen]


@linux
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("what", ["Ctrl-C", "Ctrl-C twice", "a worker dies", "a worker dies at its start"])
def test_an_end_while_messages_are_under_way(what, method):
    """Large tasks and large results, on their way whenever it comes."""
    dies = what.startswith("a worker")
    for _ in range(5):
        with start(method, code=BUSY) as process:
            if "start" not in what:
                assert process.stdout.readline()
                time.sleep(random.uniform(0, 0.1))
            workers = workers_of(process.pid)
            if dies:
                workers = kill_workers(process, method)
            else:
                os.killpg(process.pid, signal.SIGINT)
            if what == "Ctrl-C twice":
                time.sleep(random.uniform(0, 0.001))
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGINT)
            stderr = end_of(process)
        status, line = (1, "a worker process died") if dies else (130, "interrupted: nothing was written")
        assert process.returncode == status, stderr
        assert stderr.startswith(line)  # all workers are there before the first result, and leave Ctrl-C alone
        assert len(stderr.splitlines()) == 1
        assert not any(map(is_running, workers))


@unix
@pytest.mark.parametrize(
    "words",
    [
        ("visualize_highway_networks.py", "--run", "run.json", "--only", "learning_curves", "--out", "café"),
        ("make_highway_networks_gif.py", "--run", "run.json", "--out", "café.gif"),
    ],
)
def test_what_the_drawing_programs_say_cannot_stop_them(tmp_path, words):
    (tmp_path / "run.json").write_text(json.dumps(ours([(0, 4)])))
    command = shlex.join(map(str, (sys.executable, ROOT / words[0], *words[1:])))
    for redirection in (">&-", ">&- 2>&-", "> /dev/full", "> out.txt"):
        if "full" in redirection and not os.path.exists("/dev/full"):
            continue
        more = {"cwd": tmp_path, "env": os.environ | {"PYTHONIOENCODING": "ascii"}, "timeout": 60}
        shell = f"{command} {redirection}"
        process = subprocess.run(shell, shell=True, stderr=subprocess.PIPE, text=True, check=False, **more)
        if "full" in redirection:
            assert process.returncode == 2
            assert "Traceback" not in process.stderr
        else:
            assert (process.returncode, process.stderr) == (0, "")
        assert (tmp_path / words[-1]).exists()


@unix
def test_one_target_written_by_two_processes_at_once(tmp_path, data_set):
    target = tmp_path / "run.json"
    with ThreadPoolExecutor(2) as pool:
        words = ("highway_networks.py", *SMALL, "--data-dir", data_set, "--jobs", 1, "--out", target)
        processes = list(pool.map(lambda _: run(*words), range(4)))
    assert [process.returncode for process in processes] == [0] * 4
    assert old_or_new(target) == "new"
    assert sorted(os.listdir(tmp_path)) == ["run.json", "shapes"]
