"""pages/explorer.html is what its program writes; in a real browser its numbers agree with those of
the same net in NumPy and with those of the lesion experiment."""

import base64
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.special
from conftest import ROOT, write_data_set

import highway_networks as hn
from experiments.lesion import lesion_trial as lesion
from highways.files import InputError, strict_json
from highways.nets import layer_by_layer
from highways.records import agree, load_results, select
from pages import explorer_net, measure, screenshots
from pages import make_explorer as explorer
from pages.browser import browser_only, complaints, open_anew, press, shown, text_of, together, violations, wait_for

PAGE = screenshots.PAGE.read_text(encoding="utf-8")
NET = {"net": explorer.NET, "net_sha256": explorer.checksum_of_net()}
DATA = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', PAGE)[1])
MEASURED = load_results(ROOT / "experiments" / "results" / "explorer.json")
HARMLESS = [*range(15, 46)]  # together they are not: the paper's range


@pytest.fixture(scope="module")
def net():
    return hn.DeepNet.load(ROOT / explorer.NET)


@pytest.fixture(scope="module")
def images(mnist):
    """20 test images, bytes."""
    return mnist.x_test[np.random.default_rng(0).choice(10000, 20, replace=False)]


@pytest.fixture
def given_mnist(monkeypatch, mnist):
    """The page's program takes the images that the tests have read."""
    monkeypatch.setattr(explorer, "load_page_mnist", lambda: mnist)


# ---- The file --------------------------------------------------------------------------------------------------------


def same_on_any_processor(page: str) -> str:
    """The page without the sentence about the rounded weights: its last digit depends on the
    processor."""
    return re.sub(r"no logit differs .*?\"", "", page)


@pytest.mark.thorough  # `publish --check` says each time whether the page is up to date
@pytest.mark.usefixtures("given_mnist")
def test_the_page_is_what_the_program_writes():
    written = explorer.whole_page()
    out_of_date = "pages/explorer.html is out of date: python -m pages.make_explorer writes it anew"
    assert same_on_any_processor(written) == same_on_any_processor(PAGE), out_of_date
    assert len(written.encode()) <= 2_000_000


def test_images_of_every_class_are_right_doubtful_and_wrong(mnist, net):
    """Each class has as many images of each kind.  The net with the rounded weights answers the
    wrong ones wrongly, and the others rightly.  Only in a right image the label has a probability
    above SURE."""
    pixels = np.frombuffer(base64.b64decode(DATA["images"]["pixels"]), np.uint8).reshape(-1, 784)
    logits = explorer.rounded(net).predict(hn.inputs_for(net, pixels)).astype(float)
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


def test_foreign_nets_and_images_are_refused(tmp_path, net, mnist, monkeypatch):
    untold = {"data_sha256": "0"}, {"trial": {"seed": 1}}
    for depth, about in ((3, {}), *((49, about) for about in untold)):
        other = hn.DeepNet(784, 10, 50, depth, "highway", 0)
        other.about |= net.about | about
        other.save(tmp_path / "net.npz")
        with pytest.raises(InputError):
            explorer_net.load_page_net(tmp_path / "net.npz", mnist)
    monkeypatch.setenv("MNIST_DIR", str(write_data_set(tmp_path / "MNIST", side=28, classes=10)))
    with pytest.raises(InputError):
        explorer_net.load_page_mnist()


@pytest.mark.usefixtures("given_mnist")
@pytest.mark.parametrize(
    ("name", "part", "change"),
    [
        ("gates", "settings", {"budget": "quick"}),
        ("lesion", "env", {"data_sets": {"MNIST": "0"}}),
        ("explorer", "settings", {"net_sha256": "0"}),
        ("explorer", "summary", []),
    ],
)
def test_records_of_another_budget_net_or_data_are_refused(monkeypatch, name, part, change):
    def load(path):
        record = load_results(path)
        if path.name != f"{name}.json":
            return record
        return record | {part: record[part] | change if change else change}

    monkeypatch.setattr(explorer, "load_results", load)
    with pytest.raises(InputError):
        explorer.whole_page()


# ---- What is measured on all images ----------------------------------------------------------------------------------


def test_a_range_is_closed_as_the_lesion_experiment_closes_a_set(mnist):
    net = hn.DeepNet(784, 10, 8, 5, "highway", 0, gate_bias=0.0)
    x = hn.scale_pixels(mnist.x_train[:700], np.float32)  # more than the slice that is computed at a time
    y = mnist.y_train[:700]
    wrong = measure.wrong_by_range(net, x, y)
    pairs = [(i, j) for i in range(5) for j in range(i, 5)]
    expected = lesion.with_closed(net, x, y, [list(range(i, j + 1)) for i, j in pairs]).wrong
    assert [wrong[pair] for pair in pairs] == expected.tolist()
    assert len(set(expected.tolist())) > 5


