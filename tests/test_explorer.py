"""docs/explorer.html: what the program writes, held to NumPy's net and to the lesion experiment in a real browser."""

import base64
import copy
import json
import re

import numpy as np
import pytest
from conftest import ROOT, write_data_set
from test_docs import COMMANDS, READ, slug

import highway_networks as hn
import make_highway_explorer as explorer
from benchmarks import explorer as benchmark
from experiments import lesion
from explorer import screenshots
from training import layer_by_layer

PAGE = screenshots.PAGE.read_text(encoding="utf-8")
DATA = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', PAGE)[1])
NO_BROWSER = screenshots.missing()
browser_only = pytest.mark.skipif(bool(NO_BROWSER), reason=f"there is no {NO_BROWSER}")
together = pytest.mark.xdist_group("one browser")


@pytest.fixture(scope="module")
def net():
    return hn.DeepNet.load(ROOT / explorer.NET)


@pytest.fixture(scope="module")
def images(mnist):
    """200 test images, bytes."""
    return mnist.x_test[np.random.default_rng(0).choice(10000, 200, replace=False)]


# ---- The file --------------------------------------------------------------------------------------------------------


def same_on_any_processor(page: str) -> str:
    """Without the sentence about the rounded weights, whose last digit is a matter of the processor's rounding."""
    return re.sub(r"no logit differs .*?\"", "", page)


def test_the_page_is_what_the_program_writes(tmp_path, mnist, monkeypatch, capsys):
    monkeypatch.setattr(explorer, "load_mnist", lambda: mnist)
    monkeypatch.setattr(explorer, "load_record", lambda path: READ(path.name))
    assert explorer.main(["--out", str(tmp_path / "page.html")]) == 0, capsys.readouterr().err
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert same_on_any_processor(written) == same_on_any_processor(PAGE)
    assert len(written.encode()) <= 2_000_000


def test_it_needs_nothing_else():
    assert re.findall(r"https?:|\bsrc\s*=|@import|url\(|fetch\(|/\*\{", PAGE) == []


def test_its_links_and_commands_are_there():
    links = re.findall(r'href="([^"]+)"', PAGE)
    for path, _, anchor in (link.partition("#") for link in links):
        headings = re.findall(r"^#+ (.+)", (ROOT / "docs" / path).read_text(encoding="utf-8"), re.M)
        assert not anchor or anchor in map(slug, headings)
    named = re.findall(r"<code>(python .*?)</code>", PAGE)
    for command in named:
        assert any(command == known or known.startswith(f"{command} --data-dir") for known in COMMANDS)


def test_images_of_every_class_are_right_doubtful_and_wrong(mnist, net):
    """By the net with the rounded weights."""
    pixels = np.frombuffer(base64.b64decode(DATA["images"]["pixels"]), np.uint8).reshape(-1, 784)
    answers = explorer.rounded(net).predict(hn.pixels_for(net, pixels)).argmax(axis=1)
    kinds = {(label, kind): 0 for label in range(10) for kind in ("right", "doubtful", "wrong")}
    for (index, label, kind), image, answer in zip(DATA["images"]["list"], pixels, answers, strict=True):
        kinds[label, kind] += 1
        assert mnist.y_test[index] == label
        assert (mnist.x_test[index] == image).all()
        assert (answer == label) == (kind != "wrong")
    assert set(kinds.values()) == {explorer.IMAGES_A_KIND}


def test_weights_that_do_not_bear_rounding_are_refused(mnist, net):
    """A net whose outputs are all but alike: float16 cannot tell them apart."""
    spoilt = hn.DeepNet(784, 10, 2, 1, "highway", 0)
    spoilt.about |= net.about
    spoilt.W_out[:] = 1
    spoilt.b_out[:] = 1 + np.arange(10) * 1e-5
    with pytest.raises(explorer.InputError, match=r"answer changes for .* of the 10000 test images"):
        explorer.net_part(spoilt, mnist)


@pytest.fixture
def write(tmp_path, monkeypatch, mnist, capsys):
    """write(net=..., run=...): the status of the program and its stderr, with these files in place of the project's."""
    files = {}
    load_net = hn.DeepNet.load
    load_record = explorer.load_record
    monkeypatch.setattr(explorer, "load_mnist", lambda: mnist)
    monkeypatch.setattr(explorer.DeepNet, "load", lambda path: load_net(files.get("net", path)))
    monkeypatch.setattr(explorer, "load_record", lambda path: load_record(files["run"]))

    def run_program(**given):
        files.update(given)
        files.setdefault("run", write_json(tmp_path / "run.json", READ("run.json")))
        status = explorer.main(["--out", str(tmp_path / "page.html")])
        assert (tmp_path / "page.html").exists() == (status == 0)
        return status, capsys.readouterr().err

    return run_program


