"""Iterative quantisation: the loss, rotations, principal axes, both optimisers of the rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise import Status
from flipwise.engine.limits import Clock, Limits
from flipwise.engine.run import Run
from flipwise.hashing.alternation import FitContext
from flipwise.hashing.quantisation import (
    Quantisation,
    QuantisationLoss,
    leading_axes,
    principal_axes,
    procrustes,
    quantised_codes,
    random_rotation,
    rounds_are_over,
)
from flipwise.model.constraints import Free
from flipwise.model.problem import Problem

pytestmark = pytest.mark.kernels


def quantise(V: Any, n_bits: int, optimizer: str, rounds: int) -> tuple[np.ndarray, np.ndarray, Run, Status]:
    """(codes, rotation, run, status)."""
    loss, context = QuantisationLoss(V, n_bits), FitContext(np.random.default_rng(0), Clock())
    run = Run(Problem(loss, Free()))
    status = Quantisation(optimizer, rounds, loss, context).solve(run.problem, np.empty(0), context.rng, run)
    assert context.rotation is not None
    return loss.bits(context.rotation), context.rotation, run, status


def test_itq_by_flips_is_itq() -> None:
    """Without the early end both optimisers make the same rounds: the same codes and rotation."""
    V = np.random.default_rng(3).standard_normal((300, 8)) * np.linspace(2.0, 0.5, 8)
    (B, R, _, _), (B_by_flips, R_by_flips, _, _) = (quantise(V, 8, optimizer, 6) for optimizer in ("itq", "dpcd"))
    assert np.array_equal(B, B_by_flips)
    np.testing.assert_allclose(R, R_by_flips, atol=1e-9)


@pytest.mark.parametrize("n_bits", [3, 5, 9])
def test_the_value_is_the_formula(n_bits: int) -> None:
    """||B - VR||^2 with the rotation that fits, for fewer bits than components and for more."""
    rng = np.random.default_rng(1)
    V = rng.standard_normal((40, 5))
    loss = QuantisationLoss(V, n_bits)
    B = np.where(rng.random((40, n_bits)) < 0.5, -1, 1).astype(np.int8)
    R = loss.rotation(B)
    assert np.isclose(loss.value(B), ((B - V @ R) ** 2).sum()) and loss.value(B) == loss.value(B.astype(float))
    assert np.allclose(loss.gradient(B), 2.0 * (B - V @ R))
    thin = R @ R.T if n_bits >= 5 else R.T @ R
    assert np.allclose(thin, np.eye(len(thin)))


@pytest.mark.parametrize("optimizer", ["dpcd", "itq", "sgm"])
def test_the_loss_falls_and_every_round_is_told(optimizer: str) -> None:
    """With as many bits as components no round is worse than the one before; the value is that of its codes."""
    V = np.random.default_rng(0).standard_normal((200, 6))
    _, _, run, status = quantise(V, 6, optimizer, 50 if optimizer != "sgm" else 3)
    values = [record.value for record in run.trace.records]
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert run.best_x is not None and np.isclose(QuantisationLoss(V, 6).value(run.best_x), values[-1])
    assert status is Status.CONVERGED or len(values) == (50 if optimizer != "sgm" else 3)


def test_rounds_end_when_few_bits_move() -> None:
    """With "dpcd" at one bit in 500, otherwise only when none moves."""
    assert rounds_are_over("dpcd", 1, 1000) and not rounds_are_over("dpcd", 2, 1000)
    assert rounds_are_over("itq", 0, 1000) and not rounds_are_over("itq", 1, 1000)


def test_quantised_codes_are_a_part_of_a_run() -> None:
    """As the start of another search they leave its answer and its iterations alone, and end with its time."""
    V = np.random.default_rng(2).standard_normal((100, 4))
    run = Run(Problem(QuantisationLoss(V, 4), Free()), Limits(time_limit=0.0))
    codes = quantised_codes(V, 4, 5, np.random.default_rng(0), run)
    assert codes.shape == (100, 4) and set(np.unique(codes)) == {-1, 1}
    assert run.iterations == 0 and run.best_x is None


def test_the_axes_are_those_of_the_covariance() -> None:
    """Orthonormal, in the order of their variances, the same for sparse rows, with more rows than features or fewer."""
    rng = np.random.default_rng(0)
    for n, d in ((60, 7), (7, 20)):
        X = rng.standard_normal((n, d)) * np.linspace(3.0, 1.0, d)
        mean, axes, variances = principal_axes(X, 5)
        assert np.allclose(mean, X.mean(axis=0)) and np.allclose(axes.T @ axes, np.eye(5))
        components = (X - mean) @ axes
        assert np.allclose(components.T @ components / n, np.diag(variances), atol=1e-9)
        assert (np.diff(variances) <= 1e-9).all()
        assert np.allclose(principal_axes(sp.csr_array(X), 5)[1], axes)
    assert np.allclose(leading_axes(np.diag([1.0, 4.0]), 1)[0], [[0.0], [1.0]])


def test_rotations_are_orthonormal_and_the_best_ones() -> None:
    """Random rotations have orthonormal rows or columns; no random one beats the Procrustes solution."""
    rng = np.random.default_rng(0)
    for k, r in ((3, 5), (5, 3), (4, 4)):
        cross = rng.standard_normal((k, r))
        best = float((cross * procrustes(cross)).sum())
        for _ in range(20):
            R = random_rotation(k, r, rng)
            thin = R @ R.T if k <= r else R.T @ R
            assert np.allclose(thin, np.eye(len(thin)))
            assert float((cross * R).sum()) <= best + 1e-9


@pytest.mark.parametrize("n", [300, 1500])
def test_sparse_rows_of_many_features_have_the_axes_of_dense_ones(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are never made dense, unless there are fewer directions than asked for."""
    rng = np.random.default_rng(0)
    X = sp.random_array((n, 1200), density=0.01, rng=rng, format="csr")
    X = X @ sp.diags_array(0.98 ** np.arange(1200)).tocsr()
    mean, axes, variances = principal_axes(X.toarray(), 6)
    with monkeypatch.context() as patch:
        patch.setattr("flipwise.hashing.quantisation.dense", None)
        sparse = principal_axes(X, 6)
    assert np.allclose(sparse[0], mean) and np.allclose(sparse[2], variances)
    assert np.allclose(sparse[1], axes, atol=1e-6)
    few = X[:, :3] @ sp.csr_array(np.ones((3, 1200)))
    assert np.isfinite(principal_axes(sp.csr_array(few), 6)[1]).all()
