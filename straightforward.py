"""The headline's nets, written to be read: a highway net and a plain one, trained on MNIST.

    python straightforward.py

A batch of N images is a matrix with an image in each row, so that the paper's W x + b is
`x @ W.T + b` here.  `dy` stands for dL/dy, the gradient of the loss with respect to y; dx, dz_H
and the others likewise.  docs/how_it_works.md walks through this file, and says what
highway_networks.py does differently to be fast.

A block of your own is a pair of functions like those of `residual`, a line in BLOCKS, and its name
in the loop at the end of the file; if it has a gate, also its name in WITH_GATE.
"""

import argparse
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from highway_networks import load_mnist


class Layer(SimpleNamespace):
    """Arrays by name: the parameters of a layer, W_H, b_H, ..., or their gradients."""


# ---- Blocks: forward above backward -------------------------------------------------------------
#
# A block's forward takes the parameters of a layer and its input x (N, hidden).  It returns the
# output y (N, hidden) and what its backward needs.  The backward takes the parameters, what the
# forward kept, and dy.  It returns dx, for the layer below, and the gradient of the parameters.


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def plain(layer, x):
    H = np.tanh(x @ layer.W_H.T + layer.b_H)
    return H, (x, H)  # eq. 1


def plain_backward(layer, kept, dy):
    x, H = kept
    dz_H = dy * (1 - H**2)  # tanh' = 1 - tanh^2
    dx = dz_H @ layer.W_H
    return dx, Layer(W_H=dz_H.T @ x, b_H=dz_H.sum(axis=0))


def highway(layer, x):
    H = np.tanh(x @ layer.W_H.T + layer.b_H)  # block transform
    T = sigmoid(x @ layer.W_T.T + layer.b_T)  # transform gate
    y = H * T + x * (1 - T)  # eq. 3
    return y, (x, H, T)


def highway_backward(layer, kept, dy):
    x, H, T = kept
    dH = T * dy
    dT = (H - x) * dy
    dz_H = dH * (1 - H**2)
    dz_T = dT * T * (1 - T)  # sigmoid' = sigmoid (1 - sigmoid)
    dx = (1 - T) * dy + dz_H @ layer.W_H + dz_T @ layer.W_T  # carried, through H, through T
    gradient = Layer(W_H=dz_H.T @ x, b_H=dz_H.sum(axis=0), W_T=dz_T.T @ x, b_T=dz_T.sum(axis=0))
    return dx, gradient


# highways/nets/extra_blocks.py has a residual block, too, but there W_H starts smaller.
def residual(layer, x):
    H = np.tanh(x @ layer.W_H.T + layer.b_H)
    y = x + H
    return y, (x, H)


def residual_backward(layer, kept, dy):
    x, H = kept
    dz_H = dy * (1 - H**2)
    dx = dy + dz_H @ layer.W_H
    return dx, Layer(W_H=dz_H.T @ x, b_H=dz_H.sum(axis=0))


BLOCKS = {
    "plain": (plain, plain_backward),
    "highway": (highway, highway_backward),
    "residual": (residual, residual_backward),
}
WITH_GATE = ["highway"]  # these have W_T and b_T, too


# ---- The net ------------------------------------------------------------------------------------


@dataclass
class Net:
    """The parameters of a net, or their gradients: a plain layer, the blocks, an affine map to
    the logits."""

    block: str  # a name in BLOCKS
    first: Layer
    blocks: list[Layer]
    last: Layer


def make_net(rng, d_in, d_out, hidden, depth, block):
    """A net at its start: weights uniform in ± 1 / sqrt(inputs), biases 0 except b_T = -2."""

    def weights(outputs, inputs):
        bound = 1 / np.sqrt(inputs)
        return rng.uniform(-bound, bound, (outputs, inputs))

    first = Layer(W_H=weights(hidden, d_in), b_H=np.zeros(hidden))
    blocks = [Layer(W_H=weights(hidden, hidden), b_H=np.zeros(hidden)) for _ in range(depth)]
    if block in WITH_GATE:
        for layer in blocks:
            layer.W_T = weights(hidden, hidden)
            layer.b_T = np.full(hidden, -2.0)  # T is about 0.12: mostly carry
    last = Layer(W=weights(d_out, hidden), b=np.zeros(d_out))
    return Net(block, first, blocks, last)


def forward(net, x):
    """x (N, d_in) -> logits (N, d_out), and a list of what each layer keeps for backward()."""
    block, _ = BLOCKS[net.block]
    x, kept_by_first = plain(net.first, x)
    kept = [kept_by_first]
    for layer in net.blocks:
        x, kept_by_block = block(layer, x)
        kept.append(kept_by_block)
    kept.append(x)
    logits = x @ net.last.W.T + net.last.b
    return logits, kept


