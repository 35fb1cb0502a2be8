"""`flipwise subgraph` and `flipwise demo`: dense subgraphs of a file, or of a generated graph."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import flipwise
from flipwise.cli.conditions import AskedConditions, condition_options
from flipwise.cli.exits import INTERRUPTED, OK
from flipwise.cli.options import (
    CountList,
    Seconds,
    answer_file,
    certificate_option,
    checkpoint_option,
    cluster_option,
    explain_option,
    graph_options,
    input_argument,
    json_option,
    output_options,
    pool_of_sets_options,
    run_options,
    stop_options,
    threads_option,
)
from flipwise.cli.outputs import check_outputs, write_certificate, write_lines, write_text
from flipwise.cli.terminal import console, json_text, number, percent, print_json, print_table, progress, result_record
from flipwise.foundation.interrupts import guarded_interrupts

if TYPE_CHECKING:
    from flipwise.cli.inputs import Reading

_DETAILED = (".csv", ".graphml", ".gexf", ".gml", ".parquet", ".flipgraph")
"""Endings of answers that say more about the nodes than their names."""
NODES, HIDDEN = 20_000, 60
"""Of the demo's graph and of the group hidden in it."""
CONDITIONS = ("at_least", "at_most", "include", "exclude", "connected", "node_weights", "several")
"""What makes the run tell densities, not weights."""


@click.command("subgraph")
@input_argument(folders=True)
@click.option("-k", "sizes", type=CountList(), help="Number of nodes: 200, or 200,400, or 10:100:10; any if left out.")
@condition_options
@pool_of_sets_options
@click.option("--method", default="dpcd", show_default=True, help="A name that `flipwise methods` lists.")
@click.option("--effort", type=click.FloatRange(min=0), default=1.0, show_default=True,
              help="How long to search past the first descent; 0 is quickest.")  # fmt: skip
@click.option("--bound/--no-bound", default=True, show_default=True, help="Prove an upper bound, or skip that.")
@click.option("--report", "page", type=click.Path(dir_okay=False), help="Write a self-contained HTML page there.")
@answer_file(
    "the nodes (one k), or, by its name, a table (.csv), their graph (.graphml, .gexf, .gml, .parquet, .flipgraph) or "
    "everything (.json),"
)
@click.option("--marks", type=click.Path(dir_okay=False),
              help="Write the whole graph there, with the nodes marked for Gephi or Cytoscape (.graphml).")  # fmt: skip
