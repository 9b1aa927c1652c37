"""Serves promise 1, files are whole: of several processes that want to write one file, one at a time holds its lock."""

import subprocess
import sys

from conftest import ROOT, names_in
from strikes import few_or

TAKER = """
import sys
from pathlib import Path
from highways.files import InputError, Lock
path = Path(sys.argv[1])
inside = Path(sys.argv[2])
to_take = int(sys.argv[3])
while to_take:
    try:
        lock = Lock(path)
    except InputError:
        continue
    inside.open("x").close()  # fails if another process is inside
    inside.unlink()
    lock.release()
    to_take -= 1
"""


@few_or(200, few=30)
def test_one_process_at_a_time_holds_a_lock(tmp_path, n):
    words = [sys.executable, "-c", TAKER, tmp_path / "run.json", tmp_path / "inside", n]
    takers = [subprocess.Popen([*map(str, words)], cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for taker in takers:
        assert taker.communicate(timeout=600)[1] == ""
        assert taker.returncode == 0
    assert names_in(tmp_path) == []
