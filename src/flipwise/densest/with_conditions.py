"""Calls with conditions: one search for each wanted size, or several sets one after another, on what they share."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from flipwise.densest.conditioned import ConditionedSearch, Known
from flipwise.densest.conditions import (
    ConditionedDensity,
    ConditionedGraph,
    ConditionedSets,
    Conditions,
    alike,
    mask_of,
)
from flipwise.densest.result import DensestSubgraph
from flipwise.densest.several import DenseSubgraphs
from flipwise.densest.sizes import Call
from flipwise.densest.subset import Subset
from flipwise.densest.whole import GraphInMemory
from flipwise.engine.limits import Status
from flipwise.engine.solve import solve
from flipwise.foundation.arrays import Bools, Ints
from flipwise.foundation.checks import as_generator, seed_of
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.kernels.compile_time import Moment
from flipwise.model.problem import Problem

PRICES = 8
"""Prices of nodes of earlier sets that are tried."""


def check_call(call: Call) -> None:
    """Refuse what does not go with conditions, before any work."""
    call.check()
    if not call.is_own:
        raise InvalidInput(
            f"`method` searches for k nodes without conditions; leave out method={call.method!r} or the conditions."
        )
    if call.checkpoint is not None:
        raise InvalidInput("`checkpoint` is for searches for k nodes without conditions: leave it or them out.")


def solve_conditions(
    graph: GraphInMemory, wanted: list[Conditions], call: Call, given: list[Ints]
) -> list[DensestSubgraph]:
    """A result for each of some conditions that differ in the sizes only; Ctrl-C ends that early."""
    if call.trace_file is not None and len(wanted) > 1:
        raise InvalidInput("`trace_file` is for one size, got several.")
    rng, limits = as_generator(call.seed), call.limits
    results: list[DensestSubgraph] = []
    first = replace(wanted[0], least=min(each.least for each in wanted), most=max(each.most for each in wanted))
    with guarded_interrupts() as interrupts:
        base, known = ConditionedGraph(graph, first), Known(given)
        for each in wanted:
            if first.connected and len(wanted) > 1:
                known = Known(given, sets=known.sets)
            try:
                conditioned = base if len(wanted) == 1 else base.resized(each.least, each.most)
                result = solve_one(conditioned, known, replace(call, seed=rng, limits=limits))
            except KeyboardInterrupt:
                if not results:
                    raise
                break
            limits = replace(limits, began=Moment())
            result.seed = seed_of(call.seed)
            results.append(result)
            known.sets = [found.indices for found in sorted(results, key=lambda found: -found.value)]
            if result.status in (Status.INTERRUPTED, Status.CALLBACK) or interrupts.requested:
                break
    return results


def solve_one(conditioned: ConditionedGraph, known: Known, call: Call) -> DensestSubgraph:
    """The densest set that keeps the conditions."""
    limits = call.limits if call.limits.target is None else replace(call.limits, target=-call.limits.target)
    search = ConditionedSearch(call.effort, call.bound == "auto", known)
    found = solve(
        Problem(ConditionedDensity(conditioned), ConditionedSets(conditioned)),
        search,
        limits=limits,
        seed=call.seed,
        trace_file=call.trace_file,
        **call.watched(),
    )
    words = conditioned.conditions.in_words(conditioned.whole.n)
    return DensestSubgraph.with_conditions(found, conditioned.whole, search.bounds, words)


def solve_several(
    graph: GraphInMemory, conditions: Conditions, call: Call, count: int, overlap: float
) -> DenseSubgraphs:
    """Several sets, one after another; fewer where no nodes are left for another one."""
    if call.trace_file is not None:
        raise InvalidInput("`trace_file` is for one set, got `several`.")
    results: list[DensestSubgraph] = []
    rng, limits, used = as_generator(call.seed), call.limits, np.empty(0, np.int64)
    with ExitStack() as stack:
        interrupts = stack.enter_context(guarded_interrupts())
        for _ in range(count):
            each = replace(call, seed=rng, limits=limits)
            try:
                result = _next_set(graph, conditions, each, used, overlap)
            except KeyboardInterrupt:
                if not results:
                    raise
                break
            if result is None:
                break
            result.seed = seed_of(call.seed)
            results.append(result)
            used, limits = np.union1d(used, result.indices), replace(limits, began=Moment())
            if result.status in (Status.INTERRUPTED, Status.CALLBACK) or interrupts.requested:
                break
    return DenseSubgraphs(results)


def _next_set(
    graph: GraphInMemory, conditions: Conditions, call: Call, used: Ints, overlap: float
) -> DensestSubgraph | None:
    """The densest set beside those before it; None where there is none."""
    if not used.size:
        return solve_one(ConditionedGraph(graph, conditions), Known(), call)
    apart = _set_apart(graph, conditions, call, used)
    return apart if not overlap else _densest_overlapping(graph, conditions, call, used, overlap, apart)


def _set_apart(graph: GraphInMemory, conditions: Conditions, call: Call, used: Ints) -> DensestSubgraph | None:
    """The densest set without a node of those before it."""
    excluded = np.union1d(conditions.exclude, used)
    left = graph.n - excluded.size
    if left < max(1, conditions.least) or conditions.include.size:  # those before it have the included nodes, too
        return None
    try:
        rest = ConditionedGraph(graph, replace(conditions, exclude=excluded, most=min(conditions.most, left)))
    except InvalidInput:  # no connected piece is left that is large enough
        return None
    result = solve_one(rest, Known(), call)
    words = conditions.in_words(graph.n)
    result.conditions = ", ".join([*([words] if words else []), "apart from the sets before"])
    return result


def _densest_overlapping(
    graph: GraphInMemory,
    conditions: Conditions,
    call: Call,
    used: Ints,
    share: float,
    apart: DensestSubgraph | None,
) -> DensestSubgraph | None:
    """The densest set with at most a share of its nodes in those before it, by prices on these."""
    inside = mask_of(graph.n, used)
    own = np.zeros(graph.n) if conditions.node_weights is None else conditions.node_weights
    plain = ConditionedGraph(graph, conditions)
    best, bound, proven_by = apart, math.inf, None
    low, high, price = 0.0, math.inf, 0.0
    for _ in range(PRICES):
        weights = None if price == 0.0 and conditions.node_weights is None else own + price * (share - inside)
        priced = ConditionedGraph(graph, replace(conditions, node_weights=weights))
        result = solve_one(priced, Known(), call)
        rounded = 0.0 if price == 0.0 else 1e-15 * (price + float(np.abs(own).max()))
        if result.bound is not None and result.bound + rounded < bound:
            bound, proven_by = result.bound + rounded, result.bound_method
        nodes = result.indices
        if inside[nodes].sum() <= share * nodes.size + 1e-9:
            high = price
            result.value = plain.density(nodes)
            best = result if best is None or result.value > best.value else best
        else:
            low = price
        if price == 0.0 and high == 0.0:
            break
        price = max(1.0, 2.0 * low, result.density / 4.0) if math.isinf(high) else (low + high) / 2.0
        if result.status in (Status.INTERRUPTED, Status.CALLBACK):
            break
    if best is None:
        return None
    _fill_up(best, plain, inside, share)
    return _with_bound(best, plain, share, bound, proven_by)


def _fill_up(best: DensestSubgraph, plain: ConditionedGraph, inside: Bools, share: float) -> None:
    """Add the nodes that make the set denser, as long as it keeps its share; connected it stays."""
    free, bonus = alike(plain.graph, plain.bonus)
    while best.k < plain.conditions.most:
        subset = Subset.of(free, mask_of(free.n, np.searchsorted(plain.free, best.indices)), bonus)
        allowed = (subset.inside == 0) & (subset.degrees > best.value / 2.0 * (1.0 + 1e-12))
        if inside[best.indices].sum() + 1 > share * (best.k + 1) + 1e-9:
            allowed &= ~inside[plain.free]
        if not allowed.any():
            return
        best.x = best.x.copy()
        best.x[plain.free[np.argmax(np.where(allowed, subset.degrees, -np.inf))]] = 1
        nodes = best.indices
        if plain.broken(nodes) is not None or plain.density(nodes) <= best.value:
            best.x[np.setdiff1d(nodes, plain.free[subset.members])] = 0
            return
        best.value, best.k = plain.density(nodes), int(nodes.size)


def _with_bound(
    best: DensestSubgraph, plain: ConditionedGraph, share: float, bound: float, proven_by: str | None
) -> DensestSubgraph:
    """A set that keeps the share, with what is proven about all that do."""
    words = plain.conditions.in_words(plain.whole.n)
    best.conditions = ", ".join([*([words] if words else []), f"overlap at most {100 * share:g} %"])
    known = math.isfinite(bound)
    best.bound, best.bound_method = (max(bound, best.value), proven_by) if known else (None, None)
    best.bounds = {str(proven_by): max(bound, best.value)} if known else {}
    best.describe(plain.whole)
    if best.status is not Status.INTERRUPTED:
        best.status = Status.OPTIMAL if best.optimal else Status.LOCAL_OPTIMUM
    return best
