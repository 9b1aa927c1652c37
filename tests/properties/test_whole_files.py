"""Serves promise 1, files are whole: whatever kills a command, its file is the whole old one or the whole new one, and
nothing but its own output is replaced."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from conftest import OLD, ROOT, SMALL, in_process
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import highway_networks as hn

unix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
WRITER = """
import sys
from pathlib import Path
from highways.files import json_bytes, write_whole

for k in range(10**9):
    write_whole({Path(sys.argv[1]): json_bytes({"k": [k] * 5000})})
"""


@unix
@pytest.mark.xdist_group("kills")
def test_a_writer_that_is_killed_leaves_a_whole_file(tmp_path):
    path = tmp_path / "target.json"
    for _ in range(4):
        path.unlink(missing_ok=True)  # so that the writer is at work when it is there again
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], cwd=ROOT) as writer:
            while not path.exists():
                time.sleep(0.01)
            time.sleep(random.uniform(0, 0.1))
            writer.kill()
        numbers = json.loads(path.read_text())["k"]
        assert numbers == [numbers[0]] * 5000


@unix
@pytest.mark.xdist_group("kills")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_stopped_leaves_the_old_file_or_the_new_one(tmp_path, data_set, number):
    target = tmp_path / "run.json"
    for _ in range(2):
        target.write_text(OLD)
        words = [sys.executable, "highway_networks.py", *SMALL, "--data-dir", data_set, "--jobs", 2, "--out", target]
        started = subprocess.Popen(list(map(str, words)), cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL)
        with started as command:
            time.sleep(random.uniform(0.1, 1.5))
            if command.poll() is None:
                os.killpg(command.pid, number)
            command.wait(timeout=600)
        text = target.read_text()
        if text != OLD:
            [pair] = json.loads(text)["runs"]
            assert pair["highway"]["history"]["epoch"] == [1, 2]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary() | st.from_type(dict).map(lambda value: json.dumps(value, default=str).encode()))
def test_a_file_of_another_kind_is_never_replaced(tmp_path, data_set, content):
    target = tmp_path / "mine.json"
    target.write_bytes(content)
    process = in_process(hn.main, *SMALL, "--data-dir", data_set, "--jobs", 1, "--out", target)
    assert process.returncode == 2
    assert target.read_bytes() == content
