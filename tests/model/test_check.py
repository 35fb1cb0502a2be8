"""check_objective tells right from wrong."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise


def test_right_objectives_pass() -> None:
    """A quadratic and a smooth function with the right gradient are found right."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((8, 8))
    report = flipwise.check_objective(flipwise.Quadratic(A + A.T))
    assert report.ok and report.flip_error is not None and "right" in str(report)
    assert flipwise.check_objective(flipwise.Smooth(lambda x: (float(np.sin(x).sum()), np.cos(x)), (3, 2))).ok


@pytest.mark.parametrize("factor", [-1.0, 2.0, 0.0])
def test_wrong_sign_scale_or_zero_is_found(factor: float) -> None:
    """A gradient with the wrong sign or scale is reported."""
    report = flipwise.check_objective(flipwise.Smooth(lambda x: (float(x @ x), factor * 2 * x), 4))
    assert not report.ok and "gradient" in report.problems[0]


def test_wrong_lipschitz_bound_is_found() -> None:
    """A constant below the slope of the gradient is no Lipschitz constant."""
    report = flipwise.check_objective(flipwise.Smooth(lambda x: (float(x @ x), 2 * x), 4, lipschitz=1.0))
    assert any("Lipschitz" in problem for problem in report.problems)


def test_wrong_flips_are_found() -> None:
    """An objective of one's own whose incremental change is wrong is reported."""

    class Wrong(flipwise.Quadratic):
        def flip_change(self, x, g, batch):  # type: ignore[no-untyped-def]
            return super().flip_change(x, g, batch) + 1.0

    assert not flipwise.check_objective(Wrong(np.eye(4))).ok


def test_not_an_objective_is_refused() -> None:
    """Something without value and gradient gets a clear error."""
    with pytest.raises(flipwise.InvalidInput, match="gradient"):
        flipwise.check_objective(3)  # type: ignore[arg-type]


def test_the_report_says_what_an_evaluation_costs_and_what_will_be_done() -> None:
    """Seconds of one evaluation, and whether flips are exact, evaluated or drawn in batches."""
    exact = flipwise.check_objective(flipwise.Quadratic(np.eye(3)))
    assert exact.seconds > 0.0 and "exact flips" in exact.scheme
    function = flipwise.check_objective(flipwise.Smooth(lambda x: (float(x.sum()), np.ones(3)), 3))
    assert "first-order schemes" in function.scheme and "ms for a value" in str(function)
    batches = [np.ones((2, 3)), np.ones((1, 3))]
    summed = flipwise.Smooth(lambda x, b: (float((b @ x).mean()), b.mean(axis=0)), 3, batches=batches)
    assert "one batch a step" in flipwise.check_objective(summed).scheme


@pytest.mark.parametrize(("factor", "right"), [(1.0, True), (1.02, False), (-1.0, False), (0.0, False)])
def test_single_precision_is_neither_an_error_nor_an_excuse(factor: float, right: bool) -> None:
    """A right gradient in float32 passes although differences of its values are rough; 2 % too much does not."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 60)).astype(np.float32) / np.float32(8)

    def function(x):  # type: ignore[no-untyped-def]
        t = A @ x.astype(np.float32) - np.float32(1)
        return np.log(np.cosh(t)).sum(), np.float32(factor) * (A.T @ np.tanh(t))

    assert flipwise.check_objective(flipwise.Smooth(function, 60)).ok == right
