"""The history of a run stays small, keeps its ends, and is written as it happens."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from flipwise.engine.trace import Record, Trace


def record(number: int) -> Record:
    return Record(number, -float(number), -float(number), 1, None, None, 0.1 * number)


@given(st.integers(0, 200), st.integers(2, 20))
def test_a_long_history_is_thinned_evenly(count: int, limit: int) -> None:
    """From the first record on, every one, every second one, every fourth one, and never more than the limit."""
    trace = Trace(limit=limit)
    for number in range(count):
        trace.add(record(number))
    kept = [each.iteration for each in trace.records]
    assert len(kept) <= limit and (not count or kept[0] == 0)
    steps = {b - a for a, b in pairwise(kept)}
    assert len(steps) <= 1 and all(step & (step - 1) == 0 for step in steps)


@given(st.integers(1, 200), st.integers(2, 20))
def test_the_last_bound_is_always_there(count: int, limit: int) -> None:
    """And so is the first."""
    trace = Trace(limit=limit)
    for number in range(count):
        trace.add_bound(float(number), float(number))
    assert len(trace.bounds) <= limit + 1 and trace.bounds[0] == (0.0, 0.0)
    assert trace.bounds[-1] == (count - 1.0, count - 1.0) and trace.bounds == sorted(trace.bounds)


def test_every_record_is_written_at_once_also_those_that_are_thinned_out(tmp_path: Path) -> None:
    """A line of JSON each, while the run goes on."""
    trace, path = Trace(limit=2), tmp_path / "trace.jsonl"
    with trace.written_to(path):
        for number in range(7):
            trace.add(record(number))
            assert len(path.read_text().splitlines()) == number + 1
    trace.add(record(7))
    assert [json.loads(line)["iteration"] for line in path.read_text().splitlines()] == list(range(7))
