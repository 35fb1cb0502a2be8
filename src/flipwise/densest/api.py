"""`flipwise.densest_subgraph`: from a graph and k to k nodes, their density and a proof. Wiring only."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from flipwise.densest.bounds import SubgraphBounds
from flipwise.densest.result import DensestSubgraph, DensityProfile
from flipwise.densest.solver import Loaded, Solver
from flipwise.densest.stages import Stages
from flipwise.densest.whole import SubgraphObjective, Whole, WholeHere
from flipwise.engine.checkpoint import Keeper, outliving_search
from flipwise.engine.limits import Limits, Status
from flipwise.engine.log import RunLog, shown_on_stderr
from flipwise.engine.result import Result
from flipwise.engine.run import Callback, Run
from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import as_generator, is_number, is_whole, seed_of
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.kernels.jit import threads as limited_threads
from flipwise.minimization import finished, minimize
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.registry import find_method


@overload
def densest_subgraph(graph: Any, k: int, **keywords: Any) -> DensestSubgraph: ...
@overload
def densest_subgraph(graph: Any, k: Sequence[int], **keywords: Any) -> DensityProfile: ...


def densest_subgraph(
    graph: Any,
    k: int | Sequence[int],
    *,
    method: str = "dpcd",
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    effort: float = 1.0,
    certify: bool = True,
    start: Sequence[Any] | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    checkpoint: str | Path | None = None,
    every: float = 60.0,
    **options: Any,
) -> DensestSubgraph | DensityProfile:
    """Find k nodes with as much edge weight among them as possible, and prove how much more there could be.

    Parameters
    ----------
    graph
        Anything `flipwise.as_graph` takes: a `Graph`, a networkx or igraph graph, a sparse matrix, a path, ...
        It is taken as a simple undirected graph. Or a `flipwise.distributed.ShardedGraph`: its arcs stay on a cluster.
    k
        The number of nodes, or several: then a `DensityProfile` is returned, and the work is shared.
    method
        "dpcd" (the default) searches from many starts. Any other name of `flipwise.methods()` that keeps an exact
        count runs that method alone on `min -x'Wx`.
    seed
        None, an integer, or a generator. The same integer gives the same answer on any number of threads.
    time_limit
        Seconds for each k; the best set so far is returned when they are over.
    effort
        How long to search past the first descents, 1 by default; 0 stops after the first descent.
    certify
        Whether to compute bounds.
    start
        Nodes to begin from, besides the method's own starts.
    callback
        Called with a `Progress` after each step; return True to stop.
    threads
        The most threads the compiled kernels may use.
    verbose
        Log the run to standard error.
    checkpoint, every
        A path: the run is saved there every so many seconds (between the walks of a search, and what searches and
        proofs have found), and goes on from there when the file exists; the file is deleted when the run has come to
        its end. Another method than DPCD takes a checkpoint with one k only.
    **options
        Options of another method.

    Returns
    -------
    DensestSubgraph or DensityProfile
        With `nodes`, `density` (x'Wx / k), `bound`, `gap`, `optimal`. Ctrl-C returns the best set so far.

    Examples
    --------
    >>> import flipwise
    >>> edges = [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [4, 5]]
    >>> result = flipwise.densest_subgraph((6, edges), 3, seed=0)
    >>> result.nodes, result.density, result.optimal
    ([0, 1, 2], 2.0, True)
    """
    find_method(method)
    whole: Whole = graph if isinstance(graph, Whole) else WholeHere(as_graph(graph))
    several = isinstance(k, Sequence | np.ndarray) and not isinstance(k, str)
    sizes = [_checked_size(whole.n, each) for each in (k if several else [k])]  # type: ignore[union-attr]
    if not sizes:
        raise InvalidInput("`k` must hold at least one number of nodes, got none.")
    effort = _checked_effort(effort)
    limits = Limits(time_limit=time_limit)
    given = None if start is None else _checked_start(whole, start)
    if callback is not None and not callable(callback):
        raise InvalidInput(f"`callback` must be callable, got {type(callback).__name__}.")
    if method == "dpcd" and options:
        raise InvalidInput(
            f"unknown option `{next(iter(options))}`; densest_subgraph with DPCD takes none but its own."
        )
    ks = sorted(set(sizes), reverse=True)  # the loads of the largest k serve the smaller ones
    if checkpoint is not None and method != "dpcd" and len(ks) > 1:
        raise InvalidInput(f'`checkpoint` with several k is for method="dpcd" only, got {method!r}. Give one k.')
    rng = as_generator(seed)
    results: dict[int, DensestSubgraph] = {}
    shared: Loaded | None = None
    log = RunLog() if verbose else None
    keeping = outliving_search({"checkpoint": checkpoint, "every": every})
    with keeping as kept, limited_threads(threads), shown_on_stderr(verbose):
        keeper: Keeper | None = kept["checkpoint"]
        stages = Stages(keeper if method == "dpcd" else None, _fingerprint(whole, ks, effort, certify, given))
        resumed = stages.resume(whole)
        for size in ks:
            problem = Problem(SubgraphObjective(whole), Cardinality(size))
            run = Run(problem, limits, callback, None, log)
            bounds = SubgraphBounds(size, whole.integral)
            solver = Solver(whole, size, run, rng, effort, certify, bounds, stages=stages)
            if method == "dpcd":
                if log is not None:
                    log.start(problem, method, seed_of(seed))
                status, shared = _solved(solver, given, shared)
                result = finished(run, status, method, seed_of(seed))
                if keeper is not None:
                    result.info.update(resumed=resumed, checkpoint_error=keeper.error)
                if log is not None:
                    log.end(result)
            else:
                result = _by_other_method(
                    whole,
                    size,
                    method,
                    rng,
                    given,
                    time_limit=time_limit,
                    callback=callback,
                    verbose=verbose,
                    checkpoint=keeper,
                    **options,
                )
                result.seed = seed_of(seed)
                if certify:
                    solver.effort = 0.0
                    shared = solver.certify_only(shared)
            results[size] = _described(whole, size, result, solver.bounds)
            given = results[size].indices if several else given
            if results[size].status in (Status.INTERRUPTED, Status.CALLBACK):
                break
        if keeper is not None:
            keeper.ended = not any(stages.stays_open(result.status) for result in results.values())
    if not several:
        return results[sizes[0]]
    return DensityProfile([results[size] for size in sorted(results)])


def _fingerprint(whole: Whole, ks: list[int], effort: float, certify: bool, given: Ints | None) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued."""
    start = None if given is None else zlib.crc32(given.tobytes())
    return {"nodes": whole.n, "arcs": whole.n_arcs, "k": ks, "effort": effort, "certify": certify, "start": start}


def _solved(solver: Solver, given: Ints | None, shared: Loaded | None) -> tuple[Status, Loaded | None]:
    try:
        with solver.run.heeding_interrupts():
            return solver.solve(given, shared)
    except KeyboardInterrupt:
        if solver.run.best_x is None:
            raise
        return Status.INTERRUPTED, shared


def _by_other_method(
    whole: Whole, k: int, method: str, rng: np.random.Generator, given: Ints | None, **options: Any
) -> Result:
    """Run one method of the registry on min -x'Wx, x in {0,1}^n with k ones."""
    if not isinstance(whole, WholeHere):
        raise InvalidInput(f'`method`: only "dpcd" runs on a graph that is not in one place, got {method!r}.')
    graph = whole.graph
    x0 = None
    if given is not None and given.size == k:
        x0 = np.zeros(graph.n, dtype=np.int8)
        x0[given] = 1
    objective = Quadratic(-graph.to_scipy(), variables="binary")
    return minimize(objective, constraint=Cardinality(k), method=method, seed=rng, x0=x0, **options)


def _described(whole: Whole, k: int, result: Result, bounds: SubgraphBounds) -> DensestSubgraph:
    """The result in terms of nodes and densities, with everything recomputed from the nodes."""
    nodes = np.flatnonzero(result.x > 0)
    weight = whole.inner_weight(nodes)
    described = DensestSubgraph(
        x=result.x,
        value=-weight,
        status=result.status,
        method=result.method,
        variables="binary",
        iterations=result.iterations,
        evaluations=result.evaluations,
        seconds=result.seconds,
        seed=result.seed,
        trace=result.trace,
        info=result.info,
        k=k,
        density=weight / k,
        edge_density=weight / (k * (k - 1)) if k > 1 else 0.0,
        notes=whole.notes,
        labels=None if whole.names is None else [whole.names[int(i)] for i in nodes],
    )
    if bounds.known:
        described.bounds = bounds.densities()
        described.bound_method, best = bounds.best
        described.bound = bounds.density(best)
        if described.optimal and not described.status.success:
            described.status = Status.OPTIMAL
    return described


def _checked_size(n: int, k: object) -> int:
    if not is_whole(k) or not 1 <= k <= n:
        raise InvalidInput(f"`k` must be an integer from 1 to the number of nodes, {n}, got {k!r}.")
    return int(k)


def _checked_effort(effort: object) -> float:
    if not is_number(effort) or effort < 0.0:
        raise InvalidInput(f"`effort` must be a number of at least 0, got {effort!r}.")
    return float(effort)


def _checked_start(whole: Whole, start: Sequence[Any]) -> Ints:
    """The numbers of the nodes a user named."""
    if whole.names is None:
        numbers = np.unique(np.asarray(start))
        if numbers.size and (numbers.dtype.kind not in "iu" or numbers[0] < 0 or numbers[-1] >= whole.n):
            raise InvalidInput(f"`start` must hold node numbers from 0 to {whole.n - 1}, got {list(start)[:5]} ...")
        return numbers.astype(np.int64)
    places = {name: i for i, name in enumerate(whole.names)}
    unknown = [name for name in start if name not in places]
    if unknown:
        raise InvalidInput(f"`start` must hold nodes of the graph; {unknown[0]!r} is none of them.")
    return np.unique(np.array([places[name] for name in start], dtype=np.int64))
