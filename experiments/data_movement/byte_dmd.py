"""ByteDMD, a price for data movement: reading a byte at depth d of a stack costs ceil(sqrt(d)).

All values lie on one stack, the most recently touched on top.  A Tape records instructions, a
whole array of them at a time; their reads are priced afterwards.  A value that will not be read
again has left the stack.  So the depth of a value is 1 plus the number of values that were touched
after it and will be read again.  The depths of all n reads are found together in O(n log n), bit
by bit as in a radix sort.
"""

from __future__ import annotations

import numpy as np

NONE = -1  # stands for an input that an instruction lacks


class Tape:
    """A list of instructions.  Values are numbered from 0, and each belongs to a named kind.

    tape = Tape()
    a, b = tape.arguments(a=(2,), b=(2,))
    c = tape.do("c", a, b)  # two instructions: c[0] from a[0] and b[0], c[1] from a[1] and b[1]
    depths, kinds, when = tape.depths()  # an entry for each of the four reads
    """

    def __init__(self):
        self.kinds: list[str] = []  # the names of the kinds, in the order of their first values
        self._kind_of: list[np.ndarray] = []  # for each value, the index of its kind in `kinds`
        self._n = 0  # values so far
        # an entry for each instruction, in order
        self._inputs = [np.empty((0, 2), np.int32)]  # two values, or NONE
        self._outputs = [np.empty(0, np.int32)]
        self._initial: np.ndarray | None = None  # the arguments, from the bottom of the stack up

    def __len__(self):
        """Instructions so far."""
        return sum(map(len, self._outputs))

    # ---- Recording ------------------------------------------------------------------------------

    def arguments(self, **shapes) -> list[np.ndarray]:
        """Values that lie on the stack before the first instruction: the first argument on top.

        Raises ValueError when called again."""
        if self._initial is not None:
            raise ValueError("arguments() comes before the first instruction, and only once")
        values = [self._new(kind, shape) for kind, shape in shapes.items()]
        self._initial = np.concatenate([argument.ravel() for argument in reversed(values)])
        return values

    def do(self, kind: str, *inputs: np.ndarray) -> np.ndarray:
        """Records an instruction for each element, in C order.  Takes at most two inputs, of
        different values; they are broadcast."""
        inputs = np.broadcast_arrays(*inputs)
        outputs = self._new(kind, inputs[0].shape)
        self._record(outputs, *inputs)
        return outputs

    def products(self, kind: str, a, b, start=None) -> np.ndarray:
        """start[i, j] + sum over k of a[i, k] b[k, j], for all i and j.

        Each product is added as soon as it is made.  Without `start` sums begin at 0."""
        rows, inner = a.shape
        columns = b.shape[1]
        shape = (rows, columns, inner)
        product = self._new("product", shape)
        sums = self._new_sums(kind, shape)
        sum_before = np.full(shape, NONE, np.int32)
        sum_before[..., 1:] = sums[..., :-1]
        if start is not None:
            sum_before[..., 0] = start
        a_ik = np.broadcast_to(a[:, None], shape)
        b_kj = np.broadcast_to(b.T[None], shape)
        # alternately: product = a_ik b_kj, sum = sum_before + product
        outputs = np.stack([product, sums], axis=-1)
        first_inputs = np.stack([a_ik, sum_before], axis=-1)
        second_inputs = np.stack([b_kj, product], axis=-1)
        self._record(outputs, first_inputs, second_inputs)
        return sums[..., -1]

    def sums(self, kind: str, a: np.ndarray) -> np.ndarray:
        """The sum of each row of a, from 0, one addition after another."""
        sums = self._new_sums(kind, a.shape)
        sum_before = np.full(a.shape, NONE, np.int32)
        sum_before[:, 1:] = sums[:, :-1]
        self._record(sums, sum_before, a)
        return sums[:, -1]

    def _new(self, kind: str, shape) -> np.ndarray:
        values = np.arange(self._n, self._n + int(np.prod(shape)), dtype=np.int32).reshape(shape)
        self._n += values.size
        self._kind_of.append(np.full(values.size, self._index_of(kind), np.int8))
        return values

    def _new_sums(self, kind: str, shape) -> np.ndarray:
        """New values for running sums along the last axis.

        The last value, the whole sum, is of this kind; those before it are "partial sum"."""
        values = self._new(kind, shape)
        self._kind_of[-1].reshape(shape)[..., :-1] = self._index_of("partial sum")
        return values

    def _index_of(self, kind: str) -> int:
        if kind not in self.kinds:
            self.kinds.append(kind)
        return self.kinds.index(kind)

    def _record(self, outputs, *inputs):
        two_inputs = np.full((outputs.size, 2), NONE, np.int32)
        for i, values in enumerate(inputs):
            two_inputs[:, i] = values.ravel()
        self._inputs.append(two_inputs)
        self._outputs.append(outputs.ravel())

    # ---- Reading what was recorded --------------------------------------------------------------

    def unread(self) -> np.ndarray:
        """The arguments that no instruction has read."""
        return np.setdiff1d(self._initial, np.concatenate(self._inputs))

    def touches(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For every touch, in order: the value touched, the instruction that touches it (-1 at
        the start), and whether it is a read.

        An instruction touches its inputs, then its output."""
        inputs = np.concatenate(self._inputs)
        outputs = np.concatenate(self._outputs)
        values = np.concatenate([inputs, outputs[:, None]], axis=1)
        when = np.broadcast_to(np.arange(len(values), dtype=np.int32)[:, None], values.shape)
        is_read = np.broadcast_to(np.array([True, True, False]), values.shape)
        is_value = values != NONE

        initial = np.empty(0, np.int32) if self._initial is None else self._initial
        at_the_start = np.full(len(initial), -1, np.int32)
        no_read = np.zeros(len(initial), bool)
        return (
            np.concatenate([initial, values[is_value]]),
            np.concatenate([at_the_start, when[is_value]]),
            np.concatenate([no_read, is_read[is_value]]),
        )

    def depths(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For every read, in order: how deep the value lies, counted in values; the kind of the
        value, as an index of `kinds`; and the instruction that reads it."""
        values, when, is_read = self.touches()
        before, read = touches_before_reads(values)
        instruction = when[read]
        n = len(before)
        # Each read has two times: `before`, when its value was last touched, and `instruction`,
        # when it is read.  Above the value lie all values that were touched between these times
        # and are read again at `instruction` or later.  First count the reads at `instruction` or
        # later whose own `before` is later than this one's:
        order = np.lexsort((before, instruction))
        rank = np.empty(n, np.int32)
        rank[order] = np.arange(n, dtype=np.int32)
        above = greater_later(rank)
        # then subtract those whose own `before` is not earlier than `instruction`; `before`
        # ascends, and with it when[before]
        above -= n - np.searchsorted(when[before], instruction, side="left")
        depth = np.empty(len(values), np.int64)
        depth[read] = 1 + above
        kinds = np.concatenate(self._kind_of)
        return depth[is_read], kinds[values[is_read]], when[is_read]


def touches_before_reads(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (before, read) from the value of each touch.

    `read` holds the position of every read, `before` that of the previous touch of the same value.
    `before` ascends, without repeats."""
    by_value = np.argsort(values, kind="stable")
    same = values[by_value[1:]] == values[by_value[:-1]]
    before = by_value[:-1][same]
    read = by_value[1:][same]
    in_order = np.argsort(before)
    return before[in_order], read[in_order]


def greater_later(rank: np.ndarray) -> np.ndarray:
    """For each element of a permutation of 0 to n - 1: how many greater ones come after it.

    Of two numbers the greater has a 1 at the highest bit where they differ.  So the permutation
    is sorted by one bit after another, the highest first.  Numbers that agree in all higher bits
    stand together as a group, in the order of the permutation.  Within a group, each number with a
    0 at this bit counts the numbers behind it that have a 1: they are greater, and come later."""
    n = len(rank)
    positions = np.arange(n, dtype=np.int32)
    number = rank.astype(np.int32)  # the number that stands at each position
    element = positions  # where in the permutation that number stood
    count = np.zeros(n, np.int32)
    for bit in reversed(range(max(n - 1, 1).bit_length())):
        is_one = ((number >> bit) & 1).astype(bool)
        # sorted by the higher bits, a group of the numbers from start to end - 1 stands at the
        # positions from start to end - 1
        start = (number >> (bit + 1)) << (bit + 1)
        end = np.minimum(start + (1 << (bit + 1)), n)
        zeros = np.minimum(1 << bit, n - start)
        ones = end - start - zeros
        ones_before = np.cumsum(is_one, dtype=np.int32) - is_one
        ones_before -= ones_before[start]  # counted within the group
        count[element[~is_one]] += (ones - ones_before)[~is_one]

        to = np.where(is_one, start + zeros + ones_before, positions - ones_before)
        sorted_number = np.empty_like(number)
        sorted_element = np.empty_like(element)
        sorted_number[to] = number
        sorted_element[to] = element
        number = sorted_number
        element = sorted_element
    return count


def price(depths: np.ndarray, size: int) -> np.ndarray:
    """The cost of reading values of `size` bytes at these depths; the first byte of a value lies
    on top."""
    bytes_at = size * (depths.astype(np.int64)[:, None] - 1) + np.arange(1, size + 1)
    return np.ceil(np.sqrt(bytes_at)).astype(np.int64).sum(axis=1)
