"""How exact is a 3 x 3 convolution in float32?  Winograd's tiles, the direct products, and PyTorch.

    python -m benchmarks.conv_errors          -> results/benchmark_conv_errors.json

The largest error over the largest value, of z = W * x + b, dL/dx and dL/dW, against the direct products in float64, for
100 images: three sizes of layers as in Table 1's nets, and one of 128 maps, as in Table 3's, on larger images.  x is
positive as behind a ReLU, W drawn as by He, dL/dz normal.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import benchmarks.one_thread  # noqa: F401  first: NumPy and PyTorch read their environment when imported

# isort: split
import numpy as np

from benchmarks.report import Report, arguments, end
from conv.direct import Direct
from conv.layer import by_columns, in_phases
from conv.winograd import POINTS, Winograd

SIZES = ((24, 16, 32), (12, 32, 64), (6, 32, 64), (12, 128, 256))  # side, maps, outputs
BATCH = 100


class Alone:
    """The work arrays of one layer."""

    keep = True

    def __init__(self, dtype):
        self.dtype = dtype

    def new(self, name, shape):
        return np.zeros(shape, self.dtype)

    scratch = new


def passes(product, x, W, dz) -> dict:
    """Both passes of a Direct or a Winograd: x (rows, 1, maps, columns, n), dz alike -> {z, dx, dW}."""
    a = SimpleNamespace(n=x.shape[-1])
    p = product.phases
    product.make_arrays(Alone(x.dtype), a)
    a.x[...] = in_phases(x, p)
    product.prepare_input(a, slice(None))
    z, dx = np.empty_like(dz), np.empty(a.x.shape, x.dtype)
    grad = SimpleNamespace(W=np.empty_like(W), b=np.zeros(len(W), W.dtype))
    for rows, part in product.forward(a, W, grad.b.copy()):
        in_phases(z, p)[rows] = part
    for rows, part in product.backward(a, W, grad, dx, carried=False):
        part[...] = in_phases(dz, p)[rows]
    return {"z": by_columns(z), "dx": by_columns(dx), "dW": grad.W}


def passes_of_torch(x, W, dz) -> dict:
    import torch

    x, dz = (torch.tensor(each[:, 0].transpose(3, 1, 0, 2)) for each in (x, dz))
    W = torch.tensor(W.transpose(0, 3, 1, 2))
    z = torch.nn.functional.conv2d(x.requires_grad_(), W.requires_grad_(), padding=1)
    z.backward(dz)
    images = {"z": z.detach().numpy(), "dx": x.grad.numpy()}
    ours = {name: each.transpose(2, 1, 3, 0) for name, each in images.items()}
    return ours | {"dW": W.grad.numpy().transpose(0, 2, 3, 1)}


def errors(method, side: int, maps: int, outputs: int, n: int = BATCH) -> dict:
    """{z, dx, dW: error} in float32 of a tile's size, "direct" or "PyTorch"."""
    rng = np.random.default_rng(0)
    x, dz = (rng.normal(size=(side, 1, each, side, n)).astype(np.float32) for each in (maps, outputs))
    W = rng.normal(0, (2 / (9 * maps)) ** 0.5, (outputs, 3, 3, maps)).astype(np.float32)
    direct, arrays = Direct((maps, side), 3, 1, outputs), (np.maximum(x, 0), W, dz)
    if method == "PyTorch":
        found = passes_of_torch(*arrays)
    else:
        found = passes(direct if method == "direct" else Winograd(maps, side, outputs, method), *arrays)
    exact = passes(direct, *(each.astype(np.float64) for each in arrays))
    return {name: float(abs(found[name] - exact[name]).max() / abs(exact[name]).max()) for name in exact}


def main(argv=None) -> int:
    parser = arguments("conv_errors", __doc__)
    report, trials, summary = Report(parser, parser.parse_args(argv), ("torch",)), {}, {}
    for method in (*POINTS, "direct", "PyTorch"):
        name = f"F({method}x{method}, 3x3)" if method in POINTS else method
        try:
            sizes = [each for each in SIZES if method not in POINTS or each[0] % method == 0]
            rows = {f"{m} -> {o} maps, {side} x {side}": errors(method, side, m, o) for side, m, o in sizes}
        except ImportError as error:
            print(f"{name}: left out: {error}")
            continue
        trials[name] = rows
        for what in ("z", "dx", "dW"):
            summary[f"{name} {what}"] = max(row[what] for row in rows.values())
        print(f"{name:14}" + "".join(f"  {what} {summary[f'{name} {what}']:.1e}" for what in ("z", "dx", "dW")))
    return report.save({"batch": BATCH}, summary, trials)


if __name__ == "__main__":
    end(main)
