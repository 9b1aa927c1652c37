"""The control of Table 1: the net without blocks, which is the one whose gates stay shut."""

import numpy as np

from experiments.table1.question import accuracies_by_protocol, without_blocks
from experiments.table1_controls.trial import NO_BLOCKS
from highway_networks import softmax_cross_entropy
from highways.conv.net import ConvNet
from highways.conv.nets import mnist_net

SHUT = -20.0


def test_a_net_whose_gates_stay_shut_is_the_net_without_blocks():
    """To the precision of float32, and so are its gradients; those of its blocks are nearly 0."""
    layers = mnist_net(3, dropout=(0.0,) * 4)
    shut = ConvNet((1, 28, 28), layers, 0, gate_bias=SHUT)
    bare = ConvNet((1, 28, 28), [layer for layer in layers if layer[0] != "highway"], 0)
    weighted = [layer for layer in shut.layers if layer.shapes]
    blocks = [layer for layer in weighted if getattr(layer, "gates", 0)]
    others = [layer for layer in weighted if layer not in blocks]
    bare_layers = [layer for layer in bare.layers if layer.shapes]
    for mine, other in zip(bare_layers, others, strict=True):
        mine.W[:] = other.W
        mine.b[:] = other.b
    x = np.random.default_rng(1).random((20, 784), np.float32)
    y = np.arange(20) % 10
    logits = {}
    for name, net in (("shut", shut), ("bare", bare)):
        logits[name] = net.forward(x)
        _, d_logits = softmax_cross_entropy(logits[name], y)
        net.backward(d_logits)
    np.testing.assert_allclose(logits["shut"], logits["bare"], atol=1e-6)
    for mine, other in zip(bare_layers, others, strict=True):
        np.testing.assert_allclose(mine.grad.W, other.grad.W, atol=1e-6)
    assert max(np.abs(block.grad.W).max() for block in blocks) < 1e-7


def test_the_control_stands_in_the_place_of_both_protocols():
    highway = {"width": 32, "block": "highway", "n_test": 10000}
    record = {"trials": {"final": [{**highway, "protocol": "paper", "epochs": 300, "test_accuracy": 0.995}]}}
    control = {**highway, "control": NO_BLOCKS, "protocol": "short", "epochs": 12, "test_accuracy": 0.98}
    [stand_in] = without_blocks(record, {"trials": [control]})
    paper, short = accuracies_by_protocol(stand_in, 32)
    assert str(paper) == str(short) == "98 in 12 epochs"
