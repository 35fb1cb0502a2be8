"""Kernels of the loss of codes that match a matrix of similarities.

f(B) = ||B'MB||^2 - 2 <MB, K MB> for rows b_i in {-1,+1}^r of multiplicity m_i, K = Z diag(s) Z', by flips one after
another at O(r + c) each. Kept up to date are `G` = B'MB and `U` = (diag(s) Z'MB)' (r x c). Flipping b_ij (step
d = -2 b_ij) changes f by d g_ij + 8 m_i sum(m) + 8 m_i^2 (r - 1 - K_ii), with g_ij = 4 m_i ((G b_i)_j - z_i'u_j).
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel


@helper
def _flip_entry(i, j, x, m, G):
    """Flip b_ij and bring G along; its diagonal does not change."""
    step = -2.0 * m[i] * x[i, j]
    for k in range(x.shape[1]):
        if k != j:
            G[j, k] += step * x[i, k]
            G[k, j] = G[j, k]
    x[i, j] = -x[i, j]
    return step


@helper
def _flip_change(i, j, x, m, own, total, similar, G):
    """The exact change of f when b_ij flips; `similar` is z_i'u_j."""
    r = x.shape[1]
    inner = -similar
    for k in range(r):
        inner += G[j, k] * x[i, k]
    return -8.0 * x[i, j] * m[i] * inner + 8.0 * m[i] * (total + m[i] * (r - 1 - own[i]))


@kernel(operations=lambda Z, s, m, own, total, slack, batch, x, *_: batch.size * (2 * s.size + 3 * x.shape[1]))
def gram_flip_dense(Z, s, m, own, total, slack, batch, x, G, U):
    """Flip the entries of `batch` in their order wherever f falls by more than `slack * m_i`; (flips, change)."""
    r = x.shape[1]
    flips = 0
    change = 0.0
    for q in range(batch.size):
        i = batch[q] // r
        j = batch[q] % r
        similar = 0.0
        for c in range(s.size):
            similar += Z[i, c] * U[j, c]
        delta = _flip_change(i, j, x, m, own, total, similar, G)
        if delta < -slack * m[i]:
            step = _flip_entry(i, j, x, m, G)
            for c in range(s.size):
                U[j, c] += step * s[c] * Z[i, c]
            flips += 1
            change += delta
    return flips, change


@kernel(
    operations=lambda indptr, indices, data, s, m, own, total, slack, batch, x, *_: (
        batch.size * (2 * data.size // max(1, len(x)) + 3 * x.shape[1])
    )
)
def gram_flip_sparse(indptr, indices, data, s, m, own, total, slack, batch, x, G, U):
    """The same with Z in CSR form."""
    r = x.shape[1]
    flips = 0
    change = 0.0
    for q in range(batch.size):
        i = batch[q] // r
        j = batch[q] % r
        similar = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            similar += data[p] * U[j, indices[p]]
        delta = _flip_change(i, j, x, m, own, total, similar, G)
        if delta < -slack * m[i]:
            step = _flip_entry(i, j, x, m, G)
            for p in range(indptr[i], indptr[i + 1]):
                U[j, indices[p]] += step * s[indices[p]] * data[p]
            flips += 1
            change += delta
    return flips, change
