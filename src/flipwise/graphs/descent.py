"""DPCD on a set of k nodes: Algorithm 1 of Xiong et al. for f(x) = -x'Wx on Omega_k, with incremental degrees.

The gradient is -2 times the degrees d into the set. On Omega_k it is known up to a constant, so the gauge comes first:
the level that separates the k largest degrees from the rest. S_plus are members below it, S_minus outsiders above it;
they are paired, the strongest first, and exchanged as one batch. The change of a batch is exact; a batch that does not
improve is undone and halved. The end is a set that no exchange of two nodes improves.
"""

from __future__ import annotations

import numpy as np

from flipwise.graphs.subset import Subset

FINAL_WORK = 2e9
"""Nodes looked at for best exchanges at the end of one descent, about; enough to finish on all but huge cores."""


def descend(subset: Subset, batches: int = 200) -> int:
    """Improve the subset in place until no exchange does; returns the number of exchanges."""
    made = 0
    for _ in range(batches):
        exchanged = _batch(subset)
        made += exchanged
        if exchanged == 0:
            break
    return made + subset.best_swaps(max(100, int(FINAL_WORK / subset.graph.n)))


def _batch(subset: Subset) -> int:
    """One principal coordinate update; returns the number of exchanges kept."""
    d, inside = subset.degrees, subset.inside.astype(bool)
    k = int(np.count_nonzero(inside))
    if k == 0 or k == inside.size:
        return 0
    level = np.partition(d, d.size - k)[d.size - k]
    S_plus = np.flatnonzero(inside & (d < level))
    S_minus = np.flatnonzero(~inside & (d >= level))
    S_plus = S_plus[np.argsort(d[S_plus], kind="stable")]
    S_minus = S_minus[np.argsort(-d[S_minus], kind="stable")]
    size = min(S_plus.size, S_minus.size)
    tolerance = 0.0 if subset.graph.weights is None else 1e-12 * float(np.abs(d).sum())
    while size > 8:
        if subset.exchange(S_plus[:size], S_minus[:size]) > tolerance:
            return size
        subset.exchange(S_minus[:size], S_plus[:size])
        size //= 4
    return subset.exchange_improving(S_plus, S_minus[: S_plus.size]) if size else 0
