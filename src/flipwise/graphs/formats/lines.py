"""The lines `source target [weight]` that edge lists, rudy and MatrixMarket files are made of, as they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from flipwise.graphs.csr import csr_blocks
from flipwise.graphs.graph import ArcBlock, Graph

WRITTEN_LINES = 1 << 14
"""Lines formatted at a time."""


def write_edges(
    file: BinaryIO,
    graph: Graph,
    base: int,
    *,
    always_weighted: bool = False,
    larger_first: bool = False,
    label: Callable[[int], str] | None = None,
) -> None:
    """A line for every edge, once, from its smaller node or with it last."""
    for block in _edge_blocks(graph):
        for start in range(0, block.sources.size, WRITTEN_LINES):
            part = slice(start, start + WRITTEN_LINES)
            ends = (block.targets, block.sources) if larger_first else (block.sources, block.targets)
            columns: list[list[Any]] = [(end[part] + base).tolist() for end in ends]
            if label is not None:
                columns = [[label(i) for i in column] for column in columns]
            if block.weights is not None:
                columns.append([number_text(weight) for weight in block.weights[part].tolist()])
            elif always_weighted:
                columns.append([1] * len(columns[0]))
            file.write("".join(" ".join(map(str, row)) + "\n" for row in zip(*columns)).encode())


def edges(graph: Graph) -> Iterator[tuple[int, int, float]]:
    """Every edge once, from its smaller node, with its weight."""
    for block in _edge_blocks(graph):
        weights = [1.0] * block.sources.size if block.weights is None else block.weights.tolist()
        yield from zip(block.sources.tolist(), block.targets.tolist(), weights)


def _edge_blocks(graph: Graph) -> Iterator[ArcBlock]:
    """Blocks of the arcs i -> j with i < j."""
    for block in csr_blocks(graph.indptr, graph.indices, graph.weights):
        once = block.sources < block.targets
        weights = None if block.weights is None else block.weights[once]
        yield ArcBlock(block.sources[once], block.targets[once], weights)


def number_text(weight: float) -> str:
    """The shortest text that reads back as the same number; whole numbers without a point."""
    return str(int(weight)) if weight.is_integer() and abs(weight) < 2**53 else repr(weight)
