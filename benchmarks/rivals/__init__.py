"""The training step of a fully connected net in several ways: ours, JAX, PyTorch, C, a straightforward
NumPy program, and its matrix products alone.

JAX and PyTorch appear as they are usually written, and at their best: as an expert would write
them for this processor.  The pages say "faster" only of a comparison with the best.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from benchmarks.report import checked
from benchmarks.rivals.c_rival import WithC
from benchmarks.rivals.jax_rivals import Jax, JaxByHand, JaxFeaturesFirst, JaxScanned
from benchmarks.rivals.numpy_rivals import MatrixProducts, Ours, Straightforward, as_straightforward
from benchmarks.rivals.rival import StepRival
from benchmarks.rivals.torch_rivals import Torch, TorchCompiled, TorchCompiledStep, TorchFlat, TorchFused

__all__ = [
    "ALL", "KEYS", "Jax", "JaxByHand", "JaxFeaturesFirst", "JaxScanned", "MatrixProducts", "Ours", "StepRival",
    "Straightforward", "Torch", "TorchCompiled", "TorchCompiledStep", "TorchFlat", "TorchFused",
    "WithC", "as_straightforward", "make",
]  # fmt: skip

KEYS = {  # what stands for each rival in the keys of a summary, as in "highway_over_jax"
    Jax: "jax",
    JaxFeaturesFirst: "jax_features_first",
    JaxScanned: "jax_scanned",
    JaxByHand: "jax_by_hand",
    TorchCompiled: "torch_compile",
    TorchCompiledStep: "torch_compile_step",
    TorchFused: "torch_eager_fused_adam",
    TorchFlat: "torch_eager_flat",
    Torch: "torch_eager",
    WithC: "c",
    Straightforward: "straightforward",
    MatrixProducts: "matrix_products",
}
ALL = (Ours, *KEYS)


def make(net_arguments: tuple, x: np.ndarray, y: np.ndarray, kinds=ALL) -> tuple[dict, dict]:
    """{name: rival} of every kind that is installed, {name: why} of those that are missing."""

    def make_rival(kind):
        return kind(hn.DeepNet(*net_arguments, np.random.default_rng(0)), x, y)

    return checked(kinds, make_rival, 1e-4, x[:64], y[:64])
