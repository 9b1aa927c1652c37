"""A net whose carry gate and branch gate may each see the state, or not: one equation, at equal width and size.

    y = C * x + B * (W_2 u + b_2)

    u = tanh(W_1 x + b_1)                          a branch of two matrices, m units between them
    u = tanh(W_1 x + b_1) * (V x + b_V)            "product": without a gate, but x is multiplied with x
    u = tanh(W_1 x + b_1) * sigmoid(V x + b_V)     "gated": a product with a gate before W_2
    u = tanh(W_1 x + b_1) * tanh(V x + b_V)        "bounded": a product of bounded factors
    u = max(W_1 x + b_1, 0)                        "relu"; the same in "coupled_relu", a branch of the coupled kind
    u = max(W_1 x + b_1, 0) * (V x + b_V)          "product_relu"
    u = |W_1 x + b_1|                              "absolute": even in x but for the bias, and no product
    C = 1 - sigmoid(z_C)                           the carry gate; 1 if there is none
    B = sigmoid(z_B)                               the branch gate; 1 if there is none

A gate's z is one learned number a unit ("static"), or a map of the state ("state"), of the steps told ("told"),
or of the state of another problem with the same number of steps ("other").  "coupled" is the paper's: B = 1 - C.
A matrix that a gate does not have goes into the branch: m is so large that all blocks have about as many parameters.

Inside, arrays are (features, batch).
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import highway_networks as hn


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def tanh(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """tanh(z) and its derivative."""
    t = np.tanh(z)
    return t, 1 - t * t


def relu(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """max(z, 0) and its derivative."""
    return np.maximum(z, 0), z > 0


def absolute(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|z| and its derivative."""
    return np.abs(z), np.sign(z)


KINDS = {  # {kind: what its carry gate sees, what its branch gate sees}
    "both": ("state", "state"),
    "carry": ("state", "static"),
    "branch": ("static", "state"),
    "neither": ("static", "static"),
    "coupled": ("state", "coupled"),
    "residual": (None, None),
    "product": (None, None),
    "told": ("told", "told"),
    "other": ("other", "other"),
    "added": (None, "state"),
    "scaled": (None, "static"),
    "gated": (None, None),
    "bounded": (None, None),
    "relu": (None, None),
    "absolute": (None, None),
    "coupled_relu": ("state", "coupled"),
    "product_relu": (None, None),
}
COUPLED = "coupled"
FACTORS = {  # {kind: the second factor, of V x + b_V}, for the kinds whose branch has one
    "product": lambda v: v,
    "gated": sigmoid,
    "bounded": np.tanh,
    "product_relu": lambda v: v,
}
ACTIVATIONS = {"relu": relu, "coupled_relu": relu, "product_relu": relu, "absolute": absolute}  # all others: tanh


def sizes_of_block(kind: str, width: int, inner: int, n_told: int) -> dict[str, tuple[int, ...]]:
    """The shapes of a block's parameters."""
    shapes = {"W_1": (inner, width), "b_1": (inner, 1)}
    if kind in FACTORS:
        shapes |= {"V": (inner, width), "b_V": (inner, 1)}
    shapes |= {"W_2": (width, inner), "b_2": (width, 1)}
    for letter, sees in zip("CB", KINDS[kind], strict=True):
        if sees in (None, COUPLED):
            continue
        if sees != "static":
            shapes[f"W_{letter}"] = (width, n_told if sees == "told" else width)
        shapes[f"b_{letter}"] = (width, 1)
    return shapes


def n_parameters(shapes: dict[str, tuple[int, ...]]) -> int:
    return sum(rows * columns for rows, columns in shapes.values())


def inner_width(kind: str, width: int, n_told: int) -> int:
    """The units between a branch's matrices that make a block about as large as the coupled one of `width` units."""
    wanted = n_parameters(sizes_of_block(COUPLED, width, width, n_told))
    inner = range(1, 2 * width + 1)
    return min(inner, key=lambda m: abs(n_parameters(sizes_of_block(kind, width, m, n_told)) - wanted))


