"""The verbose log: fixed width, new best points marked, a closing status that says where the time went."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import flipwise
from flipwise.engine.log import HEADER, format_row, shown_on_stderr
from flipwise.engine.trace import Record

RING = (12, [[i, (i + 1) % 12] for i in range(12)])


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
    assert "40 -1/+1 variables" in lines[1] and "exactly 7" in lines[1]
    assert lines[4].startswith("* ")
    assert f"Value       {result.value:.12g}" in lines
    assert lines[-1].startswith("Time ") and "to the best point" in lines[-1]


@pytest.mark.parametrize(
    "solve",
    [
        lambda: flipwise.bisect(RING, seed=0, effort=2 / 30, verbose=True),
        lambda: flipwise.partition(RING, 3, seed=0, effort=2 / 30, verbose=True),
        lambda: flipwise.maxcut(RING, seed=0, time_limit=0.2, verbose=True),
        lambda: flipwise.densest_subgraph(RING, 4, seed=0, effort=0, verbose=True),
        lambda: flipwise.solve_qubo(-np.ones((6, 6)), seed=0, time_limit=0.2, callback=lambda _: None, verbose=True),
    ],
    ids=["bisect", "partition", "maxcut", "densest_subgraph", "solve_qubo"],
)
def test_every_application_has_the_log(solve: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> None:
    """Banner, columns and closing lines on standard error, none of them twice."""
    solve()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Flipwise ") and HEADER in lines
    assert lines.count(HEADER) == sum(line.startswith("Status ") for line in lines)


def test_a_proof_after_the_search_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The closing lines have the bound of the result, with the sign of the minimised value, and what it took."""
    result = flipwise.maxcut(RING, seed=0, bound="sdp", verbose=True)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Bound ")]
    assert line.startswith(f"Bound       {-result.bound:.12g} (gap ") and "proven in" in line


def test_a_run_inside_a_shown_block_is_logged_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Blocks of `shown_on_stderr` do not add up."""
    with shown_on_stderr():
        flipwise.minimize(np.eye(3), seed=0, verbose=True)
    assert capsys.readouterr().err.count("Flipwise ") == 1
