"""Hash functions: against scikit-learn, chunked against whole, saved against held."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.functions import function_from_arrays, make_function
from flipwise.hashing.functions import rbf as rbf_module
from flipwise.hashing.functions.rbf import RBFFunction
from flipwise.hashing.functions.ridge import LinearFunction, Targets


def data(seed: int = 0, n: int = 120, d: int = 6, classes: int = 3, bits: int = 8):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    words = np.where(rng.random((classes, bits)) < 0.5, -1, 1).astype(np.int8)
    y = rng.integers(0, classes, n)
    X = rng.standard_normal((n, d)) + 2.0 * rng.standard_normal((classes, d))[y]
    return X, y, words, rng


def test_regression_on_sets_equals_regression_on_codes() -> None:
    """Solving for the one-hot label sets and mixing gives the regression onto the codes themselves."""
    X, y, words, rng = data()
    one = LinearFunction().fit(X, Targets(words, y), rng)
    other = LinearFunction().fit(X, Targets(words[y]), rng)
    assert np.allclose(one.decision(X), other.decision(X))


def test_linear_is_ridge_regression() -> None:
    """The coefficients are scikit-learn's Ridge with the same penalty."""
    from sklearn.linear_model import Ridge

    X, y, words, rng = data()
    function = LinearFunction(ridge=0.01).fit(X, Targets(words, y), rng)
    ridge = Ridge(alpha=0.01 * X.var(axis=0).mean() * len(X)).fit(X, words[y])
    assert np.allclose(function.decision(X), ridge.predict(X))


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


@pytest.mark.parametrize("kind", ["linear", "rbf", "trees"])
def test_sparse_rows_and_saved_arrays_give_the_same_values(kind: str) -> None:
    """Sparse input changes nothing, and a function rebuilt from its arrays is the same function."""
    X, y, words, _ = data()
    X = np.where(np.abs(X) < 1.0, 0.0, X)
    options = {"rounds": 5} if kind == "trees" else None
    function = make_function(kind, options).fit(X, Targets(words, y), np.random.default_rng(0))
    from_sparse = make_function(kind, options).fit(sp.csr_array(X), Targets(words, y), np.random.default_rng(0))
    assert np.allclose(function.decision(X), from_sparse.decision(sp.csr_array(X)))
    again = function_from_arrays(kind, function.arrays())
    assert np.array_equal(again.decision(X), function.decision(X))


def test_trees_learn_what_lines_cannot() -> None:
    """Exclusive-or of two features: linear values are useless, trees are right."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    words = np.array([[1, 1], [-1, -1]], dtype=np.int8)
    right = {}
    for kind in ("linear", "trees"):
        function = make_function(kind, None).fit(X, Targets(words, y), np.random.default_rng(0))
        right[kind] = float(((function.decision(X) >= 0) == (words[y] > 0)).mean())
    assert right["trees"] > 0.95 and right["linear"] < 0.7


def test_wrong_options_are_refused() -> None:
    """Names and parameters are checked."""
    with pytest.raises(InvalidInput, match="hash_function"):
        make_function("svm", None)
    with pytest.raises(InvalidInput, match="hash_options"):
        make_function("linear", {"anchors": 3})
    with pytest.raises(InvalidInput, match="bandwidth"):
        make_function("rbf", {"bandwidth": 0.0})
    with pytest.raises(InvalidInput, match="rounds"):
        make_function("trees", {"rounds": 0})
    with pytest.raises(InvalidInput, match="unknown"):
        function_from_arrays("svm", {})
