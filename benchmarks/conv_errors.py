"""How exact is a 3 x 3 convolution in float32?  Winograd's tiles, the direct products, and PyTorch.

    python -m benchmarks.conv_errors          -> experiments/results/benchmark_conv_errors.json

Measures the largest error divided by the largest value, for each of z = W * x + b, dL/dx and dL/dW.
The exact values are those of the direct products in float64, for 100 images.  Three of the sizes are
those of layers in Table 1's nets; the fourth has 128 maps, as in Table 3's net, on larger images.
x is positive, as after a ReLU; W is drawn by He's rule; dL/dz is normal.
"""

from __future__ import annotations

from types import SimpleNamespace

import benchmarks.one_thread  # noqa: F401  first: NumPy and PyTorch read their environment when imported

# isort: split
import numpy as np

from benchmarks.report import Report, arguments, end
from highways.conv.direct import Direct
from highways.conv.layer import by_columns, in_phases
from highways.conv.winograd import POINTS, Winograd

SIZES = ((24, 16, 32), (12, 32, 64), (6, 32, 64), (12, 128, 256))  # side, maps, outputs
BATCH = 100


class OneLayerWorkspace:
    """Makes the work arrays of one layer, with the interface of ConvWorkspace, which makes a whole net's.

    Nothing is shared with other layers, so that scratch arrays are made like all others."""

    keep = True  # the arrays of the backward pass are needed, too

    def __init__(self, dtype):
        self.dtype = dtype

    def new(self, name, shape):
        return np.zeros(shape, self.dtype)

    def scratch(self, name, shape):
        return self.new(name, shape)


def passes(product, x, W, dz) -> dict:
    """{z, dx, dW} from the forward and the backward pass of `product`, a Direct or a Winograd.

    x is (rows, 1, maps, columns, n), and dz is (rows, 1, outputs, columns, n)."""
    arrays = SimpleNamespace(n=x.shape[-1])
    phases = product.phases
    product.make_arrays(OneLayerWorkspace(x.dtype), arrays)
    arrays.x[...] = in_phases(x, phases)
    product.prepare_input(arrays, slice(None))
    z = np.empty_like(dz)
    dx = np.empty(arrays.x.shape, x.dtype)
    b = np.zeros(len(W), W.dtype)
    grad = SimpleNamespace(W=np.empty_like(W), b=np.empty_like(b))
    for rows, z_of_rows in product.forward(arrays, W, b):
        in_phases(z, phases)[rows] = z_of_rows
    # backward() yields an array to fill with dL/dz, some rows at a time
    for rows, dz_of_rows in product.backward(arrays, W, grad, dx, carried=False):
        dz_of_rows[...] = in_phases(dz, phases)[rows]
    return {"z": by_columns(z), "dx": by_columns(dx), "dW": grad.W}


def passes_of_torch(x, W, dz) -> dict:
    """{z, dx, dW} from PyTorch's conv2d."""
    import torch

    x = torch.tensor(images_first(x[:, 0])).requires_grad_()
    dz = torch.tensor(images_first(dz[:, 0]))
    W = torch.tensor(W.transpose(0, 3, 1, 2)).requires_grad_()
    z = torch.nn.functional.conv2d(x, W, padding=1)
    z.backward(dz)
    return {
        "z": images_last(z.detach().numpy()),
        "dx": images_last(x.grad.numpy()),
        "dW": W.grad.numpy().transpose(0, 2, 3, 1),
    }


def images_first(x: np.ndarray) -> np.ndarray:
    """(rows, maps, columns, n) -> (n, maps, rows, columns)."""
    return x.transpose(3, 1, 0, 2)


def images_last(x: np.ndarray) -> np.ndarray:
    """(n, maps, rows, columns) -> (rows, maps, columns, n)."""
    return x.transpose(2, 1, 3, 0)


def errors(method, side: int, maps: int, outputs: int, n: int = BATCH) -> dict:
    """{"z": error, "dx": error, "dW": error} in float32.

    `method` is "direct", "PyTorch", or an integer: the size of Winograd's tiles."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(side, 1, maps, side, n)).astype(np.float32)
    dz = rng.normal(size=(side, 1, outputs, side, n)).astype(np.float32)
    W = rng.normal(0, (2 / (9 * maps)) ** 0.5, (outputs, 3, 3, maps)).astype(np.float32)
    x = np.maximum(x, 0)
    direct = Direct((maps, side), 3, 1, outputs)
    if method == "PyTorch":
        found = passes_of_torch(x, W, dz)
    elif method == "direct":
        found = passes(direct, x, W, dz)
    else:
        found = passes(Winograd(maps, side, outputs, method), x, W, dz)
    exact = passes(direct, x.astype(np.float64), W.astype(np.float64), dz.astype(np.float64))
    return {name: float(abs(found[name] - exact[name]).max() / abs(exact[name]).max()) for name in exact}


def errors_of_sizes(method) -> dict:
    """{size of a layer: errors()}, for those sizes whose images the method's tiles can fill."""
    rows = {}
    for side, maps, outputs in SIZES:
        if method in POINTS and side % method:
            continue
        rows[f"{maps} -> {outputs} maps, {side} x {side}"] = errors(method, side, maps, outputs)
    return rows


def main(argv=None) -> int:
    parser = arguments("conv_errors", __doc__)
    report = Report(parser, parser.parse_args(argv), ("torch",))
    trials = {}
    summary = {}
    tiles = [*POINTS]  # the sizes of Winograd's tiles
    for method in (*tiles, "direct", "PyTorch"):
        name = f"F({method}x{method}, 3x3)" if method in POINTS else method
        try:
            rows = errors_of_sizes(method)
        except ImportError as error:
            print(f"{name}: left out: {error}")
            continue
        trials[name] = rows
        line = f"{name:14}"
        for what in ("z", "dx", "dW"):
            largest = max(row[what] for row in rows.values())
            summary[f"{name} {what}"] = largest
            line += f"  {what} {largest:.1e}"
        print(line)
    return report.save({"batch": BATCH}, summary, trials)


if __name__ == "__main__":
    end(main)
