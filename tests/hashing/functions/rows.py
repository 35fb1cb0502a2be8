"""Rows around the centres of a few classes, with a code word for each."""

from __future__ import annotations

import numpy as np


def data(seed: int = 0, n: int = 120, d: int = 6, classes: int = 3, bits: int = 8):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    words = np.where(rng.random((classes, bits)) < 0.5, -1, 1).astype(np.int8)
    y = rng.integers(0, classes, n)
    X = rng.standard_normal((n, d)) + 2.0 * rng.standard_normal((classes, d))[y]
    return X, y, words, rng
