"""Chunked fitting without labels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.hashing import ARE, ITQ, SADH
from flipwise.hashing.estimators import unsupervised
from flipwise.hashing.estimators.unsupervised import Reservoir


@pytest.mark.parametrize("sparse", [False, True])
def test_every_row_is_kept_with_the_same_chance(sparse: bool) -> None:
    """Over many runs each of 30 rows is in a reservoir of 10 a third of the time; no row is in it twice."""
    counts = np.zeros(30)
    for seed in range(600):
        kept = Reservoir(10, np.random.default_rng(seed))
        for part in np.split(np.arange(1.0, 31.0)[:, None], [4, 17]):
            kept.add(sp.csr_array(part) if sparse else part)
        rows = np.asarray(kept.rows.todense() if sparse else kept.rows).reshape(-1)
        assert np.unique(rows).size == 10
        counts[rows.astype(int) - 1] += 1
    assert abs(counts / 600 - 1 / 3).max() < 0.09


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
    monkeypatch.setattr(unsupervised, "KEPT", 40)
    X = np.random.default_rng(1).standard_normal((200, 6))
    model = ITQ(8, random_state=0)
    for part in np.split(X, 4):
        model.partial_fit(part)
    assert len(model.codes_) == 40
    assert len(model.encode(X)) == 200