def test_an_answer_is_decided_where_it_changes_last(mnist):
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
    x = hn.inputs_for(net, mnist.x_test[:50])
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
    expected = {"net_sha256": explorer.checksum_of_net(), "n_train": 60000, "n_test": 10000}
    assert MEASURED["settings"].items() >= expected.items()
    wrong = [np.array(row) for row in MEASURED["trials"]["wrong"].values()]
    assert sum(map(len, wrong)) == select(MEASURED["summary"], row="ranges")["ranges"] == 1225
    trials = load_results(ROOT / "experiments" / "results" / "lesion.json")["trials"]
    [trial] = [t for t in trials if t["data"] == "MNIST" and t["seed"] == 1]
    near = {"atol": 3 / 60000, "rtol": 0.01}  # the last digits depend on the processor
    np.testing.assert_allclose([row[0] / 60000 for row in wrong], trial["errors"], **near)
    np.testing.assert_allclose([row[-1] / 60000 for row in wrong], trial["errors_above"][:-1], **near)
    unshifted = next(row for row in MEASURED["trials"]["shifts"] if row["shift"] == 0)
    assert unshifted["train_error"] == pytest.approx(trial["error"], abs=3 / 60000)
    assert unshifted["test_accuracy"] == pytest.approx(0.9693, abs=3e-4)
    assert sum(MEASURED["trials"]["decided"]["images"]) == 10000


# ---- In a browser ----------------------------------------------------------------------------------------------------


ANSWERED = """
play.answered = ACTS.map(({ questions }) => questions.length);
Object.assign(shown, { block: 1, unit: 1, shift: 0, compare: "one" });
takeAct(0, false);
only([]);
offer(7);
choose(110);
"""
ACTS = {"effect": 0, "read": 1, "gates": 2}  # by the map that they show


@pytest.fixture(scope="module")
def page(opened):
    open_anew(opened, screenshots.PAGE.as_uri())
    return opened


@pytest.fixture
def driver(page):
    """The page with all questions answered, the first act, and a doubtful 7 chosen.  No test may leave
    an error on the console."""
    screenshots.look_as(page, 1280, 900)
    page.execute_script(ANSWERED)
    settle(page)
    yield page
    assert complaints(page) == []


def settle(driver):
    """Waits until what the worker computes is drawn."""
    driver.execute_async_script(screenshots.SETTLED)


def of_images(driver, rows: str, images: np.ndarray) -> np.ndarray:
    """The numbers, (N, n), of the rows that a JavaScript expression gives for each image, which is `pixels` in it."""
    code = f"""
    const bytes = bytesOf(arguments[0]), found = [];
    for (let at = 0; at < bytes.length; at += 784) {{
      const pixels = bytes.subarray(at, at + 784);
      found.push(({rows}).flatMap((row) => [...row]));
    }}
    return JSON.stringify(found);
    """
    return np.array(json.loads(driver.execute_script(code, base64.b64encode(images.tobytes()).decode())))


def softmax(logits: np.ndarray) -> np.ndarray:
    return scipy.special.softmax(np.asarray(logits, float), axis=-1)


def move_to_row(driver, plot: str, row: int, kind="strip"):
    from selenium.webdriver import ActionChains

    driver.execute_script("if (play.act !== arguments[0]) takeAct(arguments[0], false)", ACTS[plot])
    canvas = driver.find_element("css selector", f"#{plot} .{kind}")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    middle = driver.execute_script("return topOf(arguments[0]) + rowHeight() / 2 - plotHeight() / 2", row)
    return ActionChains(driver, duration=10).move_to_element_with_offset(canvas, 0, round(middle))


def closed(driver) -> list[int]:
    """The closed blocks, counted from 1."""
    return shown(driver, "[...shown.closed].map((layer) => layer + 1).sort((a, b) => a - b)")


def through_open(net, x, closed_blocks) -> np.ndarray:
    """The logits with these blocks closed, by the function of the lesion experiment."""
    open_layers = [layer for layer in range(net.depth) if layer + 1 not in closed_blocks]
    return lesion.through(net, layer_by_layer.first_state(net, x), open_layers)


def misread(first: int, last: int) -> str:
    """How many training images are misread with these blocks closed, as the page writes it."""
    wrong = MEASURED["trials"]["wrong"][str(first)][last - first]
    return f"{wrong} ({100 * (wrong / 60000):.2g} %)"


