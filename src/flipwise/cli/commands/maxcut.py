"""`flipwise maxcut`."""

from __future__ import annotations

from typing import Any

import click

from flipwise.cli.inputs import graph_options, input_argument
from flipwise.cli.options import answer_file, checkpoint_option, output_options, run_options


@click.command("maxcut")
@input_argument()
@click.option("--bound", type=click.Choice(["auto", "sdp", "spectral", "simple", "none"]), default="auto",
              show_default=True, help="What to prove.")  # fmt: skip
@answer_file("the side of each node (name, 0 or 1)")
@graph_options
@run_options
@checkpoint_option
@output_options
def command(
    file: str,
    bound: str,
    output: str | None,
    file_format: str | None,
    symmetrise: str,
    unweighted: bool,
    seed: int,
    time_limit: float | None,
    threads: int | None,
    checkpoint: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Split the nodes of FILE in two sides with as much edge weight between them as possible.

    Weights may be negative (spin glasses). The upper bound is proven: no cut exceeds it.

    \b
    Examples:
      $ flipwise maxcut graph.txt --time-limit 2
      $ flipwise maxcut graph.txt --time-limit 2 -o sides.txt
      $ flipwise maxcut graph.txt --time-limit 2 --checkpoint run.npz -v
      $ cat graph.txt | flipwise maxcut - --time-limit 1 --json
    """
    import flipwise
    from flipwise.cli.answers import show_cut
    from flipwise.cli.inputs import load_graph
    from flipwise.cli.terminal import progress

    graph = load_graph(file, file_format, symmetrise, unweighted, quiet=quiet)
    with progress("maximum cut", quiet=quiet or verbose, time_limit=time_limit) as tell:

        def watch(now: Any) -> None:
            tell(f"cut {-now.best:.9g}")

        result = flipwise.maxcut(
            graph,
            bound=bound,  # type: ignore[arg-type]
            seed=seed,
            time_limit=time_limit,
            threads=threads,
            callback=watch,
            verbose=verbose,
            checkpoint=checkpoint,
        )
    return show_cut(f"Maximum cut of {file}", "upper bound", graph, result, seed, output, as_json)
