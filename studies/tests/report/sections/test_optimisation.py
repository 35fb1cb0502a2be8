"""Figures that the sections compute from cells."""

from __future__ import annotations

import pytest

from flipwise_studies.report.sections.optimisation import fitted_exponent


def test_the_fitted_exponent_is_that_of_the_power() -> None:
    """Points on a power law give its exponent; two points give none."""
    points = [(x, 3 * x**1.5) for x in (10.0, 100.0, 1000.0, 5000.0)]
    assert fitted_exponent(points) == pytest.approx(1.5)
    assert fitted_exponent(points[:2]) is None
