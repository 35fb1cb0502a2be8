"""The losses that learn from labels, as functions of the codes alone: W is the best one for them.

SDH (Shen et al., Supervised discrete hashing, CVPR 2015): ||Y - BW||^2 + delta ||W||^2 + nu ||B - F||^2.
FSDH (Gui et al., Fast supervised discrete hashing, TPAMI 2018): ||B - YW||^2 + delta ||W||^2.

Both have a closed form for W given B, and independent rows (see `row_loss`) given W, which is what an alternation uses.
The gradient over B at the best W is that of the rows (envelope theorem).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.numbers import as_floats
from flipwise.hashing.codes import CodeMatrix, random_codes
from flipwise.hashing.functions.ridge import chunks, solve_positive
from flipwise.hashing.labels import LabelSets
from flipwise.hashing.row_loss import RowQuadratic


@dataclass(frozen=True, eq=False)
class CodeRows:
    """The rows of a code matrix: label sets with their counts, or items.

    Attributes
    ----------
    of_item
        The row of each item.
    set_of_row
        The label set of each row.
    weights
        How many items each row stands for.
    """

    of_item: Ints
    set_of_row: Ints
    weights: Floats

    @classmethod
    def make(cls, sets: LabelSets, distinct: bool) -> CodeRows:
        """A row for each label set where they are to be `distinct`, else one for each item."""
        if distinct:
            return cls(sets.of_item, np.arange(len(sets.Y)), sets.counts)
        return cls(np.arange(sets.of_item.size), sets.of_item, np.ones(sets.of_item.size))

    def sums_by_set(self, B: CodeMatrix, n_sets: int) -> Floats:
        """Sum of weighted rows of B for each label set."""
        total = np.zeros((n_sets, B.shape[1]))
        for rows in chunks(len(B)):
            size = len(B[rows])
            E = sp.csr_array((self.weights[rows], (self.set_of_row[rows], np.arange(size))), shape=(n_sets, size))
            total += np.asarray(E @ B[rows].astype(np.float64))
        return total

    def gram(self, B: CodeMatrix) -> Floats:
        """B'MB; counts below 2^24 are exact in float32, which is twice as fast."""
        unit = bool((self.weights == 1.0).all())
        total = np.zeros((B.shape[1], B.shape[1]))
        for rows in chunks(len(B)):
            if unit:
                single = B[rows].astype(np.float32)
                total += single.T @ single
            else:
                part = B[rows].astype(np.float64)
                total += part.T @ (self.weights[rows, None] * part)
        return total


class FittedLoss(NamedTuple):
    """The loss at some codes: the rows with W fitted to these codes, and its value there."""

    rows: RowQuadratic
    value: float


class LabelLoss:
    """A loss of codes whose W is the best one for them; `rows` says what the rows of the codes stand for."""

    def __init__(self, sets: LabelSets, rows: CodeRows, n_bits: int, delta: float) -> None:
        self.sets, self.rows, self.delta = sets, rows, delta
        self.shape = (len(rows.weights), n_bits)
        self._last: tuple[CodeMatrix, FittedLoss] | None = None

    @abstractmethod
    def _fit(self, B: CodeMatrix) -> FittedLoss:
        """W fitted to B."""

    def fitted(self, B: CodeMatrix) -> FittedLoss:
        """The loss with W fitted to B; that of the last codes asked for is remembered."""
        if self._last is None or not np.array_equal(self._last[0], B):
            self._last = B.copy(), self._fit(B)
        return self._last[1]

    def value(self, x: CodeMatrix | Floats) -> float:
        """The loss of codes with the best W for them."""
        return self.fitted(np.asarray(x, dtype=np.int8)).value

    def gradient(self, x: CodeMatrix | Floats) -> Floats:
        """The gradient over the codes at the best W for them."""
        B = np.asarray(x, dtype=np.int8)
        return self.fitted(B).rows.gradient(B.astype(np.float64))

    def start(self, rng: np.random.Generator) -> CodeMatrix:
        """Random codes of items, or the words of label sets that items with random codes give after one round.

        Then W' = Y'B / n is noise with covariance Y'MY, so small that Y W' decides alone: B = sgn(YR) with R drawn from
        that distribution. Sets that share frequent labels share bits.
        """
        if self.shape[0] == len(self.sets.Y):
            root = np.sqrt(self.sets.counts)[:, None] * self.sets.Y
            R = root.T @ rng.standard_normal((len(root), self.shape[1]))
            return np.where(self.sets.Y @ R >= 0.0, 1, -1).astype(np.int8)
        return random_codes(self.shape, rng)


class Coupling(NamedTuple):
    """The term nu ||B - F||^2 of SDH; `predict` gives the F of codes, the values of a hash function fitted to them."""

    nu: float
    predict: Callable[[CodeMatrix], Floats]


