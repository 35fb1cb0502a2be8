"""QPLIB files: the example of the paper, a program written and read again, and lines that are shifted or left out."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import flipwise
from tests.qubo.programs import qplib_text

EXAMPLE = """! ---------------
EXAMPLE   # problem name
QBL       # the example of the paper with bits
Minimize  # minimize the objective function
3         # variables
2         # general linear constraints
5         # nonzeros in lower triangle of Q^0
1 1 2.0
2 1 -1.0
2 2 2.0
3 2 -1.0
3 3 2.0
-0.2      # default value for entries in b_0
1         # non default entries in b_0
2 -0.4
0.5       # value of q^0
4         # nonzeros in vectors b^i
1 1 1.0
1 2 1.0
2 1 1.0
2 3 1.0
1.0E+20   # infinity
1.0       # default value for entries in c_l
0
1.0E+20   # default value for entries in c_u
1
2 1.0
1.0
0
0.0
0
0.0
0
1
2 second  # names of variables
1
1 first   # names of constraints
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_example_of_the_paper(tmp_path: Path) -> None:
    """With bits in the place of its three kinds of variables: half of the diagonal, all of what is below it."""
    path = written(tmp_path / "example.qplib", EXAMPLE)
    program = flipwise.read_constrained(path)
    assert program.model.labels == ("1", "second", "3") and not program.maximised
    assert program.rows is not None and program.rows.names == ("first", "2")
    for x in product((0, 1), repeat=3):
        a, b, c = x
        value = a + b + c - a * b - b * c - 0.2 * a - 0.4 * b - 0.2 * c + 0.5
        assert program.model.energy(x) == pytest.approx(value)
    assert program.rows.lower.tolist() == [1.0, 1.0] and program.rows.upper.tolist() == [np.inf, 1.0]
    result = flipwise.solve_qubo(path, seed=0)
    assert result.x.tolist() == [1, 1, 0] and result.value == pytest.approx(0.9) and result.optimal


@pytest.mark.parametrize("seed", range(8))
def test_a_program_is_the_same_when_it_is_read_again(tmp_path: Path, seed: int) -> None:
    """With and without rows, names and a maximum."""
    rng = np.random.default_rng(seed)
    n = 5
    labels = tuple("abcde") if seed % 2 else None
    Q = np.triu(np.round(rng.normal(size=(n, n)), 2) * (rng.random((n, n)) < 0.7))
    i, j = np.triu_indices(n)
    model = flipwise.QuadraticModel.from_terms(n, i, j, Q[i, j], 1.5, "binary", labels)
    A = rng.integers(-2, 3, (2, n)).astype(float)
    rows = flipwise.LinearConstraints(A, [-np.inf, -1.0], [2.0, np.inf], variables="binary", names=["r", "s"])
    given = flipwise.ConstrainedModel(model, rows if seed % 4 < 2 else None, maximised=seed % 3 == 0)
    again = flipwise.read_constrained(written(tmp_path / "x.txt", qplib_text(given)), format="qplib")
    assert qplib_text(again) == qplib_text(given)
    assert again.maximised == given.maximised and again.model.labels == labels
    for x in product((0, 1), repeat=n):
        assert again.model.energy(x) == given.model.energy(x)


def test_a_line_more_or_less_is_noticed(tmp_path: Path) -> None:
    """Nothing is shifted: whichever line is left out or there twice, the file is refused, or says the same."""
    path = tmp_path / "x.qplib"
    lines = [line for line in EXAMPLE.splitlines() if not line.startswith("!")]
    for at in range(len(lines)):
        for text in ([*lines[:at], *lines[at + 1 :]], [*lines[: at + 1], *lines[at:]]):
            with pytest.raises(flipwise.InvalidFile, match=r"x\.qplib"):
                flipwise.read_constrained(written(path, "\n".join(text)))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("QBL ", "QML ", "not binary"),
        ("QBL ", "QBQ ", "quadratic constraints"),
        ("QBL ", "XBL ", "no type"),
        ("Minimize", "Smallest", "minimize or maximize"),
        ("2 1 -1.0", "1 2 -1.0", "lower triangle"),
        ("2 1 -1.0", "2 2 -1.0", "twice"),
        ("2 1 -1.0", "4 1 -1.0", "from 1 to 3"),
        ("2 1 -1.0", "2 1 nan", "no number"),
        ("2 1 -1.0", "2 1 -1.0 5", "expected one of entries of Q"),
        ("3         # variables", "3000000000 # variables", "a file of this size"),
        ("3         # variables", "0 # variables", "a file of this size"),
        ("5         # nonzeros", "500 # nonzeros", "promised"),
        ("2 second", "2 3", "same name"),
        ("1.0E+20   # infinity", "infinity", "a number"),
        ("1.0       # default value for entries in c_l", "9 # c_l", "above"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in EXAMPLE
    with pytest.raises(flipwise.InvalidFile, match=words):
        flipwise.read_constrained(written(tmp_path / "x.qplib", EXAMPLE.replace(old, new, 1)))


def test_a_format_that_is_none_is_refused(tmp_path: Path) -> None:
    for name, format in (("x.txt", None), ("x.lp", "cplex")):
        with pytest.raises(flipwise.InvalidInput, match="`format`"):
            flipwise.read_constrained(written(tmp_path / name, EXAMPLE), format=format)
