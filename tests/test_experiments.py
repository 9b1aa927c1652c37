"""The experiments under their quick budgets: what they write, how they resume, and that a cluster changes nothing."""

import functools
import hashlib
import importlib
import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import types
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, one_line_error, write_data_set

import highway_networks as hn
import visualize_highway_networks as viz
from experiments import (
    adam_explodes,
    blocks,
    cifar,
    conv_training,
    data_movement,
    factor_model,
    fifty_layers,
    full_mnist,
    gate_bias,
    gates,
    jacobian,
    lesion,
    long_training,
    more_seeds,
    optimization,
    routing,
    search,
    sources,
    table1,
    thousand_layers,
    training,
    very_deep,
)  # fmt: skip
from experiments import trials as trials_module
from experiments.extra_blocks import Residual
from experiments.ledger import PUBLISHED
from experiments.sources import checksum_of_sources
from experiments.trials import Experiment
from plumbing import files
from plumbing.files import InputError
from report import registry
from report import table1 as pictures_of_table1
from training import convolutional, protocols

LAYERS = (10, 20, 50, 100)
OF_OTHERS = {name: ("fifty_layers",) for name in ("gates", "lesion", "routing", "data_movement")}  # whose nets they use
OF_OTHERS["more_seeds"] = ("optimization", "blocks")
SUMMARIES = {  # what each summary must hold
    "optimization": [f"final_loss_{block}_{n}" for block in ("highway", "plain") for n in LAYERS]
    + ["plain_over_highway_loss_at_100"],
    "long_training": [f"final_loss_{block}_{n}" for block, n in long_training.NETS],
    "very_deep": [f"loss_bias_minus_{-bias:g}" for bias in very_deep.BIASES],
    "thousand_layers": [
        "test_accuracy_best",
        "gate_bias_best",
        "test_accuracy_bias_minus_20",
        "skipped_accuracy_bias_minus_20",
        "test_accuracy_one_hidden_layer",
    ],
    "gate_bias": ["rule_accuracy"],
    "full_mnist": ["test_accuracy_highway_100_sgd", "test_accuracy_highway_100_adam", "test_accuracy_plain_20_blog"],
    "adam_explodes": ["exploded_as_it_was", "test_accuracy_beta2_0_99", "batches_above_guessing_clip_0_1"],
    "jacobian": [
        f"{name}_{block}_trained"
        for name in ("difference", "directions_that_pass")
        for block in jacobian.SEARCHED_WIDTH
    ],
    "blocks": [
        f"{name}_{block}_{n}" for name in ("test_accuracy", "final_loss") for block in blocks.WIDTH for n in (10, 20)
    ],
    "more_seeds": ["loss_optimization_highway_100", "test_accuracy_blocks_residual_20"],
    "fifty_layers": ["loss", "test_accuracy"],
    "gates": [
        "share_of_biases_decreased",
        "bias_activity_correlation",
        "sparsity_single",
        "sparsity_mean",
        "settled_layer",
    ],
    "lesion": ["idle_share"],
    "routing": ["class_accuracy_from_gates", "between_class_variance_share"],
    "data_movement": [
        *(f"highway_over_{block}_as_many_parameters" for block in ("plain", "residual")),
        *(f"{name}_{policy}_at_a_point" for policy in data_movement.POLICIES for name in ("saved", "lost")),
    ],
    "factor_model": ["auc_gate_both", "rank_correlation_gate_both", "auc_norm_both", "auc_gate_less_that_of_the_norm"],
    "table1": [],  # its quick nets are of another width; see below
    "cifar": [
        f"{name}_{net}"
        for name in ("test_accuracy", "epochs", "parameters")
        for net in ("highway_a", "plain_a", "nineteen_layers_cifar_100")
    ],
}
unix = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")


def command(name, folder, *words):
    return [sys.executable, "-m", f"experiments.{name}", "--quick", "--results", str(folder), *map(str, words)]


def experiment(name, folder, *words):
    """As a user runs it: two minutes are enough for --quick, whatever else the machine does."""
    pipes = {"capture_output": True, "text": True, "encoding": "utf-8"}
    return subprocess.run(command(name, folder, *words), cwd=ROOT, **pipes, timeout=120, check=False)


def experiment_here(name, folder, *words):
    """The same without processes, for what is not about them."""
    words = ["--quick", "--results", folder, "--jobs", 1, *words]
    importlib.import_module(f"experiments.{name}").main([str(word) for word in words])


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """finished(name, folder): fills the folder with a quick run of the experiment, which was done once for all tests;
    returns what it printed."""

    @functools.cache
    def run_once(name):
        folder = tmp_path_factory.mktemp(name)
        process = experiment(name, folder)
        assert process.returncode == 0, process.stderr
        return folder, process.stdout

    def fill(name, folder):
        shutil.copytree(run_once(name)[0], folder, dirs_exist_ok=True)
        return run_once(name)[1]

    return fill


def numbers_of(folder, name) -> str:
    """A results file as text without times and environment: what must be the same."""

    def is_time(key):
        return key in ("env", "wallclock_sec") or key.startswith("seconds")

    def clean(part):
        if isinstance(part, dict):
            return {key: clean(value) for key, value in part.items() if not is_time(key)}
        return [clean(value) for value in part] if isinstance(part, list) else part

    return json.dumps(clean(json.loads((folder / f"{name}.json").read_text())))


def draw(name, results) -> list[str]:
    """Draws the pictures of an experiment; their names."""
    pictures = [picture for picture, (sources, *_) in registry.PICTURES.items() if name in sources]
    for picture in pictures:
        assert viz.main(["--only", picture, "--results", str(results), "--out", str(results / "viz")]) == 0
    return pictures


@pytest.mark.parametrize("name", SUMMARIES)
def test_quick(tmp_path, finished, name):
    if name in OF_OTHERS:
        for other in OF_OTHERS[name]:
            finished(other, tmp_path)
        process = experiment(name, tmp_path)
        assert process.returncode == 0, process.stderr
        printed = process.stdout
    else:
        printed = finished(name, tmp_path)
    record = json.loads((tmp_path / f"{name}.json").read_text(), parse_constant=pytest.fail)
    assert list(record) == ["experiment", "source", "command", "settings", "env", "summary", "trials"]
    assert record["experiment"] == name
    assert record["command"] == f"python -m experiments.{name}"
    assert record["settings"]["budget"] == "quick"
    for key in SUMMARIES[name]:
        value = record["summary"][key]
        assert isinstance(value, (int, float)) or value.keys() == {"mean", "sd", "n"}
    for key, value in record["summary"].items():
        assert value is None or isinstance(value, (int, float, str, list)) or value.keys() == {"mean", "sd", "n"}, key
    if name == "optimization":  # the seeds of the final runs selected nothing
        selecting = record["trials"]["search"] + record["trials"]["finalists"]
        assert not {t["seed"] for t in record["trials"]["final"]} & {t["seed"] for t in selecting}
    if name == "cifar":  # the log tells images in another order apart
        of_sets = record["env"]["data_sets"]
        lines = (tmp_path / "cifar.jsonl").read_text().splitlines()
        assert len(of_sets) == 4
        assert {json.loads(line)["data"] for line in lines} == {of_sets[x] for x in of_sets if x.endswith(", as read")}
    assert "a smoke test, not evidence" in printed
    assert not re.search("reproduced|in part|not clear", printed)
    claims = getattr(importlib.import_module(f"experiments.{name}"), "CLAIMS", [])
    assert all(claim.says in printed for claim in claims if claim.values and not claim.over)
    assert ("not measured" in printed) == (name in ("cifar", "gates", "lesion", "table1"))
    pictures = draw(name, tmp_path)
    assert pictures or name in ("fifty_layers", "more_seeds")
    assert all((tmp_path / "viz" / f"{picture}.png").stat().st_size > 5_000 for picture in pictures)

    log, before = tmp_path / f"{name}.jsonl", numbers_of(tmp_path, name)
    kept = log.read_bytes()
    experiment_here(name, tmp_path)  # nothing is run twice
    assert log.read_bytes() == kept
    assert numbers_of(tmp_path, name) == before
    log.write_bytes(b"".join(kept.splitlines(keepends=True)[:-1]))
    experiment_here(name, tmp_path)  # and a trial run again, in this process, gives the same
    assert len(log.read_bytes().splitlines()) == len(kept.splitlines())
    assert numbers_of(tmp_path, name) == before


