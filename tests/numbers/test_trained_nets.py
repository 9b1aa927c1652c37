"""Trained nets: they load, give the recorded answers, and say what is wrong with a file."""

import hashlib
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn
from highways import load
from highways.conv.pipeline import Pipeline
from highways.files import InputError
from highways.trained import make, nets, safetensors_file

CARDS = nets.cards()
MOST = 25_000_000  # bytes of all files together
SMALLEST = "record-mnist"


@pytest.fixture(scope="module")
def mnist():
    return hn.load_mnist()


def noise(name: str, n: int) -> np.ndarray:
    """Images of the net's shape without any content."""
    return np.random.default_rng(0).integers(0, 256, (n, *CARDS[name]["image"]), dtype=np.uint8)


# ---- The committed nets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CARDS)
def test_a_net_loads_and_gives_the_recorded_answers(name, mnist):
    net = load(name)
    card = CARDS[name]
    if card["data"] != "MNIST":  # the repository does not have its images
        logits = net.predict(noise(name, 20))
        assert logits.shape == (20, card["classes"])
        assert np.isfinite(logits).all()
        return
    x, y = make.test_images(card, mnist)
    answers = [int(word) for word in card["answers"].split()]
    assert net.classify(x[:500]).tolist() == answers
    assert net.accuracy(x[:500], y[:500]) == (np.array(answers) == y[:500]).mean()


def skip_if_record_is_the_user_s(name: str) -> None:
    """A user who runs the headline replaces run.json."""
    path = CARDS[name]["recorded_in"]
    if (ROOT / ".git").exists() and subprocess.run(["git", "diff", "--quiet", "HEAD", "--", path], cwd=ROOT).returncode:
        pytest.skip(f"{path} is not the committed one")


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_what_the_records_say(name):
    """But for the commit: a record may have been measured again, with the same numbers."""
    skip_if_record_is_the_user_s(name)
    for key, value in json.loads(json.dumps(make.recorded(name))).items():
        assert CARDS[name][key] == value or key == "commit", key


def test_all_files_are_those_of_the_cards_and_small():
    total = 0
    for name, card in CARDS.items():
        for kind in ("safetensors", "onnx"):
            data = (nets.FOLDER / f"{name}.{kind}").read_bytes()
            assert hashlib.sha256(data).hexdigest() == card[kind]["sha256"]
            assert len(data) == card[kind]["bytes"]
            total += len(data)
    assert total <= MOST
    assert {path.stem for path in nets.FOLDER.glob("*.safetensors")} == CARDS.keys()


def test_the_model_card_s_program_runs(capsys):
    page = (nets.FOLDER / "README.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", page, re.S)[1], {})
    assert capsys.readouterr().out == "[7 2 1 0 4] 0.993\n"


def test_the_model_card_s_onnx_program_runs(capsys, monkeypatch):
    pytest.importorskip("onnxruntime")
    page = (nets.FOLDER / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(ROOT)
    exec(re.findall(r"```python\n(.*?)```", page, re.S)[1], {})
    assert capsys.readouterr().out == "[7 2 1 0 4]\n"


# ---- Images ----------------------------------------------------------------------------------------------------------


def test_floats_from_0_to_1_are_taken_as_bytes(mnist):
    net = load(SMALLEST)
    x = mnist.x_test[:10]
    of_bytes = net.predict(x)
    assert (net.predict(x / 255) == of_bytes).all()
    assert (net.predict(x.reshape(-1, 28, 28)) == of_bytes).all()
    assert (net.predict(x.reshape(-1, 1, 28, 28).astype(np.float32) / np.float32(255)) == of_bytes).all()


@pytest.mark.parametrize(
    "images",
    [np.zeros((28, 28), np.uint8), np.full((1, 784), -1.0), np.full((1, 784), np.nan), np.zeros((1, 784), int)],
)
def test_images_of_another_shape_or_scale_are_refused(images):
    with pytest.raises(ValueError):
        load(SMALLEST).predict(images)


def test_contrast_is_that_of_the_training():
    images = noise("highway-a", 30).reshape(30, -1)
    pipeline = Pipeline("contrast", pad=0).fit(images)
    of_training = pipeline.before_mean_image(images).reshape(30, -1)
    np.testing.assert_allclose(nets.contrast_normalised(images), of_training, atol=2e-6)


# ---- What is wrong with a file ---------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of nets with one net."""
    for name in ("nets.json", f"{SMALLEST}.safetensors"):
        shutil.copy(nets.FOLDER / name, tmp_path / name)
    monkeypatch.setattr(nets, "FOLDER", tmp_path)
    return tmp_path


def test_a_damaged_file_is_refused(folder):
    path = folder / f"{SMALLEST}.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError):
        load(SMALLEST)


ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(5, np.float16)}


def test_what_is_written_is_read_back():
    data = safetensors_file.to_bytes(ARRAYS, {"text": "é"})
    arrays, texts = safetensors_file.from_bytes(data)
    assert texts == {"text": "é"}
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def with_header(numbers: bytes = bytes(8), **entry) -> bytes:
    """A file whose header says this of its one array."""
    header = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **entry}}).encode()
    return len(header).to_bytes(8, "little") + header + numbers


@pytest.mark.parametrize(
    "data",
    [
        safetensors_file.to_bytes(ARRAYS, {})[:-1],
        safetensors_file.to_bytes(ARRAYS, {}) + b"0",
        with_header(dtype="I64"),
        with_header(shape=[-2, -1]),
        with_header(data_offsets=[4, 12]),
    ],
)
def test_files_that_are_not_whole_are_refused(data):
    with pytest.raises(ValueError):
        safetensors_file.from_bytes(data)


# ---- How they are made -----------------------------------------------------------------------------------------------


def test_a_checkpoint_of_another_accuracy_is_refused(tmp_path):
    untrained = nets.empty_net(CARDS["highway-30"])
    untrained.save(tmp_path / "net.npz")
    with pytest.raises(InputError):
        make.make("highway-30", str(tmp_path / "net.npz"), None, save=None)
    with pytest.raises(InputError):
        make.make("mnist-16", str(tmp_path / "net.npz"), None, save=None)


@pytest.mark.thorough
def test_the_committed_file_is_made_again(tmp_path):
    pytest.importorskip("onnx")
    skip_if_record_is_the_user_s("highway-30")
    load("highway-30").net.save(tmp_path / "net.npz")
    written = {}
    make.make("highway-30", str(tmp_path / "net.npz"), None, save=written.update)
    path = nets.FOLDER / "highway-30.safetensors"
    assert written[path] == path.read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize("name", CARDS)
def test_onnx_gives_the_same_answers(name, mnist):
    """On 2000 images: MNIST's where they fit, otherwise noise."""
    runtime = pytest.importorskip("onnxruntime")
    card = CARDS[name]
    is_grey = card["image"] == [1, 28, 28]
    images = mnist.x_test[:2000].reshape(-1, 1, 28, 28) if is_grey else noise(name, 2000)
    session = runtime.InferenceSession((nets.FOLDER / f"{name}.onnx").read_bytes())
    logits, probabilities = session.run(None, {"images": images.astype(np.float32) / np.float32(255)})
    ours = load(name).predict(images)
    np.testing.assert_allclose(logits, ours, rtol=1e-3, atol=1e-3)
    assert (logits.argmax(axis=1) == ours.argmax(axis=1)).sum() == 2000
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
