"""Cuts of a graph: `maxcut`, `bisect` into exact halves, `partition` into parts of exact sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.bounds.choice import Bound, proof_of, proof_of_small
from flipwise.cuts.bisection import Bisection
from flipwise.cuts.partition import RecursiveBisection
from flipwise.cuts.parts import PartitionProblem, WantedParts, cut_between, part_sizes
from flipwise.cuts.result import CutResult
from flipwise.engine.limits import Limits
from flipwise.engine.pool import wanted_answers
from flipwise.engine.result import Result
from flipwise.engine.run import Callback
from flipwise.engine.solve import solve
from flipwise.engine.solver import Solver
from flipwise.foundation.checks import is_number
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.foundation.numbers import check_size
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.minimization import solver_of
from flipwise.model.constraints import Cardinality, Free
from flipwise.model.problem import Problem, without_ranges
from flipwise.model.quadratic import Quadratic
from flipwise.model.reduction import Fixed, by_index
from flipwise.solvers.optima import Optima
from flipwise.solvers.portfolio.algorithm import Portfolio


def maxcut(
    graph: Any,
    *,
    method: str | Solver = "portfolio",
    bound: Bound = "auto",
    pool: int | Literal["optima"] | None = None,
    distance: int = 1,
    effort: float = 1.0,
    fixed: Fixed | None = None,
    start: npt.ArrayLike | None = None,
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
) -> CutResult:
    """Two parts with as much weight between them as possible; weights may be negative.

    Parameters
    ----------
    graph
        A graph in any form that flipwise reads (see `flipwise.read_graph`): a path, scipy.sparse, networkx, `(n,
        edges)`.
    bound
        An upper bound to prove: "auto", "best", "quick", "sdp", "spectral", "simple" or "none" (see
        `flipwise.solve_qubo`).
    effort
        How long the portfolio searches without any other limit; 1 is at most 30 rounds.
    pool, distance
        Several cuts in `result.pool`, or all largest cuts of a small graph, as in `flipwise.minimize`.
    fixed
        Nodes whose side is given, 0 or 1 as in `parts`, by name where there are names: {"a": 1, "b": 0}. A side may be
        written as in `x` too, -1 for 0.
    start
        A start, -1/+1 for each node.
    target
        Stop at a cut of at least this weight.
    method, restarts, seed, time_limit, max_iterations, patience, gap, max_evaluations, callback, threads, verbose
        As in `flipwise.minimize`; the minimised value is minus the weight of the cut.
    trace_file, checkpoint, every, **options
        As in `flipwise.minimize`.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.maxcut((5, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]), seed=0).value
    4.0
    """
    wanted = wanted_answers(pool, distance)
    limits = Limits(time_limit, max_iterations, target, patience, gap, max_evaluations)
    simple = _graph_with_finite_sums(graph)
    problem = without_ranges(Problem(cut_objective(simple, -1.0), Free()), _spins_of_sides(fixed, simple))
    solver = solver_of(method, effort, problem, options, wanted)
    with guarded_interrupts():
        found = solve(
            problem,
            solver,
            limits=limits if target is None else replace(limits, target=-target),  # minus the cut is minimised
            start=start,
            restarts=restarts,
            seed=seed,
            callback=callback,
            threads=threads,
            verbose=verbose,
            trace_file=trace_file,
            checkpoint=checkpoint,
            every=every,
            pool=wanted,
            bound=proof_of(problem, limits.bound_to_prove(bound), time_limit),
        )
        return _as_cut(simple, found, "max")


def bisect(
    graph: Any,
    *,
    bound: Bound | None = None,
    pool: int | Literal["optima"] | None = None,
    distance: int = 1,
    effort: float = 1.0,
    fixed: Fixed | None = None,
    start: npt.ArrayLike | None = None,
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
) -> CutResult:
    """Two halves with as little weight between them as possible; with an odd number of nodes one has one more.

    Parameters
    ----------
    graph
        A graph in any form that flipwise reads (see `flipwise.read_graph`).
    bound
        A lower bound to prove, as in `flipwise.maxcut`; when left out, only what is enumerated in a blink is proven.
    effort
        How long to search without any other limit; 1 is at most 30 rounds of four jobs.
    pool, distance
        Several bisections in `result.pool`, or all smallest ones of a small graph, as in `flipwise.minimize`.
    fixed
        Nodes whose half is given, as in `flipwise.maxcut`; the search is then the portfolio's.
    start
        A start with exact halves, -1/+1 for each node.
    seed, time_limit, max_iterations, target, patience, gap, max_evaluations, callback, threads, verbose
        As in `flipwise.minimize`; an iteration is a round.
    trace_file, checkpoint, every
        As in `flipwise.minimize`.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.bisect((6, [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3]]), seed=0).value
    1.0
    """
    wanted = wanted_answers(pool, distance)
    limits = Limits(time_limit, max_iterations, target, patience, gap, max_evaluations)
    simple = _graph_with_finite_sums(graph)
    if simple.n < 2:
        raise InvalidInput(f"`graph` must have at least 2 nodes, got {simple.n}.")
    half = (
        simple.n // 2
    )  # of an odd number either half may be the larger one, which is no matter where no node is fixed
    sizes = Cardinality(at_least=half, at_most=simple.n - half) if fixed and simple.n % 2 else Cardinality(half)
    problem = Problem(cut_objective(simple), sizes)
    problem = without_ranges(problem, _spins_of_sides(fixed, simple))
    solver: Solver = Bisection(effort) if problem.reduction is None else Portfolio(effort)
    if pool == "optima":
        solver = Optima()
    wanted_bound = limits.bound_to_prove(bound)
    least = 0.0 if _has_no_negative_weight(simple) else None
    proof = (
        proof_of_small(problem) if wanted_bound is None else proof_of(problem, wanted_bound, time_limit, least=least)
    )
    with guarded_interrupts():
        found = solve(
            problem,
            solver,
            limits=limits,
            start=start,
            seed=seed,
            callback=callback,
            threads=threads,
            verbose=verbose,
            trace_file=trace_file,
            checkpoint=checkpoint,
            every=every,
            pool=wanted,
            bound=proof,
        )
        return _as_cut(simple, found, "min")


def partition(
    graph: Any,
    sizes: int | Sequence[int],
    *,
    imbalance: float = 0.0,
    fixed: Mapping[Any, int] | None = None,
    pool: int | None = None,
    distance: int = 1,
    effort: float = 1.0,
    start: npt.ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    patience: int | None = None,
    max_evaluations: int | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    trace_file: str | Path | None = None,
    checkpoint: str | Path | None = None,
    every: float = 60.0,
) -> CutResult:
    """Parts of the given sizes, exactly or within an imbalance, with as little weight between them as possible.

    Parameters
    ----------
    graph
        A graph in any form that flipwise reads (see `flipwise.read_graph`).
    sizes
        The size of each part (they add up to the number of nodes), or the number of parts of equal size.
    imbalance
        By what share of its size a part may be larger, such as 0.03; 0 keeps the sizes exactly. No part is empty.
    fixed
        Nodes whose part is given, by name where there are names: {"a": 0, "b": 2}. Pairs of parts with such nodes are
        cut by the portfolio.
    pool, distance
        Several partitions in `result.pool`, whose points are the part of each node: two differ in so many nodes at
        least, whatever names parts of equal size have.
    start
        The part of each node, 0, 1, 2, ..., with these sizes.
    effort, seed, time_limit, callback, threads, verbose, trace_file, checkpoint, every
        As in `bisect`; an iteration is the first partition, and then each improvement of two parts.
    max_iterations, max_evaluations, target, patience
        As in `flipwise.minimize`.

    Examples
    --------
    >>> import flipwise
    >>> path = (6, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    >>> flipwise.partition(path, [2, 2, 2], seed=0).value
    2.0
    """
    limits = Limits(time_limit, max_iterations, target, patience, max_evaluations=max_evaluations)
    wanted = wanted_answers(pool, distance)
    if wanted is not None:
        if wanted.size == math.inf:
            raise InvalidInput('`pool` must be a number of partitions: pool="optima" is for problems of two values.')
        wanted = WantedParts(wanted.size, wanted.distance)
    simple = _graph_with_finite_sums(graph)
    if not (is_number(imbalance) and imbalance >= 0.0):
        raise InvalidInput(f"`imbalance` must be a finite number of at least 0, got {imbalance!r}.")
    with guarded_interrupts():
        found = solve(
            PartitionProblem.of(
                simple, part_sizes(simple.n, sizes), float(imbalance), by_index(fixed, simple.names, "node")
            ),
            RecursiveBisection(effort),
            limits=limits,
            start=start,
            seed=seed,
            callback=callback,
            threads=threads,
            verbose=verbose,
            trace_file=trace_file,
            checkpoint=checkpoint,
            every=every,
            pool=wanted,
        )
        return _as_cut(simple, found, "min")


def _spins_of_sides(fixed: Any, graph: Graph) -> Fixed | None:
    """The spins of nodes whose side is given, by number."""
    if isinstance(fixed, Mapping):
        for node, side in fixed.items():
            if side not in (-1, 0, 1) or isinstance(side, str):
                raise InvalidInput(f"`fixed` must hold the sides 0 and 1, got {side!r} for node {node!r}.")
        fixed = {node: 1 if side == 1 else -1 for node, side in fixed.items()}
    return None if fixed is None else by_index(fixed, graph.names, "node")


def cut_objective(graph: Graph, sign: float = 1.0) -> Quadratic:
    """The weight of the cut, times `sign`, as a quadratic in spins: sum_{i<j} w_ij (1 - x_i x_j) / 2."""
    if graph.weights is None:
        entries, constants = np.full(graph.n_arcs, -0.25 * sign), np.array([0.25 * sign * graph.n_arcs])
    else:
        entries, constants = graph.weights * (-0.25 * sign), graph.weights * (0.25 * sign)
    # scipy would widen the indices to the type of indptr
    indptr = graph.indptr.astype(graph.indices.dtype) if graph.n_arcs < 2**31 else graph.indptr
    A = sp.csr_array((entries, graph.indices, indptr), shape=(graph.n, graph.n))
    return Quadratic.with_constants(A, constants)


def _graph_with_finite_sums(graph: Any) -> Graph:
    """The graph, refused when its weights are too small or too large to be added up."""
    simple = as_graph(graph)
    if simple.weights is not None:
        check_size("graph", simple.weights)
    return simple


def _has_no_negative_weight(graph: Graph) -> bool:
    """Whether no edge weighs less than nothing."""
    return graph.weights is None or bool((graph.weights >= 0).all())


def _as_cut(graph: Graph, result: Result, sense: Literal["min", "max"]) -> CutResult:
    """The plain result of a run in terms of parts and the weight between them."""
    own = {f.name: getattr(result, f.name) for f in fields(result)}
    parts = (result.x if result.x.dtype == np.int64 else result.x > 0).astype(np.int64)
    own["value"] = cut_between(graph, parts)
    if result.optimal:
        own["bound"] = own["value"]
    elif sense == "max" and result.bound is not None:  # what was minimised is minus the cut
        own["bound"] = max(own["value"], -result.bound)
    elif result.bound is not None:
        own["bound"] = min(own["value"], result.bound)
    if result.pool is not None:
        partition = result.pool.alike is not None
        values = [cut_between(graph, x if partition else (x > 0).astype(np.int64)) for x in result.pool.points]
        own["pool"] = replace(result.pool, values=np.array([own["value"], *values[1:]]))
    known = result.certificate
    if known is not None:
        sign = -1.0 if sense == "max" else 1.0  # what was minimised is minus the cut
        function = "maxcut" if sense == "max" else "bisect"
        own["certificate"] = replace(known, function=function, bound=sign * known.bound + 0.0)
    own["x"] = np.where(parts == 0, -1, 1).astype(np.int8)
    return CutResult(**own, parts=parts, sense=sense, names=graph.names)
