"""A graph whose edges change: its densest subgraph again and again, each time from what the last time has found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.densest.api import densest_subgraph
from flipwise.densest.result import DensestSubgraph
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_floats, check_size
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph, index_type

AGAIN = 0.1
"""What a further solve may take, of the first one's effort or time, where nothing is said."""
_UP = 1.0 + 1e-12
PASSED_ON = (
    "seed", "start", "target", "patience", "gap", "max_iterations", "max_evaluations", "callback", "threads", "verbose",
)  # fmt: skip
"""What `solve` hands on to `densest_subgraph`; no conditions on the set: a bound would not carry over."""


class IncrementalGraph:
    """A graph that changes: the next `solve` begins with the nodes that the last one has found.

    Parameters
    ----------
    graph
        A graph in any form that flipwise reads. Its nodes stay the same; edges come and go.
    k
        The number of nodes; None: the densest set of any size, exactly.

    Attributes
    ----------
    bound
        The density that no set (of k nodes) can exceed, proven for the graph as it is now: of what was proven before,
        what changes since leave of it. None while nothing is known.

    Examples
    --------
    >>> import flipwise
    >>> live = flipwise.IncrementalGraph((5, [[0, 1], [1, 2], [2, 0], [3, 4]]), 3)
    >>> live.solve(seed=0).nodes
    [0, 1, 2]
    >>> live.update([2, 2], [3, 4])  # two new edges of weight 1
    >>> live.update(0, 1, 0.0)  # one edge less
    >>> live.solve(seed=0).nodes
    [2, 3, 4]
    """

    def __init__(self, graph: Any, k: int | None = None) -> None:
        simple = as_graph(graph)
        self.n, self.names, self._notes = simple.n, simple.names, simple.notes
        self._places = None if simple.names is None else {name: i for i, name in enumerate(simple.names)}
        rows = np.repeat(np.arange(simple.n), simple.degrees)
        once = rows < simple.indices
        self._keys = rows[once] * np.int64(simple.n) + simple.indices[once]
        self._weights: Floats = np.ones(self._keys.size) if simple.weights is None else simple.weights[once].copy()
        self._graph: Graph | None = simple
        self._last: list[Any] | None = None
        self._first: tuple[float, float | None] | None = None
        self.bound: float | None = None
        self.k: int | None = None
        self.set_size(k)

    @property
    def graph(self) -> Graph:
        """The graph as it is now."""
        if self._graph is None:
            kept = self._weights != 0.0
            i, j = np.divmod(self._keys[kept], self.n)
            weights = np.tile(self._weights[kept], 2)
            ends = np.concatenate([i, j]), np.concatenate([j, i])
            matrix = sp.coo_array((weights, ends), shape=(self.n, self.n)).tocsr()
            matrix.sort_indices()
            given = None if (weights == 1.0).all() else matrix.data
            indices = matrix.indices.astype(index_type(self.n))
            self._graph = Graph(matrix.indptr.astype(np.int64), indices, given, self.names, self._notes)
        return self._graph

    # --- what changes ------------------------------------------------------------------------------------------------

    def update(self, u: Any, v: Any, weight: npt.ArrayLike = 1.0) -> None:
        """Set the weight of the edge between u and v, or of many edges; 0 removes an edge.

        `u` and `v` are then lists or arrays of one length, `weight` too or a single number. Nodes are given by their
        names where the graph has names, else by their numbers. An edge that is not there yet becomes one of the graph.
        """
        i, j = self._numbers_of_named("u", u), self._numbers_of_named("v", v)
        if i.size != j.size:
            raise InvalidInput(f"`u` and `v` must be of one length, got {i.size} and {j.size}.")
        values = as_floats("weight", np.atleast_1d(weight)).reshape(-1)
        if values.size not in (1, i.size):
            raise InvalidInput(f"`weight` must be a number, or as many as edges, {i.size}, got {values.size}.")
        check_size("weight", values)
        if (i == j).any():
            raise InvalidInput("`u` and `v` must differ: a graph has no self loops here.")
        values = np.broadcast_to(values, i.shape)
        keys = np.minimum(i, j) * self.n + np.maximum(i, j)
        last = keys.size - 1 - np.unique(keys[::-1], return_index=True)[1]  # of one edge given twice
        keys, values = keys[last], values[last]
        place = np.searchsorted(self._keys, keys)
        known = place < self._keys.size
        known[known] = self._keys[place[known]] == keys[known]
        changes = values.copy()
        changes[known] -= self._weights[place[known]]
        self._weights[place[known]] = values[known]
        if not known.all():
            self._keys = np.insert(self._keys, place[~known], keys[~known])
            self._weights = np.insert(self._weights, place[~known], values[~known])
        self._graph = None
        self._raise_bound(keys, changes)

    def remove(self, u: Any, v: Any) -> None:
        """Remove the edge between u and v, or many edges; those that are not there stay away."""
        self.update(u, v, 0.0)

    def set_size(self, k: int | None) -> None:
        """Look for k nodes from now on; None: for a set of any size."""
        if k is not None and (not is_whole(k) or not 1 <= k <= self.n):
            raise InvalidInput(f"`k` must be an integer from 1 to the number of nodes, {self.n}, got {k!r}.")
        if k != self.k and self.k is not None:
            self.bound = None  # what holds for sets of any size holds for those of k nodes, but not the other way
        self.k = k

    # --- solving -----------------------------------------------------------------------------------------------------

    def solve(
        self, *, effort: float | None = None, time_limit: float | None = None, bound: str = "auto", **keywords: Any
    ) -> DensestSubgraph:
        """The densest set of the graph as it is now.

        Parameters
        ----------
        effort, time_limit
            As in `flipwise.densest_subgraph`. Without them a further solve gets a tenth of what the first one was
            given.
        bound
            "auto" proves a bound anew, "none" keeps to what is left of the last one.
        **keywords
            `seed`, `start`, `target`, `patience`, `gap`, `max_iterations`, `max_evaluations`, `callback`, `threads` and
            `verbose` as in `flipwise.densest_subgraph`.
        """
        unknown = [name for name in keywords if name not in PASSED_ON]
        if unknown:
            raise InvalidInput(f"`{unknown[0]}` is no option of `solve` here; they are {', '.join(PASSED_ON)}.")
        if self._first is not None and effort is None and time_limit is None:
            effort, limit = self._first
            effort, time_limit = AGAIN * effort, None if limit is None else AGAIN * limit
        effort = 1.0 if effort is None else effort
        options: dict[str, Any] = {"effort": effort, "time_limit": time_limit, "bound": bound, **keywords}
        if self._last is not None and "start" not in options:
            options["start"] = self._last
        result = densest_subgraph(self.graph, self.k, **options)
        assert isinstance(result, DensestSubgraph)
        if self._first is None:
            self._first = effort, time_limit
        self._last = result.nodes
        if self.bound is not None and (result.bound is None or self.bound < result.bound):
            result.bound, result.bound_method = max(self.bound, result.value), "last bound"
            result.bounds = {**result.bounds, "last bound": result.bound}
        self.bound = result.bound
        return result

    def _raise_bound(self, keys: Ints, changes: Floats) -> None:
        """Keep of the bound what changes of weights leave.

        A set gains at most all that was added, and for each of its nodes no more than what was added there.
        """
        if self.bound is None:
            return
        added = np.maximum(changes, 0.0)
        i, j = np.divmod(keys, self.n)
        each = np.bincount(np.concatenate([i, j]), weights=np.tile(added, 2)).max(initial=0.0)
        gain = float(each) if self.k is None else min(float(each), 2.0 * math.fsum(added) / self.k)
        if gain:
            self.bound = math.nextafter((self.bound + gain * _UP) + 1e-15 * abs(self.bound), math.inf)

    def _numbers_of_named(self, name: str, nodes: Any) -> Ints:
        """The numbers of nodes given by name, or as they are."""
        if self._places is not None:
            given = list(nodes) if isinstance(nodes, list | np.ndarray) else [nodes]
            unknown = [node for node in given if node not in self._places]
            if unknown:
                raise InvalidInput(f"`{name}` must hold nodes of the graph; {unknown[0]!r} is none of them.")
            return np.array([self._places[node] for node in given], dtype=np.int64)
        numbers = np.atleast_1d(np.asarray(nodes))
        whole = is_whole(nodes) or (numbers.ndim == 1 and (numbers.dtype.kind in "iu" or not numbers.size))
        if not whole or (numbers.size and (numbers.min() < 0 or numbers.max() >= self.n)):
            raise InvalidInput(f"`{name}` must be a node or an array of nodes from 0 to {self.n - 1}, got {nodes!r}.")
        return numbers.astype(np.int64)

    def __repr__(self) -> str:
        sought = "any size" if self.k is None else f"k = {self.k}"
        return f"IncrementalGraph({self.graph!r}, {sought})"
