"""pages/pointers.html is what its program writes; in a real browser it reads what the same net reads in NumPy."""

import json
import re

import numpy as np
import pytest
import scipy.special

import highway_networks as hn
from experiments.depth_on_demand import depth_on_demand_trial as trial
from experiments.static_gates.static_gates_trial import with_static_gates
from highways.files import InputError
from highways.nets import layer_by_layer
from highways.records import load_results, record_bytes
from pages import make_pointers, measure_pointers, screenshots
from pages.browser import browser_only, complaints, open_anew, shown, text_of, together, violations

PATH = screenshots.POINTERS_PAGE
PAGE = PATH.read_text(encoding="utf-8")
SETTING = measure_pointers.SETTING
PROBLEMS = [([5, 5, 4, 0, 3, 1], 2), ([1, 2, 3, 4, 5, 0], 3), ([0, 0, 0, 0, 0, 0], 5)]


@pytest.fixture(scope="module")
def net():
    return hn.DeepNet.load(measure_pointers.NET)


def test_the_page_is_what_the_program_writes():
    assert make_pointers.whole_page() == PAGE, "python -m pages.make_pointers writes it anew"


def test_the_net_is_as_measured_and_deeper_problems_need_more_blocks(net):
    record = load_results(measure_pointers.OUT)
    x, y = trial.drawn(SETTING, 4, trial.TESTING)
    assert (net.predict(x).argmax(axis=1) == y).mean() == pytest.approx(record["trials"]["accuracy"][3], abs=1e-3)
    blocks = [row["right_from_block"] for row in record["summary"]]
    assert blocks == sorted(set(blocks))  # as the page says


@pytest.mark.parametrize(
    "spoil", [lambda record: record["settings"].update(net_sha256="0"), lambda record: record["summary"].pop()]
)
def test_a_record_of_another_net_is_refused(tmp_path, monkeypatch, spoil):
    record = json.loads(measure_pointers.OUT.read_text())
    spoil(record)
    record.pop("digest")
    monkeypatch.setattr(make_pointers, "OUT", tmp_path / "pointers.json")
    make_pointers.OUT.write_bytes(record_bytes(record, "results"))
    with pytest.raises(InputError):
        make_pointers.checked_record()


def answers_in_numpy(net, table, start, k, held=None):
    """The probabilities after 0, 1, ... blocks, (depth + 1, 6)."""
    one_hot = np.eye(6)
    told = np.arange(1, 5) <= k
    x = np.concatenate([one_hot[table].ravel(), one_hot[start], told])[None].astype(np.float32)
    if held is not None:
        net = with_static_gates(net, held[:, :, None], "static-unit")
    state = layer_by_layer.first_state(net, x)
    states = [state, *(y for *_, y in layer_by_layer.walk(net, state))]
    logits = np.array([layer_by_layer.logits(net, y)[0] for y in states], dtype=float)
    return scipy.special.softmax(logits, axis=1)


@pytest.fixture(scope="module")
def page(opened):
    screenshots.look_as(opened, 1280, 900)
    open_anew(opened, PATH.as_uri())
    return opened


@pytest.fixture
def driver(page):
    """The page as the test before left it; no test may leave an error on the console."""
    yield page
    assert complaints(page) == []


@browser_only
@together
def test_the_browser_reads_what_numpy_reads(net, driver):
    """With free gates, and with gates that are held at their means."""
    held = make_pointers.mean_gates(net).round(make_pointers.DIGITS)
    cases = [(table, start, k, is_held) for table, start in PROBLEMS for k in (1, 4) for is_held in (False, True)]
    script = "return arguments[0].map(([table, start, k, is_held]) => net.read({ table, start }, k, is_held))"
    read = driver.execute_script(script, cases)
    for (table, start, k, is_held), found in zip(cases, read, strict=True):
        expected = answers_in_numpy(net, table, start, k, held if is_held else None)
        np.testing.assert_allclose(found, expected, atol=1e-4)


def answers_shown(driver) -> list[str]:
    return shown(driver, "[...document.querySelectorAll('#four .answer')].map((b) => b.textContent)")


@browser_only
@together
def test_a_guess_comes_before_the_answers_and_held_gates_change_them(driver):
    from selenium.webdriver import Keys

    open_anew(driver, PATH.as_uri())
    assert answers_shown(driver) == ["4", "?", "?", "?"]
    driver.find_element("id", "guessed").send_keys(Keys.ARROW_RIGHT, Keys.TAB, Keys.ENTER)
    assert answers_shown(driver) == ["4", "3", "0", "5"]
    *blocks, last = [row["right_from_block"] for row in load_results(measure_pointers.OUT)["summary"]]
    told = f"{', '.join(map(str, blocks))} and {last} on"
    assert told in shown(driver, "document.getElementById('told-text').textContent")
    driver.find_element("id", "hold").send_keys(Keys.ENTER)
    assert answers_shown(driver) != ["4", "3", "0", "5"]
    assert text_of(driver, "told-text") == ""  # what it says of free gates is not so now


def go_to(driver, address: str) -> None:
    """As a link within the page does."""
    taken = "window.addEventListener('hashchange', () => setTimeout(arguments[1]), { once: true });"
    driver.execute_async_script(f"{taken} location.hash = arguments[0]", address)


@browser_only
@together
def test_the_address_holds_the_problem(driver):
    address = "#table=123450&start=3"
    open_anew(driver, PATH.as_uri() + address)
    driver.execute_script(screenshots.GUESSED)
    assert answers_shown(driver) == ["4", "5", "0", "1"]
    driver.execute_script("document.getElementById('new').click()")
    assert answers_shown(driver)[1:] == ["?", "?", "?"]  # a new guess
    other = shown(driver, "location.hash")
    assert re.fullmatch(r"#table=[0-5]{6}&start=[0-5]", other)
    assert other != address
    go_to(driver, "#table=123450&start=0")
    driver.execute_script(screenshots.GUESSED)
    assert answers_shown(driver) == ["1", "2", "3", "4"]
    go_to(driver, "#table=123456&start=3")
    assert shown(driver, "document.querySelector('.notice').checkVisibility()")


@browser_only
@together
@pytest.mark.parametrize(("width", "colors"), [(400, "dark"), (1280, "light")])
def test_it_is_accessible_and_fits(driver, width, colors):
    screenshots.look_as(driver, width, 900, colors=colors)
    assert violations(driver) == []
    assert shown(driver, "document.documentElement.scrollWidth") <= width
