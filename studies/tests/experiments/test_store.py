"""The store: append-only, no cell twice, read back as written."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from flipwise_studies.experiments.cells import Outcome
from flipwise_studies.experiments.store import Store
from studies.tests.experiments.toy_cell import CELL


def test_a_cell_comes_back_as_it_was(tmp_path: Path) -> None:
    """What is added is what is read."""
    with Store(tmp_path / "cells.sqlite") as store:
        assert store.add(CELL)
        assert store.cells() == [CELL]


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