def read(driver) -> int:
    """What the net reads, as the page says."""
    return int(driver.find_element("css selector", "#says b").text)


@browser_only
@together
def test_the_forward_pass_agrees_with_numpy(driver, net, images):
    """Gates, the answer after every block, and the logits, also with b_T shifted."""
    x = hn.inputs_for(net, images)
    twin = explorer.rounded(net)
    states = [layer_by_layer.first_state(twin, x)]
    states += [y for *_, y in layer_by_layer.walk(twin, states[0])]
    answers = np.stack([softmax(layer_by_layer.logits(twin, state)) for state in states], axis=1)
    expected = [twin.predict(x), twin.gates(x).transpose(1, 0, 2), answers]
    expected += [measure.shifted(twin, shift).predict(x) for shift in (-4, 2)]
    shifted = "net.run(pixels, new Set(), -4).logits, net.run(pixels, new Set(), 2).logits"
    found = of_images(driver, "(({ logits, T, answers }) => [logits, ...T, ...answers])(net.run(pixels))", images)
    found = np.hstack([found, of_images(driver, f"[{shifted}]", images)])
    np.testing.assert_allclose(found, np.hstack([part.reshape(20, -1) for part in expected]), atol=1e-4, rtol=0)
    assert np.abs(found[:, :10] - net.predict(x)).max() < 0.02  # from the unrounded net; the page says by how much


@browser_only
@together
def test_a_press_on_a_number_closes_a_block_as_the_experiment_does(driver, net, images):
    move_to_row(driver, "gates", 2).click().perform()
    assert closed(driver) == [2]
    found = of_images(driver, "[net.run(pixels, shown.closed).logits]", images)
    twin = explorer.rounded(net)
    x = hn.inputs_for(net, images)
    np.testing.assert_allclose(found, through_open(twin, x, [2]), atol=1e-4, rtol=0)
    assert np.abs(found - twin.predict(x)).max() > 0.1
    assert misread(2, 2) in text_of(driver, "closed")
    move_to_row(driver, "gates", 2).click().perform()
    assert closed(driver) == []


@browser_only
@together
def test_a_drag_closes_many_and_the_answer_follows(driver, net):
    move_to_row(driver, "effect", 15).click_and_hold().perform()
    move_to_row(driver, "effect", 30).perform()
    move_to_row(driver, "effect", 45).release().perform()
    assert closed(driver) == HARMLESS
    pixels = np.array(shown(driver, "[...shown.pixels]"), np.uint8)[None]
    twin = explorer.rounded(net)
    x = hn.inputs_for(net, pixels)
    logits = through_open(twin, x, HARMLESS)
    np.testing.assert_allclose(shown(driver, "[...now.logits]"), logits[0], atol=1e-4)
    bars = shown(driver, "[...document.querySelectorAll('#bars small')].map((bar) => Number(bar.textContent))")
    assert bars == [round(100 * share) for share in softmax(logits)[0].tolist()]
    settle(driver)
    one_more = [through_open(twin, x, {*HARMLESS, block})[0] for block in (1, 7, 49)]
    *found, of_closed = shown(driver, "[0, 6, 48, 20].map((layer) => found.effects[layer])")
    np.testing.assert_allclose(found, softmax(one_more), atol=1e-4)
    assert of_closed is None


@browser_only
@together
def test_a_click_on_a_unit_shows_its_sum(driver):
    move_to_row(driver, "gates", 12, "grid").click().perform()
    assert closed(driver) == []
    assert shown(driver, "shown.block") == 12
    H, T, x, y = shown(driver, "[now.H[11], now.T[11], ...now.states.slice(11, 13)].map((row) => row[shown.unit - 1])")
    assert y == pytest.approx(H * T + x * (1 - T))
    numbers = re.findall(r"-?\d+\.\d+", text_of(driver, "sum").replace("\u2212", "-"))
    np.testing.assert_allclose([float(number) for number in numbers], [H, T, x, 1 - T, y], atol=0.0051)
    press(driver, "toggle")
    assert closed(driver) == [12]


