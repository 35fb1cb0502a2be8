"""Graphs as text: edge list, MatrixMarket, METIS, rudy; plain or packed with gzip, bzip2, xz or zstd by suffix.

Every edge is written once, from its smaller node (METIS: in both lines, as that format wants).
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from flipwise.atomic import atomic_file
from flipwise.errors import InvalidInput, MissingDependency
from flipwise.graphs.build import Arcs, CsrArcs
from flipwise.graphs.graph import Graph

_LINES = 1 << 14
"""Lines formatted at a time."""


@contextmanager
def _packed_file(path: Path) -> Iterator[BinaryIO]:
    with atomic_file(path) as file:
        match path.suffix.lower():
            case ".gz":
                stream: Any = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
            case ".bz2":
                stream = bz2.BZ2File(file, "wb")
            case ".xz":
                stream = lzma.LZMAFile(file, "wb")  # noqa: SIM115
            case ".zst" | ".zstd":
                try:
                    import zstandard
                except ImportError:
                    raise MissingDependency("zstandard", "graphs", "Writing zstd files") from None
                stream = zstandard.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False)
            case _:
                yield file
                return
        with stream, io.BufferedWriter(stream) as buffered:
            yield buffered


def _edges(graph: Graph) -> Iterator[Arcs]:
    """Blocks of the arcs i -> j with i < j."""
    for block in CsrArcs(graph.indptr, graph.indices, graph.weights):
        once = block.sources < block.targets
        weights = None if block.weights is None else block.weights[once]
        yield Arcs(block.sources[once], block.targets[once], weights)


def _write_edges(
    file: BinaryIO,
    graph: Graph,
    base: int,
    *,
    always_weighted: bool = False,
    larger_first: bool = False,
    label: Callable[[int], str] | None = None,
) -> None:
    for block in _edges(graph):
        for start in range(0, block.sources.size, _LINES):
            part = slice(start, start + _LINES)
            ends = (block.targets, block.sources) if larger_first else (block.sources, block.targets)
            columns: list[list[Any]] = [(end[part] + base).tolist() for end in ends]
            if label is not None:
                columns = [[label(i) for i in column] for column in columns]
            if block.weights is not None:
                columns.append([_number(weight) for weight in block.weights[part].tolist()])
            elif always_weighted:
                columns.append([1] * len(columns[0]))
            file.write("".join(" ".join(map(str, row)) + "\n" for row in zip(*columns)).encode())


def _number(weight: float) -> str:
    return str(int(weight)) if weight.is_integer() and abs(weight) < 2**53 else repr(weight)


def write_edge_list(graph: Graph, path: Path) -> None:
    """`source target [weight]` lines with the nodes' own names. Isolated nodes leave no trace."""
    label = None if graph.names is None else _labels(graph.names)
    with _packed_file(path) as file:
        file.write(f"# {graph.n} nodes, {graph.n_edges} edges\n".encode())
        _write_edges(file, graph, 0, label=label)


def _labels(names: Sequence[Any]) -> Callable[[int], str]:
    for name in names:
        text = str(name)
        if not text or any(c.isspace() or c in ',;"' for c in text) or text[0] in "#%":
            raise InvalidInput(
                f"`graph`: the name {name!r} cannot stand in an edge list (white space, ',', ';', quotes, or a leading "
                "'#' or '%'). Use the compact format instead: save_graph(graph, 'name.flipgraph')."
            )
    return lambda i: str(names[i])


def write_matrix_market(graph: Graph, path: Path) -> None:
    """A symmetric coordinate matrix: the lower triangle, numbered from 1."""
    field = "pattern" if graph.weights is None else "real"
    with _packed_file(path) as file:
        file.write(f"%%MatrixMarket matrix coordinate {field} symmetric\n".encode())
        file.write(f"{graph.n} {graph.n} {graph.n_edges}\n".encode())
        _write_edges(file, graph, 1, larger_first=True)


def write_rudy(graph: Graph, path: Path) -> None:
    """`n m`, then `i j w`, numbered from 1."""
    with _packed_file(path) as file:
        file.write(f"{graph.n} {graph.n_edges}\n".encode())
        _write_edges(file, graph, 1, always_weighted=True)


def write_metis(graph: Graph, path: Path) -> None:
    """`n m [1]`, then the neighbours of each node, numbered from 1; weights must be positive whole numbers."""
    weights = graph.weights
    if weights is not None and not ((weights > 0) & (weights == np.floor(weights)) & (weights < 2**53)).all():
        raise InvalidInput("`graph`: METIS files hold positive whole weights only; use another format.")
    with _packed_file(path) as file:
        file.write(f"{graph.n} {graph.n_edges}{'' if weights is None else ' 001'}\n".encode())
        for i in range(graph.n):
            row = slice(int(graph.indptr[i]), int(graph.indptr[i + 1]))
            numbers = (graph.indices[row] + 1).tolist()
            if weights is not None:
                numbers = [x for pair in zip(numbers, weights[row].astype(np.int64).tolist()) for x in pair]
            file.write(" ".join(map(str, numbers)).encode() + b"\n")
