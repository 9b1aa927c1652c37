"""Makes the files of a trained net from the checkpoint that a training wrote, if it is as accurate as recorded.

    python -m nets.make mnist-16 run_conv_0.npz      -> nets/mnist-16.safetensors, nets/mnist-16.onnx, nets.json

The page nets/README.md gets its rows from nets.json.  Weights become float16 if then every test image still has the
same answer.
"""

from __future__ import annotations

import hashlib
import re
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
from highways.files import ROOT, InputError, json_bytes, read_json
from highways.trained import safetensors_file
from highways.trained.nets import FOLDER, TrainedNet, cards, contrast_normalised, empty_net, named_parameters
from nets import onnx_graph

FIRST = 500  # test images whose answers are recorded
TABLE = re.compile("(?<=<!-- nets -->\n).*?(?=<!-- end -->)", re.S)
MNIST = [1, 28, 28]


# ---- What is recorded ------------------------------------------------------------------------------------------------


class Recipe(NamedTuple):
    """What a net is, and where its training is recorded."""

    title: str
    recorded_in: str  # a JSON of the repository
    read: Callable[[dict], dict]  # what that JSON says of the net: settings, accuracy, commit, and what the net is
    command: str  # the training, with whatever else it trains
    note: str = ""


def headline(record: dict) -> dict:
    run = record["runs"][0]["highway"]
    return {
        **deep_net_of(run, MNIST, 10),
        "pixels": hn.PIXELS[0],
        "data": "MNIST",
        "data_sha256": record["data_sha256"],
        "test_images": {"n": record["n_test"], "drawn_by_seed": record["seed"]},
        "settings": {name: record[name] for name in asdict(hn.DEFAULTS)},
        "accuracy": run["final_test_acc"],
        "commit": record["env"]["git"],
    }


def fifty_layers(record: dict, data: str, image: list[int], classes: int, pixels: str) -> dict:
    [trial] = [trial for trial in record["trials"]["final"] if trial["data"] == data and trial["seed"] == 1]
    names = ("effective_lr", "momentum", "decay", "gate_bias", "clip", "seed", "epochs", "n_train", "n_test")
    return {
        **deep_net_of({**trial, "hidden": 50}, image, classes),
        "pixels": pixels,
        "data": data,
        "data_sha256": record["env"]["data_sets"][data],
        "test_images": {"n": trial["n_test"], "drawn_by_seed": None},
        "settings": {name: trial[name] for name in names},
        "accuracy": trial["test_accuracy"],
        "commit": record["env"]["git"],
    }


def deep_net_of(run: dict, image: list[int], classes: int) -> dict:
    arguments = {"d_in": int(np.prod(image)), "d_out": classes, "hidden": run["hidden"], "depth": run["depth"]}
    arguments |= {"block": "highway", "activation": "tanh"}
    return {"kind": "DeepNet", "arguments": arguments, "image": image, "classes": classes}


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


def of_record(record: dict, seed: int) -> dict:
    settings = record["settings"]
    [trial] = [trial for trial in record["trials"] if trial["seed"] == seed]
    return {
        **conv_net_of({**settings, "seed": seed}, {"MNIST": settings["data_sha256"]}),
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


FIFTY = "results/fifty_layers.json"
TABLE_1 = "results/table1.json"
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
        partial(fifty_layers, data="MNIST", image=MNIST, classes=10, pixels="[0, 1]"),
        "python -m experiments fifty_layers",
    ),
    "fifty-layers-fashion": Recipe(
        "the same on Fashion-MNIST",
        FIFTY,
        partial(fifty_layers, data="fashion-mnist", image=MNIST, classes=10, pixels="[0, 1]"),
        "python -m experiments fifty_layers --data-dir DIR",
    ),
    "fifty-layers-cifar-100": Recipe(
        "the same on CIFAR-100; it fits the training images, and is poor on others",
        FIFTY,
        partial(fifty_layers, data="CIFAR-100", image=[*SHAPE], classes=100, pixels="[-1, 1]"),
        "python -m experiments fifty_layers --data-dir CIFAR-100",
    ),
    "record-mnist": Recipe(
        "99 % in six seconds: three blocks of 32 maps",
        "benchmarks/records/mnist/2026-11-27.json",
        partial(of_record, seed=0),
        "python conv_highway_networks.py --net record-mnist --seed 0",
    ),
    "mnist-16": Recipe(
        "Table 1, 16 maps; our recipe of twelve epochs",
        TABLE_1,
        partial(convolutional, net="mnist-16", **SHORT),
        "python conv_highway_networks.py --net mnist-16 --seed 0",
    ),
    "mnist-32": Recipe(
        "Table 1, 32 maps; our recipe of twelve epochs",
        TABLE_1,
        partial(convolutional, net="mnist-32", **SHORT),
        "python conv_highway_networks.py --net mnist-32 --seed 0",
    ),
    "highway-a": Recipe(
        "Table 2, Highway A; released settings, after 357 of 400 epochs",
        "results/cifar.json",
        partial(convolutional, epoch=357, net="highway-a", block="highway", protocol="paper", seed=0),
        "python conv_highway_networks.py --net highway-a --protocol paper --stop-after 357",
    ),
}