@browser_only
@together
def test_all_ranges_and_shifts_have_their_measured_error(driver):
    found = shown(driver, "range(0, 48).map((i) => range(i, 48).map((j) => errorOfRange(i, j)))")
    assert found == [[wrong / 60000 for wrong in row] for row in MEASURED["trials"]["wrong"].values()]
    press(driver, "close-range")
    assert closed(driver) == HARMLESS
    assert misread(15, 45) in text_of(driver, "closed")
    driver.execute_script("only([0, 2])")
    assert text_of(driver, "closed").endswith("not measured.")
    errors = {row["shift"]: row["train_error"] for row in MEASURED["trials"]["shifts"]}
    for shift in (-4, 0.25):
        slide = "only([]); $('shift').value = arguments[0]; $('shift').dispatchEvent(new Event('input'))"
        driver.execute_script(slide, shift)
        error = re.search(r"\(([\d.e-]+) %\)\.$", text_of(driver, "closed"))[1]
        assert float(error) == float(f"{100 * errors[shift]:.2g}")
    driver.execute_script("closeBlocks([4])")
    assert text_of(driver, "closed").endswith("not measured.")
    press(driver, "open")
    assert closed(driver) == []
    assert shown(driver, "[shown.shift, $('shift').value]") == [0, "0"]


@browser_only
@together
def test_only_blocks_that_exist_can_be_closed(driver):
    script = "only([]); [$('from').value, $('to').value] = arguments; $('close-range').click()"
    for start, end, expected in (("45", "44", [44, 45]), ("", "3", []), ("2", "50", [])):
        driver.execute_script(script, start, end)
        assert closed(driver) == expected
    driver.execute_script("$('range').reset()")


@browser_only
@together
def test_every_view_of_the_gates_is_shown(driver):
    """A cell of each, of the image of a 7."""
    script = """
    const cells = {};
    for (const view of ["mean", "less", "figure3", "random", "one"]) {
      $("compare").value = view;
      $("compare").dispatchEvent(new Event("change"));
      cells[view] = gatesShown().values[3][4];
    }
    return [cells, now.T[3][4], T_MEAN[3][4], SHOW.random.values().map((row) => [...row])];
    """
    cells, T, mean, random = driver.execute_script(script)
    of_class = DATA["gates"]["hundredths"][7][3][4] / 100
    expected = {"mean": mean + of_class, "less": T - mean - of_class, "figure3": of_class, "one": T}
    assert cells == pytest.approx({**expected, "random": random[3][4]})
    assert np.shape(random) == (49, 50)
    assert 0.1 < np.mean(random) < 0.25  # sigmoid(-2) is 0.12


@browser_only
@together
def test_the_first_act_is_guessed_before_it_is_told(opened):
    """Neither the page nor its map gives away how many blocks are harmless, until both guesses are made, and nothing
    closes a block."""
    open_anew(opened, screenshots.PAGE.as_uri())
    lesions = DATA["lesion"]
    idle = lesions["idle"]
    assert f"{len(idle)}" not in text_of(opened, "first").replace("1 2 3", "")
    assert violations(opened) == []
    move_to_row(opened, "effect", 30).click().perform()
    opened.find_element("css selector", "#effect .grid").send_keys(" ")
    assert closed(opened) == []
    for guess, told in ((30, f"{len(idle)}."), (1, f"{100 * lesions['error_all_idle']:.2g} %.")):
        opened.execute_script("document.querySelector('#questions input').value = arguments[0]", guess)
        opened.find_element("css selector", "#questions .main").click()
        assert f"it is {told}" in text_of(opened, "act").replace("\u00a0", " ")
    assert closed(opened) == idle
    assert f"{lesions['closed_together']} can be closed together" in text_of(opened, "act").replace("\u00a0", " ")
    assert complaints(opened) == []


@browser_only
@together
def test_the_page_says_where_answers_are_decided(driver):
    """The share of the test images that are decided at the same block, and the share before it."""
    images = MEASURED["trials"]["decided"]["images"]
    half = select(MEASURED["summary"], row="decided")["median_block"]
    script = """
    takeAct(1, false);
    return range(0, 9).map((digit) => {
      offer(digit);
      return [decidedAt(now.answers), $("help").textContent];
    });
    """
    for decided, text in driver.execute_script(script):
        shares = [float(share) for share in re.findall(r"([\d.]+) %", text.replace("\u00a0", " "))]
        expected = [images[decided] / 100]
        if decided:
            expected.append(sum(images[:decided]) / 100)
        np.testing.assert_allclose(shares, expected, atol=0.051)
        assert f"block {half} " in text.replace("\u00a0", " ")
    driver.execute_script("play.answered = [0, 0, 0]; takeAct(1, false); takeGuess(ACTS[1].questions[0], 12)")
    answer = text_of(driver, "act").replace("\u00a0", " ")
    for share in (images[0], sum(images[:2]), sum(images[21:])):
        assert f" {share / 100:.1f} %" in answer


