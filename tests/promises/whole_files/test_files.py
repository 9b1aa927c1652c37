"""Two commands never write to one place, nothing but a command's own is replaced, and a replaced link stays one."""

import contextlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import OLD, ROOT, SMALL, in_process, names_in

import conv_highway_networks as cn
import highway_networks as hn
from highways.files import InputError, Lock, check_writable, put_arrays, read_arrays, read_json, write_all, write_arrays
from highways.lab.trials import Runner
from highways.records import with_digest

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, permissions and links of POSIX")


# ---- two commands, one place

HOLDER = """
import sys, time
from pathlib import Path
from highways.files import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(3600)
"""


@contextlib.contextmanager
def holder_of(path):
    """Another process that holds the lock of a path."""
    words = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline().strip() == b"held"
        try:
            yield process
        finally:
            process.kill()


def conv_words(shapes, out):
    words = ("--net", "mnist-1", "--epochs", 1, "--n-train", 100, "--n-test", 20, "--jobs", 1, "--quiet")
    return [str(word) for word in (*words, "--data-dir", shapes, "--out", out)]


def test_a_second_convolutional_command_is_refused_until_the_first_has_ended(tmp_path, shapes):
    out = tmp_path / "run.json"
    with holder_of(out) as first:
        assert cn.main(conv_words(shapes, out)) == 2
        assert not list(tmp_path.glob("run*"))
        assert cn.main([*conv_words(shapes, out)[:-2], "--no-save"]) == 0
        assert cn.main(conv_words(shapes, tmp_path / "other.json")) == 0
        first.kill()  # its lock file stays, and stops nobody
        first.wait()
        assert (tmp_path / ".run.json.lock").exists()
        assert cn.main(conv_words(shapes, out)) == 0
    assert names_in(tmp_path) == ["other.json", "other_0.npz", "run.json", "run_0.npz", "shapes"]


def test_a_command_holds_its_lock_while_it_trains(tmp_path, shapes, monkeypatch):
    out = tmp_path / "run.json"
    locked = []
    train_one = cn.train_one

    def try_to_lock(*words, **settings):
        with pytest.raises(InputError):
            Lock(out)
        locked.append(out)
        return train_one(*words, **settings)

    monkeypatch.setattr(cn, "train_one", try_to_lock)
    assert cn.main(conv_words(shapes, out)) == 0
    assert locked == [out]


@posix
def test_the_lock_of_a_link_is_that_of_its_file(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "run.json")
    with Lock(tmp_path / "run.json"), pytest.raises(InputError):
        Lock(tmp_path / "link.json")


