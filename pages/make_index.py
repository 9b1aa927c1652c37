"""Writes pages/index.html, "How deep?": seven scenes on one stage.  It is the site's first page, and a single file
that a browser opens from disk.

    python -m pages.make_index

The page holds some of MNIST's images, made small, the net results/pointers.npz, numbers of results/, and the programs
of pages/index/.  Its first picture is computed here, and drawn before any script answers."""

from __future__ import annotations

import base64
import re
import zlib

import imageio.v3 as imageio
import numpy as np

from experiments.depth_on_demand import depth_on_demand_trial as trial
from highway_networks import Dataset, DeepNet, subset
from highways.commands import run_program
from highways.files import ROOT, InputError, printable
from highways.records import load_results, select
from pages.explorer_net import load_page_mnist
from pages.make_explorer import base64_of
from pages.measure_pointers import NET, OUT, SETTING, checksum_of, summary_of
from pages.parts import ENGINE, MENU, PALETTE, STYLE, WORDS, json_in_page, page_of, run_page_command

PARTS = ROOT / "pages" / "index"
PROGRAMS = "training worker law follower state stage pad whisper race sabotage map turn pointers judge bets page"
PAGE_PARTS = (
    STYLE,
    "page.css",
    ENGINE,
    "../explorer/trained.js",
    PALETTE,
    WORDS,
    *(f"{name}.js" for name in PROGRAMS.split()),
)
RECORDS = (
    "pointers",
    "scenes",
    "why_plain_fails",
    "shut_gates",
    "depth_on_demand",
    "claims",
    "initialisations",
)
N_TRAIN = 2000
N_TEST = 1000
SIDE = 14  # of an image in the page; MNIST's is twice as long
TOP = 15  # the brightest of the 16 greys that 4 bits hold
DIGITS = 4  # of the means of T
CLAIMS = {
    "primary-thirty-layers": "With small first weights, thirty plain layers fail, and thirty highway layers train.",
    "best-start-two-orders": "At 100 layers the loss of plain nets is over 100 times that of highway nets.",
    "primary-past-1000": "More than a thousand layers train, and they are of use.",
}
# On what the claim was tried
TRIED = {
    "primary-thirty-layers": "Ten nets of each kind, with small weights as in Race, read new digits.",
    "best-start-two-orders": "Five nets of each kind, from the best start and at the best rate that we found for each.",
    "primary-past-1000": "Ten nets of 1500 layers learn to read digits. (A point is one image in 100.)",
}
# Why our verdict is what it is; {0} is the number of the first part
WHY = {
    "primary-thirty-layers": "All ten plain nets failed, all ten highway nets trained. From larger first weights"
    " plain nets can learn, too.",
    "best-start-two-orders": "From a careful start plain nets of a hundred layers train, too. Their loss is {0} that of"
    " highway nets, less than was claimed.",
    "primary-past-1000": "Such nets train. Once trained they rely on their layers: shutting all gates then, not from"
    " the start, costs {2}. Yet a net that is trained with one layer does slightly better: it reads {3} more.",
}
VERDICTS = {"reproduced": "it holds", "in part": "in part", "not reproduced": "it fails"}
# Words of the claims' parts, in those of the scenes
IN_SCENES = {
    "plain loss, 100 layers ÷ highway loss, 100 layers": "loss of plain nets ÷ loss of highway nets (log scale)",
    "highway accuracy": "highway nets read",
    "plain accuracy": "plain nets read",
    "fall of the loss from first to last epoch": "fall of the error (loss) in training",
    "accuracy that closing all blocks costs": "shutting all gates after training costs",
    "test accuracy − accuracy of one hidden layer": "gain over a net of one layer",
    "test accuracy": "new digits read",
}
# What the scenes show, for readers whose browser runs no scripts
SHOTS = {
    "whisper": "A digit in thirty-one steps, fainter from step to step; below, how much is left for each T",
    "race": "After training the plain tower is grey at the top and reads a tenth; the highway tower is full of colour",
    "sabotage": "Eight layers of a tower are cut; the share of digits read falls, and heals",
    "start": "From larger weights plain and highway nets learn, each at four rates; from small ones only highway nets",
    "turn": "A tower with shut gates and one with free gates read as many digits",
    "pointers": "Six numbers with arrows, and four towers: the answer stands later for a larger k",
    "judge": "Highway nets train from nearly all starts that were tried, plain ones from a quarter of them",
}

