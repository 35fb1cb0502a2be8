"""Signals at a few random moments of functions, of their proofs and of a command; benchmarks/interrupts.py has more."""

from __future__ import annotations

import contextlib
import importlib
import operator
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from flipwise.foundation import interrupts as library

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


def test_errors_in_looking_at_an_answer_are_told(
    interrupts: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A checkpoint that nothing goes on from is a wrong answer with a reason, not a worker that has died."""
    worker = importlib.import_module("interrupt_worker")

    def wrong(result: Any) -> str:
        raise ValueError("the checkpoint lacks a part of the state")

    case = worker.Case(lambda watch, threads: None, wrong)
    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.chdir(tmp_path)
    try:
        reports = type("Reports", (), {"send": lambda self, **message: None})()
        arrivals = type("Arrivals", (), {"any": lambda self, number: False})()
        outcome = worker.attempted(case, 1, signal.SIGTERM, reports, arrivals)
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert outcome["outcome"] == "result" and "lacks a part of the state" in outcome["wrong"]


@pytest.mark.parametrize("place", ["_Guard.__exit__", "_Guard.leave", "_put_back", "ExitStack.__exit__", "solve"])
def test_what_comes_after_a_call(place: str, interrupts: Any) -> None:
    """What the program's own handler raises while a call puts it back is none of the call; the library's is."""
    worker = importlib.import_module("interrupt_worker")
    if place != "solve":
        assert place in worker.GIVING_BACK
        assert operator.attrgetter(place)(contextlib if "Stack" in place else library).__qualname__ == place

    def heard(handler: Any, number: int) -> str:
        def inside() -> None:
            handler(number, None)

        inside.__code__ = inside.__code__.replace(co_qualname=place)
        try:
            (lambda: inside())()  # as deep as the call of a case
        except BaseException as error:
            return str(worker.where_interrupted(error))
        return "nothing"

    raising = library.Interrupts()
    raising.raising = True
    expected = "interrupt" if place == "solve" else worker.OUTSIDE
    assert heard(signal.default_int_handler, signal.SIGINT) == heard(library.end_process, signal.SIGTERM) == expected
    assert heard(raising.handle, signal.SIGINT) == "interrupt"
