"""Cells read from a store or from a results file in JSON, and results files written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from flipwise.foundation.atomic import write_atomically
from flipwise.foundation.errors import InvalidFile
from flipwise_studies.experiments.cells import Cell, current
from flipwise_studies.experiments.store import Store


def read_cells(source: str | Path) -> list[Cell]:
    """The cells of a store (`.sqlite`) or of a committed results file (`.json`), in the order they were finished.

    Examples
    --------
    >>> from flipwise_studies import read_cells
    >>> read_cells("no-such-file.json")
    Traceback (most recent call last):
    flipwise.foundation.errors.InvalidFile: no-such-file.json: no such file; run `flipwise reproduce` first.
    """
    path = Path(source)
    if not path.is_file():
        raise InvalidFile(f"{path}: no such file; run `flipwise reproduce` first.")
    if path.suffix != ".json":
        with Store(path, read_only=True) as store:
            try:
                return current(_checked(store.cells()))
            except (*_DAMAGE, sqlite3.Error) as error:
                raise InvalidFile(f"{path}: a damaged store of results ({error!r}).") from None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        environments = record["environments"]
        rows = (row | {"environment": environments[row["environment"]]} for row in record["cells"])
        return current(_checked(Cell.from_dict(row) for row in rows))
    except _DAMAGE as error:
        raise InvalidFile(f"{path}: not a results file of flipwise ({error!r}).") from None


_DAMAGE = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError)


def _checked(cells: Iterable[Cell]) -> Iterator[Cell]:
    """The cells, refused where one has no status or something in the place of a number."""
    for cell in cells:
        outcome = cell.outcome
        numbers = (outcome.value, outcome.bound, outcome.seconds, cell.peak_memory, *outcome.metrics.values())
        if not all(number is None or isinstance(number, int | float) for number in numbers):
            raise ValueError(f"a number of cell {cell.key} is none")
        texts = (
            cell.key.study,
            cell.key.instance,
            cell.key.method,
            cell.key.parameters,
            outcome.status,
            outcome.reason,
        )
        if not all(isinstance(text, str) for text in texts) or not isinstance(cell.environment, Mapping):
            raise ValueError(f"a text of cell {cell.key} is none")
        yield cell


def write_results(cells: Iterable[Cell], path: str | Path, *, command: str = "", series: bool = False) -> None:
    """Write cells as a small JSON file that can be committed: one line a cell, without the curves unless asked for.

    `command` is what produced them; documents quote it beside the figures.
    """
    environments: list[Mapping[str, Any]] = []
    lines = []
    for cell in cells:
        if cell.environment not in environments:
            environments.append(cell.environment)
        row = cell.to_dict() | {"environment": environments.index(cell.environment)}
        if not series:
            row["outcome"]["series"] = {}
        lines.append(json.dumps(row, sort_keys=True))
    head = f'{{"command": {json.dumps(command)},\n"environments": {json.dumps(environments, sort_keys=True)},\n'
    text = head + '"cells": [\n' + ",\n".join(lines) + "\n]}\n"
    write_atomically(Path(path), text.encode())
