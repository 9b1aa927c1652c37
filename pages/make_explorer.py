"""Writes pages/explorer.html, a page to look into a trained highway net.  It is a single file that
a browser opens from disk.

    python -m pages.make_explorer

The page holds the net experiments/results/fifty_layers_mnist_1.npz with weights rounded to float16, some of
MNIST's test images, and numbers from experiments/results/gates.json, experiments/results/lesion.json and
experiments/results/explorer.json (which pages/measure.py writes).  Its markup, style and programs are in
pages/explorer/: page.html includes page.css, trained.js (the net), worker.js (what runs beside the
page), page.js (answer, changes to the net), image.js, maps.js, unit.js and acts.js (the three
questions).  From pages/shared/ it has net.js, which computes, base.css, palette.js and words.js.

This command also runs the net, and refuses to write the page if a test image changes its class
when the weights are rounded."""

from __future__ import annotations

import base64
import copy
import json

import numpy as np

from highway_networks import Dataset, DeepNet, inputs_for
from highways.commands import run_program
from highways.files import ROOT, InputError
from highways.lab.showing.style import drawing
from highways.records import load_results, select
from pages.explorer_net import NET, checksum_of_net, load_page_mnist, load_page_net
from pages.measure import summary_of
from pages.parts import ENGINE, MENU, PALETTE, STYLE, WORDS, json_in_page, page_of, run_page_command

PARTS = ROOT / "pages" / "explorer"
PAGE_PARTS = (
    STYLE,
    MENU,
    "page.css",
    ENGINE,
    "trained.js",
    "worker.js",
    PALETTE,
    WORDS,
    "page.js",
    "image.js",
    "maps.js",
    "unit.js",
    "acts.js",
)
# the page has at most this many images of each digit and kind: right, doubtful, wrong
IMAGES_A_KIND = 5
# An image is "right" if its label has more than this probability.  The "doubtful" images are
# those that are classified correctly with the lowest probabilities.
SURE = 0.99


def rounded(net: DeepNet) -> DeepNet:
    """The net with its parameters rounded to float16; it computes in its own dtype."""
    twin = copy.deepcopy(net)
    twin.parameters[:] = net.parameters.astype(np.float16)
    return twin


