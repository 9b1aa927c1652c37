"""What a trained net says of the image of a digit.

python -m highways.trained.classify net.npz digit.png
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import highways.nets.activations
import highways.nets.carries
import highways.nets.extra_blocks
import highways.nets.layer_norm
import highways.nets.static_gates  # noqa: F401  these register the activations and blocks that a net may have
from highway_networks import DeepNet, finite_logits, inputs_for
from highways.commands import Parser, first_line, path_name, run_command, run_program
from highways.digits import SIDE, like_mnist, read_grey
from highways.files import InputError, printable
from highways.trained.nets import read_net


def image_for(about: dict, grey: np.ndarray) -> tuple[np.ndarray, str]:
    """An image as a row of pixels for a net that has learned such data, and what was done to it.

    `about` is the net's: a net that was trained on MNIST gets the image like MNIST's; any other net as
    it is.  Raises ValueError where that has another size.  Of rows, such as a CSV file has, the number
    of pixels alone is known."""
    if about.get("data_set") == "MNIST":
        image, said = like_mnist(grey)
        return image.reshape(1, -1), said
    shape = about["shape"]
    if list(grey.shape) != shape and [grey.size] != shape:
        takes = " x ".join(map(str, shape))
        advice = "scale it first"
        if shape in ([SIDE, SIDE], [SIDE * SIDE]):
            advice = "in Python image, _ = like_mnist(read_grey(path)) makes it like MNIST's"
        raise ValueError(f"its pixels are {grey.shape}; the net takes {takes}, for it has learned other data: {advice}")
    pixels = np.rint(255 * grey).astype(np.uint8) if "pixels" in about else grey
    return pixels.reshape(1, -1), "taken as it is, 0 is black"


def classify_images(path: str, images: list[str], save) -> None:
    """Prints what a saved net says of each image."""
    about, predict = saved_net(path)
    for image in images:
        grey = read_grey(image)
        try:
            pixels, said = image_for(about, grey)
            logits = predict(pixels).astype(np.float64)[0]
        except (ValueError, FloatingPointError) as error:
            raise InputError(f"{image}: {error}") from error
        powers = np.exp(logits - logits.max())
        probabilities = powers / powers.sum()
        shown = printable(image)
        print(f"{shown}: {said}")
        print(f"{shown}: {probabilities.argmax()}, with the probability {probabilities.max():.3f}")
        for label, probability in enumerate(probabilities):
            print(f"{label:6d} {probability:6.3f}  {'#' * round(40 * probability)}".rstrip())


def saved_net(path: str) -> tuple[dict, Callable]:
    """What is known of the data of a net, which DeepNet.save() wrote or the folder highways/trained/ has, and the
    function from pixels to its logits."""
    if path.endswith(".safetensors"):
        trained = read_net(path)
        shape = [side for side in trained.about["image"] if side > 1]  # 1: no colours
        return {"data_set": trained.about["data"], "shape": shape, "pixels": "bytes"}, trained.predict
    net = DeepNet.load(path)
    return {"shape": [net.d_in], **net.about}, lambda pixels: finite_logits(net, inputs_for(net, pixels))


def main(argv=None) -> int:
    parser = Parser(prog="python -m highways.trained.classify", description=first_line(__doc__))
    net = "what DeepNet.save() wrote, or a file of highways/trained/"
    parser.add_argument("net", type=path_name, metavar="NET", help=net)
    parser.add_argument("images", type=path_name, metavar="IMAGE", nargs="+", help="PNG, JPEG, ...")
    args = parser.parse_args(argv)
    return run_command(parser.prog, partial(classify_images, args.net, args.images))


if __name__ == "__main__":
    run_program(main)
