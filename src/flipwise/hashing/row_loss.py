"""The loss of codes whose rows are independent, which is what a B-step lowers once everything else is held fixed.

f(B) = sum_i m_i (||W'b_i||^2 - 2 p_i'b_i) + d, with a weight m_i for each row.

SDH given W, ||Y - BW||^2 + nu ||B - F||^2, has `W = W`, `p_i = W y_i + nu f_i`. In FSDH and ITQ, ||B - T||^2, nothing
is quadratic on -1/+1: `W = 0`, `p_i = t_i`. Rows with equal p share one line of `P`, so that a label set costs r
numbers however many items have it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_floats
from flipwise.hashing.functions.ridge import chunks
from flipwise.kernels import codes as kernels
from flipwise.model.flips import swap_shortened
from flipwise.model.objective import Lipschitz
from flipwise.model.quadratic import accurate_sum

_EPS = float(np.finfo(np.float64).eps)


class RowQuadratic:
    """A quadratic over an n x r matrix of spins whose rows do not interact.

    Parameters
    ----------
    W
        r x c; the quadratic part of every row is ||W'b||^2. A matrix without columns means none.
    P
        The linear parts, one for each distinct row.
    which
        The line of `P` that each row has; by default row i has line i.
    weights
        How many items each row stands for.
    constant
        Added to the value.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> from flipwise.hashing.row_loss import RowQuadratic
    >>> f = RowQuadratic(np.zeros((2, 0)), [[1.0, -2.0]], which=[0, 0, 0])
    >>> flipwise.minimize(f, seed=0).x.tolist()
    [[1, -1], [1, -1], [1, -1]]
    """

    def __init__(
        self,
        W: npt.ArrayLike,
        P: npt.ArrayLike,
        which: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
        constant: float = 0.0,
    ) -> None:
        self.W, self.P = as_floats("W", W), as_floats("P", P)
        if self.W.ndim != 2 or self.P.ndim != 2 or self.W.shape[0] != self.P.shape[1]:
            raise InvalidInput(f"`W` must be r x c and `P` rows x r, got {self.W.shape} and {self.P.shape}.")
        self.which: Ints = np.arange(len(self.P)) if which is None else np.asarray(which, dtype=np.int64)
        if self.which.ndim != 1 or (self.which.size and not 0 <= self.which.min() <= self.which.max() < len(self.P)):
            raise InvalidInput(f"`which` must hold row numbers of `P`, 0 to {len(self.P) - 1}.")
        n = self.which.size
        self.weights = np.ones(n) if weights is None else as_floats("weights", weights)
        if self.weights.shape != (n,) or (self.weights <= 0).any():
            raise InvalidInput(f"`weights` must be {n} numbers above 0.")
        self.shape = (n, self.P.shape[1])
        self.constant = float(constant)

    @cached_property
    def Q(self) -> Floats:
        """WW'."""
        return self.W @ self.W.T

    @cached_property
    def slack(self) -> float:
        """What rounding can do to the change of a flip in a row of weight 1."""
        largest = np.abs(self.Q).sum(axis=1).max(initial=0.0) + np.abs(self.P).max(initial=0.0)
        return 64.0 * _EPS * float(largest)

    def value(self, x: Floats | npt.NDArray[np.int8]) -> float:
        """f(x), summed accurately."""
        terms = np.empty(self.shape[0])
        for rows in chunks(self.shape[0]):  # by chunks: an n x r array of products would be the largest of a fit
            part = np.asarray(x[rows], dtype=np.float64)
            U = part @ self.W
            terms[rows] = (U * U).sum(axis=1) - 2.0 * (part * self.P[self.which[rows]]).sum(axis=1)
        return accurate_sum(self.weights * terms) + self.constant

    def gradient(self, x: Floats) -> Floats:
        """2 m_i (WW'b_i - p_i), row by row."""
        g = (x @ self.W) @ self.W.T
        g -= self.P[self.which]
        g *= 2.0 * self.weights[:, None]
        return g

    def hessian_times(self, d: Floats) -> Floats:
        """2 m_i WW'd_i, row by row."""
        product = (d @ self.W) @ self.W.T
        product *= 2.0 * self.weights[:, None]
        return product

    def value_at(self, x: Floats, g: Floats) -> float:
        """f(x); the gradient would not make it cheaper."""
        del g
        return self.value(x)

    def lipschitz(self) -> Lipschitz:
        """2 max(m) ||WW'||: 0 for a linear objective, where one update of the Lipschitz rule is the optimum."""
        norm = float(np.linalg.norm(self.W, 2)) ** 2 if self.W.size else 0.0
        return Lipschitz(2.0 * float(self.weights.max(initial=0.0)) * norm * (1.0 + 1e-9), True)

    # --- flips, as `model.objective.SupportsFlips` describes them -----------------------------------------------------

    def flip_gradient(self, x: Floats, g: Floats) -> Floats:
        """`g` without what an entry adds to its own: -2 x_ij times the result is the change of one flip."""
        return g - 2.0 * self.weights[:, None] * np.diagonal(self.Q) * x

    def flip_change(self, x: Floats, g: Floats, batch: Ints) -> float:
        """The exact change of f if every entry of `batch` flipped."""
        rows, step = self._steps(x, batch)
        inner = step @ self.W
        return float((step * g[rows]).sum() + self.weights[rows] @ (inner * inner).sum(axis=1))

    def flip(self, x: Floats, g: Floats, batch: Ints) -> float:
        """Flip every entry of `batch`, `x` and `g` in place; returns the change of f."""
        rows, step = self._steps(x, batch)
        change = self.flip_change(x, g, batch)
        x[rows] += step
        g[rows] += 2.0 * self.weights[rows, None] * ((step @ self.W) @ self.W.T)
        return change

    def flip_improving(self, x: Floats, g: Floats, batch: Ints, *, follow: bool) -> tuple[int, float]:
        """Flip the entries of `batch` that improve, row by row in their order; returns (flips, change)."""
        chosen = np.zeros(self.shape, dtype=np.bool_)
        chosen.reshape(-1)[batch] = True
        flips = np.zeros(self.shape[0], dtype=np.int64)
        change = np.zeros(self.shape[0])
        kernels.rows_flip_improving(self.Q, self.weights, self.slack, chosen, follow, x, g, flips, change)
        return int(flips.sum()), float(change.sum())

    def swap_improving(self, x: Floats, g: Floats, pairs: Ints) -> tuple[int, float]:
        """Swap the longest beginning of `pairs`, halved until it improves; returns (swaps, change)."""
        return swap_shortened(self, x, g, pairs)

    def improving_swaps(self, x: Floats, g: Floats, labels: Ints) -> Ints:
        """Improving exchanges of entries with equal labels: between rows, or else one inside a row."""
        spins = x.reshape(-1)
        loss = -2.0 * spins * self.flip_gradient(x, g).reshape(-1)
        slack = 2.0 * self.slack * float(self.weights.max(initial=0.0))
        pairs = []
        for group in range(int(labels.max(initial=-1)) + 1):
            ones = np.flatnonzero((spins > 0) & (labels == group))
            zeros = np.flatnonzero((spins < 0) & (labels == group))
            ones, zeros = (part[np.argsort(loss[part], kind="stable")] for part in (ones, zeros))
            if ones.size and zeros.size:
                pairs.append(self._swaps_between_rows(ones, zeros, loss, slack))
        found: Ints = np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.int64)
        return found if found.size else self._swaps_in_rows(x, loss, labels, slack)

    def _swaps_between_rows(self, ones: Ints, zeros: Ints, loss: Floats, slack: float) -> Ints:
        """Improving exchanges of entries in two rows, which do not interact; both lists are sorted, best first."""
        m, r = min(ones.size, zeros.size), self.shape[1]
        pairs = np.stack([ones[:m], zeros[:m]], axis=1)
        pairs = pairs[(pairs[:, 0] // r != pairs[:, 1] // r) & (loss[pairs].sum(axis=1) < -slack)]
        found: Ints = pairs
        if found.size:
            return found
        partner = np.full(ones.size, zeros[0])  # the best zero, or for ones of its row the best zero of another row
        elsewhere = zeros[zeros // r != zeros[0] // r]
        same = ones // r == zeros[0] // r
        partner[same] = elsewhere[0] if elsewhere.size else -1
        at = int(np.argmin(np.where(partner >= 0, loss[ones] + loss[partner], np.inf)))
        if partner[at] >= 0 and loss[ones[at]] + loss[partner[at]] < -slack:
            return np.array([[ones[at], partner[at]]])
        return np.empty((0, 2), dtype=np.int64)

    def _swaps_in_rows(self, x: Floats, loss: Floats, labels: Ints, slack: float) -> Ints:
        """Improving exchanges inside one row, where the two flips interact by -8 m Q_jk."""
        r = self.shape[1]
        for i in range(self.shape[0]):
            at = np.arange(i * r, (i + 1) * r)
            change = loss[at][:, None] + loss[at][None, :] - 8.0 * self.weights[i] * self.Q
            allowed = (x[i][:, None] > 0) & (x[i][None, :] < 0) & (labels[at][:, None] == labels[at][None, :])
            change[~allowed] = np.inf
            j, k = divmod(int(change.argmin()), r)
            if change[j, k] < -slack:
                return np.array([[at[j], at[k]]])
        return np.empty((0, 2), dtype=np.int64)

    def _steps(self, x: Floats, batch: Ints) -> tuple[Ints, Floats]:
        """The rows that a batch touches and the change of each."""
        r = self.shape[1]
        rows, at = np.unique(batch // r, return_inverse=True)
        step = np.zeros((rows.size, r))
        step[at, batch % r] = -2.0 * x.reshape(-1)[batch]
        return rows, step
