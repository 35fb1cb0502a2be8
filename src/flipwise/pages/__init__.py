"""What a user's own results look like: a page about dense subgraphs, and drawings of subgraphs and codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from flipwise.pages.drawings import plot_codes as plot_codes
    from flipwise.pages.drawings import plot_subgraph as plot_subgraph
    from flipwise.pages.subgraph_page import subgraph_page as subgraph_page

_HOMES = {"plot_codes": "drawings", "plot_subgraph": "drawings", "subgraph_page": "subgraph_page"}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
