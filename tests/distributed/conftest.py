"""One cluster of two processes for all tests of this room: starting one costs seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """A client of two local worker processes, each with a nanny that restarts it."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected
