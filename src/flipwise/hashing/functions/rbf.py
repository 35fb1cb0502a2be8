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
from flipwise.foundation.checks import check_memory
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.functions.ridge import RidgeFunction, Targets, chunks, dense

DIRECT = 2000
"""Up to so many anchors the normal equations are solved as they are."""
STEPS = 15
TOLERANCE = 1e-3
"""The most steps of conjugate gradients, and the relative residual at which they end."""
CACHE_BYTES = 3 * 2**30
"""Kernel values are kept between the steps where they take no more than this."""
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
        """Fit to these rows alone: from sums, or with many anchors by conjugate gradients."""
        if min(self.anchors, X.shape[0]) <= DIRECT:
            return super().fit(X, targets, rng)
        self.prepare(X, rng)
        solution, bias = self._solve_by_iterations(X, targets)
        self.P_, self.bias_ = targets.mixed(solution), targets.mixed(bias[None, :])[0]
        return self

    def solve(self, targets: Targets) -> None:
        """The coefficients from the sums."""
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
        return self._kernel_values((dense(X) * self.scale_).astype(dtype), self.anchors_.astype(dtype))

    def _kernel_values(self, A: Any, anchors: Any) -> Any:
        """Kernel values between scaled rows and anchors, summed over the symmetry where there is one."""
        K = _gaussian_kernel(A, anchors, self.width_)
        if self.symmetry is not None:
            K += _gaussian_kernel(A, anchors[:, self.symmetry], self.width_)
        return K

    def _anchor_kernel(self) -> Floats:
        """K_aa, with a little on its diagonal that keeps it positive definite."""
        K = self._kernel_values(self.anchors_, self.anchors_)
        symmetric: Floats = (K + K.T) / 2.0
        symmetric[np.diag_indices_from(symmetric)] += 1e-8 * len(K)
        return symmetric

    def _solve_by_iterations(self, X: Any, targets: Targets) -> tuple[Floats, Floats]:
        """(coefficients, mean of the columns) by preconditioned conjugate gradients."""
        system = _KernelSystem(self, X, self._anchor_kernel())
        mean = targets.mean()
        b = system.inward(system.right_hand_side(targets, mean))
        x = np.zeros_like(b)
        residual, direction = b.copy(), b.copy()
        square = (residual * residual).sum(axis=0)
        goal = TOLERANCE**2 * square
        for _ in range(STEPS):
            if (square <= goal).all():
                break
            image = system.apply(direction)
            step = square / np.maximum((direction * image).sum(axis=0), 1e-300)
            x += step * direction
            residual -= step * image
            new = (residual * residual).sum(axis=0)
            direction = residual + (new / np.maximum(square, 1e-300)) * direction
            square = new
        return system.outward(x), mean

    def decision(self, X: Any) -> Floats:
        """The real values whose signs are the bits."""
        n, n_bits = X.shape[0], self.P_.shape[1]
        check_memory(8 * n * n_bits, f"{n:,} rows of {n_bits:,} values")
        values = np.empty((n, n_bits))
        for rows in chunks(n):
            values[rows] = self.features(X[rows]) @ self.P_ + self.bias_
        return values

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The coefficients, the anchors and how distances are scaled."""
        held = {"P": self.P_, "bias": self.bias_, "anchors": self.anchors_, "scale": self.scale_}
        held["width"] = np.array([self.width_])
        if self.symmetry is not None:
            held["symmetry"] = self.symmetry
        return held

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> RBFFunction:
        """The function of saved arrays."""
        function = cls(symmetry=arrays.get("symmetry"))
        function.P_, function.bias_ = arrays["P"], arrays["bias"]
        function.anchors_, function.scale_ = arrays["anchors"], arrays["scale"]
        function.width_ = float(arrays["width"][0])
        return function


class _KernelSystem:
    """(K'K + ridge K_aa) p = K'(columns - mean), with p = T^-1 A^-1 v in the place of p.

    With T'T = K_aa, n/m T T' stands for K'K seen from the anchors: A'A = n/m T T' + ridge I.
    """

    def __init__(self, function: RBFFunction, X: Any, anchor_kernel: Floats) -> None:
        self.function, self.X, self.ridge = function, X, function.ridge
        n, m = X.shape[0], len(anchor_kernel)
        self.m = m
        self.parts = list(enumerate(chunks(n)))
        self._keep = 4 * n * m <= CACHE_BYTES
        self._kept: list[npt.NDArray[np.float32]] = []
        self.T = cholesky(anchor_kernel, check_finite=False, overwrite_a=True)
        A, _ = lapack.dlauum(self.T.copy(order="F"))
        A = np.triu(A) * (n / m)
        A[np.diag_indices_from(A)] += self.ridge
        self.A = cholesky(A, check_finite=False, overwrite_a=True)

    def block(self, index: int, rows: slice) -> npt.NDArray[np.float32]:
        """Kernel values of a chunk of rows, kept where all of them fit into memory."""
        if index < len(self._kept):
            return self._kept[index]
        values: npt.NDArray[np.float32] = self.function.features(self.X[rows], np.float32)
        if self._keep:
            self._kept.append(values)
        return values

    def right_hand_side(self, targets: Targets, mean: Floats) -> Floats:
        """K'(columns - mean)."""
        total = np.zeros((self.m, mean.size))
        for index, rows in self.parts:
            total += self.block(index, rows).T @ (targets.columns(rows) - mean).astype(np.float32)
        return total

    def outward(self, v: Floats) -> Floats:
        """p = T^-1 A^-1 v."""
        p: Floats = solve_triangular(self.T, solve_triangular(self.A, v, check_finite=False), check_finite=False)
        return p

    def inward(self, v: Floats) -> Floats:
        """A'^-1 T'^-1 v."""
        inner = solve_triangular(self.T, v, trans=1, check_finite=False)
        back: Floats = solve_triangular(self.A, inner, trans=1, check_finite=False)
        return back

    def apply(self, v: Floats) -> Floats:
        """The preconditioned matrix times v."""
        single = self.outward(v).astype(np.float32)
        product = np.zeros((self.m, v.shape[1]))
        for index, rows in self.parts:
            K = self.block(index, rows)
            product += K.T @ (K @ single)
        Av = solve_triangular(self.A, v, check_finite=False)
        penalty: Floats = self.ridge * solve_triangular(self.A, Av, trans=1, check_finite=False)
        return self.inward(product) + penalty


def _squared_distances(A: Any, B: Any) -> Any:
    """Squared Euclidean distances between the rows of A and those of B."""
    D = -2.0 * (A @ B.T)
    D += (A * A).sum(axis=1)[:, None]
    D += (B * B).sum(axis=1)[None, :]
    return np.maximum(D, 0.0, out=D)


def _gaussian_kernel(A: Any, B: Any, width: float) -> Any:
    """exp(-distance^2 / width) between the rows of A and those of B."""
    D = _squared_distances(A, B)
    D *= -1.0 / width
    return np.exp(D, out=D)
