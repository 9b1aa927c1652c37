"""Whatever kills a command, its file is the whole old one or the whole new one, and
nothing but its own output is replaced."""

import json
import random
import signal
import subprocess
import sys
import time

import pytest
from conftest import OLD, OLD_OF_CONV, ROOT, SMALL, in_process, sleep_between
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strikes import end_of, signal_group, start, unix

import conv_highway_networks as cn
import highway_networks as hn
from highways.files import json_bytes

CONTENTS = [json_bytes({"k": digit * 1_000_000}) for digit in "01"]
WRITER = """
import sys
from pathlib import Path
from highways.files import write_all

contents = [Path(name).read_bytes() for name in sys.argv[2:]]
while True:
    for content in contents:
        write_all({Path(sys.argv[1]): content})
"""


@unix
@pytest.mark.xdist_group("kills")
def test_a_file_is_whole_at_any_moment(tmp_path):
    """A kill at that moment would leave what is read then."""
    path = tmp_path / "target.json"
    sources = [tmp_path / f"{k}.json" for k in range(len(CONTENTS))]
    for source, content in zip(sources, CONTENTS, strict=True):
        source.write_bytes(content)
    with subprocess.Popen([sys.executable, "-c", WRITER, path, *sources], cwd=ROOT) as writer:
        try:
            while not path.exists():
                assert writer.poll() is None
                time.sleep(0.01)
            for _ in range(300):
                assert path.read_bytes() in CONTENTS
                time.sleep(random.uniform(0, 0.005))
        finally:
            writer.kill()
    assert path.read_bytes() in CONTENTS


SLOW_WRITER = """
import os, sys, time
import highway_networks as hn

def sync(file):
    print("written, and not in its place yet", flush=True)
    time.sleep(3600)

os.fsync = sync
sys.exit(hn.main())
"""


@unix
@pytest.mark.xdist_group("kills")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("code", "said"),
    [
        pytest.param(None, "epoch   1", id="trains"),
        pytest.param(SLOW_WRITER, "not in its place yet", id="writes"),
    ],
)
def test_a_stopped_command_leaves_the_old_file_or_the_new_one(tmp_path, data_set, number, code, said):
    target = tmp_path / "run.json"
    target.write_text(OLD)
    with start(*SMALL, "--data-dir", data_set, "--jobs", 2, "--out", target, code=code) as command:
        assert any(said in line for line in command.stdout)
        sleep_between(0, 0.1)
        signal_group(command, number)
        end_of(command)
    assert command.returncode in (0, -number, 128 + number)  # ended, or stopped by the signal; not refused
    text = target.read_text()
    if text != OLD:
        assert code is None
        [pair] = json.loads(text)["runs"]
        assert pair["highway"]["history"]["epoch"] == [1, 2]


SARIF = {"$schema": "sarif-2.1.0.json", "version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint"}}}]}


OTHER_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def almost_a_record(draw):
    """A record of one of the programs without its runs or its environment, and with some other entries."""
    record = json.loads(draw(st.sampled_from([OLD, OLD_OF_CONV])))
    record |= draw(st.dictionaries(st.text(max_size=8) | st.sampled_from([*record]), OTHER_JSON, max_size=3))
    for name in draw(st.sets(st.sampled_from(["runs", "env"]), min_size=1)):
        record.pop(name, None)
    return record


@pytest.mark.parametrize("program", [hn, cn])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary() | OTHER_JSON.map(json_bytes) | almost_a_record().map(json_bytes))
@example(content=json.dumps(SARIF).encode())  # has "runs", too
@example(content=None)  # the record of the other program
def test_a_file_of_another_kind_is_never_replaced(tmp_path, shapes, program, content):
    words = (*SMALL, "--jobs", 1) if program is hn else ("--net", "mnist-1", "--n-train", 100, "--n-test", 20)
    if content is None:
        content = (OLD_OF_CONV if program is hn else OLD).encode()
    target = tmp_path / "mine.json"
    target.write_bytes(content)
    process = in_process(program.main, *words, "--data-dir", shapes, "--out", target)
    assert process.returncode == 2
    assert target.read_bytes() == content
