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


def test_the_page_is_what_the_program_writes(tmp_path, capsys):
    assert make_pointers.main(["--out", str(tmp_path / "page.html")]) == 0, capsys.readouterr().err
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == PAGE


def test_the_net_is_as_measured_and_deeper_problems_need_more_blocks(net):
    record = load_results(measure_pointers.OUT)
    x, y = trial.drawn(SETTING, 4, trial.TESTING)
    assert (net.predict(x).argmax(axis=1) == y).mean() == pytest.approx(record["trials"]["accuracy"][3], abs=1e-3)
    blocks = [row["right_from_block"] for row in record["summary"]]
    assert blocks == sorted(set(blocks))  # as the page says


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda record: record["settings"].update(net_sha256="0"), "was measured on another net"),
        (lambda record: record["summary"].pop(), "has a summary that is not that of its trials"),
    ],
)
def test_a_record_of_another_net_is_refused(tmp_path, monkeypatch, spoil, said):
    record = json.loads(measure_pointers.OUT.read_text())
    spoil(record)
    record.pop("digest")
    monkeypatch.setattr(make_pointers, "OUT", tmp_path / "pointers.json")
    make_pointers.OUT.write_bytes(record_bytes(record, "results"))
    with pytest.raises(InputError, match=said):
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


@pytest.fixture
def page(opened):
    """page(width, colors, address) opens the page anew."""

    def open_page(width=1280, colors="light", address=""):
        screenshots.look_as(opened, width, 900, 1, colors)
        open_anew(opened, PATH.as_uri() + address)
        return opened

    yield open_page
    assert complaints(opened) == []


@browser_only
@together
@pytest.mark.parametrize("is_held", [False, True])
def test_the_browser_reads_what_numpy_reads(net, page, is_held):
    held = make_pointers.mean_gates(net).round(make_pointers.DIGITS) if is_held else None
    driver = page()
    for table, start in PROBLEMS:
        for k in (1, 4):
            read = driver.execute_script(
                "return net.read({ table: arguments[0], start: arguments[1] }, arguments[2], arguments[3])",
                table, start, k, is_held,
            )  # fmt: skip
            np.testing.assert_allclose(read, answers_in_numpy(net, table, start, k, held), atol=1e-4)


def answers_shown(driver) -> list[str]:
    return driver.execute_script("return [...document.querySelectorAll('#four .answer')].map((b) => b.textContent)")


@browser_only
@together
def test_a_guess_comes_before_the_answers_and_held_gates_change_them(page):
    driver = page()
    assert answers_shown(driver) == ["4", "?", "?", "?"]
    driver.execute_script(screenshots.GUESSED)
    assert answers_shown(driver) == ["4", "3", "0", "5"]
    told = driver.execute_script("return document.getElementById('told-text').textContent")
    assert re.search(r"right from block.5, 8, 10 and 11 on", told)
    assert told.startswith("Here, yes")
    assert text_of(driver, "hold") == "Hold the gates"
    driver.execute_script("document.getElementById('hold').click()")
    assert text_of(driver, "hold") == "Gates held: free them"
    assert answers_shown(driver) != ["4", "3", "0", "5"]
    said = driver.execute_script("return document.getElementById('held-text').textContent")
    assert re.search(r"37 to 42.% of all\. Naming the number to which most arrows point", said)
    assert text_of(driver, "question") == "What if no gate looks at the problem?"
    assert text_of(driver, "told-text") == ""  # what it says of free gates is not so now
    assert lines_drawn(driver, "free") == [1, 1, 1, 1]


def lines_drawn(driver, look) -> list[int]:
    """How many lines of a class each tower has."""
    figures = "[...document.querySelectorAll('#four figure')]"
    return shown(driver, f"{figures}.map((figure) => figure.querySelectorAll('line.{look}').length)")


def height_of_the_guess(driver) -> float:
    return float(driver.find_element("css selector", "#four line.guess").get_attribute("y1"))


@browser_only
@together
def test_the_guess_is_a_line_that_follows_the_slider_and_stays(page):
    driver = page()
    assert text_of(driver, "guessed-value") == "6"
    at_first = height_of_the_guess(driver)
    driver.execute_script(
        "const slider = document.getElementById('guessed'); slider.value = 9; slider.dispatchEvent(new Event('input'))"
    )
    higher = height_of_the_guess(driver)
    assert higher < at_first
    driver.execute_script(screenshots.GUESSED)
    assert height_of_the_guess(driver) == higher
    assert lines_drawn(driver, "guess") == [0, 0, 0, 1]


@browser_only
@together
@pytest.mark.parametrize("width", [400, 768, 1280])
def test_nothing_moves_when_the_gates_are_held(page, width):
    driver = page(width)
    places = (
        "['four', 'question', 'hold', 'measured'].map((id) => document.getElementById(id).getBoundingClientRect().top)"
    )
    towers_at_first = shown(driver, places)[0]
    driver.execute_script(screenshots.GUESSED)
    before = shown(driver, places)
    assert before[0] == towers_at_first
    driver.execute_script("document.getElementById('hold').click()")
    assert shown(driver, places) == before


@browser_only
@together
@pytest.mark.parametrize("width", [320, 400, 1280])
def test_the_four_towers_stand_in_one_row_that_fits(page, width):
    driver = page(width)
    driver.execute_script(screenshots.GUESSED)
    boxes = "[...document.querySelectorAll('#four figure')].map((figure) => figure.getBoundingClientRect().top)"
    assert len(set(shown(driver, boxes))) == 1
    parts = "[...document.querySelectorAll('#four figcaption')]"
    assert shown(driver, f"{parts}.filter((part) => part.scrollWidth > part.clientWidth + 1).length") == 0
    has_words = shown(driver, "document.querySelectorAll('#four .word').length > 0")
    assert has_words == (width > 700)
    assert ("Dotted: your guess." in text_of(driver, "legend")) != has_words


@browser_only
@together
def test_the_address_holds_the_problem(page):
    address = "#table=123450&start=3"
    driver = page(address=address)
    driver.execute_script(screenshots.GUESSED)
    assert answers_shown(driver) == ["4", "5", "0", "1"]
    driver.execute_script("document.getElementById('new').click()")
    assert answers_shown(driver)[1:] == ["?", "?", "?"]  # a new guess
    other = driver.execute_script("return location.hash")
    assert re.fullmatch(r"#table=[0-5]{6}&start=[0-5]", other)
    assert other != address
    driver.execute_async_script(
        "window.addEventListener('hashchange', () => setTimeout(arguments[0])); location.hash = '#table=123450&start=0'"
    )
    driver.execute_script(screenshots.GUESSED)
    assert answers_shown(driver) == ["1", "2", "3", "4"]


@browser_only
@together
def test_a_bad_address_is_named(page):
    driver = page(address="#table=123456&start=3")
    notice = driver.execute_script("return document.querySelector('.notice').textContent")
    assert notice.startswith("The address names no problem. It should end like this: #table=")


@browser_only
@together
@pytest.mark.parametrize(("width", "colors"), [(400, "dark"), (1280, "light")])
def test_it_is_accessible_and_fits(page, width, colors):
    driver = page(width, colors)
    driver.execute_script(screenshots.GUESSED)
    assert violations(driver) == []
    page_width, view_width = driver.execute_script(
        "const { scrollWidth, clientWidth } = document.documentElement; return [scrollWidth, clientWidth]"
    )
    assert page_width <= view_width
