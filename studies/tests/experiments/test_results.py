"""Cells from stores and from results files."""

from __future__ import annotations

from pathlib import Path

import pytest

from flipwise.foundation.errors import InvalidFile
from flipwise_studies.experiments.results import read_cells, write_results
from flipwise_studies.experiments.store import Store
from studies.tests.experiments.toy_cell import CELL


def test_a_cell_comes_back_as_it_was(tmp_path: Path) -> None:
    """What is written is what is read, from the store and from a results file."""
    with Store(tmp_path / "cells.sqlite") as store:
        store.add(CELL)
    assert read_cells(tmp_path / "cells.sqlite") == [CELL]
    write_results([CELL], tmp_path / "cells.json", series=True)
    assert read_cells(tmp_path / "cells.json") == [CELL]


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
