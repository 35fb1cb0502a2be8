"""Calls from threads and processes: correct, without crashes, thread limits put back."""

from __future__ import annotations

import asyncio
import hashlib
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise


def solve(seed: int, n: int = 1500) -> tuple[int, float, bytes]:
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


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this platform")
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="without the compiler there are no threads")
def test_forked_processes_get_the_same_answers_after_threads_were_used() -> None:
    """A fork after parallel kernels have run, which OpenMP forbids to go on with its threads, still solves."""
    code = (
        "import multiprocessing\n"
        "from tests.engine.test_solve_concurrency import solve\n"
        "if __name__ == '__main__':\n"
        "    alone = [solve(s) for s in range(2)]\n"
        "    with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "        assert pool.map_async(solve, range(2)).get(timeout=200) == alone\n"
        "    assert solve(1) == alone[1]\n"
    )
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_limits_of_the_environment_are_respected() -> None:
    """With NUMBA_NUM_THREADS=1 a process uses one thread and finds what this process finds."""
    code = (
        "from tests.engine.test_solve_concurrency import solve\n"
        "from flipwise.kernels.jit import thread_count\n"
        "import hashlib, numba\n"
        "assert thread_count() == 1\n"
        "found = solve(1)\n"
        "assert numba.get_num_threads() == 1\n"
        "print(hashlib.sha256(found[2]).hexdigest())\n"
    )
    environment = os.environ | {"NUMBA_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == hashlib.sha256(solve(1)[2]).hexdigest()


def test_limits_of_threadpoolctl_are_respected_and_left_alone() -> None:
    """Inside threadpool_limits(1) answers are the same, and no pool has another size afterwards."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    expected = solve(3)
    with threadpoolctl.threadpool_limits(1):
        before = {pool["filepath"]: pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
        assert solve(3) == expected
        after = {pool["filepath"]: pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
    assert {path: after[path] for path in before} == before


def test_threads_of_the_command_line_are_put_back(tmp_path: Path) -> None:
    """`--threads 1` holds for its command only."""
    numba = pytest.importorskip("numba")
    from flipwise.cli import main
    from flipwise.kernels.jit import thread_count

    path = tmp_path / "edges.txt"
    path.write_text("".join(f"{i} {(i * 7 + 1) % 50}\n" for i in range(50)))
    before = numba.get_num_threads(), thread_count()
    assert main(["subgraph", str(path), "-k", "5", "--threads", "1", "--json", "-q", "--effort", "0"]) == 0
    assert (numba.get_num_threads(), thread_count()) == before


def test_calls_inside_a_running_event_loop() -> None:
    """Jupyter's situation: code runs while an event loop does, and may hand work to its threads."""

    async def cell() -> list[tuple[int, float, bytes]]:
        here = solve(2)
        there = await asyncio.gather(*(asyncio.to_thread(solve, 2) for _ in range(2)))
        return [here, *there]

    assert len(set(asyncio.run(cell()))) == 1


def test_dask_workers_get_the_same_answers() -> None:
    """Dask's threads and its processes agree with this process."""
    dask = pytest.importorskip("dask")
    expected = [solve(seed) for seed in range(2)]
    for scheduler in ("threads", "processes"):
        found = dask.compute(*(dask.delayed(solve)(seed) for seed in range(2)), scheduler=scheduler, num_workers=2)
        assert list(found) == expected, scheduler


def test_joblib_workers_get_the_same_answers() -> None:
    """joblib's processes and threads agree with this process."""
    joblib = pytest.importorskip("joblib")
    expected = [solve(seed) for seed in range(3)]
    for backend in ("threading", "loky"):
        found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(solve)(s) for s in range(3))
        assert found == expected, backend


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