# ---- Images --------------------------------------------------------------------------------------


def small_images(x: np.ndarray) -> np.ndarray:
    """Images (N, 784) of bytes -> (N, 196) of greys from 0 to 15: the means of 2 x 2 pixels."""
    squares = x.reshape(len(x), SIDE, 2, SIDE, 2)
    means = squares.mean(axis=(2, 4))
    greys = np.rint(means * TOP / 255)
    return greys.astype(np.uint8).reshape(len(x), SIDE * SIDE)


def two_to_a_byte(greys: np.ndarray) -> bytes:
    """Packs an even count of numbers from 0 to 15, two to a byte, the first in the high half."""
    flat = greys.reshape(-1, 2)
    return (flat[:, 0] << 4 | flat[:, 1]).tobytes()


def images_part(mnist: Dataset) -> dict:
    """The page's images: the pixels of the training images, then of the test images, two to a
    byte, then all labels, a byte each; deflated, in base64."""
    drawn = subset(mnist, 0, N_TRAIN, N_TEST)
    x = np.concatenate([drawn.x_train, drawn.x_test])
    labels = np.concatenate([drawn.y_train, drawn.y_test]).astype(np.uint8)
    packed = two_to_a_byte(small_images(x)) + labels.tobytes()
    return {
        "n_train": N_TRAIN,
        "n_test": N_TEST,
        "d_in": SIDE * SIDE,
        "top": TOP,
        "deflated": base64.b64encode(zlib.compress(packed, 9)).decode(),
    }


def digits_part(mnist: Dataset) -> list[str]:
    """The first test image of each digit, a hexadecimal sign a pixel."""
    drawn = subset(mnist, 0, N_TRAIN, N_TEST)
    first = [int(np.argmax(drawn.y_test == digit)) for digit in range(10)]
    return ["".join(f"{grey:x}" for grey in image) for image in small_images(drawn.x_test[first])]


# ---- The first picture: what whisper.js draws on a narrow stage ------------------------------------------------

LAYERS = 30
ACROSS = 8
FIRST_T = 0.05
FIRST_DIGIT = 3


def uniform(seed: int, n: int) -> np.ndarray:
    """The first n numbers of uniformFrom() of net.js."""
    state = np.uint32(seed) + np.arange(1, n + 1, dtype=np.uint32) * np.uint32(0x6D2B79F5)
    bits = (state ^ (state >> 15)) * (state | 1)
    bits = (bits + (bits ^ (bits >> 7)) * (bits | 61)) ^ bits
    return (bits ^ (bits >> 14)) / 2**32


def climb(ink: np.ndarray, T: float) -> np.ndarray:
    """The states (LAYERS + 1, 196) of a digit that climbs."""
    n = SIDE * SIDE
    W = (2 * uniform(1, LAYERS * n * n) - 1).reshape(LAYERS, n, n) / np.sqrt(n)
    states = [ink]
    for layer in range(LAYERS):
        x = states[-1]
        states.append(T * np.tanh(W[layer] @ x) + (1 - T) * x)
    return np.array(states)


def colors_of(dark: bool) -> dict[str, np.ndarray]:
    """The colours of base.css, {name: (3,)}."""
    light_part, dark_part = (ROOT / "pages" / "shared" / "base.css").read_text().split("@media", 2)[:2]
    found = re.findall(r"--(\w+): #(\w{6})", dark_part if dark else light_part)
    return {name: np.array([int(value[i : i + 2], 16) for i in (0, 2, 4)]) for name, value in found}


