"""The principal coordinates of a direction, so many of them: flips where they are free, exchanges where counts hold.

DPCD takes the coordinates above a threshold. A scheme that is not monotone takes a number q of them instead, which
falls while it runs: the largest x_i d_i > 0, or with a generator any q of those that are positive. Under exact counts
the entry at +1 with the largest d leaves and the one at -1 with the smallest d enters, in each group the second with
the second, and so on; q flips are q/2 such pairs, those with the largest gains of all groups.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.model.constraints import Constraint, allowed_moves, disjoint_moves, is_built_in
from flipwise.model.evaluation import Slopes

SORTED = 100_000
"""Up to so many variables the q largest gains are found exactly; among more, by a level from a sample of as many."""


class PrincipalMoves:
    """Chooses the moves of one step under a constraint."""

    def __init__(self, constraint: Constraint, shape: tuple[int, ...]) -> None:
        self.constraint = constraint
        self.shape = shape
        self.n = int(np.prod(shape))
        self.built_in = is_built_in(constraint)
        self._labels: Ints = np.empty(0, dtype=np.int64)
        self._out: Ints | None = None
        self._into: Ints | None = None
        if self.built_in and constraint.swaps:
            self._labels = constraint.labels(shape)
            if int(self._labels.max(initial=0)) > 0:
                self._out, self._into = self._places_of_pairs()

    @property
    def labels(self) -> Ints | None:
        """The group of each variable, where there are several with counts of their own."""
        return None if self._out is None else self._labels

    def choose(self, x: Floats, d: Slopes, q: int, rng: np.random.Generator | None = None) -> Ints:
        """The flattened indices of about q flips that keep the constraint; fewer where fewer promise something."""
        spins, slopes = x.reshape(-1), d.reshape(-1)
        if not self.built_in:
            return self._allowed_flips(x, d, q, rng)
        if not self.constraint.swaps:
            gains = spins * slopes
            if q == 1 and rng is None:
                best = int(gains.argmax())
                return np.array([best] if gains[best] > 0.0 else [], dtype=np.int64)
            if self.n > SORTED and rng is None:
                return _about_q_largest(gains, q)
            return _some_candidates(np.flatnonzero(gains > 0.0), gains, q, rng)
        out, into = self._best_pairs(spins, slopes, max(1, q // 2), rng is not None)
        gains = slopes[out] - slopes[into]
        chosen = _some_candidates(np.flatnonzero(gains > 0.0), gains, max(1, q // 2), rng)
        return np.concatenate([out[chosen], into[chosen]])

    def ordered(self, x: Floats, d: Slopes) -> Ints:
        """All moves that promise something, indices or pairs in rows, the most promising first."""
        spins, slopes = x.reshape(-1), d.reshape(-1)
        if not self.built_in:
            moves, gains = self._proposed_moves(x, d)
        elif not self.constraint.swaps:
            moves = np.arange(self.n)
            gains = spins * slopes
        else:
            out, into = self._best_pairs(spins, slopes, self.n, True)
            moves, gains = np.stack([out, into], axis=1), slopes[out] - slopes[into]
        order = np.argsort(-gains, kind="stable")
        return moves[order[: np.count_nonzero(gains > 0.0)]]

    def _best_pairs(self, spins: Floats, slopes: Slopes, pairs: int, all_of_them: bool) -> tuple[Ints, Ints]:
        """Entries that leave and entries that enter, the best with the best in each group."""
        ones, zeros = np.flatnonzero(spins > 0), np.flatnonzero(spins < 0)
        if self._out is None:
            most = min(ones.size, zeros.size)
            pairs = most if all_of_them else min(pairs, most)
            return _candidates_in_order(ones, slopes, pairs), _candidates_in_order(zeros, -slopes, pairs)
        ones = ones[np.lexsort((-slopes[ones], self._labels[ones]))]
        zeros = zeros[np.lexsort((slopes[zeros], self._labels[zeros]))]
        return ones[self._out], zeros[self._into]

    def _places_of_pairs(self) -> tuple[Ints, Ints]:
        """Where the pairs stand among all ones and among all zeros, both sorted by group: the counts never change."""
        anywhere = self.constraint.project(np.zeros(self.shape)).reshape(-1) > 0
        groups = int(self._labels.max()) + 1
        up = np.bincount(self._labels[anywhere], minlength=groups)
        down = np.bincount(self._labels[~anywhere], minlength=groups)
        up_ends, down_ends = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in (up, down))
        paired = np.minimum(up, down).tolist()
        out = [np.arange(a, a + k) for (a, _), k in zip(pairwise(up_ends), paired, strict=True)]
        into = [np.arange(a, a + k) for (a, _), k in zip(pairwise(down_ends), paired, strict=True)]
        return np.concatenate(out), np.concatenate(into)

    def _allowed_flips(self, x: Floats, d: Slopes, q: int, rng: np.random.Generator | None) -> Ints:
        """The same under a constraint of somebody else's, as far as its own pairing and its rule allow."""
        moves, gains = self._proposed_moves(x, d)
        width = 1 if moves.ndim == 1 else moves.shape[1]
        chosen = _some_candidates(np.flatnonzero(gains > 0.0), gains, max(1, q // width), rng)
        return np.asarray(allowed_moves(self.constraint, x, moves[chosen])).reshape(-1)

    def _proposed_moves(self, x: Floats, d: Slopes) -> tuple[Ints, Floats]:
        """The moves that such a constraint proposes, and what they promise."""
        level = self.constraint.gauge(np.asarray(d, dtype=np.float64))
        plus = np.flatnonzero((level > 0.0) & (x > 0))
        minus = np.flatnonzero((level < 0.0) & (x < 0))
        moves = disjoint_moves(np.asarray(self.constraint.pair(plus, minus, level)))
        if not len(moves):
            return moves, np.empty(0)
        flips = moves.reshape(len(moves), -1)
        return moves, (x.reshape(-1)[flips] * level.reshape(-1)[flips]).sum(axis=1)


def _about_q_largest(gains: np.ndarray[Any, Any], q: int) -> Ints:
    """About q of very many coordinates, those of the largest gains above 0, by a level that a sample says."""
    sample = gains[:: gains.size // SORTED]
    above = round(q * sample.size / gains.size)
    if above < 20:  # a sample says nothing about the few largest
        return _some_candidates(np.flatnonzero(gains > 0.0), gains, q, None)
    level = float(np.partition(sample, sample.size - above)[sample.size - above])
    chosen = np.flatnonzero(gains >= level) if level > 0.0 else np.flatnonzero(gains > 0.0)
    return chosen[:: max(1, chosen.size // q)]  # many gains may be equal


def _some_candidates(candidates: Ints, gains: np.ndarray[Any, Any], q: int, rng: np.random.Generator | None) -> Ints:
    """All candidates when there are at most q, otherwise the q of the largest gain, or any q of them."""
    if candidates.size <= q:
        return candidates
    if rng is not None:
        return candidates[rng.random(candidates.size) * candidates.size < q]
    return candidates[np.argpartition(gains[candidates], candidates.size - q)[candidates.size - q :]]


def _candidates_in_order(candidates: Ints, scores: np.ndarray[Any, Any], count: int) -> Ints:
    """The candidates with the largest scores, best first."""
    if count == 0:
        return candidates[:0]
    values = scores[candidates]
    if count < candidates.size:
        kept = np.argpartition(values, candidates.size - count)[candidates.size - count :]
        candidates, values = candidates[kept], values[kept]
    return candidates[np.argsort(-values, kind="stable")]
