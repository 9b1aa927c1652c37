"""pages/explorer.html is what its program writes; in a real browser its numbers agree with those of
the same net in NumPy and with those of the lesion experiment."""

import base64
import copy
import json
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.special
from conftest import ROOT, write_data_set
from test_docs import COMMANDS, READ

import highway_networks as hn
from experiments.lesion import lesion_trial as lesion
from highways.files import strict_json
from highways.nets import layer_by_layer
from highways.records import agree, select
from pages import make_explorer as explorer
from pages import measure, screenshots
from pages.browser import browser_only, complaints, open_anew, press, together, violations

PAGE = screenshots.PAGE.read_text(encoding="utf-8")
NET = {"net": explorer.NET, "net_sha256": explorer.checksum_of_net()}
DATA = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', PAGE)[1])


@pytest.fixture(scope="module")
def net():
    return hn.DeepNet.load(ROOT / explorer.NET)


@pytest.fixture(scope="module")
def images(mnist):
    """200 test images, bytes."""
    return mnist.x_test[np.random.default_rng(0).choice(10000, 200, replace=False)]


# ---- The file --------------------------------------------------------------------------------------------------------


def same_on_any_processor(page: str) -> str:
    """The page without the sentence about the rounded weights: its last digit depends on the
    processor."""
    return re.sub(r"no logit differs .*?\"", "", page)


def test_the_page_is_what_the_program_writes(tmp_path, mnist, monkeypatch, capsys):
    monkeypatch.setattr(explorer, "load_mnist", lambda: mnist)
    assert explorer.main(["--out", str(tmp_path / "page.html")]) == 0, capsys.readouterr().err
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    out_of_date = "pages/explorer.html is out of date: python -m pages.make_explorer writes it anew"
    assert same_on_any_processor(written) == same_on_any_processor(PAGE), out_of_date
    assert len(written.encode()) <= 2_000_000


def test_commands_on_the_page_exist():
    named = re.findall(r"<code>(python .*?)</code>", PAGE)
    assert named
    for command in named:
        assert any(command == known or known.startswith(f"{command} --data-dir") for known in COMMANDS)


def test_images_of_every_class_are_right_doubtful_and_wrong(mnist, net):
    """Each class has as many images of each kind.  The net with the rounded weights answers the
    wrong ones wrongly, and the others rightly.  Only in a right image the label has a probability
    above SURE."""
    pixels = np.frombuffer(base64.b64decode(DATA["images"]["pixels"]), np.uint8).reshape(-1, 784)
    logits = explorer.rounded(net).predict(hn.pixels_for(net, pixels)).astype(float)
    answers = logits.argmax(axis=1)
    probabilities = np.exp(logits - scipy.special.logsumexp(logits, axis=1, keepdims=True))
    kinds = {(label, kind): 0 for label in range(10) for kind in ("right", "doubtful", "wrong")}
    chosen = zip(DATA["images"]["list"], pixels, answers, probabilities, strict=True)
    for (index, label, kind), image, answer, probability in chosen:
        kinds[label, kind] += 1
        assert (probability[label] > explorer.SURE) == (kind == "right")
        assert mnist.y_test[index] == label
        assert (mnist.x_test[index] == image).all()
        assert (answer == label) == (kind != "wrong")
    assert set(kinds.values()) == {explorer.IMAGES_A_KIND}


def test_weights_whose_rounding_changes_answers_are_refused(mnist, net):
    """The net's outputs are almost equal: in float16 they cannot be told apart."""
    spoilt = hn.DeepNet(784, 10, 2, 1, "highway", 0)
    spoilt.about |= net.about
    spoilt.W_out[:] = 1
    spoilt.b_out[:] = 1 + np.arange(10) * 1e-5
    with pytest.raises(explorer.InputError):
        explorer.net_part(spoilt, mnist)


@pytest.fixture
def write(tmp_path, monkeypatch, mnist, capsys):
    """write(net=...) runs the program with this file in place of the project's.

    Returns its exit status and its stderr."""
    files = {}
    load_net = hn.DeepNet.load
    monkeypatch.setattr(explorer, "load_mnist", lambda: mnist)
    monkeypatch.setattr(explorer.DeepNet, "load", lambda path: load_net(files.get("net", path)))

    def run_program(**given):
        files.update(given)
        status = explorer.main(["--out", str(tmp_path / "page.html")])
        assert (tmp_path / "page.html").exists() == (status == 0)
        return status, capsys.readouterr().err

    return run_program


def refused(answer) -> str:
    """The error, one line, of a program that refused its input; `answer` is what write() returned."""
    status, error = answer
    assert status == 2
    assert error.count("\n") == 1
    assert "error: " in error
    return error


@pytest.mark.parametrize(
    ("sizes", "kind", "about", "message"),
    [
        ((784, 10, 50, 3, "highway"), {}, {}, "depth 3, not 49"),
        ((784, 10, 50, 49, "highway"), {}, {"trial": {"seed": 1}}, "it does not say how it was trained"),
        ((784, 10, 50, 49, "highway"), {}, {"data_sha256": "0"}, "trained on other images than MNIST's"),
    ],
)
def test_a_foreign_net_is_refused(tmp_path, net, write, sizes, kind, about, message):
    other = hn.DeepNet(*sizes, 0, **kind)
    other.about |= net.about | about
    other.save(tmp_path / "net.npz")
    assert message in refused(write(net=tmp_path / "net.npz"))


def test_a_file_that_is_no_net_and_a_net_that_is_not_in_the_results_are_refused(tmp_path, net, write):
    (tmp_path / "net.npz").write_bytes(b"no net")
    refused(write(net=tmp_path / "net.npz"))
    other = copy.deepcopy(net)
    other.about = net.about | {"trial": net.about["trial"] | {"rate": 1.0}}
    other.save(tmp_path / "other.npz")
    message = f"error: results/gates.json has no trial of {explorer.NET}: python -m experiments gates"
    assert message in refused(write(net=tmp_path / "other.npz"))


