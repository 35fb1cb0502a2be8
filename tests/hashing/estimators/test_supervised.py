"""Estimators that learn from labels: several labels, none, chunks, tuning, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import FSDH, SDH, FastHash
from flipwise.solvers.dpcd.tuning import PAPER_ALPHAS


def test_multilabel_relevance_is_learned() -> None:
    """Multi-hot labels: items that share a label are found more often than by chance."""
    rng = np.random.default_rng(0)
    Y = (rng.random((500, 4)) < 0.35).astype(int)
    X = Y @ rng.standard_normal((4, 10)) + 0.3 * rng.standard_normal((500, 10))
    chance = ((Y[:100] @ Y[100:].T) > 0).mean()
    for model in (
        SDH(24, random_state=0),
        FSDH(24, random_state=0),
        FastHash(24, hash_function="linear", random_state=0),
    ):
        assert model.fit(X[100:], Y[100:]).score(X[:100], Y[:100]) > chance + 0.2, type(model).__name__


def test_missing_labels_are_hashed(digits: Any) -> None:
    """Rows labelled -1 do not take part in learning and get their hashed code; the ambiguous case is an error."""
    X, y, Q, yq = digits
    partly = y.copy()
    partly[::3] = -1
    model = SDH(32, hash_function="rbf", random_state=0).fit(X, partly)
    assert model.score(Q, yq) > 0.8
    assert model.codes_[np.flatnonzero(partly == -1)] == model.encode(X[partly == -1])
    with pytest.raises(InvalidInput, match="missing_label=None"):
        SDH().fit(X[:50], np.where(np.arange(50) % 2, 1, -1))
    SDH(8, missing_label=None).fit(X[:50], np.where(np.arange(50) % 2, 1, -1))


def test_bad_input_is_named(digits: Any) -> None:
    """NaN, one class, wrong parameters: an error that says so."""
    X, y, _, _ = digits
    with pytest.raises(ValueError, match="NaN"):
        SDH().fit(np.where(X == 0, np.nan, X), y)
    with pytest.raises(InvalidInput, match="at least 2 classes"):
        SDH().fit(X, np.zeros(len(X), dtype=int))
    for wrong in (
        SDH(0), SDH(optimizer="dcd"), SDH(hash_function="svm"), SDH(delta=-1.0), SDH(rounds=0), SDH(output="hex"),
        SDH(alpha="best"), SDH(nu=-1.0),
    ):  # fmt: skip
        with pytest.raises(InvalidInput):
            wrong.fit(X, y)


def test_chunks_equal_the_whole(digits: Any) -> None:
    """`partial_fit` over chunks regresses onto its code words as one fit over all rows does."""
    X, y, Q, yq = digits
    model = SDH(24, random_state=0)
    for start in range(0, 900, 300):
        model.partial_fit(X[start : start + 300], y[start : start + 300], classes=np.arange(10))
    assert len(model.codes_) == 900 and model.score(Q, yq) > 0.75
    whole = SDH(24, random_state=0).partial_fit(X, y)
    assert np.allclose(model.decision_function(Q), whole.decision_function(Q))
    with pytest.raises(InvalidInput, match="classes"):
        model.partial_fit(X[:5], np.full(5, 77))
    assert not hasattr(SDH(hash_function="trees"), "partial_fit")


def test_alpha_is_tuned_on_request(digits: Any) -> None:
    """alpha="cv" takes a value of the paper's grid."""
    X, y, _, _ = digits
    assert SDH(8, alpha="cv", refine=False, random_state=0).fit(X[:300], y[:300]).alpha_ in PAPER_ALPHAS