def base64_of(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


def net_part(net: DeepNet, mnist) -> tuple[dict, np.ndarray]:
    """The net's part of the page's data, and the rounded net's logits for the test images,
    (N, classes).  Raises InputError if rounding changes the class of an image."""
    x = inputs_for(net, mnist.x_test)
    twin = rounded(net)
    unrounded = net.predict(x)
    logits = twin.predict(x)
    changed = np.count_nonzero(unrounded.argmax(axis=1) != logits.argmax(axis=1))
    if changed:
        raise InputError(f"{NET}: in float16 its answer changes for {changed} of the {len(x)} test images")
    accuracy = (logits.argmax(axis=1) == mnist.y_test).mean()
    change_of_T = 0.0  # the largest over all images
    for rows in np.array_split(x, 20):
        change_of_T = max(change_of_T, np.abs(net.gates(rows) - twin.gates(rows)).max())
    about = (
        f"The net is {NET} (MNIST, seed {net.about['trial']['seed']}, test accuracy {accuracy:.4f}). Its weights are "
        f"rounded to float16: each of the {len(x)} test images keeps its class; no logit differs from that of the "
        f"unrounded net by more than {np.abs(logits - unrounded).max():.2g}, no T by more than {change_of_T:.2g}."
    )
    part = {name: getattr(net, name) for name in ("d_in", "d_out", "hidden", "depth")}
    part["pixels"] = json.loads(net.about["pixels"])
    part["gate_bias"] = net.about["trial"]["gate_bias"]
    part["about"] = about
    part["parameters"] = base64_of(net.parameters.astype("<f2"))
    return part, logits


def select_images(logits: np.ndarray, y: np.ndarray) -> list[tuple[int, int, str]]:
    """(index, label, kind) of the images that the page offers."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True), dtype=np.float64)
    probability = powers[np.arange(len(y)), y] / powers.sum(axis=1)  # of the label
    is_right = logits.argmax(axis=1) == y
    images = []
    for digit in range(logits.shape[1]):
        of_digit = np.flatnonzero(y == digit)
        by_doubt = of_digit[np.argsort(probability[of_digit], kind="stable")]
        kinds = {
            "right": of_digit[is_right[of_digit] & (probability[of_digit] > SURE)],
            "doubtful": by_doubt[is_right[by_doubt]],
            "wrong": of_digit[~is_right[of_digit]],
        }
        for kind, indices in kinds.items():
            images += [(int(index), digit, kind) for index in indices[:IMAGES_A_KIND]]
    return images


def checked_results(name: str, mnist: Dataset) -> dict:
    """The record of experiments/results/`name`.json; raises InputError unless it has the default budget and
    these data."""
    path = ROOT / "experiments" / "results" / f"{name}.json"
    record = load_results(path)
    expected = {
        "experiment": name,
        "budget": "default",
        "MNIST's checksum": mnist.sha256,
    }
    with drawing(path, "the page"):
        found = {
            "experiment": record["experiment"],
            "budget": record["settings"]["budget"],
            "MNIST's checksum": record["env"]["data_sets"]["MNIST"],
        }
    for what, value in expected.items():
        if found[what] != value:
            raise InputError(f"{path} has {what} {found[what]}, not {value}: git checkout {path} brings that back")
    return record


def checked_measurement(mnist: Dataset) -> dict:
    """The record of experiments/results/explorer.json; raises InputError unless it is of the page's net and of
    these data."""
    path = ROOT / "experiments" / "results" / "explorer.json"
    record = load_results(path)
    with drawing(path, "the page"):
        found = {
            "the net's checksum": record["settings"]["net_sha256"],
            "MNIST's checksum": record["env"]["data_sets"]["MNIST"],
        }
    expected = {"the net's checksum": checksum_of_net(), "MNIST's checksum": mnist.sha256}
    anew = "python -m pages.measure measures anew"
    for what, value in expected.items():
        if found[what] != value:
            raise InputError(f"{path} has {what} {found[what]}, not {value}: {anew}")
    if record["summary"] != summary_of(record["trials"], record["settings"]["n_train"]):
        raise InputError(f"{path} has a summary that is not that of its trials: {anew}")
    return record


def trial_of(record: dict, net: DeepNet) -> dict:
    """The trial that trained this net; raises InputError where there is none."""
    settings = {name: value for name, value in net.about["trial"].items() if name != "data_dir"}
    for trial in record["trials"]:
        if settings.items() <= trial.items():
            return trial
    raise InputError(f"experiments/results/{record['experiment']}.json has no trial of {NET}: {record['command']}")


def lesion_part(record: dict, net: DeepNet) -> dict:
    """The training error with all blocks open and with all idle ones closed, and the latter of the nets of other seeds;
    the numbers of the idle blocks; how many blocks can be closed together, chosen one after another, for less than one
    percentage point; and the rise of the error below which a block is idle."""
    trial = trial_of(record, net)
    part = {name: trial[name] for name in ("error", "error_all_idle", "idle", "closed_together")}
    others = [other for other in record["trials"] if other["data"] == trial["data"] and other["seed"] != trial["seed"]]
    part["of_other_seeds"] = [other["error_all_idle"] for other in others]
    part["limit"] = select(record["summary"], row="definitions")["idle_below"]
    return part


def measured_part(record: dict) -> dict:
    """What pages/measure.py measured.

    wrong[i][j - i] is the number of training images that the net gets wrong with blocks i to j
    closed; for i and j the blocks are counted from 0.  shifts holds the training error for each
    shift of b_T.  decided[k] is the number of test images whose answer is decided after k blocks,
    decided[0] that after the plain first layer."""
    numbers = record["trials"]
    shifts = [{name: row[name] for name in ("shift", "train_error")} for row in numbers["shifts"]]
    return {
        "wrong": list(numbers["wrong"].values()),
        "shifts": shifts,
        "decided": numbers["decided"]["images"],
        "n_train": record["settings"]["n_train"],
        "n_test": record["settings"]["n_test"],
    }


def data_of(net: DeepNet, logits: np.ndarray, mnist, records: dict) -> dict:
    """The page's data except net_part()."""
    images = select_images(logits, mnist.y_test)
    maps = trial_of(records["gates"], net)["maps"]
    return {
        "images": {"list": images, "pixels": base64_of(mnist.x_test[[index for index, *_ in images]])},
        "gates": {
            "mean_T": maps["mean_T"],
            "hundredths": np.rint(100 * np.array(maps["class_minus_mean"])).astype(int).tolist(),  # of class less mean
        },
        "lesion": lesion_part(records["lesion"], net),
        "measured": measured_part(records["explorer"]),
    }


def page(data: dict) -> str:
    """The page with these data."""
    return page_of(PARTS, PAGE_PARTS, {"data": json_in_page(data)})


def whole_page() -> str:
    """The page, from the committed net and records."""
    mnist = load_page_mnist()
    net = load_page_net(ROOT / NET, mnist)
    records = {
        "gates": checked_results("gates", mnist),
        "lesion": checked_results("lesion", mnist),
        "explorer": checked_measurement(mnist),
    }
    of_net, logits = net_part(net, mnist)
    files = "experiments/results/gates.json, experiments/results/lesion.json or experiments/results/explorer.json"
    with drawing(files, "the page"):
        return page({"net": of_net} | data_of(net, logits, mnist, records))


def main(argv=None) -> int:
    return run_page_command(argv, "explorer.html", "a page that looks into a trained net", whole_page)


if __name__ == "__main__":
    run_program(main)
