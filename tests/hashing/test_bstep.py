"""B-steps: descent, agreement with NumPy twins, closed forms."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from flipwise.hashing.bstep import check_optimizer, solve_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.label_losses import RowQuadratic

pytestmark = pytest.mark.kernels


def problem(seed: int) -> tuple[RowQuadratic, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n, r, c = int(rng.integers(1, 6)), int(rng.integers(1, 8)), int(rng.integers(1, 5))
    loss = RowQuadratic(rng.standard_normal((r, c)), rng.standard_normal((n, r)))
    return loss, np.where(rng.random((n, r)) < 0.5, -1, 1).astype(np.int8), rng


def dcc_twin(loss: RowQuadratic, B: np.ndarray) -> np.ndarray:
    """The authors' step in NumPy: a bit for all rows at a time."""
    B = B.astype(float)
    for _ in range(10):
        before = B.copy()
        for k in range(B.shape[1]):
            others = np.arange(B.shape[1]) != k
            z = loss.P[loss.which][:, k] - B[:, others] @ loss.Q[others, k]
            B[:, k] = np.where(z > 0, 1.0, np.where(z < 0, -1.0, B[:, k]))
        if np.array_equal(before, B):
            break
    return B


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_dcc_equals_its_numpy_twin(seed: int) -> None:
    """The kernel makes the sweeps of the authors' column-wise code."""
    loss, B, rng = problem(seed)
    assert np.array_equal(solve_rows(loss, B, "dcc", rng), dcc_twin(loss, B))


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.sampled_from(["dpcd", "dcc"]))
def test_rows_end_where_no_flip_improves(seed: int, optimizer: str) -> None:
    """The loss falls, and DPCD and DCC end in points that no single flip improves."""
    loss, B, rng = problem(seed)
    new = solve_rows(loss, B, optimizer, rng, updates=100)
    assert loss.value(new.astype(float)) <= loss.value(B.astype(float)) + 1e-9
    x = new.astype(float)
    assert (-2.0 * x * loss.flip_gradient(x, loss.gradient(x)) >= -1e-9).all()


def test_dpcd_rows_are_often_optimal() -> None:
    """On rows of 6 bits, more than half of the rows reach the optimum over all 64 codes."""
    rng = np.random.default_rng(3)
    loss = RowQuadratic(rng.standard_normal((6, 3)), rng.standard_normal((40, 6)))
    B = np.where(rng.random((40, 6)) < 0.5, -1, 1).astype(np.int8)
    new = solve_rows(loss, B, "dpcd", rng).astype(float)
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
        assert np.array_equal(solve_rows(loss, B, optimizer, rng), np.sign(P)), optimizer
    with pytest.raises(InvalidInput, match="closed form"):
        solve_rows(problem(1)[0], problem(1)[1], "fsdh", rng)


def test_unknown_optimizer_is_refused() -> None:
    """The error lists what there is."""
    check_optimizer("dpcd", ("dpcd", "dcc"))
    check_optimizer("sgm", ("dpcd", "dcc"))
    with pytest.raises(InvalidInput, match="dcc"):
        check_optimizer("dcd", ("dpcd", "dcc"))


def test_a_small_problem_at_rest_is_left_as_it_is() -> None:
    """Codes that no flip improves come back unchanged, whatever the neighbourhood search would have drawn."""
    rng = np.random.default_rng(2)
    loss = RowQuadratic(0.01 * rng.standard_normal((7, 3)), rng.standard_normal((4, 7)))
    rest = np.sign(loss.P).astype(np.int8)
    before = rng.bit_generator.state
    assert np.array_equal(solve_rows(loss, rest, "dpcd", rng), rest)
    assert rng.bit_generator.state == before


def test_curvature_is_the_difference_of_gradients() -> None:
    """The Hessian product of a row loss is what its gradient changes by."""
    rng = np.random.default_rng(4)
    loss = RowQuadratic(rng.standard_normal((5, 2)), rng.standard_normal((3, 5)), weights=[1.0, 2.0, 3.0])
    x, d = rng.standard_normal((2, 3, 5))
    assert np.allclose(loss.hessian_times(d), loss.gradient(x + d) - loss.gradient(x))


def test_l2box_on_all_items_finds_codes_as_good_as_the_others() -> None:
    """A label loss with gradients of 1e-2 does not leave L2box-ADMM at its random start."""
    rng = np.random.default_rng(0)
    which = rng.integers(0, 4, 300)
    W = 0.05 * rng.standard_normal((8, 4))
    loss = RowQuadratic(W, W.T.copy(), which)
    B = np.where(rng.random((300, 8)) < 0.5, -1, 1).astype(np.int8)
    values = {name: loss.value(solve_rows(loss, B, name, rng).astype(float)) for name in ("dpcd", "l2box-admm")}
    start = loss.value(B.astype(float))
    assert start - values["l2box-admm"] > 0.9 * (start - values["dpcd"])
