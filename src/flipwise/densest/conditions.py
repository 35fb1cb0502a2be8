"""What a dense set must be beside dense: how many nodes, who is in and who is out, one piece; and nodes that weigh.

With node weights c the density of a set S is (x'Wx + c'x) / |S|, and E(S) = x'Wx / 2 + c'x / 2. Nodes that must be in
become weights of the others: for S = I + T,
    E(S) = E(I) + sum over t in T of g_t + w(T),        g_t = w(t, I) + c_t / 2,
so what is left is a graph whose nodes have bonuses g, beside an `extra` E(I) at the price of |I| nodes. Nodes that must
be out are deleted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from flipwise.densest.core import Degrees, induced
from flipwise.densest.subset import Subset
from flipwise.densest.whole import GraphInMemory, WholeGraph
from flipwise.foundation.arrays import Bools, Floats, Ints
from flipwise.foundation.checks import Variables, is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_number
from flipwise.graphs.graph import Graph
from flipwise.model.constraints import Free
from flipwise.model.exactness import common_divisor

_EPS = float(np.finfo(np.float64).eps)
_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Conditions:
    """Which sets of nodes count, and what their nodes weigh; nodes by their numbers."""

    least: int = 1
    most: int = 0
    include: Ints = field(default_factory=lambda: _NONE)
    exclude: Ints = field(default_factory=lambda: _NONE)
    connected: bool = False
    node_weights: Floats | None = None

    def in_words(self, n: int) -> str:
        """What was asked for, in a few words."""
        words = []
        if self.least == self.most:
            words.append(f"{self.least:,} nodes")
        else:
            words += [f"at least {self.least:,} nodes"] if self.least > max(1, self.include.size) else []
            words += [f"at most {self.most:,} nodes"] if self.most < n - self.exclude.size else []
        words += [f"{self.include.size:,} included"] if self.include.size else []
        words += [f"{self.exclude.size:,} excluded"] if self.exclude.size else []
        words += ["connected"] if self.connected else []
        words += ["node weights"] if self.node_weights is not None else []
        return ", ".join(words)


def named_nodes(graph: WholeGraph, nodes: Any, what: str) -> Ints:
    """The numbers, ascending, of nodes that a user names."""
    if isinstance(nodes, str | bytes) or not hasattr(nodes, "__iter__"):
        raise InvalidInput(f"`{what}` must be a list of nodes, got {nodes!r}. Write [{nodes!r}].")
    given = nodes.tolist() if isinstance(nodes, np.ndarray) else list(nodes)
    if graph.names is None:
        wrong = [node for node in given if not is_whole(node) or not 0 <= node < graph.n]
        if wrong:
            raise InvalidInput(f"`{what}` must hold node numbers from 0 to {graph.n - 1}, got {wrong[0]!r}.")
        return np.unique(np.array(given, dtype=np.int64))
    places = {name: i for i, name in enumerate(graph.names)}
    unknown = [node for node in given if node not in places]
    if unknown:
        raise InvalidInput(f"`{what}` must hold nodes of the graph; {unknown[0]!r} is none of them.")
    return np.unique(np.array([places[name] for name in given], dtype=np.int64))


def members_and_others(graph: WholeGraph, fixed: Any, include: Any, exclude: Any) -> tuple[Ints, Ints]:
    """The nodes that must be in the set and those that must not: `include` and `exclude`, and what `fixed` says."""
    inside, outside = (
        named_nodes(graph, [] if nodes is None else nodes, name)
        for name, nodes in (("include", include), ("exclude", exclude))
    )
    if fixed is None:
        return inside, outside
    if not isinstance(fixed, Mapping):
        raise InvalidInput(f"`fixed` must be a dictionary {{node: 0 or 1}}, got {type(fixed).__name__}.")
    for node, value in fixed.items():
        if value not in (0, 1) or isinstance(value, str):
            raise InvalidInput(f"`fixed` must hold only 0 (not in the set) and 1 (in it), got {value!r} for {node!r}.")
    zeros, ones = (named_nodes(graph, [node for node in fixed if fixed[node] == value], "fixed") for value in (0, 1))
    for name, members, others, value in (("include", inside, zeros, 0), ("exclude", outside, ones, 1)):
        both = np.intersect1d(members, others)
        if both.size:
            raise InvalidInput(f"`{name}` holds {_name_of(graph, both[0])!r}, which `fixed` sets to {value}.")
    return np.union1d(inside, ones), np.union1d(outside, zeros)


def _name_of(graph: WholeGraph, node: Any) -> Any:
    """What a user calls a node."""
    return int(node) if graph.names is None else graph.names[int(node)]


def node_weights_of(graph: WholeGraph, given: Any) -> Floats:
    """A weight for each node: from numbers in the order of the nodes, or from a mapping, where others weigh nothing."""
    if isinstance(given, Mapping):
        named_nodes(graph, given, "node_weights")
        places = None if graph.names is None else {name: i for i, name in enumerate(graph.names)}
        weights = np.zeros(graph.n)
        for name, value in given.items():
            weights[name if places is None else places[name]] = as_number("node_weights", value)
    else:
        try:
            weights = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if weights.shape != (graph.n,):
            raise InvalidInput(
                f"`node_weights` must be a number for each of the {graph.n:,} nodes, or a mapping from nodes to "
                f"numbers, got {type(given).__name__} of shape {np.shape(given)}."
            )
    if not np.isfinite(weights).all() or float(np.abs(weights).max(initial=0.0)) > 1e100:
        raise InvalidInput("`node_weights` must be finite and no larger than 1e100.")
    return weights


def checked_conditions(
    graph: WholeGraph, least: int, most: int | None, include: Ints, exclude: Ints, connected: bool, weights: Any
) -> Conditions:
    """The conditions of one call; those that contradict each other or the graph are refused."""
    if not isinstance(connected, bool):
        raise InvalidInput(f"`connected` must be True or False, got {connected!r}.")
    both = np.intersect1d(include, exclude)
    if both.size:
        raise InvalidInput(
            f"`include` and `exclude` must have no node in common; {_name_of(graph, both[0])!r} is in both."
        )
    left = graph.n - exclude.size
    if not left:
        raise InvalidInput("`exclude` and `fixed` must leave a node; all are excluded.")
    most = left if most is None else most
    if most < include.size:
        raise InvalidInput(f"`include` and `fixed` hold {include.size:,} nodes, and at most {most:,} are wanted.")
    if least > left:
        raise InvalidInput(f"{least:,} nodes are wanted, and `exclude` and `fixed` leave {left:,} of {graph.n:,}.")
    if least > most:
        raise InvalidInput(f"`at_least` must not be above `at_most`, got {least:,} and {most:,}.")
    conditions = Conditions(max(least, include.size, 1), min(most, left), include, exclude, connected, weights)
    if not isinstance(graph, GraphInMemory):
        raise InvalidInput("conditions on the set are for graphs in one place; this one is in shards. Give k alone.")
    return conditions


@dataclass(eq=False)
class ConditionedGraph:
    """A graph with conditions, as the search and the bounds ask about it."""

    whole: GraphInMemory
    conditions: Conditions

    def __post_init__(self) -> None:
        graph, conditions = self.whole.graph, self.conditions
        weights = np.zeros(graph.n) if conditions.node_weights is None else conditions.node_weights
        self.half: Floats = weights / 2.0
        """What each node adds to E by itself."""
        self.candidates = self._candidate_nodes()
        """The nodes that a set can have, by their numbers."""
        self.free = self.candidates[~mask_of(graph.n, conditions.include)[self.candidates]]
        """Those of them that it need not have."""
        inside = mask_of(graph.n, conditions.include)
        ties = Subset.of(graph, inside).degrees.astype(np.float64) if conditions.include.size else np.zeros(graph.n)
        self.graph: Graph = graph if self.free.size == graph.n else induced(graph, self.free)
        """The graph of the free nodes, ..."""
        self.bonus: Floats = (ties + self.half)[self.free]
        """... what each of them has by itself and with the included ones, ..."""
        self.extra = self.weight(conditions.include)
        """... and what these weigh."""
        given = [np.ones(1) if graph.weights is None or not graph.n_arcs else graph.weights, self.half]
        self.unit = common_divisor(np.concatenate(given))
        """Every E is a multiple of this; 0 where it is rounded."""
        self.rounding = 0.0
        """How far a bonus and `extra` can be from what they stand for, for each node of a set."""
        if not self.unit:
            largest = max((float(np.abs(part).max(initial=0.0)) for part in given), default=0.0)
            self.rounding = 4.0 * _EPS * (conditions.include.size + 4.0) ** 2 * largest

    def _candidate_nodes(self) -> Ints:
        """All nodes but the excluded ones; where a connected set is wanted, in the pieces that can hold it."""
        conditions, graph = self.conditions, self.whole.graph
        left = np.flatnonzero(~mask_of(graph.n, conditions.exclude))
        if not conditions.connected:
            return left
        labels = pieces(graph, left)
        held = np.unique(labels[np.searchsorted(left, conditions.include)])
        if held.size > 1:
            raise InvalidInput(
                "`include`: these nodes are in different pieces of the graph without the excluded ones, so no "
                "`connected` set holds all of them. Leave out connected=True, or some of the nodes."
            )
        sizes = np.bincount(labels)
        fits = sizes >= conditions.least
        if held.size:
            fits &= np.arange(sizes.size) == held[0]
        if not fits.any():
            largest = int(sizes.max() if not held.size else sizes[held[0]])
            raise InvalidInput(
                f"`connected`: {conditions.least:,} nodes are wanted, and the largest connected piece that may be "
                f"chosen has {largest:,}."
            )
        return left[fits[labels]]

    def resized(self, least: int, most: int) -> ConditionedGraph:
        """The same for sets of other sizes; where they are to be connected, other pieces may hold them."""
        conditions = replace(self.conditions, least=max(least, self.paid, 1), most=min(most, self.candidates.size))
        if conditions.connected:
            return ConditionedGraph(self.whole, conditions)
        other = copy(self)
        other.conditions = conditions
        return other

    @property
    def paid(self) -> int:
        """How many nodes are chosen anyway."""
        return int(self.conditions.include.size)

    @property
    def least(self) -> int:
        """How many free nodes a set has, at least, ..."""
        return self.conditions.least - self.paid

    @property
    def most(self) -> int:
        """... and at most."""
        return min(self.conditions.most - self.paid, self.free.size)

    def weight(self, nodes: Ints) -> float:
        """E of a set of nodes of the whole graph, rounded once."""
        return self.twice(nodes) / 2.0

    def twice(self, nodes: Ints) -> float:
        """x'Wx + c'x of a set of nodes of the whole graph, rounded once."""
        if self.whole.integral and self.conditions.node_weights is None:
            return self.whole.inner_weight(nodes)
        own = 2.0 * self.half[nodes]
        if self.whole.integral:
            return math.fsum([self.whole.inner_weight(nodes), *own.tolist()])
        inner = self.whole.subgraph(nodes).weights
        return math.fsum(own if inner is None else np.concatenate([inner, own]))

    def density(self, nodes: Ints) -> float:
        """(x'Wx + c'x) / |S|."""
        return (self.twice(nodes) + 0.0) / nodes.size if nodes.size else 0.0

    def chosen(self, free: Ints) -> Ints:
        """The included nodes with some of the free ones, given by their places."""
        return np.union1d(self.conditions.include, self.free[free])

    def broken(self, nodes: Ints) -> str | None:
        """Which condition a set of nodes breaks, if any."""
        conditions = self.conditions
        if not conditions.least <= nodes.size <= conditions.most:
            return f"it has {nodes.size} nodes, not {conditions.least} to {conditions.most}"
        if np.setdiff1d(conditions.include, nodes).size or np.intersect1d(conditions.exclude, nodes).size:
            return "it lacks an included node, or has an excluded one"
        if conditions.connected and pieces(self.whole.graph, nodes).max(initial=0) > 0:
            return "it is not connected"
        return None


class ConditionedDensity:
    """f(x) = -(x'Wx + c'x) / |x| in 0/1 variables: minus the density of a set."""

    variables: Variables = "binary"

    def __init__(self, graph: ConditionedGraph) -> None:
        self.graph = graph

    @property
    def shape(self) -> tuple[int, ...]:
        """One variable for each node."""
        return (self.graph.whole.n,)

    def value(self, x: Floats) -> float:
        """Minus the density of the nodes at +1."""
        return -self.graph.density(np.flatnonzero(x > 0))

    def gradient(self, x: Floats) -> Floats:
        """Never asked for: the search keeps degrees of its own."""
        raise NotImplementedError


class ConditionedSets(Free):
    """The sets that keep the conditions."""

    def __init__(self, graph: ConditionedGraph) -> None:
        self.graph = graph

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        """What is wrong with a set."""
        return self.graph.broken(np.flatnonzero(np.asarray(x, dtype=np.float64) > 0))


def pieces(graph: Graph, nodes: Ints) -> npt.NDArray[np.int64]:
    """The number of the connected piece of each of some nodes, in the graph that they make."""
    inner = graph if nodes.size == graph.n else induced(graph, nodes)
    matrix = sp.csr_array((np.ones(inner.n_arcs, np.int8), inner.indices, inner.indptr), shape=(inner.n, inner.n))
    return connected_components(matrix, directed=False)[1].astype(np.int64)


def alike(graph: Graph, bonus: Floats) -> tuple[Graph, Degrees]:
    """A graph and bonuses whose sums are of one kind: integers, if there are no weights and all bonuses are whole."""
    if graph.weights is not None:
        return graph, bonus
    if (bonus == np.rint(bonus)).all() and float(np.abs(bonus).max(initial=0.0)) < 2.0**50:
        return graph, bonus.astype(np.int64)
    return replace(graph, weights=np.ones(graph.n_arcs)), bonus


def mask_of(n: int, nodes: Ints) -> Bools:
    """Some of n nodes as a mask."""
    mask = np.zeros(n, dtype=bool)
    mask[nodes] = True
    return mask
