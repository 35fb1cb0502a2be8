"""Pages and navigation agree, without building anything."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_every_page_is_in_the_navigation() -> None:
    """No page is lost, and no entry points nowhere."""
    text = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"[\w./-]+\.md", text[text.index("\nnav:") :]))
    assert listed == {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}


def test_links_between_pages_lead_somewhere() -> None:
    """Every relative link to a page or picture names a file that exists."""
    for page in DOCS.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
