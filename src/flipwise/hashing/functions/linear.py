"""h(x) = sgn(x P + t): the paper's linear hash function, by ridge regression onto the codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.arrays import Floats
from flipwise.hashing.functions.ridge import Moments, chunks, dense
from flipwise.hashing.functions.targets import Targets


class LinearFunction:
    """Linear values of the features.

    Parameters
    ----------
    ridge
        The penalty on P, in units of the mean variance of a feature times the number of items.
    """

    kind = "linear"

    def __init__(self, ridge: float = 1e-3) -> None:
        self.ridge = ridge
        self._moments: Moments | None = None

    def fit(self, X: Any, targets: Targets, rng: np.random.Generator) -> LinearFunction:
        self._moments = None
        return self.partial_fit(X, targets, rng)

    def partial_fit(self, X: Any, targets: Targets, rng: np.random.Generator) -> LinearFunction:
        """Add rows to those seen before and solve again."""
        del rng
        if self._moments is None:
            self.center_ = dense(X[chunks(X.shape[0])[0]]).mean(axis=0)  # a fixed point near the mean: small sums
        self.add(X, targets)
        self.solve(targets)
        return self

    def add(self, X: Any, targets: Targets) -> None:
        """Add rows to the sums."""
        for rows in chunks(X.shape[0]):
            columns = targets.columns(rows)
            if self._moments is None:
                self._moments = Moments(X.shape[1], columns.shape[1])
            if columns.shape[1] > self._moments.cross.shape[1]:
                self._moments.add_columns(columns.shape[1] - self._moments.cross.shape[1])
            self._moments.add(dense(X[rows]) - self.center_, columns)

    def solve(self, targets: Targets) -> None:
        """The function from the sums."""
        moments = self._moments
        assert moments is not None
        mean = moments.feature_sum / moments.n
        variance = float(np.maximum(np.diagonal(moments.gram) / moments.n - mean * mean, 0.0).mean())
        P, bias = moments.solve(max(self.ridge * variance, 1e-12) * moments.n)
        self.P_, self.bias_ = targets.mixed(P), targets.mixed(bias[None, :])[0] - self.center_ @ targets.mixed(P)

    def decision(self, X: Any) -> Floats:
        """The real values whose signs are the bits."""
        values: Floats = np.asarray(X @ self.P_) + self.bias_
        return values

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"P": self.P_, "bias": self.bias_}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> LinearFunction:
        function = cls()
        function.P_, function.bias_ = arrays["P"], arrays["bias"]
        return function
