"""h(x) = sgn(sum_t tree_t(x)): boosted regression trees, the hash function of FastHash.

Lin, Shen, Shi, van den Hengel, Suter: Fast supervised hashing with decision trees, CVPR 2014, boost one ensemble a bit.
Here one tree a round fits the residuals of all right-hand sides together (label sets where there are fewer of them than
bits), so the cost does not grow with the number of bits. The trees are scikit-learn's; only their arrays are kept.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.functions.ridge import Targets, dense

_ARRAYS = ("start", "left", "right", "feature", "threshold", "value", "bias")
"""What a file holds of the trees."""


class TreesFunction:
    """Boosted trees.

    Parameters
    ----------
    rounds
        The number of trees.
    depth
        Their depth (FastHash: 4, and up to 12 for large data).
    rate
        The part of a tree that is added.
    features
        How many features a split looks at; None: the root of their number, at least 16.
    rows
        The largest number of rows that one tree is grown on, drawn anew for each.
    """

    kind = "trees"

    def __init__(
        self, rounds: int = 100, depth: int = 8, rate: float = 0.2, features: int | None = None, rows: int = 20_000
    ) -> None:
        if rounds < 1 or depth < 1 or not 0 < rate <= 1 or rows < 1:
            raise InvalidInput("`rounds`, `depth` and `rows` must be at least 1, `rate` above 0 and at most 1.")
        self.rounds, self.depth, self.rate, self.features, self.rows = rounds, depth, rate, features, rows

    def fit(self, X: Any, targets: Targets, rng: np.random.Generator) -> Self:
        """Grow the trees, each on what those before it leave of the codes."""
        from sklearn.tree import DecisionTreeRegressor

        X32 = np.ascontiguousarray(dense(X, np.float32))
        n, d = X32.shape
        looked_at = min(d, self.features if self.features is not None else max(16, int(d**0.5)))
        mean = targets.mean()
        residual = targets.columns(slice(0, n)) - mean
        trees: list[tuple[npt.NDArray[Any], ...]] = []
        for _ in range(self.rounds):
            chosen = np.sort(rng.choice(n, self.rows, replace=False)) if n > self.rows else slice(None)
            seed = int(rng.integers(2**31))
            tree = DecisionTreeRegressor(
                max_depth=self.depth, max_features=looked_at, min_samples_leaf=max(1, n // 10_000), random_state=seed
            )
            tree.fit(X32[chosen], residual[chosen])
            nodes = tree.tree_
            value = np.ascontiguousarray(nodes.value[:, :, 0]) * self.rate
            leaf = tree.apply(X32)
            residual -= value[leaf]
            trees.append((nodes.children_left, nodes.children_right, nodes.feature, nodes.threshold, value))
        sizes = [len(tree[0]) for tree in trees]
        self.start_ = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        shift = np.repeat(self.start_[:-1], sizes)
        left, right, feature, threshold, values = (np.concatenate(part) for part in zip(*trees, strict=True))
        # A leaf points to itself, so that a fixed number of steps ends in it.
        leaves, own = left < 0, np.arange(left.size)
        self.left_ = np.where(leaves, own, left + shift).astype(np.int64)
        self.right_ = np.where(leaves, own, right + shift).astype(np.int64)
        self.feature_ = np.where(leaves, 0, feature).astype(np.int64)
        self.threshold_ = threshold.astype(np.float64)
        self.value_ = targets.mixed(values)
        self.bias_ = targets.mixed(mean[None, :])[0]
        return self

    def decision(self, X: Any) -> Floats:
        """The real values whose signs are the bits."""
        X32 = dense(X, np.float32)
        out = np.tile(self.bias_, (len(X32), 1))
        rows = np.arange(len(X32))
        for root in self.start_[:-1]:
            node = np.full(len(X32), root)
            while True:
                goes_left = X32[rows, self.feature_[node]] <= self.threshold_[node]
                new = np.where(goes_left, self.left_[node], self.right_[node])
                if np.array_equal(new, node):
                    break
                node = new
            out += self.value_[node]
        return out

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The nodes of all trees, one array a property."""
        return {name: getattr(self, f"{name}_") for name in _ARRAYS}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> TreesFunction:
        """The trees of saved arrays."""
        function = cls()
        for name in _ARRAYS:
            setattr(function, f"{name}_", arrays[name])
        return function
