"""`flipwise.densest_subgraph`: from a graph to dense nodes, their density and a proof. Wiring only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from flipwise.bounds.choice import bound_for_gap
from flipwise.densest.anysize import solve_any_size
from flipwise.densest.result import DensestSubgraph, DensityProfile
from flipwise.densest.sizes import Call, solve_sizes
from flipwise.densest.whole import GraphInMemory, WholeGraph
from flipwise.engine.limits import Limits
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


@overload
def densest_subgraph(graph: Any, k: int | None = None, **keywords: Any) -> DensestSubgraph: ...
@overload
def densest_subgraph(graph: Any, k: Sequence[int], **keywords: Any) -> DensityProfile: ...


def densest_subgraph(
    graph: Any,
    k: int | Sequence[int] | None = None,
    *,
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
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    trace_file: str | Path | None = None,
    checkpoint: str | Path | None = None,
    every: float = 60.0,
    **options: Any,
) -> DensestSubgraph | DensityProfile:
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
        one which contains all others. `method`, `effort`, `start` and `restarts` have no say in it.
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
    DensestSubgraph or DensityProfile
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
    """
    bound_for_gap(bound, gap)
    limits = Limits(time_limit, max_iterations, target, patience, gap, max_evaluations)
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
        options,
    )
    given = [] if start is None else [_checked_start(whole, start)]
    if k is None:
        return solve_any_size(whole, call)
    several = isinstance(k, Sequence | np.ndarray) and not isinstance(k, str)
    ks = _checked_sizes(whole.n, k if several else [k])  # type: ignore[arg-type]
    results = solve_sizes(whole, ks, call, given, several=several)
    return DensityProfile([*results.values()]) if several else results[ks[0]]


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


def _checked_sizes(n: int, sizes: Sequence[Any]) -> list[int]:
    """The sizes, the largest first and each once."""
    for k in sizes:
        if not is_whole(k) or not 1 <= k <= n:
            raise InvalidInput(f"`k` must be an integer from 1 to the number of nodes, {n}, got {k!r}.")
    if not len(sizes):
        raise InvalidInput("`k` must hold at least one number of nodes, got none.")
    return sorted({int(k) for k in sizes}, reverse=True)


def _checked_start(graph: WholeGraph, start: Sequence[Any]) -> Ints:
    """The numbers of the nodes a user named."""
    if graph.names is None:
        numbers = np.unique(np.asarray(start))
        if numbers.size and (numbers.dtype.kind not in "iu" or numbers[0] < 0 or numbers[-1] >= graph.n):
            raise InvalidInput(f"`start` must hold node numbers from 0 to {graph.n - 1}, got {list(start)[:5]} ...")
        return numbers.astype(np.int64)
    places = {name: i for i, name in enumerate(graph.names)}
    unknown = [name for name in start if name not in places]
    if unknown:
        raise InvalidInput(f"`start` must hold nodes of the graph; {unknown[0]!r} is none of them.")
    return np.unique(np.array([places[name] for name in start], dtype=np.int64))
