"""Files: no more is read than a format can hold, a replaced file keeps its permissions and its links, and two commands
never write to one place.
"""

import contextlib
import gzip
import json
import os
import socket
import stat
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from conftest import OLD, OLD_OF_CONV, ROOT, SMALL, in_process, names_in, one_line_error, write_data_set

import conv_highway_networks as cn
import highway_networks as hn
from experiments import __main__ as command_line
from highways import cifar, files
from highways.conv import protocols
from highways.conv import training as convolutional
from highways.files import (
    InputError,
    Lock,
    check_writable,
    json_bytes,
    read_json,
    replace_file,
    write_whole,
    written_beside,
)
from highways.lab.trials import Runner
from highways.records import sealed
from pages import make_train

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, permissions and links of POSIX")


@contextlib.contextmanager
def at_most(megabytes):
    """Fails if Python and NumPy allocate more memory than this within the `with` block."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes << 20
    finally:
        tracemalloc.stop()


# ---- two commands, one place

HOLDER = """
import sys, time
from pathlib import Path
from highways.files import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
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


@pytest.fixture
def shapes(tmp_path):
    return write_data_set(tmp_path / "shapes", side=14)


def conv_words(shapes, out):
    words = ("--net", "mnist-1", "--epochs", 1, "--n-train", 100, "--n-test", 20, "--jobs", 1, "--quiet")
    return [str(word) for word in (*words, "--data-dir", shapes, "--out", out)]


def test_a_second_convolutional_command_is_refused_until_the_first_has_ended(tmp_path, shapes, capsys):
    out = tmp_path / "run.json"
    with holder_of(out) as first:
        assert cn.main(conv_words(shapes, out)) == 2
        error = capsys.readouterr().err
        assert f"error: another command is writing {out}: " in error
        assert len(error.splitlines()) == 1
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
        with pytest.raises(InputError, match="another command is writing"):
            Lock(out)
        locked.append(out)
        return train_one(*words, **settings)

    monkeypatch.setattr(cn, "train_one", try_to_lock)
    assert cn.main(conv_words(shapes, out)) == 0
    assert locked == [out]


@posix
def test_the_lock_of_a_link_is_that_of_its_file(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "run.json")
    with Lock(tmp_path / "run.json"), pytest.raises(InputError, match="another command is writing"):
        Lock(tmp_path / "link.json")


@posix
def test_what_is_no_empty_lock_file_is_in_the_way(tmp_path, shapes, capsys):
    lock = tmp_path / ".run.json.lock"
    notes = tmp_path / "notes"
    notes.write_text("mine")
    for make in (os.mkfifo, os.mkdir, lambda path: path.write_text("mine"), lambda path: path.symlink_to(notes)):
        make(lock)
        assert cn.main(conv_words(shapes, tmp_path / "run.json")) == 2
        error = capsys.readouterr().err
        assert ".run.json.lock is in the way: it is not the empty file of a lock" in error
        assert len(error.splitlines()) == 1
        lock.rename(tmp_path / f"kept{len(os.listdir(tmp_path))}")
    assert notes.read_text() == "mine"


def test_a_folder_where_nothing_can_be_locked(tmp_path):
    with pytest.raises(InputError, match="cannot be locked: No such file"):
        Lock(tmp_path / "missing" / "run.json")


def test_a_second_experiment_is_refused_until_the_first_has_ended(tmp_path):
    with holder_of(tmp_path / "log.jsonl") as first:
        with pytest.raises(InputError, match=r"another command is writing .*log\.jsonl"):
            runner_of("log", tmp_path)
        with runner_of("another", tmp_path):
            pass
        first.kill()
        first.wait()
        second = runner_of("log", tmp_path)
    with second:
        with pytest.raises(InputError, match="another command is writing"):
            runner_of("log", tmp_path)
        [trial] = second.run(abs_of, [{"x": -1}])
        assert trial["abs"] == 1
    with runner_of("log", tmp_path):
        pass
    assert names_in(tmp_path) == ["log.jsonl"]


def runner_of(name, folder):
    return Runner(name, "default", {}, folder=folder, jobs=1)


def abs_of(trial):
    return {"abs": abs(trial["x"])}


# ---- what is read


def special_files(folder):
    """The paths of a pipe that nobody writes to, an endless device, a socket and a folder."""
    os.mkfifo(folder / "pipe")
    here = os.getcwd()
    os.chdir(folder)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as place:
        place.bind("socket")
    os.chdir(here)
    (folder / "folder").mkdir()
    return [folder / "pipe", Path("/dev/zero"), folder / "socket", folder / "folder"]


