import contextlib
import copy
import functools
import gzip
import http.server
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from small_records import convolutional
from threadpoolctl import threadpool_limits

import highway_networks as hn

ROOT = Path(hn.__file__).resolve().parent
ENVIRONMENT = dict(os.environ)
# Background jobs of a shell, and what they start, ignore SIGINT.  Tests interrupt programs, so it must work again.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A user's processor may have more cores than the tests have; threads that wait for one take time from the other tests.
# Commands limit the threads of NumPy's BLAS themselves.
threadpool_limits(1)

# the JSON of an earlier run of highway_networks.py and of conv_highway_networks.py, which they may replace
OLD = (ROOT / "run.json").read_text(encoding="utf-8")
OLD_OF_CONV = json.dumps(convolutional())
# Flags of a training that takes almost no time on write_data_set()'s images
SMALL = ("--depth", 3, "--hidden", 8, "--epochs", 2, "--batch", 32, "--n-train", 200, "--n-test", 60)

QUICK = "quick and not thorough"  # what -m quick stands for


def pytest_configure(config):
    """-m quick leaves out the thorough tests, as no -m does.  Otherwise Hypothesis tries more examples."""
    if config.option.markexpr == "quick":
        config.option.markexpr = QUICK
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return  # this process runs no tests: it starts those that do, which then wait for no import here
    os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"  # one of them is trio's, and takes half a second to import
    from hypothesis import settings

    examples = 20 if "not thorough" in config.option.markexpr else 200
    settings.register_profile("of this run", max_examples=examples, deadline=None)
    settings.load_profile("of this run")


def pytest_ignore_collect(collection_path, config):
    """-m quick does not import the files that have no quick test, which would take longer than its tests."""
    if config.option.markexpr == QUICK and collection_path.suffix == ".py":
        return "pytest.mark.quick" not in collection_path.read_text(encoding="utf-8") or None
    return None


