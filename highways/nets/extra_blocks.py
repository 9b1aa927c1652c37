"""More kinds of block.  Importing this module registers them.

Residual, highway with a separate carry gate, LSTM, maxout, and highway with maxout for H.
"""

from __future__ import annotations

from numpy import add, divide, exp2, greater, maximum, multiply, subtract

from highway_networks import Block


class Residual(Block):
    """y = H + x

    A highway block starts with its gate mostly shut.  A residual block has no gate; instead W_H is
    multiplied by `scale` at the start, by default 1/depth.
    """

    name = "residual"
    kept = ("H",)

    def __init__(self, scale: float | None = None):
        self.scale = scale

    def start(self, net, gate_bias):
        scale = self.scale
        if scale is None:
            scale = 1 / max(net.depth, 1)
        net.W_H[:] *= scale

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        add(layer.x, layer.H, layer.y)

    def backward(self, layer, dy):
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, dy, layer.dz_H)  # dz_H = H' dy
        return dy  # all of it is carried


class HighwayCarry(Block):
    """y = H T + x C, C = sigmoid(W_C x + b_C)    eq. 2

    b_C starts at -gate_bias: if the gates' weights were 0, C would be 1 - T.
    """

    name = "highway-carry"
    gates = 2
    kept = ("H", "P", "R", "q_T", "q_C")  # P = H T,  R = x C,  q_T = 1 / T,  q_C = 1 / C
    shared = ("carried",)

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias
        net.b_C[:] = -gate_bias

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        for z, q in ((layer.z_T, layer.q_T), (layer.z_C, layer.q_C)):
            multiply(z, layer.minus_log2_e, z)
            exp2(z, z)  # exp(-z)
            add(z, layer.one, q)  # q = 1 + exp(-z) = 1 / sigmoid(z)
        divide(layer.H, layer.q_T, layer.P)  # P = H T
        divide(layer.x, layer.q_C, layer.R)  # R = x C
        add(layer.P, layer.R, layer.y)

    def backward(self, layer, dy):
        """dz_H = H' T dy
        dz_T = (1 - T) H T dy = P (1 - T) dy
        dz_C = (1 - C) x C dy = R (1 - C) dy"""
        divide(dy, layer.q_T, layer.dH)  # dH = T dy
        subtract(dy, layer.dH, layer.dz_T)  # (1 - T) dy
        multiply(layer.P, layer.dz_T, layer.dz_T)
        divide(dy, layer.q_C, layer.carried)  # C dy
        subtract(dy, layer.carried, layer.dz_C)  # (1 - C) dy
        multiply(layer.R, layer.dz_C, layer.dz_C)
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, layer.dH, layer.dz_H)  # dz_H = H' dH
        return layer.carried

    def transform_gate(self, layer):
        return layer.one / layer.q_T


class LSTM(Block):
    """An LSTM block "unrolled in time" (the paper's footnote 2): layers take the place of steps.

    The state is x = [c; h]: half of the units are the cell, half its output.  All matrices of a
    layer act on both halves:

        g = act(W_g x + b_g)        i, f, o = sigmoid(W x + b), each with W and b of its own
        c' = f c + i g              h' = o act(c')              y = [c'; h']

    W_g and W_o are stacked in W_H, W_i and W_f in W_T, so that the block has as many parameters
    as a highway block.  b_i starts at gate_bias and b_f at -gate_bias: if the weights of i and f
    were 0, f would be 1 - i, as in a highway block.  If the number of units is odd, the last is
    carried unchanged."""

    name = "lstm"
    gates = 1
    kept = ("H", "G")  # H is g over o, G is i over f
    shared = ("A", "S")  # A is act(c'), S a scratch array

    def start(self, net, gate_bias):
        cell, output, _ = parts_of(net.hidden)
        net.b_T[:, cell] = gate_bias  # b_i: W_T and b_T hold i over f
        net.b_T[:, output] = -gate_bias  # b_f

    def forward(self, layer):
        cell, output, rest = parts_of(len(layer.H))
        o = layer.H[output]
        layer.activation.value(layer.z_H[cell], layer.H[cell])
        multiply(layer.z_H[output], layer.minus_log2_e, o)
        exp2(o, o)  # exp(-z_o)
        add(o, layer.one, o)
        divide(layer.one, o, o)
        multiply(layer.z_T, layer.minus_log2_e, layer.G)
        exp2(layer.G, layer.G)
        add(layer.G, layer.one, layer.G)
        divide(layer.one, layer.G, layer.G)  # i over f

        new = layer.y[cell]
        multiply(layer.G[output], layer.x[cell], new)  # f c
        multiply(layer.G[cell], layer.H[cell], layer.S[cell])  # i g
        add(new, layer.S[cell], new)  # c'
        layer.activation.value(new, layer.A[cell])
        multiply(o, layer.A[cell], layer.y[output])  # h'
        layer.y[rest] = layer.x[rest]

    def backward(self, layer, dy):
        """dc and dh are the halves of dy, for c' and h'.  c' also reaches the loss through h':

        dc += o act'(c') dh        dz_o = o (1 - o) act(c') dh
        dz_g = g' i dc        dz_i = i (1 - i) g dc        dz_f = f (1 - f) c dc

        f dc is carried."""
        cell, output, rest = parts_of(len(layer.H))
        g = layer.H[cell]
        o = layer.H[output]
        i = layer.G[cell]
        f = layer.G[output]
        A = layer.A[cell]
        S = layer.S[cell]
        dc = dy[cell]
        dh = dy[output]
        new = layer.y[cell]

        layer.activation.value(new, A)
        multiply(A, dh, S)
        sigmoid_back(layer, o, S, layer.dz_H[output])
        layer.activation.slope(new, A, A)  # A becomes act'(c')
        multiply(A, o, A)
        multiply(A, dh, A)
        add(dc, A, dc)
        multiply(g, dc, S)
        sigmoid_back(layer, i, S, layer.dz_T[cell])
        multiply(layer.x[cell], dc, S)
        sigmoid_back(layer, f, S, layer.dz_T[output])
        layer.activation.slope(layer.z_H[cell], g, g)  # g becomes g'
        multiply(g, i, g)
        multiply(g, dc, layer.dz_H[cell])
        layer.dz_H[rest] = 0
        layer.dz_T[rest] = 0
        multiply(f, dc, dc)
        dh[:] = 0
        return dy  # f dc over 0

    def transform_gate(self, layer):
        """i over o; 0 for a unit that is carried."""
        cell, _, rest = parts_of(len(layer.H))
        T = layer.H.copy()
        T[cell] = layer.G[cell]
        T[rest] = 0
        return T


