"""Files of integer programs: their binary part, a linear or quadratic objective and linear rows.

LP and MPS files are read by HiGHS (extra `exact`), QPLIB files by `qplib`.

Whatever else a file contains (real or general integer variables, quadratic constraints) is refused by name.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise.foundation.errors import InvalidFile, InvalidInput, MissingDependency
from flipwise.graphs.streams import plain_suffix
from flipwise.model.rows import LinearConstraints
from flipwise.qubo.formats.program_text import check_lp, check_mps
from flipwise.qubo.formats.qplib import read_qplib
from flipwise.qubo.formats.text import read_text
from flipwise.qubo.models import QuadraticModel

ENDINGS = (".lp", ".mps", ".qplib")
OTHERS = (
    *("sos1", "sos2", "pwlobj", "lazy", "user", "indicators", "genconstr"),
    *("qcmatrix", "qsection", "csection", "indic", "genconstrs", "multi-objectives", "scenario"),
)
"""Sections of either format that mean more than that, should HiGHS pass over them."""


@dataclass(frozen=True, eq=False)
class ConstrainedModel:
    """A quadratic model with linear rows, as files of integer programs hold them; `flipwise.solve_qubo` takes it.

    Attributes
    ----------
    model
        The objective, to be minimised: that of a file that maximises is negated.
    rows
        The constraints; None where there is none.
    maximised
        Whether the file maximises.

    Examples
    --------
    >>> import flipwise, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pack.lp"
    >>> _ = path.write_text("max\\n v: 5 a + 6 b + 3 c\\nst\\n w: 3 a + 4 b + 2 c <= 6\\nbin\\n a\\n b\\n c\\nend\\n")
    >>> flipwise.read_constrained(path)
    ConstrainedModel(3 binary variables, 0 couplings, 1 rows)
    >>> flipwise.solve_qubo(path, seed=0).value
    -9.0
    """

    model: QuadraticModel
    rows: LinearConstraints | None
    maximised: bool = False

    def __repr__(self) -> str:
        rows = 0 if self.rows is None else self.rows.m
        return f"ConstrainedModel({self.model.n:,} binary variables, {self.model.b.size:,} couplings, {rows:,} rows)"


def is_program(path: Any) -> bool:
    """Whether a file is an integer program by its name."""
    return plain_suffix(Path(path)) in ENDINGS


def read_constrained(path: str | os.PathLike[str], *, format: str | None = None) -> ConstrainedModel:
    """Read an LP, MPS or QPLIB file, plain or compressed; `format` is "lp", "mps" or "qplib" where its name does not
    say so.

    Examples
    --------
    >>> import flipwise, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pair.lp"
    >>> _ = path.write_text("min\\n v: - a - b + [ 4 a * b ] / 2\\nst\\n c: a + b >= 1\\nbin\\n a\\n b\\nend\\n")
    >>> flipwise.read_constrained(path).model.energy([1, 1])
    0.0
    """
    where = Path(path)
    suffix = plain_suffix(where) if format is None else f".{format}"
    if suffix not in ENDINGS:
        raise InvalidInput(f'`format` must be "lp", "mps" or "qplib" for {where.name}, got {format!r}.')
    if suffix == ".qplib":
        return ConstrainedModel(*_read_qplib(where))
    try:
        import highspy
    except ImportError:
        raise MissingDependency("highspy", "exact", "reading LP and MPS files") from None
    text = read_text(where)
    words = {line.split()[0].lower().rstrip(":") for line in text.splitlines() if line.split()}
    if not words.isdisjoint(OTHERS):
        raise InvalidFile(
            f"{where}: {min(words & set(OTHERS))!r} is no part of a program of binary variables with rows."
        )
    if suffix == ".lp":
        check_lp(where, text)
    declared = check_mps(where, text) if suffix == ".mps" else set()
    reader = highspy.Highs()
    reader.setOptionValue("log_to_console", False)
    with TemporaryDirectory() as folder:  # HiGHS tells formats apart by name, and does not read all compressions
        copied, log = Path(folder, f"program{suffix}"), Path(folder, "log")
        copied.write_text(text, encoding="ascii")
        reader.setOptionValue("log_file", str(log))
        status = reader.readModel(str(copied))
        reader.setOptionValue("log_file", "")  # which closes it
        said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    # what it passes over (a row that is not there, a second value) is a warning in its log and no other status
    doubts = [line.partition(": ")[2] for line in said.splitlines() if line.startswith("WARNING")]
    if status != highspy.HighsStatus.kOk or doubts:
        why = f" ({doubts[0]})" if doubts else ""
        raise InvalidFile(f"{where}: HiGHS does not read it without doubts, as {suffix[1:]} with linear rows{why}.")
    undeclared = [name for name in reader.getModel().lp_.col_names_ if name not in declared]
    if suffix == ".mps" and undeclared:
        raise InvalidFile(f"{where}: the variable {undeclared[0]!r} has bounds but is not in COLUMNS.")
    return _as_model(where, reader.getModel(), highspy)


def _read_qplib(where: Path) -> tuple[QuadraticModel, LinearConstraints | None, bool]:
    try:
        return read_qplib(where)
    except InvalidInput as error:  # of the model or the rows that the file describes
        raise InvalidFile(f"{where}: {error}") from None


def _as_model(where: Path, program: Any, highspy: Any) -> ConstrainedModel:
    """The program in binary variables; what is not of that kind is refused by name."""
    linear, hessian = program.lp_, program.hessian_
    n, m = linear.num_col_, linear.num_row_
    names = _checked_names(where, "variables", list(linear.col_names_), n)
    lower, upper = np.array(linear.col_lower_, dtype=float), np.array(linear.col_upper_, dtype=float)
    kinds = list(linear.integrality_) or [highspy.HighsVarType.kContinuous] * n
    for name, kind, low, high in zip(names, kinds, lower, upper, strict=True):
        decided = low == high  # of any kind: Pyomo writes a constant as a variable that is 1
        is_binary = low in (0.0, 1.0) and high in (0.0, 1.0) and (decided or kind == highspy.HighsVarType.kInteger)
        if not is_binary:
            raise InvalidFile(
                f"{where}: the variable {name!r} is not binary ({kind.name[1:]}, {low:g} to {high:g}); only programs "
                "of binary variables can be searched."
            )
    if n == 0:
        raise InvalidFile(f"{where}: it has no variables.")
    sign = -1.0 if linear.sense_ == highspy.ObjSense.kMaximize else 1.0
    starts = np.array(hessian.start_, dtype=np.int64)
    rows = np.array(hessian.index_, dtype=np.int64)
    columns = np.repeat(np.arange(starts.size - 1), np.diff(starts)) if rows.size else rows
    half = np.array(hessian.value_, dtype=float) * np.where(rows == columns, 0.5, 1.0)
    every = np.arange(n)
    model = QuadraticModel.from_terms(
        n,
        np.concatenate([every, rows]),
        np.concatenate([every, columns]),
        sign * np.concatenate([np.array(linear.col_cost_, dtype=float), half]),
        sign * linear.offset_,
        "binary",
        names,
    )
    matrix = linear.a_matrix_
    arrays = (np.array(matrix.value_, float), np.array(matrix.index_, np.int64), np.array(matrix.start_, np.int64))
    by_column = matrix.format_ == highspy.MatrixFormat.kColwise
    A: Any = sp.csc_array(arrays, shape=(m, n)) if by_column else sp.csr_array(arrays, shape=(m, n))
    ends = np.array(linear.row_lower_, dtype=float), np.array(linear.row_upper_, dtype=float)
    row_names = _checked_names(where, "rows", list(linear.row_names_), m)
    decided = np.flatnonzero(lower == upper)
    if decided.size:
        A = sp.vstack([A, sp.csr_array((np.ones(decided.size), (np.arange(decided.size), decided)), (decided.size, n))])
        ends = np.append(ends[0], lower[decided]), np.append(ends[1], lower[decided])
        row_names = (*row_names, *(f"bounds of {names[i]}" for i in decided))
    if not row_names:
        return ConstrainedModel(model, None, sign < 0)
    made = LinearConstraints(sp.csr_array(A), *ends, variables="binary", names=row_names)
    return ConstrainedModel(model, made, sign < 0)


def _checked_names(where: Path, what: str, given: list[str], count: int) -> tuple[str, ...]:
    """The given names, or numbers where they are missing; no two are the same."""
    names = tuple(given) if len(given) == count else tuple(str(number) for number in range(count))
    if len(set(names)) < count:
        raise InvalidFile(f"{where}: two {what} have the same name.")
    return names