@pytest.mark.parametrize("name", ["gates", "lesion"])
@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        ("settings", {"budget": "quick"}, "has budget quick, not default"),
        ("env", {"data_sets": {"MNIST": "0"}}, "has MNIST's checksum 0, not "),
        ("env", {"data_sets": {}}, "KeyError('MNIST')"),
    ],
)
def test_results_of_another_budget_or_other_data_are_refused(write, monkeypatch, name, part, change, message):
    load_results = explorer.load_results

    def load(path):
        record = load_results(path)
        return record | {part: record[part] | change} if path.name == f"{name}.json" else record

    monkeypatch.setattr(explorer, "load_results", load)
    error = refused(write())
    assert f"{name}.json" in error
    assert message in error


def test_only_mnist_is_read_from_the_folder_that_mnist_dir_names(tmp_path, monkeypatch, mnist):
    monkeypatch.setenv("MNIST_DIR", str(write_data_set(tmp_path / "MNIST", side=28, classes=10)))
    with pytest.raises(explorer.InputError):
        explorer.load_page_mnist()
    assert explorer.main(["--out", str(tmp_path / "page.html")]) == 2
    monkeypatch.setenv("MNIST_DIR", str(hn.BUNDLED))
    assert explorer.load_page_mnist().sha256 == mnist.sha256


# ---- What is measured on all images ----------------------------------------------------------------------------------


MEASURED = READ("results/explorer.json")


def test_a_range_is_closed_as_the_lesion_experiment_closes_a_set(mnist):
    net = hn.DeepNet(784, 10, 8, 5, "highway", 0, gate_bias=0.0)
    x = hn.scale_pixels(mnist.x_train[:700], np.float32)  # more than the slice that is computed at a time
    y = mnist.y_train[:700]
    wrong = measure.wrong_by_range(net, x, y)
    pairs = [(i, j) for i in range(5) for j in range(i, 5)]
    expected = lesion.with_closed(net, x, y, [list(range(i, j + 1)) for i, j in pairs]).wrong
    assert [wrong[pair] for pair in pairs] == expected.tolist()
    assert len(set(expected.tolist())) > 5


def test_an_answer_is_decided_at_the_block_after_which_it_stays_the_same(mnist):
    net = hn.DeepNet(784, 10, 8, 5, "highway", 0, gate_bias=0.0)
    x = hn.scale_pixels(mnist.x_test[:300], np.float32)
    decided = measure.decided_at(net, x)
    for image, block in zip(x, decided, strict=True):
        states = [layer_by_layer.first_state(net, image[None])]
        states += [y for *_, y in layer_by_layer.walk(net, states[0])]
        answers = [int(layer_by_layer.logits(net, state).argmax()) for state in states]
        assert set(answers[block:]) == {answers[-1]}
        assert block == 0 or answers[block - 1] != answers[-1]
    assert len(set(decided.tolist())) > 3


def test_b_T_is_shifted_in_every_unit(mnist, net):
    x = hn.pixels_for(net, mnist.x_test[:50])
    twin = measure.shifted(net, -1.5)
    state = layer_by_layer.first_state(net, x)
    T, _ = layer_by_layer.block_forward(net, 0, state)
    shifted_T, _ = layer_by_layer.block_forward(twin, 0, state)
    np.testing.assert_allclose(np.log(shifted_T / (1 - shifted_T)), np.log(T / (1 - T)) - 1.5, atol=1e-4)


def test_the_command_measures_and_writes(tmp_path, mnist, monkeypatch, capsys):
    few = SimpleNamespace(
        name="MNIST",
        sha256=mnist.sha256,
        x_train=mnist.x_train[:2],
        y_train=mnist.y_train[:2],
        x_test=mnist.x_test[:40],
        y_test=mnist.y_test[:40],
    )
    monkeypatch.setattr(measure, "load_page_mnist", lambda: few)
    monkeypatch.setattr(measure, "OUT", tmp_path / "explorer.json")
    assert measure.main([]) == 0, capsys.readouterr().err
    record = json.loads((tmp_path / "explorer.json").read_text(encoding="utf-8"))
    assert record["settings"] == {**NET, "n_train": 2, "n_test": 40}
    assert record.keys() == MEASURED.keys()
    assert [row.keys() for row in record["summary"]] == [row.keys() for row in MEASURED["summary"]]
    assert sum(record["trials"]["decided"]["images"]) == 40


def test_the_committed_summary_is_that_of_its_trials():
    assert agree(MEASURED["summary"], strict_json(measure.summary_of(MEASURED["trials"], 60000)))


def test_the_committed_measurement_agrees_with_the_lesion_experiment():
    """The experiment closes single blocks, and all blocks above the k-th: these, too, are ranges
    of blocks.

    49 blocks have 49 * 50 / 2 = 1225 ranges."""
    assert MEASURED["settings"] == {**NET, "n_train": 60000, "n_test": 10000}
    wrong = [np.array(row) for row in MEASURED["trials"]["wrong"].values()]
    assert sum(map(len, wrong)) == select(MEASURED["summary"], row="ranges")["ranges"] == 1225
    trials = READ("results/lesion.json")["trials"]
    [trial] = [t for t in trials if t["data"] == "MNIST" and t["seed"] == 1]
    near = {"atol": 3 / 60000, "rtol": 0.01}  # the last digits depend on the processor
    np.testing.assert_allclose([row[0] / 60000 for row in wrong], trial["errors"], **near)
    np.testing.assert_allclose([row[-1] / 60000 for row in wrong], trial["errors_above"][:-1], **near)
    unshifted = next(row for row in MEASURED["trials"]["shifts"] if row["shift"] == 0)
    assert unshifted["train_error"] == pytest.approx(trial["error"], abs=3 / 60000)
    assert unshifted["test_accuracy"] == pytest.approx(0.9693, abs=3e-4)
    assert sum(MEASURED["trials"]["decided"]["images"]) == 10000


