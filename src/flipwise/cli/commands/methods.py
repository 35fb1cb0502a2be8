"""`flipwise methods`."""

from __future__ import annotations

import click

_NOTES = ("free: no constraint; count: exact number of ones; for: any smooth f, quadratics,\n"
          "or densest subgraphs only.",)  # fmt: skip


@click.command("methods")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def command(as_json: bool) -> None:
    """List the methods that --method takes, and what each can solve.

    \b
    Examples:
      $ flipwise methods
      $ flipwise methods --json
    """
    from dataclasses import asdict

    from flipwise.solvers.registry import methods

    if as_json:
        from flipwise.cli.terminal import print_json

        print_json({"methods": [asdict(method) for method in methods()]})
        return
    from flipwise.cli.terminal import print_table

    rows = [
        (method.name, "yes" if method.free else "-", "yes" if method.counts else "-", method.needs, method.summary)
        for method in methods()
    ]
    print_table(
        "Methods", ("name", "free", "count", "for", "what it is"), rows, left=("for", "what it is"), notes=_NOTES
    )