def first_picture(digit: str, dark: bool) -> str:
    """The address of a picture of the first scene."""
    colors = colors_of(dark)
    states = climb(np.array([int(sign, 16) / TOP for sign in digit]), FIRST_T)
    canvas = np.zeros((4 * (SIDE + 1), ACROSS * (SIDE + 1), 4), np.uint8)
    for layer, state in enumerate(states):
        row, along = divmod(layer, ACROSS)
        column = ACROSS - 1 - along if row % 2 else along
        strength = np.minimum(1, np.abs(state))[:, None]
        strongest = np.where(state[:, None] > 0, colors["plus"], colors["minus"])
        tile = colors["zero"] + (strongest - colors["zero"]) * strength
        top, left = (3 - row) * (SIDE + 1), column * (SIDE + 1)
        canvas[top : top + SIDE, left : left + SIDE, :3] = np.rint(tile).reshape(SIDE, SIDE, 3)
        canvas[top : top + SIDE, left : left + SIDE, 3] = 255
    png = imageio.imwrite("<bytes>", canvas, extension=".png")
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def shots() -> dict[str, str]:
    """{scene: its picture, for a browser without scripts}."""
    parts = {}
    for scene, about in SHOTS.items():
        file = PARTS / "pictures" / f"{scene}.webp"
        if not file.exists():  # it is taken of a page without it
            parts[scene] = ""
            continue
        data = base64.b64encode(file.read_bytes()).decode()
        image = f'<img class="shot" alt="{about}" src="data:image/webp;base64,{data}">'
        parts[scene] = f"<noscript>{image}</noscript>"
    return parts


# ---- Records -------------------------------------------------------------------------------------


def checked_record() -> dict:
    """The record of the net that follows pointers; raises InputError for any other."""
    record = load_results(OUT)
    anew = "python -m pages.measure_pointers measures anew"
    if record["settings"].get("net_sha256") != checksum_of(NET.read_bytes()):
        raise InputError(f"{printable(OUT)} was measured on another net than {printable(NET)}: {anew}")
    if record["summary"] != summary_of(record["trials"]):
        raise InputError(f"{printable(OUT)} has a summary that is not that of its trials: {anew}")
    return record


def mean_gates(net: DeepNet) -> np.ndarray:
    """The mean of T over problems of all k, (depth, width), by which gates are held."""
    by_k = []
    for k in trial.depths_of(SETTING):
        x, _ = trial.drawn(SETTING, k, trial.CHOOSING)
        by_k.append(net.gates(x).mean(axis=1, dtype=np.float64))
    return np.mean(by_k, axis=0)


def pointers_part(net: DeepNet, record: dict) -> dict:
    shape = {name: getattr(net, name) for name in ("d_in", "d_out", "hidden", "depth")}
    return {
        "net": {**shape, "parameters": base64_of(net.parameters.astype("<f2"))},
        "held": mean_gates(net).round(DIGITS).tolist(),
    }


def claims_by_id() -> dict[str, dict]:
    record = load_results(ROOT / "experiments" / "results" / "claims.json")
    return {row["id"]: row for row in record["trials"]}


def verdicts_part() -> str:
    """Our verdicts on the claims that the reader judges, as in the page's address."""
    rows = claims_by_id()
    return "".join(str(list(VERDICTS).index(rows[id]["verdict"])) for id in CLAIMS)


def claims_in_words() -> str:
    """A box for each claim, with its parts: the interval that was measured, and the bound that was asked for."""
    boxes = []
    rows = claims_by_id()
    for id, claim in CLAIMS.items():
        row = rows[id]
        parts = "".join(part_in_words(*part) for part in zip(row["tests"], row["parts"], strict=True))
        title = f'<p class="says" tabindex="-1">{claim}</p>'
        tried = f'<p class="tried">{TRIED[id]}</p>'
        numbers = [numbers_of(test)["number"].lstrip("−") for test in row["tests"]]
        ours = f'<p class="ours"><b>Our tests: {VERDICTS[row["verdict"]]}.</b> {WHY[id].format(*numbers)}</p>'
        boxes.append(f'<div class="claim">{title}{tried}<ul>{parts}</ul>{ours}</div>')
    return "\n".join(boxes)


def mean_of(test: dict) -> float:
    """The middle of a test's interval, in the unit of the page's words."""
    return in_words(test, np.mean(test["interval"]))


def numbers_of(test: dict) -> dict[str, str]:
    """What was measured, its interval, and what the rule asks for: "89.5 %", "88.7 to 90.3", "above 85"."""
    bounds = " and ".join(f"{in_words(test, bound):.3g}" for bound in test["bounds"])
    most = 100 if unit_of(test) in (" %", " points") else np.inf  # a t-interval may pass what can be
    low, high = [rounded(test, min(most, in_words(test, end))) for end in test["interval"]]
    return {
        "number": f"{rounded(test, mean_of(test))}{unit_of(test)}",
        "interval": f"{low} to {high}",
        "asked": minus_signs(f"{test['rule']} {bounds}{' points' if unit_of(test) == ' points' else ''}"),
    }