READERS = {
    "a net": hn.DeepNet.load,
    "a checkpoint": convolutional.Training.load,
    "JSON": read_json,
}


@posix
@pytest.mark.parametrize("reader", READERS)
def test_only_regular_files_are_read(tmp_path, reader):
    for path in special_files(tmp_path):
        with pytest.raises(InputError) as error:
            READERS[reader](path)
        assert "\n" not in str(error.value)


@posix
def test_only_regular_files_are_read_as_data(tmp_path):
    for i, special in enumerate(special_files(tmp_path)):
        folder = write_data_set(tmp_path / f"shapes{i}", compress=False)
        name = folder / "train-images-idx3-ubyte"
        for place in (name, name.with_name(f"{name.name}.gz")):
            name.unlink(missing_ok=True)
            place.symlink_to(special)
            with pytest.raises(InputError):
                hn.load_mnist(folder)
            place.unlink()


@posix
def test_only_regular_files_are_read_as_cifar(tmp_path):
    layout = cifar.SETS["CIFAR-10"]
    for special in special_files(tmp_path):
        folder = tmp_path / layout.folder
        folder.mkdir()
        (folder / layout.train[0]).symlink_to(special)
        with pytest.raises(InputError, match="not a file"):
            cifar.load_cifar("CIFAR-10", tmp_path)
        (folder / layout.train[0]).unlink()
        folder.rmdir()
        if special.is_dir():
            continue
        archive = tmp_path / layout.archive
        archive.symlink_to(special)
        with pytest.raises(InputError, match="not a file"):
            cifar.load_cifar("CIFAR-10", tmp_path)
        archive.unlink()


@posix
def test_a_log_of_trials_is_a_regular_file(tmp_path):
    runner = runner_of("log", tmp_path)
    os.mkfifo(runner.log)
    with runner, pytest.raises(OSError, match="not a file"):
        runner.run(abs_of, [{"x": -1}])


def sparse(path, size, begin=b""):
    """A file of this size that takes no room on the disk."""
    with path.open("wb") as file:
        file.write(begin)
        file.truncate(size)


def idx_header(*shape):
    return bytes((0, 0, 8, len(shape))) + np.array(shape, ">u4").tobytes()


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize(
    "header",
    [
        b"\0\0\x0d\3" + bytes(12),
        idx_header(300, 6, 6),
        idx_header(10**6, 10**4, 10**4),
        bytes((0, 0, 8, 255)) + b"\1" * (4 * 255),
    ],
    ids=["floats", "more data", "too large", "255 sizes"],
)
def test_of_a_data_file_no_more_is_read_than_its_header_allows(tmp_path, compress, header):
    folder = write_data_set(tmp_path / "shapes", compress=compress)
    [path] = folder.glob("train-images*")
    if compress:
        with gzip.open(path, "wb", 1) as file:
            file.write(header)
            for _ in range(64):
                file.write(bytes(1 << 20))
    else:
        sparse(path, 1 << 36, header)
    with at_most(16), pytest.raises(InputError):
        hn.load_mnist(folder)


def test_a_small_json_file_takes_little_memory(tmp_path):
    (tmp_path / "run.json").write_text(OLD)
    with at_most(1):
        read_json(tmp_path / "run.json")


def test_a_json_file_larger_than_any_is_not_read(tmp_path):
    sparse(tmp_path / "run.json", 1 << 36)
    with at_most(16), pytest.raises(InputError, match="68719476736 bytes; at most"):
        read_json(tmp_path / "run.json")


def test_of_cifar_no_more_is_read_than_its_files_hold(tmp_path):
    layout = cifar.SETS["CIFAR-10"]
    sparse(tmp_path / layout.archive, 1 << 36)
    with at_most(16), pytest.raises(InputError, match="68719476736 bytes; at most"):
        cifar.load_cifar("CIFAR-10", tmp_path)
    (tmp_path / layout.archive).unlink()
    sparse(tmp_path / layout.train[0], 1 << 36)
    with at_most(16), pytest.raises(InputError, match="has 68719476736 bytes; CIFAR-10's has 30730000"):
        cifar.load_cifar("CIFAR-10", tmp_path)


def saved_training(path):
    settings = protocols.settings_of(net="mnist-1", epochs=1, n_train=100)
    convolutional.Training(settings, {"pixels": 196, "classes": 3, "crc32": ""}).save(path)


LARGE = 1 << 23  # numbers


