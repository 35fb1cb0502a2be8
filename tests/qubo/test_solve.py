"""solve_qubo and solve_ising: brute-force optima, bounds below them, exact counts, limits and repeatability."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.foundation.errors import InvalidInput


def brute(Q: np.ndarray, count: int | None = None) -> float:
    """The least x'Qx over 0/1."""
    points = (np.array(p) for p in itertools.product([0, 1], repeat=Q.shape[0]))
    return min(float(x @ Q @ x) for x in points if count is None or x.sum() == count)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sparse", [False, True])
def test_small_qubos_are_solved_to_the_optimum(seed: int, sparse: bool) -> None:
    """The value is the brute-force optimum, and the bound is below it."""
    rng = np.random.default_rng(seed)
    Q = np.triu(rng.integers(-9, 10, (10, 10)) * (rng.random((10, 10)) < (0.3 if sparse else 1.0))).astype(float)
    result = flipwise.solve_qubo(sp.csr_array(Q) if sparse else Q, 2.5, seed=0, max_iterations=3)
    assert result.value == brute(Q) + 2.5
    assert float(result.x @ Q @ result.x) + 2.5 == result.value
    assert result.bound is not None and result.bound <= result.value
    assert result.gap is not None and result.gap >= 0.0


@pytest.mark.parametrize("count", [0, 3, 7])
def test_counts_are_exact(count: int) -> None:
    """With `count` the answer has exactly so many ones and is the best of those."""
    rng = np.random.default_rng(5)
    Q = rng.normal(size=(9, 9))
    result = flipwise.solve_qubo(Q, count=count, seed=0, max_iterations=4, bound="none")
    assert int(result.x.sum()) == count
    assert result.value == pytest.approx(brute(Q, count))


def test_ising_matches_dicts_and_matrices() -> None:
    """The same model as dicts with labels and as matrices has the same minimum."""
    rng = np.random.default_rng(6)
    J = np.triu(rng.normal(size=(8, 8)), 1)
    h = rng.normal(size=8)
    names = "abcdefgh"
    as_dict = {(names[i], names[j]): J[i, j] for i in range(8) for j in range(i + 1, 8)}
    one = flipwise.solve_ising(h, J, 1.0, seed=0, max_iterations=3)
    two = flipwise.solve_ising(dict(zip(names, h, strict=True)), as_dict, 1.0, seed=0, max_iterations=3)
    assert one.value == pytest.approx(two.value)
    assert two.info["labels"] == list(names)
    assert one.value == pytest.approx(float(h @ one.x + one.x @ J @ one.x) + 1.0)


def test_symmetric_sparse_matrix_is_not_copied_beyond_its_type() -> None:
    """A canonical float64 CSR matrix goes into the objective with its own index arrays."""
    A = sp.csr_array(sp.random(50, 50, density=0.2, random_state=np.random.default_rng(7), format="csr"))
    Q = sp.csr_array(A + A.T)
    Q.sum_duplicates()
    from flipwise.qubo.solve import qubo_objective

    objective, _ = qubo_objective(Q, 0.0)
    assert np.shares_memory(objective.terms[0].A.indices, Q.indices)  # type: ignore[attr-defined]


def test_one_seed_one_answer_on_any_number_of_threads() -> None:
    """With a limit in iterations the answer and its history do not depend on the threads."""
    rng = np.random.default_rng(8)
    W = np.triu(rng.choice([-1.0, 0.0, 0.0, 1.0], size=(60, 60)), 1)
    for matrix in (W, sp.csr_array(np.where(rng.random((60, 60)) < 0.1, W, 0.0))):
        runs = [
            flipwise.solve_ising(np.zeros(60), matrix, seed=3, max_iterations=5, threads=t, bound="none")
            for t in (1, 2, 3)
        ]
        assert all(np.array_equal(runs[0].x, run.x) for run in runs[1:])
        assert all([r.best for r in runs[0].trace.records] == [r.best for r in run.trace.records] for run in runs[1:])


