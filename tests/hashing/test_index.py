"""An index: what is found is what searching all codes finds, whatever was added, removed, saved and opened before."""

from __future__ import annotations

import hashlib
import json
import threading
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("safetensors")

from sklearn.base import clone

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.hashing import ITQ, AdditiveQuantizer, Index, asymmetric_search, hamming_search
from flipwise.hashing.search import exact_search
from tests.hashing.models import ESTIMATORS

RNG = np.random.default_rng(0)
X = (RNG.standard_normal((600, 4)) @ RNG.standard_normal((4, 12)) + RNG.standard_normal((600, 12))).astype(np.float32)
Q = X[::40] + 0.1


@cache
def quantizer(metric: Any) -> AdditiveQuantizer:
    """A fitted quantiser."""
    return AdditiveQuantizer(3, metric=metric, effort=0, random_state=0).fit(X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_estimator_is_searched_as_its_codes_are(estimator: Any, digits: Any) -> None:
    """Asymmetric and by Hamming distance, with and without lists that are all looked at."""
    rows, y, asked, _ = digits
    rows = rows[:300]
    model = clone(estimator).fit(rows, y[:300])
    codes = model.encode(rows)
    for lists in (None, 8):
        index = Index(model, lists=lists, random_state=0)
        index.add(rows[:200])
        index.add(rows[200:])
        near = hamming_search(model.encode(asked[:9]), codes, 5)
        found = index.search(asked[:9], 5, scoring="hamming", probes=8)
        assert np.array_equal(found.ids, near.ids) and np.array_equal(found.values, near.values)
        best = asymmetric_search(model.decision_function(asked[:9]), codes, 5)
        found = index.search(asked[:9], 5, probes=8)
        assert np.array_equal(found.ids, best.ids) and np.allclose(found.values, best.values, rtol=1e-5)


@pytest.mark.parametrize("metric", ["cosine", "inner", "euclidean"])
@pytest.mark.parametrize("lists", [None, 5])
def test_sums_of_entries_are_searched_as_their_model_does(metric: Any, lists: int | None) -> None:
    """The scores of AdditiveQuantizer.search, in all lists; re-ranked by the vectors, all candidates are exact."""
    model = quantizer(metric)
    index = Index(model, lists=lists, keep_vectors=True, random_state=0)
    index.add(X)
    found, best = index.search(Q, 7, probes=5), model.search(Q, model.encode(X), 7)
    assert np.array_equal(found.ids, best.ids) and np.allclose(found.values, best.values, rtol=1e-5)
    exact = index.search(Q, 3, rerank=600, probes=5)
    if metric == "euclidean":
        scores = -((Q[:, None] - X[None]) ** 2).sum(axis=2)
    else:
        unit = X if metric == "inner" else X / np.linalg.norm(X, axis=1, keepdims=True)
        scores = Q @ unit.T
    assert np.array_equal(exact.ids, np.argsort(-scores, axis=1)[:, :3])


def test_few_lists_hold_most_neighbours_and_never_too_few() -> None:
    """One list of eight finds much of what all find; more rows than it holds are found in the next."""
    index = Index(ITQ(16, random_state=0).fit(X), lists=8, keep_vectors=True, random_state=0)
    index.add(X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    truth = exact_search(Q, unit, 10).ids
    shares = [
        np.mean([np.isin(a, b).mean() for a, b in zip(truth, index.search(Q, 10, rerank=50, probes=p).ids)])
        for p in (1, 3, 8)
    ]
    assert shares == sorted(shares) and shares[0] > 0.4 and shares[2] > 0.75
    found = index.search(Q, 590, probes=1)
    assert all(len(set(row)) == 590 for row in found.ids.tolist())


@pytest.mark.parametrize("lists", [None, 4])
def test_adding_and_removing_leaves_what_was_meant(lists: int | None, tmp_path: Path) -> None:
    """After many changes the index answers as one with the same rows, also when it was saved and opened between."""
    model = quantizer("cosine")
    rng = np.random.default_rng(1)
    index = Index(model, lists=lists, keep_vectors=True, random_state=0)
    index.add(X[:50], np.arange(50) + 1000)
    kept = {1000 + i: i for i in range(50)}
    for round in range(12):
        ids = rng.choice(900, 20, replace=False)
        ids = ids[[i not in kept for i in ids]]
        rows = rng.integers(0, len(X), len(ids))
        index.add(X[rows], ids)
        kept |= dict(zip(ids.tolist(), rows.tolist()))
        gone = rng.choice(sorted(kept), 8, replace=False)
        index.remove(gone)
        for id in gone.tolist():
            del kept[id]
        if round == 6:
            index.save(tmp_path / "i")
            index = Index.open(tmp_path / "i", verify=True)
    assert index.ids.tolist() == sorted(kept) and len(index) == len(kept)
    assert sorted(kept)[0] in index and 5000 not in index
    again = Index(model, lists=lists, keep_vectors=True, random_state=0)
    names = np.array(sorted(kept))
    if lists is not None:
        again._centres = index._centres
    again.add(X[[kept[id] for id in names.tolist()]], names)
    for rerank in (None, 30):
        one, other = (i.search(Q, 9, rerank=rerank, probes=4) for i in (index, again))
        assert np.array_equal(one.ids, other.ids) and np.array_equal(one.values, other.values)
    assert index.add(X[:2]).tolist() == [1050, 1051]


def test_ties_go_by_id() -> None:
    """Equal rows under falling ids come back in rising order, from several segments and lists."""
    model = ITQ(8, random_state=0).fit(X)
    for lists in (None, 3):
        index = Index(model, lists=lists, random_state=0)
        index.add(X[np.zeros(20, dtype=int) if lists is None else np.arange(20) % 2], np.arange(20) + 100)
        index.add(X[:1], [7])
        index.add(X[:1], [3])
        index.remove([100])
        for scoring in ("hamming", "asymmetric"):
            ids = index.search(X[:1], 4, scoring=scoring, probes=3).ids[0].tolist()  # type: ignore[arg-type]
            assert ids[:2] == [3, 7] and ids[2:] == sorted(ids[2:])


def test_threads_search_while_others_change() -> None:
    """Every answer is that of some moment: of pairs that come and go together none is seen alone."""
    model = ITQ(16, random_state=0).fit(X)
    index = Index(model)
    index.add(X[:200])
    wrong: list[str] = []
    ended = threading.Event()

    def search() -> None:
        while not ended.is_set():
            ids = index.search(X[:1], len(index) if len(index) % 2 == 0 else 1).ids[0]
            if len(ids) > 1 and (len(ids) % 2 or len(set(ids.tolist())) < len(ids)):
                wrong.append(str(len(ids)))

    def change(base: int) -> None:
        for step in range(15):
            ids = [base + 2 * step, base + 2 * step + 1]
            index.add(X[ids[0] % 500 : ids[0] % 500 + 2], ids)
            if step % 2:
                index.remove(ids)

    readers = [threading.Thread(target=search) for _ in range(2)]
    writers = [threading.Thread(target=change, args=(1000 * (t + 1),)) for t in range(3)]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    ended.set()
    for thread in readers:
        thread.join()
    assert not wrong and len(index) == 200 + 3 * 8 * 2


def test_what_does_not_fit_is_refused() -> None:
    """Before any work, with the rule and what to do; the index stays as it was."""
    with pytest.raises(InvalidInput, match="not fitted"):
        Index(ITQ(8))
    with pytest.raises(InvalidInput, match="estimator of flipwise"):
        Index("model")
    model = quantizer("cosine")
    index = Index(model)
    with pytest.raises(InvalidInput, match="`k`"):
        index.search(Q, 1)
    index.add(X[:20])
    for bad, match in [
        (lambda: index.add(X[:2], [5, 50]), "5 is in the index"),
        (lambda: index.add(X[:2], [50, 50]), "twice"),
        (lambda: index.add(X[:2], [50]), "one for each of the 2 rows"),
        (lambda: index.add(X[:2], [-1, 50]), "2\\^63"),
        (lambda: index.add(X[:, :5]), "12 columns"),
        (lambda: index.remove([3, 99]), "99 is not"),
        (lambda: index.search(Q, 21), "`k`"),
        (lambda: index.search(Q, 2, rerank=5), "keep_vectors"),
        (lambda: index.search(Q, 2, scoring="hamming"), "AdditiveQuantizer"),
        (lambda: index.search(Q, 2, probes=0), "`probes`"),
        (lambda: Index(model, lists=1), "`lists`"),
        (lambda: Index(model, metric="l2"), "`metric`"),
        (lambda: Index(model, lists=400).add(X), "800 rows"),
    ]:
        with pytest.raises(InvalidInput, match=match):
            bad()
    assert index.ids.tolist() == list(range(20))


@pytest.mark.parametrize("model", [ITQ(12, random_state=0).fit(X), quantizer("cosine")])
@pytest.mark.parametrize("lists", [None, 2])
def test_numbers_that_cannot_be_are_refused(model: Any, lists: int | None) -> None:
    """Whatever the estimator says of them: NaN, infinities, and what float32 does not hold. No rows are none."""
    index = Index(model, lists=lists, keep_vectors=True, random_state=0)
    for wrong in (np.nan, np.inf, -np.inf, 1e300):
        bad = X[:20].astype(np.float64)
        bad[3, 1] = wrong
        with pytest.raises(InvalidInput, match="`X`"):
            index.add(bad)
        assert not len(index)
    index.add(X[:20])
    with pytest.raises(InvalidInput, match="`queries`"):
        index.search(bad, 2)
    for scoring in ("asymmetric",) if isinstance(model, AdditiveQuantizer) else ("asymmetric", "hamming"):
        none = index.search(X[:0], 2, scoring=scoring)  # type: ignore[arg-type]
        assert none.ids.shape == none.values.shape == (0, 2)
    assert index.add(X[:0]).size == 0 and len(index) == 20


def test_files_are_checked(tmp_path: Path) -> None:
    """Empty and small indexes round-trip; damage to the head is always found, elsewhere when asked to look."""
    path = tmp_path / "i"
    for rows in (0, 30):
        index = Index(ITQ(12, random_state=0).fit(X), keep_vectors=True)
        index.add(X[:rows])
        index.save(path)
        again = Index.open(path, verify=True)
        assert len(again) == rows and repr(again) == repr(index)
    assert np.array_equal(again.search(Q, 5, rerank=9).ids, index.search(Q, 5, rerank=9).ids)
    content = path.read_bytes()
    for at, verify in ((3, False), (20, False), (100, False), (len(content) - 100, True)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(InvalidFile):
            Index.open(path, verify=verify)
    for other in (b"", content[:40], content[:-64], content + bytes(64)):
        path.write_bytes(other)
        with pytest.raises(InvalidFile):
            Index.open(path)


@pytest.mark.parametrize("metric", ["missing", None, "hamming", ["cosine"], 3])
def test_a_head_without_a_metric_that_there_is_is_refused(metric: Any, tmp_path: Path) -> None:
    """Also where its checksum fits."""
    path = tmp_path / "i"
    index = Index(ITQ(12, random_state=0).fit(X))
    index.add(X[:9])
    index.save(path)
    content = path.read_bytes()
    size = int.from_bytes(content[16:24], "little")
    about = json.loads(content[56 : 56 + size])
    if metric == "missing":
        del about["metric"]
    else:
        about["metric"] = metric
    head = json.dumps(about).encode()
    head += b" " * (size - len(head))  # arrays stay where they are
    if len(head) > size:
        head = json.dumps(about, separators=(",", ":")).encode().ljust(size)
    path.write_bytes(
        content[:16] + len(head).to_bytes(8, "little") + hashlib.sha256(head).digest() + head + content[56 + size :]
    )
    with pytest.raises(InvalidFile, match="metric"):
        Index.open(path)
