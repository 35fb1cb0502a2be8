"""minimize: limits, starts, callbacks, traces, interruptions, and every kind of bad input."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise import Cardinality, InvalidInput, Quadratic, Smooth, Status
from tests.reference import random_symmetric

A = random_symmetric(np.random.default_rng(0), 40)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: flipwise.minimize(np.ones((2, 3))), "square"),
        (lambda: flipwise.minimize(sp.csr_array(np.ones((2, 3)))), "square"),
        (lambda: flipwise.minimize(np.array([[np.nan, 0], [0, 1]])), "finite"),
        (lambda: flipwise.minimize(sp.csr_array(np.array([[np.inf, 0], [0, 1.0]]))), "finite"),
        (lambda: flipwise.minimize(np.zeros((0, 0))), "empty"),
        (lambda: Quadratic([]), "at least one"),
        (lambda: Quadratic(["no"]), "numbers"),
        (lambda: Quadratic([np.eye(2), np.eye(3)]), "same size"),
        (lambda: Quadratic(A, [1.0]), "`c` must have 40"),
        (lambda: Quadratic(A, np.full(40, np.nan)), "`c` must be finite"),
        (lambda: Quadratic(A, d=np.inf), "`d` must be a finite number"),
        (lambda: Quadratic(A, variables="bit"), "spin"),
        (lambda: Quadratic(A, shape=(3, 3)), "has 9 entries"),
        (lambda: flipwise.LowRank([1.0, 2.0]), "matrix"),
        (lambda: flipwise.LowRank(np.ones((2, 2)), [1.0]), "each column"),
        (lambda: flipwise.minimize("f"), "objective"),
        (lambda: flipwise.minimize(lambda x: (0.0, x)), "n_or_shape"),
        (lambda: flipwise.minimize(lambda x: (0.0, x), 0), "positive integer"),
        (lambda: flipwise.minimize(lambda x: (0.0, x), 2.5), "positive integer"),
        (lambda: flipwise.minimize(lambda x: 0.0, 3), "pair"),
        (lambda: flipwise.minimize(lambda x: (0.0, np.ones(2)), 3), "shape of x"),
        (lambda: flipwise.minimize(lambda x: (np.nan, x), 3), "nan"),
        (lambda: flipwise.minimize(lambda x: (0.0, x * np.inf), 3), "NaN or inf"),
        (lambda: flipwise.minimize(lambda x: ("a", x), 3), "one number"),
        (lambda: Smooth(3, 3), "callable"),
        (lambda: Smooth(lambda x: x, 3, gradient=3), "callable"),
        (lambda: Smooth(lambda x: x, 3, lipschitz=-1.0), "lipschitz"),
        (lambda: flipwise.minimize(A, 41), "n_or_shape"),
        (lambda: flipwise.minimize(A, constraint=3), "constraint"),
        (lambda: flipwise.minimize(A, constraint=Cardinality(41)), "between 0 and"),
        (lambda: flipwise.minimize(A, start=np.ones(3)), "`start` must have shape"),
        (lambda: flipwise.minimize(A, start=np.zeros(40)), "only -1 and 1"),
        (lambda: flipwise.minimize(A, start=np.full(40, np.nan)), "only -1 and 1"),
        (lambda: flipwise.minimize(A, start=np.ones(40), constraint=Cardinality(3)), "exactly 3 ones"),
        (lambda: flipwise.minimize(A, method="dpdc"), 'Did you mean "dpcd"'),
        (lambda: flipwise.minimize(A, alpah=1.0), "Did you mean `alpha`"),
        (lambda: flipwise.minimize(A, alpha=-1.0), "alpha"),
        (lambda: flipwise.minimize(A, alpha=(1.0, 2.0, 3.0)), "alpha"),
        (lambda: flipwise.minimize(A, thresholds="median"), "thresholds"),
        (lambda: flipwise.minimize(A, epsilon=0.0), "epsilon"),
        (lambda: flipwise.minimize(A, variant="nesterov"), "variant"),
        (lambda: flipwise.minimize(A, neighbourhood=-1), "neighbourhood"),
        (lambda: flipwise.minimize(A, neighbourhood_every=0), "neighbourhood_every"),
        (lambda: flipwise.minimize(A, decay=1.0), "decay"),
        (lambda: flipwise.minimize(A, seed=-1), "seed"),
        (lambda: flipwise.minimize(A, seed="x"), "seed"),
        (lambda: flipwise.minimize(A, time_limit=-1), "time_limit"),
        (lambda: flipwise.minimize(A, time_limit=np.nan), "time_limit"),
        (lambda: flipwise.minimize(A, max_iterations=0), "max_iterations"),
        (lambda: flipwise.minimize(A, target="low"), "target"),
        (lambda: flipwise.minimize(A, patience=0), "patience"),
        (lambda: flipwise.minimize(A, restarts=0), "restarts"),
        (lambda: flipwise.minimize(A, threads=0), "threads"),
        (lambda: flipwise.minimize(A, callback=3), "callback"),
    ],
)
def test_bad_input_gets_one_clear_error(call: Any, words: str) -> None:
    """The message names the argument and the rule."""
    with pytest.raises(InvalidInput, match=words):
        call()


def test_an_objective_without_lipschitz_is_refused_for_that_rule() -> None:
    """thresholds="lipschitz" needs the method; the error says which."""

    class Own:
        shape = (3,)

        def value(self, x: np.ndarray) -> float:
            return float(x.sum())

        def gradient(self, x: np.ndarray) -> np.ndarray:
            return np.ones(3)

    assert flipwise.minimize(Own(), seed=0).x.tolist() == [-1, -1, -1]
    with pytest.raises(flipwise.IncompatibleObjective, match="lipschitz"):
        flipwise.minimize(Own(), thresholds="lipschitz")


def test_a_method_without_counts_is_refused() -> None:
    """SGM cannot keep a count and the error lists methods that can."""
    with pytest.raises(flipwise.IncompatibleObjective, match="dpcd"):
        flipwise.minimize(A, method="sgm", constraint=Cardinality(3))


def test_limits_end_a_run_with_a_status() -> None:
    """Each limit has its own status and the best point is returned."""
    assert flipwise.minimize(A, seed=0, max_iterations=1).status is Status.ITERATION_LIMIT
    assert flipwise.minimize(A, seed=0, target=1e9).status is Status.TARGET
    assert flipwise.minimize(A, seed=0, time_limit=0).status is Status.TIME_LIMIT
    assert flipwise.minimize(A, seed=0, restarts=50, time_limit=0).iterations == 1
    assert flipwise.minimize(A, seed=0, callback=lambda p: True).status is Status.CALLBACK
    stuck = Smooth(lambda x: (0.0, np.ones(5)), 5)
    assert flipwise.minimize(stuck, seed=0, literal=True, patience=1).status is Status.PATIENCE
    assert not flipwise.minimize(A, seed=0, time_limit=0).success


def test_the_time_limit_is_obeyed_over_many_restarts() -> None:
    """A run of a million restarts ends soon after its time."""
    start = time.perf_counter()
    flipwise.minimize(A, seed=0, restarts=1_000_000, time_limit=0.3)
    assert time.perf_counter() - start < 3.0


def test_restarts_never_hurt_and_the_first_is_the_single_run() -> None:
    """More restarts give values at least as good, from the same seed."""
    values = [flipwise.minimize(A, seed=4, restarts=r).value for r in (1, 5, 20)]
    assert values[0] >= values[1] >= values[2]


def test_warm_start_is_used() -> None:
    """A local optimum given as start is returned."""
    best = flipwise.minimize(A, seed=1, restarts=10)
    again = flipwise.minimize(A, start=best.x, seed=2, neighbourhood=0)
    assert np.array_equal(best.x, again.x)


def test_ctrl_c_returns_the_best_so_far() -> None:
    """KeyboardInterrupt inside a run ends it with the incumbent."""
    calls = []

    def interrupting(progress: flipwise.Progress) -> None:
        calls.append(progress.best)
        if len(calls) == 3:
            raise KeyboardInterrupt

    result = flipwise.minimize(A, seed=0, restarts=20, callback=interrupting)
    assert result.status is Status.INTERRUPTED
    assert result.value == pytest.approx(min(calls))


def test_callback_sees_the_incumbent_in_the_users_variables() -> None:
    """Progress.x is the best point so far, 0/1 for binary objectives."""
    seen = []
    f = Quadratic(A, variables="binary")
    flipwise.minimize(f, seed=0, callback=lambda p: seen.append((p.x, p.best)))
    for x, best in seen:
        assert set(np.unique(x)) <= {0, 1}
        assert f.value(2.0 * x - 1) == pytest.approx(best)


def test_trace_file_has_one_line_an_iteration(tmp_path: Path) -> None:
    """trace_file=path writes JSON lines equal to the trace in memory."""
    path = tmp_path / "run.jsonl"
    result = flipwise.minimize(A, seed=0, trace_file=path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == result.trace.to_dicts()


def test_verbose_logs_a_table_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Banner, header, rows and a closing line; nothing on standard output."""
    flipwise.minimize(A, method="dpcd", seed=0, verbose=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "method dpcd" in captured.err and "iter" in captured.err and "no single move" in captured.err
    flipwise.minimize(A, seed=0)
    assert capsys.readouterr().err == ""


def test_generators_and_integers_are_seeds() -> None:
    """An integer and a generator of that integer give the same run."""
    assert np.array_equal(flipwise.minimize(A, seed=3).x, flipwise.minimize(A, seed=np.random.default_rng(3)).x)


def test_large_values_are_an_error_not_an_infinity() -> None:
    """Overflow is reported."""
    with pytest.raises(InvalidInput, match="float64"), np.errstate(over="ignore", invalid="ignore"):
        flipwise.minimize(np.array([[0.0, -1.7e308], [-1.7e308, 0.0]]), seed=0)


@pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
@pytest.mark.parametrize("method", ["dpcd", "portfolio"])
def test_an_interrupt_whose_exception_is_lost_is_heeded(method: str) -> None:
    """Ctrl-C that meets code which swallows the exception still ends the run, and the old handler comes back."""

    def swallow(progress: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
        except KeyboardInterrupt:
            pass

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background ignore Ctrl-C
    try:
        result = flipwise.minimize(A, method=method, seed=0, time_limit=20.0, restarts=1000, callback=swallow)
        assert result.status is Status.INTERRUPTED
        assert result.seconds < 10.0
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_those_who_name_no_method_get_what_improves_on_the_descent() -> None:
    """The default is the portfolio, the bare descent where the arguments speak of descents; never worse than DPCD."""
    larger = np.kron(A, np.ones((6, 6)))
    assert flipwise.minimize(larger, seed=0).method == "portfolio"
    assert flipwise.minimize(A, seed=0, time_limit=0.1).method == "portfolio"
    assert flipwise.minimize(A, seed=0).method == "dpcd"  # so small a problem never loads the compiler
    for descents in ({"restarts": 2}, {"max_iterations": 3}, {"patience": 5}, {"alpha": 2.0}, {"literal": True}):
        assert flipwise.minimize(larger, seed=0, **descents).method == "dpcd"
    assert flipwise.minimize(A, seed=0, effort=0.05).method == "portfolio"
    bare = flipwise.minimize(A, seed=0, method=flipwise.DPCD(neighbourhood=0))
    assert flipwise.minimize(A, seed=0).value <= bare.value


def test_a_function_and_its_gradient_apart() -> None:
    """`gradient=` beside a bare callable, of as many variables as n or `start` says; evaluations are counted."""
    calls = 0

    def value(x: Any) -> float:
        nonlocal calls
        calls += 1
        return float(((x - 0.3) ** 2).sum())

    def gradient(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return 2.0 * (x - 0.3)

    result = flipwise.minimize(value, 4, gradient=gradient, seed=0)
    assert result.x.tolist() == [1, 1, 1, 1] and result.evaluations == calls
    assert flipwise.minimize(value, gradient=gradient, start=[-1, 1, 1], seed=0).x.size == 3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: flipwise.minimize(lambda x: 0.0, 3, jac=lambda x: x), "Did you mean `gradient`"),
        (lambda: flipwise.minimize(lambda x: 0.0, np.ones(3), gradient=lambda x: x), "goes into `start`"),
        (lambda: flipwise.minimize(np.eye(3), gradient=lambda x: x), "has its own"),
        (lambda: flipwise.minimize(np.eye(3), x0=[1, 1, 1]), "Did you mean `start`"),
        (lambda: flipwise.minimize(abs_of, count=(1, 2), method="spectral"), "got Smooth"),
    ],
)
def test_words_of_other_libraries_are_understood(call: Any, words: str) -> None:
    """What scipy calls jac and x0 leads to our names; messages name no part of the library's inside."""
    with pytest.raises(flipwise.FlipwiseError, match=words):
        call()


abs_of = flipwise.Smooth(lambda x: (float(np.abs(x).sum()), np.sign(x)), 4)