def write_json(path, record):
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def refused(answer) -> str:
    status, error = answer
    assert status == 2
    assert error.count("\n") == 1
    assert "error: " in error
    return error


@pytest.mark.parametrize(
    ("sizes", "kind", "about", "message"),
    [
        ((784, 10, 50, 3, "highway"), {}, {}, "depth 3, not 49"),
        ((36, 3, 8, 2, "plain"), {}, {}, "d_in 36, not 784; d_out 3, not 10; hidden 8, not 50"),
        ((784, 10, 50, 49, "plain"), {}, {}, "block plain, not highway"),
        ((784, 10, 50, 49, "highway"), {"activation": "relu"}, {}, "activation relu, not tanh"),
        ((784, 10, 50, 49, "highway"), {"dtype": np.float64}, {}, "float64, not float32"),
        ((784, 10, 50, 49, "highway"), {}, {"pixels": None}, "it does not say how it was trained"),
        ((784, 10, 50, 49, "highway"), {}, {"trial": [1]}, "it does not say how it was trained"),
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
    assert "is not a net that DeepNet.save() wrote" in refused(write(net=tmp_path / "net.npz"))
    other = copy.deepcopy(net)
    other.about = net.about | {"trial": net.about["trial"] | {"rate": 1.0}}
    other.save(tmp_path / "net.npz")
    message = f"error: results/gates.json has no trial of {explorer.NET}: python -m experiments gates"
    assert message in refused(write(net=tmp_path / "net.npz"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data_set": "folder MNIST"}, "data_set folder MNIST, not MNIST"),
        ({"epochs": 3, "n_train": 600}, "epochs 3, not 12"),
    ],
)
def test_a_run_of_other_settings_or_data_is_not_the_headlines(tmp_path, write, change, message):
    run = write_json(tmp_path / "other.json", READ("run.json") | change)
    assert message in refused(write(run=run))


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


def test_accuracies_and_gates_are_of_the_same_epochs():
    """Gates may be known before the first epoch, too, and the epochs of the two nets need not be in one order."""
    record = copy.deepcopy(READ("run.json"))
    expected = explorer.run_part(record)
    highway, plain = (record["runs"][0][block] for block in ("highway", "plain"))
    n_layers = len(highway["layer_T_history"][0][1])
    highway["layer_T_history"].insert(0, [0, [0.5] * n_layers])
    for name, values in plain["history"].items():
        plain["history"][name] = values[::-1]
    assert explorer.run_part(record) == expected


def test_an_epoch_without_gates_or_accuracy_is_refused(tmp_path, write):
    record = copy.deepcopy(READ("run.json"))
    del record["runs"][0]["highway"]["layer_T_history"][3]
    assert "KeyError(4)" in refused(write(run=write_json(tmp_path / "other.json", record)))


def test_a_first_pair_of_another_depth_is_not_the_headlines(tmp_path, write):
    record = copy.deepcopy(READ("run.json"))
    record["runs"][0]["depth"] = 5
    assert "(depth, seed) [(5, 0)], not [(30, 0)]" in refused(write(run=write_json(tmp_path / "other.json", record)))


def test_mnist_is_read_where_mnist_dir_says_and_no_other_set(tmp_path, monkeypatch, mnist):
    monkeypatch.setenv("MNIST_DIR", str(write_data_set(tmp_path / "MNIST", side=28, classes=10)))
    with pytest.raises(explorer.InputError, match=r"^\$MNIST_DIR names .* is not MNIST but folder MNIST; the page is"):
        explorer.load_page_mnist()
    assert explorer.main(["--out", str(tmp_path / "page.html")]) == 2
    monkeypatch.setenv("MNIST_DIR", str(hn.BUNDLED))
    assert explorer.load_page_mnist().sha256 == mnist.sha256


def test_another_file_than_a_page_is_refused(tmp_path, capsys):
    assert explorer.main(["--out", str(tmp_path / "page.png")]) == 2
    assert "page.png does not end in .html" in capsys.readouterr().err


# ---- In a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def opened():
    with screenshots.browser() as driver:
        yield driver


@pytest.fixture
def driver(opened):
    """The page as when it was opened, a doubtful 7 chosen; no test may leave an error on the console."""
    screenshots.look_as(opened, 1280, 900)
    opened.execute_script("Object.assign(shown, { block: 1, unit: 1 }); only([]); offer(7); choose(110)")
    yield opened
    assert [entry for entry in opened.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


def of_images(driver, script: str, images: np.ndarray) -> np.ndarray:
    """(N, n) float32: for each image the numbers that the script, which knows it as `pixels`, evaluates to."""
    code = """
    const bytes = bytesOf(arguments[0]), parts = [];
    for (let at = 0; at < bytes.length; at += 784) {
      const pixels = bytes.subarray(at, at + 784);
      const numbers = new Uint8Array(Float32Array.from(%s).buffer);
      parts.push(String.fromCharCode(...numbers)); // of some 2500 numbers at most
    }
    return btoa(parts.join(""));
    """
    text = driver.execute_script(code % script, base64.b64encode(images.tobytes()).decode())
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(len(images), -1)


@browser_only
@together
def test_the_forward_pass_is_numpy_s(driver, net, images):
    x = hn.pixels_for(net, images)
    twin = explorer.rounded(net)
    logits_and_gates = "(({ logits, T }) => [logits, ...T].flatMap((row) => [...row]))(net.run(pixels))"
    found = of_images(driver, logits_and_gates, images)
    logits, gates = np.split(found, [10], axis=1)
    np.testing.assert_allclose(logits, twin.predict(x), atol=1e-4, rtol=0)
    np.testing.assert_allclose(gates, twin.gates(x).transpose(1, 0, 2).reshape(200, -1), atol=1e-4, rtol=0)
    assert np.abs(logits - net.predict(x)).max() < 0.02  # the unrounded net: the page says by how much it differs


@browser_only
@together
def test_the_answer_after_every_block_is_numpy_s(driver, net, images):
    twin = explorer.rounded(net)
    states = [layer_by_layer.first(twin, hn.pixels_for(net, images[:20]))]
    states += [y for *_, y in layer_by_layer.walk(twin, states[0])]
    expected = [softmax(layer_by_layer.logits(twin, state)) for state in states]
    found = of_images(driver, "net.run(pixels).answers.flat()", images[:20])
    np.testing.assert_allclose(found, np.stack(expected, axis=1).reshape(20, -1), atol=1e-4, rtol=0)


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def move_to_row(driver, plot: str, row: int, kind="strip"):
    from selenium.webdriver import ActionChains

    canvas = driver.find_element("css selector", f"#{plot} .{kind}")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    middle = driver.execute_script("return topOf(arguments[0]) + ROW / 2 - HEIGHT / 2", row)
    return ActionChains(driver, duration=10).move_to_element_with_offset(canvas, 0, round(middle))


def closed(driver) -> list[int]:
    """Blocks, counted from 1."""
    return driver.execute_script("return [...shown.closed].map((layer) => layer + 1).sort((a, b) => a - b)")


def through_open(net, x, closed_blocks) -> np.ndarray:
    """Logits by the function that the lesion experiment closes blocks with."""
    open_layers = [layer for layer in range(net.depth) if layer + 1 not in closed_blocks]
    return lesion.through(net, layer_by_layer.first(net, x), open_layers)


@browser_only
@together
def test_a_click_closes_a_block_as_the_experiment_does(driver, net, images):
    move_to_row(driver, "gates", 2).click().perform()
    assert closed(driver) == [2]
    found = of_images(driver, "net.run(pixels, shown.closed).logits", images)
    twin = explorer.rounded(net)
    x = hn.pixels_for(net, images)
    np.testing.assert_allclose(found, through_open(twin, x, [2]), atol=1e-4, rtol=0)
    assert np.abs(found - twin.predict(x)).max() > 0.1
    measured = f"{100 * DATA['lesion']['errors'][1]:.2g} %"
    assert measured in driver.find_element("id", "closed").text
    move_to_row(driver, "gates", 2, "grid").click().perform()
    assert closed(driver) == []


@browser_only
@together
def test_a_drag_closes_many_and_the_answer_follows(driver, net):
    move_to_row(driver, "states", 15).click_and_hold().perform()
    for row in (16, 30, 45):
        move_to_row(driver, "states", row).perform()
    move_to_row(driver, "states", 45).release().perform()
    assert closed(driver) == [*range(15, 46)]
    pixels = np.array(driver.execute_script("return [...shown.pixels]"), np.uint8)[None]
    twin = explorer.rounded(net)
    logits = through_open(twin, hn.pixels_for(net, pixels), range(15, 46))
    np.testing.assert_allclose(driver.execute_script("return [...now.logits]"), logits[0], atol=1e-4)
    bars = driver.find_elements("css selector", "#bars small")
    assert [int(bar.text) for bar in bars] == [round(100 * share) for share in softmax(logits)[0].tolist()]
    settle(driver)
    one_more = [through_open(twin, hn.pixels_for(net, pixels), {*range(15, 46), block})[0] for block in (1, 7, 49)]
    found = driver.execute_script("return [each[0], each[6], each[48]]")
    np.testing.assert_allclose(found, softmax(np.array(one_more)), atol=1e-4)
    assert driver.execute_script("return each[20]") is None


def settle(driver):
    """Waits until what is drawn in the next frame is drawn."""
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")


@browser_only
@together
def test_buttons_close_what_they_say(driver):
    press(driver, "close-idle")
    assert closed(driver) == DATA["lesion"]["idle"]
    assert f"{100 * DATA['lesion']['error_all_idle']:.2g} %" in driver.find_element("id", "closed").text
    press(driver, "open")
    assert closed(driver) == []
    press(driver, "close-range")
    assert closed(driver) == [*range(15, 46)]
    driver.execute_script("$('above').value = 10; $('above').dispatchEvent(new Event('input'))")
    assert closed(driver) == [*range(11, 50)]
    assert f"{100 * DATA['lesion']['errors_above'][10]:.2g} %" in driver.find_element("id", "closed").text


@browser_only
@together
@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [("3", "5", [3, 4, 5]), ("45", "44", [44, 45]), ("", "3", []), ("2", "", []), ("0", "3", []), ("2", "50", [])],
)
def test_only_blocks_that_are_there_can_be_asked_for(driver, start, end, expected):
    for name, text in (("from", start), ("to", end)):
        field = driver.find_element("id", name)
        field.clear()
        field.send_keys(text)
    press(driver, "close-range")
    assert closed(driver) == expected
    driver.execute_script("$('range').reset()")


@browser_only
@together
def test_where_nothing_is_drawn_or_open_the_page_says_so(driver):
    press(driver, "clear")
    assert driver.find_element("id", "says").text.startswith("Nothing drawn: ")
    driver.execute_script("only(range(0, 48))")
    settle(driver)
    assert driver.find_element("id", "matter").text == "No block is open."


@browser_only
@together
def test_the_reading_tells_what_was_measured_of_the_whole_net(driver):
    driver.execute_script("only(range(14, 44)); shown.block = 7; read()")
    of_all = DATA["lesion"]
    whole = f"{100 * of_all['error']:.2g} %"
    after = f"{100 * of_all['errors_above'][7]:.2g} %"
    without = f"{100 * of_all['errors'][6]:.2g} %"
    text = driver.find_element("id", "reading").text
    assert f"whole net {whole}, read after this block {after}, with this one closed {without}." in text


def press(driver, name: str) -> None:
    driver.find_element("id", name).click()


@browser_only
@together
@pytest.mark.parametrize("kind", ["strip", "grid"])
def test_a_finger_s_tap_closes_one_block_once(driver, kind):
    canvas = driver.find_element("css selector", f"#gates .{kind}")
    code = "arguments[0].scrollIntoView({block: 'center'}); const { left, top } = arguments[0].getBoundingClientRect();"
    left, top = driver.execute_script(f"{code} return [left, top + topOf(25) + ROW / 2]", canvas)
    clicked = "window.clicked = new Promise((done) => arguments[0].addEventListener('click', done, { once: true }))"
    for expected in ([25], [], [25]):
        driver.execute_script(clicked, canvas)
        for kind_of_event, points in (("touchStart", [{"x": left + 9, "y": top}]), ("touchEnd", [])):
            event = {"type": kind_of_event, "touchPoints": points}
            driver.execute_cdp_cmd("Input.dispatchTouchEvent", event)
        driver.execute_async_script("window.clicked.then(() => arguments[0]())")  # its click comes late
        assert closed(driver) == expected


@browser_only
@together
def test_the_keyboard_moves_and_closes(driver):
    from selenium.webdriver import Keys

    gates = driver.find_element("css selector", "#gates .grid")
    gates.send_keys(Keys.END, Keys.ARROW_UP, Keys.ARROW_RIGHT, " ")
    assert driver.execute_script("return [shown.block, shown.unit]") == [48, 2]
    assert closed(driver) == [48]
    gates.send_keys(Keys.SHIFT, Keys.ARROW_UP, Keys.ARROW_UP, Keys.NULL, Keys.ARROW_UP)
    assert closed(driver) == [46, 47, 48]
    assert "Block 45, unit 2: T " in driver.find_element("id", "reading").text
    gates.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    assert closed(driver) == [47, 48]


@browser_only
@together
def test_a_drawn_digit_is_put_as_mnist_s_are(driver, net):
    """A seven, off the centre; the net reads it, and so does NumPy's."""
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
    assert driver.find_element("id", "says").text.startswith(f"{answer}, ")
    assert answer == 7


@browser_only
@together
def test_a_digit_can_be_drawn_by_keys(driver):
    from selenium.webdriver import Keys

    driver.find_element("id", "picture").send_keys(*[Keys.ARROW_UP] * 6, " ", *[Keys.ARROW_DOWN] * 12)
    assert driver.find_element("id", "says").text.startswith("1, ")


@browser_only
@together
def test_an_answer_is_there_as_soon_as_something_changes(driver):
    """The answer and its time are there before the browser draws; the effects of single blocks come with that frame."""
    logits = "[...now.logits]"
    text = "$('took').textContent"
    driver.execute_script("startDrawing(); stroke(80, 60)")
    for change in benchmark.CHANGES.values():
        before, after, took = driver.execute_script(
            f"const before = {logits}; {text} = ''; {change}; return [before, {logits}, {text}]"
        )
        assert before != after
        assert re.fullmatch(r"Computed and drawn in [\d.]+ ms\.", took)


@browser_only
@together
def test_the_benchmark_measures_changes_and_effects(driver):
    times = benchmark.measure(driver, 3)
    assert list(times) == list(benchmark.NAMES)
    assert {len(values) for values in times.values()} == {3}
    for change in benchmark.CHANGES:
        pairs = zip(times[f"{change}_to_frame"], times[f"{change}_computed"], strict=True)
        assert all(frame > computed for frame, computed in pairs)  # the page says what this change took
    assert len(closed(driver)) == (3 + benchmark.WARM_UP) % 2


@browser_only
@together
@pytest.mark.parametrize("width", [1280, 800, 400, 320])
@pytest.mark.parametrize("colors", ["light", "dark"])
def test_it_fits_and_can_be_read(driver, width, colors):
    screenshots.look_as(driver, width, 800, colors=colors)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    settle(driver)
    cut = "[...document.querySelectorAll('.controls, .note, #closed, #reading')].filter((e) => "
    cut += "e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"
    assert driver.execute_script(f"return {cut}") == []
    pairs = [("ink", "panel"), ("ink", "paper"), ("faint", "panel"), ("faint", "paper"), ("link", "panel")]
    for text, ground in pairs:
        a, b = (luminance(color_of(driver, name)) for name in (text, ground))
        assert (max(a, b) + 0.05) / (min(a, b) + 0.05) >= 4.5  # WCAG AA
    nameless = "[...document.querySelectorAll('button, input, select, canvas[tabindex]')].filter((e) => "
    nameless += "!(e.textContent.trim() || e.ariaLabel || e.labels?.length)).map((e) => e.outerHTML)"
    assert driver.execute_script(f"return {nameless}") == []


def color_of(driver, name: str) -> str:
    code = "return getComputedStyle(document.documentElement).getPropertyValue(`--${arguments[0]}`).trim()"
    return driver.execute_script(code, name)


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


@browser_only
@together
def test_the_slider_goes_over_the_epochs(driver):
    history = READ("run.json")["runs"][0]
    for epoch in (1, 12):
        driver.execute_script("$('epoch').value = arguments[0]; $('epoch').dispatchEvent(new Event('input'))", epoch)
        label = driver.find_element("id", "curves").get_attribute("aria-label")
        assert f"highway {history['highway']['history']['test_acc'][epoch - 1]:.3f}" in label
        assert f"plain {history['plain']['history']['test_acc'][epoch - 1]:.3f}" in label
        T = history["highway"]["layer_T_history"][epoch - 1][1]
        assert f": {T[0]:.2f}, {T[1]:.2f}, " in driver.find_element("id", "mean-T").get_attribute("aria-label")


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