def test_a_net_that_was_changed_is_not_shown_beside_the_numbers_of_the_old_one(
    tmp_path, net, monkeypatch, mnist, capsys
):
    shutil.copytree(ROOT / "results", tmp_path / "results", ignore=shutil.ignore_patterns("*.jsonl", "quick"))
    changed = copy.deepcopy(net)
    changed.parameters[:] = 1.5 * net.parameters
    changed.save(tmp_path / explorer.NET)
    monkeypatch.setattr(explorer, "load_mnist", lambda: mnist)
    monkeypatch.setattr(explorer, "ROOT", tmp_path)
    assert explorer.main(["--out", str(tmp_path / "page.html")]) == 2
    assert f"has the net's checksum {NET['net_sha256']}, not " in capsys.readouterr().err


def test_a_summary_that_is_not_that_of_the_measurement_is_refused(write, monkeypatch):
    load_results = explorer.load_results

    def load(path):
        record = load_results(path)
        return record | {"summary": []} if path.name == "explorer.json" else record

    monkeypatch.setattr(explorer, "load_results", load)
    assert "has a summary that is not that of its trials" in refused(write())


def test_a_measurement_of_another_net_or_other_data_is_refused(write, monkeypatch):
    load_results = explorer.load_results
    for part, change, message in (
        ("settings", {"net": "results/other.npz"}, "has net results/other.npz, not "),
        ("env", {"data_sets": {"MNIST": "0"}}, "has MNIST's checksum 0, not "),
    ):

        def load(path, part=part, change=change):
            record = load_results(path)
            return record | {part: record[part] | change} if path.name == "explorer.json" else record

        monkeypatch.setattr(explorer, "load_results", load)
        error = refused(write())
        assert message in error
        assert "python -m pages.measure measures anew" in error


# ---- In a browser ----------------------------------------------------------------------------------------------------


ANSWERED = """
play.answered = ACTS.map(({ questions }) => questions.length);
Object.assign(shown, { block: 1, unit: 1, shift: 0, compare: "one" });
takeAct(0, false);
only([]);
offer(7);
choose(110);
"""


@pytest.fixture
def driver(opened):
    """The page with all questions answered, the first act, and a doubtful 7 chosen.  No test may leave
    an error on the console."""
    screenshots.look_as(opened, 1280, 900)
    opened.execute_script(ANSWERED)
    settle(opened)
    yield opened
    assert complaints(opened) == []


ACTS = {"effect": 0, "read": 1, "gates": 2}  # by the map that they show


def of_images(driver, script: str, images: np.ndarray) -> np.ndarray:
    """Evaluates a JavaScript expression in the page for each image, which is `pixels` in it.

    Returns its numbers, (N, n) float32."""
    code = """
    const bytes = bytesOf(arguments[0]), parts = [];
    for (let at = 0; at < bytes.length; at += 784) {
      const pixels = bytes.subarray(at, at + 784);
      const bytesOfNumbers = new Uint8Array(Float32Array.from(%s).buffer);
      parts.push(String.fromCharCode(...bytesOfNumbers)); // at most about 2500 numbers, few enough to be arguments
    }
    return btoa(parts.join(""));
    """
    text = driver.execute_script(code % script, base64.b64encode(images.tobytes()).decode())
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(len(images), -1)


@browser_only
@together
def test_the_forward_pass_agrees_with_numpy(driver, net, images):
    x = hn.pixels_for(net, images)
    twin = explorer.rounded(net)
    logits_and_gates = "(({ logits, T }) => [logits, ...T].flatMap((row) => [...row]))(net.run(pixels))"
    found = of_images(driver, logits_and_gates, images)
    logits, gates = np.split(found, [10], axis=1)
    np.testing.assert_allclose(logits, twin.predict(x), atol=1e-4, rtol=0)
    np.testing.assert_allclose(gates, twin.gates(x).transpose(1, 0, 2).reshape(200, -1), atol=1e-4, rtol=0)
    assert np.abs(logits - net.predict(x)).max() < 0.02  # from the unrounded net; the page says by how much


@browser_only
@together
@pytest.mark.parametrize("shift", [-4, 2])
def test_a_shift_of_b_T_agrees_with_numpy(driver, net, images, shift):
    found = of_images(driver, f"net.run(pixels, new Set(), {shift}).logits", images)
    twin = measure.shifted(explorer.rounded(net), shift)
    np.testing.assert_allclose(found, twin.predict(hn.pixels_for(net, images)), atol=1e-4, rtol=0)


@browser_only
@together
def test_the_answer_after_every_block_agrees_with_numpy(driver, net, images):
    twin = explorer.rounded(net)
    states = [layer_by_layer.first_state(twin, hn.pixels_for(net, images[:20]))]
    states += [y for *_, y in layer_by_layer.walk(twin, states[0])]
    expected = [softmax(layer_by_layer.logits(twin, state)) for state in states]
    found = of_images(driver, "net.run(pixels).answers.flat()", images[:20])
    np.testing.assert_allclose(found, np.stack(expected, axis=1).reshape(20, -1), atol=1e-4, rtol=0)


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def move_to_row(driver, plot: str, row: int, kind="strip"):
    from selenium.webdriver import ActionChains

    driver.execute_script("if (play.act !== arguments[0]) takeAct(arguments[0], false)", ACTS[plot])
    canvas = driver.find_element("css selector", f"#{plot} .{kind}")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    middle = driver.execute_script("return topOf(arguments[0]) + rowHeight() / 2 - plotHeight() / 2", row)
    return ActionChains(driver, duration=10).move_to_element_with_offset(canvas, 0, round(middle))


def closed(driver) -> list[int]:
    """The closed blocks, counted from 1."""
    return driver.execute_script("return [...shown.closed].map((layer) => layer + 1).sort((a, b) => a - b)")


