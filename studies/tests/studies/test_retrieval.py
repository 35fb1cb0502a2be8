"""What the studies of hash codes measure."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.hashing import Codes
from flipwise_studies.studies.retrieval import bit_statistics


def test_balance_and_correlation_of_known_bits() -> None:
    """The oracle is numpy.corrcoef; a constant bit is unbalanced and has no correlation."""
    signs = np.sign(np.random.default_rng(0).standard_normal((80, 5)))
    statistics = bit_statistics(Codes.from_signs(signs))
    assert statistics["bit_imbalance"] == pytest.approx(np.abs(signs.mean(axis=0)).mean())
    off_diagonal = np.abs(np.corrcoef(signs.T))[~np.eye(5, dtype=bool)]
    assert statistics["bit_correlation"] == pytest.approx(off_diagonal.mean())
    assert bit_statistics(Codes.from_signs(np.ones((4, 2)))) == {"bit_imbalance": 1.0, "bit_correlation": 0.0}