@unix
@pytest.mark.xdist_group("kills")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_experiment_goes_on_where_it_was(tmp_path, finished, how):
    log, name = tmp_path / "stopped" / "optimization.jsonl", "optimization"
    finished(name, tmp_path / "whole")
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command(name, log.parent), cwd=ROOT, **pipes) as process:
        while not log.exists() or log.read_bytes().count(b"\n") < 3:
            assert process.poll() is None
            time.sleep(0.01)
        (os.killpg if how == signal.SIGINT else os.kill)(process.pid, how)  # as a terminal does; without its workers
        stderr = process.communicate(timeout=60)[1]
    assert process.returncode == (130 if how == signal.SIGINT else -how)
    if how == signal.SIGINT:
        assert "interrupted: finished trials are kept: the same command goes on from there\n" in stderr
        assert "Traceback" not in stderr
    kept = log.read_bytes().splitlines()
    assert not (log.parent / "optimization.json").exists()
    with log.open("ab") as file:
        file.write(b'{"trial": {"block": "hi')  # as if killed in the middle of a line
    process = experiment(name, log.parent)
    assert process.returncode == 0, process.stderr
    assert f"of 16 trials were in {log}" in process.stdout
    lines = log.read_bytes().splitlines()
    assert lines[: len(kept)] == kept
    whole = (tmp_path / "whole" / "optimization.jsonl").read_bytes().splitlines()
    assert len(lines) == len({json.dumps(json.loads(line)["trial"]) for line in lines}) == len(whole)
    assert numbers_of(log.parent, name) == numbers_of(tmp_path / "whole", name)


@pytest.fixture
def made_up_cifar(monkeypatch):
    """Few random images in place of CIFAR-100's."""
    monkeypatch.setattr(training, "load_cifar", lambda name, data_dir: cifar.made_up("cifar-100")._replace(name=name))
    for each in (training.data_set, training.images):
        each.cache_clear()
    yield
    training.data_set.cache_clear()


