"""A store with made-up cells of every study."""

from __future__ import annotations

from pathlib import Path

import pytest

from flipwise_studies.experiments.store import Store
from studies.tests.report.cells import made_up_cells


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with made-up cells of every study."""
    path = tmp_path_factory.mktemp("store") / "cells.sqlite"
    with Store(path) as opened:
        for cell in made_up_cells():
            opened.add(cell)
    return path
