"""Results explain themselves: every kind of result, every status, in lines that fit a terminal; tables in notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.engine.result import Result
from flipwise.engine.trace import Trace
from tests.reference import random_symmetric

A = random_symmetric(np.random.default_rng(3), 12)
RING = (6, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]])
RESULTS: dict[str, Any] = {
    "minimize": lambda: flipwise.minimize(A, count=(2, 4), fixed={0: 1}, method="dpcd", bound="simple", seed=0),
    "solve_qubo": lambda: flipwise.solve_qubo(A, pool=3, effort=0.1, seed=0),
    "polynomial": lambda: flipwise.minimize({(0, 1, 2): 1.0}, seed=0),
    "function": lambda: flipwise.minimize(lambda x: (float(x @ A @ x), 2 * A @ x), 12, method="dpcd", seed=0),
    "maxcut": lambda: flipwise.maxcut(RING, fixed={0: 1}, seed=0),
    "bisect": lambda: flipwise.bisect(RING, effort=0.1, seed=0),
    "partition": lambda: flipwise.partition(RING, 3, effort=0.1, seed=0),
    "densest": lambda: flipwise.densest_subgraph(RING, 3, seed=0),
    "any size": lambda: flipwise.densest_subgraph(RING),
    "conditions": lambda: flipwise.densest_subgraph(RING, at_least=3, include=[2], seed=0),
    "several": lambda: flipwise.densest_subgraph(RING, 2, several=2, seed=0),
    "profile": lambda: flipwise.densest_subgraph(RING, [2, 3], seed=0),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_explains_itself(name: str) -> None:
    """Five entries, within 80 columns; what is proven and how far agrees with the result."""
    result = RESULTS[name]()
    said = flipwise.explain(result)
    assert [line for line, _ in said.lines] == ["Solved", "Answer", "Ended", "Proven", "Next"]
    assert max(map(len, said.splitlines())) <= 80 and repr(said) == str(said)
    lines = dict(said.lines)
    if isinstance(result, Result):
        assert result.optimal == lines["Proven"].startswith("optimal:")
        assert result.optimal == lines["Next"].startswith("Nothing")
        assert (result.bound is None) == lines["Proven"].startswith("nothing")
        assert f"{result.value:.10g}" in lines["Answer"]
    assert "<table>" in said._repr_html_() and "<table>" in result._repr_html_()


def test_what_was_solved_is_in_the_users_words() -> None:
    assert "12 -1/+1 variables" in flipwise.explain(RESULTS["minimize"]())
    assert "2 to 4 at 1, 1 fixed" in flipwise.explain(RESULTS["minimize"]())
    assert "Max-Cut" in flipwise.explain(RESULTS["maxcut"]()) and "1 fixed" in flipwise.explain(RESULTS["maxcut"]())
    assert "3 parts of 6 nodes" in flipwise.explain(RESULTS["partition"]())


@pytest.mark.parametrize("status", flipwise.Status)
@pytest.mark.parametrize("bound", [None, -2.0, -1.0])
def test_every_status_has_a_next_step(status: flipwise.Status, bound: float | None) -> None:
    """Also of a result without a trace, as other programs make them."""
    said = dict(flipwise.explain(Result(np.ones(3, dtype=np.int8), -1.0, status, bound=bound, seconds=1.0)).lines)
    assert said["Ended"] == status.value and said["Next"].endswith(".")
    assert said["Next"].startswith("Nothing") == (bound == -1.0)


def test_codes_are_explained_and_other_things_refused() -> None:
    class Fitted:
        n_bits = 8
        result_ = Result(np.ones((5, 8), dtype=np.int8), 0.25, flipwise.Status.CONVERGED)

    assert "codes of 8 bits for 5 rows, by Fitted" in flipwise.explain(Fitted())
    with pytest.raises(flipwise.InvalidInput, match="`result` must be what a function"):
        flipwise.explain(3)


def test_models_and_graphs_are_tables_in_notebooks() -> None:
    """With every text escaped: a name in a file must not become markup."""
    graph = flipwise.Graph(np.array([0, 1, 2]), np.array([1, 0]), np.array([2.5, 2.5]), names=["<b>", "y"])
    model = flipwise.QuadraticModel.from_qubo({("<b>", "y"): 1.0, ("y",): -1.0})
    for shown in (graph, model):
        assert "&lt;b&gt;" in shown._repr_html_() and "<b>" not in shown._repr_html_()
    problem = flipwise.Problem(flipwise.Quadratic(A), flipwise.Cardinality(3))
    assert "exactly 3 at 1" in problem._repr_html_() and "12 spin variables" in repr(problem)
    assert "144" in flipwise.Quadratic(A)._repr_html_()
    assert "1 of degree 1, 1 of degree 3" in flipwise.Polynomial({(0, 1, 2): 1.0, (1,): 2.0})._repr_html_()
    assert "Dense levels" in flipwise.dense_decomposition(RING)._repr_html_()


def test_the_plot_is_in_the_unit_of_the_value_and_ends_with_the_bound(tmp_path: Any) -> None:
    """Of a cut the weight, not what was minimised; the bound that was proven after the search is drawn, too."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    W = np.triu(A, 1)
    cut = flipwise.maxcut(W + W.T, bound="spectral", effort=0.1, seed=0)
    assert cut.trace.bounds
    cut.save(tmp_path / "cut.npz")
    for result in (cut, flipwise.CutResult.load(tmp_path / "cut.npz")):
        _value, best, bound = result.plot().lines
        assert best.get_ydata()[-1] == result.value and bound.get_ydata()[-1] == result.bound
        assert best.get_xdata()[-1] == bound.get_xdata()[-1] == result.seconds
    pyplot.close("all")


def test_a_trace_keeps_a_limited_number_of_bounds() -> None:
    trace = Trace(limit=10)
    for k in range(100):
        trace.add_bound(float(k), float(k))
    assert len(trace.bounds) <= 10 and trace.bounds[-1] == (99.0, 99.0)
