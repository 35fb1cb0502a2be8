"""Tables for notebooks: plain HTML without style sheets, every text escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_LEFT = "text-align: left"


def html_facts(caption: str, facts: Iterable[tuple[str, str]]) -> str:
    """Names and texts in two columns."""
    rows = "".join(
        f"<tr><th style='{_LEFT}'>{html.escape(name)}</th><td style='{_LEFT}'>{html.escape(text)}</td></tr>"
        for name, text in facts
    )
    return f"<table><caption>{html.escape(caption)}</caption>{rows}</table>"


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows below the names of their columns."""
    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><tr>{top}</tr>{body}</table>"
