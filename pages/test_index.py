"""pages/index.html is what its program writes; in a real browser its nets compute what straightforward.py computes, its
scenes show what they promise, and it serves every reader."""

import base64
import json
import re
import zlib

import numpy as np
import pytest
import scipy.special
from conftest import ROOT

import highway_networks as hn
import straightforward as sf
from experiments.depth_on_demand import depth_on_demand_trial as trial
from highways.files import InputError
from highways.nets import layer_by_layer
from highways.nets.static_gates import with_static_gates
from highways.records import load_results, record_bytes
from pages import make_index, measure_pointers, measure_scenes, screenshots
from pages.browser import browser_only, complaints, open_anew, shown, together, violations, wait_for

FILE = ROOT / "pages" / "index.html"
PAGE = FILE.read_text(encoding="utf-8")
IMAGES = r'<script type="application/json" id="images">(.*?)</script>'
PICTURES = r'"data:image/[^"]*"'
PACKED = json.loads(re.search(IMAGES, PAGE)[1])
WIDTH = 16
SCENES = list(make_index.SHOTS)
ALL_BETS = "bets=202122&verdicts=021"


@pytest.fixture(scope="module")
def images():
    """Pixels (3000, 196) from -1 to 1, and labels; the training images come first."""
    content = np.frombuffer(zlib.decompress(base64.b64decode(PACKED["deflated"])), np.uint8)
    n = PACKED["n_train"] + PACKED["n_test"]
    pairs = content[: n * PACKED["d_in"] // 2]  # two grey levels in a byte
    greys = np.stack([pairs >> 4, pairs & 15], axis=1).reshape(n, PACKED["d_in"])
    return greys / PACKED["top"] * 2 - 1, content[len(pairs) :]


# ---- The file --------------------------------------------------------------------------------------------------------


@pytest.mark.thorough  # `publish --check` says each time whether the page is up to date
def test_the_page_is_what_the_program_writes(mnist, monkeypatch):
    monkeypatch.setattr(make_index, "load_page_mnist", lambda: mnist)
    written = make_index.whole_page()
    of_libraries = f"{IMAGES}|{PICTURES}"  # another zlib may pack in another way
    assert re.sub(of_libraries, "", written) == re.sub(of_libraries, "", PAGE), "python -m pages.make_index"


def test_the_page_has_the_images_of_mnist(mnist, images):
    x, labels = images
    drawn = hn.subset(mnist, 0, PACKED["n_train"], PACKED["n_test"])
    assert (labels == np.concatenate([drawn.y_train, drawn.y_test])).all()
    square = drawn.x_train[7].reshape(14, 2, 14, 2).mean(axis=(1, 3)) / 127.5 - 1
    np.testing.assert_allclose(x[7].reshape(14, 14), square, atol=1 / 15 + 1e-12)  # half a grey level


def test_without_scripts_every_scene_has_its_picture_and_no_button_is_dead():
    for scene in SCENES:
        section = re.search(rf'<section id="{scene}".*?</section>', PAGE, re.S)[0]
        assert '<noscript><img class="shot" alt="' in section
        assert "<button" not in section
    assert all(" hidden" in button for button in re.findall(r"<button[^>]*>", PAGE))


def test_an_interval_of_points_ends_where_they_do():
    test = {
        "names": ["accuracy that it costs"],
        "log10": False,
        "rule": "above",
        "bounds": [0.01],
        "interval": [0.36, 1.13],
    }
    words = {"number": "74.5 points", "interval": "36.0 to 100", "asked": "above 1 points"}
    assert make_index.numbers_of(test) == words


def test_a_bar_lies_on_the_side_of_the_bound_where_its_numbers_do():
    test = {"names": ["plain accuracy"], "log10": False, "rule": "below", "bounds": [0.15], "interval": [0.1, 0.112]}
    places = dict(re.findall(r"--(\w+): ([\d.]+)%", make_index.bar_of(test)))
    assert places == {"from": "10.0", "wide": "1.2", "asked": "15.0", "holds": "0.0", "side": "15.0"}
    gain = {"names": ["gain", "of"], "log10": False, "rule": "above", "bounds": [0], "interval": [-0.005, -0.002]}
    assert make_index.scale_of(gain) == (-0.01, 0.01)  # the bound is not at its end


def test_old_addresses_lead_to_scenes():
    for old in ("train", "pointers"):
        text = (FILE.parent / f"{old}.html").read_text()
        assert re.search(r"url=index\.html#(\w+)", text)[1] in SCENES


@pytest.mark.parametrize(
    "spoil", [lambda record: record["settings"].update(net_sha256="0"), lambda record: record["summary"].pop()]
)
def test_a_record_of_another_net_is_refused(tmp_path, monkeypatch, spoil):
    record = json.loads(measure_pointers.OUT.read_text())
    spoil(record)
    record.pop("digest")
    monkeypatch.setattr(make_index, "OUT", tmp_path / "pointers.json")
    make_index.OUT.write_bytes(record_bytes(record, "measured"))
    with pytest.raises(InputError):
        make_index.checked_record()


def test_the_net_is_as_measured_and_deeper_problems_need_more_blocks():
    net = hn.DeepNet.load(measure_pointers.NET)
    record = load_results(measure_pointers.OUT)
    x, y = trial.drawn(measure_pointers.SETTING, 4, trial.TESTING)
    assert (net.predict(x).argmax(axis=1) == y).mean() == pytest.approx(record["trials"]["accuracy"][3], abs=1e-3)
    blocks = [row["right_from_block"] for row in record["summary"]]
    assert blocks == sorted(set(blocks))  # as the page says


# ---- The engine, in a browser ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(opened):
    screenshots.look_as(opened, 1280, 900)
    open_anew(opened, FILE.as_uri())
    wait_for(opened, "worker")
    return opened


@pytest.fixture
def driver(page):
    """The page as the test before left it; no test may leave an error on the console."""
    yield page
    assert complaints(page) == []


# the page's window has what its worker computes with
COMPUTE = """
const done = arguments[arguments.length - 1];
const run = async (ask) => done(ask(await unpack(JSON.parse($("images").textContent))));
"""
ONE_STEP = (
    COMPUTE
    + """
const [about, n] = arguments;
run(({ train }) => {
  const net = new DeepNet({ d_in: 196, d_out: 10, n, ...about });
  const x = train.x.subarray(0, n * 196);
  const { loss, dlogits } = softmaxCrossEntropy(net.forward(x, n), train.labels.subarray(0, n), 10);
  const norms = net.backward(x, dlogits, n);
  return { loss, norms, gates: net.meanGates(n), parameters: [...net.parameters], gradient: [...net.gradient] };
});
"""
)


def net_of(flat, kind: str, depth: int, width: int) -> sf.Net:
    """The page's flat parameters, or gradients, as a net of straightforward.py, whose arrays are
    views of them."""
    flat = np.asarray(flat)
    at = 0

    def take(*shape):
        nonlocal at
        begin = at
        at += int(np.prod(shape))
        return flat[begin:at].reshape(shape)

    first = sf.Layer(W_H=take(width, 196), b_H=take(width))
    blocks = []
    for _ in range(depth):
        if kind in sf.WITH_GATE:
            W = take(2 * width, width)
            b = take(2 * width)
            blocks.append(sf.Layer(W_H=W[:width], W_T=W[width:], b_H=b[:width], b_T=b[width:]))
        else:
            blocks.append(sf.Layer(W_H=take(width, width), b_H=take(width)))
    last = sf.Layer(W=take(10, width), b=take(10))
    assert at == len(flat)
    return sf.Net(kind, first, blocks, last)


def norms_of(net: sf.Net, kept, d_logits) -> list[float]:
    """|dL/dy| of the first layer and of every block, by the functions of straightforward.py."""
    _, block_backward = sf.BLOCKS[net.block]
    dy = d_logits @ net.last.W
    norms = [np.linalg.norm(dy)]
    for layer, kept_by_block in zip(net.blocks[::-1], kept[-2:0:-1], strict=True):
        dy, _ = block_backward(layer, kept_by_block, dy)
        norms.append(np.linalg.norm(dy))
    return norms[::-1]


@browser_only
@together
@pytest.mark.parametrize(
    ("kind", "depth", "init", "n"),
    [
        ("plain", 30, "program", 64),
        ("plain", 10, "glorot", 61),  # not a multiple of four: the matrix products go another way
        ("highway", 60, "orthogonal", 64),
    ],
)
def test_gradients_are_those_of_straightforward(driver, images, kind, depth, init, n):
    about = {"kind": kind, "depth": depth, "init": init, "width": WIDTH, "b_T": -1.5, "seed": 3}
    found = driver.execute_async_script(ONE_STEP, about, n)
    x, labels = images
    net = net_of(found["parameters"], kind, depth, WIDTH)
    logits, kept = sf.forward(net, x[:n])
    loss, d_logits = sf.softmax_cross_entropy(logits, labels[:n])
    assert found["loss"] == pytest.approx(loss, rel=1e-10)
    expected = sf.arrays_of(sf.backward(net, kept, d_logits))
    gradients = sf.arrays_of(net_of(found["gradient"], kind, depth, WIDTH))
    for ours, theirs in zip(gradients, expected, strict=True):
        largest = np.abs(theirs).max()  # in the first layers of a plain net 1e-10 or less
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * largest)
    np.testing.assert_allclose(found["norms"], norms_of(net, kept, d_logits), rtol=1e-5)
    if kind in sf.WITH_GATE:
        np.testing.assert_allclose(found["gates"], [T.mean() for _, _, T in kept[1:-1]], rtol=1e-5)
        assert (net.blocks[0].b_T == -1.5).all()


