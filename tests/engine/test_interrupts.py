"""Signals at a few random moments of functions, of their proofs and of a command; benchmarks/interrupts.py has more."""

from __future__ import annotations

import importlib
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MOMENTS = 10

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals to send to another process")


@pytest.fixture
def interrupts(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark, as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))  # its files import one another by name
    return importlib.import_module("interrupts")


@pytest.mark.parametrize(
    "function",
    [
        "minimize, slow function",
        "minimize, checkpoint",
        "densest_subgraph, several k",
        "maxcut",
        "bisect",
        "partition",
        "solve_qubo",
        "flipwise maxcut",
    ],
)
def test_an_interrupt_loses_no_answer(function: str, interrupts: Any) -> None:
    """The best answer so far, or a clean interrupt before there is one; everything is put back afterwards."""
    storm = interrupts.storm(
        function, MOMENTS, seed=1, number=signal.SIGTERM if "checkpoint" in function else signal.SIGINT
    )
    assert not storm.faults
    assert storm.kinds.total() >= MOMENTS // 2, "most signals found the call already over"


def test_verdicts(interrupts: Any) -> None:
    """What counts as the best so far, as clean, as a fault, and what is not counted."""
    answer = {"outcome": "result", "began": 0.0, "sent": 0.3, "ended": 0.35, "lag": 0.05, "arrived": True}
    answer |= {"left": None, "iterations": 3, "wrong": None, "status": "INTERRUPTED"}
    verdicts = {
        "best so far": [{}, {"status": "CONVERGED"}],
        "clean": [{"outcome": "interrupt", "where": "", "iterations": 0}],
        "FAULT": [
            {"outcome": "interrupt", "where": "", "iterations": 1},
            {"outcome": "hang", "where": ""},
            {"outcome": "error", "where": ""},
            {"wrong": "infeasible"},
            {"left": "1 threads still run"},
            {"status": "CONVERGED", "ended": 1.3, "lag": 1.0},
        ],
    }
    for expected, changes in verdicts.items():
        for change in changes:
            assert interrupts.judged({**answer, **change})[0] == expected, change
    assert interrupts.judged({**answer, "arrived": False}) is None
    assert interrupts.judged({**answer, "outcome": interrupts.OUTSIDE}) is None
