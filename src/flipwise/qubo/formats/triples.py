"""`n m` and then m lines `i j q` of a symmetric matrix, 1-based: what Biq Mac's and OR-Library's files are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from flipwise.errors import InvalidFile
from flipwise.qubo.formats.text import indices, table
from flipwise.qubo.models import QuadraticModel


def read_triples(path: Path, lines: list[str], start: int, sign: float) -> tuple[QuadraticModel, int]:
    """The model sign * x'Qx over 0/1 that begins at line `start`, and the line after its last."""
    if start >= len(lines):
        raise InvalidFile(f"{path}: the file ends before a problem begins.")
    n, m = (int(v) for v in table(path, lines[start : start + 1], start + 1, 2)[0])
    end = start + 1 + m
    if end > len(lines):
        raise InvalidFile(f"{path}, line {start + 1}: {m} entries are promised, {len(lines) - start - 1} lines follow.")
    rows = table(path, lines[start + 1 : end], start + 2, 3) if m else np.zeros((0, 3))
    i, j = (indices(path, rows[:, k], 1, n, "a variable") for k in (0, 1))
    q = sign * rows[:, 2] * np.where(i == j, 1.0, 2.0)
    return QuadraticModel.from_terms(n, i, j, q, 0.0, "binary"), end
