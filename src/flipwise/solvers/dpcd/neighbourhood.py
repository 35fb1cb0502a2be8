"""The m-neighbourhood search: the best point within m flips (free) or m swaps (counts), all of them or a sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.model.constraints import Constraint
from flipwise.model.flips import EvaluatedFlips
from flipwise.model.objective import SupportsFlips


def search(
    objective: SupportsFlips,
    constraint: Constraint,
    x: Floats,
    g: Floats,
    m: int,
    samples: int,
    rng: np.random.Generator,
) -> tuple[int, float]:
    """Move to the best neighbour looked at, if it is better; returns (flips, change).

    All neighbours are looked at when there are at most `samples` of them, otherwise as many drawn at random. With
    m = 1 the best of all is found at once where the objective knows its flips exactly, as quadratics do.
    """
    if m == 1 and not isinstance(objective, EvaluatedFlips):
        return _best_single(objective, constraint, x, g)
    best_change = 0.0
    best: Ints | None = None
    for batch in _neighbours(constraint, x, m, samples, rng):
        change = objective.flip_change(x, g, batch)
        if change < best_change:
            best_change, best = change, batch
    if best is None or best_change > -1e-12 * float(np.abs(g.reshape(-1)[best]).sum()):
        return 0, 0.0
    return best.size, objective.flip(x, g, best)


def _best_single(objective: SupportsFlips, constraint: Constraint, x: Floats, g: Floats) -> tuple[int, float]:
    """The best single flip or swap of all, made if it improves."""
    if constraint.swaps:
        pairs = objective.improving_swaps(x, g, constraint.labels(x.shape))
        return (2, objective.flip(x, g, pairs[0])) if len(pairs) else (0, 0.0)
    gains = (x * objective.flip_gradient(x, g)).reshape(-1)
    best = np.array([int(gains.argmax())])
    return objective.flip_improving(x, g, best, follow=False)


def _neighbours(constraint: Constraint, x: Floats, m: int, samples: int, rng: np.random.Generator) -> Iterator[Ints]:
    flat = x.reshape(-1)
    if not constraint.swaps:
        n = flat.size
        if sum(comb(n, size) for size in range(1, min(m, n) + 1)) <= samples:
            for size in range(1, min(m, n) + 1):
                yield from (np.array(chosen) for chosen in combinations(range(n), size))
        else:
            for _ in range(samples):
                yield rng.choice(n, size=int(rng.integers(1, min(m, n) + 1)), replace=False)
        return
    labels = constraint.labels(x.shape)
    ones, zeros = np.flatnonzero(flat > 0), np.flatnonzero(flat < 0)
    if m == 1 and ones.size * zeros.size <= samples:
        yield from (np.array([i, j]) for i in ones for j in zeros if labels[i] == labels[j])
        return
    groups = [(ones[labels[ones] == q], zeros[labels[zeros] == q]) for q in range(int(labels.max(initial=-1)) + 1)]
    groups = [(up, down) for up, down in groups if up.size and down.size]
    if not groups:
        return
    for _ in range(samples):
        up, down = groups[int(rng.integers(len(groups)))]
        size = int(rng.integers(1, min(m, up.size, down.size) + 1))
        yield np.concatenate([rng.choice(up, size, replace=False), rng.choice(down, size, replace=False)])
