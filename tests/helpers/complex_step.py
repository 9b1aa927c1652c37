"""A net's gradient beside the complex-step derivative, which is exact to rounding error."""

import numpy as np
from small_nets import STEP

import highway_networks as hn


def loss_of(net, x, y):
    return hn.softmax_cross_entropy(net.forward(x), y)[0]


def complex_step(net, x, y):
    """dL/dp_i = Im L(p + i STEP e_i) / STEP for every parameter."""
    derivative = np.empty(len(net.parameters))
    for i in range(len(derivative)):
        net.parameters[i] += 1j * STEP
        derivative[i] = loss_of(net, x, y).imag / STEP
        net.parameters[i] = net.parameters[i].real
    return derivative


def assert_gradient_is_right(net, x, y):
    logits = net.forward(x)
    d_logits = hn.softmax_cross_entropy(logits, y)[1]
    gradient = net.backward(d_logits).real.copy()
    net.forward(x)
    assert (net.backward(d_logits).real == gradient).all()  # the second does not add to the first
    expected = complex_step(net, x, y)
    allowed = 1e-12 * np.abs(expected) + 1e-15 * np.abs(expected).max()
    excess = np.abs(gradient - expected) - allowed
    worst = int(np.argmax(excess))
    assert excess[worst] <= 0, f"{name_of(net, worst)}: backward {gradient[worst]!r}, complex step {expected[worst]!r}"


def name_of(net, i):
    """Parameter i by its array and indices, such as W_T[0, 2, 1].  The parameter is lost: it becomes NaN."""
    net.parameters[i] = np.nan
    names = [name for name in vars(net.grad) if not name.startswith("_")]
    found = {name: np.argwhere(np.isnan(getattr(net, name))).tolist() for name in names}
    [(name, [indices])] = [(name, places) for name, places in found.items() if places]  # one array, one place
    return f"{name}{indices}"
