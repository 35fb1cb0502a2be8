"""AdditiveQuantizer: scikit-learn's contract, scores against decoded vectors, chunks, files, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.hashing import AdditiveQuantizer, load, neighbour_recall, save
from flipwise.hashing.search import exact_search


@pytest.fixture(scope="module")
def fitted(digits: Any) -> AdditiveQuantizer:
    """A model of a few bytes."""
    return AdditiveQuantizer(6, effort=0.25, random_state=0).fit(digits[0])


@parametrize_with_checks([AdditiveQuantizer(2, effort=0.1, random_state=0)])
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    """Every check of check_estimator passes."""
    check(estimator)


@pytest.mark.parametrize("metric", ["cosine", "inner", "euclidean"])
def test_scores_are_those_of_the_decoded_vectors(digits: Any, metric: Any) -> None:
    """Tables give the cosine, inner product or distance of a query and what a code stands for."""
    X, _, Q, _ = digits
    model = AdditiveQuantizer(4, metric=metric, effort=0.1, random_state=0).fit(X)
    codes = model.encode(X)
    vectors = model.decode(codes).astype(np.float64)
    assert np.allclose(model.norms(codes), np.linalg.norm(vectors, axis=1), rtol=1e-4)
    scores = Q @ vectors.T
    if metric == "cosine":
        scores = scores / np.linalg.norm(vectors, axis=1)
    if metric == "euclidean":
        scores = -((Q[:, None] - vectors[None]) ** 2).sum(axis=2)
    found = model.search(Q, codes, 5)
    wanted = -np.sort(-scores, axis=1)[:, :5]
    assert np.allclose(found.values, wanted, rtol=1e-3, atol=1e-2)
    assert np.allclose(np.take_along_axis(scores, found.ids, axis=1), wanted, rtol=1e-3, atol=1e-2)
    again = model.search(Q, codes, 5, norms=model.norms(codes))
    assert np.array_equal(again.ids, found.ids)


def test_more_bytes_find_more_neighbours(digits: Any) -> None:
    """Recall of rows not seen in training rises with the bytes, and is no less than that of the residual start."""
    X, _, Q, _ = digits
    seen, database = X[:500].astype(np.float32), X[500:].astype(np.float32)
    unit = database / np.linalg.norm(database, axis=1, keepdims=True)
    truth = exact_search(Q / np.linalg.norm(Q, axis=1, keepdims=True), unit, 10).ids

    def recall(n_bytes: int, effort: float) -> float:
        model = AdditiveQuantizer(n_bytes, effort=effort, random_state=0).fit(seen)
        return float(neighbour_recall(model.search(Q, model.encode(database), 10).ids, truth))

    few, start, many = recall(2, 0.5), recall(8, 0.0), recall(8, 0.5)
    assert few + 0.05 < many and start <= many


def test_same_seed_same_codes_and_chunks_are_learned_from(digits: Any, fitted: AdditiveQuantizer) -> None:
    """Fits with one seed are equal; chunks that fit into the sample are all learned from."""
    X, _, Q, _ = digits
    other = AdditiveQuantizer(6, effort=0.25, random_state=0).fit(X)
    assert np.array_equal(fitted.encode(Q), other.encode(Q))
    assert np.array_equal(fitted.transform(Q), fitted.encode(Q))
    assert np.array_equal(fitted.inverse_transform(fitted.encode(Q)), fitted.decode(fitted.encode(Q)))
    chunks = AdditiveQuantizer(6, effort=0.1, random_state=0, max_rows=600)
    for start in (0, 300, 600):
        chunks.partial_fit(X[start : start + 300])
    assert chunks._reservoir.seen == 900 and len(chunks._reservoir.rows) == 600
    few = AdditiveQuantizer(6, effort=0.1, max_rows=300, time_limit=0.0, n_components=9, random_state=0).fit(X)
    assert few.codebooks_.shape == (6, 256, 9) and few.decode(few.encode(Q)).shape == Q.shape


def test_files_keep_the_codes(fitted: AdditiveQuantizer, digits: Any, tmp_path: Path) -> None:
    """A saved model encodes and scores as before; a damaged one is refused."""
    pytest.importorskip("safetensors")
    Q = digits[2]
    save(fitted, tmp_path / "model.safetensors")
    other = load(tmp_path / "model.safetensors")
    codes = fitted.encode(Q)
    assert np.array_equal(other.encode(Q), codes) and other.get_params() == fitted.get_params()
    assert np.array_equal(other.search(Q[:9], codes, 3).ids, fitted.search(Q[:9], codes, 3).ids)
    broken = AdditiveQuantizer(6, effort=0.0, random_state=0).fit(digits[0])
    broken.codebooks_ = broken.codebooks_[:, :, :5].copy()
    save(broken, tmp_path / "broken.safetensors")
    with pytest.raises(InvalidFile, match="codebooks"):
        load(tmp_path / "broken.safetensors")


def test_wrong_input_is_named(fitted: AdditiveQuantizer, digits: Any) -> None:
    """Parameters, codes and norms that cannot be."""
    X = digits[0]
    for wrong, name in (
        ({"n_bytes": 0}, "n_bytes"),
        ({"metric": "hamming"}, "metric"),
        ({"effort": -1}, "effort"),
        ({"max_rows": 1}, "max_rows"),
        ({"n_components": 0}, "n_components"),
    ):
        with pytest.raises(InvalidInput, match=name):
            AdditiveQuantizer(**wrong).fit(X)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="codes"):
        fitted.decode(np.zeros((3, 5), dtype=np.uint8))
    with pytest.raises(InvalidInput, match="norms"):
        fitted.search(X[:1], fitted.encode(X[:4]), 1, norms=np.ones(3))
    with pytest.raises(InvalidInput, match="`k`"):
        fitted.search(X[:1], fitted.encode(X[:4]), 5)
