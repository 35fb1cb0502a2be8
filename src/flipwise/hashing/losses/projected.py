"""F(C) = min_W ||M^(1/2)(Y - CW)||^2 + delta ||W||^2: the SDH loss with W eliminated, over the distinct label sets.

Once the code words of the classes are independent, W fits the labels and the alternating B-step no longer moves,
wherever the code words happen to be. F still tells good code words from bad ones: with A = C'MC + delta I it is
tr(Y'MY) - tr(Y'MC A^-1 C'MY), its gradient 2M(CW - Y)W' at the minimising W (envelope theorem).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from flipwise.arrays import Floats, as_floats


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
    >>> from flipwise.hashing.losses.projected import ProjectedLabels
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
        """The minimising W."""
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
