"""The two tiers: same bits, switched by size and time, threads limited and restored."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.kernels import jit, sparse
from tests.reference import random_symmetric

pytestmark = pytest.mark.kernels


def _problem(n: int, seed: int) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = sp.csr_array(random_symmetric(rng, n, density=0.3))
    return A, rng.standard_normal(n), np.where(rng.random(n) < 0.5, 1.0, -1.0)


def test_small_work_is_interpreted_and_large_work_compiled() -> None:
    """A fresh kernel starts interpreted and compiles for large arrays."""

    def total(values):  # type: ignore[no-untyped-def]
        s = 0.0
        for i in range(values.size):
            s += values[i]
        return s

    fresh = jit.kernel(total)
    assert fresh(np.ones(10)) == 10.0 and fresh.compiled is None
    assert fresh(np.ones(jit.INTERPRETED_ELEMENTS + 1)) == jit.INTERPRETED_ELEMENTS + 1
    assert fresh.compiled is not None


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


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="without JIT there is nothing to compile")
def test_warm_up_compiles_without_error() -> None:
    """warm_up moves the kernels to the compiled tier."""
    flipwise.warm_up()
    assert sparse.csr_flip_improving.compiled is not None
