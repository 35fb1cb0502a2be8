"""Boosted trees: what lines cannot learn."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from flipwise.hashing.functions.ridge import Targets, make_function


def test_trees_learn_what_lines_cannot() -> None:
    """Exclusive-or of two features: linear values are useless, trees are right."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    words = np.array([[1, 1], [-1, -1]], dtype=np.int8)
    right = {}
    for kind in ("linear", "trees"):
        function = make_function(kind, None).fit(X, Targets(words, y), np.random.default_rng(0))
        right[kind] = float(((function.decision(X) >= 0) == (words[y] > 0)).mean())
    assert right["trees"] > 0.95 and right["linear"] < 0.7
