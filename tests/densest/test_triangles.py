"""Triangle inequalities: what their multipliers add is never negative, in exact arithmetic, and holds for parts."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.densest.triangles import (
    VIOLATED,
    Triangles,
    looked_for,
    missing,
    moved,
    restricted,
    scaled,
    spins_of,
    terms_of,
    violated_in,
)

SIGNS = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.float64)
"""The signs of the four triangles on three spins."""


def some_triangles(n: int, seed: int, most: int = 20) -> Triangles:
    """Random triangles on n + 1 spins, some of them twice, with random multipliers on the grid."""
    rng = np.random.default_rng(seed)
    nodes = np.array([np.sort(rng.choice(n + 1, 3, replace=False)) for _ in range(most)])
    return scaled(Triangles(nodes, SIGNS[rng.integers(0, 4, most)], rng.exponential(size=most)), 1.0)


def lifted(x: np.ndarray) -> np.ndarray:
    """(1, x)(1, x)'."""
    y = np.concatenate([[1.0], x])
    return np.outer(y, y)


def by_definition(triangles: Triangles, x: np.ndarray) -> Fraction:
    """The sum of z (left side + 1) at a set."""
    s = [1, *(2 * int(entry) - 1 for entry in x)]
    total = Fraction()
    for (i, j, k), (a, b, c), z in zip(
        triangles.nodes.tolist(), triangles.signs.tolist(), triangles.z.tolist(), strict=True
    ):
        total += Fraction(z) * (int(a) * s[i] * s[j] + int(b) * s[i] * s[k] + int(c) * s[j] * s[k] + 1)
    return total


def by_terms(triangles: Triangles, x: np.ndarray) -> Fraction:
    """The same from the constant, the bonus of each node and the weights."""
    constant, bonus, weights = terms_of(triangles, x.size + 1)
    taken = np.flatnonzero(x).tolist()
    total = Fraction(constant) + sum(2 * Fraction(float(bonus[i])) for i in taken)
    return total + sum(2 * Fraction(float(weights[i, j])) for i, j in combinations(taken, 2))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**6))
def test_terms_are_the_inequalities_to_the_last_bit(n: int, seed: int) -> None:
    """At every set, and never negative there."""
    triangles = some_triangles(n, seed)
    for bits in product((0.0, 1.0), repeat=n):
        x = np.array(bits)
        assert by_terms(triangles, x) == by_definition(triangles, x) >= 0


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 6), st.integers(0, 10**6), st.data())
def test_what_is_left_when_nodes_are_decided_holds_too(n: int, seed: int, data: st.DataObject) -> None:
    """With the nodes that are decided put in, the parts say the same of every set of the others."""
    triangles = some_triangles(n, seed)
    state = np.array(data.draw(st.lists(st.sampled_from(["kept", "taken", "left"]), min_size=n, max_size=n)))
    kept, taken = state == "kept", state == "taken"
    parts = restricted(triangles, kept, taken)
    fixed = np.concatenate([[False], ~kept])
    assert parts.z.size <= triangles.z.size
    for bits in product((0.0, 1.0), repeat=int(kept.sum())):
        whole = taken.astype(float)
        whole[kept] = bits
        total = Fraction()
        for t in range(triangles.z.size):
            if fixed[triangles.nodes[t]].sum() + (triangles.nodes[t] == 0).sum() < 2:  # the others say nothing new
                total += by_definition(triangles.kept(np.arange(triangles.z.size) == t), whole)
        assert by_terms(parts, np.array(bits)) == total


def test_a_violated_triangle_is_found_and_its_multiplier_rises() -> None:
    """Three nodes taken by half without a pair together: x + y + z - xy - xz - yz is 3/2 instead of 1 at most."""
    Y = 0.5 * np.eye(4)
    Y[0] = Y[:, 0] = [1.0, 0.5, 0.5, 0.5]
    Z = spins_of(Y)
    found = looked_for(Triangles(), Z)
    at = np.flatnonzero((found.nodes == [1, 2, 3]).all(axis=1))
    assert at.size == 1 and missing(found, Z)[at[0]] == 2.0
    risen = moved(found, missing(found, Z), 0.25)
    assert risen.z[at[0]] == 0.5
    assert looked_for(risen, spins_of(lifted(np.ones(3)))).z.size == np.count_nonzero(risen.z)


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 7), st.integers(0, 10**6), st.integers(1, 200))
def test_the_most_violated_triangles_are_those_of_a_look_at_all(N: int, seed: int, most: int) -> None:
    """Every one once, the worst first to be kept, with the nodes in ascending order."""
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (N, N))
    X = (X + X.T) / 2.0
    every = sorted(
        (
            -1.0 - a * X[i, j] - b * X[i, k] - c * X[j, k]
            for i, j, k in combinations(range(N), 3)
            for a, b, c in SIGNS.tolist()
        ),
        reverse=True,
    )
    found = violated_in(X, most)
    assert (np.diff(found.nodes, axis=1) > 0).all() and not found.z.any()
    assert len(
        {(*nodes, *signs) for nodes, signs in zip(found.nodes.tolist(), found.signs.tolist(), strict=True)}
    ) == len(found.nodes)
    expected = [violation for violation in every if violation > VIOLATED][:most]
    assert np.allclose(sorted(missing(found, X), reverse=True), expected)


def test_spins_of_a_set_are_its_products() -> None:
    """With the constant first."""
    s = np.array([1.0, 1.0, -1.0, 1.0])
    assert np.array_equal(spins_of(lifted(np.array([1.0, 0.0, 1.0]))), np.outer(s, s))
