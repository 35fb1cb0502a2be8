"""The label losses: given W, one small problem a row, and with W eliminated, over the distinct label sets.

f(B) = sum_i m_i (||W'b_i||^2 - 2 p_i'b_i) + d is what a B-step lowers. SDH (Shen et al., Supervised discrete hashing,
CVPR 2015), ||Y - BW||^2 + delta ||W||^2 + nu ||B - F||^2, has `W = W`, `p_i = W y_i + nu f_i`; in FSDH and ITQ,
||B - T||^2, nothing is quadratic on -1/+1: `W = 0`, `p_i = t_i`. Rows with equal p share one line of `P`, so that a
label set costs r numbers however many items have it.

F(C) = min_W ||M^(1/2)(Y - CW)||^2 + delta ||W||^2 is the SDH loss with W eliminated. Once the code words of the classes
are independent, W fits the labels and the alternating B-step no longer moves, wherever the code words happen to be. F
still tells good code words from bad ones: with A = C'MC + delta I it is tr(Y'MY) - tr(Y'MC A^-1 C'MY), its gradient
2M(CW - Y)W' at the minimising W (envelope theorem).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import as_floats
from flipwise.foundation.errors import InvalidInput
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
    >>> from flipwise.hashing.label_losses import RowQuadratic
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
        terms = np.empty(self.shape[0])
        for rows in chunks(self.shape[0]):  # by chunks: an n x r array of products would be the largest of a fit
            part = np.asarray(x[rows], dtype=np.float64)
            U = part @ self.W
            terms[rows] = (U * U).sum(axis=1) - 2.0 * (part * self.P[self.which[rows]]).sum(axis=1)
        return accurate_sum(self.weights * terms) + self.constant

    def gradient(self, x: Floats) -> Floats:
        g = (x @ self.W) @ self.W.T
        g -= self.P[self.which]
        g *= 2.0 * self.weights[:, None]
        return g

    def hessian_times(self, d: Floats) -> Floats:
        product = (d @ self.W) @ self.W.T
        product *= 2.0 * self.weights[:, None]
        return product

    def value_at(self, x: Floats, g: Floats) -> float:
        del g
        return self.value(x)

    def lipschitz(self) -> Lipschitz:
        """2 max(m) ||WW'||: 0 for a linear objective, where one update of the Lipschitz rule is the optimum."""
        norm = float(np.linalg.norm(self.W, 2)) ** 2 if self.W.size else 0.0
        return Lipschitz(2.0 * float(self.weights.max(initial=0.0)) * norm * (1.0 + 1e-9), True)

    # --- flips --------------------------------------------------------------------------------------------------------

    def flip_gradient(self, x: Floats, g: Floats) -> Floats:
        return g - 2.0 * self.weights[:, None] * np.diagonal(self.Q) * x

    def flip_change(self, x: Floats, g: Floats, batch: Ints) -> float:
        rows, step = self._steps(x, batch)
        inner = step @ self.W
        return float((step * g[rows]).sum() + self.weights[rows] @ (inner * inner).sum(axis=1))

    def flip(self, x: Floats, g: Floats, batch: Ints) -> float:
        rows, step = self._steps(x, batch)
        change = self.flip_change(x, g, batch)
        x[rows] += step
        g[rows] += 2.0 * self.weights[rows, None] * ((step @ self.W) @ self.W.T)
        return change

    def flip_improving(self, x: Floats, g: Floats, batch: Ints, *, follow: bool) -> tuple[int, float]:
        chosen = np.zeros(self.shape, dtype=np.bool_)
        chosen.reshape(-1)[batch] = True
        flips = np.zeros(self.shape[0], dtype=np.int64)
        change = np.zeros(self.shape[0])
        kernels.rows_flip_improving(self.Q, self.weights, self.slack, chosen, follow, x, g, flips, change)
        return int(flips.sum()), float(change.sum())

    def swap_improving(self, x: Floats, g: Floats, pairs: Ints) -> tuple[int, float]:
        return swap_shortened(self, x, g, pairs)

    def improving_swaps(self, x: Floats, g: Floats, labels: Ints) -> Ints:
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


class ProjectedLabels:
    """F over a matrix of code words, one row a label set.

    Parameters
    ----------
    Y
        0/1 labels, sets x classes.
    n_bits
        The number of columns of C.
    weights
        How many items have each set.
    delta
        The weight of ||W||^2.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing.label_losses import ProjectedLabels
    >>> f = ProjectedLabels(np.eye(2), 2, [1, 1], delta=1.0)
    >>> same, apart = np.ones((2, 2)), np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> f.value(apart) < f.value(same)
    True
    """

    def __init__(self, Y: npt.ArrayLike, n_bits: int, weights: npt.ArrayLike, delta: float) -> None:
        self.Y = as_floats("Y", Y)
        self.weights = as_floats("weights", weights)
        self.shape = (len(self.Y), int(n_bits))
        self.delta = float(delta)
        self._MY = self.weights[:, None] * self.Y
        self._YMY = float((self.Y * self._MY).sum())

    def best_W(self, x: Floats) -> Floats:
        A = x.T @ (self.weights[:, None] * x)
        A[np.diag_indices_from(A)] += self.delta
        W: Floats = cho_solve(cho_factor(A, check_finite=False), x.T @ self._MY, check_finite=False)
        return W

    def value(self, x: Floats) -> float:
        n_sets, r = self.shape
        if n_sets > r:
            return self._YMY - float(((x.T @ self._MY) * self.best_W(x)).sum())
        # Woodbury: delta tr(Y'(delta M^-1 + CC')^-1 Y), a system of the size of the number of label sets
        A = x @ x.T
        A[np.diag_indices_from(A)] += self.delta / self.weights
        return self.delta * float((self.Y * cho_solve(cho_factor(A, check_finite=False), self.Y)).sum())

    def gradient(self, x: Floats) -> Floats:
        W = self.best_W(x)
        g: Floats = 2.0 * (self.weights[:, None] * (x @ W) - self._MY) @ W.T
        return g
