"""The pages about methods say what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import flipwise

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guides" / "methods.md"


def method_rows() -> list[str]:
    """The rows of the table, made from the registry."""
    rows = []
    for m in flipwise.methods():
        free, counts = ("yes" if supported else "no" for supported in (m.free, m.counts))
        rows.append(f"| `{m.name}` | {m.summary} | {free} | {counts} | {m.needs} |")
    return rows


def test_methods_page_lists_the_registry() -> None:
    """The table of the guide is the registry, row by row."""
    if not PAGE.exists():
        pytest.skip("the documentation is not part of this installation")
    text = PAGE.read_text(encoding="utf-8")
    found = [line for line in text.splitlines() if re.match(r"\| `[a-z0-9-]+` \| .* \| (yes|no) \|", line)]
    assert found == method_rows()
