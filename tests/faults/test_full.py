"""Serves promise 1, files are whole: a full disk, or output that nobody takes, leaves the old file or the new one."""

import json
import os
import shlex
import subprocess
import sys

import pytest
from conftest import OLD, ROOT, SMALL
from strikes import linux, one_after_another, start, unix

pytestmark = one_after_another


@linux
def test_the_disk_is_full_when_the_result_is_ready(tmp_path, data_set):
    """The limit on a file's size, set while the command trains, lets it write a thousand bytes and no more."""
    import resource

    target = tmp_path / "run.json"
    target.write_text(OLD)
    with start(*SMALL, "--epochs", 300, "--data-dir", data_set, "--jobs", 1, "--out", target) as process:
        assert any("epoch   1" in line for line in process.stdout)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1000, 1000))
        stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 2, stderr
    assert "test accuracy" in stdout  # the numbers are not lost
    assert target.read_text() == OLD
    assert sorted(os.listdir(tmp_path)) == ["run.json", "shapes"]


@unix
@pytest.mark.parametrize("redirection", [">&- 2>&-", "> /dev/full", "2>&1 | true"], ids=["closed", "full", "no reader"])
def test_a_training_whose_output_nobody_takes_is_saved(tmp_path, data_set, redirection):
    target = tmp_path / "run.json"
    words = (sys.executable, ROOT / "highway_networks.py", *SMALL, "--data-dir", data_set, "--jobs", 1, "--out", target)
    line = f"{shlex.join(map(str, words))} {redirection}; exit ${{PIPESTATUS[0]}}"
    process = subprocess.run(["bash", "-c", line], timeout=600, check=False)
    assert process.returncode == 0
    assert json.loads(target.read_text())["epochs"] == 2
