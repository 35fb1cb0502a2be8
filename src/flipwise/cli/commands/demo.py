"""`flipwise demo`."""

from __future__ import annotations

import click

from flipwise.cli.options import Seconds

NODES, HIDDEN = 20_000, 60


@click.command("demo")
@click.option("-o", "--output", type=click.Path(dir_okay=False), default="flipwise-demo.html", show_default=True,
              help="Where the report goes.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, another graph.")
@click.option("--time-limit", type=Seconds(), help="Stop after so long (30, 2m) and give the best so far.")
@click.option("--threads", type=click.IntRange(min=1), help="Use at most so many threads.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(output: str, seed: int, time_limit: float | None, threads: int | None, as_json: bool, quiet: bool) -> int:
    """Hide a dense group of 60 nodes in a random graph of 20,000, find it, and prove how good the answer is.

    Prints a table and writes a self-contained HTML page. Needs no data and takes
    seconds; the very first run also compiles, for about ten more.

    \b
    Examples:
      $ flipwise demo
      $ flipwise demo --seed 7 -o demo.html --json
    """
    from pathlib import Path

    import numpy as np

    from flipwise.cli.answers import density_table, subgraph_record
    from flipwise.cli.commands.subgraph import solve
    from flipwise.cli.exits import INTERRUPTED, OK
    from flipwise.cli.terminal import console, print_json, progress
    from flipwise.datasets.planted import planted_subgraph
    from flipwise.report.subgraph_page import subgraph_page

    graph, hidden = planted_subgraph(NODES, HIDDEN, seed=seed)
    sizes = (HIDDEN, 2 * HIDDEN, 4 * HIDDEN, 8 * HIDDEN)
    with progress("getting ready (the first run compiles)", quiet=quiet) as tell:
        solve(graph, sizes[-1:], tell, effort=0.0, seed=seed, time_limit=time_limit, threads=threads)
    with progress("searching and proving", quiet=quiet, time_limit=time_limit) as tell:
        results = solve(graph, sizes, tell, effort=0.0, seed=seed, time_limit=time_limit, threads=threads)
    found = int(np.isin(results[0].indices, hidden).sum())
    page = subgraph_page(graph, results, title="Flipwise demo: a dense group, found and proven")
    Path(output).write_text(page, encoding="utf-8")
    interrupted = len(results) < len(sizes) or any(result.status.name == "INTERRUPTED" for result in results)
    if as_json:
        record = {"nodes": graph.n, "edges": graph.n_edges, "hidden": HIDDEN, "hidden_found": found, "report": output}
        print_json({**record, "results": [subgraph_record(graph, result) for result in results]})
        return INTERRUPTED if interrupted else OK
    screen = console()
    screen.print(f"A random graph of {graph.n:,} nodes and {graph.n_edges:,} edges, {HIDDEN} of them a dense group.\n")
    density_table("The densest k nodes", graph, results)
    screen.print(f"\nAt k = {HIDDEN}, {found} of the {HIDDEN} hidden nodes were found.")
    screen.print(f"Report: {output}", soft_wrap=True)
    screen.print("Next:   flipwise subgraph YOUR_EDGES.txt -k 100", soft_wrap=True)
    return INTERRUPTED if interrupted else OK