@graph_options
@run_options
@stop_options
@checkpoint_option
@certificate_option
@cluster_option
@explain_option
@output_options
def subgraph(
    file: str,
    sizes: tuple[int, ...] | None,
    asked: AskedConditions,
    answers: dict[str, Any],
    method: str,
    effort: float,
    bound: bool,
    page: str | None,
    output: str | None,
    marks: str | None,
    reading: Reading,
    seed: int,
    limits: dict[str, Any],
    explained: bool,
    time_limit: float | None,
    threads: int | None,
    checkpoint: str | None,
    certificate: str | None,
    cluster: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Find the k nodes of FILE with the most edge weight among them, and prove how good they are.

    Without -k, find the densest subgraph of any size, exactly. Sets can be asked to have a number of nodes within
    limits, to have some nodes and lack others, and to be connected.

    Density is x'Wx/k: the mean weighted degree inside the subgraph. No k nodes can have more than the bound, so
    the gap (bound/density - 1) is the most by which a better subgraph could beat this one; 0 % is optimal.

    \b
    Examples:
      $ flipwise subgraph graph.txt -k 20
      $ flipwise subgraph graph.txt
      $ flipwise subgraph graph.txt --at-least 10 --connected --include 3
      $ flipwise subgraph graph.txt -k 10 --exclude 0,7 --several 3
      $ flipwise subgraph graph.txt -k 10 --pool 5 --distance 4
      $ flipwise subgraph graph.txt -k 10,20,40 --report page.html
      $ cat graph.txt | flipwise subgraph - -k 20 -o nodes.txt
      $ flipwise subgraph graph.txt -k 20 --time-limit 2 --checkpoint run.npz -v
      $ flipwise subgraph graph.txt -k 20 -o nodes.csv --marks marked.graphml
      $ flipwise subgraph graph.txt -k 20 --gap 5% --explain
      $ flipwise subgraph graph.txt -k 20 --json
      $ flipwise subgraph graph.txt -k 20 --cluster local:2
    """
    from flipwise.graphs.selection import node_marks
    from flipwise.graphs.write import write_graph
    from flipwise.pages.subgraph_page import subgraph_page

    sizes = tuple(dict.fromkeys(sizes or ()))
    if answers["pool"] and (len(sizes) != 1 or asked.are_any or cluster):
        raise click.UsageError(
            "--pool is for one -k, without conditions and --cluster; --several goes with conditions."
        )
    _check_request(sizes, asked, output, page, marks, checkpoint, certificate, cluster)
    check_outputs(
        [file],
        {"-o": output, "--report": page, "--marks": marks, "--checkpoint": checkpoint, "--certificate": certificate},
    )

    def load() -> Any:
        return reading.graph(file, quiet=quiet)

    with ExitStack() as stack:
        if cluster:
            from flipwise.cli.cluster import sharded

            graph = stack.enter_context(sharded(file, cluster, load, checkpoint, reading.symmetrise))
        else:
            if Path(file).is_dir():
                from flipwise.cli.cluster import no_folder

                no_folder(file)
            graph = load()
        stack.enter_context(guarded_interrupts())  # Ctrl-C after the search still writes the answer
        with progress("dense subgraph", quiet=quiet or verbose, time_limit=time_limit) as tell:
            results = _solve_sizes(
                graph,
                sizes,
                tell,
                **asked.keywords(graph),
                method=method,
                effort=effort,
                bound="auto" if bound else "none",
                seed=seed,
                time_limit=time_limit,
                threads=threads,
                verbose=verbose,
                checkpoint=checkpoint,
                **limits,
                **answers,
            )
        record: dict[str, Any] = {"file": file, "results": [_result_record(result, graph) for result in results]}
        if output:
            _write_answer(output, graph, record, results[0])
        write_certificate(certificate, results[0])
        if marks:
            write_graph(graph, marks, attributes=node_marks(graph, results[0].indices))
        if page:
            html = subgraph_page(graph, results, title=f"Dense subgraphs of {file}")
            write_text(page, html)
        if explained:
            record["explanation"] = [dict(flipwise.explain(result).lines) for result in results]
        if as_json:
            print_json(record)
        else:
            _print_densities(f"Dense subgraphs of {file}", results, err=output == "-")
            if results[0].pool is not None:
                note = "value: density of the set; --json and -o FILE.json have the nodes of each."
                click.echo(f"\n{results[0].pool}\n{note}", err=output == "-")
            if explained:
                click.echo(f"\n{flipwise.explain(_as_returned(results, asked))}", err=output == "-")
        wanted = 1 if asked.several else max(len(sizes), asked.searches)
        return _exit_code(results, wanted)


def _check_request(
    sizes: tuple[int, ...],
    asked: AskedConditions,
    output: str | None,
    page: str | None,
    marks: str | None,
    checkpoint: str | None,
    certificate: str | None,
    cluster: str | None,
) -> None:
    """Refuse options that do not go together."""
    if checkpoint and not sizes:
        raise click.UsageError("--checkpoint is for searches for k nodes: give -k, or leave it out.")
    if asked.overlap and not asked.several:
        raise click.UsageError("--overlap is for several sets: give --several too.")
    many = len(sizes) > 1 or asked.searches > 1 or bool(asked.several)
    if output and not output.endswith(".json") and many:
        raise click.UsageError("-o writes one list of nodes: give one -k, or a name that ends in .json.")
    if cluster and (page or marks or (output or "").lower().endswith(_DETAILED)):
        raise click.UsageError("--report, --marks, tables and graphs are made by one process: leave out --cluster.")
    if certificate and many:
        raise click.UsageError("--certificate writes one proof: give one -k.")
    if marks:
        if many:
            raise click.UsageError("--marks marks one set of nodes: give one -k.")
        from flipwise.graphs.write import check_marking

        check_marking(Path(marks))


def _write_answer(output: str, graph: Any, record: dict[str, Any], result: Any) -> None:
    """What was found, as the name of the file asks for: everything, a graph, a table, or the nodes."""
    suffix = Path(output).suffix.lower()
    if output.endswith(".json"):
        write_text(output, json_text(record))
    elif suffix == ".csv":
        import csv
        from io import StringIO

        table, text = result.table(graph), StringIO()
        csv.writer(text, lineterminator="\n").writerows([table.keys(), *zip(*table.values())])
        write_text(output, text.getvalue())
    elif suffix in _DETAILED:
        from flipwise.graphs.write import write_graph

        write_graph(result.subgraph(graph), output)
    else:
        write_lines(output, record["results"][0]["nodes"])


@click.command("demo")
@click.option("-o", "--output", type=click.Path(dir_okay=False), default="flipwise-demo.html", show_default=True,
              help="Where the report goes.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, another graph.")
@click.option("--time-limit", type=Seconds(), help="Stop after so long (30, 2m) and give the best so far.")
@threads_option
@json_option
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def demo(output: str, seed: int, time_limit: float | None, threads: int | None, as_json: bool, quiet: bool) -> int:
    """Hide a dense group of 60 nodes in a random graph of 20,000, find it, and prove how good the answer is.

    Prints a table and writes a self-contained HTML page. Needs no data and takes
    seconds; the very first run also compiles, for about ten more.

    \b
    Examples:
      $ flipwise demo
      $ flipwise demo --seed 7 -o demo.html --json
    """
    import numpy as np

    from flipwise.graphs.planted import planted_subgraph
    from flipwise.pages.subgraph_page import subgraph_page

    check_outputs([], {"-o": output})
    graph, hidden = planted_subgraph(NODES, HIDDEN, seed=seed)
    sizes = (HIDDEN, 2 * HIDDEN, 4 * HIDDEN, 8 * HIDDEN)
    options: dict[str, Any] = {"effort": 0.0, "seed": seed, "time_limit": time_limit, "threads": threads}
    with progress("getting ready (the first run compiles)", quiet=quiet) as tell:
        _solve_sizes(graph, sizes[-1:], tell, **options)
    with guarded_interrupts():  # Ctrl-C after the search still writes the answer
        with progress("searching and proving", quiet=quiet, time_limit=time_limit) as tell:
            results = _solve_sizes(graph, sizes, tell, **options)
        found = int(np.isin(results[0].indices, hidden).sum())
        page = subgraph_page(graph, results, title="Flipwise demo: a dense group, found and proven")
        write_text(output, page)
        if as_json:
            record = {"nodes": graph.n, "edges": graph.n_edges, "hidden": HIDDEN, "hidden_found": found}
            print_json({**record, "report": output, "results": [_result_record(result, graph) for result in results]})
            return _exit_code(results, len(sizes))
        screen = console()
        screen.print(
            f"A random graph of {graph.n:,} nodes and {graph.n_edges:,} edges, {HIDDEN} of them a dense group.\n"
        )
        _print_densities("The densest k nodes", results)
        screen.print(f"\nAt k = {HIDDEN}, {found} of the {HIDDEN} hidden nodes were found.")
        screen.print(f"Report: {output}", soft_wrap=True)
        screen.print("Next:   flipwise subgraph YOUR_EDGES.txt -k 100", soft_wrap=True)
        return _exit_code(results, len(sizes))


def _solve_sizes(graph: Any, sizes: tuple[int, ...], tell: Any, **options: Any) -> list[Any]:
    """The result for each size; Ctrl-C ends a sweep early."""

    plain = all(options.get(name) in (None, False) for name in CONDITIONS)
    name = "x'Wx" if sizes and plain else "density"

    def watch(progress: Any) -> None:
        tell(f"{name} = {-progress.best:.7g}")

    alone = len(sizes) == 1 and (not plain or options.get("pool") is not None)
    k = None if not sizes else sizes[0] if alone else list(sizes)
    found = flipwise.densest_subgraph(graph, k, callback=watch, **options)
    return list(found) if isinstance(found, Sequence) else [found]


def _as_returned(results: list[Any], asked: AskedConditions) -> Any:
    """The results as the function has returned them."""
    if len(results) == 1:
        return results[0]
    if asked.several:
        from flipwise.densest.several import DenseSubgraphs

        return DenseSubgraphs(results)
    return flipwise.DensityProfile(results)


def _exit_code(results: list[Any], wanted: int) -> int:
    """A sweep may be interrupted although its last set has been proven optimal."""
    whole = len(results) >= max(1, wanted) and all(result.status.name != "INTERRUPTED" for result in results)
    return OK if whole else INTERRUPTED


def _result_record(result: Any, graph: Any) -> dict[str, Any]:
    """The nodes by their own names, ascending where they are numbers; of a pool the nodes of every set."""
    nodes = [node.item() if hasattr(node, "item") else node for node in result.nodes]
    names = range(graph.n) if graph.names is None else graph.names
    sets = [{"density": value, "nodes": [names[i] for i in x.nonzero()[0]]} for x, value in result.pool or ()]
    return {
        "k": len(nodes),
        "density": result.density,
        "edge_density": result.edge_density,
        **({"conditions": result.conditions} if result.conditions else {}),
        **{name: value for name, value in result_record(result).items() if name != "value"},
        "optimal": bool(result.optimal),
        "nodes": nodes,
        **({"pool": sets} if sets else {}),
    }


def _print_densities(title: str, results: list[Any], *, err: bool = False) -> None:
    """A table with a row for each size."""
    rows = []
    for result in results:
        verdict = "optimal" if result.optimal else f"within {percent(result.gap)}" if result.gap is not None else "-"
        rows.append(
            (
                f"{len(result.nodes):,}",
                f"{result.density:.3f}",
                "-" if result.bound is None else f"{result.bound:.3f}",
                verdict,
                f"{100 * result.pairs_joined:.1f} %",
                number(round(result.seconds, 2)) + " s",
            )
        )
    headers = ("k", "density", "upper bound", "proven", "pairs joined", "time")
    asked = any(result.conditions for result in results)
    sets = "set that was asked for" if asked else "set of that size (any, without -k)"
    notes = [f"density: mean degree inside (x'Wx/k); no {sets} exceeds the upper bound."]
    print_table(title, headers, rows, notes=notes, err=err)