TRAIN = (
    COMPUTE
    + """
const [about, steps] = arguments;
run(({ train, test }) => {
  const race = new Race(about, train, test);
  const starts = race.nets.map(({ parameters }) => [...parameters]);
  const taken = [];
  const { nextBatch } = race;
  race.nextBatch = () => {
    taken.push(nextBatch());
    return taken.at(-1);
  };
  const losses = Array.from({ length: steps }, () => race.step(false).nets.map(({ loss }) => loss));
  const listed = ({ states, gradients, down }) => ({ down, states: [...states], gradients: [...gradients] });
  const portraits = race.portraits(rowOf(test.x, 40, 196)).map(listed);
  const accuracies = race.nets.map((net) => race.accuracyOf(net));
  const ends = race.nets.map(({ parameters }) => [...parameters]);
  return { starts, taken, losses, accuracies, portraits, ends };
});
"""
)


@browser_only
@together
def test_training_and_towers_are_those_of_straightforward(driver, images):
    """The losses of 33 steps, more than the 31 of an epoch; then the accuracy, and what the towers show: the states of
    a digit, and the gradient of the batch that comes next."""
    depth = 4
    nets = [{"kind": "highway", "b_T": -3}, {"kind": "plain", "b_T": 0}]
    about = {"nets": nets, "depth": depth, "width": WIDTH, "rate": 0.005, "init": "glorot", "seed": 2}
    found = driver.execute_async_script(TRAIN, about, 33)
    x, labels = images
    *batches, ahead = found["taken"]
    assert len(np.unique(np.concatenate(batches[:31]))) == 31 * 64
    for k, kind in enumerate(("highway", "plain")):
        net = net_of(np.array(found["starts"][k]), kind, depth, WIDTH)
        optimizer = sf.Adam(net, lr=0.005)
        losses = []
        for rows in batches:
            logits, kept = sf.forward(net, x[rows])
            loss, d_logits = sf.softmax_cross_entropy(logits, labels[rows])
            losses.append(loss)
            optimizer.step(sf.backward(net, kept, d_logits))
        np.testing.assert_allclose([both[k] for both in found["losses"]], losses, rtol=1e-5)
        logits, _ = sf.forward(net, x[PACKED["n_train"] :])
        accuracy = (logits.argmax(axis=1) == labels[PACKED["n_train"] :]).mean()
        assert found["accuracies"][k] == pytest.approx(accuracy, abs=0.002)

        first = PACKED["n_train"]
        rows = [first + 40, *range(first, first + 15)]
        net = net_of(np.array(found["ends"][k]), kind, depth, WIDTH)
        _, kept = sf.forward(net, x[rows])
        states = np.array([*(block_kept[0] for block_kept in kept[1:-1]), kept[-1]])
        centred = states - states.mean(axis=1, keepdims=True)
        portrait = found["portraits"][k]
        np.testing.assert_allclose(np.reshape(portrait["states"], (depth + 1, WIDTH)), centred[:, 0], atol=1e-6)
        logits, kept = sf.forward(net, x[ahead])
        _, d_logits = sf.softmax_cross_entropy(logits, labels[ahead])
        norms = norms_of(net, kept, d_logits)
        assert portrait["down"] == pytest.approx(norms[0] / norms[-1], rel=1e-5)
        last = np.reshape(portrait["gradients"], (depth + 1, WIDTH))[-1]
        np.testing.assert_allclose(last, (d_logits @ net.last.W).sum(axis=0), rtol=1e-5, atol=1e-9)


