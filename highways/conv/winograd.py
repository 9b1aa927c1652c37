"""Winograd's convolution: the 3 x 3 windows of an m x m tile of pixels with (m + 2)^2 products instead of 9 m^2.

**In one dimension.**  F(2, 3) computes two neighbouring outputs of a filter of three weights from four inputs:

    y_0 = d_0 g_0 + d_1 g_1 + d_2 g_2,    y_1 = d_1 g_0 + d_2 g_1 + d_3 g_2      six products; but also, with four:

    m_0 = (d_0 - d_2) g_0                         y_0 = m_0 + m_1 + m_2
    m_1 = (d_1 + d_2) (g_0 + g_1 + g_2) / 2       y_1 = m_1 - m_2 + m_3
    m_2 = (d_2 - d_1) (g_0 - g_1 + g_2) / 2
    m_3 = (d_3 - d_1) g_2

As matrices y = A' [(G g) . (B' d)], where ' marks a transposed matrix and . multiplies number by
number.  Many inputs meet the same filter, and many filters the same input.  So each G g and each
B' d is computed only once, and the products between them decide the cost.

**Why it works** (Toom 1963, Cook 1966; Winograd 1980 for filters; Lavin and Gray 2016 for nets).  To multiply two
polynomials, evaluate both at enough points, multiply the values, interpolate.  F(m, 3) is that multiplication read
backwards (transposed).  It has m + 2 points p_k.  The last of them is infinity, where a polynomial's value is its
leading coefficient:

                  at a finite point p_k                  at infinity
    row k of A    (1, p_k, ..., p_k^(m-1))               (0, ..., 0, 1)
    row k of G    (1, p_k, p_k^2) / prod (p_k - p_l)     (0, 0, 1)
    row k of B'   the coefficients of prod (x - p_l)     those of the product over all finite points

where prod runs over all finite points p_l except p_k, and coefficients begin with that of x^0.
Any row of G may be multiplied by a number if that of B' is divided by it: the first rows are
scaled so that B'[0, 0] is 1.  Small points make small rounding errors.

**In two dimensions** the same is done along the columns and along the rows: y = A' [(G g G') . (B' d B)] A.  Over
several maps the (m + 2)^2 numbers of a tile become as many matrices: M_kj = U_kj V_kj, with U = G g G' (outputs, maps)
and V = B' d B (maps, tiles x images).

**Backward is the adjoint of each of these steps**: dM = A dz A', dU = dM V', dV = U' dM, dd = B dV B', dg = G' dU G,
and where tiles of d overlap the parts of dd are added.  The row of A at the point 1 is all ones.  So the bias goes into
one of the M_kj, the one at the point (1, 1), and its gradient is the sum over that dM_kj.

**How the pixels lie.**  Column c = m t + p of an image is phase p of tile t.  One row of all images
is (phases, maps, tiles x images).  The pixels at one place of their tiles form one contiguous
plane.  So every transform is a product of a small matrix with (phases, all the rest), and nothing
is gathered.  X holds the images' rows, each transformed by B' along the columns, with a row of
zeros above them and one below.  A row of tiles needs m + 2 successive rows of X, to which B' is then
applied along the rows.  The next row of tiles begins m rows below.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy import add, matmul

# The points of F(m, 3) except infinity; 1/2 and -2 make half the error of 2 and -2.  0 must be the
# first and 1 the second.  As 0 is first and infinity last, the first column of B' is (1, 0, ..., 0)
# and its last (0, ..., 0, 1): a neighbour's column enters one plane alone, with the factor 1.
POINTS = {
    2: (0, 1, -1),
    3: (0, 1, -1, 1 / 2),
    4: (0, 1, -1, 1 / 2, -2),
    6: (0, 1, -1, 1 / 2, -1 / 2, 2, -2),
}
POINT_ONE = 1  # the index of the point 1 in POINTS
FEWEST_MAPS = 16  # none of the paper's nets has fewer; with 8 the transforms cost what the products save

CACHED_BYTES = 1 << 21  # bytes of V, M and z at a time: the best of a few sizes on a Zen 4, whose L2 is half of it
UNPACKED = 10**6  # the most multiplications for which OpenBLAS does not first copy, or "pack", its operands
BLOCK_ROWS = 32  # rows of an operand at a time; in M V' OpenBLAS copies from about 36 on
PACKING_PAYS = 64  # from so many maps on a product whose operands OpenBLAS packs is faster than unpacked blocks of it


def tile(side: int) -> int | None:
    """m for images of this side: how many pixels of a row or column a tile has;
    None where no tile fits.  F(6 x 6) loses the most digits: only the side 6 gets it."""
    if side == 6:
        return 6
    return next((m for m in (4, 3, 2) if side % m == 0), None)


@cache
def matrices(m: int, dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A' (m, m + 2), G (m + 2, 3), B' (m + 2, m + 2) of F(m, 3)."""
    points = np.array(POINTS[m], float)
    A = np.zeros((m + 2, m))
    G = np.zeros((m + 2, 3))
    B_t = np.zeros((m + 2, m + 2))
    for k, point in enumerate(points):
        others = np.delete(points, k)
        A[k] = point ** np.arange(m)
        G[k] = point ** np.arange(3) / np.prod(point - others)
        B_t[k, :-1] = np.poly(others)[::-1]  # poly() begins with the highest power
    A[-1, -1] = 1  # the point infinity
    G[-1, -1] = 1
    B_t[-1] = np.poly(points)[::-1]
    scale = B_t[0, 0]
    G[0] = G[0] * scale
    B_t[0] = B_t[0] / scale
    return tuple(np.ascontiguousarray(matrix, dtype) for matrix in (A.T, G, B_t))


