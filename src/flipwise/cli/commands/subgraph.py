"""`flipwise subgraph`."""

from __future__ import annotations

from typing import Any

import click

from flipwise.cli.cluster import cluster_option, no_folder
from flipwise.cli.inputs import graph_options, input_argument
from flipwise.cli.options import Counts, answer_file, checkpoint_option, output_options, run_options


@click.command("subgraph")
@input_argument(folders=True)
@click.option("-k", "sizes", type=Counts(), required=True, help="Number of nodes: 200, or 200,400, or 10:100:10.")
@click.option("--method", default="dpcd", show_default=True, help="A name that `flipwise methods` lists.")
@click.option("--effort", type=click.FloatRange(min=0), default=1.0, show_default=True,
              help="How long to search past the first descent; 0 is quickest.")  # fmt: skip
@click.option("--no-bound", is_flag=True, help="Skip the proof; a little faster.")
@click.option("--report", "page", type=click.Path(dir_okay=False), help="Write a self-contained HTML page there.")
@answer_file("the nodes, one a line (one k), or everything (a name ending in .json),")
@graph_options
@run_options
@checkpoint_option
@cluster_option
@output_options
def command(
    file: str,
    sizes: tuple[int, ...],
    method: str,
    effort: float,
    no_bound: bool,
    page: str | None,
    output: str | None,
    file_format: str | None,
    symmetrise: str,
    unweighted: bool,
    seed: int,
    time_limit: float | None,
    threads: int | None,
    checkpoint: str | None,
    cluster: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Find the k nodes of FILE with the most edge weight among them, and prove how good they are.

    Density is x'Wx/k: the mean weighted degree inside the subgraph. No k nodes can have more than the bound, so
    the gap (bound/density - 1) is the most by which a better subgraph could beat this one; 0 % is optimal.

    \b
    Examples:
      $ flipwise subgraph graph.txt -k 20
      $ flipwise subgraph graph.txt -k 10,20,40 --report page.html
      $ cat graph.txt | flipwise subgraph - -k 20 -o nodes.txt
      $ flipwise subgraph graph.txt -k 20 --time-limit 2 --checkpoint run.npz -v
      $ flipwise subgraph graph.txt -k 20 --json
      $ flipwise subgraph graph.txt -k 20 --cluster local:2
    """
    from contextlib import ExitStack

    from flipwise.cli.answers import density_table, nodes_of, subgraph_record
    from flipwise.cli.exits import INTERRUPTED, OK
    from flipwise.cli.inputs import load_graph, write_lines
    from flipwise.cli.terminal import print_json, progress, write_json

    sizes = tuple(dict.fromkeys(sizes))
    if output and not output.endswith(".json") and len(sizes) > 1:
        raise click.UsageError("-o writes one list of nodes: give one -k, or a name that ends in .json.")
    if page and cluster:
        raise click.UsageError("--report draws the graph from one process: leave out --cluster.")

    def load() -> Any:
        return load_graph(file, file_format, symmetrise, unweighted, quiet=quiet)

    with ExitStack() as stack:
        if cluster:
            from flipwise.cli.cluster import sharded

            graph = stack.enter_context(sharded(file, cluster, load, checkpoint, symmetrise))
        else:
            no_folder(file)
            graph = load()
        tell = stack.enter_context(progress("dense subgraph", quiet=quiet or verbose, time_limit=time_limit))
        results = solve(
            graph, sizes, tell, method, effort, not no_bound, seed, time_limit, threads, verbose, checkpoint
        )
    record: dict[str, Any] = {"file": file, "results": [subgraph_record(graph, result) for result in results]}
    if output:
        if output.endswith(".json"):
            write_json(output, record)
        else:
            write_lines(output, nodes_of(graph, results[0]))
    if page:
        from pathlib import Path

        from flipwise.report.subgraph_page import subgraph_page

        Path(page).write_text(subgraph_page(graph, results, title=f"Dense subgraphs of {file}"), encoding="utf-8")
    if as_json:
        print_json(record)
    else:
        density_table(f"Dense subgraphs of {file}", graph, results, err=output == "-")
    # Ctrl-C ends a sweep early; its last set may still have been proven optimal
    whole = len(results) == len(sizes) and all(result.status.name != "INTERRUPTED" for result in results)
    return OK if whole else INTERRUPTED


def solve(
    graph: Any,
    sizes: tuple[int, ...],
    tell: Any,
    method: str = "dpcd",
    effort: float = 1.0,
    certify: bool = True,
    seed: int = 0,
    time_limit: float | None = None,
    threads: int | None = None,
    verbose: bool = False,
    checkpoint: str | None = None,
) -> list[Any]:
    """The result for each size."""
    import flipwise

    def watch(progress: Any) -> None:
        tell(f"x'Wx = {-progress.best:.7g}")

    profile = flipwise.densest_subgraph(
        graph,
        list(sizes),
        method=method,
        seed=seed,
        time_limit=time_limit,
        effort=effort,
        certify=certify,
        callback=watch,
        threads=threads,
        verbose=verbose,
        checkpoint=checkpoint,
    )
    return list(profile)