@browser_only
@together
def test_the_first_picture_is_what_the_first_scene_draws(driver):
    digit = shown(driver, "DATA.digits[3]")
    ink = np.array([int(sign, 16) / 15 for sign in digit])
    found = shown(
        driver, "climb(Array.from(DATA.digits[3], (sign) => parseInt(sign, 16) / 15), 0.3).map((x) => [...x])"
    )
    np.testing.assert_allclose(found, make_index.climb(ink, 0.3), rtol=1e-9, atol=1e-12)


@browser_only
@together
def test_the_law_is_that_of_whole_nets(driver):
    """The line over 99 blocks, and what a digit that climbs thirty layers has left."""
    biases = [-6, -4, -3, -2, -1, 0, 1, 2, 4]
    lines = shown(driver, f"{biases}.map((b) => decadesLeft(sigmoid(b), 1, 99))")
    np.testing.assert_allclose(lines, [-0.1, -0.8, -2.0, -5.1, -10.7, -14.9, -10.7, -5.1, -0.8], atol=0.05)
    gates = [0.05, 0.3, 0.5, 0.75, 1]
    measured = "{ const x = climb(inkNow(), T); return Math.log10(norm(x[30]) / norm(x[0])); }"
    left = shown(driver, f"{gates}.map((T) => {measured})")
    lines = shown(driver, f"{gates}.map((T) => decadesLeft(T, FACTORS.program, 30))")
    np.testing.assert_allclose(left, lines, atol=0.8)