@browser_only
@together
def test_nothing_is_said_that_is_not_so(driver):
    """A right image that the changed net misreads is not called right; an empty drawing is not read; a new answer is
    there at once, and the worker's is of the last change."""
    driver.execute_script("only(range(0, 48))")
    assert "right" not in text_of(driver, "about")
    press(driver, "clear")
    assert re.search(r"\d", text_of(driver, "says")) is None
    assert shown(driver, "[changeOfAnswer(), afterBlock()]") == ["", ""]
    script = """
    only([]);
    startDrawing();
    stroke(80, 60);
    return [() => closeBlocks([24]), () => stroke(160, 120), () => shiftBy(-2)].map((change) => {
      change();
      return [...now.logits];
    });
    """
    assert len({tuple(logits) for logits in driver.execute_script(script)}) == 3
    settle(driver)
    assert shown(driver, "found.id === asked && found.before === Math.max(...now.answers[49])")


@browser_only
@together
def test_back_leads_to_the_act_before(driver):
    driver.execute_script("only(range(14, 44)); shiftBy(-1)")
    press(driver, "next")
    assert closed(driver) == []  # the next question is about the whole net
    assert shown(driver, "shown.shift") == 0
    press(driver, "next")
    assert shown(driver, "[play.act, location.hash.split('&')[0]]") == [2, "#act=3"]
    driver.back()
    wait_for(driver, "play.act === 1")


@browser_only
@together
def test_the_address_holds_the_image_and_the_changes(driver):
    """Whoever opens it sees them, and the answers of the act, of which a guess would come too late."""
    driver.execute_script("takeAct(2); closeBlocks([0, 1, 2, 6]); shiftBy(-0.5); announce()")
    address = shown(driver, "location.hash")
    index = DATA["images"]["list"][110][0]
    assert address == f"#act=3&image={index}&closed=1-3,7&shift=-0.5"
    take = "history.replaceState(null, '', arguments[0]); takeAddress()"
    driver.execute_script(f"play.answered = [0, 0, 0]; takeAct(0); choose(3); {take}", address)
    assert shown(driver, "[play.act, play.answered[2], shown.image, shown.shift, location.hash]") == [
        2,
        1,
        110,
        -0.5,
        address,
    ]
    assert closed(driver) == [1, 2, 3, 7]
    now, whole = shown(driver, "[openGates(now), openGates()]")
    assert now != whole
    assert f"With your changes: {now}." in text_of(driver, "questions")
    press(driver, "reset-shift")
    press(driver, "reset-closed")
    assert shown(driver, "shown.shift === 0 && now === whole")
    for wrong in ("act=9", "acts"):
        driver.execute_script(take, f"#{wrong}")
        assert shown(driver, "play.act") == 0


@browser_only
@together
def test_the_keyboard_moves_closes_and_draws(driver):
    from selenium.webdriver import Keys

    driver.execute_script("takeAct(2, false)")
    gates = driver.find_element("css selector", "#gates .grid")
    gates.send_keys(Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, " ")
    assert shown(driver, "[shown.block, shown.unit]") == [48, 2]
    assert closed(driver) == [48]
    gates.send_keys(Keys.SHIFT, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.NULL, Keys.ARROW_DOWN)
    assert closed(driver) == [46, 47, 48]
    gates.send_keys(Keys.ARROW_UP, Keys.ENTER)
    assert closed(driver) == [47, 48]
    press(driver, "open")
    press(driver, "clear")
    driver.find_element("id", "picture").send_keys(*[Keys.ARROW_UP] * 6, " ", *[Keys.ARROW_DOWN] * 12)
    assert read(driver) == 1


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
    answer = explorer.rounded(net).predict(hn.inputs_for(net, pixels[None])).argmax()
    assert read(driver) == answer == 7


@browser_only
@together
@pytest.mark.parametrize(("act", "width", "colors"), [(0, 1280, "light"), (1, 400, "dark"), (2, 400, "light")])
def test_every_act_is_accessible_and_fits(driver, act, width, colors):
    screenshots.look_as(driver, width, 900, colors=colors)
    driver.execute_script("only(range(14, 44)); shiftBy(-1); takeAct(arguments[0], false)", act)
    settle(driver)
    assert violations(driver) == []
    assert shown(driver, "document.documentElement.scrollWidth") <= width


@browser_only
@together
def test_a_screen_reader_hears_of_a_moved_slider_at_its_end_only(driver):
    script = """
    window.said = [];
    const listen = new MutationObserver(() => window.said.push($("announced").textContent));
    listen.observe($("announced"), { childList: true, characterData: true, subtree: true });
    for (const [shift, kind] of [[-1, "input"], [-2, "input"], [-2, "change"]]) {
      $("shift").value = shift;
      $("shift").dispatchEvent(new Event(kind));
    }
    """
    driver.execute_script(script)
    assert len(shown(driver, "window.said")) == 1
