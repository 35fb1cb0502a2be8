"""MatrixMarket: the matrix of x'Qx in coordinates. Symmetric files count an entry off the diagonal twice, as x'Qx does.

Two comments carry what the format cannot say: `% offset = ...` and `% variables = spin`. Without them: no offset, 0/1.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from flipwise.errors import InvalidFile
from flipwise.objectives.variables import check_variables
from flipwise.qubo.formats.text import indices, number, read_text, table, write_text
from flipwise.qubo.models import QuadraticModel

_NOTE = re.compile(r"%\s*(offset|variables)\s*=\s*(\S+)")


def read(path: Path) -> QuadraticModel:
    """Read a square matrix as a model."""
    lines = read_text(path).splitlines()
    words = lines[0].lower().split() if lines else []
    if words[:3] != ["%%matrixmarket", "matrix", "coordinate"] or len(words) != 5:
        raise InvalidFile(f"{path}, line 1: expected `%%MatrixMarket matrix coordinate ...`.")
    if words[3] not in ("real", "integer", "pattern") or words[4] not in ("general", "symmetric"):
        raise InvalidFile(f"{path}, line 1: {words[3]} {words[4]} matrices are not read as models.")
    notes = {found[1]: str(found[2]) for line in lines if (found := _NOTE.match(line))}
    first = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith("%")), len(lines))
    if first == len(lines):
        raise InvalidFile(f"{path}: the line with the sizes is missing.")
    n, columns, m = (int(v) for v in table(path, [lines[first]], first + 1, 3)[0])
    body = [line for line in lines[first + 1 :] if line.strip()]
    if n != columns or len(body) != m:
        raise InvalidFile(f"{path}: expected a square matrix with {m} entries, got {n} x {columns} and {len(body)}.")
    pattern = words[3] == "pattern"
    rows = table(path, body, first + 2, 2 if pattern else 3) if m else np.zeros((0, 3))
    i, j = (indices(path, rows[:, k], 1, n, "an index") for k in (0, 1))
    values = np.ones(m) if pattern else rows[:, 2]
    if words[4] == "symmetric":
        values = values * np.where(i == j, 1.0, 2.0)
    variables = check_variables(notes.get("variables", "binary"))
    offset = float(notes.get("offset", 0.0))
    if variables == "binary":
        return QuadraticModel.from_terms(n, i, j, values, offset, variables)
    own = i == j  # written by `write`: in spins the diagonal holds the linear part
    model = QuadraticModel.from_terms(n, i[~own], j[~own], values[~own], offset, variables)
    linear = np.bincount(i[own], weights=values[own], minlength=n).astype(np.float64)
    return QuadraticModel(linear, model.i, model.j, model.b, offset, variables)


def write(model: QuadraticModel, path: Path) -> None:
    """Write the upper triangle, the linear part on the diagonal."""
    nodes = np.flatnonzero(model.linear)
    lines = ["%%MatrixMarket matrix coordinate real general"]
    lines += [f"% offset = {model.offset!r}"] if model.offset else []
    lines += [f"% variables = {model.variables}"] if model.variables == "spin" else []
    lines.append(f"{model.n} {model.n} {nodes.size + model.b.size}")
    lines += [f"{k + 1} {k + 1} {number(model.linear[k])}" for k in nodes.tolist()]
    rows = zip(model.i.tolist(), model.j.tolist(), model.b.tolist(), strict=True)
    write_text(path, [*lines, *(f"{i + 1} {j + 1} {number(b)}" for i, j, b in rows)])
