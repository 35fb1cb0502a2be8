"""The search in one core: what it reports, when it ends, and states of another search refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import flipwise
from flipwise.densest.bounds import balanced_loads
from flipwise.densest.core import Core
from flipwise.densest.search import KeptSet, Search, Walks, report
from flipwise.densest.subset import Subset
from flipwise.densest.whole import GraphInMemory, SubgraphObjective
from flipwise.engine.limits import Limits, Status
from flipwise.engine.run import Run
from flipwise.graphs.convert import as_graph
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from tests.densest.graphs import random_weights

N, K = 60, 9


def run_and_core(limits: Limits | None = None) -> tuple[Run, Core]:
    """A run on a random graph, and the graph without its first nodes as a core."""
    W = random_weights(N, 5, 0.25)
    W[:6], W[:, :6] = 0.0, 0.0
    whole = GraphInMemory(as_graph(W))
    core = whole.core_above(0.0)
    assert core.nodes[0] == 6
    return Run(Problem(SubgraphObjective(whole), Cardinality(K)), limits), core


def search_in(run: Run, core: Core, effort: float = 0.05) -> Search:
    """A search with balanced loads."""
    return Search(core, K, balanced_loads(core, [K]), np.random.default_rng(0), effort, run)


def test_a_set_is_reported_with_the_numbers_of_the_whole_graph() -> None:
    """The value is -x'Wx of the set, and a bound that it meets ends the search."""
    run, core = run_and_core()
    subset = Subset.of(core.graph, np.arange(core.graph.n) < K)
    assert report(run, core, subset) is None and run.ended_by_proof is None
    assert run.best_x is not None and np.flatnonzero(run.best_x > 0).tolist() == list(range(6, 6 + K))
    assert run.best_value == -2.0 * subset.weight == run.problem.objective.value(run.best_x)
    run.raise_bound(-2.0 * subset.weight - 1.0)
    assert run.ended_by_proof is None
    run.raise_bound(-2.0 * subset.weight)
    assert report(run, core, subset) is Status.OPTIMAL is run.ended_by_proof


@pytest.mark.parametrize("effort", [0.0, 0.05])
def test_the_best_set_of_a_search_is_that_of_its_run(effort: float) -> None:
    """Sets are different and sorted, none is improved by a swap; effort 0 makes no walk."""
    run, core = run_and_core()
    search = search_in(run, core, effort)
    assert search.find([]) is Status.LOCAL_OPTIMUM
    weights = [subset.weight for subset in search.pool]
    assert weights == sorted(weights, reverse=True) and run.best_value == -2.0 * weights[0]
    assert len({subset.inside.tobytes() for subset in search.pool}) == len(weights) <= 6
    assert (search.moves > 0) is (effort > 0)
    assert run.evaluations > 0  # every set whose degrees were added up from scratch, improved from there step by step


def test_a_limit_ends_a_search() -> None:
    """What the run says, the search returns."""
    run, core = run_and_core(Limits(max_iterations=3))
    assert search_in(run, core).find([]) is Status.ITERATION_LIMIT and run.iterations == 3
    run, core = run_and_core(Limits(time_limit=0.0))
    assert search_in(run, core).find([]) is Status.TIME_LIMIT and run.best_x is not None


def test_states_of_another_search_are_refused() -> None:
    """Sets of another size or graph, and a search without any."""
    run, core = run_and_core()
    search = search_in(run, core)
    search.find([])
    state = search.state()
    search.restore(state)
    kept = state.pool[0]
    larger = KeptSet(np.ones_like(kept.inside), kept.degrees, kept.weight)
    longer = KeptSet(np.append(kept.inside, np.int8(0)), kept.degrees, kept.weight)
    wrong: list[Walks] = [
        replace(state, pool=[]),
        replace(state, pool=[larger]),
        replace(state, queue=[longer]),
        replace(state, moves=-1),
        replace(state, first_steps=10**9),
    ]
    for each in wrong:
        with pytest.raises(flipwise.InvalidFile):
            search.restore(each)


def test_no_start_is_made_for_which_there_is_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that look at every arc many times are left out near the limit; the others still lead to an answer."""

    def late(*_: object) -> None:
        raise AssertionError("begun too late")

    for name in ("by_spectrum", "by_frank_wolfe", "grown_from_seeds"):
        monkeypatch.setattr(f"flipwise.densest.starts.{name}", late)
    monkeypatch.setattr("flipwise.densest.search.ELEMENT_SECONDS", 1e9)
    run, core = run_and_core(Limits(time_limit=600.0))
    assert search_in(run, core).find([]) is Status.LOCAL_OPTIMUM and run.best_x is not None
