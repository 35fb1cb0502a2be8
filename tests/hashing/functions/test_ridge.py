"""Hash functions by regression: against scikit-learn, sets against codes, saved against held."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.functions.ridge import (
    LinearFunction,
    Targets,
    function_from_arrays,
    make_function,
    predicted_values,
)
from tests.hashing.functions.rows import data


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


def test_predicted_values_are_those_of_a_function_fitted_to_the_codes() -> None:
    """The values that couple codes to their features come from an ordinary fit."""
    X, y, words, rng = data()
    expected = LinearFunction(ridge=0.1).fit(X, Targets(words[y]), rng).decision(X)
    assert np.array_equal(predicted_values("linear", {"ridge": 0.1}, X, words[y]), expected)
