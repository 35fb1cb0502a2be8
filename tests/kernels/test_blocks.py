"""Kernels on rows: every row is done once, on any number of threads, also after a fork, and to the same bits."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from flipwise.kernels import blocks, jit

pytestmark = pytest.mark.kernels


def _add_rows(start, stop, table, sums):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        total = 0.0
        for j in range(table.shape[1]):
            total += table[i, j]
        sums[i] += total


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 33, 1000])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_row_is_done_once(monkeypatch: pytest.MonkeyPatch, rows: int, count: int) -> None:
    """Interpreted, compiled, and on several threads the sums are the same to the bit."""
    monkeypatch.setattr(blocks, "SERIAL_WORK", 0)
    table = np.random.default_rng(rows).standard_normal((rows, 7))
    kernel = blocks.block_kernel(_add_rows)
    slow, fast = np.zeros(rows), np.zeros(rows)
    kernel.interpreted(table, slow)
    with jit.threads(count):
        kernel.compile()(table, fast)
    assert np.array_equal(slow, fast) and np.allclose(slow, table.sum(axis=1))


def test_the_number_of_rows_can_be_told() -> None:
    """A kernel whose last argument has no rows says how many there are."""
    kernel = blocks.block_kernel(rows=lambda table, sums: 2)(_add_rows)
    sums = np.zeros(3)
    kernel(np.ones((3, 4)), sums)
    assert sums.tolist() == [4.0, 4.0, 0.0]


def test_little_work_stays_on_one_thread() -> None:
    """Threads are for work that is worth waking them."""
    with jit.threads(3):
        assert blocks.threads_for(jit.SERIAL_WORK - 1) == 1 and blocks.threads_for(jit.SERIAL_WORK) == 3


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_blocks_cover_all_rows_and_several_threads_take_them(threads: int) -> None:
    """Each block is taken once; a block that waits for another thread does not wait in vain."""
    taken: list[tuple[int, int]] = []
    met = threading.Barrier(threads, timeout=30)
    workers: set[int] = set()

    def work(start: int, stop: int) -> None:
        if threading.get_ident() not in workers:
            workers.add(threading.get_ident())
            met.wait()
        taken.append((start, stop))

    blocks.run_blocks(work, 10, 2, threads)
    assert sorted(taken) == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)] and len(workers) == threads


def test_an_error_ends_the_call_after_the_other_threads() -> None:
    """What a block raises is raised, and nobody is at work afterwards."""
    under_way: list[int] = []
    started, failed = threading.Event(), threading.Event()

    def work(start: int, stop: int) -> None:
        if threading.current_thread() is threading.main_thread():
            started.wait(30)
            failed.set()
            raise ValueError("a block that fails")
        under_way.append(start)
        started.set()
        failed.wait(30)  # else this thread might take every block
        under_way.pop()

    with pytest.raises(ValueError, match="a block that fails"):
        blocks.run_blocks(work, 1000, 1, 2)
    assert under_way == []


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # newer Pythons warn of forks beside threads
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    """The threads of the parent do not survive; the child neither waits for them nor fails."""
    done = np.zeros(100)
    blocks.run_blocks(lambda start, stop: done.__setitem__(slice(start, stop), 1.0), 100, 5, 2)
    child = os.fork()
    if child == 0:
        again = np.zeros(100)
        blocks.run_blocks(lambda start, stop: again.__setitem__(slice(start, stop), 1.0), 100, 5, 2)
        os._exit(0 if again.all() else 1)
    assert os.waitpid(child, 0)[1] == 0 and done.all()
