"""The law in closed form: what a net's settings say of its start and of its rates, without a net.

RULES.md derives it, in the symbols of this file.  A block is y = C x + B H, where C and B are numbers or
functions of a gate's argument z_T = W_T x + b_T.  In a wide net with random weights z_H and z_T are
Gaussian, and independent of each other and of x.  Per unit, from block to block:

    q     the mean square of the state              m   its mean, 0 for tanh
    h     the mean square of H                      m_H its mean
    r     the factor by which a block multiplies the size of the gradient

    q'  = E[C^2] q + E[B^2] h + 2 E[C B] m m_H
    r^2 = E[C^2] + v_H E[B^2] E[H'^2] + v_T (E[C'^2] q + E[B'^2] h + 2 E[C' B'] m m_H)

v_H and v_T are the variances of the weights times the width.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from experiments.trainable_depth.streams import STIRRED, STREAMS
from highways.nets.mean_field import ACTIVATIONS, NODES, WEIGHTS

N_CLASSES = 10
EPSILON = 1e-8  # Adam's: a gradient below it counts as small


# ---- Blocks --------------------------------------------------------------------------------------


opened = expit  # T = sigmoid(z)


def shut(z):
    """1 - T, right also where it is small."""
    return opened(-z)


def slope(z):
    """dT/dz."""
    return opened(z) * shut(z)


def length(z):
    return np.hypot(shut(z), opened(z))


class Part(NamedTuple):
    """C or B as a function of z, and its slope."""

    value: Callable
    slope: Callable


def number(value: float) -> Part:
    return Part(lambda z: value + 0 * z, lambda z: 0 * z)


OPENED = Part(opened, slope)
SHUT = Part(shut, lambda z: -slope(z))


@dataclass(frozen=True)
class Mix:
    """How a block mixes x and H: y = carry(z) x + branch(z) H.

    Where the gate does not see x, z is the number b_T.  A normalised block divides y by its root mean
    square.  `streams` is how the streams of a block with several are mixed: "convex" or "identity"."""

    carry: Part
    branch: Part
    sees_x: bool = False
    normalised: bool = False
    streams: str | None = None


MP_CARRY = Part(lambda z: shut(z) / length(z), lambda z: -opened(z) * slope(z) / length(z) ** 3)
MP_BRANCH = Part(lambda z: opened(z) / length(z), lambda z: shut(z) * slope(z) / length(z) ** 3)
P_NORM_CARRY = Part(
    lambda z: np.sqrt(shut(z) * (1 + opened(z))), lambda z: -(opened(z) ** 2) * np.sqrt(shut(z) / (1 + opened(z)))
)


def mix_of(kind: str, depth: int) -> Mix:
    """The mixture of a kind of block in a net of this depth."""
    one = number(1.0)
    return {
        "none": Mix(number(0.0), one),
        "skip": Mix(one, one),
        "skip / sqrt L": Mix(one, number(1 / math.sqrt(depth))),
        "rezero": Mix(one, number(0.0)),
        "convex": Mix(SHUT, OPENED),
        "static scalar": Mix(SHUT, OPENED),
        "static unit": Mix(SHUT, OPENED),
        "sees x": Mix(SHUT, OPENED, sees_x=True),
        "highway": Mix(SHUT, OPENED, sees_x=True),
        "uncoupled": Mix(one, OPENED, sees_x=True),
        "mp": Mix(MP_CARRY, MP_BRANCH, sees_x=True),
        "p-norm": Mix(P_NORM_CARRY, OPENED, sees_x=True),
        "layer-norm": Mix(SHUT, OPENED, sees_x=True, normalised=True),
        "streams, convex": Mix(SHUT, OPENED, sees_x=True, streams="convex"),
        "streams, identity": Mix(one, OPENED, sees_x=True, streams="identity"),
    }[kind]


# ---- Moments -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gate:
    """Moments of C and B over a gate's argument, and of their slopes."""

    CC: float
    BB: float
    CB: float
    C: float
    B: float
    slopes_CC: float
    slopes_BB: float
    slopes_CB: float


@functools.cache  # blocks far up a net, and nets of other depths, have the same
def gate_of(mix: Mix, variance: float, bias: float) -> Gate:
    z = bias + math.sqrt(variance) * NODES
    C, B = mix.carry.value(z), mix.branch.value(z)
    slope_C, slope_B = mix.carry.slope(z), mix.branch.slope(z)
    moments = np.array([C**2, B**2, C * B, C, B, slope_C**2, slope_B**2, slope_C * slope_B]) @ WEIGHTS
    return Gate(*moments.tolist())


@dataclass(frozen=True)
class Activated:
    """Moments of H and of its slope, where z_H has this variance."""

    square: float
    mean: float
    slopes: float


@functools.cache
def activated(activation: str, variance: float) -> Activated:
    H, slope = ACTIVATIONS[activation]
    z = math.sqrt(variance) * NODES
    value = H(z)
    return Activated(*(np.array([value**2, value, slope(z) ** 2]) @ WEIGHTS).tolist())


