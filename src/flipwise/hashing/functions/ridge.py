"""What a hash function is, how one is made by its name, and those that are ridge regressions onto codes.

A hash function gives real values for features; their signs are the bits. It is fitted to codes that are already known.
h(x) = sgn(x P + t), the paper's, is `LinearFunction`.

Sums run over chunks of rows. Float32 normal equations of kernel features were seen to lose 40 points of accuracy
(condition numbers of 1e8), so sums and solves are in float64; features may arrive in any type.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import check_memory
from flipwise.foundation.errors import InvalidInput

CHUNK = 4096
"""Rows of features that are held in float64 at once."""


@dataclass(frozen=True, eq=False)
class Targets:
    """The codes of n items that a function is fitted to: row `of_item[i]` of `words`, or row i when `of_item` is None.

    A regression onto B = E C (E the one-hot matrix of label sets) is the regression onto E, times C. With fewer sets
    than bits that is what is solved: `columns(rows)` are the right-hand sides, `mixed` turns the answer into bits.
    """

    words: npt.NDArray[np.int8]
    of_item: Ints | None = None

    @property
    def _by_sets(self) -> bool:
        """Whether the label sets are regressed onto, in the place of the bits."""
        return self.of_item is not None and len(self.words) < self.words.shape[1]

    def columns(self, rows: slice) -> Floats:
        """The right-hand sides of some items."""
        if self.of_item is None:
            return self.words[rows].astype(np.float64)
        if not self._by_sets:
            return self.words[self.of_item[rows]].astype(np.float64)
        one_hot = np.zeros((self.of_item[rows].size, len(self.words)))
        one_hot[np.arange(len(one_hot)), self.of_item[rows]] = 1.0
        return one_hot

    def mean(self) -> Floats:
        """The mean of the columns over all items."""
        if self.of_item is None:
            whole: Floats = np.asarray(self.words.mean(axis=0, dtype=np.float64))
            return whole
        share = np.bincount(self.of_item, minlength=len(self.words)) / self.of_item.size
        mean: Floats = share if self._by_sets else share @ self.words.astype(np.float64)
        return mean

    def mixed(self, solution: Floats) -> Floats:
        """A solution for the columns as one for the bits."""
        return solution @ self.words.astype(np.float64) if self._by_sets else solution


class HashFunction(Protocol):
    """What an estimator needs of a hash function; the signs of its `decision` are the bits."""

    kind: str

    def fit(self, X: Any, targets: Targets, rng: np.random.Generator) -> Self:
        """Learn to predict the codes of the rows of X."""

    def decision(self, X: Any) -> Floats:
        """The real values whose signs are the bits."""

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything that a file must hold; the class's `from_arrays` is the way back."""


_HOMES = {"linear": "ridge.LinearFunction", "rbf": "rbf.RBFFunction", "trees": "trees.TreesFunction"}
"""Where each hash function lives."""


def make_function(name: str, options: dict[str, Any] | None) -> HashFunction:
    """A new hash function; `options` are the parameters of its class."""
    if name not in _HOMES:
        raise InvalidInput(f"`hash_function` must be one of {', '.join(_HOMES)}, got {name!r}.")
    try:
        function: HashFunction = _function_class(name)(**(options or {}))
    except TypeError as error:
        raise InvalidInput(f'`hash_options` do not fit hash_function="{name}": {error}.') from None
    return function


def function_from_arrays(kind: str, arrays: dict[str, npt.NDArray[Any]]) -> HashFunction:
    """A fitted hash function from what `arrays()` gave."""
    if kind not in _HOMES:
        raise InvalidInput(f"unknown hash function {kind!r} in the file.")
    function: HashFunction = _function_class(kind).from_arrays(arrays)
    return function


def predicted_values(name: str, options: dict[str, Any] | None, X: Any, codes: npt.NDArray[np.int8]) -> Floats:
    """The values that a hash function fitted to the codes of X gives for X itself."""
    return make_function(name, options).fit(X, Targets(codes), np.random.default_rng(0)).decision(X)


def _function_class(name: str) -> Any:
    """The class of a hash function; its module is loaded when it is first asked for."""
    module, _, name = _HOMES[name].partition(".")
    return getattr(import_module(f"flipwise.hashing.functions.{module}"), name)


