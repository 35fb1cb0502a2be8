"""The text formats that list coefficients line by line: rudy, OR-Library, Biq Mac, .qubo, COO and MatrixMarket.

rudy          `n m`, then `i j w` for each edge of a weighted graph, 1-based: Max-Cut (also Gset). The model is in spins
              and its energy is minus the weight of the cut: sum_{i<j} w_ij (s_i s_j - 1) / 2.
bqp           OR-Library (Beasley): the number of problems, then for each `n m` and `i j q` with i <= j, 1-based. They
              maximise x'Qx with Q symmetric; the model is -x'Qx, its minimum minus the published optimum.
biqmac        Biq Mac library, quadratic 0-1 problems: `n m`, then `i j q` as above, but minimise x'Qx. In both an entry
              off the diagonal stands for q_ij and q_ji: its coupling is 2q.
qubo          qbsolv: `p qubo 0 maxnode nodes couplers`, then `i i a` for each node and `i j b` (i < j), 0-based;
              minimise. Lines that begin with c are comments.
coo           dimod: `# vartype=SPIN` or `BINARY`, then `i i a` for linear and `i j b` for quadratic terms, 0-based.
matrixmarket  The matrix of x'Qx in coordinates. Symmetric files count an entry off the diagonal twice, as x'Qx does.
qs            QOBLIB and ZIMPL: comments (#), one of which is `# ObjectiveOffset c`, then `n m` and `i j q` with i <= j,
              1-based; minimise c + x'Qx with Q symmetric, as in biqmac. ZIMPL once wrote couplings that were not
              halved, in files with `n m c` and no such comment: they are refused.

qubo, coo and matrixmarket have no offset; it is written in a comment, which other programs skip and these readers
take. So are the number of variables of COO and the kind of variables of MatrixMarket (0/1 where nothing is said).
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import Variables, check_variables, is_whole
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.layout import is_finite_number
from flipwise.graphs.formats.lines import number_text
from flipwise.qubo.formats.text import counts, index_pairs, need, read_lines, read_text, table, write_text
from flipwise.qubo.models import QuadraticModel

_QUBO_OFFSET = re.compile(r"c\s+offset\s*=\s*(\S+)")
_COO_NOTE = re.compile(r"#\s*(vartype|offset|variables)\s*=\s*(\S+)")
_QS_OFFSET = re.compile(r"#\s*ObjectiveOffset\s+(\S+)\s*$")
_QS_MAXIMUM = re.compile(r"#\s*maximize\b")
_MATRIX_NOTE = re.compile(r"%\s*(offset|variables)\s*=\s*(\S+)")


def read_rudy(path: Path) -> QuadraticModel:
    """Read a graph; lines of two numbers are edges of weight 1."""
    lines = read_lines(path)
    if not lines:
        raise InvalidFile(f"{path}: the file is empty.")
    n, m = counts(path, lines[0], 1, 2)
    if len(lines) - 1 != m:
        raise InvalidFile(f"{path}: the first line promises {m} edges, {len(lines) - 1} follow.")
    columns = len(lines[1].split()) if m else 3
    rows = table(path, lines[1:], 2, 3 if columns > 2 else 2)
    i, j = index_pairs(path, rows, 1, n, "a node")
    weights = rows[:, 2] if columns > 2 else np.ones(m)
    keep = i != j  # a loop is never cut
    offset = -math.fsum(weights[keep]) / 2.0
    return QuadraticModel.from_terms(n, i[keep], j[keep], weights[keep] / 2.0, offset, "spin")


def write_rudy(model: QuadraticModel, path: Path) -> None:
    """Write a graph; the model must be a cut's: no linear part, and the offset minus the sum of the couplings."""
    need(model, variables="spin", format="rudy")
    if model.linear.any() or model.offset != -math.fsum(model.b):
        raise InvalidInput(
            "the rudy format is for Max-Cut: the model must have no linear part and offset = -sum of its couplings."
        )
    write_text(path, [f"{model.n} {model.b.size}", *_coupling_lines(model, 1, 2.0)])


