"""OR-Library bqp (Beasley): the number of problems, then for each `n m` and `i j q` with i <= j, 1-based.

The problems maximise x'Qx with Q symmetric, so the model is -x'Qx: its minimum is minus the published optimum.
"""

from __future__ import annotations

from pathlib import Path

from flipwise.errors import InvalidFile, InvalidInput
from flipwise.qubo.formats.biqmac import triples
from flipwise.qubo.formats.text import need, read_text, table, write_text
from flipwise.qubo.formats.triples import read_triples
from flipwise.qubo.models import QuadraticModel


def read_all(path: Path) -> list[QuadraticModel]:
    """All problems of a file."""
    lines = [line for line in read_text(path).splitlines() if line.strip()]
    if not lines:
        raise InvalidFile(f"{path}: the file is empty.")
    count = int(table(path, lines[:1], 1, 1)[0, 0])
    models = []
    at = 1
    for _ in range(count):
        model, at = read_triples(path, lines, at, -1.0)
        models.append(model)
    return models


def read(path: Path, index: int = 0) -> QuadraticModel:
    """One problem of a file."""
    models = read_all(path)
    if not 0 <= index < len(models):
        raise InvalidInput(f"`index` must be between 0 and {len(models) - 1}, got {index}.")
    return models[index]


def write(model: QuadraticModel, path: Path) -> None:
    """Write a file with one problem; the format has no offset."""
    need(model, variables="binary", format="OR-Library")
    if model.offset != 0.0:
        raise InvalidInput(f"the OR-Library format has no offset, the model's is {model.offset}.")
    write_text(path, ["1", *triples(model, -1.0)])
