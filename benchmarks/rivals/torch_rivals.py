"""The training step in PyTorch: eager and compiled, as it is usually written, and as an expert writes it.

An expert's eager program keeps all parameters in one flat tensor, which one fused Adam updates, and
mixes H and x with `torch.lerp`.  An expert's compiled program is the whole step, gradient, clip and
Adam, in one graph over stacked weights.
"""

from __future__ import annotations

import functools

import numpy as np

from benchmarks.rivals.rival import BETA1, BETA2, CLIP, ENDS, EPS, LR, StepRival, by_our_names, flat


@functools.cache
def check_compiler() -> None:
    """Raises ImportError if torch.compile does not work here, as without a compiler or Python's headers."""
    import torch

    try:
        torch.compile(torch.neg, options={"cpp_wrapper": True})(torch.ones(2))
    except Exception as error:  # whatever Inductor raises
        lines = str(error).splitlines() or [type(error).__name__]
        raise ImportError(f"torch.compile fails: {lines[0]}") from error


class Torch(StepRival):
    """PyTorch as it is usually written: H and T in one product, clip_grad_norm_, torch.optim.Adam."""

    name = "PyTorch eager"
    framework = "torch"
    compiled = False
    fused = None

    def __init__(self, net, x, y):
        import torch

        self.torch = torch
        self.net = net
        self.parameters = {name: torch.tensor(getattr(net, name).copy()) for name in ENDS}
        for i in range(net.depth):
            self.parameters[f"W{i}"] = torch.tensor(net._blocks[i, :, :-1].copy())
            self.parameters[f"b{i}"] = torch.tensor(net._blocks[i, :, -1].copy())
        for parameter in self.parameters.values():
            parameter.requires_grad_()
        self.optimizer = torch.optim.Adam(self.parameters.values(), lr=LR, eps=EPS, fused=self.fused)
        self.x = torch.tensor(x)
        self.y = torch.tensor(y)
        self.loss = self._loss
        if self.compiled:
            check_compiler()
            self.loss = torch.compile(self._loss)

    def forward(self, x):
        torch = self.torch
        F = torch.nn.functional
        parameters = self.parameters
        h = self.net.hidden
        x = torch.tanh(F.linear(x, parameters["W_in"], parameters["b_in"]))
        for i in range(self.net.depth):
            z = F.linear(x, parameters[f"W{i}"], parameters[f"b{i}"])
            if self.net.block.gates:
                H = torch.tanh(z[:, :h])
                T = torch.sigmoid(z[:, h:])
                x = H * T + x * (1 - T)
            else:
                x = torch.tanh(z)
        return F.linear(x, parameters["W_out"], parameters["b_out"])

    def _loss(self, x, y):
        return self.torch.nn.functional.cross_entropy(self.forward(x), y)

    def loss_and_gradient(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss(self.torch.tensor(x), self.torch.tensor(y))
        loss.backward()
        gradient = {name: parameter.grad.numpy().copy() for name, parameter in self.parameters.items()}
        ends = {name: gradient[name] for name in ENDS}
        W = np.array([gradient[f"W{i}"] for i in range(self.net.depth)])
        b = np.array([gradient[f"b{i}"] for i in range(self.net.depth)])
        return loss.item(), flat(self.net, by_our_names(self.net, ends, W, b))

    def step(self, batch):
        batch = self.torch.from_numpy(batch)
        self.optimizer.zero_grad()
        self.loss(self.x[batch], self.y[batch]).backward()
        self.torch.nn.utils.clip_grad_norm_(self.parameters.values(), CLIP)
        self.optimizer.step()

    def predict(self, x):
        with self.torch.inference_mode():
            return self.forward(self.torch.from_numpy(x)).numpy()


class TorchFused(Torch):
    name = "PyTorch eager, fused Adam"
    fused = True


class TorchCompiled(TorchFused):
    name = "torch.compile, fused Adam"
    compiled = True


class Stacked(StepRival):
    """The blocks' weights stacked: W (depth, rows, hidden), b (depth, rows)."""

    framework = "torch"
    at_its_best = True

    def __init__(self, net, x, y):
        import torch

        self.torch = torch
        self.net = net
        self.x = torch.tensor(x)
        self.y = torch.tensor(y)
        arrays = {name: getattr(net, name) for name in ENDS}
        arrays["W"] = net._blocks[:, :, :-1]
        arrays["b"] = net._blocks[:, :, -1]
        self.start = {name: torch.tensor(array.copy()) for name, array in arrays.items()}

    def loss(self, parameters: dict, x, y):
        torch = self.torch
        F = torch.nn.functional
        h = self.net.hidden
        x = torch.tanh(F.linear(x, parameters["W_in"], parameters["b_in"]))
        for W, b in zip(parameters["W"].unbind(0), parameters["b"].unbind(0), strict=True):
            z = F.linear(x, W, b)
            if self.net.block.gates:
                z_H, z_T = z.split(h, dim=1)
                x = torch.lerp(x, torch.tanh(z_H), torch.sigmoid(z_T))
            else:
                x = torch.tanh(z)
        return F.cross_entropy(F.linear(x, parameters["W_out"], parameters["b_out"]), y)

    def in_our_layout(self, gradient: dict) -> np.ndarray:
        arrays = {name: value.numpy() for name, value in gradient.items()}
        ends = {name: arrays[name] for name in ENDS}
        return flat(self.net, by_our_names(self.net, ends, arrays["W"], arrays["b"]))


class TorchFlat(Stacked):
    """Eager mode, all parameters in one flat tensor with one fused Adam."""

    name = "PyTorch eager, flat, fused Adam"

    def __init__(self, net, x, y):
        super().__init__(net, x, y)
        self.sizes = [value.numel() for value in self.start.values()]
        self.flat = self.torch.cat([value.ravel() for value in self.start.values()]).requires_grad_()
        self.optimizer = self.torch.optim.Adam([self.flat], lr=LR, eps=EPS, fused=True)

    def named(self, vector) -> dict:
        parts = zip(self.start.items(), vector.split(self.sizes), strict=True)
        return {name: part.view(value.shape) for (name, value), part in parts}

    def loss_and_gradient(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss(self.named(self.flat), self.torch.tensor(x), self.torch.tensor(y))
        loss.backward()
        return loss.item(), self.in_our_layout(self.named(self.flat.grad))

    def step(self, batch):
        batch = self.torch.from_numpy(batch)
        self.optimizer.zero_grad()
        self.loss(self.named(self.flat), self.x[batch], self.y[batch]).backward()
        self.torch.nn.utils.clip_grad_norm_(self.flat, CLIP)
        self.optimizer.step()


class TorchCompiledStep(Stacked):
    """torch.compile of the whole step: gradient, clip and Adam in one graph."""

    name = "torch.compile of the whole step"

    def __init__(self, net, x, y):
        super().__init__(net, x, y)
        check_compiler()
        torch = self.torch
        self.parameters = {name: value.clone() for name, value in self.start.items()}
        self.m = {name: torch.zeros_like(value) for name, value in self.start.items()}
        self.v = {name: torch.zeros_like(value) for name, value in self.start.items()}
        self.t = torch.zeros(())
        self._step = torch.compile(self.update, fullgraph=True, options={"cpp_wrapper": True})

    def loss_and_gradient(self, x, y):
        function = self.torch.func.grad_and_value(self.loss)
        gradient, loss = function(self.parameters, self.torch.tensor(x), self.torch.tensor(y))
        return loss.item(), self.in_our_layout(gradient)

    def update(self, parameters, m, v, t, batch):
        """A step of clipped Adam, in place."""
        torch = self.torch
        gradient = torch.func.grad(self.loss)(parameters, self.x[batch], self.y[batch])
        norm = sum((g * g).sum() for g in gradient.values()).sqrt()
        scale = torch.clamp(CLIP / norm, max=1.0)
        t.add_(1)
        rate = LR / (1 - BETA1**t)
        root = 1 / torch.sqrt(1 - BETA2**t)
        for name, parameter in parameters.items():
            g = gradient[name] * scale
            m[name].mul_(BETA1).add_(g, alpha=1 - BETA1)
            v[name].mul_(BETA2).add_(g * g, alpha=1 - BETA2)
            parameter.sub_(rate * m[name] / (v[name].sqrt() * root + EPS))

    def step(self, batch):
        with self.torch.no_grad():
            self._step(self.parameters, self.m, self.v, self.t, self.torch.from_numpy(batch))