def through_open(net, x, closed_blocks) -> np.ndarray:
    """The logits with these blocks closed, by the function of the lesion experiment."""
    open_layers = [layer for layer in range(net.depth) if layer + 1 not in closed_blocks]
    return lesion.through(net, layer_by_layer.first_state(net, x), open_layers)


@browser_only
@together
def test_a_press_on_a_number_closes_a_block_as_the_experiment_does(driver, net, images):
    move_to_row(driver, "gates", 2).click().perform()
    assert closed(driver) == [2]
    found = of_images(driver, "net.run(pixels, shown.closed).logits", images)
    twin = explorer.rounded(net)
    x = hn.pixels_for(net, images)
    np.testing.assert_allclose(found, through_open(twin, x, [2]), atol=1e-4, rtol=0)
    assert np.abs(found - twin.predict(x)).max() > 0.1
    assert f"Misread of 60 000 training images: 8 \u2192 {misread(2, 2)}." in driver.find_element("id", "closed").text
    move_to_row(driver, "gates", 2).click().perform()
    assert closed(driver) == []


def misread(first: int, last: int) -> str:
    """How many training images are misread with these blocks closed, as the page writes it."""
    wrong = MEASURED["trials"]["wrong"][str(first)][last - first]
    return f"{wrong} ({100 * (wrong / 60000):.2g} %)"


@browser_only
@together
def test_a_click_on_a_unit_shows_its_sum(driver):
    move_to_row(driver, "gates", 12, "grid").click().perform()
    assert closed(driver) == []
    block, unit = driver.execute_script("return [shown.block, shown.unit]")
    assert block == 12
    script = "const i = arguments[0] - 1; return [now.H[11][i], now.T[11][i], now.states[11][i], now.states[12][i]]"
    H, T, x, y = driver.execute_script(script, unit)
    assert y == pytest.approx(H * T + x * (1 - T))
    text = driver.find_element("id", "sum").text.replace("\u2212", "-")
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", text)]
    np.testing.assert_allclose(numbers, [H, T, x, 1 - T, y], atol=0.0051)
    assert text.startswith("y = H T + x (1 - T) = ")
    assert driver.execute_script("return reading()").startswith(f"Block 12, unit {unit}: y = H T")
    press(driver, "toggle")
    assert closed(driver) == [12]
    assert driver.find_element("id", "toggle").text == "Open block 12"
    assert driver.execute_script("return reading()").startswith(f"Block 12 (closed), unit {unit}: ")
    change = driver.execute_script("return changeOfAnswer()").replace("\u00a0", " ")
    assert f"Answer {change}." in driver.find_element("id", "closed").text


@browser_only
@together
def test_all_ranges_have_their_measured_error(driver):
    """Among them is the paper's range, blocks 15 to 45."""
    found = driver.execute_script("return range(0, 48).map((i) => range(i, 48).map((j) => errorOfRange(i, j)))")
    assert found == [[wrong / 60000 for wrong in row] for row in MEASURED["trials"]["wrong"].values()]
    press(driver, "close-range")
    text = driver.find_element("id", "closed").text
    told = "31 blocks, 15 to 45, each harmless alone. Misread of 60 000 training images: 8"
    assert f"{told} \u2192 {misread(15, 45)}." in text
    driver.execute_script("only([0, 2])")
    assert driver.find_element("id", "closed").text.endswith(
        "2 blocks, 1, 3. Misread of 60 000 training images: not measured."
    )


@browser_only
@together
def test_the_slider_shifts_b_T(driver):
    rows = {row["shift"]: row for row in MEASURED["trials"]["shifts"]}
    for shift, text in ((-4, "\u22124.00"), (2, "+2.00"), (0.25, "+0.25")):
        driver.execute_script("$('shift').value = arguments[0]; $('shift').dispatchEvent(new Event('input'))", shift)
        closed_text = driver.find_element("id", "closed").text
        assert f"bT shifted by {text}" in closed_text
        error = 100 * rows[shift]["train_error"]
        shown_error = float(re.search(r"\u2192 [\d ]+ \(([\d.e-]+) %\)\.$", closed_text)[1])
        assert shown_error == pytest.approx(float(f"{error:.2g}"))
        mean_T = driver.execute_script("return now.T.flatMap((row) => [...row]).reduce((a, b) => a + b) / 2450")
        assert mean_T < 0.02 or shift > 0
    driver.execute_script("closeBlocks([4])")
    assert driver.find_element("id", "closed").text.endswith("training images: not measured.")
    press(driver, "open")
    assert driver.execute_script("return [shown.shift, $('shift').value]") == [0, "0"]


@browser_only
@together
def test_a_drag_closes_many_and_the_answer_follows(driver, net):
    move_to_row(driver, "effect", 15).click_and_hold().perform()
    for row in (16, 30, 45):
        move_to_row(driver, "effect", row).perform()
    move_to_row(driver, "effect", 45).release().perform()
    assert closed(driver) == [*range(15, 46)]
    pixels = np.array(driver.execute_script("return [...shown.pixels]"), np.uint8)[None]
    twin = explorer.rounded(net)
    logits = through_open(twin, hn.pixels_for(net, pixels), range(15, 46))
    np.testing.assert_allclose(driver.execute_script("return [...now.logits]"), logits[0], atol=1e-4)
    bars = driver.find_elements("css selector", "#bars small")
    assert [int(bar.text) for bar in bars] == [round(100 * share) for share in softmax(logits)[0].tolist()]
    settle(driver)
    one_more = [through_open(twin, hn.pixels_for(net, pixels), {*range(15, 46), block})[0] for block in (1, 7, 49)]
    found = driver.execute_script("return [found.effects[0], found.effects[6], found.effects[48]]")
    np.testing.assert_allclose(found, softmax(np.array(one_more)), atol=1e-4)
    assert driver.execute_script("return found.effects[20]") is None


def settle(driver):
    """Waits until what the worker computes is drawn."""
    driver.execute_async_script(screenshots.SETTLED)


