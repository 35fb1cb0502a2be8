"""Kernel regression on anchors: both solutions, and symmetry."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.functions import rbf as rbf_module
from flipwise.hashing.functions.rbf import RBFFunction
from flipwise.hashing.functions.ridge import Targets
from tests.hashing.functions.rows import data


def test_kernel_regression_by_conjugate_gradients_equals_the_direct_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The iterative solution for many anchors agrees with the normal equations."""
    X, y, words, _ = data(n=300)
    direct = RBFFunction(anchors=60, ridge=0.5).fit(X, Targets(words, y), np.random.default_rng(1))
    monkeypatch.setattr(rbf_module, "DIRECT", 10)
    monkeypatch.setattr(rbf_module, "STEPS", 60)
    monkeypatch.setattr(rbf_module, "TOLERANCE", 1e-7)
    iterated = RBFFunction(anchors=60, ridge=0.5).fit(X, Targets(words, y), np.random.default_rng(1))
    # They differ in what is centred: the direct one also centres the kernel columns.
    assert np.abs(direct.decision(X) - iterated.decision(X)).mean() < 0.05
    agree = (direct.decision(X) >= 0) == (iterated.decision(X) >= 0)
    assert agree.mean() > 0.98


def test_symmetry_makes_values_invariant() -> None:
    """With a permutation given as symmetry, permuted rows have the same values."""
    X, y, words, rng = data()
    swap = np.array([1, 0, 2, 4, 3, 5])
    function = RBFFunction(anchors=40, symmetry=swap).fit(X, Targets(words, y), rng)
    assert np.allclose(function.decision(X), function.decision(X[:, swap]))
    with pytest.raises(InvalidInput, match="permutation"):
        RBFFunction(symmetry=[0, 0, 1]).fit(X[:, :3], Targets(words, y), rng)