def test_harder_data_sets_beside_mnist(tmp_path, finished, made_up_cifar):
    """CIFAR-100, and another set in MNIST's layout, as Fashion-MNIST is, of other sizes: by --data-dir."""
    harder = write_data_set(tmp_path / "harder", n_train=700, side=9, classes=4)
    few, results = write_data_set(tmp_path / "few", 127), tmp_path / "results"
    for folder, message in (
        (few, "must hold 128 images"), (ROOT / "data" / "mnist", "another data set than MNIST, in"),
        (tmp_path / "absent", "is not a folder"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            experiment_here("fifty_layers", results, "--data-dir", folder)
    finished("fifty_layers", results)
    words = ("--data-dir", "CIFAR-100", harder)
    finished("fifty_layers", results)
    experiment_here("lesion", results, *words)  # trains the nets that are missing
    for name in ("fifty_layers", "gates", "lesion"):
        experiment_here(name, results, *words)
        record = json.loads((results / f"{name}.json").read_text())
        assert record["command"] == f"python -m experiments.{name} --data-dir CIFAR-100 {harder}"
        for suffix in ("_cifar_100", "_harder"):
            own = {key: value for key, value in record["summary"].items() if key.endswith(suffix)}
            assert len(own) >= 4
            assert list(own.values()) != [record["summary"][key.removesuffix(suffix)] for key in own]
        final = record["trials"]["final"] if name == "fifty_layers" else record["trials"]
        sets = ("MNIST", None, 1280, 300, -2, 2), ("CIFAR-100", "CIFAR-100", 1280, 100, -4, 8)
        sets += (("harder", str(harder), 700, 80, -2, 2),)
        keys = "data", "data_dir", "n_train", "n_test", "gate_bias", "epochs", "seed"
        assert [tuple(t[key] for key in keys) for t in final] == [(*each, seed) for each in sets for seed in (1, 2)]
        assert draw(name, results) or name == "fifty_layers"
    assert sorted(path.name for path in results.glob("*.npz")) == [
        f"fifty_layers_{name}_{seed}.npz" for name in ("cifar-100", "harder", "mnist") for seed in (1, 2)
    ]
    for name, pixels in (("cifar-100", "[-1, 1]"), ("harder", "[0, 1]")):
        assert hn.DeepNet.load(results / f"fifty_layers_{name}_1.npz").about["pixels"] == pixels
    of_cifar, of_harder = (training.images(1280, 80, data_dir)[0] for data_dir in ("CIFAR-100", str(harder)))
    assert (of_cifar.min(), of_cifar.max(), of_harder.min()) == pytest.approx((-1, 1, 0))


def test_cifar_100_must_be_the_official_one(monkeypatch, made_up_cifar):
    monkeypatch.setenv("CIFAR_DIR", "somewhere")
    altered = cifar.made_up("cifar-100")._replace(name="CIFAR-100, altered", source="somewhere")
    monkeypatch.setattr(training, "load_cifar", lambda name, data_dir: {"somewhere": altered}[data_dir])
    with pytest.raises(InputError, match=r"^\$CIFAR_DIR names somewhere, .* not CIFAR-100 but CIFAR-100, alt"):
        training.data_set("CIFAR-100")


def test_nets_that_are_missing_are_trained_first(tmp_path, capsys):
    experiment_here("lesion", tmp_path)
    assert f"first python -m experiments.fifty_layers --quick --results {tmp_path}" in capsys.readouterr().out
    assert (tmp_path / "fifty_layers.json").exists()
    assert (tmp_path / "lesion.json").exists()
    assert hn.DeepNet.load(tmp_path / "fifty_layers_mnist_1.npz").about["pixels"] == "[0, 1]"


def test_an_experiment_about_mnist_refuses_another_set(tmp_path, monkeypatch):
    """It would train on it, and the log would serve its numbers to later runs as MNIST's."""
    other = write_data_set(tmp_path / "MNIST", n_train=1280, n_test=300, side=28, classes=10)
    monkeypatch.setenv("MNIST_DIR", str(other))
    for name in ("gate_bias", "fifty_layers", "full_mnist", "table1"):
        message = one_line_error(experiment(name, tmp_path / "results"))
        assert "$MNIST_DIR names" in message
        assert "which is not MNIST but folder MNIST" in message
    assert not [*(tmp_path / "results").glob("*.json")]
    monkeypatch.setenv("MNIST_DIR", str(ROOT / "data" / "mnist"))
    training.data_set.cache_clear()
    assert training.data_set().name == "MNIST"


def trials_of(folder) -> list[dict]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_a_trial_is_known_by_its_settings_its_data_and_its_code(tmp_path, monkeypatch):
    def run(data, code):
        monkeypatch.setattr(trials_module, "checksum_of_sources", lambda function, *parts: code)
        e = Experiment("log", "A test.", {"default": {}}, ["--results", str(tmp_path), "--jobs", "1"])
        rows = e.run(lambda t: {"is": t["a"]}, [{"a": 1}, {"a": 2}], lambda t: SimpleNamespace(name="set", sha256=data))
        assert [row["is"] for row in rows] == [1, 2]
        assert e.data_sets == {"set": data}
        return len(trials_of(tmp_path))

    assert run("0", "x") == 2
    assert run("0", "x") == 2
    assert run("1", "x") == 4
    assert run("1", "y") == 6
    assert run("0", "x") == 6
    first = trials_of(tmp_path)[0]
    assert {name: first[name] for name in ("trial", "data", "code")} == {"trial": {"a": 1}, "data": "0", "code": "x"}


def parameters_of(t):
    return {"scale": hn.block_of(t["block"]).scale}


def test_a_block_in_a_trial_is_known_by_its_settings(tmp_path):
    def run(*scales):
        e = Experiment("log", "A test.", {"default": {}}, ["--results", str(tmp_path), "--jobs", "1"])
        return e.run(parameters_of, [{"block": Residual(scale), "seed": 0} for scale in scales])

    rows = run(0.1, 0.02)
    assert [row["scale"] for row in rows] == [0.1, 0.02]
    assert [row["block"] for row in rows] == ["residual"] * 2
    assert [row["block_settings"] for row in rows] == [{"scale": 0.1}, {"scale": 0.02}]
    assert [row["scale"] for row in run(0.02, 0.5)] == [0.02, 0.5]
    assert len(trials_of(tmp_path)) == 3


def test_a_block_that_is_bound_to_the_function_of_a_trial_is_refused(tmp_path):
    e = Experiment("log", "A test.", {"default": {}}, ["--results", str(tmp_path), "--jobs", "1"])
    for bound in (functools.partial(parameters_of, Residual(0.1)), functools.partial(parameters_of, t=Residual(0.1))):
        with pytest.raises(ValueError, match=r"Residual\(scale=0\.1\) belongs in the trial"):
            e.run(bound, [{"seed": 0}])


def test_the_net_of_a_trial_has_the_settings_of_its_block():
    t = {
        "activation": "tanh",
        "seed": 0,
        "width": 8,
        "layers": 3,
        "block": "residual",
        "block_settings": {"scale": 0.3},
    }
    assert training.make(t).block.scale == 0.3
    assert training.make(t | {"block": Residual(0.7)}).block.scale == 0.7
    assert type(training.make(t | {"activation": hn.Relu()}).activation) is hn.Relu


def test_an_activation_in_a_trial_is_known_by_its_name(tmp_path):
    e = Experiment("log", "A test.", {"default": {}}, ["--results", str(tmp_path), "--jobs", "1"])
    rows = e.run(lambda t: {"is": repr(t["activation"])}, [{"activation": hn.Tanh()}, {"activation": hn.Relu()}])
    assert [(row["activation"], row["is"]) for row in rows] == [("tanh", "Tanh()"), ("relu", "Relu()")]


def test_trials_that_are_all_finished_need_no_process(tmp_path):
    for _ in range(2):
        e = Experiment("log", "A test.", {"default": {}}, ["--results", str(tmp_path), "--jobs", "2"])
        assert e.run(parameters_of, [{"block": "residual"}])[0]["scale"] is None
        e.lock.release()


def test_a_worker_with_other_code_or_data_is_refused():
    """As of a cluster, where each machine has a clone and data of its own."""
    t = setting(epochs=1)
    key = {"trial": t, "data": training.data_of(t).sha256, "code": checksum_of_sources(training.trial, t["block"])}
    assert trials_module._call(training.trial, training.data_of, t, json.dumps(key))[1]["diverged"] is None
    for wrong in ({"code": "0"}, {"data": "0"}):
        with pytest.raises(InputError, match="has other code or data than this program"):
            trials_module._call(training.trial, training.data_of, t, json.dumps(key | wrong))


SOURCES = {
    "my_trials.py": """\
import json
import my_base
import my_room.layers
from my_room import more
import installed_by_pip
import my_project.drawing.pictures

def trial(t):
    from my_late import late
    return {"is": t["a"] * my_base.FACTOR}
""",
    "my_base.py": "FACTOR = 1\n",
    "my_room/__init__.py": "FIRST = 1\n",
    "my_room/layers.py": "from . import beside\nfrom .beside import *\nx = (1 +\n   2)  # words\n",
    "my_room/beside.py": "HERE = 1\n",
    "my_room/more.py": "MORE = 1\n",
    "my_room/alone.py": "ALONE = 1\n",
    "my_late.py": "def late(): return 1\n",
    "site-packages/installed_by_pip.py": "VERSION = 1\n",
    "my_project/drawing/pictures.py": "COLOUR = 1\n",
}


@pytest.fixture
def my_trials(tmp_path, monkeypatch):
    """my_trials(path, old, new): imports it anew, from outside the clone, with one file edited."""
    folder = tmp_path / "mine"
    for at in (folder / "site-packages", folder):
        monkeypatch.syspath_prepend(str(at))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(path="my_base.py", old="", new=""):
        assert old in SOURCES[path]
        for name, text in SOURCES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text.replace(old, new) if name == path else text)
        forget()
        return importlib.import_module("my_trials")

    def forget():
        importlib.invalidate_caches()
        for name in [name for name in sys.modules if name.startswith("my_") or name == "installed_by_pip"]:
            del sys.modules[name]

    yield load
    forget()


def test_the_text_of_all_modules_that_a_trial_imports_is_its_code(my_trials, tmp_path, monkeypatch):
    """Wherever they lie, comments included; but not that of installed packages, the standard library, and of folders of
    the project that compute nothing."""
    monkeypatch.setattr(sources, "ROOT", tmp_path / "mine" / "my_project")
    monkeypatch.setattr(sources, "LEFT_OUT", ("drawing",))
    monkeypatch.setattr(sources, "BLOCKS", {})

    def key(*edit):
        return checksum_of_sources(my_trials(*edit).trial)

    before = key()
    counted = {
        name: text
        for name, text in SOURCES.items()
        if name not in ("my_room/alone.py", "site-packages/installed_by_pip.py", "my_project/drawing/pictures.py")
    }
    digests = sorted(hashlib.sha256(text.encode()).digest() for text in counted.values())
    assert before == hashlib.sha256(b"".join(digests)).hexdigest()[:16]  # by any Python
    for path, old, new in (
        ("my_trials.py", "* my_base", "+ my_base"),
        ("my_base.py", "FACTOR = 1", "FACTOR = 100"),
        ("my_room/__init__.py", "FIRST = 1", "FIRST = 2"),
        ("my_room/layers.py", "1 +", "1 -"),
        ("my_room/layers.py", "words", "others"),
        ("my_room/beside.py", "HERE = 1", "HERE = 2"),
        ("my_room/more.py", "MORE = 1", "MORE = 2"),
        ("my_late.py", "return 1", "return 2"),
    ):
        assert key(path, old, new) != before, path
    for path in SOURCES.keys() - counted.keys():
        assert key(path, " = 1", " = 2") == before, path
    monkeypatch.setattr(sources, "LEFT_OUT", ())
    assert key() != before


def test_a_function_that_is_bound_is_of_the_code_of_a_trial(my_trials):
    mine = my_trials()
    bound = functools.partial(training.trial, other=mine.trial)
    assert checksum_of_sources(bound) != checksum_of_sources(training.trial)
    assert checksum_of_sources(functools.partial(mine.trial)) == checksum_of_sources(mine.trial)


def test_a_block_of_another_module_is_of_the_code_of_every_trial(my_trials, monkeypatch):
    """A trial names its block; where that is defined, the module of the trial need not import."""

    def key(*edit):
        mine = my_trials(*edit)
        block = type("Mine", (), {"__module__": mine.__name__})
        monkeypatch.setitem(hn.BLOCKS, "mine", block)
        assert checksum_of_sources(training.trial, "highway") == checksum_of_sources(training.trial)
        return checksum_of_sources(training.trial, "mine")

    before = key()
    assert key() == before
    assert key("my_base.py", "FACTOR = 1", "FACTOR = 100") != before


def test_the_code_is_that_which_was_loaded(my_trials, tmp_path):
    """Text that was edited in the meantime does not run here, unless its module is loaded anew."""
    mine = my_trials()
    before = checksum_of_sources(mine.trial)
    (tmp_path / "mine" / "my_base.py").write_text("FACTOR = 100\n")
    assert checksum_of_sources(mine.trial) == before
    importlib.reload(mine.my_base)
    assert checksum_of_sources(mine.trial) != before


def test_an_edit_while_data_are_read_is_not_the_code_that_runs(my_trials, tmp_path):
    """The text counts that was there when the experiment began: the edited one is not served its results."""
    words = ["--results", str(tmp_path), "--jobs", "1"]
    mine = my_trials()
    e = Experiment("log", "A test.", {"default": {}}, words)
    edited = SOURCES["my_base.py"].replace("= 1", "= 100")
    (tmp_path / "mine" / "my_base.py").write_text(edited)
    assert e.run(mine.trial, [{"a": 1}])[0]["is"] == 1
    e.lock.release()
    mine = my_trials("my_base.py", "= 1", "= 100")
    e = Experiment("log", "A test.", {"default": {}}, words)
    assert e.run(mine.trial, [{"a": 1}])[0]["is"] == 100


def run_two(tmp_path, trial) -> list[dict]:
    e = Experiment("log", "A test.", {"default": {}}, ["--results", str(tmp_path), "--jobs", "1"])
    return e.run(trial, [{"a": 1}, {"a": 2}])


def test_a_changed_module_outside_the_clone_runs_its_trials_anew(my_trials, tmp_path, capsys):
    for edit, expected in (((), [1, 2]), ((), [1, 2]), (("my_base.py", "= 1", "= 100"), [100, 200])):
        assert [row["is"] for row in run_two(tmp_path, my_trials(*edit).trial)] == expected
    assert len(trials_of(tmp_path)) == 4
    assert capsys.readouterr().out.count("2 of 2 trials were in") == 1


@pytest.mark.parametrize("where", ["a shell", "a zip", "a module without a file"])
def test_a_trial_whose_source_cannot_be_read_is_never_served(my_trials, tmp_path, monkeypatch, capsys, where):
    text = "def trial(t):\n    return {'is': t['a']}\n"
    if where == "a shell":
        names = {"__name__": "__main__"}
        exec(compile(text, "<stdin>", "exec"), names)
        trial = names["trial"]
    elif where == "a zip":
        with zipfile.ZipFile(tmp_path / "my.zip", "w") as file:
            file.writestr("my_zipped.py", text)
        monkeypatch.syspath_prepend(str(tmp_path / "my.zip"))
        trial = importlib.import_module("my_zipped").trial
    else:
        trial = my_trials().trial
        sys.modules["my_base"] = types.ModuleType("my_base")
    for n in (2, 4):
        assert [row["is"] for row in run_two(tmp_path, trial)] == [1, 2]
        assert [line["code"] for line in trials_of(tmp_path)] == [None] * n
        printed = capsys.readouterr()
        assert "trials were in" not in printed.out
        [line] = printed.err.splitlines()
        assert "cannot be read" in line
        assert line.endswith(f"none of its trials is taken from {tmp_path / 'log.jsonl'}")


def test_a_module_that_is_no_python_cannot_be_read(my_trials):
    with pytest.raises(InputError, match=r"my_late cannot be read: .*my_late\.py is no Python"):
        checksum_of_sources(my_trials("my_late.py", "return 1", "return (").trial)


@pytest.mark.parametrize(
    "bad",
    [
        b"[1, 2]", b"{}", b'{"trial": {', b"\xff\xfe", b"[" * 100_000, b"",
        lambda line: line.replace(b'"result": {', b'"result": [') .replace(b'}, "git"', b'], "git"'),
        lambda line: line.replace(b'"is": 2', b'"is": NaN'),
        lambda line: line.replace(b'"git": ', b'"git": [], "other": '),
        lambda line: json.dumps(json.loads(line) | {"git": ["a"]}).encode(),
        lambda line: json.dumps(json.loads(line) | {"result": [2]}).encode(),
        lambda line: json.dumps(json.loads(line) | {"result": {}}).encode(),
        lambda line: line.replace(b'"is": 2', b'"is": "two"'),
        lambda line: line.replace(b'"is": 2', b'"is": 3'),
        lambda line: line.replace(b'"a": 2', b'"a": 3'),
    ],
)  # fmt: skip
def test_a_bad_line_of_a_log_costs_its_trial_alone(my_trials, tmp_path, capsys, bad):
    trial, log = my_trials().trial, tmp_path / "log.jsonl"
    rows = run_two(tmp_path, trial)
    first, second = log.read_bytes().splitlines()
    second = bad(second) if callable(bad) else bad
    log.write_bytes(second + b"\n" + first + b"\n")
    capsys.readouterr()
    again = run_two(tmp_path, trial)
    assert [row["is"] for row in again] == [row["is"] for row in rows] == [1, 2]
    printed = capsys.readouterr()
    assert "1 of 2 trials were in" in printed.out
    [line] = printed.err.splitlines()
    assert line.startswith(f"{log}: line 1 (")
    assert line.endswith("cannot be read as a trial: what was there is run again")
    assert log.read_bytes().splitlines()[:2] == [second, first]


@pytest.mark.parametrize("left", ["a whole trial", "a part", "another text"])
def test_the_last_line_of_a_log_may_lack_its_end(my_trials, tmp_path, capsys, left):
    """A whole trial is kept; anything else is cut off."""
    trial, log = my_trials().trial, tmp_path / "log.jsonl"
    run_two(tmp_path, trial)
    whole = log.read_bytes()
    first, second = whole.splitlines(keepends=True)
    ends = {"a whole trial": second[:-1], "a part": second[:-2], "another text": b"{}"}
    log.write_bytes(first + ends[left])
    capsys.readouterr()
    assert [row["is"] for row in run_two(tmp_path, trial)] == [1, 2]
    printed = capsys.readouterr()
    n_kept = 2 if left == "a whole trial" else 1
    assert f"{n_kept} of 2 trials were in" in printed.out
    assert printed.err == ""
    assert len(trials_of(tmp_path)) == 2
    assert log.read_bytes().startswith(whole if n_kept == 2 else first)


def returns_its_setting(t):
    return {"first": 1, "a": "replaced", "last": 2}


def test_a_result_replaces_no_setting(tmp_path):
    for _ in range(2):  # as it was run, and as the log has it
        e = Experiment("log", "A test.", {"default": {}}, ["--results", str(tmp_path), "--jobs", "1"])
        [row] = e.run(returns_its_setting, [{"a": 1, "b": 2}])
        e.lock.release()
        assert (row["a"], row["b"]) == (1, 2)
        assert list(row) == ["a", "b", "first", "last", "seconds"]


def test_a_changed_program_measures_again(tmp_path):
    """In a copy of the project: its log is served as long as the text of what a trial imports is the same."""
    project = tmp_path / "project"
    shutil.copytree(ROOT, project, ignore=shutil.ignore_patterns(".*", "results", "tests", "viz", "docs"))

    def edit(name, old, new):
        text = (project / name).read_text(encoding="utf-8")
        assert old in text
        (project / name).write_text(text.replace(old, new), encoding="utf-8")

    def run():
        words = [sys.executable, "-m", "experiments.gate_bias", "--quick", "--jobs", "2"]
        process = subprocess.run(words, cwd=project, capture_output=True, text=True, timeout=120, check=True)
        return "60 of 60 trials were in" in process.stdout

    assert not run()
    edit("plumbing/files.py", "def json_bytes", "A_NEW_NAME = 1\n\n\ndef json_bytes")
    edit("experiments/blocks.py", "CLAIMS = [", "CLAIMS = [  # of which gate_bias knows nothing")
    assert run()
    edit("highway_networks.py", "# cheaper to pass than", "# as")
    assert not run()


def test_nets_that_cannot_be_used_are_refused_in_one_line(tmp_path, finished):
    path = tmp_path / "fifty_layers.json"
    finished("fifty_layers", tmp_path)
    record = json.loads(path.read_text())
    again = re.escape(f"it comes from python -m experiments.fifty_layers --quick --results {tmp_path}")
    wrong_texts = ["[" * 100_000, "{", "[]", '{"trials": {"final": [1]}}', '{"trials": {"final": [{"data": "MNIST"}]}}']
    for key, value in (("layers", "8"), ("block", "plain"), ("seed", []), ("diverged", "epoch 1"), ("n_train", 0)):
        wrong = json.loads(json.dumps(record))
        wrong["trials"]["final"][1][key] = value
        wrong_texts.append(json.dumps(wrong))
    for text in wrong_texts:
        path.write_text(text)
        with pytest.raises(InputError, match=again):
            experiment_here("lesion", tmp_path)
    assert re.search(again, one_line_error(experiment("lesion", tmp_path)))


@pytest.mark.parametrize("name", ["gates", "lesion", "routing", "data_movement"])
def test_nets_of_another_budget_are_refused(tmp_path, finished, name):
    """Whatever their file is called: results of the default budget are about nets of 50 layers."""
    finished("fifty_layers", tmp_path)
    main = importlib.import_module(f"experiments.{name}").main
    with pytest.raises(InputError, match="its nets are not those of the budget default"):
        main(["--results", str(tmp_path), "--jobs", "1"])
    assert not (tmp_path / f"{name}.json").exists()


def test_nets_of_other_settings_are_refused(tmp_path, finished):
    """Such as an earlier program had under a budget of the same name."""
    finished("fifty_layers", tmp_path)
    path = tmp_path / "fifty_layers.json"
    record = json.loads(path.read_text())
    record["settings"]["layers"] = 9
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match="its nets are not those of the budget quick"):
        experiment_here("gates", tmp_path)


