"""Makes the files of a trained net from the checkpoint that a training wrote, if it is as accurate as recorded.

    python -m highways.trained.make mnist-16-short run_conv_0.npz    writes .safetensors and .onnx, and nets.json

Weights become float16 if then every test image still has the same answer.  `python -m docs.publish` puts what
nets.json says into the table of highways/trained/README.md.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import asdict, fields
from functools import partial
from typing import NamedTuple

import numpy as np

import highway_networks as hn
from highways.cifar import SHAPE, load_cifar
from highways.commands import Parser, first_line, path_name, run_command, run_program
from highways.conv.nets import find_net
from highways.conv.protocols import ConvSettings
from highways.files import ROOT, InputError, json_bytes, put_arrays, read_arrays, read_json
from highways.trained import onnx_graph, safetensors_file
from highways.trained.nets import FOLDER, TrainedNet, cards, contrast_normalised, empty_net, named_parameters

FIRST = 500  # test images whose answers are recorded


# ---- What is recorded ------------------------------------------------------------------------------------------------


class Recipe(NamedTuple):
    """What a net is, and where its training is recorded."""

    title: str
    recorded_in: str  # a JSON of the repository
    read: Callable[[dict], dict]  # what that JSON says of the net: settings, accuracy, commit, and what the net is
    command: str  # the training, with whatever else it trains


def headline(record: dict) -> dict:
    run = record["runs"][0]["highway"]
    return {
        **deep_net_of(run),
        "pixels": hn.PIXELS[0],
        "data": "MNIST",
        "data_sha256": record["data_sha256"],
        "test_images": {"n": record["n_test"], "drawn_by_seed": record["seed"]},
        "settings": {name: record[name] for name in asdict(hn.DEFAULTS)},
        "accuracy": run["final_test_acc"],
        "commit": record["env"]["git"],
    }


def fifty_layers(record: dict, data: str) -> dict:
    [trial] = [trial for trial in record["trials"]["final"] if trial["data"] == data and trial["seed"] == 1]
    names = ("effective_lr", "momentum", "decay", "gate_bias", "clip", "seed", "epochs", "n_train", "n_test")
    return {
        **deep_net_of({**trial, "hidden": 50}),
        "pixels": hn.PIXELS[1],
        "data": data,
        "data_sha256": record["env"]["data_sets"][data],
        "test_images": {"n": trial["n_test"], "drawn_by_seed": None},
        "settings": {name: trial[name] for name in names},
        "accuracy": trial["test_accuracy"],
        "commit": record["env"]["git"],
    }


def deep_net_of(run: dict) -> dict:
    arguments = {"d_in": 28 * 28, "d_out": 10, "hidden": run["hidden"], "depth": run["depth"]}
    arguments |= {"block": "highway", "activation": "tanh"}
    return {"kind": "DeepNet", "arguments": arguments, "image": [1, 28, 28], "classes": 10}


def convolutional(record: dict, epoch: int | None = None, **wanted) -> dict:
    """The run with these settings, after this epoch or its last."""
    runs = record["trials"]["final"]
    [run] = [run for run in runs if all(run[name] == value for name, value in wanted.items())]
    history = run["history"]
    epoch = epoch or run["epochs"]
    return {
        **conv_net_of(run, record["env"]["data_sets"]),
        "accuracy": history["test_accuracy"][history["epoch"].index(epoch)],
        "epochs_done": epoch,
        "commit": run["commits"][0],
    }


# the net of the record's second recipe; the record may change its layers, and the files stay
LAYERS_OF_RECORD = [
    ["conv-pool", 6, 32, 2],
    ["highway", 3],
    ["highway", 3],
    ["pool", 2, 2],
    ["highway", 3],
    ["dense", 10],
]
ABOUT_THE_LOG = ("record", "date", "who", "beside", "processes_that_computed_before", "data_sha256")


def of_record(record: dict, seed: int) -> dict:
    settings = {**record["settings"], "seed": seed}
    [trial] = [trial for trial in record["trials"] if trial["seed"] == seed]
    return {
        "kind": "ConvNet",
        "arguments": {"shape": [1, 28, 28], "layers": LAYERS_OF_RECORD},
        "image": [1, 28, 28],
        "classes": 10,
        "pixels": "[0, 255/256]",
        "data": "MNIST",
        "data_sha256": settings["data_sha256"],
        "test_images": {"n": settings["n_test"], "drawn_by_seed": None},
        "settings": {name: value for name, value in settings.items() if name not in ABOUT_THE_LOG},
        "accuracy": trial["test_accuracy"],
        "commit": record["env"]["git"],
    }


def conv_net_of(run: dict, data_sets: dict[str, str]) -> dict:
    settings = {field.name: run[field.name] for field in fields(ConvSettings) if field.name in run}
    net = find_net(run["net"])
    layers = net.layers_of(block=run["block"], dropout=tuple(run["dropout"]))
    data = run["data"].upper()
    return {
        "kind": "ConvNet",
        "arguments": {"shape": [*net.shape], "layers": [[*layer] for layer in layers]},
        "image": [*net.shape],
        "classes": 10,
        "pixels": "[0, 255/256]" if run["images"] == "pixels" else run["images"],
        "data": data,
        "data_sha256": data_sets[data],
        "test_images": {"n": run["n_test"], "drawn_by_seed": None},
        "settings": settings,
    }


FIFTY = "experiments/results/fifty_layers.json"
TABLE_1 = "experiments/results/table1.json"
SHORT = {"block": "highway", "protocol": "short", "seed": 0}
RECIPES = {
    "highway-30": Recipe(
        "the headline: 30 blocks of 50 tanh units",
        "run.json",
        headline,
        "python highway_networks.py --seed 0 --save net.npz",
    ),
    "fifty-layers-mnist": Recipe(
        "section 4: a plain layer and 49 blocks of 50 tanh units",
        FIFTY,
        partial(fifty_layers, data="MNIST"),
        "python -m experiments fifty_layers",
    ),
    "fifty-layers-fashion": Recipe(
        "the fifty layers of section 4 on Fashion-MNIST",
        FIFTY,
        partial(fifty_layers, data="fashion-mnist"),
        "python -m experiments fifty_layers --data-dir DIR",
    ),
    "record-mnist": Recipe(
        "99 % in six seconds: three blocks of 32 maps",
        "benchmarks/records/mnist_99/2026-11-27.json",
        partial(of_record, seed=0),
        "python conv_highway_networks.py --net record-mnist --seed 0",
    ),
    "mnist-16": Recipe(
        "Table 1, 16 maps; released settings, after 218 of 300 epochs",
        TABLE_1,
        partial(convolutional, epoch=218, net="mnist-16", block="highway", protocol="paper", seed=2),
        "python conv_highway_networks.py --net mnist-16 --protocol paper --seed 2 --stop-after 218",
    ),
    "mnist-16-short": Recipe(
        "Table 1, 16 maps; our recipe of twelve epochs",
        TABLE_1,
        partial(convolutional, net="mnist-16", **SHORT),
        "python conv_highway_networks.py --net mnist-16 --seed 0",
    ),
    "mnist-32-short": Recipe(
        "Table 1, 32 maps; our recipe of twelve epochs",
        TABLE_1,
        partial(convolutional, net="mnist-32", **SHORT),
        "python conv_highway_networks.py --net mnist-32 --seed 0",
    ),
    "highway-a": Recipe(
        "Table 2, Highway A; released settings, after 357 of 400 epochs",
        "experiments/results/cifar.json",
        partial(convolutional, epoch=357, net="highway-a", block="highway", protocol="paper", seed=0),
        "python conv_highway_networks.py --net highway-a --protocol paper --stop-after 357",
    ),
}


def recorded(name: str) -> dict:
    """What the repository's records say of a net."""
    recipe = RECIPES[name]
    says = recipe.read(read_json(ROOT / recipe.recorded_in))
    about = {"name": name, "title": recipe.title, "recorded_in": recipe.recorded_in, "command": recipe.command}
    return {**about, **says}


