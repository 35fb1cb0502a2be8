"""Stored results made visible: tables, figures, pages."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flipwise.report.rendering import render as render

_HOMES = {"render": "rendering"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'flipwise.report' has no attribute {name!r}")
    return getattr(import_module(f"flipwise.report.{_HOMES[name]}"), name)
