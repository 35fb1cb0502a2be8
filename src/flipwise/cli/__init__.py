"""The command line. `main` is the `flipwise` program; a command's module is loaded only when it is called."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (see `flipwise.cli.exits`)."""
    from flipwise.cli.app import app
    from flipwise.cli.exits import run

    return run(app, arguments)
