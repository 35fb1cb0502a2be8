"""The store of cells: one SQLite file, append-only, safe against a kill at any moment.

A cell is written in one transaction after it has been run, with write-ahead logging and full synchronisation: a killed
process leaves either the whole cell or nothing. The unique key makes a second copy impossible, also with two processes
at work on the same file; triggers refuse updates and deletions. A retried cell is a new row with a higher `attempt`.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import astuple, fields
from pathlib import Path
from types import TracebackType
from typing import Any

from flipwise.foundation.errors import InvalidFile
from flipwise_studies.experiments.cells import Cell, Key, Outcome

FORMAT = 1
_KEY = tuple(field.name for field in fields(Key))
_OUTCOME = tuple(field.name for field in fields(Outcome))
_COLUMNS = (*_KEY, *_OUTCOME, "attempt", "scale", "peak_memory", "environment", "finished")
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS environments (id INTEGER PRIMARY KEY, record TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS cells (
    id INTEGER PRIMARY KEY,
    study TEXT NOT NULL, instance TEXT NOT NULL, checksum TEXT NOT NULL, method TEXT NOT NULL,
    parameters TEXT NOT NULL, seed INTEGER NOT NULL, threads INTEGER NOT NULL, attempt INTEGER NOT NULL,
    scale TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('done', 'failed', 'skipped')), reason TEXT NOT NULL,
    value REAL, bound REAL, sense TEXT NOT NULL, seconds REAL, metrics TEXT NOT NULL, series TEXT NOT NULL,
    peak_memory REAL, environment INTEGER NOT NULL REFERENCES environments (id), finished TEXT NOT NULL,
    UNIQUE ({", ".join(_KEY)}, attempt)
);
CREATE TRIGGER IF NOT EXISTS cells_are_not_changed BEFORE UPDATE ON cells
    BEGIN SELECT RAISE(ABORT, 'the store is append-only'); END;
CREATE TRIGGER IF NOT EXISTS cells_are_not_deleted BEFORE DELETE ON cells
    BEGIN SELECT RAISE(ABORT, 'the store is append-only'); END;
"""


class Store:
    """An append-only file of cells.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from flipwise_studies import Cell, Key, Outcome, Store
    >>> cell = Cell(Key("toy", "line", "0" * 64, "dpcd", "{}", seed=0, threads=1), Outcome(value=3.0))
    >>> with tempfile.TemporaryDirectory() as folder, Store(pathlib.Path(folder) / "cells.sqlite") as store:
    ...     store.add(cell), store.add(cell), len(store.cells())
    (True, False, 1)
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        if not read_only:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            if read_only:
                self._connection.execute("PRAGMA query_only=ON")
            else:
                self._prepare()
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.Error as error:
            raise InvalidFile(f"{self.path}: not a store of results ({error}).") from None
        if version != FORMAT:
            raise InvalidFile(f"{self.path}: a store of format {version}; this version reads format {FORMAT}.")

    def _prepare(self) -> None:
        """Switch on write-ahead logging, and make the tables of a new file."""
        connection = self._connection
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={FORMAT}; COMMIT;")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, cell: Cell) -> bool:
        """Append a cell; False when its key and attempt are there already, in which case nothing is written."""
        environment = json.dumps(dict(cell.environment), sort_keys=True)
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute("INSERT OR IGNORE INTO environments (record) VALUES (?)", (environment,))
            row = connection.execute("SELECT id FROM environments WHERE record = ?", (environment,)).fetchone()
            marks = ", ".join("?" * len(_COLUMNS))
            done = connection.execute(
                f"INSERT OR IGNORE INTO cells ({', '.join(_COLUMNS)}) VALUES ({marks})", _as_row(cell, row[0])
            )
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        return done.rowcount == 1

    def cells(self) -> list[Cell]:
        """Every row, in the order of writing (see `current` for those that count)."""
        environments = {
            number: json.loads(text) for number, text in self._connection.execute("SELECT id, record FROM environments")
        }
        cells = []
        for row in self._connection.execute(f"SELECT {', '.join(_COLUMNS)} FROM cells ORDER BY id"):
            named = dict(zip(_COLUMNS, row, strict=True))
            named |= {name: json.loads(named[name]) for name in ("metrics", "series")}
            named["environment"] = environments[named["environment"]]
            key, outcome = ({name: named.pop(name) for name in names} for names in (_KEY, _OUTCOME))
            cells.append(Cell(Key(**key), Outcome(**outcome), **named))
        return cells

    def attempts(self, key: Key) -> list[str]:
        """The statuses of the attempts at this key, first to last."""
        where = " AND ".join(f"{name} = ?" for name in _KEY)
        rows = self._connection.execute(f"SELECT status FROM cells WHERE {where} ORDER BY attempt", astuple(key))
        return [row[0] for row in rows]


def _as_row(cell: Cell, environment: int) -> tuple[Any, ...]:
    """The columns of a cell; `environment` is the number of its environment."""
    named = {**vars(cell.key), **vars(cell.outcome), **vars(cell), "environment": environment}
    named["metrics"] = json.dumps(dict(cell.outcome.metrics), sort_keys=True)
    named["series"] = json.dumps(cell.outcome.series)
    return tuple(named[name] for name in _COLUMNS)
