"""rudy / Gset: a weighted graph for Max-Cut. `n m`, then `i j w` for each edge, 1-based.

The model is in spins and its energy is minus the weight of the cut: sum_{i<j} w_ij (s_i s_j - 1) / 2.
"""

from __future__ import annotations

import math
from pathlib import Path

from flipwise.errors import InvalidFile, InvalidInput
from flipwise.qubo.formats.text import indices, need, number, read_text, table, write_text
from flipwise.qubo.models import QuadraticModel


def read(path: Path) -> QuadraticModel:
    """Read a graph; lines of two numbers are edges of weight 1."""
    lines = [line for line in read_text(path).splitlines() if line.strip()]
    if not lines:
        raise InvalidFile(f"{path}: the file is empty.")
    n, m = (int(v) for v in table(path, lines[:1], 1, 2)[0])
    if len(lines) - 1 != m:
        raise InvalidFile(f"{path}: the first line promises {m} edges, {len(lines) - 1} follow.")
    columns = len(lines[1].split()) if m else 3
    rows = table(path, lines[1:], 2, 3 if columns > 2 else 2)
    i, j = (indices(path, rows[:, k], 1, n, "a node") for k in (0, 1))
    weights = rows[:, 2] if columns > 2 else 1.0 + 0.0 * rows[:, 0]
    offset = -math.fsum(weights[i != j]) / 2.0
    keep = i != j  # a loop is never cut
    return QuadraticModel.from_terms(n, i[keep], j[keep], weights[keep] / 2.0, offset, "spin")


def write(model: QuadraticModel, path: Path) -> None:
    """Write a graph; the model must be a cut's: no linear part, and the offset minus the sum of the couplings."""
    need(model, variables="spin", format="rudy")
    if model.linear.any() or model.offset != -math.fsum(model.b):
        raise InvalidInput(
            "the rudy format is for Max-Cut: the model must have no linear part and offset = -sum of its couplings."
        )
    rows = zip(model.i.tolist(), model.j.tolist(), model.b.tolist(), strict=True)
    head = f"{model.n} {model.b.size}"
    write_text(path, [head, *(f"{i + 1} {j + 1} {number(2.0 * b)}" for i, j, b in rows)])