class Moments:
    """Sums from which a ridge regression with intercept is solved; they can be added up over chunks of data."""

    def __init__(self, n_features: int, n_columns: int) -> None:
        self.n = 0
        check_memory(24 * n_features**2, f"a hash function on {n_features:,} features (or anchors)")
        self.gram = np.zeros((n_features, n_features))
        self.cross = np.zeros((n_features, n_columns))
        self.feature_sum = np.zeros(n_features)
        self.column_sum = np.zeros(n_columns)

    def add(self, features: Floats, columns: Floats) -> None:
        """Add some rows to the sums."""
        self.n += len(features)
        self.gram += features.T @ features
        self.cross += features.T @ columns
        self.feature_sum += features.sum(axis=0)
        self.column_sum += columns.sum(axis=0)

    def joined(self, other: Moments) -> Moments:
        """The sums of the rows of both."""
        both = Moments(*self.cross.shape)
        both.n = self.n + other.n
        for name in ("gram", "cross", "feature_sum", "column_sum"):
            setattr(both, name, getattr(self, name) + getattr(other, name))
        return both

    def solve(self, penalty: Floats | float) -> tuple[Floats, Floats]:
        """(coefficients, intercepts) of the ridge regression; `penalty` is a number or a matrix."""
        center, mean = self.feature_sum / self.n, self.column_sum / self.n
        A = self.gram - self.n * np.outer(center, center)
        if np.ndim(penalty) == 0:
            A[np.diag_indices_from(A)] += penalty
        else:
            A += penalty
        P = solve_positive(A, self.cross - self.n * np.outer(center, mean))
        return P, mean - center @ P


class RidgeFunction:
    """A hash function whose values are a ridge regression of the codes onto `features`."""

    _moments: Moments | None = None
    P_: Floats
    bias_: Floats

    @abstractmethod
    def prepare(self, X: Any, rng: np.random.Generator) -> None:
        """What the first rows decide."""

    @abstractmethod
    def features(self, X: Any) -> Any:
        """What the codes are regressed onto."""

    @abstractmethod
    def solve(self, targets: Targets) -> None:
        """The function from the sums."""

    def fit(self, X: Any, targets: Targets, rng: np.random.Generator) -> Self:
        """Fit to these rows alone."""
        self._moments = None
        return self.partial_fit(X, targets, rng)

    def partial_fit(self, X: Any, targets: Targets, rng: np.random.Generator) -> Self:
        """Add rows to those seen before and solve again."""
        if self._moments is None:
            self.prepare(X, rng)
        self.add(X, targets)
        self.solve(targets)
        return self

    def add(self, X: Any, targets: Targets) -> None:
        """Add the rows to the sums."""
        for rows in chunks(X.shape[0]):
            features, columns = self.features(X[rows]), targets.columns(rows)
            if self._moments is None:
                self._moments = Moments(features.shape[1], columns.shape[1])
            self._moments.add(features, columns)


class LinearFunction(RidgeFunction):
    """Linear values of the features.

    Parameters
    ----------
    ridge
        The penalty on P, in units of the mean variance of a feature times the number of items.
    """

    kind = "linear"

    def __init__(self, ridge: float = 1e-3) -> None:
        self.ridge = ridge

    def prepare(self, X: Any, rng: np.random.Generator) -> None:
        """A fixed point near the mean, which keeps the sums small."""
        del rng
        self.center_ = dense(X[chunks(X.shape[0])[0]]).mean(axis=0)

    def features(self, X: Any) -> Any:
        """The features of X, centred."""
        return dense(X) - self.center_

    def solve(self, targets: Targets) -> None:
        """P and t from the sums."""
        moments = self._moments
        assert moments is not None
        mean = moments.feature_sum / moments.n
        variance = float(np.maximum(np.diagonal(moments.gram) / moments.n - mean * mean, 0.0).mean())
        P, bias = moments.solve(max(self.ridge * variance, 1e-12) * moments.n)
        self.P_, self.bias_ = targets.mixed(P), targets.mixed(bias[None, :])[0] - self.center_ @ targets.mixed(P)

    def decision(self, X: Any) -> Floats:
        """The real values whose signs are the bits."""
        return np.asarray(X @ self.P_) + self.bias_

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """P and t."""
        return {"P": self.P_, "bias": self.bias_}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> LinearFunction:
        """The function of a saved P and t."""
        function = cls()
        function.P_, function.bias_ = arrays["P"], arrays["bias"]
        return function


def solve_positive(A: Floats, b: Floats) -> Floats:
    """Solve with a symmetric matrix that is positive definite up to rounding."""
    lift = 0.0
    base = float(np.abs(np.diagonal(A)).max(initial=0.0)) * np.finfo(np.float64).eps * len(A)
    for _ in range(12):
        try:
            M = A.copy()
            M[np.diag_indices_from(M)] += lift
            x: Floats = cho_solve(cho_factor(M, lower=True, overwrite_a=True, check_finite=False), b)
            return x
        except LinAlgError:
            lift = max(10.0 * lift, base, 1e-300)
    return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0], dtype=np.float64)


def dense(X: Any, dtype: Any = np.float64) -> Any:
    """Rows, sparse or not, as a plain array."""
    full: Any = X
    if sp.issparse(X):
        rows, columns = full.shape
        check_memory(8 * rows * columns, f"features of {rows:,} x {columns:,} entries, written out,")
    return np.asarray(full.toarray() if sp.issparse(X) else full, dtype=dtype)


def chunks(n: int, size: int = CHUNK) -> list[slice]:
    """Slices that cover n rows."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
