"""ByteDMD, a price of data movement: all values lie on one stack, the last touched on top, and to read a byte at depth
d costs ceil(sqrt(d)).

A Tape records instructions, whole arrays of them at a time, and prices every read afterwards.  The depth of a value is
the number of values that were touched since it was and will be read again, itself included; it is counted for all reads
at once, bit by bit as in a radix sort, in n log n.
"""

from __future__ import annotations

import numpy as np

NONE = -1  # in place of an input that an instruction does not have


class Tape:
    """Instructions in their order; a value is a number from 0 on, and has a kind by name.

    tape = Tape()
    a, b = tape.arguments(a=(2,), b=(2,))
    c = tape.do("c", a, b)                  # two instructions: c[0] from a[0] and b[0], c[1] from a[1] and b[1]
    depths, kinds, when = tape.depths()     # of the four reads
    """

    def __init__(self):
        self.kinds, self._kind_of, self._n = [], [], 0
        self._inputs, self._outputs = [np.empty((0, 2), np.int32)], [np.empty(0, np.int32)]
        self._initial = None

    def _new(self, kind: str, shape) -> np.ndarray:
        ids = np.arange(self._n, self._n + int(np.prod(shape)), dtype=np.int32).reshape(shape)
        self._n += ids.size
        self._kind_of.append(np.full(ids.size, self._number(kind), np.int8))
        return ids

    def _number(self, kind: str) -> int:
        if kind not in self.kinds:
            self.kinds.append(kind)
        return self.kinds.index(kind)

    def _new_sums(self, kind: str, shape) -> np.ndarray:
        """Of this kind when they are complete, the last of each row."""
        ids = self._new(kind, shape)
        self._kind_of[-1].reshape(shape)[..., :-1] = self._number("partial sum")
        return ids

    def arguments(self, **shapes) -> list[np.ndarray]:
        """Values that lie on the stack before the first instruction: the first argument on top."""
        if self._initial is not None:
            raise ValueError("arguments are there before the first instruction, and once")
        values = [self._new(kind, shape) for kind, shape in shapes.items()]
        self._initial = np.concatenate([each.ravel() for each in reversed(values)])  # from the bottom up
        return values

    def do(self, kind: str, *inputs: np.ndarray) -> np.ndarray:
        """An instruction for each element, in C order; the inputs, at most two and not the same value, broadcast."""
        inputs = np.broadcast_arrays(*inputs)
        outputs = self._new(kind, inputs[0].shape)
        self._record(outputs, *inputs)
        return outputs

    def products(self, kind: str, a: np.ndarray, b: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """sum over k of a[i, k] b[k, j], for each i and j, each product added as it is made, to start[i, j] or to 0."""
        (rows, inner), columns = a.shape, b.shape[1]
        shape = rows, columns, inner
        product, sums = self._new("product", shape), self._new_sums(kind, shape)
        before = np.full(shape, NONE, np.int32)
        before[..., 1:] = sums[..., :-1]
        if start is not None:
            before[..., 0] = start
        factors = (np.broadcast_to(each, shape) for each in (a[:, None], b.T[None]))
        pairs = [np.stack(both, axis=-1) for both in zip(factors, (before, product), strict=True)]
        self._record(np.stack([product, sums], axis=-1), *pairs)
        return sums[..., -1]

    def sums(self, kind: str, a: np.ndarray) -> np.ndarray:
        """The sum of each row of a, from 0, one addition after another."""
        sums = self._new_sums(kind, a.shape)
        before = np.full(a.shape, NONE, np.int32)
        before[:, 1:] = sums[:, :-1]
        self._record(sums, before, a)
        return sums[:, -1]

    def _record(self, outputs, *inputs):
        both = np.full((outputs.size, 2), NONE, np.int32)
        for i, each in enumerate(inputs):
            both[:, i] = each.ravel()
        self._inputs.append(both)
        self._outputs.append(outputs.ravel())

    def unread(self) -> np.ndarray:
        """The arguments that no instruction has read."""
        return np.setdiff1d(self._initial, np.concatenate(self._inputs))

    def __len__(self):
        """Instructions so far."""
        return sum(map(len, self._outputs))

    def touches(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every touch in its order: the value, the instruction (-1: at the start), whether it is a read."""
        outputs = np.concatenate(self._outputs)
        values = np.concatenate([*self._inputs]).reshape(-1, 2)
        values = np.concatenate([values, outputs[:, None]], axis=1)
        there, n = values != NONE, 0 if self._initial is None else len(self._initial)
        when = np.broadcast_to(np.arange(len(outputs), dtype=np.int32)[:, None], values.shape)
        read = np.broadcast_to(np.array([True, True, False]), values.shape)
        first = (self._initial if n else np.empty(0, np.int32), np.full(n, -1, np.int32), np.zeros(n, bool))
        later = (all_[there] for all_ in (values, when, read))
        return tuple(np.concatenate(both) for both in zip(first, later, strict=True))

    def depths(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every read in its order: the depth in values, the value's kind as an index of `kinds`, the instruction."""
        values, when, read = self.touches()
        by_value = np.argsort(values, kind="stable")
        same = values[by_value[1:]] == values[by_value[:-1]]
        before, after = by_value[:-1][same], by_value[1:][same]  # a touch, and the read that is the value's next
        in_order = np.argsort(before)  # both are distinct: no touch has two nexts
        before, after = before[in_order], after[in_order]
        n = len(before)
        rank = np.empty(n, np.int32)
        rank[np.lexsort((before, when[after]))] = np.arange(n, dtype=np.int32)
        # alive at the read, and touched since: those touched since whose next is not before it, less what comes later
        not_before = np.searchsorted(when[before], when[after], side="left")  # `when` ascends
        depth = 1 + greater_later(rank) - (n - not_before)
        result = np.empty(len(values), np.int64)
        result[after] = depth
        kinds = np.concatenate(self._kind_of)
        return result[read], kinds[values[read]], when[read]


def greater_later(rank: np.ndarray) -> np.ndarray:
    """For each element of a permutation of 0 to n - 1: how many greater ones come after it."""
    n = len(rank)
    order, r, count = np.arange(n, dtype=np.int32), rank.astype(np.int32), np.zeros(n, np.int32)
    for b in reversed(range(max(n - 1, 1).bit_length())):
        # in groups of equal bits above b the order is kept: two of a group differ first at b, or below
        one = ((r >> b) & 1).astype(bool)
        ones_before = np.cumsum(one, dtype=np.int32) - one
        start = (r >> (b + 1)) << (b + 1)
        zeros = np.minimum(1 << b, n - start)
        end = np.minimum(start + (1 << (b + 1)), n)
        at_start = ones_before[start]
        count[order[~one]] += (end - start - zeros - (ones_before - at_start))[~one]
        rank_of_one = ones_before - at_start
        to = np.where(one, start + zeros + rank_of_one, np.arange(n, dtype=np.int32) - rank_of_one)
        new_order, new_r = np.empty_like(order), np.empty_like(r)
        new_order[to], new_r[to] = order, r
        order, r = new_order, new_r
    return count


def price(depths: np.ndarray, size: int) -> np.ndarray:
    """The cost of reading values of `size` bytes at these depths: a value's bytes lie together, its first on top."""
    bytes_at = size * (depths.astype(np.int64)[:, None] - 1) + np.arange(1, size + 1)
    return np.ceil(np.sqrt(bytes_at)).astype(np.int64).sum(axis=1)
