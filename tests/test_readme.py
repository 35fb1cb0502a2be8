"""README: its results come from the stored runs, its commands are where the checks look for them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_the_results_are_those_of_the_stored_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing README and the page of the core anew changes nothing."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    for name in ("recording", "densest_page", "core_page"):
        sys.modules.pop(name, None)
    pages = importlib.import_module("core_page")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert pages.readme(readme) == readme
    assert pages.page() == (ROOT / "docs" / "benchmarks" / "core.md").read_text(encoding="utf-8")


def test_both_commands_are_marked() -> None:
    """One command runs the main job, one the tests."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("<!-- run command -->") == readme.count("<!-- test command -->") == 1