@pytest.mark.parametrize("names", [("a b", "a-b"), ("a_b", "A.B")])
def test_data_sets_whose_results_would_have_one_name_are_refused(tmp_path, names):
    folders = [write_data_set(tmp_path / name) for name in names]
    message = "must hold another data set than MNIST, .* differs in a letter or a digit"
    with pytest.raises(InputError, match=message):
        experiment_here("fifty_layers", tmp_path / "results", "--data-dir", *folders)


def test_what_an_experiment_refuses(tmp_path, capsys):
    (tmp_path / "file").write_text("kept")
    for words, message in (
        (("--jobs", "0"), "'0' is not a whole number of at least 1"),
        (("--full",), "not allowed with argument --quick"),
        (("--results", ""), "'' is not the name of a file or folder"),
    ):
        with pytest.raises(SystemExit, match="2"):
            experiment_here("gate_bias", tmp_path / "out", *words)
        assert message in capsys.readouterr().err
    with pytest.raises(InputError, match=r"gate_bias\.json cannot be written"):
        experiment_here("gate_bias", tmp_path / "file")
    for words, message in (
        (("--scheduler", "127.0.0.1:9"), "--scheduler"),
        (("--scheduler", "nonsense://"), "--scheduler"),
    ):
        assert message in one_line_error(experiment("gate_bias", tmp_path / "out", *words))
    assert (tmp_path / "file").read_text() == "kept"


