"""Moves among groups that have one choice each, of equally many: two exchange their choices, or more in a circle.

A permutation, written as one-hot rows with a penalty for columns that are taken twice, is mended by nothing less: each
swap inside a row is bad alone. The slopes say of every row what each choice that is taken now would cost it, so the
best way to deal the same choices out anew is a linear assignment; it differs from the present one by circles of rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.model.evaluation import Slopes
from flipwise.model.flips import PAIR_LIMIT

MOST_GROUPS = 500
"""An assignment of more groups than this (it takes the third power of their number) is not looked for."""


def exchanges(x: Floats, g: Slopes, labels: Ints | None) -> Iterator[Ints]:
    """The exchanges of two groups, best slope first; a move lists the entries that leave and enter, in turn."""
    choices = _choices_of_groups(x, labels)
    if choices is None:
        return
    members, chosen = choices
    slopes = g.reshape(-1)[members]
    a, b = np.triu_indices(len(chosen), 1)
    a, b = a[chosen[a] != chosen[b]], b[chosen[a] != chosen[b]]
    cost = slopes[a, chosen[b]] + slopes[b, chosen[a]] - slopes[a, chosen[a]] - slopes[b, chosen[b]]
    for k in np.argsort(cost, kind="stable")[:PAIR_LIMIT]:
        i, j = members[a[k]], members[b[k]]
        yield np.array([i[chosen[a[k]]], i[chosen[b[k]]], j[chosen[b[k]]], j[chosen[a[k]]]])


def circles(x: Floats, g: Slopes, labels: Ints | None) -> list[Ints]:
    """The circles that lead to the best assignment of the present choices by the slopes, the most promising first."""
    choices = _choices_of_groups(x, labels)
    if choices is None or not 2 <= len(choices[1]) <= MOST_GROUPS:
        return []
    from scipy.optimize import linear_sum_assignment

    members, chosen = choices
    cost = np.asarray(g.reshape(-1)[members], dtype=np.float64)[:, chosen]
    if not np.isfinite(cost).all():
        return []
    new = linear_sum_assignment(cost)[1]
    gains = np.diagonal(cost) - cost[np.arange(len(new)), new]
    found, seen = [], new == np.arange(len(new))
    for first in range(len(new)):
        circle = []
        while not seen[first]:
            seen[first] = True
            circle.append(first)
            first = int(new[first])
        rows = np.array([i for i in circle if chosen[i] != chosen[new[i]]], dtype=np.int64)
        if rows.size and (gain := float(gains[circle].sum())) > 0.0:
            move = np.stack([members[rows, chosen[rows]], members[rows, chosen[new[rows]]]], axis=1)
            found.append((gain, move.reshape(-1)))
    return [move for _, move in sorted(found, key=lambda each: -each[0])]


def _choices_of_groups(x: Floats, labels: Ints | None) -> tuple[Ints, Ints] | None:
    """The entries of each group in rows, and which of them is the one at +1; None unless all have one of as many."""
    if labels is None:
        return None
    flat = x.reshape(-1)
    groups = int(labels.max(initial=-1)) + 1
    if (
        groups < 2
        or np.count_nonzero(flat > 0) != groups
        or (np.bincount(labels, minlength=groups) * groups != flat.size).any()
    ):
        return None
    members = np.argsort(labels, kind="stable").reshape(groups, -1)
    up = flat[members] > 0
    if (np.count_nonzero(up, axis=1) != 1).any():
        return None
    return members, np.argmax(up, axis=1)