@browser_only
@together
def test_the_browser_reads_pointers_as_numpy_does(driver):
    """With free gates, and with gates that are held at their means."""
    net = hn.DeepNet.load(measure_pointers.NET)
    held = make_index.mean_gates(net).round(make_index.DIGITS)
    for table, start, k, is_held in (([5, 5, 4, 0, 3, 1], 2, 4, False), ([1, 2, 3, 4, 5, 0], 3, 1, True)):
        problem = json.dumps({"table": table, "start": start})
        found = shown(driver, f"follower.read({problem}, {k}, {str(is_held).lower()})")
        one_hot = np.eye(6)
        steps = np.arange(1, 5) <= k
        features = np.concatenate([one_hot[table].ravel(), one_hot[start], steps])
        x = features[None].astype(np.float32)
        twin = with_static_gates(net, held[:, :, None], "static-unit") if is_held else net
        state = layer_by_layer.first_state(twin, x)
        states = [state, *(y for *_, y in layer_by_layer.walk(twin, state))]
        logits = np.array([layer_by_layer.logits(twin, y)[0] for y in states], dtype=float)
        np.testing.assert_allclose(found, scipy.special.softmax(logits, axis=1), atol=1e-4)


# ---- What the scenes promise -----------------------------------------------------------------------------------------

MEASURE = COMPUTE + measure_scenes.MEASURES.read_text() + "run((images) => {measure}(2, images));"


@pytest.mark.thorough  # 20 s; that the page trains as straightforward.py does is compared above
@browser_only
@together
def test_scenes_keep_their_promises(driver):
    """With one seed; the record has forty."""
    seed = {}
    names = {"left": "measureWhisper", "towers": "measureTowers", "cuts": "measureCuts", "problem": "measureProblem"}
    for name, measure in names.items():
        seed[name] = driver.execute_async_script(MEASURE.replace("{measure}", measure))
    broken = []
    for scene, promises in measure_scenes.PROMISES.items():
        broken += [promise for promise, is_kept in promises.items() if scene != "start" and not is_kept(seed)]
    assert broken == []


def test_the_count_of_promises_is_that_of_the_trials():
    record = load_results(measure_scenes.OUT)
    assert record["summary"] == measure_scenes.summary_of(record["trials"])
    assert [trial["seed"] for trial in record["trials"]] == list(measure_scenes.SEEDS)


# ---- Readers ---------------------------------------------------------------------------------------------------------


@browser_only
@together
def test_keys_lead_through_the_lesson(driver):
    from selenium.webdriver import ActionChains, Keys

    def press(*keys):
        for key in keys:
            ActionChains(driver).send_keys(key).perform()

    open_anew(driver, FILE.as_uri())
    wait_for(driver, "worker")
    press("3")
    wait_for(driver, "betOf('whisper') === 2 && isTold('whisper')")  # once the digit has climbed
    assert shown(driver, "[state.T, visited.size]") == [0.05, 1]  # the curve is left to the reader
    press(Keys.ARROW_RIGHT)
    assert shown(driver, "[state.scene, document.activeElement.id]") == ["race", "race-title"]
    wait_for(driver, "/^Two towers.*Not trained/.test($('cells').ariaLabel)")
    wait_for(driver, "heading === null && isSeen(choicesNow()[1])")  # it has scrolled there
    press("2")  # a bet begins the race
    assert shown(driver, "[betOf('race'), isTold('race'), runs.race.isPlaying]") == [1, False, True]
    driver.execute_script("document.querySelector('#race [aria-pressed=true]').focus()")
    press(" ")  # a bet that was made is no button any more
    assert shown(driver, "[runs.race.version, runs.race.isPlaying]") == [2, False]
    press("a")  # who has bet and does not wait is told, and sees twenty steps at once
    assert shown(driver, "[isTold('race'), runs.race.isPlaying, runs.race.stride]") == [True, True, 20]
    press(Keys.ARROW_RIGHT, "a")  # plays the proof
    assert shown(driver, "[frameNow(), runs.sabotage.isPlaying]") == [[6, 8], True]
    press(Keys.ARROW_LEFT, Keys.PAGE_DOWN)
    assert shown(driver, "[isTold('sabotage'), runs.sabotage.isPlaying]") == [False, True]  # it goes on
    press("A")
    assert shown(driver, "[isTold('sabotage'), betOf('sabotage')]") == [True, None]
    press(Keys.ARROW_LEFT)
    press(Keys.ARROW_LEFT)
    assert shown(driver, "state.scene") == "whisper"
    assert shown(driver, "score()") == "1 of 2"
    marks = "[...document.querySelectorAll('#scenes a')].map(({ dataset }) => dataset.mark ?? '')"
    assert shown(driver, f"{marks}.join(' ').trim()") == "✓ ○"  # the third was told without a bet
    wait_for(driver, "heading === null")  # it has scrolled there
    driver.execute_script("heading = 'judge'; leadTo('judge')")  # as a key does
    wait_for(driver, "isSeen(choicesNow()[0])")
    claims = "claimBoxes().map(({ hidden }) => !hidden)"
    press("1", "2")  # a claim that was judged is no question any more
    assert shown(driver, f"[state.verdicts, document.activeElement.innerText, {claims}]") == [
        "0--",
        "Next claim",
        [True, False, False],
    ]
    press(Keys.ENTER)
    assert shown(driver, f"[document.activeElement.className, {claims}]") == ["says", [False, True, False]]
    press("1", " ", "2")
    assert shown(driver, "[state.verdicts, $('spoken').textContent]") == [
        "001",
        f"{shown(driver, 'agreement()')} {shown(driver, 'claimBoxes()[2].querySelector(`.ours`).textContent')}",
    ]
    press(Keys.ENTER)
    assert shown(driver, claims) == [True, True, True]


@browser_only
@together
def test_a_keyboard_chooses_a_cell_of_the_map_and_hears_its_loss(driver):
    from selenium.webdriver import ActionChains, Keys

    open_anew(driver, f"{FILE.as_uri()}#start")
    wait_for(driver, "worker")
    ActionChains(driver).send_keys("s").perform()
    assert not shown(driver, "$('controls').contains(document.activeElement)")  # what they train is asked
    ActionChains(driver).send_keys("2").perform()
    wait_for(driver, "isTold('start')")
    assert shown(driver, "maps.orthogonal.size") == 8
    driver.find_element("css selector", "#start .column .act").send_keys(Keys.ENTER)  # trains highway nets
    wait_for(driver, "!isPlaying() && maps.orthogonal.size + maps.program.size === 32")
    driver.find_element("css selector", "#start .columns .act").send_keys(Keys.ENTER)  # and the whole map
    ActionChains(driver).send_keys("s").perform()
    assert shown(driver, "[isPlaying(), $('controls').contains(document.activeElement)]") == [True, True]
    driver.find_element("id", "lever-cellBias").send_keys(Keys.ARROW_LEFT)
    driver.find_element("id", "lever-cellRate").send_keys(Keys.ARROW_LEFT)
    cell = 2 + 12 * 2
    assert shown(driver, "[chosenCell(), state.cellBias, state.cellRate]") == [cell, -4, 0.002]
    wait_for(driver, f"maps.orthogonal.has({cell})")
    loss = shown(driver, f"maps.orthogonal.get({cell}).loss.toFixed(2)")
    wait_for(driver, f"$('spoken').textContent.includes('{loss}')")
    pointed = f"stage.wordsAt(...stage.tiles.get('map orthogonal {cell}').place.slice(0, 2).map((at) => at + 2))"
    wait_for(driver, f"!stage.isMoving && {pointed}?.includes('Rate 0.002, T = 0.018 at the start: loss {loss}')")