def unit_of(test: dict) -> str:
    if test["log10"]:
        return "×"
    first = test["names"][0]
    if "loss" in first:
        return ""
    is_difference = len(test["names"]) == 2 or first.startswith("accuracy that")
    return " points" if is_difference else " %"


def rounded(test: dict, value: float) -> str:
    digits = 1
    if unit_of(test) == "":
        digits = 3
    elif value == 100 or test["log10"]:
        digits = 0
    return minus_signs(f"{value:.{digits}f}")


def in_words(test: dict, value: float) -> float:
    """A value of a test in the unit of the page's words."""
    if test["log10"]:
        return 10**value
    return value if unit_of(test) == "" else 100 * value


def minus_signs(text: str) -> str:
    return text.replace("-", "−")


def name_of(test: dict) -> str:
    name = (" ÷ " if test["log10"] else " − ").join(test["names"])
    for words, in_scenes in IN_SCENES.items():
        name = name.replace(words, in_scenes)
    return name


def part_in_words(test: dict, holds: bool) -> str:
    """A part of a claim's rule: its mark, name and number; below them the interval as a bar on a scale."""
    mark, why, look = ("✓", "passes", "") if holds else ("✗", "fails", "fails")
    words = numbers_of(test)
    name = f"<span>{mark}</span><span>{name_of(test)}<em>{why}</em></span><b>{words['number']}</b>"
    low, high = [f"{end:.4g}" for end in ends_in_words(test)]
    asked = f"asked: <b>{words['asked']}</b> <small>measured: {words['interval']}</small>"
    unit = " %" if unit_of(test) == " %" else ""
    below = f"<span>{minus_signs(low)}</span><span>{asked}</span><span>{high}{unit}</span>"
    return f'<li class="{look}">{name}{bar_of(test)}<span class="below">{below}</span></li>'


def bar_of(test: dict) -> str:
    """The interval, the bound, and the side of the bound that the rule asks for."""
    bottom, top = scale_of(test)
    low, high, bound = [
        100 * min(1, (value - bottom) / (top - bottom)) for value in (*test["interval"], test["bounds"][0])
    ]
    from_, to = (0, bound) if test["rule"] == "below" else (bound, 100)
    side = f"--asked: {bound:.1f}%; --holds: {from_:.1f}%; --side: {to - from_:.1f}%"
    return f'<span class="bar" style="--from: {low:.1f}%; --wide: {high - low:.1f}%; {side}"><i></i></span>'


def scale_of(test: dict) -> tuple[float, float]:
    """Round ends of a scale that holds zero, the interval and, not at an end, the bound."""
    if unit_of(test) == " %":
        return 0, 1
    low, high = test["interval"]
    bound = test["bounds"][0]
    bottom = -rounded_up(1.1 * max(0, -low, -bound))
    top = rounded_up(1.1 * max(0, high, bound))
    if bound >= top:
        top = -bottom
    if bound <= bottom:
        bottom = -top
    return (bottom, min(1, top)) if unit_of(test) == " points" else (bottom, top)


def rounded_up(value: float) -> float:
    """The least of 1, 2, 3, 5 and 10 times a power of ten that is not below a value from 0 on."""
    if value == 0:
        return 0
    power = 10 ** np.floor(np.log10(value))
    return power * min(digit for digit in (1, 2, 3, 5, 10) if digit * power >= value)


def ends_in_words(test: dict) -> list[float]:
    return [in_words(test, end) for end in scale_of(test)]


def kind_of_starts(summary: list[dict], kind: str) -> dict[str, int]:
    """From how many cells (weights, kind of H, depth) nets of a kind were trained, and in how many they learned."""
    rows = [row for row in summary if row["row"] == "kind" and row["kind"] == kind]
    return {name: sum(row[name] for row in rows) for name in ("cells", "proceed")}