def backward(net, kept, d_logits):
    """dL/dlogits (N, d_out) -> the gradient of all parameters, as a Net: from the last layer to
    the first."""
    _, block_backward = BLOCKS[net.block]
    kept_by_first, *kept_by_blocks, x = kept
    last = Layer(W=d_logits.T @ x, b=d_logits.sum(axis=0))
    dy = d_logits @ net.last.W
    blocks = []
    for layer, kept_by_block in zip(net.blocks[::-1], kept_by_blocks[::-1], strict=True):
        dy, gradient = block_backward(layer, kept_by_block, dy)
        blocks.append(gradient)
    # the gradient of the images is not needed
    _, first = plain_backward(net.first, kept_by_first, dy)
    return Net(net.block, first, blocks[::-1], last)


def softmax_cross_entropy(logits, y):
    """logits (N, classes), labels y (N,) -> the mean of -log softmax(logits)[y], and
    dL/dlogits."""
    N = len(y)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    loss = -np.log(probabilities[np.arange(N), y]).mean()
    one_hot = np.eye(logits.shape[1])[y]
    return loss, (probabilities - one_hot) / N


# ---- Training -----------------------------------------------------------------------------------


def arrays_of(net):
    """All arrays of a net, or of its gradient, in the same order."""
    layers = [net.first, *net.blocks, net.last]
    return [vars(layer)[name] for layer in layers for name in sorted(vars(layer))]


class Adam:
    """Adam with the gradient's norm clipped; changes the net's arrays in place."""

    def __init__(self, net, lr=5e-3, clip=5.0, beta1=0.9, beta2=0.999, eps=1e-8):
        self.net = net
        self.lr = lr
        self.clip = clip
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps
        self.t = 0
        self.m = [np.zeros_like(parameter) for parameter in arrays_of(net)]
        self.v = [np.zeros_like(parameter) for parameter in arrays_of(net)]

    def step(self, gradient):
        self.t += 1
        norm = np.sqrt(sum((g**2).sum() for g in arrays_of(gradient)))
        scale = min(1, self.clip / norm)
        parameters = arrays_of(self.net)
        gradients = arrays_of(gradient)
        for parameter, g, m, v in zip(parameters, gradients, self.m, self.v, strict=True):
            g = scale * g
            m[...] = self.beta1 * m + (1 - self.beta1) * g
            v[...] = self.beta2 * v + (1 - self.beta2) * g**2
            # m and v begin at 0: without this they are too small at first
            m_hat = m / (1 - self.beta1**self.t)
            v_hat = v / (1 - self.beta2**self.t)
            parameter -= self.lr * m_hat / (np.sqrt(v_hat) + self.eps)


def headline_images():
    """6000 training and 2000 test images of MNIST, or of the set in the folder $MNIST_DIR, drawn
    with seed 0; pixels in [-1, 1]."""
    mnist = load_mnist()
    rng = np.random.default_rng(0)
    train_rows = rng.permutation(len(mnist.x_train))[:6000]
    test_rows = rng.permutation(len(mnist.x_test))[:2000]
    x = mnist.x_train[train_rows] / 127.5 - 1
    x_test = mnist.x_test[test_rows] / 127.5 - 1
    return x, mnist.y_train[train_rows], x_test, mnist.y_test[test_rows]


def train(block, depth=30, epochs=12, batch=128):
    """The headline's training of one net, seed 0; prints the test accuracy after each epoch."""
    x, y, x_test, y_test = headline_images()
    net = make_net(np.random.default_rng(0), x.shape[1], 10, 50, depth, block)
    optimizer = Adam(net)
    shuffle = np.random.default_rng([0, 1])
    n_used = len(x) // batch * batch  # a last batch that is not full is left out
    for epoch in range(1, epochs + 1):
        order = shuffle.permutation(len(x))[:n_used]
        for rows in order.reshape(-1, batch):
            logits, kept = forward(net, x[rows])
            loss, d_logits = softmax_cross_entropy(logits, y[rows])
            optimizer.step(backward(net, kept, d_logits))
        logits, _ = forward(net, x_test)
        accuracy = (logits.argmax(axis=1) == y_test).mean()
        result = f"last batch's loss {loss:.3f}, test accuracy {accuracy:.3f}"
        print(f"{block}, depth {depth}, epoch {epoch}: {result}")


if __name__ == "__main__":
    argparse.ArgumentParser(description="Trains the headline's two nets.").parse_args()
    for block in ("highway", "plain"):
        train(block)
