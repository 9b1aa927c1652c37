"""The ranks of a training: processes that mpiexec has started, and that train one net together.

    mpiexec -n 4 python conv_highway_networks.py --net nineteen-layers

Every rank runs the whole program, with the same net and the same order of images.  The work that
takes time is divided.  A rank computes the logits and the gradient of its rows of a batch.  All
exchange their logits, so that they see the same loss.  Each then updates its part of the
parameters by the sum of all gradients, added in the order of the ranks, and gets the other parts.
So a run depends on the number of its ranks, but not on their speed, nor on which of them share a
machine.

Nothing but mpiexec makes the ranks one command: it may start each with other arguments, or from
another folder.  So they first compare what the numbers depend on: see check_equal().

The first rank, of index 0, does what must be done once: it prints, reads and writes checkpoints,
and writes the JSON.  The others get its state: see Training.join().

A rank that ends with an exception must not leave the others waiting.  So whenever ranks exchange
something, each also says whether it is ending.  Then all raise the exception of the first rank
that ends, and the command ends as that of a single process does.  If a rank is killed, mpiexec
ends the others.

Only here is mpi4py imported, and only if mpiexec has started this process.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
import traceback
from importlib import metadata
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.files import InputError
from highways.processes import INTERRUPTS, interrupts_deferred

# Variables that tell a process its index, and how many ranks there are: those of MPICH and what is
# built on it, of Open MPI, and of other starters that speak PMIx.
INDEX = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")
COUNT = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE")
# run_command() has a line for each of these
PASSED_ON = (InputError, MemoryError, OSError, KeyboardInterrupt)


def number_in(names: tuple[str, ...]) -> int | None:
    """The first of these variables of the environment that is set, or None."""
    return next((int(os.environ[name]) for name in names if name in os.environ), None)


def let_the_first_rank_speak() -> None:
    """In every other rank: prints nothing from now on, and leaves Ctrl-C and SIGTERM to the first."""
    if number_in(INDEX):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        for number in INTERRUPTS:
            signal.signal(number, signal.SIG_IGN)


class Alone:
    """The only process that trains a net: the interface of Ranks, with nothing to divide."""

    index = 0
    count = 1

    def rows(self, n: int) -> slice:
        return slice(0, n)

    def exchange(self, value) -> list:
        return [value]

    def gather(self, array: np.ndarray) -> np.ndarray:
        return array

    def step(self, optimizer, gradient: np.ndarray, parameters: np.ndarray) -> float:
        return optimizer.step(gradient)


ALONE = Alone()


@contextlib.contextmanager
def joined_ranks():
    """In a `with`: the Ranks that mpiexec has started, or ALONE.

    Its end is one of the moments in which the ranks exchange something, so that none goes on after
    another has failed.  Raises InputError where mpi4py is missing, or belongs to another MPI than
    mpiexec."""
    if number_in(INDEX) is None or number_in(COUNT) == 1:
        yield ALONE
        return
    ranks = Ranks(import_mpi())
    if ranks.count == 1:
        yield ALONE
        return
    try:
        yield ranks
    except BaseException as error:
        ranks.end(error)
        raise
    ranks.end()


def leave() -> None:
    """Ends the other ranks, if there are any: they would wait for this one, which does not train."""
    with contextlib.suppress(InputError), joined_ranks() as ranks:
        raise InputError(f"rank {ranks.index} was not started with the arguments of a training")


def find_mpiexec() -> Path | None:
    """mpiexec of the package mpich, whose library mpi4py takes first; None where one of the two is not installed.

    The mpiexec on the PATH may be another MPI's, which mpi4py does not understand."""
    try:
        metadata.distribution("mpi4py")
        files = metadata.files("mpich") or []
    except metadata.PackageNotFoundError:
        return None
    found = [file.locate().resolve() for file in files if file.name == "mpiexec"]
    return next((path for path in found if path.exists()), None)


def check_equal(ranks, facts: dict) -> None:
    """Raises InputError, in every rank, unless all ranks call this with equal facts.

    They are exchanged one by one, the commit first.  A rank of another commit, whose facts may be
    others, is then refused by its commit."""
    for name, mine in facts.items():
        first, *others = ranks.exchange(mine)
        for index, theirs in enumerate(others, start=1):
            if theirs != first:
                raise InputError(f"rank {index} has {name} {theirs}, not {first} as rank 0: start all ranks alike")


