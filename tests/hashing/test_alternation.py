"""B-steps of rows and the alternation around them: descent, closed forms, rest, rounds, refinement."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise import Status
from flipwise.engine.limits import Clock, Limits
from flipwise.engine.run import Run
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.alternation import Alternation, FitContext, Schedule, solve_rows
from flipwise.hashing.label_losses import CodeRows, CodeWordLoss, FSDHLoss, SDHLoss
from flipwise.hashing.labels import as_label_sets
from flipwise.hashing.row_loss import RowQuadratic
from flipwise.model.constraints import Free
from flipwise.model.problem import Problem

pytestmark = pytest.mark.kernels


def problem(seed: int) -> tuple[RowQuadratic, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n, r, c = int(rng.integers(1, 6)), int(rng.integers(1, 8)), int(rng.integers(1, 5))
    loss = RowQuadratic(rng.standard_normal((r, c)), rng.standard_normal((n, r)))
    return loss, np.where(rng.random((n, r)) < 0.5, -1, 1).astype(np.int8), rng


def b_step(loss: RowQuadratic, B: np.ndarray, optimizer: str, rng: np.random.Generator, updates: int = 20) -> Any:
    """The codes after one B-step."""
    return solve_rows(loss, B, Schedule(optimizer, updates=updates), rng, Run(Problem(loss, Free())))


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.sampled_from(["dpcd", "dcc"]))
def test_rows_end_where_no_flip_improves(seed: int, optimizer: str) -> None:
    """The loss falls, and DPCD and DCC end in points that no single flip improves."""
    loss, B, rng = problem(seed)
    new = b_step(loss, B, optimizer, rng, updates=100)
    assert loss.value(new.astype(float)) <= loss.value(B.astype(float)) + 1e-9
    x = new.astype(float)
    assert (-2.0 * x * loss.flip_gradient(x, loss.gradient(x)) >= -1e-9).all()


def test_dpcd_rows_are_often_optimal() -> None:
    """On rows of 6 bits, more than half of the rows reach the optimum over all 64 codes."""
    rng = np.random.default_rng(3)
    loss = RowQuadratic(rng.standard_normal((6, 3)), rng.standard_normal((40, 6)))
    B = np.where(rng.random((40, 6)) < 0.5, -1, 1).astype(np.int8)
    new = b_step(loss, B, "dpcd", rng).astype(float)
    everything = np.array(list(product([-1.0, 1.0], repeat=6)))
    quadratic = ((everything @ loss.W) ** 2).sum(axis=1)
    best = (quadratic[None, :] - 2 * loss.P @ everything.T).min(axis=1)
    reached = ((new @ loss.W) ** 2).sum(axis=1) - 2 * (new * loss.P).sum(axis=1)
    assert np.isclose(reached, best).mean() > 0.55


def test_linear_losses_are_solved_in_one_step() -> None:
    """Without a quadratic part every optimiser returns the signs."""
    rng = np.random.default_rng(0)
    P = rng.standard_normal((5, 4))
    loss = RowQuadratic(np.zeros((4, 0)), P)
    B = np.ones((5, 4), dtype=np.int8)
    for optimizer in ("dpcd", "dcc", "fsdh", "itq", "sgm"):
        assert np.array_equal(b_step(loss, B, optimizer, rng), np.sign(P)), optimizer
    assert (B == 1).all()
    with pytest.raises(InvalidInput, match="closed form"):
        b_step(problem(1)[0], problem(1)[1], "fsdh", rng)


def test_a_small_problem_at_rest_is_left_as_it_is() -> None:
    """Codes that no flip improves come back unchanged, whatever the neighbourhood search would have drawn."""
    rng = np.random.default_rng(2)
    loss = RowQuadratic(0.01 * rng.standard_normal((7, 3)), rng.standard_normal((4, 7)))
    rest = np.sign(loss.P).astype(np.int8)
    before = rng.bit_generator.state
    assert np.array_equal(b_step(loss, rest, "dpcd", rng), rest)
    assert rng.bit_generator.state == before


def test_l2box_on_all_items_finds_codes_as_good_as_the_others() -> None:
    """A label loss with gradients of 1e-2 does not leave L2box-ADMM at its random start."""
    rng = np.random.default_rng(0)
    which = rng.integers(0, 4, 300)
    W = 0.05 * rng.standard_normal((8, 4))
    loss = RowQuadratic(W, W.T.copy(), which)
    B = np.where(rng.random((300, 8)) < 0.5, -1, 1).astype(np.int8)
    values = {name: loss.value(b_step(loss, B, name, rng).astype(float)) for name in ("dpcd", "l2box-admm")}
    start = loss.value(B.astype(float))
    assert start - values["l2box-admm"] > 0.9 * (start - values["dpcd"])


def test_a_method_of_the_library_counts_its_evaluations_and_ends_with_the_run() -> None:
    """A B-step by another method is part of the run around it: its evaluations, its clock."""
    loss, B, rng = problem(7)
    run = Run(Problem(loss, Free()), Limits(time_limit=0.0))
    new = solve_rows(loss, B, Schedule("sgm"), rng, run)
    assert new.shape == B.shape and set(np.unique(new)) <= {-1, 1} and run.evaluations > 0


# --- the alternation --------------------------------------------------------------------------------------------------


def alternate(kind: type, optimizer: str, seed: int, distinct: bool = True, rounds: int = 5) -> tuple[Any, Run, Status]:
    """A loss, the run of its alternation, and how that ended."""
    sets = as_label_sets(np.random.default_rng(seed).integers(0, 6, 80))
    loss = kind(sets, CodeRows.make(sets, distinct), 8, 1.0)
    context = FitContext(np.random.default_rng(seed), Clock())
    run = Run(Problem(loss, Free()))
    solver = Alternation(Schedule(optimizer, rounds=rounds, distinct=distinct), loss, context)
    return loss, run, solver.solve(run.problem, np.empty(0), context.rng, run)


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize(("kind", "optimizer"), [(SDHLoss, "dpcd"), (SDHLoss, "dcc"), (FSDHLoss, "dpcd")])
def test_rounds_of_monotone_steps_lower_the_loss(kind: type, optimizer: str, distinct: bool) -> None:
    """Each round ends at the loss of its codes, none above the one before, and the end is reported."""
    for seed in range(4):
        loss, run, status = alternate(kind, optimizer, seed, distinct)
        values = [record.value for record in run.trace.records]
        assert (np.diff(values) <= 1e-9 * values[0]).all() and 1 <= len(values) <= 5
        assert run.best_x is not None and np.isclose(values[-1], loss.value(run.best_x))
        assert status is (Status.CONVERGED if run.trace.records[-1].flips == 0 else Status.ITERATION_LIMIT)


def test_the_closed_form_of_fsdh_makes_all_rounds() -> None:
    """As its authors do; with "dpcd" the rounds end when nothing moves."""
    _, all_rounds, _ = alternate(FSDHLoss, "fsdh", 0, rounds=7)
    _, until_rest, _ = alternate(FSDHLoss, "dpcd", 0, rounds=7)
    assert all_rounds.iterations == 7 and until_rest.iterations < 7


def test_the_answer_is_that_of_the_last_round() -> None:
    """Where a method raises the loss, the codes are still those that the next step was fitted to."""
    for seed in range(6):
        loss, run, _ = alternate(SDHLoss, "lp", seed, distinct=False)
        assert run.best_x is not None
        assert np.isclose(loss.value(run.best_x), run.trace.records[-1].value)


def test_refinement_goes_on_from_the_last_round() -> None:
    """The words of the last round are refined by DPCD in the same run: more iterations, a lower loss, all counted."""
    sets = as_label_sets(np.random.default_rng(0).integers(0, 6, 80))
    loss = SDHLoss(sets, CodeRows.make(sets, True), 16, 1.0)
    words = CodeWordLoss(sets.Y, 16, sets.counts, 1.0)
    runs = []
    for refined in (None, words):
        context = FitContext(np.random.default_rng(1), Clock())
        run = Run(Problem(loss, Free()), Limits(max_iterations=250))
        Alternation(Schedule(), loss, context, refined).solve(run.problem, np.empty(0), context.rng, run)
        runs.append(run)
    plain, refined_run = runs
    assert refined_run.iterations > plain.iterations and refined_run.best_value < plain.best_value
    assert refined_run.evaluations == plain.evaluations + words.evaluations > plain.evaluations
    assert refined_run.best_x is not None and np.isclose(loss.value(refined_run.best_x), refined_run.best_value)