@browser_only
@together
def test_buttons_close_what_they_say(driver):
    driver.execute_script("$('from').value = 60; $('to').value = -3")
    press(driver, "open")
    assert closed(driver) == []
    press(driver, "close-range")
    assert closed(driver) == [*range(15, 46)]
    press(driver, "open")
    assert closed(driver) == []


@browser_only
@together
@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [("3", "5", [3, 4, 5]), ("45", "44", [44, 45]), ("", "3", []), ("2", "", []), ("0", "3", []), ("2", "50", [])],
)
def test_only_blocks_that_exist_can_be_closed(driver, start, end, expected):
    for name, text in (("from", start), ("to", end)):
        field = driver.find_element("id", name)
        field.clear()
        field.send_keys(text)
    press(driver, "close-range")
    assert closed(driver) == expected
    driver.execute_script("$('range').reset()")


@browser_only
@together
def test_the_chosen_block_s_measured_error_is_said(driver):
    driver.execute_script("shown.block = 7; redraw()")
    text = driver.find_element("id", "after").text
    assert text == f"Misread without block 7: {misread(7, 7).split()[0]} of 60 000 training images, with it 8."


@browser_only
@together
def test_a_finger_closes_a_block_by_its_number_and_reads_by_the_map(driver):
    """A tap on the number closes the block or opens it; a tap on the map only chooses the block."""
    driver.execute_script("takeAct(2, false)")
    for kind, row, expected in (("strip", 25, [[25], [], [25]]), ("grid", 30, [[25], [25]])):
        canvas = driver.find_element("css selector", f"#gates .{kind}")
        driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
        place = "const { left, top } = arguments[0].getBoundingClientRect();"
        left, top = driver.execute_script(f"{place} return [left, top + topOf({row}) + rowHeight() / 2]", canvas)
        clicked = "window.clicked = new Promise((done) => arguments[0].addEventListener('click', done, { once: true }))"
        for blocks in expected:
            driver.execute_script(clicked, canvas)
            for kind_of_event, points in (("touchStart", [{"x": left + 9, "y": top}]), ("touchEnd", [])):
                event = {"type": kind_of_event, "touchPoints": points}
                driver.execute_cdp_cmd("Input.dispatchTouchEvent", event)
            driver.execute_async_script("window.clicked.then(() => arguments[0]())")  # its click comes late
            assert closed(driver) == blocks
        assert driver.execute_script("return shown.block") == row


@browser_only
@together
def test_what_a_finger_must_hit_is_24_pixels_high_and_wide(driver):
    screenshots.look_as(driver, 400, 800)
    driver.execute_script("dispatchEvent(new Event('resize'))")
    driver.execute_script("takeAct(2, false)")  # the sliders reach a row or a cell that is smaller
    assert driver.find_element("id", "block").is_displayed()
    assert driver.find_element("id", "unit-number").is_displayed()
    small = """
    const all = [...document.querySelectorAll("button, select, input, a")];
    const isSmall = ({ height, width }) => height < 24 || width < 24;
    return all.filter((e) => [...e.getClientRects()].some(isSmall)).map((e) => e.outerHTML)
    """
    assert driver.execute_script(small) == []


@browser_only
@together
def test_a_change_is_announced_once_when_it_is_done(driver):
    """A screen reader hears of a moved slider, and of a drag, at its end only."""
    said = "window.said = []; new MutationObserver(() => window.said.push($('announced').textContent))"
    driver.execute_script(f"{said}.observe($('announced'), {{ childList: true, characterData: true, subtree: true }})")
    lives = "return [...document.querySelectorAll('[role=status], [aria-live], output')].map((e) => e.id)"
    assert driver.execute_script(f"{lives}.filter((id) => !id.endsWith('-value'))") == ["announced"]
    slide = "$('shift').value = arguments[0]; $('shift').dispatchEvent(new Event(arguments[1]))"
    for shift in (-1, -2, -3):
        driver.execute_script(slide, shift, "input")
    assert driver.execute_script("return window.said") == []
    driver.execute_script(slide, -3, "change")
    move_to_row(driver, "effect", 15).click_and_hold().perform()
    for row in (16, 18, 20):
        move_to_row(driver, "effect", row).perform()
    assert len(driver.execute_script("return window.said")) == 1
    move_to_row(driver, "effect", 20).release().perform()
    first, second = driver.execute_script("return window.said")
    assert "bT shifted by \u22123.00" in first
    assert "6 blocks, 15 to 20" in second


@browser_only
@together
@pytest.mark.parametrize(("width", "colors"), [(1280, "light"), (400, "dark")])
@pytest.mark.parametrize("act", [0, 1, 2])
def test_axe_finds_nothing(driver, width, colors, act):
    screenshots.look_as(driver, width, 900, colors=colors)
    driver.execute_script("only(range(14, 44)); shiftBy(-1); takeAct(arguments[0], false)", act)
    settle(driver)
    assert violations(driver) == []


@browser_only
@together
def test_the_first_act_is_guessed_before_it_is_told(opened):
    """Neither the page nor its map gives away how many blocks are harmless, until both guesses are made.  The map shows
    the states meanwhile, and nothing closes a block."""
    from selenium.webdriver import Keys

    open_anew(opened, screenshots.PAGE.as_uri())
    act = opened.find_element("id", "act")
    idle = DATA["lesion"]["idle"]
    assert f"{len(idle)}" not in opened.find_element("id", "first").text.replace("1 2 3", "")
    assert not opened.find_element("id", "changes").is_displayed()
    assert violations(opened) == []
    move_to_row(opened, "effect", 30).click().perform()
    grid = opened.find_element("css selector", "#effect .grid")
    grid.send_keys(Keys.HOME, Keys.ARROW_RIGHT, " ")
    assert closed(opened) == []
    state = opened.execute_script("return now.states[49][1]")
    assert opened.find_element("id", "announced").text == f"Block 49, unit 2: {state:.2f}.".replace("-", "\u2212")
    reached = []
    for guess, told in ((30, f"You guessed 30; it is {len(idle)}."), (1, "You guessed 1 %; it is 9.5 %.")):
        slider = act.find_element("css selector", "#questions input")
        opened.execute_script("arguments[0].value = arguments[1]", slider, guess)
        act.find_element("css selector", "#questions .main").click()
        assert told in act.text.replace("\u00a0", " ")
        reached.append(opened.switch_to.active_element.get_attribute("type"))
    assert reached == ["range", "button"]  # keys lead on to the next question, then to the next act
    assert closed(opened) == idle
    assert f"{100 * DATA['lesion']['error_all_idle']:.2g} %)." in opened.find_element("id", "closed").text
    assert f"{DATA['lesion']['closed_together']} can be closed together for less than 1 %" in act.text.replace(
        "\u00a0", " "
    )
    assert opened.find_elements("css selector", "#questions form") == []


