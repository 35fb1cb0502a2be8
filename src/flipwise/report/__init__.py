"""Stored results made visible: tables, figures, pages."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flipwise.report.documents import fill as fill
    from flipwise.report.documents import results_table as results_table
    from flipwise.report.drawings import plot_codes as plot_codes
    from flipwise.report.drawings import plot_subgraph as plot_subgraph
    from flipwise.report.rendering import render as render

_HOMES = {
    "fill": "documents",
    "results_table": "documents",
    "plot_codes": "drawings",
    "plot_subgraph": "drawings",
    "render": "rendering",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'flipwise.report' has no attribute {name!r}")
    return getattr(import_module(f"flipwise.report.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
