"""`flipwise.densest_subgraph`: from a graph and k to k nodes, their density and a proof. Wiring only."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from flipwise.bounds.choice import bound_for_gap
from flipwise.densest.bounds import SubgraphBounds
from flipwise.densest.methods import DENSEST
from flipwise.densest.record import CallRecord
from flipwise.densest.result import DensestSubgraph, DensityProfile
from flipwise.densest.solver import DensestSearch, prove_cheaply
from flipwise.densest.sweep import Sweep
from flipwise.densest.whole import GraphInMemory, SubgraphObjective, WholeGraph
from flipwise.engine.checkpoint import Checkpoint, open_checkpoint
from flipwise.engine.limits import Limits, Status
from flipwise.engine.run import Callback
from flipwise.engine.solve import Proof, solve
from flipwise.engine.solver import Solver
from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import as_generator, is_whole, seed_of
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.foundation.numbers import largest_size
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.kernels.compile_time import Moment
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.registry import GENERAL, as_solver

MODEST = 1e-100, 1e100
"""Between these is the largest weight of a graph."""
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
    """
    bound_for_gap(bound, gap)
    limits = Limits(time_limit, max_iterations, target, patience, gap, max_evaluations)
    whole = _whole_graph(graph)
    several = isinstance(k, Sequence | np.ndarray) and not isinstance(k, str)
    ks = _checked_sizes(whole.n, k if several else [k])  # type: ignore[arg-type]
    given = [] if start is None else [_checked_start(whole, start)]
    wiring = _Wiring(whole, method, bound, effort, options, Sweep(as_generator(seed), given))
    wiring.check(restarts, ks, trace_file, checkpoint)
    results: dict[int, DensestSubgraph] = {}
    with ExitStack() as stack:
        interrupts = stack.enter_context(guarded_interrupts())
        opened = None if checkpoint is None else stack.enter_context(open_checkpoint(checkpoint, every))
        if opened is not None:
            wiring.resume(opened, ks)
        for size in ks:  # the largest first: its loads serve the smaller ones
            problem, solver, first, proof = wiring.parts(size)
            try:
                found = solve(
                    problem,
                    solver,
                    limits=limits if target is None else replace(limits, target=-target * size),
                    start=first,
                    restarts=restarts,
                    seed=seed if wiring.is_own else wiring.sweep.rng,
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
            limits = replace(limits, began=Moment())  # of the next k
            result = results[size] = DensestSubgraph.of(found, whole, size, wiring.sweep.bounds)
            result.seed = seed_of(seed)
            if several:
                wiring.sweep.given = [result.indices]
            if opened is not None and (len(ks) > 1 or not result.status.resumable):
                opened.end(f"k={size}")
            if result.status in (Status.INTERRUPTED, Status.CALLBACK) or interrupts.requested:
                break
        else:
            wiring.end()
        _carry_over(results, wiring.sweep.bounds, nonnegative=whole.weight_range[0] >= 0.0)
    return DensityProfile([*results.values()]) if several else results[ks[0]]


def _carry_over(results: dict[int, DensestSubgraph], bounds: dict[int, SubgraphBounds], *, nonnegative: bool) -> None:
    """Let what is proven for one k count for the others.

    The sets of a nodes inside one of b > a nodes have a (a-1) / (b (b-1)) of its weight on average, so the best has at
    least that much; and without negative weights a set has no less weight than its parts.
    """
    ks = [k for k in sorted(results) if k in bounds and bounds[k].known]
    pairs = list(pairwise(ks))
    for a, b in pairs:
        if a > 1:
            most = bounds[a].best[1] * (b * (b - 1) / (a * (a - 1)))
            _note_other(bounds[b], most + 4e-16 * abs(most))
    for a, b in reversed(pairs) if nonnegative else ():
        _note_other(bounds[a], bounds[b].best[1])
    for k in ks:
        if "exact" not in bounds[k].known:
            results[k].note_bounds(bounds[k])


def _note_other(bounds: SubgraphBounds, most: float) -> None:
    """Note a bound from another k where it is better than all others."""
    if most < bounds.best[1]:
        bounds.add("other k", most)


class _Parts(NamedTuple):
    """What the engine needs for one k: the problem, who solves it, from where, and how it is proven."""

    problem: Problem
    solver: Solver
    start: np.ndarray | None
    proof: Proof | None


@dataclass(eq=False)
class _Wiring:
    """What is the same for every k of a call."""

    graph: WholeGraph
    method: str | Solver
    bound: str
    effort: float
    options: dict[str, Any]
    sweep: Sweep

    @property
    def is_own(self) -> bool:
        """Whether our own search runs, not one method alone."""
        return isinstance(self.method, str) and self.method == "dpcd"

    def check(self, restarts: int, ks: list[int], trace_file: object, checkpoint: object) -> None:
        """Refuse what does not go together, before any work."""
        if self.bound not in ("auto", "none"):
            raise InvalidInput(f'`bound` must be "auto" or "none", got {self.bound!r}.')
        if self.is_own and (self.options or restarts != 1):
            name = next(iter(self.options), "restarts")
            raise InvalidInput(f"unknown option `{name}`; densest_subgraph with DPCD takes none but its own.")
        if trace_file is not None and len(ks) > 1:
            raise InvalidInput("`trace_file` is for one k, got several.")
        if checkpoint is not None and not self.is_own and len(ks) > 1:
            raise InvalidInput(
                f'`checkpoint` with several k is for method="dpcd" only, got {self.method!r}. Give one k.'
            )

    def parts(self, k: int) -> _Parts:
        """Our own search on the graph, or another method on min -x'Wx, x in {0,1}^n with k ones."""
        prove = self.bound == "auto"
        own = DensestSearch(self.effort, prove, self.sweep)
        if self.is_own:
            anywhere = np.arange(self.graph.n) < k  # it has starts of its own; a random one would only cost time
            return _Parts(Problem(SubgraphObjective(self.graph), Cardinality(k)), own, anywhere, None)
        if not isinstance(self.graph, GraphInMemory):
            raise InvalidInput(f'`method`: only "dpcd" runs on a graph that is not in one place, got {self.method!r}.')
        problem = Problem(Quadratic(-self.graph.graph.to_scipy(), variables="binary"), Cardinality(k))
        solver = as_solver(self.method, problem, self.options, {**GENERAL, **DENSEST})
        first = None
        for nodes in self.sweep.given:
            if nodes.size == k:
                first = np.zeros(self.graph.n, dtype=np.int8)
                first[nodes] = 1
        return _Parts(
            problem, solver, first, Proof(partial(prove_cheaply, self.graph, k, self.sweep)) if prove else None
        )

    def resume(self, checkpoint: Checkpoint, ks: list[int]) -> None:
        """Take over what an earlier call with this checkpoint has finished."""
        record = CallRecord(checkpoint, self.graph, ks, self.sweep.given, effort=self.effort, bound=self.bound)
        self.sweep.record, self.sweep.bounds, self.sweep.loads = (
            record,
            record.bounds(self.graph),
            record.loads(self.graph),
        )

    def end(self) -> None:
        """All k are done."""
        if self.sweep.record is not None:
            self.sweep.record.end()


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