@browser_only
@together
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (400, 800)])
def test_what_an_answer_tells_is_on_the_screen_with_the_map(opened, width, height):
    """Without a scroll; the way on stands out when the act's last question is answered, not before."""
    screenshots.look_as(opened, width, height)
    open_anew(opened, screenshots.PAGE.as_uri())
    for is_last in (False, True):
        opened.execute_script("document.querySelector('#questions .main').click()")
        settle(opened)
        assert opened.execute_script("return scrollY") == 0
        told, top_of_map = opened.execute_script(
            "const boxOf = (name) => [...document.querySelectorAll(name)].at(-1).getBoundingClientRect();"
            "return [boxOf('#questions .told').top, boxOf('#effect').top]"
        )
        assert told > 0
        assert top_of_map < height - 100
        assert opened.execute_script("return $('next').classList.contains('main')") == is_last
        assert len(opened.find_elements("css selector", "#tries li")) == 1 + is_last


@browser_only
@together
def test_the_note_says_which_blocks_move_the_answer(driver):
    told = driver.execute_script(
        "play.act = 0; found = { digit: 4, before: 0.5, effects: now.T.map(() => null) };"
        "const sharesOf = (four, nine) => range(0, 9).map((d) => (d === 4 ? four : d === 9 ? nine : 0));"
        "found.effects[2] = sharesOf(0.03, 0.9); found.effects[0] = sharesOf(0.87, 0.1);"
        "return [4, 9].map((label) => { shown.label = label; return whatMatters(); })"
    )
    assert told == [
        "Closing block 3: 47 points less sure, then reads 9; block 1: 37 points surer.",
        "Closing block 3: 47 points less sure of the wrong 4, then reads 9, right; "
        "block 1: 37 points surer of the wrong 4.",
    ]


@browser_only
@together
def test_an_empty_drawing_is_not_read(driver):
    """Nor does any sentence of the three acts speak of its answer."""
    driver.execute_script("shiftBy(2)")
    driver.find_element("id", "clear").click()
    assert driver.find_element("id", "clear").text == "Clear"
    assert driver.find_element("id", "says").text.split("\n") == ["–", "nothing drawn"]
    settle(driver)
    for act in range(3):
        driver.execute_script("takeAct(arguments[0], false)", act)
        assert driver.find_element("id", "note").text == "Draw a digit first."
        assert "Answer" not in driver.find_element("id", "closed").text
        assert "sure" not in driver.find_element("id", "map-ends").text
    assert driver.execute_script("return [changeOfAnswer(), afterBlock()]") == ["", ""]
    assert driver.find_elements("css selector", "#digits [aria-pressed=true]") == []


@browser_only
@together
def test_a_guess_is_told_beside_what_is_so_for_this_image(driver):
    driver.execute_script("play.answered = [0, 0, 0]; takeAct(1, false)")
    driver.execute_script("takeGuess(ACTS[1].questions[0], 12)")
    assert f"it is {driver.execute_script('return decidedAt(now.answers)')}." in driver.find_element("id", "act").text
    images = np.array(MEASURED["trials"]["decided"]["images"])
    told = f"{images[0] / 100:.1f} % are decided before the first block, "
    told += f"{images[:2].sum() / 100:.1f} % once block 1 is passed"
    told_after = f"after block 20 the answer still changes for {images[21:].sum() / 100:.1f} %."
    answer = driver.find_element("id", "act").text.replace("\u00a0", " ")
    assert told in answer
    assert told_after in answer
    driver.execute_script("offer(5)")
    decided = driver.execute_script("return decidedAt(now.answers)")
    assert f"For this image it is {decided}." in driver.find_element("id", "act").text
    driver.execute_script("takeAct(2, false); takeGuess(ACTS[2].questions[0], 12)")
    open_gates = driver.execute_script("return now.T.flatMap((row) => [...row]).filter((T) => T > 0.5).length")
    assert f"You guessed 12; it is {open_gates}." in driver.find_element("id", "act").text


@browser_only
@together
def test_a_guess_is_drawn_on_the_map_of_its_answer(driver):
    """Where it would be right: in the act of the blocks at the place of the 43rd from the top, if 43 were the guess."""
    driver.execute_script(
        "play.answered = [0, 0, 0]; for (const act of ACTS) for (const q of act.questions) delete q.told"
    )
    drawn = """
    const texts = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) { texts.push([`${text}`, y]); };
    redraw();
    CanvasRenderingContext2D.prototype.fillText = fillText;
    return texts.filter(([text]) => text.startsWith("your guess"));
    """
    for act, guess, line, text in (
        (0, 30, "topOf(20) + rowHeight()", "your guess: 30 above"),
        (1, 12, "topOf(12) + rowHeight()", "your guess: 12"),
    ):
        driver.execute_script("takeAct(arguments[0], false)", act)
        assert driver.execute_script(drawn) == []
        driver.execute_script("takeGuess(ACTS[arguments[0]].questions[0], arguments[1])", act, guess)
        assert driver.execute_script(drawn) == [[text, driver.execute_script(f"return {line}") - 6]]
    driver.execute_script("offer(5)")
    assert driver.execute_script(drawn) == []  # it was a guess of another image


