"""`flipwise block` and `flipwise directed`: dense blocks of two kinds of nodes, and of directed graphs."""

from __future__ import annotations

from typing import Any

import click

import flipwise
from flipwise.cli.exits import INTERRUPTED, OK
from flipwise.cli.inputs import on_disk
from flipwise.cli.options import answer_file, input_argument, output_options, run_options
from flipwise.cli.outputs import check_outputs, write_text
from flipwise.cli.terminal import json_text, print_facts, print_json, printable, progress, result_record
from flipwise.foundation.interrupts import guarded_interrupts

_effort = click.option("--effort", type=click.FloatRange(min=0), default=1.0, show_default=True,
                       help="How long to search past the first ascents, for given sizes.")  # fmt: skip
_bound = click.option("--bound/--no-bound", default=True, show_default=True, help="Prove a bound for given sizes.")
_answer = answer_file("the two sets as a table with the columns side and name, or everything (.json),")
_count = click.IntRange(min=1)


@click.command("block")
@input_argument()
@click.option("--rows", type=_count, help="How many rows; any if left out.")
@click.option("--columns", type=_count, help="How many columns; give both or neither.")
@click.option("--fields", metavar="A,B[,W]", help="CSV, Parquet: the fields of the rows, the columns and the weight.")
@_effort
@_bound
@_answer
@run_options
@output_options
def block(file: str, rows: int | None, columns: int | None, fields: str | None, **options: Any) -> int:
    """Find rows and columns that are dense together: accounts and products, baskets and things.

    FILE is an edge list, CSV or Parquet file with the rows in its first column and the columns in its second, or a
    MatrixMarket file. Density is weight / sqrt(rows * columns); without sizes the densest block of all is found,
    exactly, and no block has a density above the bound.

    \b
    Examples:
      $ flipwise block graph.txt
      $ flipwise block graph.txt --rows 10 --columns 5 -o block.csv
      $ flipwise block graph.txt --json
    """

    def search(path: Any, **run: Any) -> Any:
        names = None if fields is None else tuple(fields.split(","))
        return flipwise.densest_block(path, rows, columns, names=names, **run)

    return _search_and_write(f"Dense block of {file}", file, search, **options)


@click.command("directed")
@input_argument()
@click.option("--sources", type=_count, help="How many sources; any if left out.")
@click.option("--targets", type=_count, help="How many targets; give both or neither.")
@click.option("--columns", metavar="A,B[,W]", help="CSV, Parquet: the columns of sources, targets and the weight.")
@_effort
@_bound
@_answer
@run_options
@output_options
def directed(file: str, sources: int | None, targets: int | None, columns: str | None, **options: Any) -> int:
    """Find two sets of nodes of a directed graph with many arcs from one to the other.

    FILE is an edge list, CSV or Parquet file with the sources in its first column and the targets in its second, or a
    MatrixMarket file. Density is weight / sqrt(sources * targets); without sizes the densest pair of sets of all is
    found, exactly, and no two sets have a density above the bound. Self loops are left out.

    \b
    Examples:
      $ flipwise directed graph.txt
      $ flipwise directed graph.txt --sources 10 --targets 5 -o sets.csv
      $ flipwise directed graph.txt --json
    """

    def search(path: Any, **run: Any) -> Any:
        named = None if columns is None else tuple(columns.split(","))
        return flipwise.densest_directed_subgraph(path, sources, targets, columns=named, **run)

    return _search_and_write(f"Dense sets of {file}", file, search, **options)


def _search_and_write(
    title: str,
    file: str,
    search: Any,
    *,
    effort: float,
    bound: bool,
    output: str | None,
    seed: int,
    time_limit: float | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Search, say what was found and write it."""
    check_outputs([file], {"-o": output})
    with on_disk(file) as path, guarded_interrupts():  # Ctrl-C after the search still writes the answer
        with progress("dense block", quiet=quiet or verbose, time_limit=time_limit) as tell:
            result = search(
                path,
                effort=effort,
                bound="auto" if bound else "none",
                seed=seed,
                time_limit=time_limit,
                threads=threads,
                verbose=verbose,
                callback=lambda progress: tell(f"found {-progress.best:.7g}"),
            )
        if not quiet:
            for note in result.notes:
                click.echo(f"note: {printable(note)}", err=True)
        first, second = result.sides
        record = {
            "file": file,
            **result_record(result),
            "weight": result.weight,
            "filled": result.filled,
            "optimal": bool(result.optimal),
            first: [_plain_name(name) for name in result.rows],
            second: [_plain_name(name) for name in result.columns],
        }
        if output:
            write_text(output, json_text(record) if output.endswith(".json") else _member_lines(result))
        if as_json:
            print_json(record)
        else:
            facts = [(name, text) for name, text in result.facts() if name != "note"]
            print_facts(title, facts, err=output == "-")
        return OK if result.status.name != "INTERRUPTED" else INTERRUPTED


def _plain_name(name: Any) -> Any:
    """A name as JSON can hold it."""
    return name.item() if hasattr(name, "item") else name


def _member_lines(result: Any) -> str:
    """A line for each member of either set."""
    import csv
    from io import StringIO

    text = StringIO()
    first, second = (side.removesuffix("s") for side in result.sides)
    lines = [("side", "name"), *((first, name) for name in result.rows), *((second, name) for name in result.columns)]
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
