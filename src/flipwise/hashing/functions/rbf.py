"""h(x) = sgn(sum_a exp(-|x - a|^2 / (b s^2)) p_a + t): kernel ridge regression on random anchors (Nystroem).

The penalty is that of the kernel's own space, ridge * p'K p with K between anchors. Up to `DIRECT` anchors the normal
equations are summed in float64. For more, they are solved by conjugate gradients with the Nystroem preconditioner of
Rudi, Carratino, Rosasco (FALKON, NIPS 2017), which needs n m operations a step instead of n m^2 in total: kernel
values are kept in float32 when they fit, sums over chunks and the preconditioner are float64.

`symmetry` is a permutation of the features that does not change what an item is (mirrored images): the kernel is then
k(x, a) + k(x, a permuted), which is invariant under it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import cholesky, lapack, solve_triangular

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.memory import require
from flipwise.hashing.functions.ridge import RidgeFunction, Targets, chunks, dense

DIRECT = 2000
STEPS = 15
TOLERANCE = 1e-3
CACHE_BYTES = 3 * 2**30
SAMPLE = 1000
"""Rows from which the bandwidth is estimated; ten times as many for the scales."""


class RBFFunction(RidgeFunction):
    """Radial basis functions around anchors drawn from the training rows.

    Parameters
    ----------
    anchors
        Their number (at most the number of rows).
    bandwidth
        b, in units of the mean squared distance between rows and anchors.
    ridge
        The penalty; the variance of the noise in a code value, in the language of Gaussian processes.
    symmetry
        A permutation of the features, or None.
    """

    kind = "rbf"

    def __init__(
        self,
        anchors: int = 1000,
        bandwidth: float = 0.7,
        ridge: float = 0.3,
        symmetry: npt.ArrayLike | None = None,
    ) -> None:
        if anchors < 1 or not bandwidth > 0 or not ridge >= 0:
            raise InvalidInput("`anchors` must be at least 1, `bandwidth` above 0 and `ridge` at least 0.")
        self.anchors, self.bandwidth, self.ridge = anchors, bandwidth, ridge
        self.symmetry: Ints | None = None if symmetry is None else np.asarray(symmetry, dtype=np.int64)

    def fit(self, X: Any, targets: Targets, rng: np.random.Generator) -> Self:
        if min(self.anchors, X.shape[0]) <= DIRECT:
            return super().fit(X, targets, rng)
        self.prepare(X, rng)
        solution, bias = self._iterate(X, targets)
        self.P_, self.bias_ = targets.mixed(solution), targets.mixed(bias[None, :])[0]
        return self

    def solve(self, targets: Targets) -> None:
        assert self._moments is not None
        P, bias = self._moments.solve(self.ridge * self._anchor_kernel())
        self.P_, self.bias_ = targets.mixed(P), targets.mixed(bias[None, :])[0]

    def prepare(self, X: Any, rng: np.random.Generator) -> None:
        """The anchors, the scales of the features and the bandwidth."""
        n, d = X.shape
        if self.symmetry is not None and not np.array_equal(np.sort(self.symmetry), np.arange(d)):
            raise InvalidInput(f"`symmetry` must be a permutation of the {d} features.")
        sample = dense(X[np.sort(rng.choice(n, min(n, 10 * SAMPLE), replace=False))])
        spread = sample.std(axis=0)
        # A constant feature says nothing in training; scale 0 keeps it from mattering later.
        self.scale_ = np.divide(1.0, spread, out=np.zeros(d), where=spread > 1e-12 * np.abs(sample).max(initial=1.0))
        if self.symmetry is not None:  # the scales must be symmetric too
            self.scale_ = (self.scale_ + self.scale_[self.symmetry]) / 2.0
        chosen = np.sort(rng.choice(n, min(n, self.anchors), replace=False))
        self.anchors_ = dense(X[chosen]) * self.scale_
        some = sample[:SAMPLE] * self.scale_
        self.width_ = max(self.bandwidth * float(_squared_distances(some, self.anchors_).mean()), 1e-12)

    def features(self, X: Any, dtype: Any = np.float64) -> Any:
        """Kernel values with the anchors."""
        return self._kernel((dense(X) * self.scale_).astype(dtype), self.anchors_.astype(dtype))

    def _kernel(self, A: Any, anchors: Any) -> Any:
        K = _gaussian(A, anchors, self.width_)
        if self.symmetry is not None:
            K += _gaussian(A, anchors[:, self.symmetry], self.width_)
        return K

    def _anchor_kernel(self) -> Floats:
        K = self._kernel(self.anchors_, self.anchors_)
        symmetric: Floats = (K + K.T) / 2.0
        symmetric[np.diag_indices_from(symmetric)] += 1e-8 * len(K)
        return symmetric

    def _iterate(self, X: Any, targets: Targets) -> tuple[Floats, Floats]:
        """Preconditioned conjugate gradients on (K'K + ridge K_aa) p = K'(columns - mean)."""
        n, m = X.shape[0], len(self.anchors_)
        mean = targets.mean()
        keep = 4 * n * m <= CACHE_BYTES
        kept: list[npt.NDArray[np.float32]] = []

        def block(index: int, rows: slice) -> npt.NDArray[np.float32]:
            if index < len(kept):
                return kept[index]
            values: npt.NDArray[np.float32] = self.features(X[rows], np.float32)
            if keep:
                kept.append(values)
            return values

        parts = list(enumerate(chunks(n)))
        rhs = np.zeros((m, mean.size))
        for index, rows in parts:
            rhs += block(index, rows).T @ (targets.columns(rows) - mean).astype(np.float32)

        # With T'T = K_aa, n/m T T' stands for K'K seen from the anchors: A'A = n/m T T' + ridge I.
        T = cholesky(self._anchor_kernel(), check_finite=False, overwrite_a=True)
        A, _ = lapack.dlauum(T.copy(order="F"))
        A = np.triu(A) * (n / m)
        A[np.diag_indices_from(A)] += self.ridge
        A = cholesky(A, check_finite=False, overwrite_a=True)

        def outward(v: Floats) -> Floats:
            inner: Floats = solve_triangular(T, solve_triangular(A, v, check_finite=False), check_finite=False)
            return inner

        def inward(v: Floats) -> Floats:
            inner = solve_triangular(T, v, trans=1, check_finite=False)
            back: Floats = solve_triangular(A, inner, trans=1, check_finite=False)
            return back

        def apply(v: Floats) -> Floats:
            p = outward(v)
            single = p.astype(np.float32)
            product = np.zeros((m, v.shape[1]))
            for index, rows in parts:
                K = block(index, rows)
                product += K.T @ (K @ single)
            Av = solve_triangular(A, v, check_finite=False)
            penalty: Floats = self.ridge * solve_triangular(A, Av, trans=1, check_finite=False)
            return inward(product) + penalty

        b = inward(rhs)
        x = np.zeros_like(b)
        residual, direction = b.copy(), b.copy()
        square = (residual * residual).sum(axis=0)
        goal = TOLERANCE**2 * square
        for _ in range(STEPS):
            if (square <= goal).all():
                break
            image = apply(direction)
            step = square / np.maximum((direction * image).sum(axis=0), 1e-300)
            x += step * direction
            residual -= step * image
            new = (residual * residual).sum(axis=0)
            direction = residual + (new / np.maximum(square, 1e-300)) * direction
            square = new
        return outward(x), mean

    def decision(self, X: Any) -> Floats:
        n, n_bits = X.shape[0], self.P_.shape[1]
        require(8 * n * n_bits, f"{n:,} rows of {n_bits:,} values")
        values = np.empty((n, n_bits))
        for rows in chunks(n):
            values[rows] = self.features(X[rows]) @ self.P_ + self.bias_
        return values

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        held = {"P": self.P_, "bias": self.bias_, "anchors": self.anchors_, "scale": self.scale_}
        held["width"] = np.array([self.width_])
        if self.symmetry is not None:
            held["symmetry"] = self.symmetry
        return held

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> RBFFunction:
        function = cls(symmetry=arrays.get("symmetry"))
        function.P_, function.bias_ = arrays["P"], arrays["bias"]
        function.anchors_, function.scale_ = arrays["anchors"], arrays["scale"]
        function.width_ = float(arrays["width"][0])
        return function


def _squared_distances(A: Any, B: Any) -> Any:
    D = -2.0 * (A @ B.T)
    D += (A * A).sum(axis=1)[:, None]
    D += (B * B).sum(axis=1)[None, :]
    return np.maximum(D, 0.0, out=D)


def _gaussian(A: Any, B: Any, width: float) -> Any:
    D = _squared_distances(A, B)
    D *= -1.0 / width
    return np.exp(D, out=D)