@browser_only
@together
def test_keys_can_be_turned_off(driver):
    from selenium.webdriver import ActionChains

    open_anew(driver, FILE.as_uri())
    wait_for(driver, "worker")
    driver.execute_script("$('keys').click()")
    ActionChains(driver).send_keys("1").perform()
    assert shown(driver, "betOf('whisper')") is None


@browser_only
@together
def test_the_address_holds_the_state(driver):
    open_anew(driver, f"{FILE.as_uri()}#race&depth=50&b_T=-5&rate=7&ink={'0' * 97}f&{ALL_BETS}")
    wait_for(driver, "worker && runs.race && runs.race.portraits")
    told = "[state.depth, state.b_T, state.rate, runs.race.about.depth, inkNow()[195], score()]"
    assert shown(driver, told) == [50, -5, 0.005, 50, 1, "6 of 6"]  # no rate is 7
    assert shown(driver, "runs.race.isPlaying")  # what is told is played
    driver.execute_script("$('fold').open = true")
    lever = driver.find_element("id", "lever-depth")
    lever.send_keys("\ue014")  # the right arrow
    wait_for(driver, "location.hash.includes('depth=55') && runs.race.depth === 55")
    assert shown(driver, "state.scene") == "race"  # within a lever an arrow turns it


@browser_only
@together
@pytest.mark.parametrize(("width", "colors"), [(400, "dark"), pytest.param(1280, "light", marks=pytest.mark.thorough)])
def test_every_scene_fits_and_is_accessible(driver, width, colors):
    """And its bet stands in the first screen."""
    height = 850
    screenshots.look_as(driver, width, height, colors=colors)
    open_anew(driver, f"{FILE.as_uri()}#judge&{ALL_BETS}")
    assert violations(driver) == []
    for scene in SCENES:
        driver.execute_script("showScene(arguments[0]); scrollToScene(arguments[0]); draw();", scene)
        last_choice = f"[...document.querySelectorAll('#{scene} > .bet button')].at(-2)"  # before "Tell me"
        assert scene == "judge" or shown(driver, f"{last_choice}.getBoundingClientRect().bottom") < height, scene
        assert shown(driver, "document.documentElement.scrollWidth") <= width, scene
        assert shown(driver, "$('caption').textContent.length") > 10


@browser_only
@together
def test_a_new_class_starts_over_and_sees_no_answers(driver):
    screenshots.look_as(driver, 1280, 900)
    open_anew(driver, f"{FILE.as_uri()}#start&{ALL_BETS}")
    answers = "[...document.querySelectorAll('#script span b')].filter((answer) => answer.checkVisibility()).length"
    assert shown(driver, f"[isTold('start'), {answers}]") == [True, 0]
    driver.execute_script("window.isOld = true")
    driver.find_element("partial link text", "New class").click()
    wait_for(driver, "!window.isOld && document.readyState === 'complete' && typeof told !== 'undefined' && worker")
    assert shown(driver, "[state.bets, state.verdicts, told.size]") == ["------", "---", 0]
    driver.find_element("id", "answers").click()
    assert shown(driver, answers) > 5
    open_anew(driver, f"{FILE.as_uri()}#script")  # as in a tab of its own
    wait_for(driver, "worker")
    assert shown(driver, f"[{answers} > 5, getComputedStyle($('page')).visibility]") == [True, "hidden"]
    driver.find_element("link text", "Race").click()
    wait_for(driver, "state.scene === 'race' && getComputedStyle($('page')).visibility === 'visible'")


