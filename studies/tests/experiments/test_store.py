"""The store: append-only, no cell twice, read back as written."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from flipwise.foundation.errors import InvalidFile
from flipwise_studies.experiments.cells import Cell, Key, Outcome, canonical, current
from flipwise_studies.experiments.results import read_cells, write_results
from flipwise_studies.experiments.store import Store

CELL = Cell(
    Key("toy", "line", "c" * 64, "dpcd", canonical({"k": 3, "alpha": [1, 2]}), seed=1, threads=2),
    Outcome(1.5, 1.0, "max", 0.25, {"map": 0.5}, {"best": [[0.0, 1.0], [0.5, 1.5]]}, "done", ""),
    scale="full",
    peak_memory=12.5,
    environment={"versions": {"flipwise": "1"}, "machine": {"cores": 2}, "commit": "abc"},
    finished="2026-01-01T00:00:00+00:00",
)


def test_a_cell_comes_back_as_it_was(tmp_path: Path) -> None:
    """What is added is what is read, from the store and from a results file."""
    with Store(tmp_path / "cells.sqlite") as store:
        assert store.add(CELL)
        assert store.cells() == [CELL]
    assert read_cells(tmp_path / "cells.sqlite") == [CELL]
    write_results([CELL], tmp_path / "cells.json", series=True)
    assert read_cells(tmp_path / "cells.json") == [CELL]


def test_the_same_key_is_stored_once(tmp_path: Path) -> None:
    """A second cell with the same key and attempt is refused, whatever its outcome; another seed is another cell."""
    with Store(tmp_path / "cells.sqlite") as first, Store(tmp_path / "cells.sqlite") as second:
        assert first.add(CELL)
        assert not second.add(replace(CELL, outcome=Outcome(9.0)))
        assert second.add(replace(CELL, key=replace(CELL.key, seed=2)))
        assert [cell.outcome.value for cell in first.cells()] == [1.5, 1.5]


@pytest.mark.parametrize("statement", ["UPDATE cells SET value = 0", "DELETE FROM cells"])
def test_the_store_is_append_only(tmp_path: Path, statement: str) -> None:
    """Rows can be neither changed nor deleted, also not by other programs."""
    with Store(tmp_path / "cells.sqlite") as store:
        store.add(CELL)
    connection = sqlite3.connect(tmp_path / "cells.sqlite")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()


def test_a_finished_twin_hides_skips_and_failures() -> None:
    """Of several attempts the last counts; a skip for want of data gives way to the finished cell with a checksum."""
    no_data = replace(CELL, key=replace(CELL.key, checksum=""), outcome=Outcome(status="skipped", reason="no data"))
    failed = replace(CELL, outcome=Outcome(status="failed", reason="x"))
    again = replace(CELL, attempt=1)
    assert current([no_data, failed, again]) == [again]
    assert current([no_data]) == [no_data]


@pytest.mark.parametrize("content", [b"nonsense that is no database at all", b""])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    """A file that is no store is an InvalidFile that names it."""
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=r"other\.sqlite"):
        read_cells(path)


def test_a_missing_file_and_a_broken_results_file_are_refused(tmp_path: Path) -> None:
    """The message says what to do."""
    with pytest.raises(InvalidFile, match="flipwise reproduce"):
        read_cells(tmp_path / "none.sqlite")
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(InvalidFile, match="results file"):
        read_cells(tmp_path / "a.json")
