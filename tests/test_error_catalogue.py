"""Wrong input to every public function: an error of our own, before any work, whose message helps.

Each entry is (what is called wrongly, what the message must contain): the argument, and the value or the rule. The
command line has its own catalogue in `tests/cli/test_exits.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.foundation.errors import FlipwiseError

A = np.array([[0.0, 1.0], [1.0, 0.0]])
TRIANGLE = (3, [[0, 1], [1, 2], [2, 0]])
NAN = np.array([[0.0, np.nan], [np.nan, 0.0]])


def smooth(value: Any, gradient: Any) -> Callable[[Any], Any]:
    """A user's function that returns what it should not."""
    return lambda x: (value, gradient)


CATALOGUE: list[tuple[Callable[[], object], list[str]]] = [
    # minimize
    (lambda: flipwise.minimize(A, method="dcpd"), ["`method`", "'dcpd'", "dpcd"]),
    (lambda: flipwise.minimize(A, method="sgm", constraint=flipwise.Cardinality(1)), ["sgm", "Cardinality"]),
    (lambda: flipwise.minimize(A, alhpa=1.0), ["`alhpa`", "`alpha`"]),
    (lambda: flipwise.minimize(A, alpha=-1.0), ["alpha", "-1"]),
    (lambda: flipwise.minimize(A, seed=-1), ["seed", "-1"]),
    (lambda: flipwise.minimize(A, seed="a"), ["seed", "'a'"]),  # type: ignore[arg-type]
    (lambda: flipwise.minimize(A, time_limit=-1.0), ["`time_limit`", "-1"]),
    (lambda: flipwise.minimize(A, time_limit=float("nan")), ["`time_limit`", "nan"]),
    (lambda: flipwise.minimize(A, threads=0), ["`threads`", "0"]),
    (lambda: flipwise.minimize(A, max_iterations=0), ["`max_iterations`", "0"]),
    (lambda: flipwise.minimize(A, patience=1.5), ["`patience`", "1.5"]),
    (lambda: flipwise.minimize(A, target="low"), ["`target`", "low"]),
    (lambda: flipwise.minimize(A, restarts=0), ["`restarts`", "0"]),
    (lambda: flipwise.minimize(A, callback=3), ["`callback`", "int"]),  # type: ignore[arg-type]
    (lambda: flipwise.minimize(A, start=[1, 2]), ["`start`"]),
    (lambda: flipwise.minimize(A, start=[1, 1, 1]), ["`start`", "3"]),
    (lambda: flipwise.minimize(A, start=[1, 1], constraint=flipwise.Cardinality(1)), ["`start`", "1"]),
    (lambda: flipwise.minimize(A, constraint=flipwise.Cardinality(3)), ["2", "3"]),
    (lambda: flipwise.minimize(np.ones((2, 3))), ["(2, 3)"]),
    (lambda: flipwise.minimize(NAN), ["NaN"]),
    (lambda: flipwise.minimize(lambda x: (0.0, x)), ["n_or_shape"]),
    (lambda: flipwise.minimize(object()), ["objective", "object"]),
    # objectives
    (lambda: flipwise.Quadratic(np.ones((2, 3))), ["(2, 3)"]),
    (lambda: flipwise.Quadratic(A, np.ones(3)), ["`c`", "3"]),
    (lambda: flipwise.Quadratic(A, variables="bits"), ["`variables`", "bits"]),  # type: ignore[arg-type]
    (lambda: flipwise.LowRank(np.full((2, 2), np.nan)), ["NaN"]),
    (lambda: flipwise.Smooth(3, 2), ["`function`", "int"]),  # type: ignore[arg-type]
    (lambda: flipwise.Smooth(np.sum, 0), ["`shape`", "0"]),
    (lambda: flipwise.Smooth(np.sum, 2, lipschitz=-1.0), ["`lipschitz`", "-1"]),
    (lambda: flipwise.minimize(smooth(np.nan, np.zeros(2)), 2), ["nan", "finite"]),
    (lambda: flipwise.minimize(smooth(0.0, np.zeros(3)), 2), ["(2,)", "(3,)"]),
    (lambda: flipwise.minimize(lambda x: 1.0, 2), ["(value, gradient)", "float"]),
    (lambda: flipwise.check_objective(3), ["`objective`"]),  # type: ignore[arg-type]
    # constraints
    (lambda: flipwise.Cardinality(-1), ["`count`", "-1"]),
    (lambda: flipwise.Cardinality(1.5), ["`count`", "1.5"]),  # type: ignore[arg-type]
    (lambda: flipwise.ColumnCounts(-2), ["`ones`", "-2"]),
    (lambda: flipwise.GroupCounts([0, -2], [1]), ["`groups`"]),
    (lambda: flipwise.at_most(-1), ["`at_most`", "-1"]),
    (lambda: flipwise.at_least(1.5), ["`at_least`", "1.5"]),  # type: ignore[arg-type]
    (lambda: flipwise.Cardinality(at_least=3, at_most=2), ["`at_least`", "3", "2"]),
    (lambda: flipwise.Cardinality(3, at_most=4), ["`count`", "`at_most`"]),
    (lambda: flipwise.minimize(A, count="1"), ["`count`", "'1'"]),  # type: ignore[arg-type]
    (lambda: flipwise.minimize(A, count=(1, 2, 3)), ["`count`", "(1, 2, 3)"]),  # type: ignore[arg-type]
    (lambda: flipwise.minimize(A, fixed={2: 1}), ["`fixed`", "2"]),
    (lambda: flipwise.minimize(A, fixed={0: 0}), ["`fixed`", "-1 and 1", "0"]),
    (lambda: flipwise.minimize(A, fixed=[1, 1]), ["`fixed`", "dictionary"]),  # type: ignore[arg-type]
    (lambda: flipwise.minimize(A, fixed={0: 1, 1: 1}, count=1), ["`fixed`", "exactly 1"]),
    (lambda: flipwise.minimize(A, fixed={0: 1}, start=[-1, 1]), ["`start`", "`fixed`"]),
    (lambda: flipwise.solve_qubo({("a", "b"): 1.0}, fixed={"c": 1}), ["`fixed`", "'c'"]),
    (lambda: flipwise.GroupCounts([0, 1], [1]), ["`ones`", "group 1"]),
    (lambda: flipwise.minimize(A, constraint=flipwise.ColumnCounts(1)), ["ColumnCounts", "(2,)"]),
    # graphs
    (lambda: flipwise.read_graph("nowhere.txt"), ["`path`", "nowhere.txt"]),
    (lambda: flipwise.read_graph("nowhere.txt", format="dot"), ["`format`", "dot"]),  # type: ignore[arg-type]
    (lambda: flipwise.read_graph("x", symmetrise="min"), ["`symmetrise`", "min"]),  # type: ignore[arg-type]
    (lambda: flipwise.write_graph(TRIANGLE, "no/folder/g.txt"), ["`path`", "no/folder"]),
    (lambda: flipwise.densest_subgraph(TRIANGLE, 0), ["`k`", "3", "0"]),
    (lambda: flipwise.densest_subgraph(TRIANGLE, method="peeling"), ["`method`", "'peeling'"]),
    (lambda: flipwise.densest_subgraph((3, [[0, 1, -2.0]])), ["`k`", "-2"]),
    (lambda: flipwise.dense_decomposition((3, [[0, 1, -2.0]])), ["`graph`", "-2"]),
    (lambda: flipwise.dense_decomposition((0, [])), ["`graph`", "no nodes"]),
    (lambda: flipwise.densest_subgraph(TRIANGLE, 4), ["`k`", "3", "4"]),
    (lambda: flipwise.densest_subgraph(TRIANGLE, [1, 9]), ["`k`", "9"]),
    (lambda: flipwise.densest_subgraph(TRIANGLE, 2, effort=-1), ["`effort`", "-1"]),
    (lambda: flipwise.densest_subgraph(TRIANGLE, 2, start=[7]), ["`start`"]),
    (lambda: flipwise.densest_subgraph(TRIANGLE, 2, speed=1), ["`speed`"]),
    (lambda: flipwise.densest_subgraph(3, 2), ["`graph`", "int"]),
    (lambda: flipwise.densest_subgraph((2, [[0, 5]]), 1), ["5"]),
    (lambda: flipwise.densest_subgraph(np.ones((2, 3)), 1), ["square", "(2, 3)"]),
    (lambda: flipwise.densest_subgraph(sp.csr_array(NAN), 1), ["nan"]),
    (lambda: flipwise.maxcut(TRIANGLE, bound="tight"), ["bound", "tight"]),  # type: ignore[arg-type]
    (lambda: flipwise.bisect((1, np.zeros((0, 2), dtype=int))), ["`graph`", "1"]),
    (lambda: flipwise.partition(TRIANGLE, [1, 1]), ["`sizes`", "3", "2"]),
    (lambda: flipwise.partition(TRIANGLE, 4), ["`sizes`", "3", "4"]),
    (lambda: flipwise.densest_block(np.ones((2, 3)), rows=1), ["`rows`", "`columns`"]),
    (lambda: flipwise.densest_block(np.ones((2, 3)), rows=1, columns=4), ["`columns`", "3", "4"]),
    (lambda: flipwise.densest_directed_subgraph(np.ones((2, 3))), ["(2, 3)"]),
    # models
    (lambda: flipwise.solve_qubo(np.ones((2, 3))), ["(2, 3)"]),
    (lambda: flipwise.solve_qubo(A, count=5), ["2", "5"]),
    (lambda: flipwise.solve_qubo(A, count=1, constraint=flipwise.Free()), ["`count`", "`constraint`"]),
    (lambda: flipwise.solve_ising([0.0, 0.0]), ["`J`"]),
    (lambda: flipwise.solve_qubo("model.unknown"), ["model.unknown", "format"]),
    (lambda: flipwise.read_model("nowhere.qubo"), ["nowhere.qubo"]),
    (lambda: flipwise.read_constrained("nowhere.lp"), ["nowhere.lp"]),
    (lambda: flipwise.explain(3), ["result", "int"]),
    (lambda: flipwise.QuadraticModel.from_qubo({(0, 1): np.inf}), ["inf"]),
    (lambda: flipwise.verify(TRIANGLE, {"bound": 2.0}), ["certificate", "dict"]),  # type: ignore[arg-type]
    # the rest
    (lambda: flipwise.tune_alpha([]), ["`objective`", "list"]),
    (lambda: flipwise.Result.load(__file__), ["not a flipwise result"]),
]


@pytest.mark.parametrize(
    ("wrong", "said"), CATALOGUE, ids=[f"{i}-{'-'.join(said)}" for i, (_, said) in enumerate(CATALOGUE)]
)
def test_the_error_helps(
    wrong: Callable[[], object], said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception of the library (or the system's own for files) with the argument, the rule and the value."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises((FlipwiseError, FileNotFoundError)) as caught:
        wrong()
    message = str(caught.value)
    for part in said:
        assert part.lower() in message.lower(), message


def test_every_public_function_is_in_the_catalogue() -> None:
    """A new public function needs an entry here."""
    named = Path(__file__).read_text(encoding="utf-8")
    functions = [name for name in dir(flipwise) if name[0].islower() and callable(getattr(flipwise, name))]
    exempt = {
        "methods",
        "warm_up",
        "from_torch",
        "from_jax",
        "write_model",
        "as_graph",
    }  # no input, or see tests/interop
    missing = [name for name in functions if f"flipwise.{name}(" not in named and name not in exempt]
    assert not missing
