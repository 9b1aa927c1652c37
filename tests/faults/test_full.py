"""Full disks, and outputs that cannot be written: one line says so, and a file that was there
before stays."""

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
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 2, stderr
    assert "test accuracy" in stdout  # the numbers are not lost
    assert target.read_text() == OLD
    assert sorted(os.listdir(tmp_path)) == ["run.json", "shapes"]


# ---- Standard output

FULL = "> /dev/full"
needs_a_full_device = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


def redirected(redirection, *words, **more):
    """Runs a program with its output redirected by a shell."""
    command = shlex.join([sys.executable, *map(str, words)])
    return subprocess.run(
        f"{command} {redirection}",
        shell=True,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
        **more,
    )


@unix
def test_a_training_whose_output_is_closed_is_saved(tmp_path, data_set):
    target = tmp_path / "run.json"
    program = (ROOT / "highway_networks.py", *SMALL, "--data-dir", data_set)
    process = redirected(">&- 2>&-", *program, "--seeds", "0,1", "--out", target)
    assert process.returncode == 0
    assert json.loads(target.read_text())["runs"]


@needs_a_full_device
def test_a_training_whose_output_is_full_is_saved(tmp_path, data_set):
    target = tmp_path / "run.json"
    target.write_text(OLD)
    program = (ROOT / "highway_networks.py", *SMALL, "--data-dir", data_set)
    process = redirected(FULL, *program, "--out", target)
    assert process.returncode == 0
    assert json.loads(target.read_text())["epochs"] == 2


@unix
def test_a_training_whose_reader_has_gone_is_saved(tmp_path, data_set):
    target = tmp_path / "run.json"
    program = shlex.join([sys.executable, str(ROOT / "highway_networks.py"), *map(str, SMALL), "--seeds", "0,1"])
    line = f"{program} --data-dir {data_set} --out {target} 2>&1 | true; echo ${{PIPESTATUS[0]}} >&2"
    process = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert int(process.stderr) == 0
    assert json.loads(target.read_text())["epochs"] == 2
