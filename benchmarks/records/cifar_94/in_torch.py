"""The record's net and recipe on CIFAR-10 in PyTorch."""

from __future__ import annotations

from functools import partial

from benchmarks.records.cifar_94.muon_and_nesterov import MOMENTUM_OF_OTHERS
from benchmarks.records.cifar_94.training import Training
from benchmarks.records.cifar_94.wide_highway import GELU
from benchmarks.records.in_torch import SameNet, TorchOptimizer, torch_net_like
from benchmarks.records.muon import places
from highways.conv.normalised import EPSILON, PACE


class Ours(SameNet):
    name = "this project"

    def __init__(self, data, seed):
        self.training = Training(data, seed)


class InTorch(SameNet):
    name = "PyTorch eager"
    framework = "torch"
    at_its_best = True
    compiled = False

    def __init__(self, data, seed):
        import torch

        self.training = training = Training(data, seed)
        matrices = training.optimizer.matrices
        others = groups_of_others(training)
        training.net = torch_net_like(training.net, net_logits, self.compiled, self.arithmetic == "bfloat16")
        make_optimizer = partial(torch.optim.SGD, lr=training.recipe.lr, momentum=MOMENTUM_OF_OTHERS, nesterov=True)
        training.optimizer = TorchOptimizer(
            training.net, training.recipe.lr, matrices, 1.0, others, partial(make_optimizer, fused=True)
        )


class InTorchCompiled(InTorch):
    name = "torch.compile"
    compiled = True


class InTorchBfloat16(InTorch):
    name = "PyTorch eager, bfloat16"
    arithmetic = "bfloat16"


class InTorchCompiledBfloat16(InTorchCompiled):
    name = "torch.compile, bfloat16"
    arithmetic = "bfloat16"


RIVALS = (Ours, InTorch, InTorchCompiled, InTorchBfloat16, InTorchCompiledBfloat16)


def groups_of_others(training) -> list[dict]:
    """Groups of the parameters that are not matrices of Muon, for torch.optim: by our optimiser's rate and decay."""
    optimizer = training.optimizer
    of_muon = [place for place, _ in optimizer.matrices]
    groups = {}
    for layer in training.net.layers:
        for _, place, _ in places(training.net, layer):
            if place not in of_muon:
                rate = float(optimizer.rates[place.start])
                decay = float(optimizer.weight_decay[place.start])
                group = groups.setdefault((rate, decay), {"places": [], "rate": rate, "weight_decay": decay})
                group["places"].append(place)
    return list(groups.values())


def net_logits(arrays, statistics, x, training):
    """The net of training.layers_of(); each array has our layout."""
    import torch.nn.functional as F

    filters, *statistics = statistics
    *blocks, last_W, last_b = arrays
    # a 3 x 3 window whose first row and column are 0 is a 2 x 2 window, for fewer products
    x = F.silu(GELU * F.conv2d(F.pad(x, (0, 1, 0, 1)), filters[:, 1:, 1:].permute(0, 3, 1, 2))) / GELU
    for i in range(len(blocks) // 3):
        mean, variance = statistics[2 * i : 2 * i + 2]
        x = wide_highway(x, *blocks[3 * i : 3 * i + 3], mean, variance, training, pooled=i % 2 == 0)
    return F.linear(F.max_pool2d(x, 4).flatten(1), last_W.permute(0, 2, 1, 3).flatten(1), last_b)


def wide_highway(x, W, W_T, b, mean, variance, training, pooled):
    """A layer of wide_highway.py.  The factor 1.702 of GELU's argument is that of the batch normalisation."""
    import torch
    import torch.nn.functional as F

    maps = len(W)
    b_H, b_T = b.chunk(2)
    v = F.conv2d(x, W.permute(0, 3, 1, 2), padding=1)
    if pooled:
        v = F.max_pool2d(v, 2)
        x = F.avg_pool2d(x, 2)
    gamma = torch.full_like(b_H, GELU)
    H = F.silu(F.batch_norm(v, mean, variance, gamma, GELU * b_H, training, PACE, EPSILON)) / GELU
    T = torch.sigmoid(F.conv2d(x, W_T[:, :, None, None], b_T))
    if x.shape[1] < maps:
        x = F.pad(x, (0, 0, 0, 0, 0, maps - x.shape[1]))
    return x + T * (H - x)