def pytest_collection_modifyitems(config, items):
    """Leaves out the tests that import a framework, unless -m frameworks asks for them: test_frameworks.py runs them
    in other processes.  Frameworks start threads, and a process that has threads cannot fork safely."""
    if config.option.markexpr == "frameworks":
        return
    left_out = [item for item in items if item.get_closest_marker("frameworks")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish():
    """Undoes what benchmarks/one_thread.py sets when a test module imports benchmarks: commands that the
    tests start must compute as they do for a user."""
    os.environ.clear()
    os.environ.update(ENVIRONMENT)


@pytest.fixture(scope="session")
def mnist():
    return hn.load_mnist()


@pytest.fixture(autouse=True)
def no_data_dir_from_outside(monkeypatch):
    for name in ("MNIST_DIR", "CIFAR_DIR"):
        monkeypatch.delenv(name, raising=False)


def idx_bytes(array: np.ndarray) -> bytes:
    header = bytes((0, 0, 8, array.ndim)) + np.array(array.shape, ">u4").tobytes()
    return header + array.astype(np.uint8).tobytes()


def write_data_set(folder: Path, n_train=300, n_test=80, side=6, classes=3, compress=True) -> Path:
    """A small learnable data set in MNIST's layout: class c brightens the rows 2c and 2c + 1."""
    rng = np.random.default_rng(5)
    folder.mkdir(parents=True, exist_ok=True)
    for prefix, n in (("train", n_train), ("t10k", n_test)):
        labels = np.arange(n) % classes
        images = rng.integers(0, 60, (n, side, side))
        for image, label in zip(images, labels, strict=True):
            image[2 * label : 2 * label + 2] += 150
        for array, kind in ((images, "images-idx3"), (labels, "labels-idx1")):
            data = idx_bytes(array)
            name = f"{prefix}-{kind}-ubyte"
            if compress:
                (folder / f"{name}.gz").write_bytes(gzip.compress(data, 1))
            else:
                (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def data_set(tmp_path):
    return write_data_set(tmp_path / "shapes")


@pytest.fixture
def shapes(tmp_path):
    """Images that both programs take."""
    return write_data_set(tmp_path / "shapes", side=14)


def forget_what_was_read() -> None:
    """As a new process does."""
    from highways import trial_code

    trial_code.text_of.cache_clear()
    trial_code.source_of.cache_clear()


@pytest.fixture
def web(monkeypatch):
    """A local HTTP server.  Yields (files, asked, address).

    `files` maps a name to the bytes to serve, or to a function that answers for the handler; other names are a 404.
    `asked` lists the paths that were asked for.
    """
    files = {}
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = files.get(self.path.rsplit("/", 1)[-1])
            if callable(body):
                body(self)
                return
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, request, client_address):
            """Ignores clients that went away: some tests are about them."""

    server = Server(("127.0.0.1", 0), Handler)
    # every 0.02 s the server checks whether to stop
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    yield files, asked, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def interrupted(body):
    """The connection ends in the middle of what was announced."""

    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: len(body) // 2])

    return answer


def corrupted(body):
    return body[:500] + b"?" + body[501:]


def run(script: str, *words, cwd=None, **environment):
    """Runs a program of the project as a user would; returns the finished process, its output as text."""
    return subprocess.run(
        [sys.executable, str(ROOT / script), *map(str, words)],
        cwd=cwd or ROOT,
        env=os.environ | {"MPLBACKEND": "Agg"} | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )


def sleep_between(least: float, most: float) -> None:
    """Sleeps for a random time, and prints it: pytest shows it where the test fails."""
    seconds = random.uniform(least, most)
    print(f"slept {seconds} s")
    time.sleep(seconds)


def in_process(main, *words) -> subprocess.CompletedProcess:
    """Calls a program's main() in this process: quicker than run(), and returns the same."""
    stdout = io.StringIO()
    stderr = io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            status = main([str(word) for word in words])
        except SystemExit as end:
            status = end.code
    return subprocess.CompletedProcess(words, status, stdout.getvalue(), stderr.getvalue())


def one_line_error(process) -> str:
    """The error of a program that refused its input: exit status 2, one line on stderr, no traceback."""
    assert process.returncode == 2, process.stderr
    errors = [line for line in process.stderr.splitlines() if "error: " in line]
    assert len(errors) == 1
    assert "Traceback" not in process.stderr
    assert "usage:" not in process.stderr
    assert process.stderr.rstrip().endswith(errors[0])
    return errors[0]


def names_in(folder: Path) -> list[str]:
    """The names in a folder, sorted, without the files that Lock leaves."""
    return sorted(name for name in os.listdir(folder) if not name.endswith(".lock"))


def without_time(record: dict) -> str:
    """A record as JSON text without wall-clock and environment, and the digest, which covers both: what must be the
    same for the same seed."""
    clean = copy.deepcopy(record)
    clean.pop("env", None)
    clean.pop("digest", None)
    for pair in clean["runs"]:
        del pair["wallclock_sec"]
        for run in pair.values():
            if isinstance(run, dict):
                del run["wallclock_sec"]
    return json.dumps(clean)


def setting(**changes):
    """The setting of a trial: a net of four layers, trained on a few images."""
    common = {
        "block": "highway",
        "depth": 3,
        "activation": "tanh",
        "effective_lr": 2.0,
        "momentum": 0.9,
        "decay": 0.9,
        "gate_bias": -2.0,
        "clip": 1.0,
        "seed": 0,
        "epochs": 2,
        "n_train": 1280,
        "n_test": 300,
    }
    return {**common, **changes}


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """finished(name, folder): fills the folder with a quick run of the question, which was done once
    for all tests; returns what it printed."""
    from experiments import __main__ as command_line
    from experiments import find_question

    @functools.cache
    def run_once(name):
        folder = tmp_path_factory.mktemp(name)
        for needed in find_question(name).needs:
            fill(needed, folder)
        process = in_process(command_line.main, name, "--quick", "--results", folder, "--jobs", 1)
        assert process.returncode == 0, process.stderr
        return folder, process.stdout

    def fill(name, folder):
        done, printed = run_once(name)
        shutil.copytree(done, folder, dirs_exist_ok=True)
        return printed

    return fill


def claim_of(question: str, claim_id: str):
    """The claim of this id that a question declares."""
    from experiments import find_question

    [claim] = [claim for claim in find_question(question).claims if claim.id == claim_id]
    return claim


def judgement_on(question: str, claim_id: str, *records: dict):
    """What these results say of a claim.  Made-up results may lack the settings that it is about."""
    from highways.lab.judging.claim import judge

    claim = claim_of(question, claim_id)
    settings = {}
    for name, wanted in claim.about.items():
        settings[name] = wanted[0] if isinstance(wanted, tuple) else wanted
    first, *others = records
    first = {**first, "settings": {**settings, **first.get("settings", {})}}
    return judge(claim, first, *others)


def verdict_on(question: str, claim_id: str, *records: dict) -> str:
    """The verdict of these results, which may be made up, on a claim."""
    return judgement_on(question, claim_id, *records).verdict.as_text()