def read_bqp(path: Path, index: int = 0) -> QuadraticModel:
    """Read one problem of an OR-Library file."""
    lines = read_lines(path)
    if not lines:
        raise InvalidFile(f"{path}: the file is empty.")
    (count,) = counts(path, lines[0], 1, 1)
    if not is_whole(index) or not 0 <= index < count:
        raise InvalidInput(f"`index` must be an integer between 0 and {count - 1}, got {index!r}.")
    at, found = 1, 1
    for problem in range(count):  # of the others only the sizes are looked at: a file may hold many
        found = at if problem == index else found
        at = _end_of_problem(path, lines, at)[1]
    if at != len(lines):
        raise InvalidFile(f"{path}: {len(lines) - at} lines follow after the last of {count} problems.")
    return _read_symmetric(path, lines, found, -1.0)[0]


def write_bqp(model: QuadraticModel, path: Path) -> None:
    """Write a file with one problem."""
    write_text(path, ["1", *_symmetric_lines(model, -1.0, "OR-Library")])


def read_biqmac(path: Path) -> QuadraticModel:
    """Read a problem of the Biq Mac library."""
    lines = [line for line in read_lines(path) if not line.startswith("#")]
    model, used = _read_symmetric(path, lines, 0, 1.0)
    if used != len(lines):
        raise InvalidFile(f"{path}: {len(lines) - used} lines follow after the last entry.")
    return model


def write_biqmac(model: QuadraticModel, path: Path) -> None:
    """Write a problem as the Biq Mac library has them."""
    write_text(path, _symmetric_lines(model, 1.0, "Biq Mac"))


def read_qs(path: Path) -> QuadraticModel:
    """Read a problem of QOBLIB."""
    text = read_lines(path)
    comments = [line for line in text if line.startswith("#")]
    offsets = [found[1] for line in comments if (found := _QS_OFFSET.match(line))]
    if len(offsets) != 1 or not is_finite_number(offsets[0]):
        raise InvalidFile(
            f"{path}: one comment `# ObjectiveOffset c` is needed: without it the file may be of an older program, "
            "whose couplings mean half of what they mean now."
        )
    offset = float(offsets[0])
    if offset != 0.0 and any(_QS_MAXIMUM.match(line) for line in comments):
        raise InvalidFile(
            f"{path}: the offset {offsets[0]} of a maximum: ZIMPL negates the matrix and not the offset, so which "
            "energy is meant cannot be known. Set it to 0 in the file and add it yourself."
        )
    lines = [line for line in text if not line.startswith("#")]
    n, end = _end_of_problem(path, lines, 0)
    if end != len(lines):
        raise InvalidFile(f"{path}: {len(lines) - end} lines follow after the last entry.")
    rows = table(path, lines[1:], len(comments) + 2, 3)
    i, j = index_pairs(path, rows, 1, n, "a variable")
    if (i > j).any() or np.unique(i * n + j).size != i.size:
        raise InvalidFile(f"{path}: entries must have i <= j and stand once: the upper half of Q stands for all of it.")
    q = rows[:, 2] * np.where(i == j, 1.0, 2.0)
    return QuadraticModel.from_terms(n, i, j, q, offset, "binary")


def write_qs(model: QuadraticModel, path: Path) -> None:
    """Write a problem as QOBLIB has them."""
    lines = _symmetric_lines(replace(model, offset=0.0), 1.0, ".qs")
    write_text(path, [f"# ObjectiveOffset {model.offset!r}", "# Vars Non-zeros", *lines])


def _read_symmetric(path: Path, lines: list[str], start: int, sign: float) -> tuple[QuadraticModel, int]:
    """The model sign * x'Qx over 0/1 that begins at line `start`, and the line after its last."""
    n, end = _end_of_problem(path, lines, start)
    rows = table(path, lines[start + 1 : end], start + 2, 3)
    i, j = index_pairs(path, rows, 1, n, "a variable")
    q = sign * rows[:, 2] * np.where(i == j, 1.0, 2.0)
    return QuadraticModel.from_terms(n, i, j, q, 0.0, "binary"), end