def recorded(name: str) -> dict:
    """What the repository's records say of a net."""
    recipe = RECIPES[name]
    says = recipe.read(read_json(ROOT / recipe.recorded_in))
    says["right"] = round(says["accuracy"] * says["test_images"]["n"])
    about = {"name": name, "title": recipe.title, "recorded_in": recipe.recorded_in, "command": recipe.command}
    return {**about, **says}


# ---- Test images -----------------------------------------------------------------------------------------------------


def images_of(card: dict, data_dir: str | None) -> hn.Dataset:
    """The data set of a net.  Raises InputError for another one."""
    if card["data"].startswith("CIFAR"):
        data = load_cifar(card["data"], data_dir)
    else:
        data = hn.load_mnist(data_dir)
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


def arrays_of(card: dict, checkpoint: str, data: hn.Dataset) -> dict[str, np.ndarray]:
    """What the file of a net holds, as float32: the checkpoint's parameters, by their names."""
    net = empty_net(card)
    try:
        _, arrays = hn.read_arrays(checkpoint, lambda head: {"parameters": net.parameters.shape})
    except Exception as error:  # zipfile, zlib, NumPy and json each have their own
        raise InputError(f"{checkpoint} is no checkpoint of {card['name']}: {error}") from error
    net.parameters[:] = arrays["parameters"]
    found = {}
    for name, array in named_parameters(net).items():
        shape = array.shape
        if array.ndim == 4 and name == [*named_parameters(net)][-2]:  # the last layer, which is dense
            shape = (len(array), -1)
        found[name] = np.ascontiguousarray(array).reshape(shape)
    if card["pixels"] == "contrast":
        total = 0
        for first in range(0, len(data.x_train), 1000):
            total = total + contrast_normalised(data.x_train[first : first + 1000]).sum(axis=0, dtype=np.float64)
        found["mean_image"] = (total / len(data.x_train)).astype(np.float32).reshape(card["image"])
    return found


def make(name: str, checkpoint: str, data_dir: str | None, save) -> None:
    card = recorded(name)
    data = images_of(card, data_dir)
    x, y = test_images(card, data)
    arrays = arrays_of(card, checkpoint, data)
    answers = TrainedNet(card, arrays).classify(x)
    right = int((answers == y).sum())
    if right != card["right"]:
        raise InputError(f"{checkpoint} has {right} of {len(y)} test images right; recorded are {card['right']}")
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
    known = {each: known[each] for each in RECIPES if each in known}
    save({FOLDER / f"{name}.{kind}": content for kind, content in files.items()})
    save({FOLDER / "nets.json": json_bytes(known), FOLDER / "README.md": page(known).encode()})
    print(f"{name}: {right} of {len(y)} test images right, {card['precision']}, {len(files['safetensors'])} bytes")


def page(known: dict[str, dict]) -> str:
    """The text of README.md, with a row for each net."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    return TABLE.sub(lambda match: f"\n{table(known)}\n", text)


def table(known: dict[str, dict]) -> str:
    head = ("net", "what", "trained on", "seed", "test images right", "numbers", "bytes", "SHA-256, both files")
    rows = [head, ["---"] * len(head)]
    for name, card in known.items():
        of_files = [card[kind] for kind in ("safetensors", "onnx")]
        rows.append(
            [
                f"`{name}`",
                card["title"],
                f"{card['data']}, [record](../{card['recorded_in']})",
                str(card["settings"]["seed"]),
                f"{card['right']} of {card['test_images']['n']}, {100 * card['accuracy']:.2f} %",
                f"{card['n_parameters']}, {card['precision']}",
                " + ".join(str(file["bytes"]) for file in of_files),
                ", ".join(f"`{file['sha256'][:16]}`" for file in of_files),
            ]
        )
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def main(argv=None) -> int:
    parser = Parser(prog="python -m nets.make", description=first_line(__doc__))
    parser.add_argument("name", choices=RECIPES, help="which net")
    parser.add_argument("checkpoint", type=path_name, help="the .npz file of its training")
    parser.add_argument("--data-dir", type=path_name, metavar="DIR", help="its data set (MNIST, or the cache's CIFAR)")
    args = parser.parse_args(argv)
    return run_command(parser.prog, lambda save: make(args.name, args.checkpoint, args.data_dir, save))


if __name__ == "__main__":
    run_program(partial(main, sys.argv[1:]))