def parts_of(hidden: int) -> tuple[slice, slice, slice]:
    """Which units of an LSTM block are the cell, which its output, which neither."""
    half = hidden // 2
    return slice(half), slice(half, 2 * half), slice(2 * half, hidden)


def sigmoid_back(layer, gate, dgate, dz) -> None:
    """dz = gate (1 - gate) dgate; overwrites dgate."""
    multiply(dgate, gate, dz)
    multiply(dz, gate, dgate)
    subtract(dz, dgate, dz)


class Maxout(Block):
    """y = max(W_H x + b_H, W_T x + b_T), unit by unit: two linear pieces (Goodfellow 2013).

    It has as many parameters as a highway block, but no gate.  `won` is 1 where the second piece
    is the larger, and net.gates() returns it.  Only the net's first layer uses the activation.
    With Glorot's start the weights have variance 1 / fan_in, which preserves a state's mean
    square."""

    name = "maxout"
    gates = 1
    has_gate = False
    kept = ("won",)

    def forward(self, layer):
        greater(layer.z_T, layer.z_H, layer.won)
        maximum(layer.z_T, layer.z_H, out=layer.y)

    def backward(self, layer, dy):
        multiply(dy, layer.won, layer.dz_T)
        subtract(dy, layer.dz_T, layer.dz_H)  # nothing is carried

    def transform_gate(self, layer):
        return layer.won


class HighwayMaxout(Block):
    """y = H T + x (1 - T), T = sigmoid(W_T x + b_T), H = max(W_H x + b_H, W_C x + b_C)    eq. 3

    A highway block whose H is maxout.  W_C, a second gate elsewhere, is the second piece."""

    name = "highway-maxout"
    gates = 2
    # won: 1 where the second piece is the larger;  P = T (H - x),  q = 1 / T
    kept = ("won", "P", "q")

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def forward(self, layer):
        greater(layer.z_C, layer.z_H, layer.won)
        maximum(layer.z_C, layer.z_H, out=layer.P)  # H
        multiply(layer.z_T, layer.minus_log2_e, layer.z_T)
        exp2(layer.z_T, layer.z_T)  # exp(-z_T)
        add(layer.z_T, layer.one, layer.q)  # q = 1 + exp(-z_T) = 1 / T
        subtract(layer.P, layer.x, layer.P)
        divide(layer.P, layer.q, layer.P)  # P = T (H - x)
        add(layer.x, layer.P, layer.y)  # y = H T + x (1 - T)

    def backward(self, layer, dy):
        """dH = T dy goes to the larger piece;  dz_T = P (1 - T) dy;  (1 - T) dy is carried."""
        divide(dy, layer.q, layer.dH)  # dH = T dy
        subtract(dy, layer.dH, dy)  # dy becomes dy - dH = (1 - T) dy
        multiply(layer.P, dy, layer.dz_T)
        multiply(layer.dH, layer.won, layer.dz_C)
        subtract(layer.dH, layer.dz_C, layer.dz_H)
        return dy

    def transform_gate(self, layer):
        return layer.one / layer.q
