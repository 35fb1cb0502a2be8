"""The mixing method: sweeps over the unit vectors V of a semidefinite relaxation (see `bounds.sdp`).

H = (sparse or dense part) + U diag(s) U'. Row i of V is replaced by the unit vector opposite to g_i = sum over j != i
of H_ij V_j, which minimises sum_ij H_ij <V_i, V_j> over V_i. `M` = U'V is kept up to date. `norms` receives |g_i|, the
dual variables. The sweeps return the decrease of the sum.
"""

from __future__ import annotations

import math

from flipwise.kernels.jit import helper, kernel


@helper
def _replace_vector(i, U, s, M, V, g):
    """Add the low-rank part to `g`, turn V_i against it; return (|g|, decrease)."""
    rank = V.shape[1]
    for b in range(U.shape[1]):
        w = U[i, b] * s[b]
        if w != 0.0:
            for a in range(rank):
                g[a] += w * (M[b, a] - U[i, b] * V[i, a])
    square = 0.0
    along = 0.0
    for a in range(rank):
        square += g[a] * g[a]
        along += g[a] * V[i, a]
    norm = math.sqrt(square)
    if norm <= 1e-300:
        return norm, 0.0
    for a in range(rank):
        g[a] = -g[a] / norm
    for b in range(U.shape[1]):
        if U[i, b] != 0.0:
            for a in range(rank):
                M[b, a] += U[i, b] * (g[a] - V[i, a])
    for a in range(rank):
        V[i, a] = g[a]
    return norm, 2.0 * (norm + along)


@kernel(operations=lambda indptr, indices, data, U, s, M, V, *_: (data.size + 4 * len(V) * (1 + s.size)) * V.shape[1])
def mixing_sweep_csr(indptr, indices, data, U, s, M, V, g, norms):
    """A sweep with the first part in CSR form."""
    decrease = 0.0
    rank = V.shape[1]
    for i in range(V.shape[0]):
        for a in range(rank):
            g[a] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if j != i:
                w = data[p]
                for a in range(rank):
                    g[a] += w * V[j, a]
        norms[i], gain = _replace_vector(i, U, s, M, V, g)
        decrease += gain
    return decrease


@kernel(operations=lambda H, U, s, M, V, *_: (H.size + 4 * len(V) * (1 + s.size)) * V.shape[1])
def mixing_sweep_dense(H, U, s, M, V, g, norms):
    """A sweep with the first part dense."""
    decrease = 0.0
    rank = V.shape[1]
    for i in range(V.shape[0]):
        for a in range(rank):
            g[a] = 0.0
        for j in range(V.shape[0]):
            w = H[i, j]
            if j != i and w != 0.0:
                for a in range(rank):
                    g[a] += w * V[j, a]
        norms[i], gain = _replace_vector(i, U, s, M, V, g)
        decrease += gain
    return decrease
