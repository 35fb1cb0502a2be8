"""Walks of the improved algorithm: they never make a point worse, keep its constraint and find what flips cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.solvers.dpcd.walks import Chains, TabuWalk, make_walk
from tests.reference import is_flip_optimal, random_symmetric

BARE = flipwise.DPCD(neighbourhood=0)


def sparse_matrix(rng: np.random.Generator, n: int, degree: int) -> sp.csr_array:
    A = sp.random_array((n, n), density=degree / (2 * n), rng=rng, format="csr", data_sampler=rng.standard_normal)
    return sp.csr_array(A + A.T)


@given(st.integers(2, 40), st.sampled_from(["dense", "sparse", "low rank"]), st.booleans(), st.integers(0, 2**31))
def test_walks_only_ever_improve_and_keep_the_count(n: int, kind: str, counted: bool, seed: int) -> None:
    """A descent with walks is feasible, has the value it says and is at least as good as without."""
    rng = np.random.default_rng(seed)
    A: Any = random_symmetric(rng, n)
    if kind == "sparse":
        A = sp.csr_array(np.triu(A) * (rng.random((n, n)) < 0.2))
        A = sp.csr_array(A + A.T)
    elif kind == "low rank":
        A = flipwise.LowRank(rng.standard_normal((n, 3)))
    f = flipwise.Quadratic(A, rng.standard_normal(n))
    constraint = flipwise.Cardinality(int(rng.integers(0, n + 1))) if counted else flipwise.Free()
    start = constraint.random((n,), rng)
    found = flipwise.minimize(f, constraint=constraint, method="dpcd", start=start, seed=1)
    bare = flipwise.minimize(f, constraint=constraint, method=BARE, start=start, seed=1)
    assert constraint.contains(found.x)
    assert found.value <= bare.value + 1e-9 * (1.0 + abs(bare.value))
    assert found.value == pytest.approx(f.value(found.x.astype(float)), abs=1e-9)


def test_a_walk_ends_at_a_local_optimum() -> None:
    """What the status says holds: no single flip improves the point."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        for A in (random_symmetric(rng, 60), sparse_matrix(rng, 200, 5)):
            f = flipwise.Quadratic(A)
            found = flipwise.minimize(f, method="dpcd", seed=seed)
            assert found.status is flipwise.Status.LOCAL_OPTIMUM
            assert is_flip_optimal(f.value, found.x.astype(float))


def test_walks_find_far_better_points_than_the_bare_descent() -> None:
    """On glasses, dense and sparse, one descent with walks beats the best of ten without."""
    rng = np.random.default_rng(0)
    for A in (random_symmetric(rng, 200), sparse_matrix(rng, 2000, 5)):
        walked = flipwise.minimize(A, method="dpcd", seed=0)
        bare = flipwise.minimize(A, method=BARE, seed=0, restarts=10)
        assert walked.value < bare.value


def test_the_walk_fits_the_structure() -> None:
    """Full rows are walked by tabu search, sparse ones by chains; what has no rows, or foreign rules, is not walked."""
    rng = np.random.default_rng(0)
    full, thin = flipwise.Quadratic(random_symmetric(rng, 30)), flipwise.Quadratic(sparse_matrix(rng, 400, 4))
    wide = flipwise.Quadratic(flipwise.LowRank(rng.standard_normal((2001, 2))))
    assert isinstance(make_walk(full, flipwise.Free()), TabuWalk)
    assert isinstance(make_walk(full, flipwise.Cardinality(3)), TabuWalk)
    assert isinstance(make_walk(thin, flipwise.Free()), Chains)
    assert isinstance(make_walk(thin, flipwise.Cardinality(3)), TabuWalk)
    assert make_walk(wide, flipwise.Free()) is None


def test_walks_can_be_turned_off_and_go_on_from_a_checkpoint(tmp_path: Any) -> None:
    """A run with walks that is stopped half-way and resumed ends with the same point as one that was not."""
    A = sparse_matrix(np.random.default_rng(3), 3000, 6)
    whole = flipwise.minimize(A, method="dpcd", seed=0, restarts=3)
    path = tmp_path / "run.checkpoint"
    calls = 0

    def stop(progress: flipwise.Progress) -> bool:
        nonlocal calls
        calls += 1
        return calls == 6

    flipwise.minimize(A, method="dpcd", seed=0, restarts=3, checkpoint=path, every=0.0, callback=stop)
    resumed = flipwise.minimize(A, method="dpcd", seed=0, restarts=3, checkpoint=path, every=0.0)
    assert resumed.info["resumed"] and np.array_equal(resumed.x, whole.x)