def test_time_limit_is_obeyed() -> None:
    """A limit ends the search soon after it, with the best point so far."""
    rng = np.random.default_rng(9)
    W = sp.csr_array(np.triu(rng.choice([-1.0, 1.0], size=(400, 400)), 1))
    flipwise.solve_ising(np.zeros(400), W, seed=0, max_iterations=1, bound="none")  # compile
    started = time.perf_counter()
    result = flipwise.solve_ising(np.zeros(400), W, seed=0, time_limit=0.5, bound="none")
    assert time.perf_counter() - started < 3.0
    assert result.status is flipwise.Status.TIME_LIMIT


def test_callback_and_target_stop_the_search() -> None:
    """A callback that returns True, and a target that is reached, end the run with their status."""
    rng = np.random.default_rng(10)
    Q = rng.normal(size=(30, 30))
    called = flipwise.solve_qubo(Q, seed=0, callback=lambda progress: progress.iteration >= 2, bound="none")
    assert called.status is flipwise.Status.CALLBACK
    reached = flipwise.solve_qubo(Q, seed=0, target=0.0, bound="none")
    assert reached.status is flipwise.Status.TARGET


def test_proven_optimum_is_reported() -> None:
    """Where the bound meets the value the status says so."""
    result = flipwise.solve_ising([1.0, -2.0, 3.0], np.zeros((3, 3)), seed=0)
    assert result.value == -6.0
    assert result.status in (flipwise.Status.OPTIMAL, flipwise.Status.LOCAL_OPTIMUM)


def test_low_rank_problems_fall_back_to_perturbed_descents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no matrix can be written out the portfolio still improves and stays feasible."""
    from flipwise.model import forms as ising

    monkeypatch.setattr(ising, "LOW_RANK_ENTRIES", 10)
    U = np.random.default_rng(11).normal(size=(40, 3))
    objective = flipwise.Quadratic(flipwise.LowRank(U))
    result = flipwise.minimize(
        objective, method="portfolio", seed=0, effort=5 / 30, constraint=flipwise.Cardinality(20)
    )
    once = flipwise.minimize(objective, seed=0, constraint=flipwise.Cardinality(20))
    assert int((result.x > 0).sum()) == 20
    assert result.value <= once.value


def test_arguments_are_checked() -> None:
    """Contradictory or wrong arguments are refused before any work."""
    Q = np.eye(3)
    with pytest.raises(InvalidInput, match="`count` can stand beside"):
        flipwise.solve_qubo(Q, count=1, constraint=flipwise.Cardinality(1))
    with pytest.raises(InvalidInput, match="bound"):
        flipwise.solve_qubo(Q, bound="cheapest")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="effort"):
        flipwise.solve_qubo(Q, effort=-1)
    with pytest.raises(InvalidInput, match="missing"):
        flipwise.solve_ising([0.0, 1.0])
    with pytest.raises(InvalidInput, match="solve_ising"):
        flipwise.solve_qubo(flipwise.QuadraticModel.from_ising([0.0, 0.0], np.zeros((2, 2))))


def test_integers_have_integer_bounds_and_a_bound_that_meets_the_value_is_a_proof() -> None:
    """The roof dual too is raised to the next value that an integer QUBO can have."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        Q = sp.csr_array(np.triu(rng.integers(-9, 10, (30, 30)) * (rng.random((30, 30)) < 0.1)))
        result = flipwise.solve_qubo(Q, seed=0, effort=0.1)
        assert result.bound is not None and result.bound == round(result.bound)
        assert (result.status.name == "OPTIMAL") == (result.bound == result.value)


def test_a_dok_matrix_is_a_matrix_not_a_dictionary() -> None:
    """Variables without any entry are variables all the same."""
    Q = sp.dok_matrix((4, 4))
    Q[1, 1], Q[1, 2] = -1.0, 2.0
    assert flipwise.solve_qubo(Q, seed=0, count=4).value == 1.0


def test_a_linear_term_may_be_written_with_one_variable() -> None:
    """`(u,)` is linear, and is added to `(u, u)`."""
    assert flipwise.solve_qubo({(0,): -1.0, (0, 1): 2.0}, seed=0).value == -1.0
    assert flipwise.solve_qubo({("a",): -1.0, ("a", "a"): -2.0}, seed=0).value == -3.0
    for key in ("a", 3, frozenset("ab")):
        with pytest.raises(flipwise.InvalidInput, match="keys"):
            flipwise.solve_qubo({key: 1.0})
