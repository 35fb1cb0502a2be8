"""qbsolv's .qubo: `p qubo 0 maxnode nodes couplers`, then `i i a` for each node and `i j b` (i < j), 0-based; minimise.

Lines that begin with c are comments. The format has no offset; one is written as `c offset = ...`, which other programs
skip and this one reads back.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from flipwise.errors import InvalidFile
from flipwise.qubo.formats.text import indices, need, number, read_text, table, write_text
from flipwise.qubo.models import QuadraticModel

_OFFSET = re.compile(r"c\s+offset\s*=\s*(\S+)")


def read(path: Path) -> QuadraticModel:
    """Read a problem."""
    offset = 0.0
    sizes: list[int] | None = None
    rows: list[str] = []
    for k, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        if line.startswith("c"):
            found = _OFFSET.match(line)
            offset = float(found.group(1)) if found else offset
        elif line.startswith("p"):
            words = line.split()
            if len(words) != 6 or words[1] != "qubo" or words[2] not in ("0", "unconstrained"):
                raise InvalidFile(
                    f"{path}, line {k}: expected `p qubo 0 maxnode nodes couplers`, got {line.strip()!r}."
                )
            sizes = [int(v) for v in table(path, [" ".join(words[3:])], k, 3)[0]]
        else:
            rows.append(line)
    if sizes is None:
        raise InvalidFile(f"{path}: the line `p qubo 0 maxnode nodes couplers` is missing.")
    n, nodes, couplers = sizes
    if len(rows) != nodes + couplers:
        raise InvalidFile(f"{path}: {nodes} nodes and {couplers} couplers are promised, {len(rows)} lines follow.")
    numbers = table(path, rows, 1, 3) if rows else np.zeros((0, 3))
    i, j = (indices(path, numbers[:, k], 0, n, "a node") for k in (0, 1))
    return QuadraticModel.from_terms(n, i, j, numbers[:, 2], offset, "binary")


def write(model: QuadraticModel, path: Path) -> None:
    """Write a problem."""
    need(model, variables="binary", format=".qubo")
    nodes = np.flatnonzero(model.linear)
    lines = [] if model.offset == 0.0 else [f"c offset = {model.offset!r}"]
    lines.append(f"p qubo 0 {model.n} {nodes.size} {model.b.size}")
    lines += [f"{k} {k} {number(model.linear[k])}" for k in nodes.tolist()]
    rows = zip(model.i.tolist(), model.j.tolist(), model.b.tolist(), strict=True)
    write_text(path, [*lines, *(f"{i} {j} {number(b)}" for i, j, b in rows)])
