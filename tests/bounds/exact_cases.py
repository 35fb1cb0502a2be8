"""Random quadratics with hostile weights, and their values in fractions: the oracle of every proof."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from flipwise import Quadratic
from flipwise.model.terms import Dense, Sparse

WEIGHTS = st.one_of(
    st.integers(-3, 3).map(float),
    st.integers(-3, 3).map(lambda w: w / 2.0),
    st.floats(-10.0, 10.0, allow_nan=False).map(lambda w: w if abs(w) > 1e-200 else 0.0),
    st.sampled_from([1e-6, -1e-6, 1e12, -1e12, 1e12 + 1e-3, 3e-7]),
)


@st.composite
def quadratics(draw: st.DrawFn, most: int = 7, least: int = 1) -> Quadratic:
    """A quadratic of a few variables: dense or sparse, in spins or bits, weights of one kind or of many sizes."""
    n = draw(st.integers(least, most))
    weight = draw(
        st.sampled_from([st.just(0.0) | st.sampled_from([-1.0, 1.0]), st.integers(-9, 9).map(float), WEIGHTS])
    )
    upper = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        if draw(st.booleans()):
            upper[i, j] = draw(weight)
    c = np.array([draw(weight) for _ in range(n)]) if draw(st.booleans()) else None
    A = upper + upper.T + np.diag([draw(weight) for _ in range(n)] if draw(st.booleans()) else [0.0] * n)
    variables = draw(st.sampled_from(["spin", "binary"]))
    return Quadratic(sp.csr_array(A) if draw(st.booleans()) else A, c, draw(weight), variables=variables)


def exact_value(f: Quadratic, spins: np.ndarray) -> Fraction:
    """f at a point of spins, in fractions."""
    exact = f.exact_parts
    assert exact is not None
    terms, c, variables = exact
    x = [int(s) for s in spins] if variables == "spin" else [int(s > 0) for s in spins]
    total = Fraction(f.given_d)
    for term in terms:
        assert isinstance(term, Dense | Sparse)
        A = term.A if isinstance(term, Dense) else np.asarray(term.A.todense())
        total += sum((Fraction(A[i, j]) * x[i] * x[j] for i, j in np.argwhere(A != 0.0).tolist()), Fraction(0))
    return total + sum((Fraction(c[i]) * x[i] for i in range(f.n)), Fraction(0))


def exact_minimum(f: Quadratic, count: int | None = None) -> Fraction:
    """The least value over all points, or over those with so many ones, in fractions."""
    points = (np.array(p) for p in product([-1, 1], repeat=f.n))
    return min(exact_value(f, p) for p in points if count is None or int((p > 0).sum()) == count)