def npz_parts(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_npz(path, parts, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)


def head_of(path) -> str:
    with np.load(path) as arrays:
        return str(arrays["head"])


def npy_bytes(text) -> bytes:
    array = np.array(text)
    header = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': (), }}".ljust(117) + "\n"
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode() + array.tobytes()


def other_size(part: bytes, size: int) -> bytes:
    """An .npy file, its header changed to say that it holds `size` numbers."""
    length = 10 + int.from_bytes(part[8:10], "little")
    old = part[10:length].decode()
    shape = old[old.index("'shape'") :].split(")")[0]
    new = old.replace(shape, f"'shape': ({size},").rstrip().ljust(len(old) - 1) + "\n"
    assert len(new) == len(old)
    return part[:10] + new.encode() + part[length:]


def test_no_array_is_made_that_its_file_cannot_hold(tmp_path):
    load = convolutional.Training.load
    path = tmp_path / "net.npz"
    saved_training(path)
    load(path)
    parts = npz_parts(path)
    head = head_of(path)
    zeros = bytes(4 * LARGE)
    hostile = {
        "more than the head says": {"parameters.npy": other_size(parts["parameters.npy"], LARGE) + zeros},
        "more than its header says": {"parameters.npy": parts["parameters.npy"] + zeros},
        "a large head": {"head.npy": parts["head.npy"] + zeros},
    }
    for changed in hostile.values():
        for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            write_npz(path, parts | changed, compression)
            with at_most(16), pytest.raises(InputError, match="is not a"):
                load(path)
    write_npz(path, parts | {"head.npy": npy_bytes(head + " " * LARGE)}, zipfile.ZIP_DEFLATED)
    with at_most(16), pytest.raises(InputError, match="is compressed, or larger than the file"):
        load(path)
    write_npz(path, parts | {"parameters.npy": other_size(parts["parameters.npy"], LARGE)})
    with at_most(16), pytest.raises(InputError, match="is not a"):
        load(path)


def test_a_checkpoint_of_ten_billion_pixels_is_refused_before_its_net_is_made(tmp_path):
    path = tmp_path / "net.npz"
    saved_training(path)
    parts = npz_parts(path)
    head = json.loads(head_of(path))
    for changed in ({"pixels": 10**10}, {"classes": 10**9}):
        hostile = head | {"images": head["images"] | changed}
        write_npz(path, parts | {"head.npy": npy_bytes(json.dumps(hostile))})
        with at_most(16), pytest.raises(InputError, match="parameters must have the shape"):
            convolutional.Training.load(path)
    settings = head["settings"] | {"net": "mnist-99999999"}
    write_npz(path, parts | {"head.npy": npy_bytes(json.dumps(head | {"settings": settings}))})
    with at_most(16), pytest.raises(InputError, match="parameters must have the shape"):
        convolutional.Training.load(path)
    write_npz(path, parts | {"head.npy": npy_bytes(json.dumps(head))})
    assert convolutional.Training.load(path).epochs == 0


# ---- what is written


def test_what_a_killed_writer_left_stays_and_harms_nobody(tmp_path):
    left = tmp_path / ".run.json.0123456789abcdef.tmp"
    left.write_text("torn")
    write_whole({tmp_path / "run.json": b"whole"})
    assert (tmp_path / "run.json").read_bytes() == b"whole"
    assert left.read_text() == "torn"


def test_asking_for_the_commit_writes_nothing_in_the_repository(tmp_path, monkeypatch):
    """A lock of git's, left by a killed run, would stop the user's next git command."""
    (tmp_path / "program.py").write_text("pass\n")
    monkeypatch.setattr(files, "ROOT", tmp_path)
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    os.utime(tmp_path / "program.py", (1e9, 1e9))  # an ordinary `git status` would note that in the index
    index = tmp_path / ".git" / "index"
    before = index.read_bytes()
    files._git("status", "--porcelain")
    assert index.read_bytes() == before


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o777])
def test_what_is_replaced_keeps_its_permissions(tmp_path, mode):
    target = tmp_path / "run.json"
    target.write_text("old")
    target.chmod(mode)
    with written_beside({target: b"new"}) as temporaries:
        assert stat.S_IMODE(temporaries[target].stat().st_mode) == mode
    write_whole({target: b"new"})
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == mode


@posix
def test_a_read_only_file_is_not_replaced(tmp_path):
    target = tmp_path / "run.json"
    target.write_text(OLD)
    target.chmod(0o444)
    for write in (check_writable, lambda path: write_whole({path: b"new"})):
        with pytest.raises(InputError, match=r"run\.json is read-only: it is not replaced"):
            write(target)
    assert target.read_text() == OLD
    assert names_in(tmp_path) == ["run.json"]


