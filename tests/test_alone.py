"""highway_networks.py copied alone, into an empty folder, with a Python that has NumPy and nothing else; and which
modules the commands leave unimported."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, SMALL, one_line_error, without_time, write_data_set

import highway_networks as hn
from highways.records import digest_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes symbolic links")


@pytest.fixture(scope="module")
def only_numpy(tmp_path_factory):
    """A folder of packages that holds NumPy alone."""
    folder = tmp_path_factory.mktemp("packages")
    numpy = Path(np.__file__).parent
    for name in ("numpy", "numpy.libs"):
        if numpy.with_name(name).exists():
            (folder / name).symlink_to(numpy.with_name(name))
    return folder


@pytest.fixture
def alone(tmp_path, only_numpy):
    """alone(*words) runs Python with these words in a folder that holds highway_networks.py and straightforward.py."""
    folder = tmp_path / "alone"
    folder.mkdir()
    for name in ("highway_networks.py", "straightforward.py"):
        (folder / name).write_bytes((ROOT / name).read_bytes())
    environment = {
        "HOME": str(tmp_path / "home"),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(only_numpy),
        "OPENBLAS_NUM_THREADS": "1",
        "no_proxy": "127.0.0.1",
    }

    def run(*words):
        command = [sys.executable, "-S", *map(str, words)]  # -S: without the folder of installed packages
        more = {"capture_output": True, "text": True, "timeout": 300, "check": False}
        return subprocess.run(command, cwd=folder, env=environment, **more)

    run.folder = folder
    return run


def test_the_tests_python_has_numpy_and_nothing_else(alone):
    assert alone("-c", "import numpy").returncode == 0
    for name in ("tqdm", "threadpoolctl", "scipy", "matplotlib", "highways"):
        assert f"No module named '{name}'" in alone("-c", f"import {name}").stderr


TRAINS = """
import sys
import numpy as np
before = set(sys.modules)
import highway_networks as hn
imported = {name.partition(".")[0] for name in set(sys.modules) - before}
assert imported <= {"highway_networks", *sys.stdlib_module_names}, imported
assert "numpy.ma" not in sys.modules

data = hn.load_mnist(sys.argv[1])
net = hn.DeepNet(36, 3, hidden=8, depth=3, block="highway", rng=0)
x = hn.scale_pixels(data.x_train, np.float32)
adam = hn.Adam(net.parameters)
rng = np.random.default_rng(0)
for _ in range(3):
    row = hn.train_epoch(net, adam, x, data.y_train, rng.permutation(len(x)), 50)
assert row["train_acc"] > 0.5, row
net.about["pixels"] = hn.PIXELS[0]
net.save("net.npz")
again = hn.DeepNet.load("net.npz")
np.testing.assert_array_equal(again.predict(x), net.predict(x))
settings = hn.Settings(hidden=8, depth=3, epochs=2, batch_size=32, n_train=200, n_test=60)
run = hn.run_one("plain", settings, hn.subset(data, 0, 200, 60))
assert len(run["history"]["epoch"]) == 2
for wrong in ("net.npz", "nothing.npz", "."):
    try:
        (hn.load_mnist if wrong == "net.npz" else hn.DeepNet.load)(wrong)
    except ValueError as error:
        assert len(str(error).splitlines()) == 1, error
    else:
        raise AssertionError(wrong)
