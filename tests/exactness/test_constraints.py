"""A few of the random constrained cases; `benchmarks/constraint_cases.py` runs many."""

from __future__ import annotations

import pytest

from tests.exactness.constraints import run_case


@pytest.mark.parametrize("number", [*range(100, 124), 13])
def test_constrained_case(number: int) -> None:
    """Feasible, the optimum, and proven where that is asked for."""
    run_case(number)
