"""LP and MPS files: the binary part with its rows, the sense, quadratic objectives; all else is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

import flipwise

pytest.importorskip("highspy")
LP = """\\ a comment
maximize
 obj: 3 x + 2 y - z + 7 + [ 2 x * y + 4 x ^ 2 ] / 2
subject to
 few: x + y + z <= 2
 floor: x - z >= -1
bounds
 w <= 1
 w >= 1
binary
 x
 y
 z
general
 w
end
"""
MPS = """NAME test
ROWS
 N obj
 L c1
COLUMNS
 M1 'MARKER' 'INTORG'
 x obj -1 c1 2
 y obj -2 c1 3
 M2 'MARKER' 'INTEND'
RHS
 rhs c1 3
BOUNDS
 BV bnd x
 BV bnd y
QUADOBJ
 x y 2
ENDATA
"""


def test_an_lp_file_is_its_objective_and_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "model.lp"
    path.write_text(LP)
    program = flipwise.read_constrained(path)
    assert program.maximised and program.model.labels == ("x", "y", "z", "w")
    assert program.model.energy([1, 1, 0, 1]) == -(3 + 2 + 7 + 1 + 2)
    assert program.rows is not None and program.rows.names == ("few", "floor", "bounds of w")
    result = flipwise.solve_qubo(path, seed=0)
    assert result.value == -15 and result.x.tolist() == [1, 1, 0, 1] and result.optimal
    with pytest.raises(flipwise.InvalidInput, match="read_constrained"):
        flipwise.read_model(path)


def test_an_mps_file_has_a_quadratic_objective(tmp_path: Path) -> None:
    path = tmp_path / "model.mps"
    path.write_text(MPS)
    program = flipwise.read_constrained(path)
    assert [program.model.energy(x) for x in ([1, 0], [0, 1], [1, 1])] == [-1, -2, -1]
    assert flipwise.solve_qubo(program, seed=0).x.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("binary\n x\n", "binary\n", "'x' is not binary"),
        (" w <= 1", " w <= 5", "'w' is not binary"),
        (" few: x", " few: [ x * y ] + x", "does not read"),
        ("general\n w", "sos1\n s: x:1 y:2\ngeneral\n w", "'sos1' is no part"),
        ("maximize", "improve", "begins with one of"),
    ],
)
def test_what_is_more_than_that_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "model.lp"
    path.write_text(LP.replace(old, new))
    with pytest.raises(flipwise.InvalidFile, match=message):
        flipwise.read_constrained(path)


def test_a_pyomo_model_comes_in_through_a_file(tmp_path: Path) -> None:
    """With a constant and a product in the objective, which Pyomo writes in ways of its own."""
    pyo = pytest.importorskip("pyomo.environ")
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(4), domain=pyo.Binary)
    x = model.x
    model.goal = pyo.Objective(expr=5 * x[0] + 6 * x[1] + 3 * x[2] + 4 * x[0] * x[3] + 1, sense=pyo.maximize)
    model.weight = pyo.Constraint(expr=3 * x[0] + 4 * x[1] + 2 * x[2] + x[3] <= 6)
    model.write(str(tmp_path / "model.lp"), io_options={"symbolic_solver_labels": True})
    result = flipwise.solve_qubo(tmp_path / "model.lp", seed=0)
    assert result.value == -13
    chosen = {label for label, bit in zip(result.info["labels"], result.x, strict=True) if bit}
    assert chosen == {"ONE_VAR_CONSTANT", "x(0)", "x(2)", "x(3)"}
