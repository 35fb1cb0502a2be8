"""OpenBLAS on one thread inside a block, and on as many as before after it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

import flipwise
from flipwise.foundation import blas

pytestmark = pytest.mark.skipif(not blas.libraries(), reason="this NumPy carries no OpenBLAS")


def threads() -> list[int]:
    return [library.get() for library in blas.libraries()]


@pytest.fixture(autouse=True)
def several() -> object:
    """Two threads before and after, as on a machine with two cores."""
    before = threads()
    for library in blas.libraries():
        library.set(2)
    yield
    for library, number in zip(blas.libraries(), before, strict=True):
        library.set(number)


def test_blocks_that_overlap_put_back_what_was_before_the_first() -> None:
    with blas.one_blas_thread():
        with pytest.raises(ValueError), blas.one_blas_thread():
            assert set(threads()) == {1}
            raise ValueError
        assert set(threads()) == {1}
    assert set(threads()) == {2}


def test_blocks_in_several_threads() -> None:
    inside, leave = threading.Barrier(3), threading.Event()

    def hold() -> None:
        with blas.one_blas_thread():
            inside.wait(timeout=10)
            leave.wait(timeout=10)

    workers = [threading.Thread(target=hold) for _ in range(2)]
    for worker in workers:
        worker.start()
    inside.wait(timeout=10)
    assert set(threads()) == {1}
    leave.set()
    for worker in workers:
        worker.join()
    assert set(threads()) == {2}


@pytest.mark.parametrize(
    ("minimise", "expected"),
    [
        (lambda seen: flipwise.minimize(np.eye(6) - 1.0, method="dpcd", callback=seen, seed=0), 1),
        (lambda seen: flipwise.minimize(lambda x: (x.sum(), np.ones(6)), 6, method="dpcd", callback=seen, seed=0), 2),
    ],
    ids=["a small problem", "a function of the user's own"],
)
def test_runs(minimise: Callable[[Callable[[object], None]], object], expected: int) -> None:
    """Small problems of the library run on one thread; what a user's function does is the user's."""
    seen: list[int] = []
    minimise(lambda _: seen.extend(threads()))
    assert set(seen) == {expected}
    assert set(threads()) == {2}