class SDHLoss(LabelLoss):
    """min over W of ||Y - BW||^2 + delta ||W||^2, and nu ||B - F||^2 where there is a `coupling`.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing.label_losses import CodeRows, SDHLoss
    >>> from flipwise.hashing.labels import as_label_sets
    >>> sets = as_label_sets([0, 1, 1])
    >>> loss = SDHLoss(sets, CodeRows.make(sets, distinct=True), n_bits=2, delta=1.0)
    >>> loss.value(np.array([[1, 1], [1, -1]])) < loss.value(np.array([[1, 1], [1, 1]]))
    True
    """

    def __init__(
        self, sets: LabelSets, rows: CodeRows, n_bits: int, delta: float, coupling: Coupling | None = None
    ) -> None:
        super().__init__(sets, rows, n_bits, delta)
        self.coupling = coupling
        self._label_norm = float(sets.counts @ (sets.Y * sets.Y).sum(axis=1))

    def _fit(self, B: CodeMatrix) -> FittedLoss:
        """W by ridge regression; the value from its sums, without another pass over the rows."""
        Y = self.sets.Y
        G, cross = self.rows.gram(B), self.rows.sums_by_set(B, len(Y)).T @ Y
        A = G.copy()
        A[np.diag_indices_from(A)] += max(self.delta, 1e-12)
        W = solve_positive(A, cross)
        constant = self._label_norm + self.delta * float((W * W).sum())
        value = constant + float((W * (G @ W)).sum()) - 2.0 * float((cross * W).sum())
        P, which = Y @ W.T, self.rows.set_of_row
        if self.coupling is not None:
            nu, F = self.coupling.nu, self.coupling.predict(B)
            P, which = P[which] + nu * F, np.arange(len(B))
            apart = nu * (float((F * F).sum()) + B.size)
            constant, value = constant + apart, value + apart - 2.0 * nu * float((F * B).sum())
        return FittedLoss(RowQuadratic(W, P, which, self.rows.weights, constant), value)


class FSDHLoss(LabelLoss):
    """min over W of ||B - YW||^2 + delta ||W||^2: labels are regressed onto codes, so the B-step is linear."""

    def __init__(self, sets: LabelSets, rows: CodeRows, n_bits: int, delta: float) -> None:
        super().__init__(sets, rows, n_bits, delta)
        self._gram = sets.Y.T @ (sets.counts[:, None] * sets.Y)
        self._code_norm = float(rows.weights.sum()) * n_bits

    def _fit(self, B: CodeMatrix) -> FittedLoss:
        """W by ridge regression; the value from its sums, without another pass over the rows."""
        Y = self.sets.Y
        A = self._gram.copy()
        A[np.diag_indices_from(A)] += max(self.delta, 1e-12)
        cross = Y.T @ self.rows.sums_by_set(B, len(Y))
        W = solve_positive(A, cross)
        T = Y @ W
        constant = self._code_norm + float(self.sets.counts @ (T * T).sum(axis=1)) + self.delta * float((W * W).sum())
        rows = RowQuadratic(np.zeros((B.shape[1], 0)), T, self.rows.set_of_row, self.rows.weights, constant)
        return FittedLoss(rows, constant - 2.0 * float((cross * W).sum()))


class CodeWordLoss:
    """The SDH loss of code words, one row a label set, with W eliminated in closed form.

    F(C) = min_W ||M^(1/2)(Y - CW)||^2 + delta ||W||^2. Once the code words of the classes are independent, W fits the
    labels and the alternating B-step no longer moves, wherever the code words happen to be. F still tells good code
    words from bad ones: with A = C'MC + delta I it is tr(Y'MY) - tr(Y'MC A^-1 C'MY), its gradient 2M(CW - Y)W' at the
    minimising W.

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
    >>> from flipwise.hashing.label_losses import CodeWordLoss
    >>> f = CodeWordLoss(np.eye(2), 2, [1, 1], delta=1.0)
    >>> same, apart = np.ones((2, 2)), np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> f.value(apart) < f.value(same)
    True
    """

    def __init__(self, Y: npt.ArrayLike, n_bits: int, weights: npt.ArrayLike, delta: float) -> None:
        self.Y = as_floats("Y", Y)
        self.weights = as_floats("weights", weights)
        self.shape = (len(self.Y), int(n_bits))
        self.delta = float(delta)
        self.evaluations = 0
        """Values and gradients that were asked for."""
        self._MY = self.weights[:, None] * self.Y
        self._YMY = float((self.Y * self._MY).sum())

    def best_W(self, x: Floats) -> Floats:
        """The minimising W."""
        A = x.T @ (self.weights[:, None] * x)
        A.reshape(-1)[:: len(A) + 1] += self.delta
        W: Floats = cho_solve(cho_factor(A, check_finite=False), x.T @ self._MY, check_finite=False)
        return W

    def value(self, x: Floats) -> float:
        """F(x)."""
        self.evaluations += 1
        n_sets, r = self.shape
        if n_sets > r:
            return self._YMY - float(((x.T @ self._MY) * self.best_W(x)).sum())
        # Woodbury: delta tr(Y'(delta M^-1 + CC')^-1 Y), a system of the size of the number of label sets
        A = x @ x.T
        A.reshape(-1)[:: n_sets + 1] += self.delta / self.weights  # the diagonal
        return self.delta * float((self.Y * cho_solve(cho_factor(A, check_finite=False), self.Y)).sum())

    def gradient(self, x: Floats) -> Floats:
        """2M(xW - Y)W' at the minimising W."""
        self.evaluations += 1
        A = x.T @ (self.weights[:, None] * x)
        A.reshape(-1)[:: len(A) + 1] += self.delta
        W = cho_solve(cho_factor(A, check_finite=False), x.T @ self._MY, check_finite=False)
        g: Floats = 2.0 * (self.weights[:, None] * (x @ W) - self._MY) @ W.T
        return g
