"""Cells read from a store or from a results file in JSON, and results files written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flipwise.foundation.container import write_atomically
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
    if path.suffix == ".json":
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            environments = record["environments"]
            return current(
                Cell.from_dict(row | {"environment": environments[row["environment"]]}) for row in record["cells"]
            )
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InvalidFile(f"{path}: not a results file of flipwise ({error!r}).") from None
    with Store(path, read_only=True) as store:
        return current(store.cells())


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
