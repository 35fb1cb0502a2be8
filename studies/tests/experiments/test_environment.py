"""The circumstances that are stored with every cell."""

from __future__ import annotations

import json

from flipwise import __version__
from flipwise_studies.experiments.environment import cores, environment, forget_peak_memory, peak_memory


def test_the_environment_is_plain_data() -> None:
    """Versions, machine and commit, as JSON can hold them."""
    record = environment()
    assert json.loads(json.dumps(record)) == record
    assert record["versions"]["flipwise"] == __version__ and record["machine"]["cores"] == cores() >= 1


def test_the_peak_of_the_memory_is_positive() -> None:
    """Where the system counts it, it is that of a Python process at least."""
    forget_peak_memory()
    peak = peak_memory()
    assert peak is None or peak > 5
