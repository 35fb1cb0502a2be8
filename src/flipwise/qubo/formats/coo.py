"""dimod's COO text: `# vartype=SPIN` or `BINARY`, then `i i a` for linear and `i j b` for quadratic terms, 0-based.

The format has no offset; one is written as `# offset=...`, which dimod skips and this reader takes.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from flipwise.errors import InvalidFile
from flipwise.objectives.protocol import Variables
from flipwise.qubo.formats.text import indices, number, read_text, table, write_text
from flipwise.qubo.models import QuadraticModel

_NOTE = re.compile(r"#\s*(vartype|offset|variables)\s*=\s*(\S+)")


def read(path: Path) -> QuadraticModel:
    """Read a model; variables that no line names but that are below the largest one named have no terms."""
    lines = [line for line in read_text(path).splitlines() if line.strip()]
    notes = {found[1]: str(found[2]) for line in lines if (found := _NOTE.match(line))}
    if notes.get("vartype") not in ("SPIN", "BINARY"):
        raise InvalidFile(f"{path}: a line `# vartype=SPIN` or `# vartype=BINARY` is needed.")
    body = [line for line in lines if not line.startswith("#")]
    rows = table(path, body, 1, 3) if body else np.zeros((0, 3))
    n = max(int(notes.get("variables", 0)), int(rows[:, :2].max(initial=-1.0)) + 1)
    i, j = (indices(path, rows[:, k], 0, max(n, 1), "a variable") for k in (0, 1))
    own = i == j
    variables: Variables = "spin" if notes["vartype"] == "SPIN" else "binary"
    model = QuadraticModel.from_terms(n, i[~own], j[~own], rows[~own, 2], float(notes.get("offset", 0.0)), variables)
    linear = np.bincount(i[own], weights=rows[own, 2], minlength=n).astype(np.float64)
    return QuadraticModel(linear, model.i, model.j, model.b, model.offset, variables)


def write(model: QuadraticModel, path: Path) -> None:
    """Write a model."""
    lines = [f"# vartype={'SPIN' if model.variables == 'spin' else 'BINARY'}", f"# variables={model.n}"]
    lines += [f"# offset={model.offset!r}"] if model.offset else []
    lines += [f"{k} {k} {number(model.linear[k])}" for k in range(model.n)]
    rows = zip(model.i.tolist(), model.j.tolist(), model.b.tolist(), strict=True)
    write_text(path, [*lines, *(f"{i} {j} {number(b)}" for i, j, b in rows)])