class GatedNet:
    """A first layer of tanh, `depth` blocks of one kind, and a linear layer to the logits.

    The last `n_told` columns of x (N, d_in) tell the number of steps.  `gain` multiplies Glorot's weights of W_2;
    `carry_bias` and `branch_bias` are z_C and z_B at the start."""

    def __init__(
        self, d_in, d_out, width, depth, kind, n_told, rng,
        *, gain=1.0, carry_bias=0.0, branch_bias=0.0, dtype=np.float32,
    ):  # fmt: skip
        self.kind = kind
        self.n_told = n_told
        inner = inner_width(kind, width, n_told)
        of_block = sizes_of_block(kind, width, inner, n_told)
        outer = {"W_in": (width, d_in), "b_in": (width, 1), "W_out": (d_out, width), "b_out": (d_out, 1)}
        size = n_parameters(outer) + depth * n_parameters(of_block)
        self.parameters = np.zeros(size, dtype)
        self.gradient = np.zeros(size, dtype)
        self.outer, self.blocks = views_of(self.parameters, outer, of_block, depth)
        self.d_outer, self.d_blocks = views_of(self.gradient, outer, of_block, depth)
        draw(self.outer, rng)
        for block in self.blocks:
            draw(block, rng)
            block["W_2"] *= gain
            if "b_C" in block:
                block["b_C"][:] = carry_bias
            if "b_B" in block:
                block["b_B"][:] = branch_bias

    def forward(self, x, partner=None, borrowed=()) -> np.ndarray:
        """x (N, d_in) -> logits (N, d_out).

        `partner` (N,) is a permutation: the other problem that "other" gates see.  `borrowed` names gates, "C" or
        "B", that are replaced by those of the partner in a run of its own."""
        gates = [{}] * len(self.blocks)
        if borrowed:
            self.forward(x, partner)
            gates = [{name: getattr(kept, name)[:, partner] for name in borrowed} for kept in self._kept]
        self._x = x.T
        self._partner = partner
        self._kept = []
        state = np.tanh(self.outer["W_in"] @ self._x + self.outer["b_in"])
        for block, replaced in zip(self.blocks, gates, strict=True):
            state = self._block_forward(block, state, replaced)
        self._last = state
        return (self.outer["W_out"] @ state + self.outer["b_out"]).T

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        """dL/dlogits (N, d_out) of the last forward(), without borrowed gates -> dL/dparameters."""
        d_logits = d_logits.T
        self.d_outer["W_out"][:] = d_logits @ self._last.T
        self.d_outer["b_out"][:] = d_logits.sum(axis=1, keepdims=True)
        dy = self.outer["W_out"].T @ d_logits
        for place in reversed(range(len(self.blocks))):
            dy = self._block_backward(self.blocks[place], self.d_blocks[place], self._kept[place], dy)
        first = self._kept[0].x if self._kept else self._last
        dz = dy * (1 - first * first)
        self.d_outer["W_in"][:] = dz @ self._x.T
        self.d_outer["b_in"][:] = dz.sum(axis=1, keepdims=True)
        return self.gradient

    def _seen(self, sees: str, state: np.ndarray) -> np.ndarray:
        """What a gate sees, (features, N)."""
        if sees == "state":
            return state
        return self._x[-self.n_told :] if sees == "told" else state[:, self._partner]

    def _gate(self, block: dict, letter: str, sees: str, state: np.ndarray) -> np.ndarray:
        """sigmoid(z) of a gate: (width, N), or (width, 1) for a static one."""
        z = block[f"b_{letter}"]
        if sees != "static":
            z = block[f"W_{letter}"] @ self._seen(sees, state) + z
        return sigmoid(z)

    def _block_forward(self, block: dict, x: np.ndarray, replaced: dict) -> np.ndarray:
        kept = SimpleNamespace(x=x, C=1.0, B=1.0)
        kept.u = self._inner_forward(block, x, kept)
        kept.h = block["W_2"] @ kept.u + block["b_2"]
        carry_sees, branch_sees = KINDS[self.kind]
        if carry_sees:
            kept.C = 1 - self._gate(block, "C", carry_sees, x)
        if branch_sees == COUPLED:
            kept.B = 1 - kept.C
        elif branch_sees:
            kept.B = self._gate(block, "B", branch_sees, x)
        vars(kept).update(replaced)
        self._kept.append(kept)
        return kept.C * x + kept.B * kept.h

    def _block_backward(self, block: dict, d_block: dict, kept, dy: np.ndarray) -> np.ndarray:
        """dL/dy -> dL/dx; writes the block's gradient."""
        dx = kept.C * dy
        dh = kept.B * dy
        carry_sees, branch_sees = KINDS[self.kind]
        if branch_sees == COUPLED:
            dz = (kept.h - kept.x) * dy * kept.B * kept.C
            dx += self._gate_backward(block, d_block, "C", carry_sees, kept.x, dz)
        else:
            if carry_sees:
                dz_C = -kept.x * dy * kept.C * (1 - kept.C)
                dx += self._gate_backward(block, d_block, "C", carry_sees, kept.x, dz_C)
            if branch_sees:
                dz_B = kept.h * dy * kept.B * (1 - kept.B)
                dx += self._gate_backward(block, d_block, "B", branch_sees, kept.x, dz_B)
        d_block["W_2"][:] = dh @ kept.u.T
        d_block["b_2"][:] = dh.sum(axis=1, keepdims=True)
        self._inner_backward(block, d_block, kept, block["W_2"].T @ dh, dx)
        return dx

    def _inner_forward(self, block: dict, x: np.ndarray, kept) -> np.ndarray:
        """u (m, N): what lies between the matrices of a branch."""
        activation = ACTIVATIONS.get(self.kind, tanh)
        kept.activated, kept.slope = activation(block["W_1"] @ x + block["b_1"])
        if self.kind not in FACTORS:
            return kept.activated
        kept.factor = FACTORS[self.kind](block["V"] @ x + block["b_V"])
        return kept.activated * kept.factor

    def _inner_backward(self, block: dict, d_block: dict, kept, du: np.ndarray, dx: np.ndarray) -> None:
        """Takes dL/du (m, N), and adds what comes through u to dx; writes the gradients of W_1 and V."""
        if self.kind in FACTORS:
            dv = du * kept.activated
            if self.kind == "gated":
                dv *= kept.factor * (1 - kept.factor)
            if self.kind == "bounded":
                dv *= 1 - kept.factor * kept.factor
            du = du * kept.factor
            d_block["V"][:] = dv @ kept.x.T
            d_block["b_V"][:] = dv.sum(axis=1, keepdims=True)
            dx += block["V"].T @ dv
        dz = du * kept.slope
        d_block["W_1"][:] = dz @ kept.x.T
        d_block["b_1"][:] = dz.sum(axis=1, keepdims=True)
        dx += block["W_1"].T @ dz

    def _gate_backward(self, block: dict, d_block: dict, letter: str, sees: str, x: np.ndarray, dz: np.ndarray):
        """dL/dz (width, N) of a gate -> its part of dL/dx; writes the gate's gradient."""
        d_block[f"b_{letter}"][:] = dz.sum(axis=1, keepdims=True)
        if sees == "static":
            return 0.0
        d_block[f"W_{letter}"][:] = dz @ self._seen(sees, x).T
        if sees == "told":
            return 0.0
        d_seen = block[f"W_{letter}"].T @ dz
        if sees == "state":
            return d_seen
        dx = np.empty_like(x)
        dx[:, self._partner] = d_seen
        return dx


