"""Recommendations on known geometry."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import recommend


def test_recommendation_is_the_cheapest_that_reaches_the_target() -> None:
    """Fewest bits first, then least oversampling; an impossible target gives none, and the table says which."""
    X = np.random.default_rng(0).standard_normal((500, 12))
    found = recommend(X, target=0.7, bits=(8, 32), oversampling=(1, 5, 20), queries=60, random_state=0)
    assert found.chosen is not None
    cheaper = [
        m for m in found.measured if (m.n_bits, m.oversampling) < (found.chosen.n_bits, found.chosen.oversampling)
    ]
    assert found.chosen.recall >= 0.7 and all(m.recall < 0.7 for m in cheaper)
    assert "recommended" in str(found)
    none = recommend(X, target=1.0, bits=(8,), oversampling=(1,), queries=60, asymmetric=True, random_state=0)
    assert none.chosen is None and none.measured[0].scoring == "asymmetric"
    with pytest.raises(InvalidInput, match="target"):
        recommend(X, target=2.0)
    with pytest.raises(InvalidInput, match="rows"):
        recommend(X[:5])


@pytest.mark.parametrize(("given", "used"), [(400, 300), (300, 300)])
def test_it_says_for_how_many_rows_it_speaks(given: int, used: int) -> None:
    """The rows searched, without the queries, are returned and printed; a sample is called one."""
    X = np.random.default_rng(0).standard_normal((given, 8))
    found = recommend(X, bits=(8,), oversampling=(1,), max_rows=300, queries=40, random_state=0)
    assert (found.rows, found.given) == (used - 40, given)
    assert "among 260 rows" in str(found)
    assert ("a sample of the 400 given" in str(found)) == (given == 400)


def test_importing_flipwise_leaves_scikit_learn_alone() -> None:
    """Neither `import flipwise` nor codes, search and metrics import scikit-learn or faiss."""
    script = (
        "import sys, flipwise, flipwise.hashing as h; h.Codes, h.mean_average_precision, h.hamming_search;"
        "assert not {'sklearn', 'faiss'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
