"""Weights of any size: the right answer or a clear error, never a silent infinity."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from tests.reference import brute_force, random_symmetric


@pytest.mark.parametrize("exponent", [-300, -150, -20, 0, 20, 150, 300])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("counted", [False, True])
def test_scaling_all_weights_changes_nothing_but_the_scale(exponent: int, sparse: bool, counted: bool) -> None:
    """From 1e-300 to 1e300 the point found is the same and the value scales along."""
    A = random_symmetric(np.random.default_rng(0), 30)
    scale = 2.0 ** (exponent * 3.3219280948873626 // 1)
    constraint = flipwise.Cardinality(12) if counted else None
    make = sp.csr_array if sparse else np.asarray
    plain = flipwise.minimize(make(A), seed=2, constraint=constraint)
    scaled = flipwise.minimize(make(A * scale), seed=2, constraint=constraint)
    assert np.array_equal(plain.x, scaled.x)
    assert scaled.value == pytest.approx(plain.value * scale, rel=1e-12)


@given(st.integers(2, 8), st.integers(0, 2**31), st.sampled_from([-300, -30, 0, 30, 290]))
def test_mixed_magnitudes_end_at_an_optimum_of_the_large_ones(n: int, seed: int, small: int) -> None:
    """With weights of very different size in one matrix the result is finite, feasible and near the optimum."""
    rng = np.random.default_rng(seed)
    A = random_symmetric(rng, n) * 10.0 ** rng.choice([small, 0, 5], (n, n))
    A = (A + A.T) / 2
    f = flipwise.Quadratic(A)
    best = brute_force(f.value, n)
    result = flipwise.minimize(f, seed=seed, restarts=30)
    assert np.isfinite(result.value)
    assert result.value == pytest.approx(best, rel=1e-9)


def test_huge_integers_are_exact() -> None:
    """Integer weights up to 2^40 lose nothing."""
    rng = np.random.default_rng(1)
    A = rng.integers(-(2**40), 2**40, (12, 12))
    A = A + A.T
    f = flipwise.Quadratic(A, variables="binary")
    result = flipwise.minimize(f, seed=0, restarts=30)
    bits = [int(b) for b in result.x]
    exact = sum(int(A[i, j]) * bits[i] * bits[j] for i in range(12) for j in range(12))
    assert int(result.value) == exact


def test_zeros_and_negative_zero() -> None:
    """A zero matrix and -0.0 are ordinary weights."""
    for A in (np.zeros((4, 4)), -np.zeros((4, 4))):
        result = flipwise.minimize(A, seed=0)
        assert result.success and result.value == 0.0


def test_the_final_value_is_a_compensated_sum() -> None:
    """A thousand small terms beside one of 1e16, which a plain sum would lose one after another."""
    c = np.concatenate([[1e16], np.ones(1000)])
    result = flipwise.minimize(flipwise.Quadratic(sp.csr_array((1001, 1001)), c), seed=0)
    assert result.value == -(1e16 + 1000.0)


@pytest.mark.parametrize("exponent", [-960, -30, 0, 30, 960])
@pytest.mark.parametrize("bound", ["sdp", "spectral", "simple"])
def test_bounds_are_rounded_outward_at_any_scale(exponent: int, bound: str) -> None:
    """Scaled by a power of two, from 1e-289 to 1e289, no bound exceeds the exact optimum."""
    A = np.round(8 * random_symmetric(np.random.default_rng(5), 7))
    np.fill_diagonal(A, 0.0)
    least = brute_force(flipwise.Quadratic(A).value, 7) * 2.0**exponent
    result = flipwise.solve_ising(np.zeros(7), A * 2.0**exponent, seed=0, bound=bound, effort=2 / 30)  # type: ignore[arg-type]
    assert result.bound is not None
    assert result.bound <= least <= result.value


@pytest.mark.parametrize("matrix", [np.full((4, 4), 1e308), np.array([[0.0, 1.7e308], [1.7e308, 0.0]])])
def test_sums_past_the_largest_number_are_refused(matrix: np.ndarray) -> None:
    """Weights whose sum float64 cannot hold get an error, not an infinite value."""
    with pytest.raises(flipwise.InvalidInput, match="large"):
        flipwise.minimize(matrix, seed=0)


# --- the door --------------------------------------------------------------------------------------------------------

WRONG = {
    "complex": np.full((3, 3), 1.0 + 0.0j),
    "sparse complex": sp.csr_array(np.full((3, 3), 1.0 + 2.0j)),
    "masked": np.ma.MaskedArray(np.ones((3, 3)), mask=np.eye(3, dtype=bool)),
    "text": np.full((3, 3), "1.0"),
    "objects": np.full((3, 3), Fraction(1, 2), dtype=object),
    "none": np.full((3, 3), None),
    "dates": np.full((3, 3), np.datetime64("2026-01-01")),
    "nan": np.full((3, 3), np.nan),
    "sparse inf": sp.coo_array(np.full((3, 3), np.inf)),
    "integers beyond 2^53": np.full((3, 3), 2**53 + 1),
    "sparse integers beyond 2^53": sp.csr_array(np.full((3, 3), 2**60 + 1)),
    "denormal": np.full((3, 3), 1e-322),
    "sparse denormal": sp.csr_array(np.full((3, 3), 1e-320)),
    "too large": np.full((3, 3), 1e308),
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize(
    "function",
    [
        lambda M: flipwise.minimize(M),
        lambda M: flipwise.Quadratic(M),
        lambda M: flipwise.solve_qubo(M),
        lambda M: flipwise.solve_ising(np.zeros(3), M),
        lambda M: flipwise.QuadraticModel.from_qubo(M).objective(),
        lambda M: flipwise.maxcut(M),
        lambda M: flipwise.bisect(M),
        lambda M: flipwise.partition(M, [1, 2]),
        lambda M: flipwise.densest_subgraph(M, 2),
    ],
    ids=["minimize", "Quadratic", "solve_qubo", "solve_ising", "model", "maxcut", "bisect", "partition", "densest"],
)
def test_what_holds_no_numbers_to_compute_with_is_refused(what: str, function: Callable[[Any], Any]) -> None:
    """By every function, in one way: nothing is dropped, parsed or rounded to zero on the quiet."""
    with pytest.raises(flipwise.InvalidInput):
        function(WRONG[what])


@pytest.mark.parametrize("what", ["complex", "masked", "text", "objects", "nan", "integers beyond 2^53"])
def test_vectors_pass_the_same_door(what: str) -> None:
    """Linear parts, factors of low rank, fields and starts."""
    column = WRONG[what][:, 1]
    for call in (
        lambda: flipwise.Quadratic(np.eye(3), column),
        lambda: flipwise.LowRank(WRONG[what]),
        lambda: flipwise.solve_ising(column, np.eye(3)),
        lambda: flipwise.minimize(np.eye(3), start=column),
    ):
        with pytest.raises(flipwise.InvalidInput):
            call()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float32"])
@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_numbers_are_widened_before_they_are_added(dtype: str, layout: str) -> None:
    """Entries that are stored twice are added up in float64, whatever type the matrix has."""
    large = 2**24 if dtype == "float32" else min(int(np.iinfo(dtype).max), 2**40)
    data = np.array([large, large, large, large, 1, 1], dtype=dtype)
    ends = np.array([0, 0, 1, 1, 0, 1]), np.array([1, 1, 0, 0, 1, 0])
    M = sp.coo_array((data, ends), shape=(2, 2))
    if layout != "coo":  # by hand, for scipy would add up
        order = np.argsort(ends[0], kind="stable")
        kind = sp.csr_array if layout == "csr" else sp.csc_array
        M = kind((data[order], ends[1][order], np.array([0, 3, 6])), shape=(2, 2))
    least = -(4.0 * large + 2.0)
    ising = flipwise.solve_ising(np.zeros(2), M, seed=0)
    assert (ising.value, ising.bound) == (least, least)
    assert flipwise.minimize(M, method="exact").value == least
    cut = flipwise.maxcut(M, seed=0)
    assert (cut.value, cut.bound) == (-least / 2.0, -least / 2.0)


def test_parallel_arcs_of_a_byte_are_added() -> None:
    """256 arcs of type uint8 weigh 256, not 0."""
    arcs = sp.coo_array((np.ones(512, np.uint8), ([0] * 256 + [1] * 256, [1] * 256 + [0] * 256)), shape=(2, 2))
    found = flipwise.densest_subgraph(arcs, 2, seed=0)
    assert (found.density, found.optimal) == (256.0, True)


def test_repeated_entries_are_rounded_once() -> None:
    """A thousand ones beside 1e16 are not lost one after another, in whatever order they are stored."""
    data = np.concatenate([[1e16], np.ones(1000), [-1e16]])
    for order in (np.arange(data.size), np.random.default_rng(0).permutation(data.size)):
        M = sp.coo_array((data[order], (np.zeros(data.size, int), np.ones(data.size, int))), shape=(2, 2))
        assert flipwise.solve_ising(np.zeros(2), M, method="exact").value == -1000.0


def test_what_a_sparse_matrix_says_of_itself_is_not_believed() -> None:
    """Rows that are not in order though they were once, and columns that do not exist."""
    M = sp.csr_array(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]]))
    assert M.has_canonical_format
    M.indices[:2], M.data[:2] = [2, 1], [2.0, 1.0]
    assert flipwise.minimize(M, method="exact").value == flipwise.minimize(M.toarray(), method="exact").value
    M.indices[0] = 7
    with pytest.raises(flipwise.InvalidInput, match="damaged"):
        flipwise.minimize(M)
    with pytest.raises(flipwise.InvalidInput, match="damaged"):
        flipwise.maxcut(M)


def test_small_numbers_beside_large_ones_are_as_good_as_any() -> None:
    """A similarity that has died away to 1e-320 is no reason to refuse a matrix."""
    A = np.array([[0.0, -1.0, 1e-320], [-1.0, 0.0, 1e-300], [1e-320, 1e-300, 0.0]])
    result = flipwise.minimize(A, method="exact")
    assert result.value == -2.0 and result.optimal
    assert flipwise.densest_subgraph(-A, 2, seed=0).value == 1.0


@pytest.mark.parametrize("method", [m.name for m in flipwise.methods() if m.free and m.needs in ("any", "quadratic")])
@pytest.mark.parametrize("exponent", [-990, 990])
def test_every_method_works_at_any_scale(method: str, exponent: int) -> None:
    """Numbers of 1e-298 and 1e298 are divided by a power of two inside, and nobody outside notices."""
    A = random_symmetric(np.random.default_rng(3), 6, integer=True)
    plain = flipwise.minimize(A, method=method, seed=1)
    told: list[float] = []
    scaled = flipwise.minimize(
        A * 2.0**exponent, method=method, seed=1, callback=lambda progress: told.append(progress.best)
    )
    assert np.array_equal(plain.x, scaled.x) and scaled.value == plain.value * 2.0**exponent
    assert scaled.bound == (None if plain.bound is None else plain.bound * 2.0**exponent)
    assert told and told[-1] == scaled.value == scaled.trace.records[-1].best
    stopped = flipwise.minimize(A * 2.0**exponent, method=method, seed=1, target=1e300 if exponent > 0 else 1e-290)
    assert stopped.status.name in ("TARGET", "OPTIMAL")
