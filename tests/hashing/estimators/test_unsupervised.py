"""Estimators that learn from features alone: chunks, scores, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import ARE, ITQ, SADH
from flipwise.hashing.estimators import unsupervised


def test_all_chunks_below_the_size_are_one_fit() -> None:
    """While everything fits into the sample, chunks give the codes of one fit on all rows."""
    X = np.random.default_rng(0).standard_normal((60, 5))
    for model in (ITQ, ARE, SADH):
        chunked = model(4, random_state=0)
        for part in np.split(X, [25, 50]):
            chunked.partial_fit(part)
        assert len(chunked.codes_) == 60
        assert chunked.score(X) > 0.1
        chunked.fit(X)
        assert len(chunked.codes_) == 60


def test_memory_is_bounded_by_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more rows than are kept, codes are learned on the sample and all rows can be encoded."""
    monkeypatch.setattr(unsupervised, "SAMPLE_ROWS", 40)
    X = np.random.default_rng(1).standard_normal((200, 6))
    model = ITQ(8, random_state=0)
    for part in np.split(X, 4):
        model.partial_fit(part)
    assert len(model.codes_) == 40
    assert len(model.encode(X)) == 200


def test_one_row_is_refused() -> None:
    """There is nothing to learn from one row, and nothing to score."""
    row = np.ones((1, 3))
    with pytest.raises(InvalidInput, match="2 rows"):
        ITQ(4).fit(row)
    with pytest.raises(InvalidInput, match="2 rows"):
        ITQ(4).partial_fit(row)
    model = ITQ(4, random_state=0).fit(np.random.default_rng(0).standard_normal((9, 3)))
    with pytest.raises(InvalidInput, match="2 rows"):
        model.score(row)
