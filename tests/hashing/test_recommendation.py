"""Recommendations on known geometry."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import ITQ, AdditiveQuantizer, asymmetric_search, neighbour_recall, recommend, rerank
from flipwise.hashing.extrapolation import Thinned, recall_among
from flipwise.hashing.search import exact_search


def test_recommendation_is_the_cheapest_that_reaches_the_target() -> None:
    """Fewest bits first, then least oversampling; an impossible target gives none, and the table says which."""
    X = np.random.default_rng(0).standard_normal((500, 12))
    options = {"queries": 60, "estimator": ITQ(), "random_state": 0}
    found = recommend(X, target=0.7, bits=(8, 32), oversampling=(1, 5, 10), **options)
    assert found.chosen is not None
    cheaper = [
        m for m in found.measured if (m.n_bits, m.oversampling) < (found.chosen.n_bits, found.chosen.oversampling)
    ]
    assert found.chosen.recall >= 0.7 and all(m.recall < 0.7 for m in cheaper)
    assert "recommended" in str(found)
    none = recommend(X, target=1.0, bits=(8,), oversampling=(1,), scoring="hamming", **options)
    assert none.chosen is None and none.measured[0].scoring == "hamming"
    for wrong, name in (({"target": 2.0}, "target"), ({"rows": 5}, "rows"), ({"scoring": "table"}, "scoring")):
        with pytest.raises(InvalidInput, match=name):
            recommend(X, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="rows"):
        recommend(X[:5])
    with pytest.raises(InvalidInput, match="multiples of 8"):
        recommend(X, bits=(12,), estimator=AdditiveQuantizer())
    with pytest.raises(InvalidInput, match="scoring"):
        recommend(X, scoring="hamming", estimator=AdditiveQuantizer())


def test_it_says_for_how_many_rows_it_speaks() -> None:
    """Rows learned from are not searched; more rows in the collection mean less recall; a band lies around it."""
    X = np.random.default_rng(0).standard_normal((9000, 8)).astype(np.float32)
    options = {"bits": (8,), "oversampling": (2,), "queries": 40, "estimator": ITQ(), "random_state": 0}
    here, million = recommend(X, max_rows=4000, **options), recommend(X, max_rows=4000, rows=10**6, **options)
    assert (here.rows, here.learned, here.given) == (9000, 4000, 9000)
    assert "among 9,000 rows" in str(here) and "among 1,000,000 rows" in str(million)
    assert "500, 1,000, 2,000 and 4,000 rows" in str(here) and "4,000 others" in str(here)
    (now,), (then,) = here.measured, million.measured
    assert now.searched == then.searched and then.recall < now.recall
    assert now.low < now.recall < now.high
    assert (then.high - then.low) / then.recall > (now.high - now.low) / now.recall
    few = recommend(X[:400], **options)
    assert [n for n, _ in few.measured[0].searched] == [180] and "among 180 rows" in str(few)


def test_codes_of_an_additive_quantiser_are_judged_by_their_own_scores() -> None:
    """What is measured at the largest size is what a search by its tables finds, re-ranked."""
    X = np.random.default_rng(0).standard_normal((1200, 8)).astype(np.float32)
    model = AdditiveQuantizer(effort=0.0)
    found = recommend(X, bits=(16, 24), oversampling=(1, 4), queries=50, estimator=model, random_state=0)
    assert [(m.n_bits, m.bytes_per_item) for m in found.measured] == [(16, 6), (16, 6), (24, 7), (24, 7)]
    assert found.measured[0].recall < found.measured[1].recall and found.measured[0].recall < found.measured[2].recall


def test_lines_are_drawn_on() -> None:
    """Recall that falls as supposed is told for any number of rows; between equal measurements it stays."""
    sizes = np.array([1000, 2000, 4000])

    def recall(rows: float) -> float:
        return float((1 + 0.5 * (rows / 1000) ** 0.6) ** (-1 / 6))

    recalls = np.repeat([[recall(n)] for n in sizes], 30, axis=1)
    for rows in (1500, 4000, 10**6):
        middle, low, high = recall_among(rows, sizes, recalls, 10)
        assert np.isclose(middle, recall(rows), atol=1e-6) and low - 1e-9 <= middle <= high + 1e-9
        assert (high - low < 1e-6) == (rows == 4000)
    bent = np.concatenate([np.ones((1, 30)), recalls])
    assert recall_among(10**5, np.array([100, *sizes]), bent, 10, 50) == recall_among(10**5, sizes, recalls, 10)
    assert recall_among(10**4, sizes, np.ones((3, 30)), 10)[0] > 0.99
    one = recall_among(10**6, sizes[:1], np.full((1, 30), 0.5), 10)
    assert one[1] < 0.5 < one[2] and np.isclose(one[0], 0.5)


def test_fewer_neighbours_tell_of_more_rows() -> None:
    """Where recall falls by how dense neighbours lie, what fewer of them show is told for as many times more rows."""

    def recall(neighbours: int, rows: float) -> np.ndarray:
        rows_each = np.log(rows / neighbours)
        height = rows_each - 0.05 * rows_each**2 - 0.3 * np.log(neighbours)
        return np.full(30, (1 + np.exp(height)) ** (-1 / 6))

    sizes = np.array([1000, 2000, 4000])
    recalls = np.stack([recall(10, n) for n in sizes])
    thinned = [Thinned(5.0, recall(2, 4000), recall(2, 800))]
    right = recall(10, 20_000)[0]
    assert np.isclose(recall_among(20_000, sizes, recalls, 10, thinned=thinned)[0], right, atol=1e-9)
    assert abs(recall_among(20_000, sizes, recalls, 10)[0] - right) > 0.01
    assert recall_among(3000, sizes, recalls, 10, thinned=thinned) == recall_among(3000, sizes, recalls, 10)


def test_what_is_said_of_more_rows_is_what_they_show() -> None:
    """From 1,600 rows to 20,000: nearer to the recall among all of them than the slope of the sizes searched says."""
    X = np.random.default_rng(0).standard_normal((24_400, 24)).astype(np.float32)
    estimator = ITQ(random_state=0)
    options = {"bits": (48,), "oversampling": (2,), "estimator": estimator, "queries": 800, "random_state": 0}
    (said,) = recommend(X[:4000], rows=20_000, max_rows=1600, **options).measured
    learned, database, asked = X[:1600], X[4000:24_000], X[24_000:]
    model = ITQ(48, random_state=0).fit(learned)
    unit = database / np.linalg.norm(database, axis=1, keepdims=True)
    found = asymmetric_search(model.decision_function(asked), model.encode(database), 20).ids
    measured = neighbour_recall(rerank(asked, unit, found, 10).ids, exact_search(asked, unit, 10).ids)
    assert abs(said.recall - measured) < 0.03 and said.low < measured < said.high


def test_importing_flipwise_leaves_scikit_learn_alone() -> None:
    """Neither `import flipwise` nor codes, search and metrics import scikit-learn or faiss."""
    script = (
        "import sys, flipwise, flipwise.hashing as h; h.Codes, h.mean_average_precision, h.hamming_search;"
        "assert not {'sklearn', 'faiss'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_little_time_tries_the_fewest_bits_only() -> None:
    """A limit that is over at once leaves few queries, one length and the first whitening, but an answer."""
    X = np.random.default_rng(0).standard_normal((500, 12))
    found = recommend(X, bits=(16, 8), oversampling=(1, 20), queries=100, time_limit=1e-9, random_state=0)
    assert [m.n_bits for m in found.measured] == [8, 8]
    assert found.learned == (500 - 25) // 2
    assert found.measured[0].recall <= found.measured[1].recall
