"""Additive quantisation: a row is told as a sum of entries, one of each group of a codebook.

The loss is the paper's `||X - BW||^2` over codes B whose ones come one to a group. With all but one group held, the
best entry of that group is one product of matrices away for all rows at once: codes descend group by group. Entries
are ridge means of what the other groups leave over; where that loses more than the start on rows kept aside, they are
means drawn to zero along each axis by as much as they are noise there.

Few rows for many entries are learned by heart. So the entries are not fitted to the best code of a row alone but to
several near it: each is the descent of one sweep from a code of which some groups were drawn anew, first many, then
fewer. The same draws carry a row out of a poor local minimum; its best code so far is kept. The start, and every code,
come from a beam search, whose several residuals of each row are more to learn the next group from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.engine.limits import Clock
from flipwise.hashing.beams import Beams
from flipwise.kernels.sums import best_sums

Rows = npt.NDArray[np.float32]
GroupCodes = npt.NDArray[np.uint8]
Groups = list[Rows]
"""The entries of each group, a row an entry."""

Means = Callable[[Rows, Rows, Sequence[Rows]], Rows]
"""Entries from the sums of their rows, the numbers of these, and the rows themselves."""

ROUNDS = 16
"""Alternations of codes and entries at effort 1."""
TRIED = 4
"""Alternations after which the loss of the rows kept aside is looked at."""
BY_HEART = 1.01
"""Rows are being learned by heart where that loss is so much above the least so far."""
NEAR = 3
"""Codes near the best to which the entries are fitted, the best included."""
RIDGE = 10.0
"""Added to the number of rows of an entry: what keeps rare entries short."""
SAMPLED = 2000
"""Rows by which noise is told; less than twice as many are looked at."""
NOISE = 0.999
"""The part of what means explain along an axis that may be noise, at most."""
BEAMS = 5
"""Partial codes of a row that are carried on when it is encoded."""
START_BEAMS, START_NUMBERS = 4, 1 << 26
"""The same in the start, and the most numbers that they may have together."""
MORE_BEAMS, FEW_NUMBERS = 16, 1 << 24
"""With fewer rows than entries more beams can be afforded, and are needed: joint fits soon learn such rows by heart."""
MEANS_ROWS = 40_000
"""Rows from which the clusters of a group are learned, at most."""
MEANS_STEPS, MEANS_ROUNDS = 10, 3
"""Numbers of leading axes in which clusters are begun, and rounds in each."""
HELD_OUT = 20
"""One of so many rows is kept to judge by."""
PERTURBED = 0.25
"""The share of the groups of a code that are drawn anew before another descent."""
PRODUCTS = 1 << 23
"""Products of rows with entries that are held at once where rows are encoded."""


def train(X: Rows, sizes: Sequence[int], rng: np.random.Generator, rounds: int, clock: Clock) -> Groups:
    """Entries for centred rows, in groups of these sizes: clusters of what is left over, then fitted jointly.

    The last rounds fit to the best codes alone. Of the start and what there is after every few rounds, the one is taken
    that loses least on some rows that none has seen: where there are many rows for an entry the last is best, where
    there are few it is not, and the rounds end early.
    """
    held = X[: len(X) // HELD_OUT]
    X = X[len(held) :]
    groups, codes = _residual_start(X, sizes, rng)
    begin, start = list(groups), codes.copy()
    best, least = begin, _squared_error(held, groups)
    left = X - decode(codes, groups)
    means: Means = ridge_means
    total = rounds + (rounds + 3) // 4
    for at in range(total):
        if clock.expired:
            break
        near = [descend(codes, groups, left, rng)]
        if at < rounds:
            share = 0.75 - 0.5 * at / max(1, rounds - 1)
            near += [perturbed(X, codes, groups, left, rng, share) for _ in range(NEAR - 1)]
        else:
            perturbed(X, codes, groups, left, rng, PERTURBED)
            near = [codes]
        update(X, near, groups, means)
        if (at + 1) % TRIED == 0 or at + 1 in (rounds, total):
            loss = _squared_error(held, groups)
            if loss <= BY_HEART * least:
                best, least = list(groups), min(loss, least)
            elif best is begin and means is ridge_means:
                groups, codes, means = list(begin), start, shrunk_means
            else:
                break
        left = X - decode(codes, groups)
    return best


def _squared_error(X: Rows, groups: Groups) -> float:
    """The squared error of rows in the codes that they get."""
    rest = X - decode(encode(X, groups, np.random.default_rng(0)), groups)
    return float(np.vdot(rest, rest))


def encode(X: Rows, groups: Groups, rng: np.random.Generator, restarts: int = 2) -> GroupCodes:
    """The codes of centred rows: a beam search, then descents by groups from there and from perturbed codes.

    The generator's draws are the same for all rows, so that no code depends on the rows beside it.
    """
    return Encoder(groups, rng, restarts).codes(X)


class Encoder:
    """Finds codes of rows: what is the same for all of them is made once."""

    def __init__(self, groups: Groups, rng: np.random.Generator, restarts: int = 2) -> None:
        self.groups = groups
        self.first = np.concatenate([[0], np.cumsum([len(entries) for entries in groups])]).astype(np.int64)
        self.orders = np.stack([rng.permutation(len(groups)) for _ in range(restarts + 1)])
        self.shifts = np.zeros((restarts, len(groups)), dtype=np.int64)
        for shift in self.shifts:
            for _ in range(max(1, round(PERTURBED * len(groups)))):
                g = rng.integers(0, len(groups))
                shift[g] = (shift[g] + rng.integers(0, 2**16)) % len(groups[g])
        entries = np.concatenate(groups)
        self.entries = np.ascontiguousarray(entries.T)
        self.pairs = entries @ self.entries
        self.halves = np.diagonal(self.pairs) * np.float32(0.5)

    def codes(self, X: Rows) -> GroupCodes:
        """The codes of centred rows."""
        codes = np.empty((len(X), len(self.groups)), dtype=np.uint8)
        step = max(1, PRODUCTS // self.first[-1])
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            alone = X[rows] @ self.entries
            alone -= self.halves
            best_sums(alone, self.pairs, self.first, self.orders, self.shifts, BEAMS, codes[rows])
        return codes


def decode(codes: GroupCodes, groups: Groups) -> Rows:
    """The sums that codes stand for."""
    total = np.zeros((len(codes), groups[0].shape[1]), dtype=np.float32)
    for g, entries in enumerate(groups):
        total += entries[codes[:, g]]
    return total


def descend(codes: GroupCodes, groups: Groups, left: Rows, rng: np.random.Generator) -> GroupCodes:
    """Set each group in turn to its best entry, in place, with what is `left` over; returns a copy of the codes."""
    for g in rng.permutation(len(groups)):
        left += groups[g][codes[:, g]]
        codes[:, g] = _nearest_entries(left, groups[g])
        left -= groups[g][codes[:, g]]
    return codes.copy()


def perturbed(
    X: Rows, codes: GroupCodes, groups: Groups, left: Rows, rng: np.random.Generator, share: float
) -> GroupCodes:
    """One sweep from codes with a share of their groups moved on; `codes` and `left` take what is better.

    Returns all the codes found.
    """
    n, width = codes.shape
    other = codes.copy()
    rows = np.arange(n)
    sizes = np.array([len(entries) for entries in groups])
    for _ in range(max(1, round(share * width))):
        g = rng.integers(0, width, n)
        other[rows, g] = (other[rows, g] + rng.integers(0, 2**16, n)) % sizes[g]
    other_left = X - decode(other, groups)
    descend(other, groups, other_left, rng)
    better = np.einsum("ij,ij->i", other_left, other_left) < np.einsum("ij,ij->i", left, left)
    codes[better] = other[better]
    left[better] = other_left[better]
    return other


def update(X: Rows, near: Sequence[GroupCodes], groups: Groups, means: Means, passes: int = 2) -> None:
    """Fit the entries to rows that have several codes each, group after group, in place."""
    left = [X - decode(codes, groups) for codes in near]
    for _ in range(passes):
        for g in range(len(groups)):
            total = np.zeros_like(groups[g])
            count = np.zeros(len(groups[g]), dtype=np.float32)
            for codes, rest in zip(near, left, strict=True):
                rest += groups[g][codes[:, g]]
                sums, of_entry = _sums_and_counts(rest, codes[:, g], len(groups[g]))
                total += sums
                count += of_entry
            groups[g] = means(total, count, left)
            for codes, rest in zip(near, left, strict=True):
                rest -= groups[g][codes[:, g]]


def ridge_means(sums: Rows, count: Rows, left: Sequence[Rows]) -> Rows:
    """Means of the rows of each entry, drawn to zero by a ridge."""
    del left
    return sums / (count + np.float32(RIDGE))[:, None]


def shrunk_means(sums: Rows, count: Rows, left: Sequence[Rows]) -> Rows:
    """Means of the rows of each entry, drawn to zero along axes on which they differ by little but chance.

    The mean of c rows that spread by v around an entry is off by v / c. Where the entries themselves spread by u,
    sum / (c + v / u) is nearest to them; u is what the means explain less what chance does.
    """
    rows = count.sum()
    some = np.concatenate([rest[:: max(1, len(rest) // SAMPLED)] for rest in left])
    squares = np.einsum("ij,ij->j", some, some) / len(some)
    means = sums / np.maximum(count, 1)[:, None]
    explained = count @ (means.astype(np.float64) ** 2) / rows
    around = np.maximum(squares - explained, 0.0)
    by_chance = np.minimum(around * (np.count_nonzero(count) / rows), NOISE * explained)
    true = explained - by_chance
    ridge = np.divide(around, true, out=np.zeros_like(true), where=true > 0.0)
    shrunk: Rows = (sums / np.maximum(count[:, None] + ridge, 1e-30)).astype(np.float32)
    return shrunk


def _residual_start(X: Rows, sizes: Sequence[int], rng: np.random.Generator) -> tuple[Groups, GroupCodes]:
    """Clusters of the rows, of what these leave over, and so on; and the codes that they give."""
    size = max(1, X.size)
    width = min(START_BEAMS, START_NUMBERS // size)
    if sum(sizes) > len(X):
        width = max(width, min(MORE_BEAMS, FEW_NUMBERS // size))
    beams = Beams(X, max(1, width), len(sizes))
    groups: Groups = []
    for g, size in enumerate(sizes):
        left = beams.left.reshape(-1, X.shape[1])
        if len(left) > MEANS_ROWS:
            left = left[np.sort(rng.choice(len(left), MEANS_ROWS, replace=False))]
        groups.append(clusters(left, size, rng))
        beams.extend(groups[-1], g)
    return groups, beams.first()[0]


def clusters(X: Rows, size: int, rng: np.random.Generator) -> Rows:
    """Means of clusters, begun along the leading axes and then in more and more of them."""
    _, axes = np.linalg.eigh(X.T @ X)
    axes = np.ascontiguousarray(axes[:, ::-1], dtype=np.float32)
    Z = X @ axes
    width = Z.shape[1]
    steps = sorted({round(width ** (step / MEANS_STEPS)) for step in range(1, MEANS_STEPS + 1)})
    means = np.zeros((size, width), dtype=np.float32)
    begin = rng.choice(len(Z), size, replace=len(Z) < size)
    means[:, : steps[0]] = Z[begin, : steps[0]]
    for step in steps:
        part = np.ascontiguousarray(Z[:, :step])
        for _ in range(MEANS_ROUNDS):
            sums, count = _sums_and_counts(part, _nearest_entries(part, means[:, :step]), size)
            means[:, :step] = sums / np.maximum(count, 1)[:, None]
            empty = np.flatnonzero(count == 0)
            means[empty, :step] = part[rng.integers(0, len(part), empty.size)]
    entries: Rows = means @ axes.T
    return entries


def _nearest_entries(X: Rows, entries: Rows) -> npt.NDArray[np.intp]:
    """The nearest entry of each row."""
    scores = X @ entries.T
    scores -= 0.5 * np.einsum("ij,ij->i", entries, entries)
    nearest: npt.NDArray[np.intp] = scores.argmax(axis=1)
    return nearest


def _sums_and_counts(X: Rows, which: Any, size: int) -> tuple[Rows, Rows]:
    """The sum of the rows of each entry, and their number."""
    ones = np.ones(len(X), dtype=np.float32)
    chosen = sp.csr_array((ones, which, np.arange(len(X) + 1)), shape=(len(X), size))
    return chosen.T @ X, np.bincount(which, minlength=size).astype(np.float32)
