"""The nets that will_it_train is asked of: what_trains's own, and families that it has not seen.

A net of any family has forward(x), backward(d_logits), predict(x) and parameters, as a DeepNet has.
norms_of() gives the size of the gradient at the output of each of its blocks.
"""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
import highways.nets.carries  # this and the next register blocks
import highways.nets.layer_norm  # noqa: F401
from experiments.shared_trials import nine_carries
from highways.conv.net import ConvNet
from highways.files import InputError
from highways.nets import initial

CALIBRATION = "what_trains"
CONVOLUTION = "convolution"
TRANSFORMER = "transformer"
PIXELS = 784
CLASSES = 10
MAPS = 8  # of a convolutional net, 7 x 7 pixels each
PATCHES = 16  # an image is 16 patches of 49 pixels for a transformer
TRANSFORMER_WIDTH = 32
BLOCKS = {
    "plain": ("plain", {}),
    "residual": ("fixed-mix", {"carry": 1.0, "transform": 1.0}),
    "highway": ("highway", {}),
    "normalised plain": ("normalised-plain", {}),
    "normalised residual": ("normalised-residual", {"scale": 1.0}),
    "normalised highway": ("normalised-highway", {}),
}
INITS = {"program": "uniform", "orthogonal": "glorot", "he": "he"}


class Gelu(hn.Activation):
    """H = z (1 + t) / 2, t = tanh(c (z + 0.044715 z^3)), c = sqrt(2 / pi)"""

    name = "gelu"
    keeps_z = True
    c = math.sqrt(2 / math.pi)

    def value(self, z, H):
        t = np.tanh(self.c * (z + 0.044715 * z**3))
        H[...] = z * (1 + t) / 2

    def slope(self, z, H, slope):
        """H' = (1 + t) / 2 + z (1 - t^2) c (1 + 3 * 0.044715 z^2) / 2"""
        t = np.tanh(self.c * (z + 0.044715 * z**3))
        slope[...] = (1 + t) / 2 + z * (1 - t * t) * self.c * (1 + 3 * 0.044715 * z * z) / 2


# ---- Nets ---------------------------------------------------------------------------------------


def make(setting: dict, dtype=np.float32):
    """The untrained net of a setting, as its seed draws it."""
    family = setting["family"]
    if family == CALIBRATION:
        return nine_carries.make(setting, dtype)
    if family == CONVOLUTION:
        return convolutional(setting, dtype)
    if family == TRANSFORMER:
        return OfTorch(setting, dtype)
    name, settings = BLOCKS[setting["kind"]]
    net = hn.DeepNet(
        PIXELS,
        CLASSES,
        setting["width"],
        setting["depth"],
        hn.Block.find(name, **settings),
        np.random.default_rng(setting["seed"]),
        activation=setting["activation"],
        init=INITS[setting["start"]],
        gate_bias=0.0 if setting["gate_bias"] is None else setting["gate_bias"],
        dtype=dtype,
    )
    if setting["start"] == "orthogonal":
        initial.redraw(net, "orthogonal", 1.0, np.random.default_rng([setting["seed"], 2]))
    return net


def convolutional(setting: dict, dtype) -> ConvNet:
    """A convolution, pooling to 7 x 7 pixels, `depth` blocks with 3 x 3 windows, and a dense layer."""
    layers = [("conv", 3, MAPS), ("pool", 4, 4), *[(setting["kind"], 3)] * setting["depth"], ("dense", CLASSES)]
    gate_bias = -1.0 if setting["gate_bias"] is None else setting["gate_bias"]
    return ConvNet(
        (1, 28, 28), layers, setting["seed"], init=setting["start"], gate_bias=gate_bias, dtype=dtype, method="direct"
    )


