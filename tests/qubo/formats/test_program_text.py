"""Texts of LP and MPS files: what HiGHS would read as something else, without a word, is refused."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import flipwise

highspy = pytest.importorskip("highspy")
LP = """max
 v: 5 a + 6 b + 3 c - 2 d + 1.5e0 + [ 4 a * b + 3 a ^ 2 ] / 2
st
 w: 3 a + 4 b
  + 2 c <= 6
 e: a + d = 1
 r: b - c + a >= -1
bounds
 0 <= a <= 1
 b = 1
bin
 a
 b c
 d
end
"""
MPS = """NAME          T
* a comment
OBJSENSE
    MAX
ROWS
 N  obj
 L  c1
 G  c2
 E  c3
COLUMNS

    MARKER    'MARKER'   'INTORG'
    x         obj    1   c1   2
    x         c2     1
    y         obj    -3.5  c1  1
    z         c3     1   c2    4
    MARKER    'MARKER'   'INTEND'
RHS
    RHS       c1   2   c2   1
    c3   1  obj 4
RANGES
    R   c1  1
BOUNDS
 UP BND  x  1
 BV BND  y
 BV z
ENDATA
"""


def _read(tmp_path: Path, text: str, format: str) -> flipwise.ConstrainedModel:
    path = tmp_path / f"model.{format}"
    path.write_text(text)
    return flipwise.read_constrained(path)


def test_what_highs_writes_is_read(tmp_path: Path) -> None:
    """The same program from either of its formats; its LP files have an empty section."""
    first = _read(tmp_path, LP, "lp")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(tmp_path / "model.lp"))
    for name in ("again.lp", "again.mps"):
        solver.writeModel(str(tmp_path / name))
        again = flipwise.read_constrained(tmp_path / name)
        assert again.rows is not None and first.rows is not None and again.maximised and again.rows.m == first.rows.m
        order = [again.model.labels.index(label) for label in first.model.labels or ()] if again.model.labels else []
        for point in product((0, 1), repeat=4):
            other = [point[order.index(i)] for i in range(4)]
            assert again.model.energy(other) == pytest.approx(first.model.energy(point))


def test_blank_lines_comments_and_continued_rows(tmp_path: Path) -> None:
    """What writers of such files do is read."""
    program = _read(tmp_path, LP, "lp")
    assert program.rows is not None and program.rows.m == 4  # and b = 1
    assert program.model.energy([1, 1, 0, 0]) == -(5 + 6 + 1.5 + 2 + 1.5)
    program = _read(tmp_path, MPS, "mps")
    assert program.model.labels == ("x", "y", "z") and program.rows is not None
    assert program.rows.lower.tolist()[:1] == [1.0] and program.rows.upper.tolist()[:1] == [2.0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max\n", ""),
        ("max\n v:", "v:"),
        ("st\n", "st\nst\n"),
        ("end\n", ""),
        ("end\n", "semi\n a\nend\n"),
        ("- 2 d +", "- 2 d + +"),
        ("3 a + 4 b\n", "3 a 4 b\n"),
        ("3 a + 4 b\n", "3 >= 4 b\n"),
        ("+ 2 c <= 6", "+ 2 c <= 6 -"),
        ("+ 2 c <= 6", "+ 2 c <= 6 7"),
        ("+ 2 c <= 6", "+ 2 2 c <= 6"),
        ("+ 2 c <= 6", "+ 2 c <= 1e400"),
        ("a + d = 1", "a + d -> 1"),
        ("4 a * b", "4 a b"),
        ("] / 2", "] / 3 c"),
        (" b = 1", " b ="),
        (" b c", " b : c"),
    ],
)
def test_an_lp_file_is_one_or_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str], old: str, new: str) -> None:
    """Nothing is passed over, and nothing is said on the terminal."""
    assert old in LP
    with pytest.raises(flipwise.InvalidFile):
        _read(tmp_path, LP.replace(old, new, 1), "lp")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" L  c1\n", ""),
        (" L  c1", " L  c9"),
        ("-3.5  c1  1", "-3.5  c1N  1"),
        ("-3.5  c1  1", "-3.5  c1  one"),
        ("    x         c2     1\n", "    x         c2     1\n    x   c2  5\n"),
        ("RHS       c1   2", "RHS       c1   =="),
        ("    R   c1  1\n", "    R\n"),
        (" BV BND  y", " BV BND  yy"),
        (" BV BND  y", " XX BND  y"),
        ("RANGES", "RHS"),
        ("OBJSENSE\n", ""),
        ("    MAX\n", "    BEST\n"),
        ("ENDATA\n", ""),
        ("'INTEND'", "'INT'"),
        ("ROWS\n", "ROWS\n M  obj\n"),
    ],
)
def test_an_mps_file_is_one_or_is_refused(tmp_path: Path, old: str, new: str) -> None:
    """Names that are not declared, values given twice and words for numbers, too."""
    assert old in MPS
    with pytest.raises(flipwise.InvalidFile):
        _read(tmp_path, MPS.replace(old, new, 1), "mps")