@posix
@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files away")
def test_what_root_replaces_keeps_its_owner(tmp_path):
    target = tmp_path / "run.json"
    new = tmp_path / "new.json"
    for path in (target, new):
        path.write_text("old")
    os.chown(target, 1234, 2345)
    target.chmod(0o640)
    write_whole({target: b"new"})
    for _ in range(2):
        kept = target.stat()
        assert (kept.st_uid, kept.st_gid, stat.S_IMODE(kept.st_mode)) == (1234, 2345, 0o640)
        if new.exists():
            replace_file(new, target)


@posix
def test_the_folder_is_synced_after_the_last_name_is_given(tmp_path, monkeypatch):
    synced = []
    original = os.fsync

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            synced.append((os.fstat(descriptor).st_ino, sorted(os.listdir(tmp_path))))
        original(descriptor)

    monkeypatch.setattr(files.os, "fsync", fsync)
    write_whole({tmp_path / "a.json": b"1", tmp_path / "b.json": b"2"})
    replace_file(tmp_path / "a.json", tmp_path / "c.json")
    folder = tmp_path.stat().st_ino
    assert synced == [(folder, ["a.json", "b.json"]), (folder, ["b.json", "c.json"])]


def test_only_a_temporary_file_that_was_made_here_is_removed(tmp_path, monkeypatch):
    for name in (".run.json.mybackup.tmp", ".run.json.0101010101010101.tmp"):
        (tmp_path / name).write_text("mine")
    monkeypatch.setattr(files.os, "urandom", lambda n: b"\1" * n)
    with pytest.raises(InputError, match="cannot be written: File exists"):
        write_whole({tmp_path / "run.json": b"new"})
    assert {path.read_text() for path in tmp_path.iterdir()} == {"mine"}
    assert names_in(tmp_path) == [".run.json.0101010101010101.tmp", ".run.json.mybackup.tmp"]


SARIF = {"$schema": "sarif-2.1.0.json", "version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint"}}}]}
NOT_OURS = {
    "SARIF": json.dumps(SARIF),
    "no runs": json.dumps(json.loads(OLD) | {"runs": []}),
    "a run without its nets": json.dumps(json.loads(OLD) | {"runs": [{"depth": 3}]}),
    "a list": "[]",
    "no JSON": "text",
}


@pytest.mark.parametrize("what", [*NOT_OURS, "the other program's"])
@pytest.mark.parametrize("program", [hn, cn])
def test_a_training_replaces_only_its_own_record(tmp_path, shapes, capsys, program, what):
    target = tmp_path / "run.json"
    text = NOT_OURS.get(what) or (OLD_OF_CONV if program is hn else OLD)
    target.write_text(text)
    words = conv_words(shapes, target)
    if program is hn:
        words = [str(word) for word in (*SMALL, "--jobs", 1, "--data-dir", shapes, "--out", target)]
    assert program.main(words) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert target.read_text() == text
    target.unlink()
    for _ in range(2):  # the second time it replaces what it wrote
        assert program.main(words) == 0, capsys.readouterr().err


def test_an_experiment_replaces_only_its_own_results(tmp_path):
    results = read_json(ROOT / "results" / "lesion.json")
    for text in (*NOT_OURS.values(), OLD, json.dumps(results), json.dumps({"experiment": "log"})):
        (tmp_path / "log.json").write_text(text)
        with pytest.raises(InputError, match=r"log\.json does not hold results of log: it is not replaced"):
            runner_of("log", tmp_path)
    (tmp_path / "log.json").write_text(json.dumps(sealed(results | {"experiment": "log"})))
    with runner_of("log", tmp_path):
        pass


def test_an_experiment_writes_only_to_its_own_log(tmp_path):
    for text in (b'{"event": 1}\n{"event"', b"notes"):
        (tmp_path / "log.jsonl").write_bytes(text)
        with (
            runner_of("log", tmp_path) as runner,
            pytest.raises(InputError, match=r"log\.jsonl is not a log of trials"),
        ):
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


def test_a_file_that_comes_during_the_trials_is_not_replaced(tmp_path, finished, monkeypatch):
    finished("jacobian", tmp_path)
    original = command_line.with_summary

    def with_summary(*arguments):
        (tmp_path / "jacobian.json").write_text("mine")
        return original(*arguments)

    monkeypatch.setattr(command_line, "with_summary", with_summary)
    process = in_process(command_line.main, "jacobian", "--quick", "--results", tmp_path, "--jobs", 1)
    assert process.returncode == 2
    assert (tmp_path / "jacobian.json").read_text() == "mine"


