"""The training step in C, with the products of NumPy's own BLAS: what it costs to write the rest in NumPy.

step.c is compiled by the system's `cc` when the benchmark starts.  It makes the same products as
our program in the same layout.  All element-wise work of a layer is one loop, and a step is one
call."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from benchmarks.rivals.rival import BETA1, BETA2, CLIP, EPS, LR, StepRival

SOURCE = Path(__file__).with_name("step.c")
COMPILE = ("-c", "-fPIC", "-O3", "-march=native", "-ffast-math")  # fast mathematics has tanh and exp of many numbers
SIZES = ("d_in", "d_out", "hidden", "depth", "gated", "images", "size")
NUMBERS = {"clip": CLIP, "lr": LR, "beta1": BETA1, "beta2": BETA2, "eps": EPS}
OURS = ("parameters", "W_in", "b_in", "_blocks", "_output")  # of a DeepNet, and the same of its gradient
ARRAYS = ("m", "v", "x", "states", "H", "T", "z", "dz", "dy", "dx", "transposed", "logits")


class NetInC(ctypes.Structure):
    """The struct Net of step.c."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in SIZES),
        *((name, ctypes.c_float) for name in NUMBERS),
        ("sgemm", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in OURS),
        *((f"gradient of {name}", ctypes.c_void_p) for name in OURS),
        *((name, ctypes.c_void_p) for name in ARRAYS),
    ]


@functools.cache
def compiled() -> ctypes.CDLL:
    """step.c, compiled.

    It is linked without -ffast-math, with which some compilers would link code that flushes
    subnormal numbers for the whole process.  Raises ImportError without a compiler."""
    if shutil.which("cc") is None:
        raise ImportError("no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        object_file = str(Path(folder) / "step.o")
        library = str(Path(folder) / "step.so")
        for words in ((*COMPILE, str(SOURCE), "-o", object_file), ("-shared", object_file, "-o", library, "-lm")):
            process = subprocess.run(("cc", *words), capture_output=True, text=True, check=False)
            if process.returncode != 0:
                raise ImportError(f"cc cannot compile {SOURCE.name}: {process.stderr.strip()}")
        program = ctypes.CDLL(library)
    program.loss_and_gradient.restype = ctypes.c_float
    program.loss_and_gradient.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    program.step.restype = None
    program.step.argtypes = (ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p] * 3)
    return program


def sgemm_of_numpy() -> int:
    """The address of cblas_sgemm() in the OpenBLAS that NumPy's wheels have.

    Raises ImportError where NumPy has another BLAS."""
    for library in threadpool_info():
        if library["internal_api"] == "openblas" and "numpy" in library["filepath"]:
            function = getattr(ctypes.CDLL(library["filepath"]), "scipy_cblas_sgemm64_", None)
            if function is not None:
                return ctypes.cast(function, ctypes.c_void_p).value
    raise ImportError("NumPy has another BLAS than its wheels have")


class WithC(StepRival):
    """The whole step in C; products by NumPy's BLAS."""

    name = "C, products by NumPy's BLAS"
    at_its_best = True
    gradient = "by hand"

    def __init__(self, net, x, y):
        self.program = compiled()
        self.sgemm = sgemm_of_numpy()
        self.net = net
        self.x = x
        self.y = y.astype(np.int64)
        self.m = np.zeros_like(net.parameters)
        self.v = np.zeros_like(net.parameters)
        self.t = 0
        self.arrays = {}
        self.net_in_c = None

    def make_arrays(self, images: int) -> None:
        """Makes the arrays for this number of images, and tells C where all arrays lie."""
        net = self.net
        h = net.hidden
        shapes = {
            "x": (images, net.d_in),
            "states": (net.depth + 1, h + 1, images),
            "H": (net.depth, h, images),
            "T": (net.depth, h, images),
            "z": (2 * h, images),
            "dz": (2 * h, images),
            "dy": (h, images),
            "dx": (h, images),
            "transposed": (images, h + 1),
            "logits": (net.d_out, images),
        }
        self.arrays = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
        self.arrays["states"][:, -1] = 1
        sizes = (net.d_in, net.d_out, h, net.depth, net.block.gates, images, net.parameters.size)
        gradients = (net.gradient, *(getattr(net.grad, name) for name in OURS[1:]))
        parameters = [getattr(net, name) for name in OURS]
        arrays = [*parameters, *gradients, self.m, self.v, *self.arrays.values()]
        addresses = [array.ctypes.data for array in arrays]
        self.net_in_c = NetInC(*sizes, *NUMBERS.values(), self.sgemm, *addresses)

    def loss_and_gradient(self, x, y):
        self.make_arrays(len(x))
        self.arrays["x"][...] = x
        y = y.astype(np.int64)
        loss = self.program.loss_and_gradient(ctypes.addressof(self.net_in_c), y.ctypes.data)
        return loss, self.net.gradient.copy()

    def step(self, batch):
        if not self.arrays or len(batch) != len(self.arrays["x"]):
            self.make_arrays(len(batch))
        self.t += 1
        batch = np.ascontiguousarray(batch, np.int64)
        data = (batch.ctypes.data, self.x.ctypes.data, self.y.ctypes.data)
        self.program.step(ctypes.addressof(self.net_in_c), self.t, *data)
