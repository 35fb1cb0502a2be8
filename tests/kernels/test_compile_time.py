"""The time of compilation: counted once for all threads, and no part of anybody's time limit."""

from __future__ import annotations

import time

import numpy as np
import pytest

import flipwise
from flipwise.engine.limits import Clock, Limits
from flipwise.kernels.compile_time import Moment, compilation, compile_seconds, working_time


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which a test sets."""
    now = [time.perf_counter()]
    monkeypatch.setattr("flipwise.kernels.compile_time.time.perf_counter", lambda: now[0])
    return now


def test_working_time_stands_still_while_something_is_compiled(hands: list[float]) -> None:
    """Two overlapping compilations of 3 s each that take 4 s together stop the clock for 4 s."""
    working, compiled = working_time(), compile_seconds()
    hands[0] += 1.0
    with compilation.timed():
        hands[0] += 1.0
        with compilation.timed():
            hands[0] += 2.0
            assert working_time() - working == pytest.approx(1.0)
        hands[0] += 1.0
    hands[0] += 1.0
    assert working_time() - working == pytest.approx(2.0)
    assert compile_seconds() - compiled == pytest.approx(4.0)


def test_a_time_limit_does_not_pay_for_compilation(hands: list[float]) -> None:
    """A clock with 1 s to go still has it after 5 s of compilation, and says that these were 5 s."""
    clock = Clock(1.0)
    with compilation.timed():
        hands[0] += 5.0
    assert clock.seconds_left == pytest.approx(1.0) and not clock.expired
    assert clock.seconds == pytest.approx(0.0) and clock.compile_seconds == pytest.approx(5.0)
    hands[0] += 1.5
    assert clock.expired


def test_a_limit_counts_from_the_moment_it_is_stated(hands: list[float]) -> None:
    """What is done between the statement of the limits and the run is part of the time."""
    limits = Limits(time_limit=2.0)
    hands[0] += 1.5
    assert Clock(limits.time_limit, began=limits.began).seconds_left == pytest.approx(0.5)
    assert Clock(limits.time_limit, began=Moment()).seconds_left == pytest.approx(2.0)


def test_results_say_what_compilation_took() -> None:
    """`info` has the seconds, also where nothing was compiled."""
    result = flipwise.minimize(np.ones((3, 3)), seed=0)
    assert result.info["compile_seconds"] >= 0.0