def _end_of_problem(path: Path, lines: list[str], start: int) -> tuple[int, int]:
    """The number of variables of the problem that begins at line `start`, and the line after its last."""
    if start >= len(lines):
        raise InvalidFile(f"{path}: the file ends before a problem begins.")
    n, m = counts(path, lines[start], start + 1, 2)
    if start + 1 + m > len(lines):
        raise InvalidFile(f"{path}, line {start + 1}: {m} entries are promised, {len(lines) - start - 1} lines follow.")
    return n, start + 1 + m


def _symmetric_lines(model: QuadraticModel, sign: float, format: str) -> list[str]:
    """The lines of one problem whose matrix is `sign` times the model's; there is no place for an offset."""
    need(model, variables="binary", format=format)
    if model.offset != 0.0:
        raise InvalidInput(f"the {format} format has no offset, the model's is {model.offset}.")
    rows = [(k, k, v) for k, v in enumerate((sign * model.linear).tolist()) if v != 0.0]
    couplings = (sign * model.b / 2.0).tolist()
    rows += list(zip(model.i.tolist(), model.j.tolist(), couplings, strict=True))
    return [f"{model.n} {len(rows)}", *(f"{i + 1} {j + 1} {number_text(q)}" for i, j, q in sorted(rows))]


def read_qubo(path: Path) -> QuadraticModel:
    """Read a .qubo file."""
    offset = 0.0
    sizes: list[int] | None = None
    rows: list[str] = []
    for k, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        if line.startswith("c"):
            found = _QUBO_OFFSET.match(line)
            offset = float(found.group(1)) if found else offset
        elif line.startswith("p"):
            words = line.split()
            if len(words) != 6 or words[1] != "qubo" or words[2] not in ("0", "unconstrained"):
                raise InvalidFile(
                    f"{path}, line {k}: expected `p qubo 0 maxnode nodes couplers`, got {line.strip()!r}."
                )
            if sizes is not None:
                raise InvalidFile(f"{path}, line {k}: a second line `p qubo`.")
            sizes = counts(path, " ".join(words[3:]), k, 3)
        else:
            rows.append(line)
    if sizes is None:
        raise InvalidFile(f"{path}: the line `p qubo 0 maxnode nodes couplers` is missing.")
    n, nodes, couplers = sizes
    if len(rows) != nodes + couplers:
        raise InvalidFile(f"{path}: {nodes} nodes and {couplers} couplers are promised, {len(rows)} lines follow.")
    numbers = table(path, rows, 1, 3)
    i, j = index_pairs(path, numbers, 0, n, "a node")
    return QuadraticModel.from_terms(n, i, j, numbers[:, 2], offset, "binary")


def write_qubo(model: QuadraticModel, path: Path) -> None:
    """Write a .qubo file; an offset goes into a comment."""
    need(model, variables="binary", format=".qubo")
    nodes = np.flatnonzero(model.linear)
    lines = [] if model.offset == 0.0 else [f"c offset = {model.offset!r}"]
    lines.append(f"p qubo 0 {model.n} {nodes.size} {model.b.size}")
    write_text(path, [*lines, *_linear_lines(model, nodes, 0), *_coupling_lines(model, 0)])


def read_coo(path: Path) -> QuadraticModel:
    """Read a model; variables that no line names but that are below the largest one named have no terms."""
    lines = read_lines(path)
    notes = _notes_in_comments(lines, _COO_NOTE)
    if notes.get("vartype") not in ("SPIN", "BINARY"):
        raise InvalidFile(f"{path}: a line `# vartype=SPIN` or `# vartype=BINARY` is needed.")
    rows = table(path, [line for line in lines if not line.startswith("#")], 1, 3)
    (least,) = counts(path, notes.get("variables", "0"), 1, 1)
    n = max(least, int(rows[:, :2].max(initial=-1.0)) + 1)
    i, j = index_pairs(path, rows, 0, max(n, 1), "a variable")
    variables: Variables = "spin" if notes["vartype"] == "SPIN" else "binary"
    return _linear_on_diagonal(n, i, j, rows[:, 2], float(notes.get("offset", 0.0)), variables)


