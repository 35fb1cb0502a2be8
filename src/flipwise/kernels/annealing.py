"""Simulated annealing of spins: sweeps in index order, exact local fields, Metropolis acceptance.

    E(s) = sum_{i<j} J_ij s_i s_j + sum_i h_i s_i,    f_i = h_i + sum_j J_ij s_j,    cost of flipping i = -2 s_i f_i

Kirkpatrick, Gelatt, Vecchi: Optimization by simulated annealing, Science 220, 1983. A flip is accepted when its cost is
below T e with e exponentially distributed, which is Metropolis' rule; e comes from a table of quantiles, so that a spin
whose cost is above T times the largest entry is passed over without drawing a number. Fields are integers when the
weights are. Random numbers are Marsaglia's xorshift64 (J. Stat. Soft. 8, 2003) on a state the caller owns.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel

QUANTILES = 1024
"""Length of the table of quantiles of the exponential distribution."""


def exponential_quantiles() -> np.ndarray:
    """The table: -ln((k + 1/2) / QUANTILES), decreasing."""
    return -np.log((np.arange(QUANTILES) + 0.5) / QUANTILES)


@helper
def _next(state):
    """One step of xorshift64 (period 2^64 - 1, the state is never zero)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@kernel
def csr_fields(indptr, indices, J, h, s, f):
    """f = h + J s."""
    for i in range(s.size):
        total = h[i]
        for p in range(indptr[i], indptr[i + 1]):
            total += J[p] * s[indices[p]]
        f[i] = total


@kernel
def csr_anneal(indptr, indices, J, temperatures, quantiles, s, f, state):
    """One sweep over all spins at each temperature.

    `s` (int8), `f` and `state` (one uint64) are changed in place. Returns the number of flips.
    """
    n = s.size
    random = state[0]
    flips = 0
    for t in range(temperatures.size):
        half = 0.5 * temperatures[t]
        limit = -half * quantiles[0]
        for i in range(n):
            spin = s[i]
            gain = spin * f[i]
            if gain <= limit:
                continue
            if gain <= 0:
                random = _next(random)
                if gain <= -half * quantiles[np.int64(random >> np.uint64(54))]:
                    continue
            s[i] = -spin
            flips += 1
            if spin > 0:
                for p in range(indptr[i], indptr[i + 1]):
                    f[indices[p]] -= 2 * J[p]
            else:
                for p in range(indptr[i], indptr[i + 1]):
                    f[indices[p]] += 2 * J[p]
    state[0] = random
    return flips


@kernel
def csr_anneal_part(indptr, indices, J, temperatures, quantiles, part, s, f, state):
    """As `csr_anneal`, over the spins of `part` only, in its order; the others stay as they are.

    Written out once more because a helper shared by both, or a list of all spins, makes sweeps a seventh slower.
    """
    random = state[0]
    flips = 0
    for t in range(temperatures.size):
        half = 0.5 * temperatures[t]
        limit = -half * quantiles[0]
        for k in range(part.size):
            i = part[k]
            spin = s[i]
            gain = spin * f[i]
            if gain <= limit:
                continue
            if gain <= 0:
                random = _next(random)
                if gain <= -half * quantiles[np.int64(random >> np.uint64(54))]:
                    continue
            s[i] = -spin
            flips += 1
            if spin > 0:
                for p in range(indptr[i], indptr[i + 1]):
                    f[indices[p]] -= 2 * J[p]
            else:
                for p in range(indptr[i], indptr[i + 1]):
                    f[indices[p]] += 2 * J[p]
    state[0] = random
    return flips


@kernel
def csr_quench(indptr, indices, J, slack, s, f):
    """Flip improving spins in index order until none is left. Returns the number of flips."""
    flips = 0
    found = True
    while found:
        found = False
        for i in range(s.size):
            if s[i] * f[i] > slack:
                spin = s[i]
                s[i] = -spin
                flips += 1
                found = True
                for p in range(indptr[i], indptr[i + 1]):
                    f[indices[p]] -= 2 * spin * J[p]
    return flips


@kernel
def dense_fields(J, h, s, f):
    """f = h + J s, for a dense J."""
    n = s.size
    for j in range(n):
        f[j] = h[j]
    for i in range(n):
        row = J[i]
        if s[i] > 0:
            for j in range(n):
                f[j] += row[j]
        else:
            for j in range(n):
                f[j] -= row[j]


@kernel
def dense_anneal(J, temperatures, quantiles, s, f, state):
    """As `csr_anneal`, for a dense J whose rows are added to the fields as whole vectors."""
    n = s.size
    two = f[0] - f[0] + 2  # of the fields' type: a product with an int8 row must not be an int8
    random = state[0]
    flips = 0
    for t in range(temperatures.size):
        half = 0.5 * temperatures[t]
        limit = -half * quantiles[0]
        for i in range(n):
            spin = s[i]
            gain = spin * f[i]
            if gain <= limit:
                continue
            if gain <= 0:
                random = _next(random)
                if gain <= -half * quantiles[np.int64(random >> np.uint64(54))]:
                    continue
            s[i] = -spin
            flips += 1
            row = J[i]
            if spin > 0:
                for j in range(n):
                    f[j] -= two * row[j]
            else:
                for j in range(n):
                    f[j] += two * row[j]
    state[0] = random
    return flips


@kernel
def dense_quench(J, slack, s, f):
    """As `csr_quench`, for a dense J."""
    n = s.size
    two = f[0] - f[0] + 2
    flips = 0
    found = True
    while found:
        found = False
        for i in range(n):
            spin = s[i]
            if spin * f[i] > slack:
                s[i] = -spin
                flips += 1
                found = True
                row = J[i]
                if spin > 0:
                    for j in range(n):
                        f[j] -= two * row[j]
                else:
                    for j in range(n):
                        f[j] += two * row[j]
    return flips
