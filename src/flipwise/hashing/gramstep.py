"""DPCD on a similarity loss ||B'MB||^2 - 2<MB, KMB>, K = Z diag(s) Z', without the machinery of a general run.

G = B'MB and U = diag(s) Z'MB are kept up to date by the flips, so an update costs two products (BG and ZU) and the
flips themselves. The products only say which coordinates pass the thresholds of Eq. (6); a flip is made where its exact
change, from the present G and U, is negative. Updates end when nothing moves, in a large
problem when one has gained less than a hundredth of what all before it have.
"""

from __future__ import annotations

import numpy as np

from flipwise.arrays import Floats
from flipwise.hashing.losses.gram import GramMatch
from flipwise.hashing.pace import out_of_time, tell_round

LITTLE = 0.01
LARGE = 100_000
"""With fewer entries than this the updates are cheap, and all are made."""
LOWERED = 4.0
"""alpha is divided by this after an update that flips less than a quarter, and is 0 below 0.1 (as in dpcd.updates)."""


def descend(loss: GramMatch, B: Floats, updates: int, alpha: tuple[float, float]) -> Floats:
    """At most `updates` principal coordinate updates from `B`, which is changed in place."""
    state = loss.state(B)
    gained = 0.0
    for _ in range(updates):
        flips, change = loss.flip_state(B, state, _chosen(loss.flip_gradient_of(B, state), B, alpha))
        gained -= change
        tell_round(lambda: loss.value(B), flips)
        little = LITTLE * gained if B.size > LARGE else 0.0
        if out_of_time() or (max(alpha) == 0.0 and -change <= little):
            break
        if LOWERED * flips <= B.size:
            alpha = tuple(0.0 if a <= 0.1 * LOWERED else a / LOWERED for a in alpha)  # type: ignore[assignment]
    return B


def _chosen(d: Floats, B: Floats, alpha: tuple[float, float]) -> np.ndarray:
    """S_plus and S_minus of Algorithm 1 as positions, in their order."""
    if max(alpha) == 0.0:
        return np.flatnonzero(d * B > 0.0)
    above, below = d > 0.0, d < 0.0
    L1 = float(d.sum(where=above)) / max(1, int(np.count_nonzero(above)))
    L2 = -float(d.sum(where=below)) / max(1, int(np.count_nonzero(below)))
    return np.flatnonzero(((d > alpha[0] * L1) & (B > 0.0)) | ((d < -alpha[1] * L2) & (B < 0.0)))
