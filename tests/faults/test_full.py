"""A full disk leaves the old file."""

import os

from conftest import OLD, SMALL
from strikes import linux, one_after_another, start

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
