"""Ten exercises, from equation 3 to a net of a hundred layers.  Write a body for each function.

    python -m pytest learn/exercises/test_stage_1.py        then test_stage_2.py, ... test_stage_4.py

A batch of N inputs of d units is a matrix x (N, d), an input in each row: W x is x @ W.T.  A layer is
a dict of four arrays: W_H and W_T (d, d), b_H and b_T (d,).  dy stands for dL/dy, the gradient of the
loss with respect to y, and so on.  Change no array that you are given: it is needed again.
"""

import numpy as np  # noqa: F401

# ---- Stage 1: equation 3 ------------------------------------------------------------------------


def sigmoid(z):
    """Exercise 1.  1 / (1 + exp(-z)) for an array of any shape, without a warning at z = -1000.
    (tanh never overflows: the sigmoid is (1 + tanh(z / 2)) / 2.)"""
    raise NotImplementedError("not written yet")


def highway(layer, x):
    """Exercise 2.  Equation 3: y = H T + x (1 - T), with H = tanh(W_H x + b_H) and
    T = sigmoid(W_T x + b_T).  Returns y (N, d), and the tuple (x, H, T) for backward."""
    raise NotImplementedError("not written yet")


def new_layer(rng, d, gate_bias):
    """Exercise 3.  A layer at its start: W_H and W_T uniform in ± 1 / sqrt(d), each drawn from the
    generator rng; b_H zeros; every b_T the gate_bias."""
    raise NotImplementedError("not written yet")


# ---- Stage 2: the way back ----------------------------------------------------------------------


def gate_backward(kept, dy):
    """Exercise 4.  From what highway() kept, and dy: the gradients (dz_H, dz_T) with respect to the
    arguments z of tanh and sigmoid.  tanh' = 1 - tanh^2; sigmoid' = sigmoid (1 - sigmoid)."""
    raise NotImplementedError("not written yet")


def highway_backward(layer, kept, dy):
    """Exercise 5.  Returns dx (N, d), and a dict of the gradients of the layer's four arrays, summed
    over the batch.  x reaches y in three ways: carried, through H, and through T."""
    raise NotImplementedError("not written yet")


# ---- Stage 3: a net -----------------------------------------------------------------------------
#
# A net is a dict: "layers", a list of layers; W_out (classes, d) and b_out (classes,), the affine map
# from the last layer's y to the logits.


def forward(net, x):
    """Exercise 6.  Returns the logits (N, classes), and a list of what each layer kept, followed by
    the last layer's y."""
    raise NotImplementedError("not written yet")


def softmax_cross_entropy(logits, labels):
    """Exercise 7.  For labels (N,): the mean of -log softmax(logits)[label] over the batch, and its
    gradient with respect to the logits.  It must be right for logits of 1000."""
    raise NotImplementedError("not written yet")


def backward(net, kept, d_logits):
    """Exercise 8.  The gradient of all arrays, as a dict like the net: from the last layer to the
    first, but listed as net["layers"] is."""
    raise NotImplementedError("not written yet")


# ---- Stage 4: a hundred layers ------------------------------------------------------------------


def clipped(gradients, limit):
    """Exercise 9.  A list of arrays, scaled by one factor so that their norm, over all of them
    together, is at most the limit."""
    raise NotImplementedError("not written yet")


def hundred_layers(x, labels, steps):
    """Exercise 10.  A net of 100 highway layers, trained on all of x (N, d) with whole-number
    labels, in this many steps of plain gradient descent: array -= rate * gradient, clipped.
    Returns the net.

    Nine of ten points must be right.  You choose gate bias, rate, clip, and how W_out starts; a rate of
    1 or more can be right.  To clip, list the arrays of net and gradient in one order.

    How small must T be, so that (1 - T)^100 leaves something of x?  How small may it be, so that the
    layers still do something?  No straight line parts these classes."""
    raise NotImplementedError("not written yet")
