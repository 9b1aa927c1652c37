"""The step of a convolutional net in several ways: ours, PyTorch, JAX and TensorFlow, as they are
usually written and at their best."""

from __future__ import annotations

from benchmarks.conv_rivals.jax_rivals import Jax
from benchmarks.conv_rivals.numpy_rivals import Ours, OursDirect
from benchmarks.conv_rivals.tensorflow_rivals import TensorFlow, TensorFlowBfloat16
from benchmarks.conv_rivals.torch_rivals import (
    Torch,
    TorchBfloat16,
    TorchChannelsLast,
    TorchCompiled,
    TorchCompiledBfloat16,
    TorchCompiledChannelsLast,
    TorchGate,
    TorchGateChannelsLast,
)

ALL = (
    Ours,
    OursDirect,
    Torch,
    TorchChannelsLast,
    TorchGate,
    TorchGateChannelsLast,
    TorchCompiled,
    TorchCompiledChannelsLast,
    TorchBfloat16,
    TorchCompiledBfloat16,
    TensorFlow,
    TensorFlowBfloat16,
    Jax,
)

__all__ = ["ALL", *(kind.__name__ for kind in ALL)]
