"""The verbose log: fixed width, new best points marked, a closing status that says where the time went."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise
from flipwise.log import HEADER, format_row
from flipwise.trace import Record


def test_rows_and_header_have_one_width() -> None:
    """Header and rows fit 80 columns and end in the same one, from tiny values to huge ones."""
    for value in (0.0, -1.5, 123456.789, -9.87654321e99):
        row = format_row(Record(7, value, value - 1.0, 12, 0.25, value - 2.0, 1.0), change=-value, improved=True)
        assert len(row) == len(HEADER) <= 80


def test_the_log_tells_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Size and constraint, a star on the first row, the value and the time at the end."""
    A = np.random.default_rng(0).standard_normal((40, 40))
    result = flipwise.minimize(A + A.T, constraint=flipwise.Cardinality(7), seed=0, verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert "40 variables" in lines[1] and "exactly 7" in lines[1]
    assert lines[4].startswith("* ")
    assert f"Value       {result.value:.12g}" in lines
    assert lines[-1].startswith("Time ") and "to the best point" in lines[-1]
