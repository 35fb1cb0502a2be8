"""Stored results made visible: tables, figures, pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from flipwise.pages.documents import fill as fill
    from flipwise.pages.documents import results_table as results_table
    from flipwise.pages.drawings import plot_codes as plot_codes
    from flipwise.pages.drawings import plot_subgraph as plot_subgraph
    from flipwise.pages.rendering import render as render

_HOMES = {
    "fill": "documents",
    "results_table": "documents",
    "plot_codes": "drawings",
    "plot_subgraph": "drawings",
    "render": "rendering",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
