"""Shared fixtures and Hypothesis profiles."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")

collect_ignore = ["fuzz/worker.py"] if sys.platform == "win32" else []
"""Modules that a platform cannot even import."""


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background by a shell; tests send Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with real graphs, QUBO instances and features; the test is skipped when it is absent."""
    folder = os.environ.get("FLIPWISE_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data: set FLIPWISE_DATA to the data folder")
    return Path(folder)
