"""`flipwise.densest_subgraph`: from a graph to dense nodes, their density and a proof. Wiring only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from flipwise.densest.anysize import solve_any_size
from flipwise.densest.conditions import checked_conditions, members_and_others, named_nodes, node_weights_of
from flipwise.densest.result import DensestSubgraph, DensityProfile
from flipwise.densest.several import DenseSubgraphs, check_several
from flipwise.densest.sizes import Call, solve_sizes
from flipwise.densest.whole import GraphInMemory, WholeGraph
from flipwise.densest.with_conditions import check_call, solve_conditions, solve_several
from flipwise.engine.limits import Limits
from flipwise.engine.pool import Wanted, wanted_answers
from flipwise.engine.run import Callback
from flipwise.engine.solver import Solver
from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import largest_size
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph

MODEST = 1e-100, 1e100
"""Between these is the largest weight of a graph."""
SubgraphBound = Literal["auto", "none"]
"""Whether to prove a bound on the density."""
SIZES = ("k", "at_least", "at_most")
"""The arguments that say how many nodes are wanted."""


@overload
def densest_subgraph(graph: Any, k: int | None = None, *, several: int, **keywords: Any) -> DenseSubgraphs: ...
@overload
def densest_subgraph(
    graph: Any, k: None = None, *, at_least: Sequence[int], several: None = None, **keywords: Any
) -> DensityProfile: ...
@overload
def densest_subgraph(
    graph: Any, k: None = None, *, at_most: Sequence[int], several: None = None, **keywords: Any
) -> DensityProfile: ...
@overload
def densest_subgraph(graph: Any, k: int | None = None, *, several: None = None, **keywords: Any) -> DensestSubgraph: ...
@overload
def densest_subgraph(graph: Any, k: Sequence[int], *, several: None = None, **keywords: Any) -> DensityProfile: ...


def densest_subgraph(
    graph: Any,
    k: int | Sequence[int] | None = None,
    *,
    at_least: int | Sequence[int] | None = None,
    at_most: int | Sequence[int] | None = None,
    include: Iterable[Any] | None = None,
    exclude: Iterable[Any] | None = None,
    fixed: Mapping[Any, int] | None = None,
    connected: bool = False,
    node_weights: Any = None,
    several: int | None = None,
    overlap: float = 0.0,
    method: str | Solver = "dpcd",
    bound: SubgraphBound = "auto",
    effort: float = 1.0,
    start: Sequence[Any] | None = None,
    restarts: int = 1,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    patience: int | None = None,
    gap: float | None = None,
    max_evaluations: int | None = None,
    pool: int | None = None,
    distance: int = 1,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    trace_file: str | Path | None = None,
    checkpoint: str | Path | None = None,
    every: float = 60.0,
    **options: Any,
) -> DensestSubgraph | DensityProfile | DenseSubgraphs:
    """Find k nodes with as much edge weight among them as possible, and prove how much more there could be.

    Without k, find the densest subgraph of any size, exactly: by maximum flows, which also prove it.

    Parameters
    ----------
    graph
        A graph in any form that flipwise reads (see `flipwise.read_graph`): a `Graph`, a networkx or igraph graph, a
        sparse matrix, a path, ... It is taken as a simple undirected graph. Or a `flipwise.distributed.ShardedGraph`:
        its arcs stay on a cluster.
    k
        The number of nodes, or several: then a `DensityProfile` is returned, and the work is shared. None: the
        densest set of any size, for weights that are not negative. Of several sets of the largest density that is the
        one which contains all others. `method`, `effort` and `restarts` have no say in it.
    at_least, at_most
        Instead of k: the least and the most nodes; of one of them a list, for a `DensityProfile`.
    include, exclude, fixed
        Nodes that must be in the set, and nodes that must not, by their names where the graph has names; or both in one
        as `fixed={3: 1, 7: 0}`.
    connected
        Whether the set has to be one piece.
    node_weights
        What nodes weigh themselves: the density is then (x'Wx + c'x) / k.
    several, overlap
        So many sets, one after another, each with at most this share of its nodes in those before it; a
        `DenseSubgraphs` is returned.
    method
        "dpcd" (the default) searches from many starts. Any other name of `flipwise.methods()` that keeps an exact
        count, or a solver such as `flipwise.DPCD()`, runs that method alone on `min -x'Wx`.
    bound
        "auto" proves an upper bound on the density, "none" skips that.
    effort
        How long to search past the first descents, 1 by default; 0 stops after the first descent.
    start
        Nodes to begin from, besides the method's own starts.
    restarts
        Descents of another method than "dpcd".
    seed
        None, an integer, or a generator. The same integer gives the same answer on any number of threads.
    time_limit
        Seconds for each k; the best set so far is returned when they are over.
    max_iterations, patience
        The most steps for each k, and the most without an improvement.
    target
        Stop at a density of at least this.
    gap, max_evaluations
        Stop when the density is proven to be within this share of the best possible (0.01 is 1 %), or after so many
        evaluations, for each k.
    pool, distance
        So many sets of k nodes in `result.pool`, any two of which differ in so many nodes at least (a node for another
        one is two); each point has a 1 for each of its nodes. For one k without conditions; `several` is for sets that
        share few nodes.
    callback
        Called with a `Progress` after each step, whose values are those of the minimised -x'Wx; return True to stop.
    threads
        The most threads the compiled kernels may use.
    verbose
        Log the run to standard error.
    trace_file
        A path: every step is written there as a line of JSON; for one k.
    checkpoint, every
        A path: the run is saved there every so many seconds (between the walks of a search, and what searches and
        proofs have found), and goes on from there when the file exists; the file is deleted when the run has come to
        its end. Another method than "dpcd" takes a checkpoint with one k only.
    **options
        Options of another method that is given by its name.

    Returns
    -------
    DensestSubgraph, DensityProfile or DenseSubgraphs
        With `nodes`, `density` (x'Wx / k), `bound`, `gap`, `optimal`. Ctrl-C returns the best set so far; of several k
        those that are done.

    Examples
    --------
    >>> import flipwise
    >>> edges = [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [4, 5]]
    >>> result = flipwise.densest_subgraph((6, edges), 3, seed=0)
    >>> result.nodes, result.density, result.optimal
    ([0, 1, 2], 2.0, True)

    Any size: the mean degree inside is largest on all six nodes.

    >>> flipwise.densest_subgraph((6, [*edges, [4, 2], [5, 3]])).density
    2.6666666666666665

    With conditions:

    >>> flipwise.densest_subgraph((6, edges), at_least=4, include=[5], connected=True).nodes
    [0, 1, 2, 3, 4, 5]
    """
    limits = Limits(time_limit, max_iterations, target, patience, gap, max_evaluations)
    limits.bound_to_prove(bound)
    whole = _whole_graph(graph)
    call = Call(
        method,
        bound,
        effort,
        restarts,
        seed,
        limits,
        callback,
        threads,
        verbose,
        trace_file,
        checkpoint,
        every,
        _wanted_sets(pool, distance),
        options,
    )
    given = [] if start is None else [named_nodes(whole, start, "start")]
    conditions = _Asked(k, at_least, at_most, include, exclude, fixed, connected, node_weights)
    if several is not None or overlap:
        check_several(several, overlap)
    if pool is not None and (conditions.are_any or several is not None or k is None or _is_list(k)):
        raise InvalidInput("`pool` is for one k without conditions; `several` is for several sets with them.")
    if conditions.are_any or several is not None:
        return _with_conditions(whole, conditions, call, given, several, overlap)
    if k is None:
        return solve_any_size(whole, call, given[0] if given else None)
    is_list = _is_list(k)
    ks = _checked_sizes(whole.n, k if is_list else [k])  # type: ignore[arg-type]
    results = solve_sizes(whole, ks, call, given, several=is_list)
    return DensityProfile([*results.values()]) if is_list else results[ks[0]]


class _Asked(NamedTuple):
    """What a user asks of the set, as it was given."""

    k: Any
    at_least: Any
    at_most: Any
    include: Any
    exclude: Any
    fixed: Any
    connected: Any
    node_weights: Any

    @property
    def are_any(self) -> bool:
        """Whether there is more than k."""
        return any(each is not None for each in (*self[1:6], self.node_weights)) or self.connected is not False

    def sizes(self, n: int) -> tuple[list[tuple[int, int | None]], bool]:
        """The least and the most nodes of every search, and whether they were given as a list."""
        ranges = {name: value for name, value in self._asdict().items() if name in SIZES and value is not None}
        if self.k is not None and len(ranges) > 1:
            raise InvalidInput("`k` is an exact number of nodes: give it alone, or `at_least` and `at_most`.")
        lists = [name for name, value in ranges.items() if _is_list(value)]
        if len(lists) > 1:
            raise InvalidInput("`at_least` and `at_most`: a list of one of them, with a single number of the other.")
        checked = {name: _checked_sizes(n, value if name in lists else [value], name) for name, value in ranges.items()}
        if self.k is not None:
            return [(size, size) for size in checked["k"]], bool(lists)
        least = checked.get("at_least", [1])
        most: list[int | None] = [*reversed(checked.get("at_most", []))]
        most = most or [None]
        return [(a, b) for a in least for b in most], bool(lists)


def _wanted_sets(pool: int | None, distance: int) -> Wanted | None:
    """What is wanted of a pool; sets of k nodes are not listed."""
    if isinstance(pool, str):
        raise InvalidInput(
            f"`pool` must be a number of sets, got {pool!r}. All densest sets of a small graph: "
            'flipwise.minimize(-A, variables="binary", count=k, pool="optima") with its matrix A.'
        )
    return wanted_answers(pool, distance)


def _with_conditions(
    whole: WholeGraph, asked: _Asked, call: Call, given: list[Ints], several: int | None, overlap: float
) -> DensestSubgraph | DensityProfile | DenseSubgraphs:
    """Sets that keep conditions; what contradicts itself is refused first."""
    sizes, is_list = asked.sizes(whole.n)
    include, exclude = members_and_others(whole, asked.fixed, asked.include, asked.exclude)
    weights = None if asked.node_weights is None else node_weights_of(whole, asked.node_weights)
    check_call(call)
    wanted = [checked_conditions(whole, *size, include, exclude, asked.connected, weights) for size in sizes]
    assert isinstance(whole, GraphInMemory)
    if several is None:
        results = solve_conditions(whole, wanted, call, given)
        return DensityProfile(results) if is_list else results[0]
    if is_list:
        raise InvalidInput("`several` is for one number of nodes, or a range, got a list.")
    if include.size and overlap < 1.0:
        raise InvalidInput("`several` sets that share few nodes cannot all have those of `include`: leave one out.")
    return solve_several(whole, wanted[0], call, several, overlap)


def _whole_graph(graph: Any) -> WholeGraph:
    """Whatever a user has, as the search asks about it."""
    if isinstance(graph, WholeGraph):
        return graph
    simple = graph if isinstance(graph, Graph) else as_graph(graph)
    largest = 1.0 if simple.weights is None else largest_size(simple.weights)
    if largest and not MODEST[0] <= largest <= MODEST[1]:
        raise InvalidInput(
            f"`graph`: the largest weight must be between {MODEST[0]:.0e} and {MODEST[1]:.0e}, for squares of weights "
            f"are added up; it is {largest:.3g}. Multiply all weights by one number: the densest sets stay the same."
        )
    return GraphInMemory(simple)


def _is_list(sizes: Any) -> bool:
    """Whether several sizes are given."""
    return isinstance(sizes, Sequence | np.ndarray) and not isinstance(sizes, str)


def _checked_sizes(n: int, sizes: Sequence[Any], what: str = "k") -> list[int]:
    """The sizes, the largest first and each once."""
    for k in sizes:
        if not is_whole(k) or not 1 <= k <= n:
            raise InvalidInput(f"`{what}` must be an integer from 1 to the number of nodes, {n}, got {k!r}.")
    if not len(sizes):
        raise InvalidInput(f"`{what}` must hold at least one number of nodes, got none.")
    return sorted({int(k) for k in sizes}, reverse=True)