"""


def test_a_net_is_trained_saved_and_loaded(alone, data_set):
    process = alone("-c", TRAINS, data_set)
    assert (process.returncode, process.stderr) == (0, "")
    assert {path.name for path in alone.folder.iterdir()} - {"__pycache__"} == {
        "highway_networks.py",
        "straightforward.py",
        "net.npz",
    }


def test_the_command_writes_the_record_that_it_writes_beside_the_package(alone, tmp_path):
    data_set = write_data_set(alone.folder / "data" / "mnist")
    words = (*SMALL, "--seeds", "0,1", "--data-dir", data_set)
    process = alone("highway_networks.py", *words)
    assert (process.returncode, process.stderr) == (0, "")
    assert "4 of 4 nets are trained" in process.stdout
    ours = json.loads((alone.folder / "run_own.json").read_text())
    assert hn.main([*map(str, words), "--quiet", "--out", str(tmp_path / "run.json")]) == 0
    theirs = json.loads((tmp_path / "run.json").read_text())
    assert theirs["digest"] == digest_of(theirs)  # alone, records have none
    assert without_time(ours) == without_time(theirs)


def test_a_smoke_test_of_mnist_beside_the_file(alone):
    (alone.folder / "data").mkdir()
    (alone.folder / "data" / "mnist").symlink_to(hn.BUNDLED)
    process = alone("highway_networks.py", "--quick")
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.startswith("MNIST from data/mnist: 1280 training and 500 test images\n")
    assert json.loads((alone.folder / "run_quick.json").read_text())["data_set"] == "MNIST"


BAD_INPUT = (
    (("--depth", "0"), "argument --depth: invalid int (1 to inf) value: '0'"),
    (("--depths", "5,x"), "argument --depths: invalid int (1 to inf) value: '5,x'"),
    (("--seeds", "0,0"), "argument --seeds: invalid int (0 to 9223372036854775807) value: '0,0'"),
    (("--batch", "201"), "--batch 201 is more than the 200 training images"),
    (("--n-train", "301"), "--n-train 301 is more than the 300"),
    (("--gate-bias", "nan"), "argument --gate-bias: invalid float (-1000.0 to 1000.0) value: 'nan'"),
    (("--out", "run.txt"), "run.txt does not end in .json"),
    (("--out", "missing/run.json"), "cannot be written: No such file or directory"),
    (("--out", "folder.json"), "folder.json is a folder or a device; the name of a file is needed"),
    (("--out", ""), "argument --out: invalid path_name value: ''"),
    (("--out", "sarif.json"), "sarif.json holds something else than runs of this program"),
    (("--clip", "inf"), "argument --clip: invalid float (1e-12 to inf) value: 'inf'"),
    (("--save", "missing/net.npz"), "net.npz cannot be written: No such file or directory"),
    (("--data-dir", "nowhere"), "nowhere is not a folder"),
)
REFUSES = """
import contextlib, io, json, sys
import highway_networks as hn
for words in json.loads(sys.argv[1]):
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            status = hn.main(words)
        except SystemExit as end:
            status = end.code
    print(json.dumps([status, stdout.getvalue(), stderr.getvalue()]))