@browser_only
@together
def test_two_lines_stand_below_a_map_and_the_others_are_folded(driver):
    lines = "[...document.querySelectorAll('#note, #sum, #after, #closed')].filter((line) => line.checkVisibility())"
    for act, folded in enumerate((["note"], ["after"], ["note", "after"])):
        driver.execute_script("takeAct(arguments[0], false)", act)
        settle(driver)
        assert driver.execute_script(f"return {lines}.map((line) => line.offsetHeight)") == [20, 20]
        assert driver.execute_script("return [...$('folded').querySelectorAll('p')].map((line) => line.id)") == folded


@browser_only
@together
def test_a_dot_of_the_map_is_wider_than_a_bar(driver):
    sizes = """
    const sizes = { dots: [], bars: [] };
    const { arc, fillRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.arc = function (x, y, r) { sizes.dots.push(2 * r); };
    drawEffect(plots.effect.grid.getContext("2d"), 400);
    CanvasRenderingContext2D.prototype.arc = arc;
    CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) { sizes.bars.push(height); };
    drawMoves(plots.effect.grid.getContext("2d"), 200);
    CanvasRenderingContext2D.prototype.fillRect = fillRect;
    return [Math.min(...sizes.dots), Math.min(...sizes.bars)];
    """
    for width, height in ((1280, 720), (1280, 1200), (400, 800)):
        screenshots.look_as(driver, width, height)
        dot, bar = driver.execute_script(sizes)
        assert dot > bar


@browser_only
@together
def test_back_leads_to_the_act_before(driver):
    from selenium.webdriver.support.wait import WebDriverWait

    driver.execute_script("only(range(14, 44)); shiftBy(-1)")
    press(driver, "next")
    assert closed(driver) == []  # the next question is about the whole net
    assert driver.execute_script("return shown.shift") == 0
    press(driver, "next")
    assert driver.execute_script("return [play.act, location.hash.split('&')[0]]") == [2, "#act=3"]
    assert not driver.find_element("id", "next").is_displayed()
    driver.back()
    WebDriverWait(driver, 10).until(lambda driver: driver.execute_script("return play.act") == 1)
    assert driver.find_element("id", "act-name").text.startswith("2. ")


@browser_only
@together
def test_an_address_that_is_not_understood_is_named(driver):
    for address, notice in (("act=9", "The address asks for act=9, which"), ("act=2", ""), ("acts", "asks for acts")):
        driver.execute_script("history.replaceState(null, '', `#${arguments[0]}`); takeAddress()", address)
        assert notice in driver.find_element("id", "unknown").text
        assert driver.find_element("id", "unknown").is_displayed() == bool(notice)


@browser_only
@together
def test_the_address_holds_the_image_and_the_changes(driver):
    """Whoever opens it sees them, and the answers of the act, of which a guess would come too late."""
    driver.execute_script("takeAct(2); closeBlocks([0, 1, 2, 6]); shiftBy(-0.5); announce()")
    address = driver.execute_script("return location.hash")
    index = DATA["images"]["list"][110][0]
    assert address == f"#act=3&image={index}&closed=1-3,7&shift=-0.5"
    driver.execute_script(
        "play.answered = [0, 0, 0]; takeAct(0); choose(3); history.replaceState(null, '', arguments[0])", address
    )
    driver.execute_script("takeAddress()")
    state = "[play.act, play.answered[2], shown.image, shown.shift, location.hash]"
    assert driver.execute_script(f"return {state}") == [2, 1, 110, -0.5, address]
    assert closed(driver) == [1, 2, 3, 7]
    now, whole = driver.execute_script("return [openGates(now), openGates()]")
    assert f"With your changes: {now}." in driver.find_element("id", "questions").text
    press(driver, "reset-shift")
    press(driver, "reset-closed")
    assert driver.execute_script("return [shown.shift, now === whole, document.activeElement.id]") == [
        0,
        True,
        "answer-title",
    ]
    assert "With your changes" not in driver.find_element("id", "questions").text
    assert now != whole


@browser_only
@together
def test_sliders_choose_a_block_and_a_unit_and_the_map_says_what_it_shows(driver):
    driver.execute_script("takeAct(2, false)")
    for name, value in (("block", 12), ("unit-number", 7)):
        slide = "$(arguments[0]).value = arguments[1]; $(arguments[0]).dispatchEvent(new Event('input'))"
        driver.execute_script(slide, name, value)
    assert driver.execute_script("return reading()").startswith("Block 12, unit 7: y = ")
    driver.execute_script("$('compare').value = 'states'; $('compare').dispatchEvent(new Event('change'))")
    label = driver.find_element("css selector", "#gates .grid").get_attribute("aria-label")
    assert label.startswith("the states y, block by block. Arrow keys move")
    driver.execute_script("$('compare').value = 'one'; $('compare').dispatchEvent(new Event('change'))")


@browser_only
@together
def test_an_image_is_not_called_right_where_the_changed_net_is_wrong(driver):
    driver.execute_script("only(range(0, 48))")
    assert driver.find_element("id", "says").text.endswith("wrong")
    assert "right" not in driver.find_element("id", "about").text


@browser_only
@together
def test_the_page_says_where_answers_are_decided(driver):
    """The share of the test images that are decided at the same block, and the share before it."""
    driver.execute_script("takeAct(1, false)")
    images = MEASURED["trials"]["decided"]["images"]
    half = select(MEASURED["summary"], row="decided")["median_block"]
    for digit in range(10):
        driver.execute_script("offer(arguments[0])", digit)
        decided = driver.execute_script("return decidedAt(now.answers)")
        assert re.match(rf"Decided (after block.{decided}|already)", driver.find_element("id", "note").text)
        text = driver.execute_script("return document.getElementById('help').textContent").replace("\u00a0", " ")
        shares = [float(share) for share in re.findall(r"([\d.]+) %", text)]
        expected = [images[decided] / 100]
        if decided:
            expected.append(sum(images[:decided]) / 100)
        np.testing.assert_allclose(shares, expected, atol=0.051)
        assert f"half of all once block {half} is passed" in text


