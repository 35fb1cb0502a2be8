"""f(B) = ||B'MB||^2 - 2 <MB, K MB> + d = ||M^(1/2)(BB' - K)M^(1/2)||^2 up to a constant: codes that match similarities.

K = Z diag(s) Z' is never formed. Three losses of the paper are this one:
    ARE (Hu et al. 2018)      ||BB' - rXX'||^2         Z = X (unit rows), s = r
    FastHash (Lin et al. 2014) ||BB' - rS||^2          S over distinct label sets, each with its multiplicity in M
    SADH-L (Shen et al. 2018)  tr(B'LB), L = I - Z Lambda^-1 Z' of an anchor graph; ||B'B||^2 keeps the bits apart and
                               a column of ones in Z with a negative weight keeps them balanced
The gradient is 4M(B(B'MB) - K M B), O(n r (r + c)) for Z of size n x c.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_floats
from flipwise.kernels import gram as kernels
from flipwise.model.flips import PAIR_LIMIT, swap_shortened
from flipwise.model.objective import Lipschitz

INTERPRETED_WORK = 500_000
"""Products that may be made in one pass of flips without compiling."""


class Products(NamedTuple):
    """What flips keep up to date: G = B'MB (r x r) and U = (diag(s) Z'MB)' (r x c)."""

    G: Floats
    U: Floats


class _Step(NamedTuple):
    """A batch of flips: the exact change of f, the rows it touches, how they change, and the change of B'MB."""

    change: float
    rows: Any
    step: Floats
    dG: Floats