# ---- a cluster


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler with two worker processes here, as the README starts them."""
    pytest.importorskip("distributed")
    file, processes = tmp_path / "scheduler.json", []
    words = {"cwd": ROOT, "env": os.environ | {"PYTHONPATH": "."}, "start_new_session": True}
    words |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for extra in (
        ("scheduler", "--port", "0", "--host", "127.0.0.1", "--dashboard-address", ":0", "--scheduler-file", str(file)),
        ("worker", "--scheduler-file", str(file), "--nthreads", "1", "--nworkers", "2", "--no-dashboard"),
    ):
        processes.append(subprocess.Popen([sys.executable, "-m", "dask", *extra], **words))
        for _ in range(300):
            if file.exists():
                break
            time.sleep(0.1)
    yield json.loads(file.read_text())["address"]
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)


@unix
def test_a_cluster_changes_nothing(tmp_path, cluster, finished):
    for name in ("optimization", "full_mnist"):
        finished(name, tmp_path / "here")
        process = experiment(name, tmp_path / "there", "--scheduler", cluster)
        assert process.returncode == 0, process.stderr
        assert numbers_of(tmp_path / "there", name) == numbers_of(tmp_path / "here", name)


@unix
@pytest.mark.xdist_group("kills")
def test_a_worker_of_the_cluster_that_dies_costs_time_only(tmp_path, cluster, finished):
    name, log = "optimization", tmp_path / "there" / "optimization.jsonl"
    finished(name, tmp_path / "here")
    with importlib.import_module("distributed").Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        pids = list(client.run(os.getpid).values())
    assert len(pids) == 2
    with subprocess.Popen(
        command(name, log.parent, "--scheduler", cluster), cwd=ROOT, stdout=subprocess.DEVNULL
    ) as process:
        while not log.exists() or log.read_bytes().count(b"\n") < 2:
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(pids[0], signal.SIGKILL)
        assert process.wait(timeout=120) == 0
    assert numbers_of(log.parent, name) == numbers_of(tmp_path / "here", name)


# ---- the parts


def setting(**own):
    t = {
        "block": "highway",
        "layers": 4,
        "activation": "tanh",
        "rate": 2.0,
        "momentum": 0.9,
        "decay": 0.9,
        "gate_bias": -2.0,
    }
    return t | {"clip": 1.0, "seed": 0, "epochs": 2, "n_train": 1280, "n_test": 300} | own


def test_layers_have_as_many_parameters():
    sizes = {block: training.make(setting(block=block, layers=3))._blocks[0].size for block in training.WIDTH}
    assert sizes == {"highway": 5100, "plain": 5112}


@pytest.mark.parametrize("block", hn.BLOCKS)
@pytest.mark.parametrize("activation", hn.ACTIVATIONS)
def test_training_lowers_the_loss_and_measures_it(block, activation):
    t = setting(block=block, activation=activation, rate=0.5, width=50)
    net, result = training.train(t)
    assert result["losses"][1] < result["losses"][0] < 2.4
    x, y, x_test, y_test = training.images(t["n_train"], t["n_test"])
    assert x.min() == 0
    assert x.max() == 1
    logits = net.predict(x).astype(float)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert result["loss"] == pytest.approx(-np.log(p[np.arange(len(y)), y]).mean(), rel=1e-5)
    assert result["test_accuracy"] == (net.predict(x_test).argmax(axis=1) == y_test).mean()
    assert training.train(t)[1] == result


def test_a_trial_that_diverges_is_kept_and_comes_last():
    _, result = training.train(setting(block="plain", rate=1e30, clip=math.inf, activation="relu"))
    assert "loss" in result["diverged"]
    assert result["test_accuracy"] is None
    assert training.selection_loss(result) == math.inf > training.selection_loss({"losses": [1e9], "diverged": None})


def test_what_diverged_has_no_numbers_even_if_its_logits_are_finite():
    t = setting()
    assert set(training.measure(training.make(t), t, "epoch 1, step 2: loss nan").values()) == {None}


def test_the_images_are_read_before_the_processes_are_forked():
    training.images.cache_clear()
    e = SimpleNamespace(run=lambda function, trials, data_of: training.images.cache_info().currsize)
    assert training.run(e, [setting(), setting(seed=1), setting(n_test=200)]) == 2


def test_the_rate_decays_by_its_factor_in_an_epoch():
    t = setting(rate=2.0, momentum=0.9, decay=0.5)
    net = training.make(t)
    optimizer = training.sgd(net, t, steps=10)
    assert optimizer.lr == pytest.approx(0.2)
    for _ in range(10):
        optimizer.step(net.gradient)
    assert optimizer.lr == pytest.approx(0.1)
    assert (optimizer.momentum, optimizer.clip) == (0.9, 1.0)


def test_the_blogs_descent_is_on_the_summed_loss(monkeypatch):
    made, original = [], training.SGD
    monkeypatch.setattr(training, "SGD", lambda *words, **more: made.append(original(*words, **more)) or made[-1])
    full_mnist.blog(setting(layers=20, activation="relu", steps=3))
    assert [(o.lr, o.momentum, o.clip) for o in made] == [(0.01 * 50, 0.0, math.inf)]


def test_skipped_blocks_are_gates_shut():
    net, _ = training.train(setting())
    shut = training.skipped(net)
    net.b_T[:] = -1e4
    x = training.images(1280, 300)[2]
    np.testing.assert_array_equal(shut.predict(x), net.predict(x))


def test_epochs_to_a_loss():
    assert training.epochs_to(0.1, [1, 0.3, 0.1, 0.05]) == 3
    assert training.epochs_to(0.1, [1, 0.3]) is None


def test_the_search_is_random_repeatable_and_in_its_range():
    e = SimpleNamespace(budget="default", settings=optimization.BUDGETS["default"] | {"trials": 200})
    drawn = search.drawn(optimization.sample, ("highway", 50), e)
    assert drawn == search.drawn(optimization.sample, ("highway", 50), e)
    assert len({t["rate"] for t in drawn}) > 190
    for t in drawn:
        low, high = optimization.RATES["highway", 50][t["activation"]]
        assert low <= t["rate"] <= high
        assert -5 <= t["gate_bias"] <= -3.5
    assert {t["activation"] for t in drawn} == {"tanh", "relu"}
    assert "gate_bias" not in optimization.sample(("plain", 50), 0, e)


@pytest.mark.parametrize("module", [optimization, blocks, fifty_layers, long_training, very_deep])
def test_a_search_asks_for_the_trials_of_the_committed_results_and_no_others(monkeypatch, tmp_path, module):
    """By their settings, to the order of the keys, which are what a trial is known by in the log."""
    name = module.__name__.removeprefix("experiments.")
    record = json.loads((ROOT / "results" / f"{name}.json").read_text())
    committed, saved = {}, []

    def settings_of(t):
        return json.dumps(dict(itertools.takewhile(lambda item: item[0] != "losses", t.items())))

    for t in itertools.chain(*record["trials"].values()):
        committed[settings_of(t)] = t

    def run(self, function, trials, data_of):
        return [committed[json.dumps(t)] for t in trials]

    def save(self, source, summary, trials):
        saved.append(trials)
        return record

    monkeypatch.setattr(Experiment, "run", run)
    monkeypatch.setattr(Experiment, "save", save)
    monkeypatch.setattr(training, "images_of", lambda t: None)
    keys = "data", "data_dir", "n_train", "n_test"
    sets = {t["data"]: tuple(t[key] for key in keys) for t in record["trials"]["final"] if "data" in t}
    monkeypatch.setattr(fifty_layers, "data_sets", lambda e: sets)
    module.main(["--results", str(tmp_path)])
    assert saved == [record["trials"]]
    assert len(committed) == sum(map(len, record["trials"].values()))


def test_fates_and_the_rule():
    trained = {"losses": [0.2], "diverged": None, "test_accuracy": 0.96, "skipped_accuracy": 0.5}
    assert gate_bias.fate(trained) == "trained"
    assert gate_bias.fate(trained | {"skipped_accuracy": 0.958}) == "soft"
    assert gate_bias.fate(trained | {"losses": [2.2]}) == "hard"
    assert gate_bias.fate(trained | {"diverged": "epoch 1", "test_accuracy": None}) == "hard"
    assert gate_bias.transforms({"layers": 100, "gate_bias": 0.0}) == 50


def test_the_blogs_weights_are_truncated():
    values = full_mnist.truncated_normal(np.random.default_rng(0), (300, 200))
    assert np.abs(values).max() <= 0.2
    assert values.std() == pytest.approx(0.088, abs=0.001)


def test_a_thousand_layers_that_are_shut_change_nothing():
    result = thousand_layers.trial(setting(layers=30, gate_bias=-20.0))
    assert result["skipped_accuracy"] == result["test_accuracy"]
    assert result["sum_of_mean_T"] < 1e-6
    assert result["share_of_weights_changed"] < 0.1
    result = thousand_layers.trial(setting(layers=5, gate_bias=-1.0))
    assert result["share_of_weights_changed"] > 0.9
    assert result["sum_of_mean_T"] > 0.5


def test_what_the_blocks_are_good_for_is_asked_of_both_kinds():
    shut = very_deep.trial(setting(layers=5, gate_bias=-20.0))
    assert shut["skipped_accuracy"] == shut["test_accuracy"]
    residual = very_deep.trial(setting(block="residual", width=11, layers=5, scale=1.0))
    assert residual["skipped_accuracy"] != residual["test_accuracy"]
    assert shut["sum_of_mean_T"] < 1e-6
    assert "sum_of_mean_T" not in residual


@pytest.mark.parametrize("layers", [500, 1000])
def test_very_deep_nets_start_with_as_many_layers_worth_of_transforming(layers):
    trials = [very_deep.sample(("highway", layers), k, None) for k in range(200)]
    low, high = (gate_bias.transforms({"layers": 200, "gate_bias": bias}) for bias in blocks.GATE_BIASES[200])
    at_start = [gate_bias.transforms(t) for t in trials]
    assert (min(at_start), max(at_start)) == pytest.approx((low, high), rel=0.05)


# ---- the committed results


def committed(name) -> dict:
    return json.loads((ROOT / "results" / f"{name}.json").read_text(), parse_constant=pytest.fail)


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_committed_results_hold_what_they_must(name):
    record = committed(name)
    assert record["settings"]["budget"] == "default"
    harder = name in ("fifty_layers", "gates", "lesion")
    words = " --data-dir CIFAR-100 /usr/share/datasets/fashion-mnist" if harder else ""
    assert record["command"] == f"python -m experiments.{name}{words}"
    assert set(SUMMARIES[name]) <= record["summary"].keys()
    assert (ROOT / "results" / f"{name}.json").stat().st_size < 1_100_000
    assert "dirty" not in record["env"]["git"]
    assert not any("dirty" in commit for commit in record["env"]["git_of_trials"])
    summary, kept = record["summary"], record["trials"]
    again = {
        "optimization": lambda: optimization.summarise(kept, record["settings"]),
        "long_training": lambda: long_training.summarise(kept),
        "very_deep": lambda: very_deep.summarise(kept, record["settings"]),
        "thousand_layers": lambda: thousand_layers.summarise(kept),
        "gate_bias": lambda: gate_bias.summarise(kept),
        "full_mnist": lambda: full_mnist.summarise(kept),
        "adam_explodes": lambda: adam_explodes.summarise(kept),
        "jacobian": lambda: jacobian.summarise(kept),
        "blocks": lambda: blocks.summarise(kept, record["settings"]),
        "fifty_layers": lambda: fifty_layers.summarise(kept),
        "gates": lambda: gates.summarise(kept),
        "lesion": lambda: lesion.summarise(kept),
        "routing": lambda: routing.summarise(kept),
        "table1": lambda: table1.summarise(kept),
        "cifar": lambda: cifar.summarise(kept),
        "data_movement": lambda: data_movement.summarise(kept, record["settings"]),
        "factor_model": lambda: factor_model.summarise(kept),
        "more_seeds": lambda: more_seeds.summarise({each: committed(each) for each in OF_OTHERS["more_seeds"]}, kept),
    }
    assert json.loads(json.dumps(again[name]())) == summary  # nobody edited a number
    if name == "optimization":
        assert summary["plain_over_highway_loss_at_100"] >= 100
        assert len(kept["search"]) == 8 * record["settings"]["trials"]
        assert not {t["seed"] for t in kept["final"]} & {t["seed"] for t in kept["search"] + kept["finalists"]}
        assert all(summary[f"final_loss_{block}_{n}"]["n"] >= 3 for block in training.WIDTH for n in LAYERS)
    if name == "blocks":
        assert record["settings"]["layers"] == [10, 20, 50, 100, 200]
        runs = [(t["block"], t["layers"], t["width"] == 50) for t in kept["final"]]  # some may have diverged
        both = {"highway": (True,)}  # its two widths are one
        for n in record["settings"]["layers"]:
            assert all(runs.count((block, n, w)) >= 3 for block in blocks.WIDTH for w in both.get(block, (True, False)))
        assert not {t["seed"] for t in kept["final"]} & {t["seed"] for t in kept["search"] + kept["finalists"]}
    if name == "fifty_layers" or OF_OTHERS.get(name) == ("fifty_layers",):
        final = kept[{"fifty_layers": "final", "data_movement": "trained"}[name]] if isinstance(kept, dict) else kept
        of_set = {t["data"]: (t["layers"], t["gate_bias"], t["n_train"]) for t in final}
        mnist, hundred = (50, -2, 60000), (50, -4, 50000)
        beside = {"CIFAR-100": hundred, "fashion-mnist": mnist} if harder else {}
        assert of_set == {"MNIST": mnist} | beside
        assert all(sum(t["data"] == data for t in final) >= 3 for data in of_set)
    if name == "more_seeds":  # the settings and the seeds are those that the experiments did not have
        for other in OF_OTHERS[name]:
            final = committed(other)["trials"]["final"]
            chosen = {json.dumps(more_seeds.setting_of(t) | {"seed": 0}) for t in final}
            assert {json.dumps(more_seeds.setting_of(t) | {"seed": 0}) for t in kept[other]} < chosen
            assert not {t["seed"] for t in final} & {t["seed"] for t in kept[other]}
        assert all(stat["n"] <= 10 for stat in summary.values())
    if name == "gate_bias":  # as the README says in words
        assert not any(t["fate"] == "hard" for t in kept if t["gate_bias"] <= -4)
        assert all(t["fate"] == "soft" for t in kept if t["gate_bias"] <= -10)
    if name == "adam_explodes":  # as docs/depth.md says in words
        assert {t["change"] for t in kept if t["explosion"]} == {*adam_explodes.CHANGES} - {"tanh"}
        for t in [t for t in kept if t["burst"]]:
            assert t["change"] != "tanh"
            assert t["burst"]["worst"]["stretch"][0] > 100 * t["burst"]["median"]["stretch"][0]
            if t["explosion"] and t["burst"]["usual_norm"] < 10:  # it began after the first epoch
                onsets = {at: its["step"] for at, its in t["explosion"]["onsets"].items()}
                assert onsets["gradient"] == min(onsets.values())
    if name == "factor_model":
        assert [sum(t["world"] == world for t in kept) for world in factor_model.WORLDS] == [200, 200, 200]
    if name == "table1":
        assert (summary["parameters_width_16"], summary["parameters_width_32"]) == (38_986, 151_690)
        assert summary["test_accuracy_width_16_short"]["n"] >= 5
        assert summary["test_accuracy_width_32_short"]["n"] >= 3
        assert summary["epochs_width_16_paper"] == 300
        assert summary["test_accuracy_width_16_highway_bn_short"]["n"] >= 3
        assert all(t["validation"] for t in kept["recipes"])  # nothing was chosen on test images
        assert protocols.PROTOCOLS["mnist"]["short"] == table1.RECIPES[summary["recipe"]]
        assert all(t["final_test_acc"] == t["history"]["test_acc"][-1] for t in kept["final"])
        assert {t["n_train"] for t in kept["final"]} == {60000}
    if name == "cifar":
        assert summary["test_accuracy_highway_a"]["n"] >= 3
        assert all(t["validation"] for t in kept["search"])  # nothing was chosen on test images
        assert all(t["final_test_acc"] == t["history"]["test_acc"][-1] for t in kept["final"])
        assert {t["n_train"] for t in kept["final"]} == {50000}
    if name == "thousand_layers":
        assert summary["test_accuracy_best"]["mean"] >= 0.96
        assert summary["test_accuracy_best"]["n"] >= 3


# ---- what is said of the blocks, and of the inside of a net


def test_a_trial_may_name_a_width_and_a_scale():
    wide = training.make(setting(block="residual", width=11, layers=3, scale=1.0))
    assert wide.W_H.shape == (2, 11, 11)
    halved = training.make(setting(block="residual", width=11, layers=3, scale=0.5))
    np.testing.assert_array_equal(halved.W_H, wide.W_H / 2)
    np.testing.assert_array_equal(halved.W_in, wide.W_in)


def test_thirds_of_the_blocks_and_the_fading_of_the_gradient():
    assert blocks.early_and_late([0.1, 0.2, 0.5, 0.5, 0.5, 0.3, 0.4]) == pytest.approx((0.15, 0.35))
    assert blocks.early_and_late([0.1, 0.4]) == (0.1, 0.4)
    assert blocks.ratio([3.0, 9.0, 2.0]) == 1.5
    assert blocks.ratio([3.0, 0.0]) is blocks.ratio([None, 1.0]) is None


def test_the_numbers_of_a_lesion():
    t = {"errors": [0.1] * 49, "idle": [*range(15, 40), 49], "set_sizes": [20, 25, 25], "errors_sets": [0.9, 0.2, 0.4]}
    assert lesion.middle_share(t) == pytest.approx(25 / 31)
    assert lesion.last_that_matters(t) == 48
    assert lesion.last_that_matters(t | {"idle": [*range(1, 50)]}) == 0
    assert lesion.error_of_half(t) == pytest.approx(0.3)
    assert lesion.first_share(t) == pytest.approx(25 / 40)


def trial_of_the_committed_net() -> dict:
    record = json.loads((ROOT / "results" / "fifty_layers.json").read_text())
    return next(t for t in record["trials"]["final"] if (t["data"], t["seed"]) == ("MNIST", 1))


def test_the_committed_net_is_used_as_it_is(tmp_path, monkeypatch):
    """Though the program has changed since it was trained."""
    committed = ROOT / "results" / "fifty_layers_mnist_1.npz"
    there = Path(shutil.copy(committed, tmp_path))
    monkeypatch.setattr(fifty_layers, "trained", pytest.fail)
    net = fifty_layers.net_of(trial_of_the_committed_net(), str(tmp_path))
    np.testing.assert_array_equal(net.parameters, hn.DeepNet.load(committed).parameters)
    assert there.read_bytes() == committed.read_bytes()


def test_the_committed_net_is_the_one_of_the_results():
    t = trial_of_the_committed_net()
    net = hn.DeepNet.load(ROOT / "results" / "fifty_layers_mnist_1.npz")
    assert (net.depth, net.hidden, net.activation.name, net.dtype) == (49, 50, "tanh", np.float32)
    assert net.about["trial"] == fifty_layers.setting_of(t)
    assert "dirty" not in net.about["env"]["git"]
    again = training.measure(net, t)
    assert again["loss"] == pytest.approx(t["loss"], rel=1e-4)
    assert again["test_accuracy"] == pytest.approx(t["test_accuracy"], abs=1.5e-4)


# ---- Table 1


def recipe_runs(*accuracies):
    return [{"final_test_acc": accuracy} for accuracy in accuracies]


def test_every_kind_of_run_has_a_line_in_the_picture():
    kinds = [(width, block, protocol) for width, block, protocol, *_ in table1.BUDGETS["full"]["runs"]]
    of_run = {"diverged": False, "final_test_acc": 0.9, "history": {"epoch": [1], "test_acc": [0.9]}}
    final = [dict(zip(("width", "block", "protocol"), kind, strict=True)) | of_run for kind in kinds]
    fig = pictures_of_table1.conv_curves({"trials": {"final": final}}, PUBLISHED)
    drawn = [line for ax in fig.axes for line in ax.get_lines() if line.get_label().endswith(" 90.00, 1 seed")]
    assert len({(line.axes, line.get_color()) for line in drawn}) == len(kinds)


def test_the_recipe_is_the_best_on_validation_images():
    assert table1.best(recipe_runs(0.98, 0.97, 0.99, 0.985, 0.1, 0.99)) == list(table1.RECIPES)[2]
    assert table1.best(recipe_runs(0.98, None, None, None, None, None)) == "pilot"


@pytest.mark.parametrize("changed", ["nothing", "the commit"])
def test_a_trial_of_table_1_goes_on_from_its_checkpoint(tmp_path, monkeypatch, capsys, changed):
    """Whatever program wrote it: where it may be another, a line says so, and the results name both."""
    t = table1.setting(3, "highway", "short", 3, 0, table1.PILOT, {"n_train": 200, "n_test": 100})
    monkeypatch.setattr(convolutional, "commit", lambda: "abc")
    whole = table1.trial(t, str(tmp_path / "absent"))
    started, train_epoch = [], hn.train_epoch

    class Stopped(Exception):
        pass

    def stops(*args):
        started.append(args)
        if len(started) == 3:
            raise Stopped
        return train_epoch(*args)

    monkeypatch.setattr(hn, "train_epoch", stops)
    with pytest.raises(Stopped):
        table1.trial(t, str(tmp_path))
    if changed == "the commit":
        monkeypatch.setattr(convolutional, "commit", lambda: "def")
    e = Experiment("table1", "A test.", {"default": {}}, ["--results", str(tmp_path), "--jobs", "1"])
    checkpoint = conv_training.checkpoint_of(t, str(tmp_path), "table1")
    capsys.readouterr()
    [again] = conv_training.run(e, functools.partial(table1.trial, folder=str(tmp_path)), [t], training.data_of)
    assert len(started) == 3 + 1
    assert again["history"] == whole["history"]
    assert again["commits"] == (["abc", "def"] if changed == "the commit" else ["abc"])
    said = f"{checkpoint}: trained by ['abc'], from now on by def: compare with care\n"
    assert capsys.readouterr().err == (said if changed == "the commit" else "")


def test_a_checkpoint_goes_when_the_log_has_the_result(tmp_path):
    t = table1.setting(3, "highway", "short", 1, 0, table1.PILOT, {"n_train": 200, "n_test": 100})
    e = Experiment("table1", "A test.", {"default": {}}, ["--results", str(tmp_path), "--jobs", "1"])
    checkpoint, there = conv_training.checkpoint_of(t, str(tmp_path), "table1"), []
    run = e.run

    def runs(function, trials, data_of, logged):
        def looks(t):
            there.append((checkpoint.exists(), len((tmp_path / "table1.jsonl").read_text().splitlines())))
            logged(t)

        return run(function, trials, data_of, looks)

    e.run = runs
    conv_training.run(e, functools.partial(table1.trial, folder=str(tmp_path)), [t], training.data_of)
    assert there == [(True, 1)]
    assert not checkpoint.exists()


def test_results_name_the_program_that_began(tmp_path, monkeypatch):
    def check_out(commit):
        monkeypatch.setattr(files, "_git", lambda *words: b"" if words[0] == "status" else commit)

    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(files, "ROOT", tmp_path)
    files.commit.cache_clear()
    check_out(b"111111111111")
    e = Experiment("log", "A test.", {"default": {}}, ["--results", str(tmp_path), "--jobs", "1"])
    check_out(b"222222222222")
    e.run(lambda t: {}, [{"a": 1}])
    assert e.save("a test", {}, [])["env"]["git"] == "111111111111"
    assert [line["git"] for line in trials_of(tmp_path)] == ["111111111111"]
    files.commit.cache_clear()
