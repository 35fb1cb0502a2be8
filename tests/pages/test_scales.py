"""Scales, ticks and their labels: small properties that drawings rely on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise.pages.scales import labels, make_scale, short, ticks

numbers = st.floats(-1e9, 1e9, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6)


@given(st.lists(numbers, min_size=1, max_size=20))
def test_a_linear_scale_covers_its_values(values: list[float]) -> None:
    """Every value falls into the drawing, larger ones further up, and there are a few round ticks inside."""
    scale = make_scale(values, 0.0, 100.0, log=False)
    assert all(-1e-6 <= scale(value) <= 100 + 1e-6 for value in values)
    assert scale(max(values)) >= scale(min(values))
    chosen = ticks(scale)
    assert 2 <= len(chosen) <= 12 and all(scale.low <= tick <= scale.high for tick in chosen)


@given(st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=20))
def test_a_log_scale_covers_its_values(values: list[float]) -> None:
    """The same for logarithmic scales."""
    scale = make_scale(values, 0.0, 100.0, log=True)
    assert all(-1e-6 <= scale(value) <= 100 + 1e-6 for value in values)
    assert len(ticks(scale)) <= 12


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1600, "1600"), (16000, "16k"), (2.5e6, "2.5M"), (0.004, "0.004"), (1e-7, "1e-7"), (3e9, "3G")],
)
def test_short_numbers(value: float, text: str) -> None:
    """Axis labels are a few characters long."""
    assert short(value) == text


def test_ticks_of_one_axis_share_their_unit() -> None:
    """No axis mixes 9000 with 10k."""
    assert labels([-10_000, -9_000, 0]) == ["-10k", "-9k", "0"]


def test_ticks_of_one_axis_differ() -> None:
    """A narrow range far from zero shows the digits that change."""
    assert labels([112.70, 112.705, 112.71]) == ["112.700", "112.705", "112.710"]
    assert labels([112_700.5, 112_701.0]) == ["112700.5", "112701.0"]
