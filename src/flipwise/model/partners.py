"""Improving swaps: for every +1 the best -1 to exchange it with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.kernels import sparse as sparse_kernels
from flipwise.model.terms import Sparse, Term


def sparse_partners(matrix: Sparse, x: Floats, loss: Floats, slack: Floats, labels: Ints) -> Ints:
    """For a sparse matrix: the best partner of every +1 that has an improving one, as pairs, best first."""
    ones = np.flatnonzero(x > 0)
    zeros = np.flatnonzero(x < 0)
    groups = int(labels.max(initial=-1)) + 1
    zeros = zeros[np.lexsort((loss[zeros], labels[zeros]))]
    zero_start = np.searchsorted(labels[zeros], np.arange(groups + 1)).astype(np.int64)
    partner = np.empty(ones.size, dtype=np.int64)
    best = np.empty(ones.size)
    mark = np.full(x.size, -1, dtype=np.int64)
    sparse_kernels.csr_best_partners(
        *matrix.arrays, loss, slack, labels, ones, zeros, zero_start, mark, x, partner, best
    )
    found = np.flatnonzero(partner >= 0)
    found = found[np.argsort(best[found], kind="stable")]
    return np.stack([ones[found], partner[found]], axis=1)


def block_partners(
    terms: Sequence[Term], x: Floats, loss: Floats, slack: Floats, labels: Ints, block: int = 512
) -> Ints:
    """The same for any sum of terms, with A looked at in blocks of rows."""
    pairs: list[Ints] = []
    changes: list[Floats] = []
    for group in range(int(labels.max(initial=-1)) + 1):
        ones = np.flatnonzero((x > 0) & (labels == group))
        zeros = np.flatnonzero((x < 0) & (labels == group))
        if not ones.size or not zeros.size:
            continue
        for start in range(0, ones.size, block):
            rows = ones[start : start + block]
            change = loss[rows][:, None] + loss[zeros][None, :]
            for term in terms:
                change -= 8.0 * term.block(rows, zeros)
            at = change.argmin(axis=1)
            best = change[np.arange(rows.size), at]
            keep = best < -(slack[rows] + slack[zeros[at]])
            pairs.append(np.stack([rows[keep], zeros[at[keep]]], axis=1))
            changes.append(best[keep])
    if not pairs:
        return np.empty((0, 2), dtype=np.int64)
    return np.concatenate(pairs)[np.argsort(np.concatenate(changes), kind="stable")]