# ---- The net's settings --------------------------------------------------------------------------

# the variances of W_H and W_T times the width, by start
VARIANCES = {"program": (1 / 3, 1 / 3), "glorot": (1.0, 1.0), "orthogonal": (1.0, 1.0), "he": (2.0, 1.0)}


def outer_variances(start: str, d_in: int, width: int) -> tuple[float, float]:
    """The variances of the entries of W_in and W_out."""
    if start == "program":
        return 1 / (3 * d_in), 1 / (3 * width)
    of_output = 2 / (width + N_CLASSES)
    if start == "he":
        return 2 / d_in, of_output
    return 2 / (d_in + width), of_output


@dataclass(frozen=True)
class Pixels:
    """What the law knows of the images: means over them."""

    d_in: int
    square: float  # of |x|^2
    spread: float  # of |x - mean x|^2
    absolute: float  # of the sum of |x_j|


@dataclass(frozen=True)
class Start:
    """An untrained net in closed form.  The arrays have an entry for each block.

    first_q    mean square of the first layer's output
    first_s    mean square of its slope
    first_p    mean square of dz/d(its output), z being a logit
    gains      r
    p          mean square of dz/d(what the block writes)
    read       mean square of what it reads
    total      mean square of the state it leaves, over all streams
    transform  E[B^2] E[H'^2]: mean square of dy/dz_H
    gate       mean square of dy/dz_T
    carries    E[C^2], and
    writes     E[B^2], before the division of a normalised block
    h          mean square of H
    last_q     mean square of what the output layer reads"""

    width: int
    pixels: Pixels
    parameters: int
    first_q: float
    first_s: float
    first_p: float
    gains: np.ndarray
    p: np.ndarray
    read: np.ndarray
    total: np.ndarray
    transform: np.ndarray
    gate: np.ndarray
    carries: np.ndarray
    writes: np.ndarray
    h: np.ndarray
    last_q: float


@dataclass(frozen=True)
class Forward:
    """What a block does to mean squares on the way up.

    read, total, transform, gate, carries, writes, h   as in Start
    carried                        E[C^2] and E[C], after the division of a normalised block
    last                           mean square of what would be read after it"""

    read: float
    total: float
    transform: float
    gate: float
    carries: float
    writes: float
    h: float
    carried: tuple[float, float]
    last: float


SHARED = ("read", "total", "transform", "gate", "carries", "writes", "h")  # of the blocks, in a Start


class Streams:
    """How the streams of a block are mixed; an ordinary block has one.

    stir   the matrix that mixes them before a block writes to stream k, k being its number modulo theirs
    reads  the weights with which they are read"""

    def __init__(self, mixing: str | None):
        self.n = STREAMS if mixing else 1
        self.stir = np.eye(self.n)
        if mixing == "convex":
            self.stir = (1 - STIRRED) * self.stir + STIRRED / self.n
        self.reads = np.full(self.n, 1 / self.n)


def upwards(setting: dict, mix: Mix, streams: Streams, first: Activated) -> list[Forward]:
    """The blocks of a net from the first to the last.

    Q holds the mean products of the streams, m their means."""
    activation = setting["activation"]
    v_H, v_T = VARIANCES[setting["start"]]
    bias = 0.0 if setting.get("gate_bias") is None else setting["gate_bias"]
    stir, reads = streams.stir, streams.reads
    Q = np.full((streams.n, streams.n), first.square)
    m = np.full(streams.n, first.mean)
    found = []
    for block in range(setting["depth"]):
        k = block % streams.n
        x = float(reads @ Q @ reads)
        Q = stir @ Q @ stir.T
        m = stir @ m
        H = activated(activation, v_H * x)
        g = gate_of(mix, v_T * x if mix.sees_x else 0.0, bias)
        of_gate = 0.0
        if mix.sees_x:
            of_gate = g.slopes_CC * Q[k, k] + g.slopes_BB * H.square + 2 * g.slopes_CB * m[k] * H.mean
        written = g.CC * Q[k, k] + g.BB * H.square + 2 * g.CB * m[k] * H.mean
        Q[k] = g.C * Q[k] + g.B * H.mean * m
        Q[:, k] = Q[k]
        Q[k, k] = written
        m[k] = g.C * m[k] + g.B * H.mean
        squeeze = 1 / written if mix.normalised else 1.0
        Q *= squeeze
        m *= math.sqrt(squeeze)
        found.append(
            Forward(
                read=x,
                total=float(np.trace(Q)),
                transform=g.BB * H.slopes * squeeze,
                gate=of_gate * squeeze,
                carries=g.CC,
                writes=g.BB,
                h=H.square,
                carried=(g.CC * squeeze, g.C * math.sqrt(squeeze)),
                last=float(reads @ Q @ reads),
            )
        )
    return found


