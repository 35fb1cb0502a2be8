"""The B-step: a code matrix that lowers a loss, by DPCD, by DCC, or by any method of the library.

DPCD on a similarity loss ||B'MB||^2 - 2<MB, KMB>, K = Z diag(s) Z', does without the machinery of a general run:
G = B'MB and U = diag(s) Z'MB are kept up to date by the flips, so an update costs two products (BG and ZU) and the
flips themselves. The products only say which coordinates pass the thresholds of Eq. (6); a flip is made where its exact
change, from the present G and U, is negative. Updates end when nothing moves, in a large problem when one has gained
less than a hundredth of what all before it have.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flipwise.engine.log import is_shown
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.gram_loss import GramMatch
from flipwise.hashing.label_losses import RowQuadratic
from flipwise.hashing.pace import out_of_time, seconds_left, tell_round
from flipwise.kernels import codes as kernels
from flipwise.minimization import minimize
from flipwise.solvers.registry import find_method

CodeMatrix = npt.NDArray[np.int8]
"""Codes as -1/+1, a row for each item or label set."""

DCC_SWEEPS = 10
"""Sweeps of the authors' B-step in SDH, which also stops when a sweep changes nothing."""
CANDIDATES = 16
"""Sets of flips looked at in one neighbourhood search of a row."""
FEW_ENTRIES = 10_000
"""Code matrices as small as this are checked for rest before the kernel is called."""
NEIGHBOURHOOD = 5
EVERY = 10
LITTLE = 0.01
LARGE = 100_000
"""With fewer entries than this the updates are cheap, and all are made."""
LOWERED = 4.0
"""alpha is divided by this after an update that flips less than a quarter, and is 0 below 0.1 (as in dpcd.updates)."""


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
    if optimizer in ("dpcd", "fsdh", "itq") and not loss.W.any():
        # linear: by Lemma 1 the update with L_0 = 0 flips every wrong sign, and ends
        return np.where(loss.P >= 0.0, 1, -1).astype(np.int8)[loss.which]
    if optimizer in ("fsdh", "itq"):
        raise InvalidInput(f'optimizer="{optimizer}" is a closed form for linear losses only.')
    if optimizer == "dpcd":
        return _dpcd_rows(loss, B, rng, updates, _pair(alpha))
    if optimizer == "dcc":
        return _dcc_rows(loss, B)
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
) -> CodeMatrix:
    """The B-step of a similarity loss, from `B`."""
    if optimizer == "dpcd":
        return descend(loss, B.astype(np.float64), updates, _pair(alpha)).astype(np.int8)
    found = minimize(
        loss, method=optimizer, x0=B, seed=rng, max_iterations=updates, time_limit=seconds_left(), verbose=is_shown()
    )
    return np.asarray(found.x, dtype=np.int8)


def check_optimizer(name: str, own: tuple[str, ...]) -> None:
    """Raise unless `name` is one of the estimator's own optimisers or a method of the library."""
    if name in own:
        return
    try:
        find_method(name)
    except InvalidInput as error:
        raise InvalidInput(f"`optimizer` must be {', '.join(own)} or a method of flipwise.minimize. {error}") from None


def _pair(alpha: float | tuple[float, float]) -> tuple[float, float]:
    return (float(alpha[0]), float(alpha[1])) if isinstance(alpha, tuple | list) else (float(alpha), float(alpha))


def _dpcd_rows(
    loss: RowQuadratic, B: CodeMatrix, rng: np.random.Generator, updates: int, alpha: tuple[float, float]
) -> CodeMatrix:
    if B.size <= FEW_ENTRIES and _at_rest(loss, B):
        return B
    r = B.shape[1]
    m = min(NEIGHBOURHOOD, r)
    candidates = rng.random((CANDIDATES, r)).argpartition(m - 1, axis=1)[:, :m]
    new = np.array(B, dtype=np.int8, order="C")
    flips = np.zeros(len(new), dtype=np.int64)
    kernels.dpcd_rows(
        loss.W, loss.Q, loss.P, loss.which, *alpha, updates, EVERY, candidates, loss.slack, new, flips
    )  # fmt: skip
    return new


def _at_rest(loss: RowQuadratic, B: CodeMatrix) -> bool:
    """Whether no flip improves any row, so that a B-step from there, with its neighbourhood searches, is left out.

    That is the end of the alternation over few label sets, where W fits the labels as soon as code words differ; to
    call the kernel would cost more than to find that out.
    """
    h = B @ loss.W @ loss.W.T
    h -= loss.P[loss.which]
    h *= B
    h -= np.diagonal(loss.Q)  # flipping j changes f by -4 h_j
    largest = float(h.max(initial=0.0))
    return largest == 0.0 or 4.0 * largest <= loss.slack


def _dcc_rows(loss: RowQuadratic, B: CodeMatrix) -> CodeMatrix:
    new = np.array(B, dtype=np.int8, order="C")
    changed = np.zeros(len(new), dtype=np.int64)
    for _ in range(DCC_SWEEPS):
        kernels.dcc_sweep_rows(loss.Q, loss.P, loss.which, new, changed)
        if not changed.any():
            break
    return new


def descend(loss: GramMatch, B: Floats, updates: int, alpha: tuple[float, float]) -> Floats:
    """At most `updates` principal coordinate updates from `B`, which is changed in place."""
    state = loss.state(B)
    gained = 0.0
    for _ in range(updates):
        flips, change = loss.flip_state(B, state, _chosen(loss.flip_gradient_of(B, state), B, alpha))
        gained -= change
        tell_round(lambda: loss.value(B), flips)
        little = LITTLE * gained if B.size > LARGE else 0.0
        if out_of_time() or (max(alpha) == 0.0 and -change <= little):
            break
        if LOWERED * flips <= B.size:
            alpha = tuple(0.0 if a <= 0.1 * LOWERED else a / LOWERED for a in alpha)  # type: ignore[assignment]
    return B


def _chosen(d: Floats, B: Floats, alpha: tuple[float, float]) -> np.ndarray:
    """S_plus and S_minus of Algorithm 1 as positions, in their order."""
    if max(alpha) == 0.0:
        return np.flatnonzero(d * B > 0.0)
    above, below = d > 0.0, d < 0.0
    L1 = float(d.sum(where=above)) / max(1, int(np.count_nonzero(above)))
    L2 = -float(d.sum(where=below)) / max(1, int(np.count_nonzero(below)))
    return np.flatnonzero(((d > alpha[0] * L1) & (B > 0.0)) | ((d < -alpha[1] * L2) & (B < 0.0)))