def share_right(summary: list[dict], **which) -> str:
    """The share of answers that the nets of a row have right: "91 %"."""
    return f"{100 * select(summary, **which)['accuracy']['mean']:.0f}&nbsp;%"


def words_from(record: dict) -> dict[str, str]:
    """The numbers within the page's text."""
    held = [round(100 * row["accuracy_with_gates_held"]) for row in record["summary"]]
    headline = load_results(ROOT / "experiments" / "results" / "why_plain_fails.json")["summary"]
    free = select(headline, row="headline", block="highway", depth=30, n_train=6000)
    shut = select(load_results(ROOT / "experiments" / "results" / "shut_gates.json")["summary"], kind="shut gates")
    scenes = load_results(ROOT / "experiments" / "results" / "scenes.json")
    cuts = select(scenes["summary"], cut=20)
    uncut = np.mean([trial["towers"][1]["read"] for trial in scenes["trials"]])
    before, cut = [np.mean([trial["cuts"][1][when] for trial in scenes["trials"]]) for when in ("before", "after")]
    same = [trial["rates"][2]["spread_first"] < 1e-6 for trial in scenes["trials"]]
    *first, last = [
        f"{layer:.1f}" for layer in np.mean([trial["problem"]["stands_from"] for trial in scenes["trials"]], axis=0)
    ]
    easy_T, hard_T = np.mean([trial["problem"]["mean_T"] for trial in scenes["trials"]], axis=0)
    steps = load_results(ROOT / "experiments" / "results" / "depth_on_demand.json")["summary"]
    starts = load_results(ROOT / "experiments" / "results" / "initialisations.json")["summary"]
    highway_starts, plain_starts = (kind_of_starts(starts, kind) for kind in ("highway", "plain"))
    return {
        "uncut": f"{100 * uncut:.0f}&nbsp;%",
        "before": f"{100 * before:.0f}&nbsp;%",
        "cut": f"{100 * cut:.0f}&nbsp;%",
        "same": str(sum(same)),
        "n_nets": str(cuts["seeds"]),
        "n_faded": str(cuts["faded"]),
        "faded": f"{100 * cuts['read_if_faded']:.0f}&nbsp;%",
        "not_faded": f"{100 * cuts['read_if_not']:.0f}&nbsp;%",
        "n_puzzles": str(len(scenes["trials"])),
        "easy_T": f"{easy_T:.2f}",
        "hard_T": f"{hard_T:.2f}",
        "layers": f"{', '.join(first)} and {last}",
        "held": f"{min(held)} to {max(held)}&nbsp;%",
        "n_test": str(record["settings"]["n_test"]),
        "shallow": share_right(steps, level="pointer-2", kind="shallow", depth=3),
        "deep_plain": share_right(steps, level="pointer-2", kind="plain", depth=18),
        "deep": share_right(steps, level="pointer-2", kind="full", depth=18),
        "free": f"{100 * free['test_accuracy']['mean']:.1f}&nbsp;%",
        "shut": f"{100 * shut['test_accuracy']['mean']:.1f}&nbsp;%",
        "highway_starts": str(highway_starts["proceed"]),
        "plain_starts": str(plain_starts["proceed"]),
        "n_starts": str(plain_starts["cells"]),
        "claims": claims_in_words(),
    }


def whole_page() -> str:
    mnist = load_page_mnist()
    digits = digits_part(mnist)
    record = checked_record()
    data = {"digits": digits, "pointers": pointers_part(DeepNet.load(NET), record), "verdicts": verdicts_part()}
    pictures = {
        "first_light": first_picture(digits[FIRST_DIGIT], dark=False),
        "first_dark": first_picture(digits[FIRST_DIGIT], dark=True),
    }
    menu = (PARTS / MENU).read_text(encoding="utf-8").strip()
    menu = menu.replace('"../learn/README.md" title="(a text file)"', '"#ten-minutes"')
    texts = {"menu.html": menu, "images": json_in_page(images_part(mnist)), "data": json_in_page(data)}
    return page_of(PARTS, PAGE_PARTS, {**words_from(record), **shots(), **pictures, **texts})


def main(argv=None) -> int:
    return run_page_command(argv, "index.html", "seven scenes on how deep a net can be, and why", whole_page)


if __name__ == "__main__":
    run_program(main)