def downwards(
    blocks: list[Forward], streams: Streams, v_H: float, v_T: float, v_out: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean squares of dz/d(state), on the way down: of what each block writes; over all streams, from the
    first layer's output to the last block's; and of the first layer's output itself.

    P holds the mean products of the gradients of the streams."""
    stir, reads = streams.stir, streams.reads
    P = v_out * np.outer(reads, reads)
    written = []
    sizes = [float(np.trace(P))]
    for number in reversed(range(len(blocks))):
        block = blocks[number]
        k = number % streams.n
        CC, C = block.carried
        own = P[k, k]
        written.append(own)
        P[k] *= C
        P[:, k] *= C
        P[k, k] = CC * own
        P = stir.T @ P @ stir + np.outer(reads, reads) * own * (v_H * block.transform + v_T * block.gate)
        sizes.append(float(np.trace(P)))
    return np.array(written[::-1]), np.array(sizes[::-1]), float(P.sum())


def start_of(setting: dict, pixels: Pixels) -> Start:
    """The start of the net of a setting, which names kind, gate_bias, start, activation, depth, width."""
    depth = setting["depth"]
    width = setting.get("width", 50)
    mix = mix_of(setting["kind"], depth)
    streams = Streams(mix.streams)
    v_H, v_T = VARIANCES[setting["start"]]
    v_in, v_out = outer_variances(setting["start"], pixels.d_in, width)
    first = activated(setting["activation"], v_in * pixels.square)
    blocks = upwards(setting, mix, streams, first)
    p, sizes, first_p = downwards(blocks, streams, v_H, v_T, v_out)
    if setting["activation"] == "relu" and streams.n == 1:
        # y(c x) = c y(x): along x, one direction of `width`, the gradient grows as the state does
        states = np.array([first.square, *(block.total for block in blocks)])
        sizes = (1 - 1 / width) * sizes + v_out * states[-1] / states / width
        p = sizes[1:]
        first_p = float(sizes[0])
    rows = 2 if mix.sees_x else 1
    return Start(
        width=width,
        pixels=pixels,
        parameters=width * (pixels.d_in + 1) + depth * rows * width * (width + 1) + N_CLASSES * (width + 1),
        first_q=first.square,
        first_s=first.slopes,
        first_p=first_p,
        gains=np.sqrt(sizes[:-1] / sizes[1:]),
        p=p,
        **{name: np.array([getattr(block, name) for block in blocks]) for name in SHARED},
        last_q=blocks[-1].last,
    )


# ---- The first line: what the start lets through -------------------------------------------------


def passed(start: Start) -> float:
    """S, the sum of log10 r: log10 of |dL/dy| of the first block over that of the last.

    The gradient of the first block has passed all blocks but the first."""
    return float(np.log10(start.gains[1:]).sum())


def parts(start: Start) -> dict[str, np.ndarray]:
    """The mean over images of |dz/dW|^2 of one logit z, by the layer of the matrix W: the parts of the
    tangent kernel's trace, over the number of classes, without biases."""
    n = start.width
    x = n * start.read
    return {
        "first": n * start.first_p * start.first_s * start.pixels.square,
        "transform": n * start.p * start.transform * x,
        "gate": n * start.p * start.gate * x,
        "last": n * start.last_q,
    }


def signal(start: Start) -> float:
    """K, the part of the kernel that tells images apart: |x - mean x|^2 in place of |x|^2.

    The states of two images stay as far apart, relative to their size, as the first layer leaves them;
    it leaves them as far apart as the images are."""
    return sum(float(np.sum(part)) for part in parts(start).values()) * start.pixels.spread / start.pixels.square


def wait(K: float) -> float:
    """tau, how much longer than a net of K = 1 a net takes to leave the loss of guessing."""
    if K >= 1:
        return 1 / K
    return (1 - math.log(K) / 2) / math.sqrt(K) if K > 0 else math.inf


# ---- The second line: how far a step moves the blocks --------------------------------------------


def movement(start: Start) -> float:
    """M: by how much a step of length 1 along the gradient changes the state, relative to its size,
    summed over the blocks.

    Each matrix gets its share of the step, and changes the block's output by the step times |x| times
    the output's slope."""
    found = parts(start)
    whole = sum(float(np.sum(part)) for part in found.values())
    moved = 0.0
    for name, slope in (("transform", start.transform), ("gate", start.gate)):
        moved += float(np.sqrt(found[name] / whole * slope * start.read / start.total).sum())
    return moved


def share_in_blocks(start: Start) -> float:
    """The share of the kernel's trace that lies in the blocks: the second candidate."""
    found = parts(start)
    blocks = float(np.sum(found["transform"]) + np.sum(found["gate"]))
    return blocks / (float(found["first"] + found["last"]) + blocks)


def movement_with_adam(start: Start) -> tuple[float, float]:
    """The same for a step of Adam's, which moves every weight by 1: of the first layer, and of the
    blocks."""
    n = start.width
    first = start.pixels.absolute * math.sqrt(start.first_s / start.first_q)
    slopes = np.sqrt(start.transform) + np.sqrt(start.gate)
    return first, float((n * slopes * np.sqrt(start.read / start.total)).sum())
