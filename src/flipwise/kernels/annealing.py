"""Simulated annealing of spins: sweeps in index order, exact local fields, Metropolis acceptance.

    E(s) = sum_{i<j} J_ij s_i s_j + sum_i h_i s_i,    f_i = h_i + sum_j J_ij s_j,    cost of flipping i = -2 s_i f_i

Kirkpatrick, Gelatt, Vecchi: Optimization by simulated annealing, Science 220, 1983. A flip is accepted when its cost is
below T e with e exponentially distributed, which is Metropolis' rule; e comes from a table of quantiles, so that a spin
whose cost is above T times the largest entry is passed over without drawing a number. Fields are integers when the
weights are. Random numbers are Marsaglia's xorshift64 (J. Stat. Soft. 8, 2003) on a state the caller owns.

With an exact number of ones in each group, a pair of flips keeps the counts, but good pairs are rare: on a mesh only
the few nodes along the cut are worth exchanging. So the sweep still flips one spin at a time, and each group g carries
its excess M_g (the sum of its spins minus what it must be), weighed by a level l_g and a stiffness a:

    E(s) + sum_g (l_g M_g + a M_g^2),          cost of a flip = -2 s_i (f_i + l_g + 2 a M_g) + 4 a

The stiffness is proportional to the temperature, which holds M_g within a few spins of zero at any scale of weights,
and after each sweep the level takes over the force 2 a M_g: it becomes the multiplier of the count. No penalty weight
has to be chosen, and nothing dense is formed. What is left of the excess is removed at the end, cheapest flips first.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import entries_in_rows, helper, kernel
from flipwise.kernels.random_numbers import next_random

QUANTILES = 1024
"""Length of the table of quantiles of the exponential distribution."""


def exponential_quantiles() -> np.ndarray:
    """The table: -ln((k + 1/2) / QUANTILES), decreasing."""
    return -np.log((np.arange(QUANTILES) + 0.5) / QUANTILES)


@kernel(operations=lambda indptr, indices, J, t, *_: t.size * (indptr.size + indices.size // 4))
def csr_anneal(indptr, indices, J, temperatures, quantiles, s, f, state):
    """One sweep over all spins at each temperature.

    `s` (int8), `f` and `state` (one uint64) are changed in place.
    """
    n = s.size
    random = state[0]
    for t in range(temperatures.size):
        half = 0.5 * temperatures[t]
        limit = -half * quantiles[0]
        for i in range(n):
            spin = s[i]
            gain = spin * f[i]
            if gain <= limit:
                continue
            if gain <= 0:
                random = next_random(random)
                if gain <= -half * quantiles[np.int64(random >> np.uint64(54))]:
                    continue
            s[i] = -spin
            if spin > 0:
                for p in range(indptr[i], indptr[i + 1]):
                    f[indices[p]] -= 2 * J[p]
            else:
                for p in range(indptr[i], indptr[i + 1]):
                    f[indices[p]] += 2 * J[p]
    state[0] = random


@kernel(
    operations=lambda indptr, indices, J, t, quantiles, part, *_: (
        t.size * (part.size + entries_in_rows(indptr, part) // 4)
    )
)
def csr_anneal_part(indptr, indices, J, temperatures, quantiles, part, s, f, state):
    """As `csr_anneal`, over the spins of `part` only, in its order; the others stay as they are.

    Written out once more because a helper shared by both, or a list of all spins, makes sweeps a seventh slower.
    """
    random = state[0]
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
                random = next_random(random)
                if gain <= -half * quantiles[np.int64(random >> np.uint64(54))]:
                    continue
            s[i] = -spin
            if spin > 0:
                for p in range(indptr[i], indptr[i + 1]):
                    f[indices[p]] -= 2 * J[p]
            else:
                for p in range(indptr[i], indptr[i + 1]):
                    f[indices[p]] += 2 * J[p]
    state[0] = random


@helper
def _flip_csr(indptr, indices, J, i, s, f):
    """Flip s_i and bring the fields along."""
    spin = s[i]
    s[i] = -spin
    for p in range(indptr[i], indptr[i + 1]):
        f[indices[p]] -= 2 * spin * J[p]


@kernel
def csr_quench(indptr, indices, J, slack, s, f):
    """Flip improving spins in index order until none is left."""
    found = True
    while found:
        found = False
        for i in range(s.size):
            if s[i] * f[i] > slack:
                _flip_csr(indptr, indices, J, i, s, f)
                found = True


@kernel(operations=lambda J, t, *_: t.size * (len(J) + J.size // 8))
def dense_anneal(J, temperatures, quantiles, s, f, state):
    """As `csr_anneal`, for a dense J whose rows are added to the fields as whole vectors."""
    n = s.size
    two = f[0] - f[0] + 2  # of the fields' type: a product with an int8 row must not be an int8
    random = state[0]
    for t in range(temperatures.size):
        half = 0.5 * temperatures[t]
        limit = -half * quantiles[0]
        for i in range(n):
            spin = s[i]
            gain = spin * f[i]
            if gain <= limit:
                continue
            if gain <= 0:
                random = next_random(random)
                if gain <= -half * quantiles[np.int64(random >> np.uint64(54))]:
                    continue
            s[i] = -spin
            row = J[i]
            if spin > 0:
                for j in range(n):
                    f[j] -= two * row[j]
            else:
                for j in range(n):
                    f[j] += two * row[j]
    state[0] = random


@helper
def _flip_dense(J, i, s, f):
    """As `_flip_csr`, for a dense J."""
    spin = s[i]
    s[i] = -spin
    row = J[i]
    step = (f[0] - f[0] + 2) * spin  # of the fields' type
    for j in range(s.size):
        f[j] -= step * row[j]


@kernel(operations=lambda J, *_: len(J) + J.size // 8)
def dense_quench(J, slack, s, f):
    """As `csr_quench`, for a dense J."""
    found = True
    while found:
        found = False
        for i in range(s.size):
            if s[i] * f[i] > slack:
                _flip_dense(J, i, s, f)
                found = True


@kernel(operations=lambda indptr, indices, J, t, *_: t.size * (indptr.size + indices.size // 4))
def csr_anneal_counts(indptr, indices, J, temperatures, quantiles, stiffness, labels, excess, level, s, f, state):
    """One sweep over all spins at each temperature; `excess` and `level` are float64, one entry for each group."""
    random = state[0]
    for t in range(temperatures.size):
        half = 0.5 * temperatures[t]
        a = stiffness * temperatures[t]
        limit = -half * quantiles[0]
        for i in range(s.size):
            spin = s[i]
            g = labels[i]
            gain = spin * (f[i] + level[g] + 2.0 * a * excess[g]) - 2.0 * a
            if gain <= limit:
                continue
            if gain <= 0.0:
                random = next_random(random)
                if gain <= -half * quantiles[np.int64(random >> np.uint64(54))]:
                    continue
            s[i] = -spin
            excess[g] -= 2.0 * spin
            for p in range(indptr[i], indptr[i + 1]):
                f[indices[p]] -= 2 * spin * J[p]
        for g in range(level.size):
            level[g] += 2.0 * a * excess[g]
    state[0] = random


@kernel(operations=lambda J, t, *_: t.size * (len(J) + J.size // 8))
def dense_anneal_counts(J, temperatures, quantiles, stiffness, labels, excess, level, s, f, state):
    """As `csr_anneal_counts`, for a dense J."""
    random = state[0]
    n = s.size
    two = f[0] - f[0] + 2  # of the fields' type: a product with an int8 row must not be an int8
    for t in range(temperatures.size):
        half = 0.5 * temperatures[t]
        a = stiffness * temperatures[t]
        limit = -half * quantiles[0]
        for i in range(n):
            spin = s[i]
            g = labels[i]
            gain = spin * (f[i] + level[g] + 2.0 * a * excess[g]) - 2.0 * a
            if gain <= limit:
                continue
            if gain <= 0.0:
                random = next_random(random)
                if gain <= -half * quantiles[np.int64(random >> np.uint64(54))]:
                    continue
            s[i] = -spin
            excess[g] -= 2.0 * spin
            row = J[i]
            if spin > 0:
                for j in range(n):
                    f[j] -= two * row[j]
            else:
                for j in range(n):
                    f[j] += two * row[j]
        for g in range(level.size):
            level[g] += 2.0 * a * excess[g]
    state[0] = random


SWAPPING = 20_000_000
"""Spins that are looked at for swaps when a count is restored, but for a hundred swaps: each looks at all of them."""


@helper
def _cheapest_spin(members, s, f, sign):
    """The spin of `members` at `sign` whose flip costs least, or -1."""
    found = -1
    for k in range(members.size):
        i = members[k]
        if s[i] == sign and (found < 0 or s[i] * f[i] > s[found] * f[found]):
            found = i
    return found


@kernel
def csr_restore_count(indptr, indices, J, slack, members, missing, s, f):
    """Flip the cheapest spins of one group until `missing` more of them are +1, then swap while the best pair improves.

    The pair is the cheapest +1 and then, with the fields after its flip, the cheapest -1.
    """
    up = np.int64(1)  # no literal: the helper would be compiled for it by itself
    while missing != 0:
        sign = -up if missing > 0 else up
        i = _cheapest_spin(members, s, f, sign)
        _flip_csr(indptr, indices, J, i, s, f)
        missing += sign
    for _ in range(100 + SWAPPING // max(1, members.size)):
        i = _cheapest_spin(members, s, f, up)
        if i < 0:
            return
        gain = f[i]
        _flip_csr(indptr, indices, J, i, s, f)
        j = _cheapest_spin(members, s, f, -up)
        gain -= f[j]
        _flip_csr(indptr, indices, J, j, s, f)
        if gain <= slack:  # this pair does not improve: put it back
            _flip_csr(indptr, indices, J, j, s, f)
            _flip_csr(indptr, indices, J, i, s, f)
            return


@kernel
def dense_restore_count(J, slack, members, missing, s, f):
    """As `csr_restore_count`, for a dense J."""
    up = np.int64(1)  # no literal: the helper would be compiled for it by itself
    while missing != 0:
        sign = -up if missing > 0 else up
        i = _cheapest_spin(members, s, f, sign)
        _flip_dense(J, i, s, f)
        missing += sign
    for _ in range(100 + SWAPPING // max(1, members.size)):
        i = _cheapest_spin(members, s, f, up)
        if i < 0:
            return
        gain = f[i]
        _flip_dense(J, i, s, f)
        j = _cheapest_spin(members, s, f, -up)
        gain -= f[j]
        _flip_dense(J, j, s, f)
        if gain <= slack:
            _flip_dense(J, j, s, f)
            _flip_dense(J, i, s, f)
            return
