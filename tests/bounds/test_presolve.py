"""The presolve: what it leaves has the same minimum, exactly, and every rule does what it says."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from flipwise import Quadratic
from flipwise.bounds.closing import matrix_of
from flipwise.bounds.enumeration import least_point
from flipwise.bounds.integers import integer_model
from flipwise.bounds.presolve import SCALE, presolve
from tests.bounds.exact_cases import quadratics


@settings(max_examples=100, deadline=None)
@given(quadratics(most=7))
def test_minima_of_what_is_left_are_minima_of_the_whole(case: Quadratic) -> None:
    """Constant plus the least energies of all components is the least energy, and the restored point has it."""
    model = integer_model(case)
    assert model is not None
    found = presolve(model)
    total, left = found.constant, {}
    for part in found.components():
        J = matrix_of(found.rows, part)
        least = least_point(J[:-1, :-1], J[:-1, -1], [])
        assert least is not None
        total += least[0]
        left.update(zip(part, [*least[1].tolist(), 1], strict=True))
    point = found.restored(left)
    energies = [model.energy(np.array(p, dtype=np.int8)) for p in product([-1, 1], repeat=case.n)]
    assert model.energy(point) == min(energies) and total == SCALE * min(energies)


def _model(n: int, edges: list[tuple[int, int, float]], c: list[float] | None = None) -> Quadratic:
    i, j, w = zip(*edges, strict=True)
    upper = sp.coo_array((w, (i, j)), shape=(n, n))
    return Quadratic(sp.csr_array(upper + upper.T), c)


@pytest.mark.parametrize(
    ("edges", "c", "rule"),
    [
        ([(0, 1, 1.0)], None, "degree 1"),
        ([(0, 1, 5.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0), (0, 2, 1.0), (1, 3, 1.0)], None, "heavy edge"),
        ([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)], None, "heavy edge"),
        ([(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)], [9.0, 0.0, 0.0], "fixed"),
        ([(i, j, 1.0) for i in range(4) for j in range(i)], None, "degree 3"),
    ],
)
def test_rules_by_name(edges: list[tuple[int, int, float]], c: list[float] | None, rule: str) -> None:
    """Each rule applies where it should, and nothing is left of such small models."""
    model = integer_model(_model(4, edges, None if c is None else [*c, 0.0]))
    assert model is not None
    report = presolve(model).report()
    assert report[rule] >= 1 and report["left"] == 0 and report["components"] == 0


def test_components_are_kept_apart() -> None:
    """Two complete graphs of six nodes: two components of five free spins each."""
    edges = [(a + i, a + j, 1.0) for a in (0, 6) for i in range(6) for j in range(i)]
    model = integer_model(_model(12, edges))
    assert model is not None
    found = presolve(model)
    assert sorted(map(sorted, found.components())) == [list(range(6)), list(range(6, 12))]
    assert found.report() == {"left": 10, "components": 2}


def test_long_range_chains_shrink() -> None:
    """Couplings that fall off quickly: heavy edges contract most of the chain."""
    rng = np.random.default_rng(3)
    n = 60
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) + np.eye(n)
    J = np.triu(rng.standard_normal((n, n)) / distance**3, 1)
    model = integer_model(Quadratic(J + J.T))
    assert model is not None
    assert presolve(model).report()["left"] < 15
