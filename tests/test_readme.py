"""README: its commands are where the checks look for them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_both_commands_are_marked() -> None:
    """One command runs the main job, one the tests."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("<!-- run command -->") == readme.count("<!-- test command -->") == 1