class GramMatch:
    """Codes whose inner products match a similarity given by factors.

    Parameters
    ----------
    Z, s
        The similarity K = Z diag(s) Z'; Z, dense or sparse, has a row for each item.
    n_bits
        r, the number of columns of B.
    weights
        How many items each row stands for (the diagonal of M).
    constant
        Added to the value.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> from flipwise.hashing.gram_loss import GramMatch
    >>> f = GramMatch(np.array([[1.0], [1.0], [-1.0]]), [2.0], n_bits=2, constant=36.0)
    >>> best = flipwise.minimize(f, seed=0)
    >>> best.value, (best.x @ best.x.T).tolist()
    (0.0, [[2, 2, -2], [2, 2, -2], [-2, -2, 2]])
    """

    def __init__(
        self,
        Z: Any,
        s: npt.ArrayLike,
        n_bits: int,
        weights: npt.ArrayLike | None = None,
        constant: float = 0.0,
    ) -> None:
        given: Any = Z
        self.Z: Any = given.tocsr().astype(np.float64) if sp.issparse(Z) else as_floats("Z", Z)
        self.s = as_floats("s", s)
        if self.Z.ndim != 2 or self.s.shape != (self.Z.shape[1],):
            raise InvalidInput(f"`Z` must be n x c and `s` have c entries, got {self.Z.shape} and {self.s.shape}.")
        self.shape = (self.Z.shape[0], int(n_bits))
        self.weights = np.ones(self.shape[0]) if weights is None else as_floats("weights", weights)
        if self.weights.shape != (self.shape[0],) or (self.weights <= 0).any():
            raise InvalidInput(f"`weights` must be {self.shape[0]} numbers above 0.")
        self._unit = bool((self.weights == 1.0).all())
        self.constant = float(constant)

    @cached_property
    def _diagonal(self) -> Floats:
        """The diagonal of K."""
        squares = self.Z * self.Z if isinstance(self.Z, np.ndarray) else self.Z.multiply(self.Z)
        return np.asarray(squares @ self.s)

    def _times_weights(self, B: Floats) -> Floats:
        """MB."""
        return B if self._unit else self.weights[:, None] * B

    def value(self, x: Floats) -> float:
        """f(x) from scratch; x may hold int8 codes."""
        x = np.asarray(x, dtype=np.float64)
        MB = self._times_weights(x)
        G = x.T @ MB
        inner = self.Z.T @ MB
        return float((G * G).sum() - 2.0 * (self.s @ (inner * inner).sum(axis=1))) + self.constant

    def gradient(self, x: Floats) -> Floats:
        """4M(x(x'Mx) - K M x)."""
        MB = self._times_weights(x)
        g = x @ (x.T @ MB)
        g -= self.Z @ (self.s[:, None] * (self.Z.T @ MB))
        return self._times_weights(4.0 * g)

    def value_at(self, x: Floats, g: Floats) -> float:
        """f(x); the gradient would not make it cheaper."""
        del g
        return self.value(x)

    def lipschitz(self) -> Lipschitz:
        """4 max(m)^2 (3 n r + ||K||), with ||B||^2 <= nr on [-1, 1] and the Frobenius norm of Z."""
        n, r = self.shape
        entries = self.Z if isinstance(self.Z, np.ndarray) else self.Z.data
        norm = float(np.linalg.norm(entries)) ** 2 * float(np.abs(self.s).max(initial=0.0))
        return Lipschitz(4.0 * float(self.weights.max()) ** 2 * (3.0 * n * r + norm) * (1.0 + 1e-9), True)

    # --- flips, as `model.objective.SupportsFlips` describes them -----------------------------------------------------

    def flip_gradient(self, x: Floats, g: Floats) -> Floats:
        """`g` without what an entry adds to its own: -2 x_ij times the result is the change of one flip."""
        # Flipping b_ij alone (step d = -2 b_ij) changes f by d g_ij + 8 m_i G_jj + 8 m_i^2 (r - 1 - K_ii), G = B'MB.
        m = self.weights[:, None]
        G_diagonal = float(self.weights.sum())  # on spins
        return g - 4.0 * x * (m * G_diagonal + m * m * (self.shape[1] - 1 - self._diagonal[:, None]))

    def flip_change(self, x: Floats, g: Floats, batch: Ints) -> float:
        """The exact change of f if every entry of `batch` flipped."""
        return self._effect_of_flips(x, g, batch).change

    def flip(self, x: Floats, g: Floats, batch: Ints) -> float:
        """Flip every entry of `batch`, `x` and `g` in place; returns the change of f."""
        change, rows, step, dG = self._effect_of_flips(x, g, batch)
        m = self.weights[rows, None]
        G = x.T @ self._times_weights(x)
        # 4M[(B + D)(G + dG) - K M(B + D)] - 4M[BG - KMB]
        update = x @ dG
        update -= self.Z @ (self.s[:, None] * (self.Z[rows].T @ (m * step)))
        update[rows] += step @ (G + dG)
        g += self._times_weights(4.0 * update)
        x[rows] += step
        return change

    def flip_improving(self, x: Floats, g: Floats, batch: Ints, *, follow: bool) -> tuple[int, float]:
        """Flip the entries of `batch` that improve, one after another by position; returns (flips, change)."""
        flips, change = self.flip_with(x, self.products(x), np.sort(batch))
        if flips:
            g[...] = self.gradient(x)
        return flips, change

    # --- flips with the products kept up to date ----------------------------------------------------------------------

    def products(self, x: Floats) -> Products:
        """G and U at x, from scratch."""
        MB = self._times_weights(x)
        return Products(x.T @ MB, np.ascontiguousarray((self.s[:, None] * (self.Z.T @ MB)).T))

    def value_from(self, products: Products) -> float:
        """f where these are the products, without a look at the items: <MB, K MB> is the sum of U^2 / s."""
        used = self.s != 0.0
        similar = float(((products.U[:, used] ** 2) / self.s[used]).sum())
        return float((products.G * products.G).sum()) - 2.0 * similar + self.constant

    def flip_with(self, x: Floats, products: Products, batch: Ints) -> tuple[int, float]:
        """Flip the entries of the sorted `batch` that improve, one after another; x and the products follow.

        Returns (flips, change of f).
        """
        r = self.shape[1]
        if batch.size * (r + self.s.size) > INTERPRETED_WORK:
            kernels.gram_flip_dense.compile()
            kernels.gram_flip_sparse.compile()
        total = float(self.weights.sum())
        slack = 1e-12 * (8.0 * total * r + float(np.abs(self._diagonal).max(initial=0.0)))
        shared = (self.s, self.weights, self._diagonal, total, slack, batch, x, *products)
        if isinstance(self.Z, np.ndarray):
            flips, change = kernels.gram_flip_dense(self.Z, *shared)
        else:
            flips, change = kernels.gram_flip_sparse(self.Z.indptr, self.Z.indices, self.Z.data, *shared)
        return int(flips), float(change)

    def flip_gradient_from(self, x: Floats, products: Products) -> Floats:
        """The gradient in the diagonal gauge, from products that are kept anyway; up to the factor 4."""
        G, U = products
        d = x @ G
        d -= self.Z @ U.T
        m = self.weights[:, None]
        # in place: these are the largest arrays of a fit
        d -= x * (float(self.weights.sum()) + m * (self.shape[1] - 1 - self._diagonal[:, None]))
        return d if self._unit else np.multiply(d, m, out=d)

    # --- exchanges ----------------------------------------------------------------------------------------------------

    def swap_improving(self, x: Floats, g: Floats, pairs: Ints) -> tuple[int, float]:
        """Swap the longest beginning of `pairs`, halved until it improves; returns (swaps, change)."""
        return swap_shortened(self, x, g, pairs)

    def improving_swaps(self, x: Floats, g: Floats, labels: Ints) -> Ints:
        """The best-looking exchanges, tried one by one; at most PAIR_LIMIT of them."""
        spins = x.reshape(-1)
        loss = -2.0 * spins * self.flip_gradient(x, g).reshape(-1)
        side = max(1, int(PAIR_LIMIT**0.5))
        for group in range(int(labels.max(initial=-1)) + 1):
            ones = np.flatnonzero((spins > 0) & (labels == group))
            zeros = np.flatnonzero((spins < 0) & (labels == group))
            ones, zeros = (part[np.argsort(loss[part], kind="stable")[:side]] for part in (ones, zeros))
            for k in range(min(ones.size, zeros.size)):
                pair = np.array([ones[k], zeros[k]])
                if self.flip_change(x, g, pair) < -1e-12 * float(np.abs(g.reshape(-1)[pair]).sum()):
                    return pair[None, :]
        return np.empty((0, 2), dtype=np.int64)

    def _effect_of_flips(self, x: Floats, g: Floats, batch: Ints) -> _Step:
        """What flipping every entry of `batch` does; nothing is changed."""
        n, r = self.shape
        rows: Any
        if 4 * batch.size >= n:  # most rows are touched: views of whole arrays instead of gathered rows
            rows, at = slice(None), batch // r
            step = np.zeros(self.shape)
        else:
            rows, at = np.unique(batch // r, return_inverse=True)
            step = np.zeros((rows.size, r))
        step[at, batch % r] = -2.0 * x.reshape(-1)[batch]
        m = self.weights[rows, None]
        G = x.T @ self._times_weights(x)
        moved = step if self._unit else m * step
        cross = moved.T @ x[rows]
        dG = cross + cross.T + step.T @ moved
        similar = self.Z[rows].T @ moved
        # <D, MKMB> from g = 4M(BG - KMB):  M K M B = M B G - g / 4
        linear = float(np.vdot(cross, G) - 0.25 * (step * g[rows]).sum())
        change = float(2.0 * (G * dG).sum() + (dG * dG).sum())
        change -= 4.0 * linear + 2.0 * float(self.s @ (similar * similar).sum(axis=1))
        return _Step(change, rows, step, dG)
