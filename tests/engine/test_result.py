"""Results: names, summary, 0/1 and spins, saved and loaded without pickle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flipwise
from flipwise.engine.limits import Status
from flipwise.engine.result import Result


@pytest.fixture
def result() -> Result:
    """A small finished run."""
    A = np.random.default_rng(0).standard_normal((12, 12))
    return flipwise.minimize(flipwise.Quadratic(A + A.T, variables="binary"), method="dpcd", seed=5)


def test_scipys_names_answer(result: Result) -> None:
    """fun, nit, nfev, success and message are there."""
    assert result.fun == result.value and result.nit == result.iterations and result.nfev == result.evaluations
    assert result.success and result.message == Status.LOCAL_OPTIMUM.value


def test_both_kinds_of_variables(result: Result) -> None:
    """x is 0/1 here; spins and bits convert."""
    assert np.array_equal(result.x, result.bits) and np.array_equal(result.spins, 2 * result.bits - 1)


def test_save_and_load_round_trip(result: Result, tmp_path: Path) -> None:
    """Every field survives."""
    result.bound = result.value - 1.0
    path = tmp_path / "run.flipwise"
    result.save(path)
    loaded = Result.load(path)
    assert np.array_equal(loaded.x, result.x)
    for name in ("value", "status", "method", "variables", "bound", "iterations", "seconds", "seed", "gap"):
        assert getattr(loaded, name) == getattr(result, name)
    assert loaded.trace.to_dicts() == result.trace.to_dicts()


@pytest.mark.parametrize("content", [b"", b"not a zip", b"FLIPWISE-FILE-1\nbroken"])
def test_broken_files_are_refused(content: bytes, tmp_path: Path) -> None:
    """A file that is no result gives InvalidFile, naming it."""
    path = tmp_path / "broken.file"
    path.write_bytes(content)
    with pytest.raises(flipwise.InvalidFile, match=r"broken\.file"):
        Result.load(path)


def test_gap(result: Result) -> None:
    """The gap is relative to the value, None without a bound."""
    assert result.gap is None
    result.value, result.bound = -10.0, -11.0
    assert result.gap == pytest.approx(0.1)
    result.bound = -10.0
    assert result.gap == 0.0
    result.value, result.bound = 0.0, -1.0
    assert result.gap == np.inf
    assert "bound" in str(result)


def test_plot_draws_the_run(result: Result) -> None:
    """.plot() returns axes with the best value as a line."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    axes = result.plot()
    assert len(axes.lines) >= 2
    pyplot.close("all")


def test_a_long_trace_is_thinned() -> None:
    """A trace keeps at most its limit of records."""
    from flipwise.engine.trace import Record, Trace

    trace = Trace(limit=10)
    for i in range(100):
        trace.add(Record(i, 0.0, 0.0, 0, None, None, float(i)))
    assert 5 <= len(trace.records) <= 11 and trace.records[0].iteration == 0
