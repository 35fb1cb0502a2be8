"""Rows with classes, shared by the tests of the estimators."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def digits() -> tuple[Any, Any, Any, Any]:
    """Handwritten digits: rows and classes to learn from, rows and classes to ask with."""
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.load_digits(return_X_y=True)
    return X[:900], y[:900], X[900:1300], y[900:1300]
