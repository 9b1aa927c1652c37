"""What both records share: Muon's step, smoothed labels, and the command with its log."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn
from benchmarks.records import __main__ as records
from benchmarks.records import show
from benchmarks.records.muon import orthogonalised
from benchmarks.records.trainer import smoothed_cross_entropy
from highways.files import InputError, Lock, strict_json
from highways.records import agree

STEP = 1e-30


# ---- Smoothed labels


def test_smoothed_labels_are_a_mixture_with_equal_shares():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(5, 4))
    y = np.array([0, 3, 1, 1, 2])
    aims = 0.7 * np.eye(4)[y] + 0.3 / 4
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    loss, _ = smoothed_cross_entropy(logits, y, 0.3)
    assert loss == pytest.approx(-(aims * log_p).sum(axis=1).mean(), rel=1e-14)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_gradient_of_smoothed_labels_is_the_complex_step(smoothing):
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(5, 4)).astype(complex)
    y = np.array([0, 3, 1, 1, 2])
    _, gradient = smoothed_cross_entropy(logits, y, smoothing)
    for place in np.ndindex(logits.shape):
        moved = logits.copy()
        moved[place] += 1j * STEP
        loss, _ = smoothed_cross_entropy(moved, y, smoothing)
        assert gradient[place].real == pytest.approx(loss.imag / STEP, rel=1e-12)
    assert smoothed_cross_entropy(logits.real.astype("f"), y, smoothing)[1].dtype == np.float32


# ---- Muon


@pytest.mark.parametrize("shape", [(5, 12), (12, 5), (6, 6)])
def test_an_orthogonalised_matrix_keeps_its_directions(shape):
    matrix = np.random.default_rng(0).normal(size=shape)
    U, s, V_t = np.linalg.svd(matrix, full_matrices=False)
    inner = U.T @ orthogonalised(matrix) @ V_t.T
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-12)
    kept = s > 0.1 * s.max()
    assert (np.diag(inner)[kept] > 0.6).all()
    assert (np.diag(inner) < 1.3).all()


# ---- The command


@pytest.fixture
def command(tmp_path, monkeypatch):
    """The folder of the files of `records.main`, for MNIST's net and few images, in two epochs and two seeds."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (300, 784)).astype(np.uint8)
    y = rng.integers(0, 10, 300)
    few = hn.Dataset.of(x[:250], y[:250], x[250:], y[250:])._replace(shape=(28, 28))
    record = records.RECORDS["mnist"]
    recipe = replace(record.recipe, n_train=250, epochs=2)
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    monkeypatch.setattr(records, "load_images", lambda name, data_dir: few)
    monkeypatch.setattr(records, "pin", lambda: "core 0")
    monkeypatch.setitem(records.RECORDS, "mnist", record._replace(recipe=recipe, seeds=range(2)))
    folder = tmp_path / record.folder
    folder.mkdir()
    return folder


def log_in(folder) -> dict:
    """The only file of the folder."""
    (path,) = folder.glob("[!.]*")
    return records.read_json(path)


def test_the_command_writes_a_log_of_which_the_table_has_a_row(command):
    assert records.main(["mnist", "--who", "me", "--beside", "a kettle"]) == 0
    log = log_in(command)
    accuracies = [trial["test_accuracy"] for trial in log["trials"]]
    assert log["summary"]["test_accuracy"] == pytest.approx(np.mean(accuracies))
    assert log["summary"]["lowest_test_accuracy"] == min(accuracies)
    assert [trial["seed"] for trial in log["trials"]] == [0, 1]
    assert log["settings"]["n_train"] == 250
    row = show.row_of(next(command.glob("[!.]*")))
    assert f"{100 * np.mean(accuracies):.2f} % of 2" in row
    assert row.endswith("me; a kettle |")


def test_a_log_has_the_summary_of_its_trials():
    committed = sorted((ROOT / "benchmarks" / "records").glob("*/[0-9]*.json"))
    assert committed
    for path in committed:
        log = records.read_json(path)
        assert agree(log["summary"], strict_json(records.summary_of(log["trials"])))
        assert path.stem.startswith(log["settings"]["date"])


def test_a_stopped_command_goes_on(command, monkeypatch):
    """It is stopped after the first epoch of the second seed."""
    assert records.main(["mnist", "--who", "me"]) == 0
    whole = log_in(command)["trials"]
    next(command.glob("[!.]*")).unlink()
    save = records.trainer.Training.save
    saves = []

    def stopped(self, path, seconds):
        save(self, path, seconds)
        saves.append(seconds)
        if len(saves) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(records.trainer.Training, "save", stopped)
        with pytest.raises(KeyboardInterrupt):
            records.main(["mnist", "--who", "me"])
    assert (command / "unfinished_1.npz").exists()
    assert records.main(["mnist", "--who", "me"]) == 0
    trials = log_in(command)["trials"]
    assert [trial["train_loss"] for trial in trials] == [trial["train_loss"] for trial in whole]
    assert [trial["test_accuracy"] for trial in trials] == [trial["test_accuracy"] for trial in whole]
    assert trials[1]["processor_seconds"] > saves[1]["processor_seconds"] > 0


def test_a_command_that_was_stopped_before_its_log_writes_it(command, monkeypatch):
    def stopped(*words):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(records, "record_bytes", stopped)
        with pytest.raises(KeyboardInterrupt):
            records.main(["mnist", "--who", "me"])
    monkeypatch.setattr(records, "measure", pytest.fail)
    assert records.main(["mnist", "--who", "me"]) == 0
    assert len(log_in(command)["trials"]) == 2


def test_a_record_of_another_commit_or_images_is_not_continued(command, monkeypatch):
    path = command / "unfinished.json"
    record = records.RECORDS["mnist"]
    records.Unfinished(path, record, "digest")
    records.Unfinished(path, record, "digest")
    with pytest.raises(InputError):
        records.Unfinished(path, record, "another")
    monkeypatch.setattr(records, "commit", lambda: "another")
    with pytest.raises(InputError):
        records.Unfinished(path, record, "digest")


def test_two_commands_do_not_write_the_same_record(command):
    with Lock(command / "unfinished.json"), pytest.raises(InputError):
        records.main(["mnist", "--who", "me"])


def test_the_command_replaces_no_file_that_it_did_not_write(command):
    path = command / "mine.json"
    path.write_text("[]")
    with pytest.raises(InputError):
        records.main(["mnist", "--out", str(path)])
    (command / "log_unfinished.json").write_text("{}")
    with pytest.raises(InputError):
        records.main(["mnist", "--out", str(command / "log.json")])
    assert path.read_text() == "[]"
    assert (command / "log_unfinished.json").read_text() == "{}"
