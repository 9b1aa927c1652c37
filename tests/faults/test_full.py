"""A full disk leaves the old file, and what was written before is named.  Output that nobody reads stops no run."""

import os
import subprocess
import sys

import pytest
from conftest import OLD, ROOT, SMALL
from strikes import linux, one_after_another, start, unix

from highways.files import CannotWrite
from highways.lab.log import Log, key_of

pytestmark = one_after_another


FULL = """
import resource, sys
import highway_networks as hn

resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
sys.exit(hn.main())
"""


@linux
def test_the_disk_is_full_when_the_result_is_ready(tmp_path, data_set):
    """The limit on a file's size lets the command write a thousand bytes and no more."""
    target = tmp_path / "run.json"
    target.write_text(OLD)
    with start(*SMALL, "--data-dir", data_set, "--jobs", 1, "--out", target, code=FULL) as process:
        stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 2, stderr
    assert sum("seed 0" in line for line in stdout.splitlines()) == 2  # the numbers of both nets are not lost
    assert target.read_text() == OLD
    assert sorted(os.listdir(tmp_path)) == ["run.json", "shapes"]


TWO_FILES = """
import resource
from pathlib import Path
from highways.commands import run_command, run_program

resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
files = {Path("small.json"): b"whole", Path("large.json"): bytes(2000)}
run_program(lambda: run_command("two files", lambda save: save(files), lambda: "HOW TO GO ON"))
"""


@linux
@pytest.mark.parametrize("out", ["/dev/null", "&-"])
def test_what_was_written_before_the_disk_was_full_is_named_and_how_to_go_on(tmp_path, out):
    """Where standard output is closed, too."""
    words = ["sh", "-c", f'exec "$0" -c "$1" >{out}', sys.executable, TWO_FILES]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.run(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, check=False)
    assert process.returncode == 2
    assert os.listdir(tmp_path) == ["small.json"]
    [line] = process.stderr.splitlines()
    assert "small.json" in line
    assert "HOW TO GO ON" in line


@linux
def test_a_log_that_the_disk_has_no_room_for_is_named(tmp_path):
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Log(tmp_path / "log.jsonl") as log:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        try:
            with pytest.raises(CannotWrite, match=str(log.path)):
                log.append(key_of({"a": 1}, None, None), {"is": "long" * 100}, {"git": None})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert log.read() == {}


QUESTION = f"{ROOT}/experiments/__main__.py shut_gates --quick --results ."
NET = f"{ROOT}/conv_highway_networks.py --net mnist-3 --epochs 1 --n-train 300 --n-test 100 --out net.json"


@unix
@pytest.mark.parametrize("command", [f"{QUESTION} --jobs 1 2>&-", f"{NET} --jobs 1 >&-"])
def test_a_closed_stream_stops_no_run(tmp_path, command):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    words = ["sh", "-c", f'exec "$0" {command}', sys.executable]
    process = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    assert list(tmp_path.glob("*.json"))


@unix
def test_a_reader_that_ends_early_ends_the_command_without_a_word():
    words = ["sh", "-c", '"$0" -m experiments | head -1', sys.executable]
    process = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert len(process.stdout.splitlines()) == 1
    assert process.stderr == ""