class OfTorch:
    """A small transformer in PyTorch, with its parameters in one NumPy vector.

    The setting's kind is where its encoder layers normalise: "pre-norm", "post-norm", or "no norm".
    `gain` multiplies all weight matrices of the encoder at the start."""

    def __init__(self, setting: dict, dtype):
        try:
            import torch  # only here: nothing else of this room needs it
        except ImportError:
            raise InputError("the family of transformers needs PyTorch: python -m pip install torch") from None
        self.torch = torch
        torch.set_num_threads(1)
        torch.manual_seed(setting["seed"])
        module = encoder(torch, setting)
        module = module.double() if np.dtype(dtype) == np.float64 else module.float()
        self.module = module
        numbers = [parameter.detach().numpy().ravel() for parameter in module.parameters()]
        self.parameters = np.concatenate(numbers)
        self.gradient = np.zeros_like(self.parameters)
        start = 0
        for parameter in module.parameters():
            part = slice(start, start + parameter.numel())
            parameter.data = torch.from_numpy(self.parameters[part]).view(parameter.shape)
            parameter.grad = torch.from_numpy(self.gradient[part]).view(parameter.shape)
            start = part.stop
        self.outputs = []
        self.logits = None

    def forward(self, x):
        self.outputs, self.logits = self._run(self.torch.from_numpy(x))
        return self.logits.detach().numpy().copy()

    def _run(self, x):
        parts = self.module
        state = parts["first"](in_patches(x)) + parts["places"].weight
        outputs = []
        for layer in parts["layers"]:
            state = layer(state)
            outputs.append(state)
        return outputs, parts["last"](state.mean(dim=1))

    def backward(self, d_logits, norms=None):
        self.gradient[:] = 0
        if norms is not None:
            for output in self.outputs:
                output.retain_grad()
        self.logits.backward(self.torch.from_numpy(np.ascontiguousarray(d_logits, self.parameters.dtype)))
        if norms is not None:
            norms[:] = [float(output.grad.norm()) for output in self.outputs]
        return self.gradient

    def predict(self, x):
        with self.torch.no_grad():
            return self._run(self.torch.from_numpy(x))[1].numpy()


def in_patches(x):
    """(N, 784) -> (N, 16, 49): the 16 squares of 7 x 7 pixels of an image."""
    rows = x.reshape(-1, 4, 7, 4, 7)
    return rows.permute(0, 1, 3, 2, 4).reshape(len(x), PATCHES, 49)


def encoder(torch, setting: dict):
    """The parts of a transformer of `depth` layers, as PyTorch draws them."""
    nn = torch.nn
    width = TRANSFORMER_WIDTH
    layers = []
    for _ in range(setting["depth"]):
        before = setting["kind"] != "post-norm"
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, norm_first=before, batch_first=True)
        if setting["kind"] == "no norm":
            layer.norm1 = nn.Identity()
            layer.norm2 = nn.Identity()
        with torch.no_grad():
            for parameter in layer.parameters():
                if parameter.dim() == 2:
                    parameter *= setting["gain"]
        layers.append(layer)
    return nn.ModuleDict({
        "first": nn.Linear(49, width),
        "places": nn.Embedding(PATCHES, width),
        "layers": nn.ModuleList(layers),
        "last": nn.Linear(width, CLASSES),
    })  # fmt: skip


# ---- What is measured before training -----------------------------------------------------------


@np.errstate(all="ignore")
def norms_of(net, x: np.ndarray, y: np.ndarray) -> tuple[list[float], float]:
    """|dL/dy| of every block for the mean loss L of images x, and the norm of the whole gradient."""
    logits = net.forward(x)
    _, d_logits = hn.softmax_cross_entropy(logits, y)
    if isinstance(net, ConvNet):
        norms, gradient = backward_through_layers(net, d_logits)
    else:
        depth = net.depth if isinstance(net, hn.DeepNet) else len(net.outputs)
        norms = np.zeros(depth)
        gradient = net.backward(d_logits, norms)
    return [float(f"{norm:.4g}") for norm in norms], float(f"{np.linalg.norm(gradient):.4g}")


def backward_through_layers(net: ConvNet, d_logits: np.ndarray) -> tuple[list[float], np.ndarray]:
    """net.backward(), with |dL/dy| of its blocks, the layers between pooling and the last."""
    norms = []

    def watched(backward):
        def keep_norm(arrays, dy, needs_dx):
            norms.append(float(np.linalg.norm(dy)))
            return backward(arrays, dy, needs_dx)

        return keep_norm

    blocks = net.layers[2:-1]
    for layer in blocks:
        layer.backward = watched(layer.backward)
    try:
        gradient = net.backward(d_logits)
    finally:
        for layer in blocks:
            del layer.backward
    return norms[::-1], gradient
