"""Tasks in parallel processes: each is done once, and failures are reported."""

import multiprocessing

import pytest

from highways.processes import in_processes


@pytest.mark.parametrize("jobs", [2, 5])
def test_every_task_is_done_once_and_an_error_tells_where(jobs):
    assert sorted(in_processes(abs, [(-i,) for i in range(20)], jobs)) == [*range(20)]
    assert list(in_processes(abs, [], jobs)) == []
    with pytest.raises(ZeroDivisionError) as error:
        list(in_processes(divmod, [(1, 1), (1, 0), (1, 1)], jobs))
    assert error.value.__cause__ is not None  # the traceback of the worker
    assert not multiprocessing.active_children()


def tell_twice(n, tell):
    tell(("begins", n))
    tell(("ends", n))
    return n


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_tasks_tell_is_heard_before_their_results(jobs):
    heard = []
    for n in in_processes(tell_twice, [(n,) for n in range(9)], jobs, heard.append):
        assert heard.index(("begins", n)) < heard.index(("ends", n))
    assert sorted(heard) == sorted((what, n) for n in range(9) for what in ("begins", "ends"))