"""


def test_bad_input_is_one_line(alone, data_set):
    """And ends the command before the training."""
    theirs = '{"version": "2.1.0", "runs": [{"tool": {}}]}'
    (alone.folder / "sarif.json").write_text(theirs)
    (alone.folder / "folder.json").mkdir()
    common = [*map(str, SMALL), "--data-dir", str(data_set)]
    process = alone("-c", REFUSES, json.dumps([[*common, *words] for words, _ in BAD_INPUT]))
    assert (process.returncode, process.stderr) == (0, "")
    for line, (words, message) in zip(process.stdout.splitlines(), BAD_INPUT, strict=True):
        status, stdout, stderr = json.loads(line)
        assert message in one_line_error(subprocess.CompletedProcess(words, status, stdout, stderr)), words
        assert "epoch" not in stdout, words
    assert {path.name for path in alone.folder.glob("*.json")} == {"sarif.json", "folder.json"}
    assert (alone.folder / "sarif.json").read_text() == theirs


@pytest.mark.parametrize("init", [None, "raise AssertionError('this is not imported')"])
def test_another_folder_called_highways_is_not_taken_for_the_package(alone, data_set, init):
    (alone.folder / "highways").mkdir()
    (alone.folder / "highways" / "road.py").write_text("LANES = 2")
    if init:
        (alone.folder / "highways" / "__init__.py").write_text(init)
    process = alone("highway_networks.py", *SMALL, "--data-dir", data_set, "--out", "run.json")
    assert (process.returncode, process.stderr) == (0, "")
    if init:
        again = alone("highway_networks.py", *SMALL, "--data-dir", data_set, "--out", "run.json")
        assert (again.returncode, again.stderr) == (0, "")  # its own record may be replaced


def test_many_threads_of_blas_are_said_once(alone):
    code = "import os; del os.environ['OPENBLAS_NUM_THREADS']; import numpy, highway_networks as hn\n"
    process = alone("-c", f"{code}for _ in range(2): hn.DeepNet(4, 3, 5, 1, 'plain', 0).predict(numpy.zeros((1, 4)))")
    assert process.returncode == 0
    [line] = process.stderr.splitlines()
    assert "install threadpoolctl, or set OPENBLAS_NUM_THREADS=1 before Python starts" in line


def test_classifying_images_needs_the_package(alone):
    process = alone("highway_networks.py", "--classify", "net.npz", "digit.png")
    assert "--classify needs the folder highways, which is not beside this file" in one_line_error(process)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_training_that_cannot_print_is_saved(alone, data_set):
    out = alone.folder / "run.json"
    words = [*map(str, SMALL), "--data-dir", str(data_set), "--out", str(out)]
    code = "import sys, highway_networks as hn; sys.stdout = open('/dev/full', 'w'); sys.exit(hn.main(sys.argv[1:]))"
    process = alone("-c", code, *words)
    assert process.returncode == 3, process.stderr
    assert json.loads(out.read_text())["runs"]


def test_several_jobs_run_one_after_another_and_the_command_says_so(alone, data_set):
    process = alone("highway_networks.py", *SMALL, "--data-dir", data_set, "--jobs", 2, "--no-save")
    assert process.returncode == 0
    assert process.stderr == "nets train one after another, not 2 at a time: the package is not there\n"


DOWNLOADS = """
import json, sys
import highway_networks as hn
hn.MIRRORS = (sys.argv[1],)
hn.GZ_MD5 = json.loads(sys.argv[2])
data = hn.load_mnist()
print(data.name, data.source, hn.load_mnist().name)
"""


def test_mnist_is_downloaded_to_the_cache(alone, tmp_path, web):
    """A local server stands for the mirrors; its files are compressed otherwise, and so have other MD5s."""
    files, asked, address = web
    for path in hn.BUNDLED.glob("*.gz"):
        files[path.name] = path.read_bytes()
    md5 = {name: hashlib.md5(files[f"{name}.gz"]).hexdigest() for name in hn.GZ_MD5}
    process = alone("-c", DOWNLOADS, f"{address}/", json.dumps(md5))
    cache = tmp_path / "home" / ".cache" / "hinton-mnist"
    assert process.returncode == 0, process.stderr
    assert process.stdout == f"MNIST {cache} MNIST\n"
    assert process.stderr == f"downloading MNIST from {address}/ to {cache}\n"
    assert sorted(asked) == sorted(f"/{name}" for name in files)
    assert {path.name for path in cache.iterdir()} == {*files}


def test_straightforward_trains_beside_it(alone, data_set):
    train = "import straightforward; straightforward.train('highway', depth=3, epochs=2)"
    process = alone("-c", f"import os; os.environ['MNIST_DIR'] = {str(data_set)!r}; {train}")
    assert (process.returncode, process.stderr) == (0, "")
    assert "highway, depth 3, epoch 2: last batch's loss" in process.stdout
    assert alone("straightforward.py", "--help").stdout.startswith("usage: straightforward.py [-h]\n")


# ---- what commands do not import


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import highway_networks", ("highways", "tqdm", "threadpoolctl", "scipy", "matplotlib", "urllib.request")),
        (
            "from experiments.__main__ import list_questions; list_questions()",
            ("scipy", "matplotlib", "tqdm", "highways.lab.showing.style"),
        ),
        ("import experiments.__main__", ("highways.conv", "multiprocessing")),
        ("import highway_networks; highway_networks.parse_arguments([])", ("multiprocessing", "tqdm")),
        ("import conv_highway_networks as conv; conv.main(['--nets'])", ("multiprocessing", "tqdm")),
    ],
)
def test_what_is_not_needed_is_not_imported(code, absent):
    words = [sys.executable, "-c", f"{code}\nimport sys; print([n for n in {absent} if n in sys.modules])"]
    process = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout.splitlines()[-1] == "[]"