# ---- Test images -----------------------------------------------------------------------------------------------------


def images_of(card: dict, data_dir: str | None) -> hn.Dataset:
    """The data set of a net.  Raises InputError for another one."""
    is_colour = card["image"] == [*SHAPE]
    data = load_cifar(card["data"], data_dir) if is_colour else hn.load_mnist(data_dir)
    if data.sha256 != card["data_sha256"]:
        raise InputError(f"{data.source} holds {data.name}; {card['name']} needs {card['data']}: give its --data-dir")
    return data


def test_images(card: dict, data: hn.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The test images on which the recorded accuracy was measured, and their labels."""
    n = card["test_images"]["n"]
    seed = card["test_images"]["drawn_by_seed"]
    if seed is not None:
        data = hn.subset(data, seed, 1, n)
    return data.x_test[:n], data.y_test[:n]


# ---- The files -------------------------------------------------------------------------------------------------------


def arrays_of(card: dict, checkpoint: str) -> dict[str, np.ndarray]:
    """The parameters in a checkpoint, by their names in the files."""
    net = empty_net(card)
    try:
        _, arrays = read_arrays(checkpoint)
        put_arrays(arrays, {"parameters": net.parameters})
    except Exception as error:  # zipfile, zlib, NumPy and json each have their own
        raise InputError(f"{checkpoint} is no checkpoint of {card['name']}: {error}") from error
    return {name: np.ascontiguousarray(array) for name, array in named_parameters(net).items()}


def mean_image(x: np.ndarray, card: dict) -> np.ndarray:
    """The mean of contrast-normalised images, (maps, rows, columns) float32."""
    total = np.zeros(x.shape[1])
    for first in range(0, len(x), 1000):
        total += contrast_normalised(x[first : first + 1000]).sum(axis=0, dtype=np.float64)
    return (total / len(x)).astype(np.float32).reshape(card["image"])


def make(name: str, checkpoint: str, data_dir: str | None, save) -> None:
    card = recorded(name)
    data = images_of(card, data_dir)
    x, y = test_images(card, data)
    arrays = arrays_of(card, checkpoint)
    if card["pixels"] == "contrast":
        # the program of that commit subtracted the mean test image from test images
        arrays["mean_image"] = mean_image(x, card)
    answers = TrainedNet(card, arrays).classify(x)
    right = int((answers == y).sum())
    recorded_right = round(card["accuracy"] * len(y))
    if right != recorded_right:
        raise InputError(f"{checkpoint} has {right} of {len(y)} test images right; recorded are {recorded_right}")
    if card["pixels"] == "contrast":
        arrays["mean_image"] = mean_image(data.x_train, card)
        answers = TrainedNet(card, arrays).classify(x)
    card["right"] = int((answers == y).sum())
    halves = {part: array.astype(np.float16) for part, array in arrays.items()}
    card["precision"] = "float32"
    if (TrainedNet(card, halves).classify(x) == answers).all():
        card["precision"] = "float16"
        arrays = halves
    trained = TrainedNet(card, arrays)
    card["n_parameters"] = len(trained.net.parameters)
    texts = onnx_graph.texts(card)
    files = {
        "safetensors": safetensors_file.to_bytes(arrays, texts),
        "onnx": onnx_graph.to_bytes(trained, texts),
    }
    for kind, content in files.items():
        card[kind] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    card["answers"] = " ".join(map(str, answers[:FIRST]))
    known = cards() if (FOLDER / "nets.json").exists() else {}
    known[name] = card
    known = {one: known[one] for one in RECIPES if one in known}
    save({FOLDER / f"{name}.{kind}": content for kind, content in files.items()})
    save({FOLDER / "nets.json": json_bytes(known)})
    print(f"{name}: {card['right']} of {len(y)} test images right, {card['precision']}")


def main(argv=None) -> int:
    parser = Parser(prog="python -m highways.trained.make", description=first_line(__doc__))
    parser.add_argument("name", choices=RECIPES, help="which net")
    parser.add_argument("checkpoint", type=path_name, help="the .npz file of its training")
    parser.add_argument("--data-dir", type=path_name, metavar="DIR", help="its data set (MNIST, or the cache's CIFAR)")
    args = parser.parse_args(argv)
    return run_command(parser.prog, lambda save: make(args.name, args.checkpoint, args.data_dir, save))


if __name__ == "__main__":
    run_program(partial(main, sys.argv[1:]))
