"""`flipwise convert`: the same graph or model in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flipwise.cli.inputs import MODEL_FORMATS, WRITTEN_GRAPH_FORMATS, is_model, load_model
from flipwise.cli.options import graph_options, input_argument
from flipwise.cli.outputs import check_outputs, written

if TYPE_CHECKING:
    from flipwise.cli.inputs import Reading


@click.command("convert")
@input_argument("source")
@click.argument("target", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--to", "target_format", type=click.Choice(sorted({*WRITTEN_GRAPH_FORMATS, *MODEL_FORMATS})),
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
    reading: Reading,
) -> None:
    """Convert a graph, or a QUBO / Ising model, from one format to another.

    Graphs are read from edge lists, CSV, GraphML, GEXF, GML, node-link JSON, MatrixMarket, METIS, rudy, Parquet,
    graph6, WebGraph and .flipgraph, the compact format that opens without reading, and written to all of these but
    graph6 and WebGraph. Models are read and written: .qubo, .bqp, .qs, BQPJSON, BiqMac, .coo, .bqm, rudy, MatrixMarket.
    Text may be packed (.gz, .xz).

    \b
    Examples:
      $ flipwise convert graph.txt graph.flipgraph
      $ flipwise convert graph.txt graph.mtx.gz
      $ flipwise convert graph.txt graph.graphml
      $ flipwise convert model.qubo model.json
      $ cat graph.txt | flipwise convert - - --to matrixmarket
    """
    from flipwise.graphs.write import write_graph, written_format
    from flipwise.qubo.formats import format_name, write_model

    if target == "-" and target_format is None:
        raise click.UsageError("standard output has no name to tell its format: pass --to FORMAT.")
    check_outputs([source], {"TARGET": target})
    if model or is_model(source):
        format_name(Path(target), target_format)
        loaded = load_model(source, reading.file_format)
        with written(target) as path:
            write_model(loaded, path, format=target_format)
        said = f"{loaded.n:,} variables, {loaded.b.size:,} couplings"
    else:
        chosen = written_format(Path(target), target_format)
        graph = reading.graph(source, quiet=quiet)
        with written(target) as path:
            write_graph(graph, path, format=chosen)  # type: ignore[arg-type]
        said = f"{graph.n:,} nodes, {graph.n_edges:,} edges"
        if graph.names is not None and chosen in ("matrixmarket", "metis", "rudy"):
            said += f"; {chosen} files have no names: nodes are numbered from 1 in the order of SOURCE"
    if not quiet:
        click.echo(f"{target}: {said}", err=True)
