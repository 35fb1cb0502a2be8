"""Label sets: classes, multi-hot rows, counts, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.labels import as_label_sets


def test_classes_become_sets_of_one_label() -> None:
    """Every class is a set; the rows of Y belong to the sorted class values."""
    sets = as_label_sets(["b", "a", "b"])
    assert sets.classes.tolist() == ["a", "b"] and sets.of_item.tolist() == [1, 0, 1]
    assert np.array_equal(sets.Y, np.eye(2)) and sets.counts.tolist() == [1.0, 2.0] and not sets.multilabel
    assert np.array_equal(as_label_sets([[3], [5], [3]]).of_item, [0, 1, 0])


def test_rows_with_the_same_labels_share_a_set() -> None:
    """Multi-hot rows: the labels of each item are those of its set, and no set is there twice."""
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (50, 3))
    sets = as_label_sets(Y)
    assert sets.multilabel and len(sets.Y) == len(np.unique(Y, axis=0))
    assert np.array_equal(sets.Y[sets.of_item], Y) and sets.counts.sum() == 50


def test_what_is_no_label_is_refused() -> None:
    """NaN, other numbers than 0 and 1 in a matrix, and more than two dimensions."""
    for wrong in ([0.0, np.nan], [[0, 2]], np.zeros((2, 2, 2))):
        with pytest.raises(InvalidInput, match="`y`"):
            as_label_sets(wrong)
