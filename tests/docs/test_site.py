"""The site: builds without a warning, its search finds what users look for, all pages are reachable."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest


@pytest.mark.parametrize("words", ["cardinality", "upper bound", "dimod", "faiss", "exit codes", "shell completion"])
def test_the_search_finds(site: Path, words: str) -> None:
    """The search index holds the word or phrase."""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert any(words in (entry["title"] + " " + entry["text"]).lower() for entry in index["docs"])


def test_the_site_asks_no_other_server(site: Path) -> None:
    """No page loads a script, style, font or picture from elsewhere."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        found = re.findall(r"<(?:script|img|link rel=\"stylesheet\")[^>]*(?:src|href)=\"(https?:[^\"]*)\"", text)
        assert not found, (page, found)


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    """Each name of dir(flipwise) has an entry on a reference page."""
    import flipwise

    text = "".join(page.read_text(encoding="utf-8") for page in (site / "api").rglob("*.html"))
    missing = [
        name for name in dir(flipwise) if not name.startswith("_") and not re.search(rf'id="[\w.]*\.{name}"', text)
    ]
    assert not missing


def test_every_public_name_has_an_example() -> None:
    """The docstring of each public name, here and in flipwise.hashing, holds a doctest."""
    import flipwise
    import flipwise.hashing

    pytest.importorskip("sklearn", reason="the hashing estimators need scikit-learn")
    for module in (flipwise, flipwise.hashing):
        names = [name for name in dir(module) if not name.startswith("_")]
        assert not [name for name in names if ">>>" not in (getattr(module, name).__doc__ or "")]
