"""Parts of an index: rows stay with their ids through sorting, removal and joining."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flipwise.hashing.segment import Found, Segment, best_of, joined


def a_segment(seed: int, ids: np.ndarray, lists: int) -> Segment:
    """Rows whose code, weight and vector are told by their id."""
    of_list = np.random.default_rng(seed).integers(0, lists, ids.size)
    codes = np.stack([ids % 256, ids // 256], axis=1).astype(np.uint8)
    return Segment.of_rows(ids, codes, ids.astype(np.float32), None, of_list, lists)


def assert_whole(segment: Segment) -> None:
    """Every row belongs to its id, lists follow each other, ids rise within a list."""
    assert np.array_equal(segment.codes[:, 0] + 256 * segment.codes[:, 1].astype(int), segment.ids)
    assert segment.weights is not None and np.array_equal(segment.weights, segment.ids)
    assert segment.starts[-1] == len(segment) and (np.diff(segment.starts) >= 0).all()
    for first, last in zip(segment.starts, segment.starts[1:], strict=False):
        assert (np.diff(segment.ids[first:last]) > 0).all()


@given(st.lists(st.integers(0, 5000), unique=True, max_size=30), st.integers(1, 4), st.integers(0, 99), st.data())
def test_rows_are_found_by_their_ids_until_they_are_taken_out(
    ids: list[int], lists: int, seed: int, data: st.DataObject
) -> None:
    """-1 says that an id is not here."""
    segment = a_segment(seed, np.array(ids, dtype=np.int64), lists)
    assert_whole(segment)
    out = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    asked = np.array([*out, 6000], dtype=np.int64)
    places = segment.places_of(asked)
    assert places[-1] == -1 and np.array_equal(segment.ids[places[:-1]], asked[:-1])
    left = segment.without(places[:-1])
    assert_whole(left)
    assert sorted(left.ids.tolist()) == sorted(set(ids) - set(out)) and (left.places_of(asked) == -1).all()


@given(st.lists(st.integers(0, 5000), unique=True, min_size=1, max_size=30), st.integers(1, 4), st.integers(1, 3))
def test_segments_joined_hold_the_rows_of_all_in_their_lists(ids: list[int], lists: int, parts: int) -> None:
    """Whatever was in which."""
    segments = [a_segment(k, np.array(ids[k::parts], dtype=np.int64), lists) for k in range(parts)]
    whole = joined(segments)
    assert_whole(whole)
    pairs = {(int(i), int(of)) for each in segments for i, of in zip(each.ids, each.of_list, strict=True)}
    assert {(int(i), int(of)) for i, of in zip(whole.ids, whole.of_list, strict=True)} == pairs


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_the_best_of_several_segments_are_the_best_of_all(seed: int, k: int) -> None:
    """By score, equal ones by id."""
    rng = np.random.default_rng(seed)
    ids = rng.permutation(12).reshape(1, -1)
    scores = rng.integers(0, 4, (1, 12)).astype(np.float32)
    parts = [Found(ids[:, cut], ids[:, cut], scores[:, cut]) for cut in (slice(0, 5), slice(5, 12))]
    best = best_of(parts, k)
    expected = sorted(zip((-scores[0]).tolist(), ids[0].tolist(), strict=True))[:k]
    assert [
        (-score, name) for score, name in zip(best.scores[0].tolist(), best.ids[0].tolist(), strict=True)
    ] == expected