def views_of(flat: np.ndarray, outer: dict, of_block: dict, depth: int) -> tuple[dict, list[dict]]:
    """Named views into a flat vector: those of the outer layers, and of each block."""
    start = 0
    found = []
    for shapes in (outer, *[of_block] * depth):
        views = {}
        for name, (rows, columns) in shapes.items():
            views[name] = flat[start : start + rows * columns].reshape(rows, columns)
            start += rows * columns
        found.append(views)
    return found[0], found[1:]


def draw(views: dict, rng: np.random.Generator) -> None:
    """Draws the matrices as Glorot does; biases stay 0."""
    for name, array in views.items():
        if not name.startswith("b"):
            array[:] = rng.normal(0, np.sqrt(2 / sum(array.shape)), array.shape)


@hn.one_blas_thread()
def train(net: GatedNet, batches, rates, clip: float) -> bool:
    """Trains with Adam; a batch is (x, y, partner).  Returns whether the net diverged."""
    optimizer = hn.Adam(net.parameters, lr=1.0, clip=clip)
    for (x, y, partner), rate in zip(batches, rates, strict=True):
        optimizer.lr = rate
        loss, d_logits = hn.softmax_cross_entropy(net.forward(x, partner), y)
        norm = optimizer.step(net.backward(d_logits))
        if not np.isfinite(loss + norm):
            return True
    return False
