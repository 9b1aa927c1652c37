"""Winograd's convolution: the 3 x 3 windows of an m x m tile of pixels with (m + 2)^2 products instead of 9 m^2.

**In one dimension.**  F(2, 3) computes two neighbouring outputs of a filter of three weights from four inputs:

    y_0 = d_0 g_0 + d_1 g_1 + d_2 g_2,    y_1 = d_1 g_0 + d_2 g_1 + d_3 g_2      six products; but also, with four:

    m_0 = (d_0 - d_2) g_0                         y_0 = m_0 + m_1 + m_2
    m_1 = (d_1 + d_2) (g_0 + g_1 + g_2) / 2       y_1 = m_1 - m_2 + m_3
    m_2 = (d_2 - d_1) (g_0 - g_1 + g_2) / 2
    m_3 = (d_3 - d_1) g_2

As matrices y = A' [(G g) . (B' d)], where ' is transposed and . is number by number.  Many inputs meet the same filter,
and many filters the same input, so that G g and B' d are paid for once and what counts is the products between.

**Why it works** (Toom 1963, Cook 1966; Winograd 1980 for filters; Lavin and Gray 2016 for nets).  To multiply two
polynomials, evaluate both at enough points, multiply the values, interpolate.  F(m, 3) is that multiplication read
backwards (transposed), with m + 2 points p_k, the last of them infinity, where a polynomial's value is its leading
coefficient:

    row k of A  = (1, p_k, ..., p_k^(m-1));             (0, ..., 0, 1) at infinity
    row k of G  = (1, p_k, p_k^2) / prod (p_k - p_l);   (0, 0, 1)
    row k of B' = the coefficients of prod (x - p_l);   those of the product over all finite points

where the products run over the finite points p_l but p_k itself.  Small points make small rounding errors.

**In two dimensions** the same on the columns and on the rows: y = A' [(G g G') . (B' d B)] A.  Over several maps the
(m + 2)^2 numbers of a tile become as many matrices: M_kj = U_kj V_kj, with U = G g G' (outputs, maps) and V = B' d B
(maps, tiles x images).

**Backward is the adjoint of each of these steps**: dM = A dz A', dU = dM V', dV = U' dM, dd = B dV B', dg = G' dU G,
and where tiles of d overlap the parts of dd are added.  The row of A at the point 1 is all ones.  So the bias goes into
one of the M_kj, the one at the point (1, 1), and its gradient is the sum over that dM_kj.

**How the pixels lie.**  Column c = m t + p of an image is phase p of tile t.  An image's rows are (phases, maps,
tiles x images): what belongs to one place in a tile is one contiguous plane, so that every transform is a product of a
small matrix with (phases, all the rest), and nothing is gathered.  X holds B' along the columns, for every row of the
image, between two rows of zeros; B' along the rows is then the same for m + 2 rows of X from every m-th on.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy import add, matmul

POINTS = {  # of F(m, 3), without infinity; 1/2 and -2 make half the error of 2 and -2
    2: (0, 1, -1),
    3: (0, 1, -1, 1 / 2),
    4: (0, 1, -1, 1 / 2, -2),
    6: (0, 1, -1, 1 / 2, -1 / 2, 2, -2),
}
ONE = 1  # which of them is 1
FEWEST_MAPS = 16  # none of the paper's nets has fewer; with 8 the transforms cost what the products save

CACHED_BYTES = 1 << 21  # of V and M at a time, and of z; the best of a few on a Zen 4, whose L2 holds half of it
UNPACKED = 10**6  # up to so many multiplications OpenBLAS does not copy its operands first, which is faster
BLOCK_ROWS = 32  # of an operand at a time; those of M V' OpenBLAS copies from about 36 on


def tile(side: int) -> int | None:
    """m for images of this side: how many pixels of a row or column a tile has; None where no tile fits."""
    if side == 6:
        return 6
    return next((m for m in (4, 3, 2) if side % m == 0), None)


@cache
def matrices(m: int, dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A' (m, m + 2), G (m + 2, 3), B' (m + 2, m + 2) of F(m, 3).  B'[0, 0] is 1."""
    points, a = np.array(POINTS[m], float), m + 2
    A, G, B_t = np.zeros((a, m)), np.zeros((a, 3)), np.zeros((a, a))
    A[-1, -1] = G[-1, -1] = 1
    B_t[-1] = np.poly(points)[::-1]
    for k, point in enumerate(points):
        others = np.delete(points, k)
        A[k], G[k] = point ** np.arange(m), point ** np.arange(3) / np.prod(point - others)
        B_t[k, :-1] = np.poly(others)[::-1]
    G[0], B_t[0] = G[0] * B_t[0, 0], B_t[0] / B_t[0, 0]
    return tuple(np.ascontiguousarray(each, dtype) for each in (A.T, G, B_t))