def import_mpi():
    """mpi4py's module MPI; raises what joined_ranks() raises."""
    try:
        with interrupts_deferred():  # the import waits for all ranks: none may end in it
            from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # RuntimeError: there is no library of MPI
        raise InputError(
            f"mpiexec needs mpi4py, which cannot be imported ({error}): "
            "python -m pip install -r requirements-cluster.txt"
        ) from error
    started = number_in(COUNT)
    if started is not None and started != MPI.COMM_WORLD.size:
        raise InputError(
            f"mpiexec has started {started} ranks, but mpi4py knows of {MPI.COMM_WORLD.size}: "
            "use the mpiexec of the MPI that mpi4py was built for"
        )
    return MPI


class Ranks:
    """All ranks, two or more; `index` is that of this process.  `MPI` is mpi4py's module."""

    def __init__(self, MPI):
        self._communicator = MPI.COMM_WORLD
        self.index = self._communicator.rank
        self.count = self._communicator.size
        self._ended = False
        self._work = {}

    def rows(self, n: int) -> slice:
        """This rank's rows of n."""
        return slice(n * self.index // self.count, n * (self.index + 1) // self.count)

    def exchange(self, value) -> list:
        """Every rank calls this with a value, and gets the values of all in the order of the ranks.

        If a rank is ending, raises its exception."""
        return self._exchange(value, None)

    def _exchange(self, value, failure: BaseException | None) -> list:
        with interrupts_deferred():
            told = self._communicator.allgather((value, failure))
            failures = [failure for _, failure in told if failure is not None]
            self._ended = bool(failures)
        if failures:
            raise failures[0]
        return [value for value, _ in told]

    def end(self, error: BaseException | None = None) -> None:
        """Tells the other ranks that this one ends, and with which exception, if any."""
        if self._ended:  # the exception came from another rank, or has been told
            return
        if error is None:
            self._exchange(None, None)
            return
        failure = error
        if not isinstance(error, PASSED_ON):
            failure = RuntimeError(f"on rank {self.index}:\n{traceback.format_exc()}")
        with contextlib.suppress(type(failure)):
            self._exchange(None, failure)

    def gather(self, array: np.ndarray) -> np.ndarray:
        """The rows of all ranks, in their order."""
        return np.concatenate(self.exchange(array))

    def part_of(self, vector: np.ndarray) -> slice:
        """The part of the parameters that this rank updates, about as long in all ranks."""
        return self._parts_of(vector)[self.index]

    def _parts_of(self, vector: np.ndarray) -> list[slice]:
        """The part of each rank."""
        edges = np.linspace(0, len(vector), self.count + 1).astype(int)
        edges[1:-1] -= edges[1:-1] % hn.CACHE_LINE  # a part begins at a cache line in every dtype
        return [slice(first, end) for first, end in itertools.pairwise(edges)]

    def step(self, optimizer, gradient: np.ndarray, parameters: np.ndarray) -> float:
        """Takes a step by the sum of all ranks' gradients; returns the norm of the sum.

        `optimizer` updates this rank's part of the parameters: see part_of().  Each rank adds its
        part of the gradients up, in the order of the ranks, updates its part of the parameters,
        and gets the other parts.  MPI's own sum would be in an order that depends on its version
        and on the machines."""
        with interrupts_deferred():
            self.exchange(None)  # no rank ends between this and the last of what follows
            try:
                norms = self._step(optimizer, gradient, parameters)
            except BaseException:  # the others would wait for ever
                traceback.print_exc(file=sys.__stderr__)
                self._communicator.Abort(1)
        return hn.norm_of(np.array(norms))

    def _step(self, optimizer, gradient, parameters) -> list[float]:
        """step(); returns the norms of all parts of the sum."""
        parts = self._parts_of(gradient)
        mine = gradient[parts[self.index]]
        shape = self.count, len(mine)
        received = hn.cached(self._work, (shape, mine.dtype), lambda: np.empty(shape, mine.dtype))
        for target, source in self._turns():
            self._communicator.Sendrecv(gradient[parts[target]], target, recvbuf=received[source], source=source)
        first, second, *others = [*received[: self.index], mine, *received[self.index + 1 :]]
        total = received[self.index]  # nothing was received here
        np.add(first, second, total)
        for other in others:
            np.add(total, other, total)
        norms = self.exchange(optimizer.step(total))
        updated = parameters[parts[self.index]]
        for target, source in self._turns():
            self._communicator.Sendrecv(updated, target, recvbuf=parameters[parts[source]], source=source)
        return norms

    def _turns(self) -> list[tuple[int, int]]:
        """In each turn, the rank to which this one sends and the rank from which it receives.

        Turns of pairs take a half to a third of the time that MPICH's Alltoallv and Allgatherv take, and
        far less where other programs compute on the same cores."""
        turns = []
        for distance in range(1, self.count):
            turns.append(((self.index + distance) % self.count, (self.index - distance) % self.count))
        return turns
