"""The record's net and recipe on MNIST in PyTorch."""

from __future__ import annotations

from functools import partial

from benchmarks.conv_rivals.torch_rivals import gate_by_hand
from benchmarks.records.in_torch import SameNet, TorchOptimizer, torch_net_like
from benchmarks.records.mnist_99.muon_and_adam import BETA_1, BETA_2, EPS, RATE_OF_MATRICES
from benchmarks.records.mnist_99.training import Training, matrices_of
from benchmarks.records.muon import gaps


class Ours(SameNet):
    name = "this project"

    def __init__(self, data, seed):
        self.training = Training(data, seed)


class InTorch(SameNet):
    name = "PyTorch eager, own gate"
    framework = "torch"
    at_its_best = True
    gradient = "by hand"  # of the gate
    compiled = False

    def __init__(self, data, seed):
        import torch

        self.training = training = Training(data, seed)
        matrices = matrices_of(training.net)
        others = gaps([place for place, _ in matrices], len(training.parameters))
        logits = logits_compiled if self.compiled else logits_eager
        training.net = torch_net_like(training.net, logits, self.compiled, self.arithmetic == "bfloat16")
        training.optimizer = TorchOptimizer(
            training.net,
            training.recipe.lr,
            matrices,
            RATE_OF_MATRICES,
            [{"places": others, "rate": 1.0}],
            partial(torch.optim.Adam, lr=training.recipe.lr, betas=(BETA_1, BETA_2), eps=EPS, fused=True),
        )


class InTorchCompiled(InTorch):
    name = "torch.compile"
    gradient = "automatic"
    compiled = True


class InTorchBfloat16(InTorch):
    name = "PyTorch eager, own gate, bfloat16"
    arithmetic = "bfloat16"


class InTorchCompiledBfloat16(InTorchCompiled):
    name = "torch.compile, bfloat16"
    arithmetic = "bfloat16"


RIVALS = (Ours, InTorch, InTorchCompiled, InTorchBfloat16, InTorchCompiledBfloat16)


def logits_eager(arrays, statistics, x, training):
    return net_logits(arrays, x, gate_by_hand())


def logits_compiled(arrays, statistics, x, training):
    return net_logits(arrays, x, gate)


def net_logits(arrays, x, gate):
    """The net of training.LAYERS; each array has our layout."""
    import torch.nn.functional as F

    first_W, first_b, *blocks, last_W, last_b = arrays
    x = F.conv2d(x, first_W.permute(0, 3, 1, 2), first_b, stride=2)
    x = F.relu(F.max_pool2d(x, 2))
    for i, (W, b) in enumerate(zip(blocks[::2], blocks[1::2], strict=True)):
        if i == 2:
            x = F.max_pool2d(x, 2)
        x = gate(x, F.conv2d(x, W.permute(0, 3, 1, 2), b, padding=1))
    return F.linear(x.flatten(1), last_W.permute(0, 2, 1, 3).flatten(1), last_b)


def gate(x, z):
    """y = x + T (H - x), which is eq. 3; z has the maps of H before those of T."""
    z_H, z_T = z.chunk(2, dim=1)
    return x + z_T.sigmoid() * (z_H.relu() - x)
