"""Triangle inequalities on the nodes of a set, and what multipliers of them add to the weights.

With s_0 = 1 and s_i = 2 x_i - 1, any three of the n + 1 spins satisfy a s_i s_j + b s_i s_k + c s_j s_k >= -1 for signs
with abc = 1. So for multipliers z >= 0, and x_i x_i = x_i,
    0 <= sum of z (left side + 1) = constant + sum over i of 2 bonus_i x_i + sum over pairs i != j of weight_ij x_i x_j
whatever set x is. Added to twice the weight of a set, that is a bound for other weights, which can be a better one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from flipwise.bounds.hypermetric import violated_triangles
from flipwise.foundation.arrays import Bools, Floats, Ints

GRID = 2.0**-30
"""Multipliers are multiples of this, so that their sums are exact ..."""
LARGEST = 1024.0
"""... up to this size."""
OPEN = 0.01
"""Nodes that are taken by less than this, or all but so much, are not looked at for triangles."""
MOST_OPEN = 450
"""Of more nodes those that are taken most nearly by half are looked at: a look takes as long as some steps."""
MOST_ADDED = 8
"""Triangles that are added at once, for each node."""
VIOLATED = 0.03
"""Triangles that are violated by more than this are added."""
FORGIVEN = 0.2
"""Triangles without a multiplier that hold with this to spare are dropped."""


@dataclass(eq=False)
class Triangles:
    """Inequalities: three nodes, the three signs of X_ij, X_ik, X_jk, and a multiplier each."""

    nodes: Ints = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    signs: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    z: Floats = field(default_factory=lambda: np.zeros(0))

    def kept(self, which: np.ndarray) -> Triangles:
        return Triangles(self.nodes[which], self.signs[which], self.z[which])

    def merged(self, other: Triangles, N: int) -> Triangles:
        """These and others that are not among them."""

        def keys(of: Triangles) -> Ints:
            kind = 2 * (of.signs[:, 0] > 0) + (of.signs[:, 1] > 0)
            return np.asarray(((of.nodes @ np.array([N * N, N, 1])) * 4 + kind).astype(np.int64))

        fresh = ~np.isin(keys(other), keys(self))
        nodes, signs = (
            np.concatenate([self.nodes, other.nodes[fresh]]),
            np.concatenate([self.signs, other.signs[fresh]]),
        )
        return Triangles(nodes, signs, np.concatenate([self.z, other.z[fresh]]))


def violated_in(X: Floats, most: int) -> Triangles:
    """The inequalities that X violates most."""
    nodes, spins, violations = violated_triangles(X, most, VIOLATED)
    signs = (spins[:, [0, 0, 1]] * spins[:, [1, 2, 2]]).astype(np.float64)
    return Triangles(nodes, signs, np.zeros(violations.size))


class Terms(NamedTuple):
    """What the multipliers add: a constant, twice a bonus for each node, and the weights of pairs."""

    constant: float
    bonus: Floats
    weights: Floats


def spins_of(Y: Floats) -> Floats:
    """The products of spins, from those of (1, x)."""
    Y = Y.astype(np.float64)
    x = Y[0]
    Z: Floats = 4.0 * Y - 2.0 * x[:, None] - 2.0 * x + 1.0
    Z[0] = Z[:, 0] = 2.0 * x - 1.0
    np.fill_diagonal(Z, 1.0)
    return Z


def missing(triangles: Triangles, Z: Floats) -> Floats:
    """By how much each inequality is violated; negative where it holds."""
    i, j, k = triangles.nodes.T
    signs = triangles.signs
    left: Floats = signs[:, 0] * Z[i, j] + signs[:, 1] * Z[i, k] + signs[:, 2] * Z[j, k]
    return -1.0 - left


def moved(triangles: Triangles, violation: Floats, step: float) -> Triangles:
    """The multipliers moved along the violation, on their grid."""
    return _on_grid(triangles, triangles.z + step * violation)


def scaled(triangles: Triangles, factor: float) -> Triangles:
    """The multipliers times a factor, on their grid."""
    return _on_grid(triangles, factor * triangles.z)


def _on_grid(triangles: Triangles, z: Floats) -> Triangles:
    return Triangles(triangles.nodes, triangles.signs, np.clip(np.rint(z / GRID) * GRID, 0.0, LARGEST))


def looked_for(triangles: Triangles, Z: Floats) -> Triangles:
    """Without what does no more than hold, and with what is violated among the nodes that are not decided."""
    N = len(Z)
    kept = triangles.kept((triangles.z > 0.0) | (missing(triangles, Z) > -FORGIVEN))
    rows = np.flatnonzero(np.abs(Z[0]) < 1.0 - 2.0 * OPEN)
    if rows.size > MOST_OPEN:
        rows = np.sort(rows[np.argsort(np.abs(Z[0, rows]), kind="stable")[:MOST_OPEN]])
    rows = np.concatenate([[0], rows])
    found = violated_in(Z[np.ix_(rows, rows)], MOST_ADDED * rows.size)
    return kept.merged(Triangles(rows[found.nodes], found.signs, found.z), N)


def terms_of(triangles: Triangles, N: int) -> Terms:
    """Exact: all numbers are multiples of the grid, and small enough."""
    i, j, k = triangles.nodes.T
    signs, z = triangles.signs, triangles.z
    places = np.concatenate([i * N + j, i * N + k, j * N + k])
    sums = np.bincount(places, weights=(signs * z[:, None]).T.ravel(), minlength=N * N).reshape(N, N)
    P: Floats = np.add(sums, sums.T, dtype=np.float64)
    inner, first = P[1:, 1:], P[0, 1:]
    constant = float(z.sum() + 0.5 * inner.sum() - first.sum())
    return Terms(constant, first - inner.sum(axis=1), 2.0 * inner)


def restricted(triangles: Triangles, kept: Bools, taken: Bools) -> Triangles:
    """What is left of them when the other nodes are taken or not: these are 1 or -1 times the constant spin."""
    rows = np.concatenate([[True], kept])
    number = np.where(rows, np.cumsum(rows) - 1, 0)
    side = np.where(rows | np.concatenate([[True], taken]), 1.0, -1.0)
    nodes, sides = number[triangles.nodes], side[triangles.nodes]
    signs = triangles.signs * np.stack([sides[:, a] * sides[:, b] for a, b in ((0, 1), (0, 2), (1, 2))], axis=1)
    nodes, signs = _with_ascending_nodes(nodes, signs)
    apart = (nodes[:, 0] < nodes[:, 1]) & (nodes[:, 1] < nodes[:, 2])
    return Triangles(nodes[apart], signs[apart], triangles.z[apart])


def _with_ascending_nodes(nodes: Ints, signs: Floats) -> tuple[Ints, Floats]:
    """Each triangle with its nodes in ascending order; the sign of a pair goes with the pair."""
    order = np.argsort(nodes, axis=1, kind="stable")
    opposite = np.take_along_axis(signs[:, ::-1], order, axis=1)  # of a pair, by the node that is not in it
    return np.take_along_axis(nodes, order, axis=1), opposite[:, ::-1]
