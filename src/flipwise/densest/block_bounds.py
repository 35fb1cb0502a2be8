"""Proven bounds on what a rows and b columns of a matrix can weigh together.

complete   a b times the largest weight.
rows       Every row gives at most its b largest weights; the a rows that give most are counted. columns: likewise.
loads      Split every weight between its row and its column. A block holds its weights wholly, so it weighs at most
           what the a most loaded rows and the b most loaded columns carry. For prices p of a row and q of a column the
           loads are evened out for their price, which is the best split for a multiple of these prices; the least of
           several p : q is a bound as good as the linear relaxation  max sum w_ij y_ij, y_ij <= r_i, y_ij <= c_j,
           sum r = a, sum c = b, up to what the passes leave. What is tied by less than some worth for its price is cut
           off first, and carries that worth at most.

All sums are whole numbers of units; weights without a common divisor are rounded up to one. Negative weights count as
0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, islice

import numpy as np

from flipwise.densest.flow import BITS, Split, in_units
from flipwise.densest.shapes import worth_their_price
from flipwise.densest.twosided import Block, TwoSided
from flipwise.foundation.arrays import Floats, Ints
from flipwise.graphs.graph import Graph

PRICES = 64
"""Prices are whole numbers up to this."""
PASSES = 30
TRIALS = 9
"""Pairs of prices that are tried, ..."""
FEW_TRIALS, MANY_ARCS = 5, 2_000_000
"""... and on larger graphs."""
CUT = 0.5
"""What is tied by less than this share of the worth of the best block is cut off, on larger graphs."""
MOST_WORK = 6e7
"""Numbers that a comparison of all blocks adds up, at most."""


def simple_block_bounds(sides: TwoSided, a: int, b: int) -> dict[str, float]:
    """The bounds that one look at the weights gives, for weights that are exact; rounded up for others."""
    largest = sides.weight_range[1]
    slack = 0.0 if sides.unit else 1e-12
    found = {"complete": a * b * largest}
    ends = (("rows", a, b, 0, sides.rows), ("columns", b, a, sides.rows, sides.n))
    for name, count, width, first, last in ends:
        best = _heaviest_entries(sides.graph, first, last, width)
        found[name] = float(np.sort(best)[::-1][:count].sum()) * (1.0 + slack)
    return found


def _heaviest_entries(graph: Graph, first: int, last: int, width: int) -> Floats:
    """For each of some nodes, the sum of its `width` largest positive weights."""
    begin, end = int(graph.indptr[first]), int(graph.indptr[last])
    counts = np.diff(graph.indptr[first : last + 1])
    if graph.weights is None:
        return np.minimum(counts, width).astype(np.float64)
    owners = np.repeat(np.arange(last - first), counts)
    weights = np.maximum(graph.weights[begin:end], 0.0)
    order = np.lexsort((-weights, owners))
    place = np.arange(weights.size) - np.repeat(graph.indptr[first:last] - begin, counts)
    kept = np.where(place < width, weights[order], 0.0)
    return np.bincount(owners, weights=kept, minlength=last - first).astype(np.float64)


def positive_part(graph: Graph) -> Graph:
    """The edges of positive weight."""
    if graph.weights is None or graph.weights.min(initial=0.0) >= 0.0:
        return graph
    stays = graph.weights > 0.0
    counts = np.concatenate([[0], np.cumsum(stays)])
    return Graph(counts[graph.indptr], graph.indices[stays], graph.weights[stays])


class LoadBound:
    """The load bound of one matrix and two sizes, for any prices of a row and a column."""

    def __init__(self, sides: TwoSided, a: int, b: int) -> None:
        self.sides, self.a, self.b = sides, a, b
        self.units = in_units(positive_part(sides.graph), bits=BITS - 8)
        self.cuts = sides.graph.n_arcs > MANY_ARCS
        self.loads: Floats = np.zeros(sides.n)
        self.least = math.inf

    def at(self, p: int, q: int, known: float) -> float:
        """What a block weighs at most, by loads evened out for these prices; `known` is what the best one weighs."""
        sides, units = self.sides, self.units
        price = np.full(sides.n, q, dtype=np.int64)
        price[: sides.rows] = p
        priced = replace(units, price=price)
        worth = CUT * known / units.unit / (p * self.a + q * self.b) if self.cuts else 0.0
        kept: Ints = np.arange(sides.n)
        if worth > 0.0:
            kept = worth_their_price(priced, worth)
            priced = priced.among(kept)
        split = Split.even(priced, PASSES)
        outside = math.ceil(worth * split.parts)  # for each unit of the price
        loads = outside * price
        loads[kept] = np.maximum(loads[kept], split.loads)
        most = _largest_sum(loads[: sides.rows], self.a) + _largest_sum(loads[sides.rows :], self.b)
        bound = (most // split.parts if units.exact else math.ceil(most / split.parts)) * units.unit
        bound = bound if units.exact else bound * (1.0 + 1e-12)
        if bound < self.least:
            self.least, self.loads = bound, loads / (split.parts * price)
        return bound

    def prove(self, known: float, stop: Callable[[], object | None]) -> float:
        """The least bound of several pairs of prices: from even shares outwards, always where it is least."""
        middle = math.log(self.b / self.a)
        known_bounds: dict[float, float] = {}
        step, centre = 1.0, middle
        for trial in range(FEW_TRIALS if self.cuts else TRIALS):
            ways = [way for way in (centre, centre - step, centre + step) if way not in known_bounds]
            if not ways:
                step /= 2
                ways = [way for way in (centre - step, centre + step) if way not in known_bounds]
            known_bounds[ways[0]] = self.at(*as_prices(ways[0]), known)
            centre = min(known_bounds, key=lambda way: known_bounds[way])
            if self.least <= known or (trial and stop() is not None):
                break
        return self.least


def as_prices(way: float) -> tuple[int, int]:
    """Prices of a row and a column whose ratio has this logarithm, about."""
    c = math.exp(min(abs(way), math.log(PRICES)))
    q = max(1, int(PRICES / c))
    p = max(1, min(PRICES, round(c * q)))
    return (p, q) if way >= 0.0 else (q, p)


def _largest_sum(loads: np.ndarray, count: int) -> int:
    """The sum of the largest loads, in whole numbers of any size."""
    largest = loads if count >= loads.size else np.partition(loads, loads.size - count)[loads.size - count :]
    return int(largest.astype(object).sum()) if largest.size < 1000 else int(largest.sum(dtype=np.int64))


def best_of_all_blocks(sides: TwoSided, a: int, b: int) -> Block | None:
    """The heaviest block, by all sets of rows or of columns, up to rounding; None where these are too many."""
    work = {
        True: math.comb(sides.rows, a) * a * sides.columns,
        False: math.comb(sides.columns, b) * b * sides.rows,
    }
    by_rows = work[True] <= work[False]
    if min(work.values()) > MOST_WORK:
        return None
    matrix = sides.graph.to_scipy()[: sides.rows][:, sides.rows :].toarray()
    matrix, count, other = (matrix, a, b) if by_rows else (matrix.T, b, a)
    sets = combinations(range(len(matrix)), count)
    best, chosen = -math.inf, np.empty(0, np.int64)
    while batch := list(islice(sets, max(1, int(4e6 / (count * matrix.shape[1]))))):
        sums = matrix[np.array(batch)].sum(axis=1)
        top = np.partition(sums, sums.shape[1] - other, axis=1)[:, sums.shape[1] - other :].sum(axis=1)
        at = int(np.argmax(top))
        if top[at] > best:
            best, chosen = float(top[at]), np.array(batch[at], dtype=np.int64)
    others = heaviest(matrix[chosen].sum(axis=0), other)
    nodes = (chosen, others + sides.rows) if by_rows else (others, chosen + sides.rows)
    return sides.block(np.concatenate(nodes))


def rounding(sides: TwoSided, a: int, b: int) -> float:
    """By how much the heaviest of all blocks can miss the true one: sums of a b weights were rounded, in both."""
    if sides.unit:
        return 0.0
    largest = max(abs(end) for end in sides.weight_range)
    return 4.0 * float(np.finfo(np.float64).eps) * (a * b + 2) * a * b * largest


def heaviest(scores: Floats, count: int) -> Ints:
    """The numbers of the largest scores."""
    return np.sort(np.argsort(-scores, kind="stable")[:count])


def lattice(bound: float, unit: float) -> float:
    """A bound rounded down to a weight that a block can have."""
    return math.floor(bound / unit) * unit if unit else bound
