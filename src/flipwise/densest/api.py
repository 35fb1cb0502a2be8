"""`flipwise.densest_subgraph`: from a graph and k to k nodes, their density and a proof. Wiring only."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from flipwise.densest.methods import DENSEST
from flipwise.densest.record import CallRecord
from flipwise.densest.result import DensestSubgraph, DensityProfile
from flipwise.densest.solver import DensestSearch, SubgraphObjective, Sweep, prove_cheaply
from flipwise.densest.whole import GraphInMemory, WholeGraph
from flipwise.engine.checkpoint import open_checkpoint
from flipwise.engine.limits import Limits, Status, guarded_interrupts
from flipwise.engine.run import Callback
from flipwise.engine.solve import Proof, solve
from flipwise.engine.solver import Solver
from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import as_generator, is_whole, seed_of
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.registry import GENERAL, as_solver

SubgraphBound = Literal["auto", "none"]
"""Whether to prove a bound on the density."""


@overload
def densest_subgraph(graph: Any, k: int, **keywords: Any) -> DensestSubgraph: ...
@overload
def densest_subgraph(graph: Any, k: Sequence[int], **keywords: Any) -> DensityProfile: ...


def densest_subgraph(
    graph: Any,
    k: int | Sequence[int],
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
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    trace_file: str | Path | None = None,
    checkpoint: str | Path | None = None,
    every: float = 60.0,
    **options: Any,
) -> DensestSubgraph | DensityProfile:
    """Find k nodes with as much edge weight among them as possible, and prove how much more there could be.

    Parameters
    ----------
    graph
        A graph in any form that flipwise reads (see `flipwise.read_graph`): a `Graph`, a networkx or igraph graph, a
        sparse matrix, a path, ... It is taken as a simple undirected graph. Or a `flipwise.distributed.ShardedGraph`:
        its arcs stay on a cluster.
    k
        The number of nodes, or several: then a `DensityProfile` is returned, and the work is shared.
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
    """
    whole: WholeGraph = graph if isinstance(graph, WholeGraph) else GraphInMemory(as_graph(graph))
    several = isinstance(k, Sequence | np.ndarray) and not isinstance(k, str)
    ks = _checked_sizes(whole.n, k if several else [k])  # type: ignore[arg-type]
    if bound not in ("auto", "none"):
        raise InvalidInput(f'`bound` must be "auto" or "none", got {bound!r}.')
    prove, own = bound == "auto", isinstance(method, str) and method == "dpcd"
    if own and (options or restarts != 1):
        name = next(iter(options), "restarts")
        raise InvalidInput(f"unknown option `{name}`; densest_subgraph with DPCD takes none but its own.")
    if several and trace_file is not None:
        raise InvalidInput("`trace_file` is for one k, got several.")
    if checkpoint is not None and not own and len(ks) > 1:
        raise InvalidInput(f'`checkpoint` with several k is for method="dpcd" only, got {method!r}. Give one k.')
    limits = Limits(time_limit, max_iterations, target, patience)
    sweep = Sweep(as_generator(seed), None if start is None else _checked_start(whole, start))
    results: dict[int, DensestSubgraph] = {}
    with ExitStack() as stack:
        interrupts = stack.enter_context(guarded_interrupts())
        opened = None if checkpoint is None else stack.enter_context(open_checkpoint(checkpoint, every))
        if opened is not None:
            sweep.record = CallRecord(opened, whole, ks, sweep.given, effort=effort, bound=bound)
            sweep.bounds, sweep.loads = sweep.record.bounds(whole), sweep.record.loads(whole)
        for size in ks:  # the largest first: its loads serve the smaller ones
            solver: Solver = DensestSearch(effort, prove, sweep)
            problem, x, proof = Problem(SubgraphObjective(whole), Cardinality(size)), None, None
            if not own:
                problem, x = _quadratic_problem(whole, size, sweep.given, method)
                solver = as_solver(method, problem, options, {**GENERAL, **DENSEST})
                proof = Proof(partial(prove_cheaply, whole, size, sweep)) if prove else None
            try:
                found = solve(
                    problem,
                    solver,
                    limits=limits if target is None else replace(limits, target=-target * size),
                    start=x,
                    restarts=restarts,
                    seed=seed if own else sweep.rng,
                    callback=callback,
                    threads=threads,
                    verbose=verbose,
                    trace_file=trace_file,
                    checkpoint=opened,
                    part=f"k={size}",
                    bound=proof,
                )
            except KeyboardInterrupt:
                if not results:
                    raise
                break
            result = results[size] = DensestSubgraph.of(found, whole, size, sweep.bounds)
            result.seed = seed_of(seed)
            if several:
                sweep.given = result.indices
            if opened is not None and (len(ks) > 1 or not result.status.resumable):
                opened.end(f"k={size}")
            if result.status in (Status.INTERRUPTED, Status.CALLBACK) or interrupts.requested:
                break
        else:
            if sweep.record is not None:
                sweep.record.end()
    return DensityProfile([*results.values()]) if several else results[ks[0]]


def _quadratic_problem(
    graph: WholeGraph, k: int, given: Ints | None, method: str | Solver
) -> tuple[Problem, np.ndarray | None]:
    """min -x'Wx, x in {0,1}^n with k ones, for another method; and the given nodes where they are a start for it."""
    if not isinstance(graph, GraphInMemory):
        raise InvalidInput(f'`method`: only "dpcd" runs on a graph that is not in one place, got {method!r}.')
    x = None
    if given is not None and given.size == k:
        x = np.zeros(graph.n, dtype=np.int8)
        x[given] = 1
    return Problem(Quadratic(-graph.graph.to_scipy(), variables="binary"), Cardinality(k)), x


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