@browser_only
@together
def test_a_reader_draws_cuts_and_drags(driver):
    from selenium.webdriver import ActionChains

    screenshots.look_as(driver, 1280, 900)
    open_anew(driver, FILE.as_uri())
    wait_for(driver, "worker")

    def drag(from_place, to_place):
        """From one place on the stage to another."""
        half = shown(driver, "[stage.width / 2, stage.height / 2]")
        canvas = driver.find_element("id", "cells")
        (x, y), (to_x, to_y) = (
            [int(at - mid) for at, mid in zip(place, half, strict=True)] for place in (from_place, to_place)
        )
        actions = ActionChains(driver).move_to_element_with_offset(canvas, x, y).click_and_hold()
        actions.move_to_element_with_offset(canvas, to_x, to_y).release().perform()

    left, top, side, _ = shown(driver, "padPlaces[0]")
    drag((left + side / 3, top + side / 3), (left + side / 2, top + side / 2))
    assert shown(driver, "[Boolean(state.ink), inkNow()[0]]") == [True, 0]
    driver.execute_script("tellAnswer('whisper'); draw()")
    wait_for(driver, "!stage.isMoving")
    left, top, width, height = shown(driver, "SCENES.whisper.chart")
    drag((left + 1, top + height / 2), (left + 0.75 * width, top + height / 2))
    assert shown(driver, "state.T") == pytest.approx(0.75, abs=0.02)
    driver.execute_script("leadTo('sabotage')")
    wait_for(driver, "tower && !stage.isMoving && runs.sabotage.read[0].length")
    assert shown(driver, "layerAt(tower.left + 5, tower.rowTop(12) + 2)") is None  # before the bet
    driver.execute_script("bet('sabotage', 2, 0)")  # it is tried; a drag tries something else
    assert shown(driver, "[frameNow(), runs.sabotage.cuts.length]") == [[6, 8], 0]
    x, upper, lower = shown(driver, "[tower.left + 5, tower.rowTop(12) + 2, tower.rowTop(10) + 2]")
    assert shown(driver, "layerAt(tower.left + 5, tower.rowTop(0) + 2)") == 1  # a drag may begin on the lowest row
    drag((x, lower), (x, upper))
    assert shown(driver, "[frameNow(), runs.sabotage.closed.size]") == [[10, 3], 0]  # first the net is trained
    wait_for(driver, "runs.sabotage.cuts.length")
    assert shown(driver, "[runs.sabotage.cuts[0].from, runs.sabotage.cuts[0].count]") == [10, 3]
    assert shown(driver, "stage.wordsAt(tower.left + tower.aside + 5, tower.rowTop(12) + 2)").startswith(
        "Layer 12, unit 1: "
    )
    wait_for(driver, "$('act').disabled")  # these layers are cut
    driver.execute_script("document.querySelector('#sabotage .try').click()")  # the page may still scroll
    assert shown(driver, "[frameNow(), isPlaying(), Boolean(state.ink)]") == [[6, 20], True, True]
    wait_for(driver, "runs.sabotage.closed.size === 20")
    driver.execute_script("showScene('turn'); tellAnswer('turn')")
    wait_for(driver, "runs.turn.read[0].length && !$('act').disabled")
    driver.execute_script("document.querySelector('#turn .act').click()")  # lifts thirty layers out
    wait_for(driver, "runs.turn.portraits[0].states.length === WIDTH")
    assert shown(driver, "runs.turn.read[0][0]") == shown(driver, "runs.turn.read[0][1]")  # it reads as many
    driver.execute_script("document.querySelector('#turn .act').click()")
    wait_for(driver, "runs.turn.portraits[0].states.length > WIDTH")
    driver.execute_script("showScene('pointers'); tellAnswer('pointers')")
    wait_for(driver, "!stage.isMoving && state.scene === 'pointers' && SCENES.pointers.ring")
    head, other = shown(driver, "[SCENES.pointers.placeOf(4), SCENES.pointers.placeOf(1)]")
    drag(head, other)
    assert shown(driver, "state.table") == "131401"
    place = shown(driver, "SCENES.pointers.placeOf(3)")
    drag(place, place)  # a press: the path begins there
    assert shown(driver, "[state.at, state.table]") == [3, "131401"]
