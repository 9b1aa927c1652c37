"""Several processes that train one net together: its ranks.

Every rank runs the whole program, with the same net and the same order of images.  The work that
takes time is divided.  Each rank computes the logits and the gradient of its rows of a batch.  All
ranks exchange their logits, so that they see the same loss.  Each then updates its part of the
parameters by the sum of all gradients, added in the order of the ranks.

So a run depends on the number of its ranks, but not on their speed or on the number of cores.  A
single rank computes what a program without ranks computes.

Parameters, the optimiser's states and every rank's gradient lie in memory that the ranks share.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import numpy as np

from highways.arrays import CACHE_LINE, zeros
from highways.files import InputError

SPINS = 200  # looks at the others before a waiting rank gives its core away
IMPATIENCE = 0.005  # seconds after which a waiting rank sleeps between looks
NAP = 1e-4  # seconds
SHARED_MEMORY = "/dev/shm"  # where Linux keeps it

_attached = []  # keeps the memory open until the process ends: arrays lie in it


@dataclass(frozen=True)
class Team:
    """Describes the memory that the ranks of a net share: its name, and what lies in it."""

    name: str  # of the shared memory
    ranks: int
    parameters: int
    states: int  # how many vectors the optimiser keeps
    dtype: str
    slot: int  # bytes of the longest array that a rank hands to the others

    def shapes(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """(shape, dtype) of each array in the shared memory, by name."""
        items_a_line = CACHE_LINE // np.dtype(self.dtype).itemsize
        padded = -(-self.parameters // items_a_line) * items_a_line  # every row begins at a cache line
        slot = -(-self.slot // CACHE_LINE) * CACHE_LINE
        return {
            # Each number of these two begins a cache line, which is otherwise unused.
            "turns": ((self.ranks, CACHE_LINE // 8), "int64"),  # how often each rank has waited
            "sizes": ((2, self.ranks, CACHE_LINE // 8), "int64"),  # bytes used in each slot
            "slots": ((2, self.ranks, slot), "uint8"),
            "parameters": ((1, padded), self.dtype),
            "states": ((self.states, padded), self.dtype),
            "gradients": ((self.ranks, padded), self.dtype),
        }

    def bytes(self) -> int:
        total = 0
        for shape, dtype in self.shapes().values():
            total += int(np.prod(shape)) * np.dtype(dtype).itemsize
        return total

    def arrays(self, buffer) -> dict[str, np.ndarray]:
        arrays = {}
        start = 0
        for name, (shape, dtype) in self.shapes().items():
            arrays[name] = np.ndarray(shape, dtype, buffer, offset=start)
            start += arrays[name].nbytes
        return arrays


@contextlib.contextmanager
def team(ranks: int, *, parameters: int, states: int, dtype, slot: int) -> Iterator[Team]:
    """Makes the memory that the ranks share, all zeros, and removes it at the end.

    Raises InputError where the system has too little of it."""
    sizes = (ranks, parameters, states, np.dtype(dtype).name, slot)
    needed = Team("", *sizes).bytes()
    memory = SharedMemory(create=True, size=needed)
    try:
        if not _reserve(memory):
            lacking = f"{needed / 2**20:.1f} MB in {SHARED_MEMORY}, which has less"
            raise InputError(f"{ranks} cores need {lacking}: use fewer, or train fewer nets at a time (--jobs)")
        if os.name == "posix":
            memory.close()  # the ranks alone keep it, so that it ends with them
        yield Team(memory.name, *sizes)
    finally:
        memory.close()
        with contextlib.suppress(FileNotFoundError):  # share() has removed the name
            memory.unlink()


def _reserve(memory: SharedMemory) -> bool:
    """Takes all of the memory from the system; returns False where the system has too little.

    By itself Linux takes a page when it is first used.  If it then has none, it kills the process."""
    file = Path(SHARED_MEMORY, memory.name)
    if not file.exists():  # a system other than Linux
        return True
    try:
        with file.open("rb+") as stream:
            os.posix_fallocate(stream.fileno(), 0, memory.size)
    except OSError as error:
        return error.errno not in (errno.ENOSPC, errno.ENOMEM)  # for another reason it cannot be taken beforehand
    return True


class Alone:
    """The only process that trains a net: the interface of Rank, with nothing to divide."""

    index = 0
    ranks = 1

    def share(self, net, optimizer) -> None:
        """Shares nothing."""

    def rows(self, n: int) -> slice:
        return slice(0, n)

    def exchange(self, array: np.ndarray) -> list[np.ndarray]:
        return [array]

    def gather(self, array: np.ndarray) -> np.ndarray:
        return array

    def step(self, optimizer, gradient: np.ndarray) -> float:
        return optimizer.step(gradient)


ALONE = Alone()


class Rank:
    """One of the processes that train a net together, the `index`-th of its team."""

    def __init__(self, team: Team, index: int):
        self.index = index
        self.ranks = team.ranks
        self._memory = SharedMemory(name=team.name)
        _attached.append(self._memory)
        arrays = team.arrays(self._memory.buf)
        self._parameters = arrays["parameters"][0, : team.parameters]
        self._states = arrays["states"][:, : team.parameters]
        self._gradients = arrays["gradients"][:, : team.parameters]
        self._total = zeros(team.parameters, team.dtype)  # the sum of all gradients, in this rank's part
        self._sizes = arrays["sizes"][:, :, 0]
        self._slots = arrays["slots"]
        self._turns = arrays["turns"][:, 0]
        self._turn = 0
        self._exchanges = 0
        self._lock = threading.Lock()

    def share(self, net, optimizer) -> None:
        """Moves the net's parameters and gradient and the optimiser's states into the shared
        memory, and gives this rank its part of the parameters to update.

        All ranks must call it with equal nets and optimisers."""
        if self.index == 0:
            self._parameters[:] = net.parameters
            self._states[:] = optimizer.states
        self.wait()
        if self.index == 0:
            self._memory.unlink()  # without a name it ends with its processes, even if all are killed
        net.move(parameters=self._parameters, gradient=self._gradients[self.index])
        optimizer.move(parameters=self._parameters, states=self._states)
        size = len(self._parameters)
        # edges are multiples of 64 parameters, which are whole cache lines in every dtype
        edges = np.linspace(0, size, self.ranks + 1).astype(int) // CACHE_LINE * CACHE_LINE
        edges[-1] = size
        optimizer.part = slice(edges[self.index], edges[self.index + 1])

    def rows(self, n: int) -> slice:
        """This rank's rows of n."""
        return slice(n * self.index // self.ranks, n * (self.index + 1) // self.ranks)

    def exchange(self, array: np.ndarray) -> list[np.ndarray]:
        """Every rank calls this with an array, and gets the arrays of all, in the order of the
        ranks.  They may differ in length.

        Two sets of slots are used in turn, so that no rank writes into one that another still
        reads."""
        turn = self._exchanges % 2
        self._exchanges += 1
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self._slots[turn, self.index, : len(data)] = data
        self._sizes[turn, self.index] = len(data)
        self.wait()
        arrays = []
        for slot, size in zip(self._slots[turn], self._sizes[turn], strict=True):
            arrays.append(slot[:size].copy().view(array.dtype).reshape(-1, *array.shape[1:]))
        return arrays

    def gather(self, array: np.ndarray) -> np.ndarray:
        """The rows of all ranks, in their order."""
        return np.concatenate(self.exchange(array))

    def step(self, optimizer, gradient: np.ndarray) -> float:
        """Does what optimizer.step() would do with the sum of all ranks' gradients; returns the norm
        of that sum.

        `gradient` is net.gradient, from this rank's rows; it lies in the shared memory."""
        self.wait()  # until all gradients are there
        part = optimizer.part
        total = self._total[part]
        np.add(self._gradients[0, part], self._gradients[1, part], total)
        for of_rank in self._gradients[2:]:
            np.add(total, of_rank[part], total)
        norms = self.gather(np.array([optimizer.norm(total)]))  # of all parts of the sum
        norm = optimizer.norm(norms)
        optimizer.update(self._total, norm)
        self.wait()  # until all parameters are there
        return norm

    def wait(self) -> None:
        """A barrier: returns when all ranks have called it as often as this one."""
        self._turn += 1
        self._fence()
        self._turns[self.index] = self._turn
        start = time.perf_counter()
        looks = 0
        while self._turns.min() < self._turn:
            looks += 1
            if looks > SPINS:
                if time.perf_counter() - start > IMPATIENCE:
                    time.sleep(NAP)
                else:
                    _give_way()
        self._fence()

    def _fence(self) -> None:
        """A memory fence: what was written before it becomes visible to other processes before
        what is written after it.

        x86 keeps that order by itself.  On other processors, such as Arm, taking a lock twice
        enforces it."""
        for _ in range(2):
            with self._lock:
                pass


def _give_way() -> None:
    """Lets another process have this core."""
    if hasattr(os, "sched_yield"):
        os.sched_yield()
    else:
        time.sleep(0)


class Together:
    """A net and its optimiser in one object for the training loop, their work divided among ranks.

    forward(), backward(), predict() and `parameters` are as the net's, step() as the optimiser's.
    They take whole batches, of which each rank does its share."""

    def __init__(self, net, optimizer, rank: Rank):
        rank.share(net, optimizer)
        self.net = net
        self.optimizer = optimizer
        self.rank = rank

    @property
    def parameters(self) -> np.ndarray:
        return self.net.parameters

    def forward(self, x: np.ndarray) -> np.ndarray:
        return self.rank.gather(self.net.forward(x[self.rank.rows(len(x))]))

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        return self.net.backward(d_logits[self.rank.rows(len(d_logits))])

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.rank.gather(self.net.predict(x[self.rank.rows(len(x))]))

    def step(self, gradient: np.ndarray) -> float:
        return self.rank.step(self.optimizer, gradient)
