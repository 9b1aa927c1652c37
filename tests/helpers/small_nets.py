"""Small fully connected nets for tests, and what they compute layer by layer."""

import numpy as np

import highway_networks as hn
import highways.nets.carries  # noqa: F401  registers more blocks
from highways.nets import layer_by_layer


def of_the_library(registered: dict[str, type]) -> list[str]:
    """Without what a question or a test registers, if it has been imported before."""
    return [name for name, kind in registered.items() if kind.__module__.startswith("highway")]


# the imports above register them
BLOCKS = of_the_library(hn.BLOCKS)
ACTIVATIONS = of_the_library(hn.ACTIVATIONS)
STEP = 1e-30
SHAPES = [  # d_in, d_out, hidden, depth, N
    (3, 4, 5, 2, 7),
    (6, 3, 4, 0, 2),  # no block at all
    (5, 2, 1, 3, 4),  # one unit
    (2, 3, 6, 8, 1),  # one example
    (4, 10, 3, 20, 5),
]


def random_net(block, shape, seed=0, dtype=np.complex128, activation="tanh"):
    d_in, d_out, hidden, depth, n = shape
    rng = np.random.default_rng(seed)
    net = hn.DeepNet(d_in, d_out, hidden, depth, block, rng, activation=activation, gate_bias=-0.5, dtype=dtype)
    net.parameters[:] += rng.normal(0, 0.3, net.parameters.shape)  # biases too
    return net, rng.normal(size=(n, d_in)), rng.integers(0, d_out, n)


def logits_from(net, state, start=0):
    """Logits from the state that block `start` sees."""
    for layer in range(start, net.depth):
        _, state = layer_by_layer.block_forward(net, layer, state)
    return layer_by_layer.logits(net, state)


def states_of(net, x):
    """What every layer gives out, the plain first one first."""
    states = [layer_by_layer.first_state(net, x)]
    for layer in range(net.depth):
        _, y = layer_by_layer.block_forward(net, layer, states[-1])
        states.append(y)
    return states
