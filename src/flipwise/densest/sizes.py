"""Given numbers of nodes: one search for each k, the largest first, which share what they have found and proven."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flipwise.densest.bounds import CoreLoads, SubgraphBounds, add_cheap_bounds, balanced_loads
from flipwise.densest.methods import DENSEST
from flipwise.densest.record import CallRecord
from flipwise.densest.result import DensestSubgraph
from flipwise.densest.solver import SCOUT_NODES, DensestSearch
from flipwise.densest.sweep import Sweep
from flipwise.densest.whole import GraphInMemory, SubgraphObjective, WholeGraph
from flipwise.engine.checkpoint import Checkpoint, open_checkpoint
from flipwise.engine.limits import Limits, Status
from flipwise.engine.pool import Wanted
from flipwise.engine.run import Callback
from flipwise.engine.solve import Proof, solve
from flipwise.engine.solver import Solver
from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import as_generator, seed_of
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.kernels.compile_time import Moment
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.registry import GENERAL, as_solver


@dataclass(frozen=True)
class Call:
    """How a call of `densest_subgraph` is to be run: its keywords, by their names."""

    method: str | Solver = "dpcd"
    bound: str = "auto"
    effort: float = 1.0
    restarts: int = 1
    seed: int | np.random.Generator | None = None
    limits: Limits = field(default_factory=Limits)
    callback: Callback | None = None
    threads: int | None = None
    verbose: bool = False
    trace_file: str | Path | None = None
    checkpoint: str | Path | None = None
    every: float = 60.0
    pool: Wanted | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_own(self) -> bool:
        """Whether our own search runs, not one method alone."""
        return isinstance(self.method, str) and self.method == "dpcd"

    def check(self) -> None:
        """Refuse what does not go together, before any work."""
        if self.bound not in ("auto", "none"):
            raise InvalidInput(f'`bound` must be "auto" or "none", got {self.bound!r}.')
        if self.is_own and (self.options or self.restarts != 1):
            name = next(iter(self.options), "restarts")
            raise InvalidInput(f"unknown option `{name}`; densest_subgraph with DPCD takes none but its own.")

    def watched(self) -> dict[str, Any]:
        """What the engine is told of how the run is watched."""
        return {"callback": self.callback, "threads": self.threads, "verbose": self.verbose}


def solve_sizes(
    whole: WholeGraph, ks: list[int], call: Call, given: list[Ints], *, several: bool
) -> dict[int, DensestSubgraph]:
    """The densest sets of so many nodes, for every k from the largest to the least; Ctrl-C ends that early."""
    limits, target = call.limits, call.limits.target
    wiring = _Wiring(whole, call, Sweep(as_generator(call.seed), given))
    wiring.check(ks)
    results: dict[int, DensestSubgraph] = {}
    with ExitStack() as stack:
        interrupts = stack.enter_context(guarded_interrupts())
        opened = None if call.checkpoint is None else stack.enter_context(open_checkpoint(call.checkpoint, call.every))
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
                    restarts=call.restarts,
                    seed=call.seed if call.is_own else wiring.sweep.rng,
                    trace_file=call.trace_file,
                    checkpoint=opened,
                    part=f"k={size}",
                    bound=proof,
                    pool=call.pool,
                    **call.watched(),
                )
            except KeyboardInterrupt:
                if not results:
                    raise
                break
            limits = replace(limits, began=Moment())  # of the next k
            result = results[size] = DensestSubgraph.of(found, whole, size, wiring.sweep.bounds)
            result.seed = seed_of(call.seed)
            if several:
                wiring.sweep.given = [result.indices]
            if opened is not None and (len(ks) > 1 or not result.status.resumable):
                opened.end(f"k={size}")
            if result.status in (Status.INTERRUPTED, Status.CALLBACK) or interrupts.requested:
                break
        else:
            wiring.end()
        _carry_over(results, wiring.sweep.bounds, nonnegative=whole.weight_range[0] >= 0.0)
    return results


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


class _RunParts(NamedTuple):
    """What the engine needs for one k: the problem, who solves it, from where, and how it is proven."""

    problem: Problem
    solver: Solver
    start: np.ndarray | None
    proof: Proof | None


@dataclass(eq=False)
class _Wiring:
    """What is the same for every k of a call."""

    graph: WholeGraph
    call: Call
    sweep: Sweep

    def check(self, ks: list[int]) -> None:
        """Refuse what does not go together, before any work."""
        call = self.call
        call.check()
        if call.trace_file is not None and len(ks) > 1:
            raise InvalidInput("`trace_file` is for one k, got several.")
        if call.checkpoint is not None and not call.is_own and len(ks) > 1:
            raise InvalidInput(
                f'`checkpoint` with several k is for method="dpcd" only, got {call.method!r}. Give one k.'
            )

    def parts(self, k: int) -> _RunParts:
        """Our own search on the graph, or another method on min -x'Wx, x in {0,1}^n with k ones."""
        prove = self.call.bound == "auto"
        own = DensestSearch(self.call.effort, prove, self.sweep)
        if self.call.is_own:
            anywhere = np.arange(self.graph.n) < k  # it has starts of its own; a random one would only cost time
            return _RunParts(Problem(SubgraphObjective(self.graph), Cardinality(k)), own, anywhere, None)
        if not isinstance(self.graph, GraphInMemory):
            raise InvalidInput(
                f'`method`: only "dpcd" runs on a graph that is not in one place, got {self.call.method!r}.'
            )
        problem = Problem(Quadratic(-self.graph.graph.to_scipy(), variables="binary"), Cardinality(k))
        solver = as_solver(self.call.method, problem, self.call.options, {**GENERAL, **DENSEST})
        first = None
        for nodes in self.sweep.given:
            if nodes.size == k:
                first = np.zeros(self.graph.n, dtype=np.int8)
                first[nodes] = 1
        return _RunParts(
            problem, solver, first, Proof(partial(prove_cheaply, self.graph, k, self.sweep)) if prove else None
        )

    def resume(self, checkpoint: Checkpoint, ks: list[int]) -> None:
        """Take over what an earlier call with this checkpoint has finished."""
        call = self.call
        record = CallRecord(checkpoint, self.graph, ks, self.sweep.given, effort=call.effort, bound=call.bound)
        self.sweep.record, self.sweep.bounds, self.sweep.loads = (
            record,
            record.bounds(self.graph),
            record.loads(self.graph),
        )

    def end(self) -> None:
        """All k are done."""
        if self.sweep.record is not None:
            self.sweep.record.end()


def prove_cheaply(graph: WholeGraph, k: int, sweep: Sweep) -> float:
    """The bounds without a search, for sets that another method found: notes them, and returns that on f = -x'Wx."""
    if sweep.loads is None:
        size = 2 * k + SCOUT_NODES
        core = graph.core_of_size(size)
        loads = balanced_loads(core, [k])
        if core.cap > float(np.sort(loads)[max(0, core.graph.n - k)]):
            core = graph.core_of_size(10 * size)
            loads = balanced_loads(core, [k])
        sweep.loads = CoreLoads(core, loads)
    bounds = sweep.bounds[k] = SubgraphBounds(k, graph.unit)
    add_cheap_bounds(bounds, sweep.loads.core, sweep.loads, graph.weight_range[1])
    return -2.0 * bounds.best[1]
