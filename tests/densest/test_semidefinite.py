"""The semidefinite bound: true for any matrix and prices, and near what is known of its relaxation."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.densest import semidefinite
from flipwise.densest.semidefinite import DualCertificate, Relaxation, certified
from tests.densest.graphs import random_weights
from tests.densest.test_triangles import some_triangles


def exact_weights(W: np.ndarray, bonus: np.ndarray, k: int) -> dict[tuple[int, ...], Fraction]:
    """The weight of every set of k nodes, the bonus of each included, in rational arithmetic."""
    each = [Fraction(g) for g in bonus.tolist()]
    pairs = [[Fraction(w) for w in row] for row in W.tolist()]
    return {
        S: sum((pairs[i][j] for i, j in combinations(S, 2)), sum((each[i] for i in S), Fraction()))
        for S in combinations(range(len(W)), k)
    }


def signed_weights(n: int, seed: int, size: float) -> np.ndarray:
    """Real weights of either sign and of many sizes."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.standard_normal((n, n)) * size ** rng.uniform(-1, 1, (n, n)), 1)
    return W + W.T


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 7), st.integers(0, 10**6), st.sampled_from([1.0, 1e3, 1e8]), st.data())
def test_any_semidefinite_matrix_and_prices_prove_something_true(
    n: int, seed: int, size: float, data: st.DataObject
) -> None:
    """For every k at once, whatever the matrix, the prices, the weights and the bonus of each node are."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n + 1, data.draw(st.integers(1, n + 1)))) * size ** rng.uniform(-1, 1)
    triangles = data.draw(st.sampled_from([None, some_triangles(n, seed)]))
    W, bonus, v = (
        signed_weights(n, seed, size),
        rng.standard_normal(n),
        size ** rng.uniform(-1, 1) * rng.standard_normal(n),
    )
    certificate = certified(W, bonus, B @ B.T, v, triangles=triangles)
    assert certificate is not None
    for k in range(1, n + 1):
        weights = exact_weights(W, bonus, k)
        best = max(weights.values())
        assert Fraction(certificate.bound(k)) >= best
        goal = float(np.median([float(weight) for weight in weights.values()]))
        always, never = certificate.decided(k, goal)
        for S, weight in weights.items():
            if weight > Fraction(goal):
                assert all(i in S for i in np.flatnonzero(always)) and not any(never[i] for i in S)


def test_a_matrix_that_is_not_semidefinite_proves_nothing() -> None:
    """The factorisation breaks off; one that lacks a little is lifted."""
    W, zero = random_weights(6, 0), np.zeros(6)
    assert certified(W, zero, -np.eye(7), zero) is None
    nearly = np.ones((7, 7)) - 1e-13 * np.eye(7)
    certificate = certified(W, zero, nearly, zero)
    assert certificate is not None and certificate.constant >= 1.0


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 8), st.integers(0, 10**6), st.booleans(), st.booleans(), st.data())
def test_every_step_of_the_relaxation_proves_something_true(
    n: int, seed: int, signed: bool, spectral: bool, data: st.DataObject
) -> None:
    """After few steps or many, from the spectral bound or from nothing, with a bonus for each node."""
    W = signed_weights(n, seed, 10.0) if signed else random_weights(n, seed)
    k = data.draw(st.integers(1, n - 1))
    bonus = np.random.default_rng(seed).integers(-2, 3, n) * 1.0
    relaxation = Relaxation(W, k, bonus)
    if spectral:
        relaxation.begin_from_spectrum()
    best = max(exact_weights(W, bonus, k).values())
    for steps in (0, 1, 5, 30, 60):
        relaxation.run(steps)
        if steps == 5:
            relaxation.tighten()
        certificate = relaxation.certificate()
        assert certificate is None or Fraction(certificate.bound(k)) >= best


def test_the_relaxation_is_tight_on_a_cycle_of_five() -> None:
    """Two of five nodes in a ring have one edge, and bound and relaxed value come to that."""
    W = np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0)
    relaxation = Relaxation(W, 2)
    relaxation.run(300)
    certificate = relaxation.certificate()
    assert certificate is not None and certificate.bound(2) == pytest.approx(1.0, abs=1e-3)
    assert relaxation.value == pytest.approx(1.0, abs=1e-3)


def test_the_spectral_bound_is_its_formula() -> None:
    """m (k - k^2/n) / 2 + k / 2 times the largest p'x, m the largest eigenvalue of JWJ, W = JWJ + (1p' + p1')/2."""
    W, k, n = random_weights(30, 4), 12, 30
    relaxation = Relaxation(W, k)
    relaxation.begin_from_spectrum()
    certificate = relaxation.certificate()
    J = np.eye(n) - 1 / n
    p = 2 * W.sum(axis=1) / n - W.sum() / n**2
    wanted = np.linalg.eigvalsh(J @ W @ J)[-1] * (k - k * k / n) + k * np.sort(p)[-k:].sum()
    assert certificate is not None and certificate.bound(k) == pytest.approx(wanted / 2, rel=1e-6)


def test_large_matrices_are_filtered_to_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without all eigenvectors, and in single precision, the bound is true and not much weaker."""
    W = random_weights(60, 1)
    bounds = []
    for limit in (100, 10):
        monkeypatch.setattr(semidefinite, "FULL_SPECTRUM", limit)
        relaxation = Relaxation(W, 20)
        relaxation.run(150)
        certificate = relaxation.certificate()
        assert certificate is not None
        bounds.append(certificate.bound(20))
    assert bounds[1] == pytest.approx(bounds[0], rel=0.01)


def test_a_part_begins_where_the_whole_stood() -> None:
    """Steps on a subproblem go on from the multipliers of its parent."""
    W = random_weights(20, 2)
    parent = Relaxation(W, 8)
    parent.run(200)
    kept = np.arange(20) != 3
    child = Relaxation(W[np.ix_(kept, kept)], 8)
    child.begin_from(parent, kept, ~kept)
    certificate = child.certificate()
    assert isinstance(certificate, DualCertificate)
    child.run(40)
    fresh = Relaxation(W[np.ix_(kept, kept)], 8)
    fresh.run(40)
    warm, cold = child.certificate(), fresh.certificate()
    assert warm is not None and cold is not None and warm.bound(8) <= cold.bound(8)


def test_triangles_close_a_gap() -> None:
    """On a random graph of 18 nodes the bound comes nearer to the best weight than without them, and stays true."""
    W = random_weights(18, 5)
    bounds = []
    for tight in (False, True):
        relaxation = Relaxation(W, 6)
        relaxation.run(400)
        if tight:
            relaxation.tighten()
        relaxation.run(1200)
        certificate = relaxation.certificate()
        assert certificate is not None
        bounds.append(certificate.bound(6))
    best = max(W[np.ix_(S, S)].sum() / 2.0 for S in map(list, combinations(range(18), 6)))
    assert best <= bounds[1] < bounds[0]


def test_a_part_keeps_the_triangles_of_its_nodes() -> None:
    """With a node taken they are about the constant spin, and what they prove of the part is true."""
    W = random_weights(14, 3)
    parent = Relaxation(W, 6)
    parent.tighten()
    parent.run(200)
    assert parent.triangles.z.any()
    rest = np.arange(14) != 4
    child = Relaxation(W[np.ix_(rest, rest)], 5, W[rest, 4])
    child.begin_from(parent, rest, ~rest)
    assert child.triangles.z.any()
    for steps in (0, 40):
        child.run(steps)
        certificate = child.certificate()
        assert certificate is not None
        assert Fraction(certificate.bound(5)) >= max(exact_weights(child.W, child.bonus, 5).values())