@cache
def matrices_of_dX(m: int, dtype) -> tuple[np.ndarray, np.ndarray]:
    """Two matrices: for dX, along the rows, and for dx, along the columns.  Both are B with two more
    columns, which make a product add two numbers from other tiles.

    Along the rows, (m + 2, m + 4): the first two rows that a tile sees are the last two that the
    tile above sees.  Along the columns, (m, m + 4): a tile's last pixel gets a number from the tile
    on its right, its first pixel from the tile on its left.  Here B has only the rows of the tile's
    own pixels."""
    _, _, B_t = matrices(m, dtype)
    above = np.eye(m + 2, 2, dtype=B_t.dtype)
    neighbours = np.eye(m, dtype=B_t.dtype)[:, [-1, 0]]  # to the tile's last pixel, to its first
    return np.hstack([B_t.T, above]), np.hstack([B_t.T[1:-1], neighbours])


class Winograd:
    """z = W * x + b by F(m x m, 3 x 3), and its gradients dL/dW, dL/db and dL/dx.  There are zeros
    around the image.

    The layer below writes arrays.x, (side, m, maps, tiles, n).  prepare_input() transforms its
    rows to arrays.X, (side + 2, m + 2, maps, tiles x n).
    """

    def __init__(self, maps: int, side: int, outputs: int, m: int):
        self.maps = maps
        self.side = side
        self.outputs = outputs
        self.phases = m
        self.fewest_rows = 1  # a divisor of m: as many rows of z at a time, or a multiple of them
        self.name = f"F({m}x{m}, 3x3)"

    def make_arrays(self, work, arrays) -> None:
        m = self.phases
        p = m + 2  # points
        n = arrays.n
        maps = self.maps
        outputs = self.outputs
        tiles = self.side // m
        columns = tiles * n
        arrays.x = work.new("x", (self.side, m, maps, tiles, n))
        arrays.X = work.new("X", (self.side + 2, p, maps, columns))
        bytes_of_plane = columns * arrays.x.itemsize
        rows_cached = CACHED_BYTES // (m * outputs * bytes_of_plane)
        fewest = self.fewest_rows
        arrays.rows_at_once = fewest * largest_divisor(m // fewest, rows_cached // fewest)  # rows of z
        planes_cached = CACHED_BYTES // (p * (maps + outputs) * bytes_of_plane)
        arrays.planes_at_once = largest_divisor(p, planes_cached)  # planes of V and M
        arrays.U = work.scratch("U", (p, p, outputs, maps))
        # V or dV, then the last two rows of dX of the tiles above
        arrays.V_and_above = work.scratch("V", (p + 2, arrays.planes_at_once, maps, columns))
        arrays.V = arrays.V_and_above[:p]
        arrays.M = work.scratch("M", (p, arrays.planes_at_once, outputs, columns))
        arrays.S = work.scratch("S", (m, p, outputs, columns))  # M transformed along the rows, not yet the columns
        arrays.z = work.scratch("z", (arrays.rows_at_once, m, outputs, tiles, n))
        arrays.g = work.scratch("g", (3, 3, outputs, maps))  # W
        arrays.half = work.scratch("half", (p, 3, outputs, maps))  # W transformed along the rows, not the columns
        if work.keep:
            arrays.dU = work.scratch("dU", (p, p, outputs, maps))
            arrays.dU_part = work.scratch("dU_part", (p, arrays.planes_at_once, outputs, maps))
            # of one row of tiles; the last two planes come from the neighbours of each tile
            arrays.dX = work.scratch("dX", (p, p + 2, maps, columns))
            arrays.dx_part = work.scratch("dx_part", (arrays.rows_at_once, m, maps, tiles, n))

    def prepare_input(self, arrays, rows: slice) -> None:
        """X = B' x along the columns.

        A tile sees m + 2 columns.  The first and the last of them are the neighbours' columns;
        each is added, with the factor 1, to a single plane of X."""
        _, _, B_t = matrices(self.phases, arrays.x.dtype)
        n = arrays.n
        x = arrays.x[rows]
        X = arrays.X[1:-1][rows]
        transform(B_t[:, 1:-1], x, X, COLUMNS)
        x = x.reshape(X[:, 1:-1].shape)
        first = X[:, 0, :, n:]
        last = X[:, -1, :, :-n]
        add(first, x[:, -1, :, :-n], first)
        add(last, x[:, 0, :, n:], last)

    def forward(self, arrays, W, b):
        """Yields (rows, z) for some rows at a time, with z (rows, m, outputs, tiles, n).  The
        next z overwrites it.  W is (outputs, 3, 3, maps), b (outputs,)."""
        m = self.phases
        A_t, _, _ = matrices(m, arrays.x.dtype)
        self._transform_weights(arrays, W)
        for top in range(0, self.side, m):
            for planes in self._planes(arrays):
                self._transform_input(arrays, top, planes)
                product(arrays.U[:, planes], arrays.V, arrays.M)  # (outputs, maps) (maps, tiles x n)
                if planes.start <= POINT_ONE < planes.stop:
                    at_one = arrays.M[POINT_ONE, POINT_ONE - planes.start]
                    add(at_one, b[:, None], at_one)
                transform(A_t, arrays.M, arrays.S[:, planes], ROWS)
            for i in range(0, m, arrays.rows_at_once):
                transform(A_t, arrays.S[i : i + arrays.rows_at_once], arrays.z, COLUMNS)
                yield slice(top + i, top + i + arrays.rows_at_once), arrays.z

    def backward(self, arrays, W, grad, dx, carried):
        """Yields (rows, dz), and the caller fills dz with dL/dz.  Then writes grad.W, grad.b and,
        unless it is None, dx.

        With `carried` dx already holds the part that is carried past the convolution; the rest is
        added to it."""
        m = self.phases
        A_t, _, _ = matrices(m, arrays.x.dtype)
        A = A_t.T
        if dx is not None:
            self._transform_weights(arrays, W)
        arrays.dU[:] = 0
        arrays.dX[:] = 0  # no tiles lie above the first ones, and no neighbours beside the edges
        grad.b[:] = 0
        for top in range(0, self.side, m):
            for i in range(0, m, arrays.rows_at_once):
                yield slice(top + i, top + i + arrays.rows_at_once), arrays.z
                transform(A, arrays.z, arrays.S[i : i + arrays.rows_at_once], COLUMNS)
            for planes in self._planes(arrays):
                dM = arrays.M
                transform(A, arrays.S[:, planes], dM, ROWS)
                if planes.start <= POINT_ONE < planes.stop:
                    add(grad.b, dM[POINT_ONE, POINT_ONE - planes.start].sum(axis=1), grad.b)
                self._transform_input(arrays, top, planes)
                # (outputs, tiles x n) (tiles x n, maps)
                add_products(dM, arrays.V, arrays.dU[:, planes], arrays.dU_part)
                if dx is not None:
                    self._gradient_of_X(arrays, dM, planes)
            if dx is not None:
                self._input_gradient(arrays, top, dx, carried)
        self._weight_gradient(arrays, grad)

    def _planes(self, arrays):
        return [slice(j, j + arrays.planes_at_once) for j in range(0, self.phases + 2, arrays.planes_at_once)]

    def _transform_weights(self, arrays, W):
        """U = G W G'."""
        _, G, _ = matrices(self.phases, arrays.x.dtype)
        arrays.g[...] = W.transpose(1, 2, 0, 3)
        transform(G, arrays.g, arrays.half, ROWS)
        transform(G, arrays.half, arrays.U, COLUMNS)

    def _weight_gradient(self, arrays, grad):
        """dW = G' dU G."""
        _, G, _ = matrices(self.phases, arrays.x.dtype)
        transform(G.T, arrays.dU, arrays.half, COLUMNS)
        transform(G.T, arrays.half, arrays.g, ROWS)
        grad.W[...] = arrays.g.transpose(2, 0, 1, 3)

    def _transform_input(self, arrays, top, planes):
        """V = B' x B, from X, of the row of tiles that begins at this row of pixels."""
        _, _, B_t = matrices(self.phases, arrays.x.dtype)
        transform(B_t, arrays.X[top : top + self.phases + 2, planes], arrays.V, ROWS)

    def _gradient_of_X(self, arrays, dM, planes):
        """dX = B dV along the rows, plus what the tiles above give to the first two rows."""
        m = self.phases
        B_and_above, _ = matrices_of_dX(m, arrays.x.dtype)
        dV = arrays.V
        product(arrays.U[:, planes].swapaxes(2, 3), dM, dV)  # (maps, outputs) (outputs, tiles x n)
        arrays.V_and_above[m + 2 :] = arrays.dX[m:, planes]  # dX is still that of the tiles above
        transform(B_and_above, arrays.V_and_above, arrays.dX[:, planes], ROWS)

    def _input_gradient(self, arrays, top, dx, carried):
        """dx = B dX along the columns, for the rows to which no further row of tiles adds.

        dX begins with the row of pixels above this row of tiles.  Its first and its last plane
        overhang the tile: they belong to the left neighbour's last column and to the right
        neighbour's first."""
        n = arrays.n
        m = self.phases
        _, B_and_neighbours = matrices_of_dX(m, arrays.x.dtype)
        dX = arrays.dX
        dX[:, -2, :, :-n] = dX[:, 0, :, n:]  # the first plane of the right neighbour
        dX[:, -1, :, n:] = dX[:, m + 1, :, :-n]  # the last plane of the left neighbour
        # Row i of dX is row top + i - 1 of the image.  The last two get more from the next tiles.
        # For m = 2, the others have all their parts now:
        #
        #     these tiles        0   1   2   3
        #     the next                   0   1   2   3
        first = 1 if top == 0 else 0  # row 0 of the first tiles lies above the image
        end = m + 1 if top + m == self.side else m  # row m of the last tiles gets no more
        for i in range(first, end, arrays.rows_at_once):
            source = dX[i : min(i + arrays.rows_at_once, end)]
            target = dx[top + i - 1 : top + i - 1 + len(source)]
            if carried:  # dx may be a view by in_phases(), into which transform() cannot write
                dx_part = arrays.dx_part[: len(source)]
                transform(B_and_neighbours, source, dx_part, COLUMNS)
                add(target, dx_part, target)
            else:
                transform(B_and_neighbours, source, target, COLUMNS)


ROWS = 0  # the axes of (rows, phases, ...)
COLUMNS = 1


def transform(matrix, x, out, axis) -> None:
    """out = matrix x along the axis ROWS or COLUMNS, for each position on all other axes.

    The axes of `out` after `axis` must be contiguous: it is reshaped, and a copy would lose the
    result."""
    x = x.reshape(*x.shape[: axis + 1], -1)
    out = out.reshape(*out.shape[: axis + 1], -1)
    for columns in columns_unpacked(x.shape[-1], matrix.size):
        matmul(matrix, x[..., columns], out[..., columns])


def product(U, V, M) -> None:
    """M = U V of the last two axes: (outputs, maps) (maps, columns).

    Of few maps in blocks that OpenBLAS does not pack."""
    outputs, maps = U.shape[-2:]
    if maps >= PACKING_PAYS:
        matmul(U, V, M)
        return
    for rows in blocks(outputs, BLOCK_ROWS):
        for columns in columns_unpacked(V.shape[-1], min(BLOCK_ROWS, outputs) * maps):
            matmul(U[..., rows, :], V[..., columns], M[..., rows, columns])


def add_products(M, V, dU, part) -> None:
    """dU += M V' of the last two axes: (outputs, columns) (columns, maps).

    Of few maps in blocks so small that OpenBLAS does not pack them, unless there are too many columns."""
    outputs, maps = dU.shape[-2:]
    fits = BLOCK_ROWS**2 * M.shape[-1] <= UNPACKED
    size = BLOCK_ROWS if fits and maps < PACKING_PAYS else max(outputs, maps)
    for rows in blocks(outputs, size):
        for others in blocks(maps, size):
            matmul(M[..., rows, :], V[..., others, :].swapaxes(-2, -1), part[..., rows, others])
    add(dU, part, dU)


def blocks(rows: int, size: int) -> list[slice]:
    """Slices of `size` rows; the last may be shorter."""
    return [slice(i, i + size) for i in range(0, rows, size)]


def columns_unpacked(columns: int, multiplications: int) -> list[slice]:
    """As few blocks of columns as possible, of nearly equal size.

    A block takes at most UNPACKED multiplications, or is a single column.  `multiplications` is
    the number for one column."""
    parts = -(-columns // max(1, UNPACKED // multiplications))
    return blocks(columns, -(-columns // parts))


def largest_divisor(whole: int, most: int) -> int:
    """The largest divisor of `whole` that is at most `most`; 1 where there is none."""
    return max((d for d in range(1, whole + 1) if whole % d == 0 and d <= most), default=1)