def write_coo(model: QuadraticModel, path: Path) -> None:
    """Write a COO file; the number of variables and an offset go into comments."""
    lines = [f"# vartype={'SPIN' if model.variables == 'spin' else 'BINARY'}", f"# variables={model.n}"]
    lines += [f"# offset={model.offset!r}"] if model.offset else []
    write_text(path, [*lines, *_linear_lines(model, np.arange(model.n), 0), *_coupling_lines(model, 0)])


def read_matrixmarket(path: Path) -> QuadraticModel:
    """Read a square matrix as a model.

    By hand: `scipy.io.mmread` passes over what follows a number, so that `3,5` would silently be 3.
    """
    lines = read_text(path).splitlines()
    words = lines[0].lower().split() if lines else []
    if words[:3] != ["%%matrixmarket", "matrix", "coordinate"] or len(words) != 5:
        raise InvalidFile(f"{path}, line 1: expected `%%MatrixMarket matrix coordinate ...`.")
    if words[3] not in ("real", "integer", "pattern") or words[4] not in ("general", "symmetric"):
        raise InvalidFile(f"{path}, line 1: {words[3]} {words[4]} matrices are not read as models.")
    notes = _notes_in_comments(lines, _MATRIX_NOTE)
    first = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith("%")), len(lines))
    if first == len(lines):
        raise InvalidFile(f"{path}: the line with the sizes is missing.")
    n, columns, m = counts(path, lines[first], first + 1, 3)
    body = [line for line in lines[first + 1 :] if line.strip()]
    if n != columns or len(body) != m:
        raise InvalidFile(f"{path}: expected a square matrix with {m} entries, got {n} x {columns} and {len(body)}.")
    pattern = words[3] == "pattern"
    rows = table(path, body, first + 2, 2 if pattern else 3)
    i, j = index_pairs(path, rows, 1, n, "an index")
    values = np.ones(m) if pattern else rows[:, 2]
    if words[4] == "symmetric":
        values = values * np.where(i == j, 1.0, 2.0)
    variables = check_variables(notes.get("variables", "binary"))
    return _linear_on_diagonal(n, i, j, values, float(notes.get("offset", 0.0)), variables)


def write_matrixmarket(model: QuadraticModel, path: Path) -> None:
    """Write the upper triangle, the linear part on the diagonal."""
    nodes = np.flatnonzero(model.linear)
    lines = ["%%MatrixMarket matrix coordinate real general"]
    lines += [f"% offset = {model.offset!r}"] if model.offset else []
    lines += [f"% variables = {model.variables}"] if model.variables == "spin" else []
    lines.append(f"{model.n} {model.n} {nodes.size + model.b.size}")
    write_text(path, [*lines, *_linear_lines(model, nodes, 1), *_coupling_lines(model, 1)])


def _notes_in_comments(lines: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
    """What comments say, by name."""
    return {found[1]: str(found[2]) for line in lines if (found := pattern.match(line))}


def _linear_on_diagonal(
    n: int, i: Ints, j: Ints, values: Floats, offset: float, variables: Variables
) -> QuadraticModel:
    """A model whose terms with i = j are its linear part, in spins too."""
    own = i == j
    model = QuadraticModel.from_terms(n, i[~own], j[~own], values[~own], offset, variables)
    linear = np.bincount(i[own], weights=values[own], minlength=n).astype(np.float64)
    return replace(model, linear=linear)


def _linear_lines(model: QuadraticModel, nodes: Ints, base: int) -> list[str]:
    """The lines of the linear coefficients of some variables, numbered from `base`."""
    return [f"{k + base} {k + base} {number_text(float(model.linear[k]))}" for k in nodes.tolist()]


def _coupling_lines(model: QuadraticModel, base: int, factor: float = 1.0) -> list[str]:
    """The lines of the couplings times `factor`, their variables numbered from `base`."""
    rows = zip(model.i.tolist(), model.j.tolist(), (factor * model.b).tolist(), strict=True)
    return [f"{i + base} {j + base} {number_text(b)}" for i, j, b in rows]
