"""Tables for notebooks: plain HTML without style sheets, every text escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_LEFT, _RIGHT = "text-align: left", "text-align: right"


def html_facts(caption: str, facts: Iterable[tuple[str, str]]) -> str:
    """Names and texts in two columns."""
    rows = "".join(
        f"<tr><th style='{_LEFT}'>{html.escape(name)}</th><td style='{_LEFT}'>{html.escape(text)}</td></tr>"
        for name, text in facts
    )
    return f"<table><caption>{html.escape(caption)}</caption>{rows}</table>"


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows below the names of their columns, all of them to the right, where numbers belong."""
    top = "".join(f"<th style='{_RIGHT}'>{html.escape(name)}</th>" for name in head)
    lines = ("".join(f"<td style='{_RIGHT}'>{html.escape(text)}</td>" for text in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{html.escape(caption)}</caption><tr>{top}</tr>{body}</table>"
