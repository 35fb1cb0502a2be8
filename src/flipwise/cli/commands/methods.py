"""`flipwise methods`: the methods and what each can solve."""

from __future__ import annotations

from dataclasses import asdict

import click

import flipwise
from flipwise.cli.options import json_option
from flipwise.cli.terminal import print_json, print_table


@click.command("methods")
@json_option
def methods(as_json: bool) -> None:
    """List the methods that --method takes, and what each can solve.

    \b
    Examples:
      $ flipwise methods
      $ flipwise methods --json
    """
    known = flipwise.methods()
    if as_json:
        print_json({"methods": [asdict(method) for method in known]})
        return
    rows = [
        (method.name, "yes" if method.free else "-", "yes" if method.counts else "-", method.needs, method.summary)
        for method in known
    ]
    headers = ("name", "free", "count", "for", "what it is")
    notes = [
        "free: no constraint; count: exact number of ones; for: any smooth f, quadratics,\nor densest subgraphs only."
    ]
    print_table("Methods", headers, rows, left=headers[3:], notes=notes)
