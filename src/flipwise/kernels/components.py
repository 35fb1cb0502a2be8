"""Recombination of two points of a sparse problem, component by component.

Where two points differ, the differing spins fall into connected components of the graph of J. Components are not
adjacent, so exchanging one changes the energy by an amount of its own: every component can be taken from the better
parent, and the child is at least as good as both (Tinos, Whitley, Chicano: Partition crossover for pseudo-Boolean
optimization, FOGA 2015; for spin glasses Houdayer, Eur. Phys. J. B 22, 2001).
"""

from __future__ import annotations

from flipwise.kernels.jit import kernel


@kernel
def csr_take_components(indptr, indices, J, slack, ties, s, f, other, stack, seen):
    """Flip in `s` every component of {i: s_i != other_i} that lowers E (with `ties`: or keeps it).

    `f` holds the fields of `s`; both are changed in place. `stack` (n entries) and `seen` (all False) are scratch;
    `seen` is all False again at the end. Returns (change of E, components).
    """
    n = s.size
    change = f[0] - f[0]  # zero of the fields' own type
    components = 0
    for root in range(n):
        if s[root] == other[root] or seen[root]:
            continue
        count = 1
        stack[0] = root
        seen[root] = True
        at = 0
        cost = change - change
        while at < count:
            i = stack[at]
            at += 1
            outside = f[i]
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if s[j] != other[j]:
                    outside -= J[p] * s[j]  # a neighbour in the component flips too
                    if not seen[j]:
                        seen[j] = True
                        stack[count] = j
                        count += 1
            cost -= 2 * s[i] * outside
        components += 1
        # the spins of a component stay marked as seen; a taken one no longer differs from `other`
        if cost < -slack or (ties and cost <= slack):
            change += cost
            for k in range(count):
                i = stack[k]
                spin = s[i]
                s[i] = -spin
                for p in range(indptr[i], indptr[i + 1]):
                    f[indices[p]] -= 2 * spin * J[p]
    for i in range(n):
        seen[i] = False
    return change, components