class Winograd:
    """F(m x m, 3 x 3) of images (maps, side): z = W * x + b, with zeros around x, and its two gradients.

    Work arrays: a.x (side, m, maps, tiles, n), which the layer below writes and whose rows prepare_input() takes over
    into a.X (side + 2, m + 2, maps, tiles x n), and scratch.
    """

    def __init__(self, maps: int, side: int, outputs: int, m: int):
        self.maps, self.side, self.outputs, self.phases = maps, side, outputs, m
        self.name = f"F({m}x{m}, 3x3)"

    def make_arrays(self, work, a) -> None:
        m, n, maps, outputs, tiles = self.phases, a.n, self.maps, self.outputs, self.side // self.phases
        p, columns = m + 2, tiles * n
        a.x = work.new("x", (self.side, m, maps, tiles, n))
        a.X = work.new("X", (self.side + 2, p, maps, columns))
        a.at_once = most(m, CACHED_BYTES // (m * outputs * columns * a.x.itemsize))  # rows
        a.planes = most(p, CACHED_BYTES // (p * (maps + outputs) * columns * a.x.itemsize))  # of X, of V and M
        a.U = work.scratch("U", (p, p, outputs, maps))
        a.V_and_last = work.scratch("V", (p + 2, a.planes, maps, columns))
        a.V = a.V_and_last[:p]
        a.M = work.scratch("M", (p, a.planes, outputs, columns))
        a.S = work.scratch("S", (m, p, outputs, columns))  # M transformed along the rows, not yet along the columns
        a.z = work.scratch("z", (a.at_once, m, outputs, tiles, n))
        a.g = work.scratch("g", (3 + p, 3, outputs, maps))  # W, and W transformed along the rows
        if work.keep:
            a.dU = work.scratch("dU", (p, p, outputs, maps))
            a.part = work.scratch("part", (p, a.planes, outputs, maps))
            a.D = work.scratch("dX", (p, p + 2, maps, columns))  # dL/dX of a row of tiles, and two shifted planes
            a.back = work.scratch("back", (a.at_once, m, maps, tiles, n))

    def prepare_input(self, a, rows: slice) -> None:
        """X = B' x along the columns.  The first and the last column that a tile sees are its neighbours': they enter
        one plane of X each, times 1."""
        _, _, B_t = matrices(self.phases, a.x.dtype)
        x, X, n = a.x[rows], a.X[1:-1][rows], a.n
        transform(B_t[:, 1:-1], x, X, COLUMNS)
        x = x.reshape(X[:, 1:-1].shape)
        add(X[:, 0, :, n:], x[:, -1, :, :-n], X[:, 0, :, n:])
        add(X[:, -1, :, :-n], x[:, 0, :, n:], X[:, -1, :, :-n])

    def forward(self, a, W, b):
        """Yields (rows, z): W (outputs, 3, 3, maps), b (outputs,) -> z (rows, m, outputs, tiles, n), overwritten by the
        next."""
        m, (A_t, _, _) = self.phases, matrices(self.phases, a.x.dtype)
        self._transform_weights(a, W)
        for top in range(0, self.side, m):
            for planes in self._planes(a):
                self._transform_input(a, top, planes)
                product(a.U[:, planes], a.V, a.M)  # (outputs, maps) (maps, tiles x n)
                if planes.start <= ONE < planes.stop:
                    at_one = a.M[ONE, ONE - planes.start]
                    add(at_one, b[:, None], at_one)
                transform(A_t, a.M, a.S[:, planes], ROWS)
            for i in range(0, m, a.at_once):
                transform(A_t, a.S[i : i + a.at_once], a.z, COLUMNS)
                yield slice(top + i, top + i + a.at_once), a.z

    def backward(self, a, W, grad, dx, carried):
        """Yields (rows, dz) for the caller to fill in with dL/dz; writes grad.W, grad.b, and dL/dx to dx, if that is an
        array: adds it where dx is `carried`, what goes around the convolution."""
        m, (A_t, _, B_t) = self.phases, matrices(self.phases, a.x.dtype)
        if dx is not None:
            self._transform_weights(a, W)
        a.dU[:] = grad.b[:] = a.D[:] = 0
        B_and_last = np.hstack([B_t.T, np.eye(m + 2, 2, dtype=B_t.dtype)])
        for top in range(0, self.side, m):
            for i in range(0, m, a.at_once):
                yield slice(top + i, top + i + a.at_once), a.z
                transform(A_t.T, a.z, a.S[i : i + a.at_once], COLUMNS)
            for planes in self._planes(a):
                transform(A_t.T, a.S[:, planes], a.M, ROWS)  # from here on dM
                if planes.start <= ONE < planes.stop:
                    add(grad.b, a.M[ONE, ONE - planes.start].sum(axis=1), grad.b)
                self._transform_input(a, top, planes)
                add_products(a.M, a.V, a.dU[:, planes], a.part)
                if dx is not None:
                    product(a.U[:, planes].swapaxes(2, 3), a.M, a.V)  # dV: (maps, outputs) (outputs, tiles x n)
                    a.V_and_last[m + 2 :] = a.D[m:, planes]  # the last row of tiles overlaps with the first two rows
                    transform(B_and_last, a.V_and_last, a.D[:, planes], ROWS)
            if dx is not None:
                self._input_gradient(a, top, dx, carried)
        self._weight_gradient(a, grad)

    def _planes(self, a):
        return [slice(j, j + a.planes) for j in range(0, self.phases + 2, a.planes)]

    def _transform_weights(self, a, W):
        """U = G W G'."""
        _, G, _ = matrices(self.phases, a.x.dtype)
        g, half = a.g[:3], a.g[3:]
        g[...] = W.transpose(1, 2, 0, 3)
        transform(G, g, half, ROWS)
        transform(G, half, a.U, COLUMNS)

    def _weight_gradient(self, a, grad):
        """dW = G' dU G."""
        _, G, _ = matrices(self.phases, a.x.dtype)
        g, half = a.g[:3], a.g[3:]
        transform(G.T, a.dU, half, COLUMNS)
        transform(G.T, half, g, ROWS)
        grad.W[...] = g.transpose(2, 0, 1, 3)

    def _transform_input(self, a, top, planes):
        """V = B' x B of the row of tiles from this row of pixels on, from X."""
        _, _, B_t = matrices(self.phases, a.x.dtype)
        transform(B_t, a.X[top : top + self.phases + 2, planes], a.V, ROWS)

    def _input_gradient(self, a, top, dx, carried):
        """dx = B dX along the columns, for the rows of dX, in a.D, to which no other row of tiles adds: D begins with
        the row above this row of tiles.  What overhangs, the first and last plane of dX, is its neighbours' as well."""
        n, m = a.n, self.phases
        B_t = matrices(m, a.x.dtype)[2]
        B_and_neighbours = np.hstack([B_t.T[1:-1], np.eye(m, dtype=B_t.dtype)[:, [-1, 0]]])
        a.D[:, -2, :, :-n], a.D[:, -1, :, n:] = a.D[:, 0, :, n:], a.D[:, m + 1, :, :-n]
        first, end = int(top == 0), m + int(top + m == self.side)
        for i in range(first, end, a.at_once):
            D = a.D[i : min(i + a.at_once, end)]
            to = dx[top + i - 1 : top + i - 1 + len(D)]
            out = a.back[: len(D)] if carried else to
            transform(B_and_neighbours, D, out, COLUMNS)
            if carried:
                add(to, out, to)


ROWS, COLUMNS = 0, 1  # the axes of (rows, phases, ...)


def transform(matrix, x, out, axis) -> None:
    """out = matrix x along this axis, for all that lies on the axes after it."""
    x, out = (each.reshape(*each.shape[: axis + 1], -1) for each in (x, out))
    for columns in columns_unpacked(x.shape[-1], matrix.size):
        matmul(matrix, x[..., columns], out[..., columns])


def product(U, V, M) -> None:
    """M = U V of the last two axes: (outputs, maps) (maps, columns), in blocks that OpenBLAS does not pack."""
    outputs, maps = U.shape[-2:]
    for rows in blocks(outputs, BLOCK_ROWS):
        for columns in columns_unpacked(V.shape[-1], min(BLOCK_ROWS, outputs) * maps):
            matmul(U[..., rows, :], V[..., columns], M[..., rows, columns])


def add_products(M, V, dU, part) -> None:
    """dU += M V' of the last two axes: (outputs, columns) (columns, maps), in such blocks unless there are too many
    columns for that."""
    outputs, maps = dU.shape[-2:]
    size = BLOCK_ROWS if BLOCK_ROWS**2 * M.shape[-1] <= UNPACKED else max(outputs, maps)
    for rows in blocks(outputs, size):
        for others in blocks(maps, size):
            matmul(M[..., rows, :], V[..., others, :].swapaxes(-2, -1), part[..., rows, others])
    add(dU, part, dU)


def blocks(rows: int, size: int) -> list[slice]:
    """Of this size, but for the last."""
    return [slice(i, i + size) for i in range(0, rows, size)]


def columns_unpacked(columns: int, multiplications: int) -> list[slice]:
    """As few blocks as there can be, nearly alike, of columns that take so many multiplications each: at most UNPACKED
    a block, or one column."""
    parts = -(-columns // max(1, UNPACKED // multiplications))
    return blocks(columns, -(-columns // parts))


def most(whole: int, wanted: int) -> int:
    """The largest divisor of `whole` that is at most `wanted`, at least 1."""
    return max((d for d in range(1, whole + 1) if whole % d == 0 and d <= wanted), default=1)
