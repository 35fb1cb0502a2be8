"""The two tiers: same bits, chosen by a count of operations; threads limited and restored."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.kernels import jit, sparse
from tests.reference import random_symmetric

pytestmark = pytest.mark.kernels


def _problem(n: int, seed: int) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = sp.csr_array(random_symmetric(rng, n, density=0.3))
    return A, rng.standard_normal(n), np.where(rng.random(n) < 0.5, 1.0, -1.0)


def _total(values: np.ndarray) -> float:
    s = 0.0
    for i in range(values.size):
        s += values[i]
    return s


@pytest.fixture
def unused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in which no kernel has been called yet."""
    monkeypatch.setattr(jit.InterpretedWork, "interpreted", 0.0)
    monkeypatch.setattr(jit.InterpretedWork, "allowed", jit.INTERPRETED_OPERATIONS)


def test_little_work_is_interpreted_and_more_compiled(unused: None) -> None:
    """A fresh kernel starts interpreted and compiles for large arrays."""
    fresh = jit.kernel(_total)
    assert fresh(np.ones(10)) == 10.0 and fresh.compiled is None
    assert fresh(np.ones(jit.INTERPRETED_OPERATIONS + 1)) == jit.INTERPRETED_OPERATIONS + 1
    assert fresh.compiled is not None


def test_the_operations_of_all_calls_count_together(unused: None) -> None:
    """Many small calls compile a kernel after as many operations as one large call has, whatever time they take."""
    fresh = jit.kernel(_total, operations=lambda values: 30_000)
    for _ in range(3):
        fresh(np.ones(10))
    assert fresh.compiled is None
    assert fresh(np.ones(10)) == 10.0 and fresh.compiled is not None


def test_several_kernels_share_one_allowance(unused: None) -> None:
    """Many kernels that each have little to do are compiled when it is much together."""
    kernels = [jit.kernel(operations=lambda values: 80_000)(_total) for _ in range(5)]
    for each in kernels:
        each(np.ones(10))
    assert [each.compiled is not None for each in kernels] == [False, False, False, True, True]


def test_work_that_is_large_by_its_count_is_never_interpreted(unused: None) -> None:
    """A call on small arrays that takes many operations goes to the compiled tier before it begins."""
    fresh = jit.kernel(_total, operations=lambda values: values.size**6)
    assert fresh(np.ones(10)) == 10.0 and fresh.compiled is not None


def test_threads_are_limited_and_restored() -> None:
    """The mask of Numba's threads is put back even when the block fails."""
    numba = pytest.importorskip("numba")
    before = numba.get_num_threads()
    A, c, x = _problem(50, 0)
    g = np.empty(50)
    sparse.csr_gradient.compile()
    with pytest.raises(ZeroDivisionError), jit.threads(1):
        sparse.csr_gradient(A.indptr, A.indices, A.data, x, c, g)
        raise ZeroDivisionError
    assert numba.get_num_threads() == before
    assert g == pytest.approx(2 * A @ x + c)
