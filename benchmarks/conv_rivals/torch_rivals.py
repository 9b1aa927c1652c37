"""The step of a convolutional net in PyTorch.

As it is usually written: eager, in both memory formats.  At its best: with the gate as an
autograd.Function, and compiled.  There are also less exact versions in bfloat16."""

from __future__ import annotations

import functools

from benchmarks.conv_rivals.rival import LR, MOMENTUM, WEIGHT_DECAY, ConvRival, is_held_to_avx2
from benchmarks.rivals.torch_rivals import check_compiler


class Torch(ConvRival):
    name = "PyTorch eager"
    framework = "torch"
    channels_last = False
    axes = (0, 3, 1, 2), (0, 2, 1, 3)  # maps before pixels

    def __init__(self, shape, layers, x, y):
        import torch

        self.torch = torch
        layout = torch.channels_last if self.channels_last else torch.contiguous_format
        self.parameters = []
        for array in self.start_from(shape, layers):
            parameter = torch.tensor(array)
            if parameter.ndim == 4:
                parameter = parameter.to(memory_format=layout)
            self.parameters.append(parameter.requires_grad_())
        self.optimizer = torch.optim.SGD(
            self.parameters, lr=LR, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY, nesterov=True
        )
        self.x = torch.tensor(x.reshape(-1, *shape)).to(memory_format=layout)
        self.y = torch.tensor(y)
        self.loss = self.loss_function()

    def loss_function(self):
        """The function that becomes self.loss; it is called as loss(training)."""
        return self.forward

    def forward(self, training):
        """The loss, with dropout if training."""
        F = self.torch.nn.functional
        parameters = iter(self.parameters)
        x = self.x
        for layer, kind, *settings in self.layers:
            if kind == "dropout":
                x = F.dropout(x, settings[0], training)
            elif kind == "pool":
                x = F.max_pool2d(x, *settings, ceil_mode=True)
            elif kind == "average":
                x = F.avg_pool2d(x, settings[0])
            elif kind == "dense":
                x = F.linear(x.flatten(1), next(parameters), next(parameters))
            elif kind == "hidden":
                x = F.relu(F.linear(x.flatten(1), next(parameters), next(parameters)))
            else:
                z = F.conv2d(x, next(parameters), next(parameters), padding=layer.pad)
                x = self.gate(x, z) if kind == "highway" else F.relu(z)
        return F.cross_entropy(x, self.y)

    def gate(self, x, z):
        """y = x + T (H - x), which is eq. 3; z has the maps of H before those of T."""
        z_H, z_T = z.chunk(2, dim=1)
        return x + self.torch.sigmoid(z_T) * (self.torch.relu(z_H) - x)

    def loss_and_gradient(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(training=False)
        loss.backward()
        gradients = [parameter.grad.numpy() for parameter in self.parameters]
        return loss.item(), self.in_ours(gradients)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(training=True).backward()
        self.optimizer.step()


class TorchChannelsLast(Torch):
    name = "PyTorch eager, channels_last"
    channels_last = True


class TorchGate(Torch):
    """The gate has its own backward pass, for which it keeps only x, H and T."""

    name = "PyTorch eager, own gate"
    at_its_best = True
    gradient = "by hand"

    def loss_function(self):
        self.gate = gate_by_hand()
        return self.forward


@functools.cache
def gate_by_hand():
    """A function of x and z, as Torch.gate()."""
    import torch

    class Gate(torch.autograd.Function):
        @staticmethod
        def forward(context, x, z):
            z_H, z_T = z.chunk(2, dim=1)
            H = torch.relu(z_H)
            T = torch.sigmoid(z_T)
            context.save_for_backward(x, H, T)
            return torch.lerp(x, H, T)

        @staticmethod
        def backward(context, dy):
            x, H, T = context.saved_tensors
            dH = T * dy
            carried = dy - dH
            dz_H = dH * (H > 0)
            dz_T = (H - x).mul_(T).mul_(carried)
            return carried, torch.cat([dz_H, dz_T], dim=1)

    return Gate.apply


class TorchGateChannelsLast(TorchGate):
    name = "PyTorch eager, own gate, channels_last"
    channels_last = True


class TorchCompiled(Torch):
    """torch.compile of the loss; the optimiser stays eager.

    Every rival of every net compiles the same function, with dropout and without.  PyTorch would
    give up at the eighth, and compile all but the first for any size, which is slower and, in
    PyTorch 2.13, may fail."""

    name = "torch.compile"
    at_its_best = True
    most_compilations = 64

    def __init__(self, shape, layers, x, y):
        if is_held_to_avx2():
            raise ImportError(
                "held to AVX2 on a Zen 4, its code fails in PyTorch 2.13: index out of bounds, behind a pooling layer"
            )
        check_compiler()
        super().__init__(shape, layers, x, y)

    def loss_function(self):
        self.torch._dynamo.config.recompile_limit = self.most_compilations
        return self.torch.compile(self.forward, fullgraph=True, dynamic=False)


class TorchCompiledChannelsLast(TorchCompiled):
    name = "torch.compile, channels_last"
    channels_last = True


class InBfloat16:
    """A mixin, named before a rival: products and convolutions in bfloat16 (autocast), parameters
    in float32."""

    arithmetic = "bfloat16"

    def loss_function(self):
        forward = super().loss_function()

        def loss(training):
            with self.torch.autocast("cpu", dtype=self.torch.bfloat16):
                return forward(training)

        return loss


class TorchBfloat16(InBfloat16, TorchGateChannelsLast):
    name = "PyTorch eager, own gate, channels_last, bfloat16"


class TorchCompiledBfloat16(InBfloat16, TorchCompiledChannelsLast):
    name = "torch.compile, channels_last, bfloat16"