def test_a_page_replaces_only_files_of_its_kind(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")
    one_line_error(in_process(make_train.main, "--out", page))
    assert page.read_text() == "mine"


def test_a_resumed_training_does_not_replace_a_foreign_net(tmp_path, shapes, capsys):
    out = tmp_path / "run.json"
    words = [*conv_words(shapes, out), "--epochs", "2"]
    assert cn.main([*words, "--stop-after", "1"]) == 0
    (tmp_path / "run_0.npz").write_bytes(b"mine")
    assert cn.main([*words, "--resume"]) == 2
    assert "run_0.npz is not a checkpoint of a convolutional net" in capsys.readouterr().err
    assert (tmp_path / "run_0.npz").read_bytes() == b"mine"


# ---- what is written can be read again


@pytest.mark.parametrize("value", [10**400, 10**5000, -(10**400)], ids=["large", "huge", "negative"])
def test_a_record_that_could_not_be_read_again_is_not_written(tmp_path, value):
    target = tmp_path / "run.json"
    target.write_text("old")
    with pytest.raises(InputError, match="this record is not written, since it could not be read again"):
        write_whole({target: json_bytes({"seed": value})})
    assert target.read_text() == "old"


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [10**5000, float("nan"), nested(100_000)], ids=["huge", "nan", "nested"])
def test_a_net_whose_notes_could_not_be_read_again_is_not_saved(tmp_path, value):
    net = hn.DeepNet(4, 3, 5, 2, "highway", 0)
    net.about = {"a": value}
    with pytest.raises(ValueError, match="JSON"):
        net.save(tmp_path / "net.npz")
    assert names_in(tmp_path) == []


def test_arrays_are_read_before_they_replace_anything(tmp_path, monkeypatch):
    (tmp_path / "net.npz").write_bytes(b"old")
    monkeypatch.setattr(files.np, "savez", lambda file, **arrays: file.write(b"torn"))
    with pytest.raises(ValueError):
        files.write_arrays(tmp_path / "net.npz", {}, x=np.zeros(3))
    assert (tmp_path / "net.npz").read_bytes() == b"old"


def test_a_result_that_the_log_could_not_give_back_is_not_logged(tmp_path):
    with runner_of("log", tmp_path) as runner, pytest.raises(InputError, match="could not be read again"):
        runner.run(too_large, [{"x": 1}])
    assert (tmp_path / "log.jsonl").read_bytes() == b""


def too_large(trial):
    return {"number": 10**400}


@pytest.mark.parametrize("program", [hn, cn])
@pytest.mark.parametrize(
    "seed", [str(2**63), "9" * 330, "9" * 5000, "0," + "9" * 330], ids=["2^63", "330 digits", "5000 digits", "a list"]
)
def test_a_seed_is_below_two_to_the_63(program, seed):
    flag = "--seeds" if "," in seed else "--seed"
    one_line_error(in_process(program.main, flag, seed, "--no-save"))
    program.parse_arguments(["--seed", str(2**63 - 1)])


# ---- what is printed


NAME = "a\n\x1b[31mb\x9b"


@posix
def test_names_are_printed_without_what_a_terminal_obeys(tmp_path, data_set):
    folder = tmp_path / NAME
    data_set.rename(folder)
    ended = in_process(cn.main, "--data-dir", folder, "--no-save")
    assert all(line.isprintable() for line in (ended.stdout + ended.stderr).split("\n"))


def test_text_is_printable_in_one_line():
    assert files.printable("MNIST ± é 漢") == "MNIST ± é 漢"
    assert files.printable("a\r\n\x1b]0;b\x07\u202e\udc80\u2028") == r"a\r\n\x1b]0;b\x07\u202e\udc80\u2028"


@posix
def test_a_new_file_obeys_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole({tmp_path / "run.json": b"new"})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) == 0o640


@posix
def test_what_a_link_names_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "there.json").symlink_to(Path("far") / "file.json")
    (tmp_path / "link.json").symlink_to("there.json")
    for text in (b"new", b"newer"):  # first there is no such file
        write_whole({tmp_path / "link.json": text})
        assert (tmp_path / "far" / "file.json").read_bytes() == text
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "there.json").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["far", "link.json", "there.json"]
    assert os.listdir(tmp_path / "far") == ["file.json"]
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="loop cannot be written: Too many levels of symbolic links"):
        check_writable(tmp_path / "loop")
    with pytest.raises(InputError, match="which is written as well"):
        write_whole({tmp_path / "there.json": b"1", tmp_path / "link.json": b"2"})
    assert os.listdir(tmp_path / "far") == ["file.json"]
