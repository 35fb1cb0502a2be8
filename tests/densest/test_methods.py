"""The published methods by name."""

from __future__ import annotations

from flipwise.densest.methods import DENSEST


def test_every_name_is_that_of_its_solver() -> None:
    """Each is made with its own options, needs an exact count, and says what it is for."""
    for name, method in DENSEST.items():
        assert method.make({}).name == name == method.name  # type: ignore[attr-defined]
        assert not method.free and method.counts and method.needs == "densest" and method.summary
