"""`flipwise bisect`."""

from __future__ import annotations

from typing import Any

import click

from flipwise.cli.inputs import graph_options, input_argument
from flipwise.cli.options import Counts, answer_file, checkpoint_option, output_options, run_options


@click.command("bisect")
@input_argument()
@click.option("--sizes", type=Counts(), help="Parts of exactly these sizes instead of halves, such as 50,30,20.")
@click.option("--bound", type=click.Choice(["auto", "sdp", "spectral", "simple", "none"]), default="none",
              show_default=True, help="What to prove (halves only).")  # fmt: skip
@answer_file("the part of each node (name, 0, 1, ...)")
@graph_options
@run_options
@checkpoint_option
@output_options
def command(
    file: str,
    sizes: tuple[int, ...] | None,
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
    """Split the nodes of FILE in two exact halves (or parts of given sizes) with least edge weight between them.

    With an odd number of nodes one half has one node more. Sizes are exact, never "within 3 %".

    \b
    Examples:
      $ flipwise bisect graph.txt --time-limit 2
      $ flipwise bisect graph.txt --sizes 100,50,50 --time-limit 2 -o parts.txt
      $ flipwise bisect graph.txt --time-limit 2 --checkpoint run.npz -v
      $ cat graph.txt | flipwise bisect - --time-limit 1 --json
    """
    import flipwise
    from flipwise.cli.answers import show_cut
    from flipwise.cli.inputs import load_graph
    from flipwise.cli.terminal import progress

    if sizes and bound != "none":
        raise click.UsageError("--bound is for halves: leave out --sizes or --bound.")
    if sizes and checkpoint:
        raise click.UsageError("--checkpoint is for halves: leave out --sizes or --checkpoint.")
    graph = load_graph(file, file_format, symmetrise, unweighted, quiet=quiet)
    with progress("bisection", quiet=quiet or verbose, time_limit=time_limit) as tell:

        def watch(now: Any) -> None:
            tell(f"cut {now.best:.9g}")

        if sizes:
            result = flipwise.partition(
                graph, list(sizes), seed=seed, time_limit=time_limit, threads=threads, verbose=verbose
            )
        else:
            result = flipwise.bisect(
                graph,
                bound=bound,  # type: ignore[arg-type]
                seed=seed,
                time_limit=time_limit,
                threads=threads,
                callback=watch,
                verbose=verbose,
                checkpoint=checkpoint,
            )
    return show_cut(f"Smallest cut of {file}", "lower bound", graph, result, seed, output, as_json)