@browser_only
@together
def test_maps_keep_their_own_paper_in_forced_colours(driver):
    forced = [{"name": "forced-colors", "value": "active"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": forced})
    for name in ("#effect .grid", "#effect .strip"):
        paper = driver.find_element("css selector", name).value_of_css_property("background-color")
        assert paper == "rgba(255, 255, 255, 1)"
    bars = driver.find_element("css selector", "#bars .first i")
    assert "gradient" in bars.value_of_css_property("background-image")
    forced[0]["value"] = "none"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": forced})


@browser_only
@together
def test_without_javascript_it_says_so(driver):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get(screenshots.PAGE.as_uri())
        body = driver.find_element("tag name", "body")
        assert "needs JavaScript; it is switched off here" in body.text
        assert "Which blocks matter" not in body.text
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        driver.get(screenshots.PAGE.as_uri())


@browser_only
@together
def test_the_keyboard_moves_and_closes(driver):
    from selenium.webdriver import Keys

    driver.execute_script("takeAct(2, false)")
    gates = driver.find_element("css selector", "#gates .grid")
    gates.send_keys(Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, " ")
    assert driver.execute_script("return [shown.block, shown.unit]") == [48, 2]
    assert closed(driver) == [48]
    gates.send_keys(Keys.SHIFT, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.NULL, Keys.ARROW_DOWN)
    assert closed(driver) == [46, 47, 48]
    assert driver.find_element("id", "announced").text.startswith("Block 45, unit 2: y = ")
    gates.send_keys(Keys.ARROW_UP, Keys.ENTER)
    assert closed(driver) == [47, 48]


@browser_only
@together
def test_a_drawn_digit_is_scaled_and_centred_as_in_mnist(driver, net):
    """A seven, drawn off the centre.  NumPy's net gives it the same answer as the page: 7."""
    from selenium.webdriver import ActionChains

    press(driver, "clear")
    picture = driver.find_element("id", "picture")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", picture)
    pen = ActionChains(driver, duration=20).move_to_element_with_offset(picture, -60, -60).click_and_hold()
    pen.move_by_offset(60, 0).move_by_offset(-30, 40).move_by_offset(-10, 40).release().perform()
    pixels = np.array(driver.execute_script("return [...shown.pixels]"), np.uint8)
    rows, columns = np.nonzero(pixels.reshape(28, 28) > 50)
    assert 19 <= max(np.ptp(rows), np.ptp(columns)) + 1 <= 21
    weights = pixels.reshape(28, 28) / pixels.sum()
    centre = [(weights.sum(axis=axis) * np.arange(28)).sum() for axis in (0, 1)]
    np.testing.assert_allclose(centre, [14, 14], atol=0.5)
    answer = explorer.rounded(net).predict(hn.pixels_for(net, pixels[None])).argmax()
    assert read(driver) == answer == 7


def read(driver) -> int:
    """What the net reads, as the page says."""
    return int(driver.find_element("css selector", "#says b").text)


@browser_only
@together
def test_a_digit_can_be_drawn_by_keys(driver):
    from selenium.webdriver import Keys

    driver.find_element("id", "picture").send_keys(*[Keys.ARROW_UP] * 6, " ", *[Keys.ARROW_DOWN] * 12)
    assert read(driver) == 1


@browser_only
@together
def test_an_answer_is_there_as_soon_as_something_changes(driver):
    """The answer and its time are there before the browser draws.  What the worker computes comes
    later."""
    logits = "[...now.logits]"
    text = "$('took').textContent"
    driver.execute_script("startDrawing(); stroke(80, 60)")
    for change in ("closeBlocks([24])", "stroke(160, 120)", "shiftBy(-2)"):
        before, after, took = driver.execute_script(
            f"const before = {logits}; {text} = ''; {change}; return [before, {logits}, {text}]"
        )
        assert before != after
        assert re.fullmatch(r"The last answer was computed and drawn in [\d.]+ ms\.", took)
    settle(driver)
    assert driver.execute_script("return [found.id === asked, found.before]") == [
        True,
        driver.execute_script("return Math.max(...now.answers[49])"),
    ]


@browser_only
@together
@pytest.mark.parametrize("width", [1280, 800, 400, 320])
def test_it_fits_and_nothing_is_cut(driver, width):
    screenshots.look_as(driver, width, 800)
    driver.execute_script("takeAct(2, false); play.answered[0] = 0; takeAct(0, false)")
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    settle(driver)
    boxes = ".controls, .line, .legend, .below p, #map-ends, #questions form"
    cut = f"[...document.querySelectorAll('{boxes}')].filter((e) => "
    cut += "e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"
    assert driver.execute_script(f"return {cut}") == []


@browser_only
@together
def test_every_view_of_the_gates_is_shown(driver):
    random = driver.execute_script("return SHOW.random.values().map((row) => [...row])")
    assert np.shape(random) == (49, 50)
    assert 0.1 < np.mean(random) < 0.25  # sigmoid(-2) is 0.12
    for view in ("mean", "less", "figure3", "random", "one"):
        driver.execute_script(
            "$('compare').value = arguments[0]; $('compare').dispatchEvent(new Event('change'))", view
        )
        shown = driver.execute_script("return gatesShown().values[3][4]")
        T, mean = (driver.execute_script(f"return {what}") for what in ("now.T[3][4]", "T_MEAN[3][4]"))
        of_class = DATA["gates"]["class_minus_mean"][7][3][4]
        expected = {"mean": mean + of_class, "less": T - mean - of_class, "figure3": of_class, "one": T}
        assert shown == pytest.approx(expected.get(view, random[3][4]))
