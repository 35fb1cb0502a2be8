"""Files a command reads, standard input included, and files it writes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from flipwise.graphs.graph import Graph

F = TypeVar("F", bound=Callable[..., Any])

GRAPH_FORMATS = ("edgelist", "matrixmarket", "metis", "rudy", "parquet", "bvgraph", "flipwise")


def input_argument(name: str = "file", *, folders: bool = False) -> Callable[[F], F]:
    """The file to read; `-` is standard input. (Whether it exists is the reader's business: it may be a base name.)"""
    return click.argument(name, type=click.Path(dir_okay=folders, allow_dash=True))


def graph_options(function: F) -> F:
    """How a graph file is to be read."""
    for option in (
        click.option("--unweighted", is_flag=True, help="Ignore weights."),
        click.option(
            "--symmetrise",
            type=click.Choice(["max", "sum", "error"]),
            default="max",
            show_default=True,
            help="Several arcs between two nodes become one edge with this weight.",
        ),
        click.option(
            "--format",
            "file_format",
            type=click.Choice(GRAPH_FORMATS),
            help="The format of FILE, found by itself as a rule.",
        ),
    ):
        function = option(function)
    return function


@contextmanager
def on_disk(file: str) -> Iterator[Path]:
    """The path of the file; standard input is kept in a temporary file while it is needed."""
    if file != "-":
        yield Path(file)
        return
    import shutil
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="flipwise-") as folder:
        path = Path(folder, "stdin")
        with path.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        if path.stat().st_size == 0:
            raise click.UsageError("FILE is - (standard input), but nothing came in. Pipe a file in, or name one.")
        yield path


@contextmanager
def written(output: str) -> Iterator[Path]:
    """A path to write to; what is written for `-` goes to standard output afterwards."""
    if output != "-":
        yield Path(output)
        return
    import shutil
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="flipwise-") as folder:
        path = Path(folder, "stdout")
        yield path
        with path.open("rb") as made:
            sys.stdout.flush()
            shutil.copyfileobj(made, sys.stdout.buffer)


def load_graph(file: str, file_format: str | None, symmetrise: str, unweighted: bool, *, quiet: bool) -> Graph:
    """The graph of a file; what was done to it is said on standard error."""
    from flipwise.graphs.read import read_graph

    with on_disk(file) as path:
        graph = read_graph(
            path,
            format=file_format,  # type: ignore[arg-type]
            symmetrise=symmetrise,  # type: ignore[arg-type]
            weighted=False if unweighted else None,
        )
    if not quiet:
        for note in graph.notes:
            click.echo(f"note: {note}", err=True)
    return graph


def labels_of(graph: Graph, nodes: Iterable[int]) -> list[Any]:
    """The nodes by their own names."""
    names = graph.names
    return [int(node) if names is None else names[int(node)] for node in nodes]


def write_lines(output: str, lines: Iterable[object]) -> None:
    """One answer a line, to a file or (-) standard output."""
    text = "".join(f"{line}\n" for line in lines)
    if output == "-":
        click.echo(text, nl=False)
    else:
        Path(output).write_text(text)
