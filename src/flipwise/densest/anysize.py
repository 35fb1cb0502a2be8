"""The densest set of any size: cut the graph down to what can hold it, then one or a few maximum flows.

Every node of the densest set adds at least its density, as many edges to a node, to the rest of the set. So what the
peeling leaves at the density of any known set holds it, and that is mostly a small part of the graph (see
`densest.flow` for what follows).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from flipwise.densest.flow import best_ratio, in_units
from flipwise.densest.result import DensestSubgraph
from flipwise.densest.sizes import Call
from flipwise.densest.whole import WholeGraph
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.engine.solve import solve
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import Variables, seed_of
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.model.constraints import Free
from flipwise.model.problem import Problem


def density_of(graph: WholeGraph, nodes: Ints) -> float:
    """x'Wx / k of a set of nodes, added up anew and rounded once; 0 for no nodes."""
    if not nodes.size:
        return 0.0
    if graph.integral:
        return (graph.inner_weight(nodes) + 0.0) / nodes.size
    weights = graph.subgraph(nodes).weights
    return (0.0 if weights is None else math.fsum(weights) + 0.0) / nodes.size


def solve_any_size(graph: WholeGraph, call: Call, known: Ints | None = None) -> DensestSubgraph:
    """The densest set of any size as a result, faster from a dense set that is known.

    What does not go with that is refused before any work.
    """
    call.check()
    if not graph.n:
        raise InvalidInput("`graph` has no nodes.")
    if graph.weight_range[0] < 0.0:
        raise InvalidInput(
            "`k`: the densest set of any size is found for weights that are not negative, and the least weight is "
            f"{graph.weight_range[0]:.6g}. Give k, a number of nodes, or leave those edges out."
        )
    if not call.is_own:
        raise InvalidInput(f"`method` searches for k nodes: give k, or leave out method={call.method!r}.")
    if call.checkpoint is not None:
        raise InvalidInput("`checkpoint` is for searches for k nodes: give k, or leave it out.")
    limits = call.limits if call.limits.target is None else replace(call.limits, target=-call.limits.target)
    problem = Problem(DensityObjective(graph), NonemptySets())
    with guarded_interrupts():
        found = solve(problem, AnySize(known), limits=limits, seed=0, trace_file=call.trace_file, **call.watched())
        result = DensestSubgraph.of_any_size(found, graph)
    result.seed = seed_of(call.seed)
    return result


class DensityObjective:
    """f(x) = -x'Wx / |x| in 0/1 variables: minus the density of a set of any size."""

    variables: Variables = "binary"

    def __init__(self, graph: WholeGraph) -> None:
        self.graph = graph

    @property
    def shape(self) -> tuple[int, ...]:
        """One variable for each node."""
        return (self.graph.n,)

    def value(self, x: Floats) -> float:
        """Minus the density of the nodes at +1."""
        return -density_of(self.graph, np.flatnonzero(x > 0))

    def gradient(self, x: Floats) -> Floats:
        """Never asked for: flows need none."""
        raise NotImplementedError


class NonemptySets(Free):
    """Every set but the empty one."""

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        """What is wrong with a set."""
        return None if bool((np.asarray(x, dtype=np.float64) > 0).any()) else "no node is chosen"


@dataclass(frozen=True)
class AnySize:
    """The densest set of any size with its proof, on `Problem(DensityObjective(graph), NonemptySets())`.

    Of several sets of the largest density it is the one that contains all others.
    """

    known: Ints | None = None
    """A set that may be dense: nothing less dense is looked at."""
    name: ClassVar[str] = "flow"
    begins_itself: ClassVar[bool] = True

    def solve(self, problem: Problem, x: Floats | None, rng: np.random.Generator, run: Run) -> Status:
        """Find it and prove it; the start `x` is not used."""
        objective = problem.objective
        assert isinstance(objective, DensityObjective)
        graph = objective.graph
        everything = np.arange(graph.n)
        whole = density_of_all(graph)
        stop = _report_set(run, everything, whole)
        if stop is not None:
            return stop
        if self.known is not None and self.known.size:
            density = density_of(graph, self.known)
            stop = _report_set(run, self.known, density)
            if stop is not None:
                return stop
            whole = max(whole, density)
        if whole <= 0.0 and graph.weight_range[1] <= 0.0:  # no edges: every set has density 0
            run.raise_bound(0.0)
            return Status.OPTIMAL
        core = graph.core_above(_cap_below(whole / 2.0, integral=graph.integral))
        units = in_units(core.graph)
        found = best_ratio(units, stop=run.check_time)
        nodes = core.nodes[found.nodes]
        density = density_of(graph, nodes)
        stop = _report_set(run, nodes, density)
        if units.exact and found.proven:
            run.raise_bound(-max(density, whole))
        else:
            run.raise_bound(-2.0 * units.unit * found.most * (1.0 + 1e-14))
        return stop or (Status.OPTIMAL if found.proven else run.stopped or Status.LOCAL_OPTIMUM)


def density_of_all(graph: WholeGraph) -> float:
    """The density of all nodes together."""
    return graph.inner_weight(np.arange(graph.n)) / graph.n


def _cap_below(least: float, *, integral: bool) -> float:
    """A cap for peeling: nodes tied by no more than this are tied by less than `least`."""
    return math.ceil(least) - 1.0 if integral else least * (1.0 - 1e-9)


def _report_set(run: Run, nodes: Ints, density: float) -> Status | None:
    """Tell the run of a set; a status means: stop now."""
    x = np.full(run.problem.n, -1.0)
    x[nodes] = 1.0
    run.count_evaluation()
    return run.step(x, -density)
