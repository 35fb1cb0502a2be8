"""`flipwise convert`: the same graph or model in another format."""

from __future__ import annotations

import click

from flipwise.cli.inputs import GRAPH_FORMATS, MODEL_FORMATS, is_model, load_graph, load_model, written
from flipwise.cli.options import graph_options, input_argument


@click.command("convert")
@input_argument("source")
@click.argument("target", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--to", "target_format", type=click.Choice(sorted({*GRAPH_FORMATS, *MODEL_FORMATS})),
              help="The format of TARGET, by its name as a rule.")  # fmt: skip
@click.option("--model", is_flag=True, help="SOURCE is a QUBO or Ising model, whatever its name says.")
@click.option("-q", "--quiet", is_flag=True, help="No notes.")
@graph_options
def convert(
    source: str,
    target: str,
    target_format: str | None,
    model: bool,
    quiet: bool,
    file_format: str | None,
    symmetrise: str,
    unweighted: bool,
) -> None:
    """Convert a graph, or a QUBO / Ising model, from one format to another.

    Graphs: edge list, MatrixMarket, METIS, rudy, Parquet, WebGraph, and .flipgraph, the compact format that opens
    without reading. Models: .qubo, .bqp, BQPJSON, BiqMac, .coo, .bqm, rudy, MatrixMarket. Text may be
    packed (.gz, .xz).

    \b
    Examples:
      $ flipwise convert graph.txt graph.flipgraph
      $ flipwise convert graph.txt graph.mtx.gz
      $ flipwise convert model.qubo model.json
      $ cat graph.txt | flipwise convert - - --to matrixmarket
    """
    from flipwise.graphs.write import write_graph
    from flipwise.qubo.formats import write_model

    if target == "-" and target_format is None:
        raise click.UsageError("standard output has no name to tell its format: pass --to FORMAT.")
    if model or is_model(source):
        loaded = load_model(source, file_format)
        with written(target) as path:
            write_model(loaded, path, format=target_format)
        said = f"{loaded.n:,} variables, {loaded.b.size:,} couplings"
    else:
        graph = load_graph(source, file_format, symmetrise, unweighted, quiet=quiet)
        with written(target) as path:
            write_graph(graph, path, format=target_format)  # type: ignore[arg-type]
        said = f"{graph.n:,} nodes, {graph.n_edges:,} edges"
    if not quiet:
        click.echo(f"{target}: {said}", err=True)
