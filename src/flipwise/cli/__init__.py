"""The command line: `program` is `flipwise`, `main` one call of it; a command is loaded only when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from flipwise.cli.exits import main as main
    from flipwise.cli.exits import program as program

__getattr__, __dir__ = lazy_names(__name__, {"main": "exits", "program": "exits"})
