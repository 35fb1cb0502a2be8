"""Calls from threads and processes: correct, without crashes, thread limits put back."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise


def solve(seed: int, n: int = 4000) -> tuple[int, float, bytes]:
    """A sparse problem large enough for the compiled tier and its parallel gradient."""
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=30 / n, rng=rng, format="csr")
    result = flipwise.minimize(A + A.T, seed=seed, constraint=flipwise.Cardinality(n // 3) if seed % 2 else None)
    return seed, result.value, result.x.tobytes()


def test_several_threads_get_the_single_threaded_answers() -> None:
    """Four threads at once solve eight problems; each answer equals its single-threaded twin."""
    alone = [solve(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(solve, range(8)))
    assert together == alone


@pytest.mark.slow
def test_spawned_processes_get_the_same_answers() -> None:
    """Worker processes started by spawn agree with this process."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(solve, range(4))) == [solve(seed) for seed in range(4)]


def test_joblib_workers_get_the_same_answers() -> None:
    """joblib's processes and threads agree with this process."""
    joblib = pytest.importorskip("joblib")
    expected = [solve(seed) for seed in range(3)]
    assert joblib.Parallel(n_jobs=2, prefer="threads")(joblib.delayed(solve)(s) for s in range(3)) == expected


def test_a_thread_limit_holds_for_its_own_call_only() -> None:
    """threads=1 in one thread does not change what another thread or a later call may use."""
    numba = pytest.importorskip("numba")
    before = numba.get_num_threads()
    with ThreadPoolExecutor(2) as pool:
        rng = np.random.default_rng(0)
        A = sp.random_array((3000, 3000), density=0.01, rng=rng, format="csr")
        f = flipwise.Quadratic(A + A.T)
        runs = [pool.submit(flipwise.minimize, f, seed=1, threads=t) for t in (1, 2, 1, 2)]
        values = {run.result().value for run in runs}
    assert len(values) == 1
    assert numba.get_num_threads() == before