def test_a_folder_is_locked_by_whatever_name(tmp_path, monkeypatch):
    """By a file within it: its parent may be somebody else's."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with Lock(folder), pytest.raises(InputError):
        Lock(Path("."))
    assert os.listdir(tmp_path) == ["folder"]


def runner_of(name, folder):
    return Runner(name, "default", {}, folder=folder, jobs=1)


def test_a_question_is_asked_by_one_command_at_a_time(tmp_path):
    with runner_of("log", tmp_path), pytest.raises(InputError):
        runner_of("log", tmp_path)
    with runner_of("log", tmp_path):
        pass


def abs_of(trial):
    return {"abs": abs(trial["x"])}


# ---- what is written


def test_what_a_killed_writer_left_stays_and_harms_nobody(tmp_path):
    left = tmp_path / ".run.json.0123456789abcdef.tmp"
    left.write_text("torn")
    write_all({tmp_path / "run.json": b"whole"})
    assert (tmp_path / "run.json").read_bytes() == b"whole"
    assert left.read_text() == "torn"


@posix
def test_a_read_only_file_is_not_replaced(tmp_path):
    target = tmp_path / "run.json"
    target.write_text(OLD)
    target.chmod(0o444)
    replace = [lambda path: hn.check_replaceable(path, hn.is_record), lambda path: write_all({path: b"new"})]
    for write in (check_writable, *replace):
        with pytest.raises(InputError):
            write(target)
    assert target.read_text() == OLD
    assert names_in(tmp_path) == ["run.json"]


def test_an_experiment_replaces_only_its_own_results(tmp_path):
    results = read_json(ROOT / "experiments" / "results" / "lesion.json")
    of_log = results | {"experiment": "log"}
    quick = of_log | {"settings": {**results["settings"], "budget": "quick"}}
    for text in ("text", OLD, json.dumps(results), json.dumps({"experiment": "log"}), json.dumps(with_digest(quick))):
        (tmp_path / "log.json").write_text(text)
        with pytest.raises(InputError):
            runner_of("log", tmp_path)
    (tmp_path / "log.json").write_text(json.dumps(with_digest(of_log)))
    with runner_of("log", tmp_path):
        pass


TRIAL = b'{"trial": {"lr": 0.1}, "score": 3}'  # of another program


@pytest.mark.parametrize(
    "text", [b'{"event": 1}\n{"event"', b"notes", b"\n", TRIAL, TRIAL + b"\n", TRIAL + b"\n" + TRIAL[:-9]]
)
def test_an_experiment_writes_only_to_its_own_log(tmp_path, text):
    (tmp_path / "log.jsonl").write_bytes(text)
    with runner_of("log", tmp_path) as runner, pytest.raises(InputError):
        runner.run(abs_of, [{"x": -1}])
    assert (tmp_path / "log.jsonl").read_bytes() == text


@pytest.mark.parametrize(("program", "name"), [(hn, "run.json"), (cn, "run.json"), (cn, "run_0.npz")])
def test_a_file_that_comes_during_the_training_is_not_replaced(tmp_path, shapes, monkeypatch, program, name):
    words = (*SMALL, "--jobs", 1, "--data-dir", shapes, "--out", tmp_path / "run.json")
    function = "run_one"
    if program is cn:
        words = conv_words(shapes, tmp_path / "run.json")
        function = "train_one"
    original = getattr(program, function)

    def train(*arguments, **more):
        (tmp_path / name).write_text("mine")
        return original(*arguments, **more)

    monkeypatch.setattr(program, function, train)
    assert in_process(program.main, *words).returncode == 2
    assert (tmp_path / name).read_text() == "mine"
    assert not (tmp_path / "run.json").exists() or name == "run.json"


def test_a_resumed_training_does_not_replace_a_foreign_net(tmp_path, shapes, monkeypatch):
    """It is refused before it trains."""
    out = tmp_path / "run.json"
    words = [*conv_words(shapes, out), "--epochs", "2"]
    assert cn.main([*words, "--stop-after", "1"]) == 0
    (tmp_path / "run_0.npz").write_bytes(b"mine")
    monkeypatch.setattr(cn, "train_one", pytest.fail)
    assert cn.main([*words, "--resume"]) == 2
    assert (tmp_path / "run_0.npz").read_bytes() == b"mine"


@pytest.mark.parametrize(("ready", "name"), [(1, "run_0.npz"), (2, "run_0_unfinished.npz")])
def test_what_resume_goes_on_from_is_not_replaced(tmp_path, shapes, ready, name):
    """A stopped net under a finished one's name; and a finished one whose command has other seeds to train."""
    words = [*conv_words(shapes, tmp_path / "run.json"), "--epochs", "2"]
    assert cn.main([*words, "--stop-after", str(ready)]) == 0
    [net] = tmp_path.glob("*.npz")
    net.rename(tmp_path / name)
    assert cn.main(words) == 2
    assert cn.main([*words, "--resume"]) == 0


@posix
def test_a_new_file_obeys_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_all({tmp_path / "run.json": b"new"})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) == 0o640


@posix
@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_a_replaced_file_keeps_its_mode(tmp_path, mode):
    target = tmp_path / "run.json"
    target.write_text(OLD)
    target.chmod(mode)
    write_all({target: b"new"})
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == mode


@posix
def test_what_a_link_names_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "there.json").symlink_to(Path("far") / "file.json")
    (tmp_path / "link.json").symlink_to("there.json")
    for text in (b"new", b"newer"):  # first there is no such file
        write_all({tmp_path / "link.json": text})
        assert (tmp_path / "far" / "file.json").read_bytes() == text
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "there.json").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["far", "link.json", "there.json"]
    assert os.listdir(tmp_path / "far") == ["file.json"]


# ---- what is read


class Code:
    """Unpickled, it makes a folder."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def test_reading_arrays_runs_no_code_from_the_file(tmp_path):
    write_arrays(tmp_path / "net.npz", {}, parameters=np.array([Code(str(tmp_path / "made"))], dtype=object))
    with pytest.raises(ValueError):
        read_arrays(tmp_path / "net.npz")
    assert names_in(tmp_path) == ["net.npz"]


@pytest.mark.parametrize("wrong", [np.ones(3, np.float32), np.ones(2), np.ones((2, 1), np.float32), None])
def test_arrays_are_put_where_all_of_them_fit(wrong):
    targets = {name: np.zeros(2, np.float32) for name in ("parameters", "v")}
    arrays = {name: np.ones(2, np.float32) for name in targets}
    bad = {"parameters": arrays["parameters"]} | ({} if wrong is None else {"v": wrong})
    with pytest.raises((KeyError, ValueError)):
        put_arrays(bad, targets)
    assert not np.any([*targets.values()])
    put_arrays(arrays, targets)
    assert np.all([*targets.values()])
