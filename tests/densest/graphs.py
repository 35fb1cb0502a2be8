"""Small graphs as matrices, and the best sets in them by trying all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from flipwise.densest.core import Core, whole_core
from flipwise.graphs.convert import as_graph


def heaviest(W: np.ndarray, k: int) -> float:
    """The largest weight among k nodes, over all sets."""
    return max(W[np.ix_(S, S)].sum() for S in combinations(range(len(W)), k)) / 2


def random_weights(n: int, seed: int, density: float = 0.5, weighted: bool = False) -> np.ndarray:
    """A symmetric matrix of weights."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) < density, 1) * (rng.uniform(0.1, 3.0, (n, n)) if weighted else 1.0)
    return W + W.T


def core_of(W: np.ndarray) -> Core:
    """The whole graph of a weight matrix."""
    return whole_core(as_graph(sp.csr_array(W)))


matrices = st.builds(
    random_weights, st.integers(2, 10), st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.9]), st.booleans()
)
"""Symmetric matrices of weights."""
