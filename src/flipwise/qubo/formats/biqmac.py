"""Biq Mac library, quadratic 0-1 problems: `n m`, then `i j q` with i <= j, 1-based; minimise x'Qx with Q symmetric.

An entry off the diagonal stands for q_ij and q_ji: its coupling is 2q.
"""

from __future__ import annotations

from pathlib import Path

from flipwise.errors import InvalidFile, InvalidInput
from flipwise.qubo.formats.text import need, number, read_text, write_text
from flipwise.qubo.formats.triples import read_triples
from flipwise.qubo.models import QuadraticModel


def read(path: Path) -> QuadraticModel:
    """Read a problem."""
    lines = [line for line in read_text(path).splitlines() if line.strip() and not line.startswith("#")]
    model, used = read_triples(path, lines, 0, 1.0)
    if used != len(lines):
        raise InvalidFile(f"{path}: {len(lines) - used} lines follow after the last entry.")
    return model


def write(model: QuadraticModel, path: Path) -> None:
    """Write a problem; the format has no offset."""
    need(model, variables="binary", format="Biq Mac")
    if model.offset != 0.0:
        raise InvalidInput(f"the Biq Mac format has no offset, the model's is {model.offset}.")
    write_text(path, triples(model, 1.0))


def triples(model: QuadraticModel, sign: float) -> list[str]:
    """The lines of one problem whose matrix is `sign` times the model's."""
    rows = [(k, k, v) for k, v in enumerate((sign * model.linear).tolist()) if v != 0.0]
    couplings = (sign * model.b / 2.0).tolist()
    rows += list(zip(model.i.tolist(), model.j.tolist(), couplings, strict=True))
    return [f"{model.n} {len(rows)}", *(f"{i + 1} {j + 1} {number(q)}" for i, j, q in sorted(rows))]
