"""The page of the long checks is what their stored runs give."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_is_that_of_the_stored_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing the page anew changes nothing: nobody edited a figure."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    for name in ("recording", "render", "robustness_page"):
        sys.modules.pop(name, None)
    page = importlib.import_module("robustness_page").page()
    assert page == (ROOT / "docs" / "benchmarks" / "robustness.md").read_text(encoding="utf-8")
