"""The B-step: a code matrix that lowers a loss, by DPCD, by DCC, or by any method of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.constraints import Constraint
from flipwise.errors import InvalidInput
from flipwise.hashing.losses.gram import GramMatch
from flipwise.hashing.losses.rows import RowQuadratic
from flipwise.hashing.pace import seconds_left
from flipwise.kernels import rows as kernels
from flipwise.log import is_shown
from flipwise.minimization import minimize
from flipwise.solvers.registry import find_method

CodeMatrix = npt.NDArray[np.int8]
"""Codes as -1/+1, a row for each item or label set."""

DCC_SWEEPS = 10
"""Sweeps of the authors' B-step in SDH, which also stops when a sweep changes nothing."""
CANDIDATES = 16
"""Sets of flips looked at in one neighbourhood search of a row."""
NEIGHBOURHOOD = 5
EVERY = 10


def solve_rows(
    loss: RowQuadratic,
    B: CodeMatrix,
    optimizer: str,
    rng: np.random.Generator,
    *,
    updates: int = 20,
    alpha: float | tuple[float, float] = 1.0,
) -> CodeMatrix:
    """The B-step of a loss whose rows are independent, from `B`.

    "dpcd" runs Algorithm 1 in each row; "dcc" is the original of SDH; "fsdh" and "itq" are the closed form of a
    linear loss; any other name goes through `flipwise.minimize` with the method's own limits.
    """
    kernels.compile_for(*loss.shape)
    if optimizer == "dpcd":
        return _dpcd_rows(loss, B, rng, updates, alpha)
    if optimizer == "dcc":
        return _dcc_rows(loss, B)
    if optimizer in ("fsdh", "itq"):
        if loss.W.any():
            raise InvalidInput(f'optimizer="{optimizer}" is a closed form for linear losses only.')
        return np.where(loss.P >= 0.0, 1, -1).astype(np.int8)[loss.which]
    # each method has the limits its authors suggest
    found = minimize(loss, method=optimizer, x0=B, seed=rng, time_limit=seconds_left())
    return np.asarray(found.x, dtype=np.int8)


def solve_gram(
    loss: GramMatch,
    B: CodeMatrix,
    optimizer: str,
    rng: np.random.Generator,
    *,
    updates: int = 20,
    alpha: float | tuple[float, float] = 1.0,
    constraint: Constraint | None = None,
) -> CodeMatrix:
    """The B-step of a similarity loss, from `B`."""
    options: dict[str, Any] = {"alpha": alpha, "neighbourhood": 0} if optimizer == "dpcd" else {}
    found = minimize(
        loss, constraint=constraint, method=optimizer, x0=B, seed=rng, max_iterations=updates,
        time_limit=seconds_left(), verbose=is_shown(), **options
    )  # fmt: skip
    return np.asarray(found.x, dtype=np.int8)


def check_optimizer(name: str, own: tuple[str, ...]) -> None:
    """Raise unless `name` is one of the estimator's own optimisers or a method of the library."""
    if name in own:
        return
    try:
        find_method(name)
    except InvalidInput as error:
        raise InvalidInput(f"`optimizer` must be {', '.join(own)} or a method of flipwise.minimize. {error}") from None


def _dpcd_rows(
    loss: RowQuadratic, B: CodeMatrix, rng: np.random.Generator, updates: int, alpha: float | tuple[float, float]
) -> CodeMatrix:
    alpha1, alpha2 = alpha if isinstance(alpha, tuple) else (alpha, alpha)
    r = B.shape[1]
    if not loss.W.any():  # linear: by Lemma 1 the update with L_0 = 0 flips every wrong sign, and ends
        return np.where(loss.P >= 0.0, 1, -1).astype(np.int8)[loss.which]
    m = min(NEIGHBOURHOOD, r)
    candidates = np.array([rng.choice(r, size=m, replace=False) for _ in range(CANDIDATES)])
    new = np.array(B, dtype=np.int8, order="C")
    flips = np.zeros(len(new), dtype=np.int64)
    kernels.dpcd_rows(
        loss.W, loss.Q, loss.P, loss.which, float(alpha1), float(alpha2), updates, EVERY, candidates, loss.slack, new,
        flips,
    )  # fmt: skip
    return new


def _dcc_rows(loss: RowQuadratic, B: CodeMatrix) -> CodeMatrix:
    new = np.array(B, dtype=np.int8, order="C")
    changed = np.zeros(len(new), dtype=np.int64)
    for _ in range(DCC_SWEEPS):
        kernels.dcc_sweep_rows(loss.Q, loss.P, loss.which, new, changed)
        if not changed.any():
            break
    return new
