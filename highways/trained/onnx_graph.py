"""A trained net as an ONNX graph of standard operations.

    input   images         float32 (N, maps, rows, columns), pixels from 0 to 1, as their files have them
    output  logits         float32 (N, classes)
            probabilities  float32 (N, classes)

The graph scales the pixels as in the net's training.  Weights that are kept as float16 are cast: all arithmetic is
that of float32.
"""

from __future__ import annotations

import json

import numpy as np

from highways.conv.pipeline import LEAST_CONTRAST
from highways.files import InputError
from highways.trained.nets import TrainedNet, named_parameters

OPSET = 10  # the oldest with which windows may overhang an image
ACTIVATIONS = {"tanh": "Tanh", "relu": "Relu"}


def onnx_package():
    try:
        import onnx
    except ModuleNotFoundError:
        raise InputError("onnx is not installed: python -m pip install -r requirements-nets.txt") from None
    return onnx


class Graph:
    """The nodes and the numbers of a graph.  Each method adds some, and returns the name of what they compute."""

    def __init__(self, dtype):
        self.helper = onnx_package().helper
        self.numpy_helper = onnx_package().numpy_helper
        self.dtype = dtype  # in which weights are kept
        self.nodes = []
        self.numbers = []

    def add(self, operation: str, *inputs: str, output: str | None = None, **attributes) -> str:
        output = output or f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operation, [*inputs], [output], **attributes))
        return output

    def number(self, value: float) -> str:
        """A float32 number."""
        name = f"number_{len(self.numbers)}"
        self.numbers.append(self.numpy_helper.from_array(np.float32(value).reshape(1), name))
        return name

    def weights(self, name: str, array: np.ndarray) -> str:
        """An array, kept as self.dtype."""
        array = np.ascontiguousarray(array, self.dtype)
        if array.dtype == np.float32:
            self.numbers.append(self.numpy_helper.from_array(array, name))
            return name
        self.numbers.append(self.numpy_helper.from_array(array, f"{name}.half"))
        return self.add("Cast", f"{name}.half", output=name, to=1)  # 1 is float32

    def affine(self, x: str, name: str, W: np.ndarray, b: np.ndarray) -> str:
        """W x + b for x of any shape (N, ...), in the order of its numbers."""
        flat = self.add("Flatten", x, axis=1)
        W = self.weights(f"{name}.W", W.reshape(len(W), -1))
        return self.add("Gemm", flat, W, self.weights(f"{name}.b", b), transB=1)

    def convolution(self, x: str, name: str, W: np.ndarray, b: np.ndarray, pad: int = 0, stride: int = 1) -> str:
        W = self.weights(f"{name}.W", W)
        b = self.weights(f"{name}.b", b)
        return self.add("Conv", x, W, b, pads=[pad] * 4, strides=[stride] * 2)

    def largest(self, x: str, k: int, stride: int) -> str:
        return self.add("MaxPool", x, kernel_shape=[k, k], strides=[stride] * 2, ceil_mode=1)

    def highway(self, x: str, H: str, z_T: str) -> str:
        """y = x + T (H - x), T = sigmoid(z_T)."""
        T = self.add("Sigmoid", z_T)
        return self.add("Add", x, self.add("Mul", T, self.add("Sub", H, x)))


def inputs(graph: Graph, pixels: str, mean_image: np.ndarray | None) -> str:
    """What the net is given for the graph's input `images`."""
    if pixels == "[0, 1]":
        return "images"
    if pixels == "[-1, 1]":
        return graph.add("Sub", graph.add("Mul", "images", graph.number(2)), graph.number(1))
    if pixels == "[0, 255/256]":
        return graph.add("Mul", "images", graph.number(255 / 256))
    centred = graph.add("Sub", "images", graph.add("ReduceMean", "images", axes=[1, 2, 3]))
    variance = graph.add("ReduceMean", graph.add("Mul", centred, centred), axes=[1, 2, 3])
    deviation = graph.add("Max", graph.add("Sqrt", variance), graph.number(LEAST_CONTRAST / 255))
    return graph.add("Sub", graph.add("Div", centred, deviation), graph.weights("mean_image", mean_image))


def deep_net(graph: Graph, x: str, net) -> str:
    """The logits of a DeepNet of highway blocks."""
    activation = ACTIVATIONS[net.activation.name]
    x = graph.add(activation, graph.affine(x, "in", net.W_in, net.b_in))
    for block in range(net.depth):
        H = graph.add(activation, graph.affine(x, f"{block}.H", net.W_H[block], net.b_H[block]))
        x = graph.highway(x, H, graph.affine(x, f"{block}.T", net.W_T[block], net.b_T[block]))
    return graph.affine(x, "out", net.W_out, net.b_out)


def conv_net(graph: Graph, x: str, net, layers: list[list]) -> str:
    """The logits of a ConvNet of these layers."""
    parameters = named_parameters(net)
    for number, ((kind, *settings), layer) in enumerate(zip(layers, net.layers, strict=True)):
        name = f"layers.{number}"
        if kind == "dropout":
            continue
        if kind == "pool":
            x = graph.largest(x, *settings)
        elif kind == "highway":
            pair = {}
            for part in "HT":
                W = parameters[f"{name}.W_{part}"]
                pair[part] = graph.convolution(x, f"{name}.{part}", W, parameters[f"{name}.b_{part}"], layer.pad)
            x = graph.highway(x, graph.add("Relu", pair["H"]), pair["T"])
        elif kind == "conv":
            x = graph.convolution(x, name, parameters[f"{name}.W"], parameters[f"{name}.b"], layer.pad)
            x = graph.add("Relu", x)
        elif kind == "conv-pool":
            W = parameters[f"{name}.W"]
            x = graph.convolution(x, name, W, parameters[f"{name}.b"], stride=layer.stride)
            x = graph.add("Relu", graph.largest(x, 2, 2))
        elif kind in ("hidden", "dense"):
            x = graph.affine(x, name, parameters[f"{name}.W"], parameters[f"{name}.b"])
            if kind == "hidden":
                x = graph.add("Relu", x)
        else:
            raise ValueError(f"no ONNX graph is made of a layer {kind!r}")
    return x


def to_bytes(trained: TrainedNet, about: dict) -> bytes:
    """The .onnx file, which also holds the texts `about`."""
    onnx = onnx_package()
    card = trained.about
    graph = Graph(np.dtype(card["precision"]))
    x = inputs(graph, card["pixels"], trained.mean_image)
    if card["kind"] == "DeepNet":
        logits = deep_net(graph, x, trained.net)
    else:
        logits = conv_net(graph, x, trained.net, card["arguments"]["layers"])
    graph.add("Identity", logits, output="logits")
    graph.add("Softmax", "logits", output="probabilities", axis=1)
    value = onnx.helper.make_tensor_value_info
    numbers = onnx.TensorProto.FLOAT
    outputs = [value(name, numbers, ["N", card["classes"]]) for name in ("logits", "probabilities")]
    whole = onnx.helper.make_graph(
        graph.nodes, card["name"], [value("images", numbers, ["N", *card["image"]])], outputs, graph.numbers
    )
    model = onnx.helper.make_model(
        whole, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=5, producer_name="highway-networks"
    )
    onnx.helper.set_model_props(model, {name: text for name, text in about.items()})
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def texts(card: dict) -> dict[str, str]:
    """What both files of a net say of it, in words and JSON."""
    named = {name: card[name] for name in card if name not in ("safetensors", "onnx", "answers")}
    return {"net": json.dumps(named), "licence": "MIT", "made_by": "python -m highways.trained.make"}
